// A set as a sorted list: add a, remove r; without fences.
// Source: Vechev and Yahav 2008, the version that uses compare-and-swap only; the VYSet rows of
// [KVY10] (Tables II and III) with their clients. Our encoding follows the idea, not a listing: a
// remover marks the node's link, then swings the link of the previous node; the operation that does
// this has removed the key. A marked link makes other compare-and-swaps on it fail, and their
// operations restart.
// A link and its mark are one word: next[n] = 2 * successor + mark.
// Nodes are elements of two arrays; add(v) uses node FIRST + v, so nothing is allocated or freed.
// Until they are written, a node's link is out of bounds and its key is 0. An add that restarts
// keeps its node.
// The key of argument v is 1 + v % 2: consecutive operations of a thread use different keys; the
// threads use the same keys.
// The arrays are large enough for these clients; longer clients need larger arrays.
// Expected: SC and TSO verified. PSO and RMO violated in every client: a node is in the list before
// its key or its link is visible.
// Fences: one, store-store, in add before the compare-and-swap; it implements the paper's two
// constraints, key and link before publication. In aaa|rrr an add may restart without bound while a
// remover is between its two steps; without fences the pending stores to next then have no bound.

const HEAD = 0;
const TAIL = 1;
const FIRST = 1;                        // the node of argument v is FIRST + v
const JUNK = 2 * 7;                     // a link to no node

shared int(0..4) key[7] = {0, 3, 0, 0, 0, 0, 0};
shared int(0..=JUNK) next[7] = {2 * TAIL, JUNK, JUNK, JUNK, JUNK, JUNK, JUNK};

operation bool add(int v) as a {
  int k = 1 + v % 2;
  int node = FIRST + v;
  key[node] = k;
  loop {
    pred = HEAD;
    w = next[pred];
    curr = w / 2;
    c = key[curr];
    while (c < k) {
      pred = curr;
      w = next[pred];
      curr = w / 2;
      c = key[curr];
    }
    if (c == k) return false;
    next[node] = 2 * curr;
    if (cas(next[pred], 2 * curr, 2 * node)) return true;
  }
}

operation bool remove(int v) as r {
  int k = 1 + v % 2;
  loop {
    pred = HEAD;
    w = next[pred];
    curr = w / 2;
    c = key[curr];
    while (c < k) {
      pred = curr;
      w = next[pred];
      curr = w / 2;
      c = key[curr];
    }
    if (c != k) return false;
    r = next[curr];
    if (cas(next[curr], r, r | 1)) {
      if (cas(next[pred], 2 * curr, r & ~1)) return true;
    }
  }
}

property sequentially_consistent operations;

client ar|ra;
client aa|rr;
client ar|ar;
client aaa|rrr;
