//! The evidence that a program is not robust is a run of the weaker machine, and its trace is not
//! an SC trace.

use super::queries::{TraceSets, allow_hangs, check_random, litmus_tests, spec};
use crate::common::{check, check_with, settings};
use fencepost_conformance::traces::{self, Recorder, sc_prefixes};
use fencepost_engines::{Robust, RobustMethod, Verdict};
use fencepost_ir::{Op, Problem};
use fencepost_models::event::{Event, EventKind};
use fencepost_models::replay::{ReplayedRun, Trace, replay};
use fencepost_models::{Machine, MemoryModel, Reductions, Visitor};
use fencepost_monitor::Model;
use fencepost_testkit::programs::{RandomProgram, bounded, bounded_with_spin_loops};
use std::cell::Cell;

/// The number of random programs.
const PROGRAMS: u64 = 50;

struct Replay<'a> {
    problem: &'a Problem,
    trace: &'a Trace,
}

impl Visitor for Replay<'_> {
    type Output = Result<ReplayedRun, String>;

    fn visit<M: MemoryModel>(self, model: M) -> Self::Output {
        let machine = Machine::new(self.problem, model, Reductions::ALL);
        replay(&machine, self.trace).map_err(|divergence| divergence.reason)
    }
}

/// Returns the trace of a replayed run. Stores that are pending at its end are committed.
fn trace_of(problem: &Problem, run: &ReplayedRun) -> traces::Trace {
    let mut recorder = Recorder::new(run.first.memory.clone(), problem.program.threads.len());
    let later = run.steps.iter().flat_map(|step| &step.events);
    for annotated in run.first.events.iter().chain(later) {
        record(problem, &annotated.event, &mut recorder);
    }
    recorder.commit_all();
    recorder.trace().clone()
}

fn record(problem: &Problem, event: &Event, recorder: &mut Recorder) {
    let t = event.thread.index();
    let op = event.pc.map(|pc| &problem.program.threads[t].stmt(pc).op);
    match event.kind {
        EventKind::Load { loc, .. } => recorder.load(t, loc),
        EventKind::Store { loc, .. } => recorder.store(t, loc),
        EventKind::Write { loc, .. } => recorder.write(t, loc),
        EventKind::Commit { loc, .. } => recorder.commit(t, loc),
        EventKind::Update { loc, new, .. } => recorder.update(t, loc, new.is_some()),
        EventKind::Set { value, .. } => {
            if let Some(Op::Choose { .. }) = op {
                recorder.choose(t, value);
            }
        }
        EventKind::AtomicBegin => recorder.begin_atomic(t),
        EventKind::AtomicEnd => recorder.end_atomic(),
        EventKind::Fence(_)
        | EventKind::Drain(_)
        | EventKind::Test(_)
        | EventKind::Guess(_)
        | EventKind::Leave
        | EventKind::SectionBegin
        | EventKind::SectionEnd
        | EventKind::GracePeriod { .. }
        | EventKind::Skip => {}
        EventKind::Fetch { .. }
        | EventKind::CommitAndKeep { .. }
        | EventKind::Confirm
        | EventKind::Repeat { .. }
        | EventKind::New(_)
        | EventKind::Free(_)
        | EventKind::Defer => {
            unreachable!("these programs have no windows, no records and no abstraction")
        }
    }
}

#[test]
fn the_trace_of_a_witness_is_a_trace_of_its_model() {
    let (mut found, mut not_sc) = (0, 0);
    for (name, problem) in &litmus_tests() {
        let Some(sets) = TraceSets::of(problem) else { continue };
        for (model, set) in [(Model::Tso, &sets.tso), (Model::Pso, &sets.pso)] {
            let verdict = check(problem, &spec(model), settings(1)).verdict;
            let witness = match &verdict {
                Verdict::Verified(verified) => verified.witness(),
                Verdict::Violated(_) | Verdict::Inconclusive(_) => None,
            };
            let Some(trace) = witness.map(|witness| &witness.run().trace) else {
                continue;
            };
            let run = spec(model).visit(trace.replay_bound(), Replay { problem, trace });
            let run = run.expect("the trace replays");
            assert!(run.is_final, "{name}: a witness ends in a final state");
            let trace = trace_of(problem, &run);
            assert!(set.complete.contains(&trace), "{name} under {model:?}: {trace:#?}");
            found += 1;
            not_sc += usize::from(!sets.sc.complete.contains(&trace));
        }
    }
    println!("{found} witnesses, {not_sc} of them not SC");
    assert!(found > 50 && not_sc > 30, "{found} witnesses, {not_sc} of them not SC");
}

/// Replays the evidence of a verdict, if it has one, and returns its trace.
pub(crate) fn non_sc_trace(
    problem: &Problem,
    model: Model,
    verdict: &Verdict,
) -> Result<Option<traces::Trace>, String> {
    let Some(evidence) = verdict.evidence() else { return Ok(None) };
    let trace = evidence.trace().ok_or("the evidence has no trace")?;
    let run = spec(model).visit(trace.replay_bound(), Replay { problem, trace });
    let run = run.map_err(|reason| format!("the trace does not replay: {reason}"))?;
    match run.violation {
        Some(violation) => Err(format!("the run ends with {violation:?}")),
        None => Ok(Some(trace_of(problem, &run))),
    }
}

/// Checks the evidence of an engine for a program under one model.
fn check_evidence(
    problem: &Problem,
    method: RobustMethod,
    model: Model,
    checked: &Cell<u64>,
) -> Result<(), String> {
    let problem = &allow_hangs(problem);
    let verdict = check_with(&Robust::by(method), problem, &spec(model), settings(1)).verdict;
    let case = format!("{method:?} under {model:?}");
    let trace = non_sc_trace(problem, model, &verdict).map_err(|why| format!("{case}: {why}"))?;
    let Some(trace) = trace else { return Ok(()) };
    let sc = sc_prefixes(problem).ok_or("too large")?;
    if sc.contains(&trace) {
        return Err(format!("{case}: the evidence is an SC trace: {trace:#?}"));
    }
    checked.set(checked.get() + 1);
    Ok(())
}

fn check_random_evidence(draw: impl Fn(u64) -> RandomProgram) {
    let checked = Cell::new(0);
    let total = check_random(draw, PROGRAMS, |problem| {
        check_evidence(problem, RobustMethod::Stateless, Model::Tso, &checked)?;
        check_evidence(problem, RobustMethod::Stateless, Model::Pso, &checked)?;
        check_evidence(problem, RobustMethod::Attack, Model::Tso, &checked)?;
        Ok(true)
    });
    println!("{} runs checked", checked.get());
    assert!(checked.get() > total / 4, "some programs are not robust: {}", checked.get());
}

#[test]
fn random_programs_get_non_sc_runs_as_evidence() {
    check_random_evidence(bounded);
}

#[test]
fn random_programs_with_spin_loops_get_non_sc_runs_as_evidence() {
    check_random_evidence(bounded_with_spin_loops);
}
