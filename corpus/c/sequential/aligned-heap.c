// Aligned objects: `posix_memalign` reports an invalid alignment, `aligned_alloc` may not be
// called with one.
// Source: the rules of C17 and POSIX.
// Expected: verified under every model.

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct slot {
	long key;
	long value;
};

static size_t next_alignment(void)
{
	static size_t alignment = 8;
	alignment *= 2;
	return alignment;
}

int main(void)
{
	void *memory = NULL;
	assert(posix_memalign(&memory, 24, sizeof(struct slot)) == EINVAL);
	assert(memory == NULL);

	assert(posix_memalign(&memory, next_alignment(), sizeof(struct slot)) == 0);
	struct slot *first = memory;
	first->key = 1;

	struct slot *second = aligned_alloc(next_alignment(), sizeof(struct slot));
	second->key = 2;
	assert(next_alignment() == 64);
	assert(first->key + second->key == 3);
	free(first);
	free(second);
	return 0;
}
