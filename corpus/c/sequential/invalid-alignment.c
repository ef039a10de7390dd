// The alignment of an object is the number of its bytes, which is not a power of two.
// Source: the rules of C17.
// Expected: violated (assertion) under every model.

#include <stdlib.h>

struct point {
	int x, y, z;
};

int main(void)
{
	struct point *p = aligned_alloc(sizeof(struct point), sizeof(struct point));
	p->x = 1;
	free(p);
	return 0;
}
