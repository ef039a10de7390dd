//! The search of canonical states. See [`super`].
//!
//! A state of the search is a packed state of the machine with [canonical numbers](super::canonical).
//! Registers that are dead are 0 and no numbers.

use super::canonical::{Canonical, MAX_REPRESENTATIVES, Renaming, renamed};
use fencepost_ir::{Loc, Observable, Reg, ThreadId, Value};
use fencepost_models::bits::Writer;
use fencepost_models::buffered::{Buffered, Discipline, PlainQueues};
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::hang::{HangCheck, WaitCache};
use fencepost_models::machine::system::{INIT_DETAIL, STATE_DETAIL, VIOLATION, undecided_hang};
use fencepost_models::state::State;
use fencepost_models::{Machine, StepResult};
use fencepost_search::{Encoding, Sink, TransitionSystem};

/// A state of a model with queues.
pub(super) type QueueState<D> = State<<D as Discipline>::Queues>;

/// A machine whose states are searched up to the size of numbers.
pub(super) struct CounterSystem<'p, D: PlainQueues> {
    /// The machine. Its ranges do not depend on numbers of a class.
    pub(super) machine: Machine<'p, Buffered<D>>,
    canonical: Canonical,
}

/// Working memory of a search thread.
pub(super) struct Scratch<D: Discipline> {
    base: QueueState<D>,
    writer: Writer,
    wait_cache: WaitCache,
}

impl<'p, D: PlainQueues> CounterSystem<'p, D> {
    pub(super) fn new(machine: Machine<'p, Buffered<D>>, canonical: Canonical) -> Self {
        CounterSystem { machine, canonical }
    }

    /// Calls `visit` on the class and the value of every number of a state, in an order that
    /// depends only on control.
    fn for_each_number(&self, state: &mut QueueState<D>, visit: &mut dyn FnMut(usize, &mut Value)) {
        let Machine { shape, model, .. } = &self.machine;
        for (at, value) in state.memory.values.iter_mut().enumerate() {
            if let Some(class) = self.canonical.class(Observable::Loc(Loc::from_index(at))) {
                visit(class, value);
            }
        }
        for t in shape.program().thread_ids() {
            let thread = shape.thread(t);
            let dead = &thread.dead[state.pcs[t.index()].index()];
            for reg in (0..thread.register_fields.len()).map(Reg::from_index) {
                if let Some(class) = self.canonical.class(Observable::Reg(t, reg))
                    && !dead.contains(&reg)
                {
                    visit(class, &mut state.registers[thread.registers + reg.index()]);
                }
            }
            model.0.for_each_value(shape, &mut state.pending, t, &mut |loc, value| {
                if let Some(class) = self.canonical.class(Observable::Loc(loc)) {
                    visit(class, value);
                }
            });
        }
    }

    fn numbers(&self, state: &mut QueueState<D>) -> Vec<Vec<Value>> {
        let mut numbers = vec![Vec::new(); self.canonical.len()];
        self.for_each_number(state, &mut |class, value| numbers[class].push(*value));
        numbers
    }

    fn apply(&self, state: &mut QueueState<D>, renamings: &[&Renaming]) {
        self.for_each_number(state, &mut |class, value| {
            *value = renamed(renamings[class], *value);
        });
    }

    /// Makes a state canonical. Returns false if its numbers are too large.
    pub(super) fn canonicalise(&self, state: &mut QueueState<D>) -> bool {
        let numbers = self.numbers(state);
        let all = numbers.iter().enumerate();
        let renamings: Option<Vec<Renaming>> =
            all.map(|(class, numbers)| self.canonical.rename(class, numbers)).collect();
        let Some(renamings) = renamings else { return false };
        self.apply(state, &renamings.iter().collect::<Vec<_>>());
        true
    }

    /// Returns the states that represent all states with this canonical state. `None` if there are
    /// too many.
    fn representatives(&self, base: &mut QueueState<D>) -> Option<Vec<QueueState<D>>> {
        let numbers = self.numbers(base);
        let mut found = vec![base.clone()];
        for (class, numbers) in numbers.iter().enumerate() {
            let renamings = self.canonical.representatives(class, numbers)?;
            if found.len().saturating_mul(renamings.len()) > MAX_REPRESENTATIVES {
                return None;
            }
            let none = Renaming::new();
            let mut next = Vec::with_capacity(found.len() * renamings.len());
            for state in &found {
                for renaming in &renamings {
                    let mut state = state.clone();
                    let mut all = vec![&none; self.canonical.len()];
                    all[class] = renaming;
                    self.apply(&mut state, &all);
                    next.push(state);
                }
            }
            found = next;
        }
        Some(found)
    }

    /// Reports a state that a step leads to.
    fn emit<S: Sink>(
        &self,
        state: &mut QueueState<D>,
        t: Option<ThreadId>,
        detail: u32,
        writer: &mut Writer,
        sink: &mut S,
    ) {
        let violation = match t {
            Some(t) => self.machine.state_violation_after(state, t),
            None => self.machine.state_violation(state),
        };
        if violation.is_some() {
            sink.target(VIOLATION, detail);
        }
        if self.canonicalise(state) {
            sink.successor(self.machine.encode(state, writer));
        } else {
            // The search gives up: no run is found for this violation.
            sink.target(VIOLATION, detail);
        }
    }

    fn expand_one<S: Sink>(
        &self,
        state: &QueueState<D>,
        writer: &mut Writer,
        wait_cache: &mut WaitCache,
        sink: &mut S,
    ) {
        let mut enabled = false;
        for attempt in self.machine.attempt_steps(state) {
            let mut after = attempt.after;
            match attempt.taken {
                Ok(StepResult::Taken) => {
                    enabled = true;
                    self.emit(&mut after, Some(attempt.step.thread), 0, writer, sink);
                }
                Ok(StepResult::Blocked) => {}
                Ok(StepResult::BoundReached) => {
                    enabled = true;
                    sink.bounded();
                }
                Err(_) => {
                    enabled = true;
                    sink.target(VIOLATION, 0);
                }
            }
        }
        if !enabled && self.machine.is_final(state) {
            sink.fact(&[]);
            return;
        }
        match self.machine.check_hang(state, wait_cache) {
            HangCheck::No => {}
            HangCheck::Yes => sink.target(VIOLATION, STATE_DETAIL),
            HangCheck::Undecided => {
                sink.target(undecided_hang(self.machine.shape.problem), STATE_DETAIL);
            }
        }
    }
}

impl<D: PlainQueues> Encoding for CounterSystem<'_, D> {}

impl<D: PlainQueues> TransitionSystem for CounterSystem<'_, D> {
    type Scratch = Scratch<D>;

    fn scratch(&self) -> Scratch<D> {
        Scratch {
            base: self.machine.blank(),
            writer: Writer::default(),
            wait_cache: WaitCache::default(),
        }
    }

    fn initial<S: Sink>(&self, scratch: &mut Scratch<D>, sink: &mut S) {
        let mut choices = Choices::default();
        loop {
            match self.machine.start(&mut scratch.base, &mut choices, &mut ()) {
                Ok(true) => {
                    let Scratch { base, writer, .. } = scratch;
                    self.emit(base, None, INIT_DETAIL, writer, sink);
                }
                Ok(false) => {}
                Err(_) => sink.target(VIOLATION, INIT_DETAIL),
            }
            if !self.machine.next_combination(&mut choices) {
                break;
            }
        }
    }

    fn expand<S: Sink>(&self, bytes: &[u8], scratch: &mut Scratch<D>, sink: &mut S) {
        let Scratch { base, writer, wait_cache } = scratch;
        self.machine.unpack(bytes, base);
        let Some(states) = self.representatives(base) else {
            return sink.target(VIOLATION, STATE_DETAIL);
        };
        for state in &states {
            if self.machine.work_limits.is_cancelled() {
                return;
            }
            self.expand_one(state, writer, wait_cache, sink);
        }
    }
}
