// The buffer can grow for ever.
shared int x;

thread p { loop { x = 1; } }
thread q { r = x; assert(r < 2); }
