// A bounded search with the functions of SV-COMP: nondeterministic values, assumptions,
// reach_error.
// Source: written for this corpus, in the style of SV-COMP.
// Expected: verified: a square is never 2 or 3 modulo 4.

extern void abort(void);
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

void reach_error(void)
{
	abort();
}

void __VERIFIER_assert(int condition)
{
	if (!condition) {
ERROR:
		reach_error();
		goto ERROR;
	}
}

int main(void)
{
	int x = __VERIFIER_nondet_int();
	int square;

	__VERIFIER_assume(x >= -10 && x <= 10);
	square = x * x;
	__VERIFIER_assert(square % 4 == 0 || square % 4 == 1);
	return 0;
}
