//! Typed trees of correct programs.

use insta::assert_snapshot;

use super::{body, checked};

#[test]
fn conversions_are_explicit() {
    assert_snapshot!(body(
        "char c; unsigned char u; short s; unsigned n; long l; unsigned long m; _Bool b; int *p;",
        "c = c + u; l = n * s; m = l < n; b = p; b = 2; n = -1; c = 200; s += c; u <<= l; b++;
         l = n + 1L; m = -1 < n; l = -(char)200; n = ~u; p = 0; p = (void *)0; return c == 'a';"
    ));
}

#[test]
fn pointers_are_scaled() {
    assert_snapshot!(body(
        "struct s { int a; int b[3]; } g[4], *p; void *v; char *c;",
        "int m[2][3]; unsigned i;
         p = g; p = &g[i]; p++; p -= 2; p[1].b[i] = *(p->b + 1); m[i][2] = 2[m[1]];
         i = p - g; v = v + 1; c = (char *)p - 8; (*p).a = p->a; (&g[1])->a = *&i;
         int (*row)[3] = m; int *q = &*c == 0 ? m[0] : 0; if (!p || p == v && q) return row[1][2];"
    ));
}

#[test]
fn records_are_values() {
    assert_snapshot!(checked(
        "struct pair { int a; long b; };
         struct pair make(int a) { struct pair r = { a, 2 }; return r; }
         long sum(struct pair p) { return p.a + p.b; }
         struct pair g;
         int main(void) {
             struct pair x = make(1), y = x;
             g = x; y.b = make(3).b; g = (struct pair){ .b = 4 };
             return sum(1 ? x : y) + sum((struct pair){ 5 });
         }"
    ));
}

#[test]
fn layouts_follow_the_usual_rules() {
    assert_snapshot!(checked(
        "struct a { char c; long l; short s; char t[3]; };
         struct __attribute__((packed)) b { char c; int i; };
         union u { char c[5]; int i; struct { short x, y; }; };
         struct n { int k; union { int i; void *p; }; struct { char z; } in; } __attribute__((aligned(32)));
         struct f { unsigned long n; int tail[]; };
         struct bits { int a : 3; unsigned b : 30; char c; int d; };
         struct al { char c; _Alignas(16) int i; };
         struct fp { char c; double d; long double l; };
         typedef struct { int unnamed; } Named;
         struct a va; struct b vb; union u vu; struct n vn; struct f vf; struct bits vbits; Named vt;
         int sizes[] = { sizeof(struct a), sizeof vb, sizeof(union u), sizeof(struct n),
             sizeof(struct f), sizeof(struct bits), sizeof(struct al), sizeof(struct fp),
             _Alignof(struct n), __builtin_offsetof(struct n, p), __builtin_offsetof(struct a, t[2]),
             sizeof(int (*)[4]), sizeof \"four\", sizeof(void), (int)(unsigned long)&((struct n *)0)->in };
         int main(void) { vn.p = &vu.y; vn.in.z = vbits.c; return vf.tail[1]; }"
    ));
}

#[test]
fn initialisers_are_flat() {
    assert_snapshot!(checked(
        "struct p { int x, y; }; struct q { struct p a; struct p b[2]; char name[4]; };
         struct q one = { 1, 2, 3, 4, 5, 6, \"ab\" };
         struct q two = { { .y = 1 }, { [1] = { 2, 3 } }, .name = { 'x' } };
         struct q three = { .b[1].x = 7, 8, .a = { 1 } };
         int sparse[] = { [2] = 5, 6, [0] = 1 }; int range[8] = { [1 ... 3] = 9, [2] = 4 };
         char text[] = \"hey\", *pointer = \"hey\", fixed[2] = \"ab\";
         int matrix[][2] = { 1, 2, { 3 }, 4 };
         union { int i; char c[4]; } either = { .c = { 1, 2 } };
         struct { struct p *to; int n; } table[2] = { { &one.b[1], 3 }, { 0 } };
         struct p *anonymous = &(struct p){ 7, 8 };
         int (*function)(void); int zero = {}; int scalar = { 3 };
         int main(void) {
             int n = one.a.x; int local[3] = { n, [2] = n + 1 }; struct p c = { .y = n };
             static int counter = 3; static struct p kept; char s[] = \"x\";
             struct q made = { c, { c } };
             return local[0] + counter++ + kept.x + s[0] + made.a.x;
         }"
    ));
}

#[test]
fn functions_are_checked_on_demand() {
    assert_snapshot!(checked(
        "double unused(double x) { return x * 2.5; }
         void also_unused(void) { missing(); asm(\"hlt\"); }
         static int plus(int a, int b) { return a + b; }
         static int minus(int a, int b) { return a - b; }
         typedef int (*operation)(int, int);
         operation table[] = { plus, &minus };
         static int first(void); 
         int main(void) { operation f = table[0]; return f(1, 2) + (*table[1])(3, 4) + first(); }
         static int first(void) { extern int later; static int later_too; return later + later_too; }
         int later = 4;"
    ));
}

#[test]
fn qualifiers_decide_the_access() {
    assert_snapshot!(body(
        "_Atomic int a; volatile int v; _Atomic(int *) p; volatile struct { int f; _Atomic long g; } s;
         typedef _Atomic unsigned counter; counter c[2]; int *_Atomic q; _Thread_local int t;",
        "a = 1; v++; --a; a |= v; p = &v; p++; s.f = s.g; c[1] += 2; *q = a; t = *(volatile int *)&t;
         s.g--; (void)a;"
    ));
}

#[test]
fn control_flow_is_kept() {
    assert_snapshot!(body(
        "enum e { A, B = 5, C } kind; unsigned char byte;",
        "for (int i = 0, n = 3; i < n; i++) { if (i == 1) continue; else break; }
         do { kind = C; } while (byte);
         while (1) { goto out; }
         switch (byte) { case A: case 'x': break; case 200 ... 210: kind = B; default: ; }
         out: for (;;) ;
         return ({ int k = 3; k; }) + (kind ?: 2) + (byte, 4);"
    ));
}

#[test]
fn types_can_be_computed() {
    assert_snapshot!(body(
        "int x; _Atomic long y; int f(int); int f(int a) { return a; }
         #define kind(e) _Generic((e), int: 1, char *: 2, unsigned long: 3, default: 4)
         "
        .trim_start(),
        "__typeof__(x) a; __typeof__(&y) b; __auto_type c = &x; typeof(f) *g = f; typeof(int[3]) d;
         a = kind(x) + kind(\"s\") * 10 + kind(sizeof x) * 100 + kind(&x) * 1000;
         a = __builtin_types_compatible_p(int, typeof(a)) + __builtin_choose_expr(0, missing, 5);
         return g(d[0]) + *c + *b;"
    ));
}

#[test]
fn atomic_operations_are_generic() {
    assert_snapshot!(body(
        "#include <stdatomic.h>
         atomic_int a; _Atomic(int *) p; atomic_bool b; atomic_flag f = ATOMIC_FLAG_INIT; long l; int i;",
        "i = atomic_load(&a); atomic_store_explicit(&a, 'c', memory_order_release);
         int *q = atomic_fetch_add(&p, 2); q = __atomic_fetch_add(&p, 8, __ATOMIC_RELAXED);
         if (atomic_compare_exchange_weak(&a, &i, l)) atomic_thread_fence(memory_order_seq_cst);
         i = __sync_val_compare_and_swap(&i, 1, 2) + __sync_bool_compare_and_swap(&l, 1, 2);
         l = __sync_add_and_fetch(&l, i); __sync_synchronize(); __sync_lock_release(&l);
         i = __sync_lock_test_and_set(&i, 1); b = atomic_flag_test_and_set(&f); atomic_flag_clear(&f);
         __atomic_load(&l, &l, __ATOMIC_ACQUIRE); __atomic_store(&i, &i, 2);
         __atomic_exchange(&i, &i, &i, 4); b = __atomic_compare_exchange(&l, &l, &l, 0, 4, 0);
         b = __atomic_test_and_set(&b, 1); __atomic_clear(&b, 2); i = __atomic_always_lock_free(4, 0);"
    ));
}

#[test]
fn library_functions_have_a_meaning() {
    assert_snapshot!(body(
        "#include <stdlib.h>
         #include <string.h>
         #include <stdio.h>
         #include <assert.h>
         struct node { struct node *next; int v; }; double average; int n;
         void sched_yield(void); int usleep(unsigned);",
        "struct node *p = malloc(sizeof *p), *q = calloc(n, sizeof(struct node));
         memcpy(p, q, sizeof *p); memset(q, 0, sizeof(*q)); p = realloc(p, 32); free(p);
         printf(\"%f %d %s\\n\", average / 2.0, n++, \"text\", __func__); fflush(stdout); usleep(10);
         sched_yield(); assert(n == 1); n = rand(); n = __VERIFIER_nondet_uint();
         __VERIFIER_assume(n > 3); n = __builtin_expect(n, 0); n = __builtin_popcount(12);
         if (n) abort(); asm volatile(\"\" ::: \"memory\"); __asm__(\"mfence\"); exit(n);"
    ));
}

#[test]
fn bits_are_counted_with_arithmetic() {
    assert_snapshot!(body("unsigned x;", "return __builtin_ctz(x) + __builtin_ffsll(x);"));
}

#[test]
fn functions_named_atomic_are_atomic() {
    assert_snapshot!(checked(
        "int x; int __VERIFIER_atomic_add(int n) { __VERIFIER_atomic_set(n); return x += n; }
         void __VERIFIER_atomic_set(int n) { x = n; }
         void assume_abort_if_not(int c) { if (!c) { abort(); } }
         int main(void) { __VERIFIER_atomic_set(1); assume_abort_if_not(x); return __VERIFIER_atomic_add(2); }"
    ));
}
