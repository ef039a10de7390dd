shared int x, y;
thread p { x = 1; a = y; }
thread q { y = 1; b = x; }
final forall p.a == 1 || q.b == 1;
