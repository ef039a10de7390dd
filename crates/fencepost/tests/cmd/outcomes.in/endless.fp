shared int x;
thread p { loop { x = 1; x = 0; fence; } }
observe x;
