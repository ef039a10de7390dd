/* Peterson's algorithm for N threads (the filter lock): bench/programs/filter.fp by hand.

   Source: Peterson 1981; Herlihy, Shavit 2008, The art of multiprocessor programming, chapter 2.
   Macros: N, and those of memory.pml.
   Each access is one step, with the local computation behind it. The load of level[k] keeps only
   whether the value is at least l, which is all that is used of it. With VALUES, it keeps the value,
   as the .fp program does. */

#define LEVEL(j) (j)
#define VICTIM(l) (N + (l))
#define LOCATIONS (2 * N)
/* A thread stores to level[i] (slot 0) and to victim[l] (slot l). */
#define SLOTS N
#define HOME(i, s) ((s) == 0 -> LEVEL(i) : VICTIM(s))
#include "memory.pml"

#define i _pid
#define FIRST (i == 0 -> 1 : 0)

active [N] proctype p() {
  byte l = 1;
  byte k;
#ifdef VALUES
  byte o;
#define HIGH (o >= l)
#else
  bit o;
#define HIGH o
#endif
raise:
  atomic { ROOM(i, 0) -> PUT(i, 0, LEVEL(i), l) };
  d_step { FENCE(i) && ROOM(i, l) -> PUT(i, l, VICTIM(l), i); k = FIRST };
look:
#ifdef VALUES
  atomic { FENCE(i) -> o = mem[LEVEL(k)] };
#else
  atomic { FENCE(i) -> o = (mem[LEVEL(k)] >= l) };
#endif
  atomic {
    if
    :: HIGH && OWN(i, l, VICTIM(l)) == i -> o = 0; goto look
    :: else -> o = 0
    fi;
    k++;
    if
    :: k == i -> k++
    :: else
    fi;
    if
    :: k < N -> goto look
    :: else -> k = 0; l++
    fi;
    if
    :: l < N -> goto raise
    :: else -> l = 0; ENTER
    fi
  };
  cs--;
  d_step { ROOM(i, 0) -> PUT(i, 0, LEVEL(i), 0); l = 1 };
  goto raise
}

MEMORY
