/* Every operation once, in one thread: the trace and the values are known. Two locations have the same name. */
#define FENCEPOST_RECORD_IMPLEMENTATION
#include "fencepost_record.h"

static fp_atomic x = FP_ATOMIC("x", 7), other = FP_ATOMIC("x", 0);

int main(int count, char **arguments) {
  if (count != 2) return 2;
  fp_thread("\"one\"\n");
  uint32_t expected = 1;
  if (fp_compare_exchange(&x, &expected, 2) || expected != 7) return 1;
  if (!fp_compare_exchange(&x, &expected, 2)) return 1;
  if (fp_swap(&x, 3) != 2) return 1;
  fp_fence_store_store();
  if (fp_fetch_add(&x, 5) != 3) return 1;
  fp_store(&other, 1);
  fp_fence();
  if (fp_load(&x) != 8) return 1;
  return fp_write_trace(arguments[1]) == 0 ? 0 : 1;
}
