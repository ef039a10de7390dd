//! Every engine answers "robust" if and only if the trace sets are equal.

use super::queries::{TraceSets, check_equal, check_random, litmus_tests, query_robustness};
use fencepost_engines::RobustMethod;
use fencepost_ir::Problem;
use fencepost_monitor::Model;
use fencepost_testkit::programs::{RandomProgram, bounded, bounded_with_spin_loops};
use std::cell::Cell;

/// The number of random programs.
const PROGRAMS: u64 = 50;

/// The engines and the models they support.
const QUERIES: [(RobustMethod, Model); 5] = [
    (RobustMethod::Stateless, Model::Tso),
    (RobustMethod::Stateless, Model::Pso),
    (RobustMethod::Attack, Model::Tso),
    (RobustMethod::Auto, Model::Tso),
    (RobustMethod::Auto, Model::Pso),
];

/// The numbers of robust and non-robust programs.
#[derive(Default)]
struct Tally {
    robust: Cell<u64>,
    not_robust: Cell<u64>,
}

impl Tally {
    fn count(&self, robust: bool) {
        let cell = if robust { &self.robust } else { &self.not_robust };
        cell.set(cell.get() + 1);
    }

    /// Panics if there are fewer than `minimum` programs of either kind.
    fn require_both(&self, minimum: u64) {
        let (robust, not) = (self.robust.get(), self.not_robust.get());
        println!("{robust} robust, {not} not");
        assert!(robust.min(not) >= minimum, "{robust} robust, {not} not");
    }
}

/// Compares all engines with the trace sets. Returns `false` if the traces cannot be enumerated.
fn compare(problem: &Problem, threads: usize, tally: &Tally) -> Result<bool, String> {
    let Some(sets) = TraceSets::of(problem) else { return Ok(false) };
    for (method, model) in QUERIES {
        let expected = sets.is_robust(model);
        let found = query_robustness(method, problem, model, threads)?;
        check_equal(&format!("robust under {model:?} by {method:?}"), found, expected)?;
        tally.count(expected);
    }
    Ok(true)
}

fn compare_random(draw: impl Fn(u64) -> RandomProgram) {
    let tally = Tally::default();
    let position = Cell::new(0);
    let total = check_random(draw, PROGRAMS, |problem| {
        position.set(position.get() + 1);
        compare(problem, 1 + position.get() % 2, &tally)
    });
    tally.require_both(total / 5);
}

#[test]
fn random_programs_get_the_verdict_of_their_trace_sets() {
    compare_random(bounded);
}

#[test]
fn random_programs_with_spin_loops_get_the_verdict_of_their_trace_sets() {
    compare_random(bounded_with_spin_loops);
}

#[test]
fn litmus_tests_get_the_verdict_of_their_trace_sets() {
    let tally = Tally::default();
    let (mut wrong, mut skipped) = (Vec::new(), Vec::new());
    for (name, problem) in &litmus_tests() {
        match compare(problem, 1, &tally) {
            Ok(true) => {}
            Ok(false) => skipped.push(name.clone()),
            Err(difference) => wrong.push(format!("{name}: {difference}")),
        }
    }
    println!("skipped: {skipped:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(skipped.len() < 5, "{skipped:?}");
    tally.require_both(100);
}
