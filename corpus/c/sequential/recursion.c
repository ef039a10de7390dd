// Recursion with a bounded depth: greatest common divisor, Ackermann's function, permutations, and
// two functions that call each other.
// Source: written for this corpus.
// Expected: verified.

#include <assert.h>
#include <stdbool.h>

static int permutations;

static unsigned gcd(unsigned a, unsigned b)
{
	return b == 0 ? a : gcd(b, a % b);
}

static int ackermann(int m, int n)
{
	if (m == 0)
		return n + 1;
	if (n == 0)
		return ackermann(m - 1, 1);
	return ackermann(m - 1, ackermann(m, n - 1));
}

static bool is_odd(unsigned n);

static bool is_even(unsigned n)
{
	return n == 0 || is_odd(n - 1);
}

static bool is_odd(unsigned n)
{
	return n != 0 && is_even(n - 1);
}

static void permute(int *a, int from, int n)
{
	if (from == n) {
		permutations++;
		return;
	}
	for (int i = from; i < n; i++) {
		int t = a[from];

		a[from] = a[i];
		a[i] = t;
		permute(a, from + 1, n);
		a[i] = a[from];
		a[from] = t;
	}
}

int main(void)
{
	int a[3] = { 1, 2, 3 };

	assert(gcd(48, 36) == 12);
	assert(ackermann(2, 2) == 7);
	assert(is_even(4) && !is_even(3));
	permute(a, 0, 3);
	assert(permutations == 6);
	assert(a[0] == 1 && a[1] == 2 && a[2] == 3);
	return 0;
}
