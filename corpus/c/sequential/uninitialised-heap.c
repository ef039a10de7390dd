// A member of an allocated structure is used before it has a value. Copying the structure is not a
// use.
// Source: the usual error.
// Expected: violated (uninitialised) under every model, at the last line.

#include <assert.h>
#include <stdlib.h>

struct pair {
	int first;
	short second;
};

int main(void)
{
	struct pair *p = malloc(sizeof *p);
	struct pair *zero = calloc(1, sizeof *zero);
	struct pair copy;

	assert(zero->first == 0 && zero->second == 0);
	p->first = 1;
	copy = *p;
	assert(copy.first == 1);
	assert(p->second == 0);
	return 0;
}
