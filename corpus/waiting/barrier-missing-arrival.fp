// A sense-reversing barrier for three threads that only two threads reach.
// Source: Mellor-Crummey, Scott 1991, used with a wrong number of threads.
// Expected: violated everywhere: both threads wait for the third arrival forever.

const N = 3;

shared int(0..=N) count = N;
shared bool sense;

proc void barrier() {
  int n = fetch_sub(count, 1);
  if (n == 1) {
    count = N;
    sense = true;
  } else {
    while (!sense) skip;
  }
}

thread p(i in 0..2) {
  barrier();
}
