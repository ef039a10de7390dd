// A nondeterministic search that reaches an error, with the functions of SV-COMP.
// Source: written for this corpus, in the style of SV-COMP.
// Expected: violated (assertion) under every model: 3, 4 and 5 are the sides of a right triangle.

extern void abort(void);
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
void reach_error(void) { abort(); }

int main(void)
{
	int a = __VERIFIER_nondet_int();
	int b = __VERIFIER_nondet_int();
	int c = __VERIFIER_nondet_int();

	__VERIFIER_assume(a > 0 && a < 6);
	__VERIFIER_assume(b > a && b < 6);
	__VERIFIER_assume(c > b && c < 6);
	if (a * a + b * b == c * c)
		reach_error();
	return 0;
}
