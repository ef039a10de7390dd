/* Records an execution of a C program for `fencepost monitor`.
 *
 * Each access is recorded with its position in its thread and its coherence index: the number of the write that it
 * makes or reads, for its location. Both are the events of [BM08], section 2, and determine happens-before exactly. A
 * location holds its coherence index next to its value in one 64-bit word, so one atomic operation takes both. There is
 * no lock and no shared counter on the path of an access. Each thread has its own log.
 *
 * What is recorded: every operation on a word is sequentially consistent, so the recorded execution is, too.
 * fp_write_trace merges the logs into an order that agrees with happens-before. Any such order gives the same answer.
 *
 * What is missed: accesses to other variables, locks, and the start and end of threads. Record a lock as a location: an
 * update after it is taken and one before it is released. Values have 32 bits.
 *
 * C11 with threads of the system. In one source file, define FENCEPOST_RECORD_IMPLEMENTATION before the #include.
 *
 *   static fp_atomic ready = FP_ATOMIC("ready", 0);
 *   fp_thread("writer");              in each thread, before its first access; optional
 *   fp_store(&ready, 1);              a store that may wait in a store buffer
 *   fp_fence();                       a full fence; a sequentially consistent store is fp_store, then fp_fence
 *   fp_write_trace("trace.jsonl");    after all threads have been joined; returns 0 on success
 */
#ifndef FENCEPOST_RECORD_H
#define FENCEPOST_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A recorded location. It must exist until fp_write_trace. Only `word` and `name` are used before. */
typedef struct fp_atomic {
  _Atomic uint64_t word; /* the coherence index in the high half, the value in the low half */
  const char *name;
  struct fp_atomic *next;        /* the other locations of the trace */
  uint32_t number, writes, last; /* number of this name; writes in the order so far; largest coherence index */
  uint32_t *loads;               /* by coherence index: the loads that are not in the order yet */
} fp_atomic;

/* The initial value of a location. If several locations have the same name, the trace numbers them. */
#define FP_ATOMIC(name_, value_) {(uint32_t)(value_), (name_), 0, 0, 0, 0, 0}

#define FP_TEXT_(x) #x
#define FP_TEXT(x) FP_TEXT_(x)
#define FP_HERE __FILE__ ":" FP_TEXT(__LINE__)

#define fp_load(location) fp_load_at((location), FP_HERE)
#define fp_store(location, value) fp_store_at((location), (value), FP_HERE)
#define fp_swap(location, value) fp_swap_at((location), (value), FP_HERE)
#define fp_fetch_add(location, by) fp_fetch_add_at((location), (by), FP_HERE)
#define fp_compare_exchange(location, expected, value) fp_compare_exchange_at((location), (expected), (value), FP_HERE)
#define fp_fence() fp_fence_at(true, FP_HERE)
#define fp_fence_store_store() fp_fence_at(false, FP_HERE)

/* Names the current thread in the trace. `name` must exist until fp_write_trace. */
void fp_thread(const char *name);
/* Loads the value. */
uint32_t fp_load_at(fp_atomic *location, const char *at);
/* Stores a value. */
void fp_store_at(fp_atomic *location, uint32_t value, const char *at);
/* Stores a value and returns the old one, in one step. */
uint32_t fp_swap_at(fp_atomic *location, uint32_t value, const char *at);
/* Adds to the value and returns the old one, in one step. */
uint32_t fp_fetch_add_at(fp_atomic *location, uint32_t by, const char *at);
/* Stores `value` and returns true if the value is `*expected`. Otherwise stores the value in `*expected`. */
bool fp_compare_exchange_at(fp_atomic *location, uint32_t *expected, uint32_t value, const char *at);
/* Executes a full fence. The trace gets a full fence or a store-store fence. */
void fp_fence_at(bool full, const char *at);
/* Merges the logs and writes the trace. Call this once, after all other threads have ended. Returns 0, or prints a
 * message and returns -1. */
int fp_write_trace(const char *path);

#ifdef FENCEPOST_RECORD_IMPLEMENTATION

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum fp_kind { FP_LOAD, FP_STORE, FP_UPDATE, FP_FAILED, FP_FULL_FENCE, FP_STORE_STORE_FENCE };

typedef struct {
  fp_atomic *location;
  const char *at;
  uint32_t index;
  enum fp_kind kind;
} fp_event;

typedef struct fp_log {
  struct fp_log *next;
  const char *name;
  fp_event *events;
  size_t length, capacity, merged;
  unsigned number;
  bool lost; /* an event was not recorded because memory was exhausted */
} fp_log;

static _Atomic(fp_log *) fp_logs;
static atomic_uint fp_threads;
static _Thread_local fp_log *fp_own_log;

static fp_log *fp_get_log(void) {
  if (!fp_own_log) {
    fp_log *log = calloc(1, sizeof *log);
    if (!log) {
      fputs("fencepost_record: out of memory\n", stderr);
      abort();
    }
    log->number = atomic_fetch_add(&fp_threads, 1);
    log->next = atomic_load(&fp_logs);
    while (!atomic_compare_exchange_weak(&fp_logs, &log->next, log)) {
    }
    fp_own_log = log;
  }
  return fp_own_log;
}

static void fp_record(enum fp_kind kind, fp_atomic *location, uint32_t index, const char *at) {
  fp_log *log = fp_get_log();
  if (log->length == log->capacity) {
    size_t capacity = log->capacity ? 2 * log->capacity : 1024;
    fp_event *events = realloc(log->events, capacity * sizeof *events);
    if (!events) {
      log->lost = true;
      return;
    }
    log->events = events;
    log->capacity = capacity;
  }
  log->events[log->length++] = (fp_event){location, at, index, kind};
}

/* Replaces the old word by a new value with the next coherence index. Fails if the word has changed. */
static bool fp_replace(fp_atomic *location, uint64_t *old, uint32_t value) {
  uint64_t next = ((*old >> 32) + 1) << 32 | value;
  return atomic_compare_exchange_strong(&location->word, old, next);
}

void fp_thread(const char *name) { fp_get_log()->name = name; }

uint32_t fp_load_at(fp_atomic *location, const char *at) {
  uint64_t word = atomic_load(&location->word);
  fp_record(FP_LOAD, location, (uint32_t)(word >> 32), at);
  return (uint32_t)word;
}

void fp_store_at(fp_atomic *location, uint32_t value, const char *at) {
  uint64_t old = atomic_load(&location->word);
  while (!fp_replace(location, &old, value)) {
  }
  fp_record(FP_STORE, location, (uint32_t)(old >> 32) + 1, at);
}

uint32_t fp_swap_at(fp_atomic *location, uint32_t value, const char *at) {
  uint64_t old = atomic_load(&location->word);
  while (!fp_replace(location, &old, value)) {
  }
  fp_record(FP_UPDATE, location, (uint32_t)(old >> 32) + 1, at);
  return (uint32_t)old;
}

uint32_t fp_fetch_add_at(fp_atomic *location, uint32_t by, const char *at) {
  uint64_t old = atomic_load(&location->word);
  while (!fp_replace(location, &old, (uint32_t)old + by)) {
  }
  fp_record(FP_UPDATE, location, (uint32_t)(old >> 32) + 1, at);
  return (uint32_t)old;
}

bool fp_compare_exchange_at(fp_atomic *location, uint32_t *expected, uint32_t value, const char *at) {
  uint64_t old = atomic_load(&location->word);
  do {
    if ((uint32_t)old != *expected) {
      fp_record(FP_FAILED, location, (uint32_t)(old >> 32), at);
      *expected = (uint32_t)old;
      return false;
    }
  } while (!fp_replace(location, &old, value));
  fp_record(FP_UPDATE, location, (uint32_t)(old >> 32) + 1, at);
  return true;
}

void fp_fence_at(bool full, const char *at) {
  atomic_thread_fence(memory_order_seq_cst);
  fp_record(full ? FP_FULL_FENCE : FP_STORE_STORE_FENCE, NULL, 0, at);
}

static bool fp_writes(enum fp_kind kind) { return kind == FP_STORE || kind == FP_UPDATE; }

/* Adds an event to the order if it may come next. */
static bool fp_advance(const fp_event *event) {
  fp_atomic *location = event->location;
  if (!location) return true;
  if (fp_writes(event->kind)) {
    if (event->index != location->writes + 1 || location->loads[location->writes] > 0) return false;
    location->writes++;
  } else {
    if (event->index != location->writes) return false;
    location->loads[event->index]--;
  }
  return true;
}

static void fp_print_text(FILE *file, const char *text) {
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') {
      fprintf(file, "\\%c", c);
    } else if (c < 0x20 || c == 0x7f) {
      fprintf(file, "\\u%04x", c);
    } else {
      fputc(c, file);
    }
  }
}

static void fp_print(FILE *file, const fp_log *log, const fp_event *event) {
  static const char *const ops[] = {"load", "store", "update", "failed", "fence", "fence\",\"kind\":\"store_store"};
  fputs("{\"thread\":\"", file);
  if (log->name) {
    fp_print_text(file, log->name);
  } else {
    fprintf(file, "thread %u", log->number);
  }
  fprintf(file, "\",\"op\":\"%s\"", ops[event->kind]);
  if (event->location) {
    fputs(",\"address\":\"", file);
    fp_print_text(file, event->location->name);
    if (event->location->number > 1) fprintf(file, "#%u", (unsigned)event->location->number);
    fprintf(file, "\",\"index\":%u", (unsigned)event->index);
  }
  fputs(",\"at\":\"", file);
  fp_print_text(file, event->at);
  fputs("\"}\n", file);
}

static int fp_fail(const char *message) {
  fprintf(stderr, "fencepost_record: no trace written: %s\n", message);
  return -1;
}

/* Lists the locations of all events, and counts the loads of each coherence index. Returns false if there is not enough
 * memory. */
static bool fp_count_loads(fp_log *logs) {
  fp_atomic *locations = NULL;
  for (fp_log *log = logs; log; log = log->next) {
    for (size_t at = 0; at < log->length; at++) {
      fp_atomic *location = log->events[at].location;
      if (!location) continue;
      if (location->number == 0) {
        location->number = 1;
        for (fp_atomic *other = locations; other; other = other->next)
          if (strcmp(other->name, location->name) == 0) location->number++;
        location->next = locations;
        locations = location;
      }
      if (log->events[at].index > location->last) location->last = log->events[at].index;
    }
  }
  for (fp_atomic *location = locations; location; location = location->next) {
    location->loads = calloc((size_t)location->last + 1, sizeof *location->loads);
    if (!location->loads) return false;
  }
  for (fp_log *log = logs; log; log = log->next)
    for (size_t at = 0; at < log->length; at++) {
      fp_event *event = &log->events[at];
      if (event->location && !fp_writes(event->kind)) event->location->loads[event->index]++;
    }
  return true;
}

int fp_write_trace(const char *path) {
  fp_log *logs = atomic_load(&fp_logs);
  for (fp_log *log = logs; log; log = log->next)
    if (log->lost) return fp_fail("out of memory while recording");
  if (!fp_count_loads(logs)) return fp_fail("out of memory");
  FILE *file = fopen(path, "w");
  if (!file) return fp_fail(path);
  bool advanced = true, complete = true;
  while (advanced) {
    advanced = false;
    for (fp_log *log = logs; log; log = log->next)
      while (log->merged < log->length && fp_advance(&log->events[log->merged])) {
        fp_print(file, log, &log->events[log->merged++]);
        advanced = true;
      }
  }
  for (fp_log *log = logs; log; log = log->next) complete = complete && log->merged == log->length;
  bool written = !ferror(file);
  if (fclose(file) != 0 || !written) return fp_fail("cannot write the file");
  if (!complete) {
    remove(path);
    return fp_fail("a write is missing, or the execution is not sequentially consistent; write the trace once, after "
                   "all threads have ended");
  }
  return 0;
}

#endif /* FENCEPOST_RECORD_IMPLEMENTATION */
#endif /* FENCEPOST_RECORD_H */
