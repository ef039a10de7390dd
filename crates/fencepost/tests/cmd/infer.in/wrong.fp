shared int x
thread p { x = 1; }
