//! Computes avoid formulas by fixpoint: the formula that every sufficient set of constraints
//! satisfies.
//!
//! Source: \[KVY10\] IV-B, Algorithm 1. For each state, `avoid(state)` is a formula over the
//! constraints that keep runs away from the state: every step into the state must be prevented, or
//! its source avoided. The greatest solution, conjoined over the error states, is the most
//! permissive formula: a set of constraints satisfies it exactly if no run that respects the
//! constraints reaches an error. Direction: exact for the table-driven form of the model, up to the
//! bound on windows ([`compute_avoidance`]). Under an abstraction, \[KVY11\] 5.3, there is no
//! bound, and the formula may require more than necessary, never less
//! ([`compute_abstract_avoidance`]).
//!
//! Only the goal's formula is needed. Two methods compute it, and both are exact. They alternate with
//! growing allowances of work:
//!
//! - [`dualise`] generates the clauses of the goal's formula one by one. It searches the graph for a
//!   run that the clauses so far do not prevent.
//! - [`per_state`] computes the formula of every state, as in the papers.
//!
//! Measured on the graphs of \[KVY11\] Table 2: the goal's formula has at most 80 clauses,
//! but formulas of states have so many that [`per_state`] does not end. Rejected: decision diagrams
//! for the formulas of states, as in \[KVY11\] 6. They are small for Dekker's algorithm with k = 0,
//! but grow without an end in sight for the bakery with k = 0 and for Dekker with k = 1.
//!
//! A `final exists` does not concern error states and is ignored.

use crate::coherence_prevention::CoherencePrevention;
use crate::constraint::Constraint;
use crate::hitting_set::Clauses;
use crate::labelled_machine::LabelledMachine;
use crate::set::Set;
use crate::window_prevention::WindowPrevention;
use fencepost_engines::explicit::LARGEST_BOUND;
use fencepost_engines::{Budget, Settings, Task};
use fencepost_ir::Label;
use fencepost_models::buffered::Buffered;
use fencepost_models::catalog::ModelKind;
use fencepost_models::coherence::{Coherence, Domain};
use fencepost_models::mutation::Mutated;
use fencepost_models::table::Table;
use fencepost_models::{Machine, ModelSpec, Reductions};
use fencepost_search::{
    Cancel, Coverage, Exploration, Graph, Limits, Options, Stop, WorkLimits, explore,
    explore_ordered, graph, graph_ordered,
};
use std::collections::BTreeSet;

pub mod drawing;
mod dualise;
mod per_state;
mod plan;
mod reachability;

use drawing::{StateContents, contents_of};
use dualise::Dualisation;
use per_state::PerState;
use plan::{Plan, Role};
use reachability::Reachability;

/// The maximum number of constraints in a formula.
pub const MAX_CONSTRAINTS: usize = 1024;

/// The first bound on windows. It is small because the number of states grows fast if windows are
/// unbounded, and a formula for short windows is better than none.
const FIRST_BOUND: u32 = 4;

/// The work that each method may do before the other one starts: a constant, and this number of
/// searches of the whole graph.
const FIRST_ALLOWANCE: u64 = 1 << 20;
const SEARCHES_IN_FIRST_ALLOWANCE: u64 = 64;

/// The approximate memory use of one edge while the graph is built and processed, in bytes.
const EDGE_BYTES: u64 = 32;

/// An avoid formula: the ordering constraints that prevent all errors.
#[derive(Clone, Debug)]
pub struct Avoidance {
    /// The constraints of the formula, sorted. Clauses refer to them by position.
    pub constraints: Vec<Constraint>,
    /// The formula: at least one constraint of each clause must be enforced.
    pub formula: Clauses,
    /// The number of states of the reduced transition system.
    pub states: u64,
    /// The number of edges of the reduced transition system.
    pub edges: u64,
    /// The bound on windows, if it excluded steps. The formula is then about runs within the bound.
    pub bound: Option<u32>,
    /// Whether the graph of open nodes has no cycle through several nodes, so one pass is enough.
    pub acyclic: bool,
    /// Whether an error is reachable without any overtaking access. Either the program violates its
    /// properties under SC, or an allocation, which is not an access, takes effect too early.
    pub is_unavoidable: bool,
}

impl Avoidance {
    /// Returns the minimum number of constraints that satisfy the formula. None if the error is
    /// unavoidable. Returns an error if the computation was cancelled.
    pub fn fewest(&self, cancel: &Cancel) -> Result<Option<usize>, Stop> {
        let costs = vec![1; self.constraints.len()];
        Ok(self.formula.cheapest(&costs, cancel)?.map(|set| set.len()))
    }

    /// Returns the constraints at a set of positions.
    pub fn constraints_at(&self, set: &Set) -> Vec<Constraint> {
        set.iter().map(|at| self.constraints[at]).collect()
    }
}

/// The reason why no formula was computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoFormula {
    /// The computation reached a limit or was cancelled.
    Stopped(Stop),
    /// This many constraints occur, more than [`MAX_CONSTRAINTS`].
    TooManyConstraints(usize),
}

/// Computes the avoid formula of a task. The bound on windows doubles while it affects the result.
/// If a search with a larger bound stops early, the result is the formula for the last bound with a
/// complete search. Of the reductions in `settings`, only `partial_order` is used. It selects the
/// reduction of [`crate::window_prevention`].
pub fn compute_avoidance(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
) -> Result<Avoidance, NoFormula> {
    let compute = |table| {
        let cancel = &budget.cancel.child();
        let budget = Budget { cancel, ..budget };
        window_graph(task, table, settings, budget, false)?.solve(settings.limits, cancel)
    };
    grow_windows(task, settings, compute, |found| found.bound.is_none() || found.is_unavoidable)
}

/// Calls `compute` with growing bounds on windows until the result is final. Returns the result for
/// the largest bound without an error.
fn grow_windows<T, E>(
    task: Task<'_>,
    settings: Settings,
    mut compute: impl FnMut(Table) -> Result<T, E>,
    is_final: impl Fn(&T) -> bool,
) -> Result<T, E> {
    let bypass = task.model.relaxes();
    let model = ModelSpec { kind: ModelKind::Table(bypass), ..task.model.clone() };
    let max_bound =
        settings.max_buffer.unwrap_or(model.default_max_bound()).clamp(1, LARGEST_BOUND);
    let mut bound = settings.fixed_buffer.unwrap_or(FIRST_BOUND.min(max_bound));
    let mut last = None;
    loop {
        let found = match (compute(Table { bypass, bound, mutated: Mutated::NONE }), last) {
            (Ok(found), _) => found,
            (Err(_), Some(smaller)) => return Ok(smaller),
            (Err(reason), None) => return Err(reason),
        };
        if is_final(&found) || settings.fixed_buffer.is_some() || bound >= max_bound {
            return Ok(found);
        }
        last = Some(found);
        bound = (bound * 2).min(max_bound);
    }
}

/// The reductions of the machine that omit no labels.
const REDUCTIONS: Reductions = Reductions { partial_order: false, ..Reductions::ALL };

/// The labelled transition system of a task.
struct LabelledGraph {
    graph: Graph,
    /// The number of states that the search visited.
    states: u64,
    /// The bound on windows, if it excluded steps.
    bound: Option<u32>,
    /// By node: the contents of the state. Empty unless requested.
    contents: Vec<StateContents>,
}

impl LabelledGraph {
    /// Computes the avoid formula.
    fn solve(self, limits: Limits, cancel: &Cancel) -> Result<Avoidance, NoFormula> {
        let LabelledGraph { graph, states, bound, .. } = self;
        let stop = StopConditions { bytes: limits.bytes.saturating_sub(graph.bytes()), cancel };
        let solution = solve(&graph, stop)?;
        let is_unavoidable = solution.formula.iter().any(Set::is_empty);
        Ok(Avoidance {
            is_unavoidable,
            constraints: solution.constraints,
            formula: solution.formula,
            states,
            edges: graph.edges() as u64,
            bound,
            acyclic: solution.acyclic,
        })
    }
}

/// Builds the transition system for one bound on windows, with the contents of its states if
/// requested.
fn window_graph(
    task: Task<'_>,
    table: Table,
    settings: Settings,
    budget: Budget<'_>,
    with_contents: bool,
) -> Result<LabelledGraph, NoFormula> {
    let Settings { limits, threads, .. } = settings;
    let Budget { cancel, progress } = budget;
    let machine =
        Machine::new(task.problem, table, REDUCTIONS).within(WorkLimits::of_search(cancel, limits));
    let options = Options { limits, cancel, progress, threads, stop_at: None };
    // A drawing shows every state, as in the paper.
    let reduce = settings.reductions.partial_order && !with_contents;
    let prevention = WindowPrevention::new(&machine, reduce);
    let system = LabelledMachine::new(&machine, prevention);
    let found = explore(&system, options);
    let bound = match found.coverage {
        Coverage::Exhaustive => None,
        Coverage::Bounded => Some(table.bound),
        Coverage::Cut(stop) => return Err(NoFormula::Stopped(stop)),
        Coverage::Found => unreachable!("the search has no target"),
    };
    let graph = graph(&found, &system, threads, cancel);
    let graph = graph.ok_or(NoFormula::Stopped(cancel.reason().unwrap_or(Stop::Interrupted)))?;
    let states = (0..graph.goal()).map(|number| found.state(found.node(number)));
    let contents = if with_contents { contents_of(&system, states) } else { Vec::new() };
    Ok(LabelledGraph { graph, states: found.states, bound, contents })
}

/// Computes the avoid formula of a task under an abstract model with labelled entries. The formula
/// is about store buffers of any length.
///
/// # Panics
/// Panics if the entries of the model carry no labels.
pub fn compute_abstract_avoidance(
    task: Task<'_>,
    model: Buffered<Coherence>,
    settings: Settings,
    budget: Budget<'_>,
) -> Result<Avoidance, NoFormula> {
    let cancel = &budget.cancel.child();
    let graph = abstract_graph(task, model, settings, Budget { cancel, ..budget }, false)?;
    graph.solve(settings.limits, cancel)
}

/// Builds the transition system under an abstract model with labelled entries, with the contents of
/// its states if requested.
fn abstract_graph(
    task: Task<'_>,
    model: Buffered<Coherence>,
    settings: Settings,
    budget: Budget<'_>,
    with_contents: bool,
) -> Result<LabelledGraph, NoFormula> {
    assert!(model.0.labelled, "the entries of the abstract model must carry labels");
    let Settings { limits, threads, .. } = settings;
    let Budget { cancel, progress } = budget;
    let machine =
        Machine::new(task.problem, model, REDUCTIONS).within(WorkLimits::of_search(cancel, limits));
    let options = Options { limits, cancel, progress, threads, stop_at: None };
    let system = LabelledMachine::new(&machine, CoherencePrevention);
    let mut contents = Vec::new();
    let (graph, states) = match model.0.domain {
        Domain::Full => {
            let found = explore(&system, options);
            check_graph_fits(&found, system.generated_edges(), limits.bytes)?;
            if with_contents {
                let numbers = 0..found.states as u32;
                contents = contents_of(&system, numbers.map(|n| found.state(found.node(n))));
            }
            (graph(&found, &system, threads, cancel), found.states)
        }
        Domain::Partial | Domain::Set => {
            let found = explore_ordered(&system, options);
            check_graph_fits(&found, system.generated_edges(), limits.bytes)?;
            if with_contents {
                contents = contents_of(&system, found.members());
            }
            (graph_ordered(&found, &system, threads, cancel), found.states)
        }
    };
    let graph = graph.ok_or(NoFormula::Stopped(cancel.reason().unwrap_or(Stop::Interrupted)))?;
    Ok(LabelledGraph { graph, states, bound: None, contents })
}

/// Checks that a search is complete and that its graph fits into the memory limit `bytes`.
fn check_graph_fits<V>(
    found: &Exploration<V>,
    generated_edges: u64,
    bytes: u64,
) -> Result<(), NoFormula> {
    match found.coverage {
        Coverage::Exhaustive => {}
        Coverage::Cut(stop) => return Err(NoFormula::Stopped(stop)),
        Coverage::Bounded => unreachable!("abstract buffers have no bound"),
        Coverage::Found => unreachable!("the search has no target"),
    }
    // Replaced states generated edges too, but they are not nodes of the graph.
    let edges = generated_edges as f64 * found.states as f64 / found.stored.max(1) as f64;
    let available = bytes.saturating_sub(found.bytes).min(u64::from(u32::MAX) * EDGE_BYTES);
    if edges * EDGE_BYTES as f64 > available as f64 {
        return Err(NoFormula::Stopped(Stop::Memory));
    }
    Ok(())
}

/// Conjoins the formulas of several problems of one file. Equal constraints are identified.
pub fn conjoin(all: &[Avoidance]) -> Avoidance {
    let distinct: BTreeSet<Constraint> = all.iter().flat_map(|a| &a.constraints).copied().collect();
    let constraints: Vec<Constraint> = distinct.into_iter().collect();
    let position =
        |c: &Constraint| constraints.binary_search(c).expect("every constraint is in the list");
    let mut formula = Clauses::new(constraints.len());
    for avoidance in all {
        let positions: Vec<usize> = avoidance.constraints.iter().map(position).collect();
        for clause in avoidance.formula.iter() {
            formula.add(Set::of(constraints.len(), clause.iter().map(|at| positions[at])));
        }
    }
    Avoidance {
        formula,
        constraints,
        states: all.iter().map(|a| a.states).sum(),
        edges: all.iter().map(|a| a.edges).sum(),
        bound: all.iter().filter_map(|a| a.bound).min(),
        acyclic: all.iter().all(|a| a.acyclic),
        is_unavoidable: all.iter().any(|a| a.is_unavoidable),
    }
}

/// The conditions that stop a computation early.
#[derive(Clone, Copy, Debug)]
struct StopConditions<'a> {
    /// The memory that the computation may use in addition to the graph.
    bytes: u64,
    cancel: &'a Cancel,
}

impl StopConditions<'_> {
    /// Returns an error if the computation must stop. `bytes` is the memory in use.
    fn check(&self, bytes: u64) -> Result<(), Stop> {
        match self.cancel.reason() {
            Some(reason) => Err(reason),
            None if bytes > self.bytes => Err(Stop::Memory),
            None => Ok(()),
        }
    }
}

/// The solution of the fixpoint equations of a graph.
#[derive(Debug)]
struct Solution {
    constraints: Vec<Constraint>,
    formula: Clauses,
    acyclic: bool,
}

/// The graph of a task and what the computation of its formulas needs.
struct Equations<'a> {
    graph: &'a Graph,
    plan: Plan,
    constraints: Vec<Constraint>,
    /// By label of the graph: the positions of the constraints that prevent its steps.
    labels: Vec<Set>,
}

impl<'a> Equations<'a> {
    fn new(graph: &'a Graph) -> Result<Self, NoFormula> {
        let plan = Plan::new(graph);
        let constraints: Vec<Constraint> = plan.constraints(graph).into_iter().collect();
        if constraints.len() > MAX_CONSTRAINTS {
            return Err(NoFormula::TooManyConstraints(constraints.len()));
        }
        let position = |c: Constraint| constraints.binary_search(&c).ok();
        let labels = graph.labels().iter();
        let labels = labels
            .map(|label| Set::of(constraints.len(), prevent(label).filter_map(position)))
            .collect();
        Ok(Equations { graph, plan, constraints, labels })
    }
}

/// Computes the formula that keeps runs away from the goal of a graph. An edge label lists
/// statement labels: the overtaken statements, then the overtaking statement.
fn solve(graph: &Graph, stop: StopConditions<'_>) -> Result<Solution, NoFormula> {
    let equations = Equations::new(graph)?;
    let solve = match equations.constraints.len() {
        0..=64 => minimal_clauses::<1>,
        65..=128 => minimal_clauses::<2>,
        129..=256 => minimal_clauses::<4>,
        257..=512 => minimal_clauses::<8>,
        _ => minimal_clauses::<16>,
    };
    let mut sets = solve(&equations, stop).map_err(NoFormula::Stopped)?;
    sets.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.iter().cmp(b.iter())));
    let mut formula = Clauses::new(equations.constraints.len());
    for set in sets {
        stop.check(0).map_err(NoFormula::Stopped)?;
        formula.add(set);
    }
    let acyclic = equations.plan.is_acyclic();
    Ok(Solution { constraints: equations.constraints, formula, acyclic })
}

/// Computes the minimal clauses of the goal's formula. Both methods give the same clauses. They
/// alternate with growing allowances of work, so the result does not depend on time.
fn minimal_clauses<const W: usize>(
    equations: &Equations<'_>,
    stop: StopConditions<'_>,
) -> Result<Vec<Set>, Stop> {
    let Equations { graph, plan, constraints, labels } = equations;
    match plan.roles[graph.goal() as usize] {
        Role::Entry => return Ok(vec![Set::empty(constraints.len())]),
        Role::Irrelevant => return Ok(Vec::new()),
        Role::Open => {}
    }
    let reachability = Reachability::new(graph, plan, labels, stop)?;
    let mut dualisation = Dualisation::new(reachability, constraints.len());
    let mut allowance = FIRST_ALLOWANCE + SEARCHES_IN_FIRST_ALLOWANCE * dualisation.arcs();
    let mut per_state: Option<PerState<'_, W>> = None;
    loop {
        if dualisation.run(allowance)? {
            return Ok(dualisation.into_clauses());
        }
        let bytes = stop.bytes.saturating_sub(dualisation.bytes());
        let stop = StopConditions { bytes, ..stop };
        let per_state = per_state.get_or_insert_with(|| {
            PerState::new(graph, plan, labels, constraints.len(), true, stop)
        });
        if per_state.run(allowance)? {
            return Ok(per_state.clauses(graph.goal()));
        }
        allowance *= 4;
    }
}

/// Returns the constraints that prevent a step with this label.
fn prevent(label: &[u32]) -> impl Iterator<Item = Constraint> + '_ {
    let after = label.last().map(|own| Label(*own));
    let overtaken = &label[..label.len().saturating_sub(1)];
    after.into_iter().flat_map(|after| {
        overtaken.iter().map(move |before| Constraint { before: Label(*before), after })
    })
}

#[cfg(test)]
mod tests;
