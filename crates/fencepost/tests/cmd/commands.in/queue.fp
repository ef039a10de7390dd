shared int head, tail, slot[4];

operation void enqueue(int v) as e { t = tail; slot[t] = v; tail = t + 1; }
operation int dequeue() as d {
  h = head;
  if (h == tail) { return 0; }
  head = h + 1;
  return slot[h];
}

client e|d;
client e(ed|d);

final never d1 > 2;
