// q waits forever if p has already read `waiting`.
shared bool waiting, wake;
thread p {
  if (waiting) wake = true;
}
thread q {
  waiting = true;
  await(wake);
}
observe wake;
