// A pointer to a variable of a block is used after the block, if the block was entered.
// Source: the usual error.
// Expected: violated (ended lifetime) under every model.

#include <assert.h>

int __VERIFIER_nondet_int(void);

int main(void)
{
	int zero = 0;
	int *p = &zero;

	if (__VERIFIER_nondet_int() > 3) {
		int local = 0;

		p = &local;
		assert(*p == 0);
	}
	assert(*p == 0);
	return 0;
}
