// Tagged unions: a small evaluator of expressions.
// Source: written for this corpus.
// Expected: verified.

#include <assert.h>
#include <stdbool.h>

enum kind { NUMBER, NEGATE, ADD, IF_POSITIVE };

struct expr {
	enum kind kind;
	union {
		int number;
		const struct expr *operand;
		struct {
			const struct expr *left, *right;
		};
		struct {
			const struct expr *condition, *yes, *no;
		} branch;
	};
};

static int evaluate(const struct expr *e)
{
	switch (e->kind) {
	case NUMBER:
		return e->number;
	case NEGATE:
		return -evaluate(e->operand);
	case ADD:
		return evaluate(e->left) + evaluate(e->right);
	case IF_POSITIVE:
		return evaluate(evaluate(e->branch.condition) > 0 ? e->branch.yes : e->branch.no);
	}
	assert(false);
	return 0;
}

union bits {
	unsigned word;
	unsigned char byte[4];
};

int main(void)
{
	struct expr two = { .kind = NUMBER, .number = 2 };
	struct expr five = { .kind = NUMBER, .number = 5 };
	struct expr minus = { .kind = NEGATE, .operand = &five };
	struct expr sum = { .kind = ADD, .left = &two, .right = &minus };
	struct expr choice = { .kind = IF_POSITIVE, .branch = { &sum, &two, &minus } };
	union bits b;

	assert(evaluate(&sum) == -3);
	assert(evaluate(&choice) == -5);
	minus.kind = NUMBER;
	minus.number = 1;
	assert(evaluate(&choice) == 2);

	b.word = 0;
	b.byte[0] = 0x78;
	b.byte[1] = 0x56;
	assert(b.word == 0x5678); /* little-endian */
	return 0;
}
