/* Records an execution of Dekker's entry protocol: set your flag, then read the flag of the other.
 *
 *   cc -std=c11 -pthread -I recorder/include recorder/examples/dekker.c -o dekker
 *   ./dekker dekker.jsonl [fenced] [concurrent]
 *   fencepost monitor dekker.jsonl
 *
 * Without `concurrent`, one thread runs after the other. */
#define FENCEPOST_RECORD_IMPLEMENTATION
#include "fencepost_record.h"

#include <pthread.h>

static fp_atomic wants[2] = {FP_ATOMIC("left wants", 0), FP_ATOMIC("right wants", 0)};
static bool fenced;
static int rounds = 1;

/* Tries to enter the critical section. Returns whether it did. */
static bool enter(int me) {
  fp_store(&wants[me], 1);
  if (fenced) fp_fence();
  bool entered = fp_load(&wants[1 - me]) == 0;
  fp_store(&wants[me], 0);
  if (fenced) fp_fence();
  return entered;
}

static void *left(void *unused) {
  fp_thread("left");
  for (int round = 0; round < rounds; round++) enter(0);
  return unused;
}

static void *right(void *unused) {
  fp_thread("right");
  for (int round = 0; round < rounds; round++) enter(1);
  return unused;
}

int main(int count, char **arguments) {
  if (count < 2) {
    fputs("usage: dekker TRACE [fenced] [concurrent]\n", stderr);
    return 2;
  }
  bool concurrent = false;
  for (int at = 2; at < count; at++) {
    fenced = fenced || strcmp(arguments[at], "fenced") == 0;
    concurrent = concurrent || strcmp(arguments[at], "concurrent") == 0;
  }
  if (concurrent) rounds = 50;
  pthread_t threads[2];
  if (pthread_create(&threads[0], NULL, left, NULL) != 0) return 1;
  if (!concurrent) pthread_join(threads[0], NULL);
  if (pthread_create(&threads[1], NULL, right, NULL) != 0) return 1;
  if (concurrent) pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return fp_write_trace(arguments[1]) == 0 ? 0 : 1;
}
