//! Diagnostics for C tests: the code, the line and a part of the message.

use fencepost_ir::Diagnostics;

use super::super::super::read;
use super::source;

#[track_caller]
pub(super) fn check_error(text: &str, code: &str, line: u32, message: &str) {
    let mut diagnostics = Diagnostics::default();
    assert!(read(text, "t", true, &mut diagnostics).is_none(), "{text}");
    let found = diagnostics.iter().next().expect("there is a diagnostic");
    assert_eq!((found.code, found.span.line), (code, line), "{found:?}");
    assert!(found.message.contains(message), "{found:?}");
}

/// Checks the first diagnostic of a test whose function body starts on line 3.
#[track_caller]
pub(super) fn check(body: &str, code: &str, line: u32, message: &str) {
    let text = source(&format!("P0(atomic_int *x, int *y, int *a, int v) {{ {body} }}"));
    check_error(&text, code, line, message);
}

#[test]
fn unsupported_features_are_errors() {
    for name in ["srcu_down_read", "call_rcu", "f"] {
        check(&format!("*x = 1;\n{name}(x);"), "LT0002", 4, &format!("`{name}` is not supported"));
    }
    for word in ["goto", "return", "switch", "asm"] {
        check(&format!("\n\n{word} (;;) ;"), "LT0002", 5, &format!("`{word}` is not supported"));
    }
    check("int r0 = *(x + 1);", "LT0002", 3, "no location at this address");
    check("int r0; int *r1 = &r0;", "LT0002", 3, "the local `r0`");
    check("int r0; r0 = READ_ONCE(r0);", "LT0002", 3, "`r0` is a local");
    check("int r0[2];", "LT0002", 3, "`r0` is a local array");
    check("int r0; int *r1 = &a[r0];", "LT0002", 3, "address of an element");
    check("int r0 = *5;", "LT0002", 3, "address");
    check("int r0 = -0xffffffffffffffff;", "LT0002", 3, "does not fit in 64 bits");
}

#[test]
fn invalid_syntax_is_an_error() {
    check("*x = 1\n int r0; }", "LT0001", 4, "expected `;`, found `int`");
    check("*x = ;", "LT0001", 3, "expected a value, found `;`");
    check("(*x = 1;", "LT0001", 3, "expected `)`, found `=`");
    check("if *x;", "LT0001", 3, "expected `(`");
    check("do ; until (v);", "LT0001", 3, "`while`");
    check("1 = 2;", "LT0001", 3, "not a location");
    check("x = 2;", "LT0001", 3, "`x` is an address");
    check("int r0 = READ_ONCE(x);", "LT0001", 3, "`x` is an address");
    check("int r0 = smp_mb();", "LT0001", 3, "returns no value");
    check("int r0 = WRITE_ONCE(*x, 1);", "LT0001", 3, "returns no value");
    check("smp_mb(1);", "LT0001", 3, "takes 0 arguments, not 1");
    check("atomic_store_explicit(x, 1);", "LT0001", 3, "takes 3 arguments, not 2");
    check("atomic_thread_fence(acquire);", "LT0001", 3, "expected a memory order");
    check("int r0 = 99999999999999999999;", "LT0001", 3, "invalid number");
}

#[test]
fn invalid_names_are_errors() {
    check("int r0 = z;", "LT0003", 3, "`z` is neither");
    check("*z = 1;", "LT0003", 3, "`z` is neither");
    check("int y = 1;", "LT0003", 3, "`y` is a location");
    check("p = 1;", "LT0003", 3, "`p` is not a parameter");
    check("y[1] = 1;", "LT0003", 3, "`y` has no element 1");
    check("a[3] = 1;", "LT0003", 3, "`a` has no element 3");
    check("int r0 = 1; y[r0] = 1;", "LT0003", 3, "`y` is not an array");
    check_error(&source("P0(int *r0) { *r0 = 1; }"), "LT0003", 3, "`r0` is a location");
}

#[test]
fn invalid_functions_are_errors() {
    let program = |text: &str, code, line, message| check_error(&source(text), code, line, message);
    program("P1(int *x) { }", "LT0001", 3, "expected P0");
    program("P0(int *x) { }\nP0(int *x) { }", "LT0001", 4, "expected P1");
    program("main(int *x) { }", "LT0001", 3, "threads are named");
    program("P0(x) { }", "LT0001", 3, "has no type");
    program("P0(int *x, int *x) { }", "LT0003", 3, "twice");
    program("P0(int *x { }", "LT0001", 3, "`)` after the parameters");
    program("", "LT0001", 2, "expected a function");
    let many: String = (0..65).map(|n| format!("P{n}(void) {{ }}\n")).collect();
    program(&many, "LT0004", 67, "too many threads");
}

#[test]
fn exceeded_limits_are_errors() {
    let deep = |before: &str, inside: &str, after: &str| {
        for times in [150, 3_000] {
            let body = [before.repeat(times), inside.into(), after.repeat(times)].concat();
            let body = format!("int r0; {body}");
            check(&body, "LT0004", 3, "deeper than 200 levels");
        }
    };
    deep("((", "r0", "))");
    deep("if (v) if (v) ", ";", "");
    deep("if (v) ; else if (v) ; else ", ";", "");
    deep("{{", "*x = 1;", "}}");
    let chain = |times: usize, op: &str| format!("int r0 = 1{};", format!("{op}1").repeat(times));
    for op in ["+", "&&", "?1:", "-(-", "*(int)(", "+*&*&"] {
        check(&chain(3_000, op), "LT0004", 3, "deeper than 200 levels");
    }
    let all: String = (0..1001).map(|n| format!("int q{n};")).collect();
    check(&all, "LT0004", 3, "too many locals");
    let call = format!("f({})", ["*x"; 1001].join(" , ")).replace("f(", "spin_lock(");
    check(&format!("{call};"), "LT0001", 3, "takes 1 argument, not 1001");
    check(&"if (*x) *y = 1;\n".repeat(20_000), "LT0004", 20_003, "too many statements");
    let locations: String = (0..2000).map(|n| format!("int *x{n}, ")).collect();
    let accesses = "r0 = **x0; ".repeat(600);
    let text = format!("P0({locations}int *y) {{ int r0; {accesses} }}");
    check_error(&source(&text), "LT0004", 3, "accesses through pointers");
}
