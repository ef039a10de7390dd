// Conversions and arithmetic of integers: promotion, wrapping of unsigned types, signs, shifts.
// Source: written for this corpus.
// Expected: verified. (The conversion of 200 to `signed char` is that of GCC.)

#include <assert.h>
#include <limits.h>
#include <stdint.h>

int main(void)
{
	unsigned u = 0;
	uint8_t byte = 250;
	int8_t small = (int8_t)200;
	int64_t wide = INT_MAX;
	unsigned short a = 65535, b = 2;
	int i = -7;

	u--;
	assert(u == UINT_MAX);
	byte += 10;
	assert(byte == 4);
	assert(byte - 5 == -1); /* promoted to int */
	assert(small == -56);
	wide++;
	assert(wide == 2147483648LL);
	assert((int)(a + b) == 65537);
	assert((unsigned short)(a + b) == 1);
	assert(i / 2 == -3 && i % 2 == -1);
	assert((unsigned)i > 100u); /* -7 is a large unsigned number */
	assert((u >> 28) == 15 && (i >> 1) == -4);
	assert((1u << 31) == 2147483648u);
	assert(~0 == -1 && !5 == 0 && -(-3) == 3);
	assert(((5 & 3) | (8 ^ 12)) == 5);
	assert(sizeof(long) == 8 && sizeof(char) == 1 && sizeof(void *) == 8);
	assert('a' + 1 == 'b' && "xyz"[1] == 'y');
	return 0;
}
