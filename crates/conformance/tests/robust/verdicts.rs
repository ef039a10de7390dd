//! Robust if and only if the trace sets are equal, whoever is asked.

use super::ask::{Sets, each, litmus, robust, same};
use fencepost_engines::RobustBy;
use fencepost_ir::Problem;
use fencepost_monitor::Model;
use fencepost_testkit::programs::{RandomProgram, bounded, waiting};
use std::cell::Cell;

/// Programs drawn.
const PROGRAMS: u64 = 50;

/// Who can be asked about which model.
const QUESTIONS: [(RobustBy, Model); 5] = [
    (RobustBy::Stateless, Model::Tso),
    (RobustBy::Stateless, Model::Pso),
    (RobustBy::Attack, Model::Tso),
    (RobustBy::Auto, Model::Tso),
    (RobustBy::Auto, Model::Pso),
];

/// How often each answer is right.
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

    /// Fails when one of the answers is rare.
    fn both(&self, least: u64) {
        let (robust, not) = (self.robust.get(), self.not_robust.get());
        println!("{robust} robust, {not} not");
        assert!(robust.min(not) >= least, "{robust} robust, {not} not");
    }
}

/// Asks everybody about a program; false when its traces cannot be written down.
fn agree(problem: &Problem, threads: usize, tally: &Tally) -> Result<bool, String> {
    let Some(sets) = Sets::of(problem) else { return Ok(false) };
    for (by, model) in QUESTIONS {
        let expected = sets.robust(model);
        let found = robust(by, problem, model, threads)?;
        same(&format!("robust under {model:?} by {by:?}"), found, expected)?;
        tally.count(expected);
    }
    Ok(true)
}

fn random(draw: impl Fn(u64) -> RandomProgram) {
    let tally = Tally::default();
    let turn = Cell::new(0);
    let total = each(draw, PROGRAMS, |problem| {
        turn.set(turn.get() + 1);
        agree(problem, 1 + turn.get() % 2, &tally)
    });
    tally.both(total / 5);
}

#[test]
fn random_programs() {
    random(bounded);
}

#[test]
fn random_programs_with_waits() {
    random(waiting);
}

#[test]
fn litmus_tests() {
    let tally = Tally::default();
    let (mut wrong, mut passed_over) = (Vec::new(), Vec::new());
    for (name, problem) in &litmus() {
        match agree(problem, 1, &tally) {
            Ok(true) => {}
            Ok(false) => passed_over.push(name.clone()),
            Err(difference) => wrong.push(format!("{name}: {difference}")),
        }
    }
    println!("passed over: {passed_over:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(passed_over.len() < 5, "{passed_over:?}");
    tally.both(100);
}
