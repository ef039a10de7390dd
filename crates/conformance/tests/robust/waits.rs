//! Loops that only re-read are waits: a round in vain is not part of a trace. Cases decided by hand, which the
//! trace sets and the engines must both agree with.

use super::ask::check;

#[test]
fn waiting_for_each_other() {
    // Whatever is read while x is pending is read in vain.
    check(&["x = 1; while (y == 0) { }", "y = 1; r0 = x;"], true, true, (2, 0));
    check(&["x = 1; while (y == 0) { }", "y = 1; while (x == 0) { }"], true, true, (1, 0));
    // The one that does not wait reads early, and shows what it read.
    let early = ["x = 1; r0 = y; while (z == 0) { }", "y = 1; r0 = x; z = 1;"];
    check(&early, false, false, (3, 0));
}

#[test]
fn messages() {
    check(&["x = 1; y = 1;", "while (y == 0) { } r0 = x;"], true, false, (1, 0));
    check(&["x = 1; fence store_store; y = 1;", "while (y == 0) { } r0 = x;"], true, true, (1, 0));
}

#[test]
fn locks() {
    let locked = "while (!cas(z, 0, 1)) { } r0 = x; x = r0 + 1; z = 0;";
    check(&[locked, locked], true, false, (2, 0));
    let fenced = "while (!cas(z, 0, 1)) { } r0 = x; x = r0 + 1; fence store_store; z = 0;";
    check(&[fenced, fenced], true, true, (2, 0));
}

#[test]
fn waiting_for_ever() {
    // Nobody stores to y.
    check(&["x = 1; while (y == 0) { } r0 = z;", "z = 1; r0 = x;"], true, true, (0, 2));
    // The other one may look too late.
    check(&["x = 1; x = 0;", "while (x == 0) { }"], true, true, (1, 1));
    check(
        &["while (!cas(z, 0, 1)) { } x = 1;", "while (!cas(z, 0, 1)) { } x = 2;"],
        true,
        true,
        (0, 2),
    );
}
