//! Threads as lists of operations, twice: with a stack of states, and by running again from the start.

use super::brute_force::{Trace, trace};
use super::{Attempt, End, Execution, Move, Step, System, Touch};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

/// An operation on cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Op {
    Read(u32),
    Write(u32),
    /// Waits until the lock is free, and takes it.
    Lock(u32),
    Unlock(u32),
    /// Spins until the cell was written.
    Await(u32),
    /// Fails unless the cell was written.
    Require(u32),
    /// Writes one of these cells.
    Pick(Vec<u32>),
}

/// By thread: its operations.
pub(super) type Code = Vec<Vec<Op>>;

/// Operations done by each thread, and cells that are written, or locks that are taken.
#[derive(Clone, Debug)]
pub(super) struct State {
    next: Vec<usize>,
    set: [bool; 4],
    pub(super) failed: bool,
}

impl State {
    pub(super) fn new(code: &Code) -> Self {
        State { next: vec![0; code.len()], set: [false; 4], failed: false }
    }

    pub(super) fn has_halted(&self, code: &Code, thread: usize) -> bool {
        self.next[thread] == code[thread].len()
    }

    pub(super) fn moves(&self, code: &Code, thread: usize) -> Vec<Move> {
        match &code[thread][self.next[thread]] {
            Op::Pick(cells) => {
                (0..cells.len() as u32).map(|at| Move { thread, choices: vec![at] }).collect()
            }
            _ => vec![Move::of(thread)],
        }
    }

    /// Takes a move, if it is possible; what it touches.
    pub(super) fn step(&mut self, code: &Code, made: &Move) -> (Step, Touch) {
        let set = &mut self.set;
        let (step, touch) = match &code[made.thread][self.next[made.thread]] {
            Op::Read(cell) => (Step::Taken, Touch::read(*cell)),
            Op::Write(cell) => (Step::Taken, Touch::write(*cell)),
            Op::Unlock(cell) => {
                set[*cell as usize] = false;
                (Step::Taken, Touch::write(*cell))
            }
            Op::Lock(cell) if set[*cell as usize] => (Step::Blocked, Touch::write(*cell)),
            Op::Lock(cell) => (Step::Taken, Touch::write(*cell)),
            Op::Await(cell) if !set[*cell as usize] => (Step::Spinning, Touch::read(*cell)),
            Op::Await(cell) => (Step::Taken, Touch::read(*cell)),
            Op::Require(cell) => {
                self.failed = !set[*cell as usize];
                (Step::Taken, Touch::read(*cell))
            }
            Op::Pick(cells) => (Step::Taken, Touch::write(cells[made.choices[0] as usize])),
        };
        if step == Step::Taken {
            let unlocks = matches!(code[made.thread][self.next[made.thread]], Op::Unlock(_));
            set[touch.cell as usize] |= touch.writes && !unlocks;
            self.next[made.thread] += 1;
        }
        (step, touch)
    }

    fn attempts(&self, code: &Code, thread: usize) -> Vec<Attempt> {
        let attempt = |made: Move| {
            let (step, touch) = self.clone().step(code, &made);
            Attempt { made, possible: step == Step::Taken, footprint: vec![touch] }
        };
        self.moves(code, thread).into_iter().map(attempt).collect()
    }
}

/// Keeps the state before each event. Finds the traces of all executions but the redundant ones.
pub(super) struct Stacked<'a> {
    code: &'a Code,
    states: Vec<State>,
    touched: Option<Touch>,
    /// What each event touched.
    touches: Vec<Touch>,
    found: Vec<Trace>,
    stops_at_failure: bool,
}

impl<'a> Stacked<'a> {
    pub(super) fn new(code: &'a Code) -> Self {
        let states = vec![State::new(code)];
        let (touches, found) = (Vec::new(), Vec::new());
        Stacked { code, states, touched: None, touches, found, stops_at_failure: false }
    }

    /// The same, for an exploration that ends when an execution fails, and finds only the trace of that one.
    pub(super) fn until_failure(code: &'a Code) -> Self {
        Stacked { stops_at_failure: true, ..Stacked::new(code) }
    }

    fn state(&self) -> &State {
        self.states.last().expect("there is the first state")
    }

    fn note(&mut self, execution: &Execution) {
        let events = execution.events();
        let touched = |at: usize| std::slice::from_ref(&self.touches[at]);
        self.found.push(trace(events.len(), |at| (&events[at].made, touched(at))));
    }
}

impl System for Stacked<'_> {
    type Findings = Vec<Trace>;

    fn threads(&self) -> usize {
        self.code.len()
    }

    fn has_halted(&mut self, thread: usize) -> bool {
        self.state().has_halted(self.code, thread)
    }

    fn moves(&mut self, thread: usize) -> Vec<Move> {
        self.state().moves(self.code, thread)
    }

    fn step(&mut self, made: &Move) -> Step {
        let mut state = self.state().clone();
        let (step, touch) = state.step(self.code, made);
        self.touched = Some(touch);
        if step == Step::Taken {
            self.states.push(state);
            self.touches.push(touch);
        }
        step
    }

    fn footprint(&self) -> &[Touch] {
        self.touched.as_slice()
    }

    fn truncate(&mut self, events: usize) {
        self.states.truncate(events + 1);
        self.touches.truncate(events);
    }

    fn attempts(&mut self, events: usize, moves: &[&Move], thread: usize) -> Vec<Attempt> {
        let mut state = self.states[events].clone();
        for made in moves {
            assert_eq!(state.step(self.code, made).0, Step::Taken);
        }
        state.attempts(self.code, thread)
    }

    fn is_unconditional(&self, execution: &Execution, event: usize) -> bool {
        let thread = execution.events()[event].made.thread;
        let op = &self.code[thread][self.states[event].next[thread]];
        matches!(op, Op::Read(_) | Op::Write(_))
    }

    fn has_failed(&mut self, _: &Execution) -> bool {
        self.state().failed
    }

    fn observe(&mut self, execution: &Execution) -> ControlFlow<()> {
        if self.state().failed && self.stops_at_failure {
            self.note(execution);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn ended(&mut self, execution: &Execution, end: End) -> ControlFlow<()> {
        if end != End::Redundant && !self.stops_at_failure {
            self.note(execution);
        }
        ControlFlow::Continue(())
    }

    fn into_findings(self) -> Vec<Trace> {
        self.found
    }
}

/// Can only run from the start, as real code does. Runs late: only when something is asked.
pub(super) struct Replayed<'a> {
    code: &'a Code,
    moves: Vec<Move>,
    /// The run at hand, and how many of the moves it has taken. A run never goes back.
    state: State,
    taken: usize,
    touched: Option<Touch>,
    /// How often an execution was run.
    runs: &'a AtomicU64,
}

impl<'a> Replayed<'a> {
    pub(super) fn new(code: &'a Code, runs: &'a AtomicU64) -> Self {
        runs.fetch_add(1, Ordering::Relaxed);
        let state = State::new(code);
        Replayed { code, moves: Vec::new(), state, taken: 0, touched: None, runs }
    }

    /// The run at hand, or a new one if that is too far.
    fn run(&mut self) -> &mut State {
        if self.taken > self.moves.len() {
            self.runs.fetch_add(1, Ordering::Relaxed);
            self.state = State::new(self.code);
            for made in &self.moves {
                self.state.step(self.code, made);
            }
            self.taken = self.moves.len();
        }
        &mut self.state
    }
}

impl System for Replayed<'_> {
    type Findings = ();

    fn threads(&self) -> usize {
        self.code.len()
    }

    fn has_halted(&mut self, thread: usize) -> bool {
        let code = self.code;
        self.run().has_halted(code, thread)
    }

    fn moves(&mut self, thread: usize) -> Vec<Move> {
        let code = self.code;
        self.run().moves(code, thread)
    }

    fn step(&mut self, made: &Move) -> Step {
        let code = self.code;
        let (step, touch) = self.run().step(code, made);
        self.touched = Some(touch);
        if step == Step::Taken {
            self.moves.push(made.clone());
            self.taken += 1;
        }
        step
    }

    fn footprint(&self) -> &[Touch] {
        self.touched.as_slice()
    }

    fn truncate(&mut self, events: usize) {
        self.moves.truncate(events);
    }

    fn attempts(&mut self, events: usize, moves: &[&Move], thread: usize) -> Vec<Attempt> {
        if events == self.moves.len() && moves.is_empty() {
            let code = self.code;
            return self.run().attempts(code, thread);
        }
        // A real run is over when it has taken these moves: the one at hand is lost.
        self.runs.fetch_add(1, Ordering::Relaxed);
        let mut state = State::new(self.code);
        for made in self.moves[..events].iter().chain(moves.iter().copied()) {
            state.step(self.code, made);
        }
        state.attempts(self.code, thread)
    }

    fn is_unconditional(&self, execution: &Execution, event: usize) -> bool {
        let made = &execution.events()[event].made;
        let earlier = &execution.events()[..event];
        let next = earlier.iter().filter(|event| event.made.thread == made.thread).count();
        matches!(self.code[made.thread][next], Op::Read(_) | Op::Write(_))
    }

    fn into_findings(self) {}
}
