//! What the tests of exports share: programs, the explicit engine under SC, and following a run of what was
//! made in what it was made from.

use fencepost_engines::{Answer, Budget, Engine, Explicit, Settings, Task};
use fencepost_ir::{Op, Pc, Problem, Property, ThreadId, Violation};
use fencepost_models::buffered::Buffered;
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::{Action, Step, Taken};
use fencepost_models::replay::{Trace, replay};
use fencepost_models::sc::Sc;
use fencepost_models::state::State;
use fencepost_models::{Machine, ModelSpec, Reductions};
use fencepost_search::{Cancel, Limits, Progress};
use fencepost_testkit::problem;

/// Every program of the corpus with its name and its source; of a file with clients, the first one, without the
/// property that is about operations.
pub(crate) fn corpus(folders: &[&str]) -> Vec<(String, String, Problem)> {
    let mut all = Vec::new();
    for folder in folders {
        for (stem, source) in fencepost_testkit::corpus::sources(folder) {
            let mut problem = problem(&source);
            problem.properties.retain(|p| !matches!(p, Property::Operations(_)));
            all.push((format!("{folder}/{stem}"), source, problem));
        }
    }
    all
}

/// Asks the explicit engine about a program under SC.
pub(crate) fn check(problem: &Problem, states: u64) -> Answer {
    ask(problem, states, |engine, task, settings, budget| engine.run(task, settings, budget))
}

/// Asks it for every outcome.
pub(crate) fn outcomes(problem: &Problem, states: u64) -> Answer {
    ask(problem, states, |engine, task, settings, budget| engine.outcomes(task, settings, budget))
}

fn ask(
    problem: &Problem,
    states: u64,
    how: impl Fn(Explicit, Task<'_>, Settings, Budget<'_>) -> Answer,
) -> Answer {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let model = ModelSpec::by_name("sc").expect("a built-in model");
    let limits = Limits { states, ..Limits::default() };
    how(
        Explicit,
        Task { problem, model: &model },
        Settings { limits, ..Settings::default() },
        budget,
    )
}

/// The program under SC, with local statements fused and nothing else.
pub(crate) fn machine(problem: &Problem) -> Machine<'_, Buffered<Sc>> {
    let reductions = Reductions { fuse: true, ..Reductions::NONE };
    Machine::new(problem, Buffered(Sc), reductions)
}

/// A step to follow: whose, at which statement, with which choices.
pub(crate) type Move = (ThreadId, Pc, Vec<u32>);

/// The steps of a trace with the statements they begin at.
pub(crate) fn moves(problem: &Problem, trace: &Trace) -> Vec<Move> {
    let machine = machine(problem);
    let mut state = machine.blank();
    let mut choices = Choices::scripted(&trace.init);
    let mut all = Vec::new();
    if machine.start(&mut state, &mut choices, &mut ()) != Ok(true) {
        return all;
    }
    for step in &trace.steps {
        let Action::Run(script) = &step.action else { panic!("nothing is internal under SC") };
        all.push((step.thread, state.pcs[step.thread.index()], script.clone()));
        if machine.take(&mut state, step, &mut ()) != Ok(Taken::Yes) {
            break;
        }
    }
    all
}

/// A trace of the program that makes these moves: each thread first takes steps that change nothing until it
/// is where the move begins. When nothing is wrong in the end, all threads take such steps, too. How it ends.
pub(crate) fn follow(
    problem: &Problem,
    init: Vec<u32>,
    moves: &[Move],
) -> Result<Option<Violation>, String> {
    let machine = machine(problem);
    let mut state = machine.blank();
    let mut choices = Choices::scripted(&init);
    let mut trace = Trace { init, ..Trace::default() };
    if machine.start(&mut state, &mut choices, &mut ()) != Ok(true) {
        return tell(&machine, &trace);
    }
    let idles = |state: &State<_>, t: ThreadId| {
        let op = &problem.program.thread(t).stmt(state.pcs[t.index()]).op;
        matches!(op, Op::Fence(_) | Op::Drain(_) | Op::Leave | Op::Invoke { .. } | Op::Load { .. })
    };
    for (thread, pc, script) in moves {
        let mut go_on = true;
        while go_on {
            let here = state.pcs[thread.index()];
            let there = here == *pc;
            if !there && !idles(&state, *thread) {
                return Err(format!("{thread} is at {here}, not at {pc}"));
            }
            let script = if there { script.clone() } else { Vec::new() };
            let step = Step { thread: *thread, action: Action::Run(script) };
            let taken = machine.take(&mut state, &step, &mut ());
            trace.steps.push(step);
            match taken {
                Ok(Taken::Yes) => go_on = !there,
                Ok(_) => return Err(format!("{thread} cannot go on at {here}")),
                Err(_) => return tell(&machine, &trace),
            }
        }
    }
    let end = tell(&machine, &trace)?;
    if end.is_some() {
        return Ok(end);
    }
    for t in problem.program.thread_ids() {
        while idles(&state, t) {
            let step = Step { thread: t, action: Action::Run(Vec::new()) };
            let taken = machine.take(&mut state, &step, &mut ());
            trace.steps.push(step);
            if taken != Ok(Taken::Yes) {
                return tell(&machine, &trace);
            }
        }
    }
    tell(&machine, &trace)
}

fn tell(machine: &Machine<'_, Buffered<Sc>>, trace: &Trace) -> Result<Option<Violation>, String> {
    let run = replay(machine, trace).map_err(|d| format!("step {:?}: {}", d.step, d.reason))?;
    Ok(run.violation)
}
