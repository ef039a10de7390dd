//! The stateless engine and the explicit engine agree on verdicts and outcomes of random programs
//! of all generators.
//!
//! Direction: under SC the answers are the same. Under TSO and PSO the stateless engine may be
//! inconclusive. Its conclusive answers are correct.

use super::queries::{
    Compared, check_random, compare_under_sc, compare_under_weaker_model, explicit_settings,
    stateless_settings,
};
use crate::common::seeds;
use fencepost_ir::Problem;
use fencepost_testkit::programs::{
    Profile, RandomProgram, bounded, bounded_with_spin_loops, critical_sections, deadlocks,
    invariants, program, spin_loops, turn_taking, unbounded_buffers,
};

/// The number of random programs of each kind.
const PROGRAMS: u64 = 40;

/// Compares the answers as the problem is, and with hangs allowed: then more programs have no
/// violation, and their outcomes are compared.
fn under_sc(problem: &Problem) -> Result<Compared, String> {
    let mut may_hang = problem.clone();
    may_hang.allow_hangs();
    let compare = |problem| compare_under_sc(problem, stateless_settings(1), explicit_settings());
    Ok(compare(problem)?.plus(compare(&may_hang)?))
}

fn under_weaker_models(problem: &Problem) -> Result<Compared, String> {
    let tso =
        compare_under_weaker_model(problem, "tso", stateless_settings(1), explicit_settings())?;
    Ok(tso.plus(compare_under_weaker_model(
        problem,
        "pso",
        stateless_settings(1),
        explicit_settings(),
    )?))
}

/// Compares programs of a generator under all models. `minimum` is the minimum percentage of compared
/// verdicts under SC, outcomes under SC, and verdicts under the weaker models.
fn compare_generator(draw: fn(u64) -> RandomProgram, minimum: [u64; 3]) {
    let strong = check_random(draw, PROGRAMS, under_sc);
    let weak = check_random(draw, PROGRAMS, under_weaker_models);
    require_enough(strong, weak, minimum);
}

fn compare_profile(profile: Profile, minimum: [u64; 3]) {
    let strong = check_random(|seed| program(profile, seed), PROGRAMS, under_sc);
    let weak = check_random(|seed| program(profile, seed), PROGRAMS, under_weaker_models);
    require_enough(strong, weak, minimum);
}

#[track_caller]
fn require_enough(strong: Compared, weak: Compared, [verdicts, outcomes, weaker]: [u64; 3]) {
    if std::env::var("FENCEPOST_SEEDS").is_ok() {
        return;
    }
    let drawn = seeds(PROGRAMS).end;
    let percent = |count: u64| count * 100 / drawn;
    // Under SC, each program is compared twice.
    let [once, twice] = [weak.verdicts, strong.verdicts / 2];
    let found = [percent(twice), percent(strong.outcomes), percent(once)];
    let right = found[0] >= verdicts && found[1] >= outcomes && found[2] >= weaker;
    assert!(right, "too few comparisons, in percent of programs: {found:?}");
}

#[test]
fn random_straight_line_programs_get_the_same_answers() {
    compare_profile(Profile::Straight, [90, 50, 50]);
}

#[test]
fn random_loops_get_the_same_answers() {
    compare_profile(Profile::Loops, [30, 20, 10]);
}

#[test]
fn random_records_get_the_same_answers() {
    compare_profile(Profile::Records, [90, 60, 30]);
}

#[test]
fn random_mixed_programs_get_the_same_answers() {
    compare_profile(Profile::Mixed, [60, 30, 30]);
}

#[test]
fn random_full_buffers_get_the_same_answers() {
    compare_profile(Profile::Buffers, [40, 30, 10]);
}

#[test]
fn random_bounded_programs_get_the_same_answers() {
    let strong = check_random(bounded, PROGRAMS, under_sc);
    require_enough(strong, check_random(bounded, PROGRAMS, under_weaker_models), [90, 90, 30]);
}

#[test]
fn random_bounded_programs_with_spin_loops_get_the_same_answers() {
    let strong = check_random(bounded_with_spin_loops, PROGRAMS, under_sc);
    require_enough(
        strong,
        check_random(bounded_with_spin_loops, PROGRAMS, under_weaker_models),
        [90, 90, 30],
    );
}

#[test]
fn random_programs_with_unbounded_buffers_get_no_contradictory_answers() {
    // Most of these programs have infinite executions, so the engine is inconclusive. Some have
    // early violations.
    check_random(unbounded_buffers, PROGRAMS / 6, under_sc);
    check_random(unbounded_buffers, PROGRAMS / 6, under_weaker_models);
}

#[test]
fn random_critical_sections_get_the_same_answers() {
    compare_generator(critical_sections, [90, 5, 60]);
}

#[test]
fn random_turn_taking_gets_the_same_answers() {
    compare_generator(turn_taking, [90, 60, 60]);
}

#[test]
fn random_invariants_get_the_same_answers() {
    compare_generator(invariants, [90, 50, 60]);
}

#[test]
fn random_deadlocks_get_the_same_answers() {
    compare_generator(deadlocks, [90, 30, 60]);
}

#[test]
fn random_spin_loops_get_the_same_answers() {
    compare_generator(spin_loops, [60, 40, 20]);
}
