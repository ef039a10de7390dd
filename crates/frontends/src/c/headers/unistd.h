#pragma once
#include <sys/types.h>
/* Sleeping has no effect: any thread may run at any time. */
static inline unsigned sleep(unsigned seconds) { return 0; }
static inline int usleep(unsigned microseconds) { return 0; }
static inline pid_t getpid(void) { return 1; }
#define _SC_NPROCESSORS_ONLN 84
#define _SC_PAGESIZE 30
static inline long sysconf(int name) { return name == _SC_PAGESIZE ? 4096 : 2; }
