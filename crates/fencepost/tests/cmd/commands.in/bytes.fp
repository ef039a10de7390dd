shared int x;
// ÿş
thread p { x = 1; }
