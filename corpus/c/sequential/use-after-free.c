// A loop over a list reads the link of a node that it has just freed.
// Source: the usual error.
// Expected: violated (use after free) under every model.

#include <stdlib.h>

struct node {
	int value;
	struct node *next;
};

static struct node *cons(int value, struct node *next)
{
	struct node *n = malloc(sizeof *n);

	n->value = value;
	n->next = next;
	return n;
}

static void release(struct node *n)
{
	free(n);
}

int main(void)
{
	struct node *list = cons(1, cons(2, NULL));

	for (struct node *n = list; n != NULL; n = n->next)
		release(n);
	return 0;
}
