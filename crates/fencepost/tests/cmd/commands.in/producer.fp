// The first thread counts until the second one stops it.
shared int x, stop;

thread counter { while (stop == 0) { x = x + 1; } }
thread observer { r = x; assert(r < 4); stop = 1; }
