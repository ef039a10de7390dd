//! The translation engine: searches a program under SC that simulates the program under TSO or PSO.
//!
//! Source: \[Zac\]. Direction: under-approximation. Every run found is a run of the model, but only
//! runs within the bound are explored, so no program is ever verified. A violation of the
//! simulation is translated back to a run of the original program and followed there step by step.

use crate::concretise::{InfeasibleStep, Move, take_moves};
use crate::engine::{Answer, Budget, Decider, Engine, Settings, Task};
use crate::evidence::{Evidence, Witness};
use crate::explicit::Explicit;
use crate::robust::undecided;
use crate::sc::{ScMachine, ScState, sc_machine};
use crate::verdict::{self, Findings, InconclusiveReason, Unsupported, Verdict, judge};
use fencepost_ir::{Loc, MemoryOp, Observable, Op, Pc, Problem, ThreadId, Value};
use fencepost_models::address::locate;
use fencepost_models::catalog::ModelKind;
use fencepost_models::machine::choice::Choices;
use fencepost_models::replay::Trace;
use fencepost_models::{Action, Event, EventKind, ModelSpec, Reductions, Step, StepResult};
use fencepost_translate::contexts::{Bound, contexts};
use fencepost_translate::{Origin, Translation};

/// The translation engine.
#[derive(Clone, Copy, Debug)]
pub struct Translate {
    /// The bound on the explored runs.
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
        if task.model.kind == ModelKind::Sc {
            return search(&Explicit, task, settings, budget);
        }
        if task.problem.requires_progress() {
            return undecided(Unsupported::Progress, Decider::Translation);
        }
        let Some(model) = task.model.store_buffers() else {
            return undecided(Unsupported::Model, Decider::Translation);
        };
        let translation = match contexts(task.problem, model, self.bound) {
            Ok(translation) => translation,
            Err(error) => {
                let reason = Unsupported::Translation(error.to_string());
                return undecided(reason, Decider::Translation);
            }
        };
        let sc = ModelSpec::SC;
        let simulation = Task { problem: &translation.problem, model: &sc };
        let mut answer = search(&Explicit, simulation, settings, budget);
        answer.verdict = self.lift_verdict(task, settings, &translation, answer.verdict);
        let lift_other =
            |evidence: &Evidence| lift_evidence(task, settings, &translation, evidence);
        answer.others = answer.others.iter().filter_map(lift_other).collect();
        answer.outcomes_complete = false;
        answer.decider = Decider::Translation;
        let is_in_original = |what: Observable| match what {
            Observable::Loc(loc) => loc.index() < task.problem.program.locations.len(),
            Observable::At(..) => true,
            Observable::Reg(t, reg) => {
                let threads = &task.problem.program.threads;
                threads.get(t.index()).is_some_and(|t| reg.index() < t.registers.len())
            }
        };
        answer.growing = answer.growing.filter(|growing| is_in_original(growing.what));
        answer
    }

    /// Converts a verdict on the simulation into a verdict on the original.
    fn lift_verdict(
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
            // Witnesses are real, but the other properties were checked within the bound only.
            Verdict::Verified(_) => verdict.weakened(within(false)),
            Verdict::Violated(violated) if violated.evidence().run().is_none() => {
                verdict.weakened(within(true))
            }
            Verdict::Violated(violated) => {
                let evidence = lift_evidence(task, settings, translation, violated.evidence());
                let evidence =
                    evidence.expect("a run of the simulation must be a run of the original");
                judge(Findings::violation(evidence))
            }
            Verdict::Inconclusive(_) => verdict,
        }
    }
}

fn lift_evidence(
    task: Task<'_>,
    settings: Settings,
    translation: &Translation,
    evidence: &Evidence,
) -> Option<Evidence> {
    lift(task, translation, settings.reductions, evidence.trace()?).ok()
}

/// Converts a run of a translation to a violation into a run of the original. The task is about the
/// original. The reductions are those of the translated run.
pub fn lift(
    task: Task<'_>,
    translation: &Translation,
    reductions: Reductions,
    trace: &Trace,
) -> Result<Evidence, InfeasibleStep> {
    let trace = lift_trace(task, translation, reductions, trace, None)?;
    Ok(Evidence::replay(task, reductions, &trace))
}

/// Converts a run of a translation to a witness of the condition at this position of `sometimes`
/// into a run of the original.
pub fn lift_witness(
    task: Task<'_>,
    translation: &Translation,
    reductions: Reductions,
    trace: &Trace,
    condition: usize,
) -> Result<Witness, InfeasibleStep> {
    let trace = lift_trace(task, translation, reductions, trace, Some(condition))?;
    Ok(Witness::replay(task, reductions, condition, &trace))
}

fn lift_trace(
    task: Task<'_>,
    translation: &Translation,
    reductions: Reductions,
    trace: &Trace,
    witness: Option<usize>,
) -> Result<Trace, InfeasibleStep> {
    let moves = original_moves(task, translation, reductions, trace);
    take_moves(task, reductions, &trace.init, &moves, witness)
}

/// A pending store of the original.
struct ScheduledStore {
    loc: Loc,
    value: Value,
    /// The number of further contexts of the thread after which the store is committed. May exceed
    /// the number of contexts. None if commits are steps of their own.
    contexts_left: Option<u32>,
}

/// Converts a run of a translation into moves of the original.
fn original_moves(
    task: Task<'_>,
    translation: &Translation,
    reductions: Reductions,
    trace: &Trace,
) -> Vec<Move> {
    let machine = sc_machine(&translation.problem, reductions);
    let original = &task.problem.program;
    let mut pending: Vec<Vec<ScheduledStore>> = original.threads.iter().map(|_| vec![]).collect();
    let mut moves = Vec::new();
    let mut state = machine.blank();
    let mut choices = Choices::scripted(&trace.init);
    if machine.start(&mut state, &mut choices, &mut ()) != Ok(true) {
        return moves; // `init` fails or blocks in the original, too
    }
    for step in &trace.steps {
        let t = step.thread;
        let origin = translation.origins[t.index()][state.pcs[t.index()].index()];
        let before = state.clone();
        let mut events: Vec<Event> = Vec::new();
        // The last step may fail. Then it also fails in the original, and nothing follows it.
        let has_failed = machine.take_step(&mut state, step, &mut events).is_err();
        match origin {
            Origin::Nothing => {}
            Origin::Commit(t) => moves.extend(events.iter().find_map(|event| {
                let EventKind::Write { loc, value } = event.kind else { return None };
                let is_in_original = loc.index() < original.locations.len();
                is_in_original.then_some(Move::Commit(t, loc, value))
            })),
            Origin::Context(t) => {
                let thread_pending = &mut pending[t.index()];
                for store in thread_pending.iter_mut() {
                    store.contexts_left =
                        store.contexts_left.map(|contexts_left| contexts_left - 1);
                }
                let due = thread_pending.extract_if(.., |store| store.contexts_left == Some(0));
                moves.extend(due.map(|store| Move::Commit(t, store.loc, store.value)));
            }
            Origin::Statement(pc) => match original.thread(t).stmt(pc).op.memory() {
                Some(MemoryOp::Store { .. }) => {
                    moves.push(Move::Run(t, Vec::new()));
                    match issued_store(&machine, &before, task, (t, pc), step) {
                        _ if has_failed => {}
                        Some(store) if store.contexts_left == Some(0) => {
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

/// Returns the store of the original that a step issues. None if the step fails.
fn issued_store(
    machine: &ScMachine<'_>,
    before: &ScState,
    task: Task<'_>,
    (t, pc): (ThreadId, Pc),
    step: &Step,
) -> Option<ScheduledStore> {
    let Op::Store { to, value } = &task.problem.program.thread(t).stmt(pc).op else { return None };
    let read = |reg: &_| before.register(&machine.shape, t, *reg);
    let loc = locate(&machine.shape, to, &read).ok()?;
    Some(ScheduledStore {
        loc,
        value: value.eval(&read).ok()?,
        contexts_left: script(step).first().copied(),
    })
}

fn script(step: &Step) -> &[u32] {
    match &step.action {
        Action::Run(script) => script,
        Action::Internal(_) => unreachable!("SC has no internal steps"),
    }
}

/// A step reported by another tool: the thread, the statement where it starts, the choices.
pub type ReportedStep = (ThreadId, Pc, Vec<u32>);

/// Builds a run under SC from the steps that another tool reports. The tool may omit steps that
/// change only registers that are never read. Such steps of a thread are taken before its next
/// reported step, and at the end if there is no violation without them. The run ends at the first
/// failing step. Returns None if the program does not have such a run.
pub fn trace_from_reported_steps(
    problem: &Problem,
    reductions: Reductions,
    init: &[u32],
    steps: &[ReportedStep],
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
        let mut steps_left = problem.program.threads.get(t.index())?.code.len();
        while state.pcs[t.index()] != *pc {
            steps_left = steps_left.checked_sub(1)?;
            let (step, after) = local_step(&machine, &state, *t)?;
            state = after;
            trace.steps.push(step);
        }
        let step = Step { thread: *t, action: Action::Run(script.clone()) };
        let taken = machine.take_step(&mut state, &step, &mut ());
        trace.steps.push(step);
        match taken {
            Ok(StepResult::Taken) => {}
            Ok(StepResult::Blocked | StepResult::BoundReached) => return None,
            Err(_) => return Some(trace),
        }
    }
    if machine.state_violation(&state).is_none() {
        for t in problem.program.thread_ids() {
            // The bound ends an infinite loop of such steps.
            for _ in 0..problem.program.thread(t).code.len() {
                let Some((step, after)) = local_step(&machine, &state, t) else { break };
                state = after;
                trace.steps.push(step);
            }
        }
    }
    Some(trace)
}

/// Returns the next step of a thread and the state after it, if the step has no choice and does not
/// change memory.
fn local_step(machine: &ScMachine<'_>, state: &ScState, t: ThreadId) -> Option<(Step, ScState)> {
    let step = Step { thread: t, action: Action::Run(Vec::new()) };
    if let Op::Choose { .. } = machine.shape.stmt(t, state.pcs[t.index()]).op {
        return None;
    }
    let mut after = state.clone();
    let taken = machine.take_step(&mut after, &step, &mut ());
    (taken == Ok(StepResult::Taken) && after.memory == state.memory).then_some((step, after))
}
