// Error handling with goto: every path frees what it allocated, in reverse order.
// Source: written for this corpus; the style of the Linux kernel.
// Expected: verified.

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static int allocated;

struct device {
	int *registers;
	int *buffer;
};

static void *get(size_t size)
{
	void *p = malloc(size);

	if (p)
		allocated++;
	return p;
}

static void put(void *p)
{
	free(p);
	allocated--;
}

static int start(struct device *d, int fault)
{
	if (fault == 3)
		return -EIO;
	d->registers[0] = 1;
	return 0;
}

static int probe(struct device **result, int fault)
{
	struct device *d;
	int error = -ENOMEM;

	d = get(sizeof *d);
	if (!d)
		goto out;
	d->registers = fault == 1 ? NULL : get(4 * sizeof(int));
	if (!d->registers)
		goto free_device;
	d->buffer = fault == 2 ? NULL : get(8 * sizeof(int));
	if (!d->buffer)
		goto free_registers;
	error = start(d, fault);
	if (error)
		goto free_buffer;
	*result = d;
	return 0;

free_buffer:
	put(d->buffer);
free_registers:
	put(d->registers);
free_device:
	put(d);
out:
	return error;
}

int main(void)
{
	struct device *d = NULL;

	for (int fault = 1; fault <= 3; fault++) {
		int error = probe(&d, fault);

		assert(error == (fault == 3 ? -EIO : -ENOMEM));
		assert(d == NULL && allocated == 0);
	}
	assert(probe(&d, 0) == 0);
	assert(allocated == 3 && d->registers[0] == 1);
	put(d->buffer);
	put(d->registers);
	put(d);
	assert(allocated == 0);
	return 0;
}
