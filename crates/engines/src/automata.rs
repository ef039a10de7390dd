//! The automata engine: exact search with regular languages for store buffers.
//!
//! Source: \[LW10\]; corrections and extensions are named where they are. Direction: exact. A violation is always
//! real, and what is verified is so for buffers of any length. It need not end: then the verdict is
//! inconclusive.
//!
//! One thread does all the work: a depth-first search with acceleration depends on what is on its stack.
//!
//! - [`search`]: the search.
//! - [`transition`]: what can be done next, and what is independent of what (sleep sets).
//! - [`visited`]: the states entered, and inclusion.
//! - [`acceleration`]: which cycles are tried.
//! - [`cycle`]: what can be done again and again, and what it makes of a buffer.
//! - [`contents`]: from a symbolic run to an exact one.
//! - [`reached`]: what buffers can hold where control is.

mod acceleration;
mod contents;
mod cycle;
pub mod reached;
mod search;
mod transition;
mod visited;

use crate::engine::{Answer, Budget, Decider, Engine, Settings, Statistics, Task};
use crate::evidence::{Evidence, Witness};
use crate::explicit::{self, Explicit};
use crate::verdict::{Bound, Explored, Findings, Met, judge};
use fencepost_automata::Language;
use fencepost_models::buffered::Buffered;
use fencepost_models::mutation::Mutated;
use fencepost_models::replay::Trace;
use fencepost_models::state::State;
use fencepost_models::{Fidelity, Machine, symbolic};
use fencepost_search::{Coverage, Limits, Stop};
use reached::{Contents, ControlPoint};
use search::{Aim, Found, Search};

/// The automata engine. Models that are not made of store buffers are left to the explicit one.
#[derive(Clone, Copy, Debug)]
pub struct Automata {
    /// Whether sleep sets are used. Without them the answers are the same.
    pub sleep: bool,
    /// What is explored first; none: several orders take turns.
    pub order: Option<Order>,
    /// Deliberate errors.
    pub mutated: Mutated,
}

impl Default for Automata {
    fn default() -> Self {
        Automata::USUAL
    }
}

/// What is explored first from a state. A search that ends has the same answer in any order; one that does not
/// in one order may do so in another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Statements, then commits: cycles are met before their stores are committed. As in the paper.
    Statements,
    /// Statements that store nothing, then stores, then commits.
    Stores,
    /// Statements that store nothing, then commits, then stores: buffers stay short as long as possible.
    Commits,
}

/// The orders that take turns.
const ORDERS: [Order; 3] = [Order::Statements, Order::Stores, Order::Commits];
/// States that a search may store in the first round.
const FIRST: u64 = 500;
/// How many times more in each round after.
const MORE: u64 = 4;
/// A depth-first search may find runs of thousands of steps. One that is longer than this is made shorter even
/// where nobody asks for a shortest one.
const LONG: usize = 100;
/// States that the automaton of a buffer may have in the first round; twice as many in each round after. What
/// grows beyond it is hardly ever going to be closed.
const NARROW: usize = 16;
/// From so many states on, only the first order is tried: what is that large is large in every order.
const LARGE: u64 = 100_000;

/// A machine with languages for buffers.
type Symbolic<'p> = Machine<'p, Buffered<symbolic::Symbolic>>;

/// One of its states.
type SymbolicState = State<Vec<Language>>;

/// An answer with what only this engine can tell.
#[derive(Clone, Debug)]
pub struct Looked {
    /// The answer.
    pub answer: Answer,
    /// States met, those covered by others included.
    pub visited: u64,
    /// States kept in which something is wrong, and steps that go wrong.
    pub errors: u64,
    /// What buffers can hold where control is, as far as the search came.
    pub reached: Vec<ControlPoint>,
    /// By thread: the contents of its buffer in one state, in which they are infinite for as many threads as in
    /// any other. Empty when they are finite everywhere, or were not noted.
    pub widest: Vec<Contents>,
}

impl Engine for Automata {
    fn name(&self) -> &'static str {
        "automata"
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        match self.look(task, settings, budget, Until::Violation) {
            Some(looked) => looked.answer,
            None => Explicit.run(task, settings, budget),
        }
    }

    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        match self.look(task, settings, budget, Until::End) {
            Some(looked) => looked.answer,
            None => Explicit.outcomes(task, settings, budget),
        }
    }
}

/// How far a search goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// To the first violation.
    Violation,
    /// To the end.
    End,
    /// To the end, but not on from where something is wrong.
    Errors,
    /// To the end, noting what buffers can hold where control is.
    Noted,
}

impl Automata {
    /// With sleep sets, in several orders, without errors.
    pub const USUAL: Automata = Automata { sleep: true, order: None, mutated: Mutated::NONE };

    /// Searches until one ends. None for models that are not made of store buffers.
    pub fn look(
        &self,
        task: Task<'_>,
        settings: Settings,
        budget: Budget<'_>,
        until: Until,
    ) -> Option<Looked> {
        let orders = self.order.as_ref().map_or(&ORDERS[..], std::slice::from_ref);
        let alone = orders.len() == 1;
        let mut allowance = if alone { settings.limits.states } else { FIRST };
        let mut width = if alone { usize::MAX } else { NARROW };
        loop {
            let states = allowance.min(settings.limits.states);
            let limits = Limits { states, ..settings.limits };
            let round = Settings { limits, ..settings };
            let orders = if states < LARGE { orders } else { &orders[..1] };
            for (at, order) in orders.iter().enumerate() {
                let (looked, coverage) =
                    self.search(task, round, budget, until, (*order, width))?;
                let last = states == settings.limits.states && at + 1 == orders.len();
                if last || coverage != Coverage::Cut(Stop::States) {
                    return Some(looked);
                }
            }
            allowance = allowance.saturating_mul(MORE);
            width = width.saturating_mul(2);
        }
    }

    /// One search.
    fn search(
        &self,
        task: Task<'_>,
        settings: Settings,
        budget: Budget<'_>,
        until: Until,
        (order, width): (Order, usize),
    ) -> Option<(Looked, Coverage)> {
        let machine =
            Machine::new(task.problem, task.model.symbolic(self.mutated)?, settings.reductions);
        let stop = until == Until::Violation;
        let behind = until != Until::Errors;
        let note = until == Until::Noted;
        let aim = Aim { stop, behind, sleep: self.sleep, order, width, note };
        let found = Search::new(&machine, task, settings, budget, aim).run();
        let (visited, errors, coverage) = (found.visited, found.errors, found.coverage);
        let reached = found.reached.control_points(&machine);
        let widest = found.reached.widest(&machine);
        let answer = answer(task, settings, budget, found, stop);
        Some((Looked { answer, visited, errors, reached, widest }, coverage))
    }
}

fn answer(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    found: Found,
    stop: bool,
) -> Answer {
    let statistics = Statistics {
        states: found.stored,
        transitions: found.steps,
        depth: found.depth as u32,
        bytes: found.bytes,
        bound: None,
    };
    let violation = found.violation.map(|trace| {
        let shorter = (stop && (settings.shortest || trace.steps.len() > LONG))
            .then(|| explicit::shorter(task, settings, budget, &trace, found.stored))
            .flatten();
        shorter.unwrap_or_else(|| Evidence::replay(task, settings.reductions, &trace))
    });
    let witness = |(at, trace): (usize, Option<Trace>)| {
        let trace = trace?;
        Some(Met::Replayed(Witness::replay(task, settings.reductions, at, &trace)))
    };
    let witnesses = found.witnesses.into_iter().enumerate().map(witness).collect();
    let verdict = judge(Findings {
        fidelity: Fidelity::Exact,
        explored: Explored::of(found.coverage, Bound::Buffers),
        violation: violation.map(Met::Replayed),
        witnesses,
    });
    Answer {
        verdict,
        others: Vec::new(),
        statistics,
        outcomes: found.outcomes,
        outcomes_complete: found.coverage == Coverage::Exhaustive,
        by: Decider::Automata,
        suspect: None,
        growing: None,
    }
}
