//! Tests of the C dialect: lowering, statement by statement; places for fences.
//!
//! - `conditional`: locks and updates with a condition.
//! - `statements`: loops, compound assignments, arithmetic on addresses.
//! - `mutated`: random invalid texts.
//! - `rcu`: RCU and SRCU.
//! - `rejected`: diagnostics.

mod conditional;
mod mutated;
mod rcu;
mod rejected;
mod statements;

use fencepost_ir::{Diagnostics, Op, Pc, Problem, text};

use super::super::{Test, read};

/// Returns the text of a test with these functions.
fn source(functions: &str) -> String {
    format!("C T\n{{ int a[3]; int *p = &x; }}\n{functions}\nexists (0:r0=0)\n")
}

fn lowered(source: &str, places: bool) -> Test {
    let mut diagnostics = Diagnostics::default();
    let test = read(source, "t", places, &mut diagnostics);
    test.unwrap_or_else(|| panic!("{source}\n{diagnostics:?}"))
}

/// Prints the statements of a thread, without the final `halt`. Only jumps show their target.
fn statements(problem: &Problem, thread: usize) -> Vec<String> {
    let thread = &problem.program.threads[thread];
    let printed = text::print_thread(&problem.program, thread);
    let lines = printed.lines().filter(|line| line.trim_start().starts_with('@'));
    let mut all: Vec<String> = Vec::new();
    for (at, (line, stmt)) in lines.zip(&thread.code).enumerate() {
        let words: Vec<&str> = line.split_whitespace().skip(2).collect();
        let line = words.join(" ");
        let falls_through =
            stmt.next == Pc::from_index(at + 1) && !matches!(stmt.op, Op::Branch { .. });
        let end = if falls_through { line.find(" ->") } else { None };
        all.push(end.map_or(line.as_str(), |end| &line[..end]).to_string());
    }
    assert_eq!(all.pop().as_deref(), Some("halt"));
    all
}

/// Lowers a function body.
fn code(body: &str) -> Vec<String> {
    let functions = format!("P0(atomic_int *x, int *y, int *a, int **p, int v) {{ {body} }}");
    statements(&lowered(&source(&functions), false).problem, 0)
}

#[track_caller]
fn check(body: &str, expected: &[&str]) {
    assert_eq!(code(body), expected, "{body}");
}

const ACQUIRE: &str = "fence load_load + load_store";
const RELEASE: &str = "fence store_store + load_store";
const FULL: &str = "fence full";
const ORDERS: [&str; 6] = ["relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"];

fn around<'a>(before: &[&'a str], access: &'a str, after: &[&'a str]) -> Vec<&'a str> {
    [before, &[access], after].concat()
}

#[test]
fn loads_have_the_fences_of_their_memory_order() {
    let load = "load r0 = x";
    for plain in ["*x", "READ_ONCE(*x)", "atomic_read(x)", "rcu_dereference(*x)", "(int)*x", "x[0]"]
    {
        check(&format!("int r0 = {plain};"), &[load]);
    }
    for acquire in ["smp_load_acquire(x)", "atomic_read_acquire(x)", "atomic_load(x)"] {
        check(&format!("int r0; r0 = {acquire};"), &[load, ACQUIRE]);
    }
    for order in ORDERS {
        let body = format!("int r0 = atomic_load_explicit(x, memory_order_{order});");
        match order {
            "relaxed" => check(&body, &[load]),
            "release" | "acq_rel" => rejected::check(&body, "LT0002", 3, "cannot have this memory"),
            _ => check(&body, &[load, ACQUIRE]),
        }
    }
}

#[test]
fn stores_have_the_fences_of_their_memory_order() {
    let store = "store x = 1";
    for plain in ["*x = 1", "WRITE_ONCE(*x, 1)", "atomic_set(x, 1)", "atomic_init(x, 1)"] {
        check(&format!("{plain};"), &[store]);
    }
    for release in
        ["smp_store_release(x, 1)", "rcu_assign_pointer(*x, 1)", "atomic_set_release(x, 1)"]
    {
        check(&format!("{release};"), &[RELEASE, store]);
    }
    check("atomic_store(x, 1);", &[RELEASE, store, "fence store_load"]);
    check("smp_store_mb(*x, 1);", &[store, FULL]);
    check("atomic_flag_clear_explicit(x, memory_order_release);", &[RELEASE, "store x = 0"]);
    for order in ORDERS {
        let body = format!("atomic_store_explicit(x, 1, memory_order_{order});");
        match order {
            "relaxed" => check(&body, &[store]),
            "release" => check(&body, &[RELEASE, store]),
            "seq_cst" => check(&body, &[RELEASE, store, "fence store_load"]),
            _ => rejected::check(&body, "LT0002", 3, "cannot have this memory order"),
        }
    }
}

#[test]
fn updates_have_the_fences_of_their_memory_order() {
    let operations = [
        ("exchange", "swap(x, 2)"),
        ("fetch_add", "fetch_add(x, 2)"),
        ("fetch_sub", "fetch_add(x, -2)"),
        ("fetch_or", "fetch_or(x, 2)"),
        ("fetch_xor", "fetch_xor(x, 2)"),
        ("fetch_and", "fetch_and(x, 2)"),
    ];
    for (name, update) in operations {
        let update = format!("update r0 = {update}");
        for order in ORDERS {
            let body = format!("int r0 = atomic_{name}_explicit(x, 2, memory_order_{order});");
            let (before, after): (&[&str], &[&str]) = match order {
                "relaxed" => (&[], &[]),
                "consume" | "acquire" => (&[], &[ACQUIRE]),
                "release" => (&[RELEASE], &[]),
                _ => (&[RELEASE], &[ACQUIRE]),
            };
            check(&body, &around(before, &update, after));
        }
        let body = format!("int r0 = atomic_{name}(x, 2);");
        check(&body, &around(&[RELEASE], &update, &[ACQUIRE]));
    }
    check(
        "int r0 = atomic_flag_test_and_set_explicit(x, memory_order_relaxed);",
        &["update r0 = swap(x, 1)"],
    );
}

#[test]
fn linux_updates_take_the_amount_first_and_are_full_fences() {
    let full = |update| around(&[FULL], update, &[FULL]);
    check("int r0 = xchg(x, 2);", &full("update r0 = swap(x, 2)"));
    check("int r0 = xchg_acquire(x, 2);", &["update r0 = swap(x, 2)", ACQUIRE]);
    check("int r0 = atomic_xchg_relaxed(x, 2);", &["update r0 = swap(x, 2)"]);
    check("int r0 = atomic_fetch_add(2, x);", &full("update r0 = fetch_add(x, 2)"));
    check("int r0 = atomic_fetch_dec_release(x);", &[RELEASE, "update r0 = fetch_add(x, -1)"]);
    check("atomic_add(2, x);", &["update fetch_add(x, 2)"]);
    check("atomic_dec(x);", &["update fetch_add(x, -1)"]);
    check("atomic_add_return(2, x);", &full("update fetch_add(x, 2)"));
    let check_value = |body, update, value| {
        check(body, &[full(update), vec![value]].concat());
    };
    check_value(
        "int r0 = atomic_add_return(2, x);",
        "update %1 = fetch_add(x, 2)",
        "assign r0 = %1 + 2",
    );
    check_value(
        "int r0 = atomic_sub_return(2, x);",
        "update %1 = fetch_add(x, -2)",
        "assign r0 = %1 - 2",
    );
    check_value(
        "int r0 = atomic_dec_and_test(x);",
        "update %1 = fetch_add(x, -1)",
        "assign r0 = (%1 - 1) == 0",
    );
    check_value(
        "int r0 = atomic_add_negative(2, x);",
        "update %1 = fetch_add(x, 2)",
        "assign r0 = (%1 + 2) < 0",
    );
    let first = "int r0 = 1; r0 = atomic_add_return_relaxed(r0, x);";
    check(first, &["assign r0 = 1", "update %1 = fetch_add(x, r0)", "assign r0 = %1 + r0"]);
}

#[test]
fn fence_functions_have_their_kinds() {
    for order in ORDERS {
        let body = format!(
            "atomic_thread_fence(memory_order_{order}); atomic_signal_fence(memory_order_{order});"
        );
        match order {
            "relaxed" => check(&body, &[]),
            "consume" | "acquire" => check(&body, &[ACQUIRE]),
            "release" => check(&body, &[RELEASE]),
            "acq_rel" => check(&body, &["fence store_store + load_load + load_store"]),
            _ => check(&body, &[FULL]),
        }
    }
    check("smp_rmb(); smp_wmb(); smp_mb();", &["fence load_load", "fence store_store", FULL]);
    check("smp_mb__before_atomic(); smp_mb__after_spinlock();", &[FULL, FULL]);
    check("barrier(); smp_read_barrier_depends(); cpu_relax();", &[]);
}

#[test]
fn a_compare_exchange_is_one_update_if_the_value_found_is_not_used() {
    let cas = "update %1 = cas(x, e, 1)";
    let body = |rest: &str| {
        format!("int e = 5; int r0 = atomic_compare_exchange_strong_explicit(x, &e, 1, {rest});")
    };
    let first = "assign e = 5";
    let last = "assign r0 = %2";
    let cas = cas.replace("%1", "%2");
    let relaxed = body("memory_order_relaxed, memory_order_relaxed");
    check(&relaxed, &[first, &cas, last]);
    let both = body("memory_order_release, memory_order_acquire");
    check(&both, &[first, RELEASE, &cas, ACQUIRE, last]);
    check("cmpxchg_relaxed(x, 0, 1);", &["update cas(x, 0, 1)"]);
}

/// In a loop, the number of additions is not known, so the sum may leave 32 bits.
#[test]
fn an_addition_wraps_around_if_its_result_may_leave_32_bits() {
    check("atomic_add(2, x);", &["update fetch_add(x, 2)"]);
    let looped = code("while (1) { atomic_add(2, x); }");
    let wraps = "update fetch_add(x, 2) wrap -2147483648..=2147483647";
    assert!(looped.iter().any(|stmt| stmt == wraps), "{looped:?}");
}

/// Only 64-bit types wrap at 64 bits. Without an overflow, the operators are the same.
#[test]
fn arithmetic_wraps_at_the_width_of_the_type() {
    let last = |body: &str| code(body).pop().unwrap_or_default();
    let cut = "assign r0 = (((r0 +w 1) & 4294967295) ^ 2147483648) - 2147483648";
    assert_eq!(last("int r0 = 2147483647; r0 = r0 + 1;"), cut);
    for ty in ["long", "unsigned long", "uint64_t", "s64", "u64"] {
        let body = format!("{ty} r0 = 2147483647; r0 = r0 + 1;");
        assert_eq!(last(&body), "assign r0 = r0 +w 1", "{body}");
        assert_eq!(last(&body.replace("2147483647", "7")), "assign r0 = r0 + 1", "{body}");
    }
    assert_eq!(last("long r0 = *x; r0 = r0 >> 40;"), "assign r0 = r0 >>l 40");
    assert_eq!(last("long r0 = *x; r0 = r0 >> 4;"), "assign r0 = r0 >> 4");
    assert_eq!(last("long r0 = 0; int r1 = 40; r0 = r0 << r1;"), "assign r0 = r0 <<w r1");
    assert_eq!(last("long r0 = 0x7fffffff; int r1 = 5; r1 = r0 * r1;"), "assign r1 = r0 *w r1");
    assert_eq!(last("int r0 = 4; r0 = r0 + 0x7fffffffff;"), "assign r0 = r0 +w 549755813887");
}

#[test]
fn a_compare_exchange_is_one_update_if_the_value_found_is_used() {
    check(
        "int r0 = 3; int r1 = atomic_compare_exchange_weak_explicit(x, &r0, 4, memory_order_relaxed, memory_order_relaxed);",
        &[
            "assign r0 = 3",
            "update %3 = cmpxchg(x, r0, 4)",
            "assign %2 = %3 == r0",
            "assign r0 = %3",
            "assign r1 = %2",
        ],
    );
    // The expected value is in memory.
    check(
        "int r0 = atomic_compare_exchange_strong_explicit(x, y, 4, memory_order_relaxed, memory_order_relaxed);",
        &[
            "load %1 = y",
            "update %3 = cmpxchg(x, %1, 4)",
            "assign %2 = %3 == %1",
            "branch %2 -> @5 else @4",
            "store y = %3",
            "assign r0 = %2",
        ],
    );
    // In a loop, the value found is used by the next iteration.
    let again = "int e; while (!atomic_compare_exchange_strong(x, &e, 4)) e = 0;";
    assert!(code(again).contains(&"update %3 = cmpxchg(x, e, 4)".to_string()), "{:?}", code(again));
}

#[test]
fn control_statements_become_branches() {
    check(
        "int r0 = *x; if (r0 == 1) *y = 1; else { *y = 2; } *x = 3;",
        &[
            "load r0 = x",
            "branch r0 == 1 -> @2 else @4",
            "store y = 1",
            "skip -> @5",
            "store y = 2",
            "store x = 3",
        ],
    );
    check(
        "while (READ_ONCE(*x) == 0) ; *y = 1;",
        &["load %1 = x", "branch %1 == 0 -> @2 else @3", "skip -> @0", "store y = 1"],
    );
    check(
        "int r0; do { r0 = *x; } while (!r0); *y = 1;",
        &["load r0 = x", "branch !r0 -> @0 else @2", "store y = 1"],
    );
    check(
        "int r0 = 1; if (r0) { if (r0 > 1) *x = 1; } else *x = 2;",
        &[
            "assign r0 = 1",
            "branch r0 -> @2 else @5",
            "branch r0 > 1 -> @3 else @4",
            "store x = 1",
            "skip -> @6",
            "store x = 2",
        ],
    );
}

#[test]
fn expressions_load_from_left_to_right() {
    check(
        "int r0 = *x + 2 * *y - v;",
        &["load %1 = x", "load %2 = y", "load %3 = v", "assign r0 = (%1 + (2 * %2)) - %3"],
    );
    check("int r0 = 1 | 2 ^ 3 & 4 == 4, r1 = -1 - ~0;", &["assign r0 = 3", "assign r1 = 0"]);
    check("int r0 = 1, r1 = (r0 ^ r0) + 1;", &["assign r0 = 1", "assign r1 = (r0 ^ r0) + 1"]);
    check("int r0 = 10 - 3 - 2 << 1 < 11 ? 7 : 8;", &["assign r0 = 7"]);
    check(
        "int r0 = *x && *y;",
        &[
            "load %1 = x",
            "assign %2 = %1 != 0",
            "branch %2 -> @3 else @5",
            "load %3 = y",
            "assign %2 = %3 != 0",
            "assign r0 = %2",
        ],
    );
    check(
        "int r0; r0 = r0 || *y;",
        &[
            "assign %1 = r0 != 0",
            "branch %1 -> @4 else @2",
            "load %2 = y",
            "assign %1 = %2 != 0",
            "assign r0 = %1",
        ],
    );
    check(
        "int r0 = v ? *x : 5;",
        &[
            "load %1 = v",
            "branch %1 -> @2 else @5",
            "load %3 = x",
            "assign %2 = %3",
            "skip -> @6",
            "assign %2 = 5",
            "assign r0 = %2",
        ],
    );
    check("*x; (void)v;", &["load %1 = x", "load %1 = v"]);
}

#[test]
fn arrays_and_pointers_are_resolved_to_locations() {
    check(
        "a[1] = 7; int r0 = a[2]; r0 = *a;",
        &["store a[1] = 7", "load r0 = a[2]", "load r0 = a[0]"],
    );
    check("int r0 = 1; a[r0] = v;", &["assign r0 = 1", "load %1 = v", "store a[r0] = %1"]);
    // The address of the second element of the first symbol, `a`.
    let second = format!("assign r0 = {}", super::super::layout::FIRST_ADDRESS + 4);
    check("int *r0 = &a[1]; *r0 = 3;", &[&second, &code("int *r0 = &a[1]; *r0 = 3;")[1]]);
    let through = code("int *q = READ_ONCE(*p); int r0 = *q;");
    assert_eq!(through[0], "load q = p");
    assert!(through[1].starts_with("load r0 = a[") && through[1].contains("q == "), "{through:?}");
    assert_eq!(code("int r0 = **p;").len(), 2);
    let direct = code("*(&x) = 1; WRITE_ONCE(*&a[2], 2); *(int *)x = 3;");
    assert_eq!(direct, ["store x = 1", "store a[2] = 2", "store x = 3"]);
}

#[test]
fn locals_start_with_the_values_of_the_initial_state() {
    let source = "C T\n{ 0:r1=2; int *0:q=x; 1:r1=3; }\nP0(int *x) { *x = r1; }\nstatic void P1(int *x) { *x = r1; }\nexists (1:r1=3 /\\ 0:r9=0)\n";
    let problem = lowered(source, false).problem;
    let address = format!("assign q = {}", super::super::layout::FIRST_ADDRESS);
    assert_eq!(statements(&problem, 0), ["assign r1 = 2", &address, "store x = r1"]);
    assert_eq!(statements(&problem, 1), ["assign r1 = 3", "store x = r1"]);
    assert!(problem.program.threads[0].registers.iter().any(|r| r.name == "r9"));
}

#[test]
fn whole_tests_are_lowered() {
    let order = "memory_order_seq_cst";
    let sb = lowered(
        &source(&format!(
            "P0(atomic_int* x, atomic_int* y) {{\n // one\n atomic_store_explicit(x, 1, {order});\n int r0 = atomic_load_explicit(y, {order});\n}}\n\
             P1(atomic_int* x, atomic_int* y) {{ /* two */ atomic_store_explicit(y, 1, {order}); int r0 = atomic_load_explicit(x, {order}); }}"
        )),
        false,
    );
    let thread = |mine: &str, other: &str| {
        let (store, load) = (format!("store {mine} = 1"), format!("load r0 = {other}"));
        [RELEASE, &store, "fence store_load", &load, ACQUIRE].map(String::from)
    };
    assert_eq!(statements(&sb.problem, 0), thread("x", "y"));
    assert_eq!(statements(&sb.problem, 1), thread("y", "x"));
    let mp = lowered(
        &source(
            "P0(int* x, int* y) { WRITE_ONCE(*x, 1); smp_wmb(); WRITE_ONCE(*y, 1); }\n\
             P1(int* x, int* y) { int r0 = READ_ONCE(*y); smp_rmb(); int r1 = READ_ONCE(*x); }",
        ),
        false,
    );
    assert_eq!(statements(&mp.problem, 0), ["store x = 1", "fence store_store", "store y = 1"]);
    assert_eq!(statements(&mp.problem, 1), ["load r0 = y", "fence load_load", "load r1 = x"]);
    let lb = lowered(
        &source(
            "P0(int* x, int* y) { int r0 = READ_ONCE(*x); if (r0) WRITE_ONCE(*y, 1); }\n\
             P1(int* x, int* y) { int r0 = smp_load_acquire(y); smp_store_release(x, r0); }",
        ),
        false,
    );
    let branch = "branch r0 -> @2 else @3";
    assert_eq!(statements(&lb.problem, 0), ["load r0 = x", branch, "store y = 1"]);
    assert_eq!(statements(&lb.problem, 1), ["load r0 = y", ACQUIRE, RELEASE, "store x = r0"]);
    let label = &lb.problem.program.label(lb.problem.program.threads[1].code[1].label);
    assert_eq!((label.text.as_str(), label.span.line), ("int r0 = smp_load_acquire(y)", 4));
}

/// Returns the text with a mark at every place: `!` for a fence of the source, `[..]` for a place
/// that needs braces around this text, `^` for other places. The number of loops follows if it is
/// not 0.
fn places(body: &str) -> String {
    let text = source(&format!("P0(int *x, int *y) {{ {body} }}"));
    let problem = lowered(&text, true).problem;
    let from = text.find("{ ").expect("the test has an initial state") + 2;
    let from = from + text[from..].find("{ ").expect("the function has a body") + 2;
    let to = text.find("\nexists").expect("the test has a condition");
    let mut marks = vec![String::new(); text.len() + 1];
    for place in &problem.program.places {
        let mark = match (place.written, place.wrap) {
            (Some(_), _) => "!".to_string(),
            (None, None) => "^".to_string(),
            (None, Some(wrap)) => {
                let (start, end) = (wrap.start as usize, wrap.end as usize);
                let whole = if place.at_end { end } else { start };
                assert_eq!(place.offset as usize, whole);
                format!("[{}]", &text[start..end])
            }
        };
        let loops = if place.loops == 0 { String::new() } else { place.loops.to_string() };
        marks[place.offset as usize] += &format!("{mark}{loops}");
        assert!(problem.program.threads[0].code.iter().any(|stmt| stmt.label == place.label));
    }
    text[from..to].char_indices().map(|(at, c)| format!("{}{c}", marks[from + at])).collect()
}

#[test]
fn places_are_between_statements() {
    let check = |body: &str, expected: &str| assert_eq!(places(body), format!("{expected} ^}}"));
    check("*x = 1; int r0; r0 = *y;", "^*x = 1; int r0; ^r0 = *y;");
    check("*x = 1; smp_mb(); int r1; *y = 1;", "^*x = 1; !smp_mb(); int r1; *y = 1;");
    check("if (*x) { *y = 1; } *x = 2;", "^if (*x) { ^*y = 1; ^} ^*x = 2;");
    check("if (*x) { smp_mb(); } *x = 2;", "^if (*x) { !smp_mb(); } ^*x = 2;");
    check("if (*x) *y = 1;", "^if (*x) [*y = 1;]*y = 1;[*y = 1;]");
    check("while (*x) { *y = 1; }", "^while (*x) { ^1*y = 1; ^1}");
    check("while (*x) ;", "^while (*x) [;]1;");
    check("do { smp_mb(); } while (*x);", "^do { !1smp_mb(); } while (*x);");
    let nested = "if (*x) if (*y) *x = 1;";
    let (inner, outer) = ("[*x = 1;]", "[if (*y) *x = 1;]");
    check(nested, &format!("^if (*x) {outer}if (*y) {inner}*x = 1;{inner}{outer}"));
    let alone = "if (*x) smp_mb(); else barrier(); *y = 1; smp_mb();";
    assert_eq!(places(alone), "^if (*x) !smp_mb(); else barrier(); ^*y = 1; !smp_mb(); }");
}

#[test]
fn a_written_fence_without_braces_records_the_span_to_wrap() {
    let text = source("P0(int *x) { if (*x) smp_mb(); }");
    let problem = lowered(&text, true).problem;
    let place = problem.program.places.iter().find(|place| place.written.is_some());
    let place = place.expect("a fence is a place");
    let (kinds, span) = place.written.expect("the place has a written fence");
    assert_eq!((kinds.name().as_str(), span.text(&text)), ("full", "smp_mb();"));
    assert_eq!(place.wrap.map(|wrap| wrap.text(&text)), Some("smp_mb();"));
}
