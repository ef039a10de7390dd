// Each thread sets its flag and enters if the other flag is not set.
shared bool want[2];

thread p(i in 0..2) {
  want[i] = true;
  other = want[1 - i];
  if (!other) critical { skip; }
}

property mutual_exclusion;
