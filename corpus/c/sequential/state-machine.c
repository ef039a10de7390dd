// A switch-based state machine that reads numbers from a string, with fall-through, default and a
// case range.
// Source: written for this corpus.
// Expected: verified.

#include <assert.h>
#include <stdbool.h>

enum state { START, SIGN, DIGITS, DONE, FAILED };

static bool parse(const char *text, int *value)
{
	enum state state = START;
	int sign = 1, n = 0;

	for (const char *p = text; state != DONE && state != FAILED; p++) {
		switch (state) {
		case START:
			if (*p == ' ')
				break;
			if (*p == '-') {
				sign = -1;
				state = SIGN;
				break;
			}
			/* fall through */
		case SIGN:
			if (*p < '0' || *p > '9') {
				state = FAILED;
				continue;
			}
			state = DIGITS;
			/* fall through */
		case DIGITS:
			switch (*p) {
			case '0' ... '9':
				n = 10 * n + (*p - '0');
				break;
			case '\0':
			case ' ':
				state = DONE;
				break;
			default:
				state = FAILED;
			}
			break;
		default:
			assert(!"unreachable");
		}
	}
	*value = sign * n;
	return state == DONE;
}

int main(void)
{
	int v;

	assert(parse("42", &v) && v == 42);
	assert(parse("  -7 ", &v) && v == -7);
	assert(!parse("", &v));
	assert(!parse("-", &v));
	assert(!parse("1x", &v));
	return 0;
}
