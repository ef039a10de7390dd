// `drain` through a null reference inside `atomic`: the address must be checked there, too.
// Expected: a fault under every model. The engine once skipped the check inside blocks.

record Node { int v; }
pool Node[1];

thread p {
  Node n;
  atomic { drain n.v; }
}
