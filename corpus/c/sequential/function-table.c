// Function pointers: a table of operations, a comparison for a sort, and a structure of functions.
// Source: written for this corpus.
// Expected: verified.

#include <assert.h>
#include <stddef.h>

typedef int (*binary)(int, int);

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }

static const struct {
	char symbol;
	binary function;
} table[] = { { '+', add }, { '-', sub }, { '*', &mul } };

static binary lookup(char symbol)
{
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (table[i].symbol == symbol)
			return table[i].function;
	return NULL;
}

static int ascending(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int descending(const void *a, const void *b)
{
	return ascending(b, a);
}

static void sort(int *a, int n, int (*compare)(const void *, const void *))
{
	for (int i = 1; i < n; i++) {
		int x = a[i], j = i;

		for (; j > 0 && compare(&a[j - 1], &x) > 0; j--)
			a[j] = a[j - 1];
		a[j] = x;
	}
}

struct counter {
	int value;
	void (*step)(struct counter *);
};

static void up(struct counter *c) { c->value++; }
static void down(struct counter *c) { c->value--; }

int main(void)
{
	int a[] = { 3, 1, 2 };
	struct counter c = { 10, up };

	assert(lookup('+')(3, 4) == 7);
	assert((*lookup('-'))(3, 4) == -1);
	assert(lookup('*')(3, 4) == 12);
	assert(lookup('/') == NULL);

	sort(a, 3, ascending);
	assert(a[0] == 1 && a[1] == 2 && a[2] == 3);
	sort(a, 3, descending);
	assert(a[0] == 3 && a[2] == 1);

	c.step(&c);
	assert(c.value == 11);
	c.step = c.value > 10 ? down : up;
	c.step(&c);
	assert(c.value == 10);
	return 0;
}
