// p may take b before q takes a: then both are blocked.
shared bool a, b;
shared int x;
thread p {
  atomic { assume(!a); a = true; }
  atomic { assume(!b); b = true; }
  x = 1;
  b = false;
  a = false;
}
thread q {
  atomic { assume(!b); b = true; }
  atomic { assume(!a); a = true; }
  x = 2;
  a = false;
  b = false;
}
observe x;
