// A store that does not fit its location, and a later load of that location.
// Expected: a fault under every model. Under RMO the load once read the illegal value early, which
// the packed state cannot represent.

shared int(0..2) x;
shared int y;

thread p {
  a = 3;
  x = a;
  r = x;
  y = r;
}
