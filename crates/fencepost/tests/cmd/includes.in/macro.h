#include <stdatomic.h>
static atomic_int x, y;
#define WRITE_BOTH() (atomic_store_explicit(&x, 1, memory_order_relaxed), \
	atomic_store_explicit(&y, 1, memory_order_relaxed))
static void both(void)
{
	WRITE_BOTH();
}
