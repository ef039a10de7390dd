shared int x;
thread p { r = x; assert(r == 1); x = 2; }
observe x;
