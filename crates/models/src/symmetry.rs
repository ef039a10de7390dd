//! Searches with one state for each set of states that differ only in the order of interchangeable
//! threads.
//!
//! Source: \[ID96\]; with partial-order reduction \[EJP97\]. [`fencepost_ir::symmetry`] finds the
//! renamings of a problem, and [`Symmetric`] is the machine as a transition system that replaces every
//! successor by a representative, one of its renamed states. Direction: exact. Every renamed state is
//! reachable, and a representative violates a property if and only if the replaced state does.
//! Outcomes are different: a search finds only those of representatives.
//!
//! *Representatives.* `colours` computes a number for each thread that no renaming changes, and the
//! representative has the threads in the order of their colours. If threads have equal colours, the
//! least packed state among their orders is taken, up to [`MAX_ORDERS`] orders. Any choice is sound.
//! A better one stores fewer states.
//!
//! *Initial states.* The analysis compares code. The values of an initial state, which `init` and the
//! first local statements compute, are checked here: the renamings must map initial states to initial
//! states. Otherwise there is no reduction.
//!
//! *Dead registers* are 0 in every state, also if 0 is a value that moves. Renaming does not change
//! them. So this reduction needs [`Reductions::clear_dead`](crate::Reductions::clear_dead).
//!
//! *Partial-order reduction.* The reduction chooses a persistent set of steps in a representative. A
//! renaming maps it to a persistent set of each renamed state, so the search corresponds to a reduced
//! search of all states. Its cycle proviso also holds there: along steps that are explored alone, the
//! depth of the representative grows, so no cycle of the state graph consists of such steps.
//!
//! *Runs.* A stored path is a sequence of representatives. [`Symmetric::trace`] follows it with the
//! renaming from the representative to the state of the real run, and renames every step.

mod colours;
mod parts;
mod renaming;

pub use renaming::Renaming;

use crate::bits::{PADDING, Writer};
use crate::machine::choice::Choices;
use crate::machine::system::{INIT_DETAIL, STATE_DETAIL, Scratch as MachineScratch};
use crate::machine::{Action, Machine, Step};
use crate::model::MemoryModel;
use crate::mutation::Mutation;
use crate::replay::Trace;
use crate::state::State;
use colours::{Colours, Orders};
use fencepost_ir::symmetry::Symmetry;
use fencepost_search::{Encoding, Sink, TransitionSystem};
use parts::Parts;
use renaming::Tables;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The largest number of orders of threads with equal colours that are compared.
const MAX_ORDERS: usize = 120;
/// The largest number of initial states with which there is a reduction.
const MAX_INITIAL_STATES: usize = 10_000;

/// A machine whose search stores representatives only.
#[derive(Debug)]
pub struct Symmetric<'m, 'p, M: MemoryModel> {
    /// The machine.
    pub machine: &'m Machine<'p, M>,
    tables: Tables,
}

/// Working memory of a search worker.
#[derive(Debug)]
pub struct Scratch<P> {
    machine: MachineScratch<P>,
    canonical: Canonical<P>,
}

/// Working memory to compute representatives, and the last one.
#[derive(Debug)]
struct Canonical<P> {
    state: State<P>,
    renamed: State<P>,
    parts: Parts,
    colours: Colours,
    orders: Orders,
    /// The renaming to the representative.
    renaming: Renaming,
    /// Another renaming, and the inverse of the last renaming that was applied.
    other: Renaming,
    inverse: Renaming,
    /// The state whose representative was computed last, with padding.
    last: Vec<u8>,
    /// Its representative.
    representative: Vec<u8>,
    /// Two other renamed states.
    first: Vec<u8>,
    packed: Vec<u8>,
}

/// Collects initial states.
#[derive(Default)]
struct InitialStates(BTreeSet<Vec<u8>>);

impl Sink for InitialStates {
    fn successor(&mut self, state: &[u8]) {
        self.0.insert(state.to_vec());
    }

    fn is_farther(&self, _: &[u8]) -> bool {
        true
    }

    fn target(&mut self, _: u32, _: u32) {}

    fn fact(&mut self, _: &[u8]) {}

    fn bounded(&mut self) {}
}

impl<'m, 'p, M: MemoryModel> Symmetric<'m, 'p, M> {
    /// Returns the machine as a system of representatives. `None` if the reduction does not apply to
    /// the model, the reductions or the initial states.
    pub fn new(machine: &'m Machine<'p, M>, symmetry: &Symmetry) -> Option<Self> {
        let tables = Tables::new(&machine.shape, symmetry, machine.mutated);
        let symmetric = Symmetric { machine, tables };
        let blank = machine.blank();
        let identity = symmetric.tables.identity();
        let is_renamed = symmetric.tables.rename(machine, &blank, &identity, &mut blank.clone());
        let applies =
            machine.reductions.clear_dead && is_renamed && symmetric.keeps_initial_states();
        applies.then_some(symmetric)
    }

    /// Returns whether the renamings map initial states to initial states.
    fn keeps_initial_states(&self) -> bool {
        let mut initial = InitialStates::default();
        self.machine.initial(&mut self.machine.scratch(), &mut initial);
        if initial.0.len() > MAX_INITIAL_STATES {
            return false;
        }
        if self.machine.mutated.is(Mutation::SymmetryIgnoresInitialStates) {
            return true;
        }
        let (mut state, mut renamed) = (self.machine.blank(), self.machine.blank());
        let mut writer = Writer::default();
        initial.0.iter().all(|bytes| {
            self.machine.unpack(bytes, &mut state);
            self.tables.exchanges().all(|exchange| {
                self.tables.rename(self.machine, &state, &exchange, &mut renamed)
                    && self.tables.fits(self.machine, &renamed)
                    && initial.0.contains(self.machine.encode(&renamed, &mut writer))
            })
        })
    }

    fn canonical(&self) -> Canonical<M::Pending> {
        Canonical {
            state: self.machine.blank(),
            renamed: self.machine.blank(),
            parts: Parts::new(self.machine.shape.threads.len()),
            colours: Colours::new(&self.tables),
            orders: Orders::default(),
            renaming: self.tables.identity(),
            other: self.tables.identity(),
            inverse: self.tables.identity(),
            last: Vec::new(),
            representative: Vec::new(),
            first: Vec::new(),
            packed: Vec::new(),
        }
    }

    /// Returns the representative of a packed state.
    pub fn representative(&self, state: &[u8]) -> Vec<u8> {
        let mut canonical = self.canonical();
        self.represent(state, &mut canonical);
        canonical.representative
    }

    /// Computes the representative of a packed state.
    fn represent(&self, bytes: &[u8], canonical: &mut Canonical<M::Pending>) {
        let Canonical {
            state,
            renamed,
            parts,
            colours,
            orders,
            renaming,
            other,
            inverse,
            last,
            representative,
            first,
            packed,
        } = canonical;
        if last.strip_suffix(&[0; PADDING]) == Some(bytes) {
            return;
        }
        last.clear();
        last.extend_from_slice(bytes);
        last.extend_from_slice(&[0; PADDING]);
        let (machine, tables) = (self.machine, &self.tables);
        parts.open(machine, tables, last, state);
        colours.compute(tables, parts, &state.memory.values);
        colours.orders(orders);
        let mut pack = |renaming: &Renaming, inverse: &Renaming, out: &mut Vec<u8>| {
            out.clear();
            if renaming.is_identity() {
                out.extend_from_slice(bytes);
            } else {
                let renamings = (renaming, inverse);
                parts.rename((machine, tables), (last, state), renamings, renamed, out);
            }
        };
        orders.renaming(tables, renaming, inverse);
        pack(renaming, inverse, representative);
        let count = orders.count();
        if count == 1 || count > MAX_ORDERS {
            return;
        }
        // If every exchange of neighbours of equal colour keeps the state, so do all orders.
        first.clone_from(representative);
        let all_equal = orders.all_exchanges(|exchanged| {
            exchanged.renaming(tables, other, inverse);
            pack(other, inverse, packed);
            packed == first
        });
        if all_equal {
            return;
        }
        while orders.advance() {
            orders.renaming(tables, other, inverse);
            pack(other, inverse, packed);
            if packed < representative {
                std::mem::swap(representative, packed);
                renaming.clone_from(other);
            }
        }
    }

    /// Returns the steps of a run along a path of representatives, and of the step or state with this
    /// detail of a target at its end. `None` if the search was cancelled.
    ///
    /// # Panics
    /// Panics if the states are not a path of this system.
    pub fn trace(&self, path: &[&[u8]], detail: u32) -> Option<Trace> {
        let machine = self.machine;
        let mut trace = Trace { bound: machine.model.bound(), ..Trace::default() };
        let mut canonical = self.canonical();
        let (mut state, mut writer) = (machine.blank(), Writer::default());
        let mut choices = Choices::default();
        loop {
            let started = machine.start(&mut state, &mut choices, &mut ());
            let matching = match path.first() {
                None => {
                    started.is_err()
                        || (started == Ok(true) && machine.state_violation(&state).is_some())
                }
                Some(first) => {
                    started == Ok(true) && {
                        self.represent(machine.encode(&state, &mut writer), &mut canonical);
                        canonical.representative == *first
                    }
                }
            };
            if matching {
                trace.init = choices.script().to_vec();
                break;
            }
            if !machine.next_combination(&mut choices) {
                assert!(machine.work_limits.is_cancelled(), "a path starts at an initial state");
                return None;
            }
        }
        // Renames the representative to the state of the run.
        let mut to_run = canonical.renaming.inverse();
        for pair in path.windows(2) {
            machine.unpack(pair[0], &mut state);
            let found = machine.find_search_step(&state, |after| {
                self.represent(machine.encode(after, &mut writer), &mut canonical);
                canonical.representative == *pair[1]
            });
            if machine.work_limits.is_cancelled() {
                return None;
            }
            let found = found.expect("neighbours on a path must be one step apart");
            let before = std::iter::once(&state).chain(&found.between);
            for (state, step) in before.zip(&found.steps) {
                trace.steps.push(self.rename_step(state, step, &to_run));
            }
            to_run = to_run.after(&canonical.renaming.inverse());
        }
        if detail != INIT_DETAIL && detail != STATE_DETAIL {
            let last = path.last().expect("a step must start from a state");
            machine.unpack(last, &mut state);
            let mut attempts = machine.attempt_steps(&state);
            if machine.work_limits.is_cancelled() {
                return None;
            }
            let step = attempts.swap_remove(detail as usize).step;
            trace.steps.push(self.rename_step(&state, &step, &to_run));
        }
        Some(trace)
    }

    /// Renames a step from a state. An internal step is identified by its location.
    fn rename_step(&self, state: &State<M::Pending>, step: &Step, renaming: &Renaming) -> Step {
        let (machine, thread) = (self.machine, renaming.thread(step.thread));
        let action = match &step.action {
            Action::Run(script) => Action::Run(script.clone()),
            Action::Internal(which) => {
                let mut renamed = machine.blank();
                self.tables.rename(machine, state, renaming, &mut renamed);
                let location =
                    |state, t, which| machine.model.step_location(&machine.shape, state, t, which);
                let old = location(state, step.thread, *which);
                let new = old.map(|loc| self.tables.location(renaming, loc));
                let mut steps = Vec::new();
                machine.model.internal_steps(&machine.shape, &renamed, thread, &mut steps);
                let found =
                    steps.into_iter().find(|which| location(&renamed, thread, *which) == new);
                Action::Internal(found.expect("a renamed step is a step of the renamed state"))
            }
        };
        Step { thread, action }
    }
}

impl<M: MemoryModel> Encoding for Symmetric<'_, '_, M> {}

impl<M: MemoryModel> TransitionSystem for Symmetric<'_, '_, M> {
    type Scratch = Scratch<M::Pending>;

    fn scratch(&self) -> Self::Scratch {
        Scratch { machine: self.machine.scratch(), canonical: self.canonical() }
    }

    fn initial<S: Sink>(&self, scratch: &mut Self::Scratch, sink: &mut S) {
        let Scratch { machine, canonical } = scratch;
        let canonical = RefCell::new(canonical);
        self.machine.initial(machine, &mut Representatives { symmetric: self, sink, canonical });
    }

    fn expand<S: Sink>(&self, state: &[u8], scratch: &mut Self::Scratch, sink: &mut S) {
        let Scratch { machine, canonical } = scratch;
        let canonical = RefCell::new(canonical);
        let mut sink = Representatives { symmetric: self, sink, canonical };
        self.machine.expand(state, machine, &mut sink);
    }
}

/// Passes representatives to another sink.
struct Representatives<'s, 'm, 'p, M: MemoryModel, S> {
    symmetric: &'s Symmetric<'m, 'p, M>,
    sink: &'s mut S,
    canonical: RefCell<&'s mut Canonical<M::Pending>>,
}

impl<M: MemoryModel, S: Sink> Sink for Representatives<'_, '_, '_, M, S> {
    fn successor(&mut self, state: &[u8]) {
        let canonical = self.canonical.get_mut();
        self.symmetric.represent(state, canonical);
        self.sink.successor(&canonical.representative);
    }

    fn is_farther(&self, state: &[u8]) -> bool {
        let mut canonical = self.canonical.borrow_mut();
        self.symmetric.represent(state, &mut canonical);
        self.sink.is_farther(&canonical.representative)
    }

    fn target(&mut self, class: u32, detail: u32) {
        self.sink.target(class, detail);
    }

    fn fact(&mut self, fact: &[u8]) {
        self.sink.fact(fact);
    }

    fn bounded(&mut self) {
        self.sink.bounded();
    }
}
