//! Programs of the corpus that are small enough for exhaustive search.

use super::compare::{Scope, Tally, compare};
use crate::common::lower;
use fencepost_testkit::corpus;
use fencepost_testkit::is_campaign;

fn compare_folder(name: &str, scope: Scope) -> Tally {
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    for (file, source) in corpus::sample(name, 3) {
        for problem in lower(&source).expect("the corpus compiles") {
            let found = compare(&problem, scope, &mut tally);
            wrong.extend(found.iter().map(|d| format!("{file}: {d}")));
        }
    }
    println!("{name}: {tally:?}");
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    tally
}

#[test]
fn litmus_programs_reach_the_same_states_campaign() {
    let k = if is_campaign() { 3 } else { 1 };
    let tally = compare_folder("litmus", Scope { k, states: 10_000, translated: 40_000 });
    assert!(tally.compared > 4 * tally.cut, "{tally:?}");
    assert!(tally.relaxed > 0, "{tally:?}");
}

/// A store is pending while the other thread acts, and the later statements of its thread depend on
/// that thread. So these statements cannot run in the same context as the store, and need no
/// further context. That `u` was read as 0 shows that the fence was passed before.
#[test]
fn statements_after_a_pending_store_run_in_a_later_context() {
    let watcher = "thread q { a = w; b = x; if (a == 1 && b == 0) { u = 1; fence; z = 1; } }";
    for after in [
        "fence store_store; s = u; r = z; if (s == 0) y = r;",
        "fence store_store; s = u; r = z; if (s == 0) fetch_add(y, r);",
        "fence store_load; r = z; y = r;",
        "r = z; x = r; y = r;",
        "r = z; drain x; y = r;",
        "r = z; fence; y = r;",
    ] {
        let source =
            format!("shared int u, w, x, y, z; thread p {{ w = 1; x = 1; {after} }} {watcher}");
        let mut tally = Tally::default();
        for problem in lower(&source).expect("the program compiles") {
            let scope = Scope { k: 2, states: 100_000, translated: 1_000_000 };
            let wrong = compare(&problem, scope, &mut tally);
            assert!(
                wrong.is_empty(),
                "{source}: {} differences, for example {}",
                wrong.len(),
                wrong[0]
            );
        }
        assert_eq!(tally.cut, 0, "{source}: {tally:?}");
    }
}
