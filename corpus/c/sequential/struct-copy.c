// Structures that are assigned, passed, returned, copied with memcpy and initialised with
// designators and compound literals.
// Source: written for this corpus.
// Expected: verified.

#include <assert.h>
#include <string.h>

struct vec {
	int x, y;
};

struct shape {
	const char *name;
	struct vec corner[2];
	unsigned char tag;
};

static struct vec add(struct vec a, struct vec b)
{
	a.x += b.x;
	a.y += b.y;
	return a;
}

static struct shape moved(const struct shape *s, struct vec by)
{
	struct shape result = *s;

	for (int i = 0; i < 2; i++)
		result.corner[i] = add(result.corner[i], by);
	return result;
}

int main(void)
{
	struct shape box = { .name = "box", .corner = { [1] = { .x = 3, .y = 4 } }, .tag = 255 };
	struct shape other, third;
	struct vec one = { 1, 1 };

	other = moved(&box, (struct vec){ 10, 20 });
	assert(box.corner[0].x == 0 && box.corner[1].y == 4);
	assert(other.corner[0].x == 10 && other.corner[1].y == 24);
	assert(other.name == box.name && other.name[2] == 'x');

	memcpy(&third, &other, sizeof third);
	third.corner[0] = add(add(one, one), third.corner[1]);
	assert(third.corner[0].x == 15 && third.corner[0].y == 26);
	assert(other.corner[0].x == 10);
	assert(moved(&third, one).corner[1].x == 14);

	other.tag++;
	assert(other.tag == 0 && third.tag == 255);
	assert(one.x == 1);
	return 0;
}
