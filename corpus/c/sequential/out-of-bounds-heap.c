// A loop writes one element behind an allocated array.
// Source: the usual error; the fence post.
// Expected: violated (out of bounds) under every model.

#include <stdlib.h>

static int *fill(int n)
{
	int *a = malloc((size_t)n * sizeof(int));

	for (int i = 0; i <= n; i++)
		a[i] = i;
	return a;
}

int main(void)
{
	int *a = fill(3);

	free(a);
	return 0;
}
