//! Loops, `break` and `continue`, compound assignments, and arithmetic on addresses.

use super::rejected::check as check_error;
use super::{check, code};

#[test]
fn for_is_a_loop_with_a_counter() {
    check(
        "for (int i = 0; i < 2; i++) { *x = i; } *y = 1;",
        &[
            "assign i = 0",
            "branch i < 2 -> @2 else @5",
            "store x = i",
            "assign i = i + 1",
            "skip -> @1",
            "store y = 1",
        ],
    );
    // Two loops may have the same counter, and all three parts may be missing.
    check(
        "for (int i = 0; false;) ; for (int i = 1, j = 2; ; i--, j += 3) break;",
        &[
            "assign i = 0",
            "branch 0 -> @2 else @3",
            "skip -> @1",
            "assign i = 1",
            "assign j = 2",
            "skip -> @9",
            "assign i = i - 1",
            "assign j = j + 3",
            "skip -> @5",
        ],
    );
}

#[test]
fn break_and_continue_leave_the_innermost_iteration() {
    check(
        "int r0; while (true) { r0 = *x; if (r0) continue; break; } *y = 1;",
        &[
            "branch 1 -> @1 else @6",
            "load r0 = x",
            "branch r0 -> @3 else @4",
            "skip -> @0",
            "skip -> @6",
            "skip -> @0",
            "store y = 1",
        ],
    );
    // `continue` in `do` goes to the condition.
    check(
        "int r0; do { r0 = *x; continue; *y = 2; } while (!r0); *y = 1;",
        &["load r0 = x", "skip -> @3", "store y = 2", "branch !r0 -> @0 else @4", "store y = 1"],
    );
    check_error("continue;", "LT0001", 3, "`continue` is not inside of a loop");
    check_error("if (v) { break; }", "LT0001", 3, "`break` is not inside of a loop");
    // herd knows no such keywords.
    check(
        "int continue = 1; if (continue) continue = 0;",
        &["assign continue = 1", "branch continue -> @2 else @3", "assign continue = 0"],
    );
}

#[test]
fn compound_assignments_load_compute_and_store() {
    check(
        "int r0; r0 += 2; r0++; --r0;",
        &["assign r0 = r0 + 2", "assign r0 = r0 + 1", "assign r0 = r0 - 1"],
    );
    check("*x |= 4;", &["load %1 = x", "store x = %1 | 4"]);
    check("v <<= 1;", &["load %1 = v", "store v = %1 << 1"]);
    check("a[1]--;", &["load %1 = a[1]", "store a[1] = %1 - 1"]);
    check_error("**y += 1;", "LT0002", 3, "this address accesses memory");
    check_error("int r0; r0 = r0++ + 1;", "LT0002", 3, "`++` is not supported inside");
    check_error("int r0; r0 = (r0 += 1);", "LT0002", 3, "`+=` is not supported inside");
}

/// The unit is the size of an element, as in C.
#[test]
fn addresses_support_sums_and_differences() {
    check("int r0 = *(a + 1);", &["load r0 = a[1]"]);
    check("*(1 + &a[1]) = 7;", &["store a[2] = 7"]);
    let difference = code("int *r1 = a + 2; int r0 = r1 - a;");
    assert!(difference[1].ends_with(") / 4"), "{difference:?}");
    check_error("int r0 = a + a;", "LT0001", 3, "two addresses cannot be added");
    check_error("int r0 = 1 - a;", "LT0001", 3, "cannot be subtracted from a number");
    check_error("int r0 = a * 2;", "LT0002", 3, "not supported on addresses");
}
