shared int x;
operation void put(int v) as p { x = v; }
operation int get() as g { r = x; return r; }
property sequentially_consistent operations;
client p|g;
client pp|gg;
