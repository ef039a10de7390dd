/* Szymanski's algorithm for N threads: bench/programs/szymanski.fp by hand.

   Source: Szymanski 1988, A simple solution to Lamport's concurrent programming problem with linear
   wait. The tests of all flags are loops in ascending order. They are not atomic.
   Macros: N, and those of memory.pml.
   Each access is one step, with the local computation behind it. A loop that only waits for one
   location is a guard. */

#define FLAG(j) (j)
#define LOCATIONS N
/* A thread stores to flag[i]. */
#define SLOTS 1
#define HOME(i, s) (i)
#include "memory.pml"

#define i _pid
#define FIRST (i == 0 -> 1 : 0)
#define STORE(v) ROOM(i, 0) -> PUT(i, 0, FLAG(i), v)

inline next() {
  j++;
  if
  :: j == i -> j++
  :: else
  fi
}

active [N] proctype p() {
  byte j;
  bit found; /* the program's `outside` and `closed`, which are not live at the same time */
start:
  atomic { STORE(1); j = FIRST };
door:
  atomic {
    FENCE(i) && mem[FLAG(j)] < 3 ->
    next();
    if
    :: j < N -> goto door
    :: else -> j = 0
    fi
  };
  d_step { STORE(3); j = FIRST };
look:
  atomic {
    FENCE(i) -> found = found || mem[FLAG(j)] == 1;
    next();
    if
    :: j < N -> goto look
    :: else -> j = 0
    fi;
    if
    :: found -> found = 0
    :: else -> goto inside
    fi
  };
  d_step { STORE(2); j = FIRST };
outside:
  atomic {
    found = found || mem[FLAG(j)] == 4;
    next();
    if
    :: j < N -> goto outside
    :: else
    fi;
    if
    :: found -> found = 0; j = 0
    :: else -> j = FIRST; goto outside
    fi
  };
inside:
  atomic {
    STORE(4);
    if
    :: i == 0 -> ENTER; goto critical
    :: else
    fi
  };
lower:
  atomic {
    mem[FLAG(j)] < 2 ->
    j++;
    if
    :: j < i -> goto lower
    :: else -> j = 0; ENTER
    fi
  };
critical:
  atomic {
    cs--;
    if
    :: i == N - 1 -> goto leave
    :: else -> j = i + 1
    fi
  };
higher:
  atomic {
    mem[FLAG(j)] != 2 && mem[FLAG(j)] != 3 ->
    j++;
    if
    :: j < N -> goto higher
    :: else -> j = 0
    fi
  };
leave:
  atomic { STORE(0) };
  goto start
}

MEMORY
