// A pointer in an allocated structure is used before it has a value. Copying the structure is not a
// use, and neither is a pointer made of a small number.
// Source: the usual error.
// Expected: violated (uninitialised) under every model, at the last assertion.

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct node {
	int value;
	struct node *next;
};

int main(void)
{
	struct node *first = malloc(sizeof *first);
	struct node *second = malloc(sizeof *second);
	struct node copy;

	first->value = 1;
	first->next = (struct node *)-1;
	memcpy(second, first, sizeof *second);
	assert(second->next == (struct node *)-1);

	second = malloc(sizeof *second);
	copy = *second;
	second->next = NULL;
	assert(second->next == NULL);
	copy.value = 2;
	assert(copy.value == 2);

	first = malloc(sizeof *first);
	first->value = 3;
	assert(first->next == NULL);
	return 0;
}
