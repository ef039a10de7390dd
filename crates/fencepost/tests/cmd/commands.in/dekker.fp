shared bool want[2];

thread p(i in 0..2) {
  want[i] = true;
  if (!want[1 - i]) {
    critical { skip; }
  }
}

property mutual_exclusion;
