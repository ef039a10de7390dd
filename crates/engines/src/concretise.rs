//! From a run of an abstract model to one of the exact model.
//!
//! The steps are the same: threads execute the same statements, and a commit from an abstract buffer is the
//! commit of the oldest pending store to its location. Where the exact model cannot follow, the run *departs*:
//! the abstraction commits something that is not pending any more, or not the oldest, or passes a
//! fence although something is pending. Then the run may be spurious; a finer domain will tell.

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
    Action, Event, EventKind, Machine, MemoryModel, Reductions, Step, Stumble, Taken, Visitor,
};

/// A run of an abstract model to a violation that the exact model does not follow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suspect {
    /// The abstract model.
    pub domain: Domain,
    /// The length of its heads.
    pub k: u32,
    /// The run.
    pub path: Path,
    /// What it would show.
    pub claim: Claim,
    /// Where the exact model departs from it.
    pub departure: Departure,
}

/// Where a run of an abstract model cannot be one of the exact model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// The step, from 0. One past the last: all steps can be taken, but nothing is wrong then.
    pub step: usize,
    /// The thread whose step it is.
    pub thread: ThreadId,
    /// Why.
    pub why: Broken,
}

/// Which property of store buffers a step breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    /// The store that is committed is not pending: it was committed before.
    Again(Loc, Value),
    /// An older store must be committed before it.
    Order(Loc, Value),
    /// The thread must wait for pending stores here.
    Waits,
    /// Nothing is wrong at the end.
    Fine,
}

/// Follows a run of an abstract model in the exact one, to a violation or to a witness of the condition
/// at this position of `sometimes`.
pub(crate) fn concretise(
    task: Task<'_>,
    reductions: Reductions,
    machine: &Machine<'_, Buffered<Coherence>>,
    path: Path,
    witness: Option<usize>,
) -> Result<Trace, Box<Suspect>> {
    let moves = moves(machine, &path);
    follow(task, reductions, &path.trace.init, &moves, witness).map_err(|departure| {
        let Coherence { domain, k, .. } = machine.model.0;
        let claim = witness.map(Claim::Witness);
        let claim = claim.or_else(|| violation_of(machine, &path).map(Claim::Violation));
        let claim = claim.expect("a violation of the abstract model replays as one");
        Box::new(Suspect { domain, k, path, claim, departure })
    })
}

/// Makes these moves in the exact model, from the choices of `init` on, to a violation or a witness. The trace is
/// not replayed yet: a run may be long, and a shorter one may be found for it.
pub(crate) fn follow(
    task: Task<'_>,
    reductions: Reductions,
    init: &[u32],
    moves: &[Move],
    witness: Option<usize>,
) -> Result<Trace, Departure> {
    let room = moves.len() as u32 + 1;
    task.model.visit(room, Follower { task, reductions, init, moves, witness })
}

/// What is wrong at the end of a run of an abstract model. Telling all of a long run would take much memory.
fn violation_of(machine: &Machine<'_, Buffered<Coherence>>, path: &Path) -> Option<Violation> {
    let Path { trace, states } = path;
    let mut state = machine.blank();
    match states.last() {
        Some(last) => machine.unpack(last, &mut state),
        None => {
            let mut choices = Choices::scripted(&trace.init);
            if let Err((thread, stumble)) = machine.start(&mut state, &mut choices, &mut ()) {
                return Some(stumble.violation(thread));
            }
        }
    }
    // A step that goes wrong leads to no state of the path.
    if let Some(step) = trace.steps.get(states.len().saturating_sub(1))
        && let Err(stumble) = machine.take(&mut state, step, &mut ())
    {
        return Some(stumble.violation(Some(step.thread)));
    }
    violation_at(machine, &state)
}

/// A step of an abstract or symbolic run, as far as the exact model has its like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Move {
    /// A statement.
    Run(ThreadId, Vec<u32>),
    /// A commit.
    Commit(ThreadId, Loc, Value),
}

fn moves(machine: &Machine<'_, Buffered<Coherence>>, path: &Path) -> Vec<Move> {
    let mut state = machine.blank();
    let steps = path.trace.steps.iter().zip(&path.states);
    let told = |(step, before): (&Step, &Vec<u8>)| {
        machine.unpack(before, &mut state);
        moved(machine, &state, step)
    };
    steps.map(told).collect()
}

/// What a step from a state is to the exact model.
pub(crate) fn moved<M: MemoryModel>(
    machine: &Machine<'_, M>,
    before: &State<M::Pending>,
    step: &Step,
) -> Move {
    match &step.action {
        Action::Run(script) => {
            let pc = before.pcs[step.thread.index()];
            // The only choice at a load is one of the model.
            let loads = matches!(machine.shape.stmt(step.thread, pc).op, Op::Load { .. });
            Move::Run(step.thread, if loads { Vec::new() } else { script.clone() })
        }
        Action::Internal(_) => {
            let mut events = Vec::new();
            // It may stumble; what it commits is told first.
            let _ = machine.take(&mut before.clone(), step, &mut events);
            let committed = events.iter().find_map(committed);
            let (loc, value) = committed.expect("an internal step is a commit");
            Move::Commit(step.thread, loc, value)
        }
    }
}

fn committed(event: &Event) -> Option<(Loc, Value)> {
    if let EventKind::Commit { loc, value } | EventKind::Stay { loc, value } = event.kind {
        Some((loc, value))
    } else {
        None
    }
}

struct Follower<'a> {
    task: Task<'a>,
    reductions: Reductions,
    init: &'a [u32],
    moves: &'a [Move],
    /// The condition to show by its position in `sometimes`; none: a violation.
    witness: Option<usize>,
}

impl Visitor for Follower<'_> {
    type Output = Result<Trace, Departure>;

    fn visit<M: MemoryModel>(self, model: M) -> Self::Output {
        let machine = Machine::new(self.task.problem, model, self.reductions);
        let mut trace = Trace { init: self.init.to_vec(), ..Trace::default() };
        let mut state = machine.blank();
        let mut choices = Choices::scripted(self.init);
        // An `init` that goes wrong, or is blocked, does so under every model.
        let started = machine.start(&mut state, &mut choices, &mut ());
        let mut failed = started.is_err();
        for (step, next) in self.moves.iter().enumerate() {
            let (thread, taken) = match next {
                Move::Run(thread, script) => {
                    let step = Step { thread: *thread, action: Action::Run(script.clone()) };
                    let taken = match machine.take(&mut state, &step, &mut ()) {
                        Ok(Taken::Yes) => Ok((step, None)),
                        Ok(Taken::Blocked | Taken::Bounded) => Err(Broken::Waits),
                        Err(stumble) => Ok((step, Some(stumble))),
                    };
                    (*thread, taken)
                }
                Move::Commit(thread, loc, value) => {
                    (*thread, commit(&machine, &mut state, *thread, *loc, *value))
                }
            };
            match taken {
                // Nothing follows a step that goes wrong.
                Ok(_) if failed => {
                    return Err(Departure { step, thread, why: Broken::Fine });
                }
                Ok((step, stumble)) => {
                    trace.steps.push(step);
                    failed = stumble.is_some();
                }
                Err(why) => return Err(Departure { step, thread, why }),
            }
        }
        let shown = match self.witness {
            None => failed || violation_at(&machine, &state).is_some(),
            Some(at) => {
                let condition = &self.task.problem.sometimes[at];
                machine.is_final(&state) && machine.holds(&state, condition)
            }
        };
        if shown {
            return Ok(trace);
        }
        let thread = trace.steps.last().map_or(ThreadId::from_index(0), |step| step.thread);
        Err(Departure { step: trace.steps.len(), thread, why: Broken::Fine })
    }
}

/// Commits a value to a location in the exact model.
fn commit<M: MemoryModel>(
    machine: &Machine<'_, M>,
    state: &mut State<M::Pending>,
    thread: ThreadId,
    loc: Loc,
    value: Value,
) -> Result<(Step, Option<Stumble>), Broken> {
    let mut internal = Vec::new();
    machine.model.internal(&machine.shape, state, thread, &mut internal);
    for which in internal {
        let step = Step { thread, action: Action::Internal(which) };
        let mut events = Vec::new();
        let mut after = state.clone();
        let taken = machine.take(&mut after, &step, &mut events);
        if events.iter().find_map(committed) == Some((loc, value)) {
            *state = after;
            return Ok((step, taken.err()));
        }
    }
    // Committed in any order, is it still there?
    let mut ahead = state.clone();
    loop {
        let mut internal = Vec::new();
        machine.model.internal(&machine.shape, &ahead, thread, &mut internal);
        let Some(which) = internal.first() else { return Err(Broken::Again(loc, value)) };
        let step = Step { thread, action: Action::Internal(*which) };
        let mut events = Vec::new();
        let taken = machine.take(&mut ahead, &step, &mut events);
        if events.iter().find_map(committed) == Some((loc, value)) {
            return Err(Broken::Order(loc, value));
        }
        if taken != Ok(Taken::Yes) {
            return Err(Broken::Again(loc, value));
        }
    }
}
