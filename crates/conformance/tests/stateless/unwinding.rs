//! Bounds on iterations: loops that end within the bound have the exact answer, violations are
//! real, and nothing is verified while the bound cuts executions.

use super::queries::{
    Compared, QueryKind, STATELESS, check_evidence, check_random, explicit_settings, run_query,
    run_query_for, stateless_settings,
};
use crate::common::{lower, seeds, settings};
use fencepost_engines::{
    Answer, Bound, Engine, Explicit, InconclusiveReason, Robust, RobustMethod, Settings,
    Unsupported, Verdict,
};
use fencepost_ir::{Problem, Violation};
use fencepost_testkit::programs::{Profile, program, silent_loops, spin_loops};
use std::time::Duration;

/// The number of random programs of each kind.
const PROGRAMS: u64 = 40;

fn problem(source: &str) -> Problem {
    lower(source).expect("a correct program").remove(0)
}

fn run(
    engine: &(dyn Engine + Sync),
    kind: QueryKind,
    case: (&Problem, &str),
    iterations: u32,
) -> Answer {
    let settings = Settings { unwind: Some(iterations), ..settings(1) };
    run_query_for(Duration::from_secs(100), engine, kind, case, settings)
}

fn verdict(problem: &Problem, model: &str, iterations: u32) -> Verdict {
    run(&STATELESS, QueryKind::Verdict, (problem, model), iterations).verdict
}

fn outcomes(problem: &Problem, iterations: u32) -> Answer {
    run(&STATELESS, QueryKind::Outcomes, (problem, "sc"), iterations)
}

#[track_caller]
fn check_bound(verdict: &Verdict, iterations: u32) {
    let bound = Bound::Iterations(iterations);
    let expected = InconclusiveReason::Bound { bound, witness_missing: false };
    assert_eq!(verdict.inconclusive_reason(), Some(&expected));
}

/// The first thread writes until the second one has seen a write.
fn producer(wrong: i64) -> Problem {
    problem(&format!(
        "shared int x, stop;
         thread p {{ while (stop == 0) {{ x = x + 1; }} }}
         thread q {{ r = x; assert(r != {wrong}); stop = 1; }}
         observe x;"
    ))
}

#[test]
fn an_infinite_loop_is_verified_up_to_the_bound() {
    let endless = producer(100);
    for iterations in [1, 2, 4] {
        for model in ["sc", "tso", "pso"] {
            let verdict = verdict(&endless, model, iterations);
            match model {
                "sc" => check_bound(&verdict, iterations),
                // The program is not robust.
                _ => assert!(!verdict.is_verified(), "{model}"),
            }
        }
        let found = outcomes(&endless, iterations);
        assert!(!found.outcomes_complete);
        // Without an iteration, and with up to as many as allowed.
        assert_eq!(found.outcomes.len() as u32, iterations + 1);
    }
}

#[test]
fn a_violation_within_the_bound_is_found_and_replays() {
    for (wrong, iterations) in [(1, 1), (3, 3), (4, 6)] {
        let verdict = verdict(&producer(wrong), "sc", iterations);
        let violation = verdict.evidence().map(|evidence| evidence.violation());
        assert!(matches!(violation, Some(Violation::Assertion(..))), "{wrong}");
        check_evidence(&producer(wrong), "sc", &verdict).expect("the run replays");
    }
    check_bound(&verdict(&producer(5), "sc", 3), 3);
}

#[test]
fn a_loop_that_ends_within_the_bound_is_verified() {
    let counts = problem(
        "shared int x;
         thread p { for (i = 0; i < 3; i++) { x = x + 1; } }
         thread q { for (i = 0; i < 3; i++) { x = x + 1; } }
         final forall x >= 2 && x <= 6; observe x;",
    );
    assert!(verdict(&counts, "sc", 3).is_verified());
    check_bound(&verdict(&counts, "sc", 1), 1);
    let exact = outcomes(&counts, 3);
    assert!(exact.outcomes_complete && exact.outcomes.len() == 5);
    assert!(!outcomes(&counts, 1).outcomes_complete);
}

#[test]
fn a_spin_loop_needs_no_bound() {
    let waits = problem(
        "shared int x, y;
         thread p { y = 1; x = 1; }
         thread q { while (x == 0) { } assert(y == 1); }",
    );
    assert!(verdict(&waits, "sc", 0).is_verified());
    assert!(verdict(&waits, "tso", 0).is_verified());
}

#[test]
fn a_missing_witness_is_not_a_violation_if_executions_are_cut() {
    let counts = problem(
        "shared int x; thread p { for (i = 0; i < 3; i++) { x = x + 1; } } final exists x == 3;",
    );
    assert!(verdict(&counts, "sc", 3).is_verified());
    let bound = Bound::Iterations(1);
    let expected = InconclusiveReason::Bound { bound, witness_missing: true };
    assert_eq!(verdict(&counts, "sc", 1).inconclusive_reason(), Some(&expected));
}

#[test]
fn a_thread_at_the_bound_does_not_hang() {
    // The second thread waits for the end of the loop.
    let waits = problem(
        "shared int x, y;
         thread p { for (i = 0; i < 5; i++) { x = i; } y = 1; }
         thread q { while (y == 0) { } }",
    );
    check_bound(&verdict(&waits, "sc", 2), 2);
    assert!(verdict(&waits, "sc", 5).is_verified());
}

#[test]
fn robustness_has_the_bound_of_the_program() {
    let robust = Robust::by(RobustMethod::Stateless);
    let check = |source: &str, iterations| {
        let task = (&problem(source), "tso");
        run(&robust, QueryKind::Verdict, task, iterations).verdict
    };
    let fenced = "shared int x, y;
        thread p { for (i = 0; i < 4; i++) { x = i; fence; r = y; } }
        thread q { for (i = 0; i < 4; i++) { y = i; fence; r = x; } }";
    check_bound(&check(fenced, 1), 1);
    let violation = check(&fenced.replace("fence;", ""), 1);
    let violation = violation.evidence().map(|evidence| evidence.violation());
    assert_eq!(violation, Some(Violation::NotRobust));
}

#[test]
fn a_program_that_becomes_too_large_is_not_decided() {
    let mut loops = "x = 1;".to_string();
    for name in ["a", "b", "c", "d", "e"] {
        loops = format!("for ({name} = 0; {name} < 9; {name}++) {{ {loops} }}");
    }
    let nested = problem(&format!("shared int x; thread p {{ {loops} }}"));
    let expected = InconclusiveReason::unsupported(Unsupported::TooManyIterations);
    assert_eq!(verdict(&nested, "sc", 50).inconclusive_reason(), Some(&expected));
}

/// Compares the answers with a bound with those of the explicit engine.
fn compare(problem: &Problem) -> Result<Compared, String> {
    let mut problem = problem.clone();
    problem.allow_hangs();
    let exact = run_query(&Explicit, QueryKind::Outcomes, (&problem, "sc"), explicit_settings());
    let mut compared = Compared::default();
    for iterations in [1, 3] {
        let settings = Settings { unwind: Some(iterations), ..stateless_settings(1) };
        let bounded = run_query(&STATELESS, QueryKind::Outcomes, (&problem, "sc"), settings);
        check_evidence(&problem, "sc", &bounded.verdict)?;
        if exact.outcomes_complete && !bounded.outcomes.is_subset(&exact.outcomes) {
            return Err(format!("{iterations}: outcomes that the program does not have"));
        }
        match (&bounded.verdict, &exact.verdict) {
            (Verdict::Violated(_), Verdict::Verified(_)) => {
                return Err(format!("{iterations}: violated, but the program is correct"));
            }
            (Verdict::Verified(_), Verdict::Violated(_)) => {
                return Err(format!("{iterations}: verified, but the program is wrong"));
            }
            (_, Verdict::Inconclusive(_)) | (Verdict::Inconclusive(_), _) => {}
            (Verdict::Verified(_), Verdict::Verified(_))
            | (Verdict::Violated(_), Verdict::Violated(_)) => compared.verdicts += 1,
        }
        if exact.outcomes_complete && bounded.outcomes_complete {
            compared.outcomes += 1;
            if bounded.outcomes != exact.outcomes {
                return Err(format!("{iterations}: outcomes are missing"));
            }
        }
    }
    Ok(compared)
}

#[test]
fn random_loops_have_the_answers_of_the_explicit_engine() {
    let found = check_random(|seed| program(Profile::Loops, seed), PROGRAMS, compare);
    assert!(found.verdicts >= PROGRAMS / 2 && found.outcomes >= PROGRAMS / 4, "{found:?}");
    let found = check_random(spin_loops, PROGRAMS, compare);
    assert!(found.verdicts >= PROGRAMS / 2, "{found:?}");
    for seed in seeds(PROGRAMS) {
        let source = silent_loops(seed, false);
        for problem in lower(&source).unwrap_or_else(|error| panic!("{error}\n{source}")) {
            compare(&problem).unwrap_or_else(|error| panic!("{error}\n{source}"));
        }
    }
}
