// The result of a search is used without a test.
// Source: the usual error.
// Expected: violated (null) under every model.

#include <stddef.h>

struct entry {
	int key;
	int value;
};

static struct entry entries[2] = { { 1, 10 }, { 2, 20 } };

static struct entry *find(int key)
{
	for (int i = 0; i < 2; i++)
		if (entries[i].key == key)
			return &entries[i];
	return NULL;
}

int main(void)
{
	int sum = 0;

	for (int key = 1; key <= 3; key++)
		sum += find(key)->value;
	return sum == 0;
}
