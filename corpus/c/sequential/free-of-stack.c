// A pointer to a local variable is freed.
// Source: the usual error.
// Expected: violated (invalid free) under every model.

#include <stdlib.h>

static void consume(int *p)
{
	free(p);
}

int main(void)
{
	int *heap = malloc(sizeof *heap);
	int local = 1;
	int *p[2] = { heap, &local };

	for (int i = 0; i < 2; i++)
		consume(p[i]);
	return 0;
}
