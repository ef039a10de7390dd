//! Depth-first search with sleep sets, inclusion of states, and acceleration of cycles.
//!
//! Source: \[LW10\] Algorithm 3. Direction: exact. The search is complete if it terminates, but it
//! may not terminate.
//!
//! A frame of the stack is a state that was added to the visited set, with the [`SymbolicStep`]
//! that led to it and the [`Widening`] that was applied to it. The stack alone determines a run of
//! the exact model ([`super::exact_run`]).
//!
//! *States that are not stored.* A state between a choice (or the end of a critical section) and the
//! access that follows is on the stack, but not in the visited set. Only its thread moves there (see
//! [`continues_at_once`]). If the access leads back to the choice, a guard of `either` does not
//! hold: nothing has happened. A control point is a choice with one alternative. The state in which a
//! thread has left it is stored only if an invariant requires a control point
//! ([`fencepost_ir::control_point`]): other invariants hold there if they hold at the control point.
//!
//! *Sleep sets and widening.* A transition may sleep in a widened state only if it sleeps in the
//! state where the cycle starts and is independent of every step of the cycle. Then the effect of
//! the transition after any number of iterations is its effect before them, which was explored.

use super::acceleration::NewState;
use super::cycle::{BufferPart, Cycle, SymbolicStep, Widening};
use super::exact_run::BackwardRun;
use super::reached::ReachedContents;
use super::silent::{SilentCommits, commit_silently};
use super::transition::{Transition, Transitions, continues_at_once};
use super::visited::Visited;
use super::{Order, Symbolic, SymbolicState};
use crate::concretise::{Move, take_moves, to_exact_move};
use crate::engine::{Budget, Settings, Task};
use fencepost_automata::{Language, Letter};
use fencepost_ir::{Op, Value};
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::hang::{HangCheck, WaitCache};
use fencepost_models::replay::Trace;
use fencepost_models::symbolic::{MARKERS, letter};
use fencepost_models::{Action, Attempt, Step, StepResult};
use fencepost_search::{Coverage, Stop};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::atomic::Ordering;

/// Progress is reported and memory is checked once per this many states.
const LIMIT_CHECK_INTERVAL: u64 = 64;

/// The options of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchOptions {
    /// Whether to stop at the first violation.
    pub(super) stop_at_violation: bool,
    /// Whether to explore successors of states that violate a property.
    pub(super) continue_after_errors: bool,
    /// Whether sleep sets are used.
    pub(super) sleep: bool,
    /// Whether silent commits are added at once.
    pub(super) silent: bool,
    /// The exploration order.
    pub(super) order: Order,
    /// The limit on the states of the automaton of a buffer.
    pub(super) max_automaton_states: usize,
    /// Whether to record the buffer contents at each program counter.
    pub(super) record_contents: bool,
}

/// The result of a search.
#[derive(Debug)]
pub(super) struct SearchResult {
    pub(super) coverage: Coverage,
    /// Stored states.
    pub(super) stored: u64,
    /// States found, including those covered by other states.
    pub(super) visited: u64,
    /// Steps taken.
    pub(super) steps: u64,
    pub(super) depth: usize,
    pub(super) bytes: u64,
    /// A run to the first violation. Not replayed yet: the caller may find a shorter one.
    pub(super) violation: Option<Trace>,
    /// Stored states that violate a property, plus failing steps.
    pub(super) errors: u64,
    /// A run to a witness, by position in `sometimes`.
    pub(super) witnesses: Vec<Option<Trace>>,
    pub(super) outcomes: BTreeSet<Vec<Value>>,
    /// Whether it is not decided for some state whether it is a hang.
    pub(super) undecided_hang: bool,
    pub(super) reached: ReachedContents,
}

/// A frame of the stack: a state being explored.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) state: SymbolicState,
    /// The entry of the visited set. None if the state is not stored.
    pub(super) control: Option<usize>,
    /// The step from the frame below. None for the first frame.
    pub(super) symbolic_step: Option<Rc<SymbolicStep>>,
    /// The widening that was applied to this state, and the frame where its cycles start.
    pub(super) widened: Option<(usize, Widening)>,
    /// The silent commits after the step or the widening.
    pub(super) silent: Vec<SilentCommits>,
    /// The cycles found for this state, and the part of a buffer that each one extends.
    pub(super) cycles: Vec<(BufferPart, Rc<Cycle>)>,
    /// Transitions not to explore from here: those asleep and those already explored.
    pub(super) asleep: Transitions,
    todo: Transitions,
    /// The successors by the transition being explored.
    next: Vec<(Step, SymbolicState)>,
    /// The sleep set of these successors.
    sleep: Transitions,
}

/// A search in progress.
pub(super) struct Search<'a, 'p> {
    pub(super) machine: &'a Symbolic<'p>,
    task: Task<'a>,
    settings: Settings,
    budget: Budget<'a>,
    pub(super) options: SearchOptions,
    init: Vec<u32>,
    pub(super) stack: Vec<Frame>,
    /// The number of frames whose states are not stored.
    unstored: usize,
    pub(super) visited: Visited,
    found: SearchResult,
    wait_cache: WaitCache,
}

/// An error ends the search with this coverage.
type Flow = Result<(), Coverage>;

impl<'a, 'p> Search<'a, 'p> {
    pub(super) fn new(
        machine: &'a Symbolic<'p>,
        task: Task<'a>,
        settings: Settings,
        budget: Budget<'a>,
        options: SearchOptions,
    ) -> Self {
        let found = SearchResult {
            coverage: Coverage::Exhaustive,
            stored: 0,
            visited: 0,
            steps: 0,
            depth: 0,
            bytes: 0,
            violation: None,
            errors: 0,
            witnesses: vec![None; task.problem.sometimes.len()],
            outcomes: BTreeSet::new(),
            undecided_hang: false,
            reached: ReachedContents::default(),
        };
        let (stack, visited) = (Vec::new(), Visited::default());
        Search {
            machine,
            task,
            settings,
            budget,
            options,
            init: Vec::new(),
            stack,
            unstored: 0,
            visited,
            found,
            wait_cache: WaitCache::sequential(),
        }
    }

    pub(super) fn run(mut self) -> SearchResult {
        if let Err(coverage) = self.explore() {
            self.found.coverage = coverage;
        } else if let Some(stop) = self.budget.cancel.reason() {
            self.found.coverage = Coverage::Cut(stop);
        }
        self.found.stored = self.visited.states;
        self.found.bytes = self.bytes();
        self.found
    }

    fn explore(&mut self) -> Flow {
        let mut choices = Choices::default();
        loop {
            let mut state = self.machine.blank();
            let started = self.machine.start(&mut state, &mut choices, &mut ());
            self.init = choices.script().to_vec();
            match started {
                Ok(true) => {
                    self.enter(None, state, Transitions::default())?;
                    while !self.stack.is_empty() {
                        self.advance()?;
                    }
                }
                Ok(false) => {}
                Err(_) => {
                    let trace = self.trace_to(Vec::new(), None)?;
                    self.record_violation(trace)?;
                }
            }
            if !self.machine.next_combination(&mut choices) {
                return Ok(());
            }
        }
    }

    /// Takes one step of the search, from the state on top of the stack.
    fn advance(&mut self) -> Flow {
        let top = self.stack.last_mut().expect("the caller checks that the stack is not empty");
        if let Some((step, state)) = top.next.pop() {
            let symbolic_step = to_symbolic_step(self.machine, &top.state, step, &state);
            let sleep = top.sleep;
            return self.enter(Some(Rc::new(symbolic_step)), state, sleep);
        }
        let picked = self.options.order.pick(self.machine, &top.state, top.todo);
        let Some(transition) = picked else {
            match top.control {
                Some(control) => drop(self.visited.by_control[control].on_stack.pop()),
                None => self.unstored -= 1,
            }
            self.stack.pop();
            return Ok(());
        };
        top.todo.remove(transition);
        if self.options.sleep {
            top.sleep = top.asleep.independent_of(self.machine, &top.state, transition);
            top.asleep.insert(transition);
        }
        let attempts = match transition {
            Transition::Run(thread) => self.machine.attempt_next_statement(&top.state, thread),
            Transition::Commit(thread) => self.machine.attempt_internal_steps(&top.state, thread),
        };
        for Attempt { step, taken, after } in attempts.into_iter().rev() {
            match taken {
                Ok(StepResult::Blocked) => {}
                Ok(StepResult::BoundReached) => unreachable!("a symbolic buffer has no bound"),
                Ok(StepResult::Taken) if self.is_failed_guard(&after) => {}
                Ok(StepResult::Taken) => {
                    self.found.steps += 1;
                    self.stack.last_mut().expect("the stack is not empty").next.push((step, after));
                }
                Err(_) => self.report_step_failure(step, after)?,
            }
        }
        Ok(())
    }

    /// Returns whether a load from a state that is not stored leads back to the state below: a choice
    /// that led nowhere. The contents are those of the state below, or fewer.
    fn is_failed_guard(&self, after: &SymbolicState) -> bool {
        let [.., Frame { state: before, .. }, top @ Frame { control: None, .. }] = &self.stack[..]
        else {
            return false;
        };
        let Some(thread) = top.symbolic_step.as_ref().map(|symbolic| symbolic.step.thread) else {
            return false;
        };
        let stmt = self.machine.shape.stmt(thread, top.state.pcs[thread.index()]);
        matches!(stmt.op, Op::Load { .. })
            && after.pcs == before.pcs
            && after.registers == before.registers
            && after.memory == before.memory
    }

    /// Adds a successor that is not stored. Its thread continues at once.
    fn enter_unstored(
        &mut self,
        symbolic_step: Rc<SymbolicStep>,
        state: SymbolicState,
        asleep: Transitions,
    ) -> Flow {
        self.check_limits(&state)?;
        if self.options.record_contents {
            self.found.reached.record(self.machine, &state);
        }
        let mut todo = Transitions::default();
        todo.insert(Transition::Run(symbolic_step.step.thread));
        self.unstored += 1;
        self.stack.push(Frame {
            state,
            control: None,
            symbolic_step: Some(symbolic_step),
            widened: None,
            silent: Vec::new(),
            cycles: Vec::new(),
            asleep,
            todo,
            next: Vec::new(),
            sleep: Transitions::default(),
        });
        Ok(())
    }

    /// Returns whether a step leads to a state that is not stored.
    fn leads_to_unstored(&self, symbolic_step: &SymbolicStep, state: &SymbolicState) -> bool {
        let Transition::Run(thread) = symbolic_step.transition() else { return false };
        let Some(top) = self.stack.last() else { return false };
        // An invariant may be violated because the thread has left a control point.
        if self.machine.shape.requires_control_points {
            return false;
        }
        let code = self.machine.shape.program().thread(thread);
        continues_at_once(code, top.state.pcs[thread.index()], state.pcs[thread.index()])
    }

    /// Adds a successor: widens it if it closes a cycle, then pushes it unless other states cover
    /// it.
    fn enter(
        &mut self,
        symbolic_step: Option<Rc<SymbolicStep>>,
        state: SymbolicState,
        sleep: Transitions,
    ) -> Flow {
        if let Some(symbolic_step) = &symbolic_step
            && self.leads_to_unstored(symbolic_step, &state)
        {
            return self.enter_unstored(Rc::clone(symbolic_step), state, sleep);
        }
        self.found.visited += 1;
        self.check_limits(&state)?;
        let control_count = self.visited.by_control.len();
        let control = self.visited.control_index(self.machine, &state);
        let is_new = control == control_count;
        let mut new_state = NewState { state, sleep, widened: None, cycles: Vec::new() };
        if let Some(symbolic_step) = &symbolic_step
            && let Some(wider) = self.accelerate(control, symbolic_step, &new_state)
        {
            new_state = wider;
        }
        let NewState { mut state, mut sleep, widened, cycles } = new_state;
        let mut silent = Vec::new();
        if self.options.silent {
            (silent, sleep) = commit_silently(self.machine, &mut state, sleep);
        }
        let Some((todo, asleep)) =
            self.visited.enter(self.machine, control, &state, sleep, self.options.silent)
        else {
            return Ok(());
        };
        if self.options.record_contents {
            self.found.reached.record(self.machine, &state);
        }
        self.visited.by_control[control].on_stack.push(self.stack.len());
        let (next, sleep) = (Vec::new(), Transitions::default());
        self.stack.push(Frame {
            state,
            control: Some(control),
            symbolic_step,
            widened,
            silent,
            cycles,
            asleep,
            todo,
            next,
            sleep,
        });
        self.found.depth = self.found.depth.max(self.stack.len() - self.unstored);
        self.check_state(control, is_new)
    }

    /// Checks the properties of the state on top of the stack.
    fn check_state(&mut self, control: usize, is_new: bool) -> Flow {
        let top = self.stack.last().expect("just pushed");
        if is_new {
            self.visited.by_control[control].violates =
                self.machine.state_violation(&top.state).is_some();
        }
        let may_be_empty = {
            let languages = self.machine.model.0.languages();
            top.state.pending.iter().all(|l| languages.contains_empty_word(*l))
        };
        if self.visited.by_control[control].violates {
            self.found.errors += 1;
            if !self.options.continue_after_errors {
                self.stack.last_mut().expect("just pushed").todo = Transitions::default();
            }
            if is_new {
                let trace = self.trace_to(self.shortest(), None)?;
                self.record_violation(trace)?;
            }
        }
        if may_be_empty && !self.visited.by_control[control].checked_at_rest {
            self.visited.by_control[control].checked_at_rest = true;
            self.check_at_rest()?;
        }
        Ok(())
    }

    /// Checks the state on top of the stack with empty buffers: it may be final or a hang.
    fn check_at_rest(&mut self) -> Flow {
        let mut state = self.stack.last().expect("the stack is not empty").state.clone();
        state.pending.fill(Language::EPSILON);
        let contents = vec![Vec::new(); state.pending.len()];
        let is_final = self.machine.is_final(&state);
        let violates = if is_final {
            self.machine.final_violation(&state).is_some()
        } else {
            let hang = self.machine.check_hang(&state, &mut self.wait_cache);
            self.found.undecided_hang |= hang == HangCheck::Undecided;
            hang == HangCheck::Yes
        };
        if violates {
            self.found.errors += 1;
            let trace = self.trace_to(contents.clone(), None)?;
            self.record_violation(trace)?;
        }
        if !is_final {
            return Ok(());
        }
        let observed = &self.task.problem.observed;
        let outcome = observed.iter().map(|what| self.machine.observe(&state, *what)).collect();
        self.found.outcomes.insert(outcome);
        for (at, condition) in self.task.problem.sometimes.iter().enumerate() {
            if self.found.witnesses[at].is_none() && self.machine.holds(&state, condition) {
                let moves = self.moves_to(contents.clone(), None)?;
                self.found.witnesses[at] = Some(self.concretise_moves(&moves, Some(at)));
            }
        }
        Ok(())
    }

    /// Reports a failing step from the state on top of the stack. `after` holds the buffer contents
    /// with which it fails.
    fn report_step_failure(&mut self, step: Step, after: SymbolicState) -> Flow {
        self.found.errors += 1;
        let top = self.stack.last().expect("a step must start from a state");
        let symbolic_step = to_symbolic_step(self.machine, &top.state, step, &after);
        let contents = {
            let languages = self.machine.model.0.languages();
            let shortest =
                |l: &Language| languages.shortest_word(*l).expect("a step must have contents");
            after.pending.iter().map(shortest).collect()
        };
        let trace = self.trace_to(contents, Some(&symbolic_step))?;
        self.record_violation(trace)
    }

    fn record_violation(&mut self, trace: Option<Trace>) -> Flow {
        self.found.violation = self.found.violation.take().or(trace);
        if self.options.stop_at_violation { Err(Coverage::Found) } else { Ok(()) }
    }

    /// Builds a trace to these contents of the state on top of the stack, or to the state after a
    /// step from there. Returns None if a violation was found before.
    fn trace_to(
        &self,
        contents: Vec<Vec<Letter>>,
        last: Option<&SymbolicStep>,
    ) -> Result<Option<Trace>, Coverage> {
        if self.found.violation.is_some() {
            return Ok(None);
        }
        let moves = self.moves_to(contents, last)?;
        Ok(Some(self.concretise_moves(&moves, None)))
    }

    /// Builds the moves to these contents. Takes long for a long run, so cancellation is checked.
    fn moves_to(
        &self,
        contents: Vec<Vec<Letter>>,
        last: Option<&SymbolicStep>,
    ) -> Result<Vec<Move>, Coverage> {
        let run = BackwardRun::new(self.machine, self.budget.cancel);
        run.run(&self.stack, contents, last).map_err(Coverage::Cut)
    }

    /// Takes the moves in the exact model.
    ///
    /// # Panics
    /// Panics if the exact model cannot take the moves. Then the symbolic model has contents that
    /// the exact model does not have, and no verdict can be trusted.
    fn concretise_moves(&self, moves: &[Move], witness: Option<usize>) -> Trace {
        take_moves(self.task, self.settings.reductions, &self.init, moves, witness)
            .expect("the exact model must be able to take the moves of a symbolic run")
    }

    /// Returns a shortest content of each buffer in the state on top of the stack.
    fn shortest(&self) -> Vec<Vec<Letter>> {
        let languages = self.machine.model.0.languages();
        let top = self.stack.last().expect("the stack is not empty");
        let shortest =
            |l: &Language| languages.shortest_word(*l).expect("a state must have contents");
        top.state.pending.iter().map(shortest).collect()
    }

    fn bytes(&self) -> u64 {
        let frame = 512 + 8 * self.machine.shape.registers as u64;
        let languages = self.machine.model.0.languages().bytes();
        self.visited.bytes + languages + frame * self.stack.len() as u64
    }

    fn check_limits(&self, state: &SymbolicState) -> Flow {
        let limits = self.settings.limits;
        let languages = self.machine.model.0.languages();
        let is_too_large = state
            .pending
            .iter()
            .any(|l| languages.state_count(*l) > self.options.max_automaton_states);
        drop(languages);
        if is_too_large || self.visited.states >= limits.states {
            return Err(Coverage::Cut(Stop::States));
        }
        if self.stack.len() as u64 >= u64::from(limits.depth) {
            return Err(Coverage::Cut(Stop::Depth));
        }
        if let Some(stop) = self.budget.cancel.reason() {
            return Err(Coverage::Cut(stop));
        }
        if self.found.visited.is_multiple_of(LIMIT_CHECK_INTERVAL) {
            self.budget.progress.states.store(self.visited.states, Ordering::Relaxed);
            self.budget.progress.depth.store(self.stack.len() as u64, Ordering::Relaxed);
            if self.bytes() > limits.bytes {
                self.budget.cancel.record_out_of_memory();
                return Err(Coverage::Cut(Stop::Memory));
            }
        }
        Ok(())
    }
}

/// Computes the symbolic step for a step between two states.
fn to_symbolic_step(
    machine: &Symbolic<'_>,
    before: &SymbolicState,
    step: Step,
    after: &SymbolicState,
) -> SymbolicStep {
    let exact_move = to_exact_move(machine, before, &step);
    let thread = step.thread;
    let (old, new) = (before.pending[thread.index()], after.pending[thread.index()]);
    let op = &machine.shape.stmt(thread, before.pcs[thread.index()]).op;
    let mut languages = machine.model.0.languages();
    let appended = match step.action {
        Action::Internal(_) => None,
        Action::Run(_) if old == new => Some(Vec::new()),
        Action::Run(_) if matches!(op, Op::Store { .. }) => {
            let loc = machine.next_access(before, thread);
            let value = loc.and_then(|loc| languages.last_values(new, loc.0).first().copied());
            loc.zip(value).map(|(loc, value)| vec![letter(loc, value)])
        }
        Action::Run(_) => {
            let word = languages.find_suffix(old, new, MARKERS.len());
            word.filter(|word| word.iter().all(|letter| MARKERS.contains(&letter.class)))
        }
    };
    SymbolicStep { step, exact_move, appended }
}
