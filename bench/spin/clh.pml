/* CLH queue lock for N threads: bench/programs/clh.fp by hand.

   Source: Craig 1993 and Magnusson, Landin, Hagersten 1994.
   Macros: N, and those of memory.pml.
   Each access is one step, with the local computation behind it. A loop that only waits for one
   location is a guard. Nodes have other numbers than in the .fp program: the queue holds node 0
   first, so that all locations are 0 at the start. */

#define TAIL (N + 1)
#define LOCATIONS (N + 2)
/* A thread stores to any node (slot s is node s). Only the swap stores to tail. */
#define SLOTS (N + 1)
#define HOME(i, s) (s)
#include "memory.pml"

#define i _pid

active [N] proctype p() {
  byte mine = _pid + 1;
  byte pred;
start:
  atomic { ROOM(i, mine) -> PUT(i, mine, mine, 1) };
  d_step { FENCE(i) && LOCKED(i) -> pred = mem[TAIL]; mem[TAIL] = mine };
  atomic { OWN(i, pred, pred) == 0 -> ENTER };
  cs--;
  d_step { ROOM(i, mine) -> PUT(i, mine, mine, 0); mine = pred; pred = 0 };
  goto start
}

MEMORY
