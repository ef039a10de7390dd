#pragma once
#include <stddef.h>
/* Time does not pass: every clock shows 0. */
typedef long time_t;
typedef long clock_t;
typedef int clockid_t;
typedef long suseconds_t;
struct timespec { time_t tv_sec; long tv_nsec; };
struct timeval { time_t tv_sec; suseconds_t tv_usec; };
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCKS_PER_SEC 1000000L
#define TIME_UTC 1
static inline int clock_gettime(clockid_t clock, struct timespec *now) {
	now->tv_sec = 0;
	now->tv_nsec = 0;
	return 0;
}
static inline int timespec_get(struct timespec *now, int base) {
	now->tv_sec = 0;
	now->tv_nsec = 0;
	return base;
}
static inline int gettimeofday(struct timeval *now, void *zone) {
	now->tv_sec = 0;
	now->tv_usec = 0;
	return 0;
}
static inline time_t time(time_t *now) {
	if (now)
		*now = 0;
	return 0;
}
static inline clock_t clock(void) { return 0; }
static inline int nanosleep(const struct timespec *time, struct timespec *rest) { return 0; }
