//! Numbers of executions: one for each trace, and one for each interleaving.

use super::queries::{TraceSets, check_equal, check_random, check_run_counts, count_runs};
use fencepost_conformance::traces::{sc_interleavings, sc_traces};
use fencepost_engines::stateless::Schedules;
use fencepost_ir::{Op, Problem, Thread};
use fencepost_monitor::Model;
use fencepost_search::Coverage;
use fencepost_testkit::programs::{bounded, bounded_with_spin_loops};
use std::cell::Cell;

/// The number of random programs.
const PROGRAMS: u64 = 60;
/// A number of preemptions that none of these programs reaches.
const MAX_PREEMPTIONS: u32 = 100;
/// Programs with more interleavings are skipped.
const MAX_INTERLEAVINGS: u64 = 20_000;

/// Checks that there are as many executions as traces and no redundant executions, for one and two
/// search threads.
fn one_run_for_each_trace(problem: &Problem) -> Result<bool, String> {
    let Some(sc) = sc_traces(problem) else { return Ok(false) };
    let expected = (sc.complete.len() as u64, sc.stuck.len() as u64);
    let one = count_runs(problem, Schedules::Traces, None, 1);
    check_equal("coverage", one.coverage, Coverage::Exhaustive)?;
    check_run_counts(problem, (one.complete, one.stuck), expected)?;
    check_equal("redundant", one.redundant, 0)?;
    let two = count_runs(problem, Schedules::Traces, None, 2);
    check_equal("coverage on two cores", two.coverage, Coverage::Exhaustive)?;
    let runs = (one.complete, one.stuck);
    check_equal("complete and stuck on two cores", (two.complete, two.stuck), runs)?;
    Ok(true)
}

#[test]
fn random_programs_have_one_execution_per_trace() {
    check_random(bounded, PROGRAMS, one_run_for_each_trace);
}

#[test]
fn random_programs_with_spin_loops_have_one_execution_per_trace() {
    check_random(bounded_with_spin_loops, PROGRAMS, one_run_for_each_trace);
}

/// Checks that there are as many executions as interleavings.
fn one_run_for_each_interleaving(problem: &Problem) -> Result<bool, String> {
    let Some(expected) = sc_interleavings(problem) else { return Ok(false) };
    if expected > MAX_INTERLEAVINGS {
        return Ok(false);
    }
    for threads in [1, 2] {
        let found = count_runs(problem, Schedules::Preemptions(MAX_PREEMPTIONS), None, threads);
        check_equal("coverage", found.coverage, Coverage::Exhaustive)?;
        check_equal("interleavings", found.complete + found.stuck, expected)?;
    }
    Ok(true)
}

#[test]
fn random_programs_have_one_execution_per_interleaving() {
    check_random(bounded, PROGRAMS / 2, one_run_for_each_interleaving);
}

#[test]
fn random_programs_with_spin_loops_have_one_execution_per_interleaving() {
    check_random(bounded_with_spin_loops, PROGRAMS / 2, one_run_for_each_interleaving);
}

/// Returns whether an `atomic` block may be blocked. The monitor observes events only, not the
/// conditions of blocked blocks. So it may fire on a read after which the block would be blocked.
fn has_blocking_atomic(thread: &Thread) -> bool {
    let has = |op: fn(&Op) -> bool| thread.code.iter().any(|stmt| op(&stmt.op));
    has(|op| matches!(op, Op::AtomicBegin)) && has(|op| matches!(op, Op::Assume(_)))
}

#[test]
fn random_programs_are_robust_unless_the_monitor_fires() {
    let (robust, other) = (Cell::new(0), Cell::new(0));
    let total = check_random(bounded, PROGRAMS, |problem| {
        let Some(sets) = TraceSets::of(problem) else { return Ok(false) };
        let may_be_blocked = problem.program.threads.iter().any(has_blocking_atomic);
        for model in [Model::Tso, Model::Pso] {
            let expected = sets.is_robust(model);
            if expected && may_be_blocked {
                continue;
            }
            let tally = if expected { &robust } else { &other };
            tally.set(tally.get() + 1);
            for threads in [1, 2] {
                let found = count_runs(problem, Schedules::Traces, Some(model), threads);
                check_equal(&format!("robust under {model:?}"), found.borderline == 0, expected)?;
            }
        }
        Ok(true)
    });
    println!("{} robust, {} not", robust.get(), other.get());
    assert!(robust.get().min(other.get()) > total / 5, "both robust and non-robust programs occur");
}
