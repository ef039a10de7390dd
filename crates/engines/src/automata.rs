//! The automata engine: exact search with regular languages for store buffers.
//!
//! Source: \[LW10\]. Corrections and extensions are marked DIVERGENCE in the submodules. Direction:
//! exact. A violation is always real, and a verified program is correct for buffers of any length.
//! The search may not terminate; then the verdict is inconclusive.
//!
//! The search uses one thread: acceleration in a depth-first search depends on its stack.
//!
//! - [`search`]: the depth-first search.
//! - [`transition`]: transitions and their independence, for sleep sets.
//! - [`visited`]: the visited set, with inclusion.
//! - [`acceleration`]: which cycles are tried.
//! - [`cycle`]: cycles that a thread can iterate, and their effect on its buffer.
//! - [`silent`]: commits that change nothing but the buffer.
//! - [`exact_run`]: from a symbolic run to an exact run.
//! - [`reached`]: the buffer contents reached at each program counter.

mod acceleration;
mod cycle;
mod exact_run;
pub mod reached;
mod search;
mod silent;
mod transition;
mod visited;

use crate::engine::{Answer, Budget, Decider, Engine, Settings, Statistics, Task};
use crate::evidence::{Evidence, Witness};
use crate::explicit::{self, Explicit};
use crate::robust::undecided;
use crate::verdict::{Bound, Explored, Findings, ReplayResult, Unsupported, gap, judge};
use fencepost_automata::Language;
use fencepost_ir::grace_period;
use fencepost_models::buffered::Buffered;
use fencepost_models::mutation::Mutated;
use fencepost_models::replay::Trace;
use fencepost_models::state::State;
use fencepost_models::{Fidelity, Machine, symbolic};
use fencepost_search::{Coverage, Limits, Stop, WorkLimits};
use reached::{Contents, ControlPoint};
use search::{Search, SearchOptions, SearchResult};

/// The automata engine. It delegates models without store buffers to the explicit engine.
#[derive(Clone, Copy, Debug)]
pub struct Automata {
    /// Whether sleep sets are used. They do not change the answers.
    pub sleep: bool,
    /// Whether silent commits are added to a state at once. They do not change the answers. \[LW10\]
    /// does not have them.
    pub silent: bool,
    /// The exploration order. None: several searches take turns ([`TURNS`]).
    pub order: Option<Order>,
    /// Deliberate errors, for mutation tests.
    pub mutated: Mutated,
}

impl Default for Automata {
    fn default() -> Self {
        Automata::DEFAULT
    }
}

/// The order in which the transitions of a state are explored. A search that terminates gives the
/// same answer in any order. A search that does not terminate in one order may terminate in
/// another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Statements, then commits: cycles close before their stores are committed. As in the paper.
    Statements,
    /// Statements other than stores, then stores, then commits.
    Stores,
    /// Statements other than stores, then commits, then stores: buffers stay short.
    Commits,
}

/// One search of a round.
#[derive(Clone, Copy, Debug)]
struct Turn {
    order: Order,
    /// Whether silent commits are added at once. Some searches terminate only with them, others
    /// only without them.
    silent: bool,
}

/// The searches that take turns. The last one is omitted without silent commits.
const TURNS: [Turn; 4] = [
    Turn { order: Order::Statements, silent: false },
    Turn { order: Order::Stores, silent: false },
    Turn { order: Order::Commits, silent: false },
    Turn { order: Order::Statements, silent: true },
];
/// States that a search may store in the first round.
const FIRST_STATES: u64 = 500;
/// The factor by which the limit on states grows from round to round.
const STATES_FACTOR: u64 = 4;
/// A depth-first search may find runs of thousands of steps. A longer run than this is shortened
/// even if the settings do not ask for a shortest one.
const LONG_RUN: usize = 100;
/// States that the automaton of a buffer may have in the first round. The limit doubles from round
/// to round. A search that exceeds it is unlikely to reach a fixpoint.
const FIRST_WIDTH: usize = 16;
/// With at least this limit on states, only the first search is run: a state space of this size is
/// large in every order.
const SINGLE_ORDER_STATES: u64 = 100_000;

/// The machine with regular languages for buffers.
type Symbolic<'p> = Machine<'p, Buffered<symbolic::Symbolic>>;

/// A state of the symbolic machine.
type SymbolicState = State<Vec<Language>>;

/// An answer with the details that only this engine computes.
#[derive(Clone, Debug)]
pub struct AutomataAnswer {
    /// The answer.
    pub answer: Answer,
    /// States found, including those covered by other states.
    pub visited: u64,
    /// Stored states that violate a property, plus failing steps.
    pub errors: u64,
    /// The buffer contents at each program counter that the search reached.
    pub reached: Vec<ControlPoint>,
    /// By thread: the buffer contents in one state that has the largest number of threads with
    /// infinite contents. Empty if all contents are finite or were not recorded.
    pub widest: Vec<Contents>,
}

impl Engine for Automata {
    fn name(&self) -> &'static str {
        "automata"
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        match self.search(task, settings, budget, SearchExtent::FirstViolation) {
            Some(result) => result.answer,
            None => Explicit.run(task, settings, budget),
        }
    }

    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        match self.search(task, settings, budget, SearchExtent::All) {
            Some(result) => result.answer,
            None => Explicit.outcomes(task, settings, budget),
        }
    }
}

/// How much a search explores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchExtent {
    /// Stops at the first violation.
    FirstViolation,
    /// Explores all states.
    All,
    /// Explores all states, but no successors of states that violate a property.
    AllPrunedAtErrors,
    /// Explores all states and records the buffer contents at each program counter.
    AllWithContents,
}

impl Automata {
    /// Sleep sets on, several orders, no mutation.
    pub const DEFAULT: Automata =
        Automata { sleep: true, silent: true, order: None, mutated: Mutated::NONE };

    /// Searches in rounds with growing limits until a search terminates. Returns None for models
    /// without store buffers.
    pub fn search(
        &self,
        task: Task<'_>,
        settings: Settings,
        budget: Budget<'_>,
        extent: SearchExtent,
    ) -> Option<AutomataAnswer> {
        if task.model.symbolic(self.mutated).is_some()
            && grace_period::occurs(&task.problem.program)
        {
            let answer = undecided(Unsupported::GracePeriods, Decider::Automata);
            let (reached, widest) = (Vec::new(), Vec::new());
            return Some(AutomataAnswer { answer, visited: 0, errors: 0, reached, widest });
        }
        let fixed = self.order.map(|order| [Turn { order, silent: self.silent }]);
        let turns = match &fixed {
            Some(fixed) => &fixed[..],
            None if self.silent => &TURNS[..],
            None => &TURNS[..TURNS.len() - 1],
        };
        let single_turn = turns.len() == 1;
        let mut allowance = if single_turn { settings.limits.states } else { FIRST_STATES };
        let mut max_automaton_states = if single_turn { usize::MAX } else { FIRST_WIDTH };
        loop {
            let states = allowance.min(settings.limits.states);
            let limits = Limits { states, ..settings.limits };
            let round = Settings { limits, ..settings };
            let turns = if states < SINGLE_ORDER_STATES { turns } else { &turns[..1] };
            for (at, turn) in turns.iter().enumerate() {
                let (result, coverage) =
                    self.search_once(task, round, budget, extent, (*turn, max_automaton_states))?;
                let last = states == settings.limits.states && at + 1 == turns.len();
                if last || coverage != Coverage::Cut(Stop::States) {
                    return Some(result);
                }
            }
            allowance = allowance.saturating_mul(STATES_FACTOR);
            max_automaton_states = max_automaton_states.saturating_mul(2);
        }
    }

    /// Runs one search.
    fn search_once(
        &self,
        task: Task<'_>,
        settings: Settings,
        budget: Budget<'_>,
        extent: SearchExtent,
        (Turn { order, silent }, max_automaton_states): (Turn, usize),
    ) -> Option<(AutomataAnswer, Coverage)> {
        let cancel = budget.of_search();
        let budget = Budget { cancel: &cancel, ..budget };
        let model = task.model.symbolic(self.mutated)?;
        let machine = Machine::new(task.problem, model, settings.reductions)
            .within(WorkLimits::of_search(&cancel, settings.limits));
        let stop_at_violation = extent == SearchExtent::FirstViolation;
        let continue_after_errors = extent != SearchExtent::AllPrunedAtErrors;
        let record_contents = extent == SearchExtent::AllWithContents;
        let options = SearchOptions {
            stop_at_violation,
            continue_after_errors,
            sleep: self.sleep,
            silent,
            order,
            max_automaton_states,
            record_contents,
        };
        let found = Search::new(&machine, task, settings, budget, options).run();
        let (visited, errors, coverage) = (found.visited, found.errors, found.coverage);
        let reached = found.reached.control_points(&machine);
        let widest = found.reached.widest(&machine);
        let answer = answer(task, settings, budget, found, stop_at_violation);
        Some((AutomataAnswer { answer, visited, errors, reached, widest }, coverage))
    }
}

fn answer(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    found: SearchResult,
    stop_at_violation: bool,
) -> Answer {
    let statistics = Statistics {
        states: found.stored,
        blocked: 0,
        transitions: found.steps,
        depth: found.depth as u32,
        bytes: found.bytes,
        bound: None,
    };
    let violation = found.violation.map(|trace| {
        let shorter = (stop_at_violation && (settings.shortest || trace.steps.len() > LONG_RUN))
            .then(|| explicit::find_shorter(task, settings, budget, &trace, found.stored))
            .flatten();
        shorter.unwrap_or_else(|| Evidence::replay(task, settings.reductions, &trace))
    });
    let witness = |(at, trace): (usize, Option<Trace>)| {
        let trace = trace?;
        Some(ReplayResult::Confirmed(Witness::replay(task, settings.reductions, at, &trace)))
    };
    let witnesses = found.witnesses.into_iter().enumerate().map(witness).collect();
    let verdict = judge(Findings {
        fidelity: Fidelity::Exact,
        explored: Explored::of(found.coverage, Bound::Buffers, budget.cancel),
        violation: violation.map(ReplayResult::Confirmed),
        witnesses,
        gap: gap(task.problem, !found.outcomes.is_empty(), found.undecided_hang),
    });
    Answer {
        verdict,
        others: Vec::new(),
        statistics,
        outcomes: found.outcomes,
        outcomes_complete: found.coverage == Coverage::Exhaustive,
        decider: Decider::Automata,
        spurious_run: None,
        growing: None,
        runs: None,
        abstracted_values: None,
    }
}
