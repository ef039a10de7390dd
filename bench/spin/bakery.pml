/* Lamport's bakery for N threads: bench/programs/bakery.fp by hand.

   Source: Lamport 1974, A new solution of Dijkstra's concurrent programming problem. Tickets are
   bounded at N: a thread that would draw a larger one waits until it need not.
   Macros: N, and those of memory.pml.
   Each access is one step, with the local computation behind it. A loop that only waits for one
   location is a guard. */

#define CHOOSING(j) (j)
#define NUMBER(j) (N + (j))
#define LOCATIONS (2 * N)
/* A thread stores to choosing[i] (slot 0) and to number[i] (slot 1). */
#define SLOTS 2
#define HOME(i, s) ((s) * N + (i))
#include "memory.pml"

#define i _pid
#define MAX N
#define FIRST (i == 0 -> 1 : 0)
#define LAST (i == N - 1 -> N - 2 : N - 1)

inline next() {
  j++;
  if
  :: j == i -> j++
  :: else
  fi
}

active [N] proctype p() {
  byte j;
  byte m;
  byte mine;
start:
  atomic { ROOM(i, 0) -> PUT(i, 0, CHOOSING(i), 1); j = FIRST };
draw:
  atomic {
    FENCE(i) && !(j == LAST && (m == MAX || mem[NUMBER(j)] == MAX)) ->
    m = (mem[NUMBER(j)] > m -> mem[NUMBER(j)] : m);
    next();
    if
    :: j < N -> goto draw
    :: else -> j = 0; mine = m + 1; m = 0
    fi
  };
  d_step { ROOM(i, 1) -> PUT(i, 1, NUMBER(i), mine) };
  d_step { FENCE(i) && ROOM(i, 0) -> PUT(i, 0, CHOOSING(i), 0); j = FIRST };
wait:
  mem[CHOOSING(j)] == 0;
  atomic {
    !(mem[NUMBER(j)] != 0
      && (mem[NUMBER(j)] < mine || mem[NUMBER(j)] == mine && j < i)) ->
    next();
    if
    :: j < N -> goto wait
    :: else -> j = 0; mine = 0; ENTER
    fi
  };
  cs--;
  d_step { ROOM(i, 1) -> PUT(i, 1, NUMBER(i), 0) };
  goto start
}

MEMORY
