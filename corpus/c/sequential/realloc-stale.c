// A pointer into a buffer is used after realloc.
// Source: the usual error.
// Expected: violated (use after free) under every model: realloc frees the old buffer, even if a
// real implementation may extend it in place.

#include <stdlib.h>

struct buffer {
	int *data;
	int size;
};

static void grow(struct buffer *b)
{
	b->size *= 2;
	b->data = realloc(b->data, (size_t)b->size * sizeof(int));
}

int main(void)
{
	struct buffer b = { malloc(2 * sizeof(int)), 2 };
	int *first = &b.data[0];

	b.data[0] = 1;
	b.data[1] = 2;
	grow(&b);
	*first = 3;
	free(b.data);
	return 0;
}
