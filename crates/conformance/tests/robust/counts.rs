//! One run for each trace, and all interleavings, counted.

use super::ask::{Sets, count, each, runs_for_traces, same};
use fencepost_conformance::traces::{sc_interleavings, sc_traces};
use fencepost_engines::stateless::Schedules;
use fencepost_ir::{Op, Problem, Thread};
use fencepost_monitor::Model;
use fencepost_search::Coverage;
use fencepost_testkit::programs::{bounded, waiting};
use std::cell::Cell;

/// Programs drawn.
const PROGRAMS: u64 = 60;
/// More preemptions than any of these programs has room for.
const MANY: u32 = 100;
/// Programs with more interleavings are passed over.
const INTERLEAVINGS: u64 = 20_000;

/// As many runs as traces, none of them in vain, however many cores look.
fn one_run_for_each_trace(problem: &Problem) -> Result<bool, String> {
    let Some(sc) = sc_traces(problem) else { return Ok(false) };
    let expected = (sc.complete.len() as u64, sc.stuck.len() as u64);
    let one = count(problem, Schedules::Traces, None, 1);
    same("coverage", one.coverage, Coverage::Exhaustive)?;
    runs_for_traces(problem, (one.complete, one.stuck), expected)?;
    same("redundant", one.redundant, 0)?;
    let two = count(problem, Schedules::Traces, None, 2);
    same("coverage on two cores", two.coverage, Coverage::Exhaustive)?;
    let runs = (one.complete, one.stuck);
    same("complete and stuck on two cores", (two.complete, two.stuck), runs)?;
    Ok(true)
}

#[test]
fn random_traces() {
    each(bounded, PROGRAMS, one_run_for_each_trace);
}

#[test]
fn random_traces_with_waits() {
    each(waiting, PROGRAMS, one_run_for_each_trace);
}

/// As many runs as interleavings.
fn all_runs(problem: &Problem) -> Result<bool, String> {
    let Some(expected) = sc_interleavings(problem) else { return Ok(false) };
    if expected > INTERLEAVINGS {
        return Ok(false);
    }
    for threads in [1, 2] {
        let found = count(problem, Schedules::Preemptions(MANY), None, threads);
        same("coverage", found.coverage, Coverage::Exhaustive)?;
        same("interleavings", found.complete + found.stuck, expected)?;
    }
    Ok(true)
}

#[test]
fn random_interleavings() {
    each(bounded, PROGRAMS / 2, all_runs);
}

#[test]
fn random_interleavings_with_waits() {
    each(waiting, PROGRAMS / 2, all_runs);
}

/// Whether an `atomic` block may have to wait for others. The monitor is told what happened, not
/// what a block would have waited for, and may fire on a read that the block would not have gone on from.
fn has_waiting_block(thread: &Thread) -> bool {
    let has = |op: fn(&Op) -> bool| thread.code.iter().any(|stmt| op(&stmt.op));
    has(|op| matches!(op, Op::AtomicBegin)) && has(|op| matches!(op, Op::Assume(_)))
}

#[test]
fn random_programs_are_robust_unless_the_monitor_fires() {
    let (robust, other) = (Cell::new(0), Cell::new(0));
    let total = each(bounded, PROGRAMS, |problem| {
        let Some(sets) = Sets::of(problem) else { return Ok(false) };
        let cautious = problem.program.threads.iter().any(has_waiting_block);
        for model in [Model::Tso, Model::Pso] {
            let expected = sets.robust(model);
            if expected && cautious {
                continue;
            }
            let tally = if expected { &robust } else { &other };
            tally.set(tally.get() + 1);
            for threads in [1, 2] {
                let found = count(problem, Schedules::Traces, Some(model), threads);
                same(&format!("robust under {model:?}"), found.borderline == 0, expected)?;
            }
        }
        Ok(true)
    });
    println!("{} robust, {} not", robust.get(), other.get());
    assert!(robust.get().min(other.get()) > total / 5, "both happen");
}
