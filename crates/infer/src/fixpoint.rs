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
//! A clause of `avoid(state)` is the union of the labels of one path to the state. Only the minimal
//! clauses matter. This allows the following reductions:
//!
//! - States that are reachable by steps without a label cannot be avoided. They are entries: paths
//!   start there.
//! - States that cannot reach an error are irrelevant.
//! - A clause that the goal's formula so far implies adds nothing to it, and neither do the clauses
//!   that extend it.
//!
//! The remaining states are processed by strongly connected component (Tarjan), each in reverse
//! post-order, and again only where a formula changed. An acyclic graph needs one pass.
//!
//! A `final exists` does not concern error states and is ignored.

use crate::avoid::{Bits, Clause, Formula, Formulas};
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
    Cancel, Coverage, Exploration, Graph, Options, Stop, WorkLimits, explore, explore_ordered,
    graph, graph_ordered,
};
use std::collections::BTreeSet;

/// The maximum number of constraints in a formula.
pub const MAX_CONSTRAINTS: usize = 1024;

/// The first bound on windows. It is small because the number of states grows fast if windows are
/// unbounded, and a formula for short windows is better than none.
const FIRST_BOUND: u32 = 4;

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
    /// The maximum number of passes over one component.
    pub passes: u32,
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
    let bypass = task.model.relaxes();
    let model = ModelSpec { kind: ModelKind::Table(bypass), ..task.model.clone() };
    let max_bound =
        settings.max_buffer.unwrap_or(model.default_max_bound()).clamp(1, LARGEST_BOUND);
    let mut bound = settings.fixed_buffer.unwrap_or(FIRST_BOUND.min(max_bound));
    let mut last = None;
    loop {
        let result = compute_with_bound(
            task,
            Table { bypass, bound, mutated: Mutated::NONE },
            settings,
            budget,
        );
        let found = match (result, last) {
            (Ok(found), _) => found,
            (Err(_), Some(smaller)) => return Ok(smaller),
            (Err(reason), None) => return Err(reason),
        };
        let fixed = settings.fixed_buffer.is_some();
        if found.bound.is_none() || fixed || bound >= max_bound || found.is_unavoidable {
            return Ok(found);
        }
        last = Some(found);
        bound = (bound * 2).min(max_bound);
    }
}

/// The reductions of the machine that omit no labels.
const REDUCTIONS: Reductions = Reductions { partial_order: false, ..Reductions::ALL };

/// Computes the avoid formula for one bound on windows.
fn compute_with_bound(
    task: Task<'_>,
    table: Table,
    settings: Settings,
    budget: Budget<'_>,
) -> Result<Avoidance, NoFormula> {
    let Settings { limits, threads, .. } = settings;
    let Budget { cancel, progress } = budget;
    let cancel = &cancel.child();
    let machine =
        Machine::new(task.problem, table, REDUCTIONS).within(WorkLimits::of_search(cancel, limits));
    let options = Options { limits, cancel, progress, threads, stop_at: None };
    let prevention = WindowPrevention::new(&machine, settings.reductions.partial_order);
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
    let states = found.states;
    drop(found);
    let stop = StopConditions { bytes: limits.bytes, cancel };
    Ok(Avoidance { states, bound, ..solve_graph(&graph, stop)? })
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
    assert!(model.0.labelled, "the entries of the abstract model must carry labels");
    let Settings { limits, threads, .. } = settings;
    let Budget { cancel, progress } = budget;
    let cancel = &cancel.child();
    let machine =
        Machine::new(task.problem, model, REDUCTIONS).within(WorkLimits::of_search(cancel, limits));
    let options = Options { limits, cancel, progress, threads, stop_at: None };
    let system = LabelledMachine::new(&machine, CoherencePrevention);
    let (graph, states) = match model.0.domain {
        Domain::Full => {
            let found = explore(&system, options);
            check_graph_fits(&found, system.generated_edges(), limits.bytes)?;
            (graph(&found, &system, threads, cancel), found.states)
        }
        Domain::Partial | Domain::Set => {
            let found = explore_ordered(&system, options);
            check_graph_fits(&found, system.generated_edges(), limits.bytes)?;
            (graph_ordered(&found, &system, threads, cancel), found.states)
        }
    };
    let graph = graph.ok_or(NoFormula::Stopped(cancel.reason().unwrap_or(Stop::Interrupted)))?;
    let stop = StopConditions { bytes: limits.bytes, cancel };
    Ok(Avoidance { states, ..solve_graph(&graph, stop)? })
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

/// Computes the avoid formula of a graph with its statistics.
fn solve_graph(graph: &Graph, stop: StopConditions<'_>) -> Result<Avoidance, NoFormula> {
    let solution = solve(graph, stop)?;
    let is_unavoidable = solution.formula.iter().any(Set::is_empty);
    Ok(Avoidance {
        is_unavoidable,
        constraints: solution.constraints,
        formula: solution.formula,
        states: graph.nodes() as u64 - 1,
        edges: graph.edges() as u64,
        bound: None,
        acyclic: solution.acyclic,
        passes: solution.passes,
    })
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
        passes: all.iter().map(|a| a.passes).max().unwrap_or(0),
        is_unavoidable: all.iter().any(|a| a.is_unavoidable),
    }
}

/// The conditions that stop a computation early.
#[derive(Clone, Copy, Debug)]
struct StopConditions<'a> {
    bytes: u64,
    cancel: &'a Cancel,
}

/// The solution of the fixpoint equations of a graph.
#[derive(Debug)]
struct Solution {
    constraints: Vec<Constraint>,
    formula: Clauses,
    acyclic: bool,
    passes: u32,
}

/// Computes the formula that keeps runs away from the goal of a graph. An edge label lists
/// statement labels: the overtaken statements, then the overtaking statement.
fn solve(graph: &Graph, stop: StopConditions<'_>) -> Result<Solution, NoFormula> {
    let plan = Plan::new(graph);
    let constraints: Vec<Constraint> = plan.constraints(graph).into_iter().collect();
    match constraints.len() {
        0..=64 => solve_with_plan::<1>(graph, &plan, constraints, stop),
        65..=128 => solve_with_plan::<2>(graph, &plan, constraints, stop),
        129..=256 => solve_with_plan::<4>(graph, &plan, constraints, stop),
        257..=512 => solve_with_plan::<8>(graph, &plan, constraints, stop),
        513..=MAX_CONSTRAINTS => solve_with_plan::<16>(graph, &plan, constraints, stop),
        count => Err(NoFormula::TooManyConstraints(count)),
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

/// The role of a node in the computation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// The node cannot reach the goal, or only through entries.
    Irrelevant,
    /// The node is reachable by steps without a label, so it cannot be avoided.
    Entry,
    /// The formula of the node must be computed.
    Open,
}

/// The order of the computation.
#[derive(Debug)]
struct Plan {
    roles: Vec<Role>,
    /// The open nodes in topological order of their components.
    order: Vec<u32>,
    /// The start of each component in `order`, then the length of `order`.
    components: Vec<usize>,
}

impl Plan {
    fn new(graph: &Graph) -> Self {
        let entries = entries(graph);
        let mut roles = vec![Role::Irrelevant; graph.nodes()];
        for (role, is_entry) in roles.iter_mut().zip(&entries) {
            if *is_entry {
                *role = Role::Entry;
            }
        }
        mark_open(graph, &mut roles);
        let (order, components) = components(graph, &roles);
        Plan { roles, order, components }
    }

    /// Returns the constraints of the steps into open nodes.
    fn constraints(&self, graph: &Graph) -> BTreeSet<Constraint> {
        let mut used = vec![false; graph.labels().len()];
        let relevant = (0..graph.nodes()).filter(|n| self.roles[*n] != Role::Irrelevant);
        for (to, label) in relevant.flat_map(|node| graph.steps(node as u32)) {
            used[label as usize] |= self.roles[to as usize] == Role::Open;
        }
        let used = graph.labels().iter().zip(used).filter(|(_, used)| *used);
        used.flat_map(|(label, _)| prevent(label)).collect()
    }
}

/// Returns by node whether it is reachable by steps without a label.
fn entries(graph: &Graph) -> Vec<bool> {
    let mut reached = vec![false; graph.nodes()];
    let mut stack: Vec<u32> = graph.initial().to_vec();
    stack.iter().for_each(|node| reached[*node as usize] = true);
    while let Some(node) = stack.pop() {
        for (to, label) in graph.steps(node) {
            if label == Graph::EMPTY && !reached[to as usize] {
                reached[to as usize] = true;
                stack.push(to);
            }
        }
    }
    reached
}

/// Marks the nodes that can reach the goal without passing an entry as open.
fn mark_open(graph: &Graph, roles: &mut [Role]) {
    if roles[graph.goal() as usize] == Role::Entry {
        return;
    }
    // The reversed steps between nodes that are not entries.
    let is_entry = |node: u32| roles[node as usize] == Role::Entry;
    let inner = |node: u32| graph.steps(node).map(|(to, _)| to).filter(|to| !is_entry(*to));
    let nodes = graph.nodes() as u32;
    let mut starts = vec![0_u32; graph.nodes() + 1];
    for to in (0..nodes).filter(|node| !is_entry(*node)).flat_map(inner) {
        starts[to as usize + 1] += 1;
    }
    for at in 0..graph.nodes() {
        starts[at + 1] += starts[at];
    }
    let mut sources = vec![0; starts[graph.nodes()] as usize];
    let mut free = starts.clone();
    for from in (0..nodes).filter(|node| !is_entry(*node)) {
        for to in inner(from) {
            sources[free[to as usize] as usize] = from;
            free[to as usize] += 1;
        }
    }
    let mut stack = vec![graph.goal()];
    roles[graph.goal() as usize] = Role::Open;
    while let Some(node) = stack.pop() {
        let range = starts[node as usize] as usize..starts[node as usize + 1] as usize;
        for from in &sources[range] {
            if roles[*from as usize] == Role::Irrelevant {
                roles[*from as usize] = Role::Open;
                stack.push(*from);
            }
        }
    }
}

/// Computes the strongly connected components of the open nodes (Tarjan's algorithm without
/// recursion). Returns the nodes in topological order of the components, each component in reverse
/// post-order, and the start of each component.
fn components(graph: &Graph, roles: &[Role]) -> (Vec<u32>, Vec<usize>) {
    const NEW: u32 = u32::MAX;
    let is_open = |node: u32| roles[node as usize] == Role::Open;
    let nodes = graph.nodes();
    // By node: its discovery index, and the smallest discovery index of a node on the stack that it
    // reaches.
    let mut found = vec![NEW; nodes];
    let mut low = vec![NEW; nodes];
    let mut finished = vec![NEW; nodes];
    let mut in_component = vec![false; nodes];
    let (mut finds, mut finishes) = (0, 0);
    let mut stack: Vec<u32> = Vec::new();
    let mut order: Vec<u32> = Vec::new();
    let mut ends: Vec<usize> = Vec::new();
    for root in (0..nodes as u32).filter(|node| is_open(*node)) {
        if found[root as usize] != NEW {
            continue;
        }
        let mut path = vec![(root, graph.steps(root))];
        found[root as usize] = finds;
        low[root as usize] = finds;
        finds += 1;
        stack.push(root);
        while let Some((node, steps)) = path.last_mut() {
            let at = *node as usize;
            if let Some((to, _)) = steps.next() {
                let next = to as usize;
                if !is_open(to) || in_component[next] {
                    continue;
                }
                if found[next] == NEW {
                    found[next] = finds;
                    low[next] = finds;
                    finds += 1;
                    stack.push(to);
                    path.push((to, graph.steps(to)));
                } else {
                    low[at] = low[at].min(found[next]);
                }
                continue;
            }
            finished[at] = finishes;
            finishes += 1;
            if low[at] == found[at] {
                let begin = order.len();
                loop {
                    let member = stack.pop().expect("the root of a component is on the stack");
                    in_component[member as usize] = true;
                    order.push(member);
                    if member as usize == at {
                        break;
                    }
                }
                order[begin..].sort_unstable_by_key(|member| finished[*member as usize]);
                ends.push(order.len());
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                let parent = *parent as usize;
                low[parent] = low[parent].min(low[at]);
            }
        }
    }
    order.reverse();
    let starts = ends.iter().rev().map(|end| order.len() - end).chain([order.len()]).collect();
    (order, starts)
}

fn solve_with_plan<const W: usize>(
    graph: &Graph,
    plan: &Plan,
    constraints: Vec<Constraint>,
    stop: StopConditions<'_>,
) -> Result<Solution, NoFormula> {
    let mut formulas = Formulas::<W>::new();
    let bits = |label: &[u32]| {
        let mut bits: Bits<W> = [0; W];
        for at in prevent(label).filter_map(|c| constraints.binary_search(&c).ok()) {
            bits[at / 64] |= 1 << (at % 64);
        }
        bits
    };
    let prevents = graph.labels().iter().map(|label| formulas.clause(bits(label))).collect();
    let mut avoid = vec![Formula::TRUE; graph.nodes()];
    for (formula, role) in avoid.iter_mut().zip(&plan.roles) {
        if *role == Role::Entry {
            *formula = Formula::FALSE;
        }
    }
    let changed = vec![false; graph.nodes()];
    let mut fixpoint = Fixpoint { graph, plan, formulas, prevents, avoid, changed, stop };
    let (acyclic, passes) = fixpoint.compute()?;
    let of_goal = fixpoint.avoid[graph.goal() as usize];
    let mut formula = Clauses::new(constraints.len());
    let mut sets: Vec<Set> =
        fixpoint.formulas.clauses(of_goal).map(|bits| to_set(constraints.len(), bits)).collect();
    sets.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.iter().cmp(b.iter())));
    for set in sets {
        if let Some(reason) = stop.cancel.reason() {
            return Err(NoFormula::Stopped(reason));
        }
        formula.add(set);
    }
    Ok(Solution { constraints, formula, acyclic, passes })
}

fn to_set<const W: usize>(constraints: usize, bits: &Bits<W>) -> Set {
    Set::of(constraints, (0..constraints).filter(|at| bits[at / 64] >> (at % 64) & 1 == 1))
}

/// The state of the fixpoint computation.
struct Fixpoint<'a, const W: usize> {
    graph: &'a Graph,
    plan: &'a Plan,
    formulas: Formulas<W>,
    /// By edge label: the constraints that prevent the step.
    prevents: Vec<Clause>,
    /// By node: the current approximation of its avoid formula.
    avoid: Vec<Formula>,
    /// By node: whether its formula has changed since its last propagation.
    changed: Vec<bool>,
    stop: StopConditions<'a>,
}

impl<const W: usize> Fixpoint<'_, W> {
    /// Computes all formulas. Returns whether every component is a single node, and the maximum
    /// number of passes over a component.
    fn compute(&mut self) -> Result<(bool, u32), NoFormula> {
        let plan = self.plan;
        for node in (0..self.graph.nodes()).filter(|n| plan.roles[*n] == Role::Entry) {
            self.propagate(node as u32)?;
        }
        let mut acyclic = true;
        let mut max_passes = 1;
        for range in plan.components.windows(2) {
            let component = &plan.order[range[0]..range[1]];
            acyclic &= component.len() == 1;
            let mut passes = 0;
            while component.iter().any(|node| self.changed[*node as usize]) {
                for node in component {
                    if self.changed[*node as usize] {
                        self.propagate(*node)?;
                    }
                }
                passes += 1;
            }
            max_passes = max_passes.max(passes);
        }
        Ok((acyclic, max_passes))
    }

    /// Propagates the formula of a node to the targets of its steps.
    fn propagate(&mut self, node: u32) -> Result<(), NoFormula> {
        // Checked for every node, because one node with a large formula can take long.
        if let Some(reason) = self.stop.cancel.reason() {
            return Err(NoFormula::Stopped(reason));
        }
        if self.formulas.bytes() + self.graph.bytes() > self.stop.bytes {
            return Err(NoFormula::Stopped(Stop::Memory));
        }
        self.changed[node as usize] = false;
        let so_far = self.avoid[self.graph.goal() as usize];
        let formula = self.formulas.without(self.avoid[node as usize], so_far);
        if formula == Formula::TRUE {
            return Ok(());
        }
        for (to, label) in self.graph.steps(node) {
            if self.plan.roles[to as usize] != Role::Open || to == node {
                continue;
            }
            if let Some(reason) = self.stop.cancel.reason() {
                return Err(NoFormula::Stopped(reason));
            }
            let either = self.formulas.or(formula, self.prevents[label as usize]);
            let before = self.avoid[to as usize];
            let after = self.formulas.and(before, either);
            if after != before {
                self.avoid[to as usize] = after;
                self.changed[to as usize] = true;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
