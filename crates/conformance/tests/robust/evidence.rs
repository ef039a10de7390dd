//! A run that shows that a program is not robust: it is one of the weaker machine, step by step, and its trace
//! is not one of SC.

use super::ask::{Sets, each, litmus, spec};
use crate::common::{check, check_with, settings};
use fencepost_conformance::traces::{self, Recorder, sc_prefixes};
use fencepost_engines::{Robust, RobustBy, Verdict};
use fencepost_ir::{Op, Problem};
use fencepost_models::event::{Event, EventKind};
use fencepost_models::replay::{Run, Trace, replay};
use fencepost_models::{Machine, MemoryModel, Reductions, Visitor};
use fencepost_monitor::Model;
use fencepost_testkit::programs::{RandomProgram, bounded, waiting};
use std::cell::Cell;

/// Programs drawn.
const PROGRAMS: u64 = 50;

struct Replay<'a> {
    problem: &'a Problem,
    trace: &'a Trace,
}

impl Visitor for Replay<'_> {
    type Output = Result<Run, String>;

    fn visit<M: MemoryModel>(self, model: M) -> Self::Output {
        let machine = Machine::new(self.problem, model, Reductions::ALL);
        replay(&machine, self.trace).map_err(|divergence| divergence.reason)
    }
}

/// The trace of a run that was told. Stores that are pending at its end take effect then.
fn trace_of(problem: &Problem, run: &Run) -> traces::Trace {
    let mut recorder = Recorder::new(run.first.memory.clone(), problem.program.threads.len());
    let later = run.moments.iter().flat_map(|moment| &moment.events);
    for told in run.first.events.iter().chain(later) {
        record(problem, &told.event, &mut recorder);
    }
    recorder.settle();
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
        EventKind::AtomicBegin => recorder.begin(t),
        EventKind::AtomicEnd => recorder.end(),
        EventKind::Fence(_)
        | EventKind::Drain(_)
        | EventKind::Test(_)
        | EventKind::Leave
        | EventKind::Skip => {}
        EventKind::Fetch { .. }
        | EventKind::Stay { .. }
        | EventKind::New(_)
        | EventKind::Free(_)
        | EventKind::Defer => unreachable!("neither windows nor records nor abstractions"),
    }
}

#[test]
fn witnesses_have_traces_of_their_model() {
    let (mut found, mut not_sc) = (0, 0);
    for (name, problem) in &litmus() {
        let Some(sets) = Sets::of(problem) else { continue };
        for (model, set) in [(Model::Tso, &sets.tso), (Model::Pso, &sets.pso)] {
            let verdict = check(problem, &spec(model), settings(1)).verdict;
            let witness = match &verdict {
                Verdict::Verified(verified) => verified.witness(),
                Verdict::Violated(_) | Verdict::Inconclusive(_) => None,
            };
            let Some(trace) = witness.map(|witness| &witness.run().trace) else {
                continue;
            };
            let run = spec(model).visit(trace.room(), Replay { problem, trace });
            let run = run.expect("a trace replays");
            assert!(run.is_final, "{name}: a witness is a final state");
            let trace = trace_of(problem, &run);
            assert!(set.complete.contains(&trace), "{name} under {model:?}: {trace:#?}");
            found += 1;
            not_sc += usize::from(!sets.sc.complete.contains(&trace));
        }
    }
    println!("{found} witnesses, {not_sc} of them not SC");
    assert!(found > 50 && not_sc > 30, "{found} witnesses, {not_sc} of them not SC");
}

/// Looks at what is shown for a program, under one model.
fn examine(problem: &Problem, by: RobustBy, model: Model, shown: &Cell<u64>) -> Result<(), String> {
    let spec = spec(model);
    let verdict = check_with(&Robust { by }, problem, &spec, settings(1)).verdict;
    let Some(evidence) = verdict.evidence() else { return Ok(()) };
    let trace = evidence.trace().ok_or("nothing is shown")?;
    let who = format!("{by:?} under {model:?}");
    let run = spec.visit(trace.room(), Replay { problem, trace });
    let run = run.map_err(|reason| format!("{who}: the trace does not replay: {reason}"))?;
    if let Some(violation) = run.violation {
        return Err(format!("{who}: the run ends with {violation:?}"));
    }
    let sc = sc_prefixes(problem).ok_or("too large")?;
    let trace = trace_of(problem, &run);
    if sc.contains(&trace) {
        return Err(format!("{who}: what is shown is a trace of SC: {trace:#?}"));
    }
    shown.set(shown.get() + 1);
    Ok(())
}

fn random(draw: impl Fn(u64) -> RandomProgram) {
    let shown = Cell::new(0);
    let total = each(draw, PROGRAMS, |problem| {
        examine(problem, RobustBy::Stateless, Model::Tso, &shown)?;
        examine(problem, RobustBy::Stateless, Model::Pso, &shown)?;
        examine(problem, RobustBy::Attack, Model::Tso, &shown)?;
        Ok(true)
    });
    println!("{} runs shown", shown.get());
    assert!(shown.get() > total / 4, "some are not robust: {}", shown.get());
}

#[test]
fn random_programs() {
    random(bounded);
}

#[test]
fn random_programs_with_waits() {
    random(waiting);
}
