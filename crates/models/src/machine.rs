//! The machine: a program running under a memory model. The only code that executes operations.
//!
//! A [`Step`] is either one statement of a thread, with the local statements that follow it (they
//! touch nothing that others see, so running them at once loses no behaviour), or an internal step of the
//! memory model. [`Machine::steps`] lists the steps of a state in a fixed order; [`Machine::take`] takes
//! one. Everything else (search, replay, traces) is built from these.
//!
//! - [`ordered`]: which states stand for others, under an abstract model.
//! - `packed`: a state as a byte string.
//! - [`choice`]: which way `choose` goes inside a step.
//! - `direct`: code that runs directly on memory.
//! - `run`: executing statements.
//! - [`system`]: the machine as a transition system to search.

pub mod choice;
mod direct;
pub mod ordered;
mod packed;
mod run;
pub mod system;

use crate::address::locate;
use crate::event::Record;
use crate::model::{MemoryModel, Stumble};
use crate::mutation::Mutated;
use crate::shape::Shape;
use crate::specification::{self, Allowed};
use crate::state::State;
use choice::Choices;
use fencepost_ir::{Condition, Fault, Loc, Operations, Pc, Problem, Property, ThreadId, Violation};
use std::sync::OnceLock;

/// Which sound reductions are in use. All of them keep verdicts and outcomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reductions {
    /// Local statements run together with the statement before them.
    pub fuse: bool,
    /// Registers that are never read again are cleared.
    pub clear_dead: bool,
    /// A step that commutes with all others goes first, alone.
    pub partial_order: bool,
}

impl Reductions {
    /// All of them.
    pub const ALL: Reductions = Reductions { fuse: true, clear_dead: true, partial_order: true };
    /// None.
    pub const NONE: Reductions =
        Reductions { fuse: false, clear_dead: false, partial_order: false };
}

/// What a thread or the memory model does next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// The thread executes its next statement; `choose` takes these alternatives, in order.
    Run(Vec<u32>),
    /// The model takes this internal step for the thread.
    Internal(u32),
}

/// One step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Whose.
    pub thread: ThreadId,
    /// Which.
    pub action: Action,
}

/// What came of taking a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// It was taken.
    Yes,
    /// It is not enabled.
    Blocked,
    /// It exists but the bound on pending accesses forbids it.
    Bounded,
}

/// A step that was tried in a state.
#[derive(Clone, Debug)]
pub struct Attempt<P> {
    /// The step.
    pub step: Step,
    /// What came of it.
    pub taken: Result<Taken, Stumble>,
    /// The state after it, if it was taken.
    pub after: State<P>,
}

/// A program under a model.
#[derive(Debug)]
pub struct Machine<'p, M: MemoryModel> {
    /// What is known of the program.
    pub shape: Shape<'p>,
    /// The model.
    pub model: M,
    /// Which reductions are on.
    pub reductions: Reductions,
    /// For tests of the tests: an error in the partial-order reduction.
    pub mutated: Mutated,
    /// By position among the properties: what operations may return, computed when first asked for.
    allowed: Vec<(usize, OnceLock<Allowed>)>,
}

impl<'p, M: MemoryModel> Machine<'p, M> {
    /// A machine for a problem.
    pub fn new(problem: &'p Problem, model: M, reductions: Reductions) -> Self {
        let of_operations = |(_, property): &(usize, &Property)| match property {
            Property::Operations(_) => true,
            Property::Assertions
            | Property::MutualExclusion
            | Property::Invariant(_)
            | Property::FinalForall(_)
            | Property::FinalNever(_)
            | Property::DeadlockFree => false,
        };
        let properties = problem.properties.iter().enumerate().filter(of_operations);
        let allowed = properties.map(|(at, _)| (at, OnceLock::new())).collect();
        let mutated = Mutated::NONE;
        Machine { shape: Shape::new(problem), model, reductions, mutated, allowed }
    }

    /// The state before anything ran; see [`Machine::start`] for one to begin from.
    pub fn blank(&self) -> State<M::Pending> {
        State::start(&self.shape, self.model.nothing(&self.shape))
    }

    /// Runs `init` and the first local statements of every thread. False when `init` is blocked. A
    /// stumble comes with the thread that stumbled, none for `init`.
    pub fn start(
        &self,
        state: &mut State<M::Pending>,
        choices: &mut Choices,
        record: &mut dyn Record,
    ) -> Result<bool, (Option<ThreadId>, Stumble)> {
        *state = self.blank();
        choices.rewind();
        if !self.run_init(state, choices, record).map_err(|stumble| (None, stumble))? {
            return Ok(false);
        }
        for t in self.shape.program().thread_ids() {
            self.settle(state, t, record).map_err(|stumble| (Some(t), stumble))?;
        }
        Ok(true)
    }

    /// Takes one step. When it is not taken, or stumbles, the state is not to be used any more.
    pub fn take(
        &self,
        state: &mut State<M::Pending>,
        step: &Step,
        record: &mut dyn Record,
    ) -> Result<Taken, Stumble> {
        match &step.action {
            Action::Run(script) => {
                let mut choices = Choices::scripted(script);
                self.run(state, step.thread, &mut choices, record)
            }
            Action::Internal(which) => {
                let mut enabled = Vec::new();
                self.model.internal(&self.shape, state, step.thread, &mut enabled);
                if !enabled.contains(which) {
                    return Ok(Taken::Blocked);
                }
                self.perform(state, step.thread, *which, record)?;
                Ok(Taken::Yes)
            }
        }
    }

    /// Every step of a state, tried. Slow; for traces and tests. The order is that of the search.
    pub fn steps(&self, state: &State<M::Pending>) -> Vec<Attempt<M::Pending>> {
        let threads = self.shape.program().thread_ids();
        threads
            .flat_map(|t| self.runs(state, t).into_iter().chain(self.internals(state, t)))
            .collect()
    }

    /// The next statement of a thread, tried with every choice it has.
    pub fn runs(&self, state: &State<M::Pending>, thread: ThreadId) -> Vec<Attempt<M::Pending>> {
        let mut all = Vec::new();
        let mut choices = Choices::default();
        loop {
            choices.rewind();
            let mut after = state.clone();
            let taken = self.run(&mut after, thread, &mut choices, &mut ());
            let action = Action::Run(choices.script().to_vec());
            all.push(Attempt { step: Step { thread, action }, taken, after });
            if !choices.advance() {
                return all;
            }
        }
    }

    /// The internal steps of the model on behalf of a thread, tried.
    pub fn internals(
        &self,
        state: &State<M::Pending>,
        thread: ThreadId,
    ) -> Vec<Attempt<M::Pending>> {
        let mut internal = Vec::new();
        self.model.internal(&self.shape, state, thread, &mut internal);
        let tried = |which| {
            let mut after = state.clone();
            let taken = self.perform(&mut after, thread, which, &mut ()).map(|()| Taken::Yes);
            Attempt { step: Step { thread, action: Action::Internal(which) }, taken, after }
        };
        internal.into_iter().map(tried).collect()
    }

    /// The location that a thread's next statement accesses; none when it accesses none, or faults.
    pub fn accesses(&self, state: &State<M::Pending>, t: ThreadId) -> Option<Loc> {
        let address = self.shape.stmt(t, state.pcs[t.index()]).op.address()?;
        locate(&self.shape, address, &|reg| state.register(&self.shape, t, *reg)).ok()
    }

    fn perform(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        which: u32,
        record: &mut dyn Record,
    ) -> Result<(), Stumble> {
        self.model.perform(&self.shape, state, t, which, record)?;
        self.settle(state, t, record)
    }

    /// Whether the thread's program counter is inside a critical section.
    #[inline]
    pub fn is_critical(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        self.shape.stmt(t, state.pcs[t.index()]).critical
    }

    /// Whether all threads have halted and nothing is pending.
    pub fn is_final(&self, state: &State<M::Pending>) -> bool {
        self.shape.program().thread_ids().all(|t| {
            self.has_halted(t, state.pcs[t.index()]) && self.model.is_idle(&state.pending, t)
        })
    }

    /// Whether a thread at this program counter has nothing more to execute.
    pub fn has_halted(&self, t: ThreadId, pc: Pc) -> bool {
        matches!(self.shape.stmt(t, pc).op, fencepost_ir::Op::Halt)
    }

    /// What is wrong with a state, final or not.
    pub fn wrong(&self, state: &State<M::Pending>) -> Option<Violation> {
        let threads = self.shape.program().thread_ids();
        threads.map(|t| self.wrong_after(state, t)).find(Option::is_some)?
    }

    /// What is wrong with a state that a step of `t` has led to from a state that was right.
    #[inline]
    pub fn wrong_after(&self, state: &State<M::Pending>, t: ThreadId) -> Option<Violation> {
        if self.shape.watches_critical && self.is_critical(state, t) {
            let mut others = self.shape.program().thread_ids();
            if let Some(other) = others.find(|other| *other != t && self.is_critical(state, *other))
            {
                return Some(Violation::MutualExclusion(t.min(other), t.max(other)));
            }
        }
        for at in &self.shape.invariants {
            if let Property::Invariant(condition) = &self.shape.problem.properties[*at]
                && !self.holds(state, condition)
            {
                return Some(Violation::Invariant(*at));
            }
        }
        None
    }

    /// What is wrong with a state that has no step.
    pub fn wrong_at_rest(&self, state: &State<M::Pending>) -> Option<Violation> {
        let properties = self.shape.problem.properties.iter().enumerate();
        if !self.is_final(state) {
            let asked = self.shape.problem.properties.contains(&Property::DeadlockFree);
            return asked.then_some(Violation::Deadlock);
        }
        for (at, property) in properties {
            let broken = match property {
                Property::FinalForall(condition) => {
                    (self.test(state, condition) != Ok(true)).then_some(Violation::Final(at))
                }
                Property::FinalNever(condition) => {
                    (self.test(state, condition) != Ok(false)).then_some(Violation::Final(at))
                }
                Property::Operations(operations) => {
                    (!self.is_allowed(state, at, operations)).then_some(Violation::Operations(at))
                }
                Property::Assertions
                | Property::MutualExclusion
                | Property::Invariant(_)
                | Property::DeadlockFree => None,
            };
            if broken.is_some() {
                return broken;
            }
        }
        None
    }

    /// Whether the results in a final state are what the property at this position allows.
    fn is_allowed(&self, state: &State<M::Pending>, at: usize, operations: &Operations) -> bool {
        let allowed = self.allowed.iter().find(|(position, _)| *position == at);
        let (_, allowed) = allowed.expect("there for every such property");
        let allowed = allowed.get_or_init(|| specification::allowed(&self.shape, operations));
        allowed.explains(operations, &|t, reg| state.register(&self.shape, t, reg))
    }

    /// Whether a condition holds of a state. One that faults does not.
    pub fn holds(&self, state: &State<M::Pending>, condition: &Condition) -> bool {
        self.test(state, condition) == Ok(true)
    }

    fn test(&self, state: &State<M::Pending>, condition: &Condition) -> Result<bool, Fault> {
        Ok(condition.expr.eval(&|what| self.observe(state, *what))? != 0)
    }

    /// The value of an observable.
    pub fn observe(
        &self,
        state: &State<M::Pending>,
        what: fencepost_ir::Observable,
    ) -> fencepost_ir::Value {
        match what {
            fencepost_ir::Observable::Loc(loc) => state.memory.values[loc.index()],
            fencepost_ir::Observable::Reg(t, reg) => state.register(&self.shape, t, reg),
        }
    }
}
