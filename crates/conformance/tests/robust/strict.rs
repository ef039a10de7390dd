//! The strict definition: failed spin iterations count. The tests enumerate runs in which each loop
//! runs a few times, and search them for a cycle of happens-before.

use super::evidence::non_sc_trace;
use super::queries::{
    TraceSets, allow_hangs, check_equal, check_random, program, query_robustness,
    query_strict_robustness, spec,
};
use crate::common::{check_with, settings};
use fencepost_conformance::traces::cycle::has_cycle;
use fencepost_conformance::traces::has_non_sc_run;
use fencepost_conformance::traces::step::BufferModel;
use fencepost_engines::{Robust, RobustDefinition, RobustMethod};
use fencepost_ir::Problem;
use fencepost_monitor::Model;
use fencepost_search::Limits;
use fencepost_testkit::programs::{bounded, bounded_with_spin_loops};
use std::cell::Cell;

/// The number of random programs.
const PROGRAMS: u64 = 50;
/// How often each thread of a random program jumps back. One failed spin iteration of each loop
/// suffices for a cycle, and a thread has at most three loops.
const MAX_BACK_JUMPS: usize = 3;

/// Checks whether a program is robust under TSO by the strict definition and by the default one.
#[track_caller]
fn check(threads: &[&str], strict: bool, default: bool) {
    let problem = &program(threads);
    let cycle = has_non_sc_run(problem, BufferModel::Tso, MAX_BACK_JUMPS);
    assert_eq!(cycle, Some(!strict), "by definition: {threads:?}");
    for method in [RobustMethod::Attack, RobustMethod::Auto] {
        let found = query_strict_robustness(method, problem, Model::Tso, 1);
        assert_eq!(found, Ok(strict), "strict, {method:?}: {threads:?}");
        let found = query_robustness(method, problem, Model::Tso, 1);
        assert_eq!(found, Ok(default), "default, {method:?}: {threads:?}");
    }
}

#[test]
fn a_failed_spin_iteration_may_overtake_a_store() {
    let fence = "fence store_load;";
    check(&["x = 1; while (y == 0) { }", "y = 1; r0 = x;"], false, true);
    check(&[&format!("x = 1; {fence} while (y == 0) {{ }}"), "y = 1; r0 = x;"], false, true);
    let fenced =
        [format!("x = 1; {fence} while (y == 0) {{ }}"), format!("y = 1; {fence} r0 = x;")];
    check(&[&fenced[0], &fenced[1]], true, true);
    check(&["x = 1; while (y == 0) { }", "y = 1; while (x == 0) { }"], false, true);
}

#[test]
fn a_failed_cas_waits_for_the_store_buffer() {
    check(&["x = 1; while (!cas(y, 1, 0)) { }", "y = 1; fence; r0 = x;"], true, true);
    let locked = "while (!cas(z, 0, 1)) { } r0 = x; x = r0 + 1; z = 0;";
    check(&[locked, locked], true, true);
}

#[test]
fn either_read_of_a_spin_loop_may_overtake_a_store() {
    let wait = "x = 1; do { r0 = y; r1 = z; } while (r0 == 0 && r1 == 0);";
    check(&[wait, "z = 1; fence; r0 = x;"], false, true);
    // The first read counts by both definitions, because the iteration need not finish.
    check(&[wait, "y = 1; fence; r0 = x;"], false, false);
    check(&[wait, "y = 1; z = 1;"], true, true);
}

#[test]
fn a_thread_that_backs_off_needs_a_fence() {
    // The core of Dekker's algorithm: reset the flag, then wait for the turn.
    let backs_off = "x = 0; do { r0 = y; } while (r0 == 0); x = 1;";
    check(&[backs_off, "y = 1; fence; r0 = x;"], false, true);
    let fenced = "x = 0; fence; do { r0 = y; } while (r0 == 0); x = 1;";
    check(&[fenced, "y = 1; fence; r0 = x;"], true, true);
}

#[test]
fn a_trace_is_an_sc_trace_if_and_only_if_it_has_no_cycle() {
    let compared = Cell::new(0);
    check_random(bounded, PROGRAMS, |problem| {
        let Some(sets) = TraceSets::of(problem) else { return Ok(false) };
        for (traces, name) in [(&sets.tso, "TSO"), (&sets.pso, "PSO")] {
            for trace in traces.complete.iter().chain(&traces.stuck) {
                check_equal(name, has_cycle(trace), !sets.sc.contains(trace))?;
                compared.set(compared.get() + 1);
            }
        }
        Ok(true)
    });
    assert!(compared.get() > 100, "{} traces", compared.get());
}

#[test]
fn random_programs_with_spin_loops_get_the_strict_verdict_of_their_runs() {
    let (robust, not_robust, differ) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let total = check_random(bounded_with_spin_loops, PROGRAMS, |problem| {
        let Some(cycle) = has_non_sc_run(problem, BufferModel::Tso, MAX_BACK_JUMPS) else {
            return Ok(false);
        };
        for method in [RobustMethod::Attack, RobustMethod::Auto] {
            let found = query_strict_robustness(method, problem, Model::Tso, 1)?;
            check_equal(&format!("robust by {method:?}"), found, !cycle)?;
        }
        let default = query_robustness(RobustMethod::Attack, problem, Model::Tso, 1)?;
        if !cycle && !default {
            return Err("robust by the strict definition only".into());
        }
        let count = if cycle { &not_robust } else { &robust };
        count.set(count.get() + 1);
        differ.set(differ.get() + u64::from(cycle && default));
        Ok(true)
    });
    let (robust, not_robust, differ) = (robust.get(), not_robust.get(), differ.get());
    println!("{robust} robust, {not_robust} not, {differ} only by the default definition");
    assert!(robust.min(not_robust) >= total / 10, "{robust} robust, {not_robust} not");
    assert!(differ > 0, "the definitions differ for some program");
}

/// Explores executions of at most this many events. Then an exploration of all of them ends, but
/// proves nothing about loops.
fn is_refuted(problem: &Problem, model: Model) -> Result<bool, String> {
    let problem = &allow_hangs(problem);
    let engine = Robust { method: RobustMethod::Stateless, definition: RobustDefinition::Strict };
    let mut settings = settings(1);
    settings.limits = Limits { depth: 10, states: 20_000, ..settings.limits };
    let verdict = check_with(&engine, problem, &spec(model), settings).verdict;
    if let Some(trace) = non_sc_trace(problem, model, &verdict)? {
        check_equal("the evidence has a cycle", has_cycle(&trace), true)?;
        return Ok(true);
    }
    if verdict.is_verified() {
        let of = match model {
            Model::Tso => BufferModel::Tso,
            Model::Pso => BufferModel::Pso,
        };
        check_equal("verified", has_non_sc_run(problem, of, MAX_BACK_JUMPS), Some(false))?;
    }
    Ok(false)
}

#[test]
fn random_programs_with_spin_loops_are_refuted_by_strict_executions_with_a_cycle() {
    let refuted = Cell::new(0);
    check_random(bounded_with_spin_loops, PROGRAMS, |problem| {
        for model in [Model::Tso, Model::Pso] {
            refuted.set(refuted.get() + u64::from(is_refuted(problem, model)?));
        }
        Ok(true)
    });
    println!("{} refuted", refuted.get());
    assert!(refuted.get() > PROGRAMS / 5, "{} refuted", refuted.get());
}
