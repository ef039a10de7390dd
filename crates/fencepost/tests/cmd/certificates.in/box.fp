// A value and a flag. Two clients need different fences.
shared int value, flag;
operation void put() as p { value = 1; flag = 1; }
operation void get() as g { f = flag; v = value; assert(f == 0 || v == 1); }
operation void both() as b { flag = 1; v = value; }
client p|g;
client p|b;
