// A function returns the address of its local variable, and a later call uses it.
// Source: the usual error.
// Expected: violated (ended lifetime) under every model. The variable of the second call has the
// same name and type, but it is another object.

#include <assert.h>

static int *last;

static int remember(int value, int use)
{
	int local = value;

	if (use)
		return *last;
	last = &local;
	return local;
}

int main(void)
{
	assert(remember(1, 0) == 1);
	assert(remember(1, 1) == 1);
	return 0;
}
