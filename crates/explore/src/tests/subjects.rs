//! Test systems: threads as lists of operations. One system keeps a stack of states, and one
//! replays from the start.

use super::brute_force::{Trace, trace};
use super::{Attempt, CellAccess, End, Execution, Move, MoveResult, System};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

/// An operation on cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Op {
    Read(u32),
    Write(u32),
    /// Blocks until the lock is free, then acquires it.
    Lock(u32),
    Unlock(u32),
    /// Spins until the cell is written.
    Await(u32),
    /// Halts the thread if the cell is not written yet.
    Check(u32),
    /// Reads the first cell. If it is not written yet, writes the second cell, too: the footprint
    /// depends on the state.
    Update(u32, u32),
    /// Fails if the cell is not written yet.
    Require(u32),
    /// Chooses one of these cells and writes it.
    Pick(Vec<u32>),
}

/// The operations of each thread.
pub(super) type Code = Vec<Vec<Op>>;

/// A state: the next operation of each thread, and the cells that are written or locked.
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

    /// Takes a move if it is enabled. Returns the result and the footprint.
    pub(super) fn step(&mut self, code: &Code, mv: &Move) -> (MoveResult, Vec<CellAccess>) {
        let set = &mut self.set;
        let (mut halts, mut more) = (false, None);
        let (result, access) = match &code[mv.thread][self.next[mv.thread]] {
            Op::Read(cell) => (MoveResult::Taken, CellAccess::read(*cell)),
            Op::Write(cell) => (MoveResult::Taken, CellAccess::write(*cell)),
            Op::Unlock(cell) => {
                set[*cell as usize] = false;
                (MoveResult::Taken, CellAccess::write(*cell))
            }
            Op::Lock(cell) if set[*cell as usize] => {
                (MoveResult::Blocked, CellAccess::write(*cell))
            }
            Op::Lock(cell) => (MoveResult::Taken, CellAccess::write(*cell)),
            Op::Await(cell) if !set[*cell as usize] => {
                (MoveResult::Spinning, CellAccess::read(*cell))
            }
            Op::Await(cell) => (MoveResult::Taken, CellAccess::read(*cell)),
            Op::Check(cell) => {
                halts = !set[*cell as usize];
                (MoveResult::Taken, CellAccess::read(*cell))
            }
            Op::Update(cell, other) => {
                more = (!set[*cell as usize]).then_some(CellAccess::write(*other));
                (MoveResult::Taken, CellAccess::read(*cell))
            }
            Op::Require(cell) => {
                self.failed = !set[*cell as usize];
                (MoveResult::Taken, CellAccess::read(*cell))
            }
            Op::Pick(cells) => {
                (MoveResult::Taken, CellAccess::write(cells[mv.choices[0] as usize]))
            }
        };
        if result == MoveResult::Taken {
            let unlocks = matches!(code[mv.thread][self.next[mv.thread]], Op::Unlock(_));
            for access in more.iter().chain([&access]) {
                set[access.cell as usize] |= access.writes && !unlocks;
            }
            self.next[mv.thread] = match halts {
                true => code[mv.thread].len(),
                false => self.next[mv.thread] + 1,
            };
        }
        (result, [access].into_iter().chain(more).collect())
    }

    fn attempts(&self, code: &Code, thread: usize) -> Vec<Attempt> {
        let attempt = |mv: Move| {
            let (result, footprint) = self.clone().step(code, &mv);
            Attempt { mv, enabled: result == MoveResult::Taken, footprint }
        };
        self.moves(code, thread).into_iter().map(attempt).collect()
    }
}

/// A system that keeps the state before each event. Its findings are the traces of all executions
/// except redundant ones.
pub(super) struct StackSystem<'a> {
    code: &'a Code,
    states: Vec<State>,
    last_footprint: Vec<CellAccess>,
    /// The footprint of each event.
    footprints: Vec<Vec<CellAccess>>,
    traces: Vec<Trace>,
    stops_at_failure: bool,
}

impl<'a> StackSystem<'a> {
    pub(super) fn new(code: &'a Code) -> Self {
        let states = vec![State::new(code)];
        StackSystem {
            code,
            states,
            last_footprint: Vec::new(),
            footprints: Vec::new(),
            traces: Vec::new(),
            stops_at_failure: false,
        }
    }

    /// Creates a system that ends the exploration at the first failure. Its finding is the trace of
    /// that execution.
    pub(super) fn until_failure(code: &'a Code) -> Self {
        StackSystem { stops_at_failure: true, ..StackSystem::new(code) }
    }

    fn state(&self) -> &State {
        self.states.last().expect("the stack has the first state")
    }

    fn record_trace(&mut self, execution: &Execution) {
        let events = execution.events();
        let footprint = |at: usize| self.footprints[at].as_slice();
        self.traces.push(trace(events.len(), |at| (&events[at].mv, footprint(at))));
    }
}

impl System for StackSystem<'_> {
    type Findings = Vec<Trace>;

    fn threads(&self) -> usize {
        self.code.len()
    }

    fn has_halted(&mut self, thread: usize) -> bool {
        self.state().has_halted(self.code, thread)
    }

    fn alternatives(&mut self, thread: usize) -> Vec<Move> {
        self.state().moves(self.code, thread)
    }

    fn step(&mut self, mv: &Move) -> MoveResult {
        let mut state = self.state().clone();
        let (result, footprint) = state.step(self.code, mv);
        self.last_footprint.clone_from(&footprint);
        if result == MoveResult::Taken {
            self.states.push(state);
            self.footprints.push(footprint);
        }
        result
    }

    fn footprint(&self) -> &[CellAccess] {
        &self.last_footprint
    }

    fn truncate(&mut self, events: usize) {
        self.states.truncate(events + 1);
        self.footprints.truncate(events);
    }

    fn attempts(&mut self, events: usize, moves: &[&Move], thread: usize) -> Vec<Attempt> {
        let mut state = self.states[events].clone();
        for mv in moves {
            assert_eq!(state.step(self.code, mv).0, MoveResult::Taken);
        }
        state.attempts(self.code, thread)
    }

    fn is_unconditional(&self, execution: &Execution, event: usize) -> bool {
        let thread = execution.events()[event].mv.thread;
        let op = &self.code[thread][self.states[event].next[thread]];
        matches!(op, Op::Read(_) | Op::Write(_))
    }

    fn has_failed(&mut self, _: &Execution) -> bool {
        self.state().failed
    }

    fn observe(&mut self, execution: &Execution) -> ControlFlow<()> {
        if self.state().failed && self.stops_at_failure {
            self.record_trace(execution);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn observe_end(&mut self, execution: &Execution, end: End) -> ControlFlow<()> {
        if end != End::Redundant && !self.stops_at_failure {
            self.record_trace(execution);
        }
        ControlFlow::Continue(())
    }

    fn into_findings(self) -> Vec<Trace> {
        self.traces
    }
}

/// A system that can only run from the start, like real code. It replays lazily: only when the
/// state is needed.
pub(super) struct ReplaySystem<'a> {
    code: &'a Code,
    moves: Vec<Move>,
    /// The state of the current run. A run cannot step back.
    state: State,
    /// The number of moves that the current run has taken.
    taken: usize,
    last_footprint: Vec<CellAccess>,
    /// The number of runs.
    runs: &'a AtomicU64,
}

impl<'a> ReplaySystem<'a> {
    pub(super) fn new(code: &'a Code, runs: &'a AtomicU64) -> Self {
        runs.fetch_add(1, Ordering::Relaxed);
        let state = State::new(code);
        ReplaySystem { code, moves: Vec::new(), state, taken: 0, last_footprint: Vec::new(), runs }
    }

    /// Returns the state after `moves`. Starts a new run if the current one has taken more moves.
    fn current_state(&mut self) -> &mut State {
        if self.taken > self.moves.len() {
            self.runs.fetch_add(1, Ordering::Relaxed);
            self.state = State::new(self.code);
            for mv in &self.moves {
                self.state.step(self.code, mv);
            }
            self.taken = self.moves.len();
        }
        &mut self.state
    }
}

impl System for ReplaySystem<'_> {
    type Findings = ();

    fn threads(&self) -> usize {
        self.code.len()
    }

    fn has_halted(&mut self, thread: usize) -> bool {
        let code = self.code;
        self.current_state().has_halted(code, thread)
    }

    fn alternatives(&mut self, thread: usize) -> Vec<Move> {
        let code = self.code;
        self.current_state().moves(code, thread)
    }

    fn step(&mut self, mv: &Move) -> MoveResult {
        let code = self.code;
        let (result, footprint) = self.current_state().step(code, mv);
        self.last_footprint = footprint;
        if result == MoveResult::Taken {
            self.moves.push(mv.clone());
            self.taken += 1;
        }
        result
    }

    fn footprint(&self) -> &[CellAccess] {
        &self.last_footprint
    }

    fn truncate(&mut self, events: usize) {
        self.moves.truncate(events);
    }

    fn attempts(&mut self, events: usize, moves: &[&Move], thread: usize) -> Vec<Attempt> {
        if events == self.moves.len() && moves.is_empty() {
            let code = self.code;
            return self.current_state().attempts(code, thread);
        }
        // A real system would need a separate run for these moves.
        self.runs.fetch_add(1, Ordering::Relaxed);
        let mut state = State::new(self.code);
        for mv in self.moves[..events].iter().chain(moves.iter().copied()) {
            state.step(self.code, mv);
        }
        state.attempts(self.code, thread)
    }

    fn is_unconditional(&self, execution: &Execution, event: usize) -> bool {
        let mv = &execution.events()[event].mv;
        let earlier = &execution.events()[..event];
        let next = earlier.iter().filter(|event| event.mv.thread == mv.thread).count();
        matches!(self.code[mv.thread][next], Op::Read(_) | Op::Write(_))
    }

    fn into_findings(self) {}
}
