// Variables that get their values late, on all paths on which they are used.
// Source: written for the corpus.
// Expected: verified under every model.

#include <assert.h>
#include <stdlib.h>

int __VERIFIER_nondet_int(void);
void __VERIFIER_assume(int condition);

struct item {
	int key;
	int value;
	struct item *next;
};

static int find(struct item *list, int key, int *value)
{
	for (struct item *i = list; i; i = i->next) {
		if (i->key == key) {
			*value = i->value;
			return 1;
		}
	}
	return 0;
}

static int sum_up_to(int n)
{
	int sum, i;

	for (i = 0, sum = 0; i <= n; i++)
		sum += i;
	return sum;
}

int main(void)
{
	struct item second = { 2, 20, NULL }, *first = malloc(sizeof *first);
	struct item copy;
	int value, found, other;
	int key = __VERIFIER_nondet_int();

	__VERIFIER_assume(key >= 0 && key <= 3);
	first->key = 1;
	first->next = &second;
	copy = *first;
	first->value = 10;
	assert(copy.key == 1);
	found = find(first, key, &value);
	if (found && value > 10)
		other = value;
	if (found)
		assert(value == 10 * key);
	if (found && key == 2)
		assert(other == 20);
	switch (key) {
		int inside;
	case 1:
		inside = sum_up_to(3);
		assert(inside == 6);
		break;
	default:
		break;
	}
	free(first);
	return 0;
}
