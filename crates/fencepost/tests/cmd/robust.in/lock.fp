// A lock that is taken repeatedly.
shared bool lock, x;

thread p(i in 0..2) {
  loop {
    while (!cas(lock, false, true)) { }
    critical { x = !x; }
    lock = false;
  }
}

property mutual_exclusion;
