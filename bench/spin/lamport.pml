/* Lamport's fast mutex for threads 1 to N: bench/programs/lamport.fp by hand.

   Source: Lamport 1987, A fast mutual exclusion algorithm, algorithm 2.
   Macros: N, and those of memory.pml.
   Each access is one step, with the local computation behind it. A loop that only waits for one
   location is a guard. Values of y are not kept: only whether they are 0 or i is used. */

#define X 0
#define Y 1
#define FLAG(j) (1 + (j))
#define LOCATIONS (2 + N)
/* A thread stores to b[i] (slot 0), x (slot 1) and y (slot 2). */
#define SLOTS 3
#define HOME(i, s) ((s) == 0 -> FLAG((i) + 1) : (s) - 1)
#include "memory.pml"

#define q _pid /* the number of the buffer */
#define i (_pid + 1)

active [N] proctype p() {
  byte j;
start:
  atomic { ROOM(q, 0) -> PUT(q, 0, FLAG(i), 1) };
  d_step { ROOM(q, 1) -> PUT(q, 1, X, i) };
  atomic {
    FENCE(q) ->
    if
    :: OWN(q, 2, Y) == 0 -> goto second
    :: else
    fi
  };
  d_step { ROOM(q, 0) -> PUT(q, 0, FLAG(i), 0) };
idle:
  OWN(q, 2, Y) == 0;
  goto start;
second:
  atomic { ROOM(q, 2) -> PUT(q, 2, Y, i) };
  atomic {
    FENCE(q) ->
    if
    :: OWN(q, 1, X) == i -> ENTER; goto critical
    :: else
    fi
  };
  d_step { ROOM(q, 0) -> PUT(q, 0, FLAG(i), 0); j = 1 };
wait:
  atomic {
    !(j == i -> OWN(q, 0, FLAG(i)) : mem[FLAG(j)]) ->
    j++;
    if
    :: j <= N -> goto wait
    :: else -> j = 0
    fi
  };
  atomic {
    if
    :: OWN(q, 2, Y) == i -> ENTER
    :: OWN(q, 2, Y) == 0 -> goto start
    :: else -> goto idle
    fi
  };
critical:
  cs--;
  d_step { ROOM(q, 2) -> PUT(q, 2, Y, 0) };
  d_step { FENCE(q) && ROOM(q, 0) -> PUT(q, 0, FLAG(i), 0) };
  goto start
}

MEMORY
