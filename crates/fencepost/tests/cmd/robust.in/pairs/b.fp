// Store buffering, with fences.
shared int x, y;

thread p {
  x = 1;
  fence;
  r = y;
}

thread q {
  y = 1;
  fence;
  r = x;
}

final never p.r == 0 && q.r == 0;
