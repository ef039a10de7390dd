// Peterson's algorithm as in the experiments of [LW10], entered repeatedly, without fences. A thread
// waits in one control location: it loads the flag of the other thread or the turn, and goes on as
// soon as the loaded value lets it. Nothing is loaded into a register. The critical section is the
// location before the flag is reset.
// Source: [LW10] Table 2; the paper does not print its programs.
// Expected: SC verified; TSO, PSO, RMO violated as peterson0.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  loop {
    want[i] = true;
    turn = 1 - i;
    either {
      when(!want[1 - i]);
    } or {
      when(turn == i);
    }
    critical { skip; }
    want[i] = false;
  }
}

property mutual_exclusion;
