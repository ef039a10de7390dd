// The set of vyset with a check of the final list: add a, remove r, contains c; without fences.
// Source: as vyset, for the VYSet rows of [KVY10] that need more constraints than our results show.
// The operation contains is ours. It runs after the threads and shows which keys are in the list.
// The table of the paper is compared with two variants of this file, too: one key (KEYS is 1), and
// unwritten keys that are the key of another element.
// Expected: SC and TSO verified. PSO and RMO violated in every client, as vyset.
// Fences: as vyset.

const KEYS = 2;                         // the number of keys
const HEAD = 0;
const TAIL = 1;
const FIRST = 1;                        // the node of argument v is FIRST + v
const JUNK = 2 * 7;                     // a link to no node

shared int(0..4) key[7] = {0, 3, 0, 0, 0, 0, 0};
shared int(0..=JUNK) next[7] = {2 * TAIL, JUNK, JUNK, JUNK, JUNK, JUNK, JUNK};

operation bool add(int v) as a {
  int k = 1 + v % KEYS;
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
  int k = 1 + v % KEYS;
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

operation bool contains(int v) as c {
  int k = 1 + v % KEYS;
  curr = HEAD;
  c = key[curr];
  while (c < k) {
    w = next[curr];
    curr = w / 2;
    c = key[curr];
  }
  return c == k;
}

property sequentially_consistent operations;

client (ar|ra)cc;
client (aa|rr)cc;
client (ar|ar)c;
