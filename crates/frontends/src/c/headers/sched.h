#pragma once
struct sched_param { int sched_priority; };
#define SCHED_OTHER 0
#define SCHED_FIFO 1
#define SCHED_RR 2
static inline int sched_yield(void) { return 0; }
