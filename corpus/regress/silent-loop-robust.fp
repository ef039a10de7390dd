// Store buffering before loops without accesses. The robustness check treated the loops as spin
// loops that fail, and omitted the steps with the loads: the program was robust.
// Expected: verified everywhere, with hangs allowed; not robust under TSO and PSO.

shared int x, y;

thread p {
  x = 1;
  r = y;
  loop {
    skip;
  }
}

thread q {
  y = 1;
  s = x;
  loop {
    skip;
  }
}

property may_hang;
