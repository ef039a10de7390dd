// Members of a union with different signs share their bytes: an assignment through one member is
// seen through the other with its own sign, in locals and in globals.
// Expected: verified under every model.

#include <assert.h>
#include <stdint.h>

union byte {
	uint8_t u;
	signed char v;
};

struct pair {
	int a;
	union byte byte;
};

struct pair global;

int main(void)
{
	struct pair local;

	local.byte.u = 0;
	assert(--local.byte.v == -1);
	assert(local.byte.u == 255);
	local.byte.u = 200;
	assert(local.byte.v == -56);
	assert((local.byte.v -= 1) == -57 && local.byte.u == 199);
	assert(local.byte.v++ == -57 && local.byte.u == 200);

	global.byte.u = 0;
	assert(--global.byte.v == -1);
	assert(global.byte.u == 255);
	global.byte.u = 200;
	assert((global.byte.v -= 1) == -57 && global.byte.u == 199);
	return 0;
}
