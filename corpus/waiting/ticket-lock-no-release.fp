// A ticket lock whose holder does not serve the next ticket.
// Source: Mellor-Crummey, Scott 1991, without the release.
// Expected: violated everywhere: the second thread waits for its ticket forever.

const N = 2;

shared int(0..=N) next, serving;

thread p(i in 0..N) {
  int t = fetch_add(next, 1);
  while (serving != t) skip;
  critical { skip; }
}

property mutual_exclusion;
