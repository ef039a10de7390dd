//! Invariants about control points: every engine, with every set of reductions, agrees with the
//! reference interpreter. The engines on SC runs refuse only invariants that relate control points
//! to memory under TSO and PSO.

mod translations;

use crate::automata::queries::SLEEP_SET_VARIANTS;
use crate::common::{
    MODELS, REDUCTIONS, check, check_with, lower, model, report_comparisons, seeds, settings,
};
use fencepost_conformance::reference::{Model, explore};
use fencepost_engines::verdict::{InconclusiveReason, Unsupported};
use fencepost_engines::{
    Abstraction, Auto, Decider, Engine, Robust, RobustMethod, Settings, Stateless, Verdict,
};
use fencepost_ir::{Problem, Violation};
use fencepost_models::Reductions;
use fencepost_models::coherence::Domain;
use fencepost_search::Limits;
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
        let engines: [&dyn Engine; 2] = [&Auto, &Abstraction { domain: Domain::Full, k: 0 }];
        for engine in engines {
            let verdict = check_with(engine, &problem, &model(name), settings(1)).verdict;
            let about = format!("{name}, {}\n{source}", engine.name());
            match verdict {
                Verdict::Verified(_) => assert!(!expected, "{about}"),
                Verdict::Violated(_) => assert!(expected, "{about}"),
                Verdict::Inconclusive(_) => {}
            }
        }
        for reductions in [Reductions::ALL, Reductions::NONE] {
            check_automata(&problem, source, (name, reductions), expected);
        }
        for preemptions in [None, Some(20)] {
            check_on_sc_runs(&Stateless { preemptions }, source, name, expected);
        }
        if expected {
            found.push(name);
        }
    }
    found.join(" ")
}

/// Checks the automata engine, with and without sleep sets, against the expected result. It decides
/// the models with store buffers itself.
fn check_automata(
    problem: &Problem,
    source: &str,
    (name, reductions): (&str, Reductions),
    expected: bool,
) {
    let limits = Limits { states: 20_000, ..Limits::default() };
    let settings = Settings { reductions, limits, ..settings(1) };
    for engine in SLEEP_SET_VARIANTS {
        let answer = check_with(&engine, problem, &model(name), settings);
        let about = format!("{name}, {engine:?}, {reductions:?}\n{source}");
        if matches!(name, "tso" | "pso") {
            assert_eq!(answer.decider, Decider::Automata, "{about}");
        }
        match answer.verdict {
            Verdict::Verified(_) => assert!(!expected, "{about}"),
            Verdict::Violated(_) => assert!(expected, "{about}"),
            Verdict::Inconclusive(_) => assert!(source.contains("goto"), "{about}"),
        }
    }
}

/// Checks an engine that explores SC runs against the expected result.
fn check_on_sc_runs(engine: &dyn Engine, source: &str, name: &str, expected: bool) {
    let problem = problem(source);
    for reductions in [Reductions::ALL, Reductions::NONE] {
        let settings = Settings { reductions, ..settings(1) };
        let verdict = check_with(engine, &problem, &model(name), settings).verdict;
        let about = format!("{name}, {}, {reductions:?}\n{source}", engine.name());
        match &verdict {
            Verdict::Verified(_) => assert!(!expected, "{about}"),
            Verdict::Violated(_) => assert!(expected, "{about}"),
            Verdict::Inconclusive(inconclusive) => {
                let reason = inconclusive.reason();
                let unsupported = |reason| InconclusiveReason::Unsupported { reason };
                let is_explained = match name {
                    "tso" | "pso" if problem.relates_control_points_to_memory() => {
                        *reason == unsupported(Unsupported::ControlPoints)
                    }
                    "pso" if problem.has_memory_invariant() => {
                        *reason == unsupported(Unsupported::Model)
                    }
                    "tso" | "pso" => *reason == unsupported(Unsupported::NotRobust),
                    _ => name != "sc",
                };
                // Executions of a loop do not end.
                let is_cut = source.contains("goto");
                assert!(is_explained || is_cut, "{reason:?} {about}");
            }
        }
    }
}

/// Checks that `robust` finds a violation on SC runs exactly if there is one, unless the program is
/// not robust.
fn check_robust(source: &str) {
    let problem = problem(source);
    let report = explore(&problem, Model::Sc, 4, MAX_STATES);
    assert!(report.complete, "{source}");
    let expected = !report.invariant_violations.is_empty();
    let methods = [RobustMethod::Auto, RobustMethod::Stateless, RobustMethod::Attack];
    for (method, name) in methods.into_iter().flat_map(|m| [(m, "tso"), (m, "pso")]) {
        for reductions in [Reductions::ALL, Reductions::NONE] {
            let settings = Settings { reductions, ..settings(1) };
            let robust = Robust::by(method);
            let verdict = check_with(&robust, &problem, &model(name), settings).verdict;
            let about = format!("{name}, {method:?}, {reductions:?}: {verdict:?}\n{source}");
            match &verdict {
                Verdict::Verified(_) => assert!(!expected, "{about}"),
                Verdict::Violated(violated) => {
                    let violation = violated.evidence().violation();
                    assert!(violation == Violation::NotRobust || expected, "{about}");
                }
                Verdict::Inconclusive(_) => {
                    let is_refused = method == RobustMethod::Attack && name == "pso";
                    assert!(is_refused || source.contains("goto"), "{about}");
                }
            }
        }
    }
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

#[test]
fn threads_can_start_at_their_labels() {
    let fenced = "shared int x; thread p { fence; A: x = 1; } thread q { r = 0; fence; B: x = 2; }
        invariant !(p at A && q at B);";
    let all = "sc ibm370 tso table-tso pso table-pso rmo-nospec rmo";
    assert_eq!(violating_models(fenced), all);
    check_robust(fenced);
}

#[test]
fn a_pending_store_is_not_visible_at_a_control_point() {
    // The program is robust, but the store may be pending at A.
    let late = "shared int x; thread p { x = 1; A: skip; } invariant !(p at A && x == 0);";
    assert_eq!(violating_models(late), "ibm370 tso table-tso pso table-pso rmo-nospec rmo");
    check_robust(late);
}

#[test]
fn a_required_control_point_is_reached_step_by_step() {
    // The store and the assignment are two steps. In between, p is not at A.
    let all = "sc ibm370 tso table-tso pso table-pso rmo-nospec rmo";
    let before = "shared int x; thread p { x = 1; r = 2; A: skip; goto A; }
        property may_hang; invariant x == 0 || p at A;";
    assert_eq!(violating_models(before), all);
    check_robust(before);
    // Both threads are between their stores and their labels at once.
    let both = "shared int x, y; thread p { x = 1; fence; A: skip; goto A; }
        thread q { y = 1; fence; B: skip; goto B; } property may_hang;
        invariant x == 0 || y == 0 || p at A || q at B;";
    assert_eq!(violating_models(both), all);
    check_robust(both);
    // After the label, p is not at A until it has loaded.
    let after = "shared int x; thread p { A: r = x; goto A; } thread q { x = 1; }
        property may_hang; invariant x == 0 || p at A;";
    // Under table models, the window of the loop exceeds its bound.
    let found = violating_models(after);
    assert!(
        ["sc", "tso", "pso"].iter().all(|name| found.split(' ').any(|m| m == *name)),
        "{found}"
    );
}

/// Returns a random program with an invariant about control points.
pub(crate) fn random_source(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0xa7 << 32);
    let mut text = String::from("shared int x, y;\n");
    let threads = 2 + random.below(2);
    for thread in 0..threads {
        let mut body = Vec::new();
        let len = if threads == 2 { 3 } else { 2 };
        let (first, second) = (random.below(len), random.below(len));
        for at in 0..len {
            let label = match at {
                _ if at == first => "A: ",
                _ if at == second => "B: ",
                _ => "",
            };
            let location = random.pick(&["x", "y"]);
            body.push(match random.below(9) {
                0 | 1 => format!("{label}r{at} = {location};"),
                2 | 3 => format!("{label}{location} = {};", 1 + random.below(2)),
                4 => format!("{label}r{at} = {at};"),
                5 => format!("{label}fence;"),
                6 => format!("{label}await({location} == 1);"),
                7 => format!("{label}r{at} = cas({location}, 0, 1);"),
                _ => format!("if ({location} == 1) {{ {label}skip; }} else {{ y = 2; }}"),
            });
        }
        if !body.iter().any(|stmt| stmt.contains("B: ")) {
            body.push(format!("B: r{len} = {};", random.pick(&["1", "x", "y"])));
        }
        text += &format!("thread t{thread} {{ {} }}\n", body.join(" "));
    }
    text += "property may_hang;\n";
    let [p, q] = [random.below(threads), random.below(threads)];
    let memory = random.pick(&["x == 1", "y != 0", "x != y", "x == 0"]);
    text += &match random.below(8) {
        0 | 1 => "invariant !(t0 at A && t1 at A);".to_string(),
        2 => format!("invariant !(t{p} at A && t{q} at B);"),
        3 => format!("invariant !(t0 at A && t1 at A && {memory});"),
        4 => format!("invariant !(t0 at A && t1 at B); invariant !(t{p} at A && {memory});"),
        5 => format!("invariant t{p} at A || t{q} at B || {memory};"),
        6 => format!("invariant !(t0 at A) || t1 at A || t1 at B || {memory};"),
        _ => format!("invariant !({memory} && y == 1); invariant !(t0 at B && t1 at A);"),
    };
    text + "\n"
}

#[test]
fn random_control_points_agree_with_the_reference_interpreter() {
    let mut violated = 0;
    for seed in seeds(60) {
        let source = random_source(seed);
        violated += u64::from(!violating_models(&source).is_empty());
        check_robust(&source);
    }
    assert!(violated > 0, "some invariant must be violated");
    report_comparisons("programs with control points", violated);
}
