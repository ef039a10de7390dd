//! The machine: a program under a memory model. The only code that executes operations.
//!
//! A [`Step`] is either one statement of a thread with the local statements that follow it, or an
//! internal step of the memory model. Local statements have no effect that other threads see, so
//! executing them together loses no behaviour. [`Machine::attempt_steps`] lists the steps of a
//! state in a fixed order; [`Machine::take_step`] takes one step. Search, replay and traces are
//! built on these functions.
//!
//! - [`ordered`]: the covering order on states, under an abstract model.
//! - `packed`: packed states.
//! - [`choice`]: the choices inside one step.
//! - [`collapsed`]: states with a number for each thread, from the `dictionary` of parts.
//! - `direct`: execution directly on memory, without a memory model.
//! - `early_loads`: the loads that may be performed first behind a guess.
//! - `equal_values`: register values between which no later step distinguishes.
//! - `guess`: guesses of the directions of branches, and which of them are useful.
//! - [`hang`]: threads that wait forever.
//! - `late_issue`: steps in which accesses become pending as late as possible; `late_end`: where such
//!   a step ends; `at_once`: partial-order reduction with such steps.
//! - [`part_order`]: the covering order on collapsed states.
//! - `prompt`: internal steps that are taken together with the step before them.
//! - [`quiet`]: accesses that are executed together with the step before them.
//! - `race`: partial-order reduction with races.
//! - `run`: execution of statements.
//! - `section`: read-side sections and grace periods.
//! - `short_states`: the innermost loop of a search.
//! - `step_table`: the results of steps that recur; `tabulated`: expansion of states with the table.
//! - `successor`: successors, packed or collapsed.
//! - [`system`]: the transition system for searches, with partial-order reduction.

mod at_once;
pub mod choice;
pub mod collapsed;
mod completion;
mod dictionary;
mod direct;
mod early_loads;
mod equal_values;
mod guess;
pub mod hang;
mod late_end;
mod late_issue;
pub mod ordered;
mod packed;
pub mod part_order;
mod prompt;
pub mod quiet;
mod race;
mod run;
mod section;
mod short_states;
mod step_table;
mod successor;
pub mod system;
mod tabulated;

use crate::address::locate;
use crate::buffered::Buffered;
use crate::event::EventRecorder;
use crate::model::{MemoryModel, StepFailure};
use crate::mutation::Mutated;
use crate::sc::Sc;
use crate::shape::Shape;
use crate::specification::Specification;
use crate::state::State;
use choice::Choices;
use fencepost_ir::range::Ranges;
use fencepost_ir::{
    Condition, Fault, Label, Loc, Operations, Pc, Problem, Property, ThreadId, Violation,
};
use fencepost_search::{Stop, WorkLimits};
use guess::UsefulGuesses;

/// The active reductions. All of them preserve verdicts, and all except `symmetry` preserve outcomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reductions {
    /// Execute local statements together with the statement before them.
    pub fuse: bool,
    /// Clear registers that are never read again.
    pub clear_dead: bool,
    /// If a step commutes with all others, explore only this step.
    pub partial_order: bool,
    /// Guess the direction of a branch only if the guess is useful.
    pub useful_guesses: bool,
    /// If an access commutes with all other steps of every state, execute it together with the step
    /// before it. A part of partial-order reduction.
    pub quiet_accesses: bool,
    /// Of several values of a register between which no later step distinguishes, keep one. Needs
    /// `quiet_accesses`.
    pub equal_values: bool,
    /// Store one state for each order of interchangeable threads, see [`crate::symmetry`]. Only searches
    /// that decide whether there is a violation use it: it loses outcomes.
    pub symmetry: bool,
}

impl Reductions {
    /// All reductions.
    pub const ALL: Reductions = Reductions {
        fuse: true,
        clear_dead: true,
        partial_order: true,
        useful_guesses: true,
        quiet_accesses: true,
        equal_values: true,
        symmetry: true,
    };
    /// No reductions.
    pub const NONE: Reductions = Reductions {
        fuse: false,
        clear_dead: false,
        partial_order: false,
        useful_guesses: false,
        quiet_accesses: false,
        equal_values: false,
        symmetry: false,
    };
}

/// The action of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// The thread executes its next statement. The numbers are the alternatives that `choose`
    /// takes, in order.
    Run(Vec<u32>),
    /// The memory model takes this internal step for the thread.
    Internal(u32),
}

/// One step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The thread.
    pub thread: ThreadId,
    /// The action of the thread, or of the memory model on its behalf.
    pub action: Action,
}

/// The result of taking a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepResult {
    /// The step was taken.
    Taken,
    /// The step is not enabled.
    Blocked,
    /// The step is enabled, but the bound on pending accesses forbids it.
    BoundReached,
}

/// A step that was attempted in a state.
#[derive(Clone, Debug)]
pub struct Attempt<P> {
    /// The step.
    pub step: Step,
    /// The result of the attempt.
    pub taken: Result<StepResult, StepFailure>,
    /// The state after the step. Valid only if the step was taken.
    pub after: State<P>,
}

/// A program under a memory model.
#[derive(Debug)]
pub struct Machine<'p, M: MemoryModel> {
    /// The static facts about the program.
    pub shape: Shape<'p>,
    /// The memory model.
    pub model: M,
    /// The active reductions.
    pub reductions: Reductions,
    /// The least number of threads for which races are explored alone.
    pub race_threads: usize,
    /// Whether searches tabulate steps, if the model has tables.
    pub tabulates: bool,
    /// The number of parts of threads above which the table of steps is emptied. The table has at most
    /// four times as many entries.
    pub max_tabulated_parts: usize,
    /// A mutation of the machine or of its reductions, for the tests.
    pub mutated: Mutated,
    /// The useful guesses, if the model guesses the directions of branches.
    guesses: Option<UsefulGuesses>,
    /// The limits of work inside one step.
    pub work_limits: WorkLimits,
    /// For each `Operations` property: its index among the properties, and its specification.
    specifications: Vec<(usize, Specification)>,
}

/// Returns whether `init` can finish. Then there is an initial state, or the first statements of a
/// thread fail. The answer is the same under every model.
pub fn can_start(problem: &Problem) -> bool {
    if problem.program.init.is_none() {
        return true;
    }
    let machine = Machine::new(problem, Buffered(Sc), Reductions::ALL);
    let mut choices = Choices::default();
    let mut state = machine.blank();
    loop {
        if machine.start(&mut state, &mut choices, &mut ()) != Ok(false) {
            return true;
        }
        if !machine.next_combination(&mut choices) {
            return false;
        }
    }
}

impl<'p, M: MemoryModel> Machine<'p, M> {
    /// Builds the machine for a problem. Steps are not fused if an invariant requires a control
    /// point: a fused step would omit the states in which a thread has not arrived yet.
    pub fn new(problem: &'p Problem, model: M, reductions: Reductions) -> Self {
        let shape = Shape::new(problem, model.speculation().is_some());
        Machine::with_shape(shape, model, reductions)
    }

    /// Builds the machine with these facts about the problem. The model does not guess.
    pub fn with_ranges(
        problem: &'p Problem,
        model: M,
        reductions: Reductions,
        ranges: Ranges,
    ) -> Self {
        Machine::with_shape(Shape::with_ranges(problem, ranges), model, reductions)
    }

    fn with_shape(shape: Shape<'p>, model: M, reductions: Reductions) -> Self {
        let problem = shape.problem;
        let specification = |(at, property): (usize, &Property)| match property {
            Property::Operations(operations) => Some((at, Specification::new(operations))),
            Property::Assertions
            | Property::MutualExclusion
            | Property::Invariant(_)
            | Property::FinalForall(_)
            | Property::FinalNever(_)
            | Property::DeadlockFree
            | Property::Progress => None,
        };
        let properties = problem.properties.iter().enumerate();
        let fuse = reductions.fuse && !shape.requires_control_points;
        Machine {
            guesses: UsefulGuesses::new(&shape, &model, true),
            shape,
            model,
            reductions: Reductions { fuse, ..reductions },
            race_threads: race::MIN_THREADS,
            tabulates: true,
            max_tabulated_parts: step_table::MAX_PARTS,
            mutated: Mutated::NONE,
            work_limits: WorkLimits::default(),
            specifications: properties.filter_map(specification).collect(),
        }
    }

    /// Sets the limits of work inside one step. By default, nothing limits it.
    pub fn within(self, work_limits: WorkLimits) -> Self {
        Machine { work_limits, ..self }
    }

    /// Advances to the next combination of choices of a step. Returns false after the last one, and
    /// if the search was cancelled.
    #[inline]
    pub fn next_combination(&self, choices: &mut Choices) -> bool {
        choices.advance() && !self.work_limits.is_cancelled()
    }

    /// Returns the state before `init` runs. See [`Machine::start`] for a state to start from.
    pub fn blank(&self) -> State<M::Pending> {
        State::initial(&self.shape, self.model.empty_pending(&self.shape))
    }

    /// Runs `init` and the first local statements of every thread. Returns false if `init` is
    /// blocked. A failure comes with the thread that fails; `None` is `init`.
    pub fn start(
        &self,
        state: &mut State<M::Pending>,
        choices: &mut Choices,
        recorder: &mut dyn EventRecorder,
    ) -> Result<bool, (Option<ThreadId>, StepFailure)> {
        *state = self.blank();
        choices.rewind();
        if !self.run_init(state, choices, recorder).map_err(|failure| (None, failure))? {
            return Ok(false);
        }
        for t in self.shape.program().thread_ids() {
            let finished = self.finish_step(state, t, false, recorder);
            let result = finished.map_err(|failure| (Some(t), failure))?;
            debug_assert_eq!(result, StepResult::Taken, "a thread does not guess at its start");
        }
        Ok(true)
    }

    /// Takes one step. If the step is not taken, the contents of `state` are unspecified. If it fails,
    /// `state` is the one in which it fails.
    pub fn take_step(
        &self,
        state: &mut State<M::Pending>,
        step: &Step,
        recorder: &mut dyn EventRecorder,
    ) -> Result<StepResult, StepFailure> {
        match &step.action {
            Action::Run(script) => {
                let mut choices = Choices::scripted(script);
                self.run(state, step.thread, &mut choices, recorder)
            }
            Action::Internal(which) => {
                let mut enabled = Vec::new();
                self.model.internal_steps(&self.shape, state, step.thread, &mut enabled);
                if !enabled.contains(which) {
                    return Ok(StepResult::Blocked);
                }
                self.perform_internal_step(state, step.thread, *which, recorder)
            }
        }
    }

    /// Attempts every step of a state, in the order of the search. Some steps are missing if the
    /// search was cancelled. Slow; for traces and tests.
    pub fn attempt_steps(&self, state: &State<M::Pending>) -> Vec<Attempt<M::Pending>> {
        let threads = self.shape.program().thread_ids();
        threads
            .flat_map(|t| {
                self.attempt_next_statement(state, t)
                    .into_iter()
                    .chain(self.attempt_internal_steps(state, t))
            })
            .collect()
    }

    /// Attempts the next statement of a thread, once for each combination of its choices.
    pub fn attempt_next_statement(
        &self,
        state: &State<M::Pending>,
        thread: ThreadId,
    ) -> Vec<Attempt<M::Pending>> {
        let mut all = Vec::new();
        let mut choices = Choices::default();
        loop {
            choices.rewind();
            let mut after = state.clone();
            let taken = self.run(&mut after, thread, &mut choices, &mut ());
            let action = Action::Run(choices.script().to_vec());
            all.push(Attempt { step: Step { thread, action }, taken, after });
            if !self.next_combination(&mut choices) {
                return all;
            }
        }
    }

    /// Attempts the internal steps of the memory model for a thread.
    pub fn attempt_internal_steps(
        &self,
        state: &State<M::Pending>,
        thread: ThreadId,
    ) -> Vec<Attempt<M::Pending>> {
        let mut internal = Vec::new();
        self.model.internal_steps(&self.shape, state, thread, &mut internal);
        let tried = |which| {
            let mut after = state.clone();
            let taken = self.perform_internal_step(&mut after, thread, which, &mut ());
            Attempt { step: Step { thread, action: Action::Internal(which) }, taken, after }
        };
        internal.into_iter().map(tried).collect()
    }

    /// Returns the location that a thread's next statement accesses. `None` if it accesses none, or
    /// if the address faults.
    pub fn next_access(&self, state: &State<M::Pending>, t: ThreadId) -> Option<Loc> {
        let address = self.shape.stmt(t, state.pcs[t.index()]).op.address()?;
        locate(&self.shape, address, &|reg| state.register(&self.shape, t, *reg)).ok()
    }

    fn perform_internal_step(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        which: u32,
        recorder: &mut dyn EventRecorder,
    ) -> Result<StepResult, StepFailure> {
        if !self.model.perform_internal_step(&self.shape, state, t, which, recorder)? {
            return Ok(StepResult::Blocked);
        }
        self.finish_step(state, t, false, recorder)
    }

    /// Returns whether the thread is inside a critical section. A thread that only guesses that it
    /// enters the section is not inside.
    #[inline]
    pub fn is_critical(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        self.shape.stmt(t, self.model.control_point(&self.shape, state, t)).critical
    }

    /// Returns the control point of a thread, if an invariant mentions it.
    pub fn control_point(&self, state: &State<M::Pending>, t: ThreadId) -> Option<Label> {
        if self.shape.control_points.is_empty() {
            return None;
        }
        let label = self.shape.stmt(t, self.model.control_point(&self.shape, state, t)).label;
        self.shape.control_points.contains(&(t, label)).then_some(label)
    }

    /// Returns whether all threads have halted and nothing is pending.
    pub fn is_final(&self, state: &State<M::Pending>) -> bool {
        self.shape.program().thread_ids().all(|t| {
            self.has_halted(t, state.pcs[t.index()])
                && self.model.has_no_pending_access(&state.pending, t)
        })
    }

    /// Returns whether a thread at this program counter has halted.
    pub fn has_halted(&self, t: ThreadId, pc: Pc) -> bool {
        matches!(self.shape.stmt(t, pc).op, fencepost_ir::Op::Halt)
    }

    /// Returns the safety property (mutual exclusion or an invariant) that a state violates, if
    /// any.
    pub fn state_violation(&self, state: &State<M::Pending>) -> Option<Violation> {
        let threads = self.shape.program().thread_ids();
        threads.map(|t| self.state_violation_after(state, t)).find(Option::is_some)?
    }

    /// Returns the property that a state violates, if a step of `t` has just led there from a state
    /// without a violation.
    #[inline]
    pub fn state_violation_after(
        &self,
        state: &State<M::Pending>,
        t: ThreadId,
    ) -> Option<Violation> {
        if self.shape.checks_mutual_exclusion && self.is_critical(state, t) {
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

    /// Returns the condition on final states that a final state violates, if any. A condition that
    /// cannot be decided within the limits cancels the search.
    pub fn final_violation(&self, state: &State<M::Pending>) -> Option<Violation> {
        self.final_violation_within(state, &self.work_limits)
    }

    fn final_violation_within(
        &self,
        state: &State<M::Pending>,
        limits: &WorkLimits,
    ) -> Option<Violation> {
        for (at, property) in self.shape.problem.properties.iter().enumerate() {
            let violation = match property {
                Property::FinalForall(condition) => {
                    (self.test(state, condition) != Ok(true)).then_some(Violation::Final(at))
                }
                Property::FinalNever(condition) => {
                    (self.test(state, condition) != Ok(false)).then_some(Violation::Final(at))
                }
                Property::Operations(operations) => {
                    let is_allowed = self.is_allowed(state, at, operations, limits);
                    (!is_allowed).then_some(Violation::Operations(at))
                }
                Property::Assertions
                | Property::MutualExclusion
                | Property::Invariant(_)
                | Property::DeadlockFree
                | Property::Progress => None,
            };
            if violation.is_some() {
                return violation;
            }
        }
        None
    }

    /// Returns the violation of a state that has no safety violation, if any: it is final and
    /// violates a condition, or it is a hang.
    pub fn end_violation(&self, state: &State<M::Pending>) -> Option<Violation> {
        self.end_violation_within(state, &self.work_limits)
    }

    /// Returns the violation of a state that has no safety violation, with these limits of work
    /// instead of those of the machine.
    pub(crate) fn end_violation_within(
        &self,
        state: &State<M::Pending>,
        limits: &WorkLimits,
    ) -> Option<Violation> {
        if self.is_final(state) {
            return self.final_violation_within(state, limits);
        }
        (self.check_hang_within(state, limits) == hang::HangCheck::Yes).then_some(Violation::Hang)
    }

    /// Returns whether the property at index `at` allows the results in a final state. Also returns
    /// true if that cannot be decided within the limits; the search is then cancelled.
    fn is_allowed(
        &self,
        state: &State<M::Pending>,
        at: usize,
        operations: &Operations,
        limits: &WorkLimits,
    ) -> bool {
        let specification = self.specifications.iter().find(|(position, _)| *position == at);
        let (_, specification) = specification.expect("every `Operations` property has an entry");
        let value = |what| self.observe(state, what);
        match specification.explains(&self.shape, operations, limits, &value) {
            Ok(allowed) => allowed,
            Err(stop) => {
                if stop == Stop::Memory {
                    limits.cancel.exceed_memory();
                }
                true
            }
        }
    }

    /// Returns whether a condition holds in a state. A condition that faults does not hold.
    pub fn holds(&self, state: &State<M::Pending>, condition: &Condition) -> bool {
        self.test(state, condition) == Ok(true)
    }

    fn test(&self, state: &State<M::Pending>, condition: &Condition) -> Result<bool, Fault> {
        Ok(condition.expr.eval(&|what| self.observe(state, *what))? != 0)
    }

    /// Returns the value of an observable.
    pub fn observe(
        &self,
        state: &State<M::Pending>,
        what: fencepost_ir::Observable,
    ) -> fencepost_ir::Value {
        match what {
            fencepost_ir::Observable::Loc(loc) => state.memory.values[loc.index()],
            fencepost_ir::Observable::Reg(t, reg) => state.register(&self.shape, t, reg),
            fencepost_ir::Observable::At(t, label) => {
                let point = self.shape.stmt(t, self.model.control_point(&self.shape, state, t));
                fencepost_ir::Value::from(point.label == label)
            }
        }
    }
}
