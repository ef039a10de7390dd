//! Lowered programs have the verdicts and outcomes of the originals, and their violations are runs
//! of the originals.

use crate::common::{check, corpus, outcomes, replay_steps, scripted_steps};
use fencepost_engines::Evidence;
use fencepost_engines::Verdict;
use fencepost_ir::Violation;
use fencepost_ir::validate::validate;
use fencepost_ir::{Op, Problem};
use fencepost_testkit::problem;
use fencepost_translate::export::lower::{Lowered, lower};

/// Lowers a program and compares it with the original.
fn compare(name: &str, problem: &Problem) -> (Verdict, Lowered) {
    let lowered = lower(problem).expect("the program can be lowered");
    let lowered_problem = &lowered.problem;
    assert_eq!(validate(lowered_problem), Ok(()), "{name}\n{lowered_problem}");
    assert!(lowered_problem.program.pools.is_empty());
    let code = lowered_problem.program.threads.iter().flat_map(|t| &t.code);
    assert!(code.clone().all(|s| !s.critical && !matches!(s.op, Op::Leave)), "{name}");
    for (thread, origins) in lowered_problem.program.threads.iter().zip(&lowered.origins) {
        assert_eq!(thread.code.len(), origins.len(), "{name}");
    }
    const STATES: u64 = 300_000;
    let (before, after) = (check(problem, STATES), check(lowered_problem, STATES));
    let (one, other) = (&before.verdict, &after.verdict);
    if !matches!((one, other), (Verdict::Inconclusive(_), _) | (_, Verdict::Inconclusive(_))) {
        assert_eq!(one.word(), other.word(), "{name}\n{problem}\n{lowered_problem}");
    }
    if let Some(trace) = other.evidence().and_then(Evidence::trace) {
        let all = scripted_steps(lowered_problem, trace);
        let origin = |(t, pc, script): &crate::common::ScriptedStep| {
            Some((*t, lowered.origins[t.index()][pc.index()]?, script.clone()))
        };
        let all: Vec<_> = all.iter().filter_map(origin).collect();
        let end = replay_steps(problem, trace.init.clone(), &all);
        assert!(matches!(end, Ok(Some(_))), "{name}: {end:?}\n{lowered_problem}");
    }
    if let Verdict::Verified(_) = one {
        let (one, other) = (outcomes(problem, STATES), outcomes(lowered_problem, STATES));
        if one.outcomes_complete && other.outcomes_complete {
            assert_eq!(one.outcomes, other.outcomes, "{name}\n{lowered_problem}");
        }
    }
    (before.verdict, lowered)
}

#[test]
fn the_corpus_keeps_its_verdicts() {
    let mut seen = [0, 0];
    for (name, _, problem) in
        corpus(&["litmus", "mutex", "papers", "regress", "structures", "waiting", "orders"])
    {
        match compare(&name, &problem).0 {
            Verdict::Verified(_) => seen[0] += 1,
            Verdict::Violated(_) => seen[1] += 1,
            Verdict::Inconclusive(_) => {}
        }
    }
    assert!(seen[0] > 60 && seen[1] > 20, "{seen:?}");
}

fn violation(source: &str) -> Option<Violation> {
    let problem = &problem(source);
    match compare(source, problem).0 {
        Verdict::Violated(violated) => Some(violated.evidence().violation()),
        Verdict::Verified(_) => None,
        Verdict::Inconclusive(_) => panic!("the program is small"),
    }
}

const POOL: &str = "record Node { int(0..=9) v; Node next; int(0..=5) slot[2]; } pool Node[2];
    shared Node head; shared int(0..=9) x;";

#[test]
fn records_keep_their_faults() {
    let body = |code: &str| format!("{POOL} thread p {{ {code} }} thread q {{ r = head; x = 1; }}");
    let right = [
        "n = new Node; n.v = 4; r = n.v; assert(r == 4); head = n; free(n); m = new Node; s = m.v; assert(s == 0);",
        "n = new Node; m = new Node; n.slot[1] = 5; m.slot[0] = 2; i = 1; a = n.slot[i]; assert(a == 5);
         b = m.slot[i - 1]; assert(b == 2); n.next = m; k = n.next; assert(k == m);",
        "n = new Node; atomic { n.v = 4; r = n.v; free(n); } atomic { m = new Node; s = m.v; } assert(s == 0);",
        "n = new Node; c = cas(n.v, 0, 7); assert(c); o = fetch_add(n.v, 1); r = n.v; assert(r == 8);",
    ];
    let wrong = [
        "n = new Node; m = new Node; k = new Node;",
        "n = head; r = n.v;",
        "n = new Node; n.next = null; m = n.next; m.v = 1;",
        "n = new Node; free(n); r = n.v;",
        "n = new Node; free(n); free(n);",
        "n = new Node; m = new Node; free(n); m.v = 1; n.v = 1;",
        "n = new Node; m = new Node; i = 2; n.slot[i] = 1;",
        "n = new Node; m = new Node; i = 0; m.slot[i - 1] = 1;",
        "n = new Node; n.slot[1] = 6;",
        "n = head; free(n);",
        "n = new Node; atomic { free(n); n.v = 1; }",
    ];
    for code in right {
        assert_eq!(violation(&body(code)), None, "{code}");
    }
    for code in wrong {
        assert!(violation(&body(code)).is_some(), "{code}");
    }
}

#[test]
fn an_access_to_a_record_freed_by_another_thread_faults() {
    let source = format!(
        "{POOL} init {{ n = new Node; head = n; }}
         thread p {{ n = head; if (n != null) {{ r = n.v; }} }}
         thread q {{ n = head; head = null; free(n); }}"
    );
    assert!(matches!(violation(&source), Some(Violation::Fault(..))));
}

#[test]
fn without_free_new_is_one_update() {
    let source =
        format!("{POOL} thread p {{ n = new Node; n.v = 1; }} thread q {{ m = new Node; }}");
    let (_, lowered) = compare("counted", &problem(&source));
    let code = &lowered.problem.program.threads[0].code;
    assert!(code.iter().all(|s| !matches!(s.op, Op::AtomicBegin)), "{}", lowered.problem);
    let names: Vec<&str> =
        lowered.problem.program.locations.iter().map(|l| l.name.as_str()).collect();
    assert!(names.contains(&"Node_slot[3]") && names.contains(&"allocated_Node"), "{names:?}");
}

#[test]
fn critical_sections_are_entered_and_left() {
    let locked = "shared int lock; property mutual_exclusion;
        thread p { while (swap(lock, 1) == 1) {} critical { } lock = 0; }
        thread q { while (swap(lock, 1) == 1) {} critical { } lock = 0; }";
    assert_eq!(violation(locked), None);
    let open = "shared int x; property mutual_exclusion;
        thread p { critical { x = 1; } critical { x = 2; } } thread q { x = 3; critical { } }";
    assert!(matches!(violation(open), Some(Violation::MutualExclusion(..))));
    let loops = "shared int x; property mutual_exclusion;
        thread p { loop { critical { r = x; } } } thread q { x = 1; assume(false); critical { } }";
    assert_eq!(violation(loops), None);
}
