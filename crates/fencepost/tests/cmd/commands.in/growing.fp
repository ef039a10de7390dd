// The store buffer can grow without bound.
shared int x;

thread p { loop { x = 1; } }
thread q { r = x; assert(r < 2); }
