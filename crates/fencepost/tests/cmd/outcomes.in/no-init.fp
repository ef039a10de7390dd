shared int x;
init { assume(x == 1); }
thread p { x = 2; }
observe x;
