// A binary tree whose pointers say in their lowest bit whether they point to a leaf.
// Source: written for this corpus; as in crit-bit and radix trees.
// Expected: verified.

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct inner {
	uintptr_t child[2];
};

struct leaf {
	int value;
};

static bool is_leaf(uintptr_t p)
{
	return (p & 1u) != 0;
}

static uintptr_t make_leaf(int value)
{
	struct leaf *l = malloc(sizeof *l);

	l->value = value;
	assert(((uintptr_t)l & 1u) == 0);
	return (uintptr_t)l | 1u;
}

static uintptr_t make_inner(uintptr_t left, uintptr_t right)
{
	struct inner *n = malloc(sizeof *n);

	n->child[0] = left;
	n->child[1] = right;
	return (uintptr_t)n;
}

static int sum(uintptr_t p)
{
	if (is_leaf(p))
		return ((struct leaf *)(p & ~(uintptr_t)1))->value;

	struct inner *n = (struct inner *)p;
	return sum(n->child[0]) + sum(n->child[1]);
}

static void destroy(uintptr_t p)
{
	if (is_leaf(p)) {
		free((void *)(p - 1));
	} else {
		struct inner *n = (struct inner *)p;

		destroy(n->child[0]);
		destroy(n->child[1]);
		free(n);
	}
}

int main(void)
{
	uintptr_t root = make_inner(make_inner(make_leaf(1), make_leaf(2)), make_leaf(4));

	assert(!is_leaf(root));
	assert(sum(root) == 7);
	destroy(root);
	return 0;
}
