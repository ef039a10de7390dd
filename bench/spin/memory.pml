/* Memory with store buffers for hand-written models.

   A model defines N (threads), LOCATIONS, SLOTS and HOME before it includes this file. A thread
   stores to at most SLOTS locations: HOME(i, s) is the location of slot s of thread i. Slots are
   numbered from 0, at most 5.

   The memory model is a macro of the command line:
     (none)  SC: a store is an assignment.
     TSO     One FIFO buffer of B stores for each thread.
     PSO     One FIFO buffer of B stores for each thread and slot.
   With NOFENCES, fences have no effect.

   A model uses, in one d_step or atomic block for each access:
     ROOM(i, s)       guard: there is room for a store
     PUT(i, s, x, v)  a store of v to location x, which is slot s of thread i; requires ROOM
     OWN(i, s, x)     a load of location x, which is slot s of thread i: its youngest pending store,
                      or memory
     mem[x]           a load of a location that thread i never stores to
     FENCE(i)         guard: a full fence; it has no effect of its own, so it is part of the next
                      access
     LOCKED(i)        guard: what a locked instruction waits for if it accesses a location without
                      pending stores of thread i: all pending stores under TSO, nothing under PSO
   The process `memory` commits the oldest store of any buffer. Elements behind the end of a buffer
   are cleared, so equal contents are equal states. */

#ifndef B
#define B 2
#endif
#if B > 4 || N > 4 || SLOTS > 5
#error "at most 4 threads, 5 slots and 4 pending stores"
#endif

byte mem[LOCATIONS];
byte cs; /* the number of threads in the critical section */

#define ENTER cs++; assert(cs == 1)

#ifdef NOFENCES
#define FENCE(i) true
#else
#define FENCE(i) EMPTY(i)
#endif

#if defined(TSO)

#define NONE LOCATIONS
byte loc[N * B] = NONE;
byte val[N * B];
byte used[N];

#define EMPTY(i) (used[i] == 0)
#define LOCKED(i) EMPTY(i)
#define ROOM(i, s) (used[i] < B)
#define PUT(i, s, x, v) loc[(i) * B + used[i]] = x; val[(i) * B + used[i]] = v; used[i]++

#define AT(i, k, x, older) (loc[(i) * B + k] == (x) -> val[(i) * B + k] : older)
#if B == 1
#define OWN(i, s, x) AT(i, 0, x, mem[x])
#elif B == 2
#define OWN(i, s, x) AT(i, 1, x, AT(i, 0, x, mem[x]))
#elif B == 3
#define OWN(i, s, x) AT(i, 2, x, AT(i, 1, x, AT(i, 0, x, mem[x])))
#else
#define OWN(i, s, x) AT(i, 3, x, AT(i, 2, x, AT(i, 1, x, AT(i, 0, x, mem[x]))))
#endif

#define SHIFT(i, k) \
  loc[(i) * B + k] = loc[(i) * B + k + 1]; val[(i) * B + k] = val[(i) * B + k + 1];
#define CLEAR(i) loc[(i) * B + B - 1] = NONE; val[(i) * B + B - 1] = 0; used[i]--
#define COMMITS(i) \
  :: d_step { used[i] > 0 -> mem[loc[(i) * B]] = val[(i) * B]; SHIFTS(i) CLEAR(i) }

#elif defined(PSO)

byte val[N * SLOTS * B];
byte used[N * SLOTS];

#define QUEUE(i, s) ((i) * SLOTS + (s))
#if SLOTS == 1
#define EMPTY(i) (used[QUEUE(i, 0)] == 0)
#elif SLOTS == 2
#define EMPTY(i) (used[QUEUE(i, 0)] + used[QUEUE(i, 1)] == 0)
#elif SLOTS == 3
#define EMPTY(i) (used[QUEUE(i, 0)] + used[QUEUE(i, 1)] + used[QUEUE(i, 2)] == 0)
#elif SLOTS == 4
#define EMPTY(i) \
  (used[QUEUE(i, 0)] + used[QUEUE(i, 1)] + used[QUEUE(i, 2)] + used[QUEUE(i, 3)] == 0)
#else
#define EMPTY(i) \
  (used[QUEUE(i, 0)] + used[QUEUE(i, 1)] + used[QUEUE(i, 2)] + used[QUEUE(i, 3)] \
   + used[QUEUE(i, 4)] == 0)
#endif
#define LOCKED(i) true
#define ROOM(i, s) (used[QUEUE(i, s)] < B)
#define PUT(i, s, x, v) \
  val[QUEUE(i, s) * B + used[QUEUE(i, s)]] = v; used[QUEUE(i, s)]++
#define OWN(i, s, x) \
  (used[QUEUE(i, s)] == 0 -> mem[x] : val[QUEUE(i, s) * B + used[QUEUE(i, s)] - 1])

#define SHIFT(q, k) val[(q) * B + k] = val[(q) * B + k + 1];
#define CLEAR(q) val[(q) * B + B - 1] = 0; used[q]--
#define COMMIT(i, s) \
  :: d_step { \
    used[QUEUE(i, s)] > 0 -> \
    mem[HOME(i, s)] = val[QUEUE(i, s) * B]; SHIFTS(QUEUE(i, s)) CLEAR(QUEUE(i, s)) \
  }
#if SLOTS == 1
#define COMMITS(i) COMMIT(i, 0)
#elif SLOTS == 2
#define COMMITS(i) COMMIT(i, 0) COMMIT(i, 1)
#elif SLOTS == 3
#define COMMITS(i) COMMIT(i, 0) COMMIT(i, 1) COMMIT(i, 2)
#elif SLOTS == 4
#define COMMITS(i) COMMIT(i, 0) COMMIT(i, 1) COMMIT(i, 2) COMMIT(i, 3)
#else
#define COMMITS(i) COMMIT(i, 0) COMMIT(i, 1) COMMIT(i, 2) COMMIT(i, 3) COMMIT(i, 4)
#endif

#else

#define EMPTY(i) true
#define LOCKED(i) true
#define ROOM(i, s) true
#define PUT(i, s, x, v) mem[x] = v
#define OWN(i, s, x) mem[x]

#endif

#if B == 1
#define SHIFTS(q)
#elif B == 2
#define SHIFTS(q) SHIFT(q, 0)
#elif B == 3
#define SHIFTS(q) SHIFT(q, 0) SHIFT(q, 1)
#else
#define SHIFTS(q) SHIFT(q, 0) SHIFT(q, 1) SHIFT(q, 2)
#endif

#if defined(TSO) || defined(PSO)
/* The threads come first: their process numbers are 0 to N - 1. */
#define MEMORY \
  active proctype memory() { \
    do \
    COMMITS(0) \
    COMMITS_1 COMMITS_2 COMMITS_3 \
    od \
  }
#if N > 1
#define COMMITS_1 COMMITS(1)
#else
#define COMMITS_1
#endif
#if N > 2
#define COMMITS_2 COMMITS(2)
#else
#define COMMITS_2
#endif
#if N > 3
#define COMMITS_3 COMMITS(3)
#else
#define COMMITS_3
#endif
#else
#define MEMORY
#endif
