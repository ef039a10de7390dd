//! The robustness arm of the portfolio and the explicit engine agree on verdicts of random programs
//! under TSO and PSO.
//!
//! Direction: the arm may be undecided. Its conclusive answers are correct.

use super::queries::{
    Compared, QueryKind, check_evidence, check_random, explicit_settings, run_query,
};
use crate::common::{check_with, corpus, lower, model, seeds, settings};
use fencepost_engines::auto::robustness::{Attempt, attempt};
use fencepost_engines::{Auto, Budget, Decider, Explicit, Settings, Task, Verdict};
use fencepost_ir::Problem;
use fencepost_search::{Cancel, Limits, Progress};
use fencepost_testkit::programs::{
    Profile, RandomProgram, bounded_with_spin_loops, critical_sections, deadlocks, invariants,
    program, spin_loops, turn_taking, unbounded_buffers,
};

/// The number of random programs of each kind.
const PROGRAMS: u64 = 40;

fn compare(problem: &Problem, name: &str) -> Result<Compared, String> {
    let problem = &problem.safety();
    let budget = Budget { cancel: &Cancel::default(), progress: &Progress::default() };
    let limits = Limits { states: 20_000, ..Limits::default() };
    let task = Task { problem, model: &model(name) };
    let result = attempt(task, Settings { limits, ..settings(1) }, budget);
    let Attempt::Concluded(answer) = result else { return Ok(Compared::default()) };
    check_evidence(problem, name, &answer.verdict)?;
    let case = (problem, name);
    let expected = run_query(&Explicit, QueryKind::Verdict, case, explicit_settings()).verdict;
    if matches!(expected, Verdict::Inconclusive(_)) {
        return Ok(Compared::default());
    }
    if answer.verdict.word() != expected.word() {
        return Err(format!("{name}: found {:?}, expected {expected:?}", answer.verdict));
    }
    let violated = u64::from(matches!(expected, Verdict::Violated(_)));
    Ok(Compared { verdicts: 1, violated, outcomes: 0 })
}

/// Compares programs of a generator. `minimum` is the minimum percentage of compared verdicts.
#[track_caller]
fn compare_generator(draw: impl Fn(u64) -> RandomProgram, minimum: u64) {
    let compare_both =
        |problem: &Problem| Ok(compare(problem, "tso")?.plus(compare(problem, "pso")?));
    let compared = check_random(draw, PROGRAMS, compare_both);
    let percent = compared.verdicts * 100 / seeds(PROGRAMS).count().max(1) as u64;
    let enough = percent >= minimum || std::env::var("FENCEPOST_SEEDS").is_ok();
    assert!(enough, "too few comparisons: {percent} percent");
}

#[test]
fn random_critical_sections_get_the_same_verdict() {
    compare_generator(critical_sections, 40);
}

#[test]
fn random_turn_taking_gets_the_same_verdict() {
    compare_generator(turn_taking, 40);
}

#[test]
fn random_invariants_get_the_same_verdict() {
    compare_generator(invariants, 30);
}

#[test]
fn random_deadlocks_get_the_same_verdict() {
    compare_generator(deadlocks, 40);
}

#[test]
fn random_spin_loops_get_the_same_verdict() {
    compare_generator(spin_loops, 20);
    compare_generator(bounded_with_spin_loops, 20);
}

#[test]
fn random_unbounded_buffers_get_the_same_verdict() {
    compare_generator(unbounded_buffers, 0);
}

#[test]
fn random_programs_get_the_same_verdict() {
    for profile in [Profile::Straight, Profile::Loops, Profile::Records, Profile::Mixed] {
        compare_generator(|seed| program(profile, seed), 10);
    }
}

/// A thread stores in a loop without a fence, so the store buffers have no bound. The first round of the
/// portfolio stores too few states for this program, in the exact model and in abstract models. It has
/// fewer SC states.
#[test]
fn auto_decides_a_large_robust_program_from_its_sc_states() {
    let path = corpus().join("mutex/peterson-filter3.fp");
    let source = std::fs::read_to_string(path).expect("the corpus has this program");
    let log = "if (i == 0) { do { log = true; again = choose(0, 1); } while (again != 0); }";
    let source = source
        .replace("shared int(0..N) level[N];", "shared int(0..N) level[N];\nshared bool log;")
        .replace("critical { skip; }", &format!("critical {{ skip; }} {log}"));
    let problem = &lower(&source).expect("the program has no errors")[0];
    let answers =
        [1, 2].map(|threads| check_with(&Auto, problem, &model("tso"), settings(threads)));
    for answer in &answers {
        assert!(answer.verdict.is_verified());
        assert_eq!(answer.decider, Decider::Attack);
    }
    assert_eq!(answers[0].statistics.states, answers[1].statistics.states);
    // A certificate needs the bound of an exact search or the k of an abstraction.
    let certifiable = Settings { certifiable: true, ..settings(2) };
    let answer = check_with(&Auto, problem, &model("tso"), certifiable);
    assert!(answer.verdict.is_verified());
    assert_ne!(answer.decider, Decider::Attack);
}
