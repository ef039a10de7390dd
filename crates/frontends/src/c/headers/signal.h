#pragma once
/* Signals are not supported. */
typedef int sig_atomic_t;
