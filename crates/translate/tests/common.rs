//! Shared code for tests of exports: corpus programs, the explicit engine under SC, and the replay
//! of runs of a derived program on its original.

use fencepost_engines::{Answer, Budget, Engine, Explicit, Settings, Task};
use fencepost_ir::{Op, Pc, Problem, Property, ThreadId, Violation};
use fencepost_models::buffered::Buffered;
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::{Action, Step, StepResult};
use fencepost_models::replay::{Trace, replay};
use fencepost_models::sc::Sc;
use fencepost_models::state::State;
use fencepost_models::{Machine, ModelSpec, Reductions};
use fencepost_search::{Cancel, Limits, Progress};
use fencepost_testkit::problem;

/// Returns every program of the corpus that can be exported, with its name and source. A file with
/// clients gives its first client, without the property about operations. Programs with `finally` or
/// with wide integers cannot be exported.
pub(crate) fn corpus(folders: &[&str]) -> Vec<(String, String, Problem)> {
    let mut all = Vec::new();
    for folder in folders {
        for (stem, source) in fencepost_testkit::corpus::sources(folder) {
            let mut problem = problem(&source);
            problem.properties.retain(|p| !matches!(p, Property::Operations(_)));
            let program = &problem.program;
            if program.last_thread().is_none() && !program.uses_wide_integers() {
                all.push((format!("{folder}/{stem}"), source, problem));
            }
        }
    }
    all
}

/// Checks a program under SC with the explicit engine.
pub(crate) fn check(problem: &Problem, states: u64) -> Answer {
    run_engine(problem, states, |task, settings, budget| Explicit.run(task, settings, budget))
}

/// Computes all outcomes of a program under SC with the explicit engine.
pub(crate) fn outcomes(problem: &Problem, states: u64) -> Answer {
    outcomes_of(&Explicit, problem, states)
}

/// Computes all outcomes of a program under SC with an engine.
pub(crate) fn outcomes_of(engine: &dyn Engine, problem: &Problem, states: u64) -> Answer {
    run_engine(problem, states, |task, settings, budget| engine.outcomes(task, settings, budget))
}

fn run_engine(
    problem: &Problem,
    states: u64,
    how: impl Fn(Task<'_>, Settings, Budget<'_>) -> Answer,
) -> Answer {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let model = ModelSpec::by_name("sc").expect("a built-in model");
    let limits = Limits { states, ..Limits::default() };
    how(Task { problem, model: &model }, Settings { limits, ..Settings::default() }, budget)
}

/// Returns the machine of a program under SC, with fused local statements and no other reduction.
pub(crate) fn machine(problem: &Problem) -> Machine<'_, Buffered<Sc>> {
    let reductions = Reductions { fuse: true, ..Reductions::NONE };
    Machine::new(problem, Buffered(Sc), reductions)
}

/// A step to replay: thread, statement, choices.
pub(crate) type ScriptedStep = (ThreadId, Pc, Vec<u32>);

/// Returns the steps of a trace, with the statements at which they begin.
pub(crate) fn scripted_steps(problem: &Problem, trace: &Trace) -> Vec<ScriptedStep> {
    let machine = machine(problem);
    let mut state = machine.blank();
    let mut choices = Choices::scripted(&trace.init);
    let mut all = Vec::new();
    if machine.start(&mut state, &mut choices, &mut ()) != Ok(true) {
        return all;
    }
    for step in &trace.steps {
        let Action::Run(script) = &step.action else { panic!("SC has no internal steps") };
        all.push((step.thread, state.pcs[step.thread.index()], script.clone()));
        if machine.take_step(&mut state, step, &mut ()) != Ok(StepResult::Taken) {
            break;
        }
    }
    all
}

/// Replays steps on the program and returns the violation at the end, if any. Before each step, its
/// thread takes steps without effect until it reaches the statement. If there is no violation at
/// the end, all threads take such steps, too.
pub(crate) fn replay_steps(
    problem: &Problem,
    init: Vec<u32>,
    scripted_steps: &[ScriptedStep],
) -> Result<Option<Violation>, String> {
    let machine = machine(problem);
    let mut state = machine.blank();
    let mut choices = Choices::scripted(&init);
    let mut trace = Trace { init, ..Trace::default() };
    if machine.start(&mut state, &mut choices, &mut ()) != Ok(true) {
        return replayed_violation(&machine, &trace);
    }
    let has_no_effect = |state: &State<_>, t: ThreadId| {
        let op = &problem.program.thread(t).stmt(state.pcs[t.index()]).op;
        matches!(op, Op::Fence(_) | Op::Drain(_) | Op::Leave | Op::Invoke { .. } | Op::Load { .. })
    };
    for (thread, pc, script) in scripted_steps {
        let mut is_pending = true;
        while is_pending {
            let here = state.pcs[thread.index()];
            let is_at_step = here == *pc;
            if !is_at_step && !has_no_effect(&state, *thread) {
                return Err(format!("{thread} is at {here}, not at {pc}"));
            }
            let script = if is_at_step { script.clone() } else { Vec::new() };
            let step = Step { thread: *thread, action: Action::Run(script) };
            let taken = machine.take_step(&mut state, &step, &mut ());
            trace.steps.push(step);
            match taken {
                Ok(StepResult::Taken) => is_pending = !is_at_step,
                Ok(_) => return Err(format!("{thread} is blocked at {here}")),
                Err(_) => return replayed_violation(&machine, &trace),
            }
        }
    }
    let end = replayed_violation(&machine, &trace)?;
    if end.is_some() {
        return Ok(end);
    }
    for t in problem.program.thread_ids() {
        while has_no_effect(&state, t) {
            let step = Step { thread: t, action: Action::Run(Vec::new()) };
            let taken = machine.take_step(&mut state, &step, &mut ());
            trace.steps.push(step);
            if taken != Ok(StepResult::Taken) {
                return replayed_violation(&machine, &trace);
            }
        }
    }
    replayed_violation(&machine, &trace)
}

fn replayed_violation(
    machine: &Machine<'_, Buffered<Sc>>,
    trace: &Trace,
) -> Result<Option<Violation>, String> {
    let run = replay(machine, trace).map_err(|d| format!("step {:?}: {}", d.step, d.reason))?;
    Ok(run.violation)
}
