//! Messages about programs with mistakes.

use insta::assert_snapshot;

use super::{body, checked};

#[test]
fn unknown_names_have_suggestions() {
    assert_snapshot!(body(
        "struct node { int value; struct node *next; }; int counter; void worker(void) {}
         struct node n; int helper(int); extern int elsewhere;",
        "conter = 1; n.vlaue = 2; n.zzzzzz = 3; wroker(); helper(3); helper(4); frob(); elsewhere = 1;
         n->value = 1; (&n).value = 2; goto en; end: conter = 2;"
    ));
}

#[test]
fn types_are_checked() {
    assert_snapshot!(body(
        "struct s { int a; } s; struct t { int a; } t; struct later *l; int i, *p; char *c; int f(int);
         int f(int a) { return a; } int array[3];",
        "s = t; i = s; p = s; s = 0; i = p; p = 5; p = c; *i = 1; i(2); f(); f(1, 2); s + 1; p * 2; p + p;
         l->a = 1; sizeof(*l); array = p; 3 = i; f(1) = 2; &3; -p; ~s; if (s) ; switch (p) { } i[p]; i[i];
         p == i; c == p; (struct t)s; i ? s : t; return s;"
    ));
}

#[test]
fn constants_are_checked() {
    assert_snapshot!(checked(
        "int n = 3; int vla[n]; int negative[-1]; int huge[1UL << 40]; int zero[1 / 0];
         int shift = 1 << 40; enum { E = 5 % 0 }; int *address = &n + n; int copied = n;
         _Static_assert(sizeof(int) == 8, \"no\"); struct { int bad : 40; } bits;
         struct self { struct self inner; }; void nothing; int fn_array[2](void);
         int main(void) { int a[n]; switch (n) { case 1: case n: case 1: default: default: ; }
             case 3: break; continue; again: again: return; }
         void other(void) { return 1; }"
    ));
}

#[test]
fn initialisers_are_checked() {
    assert_snapshot!(checked(
        "struct p { int x, y; }; struct p a = { 1, 2, 3 }, b = { .z = 1 }, c = 5; int d[2] = { 1, 2, 3, 4 };
         int e[2] = { [5] = 1 }, f = { 1, 2 }; char g[2] = \"abc\"; int h[] = 3; struct q i = { 1 };
         struct { int k : 2; int l; } bits = { 1, 2 }; int j[9] = { [3 ... 1] = 2 }; double k = 1.5;
         int main(void) { return k; }"
    ));
}

#[test]
fn declarations_are_checked() {
    assert_snapshot!(checked(
        "struct later; struct later give(void) { } int tentative[]; extern int far[];
         int x; long x; int x(void); typedef int T; typedef long T; int f(int); int f(long a) { return 1; }
         int f(int a) { return 2; } struct s { int a; int a; }; struct s { int b; }; union s *u;
         enum e { A }; enum e { B }; int A; int once = 1; int once = 2;
         int main(void) { int a; int a; T T = 1; { int a; } give(); return tentative[0] + T; }"
    ));
}

#[test]
fn unsupported_features_have_hints() {
    assert_snapshot!(body(
        "struct { int low : 4; int rest; } b; double d; void *alloca(unsigned long); long long clock_seconds;",
        "b.low = 1; d = 1; clock_seconds = d; float g = 2; __asm__(\"xchg %0, %1\"); alloca(4);
         _Generic(b.rest, char: 1); n: ; char buffer[8]; sprintf(buffer, \"%d\", 1);"
    ));
}

#[test]
fn headers_are_suggested() {
    assert_snapshot!(body(
        "int pthread_join(unsigned long thread, void **result); int x;",
        "pthread_join(1, 0); pthread_mutex_lock(0); atomic_load(&x); x = strdup(0) == 0;"
    ));
}

#[test]
fn a_program_needs_main() {
    assert_snapshot!(checked("int x;"));
}
