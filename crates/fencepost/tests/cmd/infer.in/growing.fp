// Each thread tries to enter once; then its store buffer grows without bound.
shared bool want[2];
shared int z;
thread p(i in 0..2) {
  want[i] = true;
  w = want[1 - i];
  if (!w) critical { skip; }
  loop { z = 1; }
}
property mutual_exclusion;
