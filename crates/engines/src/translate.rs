//! The translation engine: a program under TSO or PSO is simulated by one under SC, and that is searched.
//!
//! Source: \[Zac\]. Direction: under-approximation: every run that is found is one of the model, but only runs
//! within the bound are looked at, so that nothing is ever verified. A violation is mapped back to a run
//! of the original and followed there step by step.

use crate::concretise::{Departure, Move, follow};
use crate::engine::{Answer, Budget, Decider, Engine, Settings, Task};
use crate::evidence::{Evidence, Witness};
use crate::explicit::Explicit;
use crate::robust::undecided;
use crate::sc::{ScMachine, ScState, sc_machine};
use crate::verdict::{self, Findings, InconclusiveReason, Unsupported, Verdict, judge};
use fencepost_ir::{Loc, MemoryOp, Observable, Op, Pc, Problem, ThreadId, Value};
use fencepost_models::address::locate;
use fencepost_models::catalog::Kind;
use fencepost_models::machine::choice::Choices;
use fencepost_models::replay::Trace;
use fencepost_models::{Action, Event, EventKind, ModelSpec, Reductions, Step, Taken};
use fencepost_translate::contexts::{Bound, contexts};
use fencepost_translate::{Origin, Translation};

/// The translation engine.
#[derive(Clone, Copy, Debug)]
pub struct Translate {
    /// Which runs are looked at.
    pub bound: Bound,
}

impl Engine for Translate {
    fn name(&self) -> &'static str {
        "translate"
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        self.search(task, settings, budget, Explicit::run)
    }

    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        self.search(task, settings, budget, Explicit::outcomes)
    }
}

impl Translate {
    fn search(
        &self,
        task: Task<'_>,
        settings: Settings,
        budget: Budget<'_>,
        search: fn(&Explicit, Task<'_>, Settings, Budget<'_>) -> Answer,
    ) -> Answer {
        if task.model.kind == Kind::Sc {
            return search(&Explicit, task, settings, budget);
        }
        let Some(model) = task.model.store_buffers() else {
            return undecided(Unsupported::Model, Decider::Translation);
        };
        let translation = match contexts(task.problem, model, self.bound) {
            Ok(translation) => translation,
            Err(refused) => {
                let reason = Unsupported::Translation(refused.to_string());
                return undecided(reason, Decider::Translation);
            }
        };
        let sc = ModelSpec::SC;
        let simulation = Task { problem: &translation.problem, model: &sc };
        let mut answer = search(&Explicit, simulation, settings, budget);
        answer.verdict = self.concluded(task, settings, &translation, answer.verdict);
        let back = |evidence: &Evidence| lifted(task, settings, &translation, evidence);
        answer.others = answer.others.iter().filter_map(back).collect();
        answer.outcomes_complete = false;
        answer.by = Decider::Translation;
        let known = |what: Observable| match what {
            Observable::Loc(loc) => loc.index() < task.problem.program.locations.len(),
            Observable::Reg(t, reg) => {
                let threads = &task.problem.program.threads;
                threads.get(t.index()).is_some_and(|t| reg.index() < t.registers.len())
            }
        };
        answer.growing = answer.growing.filter(|growing| known(growing.what));
        answer
    }

    /// What a verdict about the simulation says about the original.
    fn concluded(
        &self,
        task: Task<'_>,
        settings: Settings,
        translation: &Translation,
        verdict: Verdict,
    ) -> Verdict {
        let within = |witness_missing| {
            let bound = verdict::Bound::Contexts(self.bound);
            InconclusiveReason::Bound { bound, witness_missing }
        };
        match &verdict {
            // A witness is one, but other properties were looked at within the bound only.
            Verdict::Verified(_) => verdict.weakened(within(false)),
            Verdict::Violated(violated) if violated.evidence().run().is_none() => {
                verdict.weakened(within(true))
            }
            Verdict::Violated(violated) => {
                let lifted = lifted(task, settings, translation, violated.evidence());
                let lifted = lifted.expect("a run of the simulation is one of the original");
                judge(Findings::violation(lifted))
            }
            Verdict::Inconclusive(_) => verdict,
        }
    }
}

fn lifted(
    task: Task<'_>,
    settings: Settings,
    translation: &Translation,
    evidence: &Evidence,
) -> Option<Evidence> {
    lift(task, translation, settings.reductions, evidence.trace()?).ok()
}

/// A run of a translation to a violation as one of the original. The task is about the original; the reductions
/// are those of the run.
pub fn lift(
    task: Task<'_>,
    translation: &Translation,
    reductions: Reductions,
    trace: &Trace,
) -> Result<Evidence, Departure> {
    let trace = original(task, translation, reductions, trace, None)?;
    Ok(Evidence::replay(task, reductions, &trace))
}

/// The same for a run to a witness of the condition at this position of `sometimes`.
pub fn lift_witness(
    task: Task<'_>,
    translation: &Translation,
    reductions: Reductions,
    trace: &Trace,
    condition: usize,
) -> Result<Witness, Departure> {
    let trace = original(task, translation, reductions, trace, Some(condition))?;
    Ok(Witness::replay(task, reductions, condition, &trace))
}

fn original(
    task: Task<'_>,
    translation: &Translation,
    reductions: Reductions,
    trace: &Trace,
    witness: Option<usize>,
) -> Result<Trace, Departure> {
    let moves = original_moves(task, translation, reductions, trace);
    follow(task, reductions, &trace.init, &moves, witness)
}

/// A store of the original that is pending.
struct Scheduled {
    loc: Loc,
    value: Value,
    /// In how many contexts of its thread it is committed, which may be more than there will be. None where
    /// commits are steps of their own.
    when: Option<u32>,
}

/// What a run of a translation does in the original.
fn original_moves(
    task: Task<'_>,
    translation: &Translation,
    reductions: Reductions,
    trace: &Trace,
) -> Vec<Move> {
    let machine = sc_machine(&translation.problem, reductions);
    let original = &task.problem.program;
    let mut pending: Vec<Vec<Scheduled>> = original.threads.iter().map(|_| vec![]).collect();
    let mut moves = Vec::new();
    let mut state = machine.blank();
    let mut choices = Choices::scripted(&trace.init);
    if machine.start(&mut state, &mut choices, &mut ()) != Ok(true) {
        return moves; // nothing else happens in the original either
    }
    for step in &trace.steps {
        let t = step.thread;
        let origin = translation.origins[t.index()][state.pcs[t.index()].index()];
        let before = state.clone();
        let mut events: Vec<Event> = Vec::new();
        // The last step may go wrong: then it does in the original, too, and nothing follows it.
        let wrong = machine.take(&mut state, step, &mut events).is_err();
        match origin {
            Origin::Nothing => {}
            Origin::Commit(t) => moves.extend(events.iter().find_map(|event| {
                let EventKind::Write { loc, value } = event.kind else { return None };
                let known = loc.index() < original.locations.len();
                known.then_some(Move::Commit(t, loc, value))
            })),
            Origin::Context(t) => {
                let begun = &mut pending[t.index()];
                for store in begun.iter_mut() {
                    store.when = store.when.map(|when| when - 1);
                }
                let due = begun.extract_if(.., |store| store.when == Some(0));
                moves.extend(due.map(|store| Move::Commit(t, store.loc, store.value)));
            }
            Origin::Statement(pc) => match original.thread(t).stmt(pc).op.memory() {
                Some(MemoryOp::Store { .. }) => {
                    moves.push(Move::Run(t, Vec::new()));
                    match scheduled(&machine, &before, task, (t, pc), step) {
                        _ if wrong => {}
                        Some(store) if store.when == Some(0) => {
                            moves.push(Move::Commit(t, store.loc, store.value));
                        }
                        Some(store) => pending[t.index()].push(store),
                        None => {}
                    }
                }
                None if matches!(original.thread(t).stmt(pc).op, Op::Halt) => {}
                Some(
                    MemoryOp::Load { .. }
                    | MemoryOp::Update { .. }
                    | MemoryOp::Fence(_)
                    | MemoryOp::Drain(_),
                )
                | None => moves.push(Move::Run(t, script(step).to_vec())),
            },
        }
    }
    moves
}

/// The store of the original that a step issues; none when it goes wrong.
fn scheduled(
    machine: &ScMachine<'_>,
    before: &ScState,
    task: Task<'_>,
    (t, pc): (ThreadId, Pc),
    step: &Step,
) -> Option<Scheduled> {
    let Op::Store { to, value } = &task.problem.program.thread(t).stmt(pc).op else { return None };
    let read = |reg: &_| before.register(&machine.shape, t, *reg);
    let loc = locate(&machine.shape, to, &read).ok()?;
    Some(Scheduled { loc, value: value.eval(&read).ok()?, when: script(step).first().copied() })
}

fn script(step: &Step) -> &[u32] {
    match &step.action {
        Action::Run(script) => script,
        Action::Internal(_) => unreachable!("SC has no steps of its own"),
    }
}

/// A step that another tool took: whose, from which statement on, with which choices.
pub type Reported = (ThreadId, Pc, Vec<u32>);

/// A run under SC from the steps that another tool took. The tool may leave out steps that change nothing but
/// registers that nobody reads; here they are taken before the thread's next step, and in the end if nothing is
/// wrong without them. The run ends where something goes wrong. None when the program does not have such a run.
pub fn retrace(
    problem: &Problem,
    reductions: Reductions,
    init: &[u32],
    steps: &[Reported],
) -> Option<Trace> {
    let machine = sc_machine(problem, reductions);
    let mut trace = Trace { init: init.to_vec(), ..Trace::default() };
    let mut state = machine.blank();
    let mut choices = Choices::scripted(init);
    match machine.start(&mut state, &mut choices, &mut ()) {
        Ok(true) => {}
        Ok(false) => return None,
        Err(_) => return Some(trace),
    }
    for (t, pc, script) in steps {
        let mut patience = problem.program.threads.get(t.index())?.code.len();
        while state.pcs[t.index()] != *pc {
            patience = patience.checked_sub(1)?;
            let (step, after) = idle(&machine, &state, *t)?;
            state = after;
            trace.steps.push(step);
        }
        let step = Step { thread: *t, action: Action::Run(script.clone()) };
        let taken = machine.take(&mut state, &step, &mut ());
        trace.steps.push(step);
        match taken {
            Ok(Taken::Yes) => {}
            Ok(Taken::Blocked | Taken::Bounded) => return None,
            Err(_) => return Some(trace),
        }
    }
    if machine.wrong(&state).is_none() {
        for t in problem.program.thread_ids() {
            // A loop of such steps has no end.
            for _ in 0..problem.program.thread(t).code.len() {
                let Some((step, after)) = idle(&machine, &state, t) else { break };
                state = after;
                trace.steps.push(step);
            }
        }
    }
    Some(trace)
}

/// The next step of a thread with the state after it, if it is one without a choice that leaves memory as it is.
fn idle(machine: &ScMachine<'_>, state: &ScState, t: ThreadId) -> Option<(Step, ScState)> {
    let step = Step { thread: t, action: Action::Run(Vec::new()) };
    if let Op::Choose { .. } = machine.shape.stmt(t, state.pcs[t.index()]).op {
        return None;
    }
    let mut after = state.clone();
    let taken = machine.take(&mut after, &step, &mut ());
    (taken == Ok(Taken::Yes) && after.memory == state.memory).then_some((step, after))
}
