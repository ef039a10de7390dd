// A value and its flag. One of the clients needs a fence.
shared int value, flag;
operation void put() as p { value = 1; flag = 1; }
operation void get() as g { f = flag; v = value; assert(f == 0 || v == 1); }
operation void raise() as r { flag = 1; }
client p|g;
client p|r;
