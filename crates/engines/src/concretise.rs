//! From a run of an abstract model to a run of the exact model.
//!
//! The steps correspond: threads execute the same statements, and a commit from an abstract buffer
//! is the commit of the oldest pending store to its location. A step is *infeasible* if the exact
//! model cannot take it: the abstraction commits a store that is no longer pending or not the
//! oldest, or passes a fence although stores are pending. Then the run may be spurious. A finer
//! domain may decide.

use crate::engine::Task;
use crate::evidence::Claim;
use crate::path::Path;
use fencepost_ir::{Loc, Op, ThreadId, Value, Violation};
use fencepost_models::buffered::Buffered;
use fencepost_models::coherence::{Coherence, Domain};
use fencepost_models::machine::choice::Choices;
use fencepost_models::replay::{Trace, violation_at};
use fencepost_models::state::State;
use fencepost_models::{
    Action, Event, EventKind, Machine, MemoryModel, Reductions, Step, StepFailure, StepResult,
    Visitor,
};

/// A run of an abstract model to a violation or witness that has no counterpart in the exact model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpuriousRun {
    /// The abstract model.
    pub domain: Domain,
    /// The length of the heads of the abstract buffers.
    pub k: u32,
    /// The abstract run.
    pub path: Path,
    /// What the run shows in the abstract model.
    pub claim: Claim,
    /// The step that the exact model cannot take.
    pub infeasible_step: InfeasibleStep,
}

/// The step of an abstract run at which the exact model cannot follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InfeasibleStep {
    /// The position of the step, from 0. One past the last step if every step is feasible but the
    /// claim does not hold at the end.
    pub step: usize,
    /// The thread that takes the step.
    pub thread: ThreadId,
    /// The property of store buffers that the step loses.
    pub lost_property: LostBufferProperty,
}

/// The property of exact store buffers that an infeasible step loses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LostBufferProperty {
    /// The committed store is not pending: it was committed before.
    AlreadyCommitted(Loc, Value),
    /// An older store must be committed before the committed one.
    NotOldest(Loc, Value),
    /// The thread must wait for pending stores before this step.
    MustWait,
    /// The run does not show the claim in the exact model.
    ClaimFails,
}

/// Follows a run of an abstract model in the exact model, to a violation or to a witness of the
/// condition at this position of `sometimes`.
pub(crate) fn concretise(
    task: Task<'_>,
    reductions: Reductions,
    machine: &Machine<'_, Buffered<Coherence>>,
    path: Path,
    witness: Option<usize>,
) -> Result<Trace, Box<SpuriousRun>> {
    let moves = to_exact_moves(machine, &path);
    take_moves(task, reductions, &path.trace.init, &moves, witness).map_err(|infeasible_step| {
        let Coherence { domain, k, .. } = machine.model.0;
        let claim = witness.map(Claim::Witness);
        let claim = claim.or_else(|| violation_of(machine, &path).map(Claim::Violation));
        let claim = claim.expect("a violation of the abstract model must replay as one");
        Box::new(SpuriousRun { domain, k, path, claim, infeasible_step })
    })
}

/// Takes these moves in the exact model, after these choices of `init`, to a violation or a
/// witness. The trace is not replayed yet: it may be long, and the caller may find a shorter one.
pub(crate) fn take_moves(
    task: Task<'_>,
    reductions: Reductions,
    init: &[u32],
    moves: &[Move],
    witness: Option<usize>,
) -> Result<Trace, InfeasibleStep> {
    let replay_bound = moves.len() as u32 + 1;
    task.model.visit(replay_bound, MoveTaker { task, reductions, init, moves, witness })
}

/// Returns the violation at the end of a run of an abstract model. Annotating a long run would take
/// too much memory.
fn violation_of(machine: &Machine<'_, Buffered<Coherence>>, path: &Path) -> Option<Violation> {
    let Path { trace, states } = path;
    let mut state = machine.blank();
    match states.last() {
        Some(last) => machine.unpack(last, &mut state),
        None => {
            let mut choices = Choices::scripted(&trace.init);
            if let Err((thread, failure)) = machine.start(&mut state, &mut choices, &mut ()) {
                return Some(failure.violation(machine.shape.program(), thread));
            }
        }
    }
    // A failing step leads to no state of the path.
    if let Some(step) = trace.steps.get(states.len().saturating_sub(1))
        && let Err(failure) = machine.take_step(&mut state, step, &mut ())
    {
        return Some(failure.violation(machine.shape.program(), Some(step.thread)));
    }
    violation_at(machine, &state)
}

/// A step of an abstract or symbolic run, in terms of the exact model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Move {
    /// A thread executes its next statement with these choices.
    Run(ThreadId, Vec<u32>),
    /// A thread commits a store of this value to this location.
    Commit(ThreadId, Loc, Value),
}

fn to_exact_moves(machine: &Machine<'_, Buffered<Coherence>>, path: &Path) -> Vec<Move> {
    let mut state = machine.blank();
    let steps = path.trace.steps.iter().zip(&path.states);
    let to_move = |(step, before): (&Step, &Vec<u8>)| {
        machine.unpack(before, &mut state);
        to_exact_move(machine, &state, step)
    };
    steps.map(to_move).collect()
}

/// Translates a step from a state into a move of the exact model.
pub(crate) fn to_exact_move<M: MemoryModel>(
    machine: &Machine<'_, M>,
    before: &State<M::Pending>,
    step: &Step,
) -> Move {
    match &step.action {
        Action::Run(script) => {
            let pc = before.pcs[step.thread.index()];
            // The only choice at a load is a choice of the model.
            let loads = matches!(machine.shape.stmt(step.thread, pc).op, Op::Load { .. });
            Move::Run(step.thread, if loads { Vec::new() } else { script.clone() })
        }
        Action::Internal(_) => {
            let mut events = Vec::new();
            // The step may fail, but the commit event is recorded first.
            let _ = machine.take_step(&mut before.clone(), step, &mut events);
            let committed = events.iter().find_map(committed);
            let (loc, value) = committed.expect("an internal step must be a commit");
            Move::Commit(step.thread, loc, value)
        }
    }
}

fn committed(event: &Event) -> Option<(Loc, Value)> {
    if let EventKind::Commit { loc, value } | EventKind::CommitAndKeep { loc, value } = event.kind {
        Some((loc, value))
    } else {
        None
    }
}

struct MoveTaker<'a> {
    task: Task<'a>,
    reductions: Reductions,
    init: &'a [u32],
    moves: &'a [Move],
    /// The position in `sometimes` of the condition to show. None: show a violation.
    witness: Option<usize>,
}

impl Visitor for MoveTaker<'_> {
    type Output = Result<Trace, InfeasibleStep>;

    fn visit<M: MemoryModel>(self, model: M) -> Self::Output {
        let machine = Machine::new(self.task.problem, model, self.reductions);
        let mut trace = Trace { init: self.init.to_vec(), ..Trace::default() };
        let mut state = machine.blank();
        let mut choices = Choices::scripted(self.init);
        // An `init` that fails or blocks does so under every model.
        let started = machine.start(&mut state, &mut choices, &mut ());
        let mut has_failed = started.is_err();
        for (step, next) in self.moves.iter().enumerate() {
            let (thread, taken) = match next {
                Move::Run(thread, script) => {
                    let step = Step { thread: *thread, action: Action::Run(script.clone()) };
                    let taken = match machine.take_step(&mut state, &step, &mut ()) {
                        Ok(StepResult::Taken) => Ok((step, None)),
                        Ok(StepResult::Blocked | StepResult::BoundReached) => {
                            Err(LostBufferProperty::MustWait)
                        }
                        Err(failure) => Ok((step, Some(failure))),
                    };
                    (*thread, taken)
                }
                Move::Commit(thread, loc, value) => {
                    (*thread, commit(&machine, &mut state, *thread, *loc, *value))
                }
            };
            match taken {
                // Nothing follows a failing step.
                Ok(_) if has_failed => {
                    return Err(InfeasibleStep {
                        step,
                        thread,
                        lost_property: LostBufferProperty::ClaimFails,
                    });
                }
                Ok((step, failure)) => {
                    trace.steps.push(step);
                    has_failed = failure.is_some();
                }
                Err(lost_property) => return Err(InfeasibleStep { step, thread, lost_property }),
            }
        }
        let holds = match self.witness {
            None => has_failed || violation_at(&machine, &state).is_some(),
            Some(at) => {
                let condition = &self.task.problem.sometimes[at];
                machine.is_final(&state) && machine.holds(&state, condition)
            }
        };
        if holds {
            return Ok(trace);
        }
        let thread = trace.steps.last().map_or(ThreadId::from_index(0), |step| step.thread);
        Err(InfeasibleStep {
            step: trace.steps.len(),
            thread,
            lost_property: LostBufferProperty::ClaimFails,
        })
    }
}

/// Commits a store of this value to this location in the exact model.
fn commit<M: MemoryModel>(
    machine: &Machine<'_, M>,
    state: &mut State<M::Pending>,
    thread: ThreadId,
    loc: Loc,
    value: Value,
) -> Result<(Step, Option<StepFailure>), LostBufferProperty> {
    let mut internal = Vec::new();
    machine.model.internal_steps(&machine.shape, state, thread, &mut internal);
    for which in internal {
        let step = Step { thread, action: Action::Internal(which) };
        let mut events = Vec::new();
        let mut after = state.clone();
        let taken = machine.take_step(&mut after, &step, &mut events);
        if events.iter().find_map(committed) == Some((loc, value)) {
            *state = after;
            return Ok((step, taken.err()));
        }
    }
    // Commits the pending stores in some order to see whether this store is still pending.
    let mut draining = state.clone();
    loop {
        let mut internal = Vec::new();
        machine.model.internal_steps(&machine.shape, &draining, thread, &mut internal);
        let Some(which) = internal.first() else {
            return Err(LostBufferProperty::AlreadyCommitted(loc, value));
        };
        let step = Step { thread, action: Action::Internal(*which) };
        let mut events = Vec::new();
        let taken = machine.take_step(&mut draining, &step, &mut events);
        if events.iter().find_map(committed) == Some((loc, value)) {
            return Err(LostBufferProperty::NotOldest(loc, value));
        }
        if taken != Ok(StepResult::Taken) {
            return Err(LostBufferProperty::AlreadyCommitted(loc, value));
        }
    }
}
