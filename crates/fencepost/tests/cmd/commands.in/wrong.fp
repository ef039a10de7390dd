shared int x;

thread p { x = yy; }
thread q { x = true; }
