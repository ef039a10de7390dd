// More conditions than fit into one machine word; the last never holds.
// Expected: violated under every model. The engine once looked at the first 31 only.

shared int x;

thread p {
  x = 1;
}

final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 1;
final exists x == 7;
