// The type of an allocated object is known only from a later conversion of its address. An object
// that nobody accesses needs no type.
// Source: our own.
// Expected: verified under every model.

#include <assert.h>
#include <stdlib.h>

int main(void)
{
	void *unused = malloc(3);
	void *memory = malloc(sizeof(int));
	int *number = memory;

	*number = 7;
	assert(*(int *)memory == 7);
	assert(unused != memory);
	free(memory);
	return 0;
}
