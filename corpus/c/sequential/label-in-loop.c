// A loop with a label, before any thread exists. Its iterations are known, but a label has one
// place, so the loop must not be unrolled. Signed left shifts drop the upper bits.
// Source: written for this corpus; minimised from a random program that made the front end panic.
// Expected: verified.

#include <assert.h>

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 3; i++) {
		if (i == 1)
			goto skip;
		sum += 10;
skip:
		sum += 1;
	}
	assert(sum == 23);
	assert((0xffffffffLL << 32) == -4294967296LL && (sum << 30) == -1073741824);
	return 0;
}
