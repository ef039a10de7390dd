// Allocates and frees a record.
record Node { int value; }
pool Node[2];

thread p(i in 0..2) {
  n = new Node;
  free(n);
}
