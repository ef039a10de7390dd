// An index from outside reaches behind a global array.
// Source: written for this corpus, in the style of SV-COMP.
// Expected: violated (out of bounds) under every model: the test should be `i >= SIZE`.

#define SIZE 4

extern unsigned __VERIFIER_nondet_uint(void);

static int table[SIZE] = { 1, 2, 3, 4 };

static int lookup(unsigned i)
{
	if (i > SIZE)
		return -1;
	return table[i];
}

int main(void)
{
	unsigned i = __VERIFIER_nondet_uint() % 8;

	return lookup(i) == 0;
}
