// More than 32 conditions; the last one never holds.
// Expected: violated under every model. The engine once checked only the first 31.

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
