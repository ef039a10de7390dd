// Store buffering: can both threads read 0?
shared int x, y;

thread p { x = 1; r = y; }
thread q { y = 1; r = x; }

final exists p.r == 0 && q.r == 0;
