// An error path frees a buffer that the caller frees, too.
// Source: the usual error.
// Expected: violated (double free) under every model.

#include <stdlib.h>

struct message {
	int length;
	int *body;
};

static int check(struct message *m)
{
	if (m->length > 2) {
		free(m->body);
		return -1;
	}
	return 0;
}

static void handle(int length)
{
	struct message m = { length, malloc(sizeof(int)) };

	if (check(&m) != 0)
		m.length = 0;
	free(m.body);
}

int main(void)
{
	handle(1);
	handle(3);
	return 0;
}
