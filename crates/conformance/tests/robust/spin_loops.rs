//! Spin loops: a failed spin iteration is not part of a trace. The programs are decided by hand.
//! The trace sets and the engines must both agree.

use super::queries::check;

#[test]
fn threads_that_spin_on_each_other_are_robust() {
    // All loads while x is pending are failed spin iterations.
    check(&["x = 1; while (y == 0) { }", "y = 1; r0 = x;"], true, true, (2, 0));
    check(&["x = 1; while (y == 0) { }", "y = 1; while (x == 0) { }"], true, true, (1, 0));
    // The thread without a spin loop reads early, and its trace is not an SC trace.
    let early = ["x = 1; r0 = y; while (z == 0) { }", "y = 1; r0 = x; z = 1;"];
    check(&early, false, false, (3, 0));
}

#[test]
fn message_passing_with_a_spin_loop_needs_ordered_stores() {
    check(&["x = 1; y = 1;", "while (y == 0) { } r0 = x;"], true, false, (1, 0));
    check(&["x = 1; fence store_store; y = 1;", "while (y == 0) { } r0 = x;"], true, true, (1, 0));
}

#[test]
fn a_spin_lock_needs_a_store_store_fence_under_pso() {
    let locked = "while (!cas(z, 0, 1)) { } r0 = x; x = r0 + 1; z = 0;";
    check(&[locked, locked], true, false, (2, 0));
    let fenced = "while (!cas(z, 0, 1)) { } r0 = x; x = r0 + 1; fence store_store; z = 0;";
    check(&[fenced, fenced], true, true, (2, 0));
}

#[test]
fn spin_loops_that_never_end_give_stuck_traces() {
    // No thread stores to y.
    check(&["x = 1; while (y == 0) { } r0 = z;", "z = 1; r0 = x;"], true, true, (0, 2));
    // The other thread may read too late.
    check(&["x = 1; x = 0;", "while (x == 0) { }"], true, true, (1, 1));
    check(
        &["while (!cas(z, 0, 1)) { } x = 1;", "while (!cas(z, 0, 1)) { } x = 2;"],
        true,
        true,
        (0, 2),
    );
}
