// malloc, calloc, realloc, free, memset and memmove without errors: a vector that grows.
// Source: written for this corpus.
// Expected: verified.

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct vector {
	int *data;
	size_t length, capacity;
};

static void append(struct vector *v, int x)
{
	if (v->length == v->capacity) {
		size_t capacity = v->capacity ? 2 * v->capacity : 1;
		int *data = realloc(v->data, capacity * sizeof *data);

		if (data == NULL)
			abort();
		v->data = data;
		v->capacity = capacity;
	}
	v->data[v->length++] = x;
}

static void remove_at(struct vector *v, size_t i)
{
	memmove(v->data + i, v->data + i + 1, (v->length - i - 1) * sizeof(int));
	v->length--;
}

int main(void)
{
	struct vector v = { NULL, 0, 0 };
	int *zeros = calloc(4, sizeof(int));
	char *text = malloc(4);

	for (int i = 0; i < 5; i++)
		append(&v, i * i);
	assert(v.capacity == 8 && v.data[4] == 16);
	remove_at(&v, 1);
	assert(v.length == 4 && v.data[1] == 4 && v.data[3] == 16);

	for (int i = 0; i < 4; i++)
		assert(zeros[i] == 0);
	memset(text, 'z', 3);
	text[3] = '\0';
	assert(text[0] == 'z' && text[2] == 'z' && strcmp(text, "zzz") == 0);

	free(text);
	free(zeros);
	free(v.data);
	free(NULL);
	return 0;
}
