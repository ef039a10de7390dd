//! Snapshot tests of the code of small programs.

use fencepost_ir::spin_loops::spin_assume;
use fencepost_ir::{Diagnostics, Op, Problem, ThreadId, text};

use crate::fp::lower;

/// Prints the source and the code of each thread. Prints equal consecutive threads once.
fn printed(source: &str) -> String {
    let mut diagnostics = Diagnostics::new();
    let problems = lower(source, &mut diagnostics);
    let found: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    let problems = problems.unwrap_or_else(|| panic!("{found:?}"));
    let mut out = format!("{}\n", source.trim());
    for problem in problems {
        let program = &problem.program;
        if !problem.name.is_empty() {
            out.push_str(&format!("--- {}\n", problem.name));
        }
        let mut before = String::new();
        for thread in program.init.iter().chain(&program.threads) {
            let code = text::print_thread(program, thread);
            out.push_str(&format!("-- {}\n", thread.name));
            out.push_str(if code == before { "  the same\n" } else { &code });
            before = code;
        }
    }
    out
}

macro_rules! snapshots {
    ($($name:ident: $source:expr;)*) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($name), printed($source));
        })*
    };
}

snapshots! {
    an_access_is_a_statement:
        "shared int x, y; thread p { r = x; x = r + 1; y = x + x; if (x == 1) y = 2; }";
    updates:
        "shared int x, a[2]; shared bool b;
         thread p(i in 0..2) {
           cas(x, 0, 1); r = cas(a[i], x, r2); r2 = fetch_sub(x, 2); b = swap(b, true);
           while (!cas(x, 0, 1)) skip; fetch_or(a[1 - i], 4);
         }";
    short_circuits:
        "shared bool a, b; shared int x;
         thread p {
           if (a && b) x = 1; else x = 2;
           while (!(a || !b)) skip;
           r = a && b;
           s = r && x == 1;
           if (r && s) x = 3;
           x = r ? x : 4;
           t = a ? 1 : 2;
           assume(a || b);
         }";
    loops:
        "shared int x;
         thread p {
           for (int k = 0; k < 3; k++) { if (x == k) continue; if (x == 9) break; x = k; }
           do x += 1; while (x < 5);
           while (true) { if (x == 3) break; }
           loop { skip; }
         }";
    waits:
        "shared int x, a[2]; shared bool b, c;
         thread p { await(x == 1); await(b && !c); await(cas(x, 1, 2)); await(a[x] > 0 || b); }
         thread q { await(false); } thread r { int k; await(k == 1); }";
    empty_loops_keep_one_statement:
        "thread p { loop { } } thread q { loop skip; } thread r { here: goto here; }";
    critical_sections:
        "shared int x;
         thread p {
           loop {
             critical { if (x == 1) break; if (x == 2) continue; if (x == 3) goto out; if (x == 4) return; }
             critical { critical { x = 5; } skip; }
           }
           out: critical { }
         }";
    atomic_blocks:
        "shared int x; proc void inner() { atomic { x += 1; } }
         thread p { atomic { assume(x > 0); inner(); loop { x -= 1; if (x == 0) break; } } inner(); }";
    procedures:
        "shared int a[3];
         proc int get(int i) { return a[i]; }
         proc int sum(int n) { int s; for (int k = 0; k < n; k++) s += get(k); return s; }
         proc void set(int i, int v) { if (v < 0) { v = 0; } a[i] = v; }
         thread p(i in 0..2) { r = get(i) + get(i + 1); t = sum(3); set(i, r); set(r, get(t)); get(0); }";
    registers_start_as_0_in_each_call:
        "shared int x; proc int f() { int r; if (x == 1) r = 2; return r; }
         proc int g() { r = x; return r + 1; } thread p { a = f() + f(); b = g() + g(); }";
    records:
        "record Node { int value; Node next; int slot[2]; } pool Node[2]; shared Node head;
         init { head = new Node; head.value = 7; }
         thread p(i in 0..2) {
           n = head; m = n.next.next; n.next = new Node; n.slot[i] += n.value;
           n.slot[n.value] = 1; if (m == null) free(n); r = cas(n.next, null, m);
         }";
    choices:
        "enum E { a, b, c } shared E e; shared int x;
         thread p(i in 0..2) {
           r = choose(0..3); x = choose(1, 5, 9); e = choose(a, c); f = choose(true, false);
           s = choose(i..=i); x = choose(7) + choose(2, 3); e = choose(c, b);
         }";
    constants_are_folded:
        "const N = 2; shared int a[N + 1];
         thread p(i in 0..N) { a[(i + 1) % N] = N * 2 - i; if (i == 0) a[2] = 1; else a[1] = 1; assume(N == 2); }";
    clients:
        "shared int x; init { x = 5; }
         operation void put(int v) as e { x = v; }
         operation int take() as d { r = x; if (r == 0) return 0; x = 0; return r; }
         client ee|d; client e(de|d); final never d1 == 7;";
    fences:
        "shared int x[2]; thread p(i in 0..2) { x[i] = 1; fence; fence store_load, load_load; drain x[i]; }";
    ranges:
        "shared int(0..4) k; proc int(0..2) f(int(0..2) a) { return a; }
         thread p { int(0..=3) r = k; r = f(r); r = f(1); k = f(k) + 1; }";
}

/// Lowers a program whose only thread has this body.
fn lowered(body: &str) -> Problem {
    let source = format!("shared int x, y; shared bool b, c; thread p {{ {body} }}");
    lower(&source, &mut Diagnostics::new()).expect("no errors").remove(0)
}

/// `await` has the statements of the loop with `while` and is recognised as a spin loop.
#[test]
fn await_is_a_spin_loop() {
    for cond in ["x == 1", "b", "!b", "b && c", "b || x > y", "cas(x, 0, 1)", "!(b && !c)"] {
        let waiting = lowered(&format!("await({cond}); y = 1;"));
        let looping = lowered(&format!("while (!({cond})) skip; y = 1;"));
        let kinds = |problem: &Problem| -> Vec<_> {
            let code = &problem.program.threads[0].code;
            let effective = code.iter().filter(|stmt| stmt.op != Op::Skip);
            effective.map(|stmt| std::mem::discriminant(&stmt.op)).collect()
        };
        assert_eq!(kinds(&waiting), kinds(&looping), "{cond}");
        let cut = spin_assume(&waiting, true);
        assert!(cut.has_spin_loops(ThreadId(0)) && !cut.has_loops(), "{cond}: {waiting}");
    }
}
