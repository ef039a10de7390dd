// The middle of two large indices overflows.
// Source: Bloch 2006, Nearly all binary searches and mergesorts are broken.
// Expected: violated (overflow) under every model.

#include <limits.h>

static int middle(int low, int high)
{
	return (low + high) / 2;
}

int main(void)
{
	int low = 0, high = INT_MAX;

	while (high - low > 1)
		low = middle(low, high);
	return 0;
}
