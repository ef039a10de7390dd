/* Dijkstra's algorithm for N threads: bench/programs/dijkstra.fp by hand.

   Source: Dijkstra 1965, Solution of a problem in concurrent programming control. wants[i] is the
   paper's not b[i], inside[i] is not c[i], turn is k.
   Macros: N, and those of memory.pml.
   Each access is one step, with the local computation behind it. */

#define WANTS(j) (j)
#define INSIDE(j) (N + (j))
#define TURN (2 * N)
#define LOCATIONS (2 * N + 1)
/* A thread stores to wants[i] (slot 0), inside[i] (slot 1) and turn (slot 2). */
#define SLOTS 3
#define HOME(i, s) ((s) == 2 -> TURN : (s) * N + (i))
#include "memory.pml"

#define i _pid
#define FIRST (i == 0 -> 1 : 0)

active [N] proctype p() {
  byte t;
  byte j;
start:
  atomic { ROOM(i, 0) -> PUT(i, 0, WANTS(i), 1) };
again:
  atomic {
    if
    :: OWN(i, 2, TURN) == i -> goto enter
    :: else
    fi
  };
  d_step { ROOM(i, 1) -> PUT(i, 1, INSIDE(i), 0) };
  t = OWN(i, 2, TURN);
  atomic {
    if
    :: (t == i -> OWN(i, 0, WANTS(i)) : mem[WANTS(t)]) -> t = 0; goto again
    :: else -> t = 0
    fi
  };
  d_step { ROOM(i, 2) -> PUT(i, 2, TURN, i) };
  goto again;
enter:
  atomic { ROOM(i, 1) -> PUT(i, 1, INSIDE(i), 1); j = FIRST };
look:
  atomic {
    FENCE(i) ->
    if
    :: mem[INSIDE(j)] -> j = 0; goto again
    :: else -> j++
    fi;
    if
    :: j == i -> j++
    :: else
    fi;
    if
    :: j < N -> goto look
    :: else -> j = 0; ENTER
    fi
  };
  cs--;
  d_step { ROOM(i, 1) -> PUT(i, 1, INSIDE(i), 0) };
  d_step { ROOM(i, 0) -> PUT(i, 0, WANTS(i), 0) };
  goto start
}

MEMORY
