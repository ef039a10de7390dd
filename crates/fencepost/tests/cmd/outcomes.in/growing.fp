shared int x;
thread p { loop { r = x; x = r + 1; fence; } }
observe x;
