// A variable gets its value on one path only.
// Source: the usual error.
// Expected: violated (uninitialised) under every model.

#include <assert.h>

int __VERIFIER_nondet_int(void);

int main(void)
{
	int result;

	if (__VERIFIER_nondet_int() > 3)
		result = 1;
	assert(result >= 0);
	return 0;
}
