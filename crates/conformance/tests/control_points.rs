//! Invariants about control points: the explicit engine, with every set of reductions, agrees with
//! the reference interpreter. The other engines agree or refuse.

use crate::common::{
    MODELS, REDUCTIONS, check, check_with, lower, model, report_comparisons, seeds, settings,
};
use fencepost_conformance::reference::explore;
use fencepost_engines::{
    Abstraction, Auto, Automata, Engine, Robust, RobustMethod, Settings, Stateless, Verdict,
};
use fencepost_ir::Problem;
use fencepost_models::coherence::Domain;
use fencepost_testkit::Random;

const MAX_STATES: usize = 100_000;

fn problem(source: &str) -> Problem {
    lower(source).unwrap_or_else(|error| panic!("{error}\n{source}")).remove(0)
}

/// Returns the models under which the invariant is violated, according to the reference
/// interpreter. Checks that the engines agree.
fn violating_models(source: &str) -> String {
    let problem = problem(source);
    let mut found = Vec::new();
    for (name, reference) in MODELS {
        let report = explore(&problem, reference, 4, MAX_STATES);
        if !report.complete || report.bound_hit {
            continue;
        }
        let expected = !report.invariant_violations.is_empty();
        for reductions in REDUCTIONS {
            let settings = Settings { reductions, ..settings(1) };
            let verdict = check(&problem, &model(name), settings).verdict;
            let about = format!("{name}, {reductions:?}\n{source}");
            match verdict {
                Verdict::Verified(_) => assert!(!expected, "{about}"),
                Verdict::Violated(_) => assert!(expected, "{about}"),
                Verdict::Inconclusive(_) => panic!("inconclusive: {about}"),
            }
        }
        let engines: [&dyn Engine; 5] = [
            &Auto,
            &Abstraction { domain: Domain::Full, k: 0 },
            &Automata::DEFAULT,
            &Stateless::default(),
            &Robust::by(RobustMethod::Auto),
        ];
        for engine in engines {
            let verdict = check_with(engine, &problem, &model(name), settings(1)).verdict;
            let about = format!("{name}, {}\n{source}", engine.name());
            match verdict {
                Verdict::Verified(_) => assert!(!expected, "{about}"),
                Verdict::Violated(_) => assert!(expected, "{about}"),
                Verdict::Inconclusive(_) => {}
            }
        }
        if expected {
            found.push(name);
        }
    }
    found.join(" ")
}

#[test]
fn two_threads_can_be_at_their_labels_at_once() {
    let all = "sc ibm370 tso table-tso pso table-pso rmo-nospec rmo";
    let source = "shared int x; thread p { x = 1; A: x = 2; } thread q { x = 3; B: x = 4; }
        property may_hang; invariant !(p at A && q at B);";
    assert_eq!(violating_models(source), all);
    let template = "shared int x; thread p(i in 0..2) { x = i; A: x = 2; }
        invariant !(p(0) at A && p(1) at A);";
    assert_eq!(violating_models(template), all);
}

#[test]
fn a_lock_separates_control_points() {
    let locked = "shared bool lock; thread p(i in 0..2) {
        while (!cas(lock, false, true)) skip; A: skip; lock = false; }
        invariant !(p(0) at A && p(1) at A);";
    assert_eq!(violating_models(locked), "");
    // The second thread waits until the first has left its label.
    let turn = "shared int x; thread p { A: x = 1; } thread q { await(x == 1); B: skip; }
        invariant !(p at A && q at B);";
    assert_eq!(violating_models(turn), "");
    // The store to `y` overtakes the store to `x`, but not the label.
    let flags = "shared bool a, b; thread p { a = true; if (!b) { A: skip; } }
        thread q { b = true; if (!a) { B: skip; } } invariant !(p at A && q at B);";
    assert_eq!(violating_models(flags), "ibm370 tso table-tso pso table-pso rmo-nospec rmo");
}

fn random_source(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0xa7 << 32);
    let mut text = String::from("shared int x, y;\n");
    for thread in 0..2 {
        let mut body = Vec::new();
        let marked = random.below(3);
        for at in 0..3 {
            let label = if at == marked { "A: " } else { "" };
            let location = random.pick(&["x", "y"]);
            body.push(match random.below(7) {
                0 | 1 => format!("{label}r{at} = {location};"),
                2 | 3 => format!("{label}{location} = {};", 1 + random.below(2)),
                4 => format!("{label}r{at} = {at};"),
                5 => format!("{label}fence;"),
                _ => format!("if ({location} == 1) {{ {label}skip; }} else {{ y = 2; }}"),
            });
        }
        text += &format!("thread t{thread} {{ {} }}\n", body.join(" "));
    }
    let more = random.pick(&["", " && x == 1", " && y != 0", " && x != y"]);
    text + &format!("invariant !(t0 at A && t1 at A{more});\n")
}

#[test]
fn random_control_points_agree_with_the_reference_interpreter() {
    let mut violated = 0;
    for seed in seeds(40) {
        let source = random_source(seed);
        violated += u64::from(!violating_models(&source).is_empty());
    }
    assert!(violated > 0, "some invariant must be violated");
    report_comparisons("programs with control points", violated);
}
