//! Inference by the papers' fixed point: the formula that every set of constraints must satisfy.
//!
//! Source: \[KVY10\] IV-B, Algorithm 1. For each state, `avoid(state)` says which constraints keep runs away
//! from it: for each step into it, those that prevent the step or avoid its source. The greatest
//! solution, conjoined over the error states, is the most permissive formula: a set of constraints
//! satisfies it exactly when no run that keeps them goes wrong. Direction: exact for the
//! table-driven reading of the model, up to the bound on windows ([`avoidance`]). Under an abstraction, \[KVY11\] 5.3, there is
//! no bound, and the formula may ask for more than is needed, never for less ([`abstract_avoidance`]).
//!
//! Spelled out, a clause of `avoid(state)` is the union of what prevents the steps of one path there, and
//! only the smallest count. So much can be left out beforehand:
//!
//! - States reached by steps that nothing prevents cannot be avoided: they are beginnings.
//! - States from which no error can be reached do not matter.
//! - A clause that the formula found so far implies adds nothing to it, and neither does
//!   what grows from it.
//!
//! What is left is worked through component by component (Tarjan), each in reverse post-order, and again only
//! where something changed. Without cycles this is one pass.
//!
//! A `final exists` is not a matter of avoiding states and is not looked at.

use crate::avoid::{Bits, Clause, Formula, Formulas};
use crate::coherent::Coherent;
use crate::constraint::Constraint;
use crate::graph::LabelledMachine;
use crate::hitting::Clauses;
use crate::set::Set;
use crate::windows::Windows;
use fencepost_engines::explicit::LARGEST_BOUND;
use fencepost_engines::{Budget, Settings, Task};
use fencepost_ir::Label;
use fencepost_models::buffered::Buffered;
use fencepost_models::catalog::Kind;
use fencepost_models::coherence::{Coherence, Domain};
use fencepost_models::mutation::Mutated;
use fencepost_models::table::Table;
use fencepost_models::{Machine, ModelSpec, Reductions};
use fencepost_search::{
    Coverage, Exploration, Graph, Options, Stop, explore, explore_ordered, graph, graph_ordered,
};
use std::collections::BTreeSet;

/// How many constraints a formula may be about.
pub const MOST_CONSTRAINTS: usize = 1024;

/// The bound on windows that is tried first. Small: where windows can grow for ever, states become many
/// soon, and a formula for short windows is better than none.
const FIRST_BOUND: u32 = 4;

/// Bytes for a step of a graph while it is made and worked through, roughly.
const STEP: u64 = 32;

/// What has to be kept in order so that nothing goes wrong.
#[derive(Clone, Debug)]
pub struct Avoidance {
    /// The constraints the formula is about, in order; its clauses use their positions.
    pub constraints: Vec<Constraint>,
    /// The formula: of each clause, one constraint must be kept.
    pub formula: Clauses,
    /// States of the transition system, after its reduction.
    pub states: u64,
    /// Its steps.
    pub edges: u64,
    /// The bound on windows, if it left steps out: the formula is then about runs within it.
    pub bound: Option<u32>,
    /// Whether nothing had to be computed twice, because there are no cycles.
    pub acyclic: bool,
    /// How often the states of one component were gone through at most.
    pub passes: u32,
    /// Whether something goes wrong although no access overtakes another. The program may be wrong under SC;
    /// or an allocation, which is no access, came too early.
    pub unavoidable: bool,
}

impl Avoidance {
    /// The smallest number of constraints that satisfy the formula; none if it is unavoidable.
    pub fn fewest(&self) -> Option<usize> {
        let costs = vec![1; self.constraints.len()];
        self.formula.cheapest(&costs).map(|set| set.len())
    }

    /// The constraints of a set of positions.
    pub fn named(&self, set: &Set) -> Vec<Constraint> {
        set.iter().map(|at| self.constraints[at]).collect()
    }
}

/// Why there is no formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GaveUp {
    /// A limit was met.
    Stopped(Stop),
    /// There are so many constraints, more than [`MOST_CONSTRAINTS`].
    Constraints(usize),
}

/// Computes the formula for a task. The bound on windows doubles while it matters. When a search with a larger
/// bound has to be given up, the formula for the last bound that was searched completely is the answer. Of the
/// settings' reductions only the partial order is asked for, and it means the one of [`crate::graph`].
pub fn avoidance(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
) -> Result<Avoidance, GaveUp> {
    let bypass = task.model.relaxes();
    let model = ModelSpec { kind: Kind::Table(bypass), ..task.model.clone() };
    let most = settings.max_buffer.unwrap_or(model.last_bound()).clamp(1, LARGEST_BOUND);
    let mut bound = settings.fixed_buffer.unwrap_or(FIRST_BOUND.min(most));
    let mut last = None;
    loop {
        let result =
            with_bound(task, Table { bypass, bound, mutated: Mutated::NONE }, settings, budget);
        let found = match (result, last) {
            (Ok(found), _) => found,
            (Err(_), Some(smaller)) => return Ok(smaller),
            (Err(why), None) => return Err(why),
        };
        let fixed = settings.fixed_buffer.is_some();
        if found.bound.is_none() || fixed || bound >= most || found.unavoidable {
            return Ok(found);
        }
        last = Some(found);
        bound = (bound * 2).min(most);
    }
}

/// The reductions that leave no labels out.
const REDUCTIONS: Reductions = Reductions { fuse: true, clear_dead: true, partial_order: false };

/// Computes the formula with one bound.
fn with_bound(
    task: Task<'_>,
    table: Table,
    settings: Settings,
    budget: Budget<'_>,
) -> Result<Avoidance, GaveUp> {
    let Settings { limits, threads, .. } = settings;
    let Budget { cancel, progress } = budget;
    let machine = Machine::new(task.problem, table, REDUCTIONS);
    let options = Options { limits, cancel, progress, threads, stop_at: None };
    let windows = Windows::new(&machine, settings.reductions.partial_order);
    let system = LabelledMachine::new(&machine, windows);
    let found = explore(&system, options);
    let bound = match found.coverage {
        Coverage::Exhaustive => None,
        Coverage::Bounded => Some(table.bound),
        Coverage::Cut(stop) => return Err(GaveUp::Stopped(stop)),
        Coverage::Found => unreachable!("there is nothing to stop at"),
    };
    let graph = graph(&found, &system, threads, cancel);
    let graph = graph.ok_or(GaveUp::Stopped(cancel.raised().unwrap_or(Stop::Interrupted)))?;
    let states = found.states;
    drop(found);
    let watch = Watch { bytes: limits.bytes, cancel };
    Ok(Avoidance { states, bound, ..of_graph(&graph, watch)? })
}

/// Computes the formula for a task under an abstract model whose entries are labelled. It is about store buffers of
/// any length.
///
/// # Panics
/// When the model's entries carry no labels.
pub fn abstract_avoidance(
    task: Task<'_>,
    model: Buffered<Coherence>,
    settings: Settings,
    budget: Budget<'_>,
) -> Result<Avoidance, GaveUp> {
    assert!(model.0.labelled, "constraints are about labels");
    let Settings { limits, threads, .. } = settings;
    let Budget { cancel, progress } = budget;
    let machine = Machine::new(task.problem, model, REDUCTIONS);
    let options = Options { limits, cancel, progress, threads, stop_at: None };
    let system = LabelledMachine::new(&machine, Coherent);
    let (graph, states) = match model.0.domain {
        Domain::Full => {
            let found = explore(&system, options);
            has_room(&found, system.told(), limits.bytes)?;
            (graph(&found, &system, threads, cancel), found.states)
        }
        Domain::Partial | Domain::Set => {
            let found = explore_ordered(&system, options);
            has_room(&found, system.told(), limits.bytes)?;
            (graph_ordered(&found, &system, threads, cancel), found.states)
        }
    };
    let graph = graph.ok_or(GaveUp::Stopped(cancel.raised().unwrap_or(Stop::Interrupted)))?;
    let watch = Watch { bytes: limits.bytes, cancel };
    Ok(Avoidance { states, ..of_graph(&graph, watch)? })
}

/// Whether a search has seen everything, and its graph has room beside it.
fn has_room<V>(found: &Exploration<V>, told: u64, bytes: u64) -> Result<(), GaveUp> {
    match found.coverage {
        Coverage::Exhaustive => {}
        Coverage::Cut(stop) => return Err(GaveUp::Stopped(stop)),
        Coverage::Bounded => unreachable!("abstract buffers have no bound"),
        Coverage::Found => unreachable!("there is nothing to stop at"),
    }
    // States that were replaced told their steps, too, but are no nodes.
    let edges = told as f64 * found.states as f64 / found.stored.max(1) as f64;
    let room = bytes.saturating_sub(found.bytes).min(u64::from(u32::MAX) * STEP);
    if edges * STEP as f64 > room as f64 {
        return Err(GaveUp::Stopped(Stop::Memory));
    }
    Ok(())
}

/// The formula of a graph, with what it says of itself.
fn of_graph(graph: &Graph, watch: Watch<'_>) -> Result<Avoidance, GaveUp> {
    let solution = solve(graph, watch)?;
    let unavoidable = solution.formula.iter().any(Set::is_empty);
    Ok(Avoidance {
        unavoidable,
        constraints: solution.constraints,
        formula: solution.formula,
        states: graph.nodes() as u64 - 1,
        edges: graph.edges() as u64,
        bound: None,
        acyclic: solution.acyclic,
        passes: solution.passes,
    })
}

/// The formulas of several problems of one file as one, by what their constraints name.
pub fn conjoin(all: &[Avoidance]) -> Avoidance {
    let names: BTreeSet<Constraint> = all.iter().flat_map(|a| &a.constraints).copied().collect();
    let constraints: Vec<Constraint> = names.into_iter().collect();
    let position = |c: &Constraint| constraints.binary_search(c).expect("all of them are there");
    let mut formula = Clauses::over(constraints.len());
    for one in all {
        let renamed: Vec<usize> = one.constraints.iter().map(position).collect();
        for clause in one.formula.iter() {
            formula.add(Set::of(constraints.len(), clause.iter().map(|at| renamed[at])));
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
        unavoidable: all.iter().any(|a| a.unavoidable),
    }
}

/// What ends a computation early.
#[derive(Clone, Copy, Debug)]
struct Watch<'a> {
    bytes: u64,
    cancel: &'a fencepost_search::Cancel,
}

/// The formula of a graph.
#[derive(Debug)]
struct Solution {
    constraints: Vec<Constraint>,
    formula: Clauses,
    acyclic: bool,
    passes: u32,
}

/// What keeps runs away from the goal of a graph. The steps' labels are the labels of statements: what is
/// overtaken, and last what overtakes.
fn solve(graph: &Graph, watch: Watch<'_>) -> Result<Solution, GaveUp> {
    let plan = Plan::new(graph);
    let constraints: Vec<Constraint> = plan.constraints(graph).into_iter().collect();
    match constraints.len() {
        0..=64 => run::<1>(graph, &plan, constraints, watch),
        65..=128 => run::<2>(graph, &plan, constraints, watch),
        129..=256 => run::<4>(graph, &plan, constraints, watch),
        257..=512 => run::<8>(graph, &plan, constraints, watch),
        513..=MOST_CONSTRAINTS => run::<16>(graph, &plan, constraints, watch),
        more => Err(GaveUp::Constraints(more)),
    }
}

/// The constraints that prevent a step with this label.
fn prevent(label: &[u32]) -> impl Iterator<Item = Constraint> + '_ {
    let after = label.last().map(|own| Label(*own));
    let overtaken = &label[..label.len().saturating_sub(1)];
    after.into_iter().flat_map(|after| {
        overtaken.iter().map(move |before| Constraint { before: Label(*before), after })
    })
}

/// What a node is to the computation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// It cannot lead to the goal, or only through beginnings.
    Irrelevant,
    /// Nothing can prevent its being reached.
    Beginning,
    /// Its formula has to be computed.
    Open,
}

/// In which order to go about it.
#[derive(Debug)]
struct Plan {
    roles: Vec<Role>,
    /// The open nodes, sources first.
    order: Vec<u32>,
    /// Where components begin in `order`; then how long it is.
    components: Vec<usize>,
}

impl Plan {
    fn new(graph: &Graph) -> Self {
        let beginning = beginnings(graph);
        let mut roles = vec![Role::Irrelevant; graph.nodes()];
        for (role, begins) in roles.iter_mut().zip(&beginning) {
            if *begins {
                *role = Role::Beginning;
            }
        }
        open(graph, &mut roles);
        let (order, components) = components(graph, &roles);
        Plan { roles, order, components }
    }

    /// The constraints of the steps that matter.
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

/// By node: whether steps that nothing prevents lead there.
fn beginnings(graph: &Graph) -> Vec<bool> {
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

/// Marks the nodes from which the goal can be reached without passing a beginning.
fn open(graph: &Graph, roles: &mut [Role]) {
    if roles[graph.goal() as usize] == Role::Beginning {
        return;
    }
    // The steps between nodes that are no beginnings, backwards.
    let closed = |node: u32| roles[node as usize] == Role::Beginning;
    let inner = |node: u32| graph.steps(node).map(|(to, _)| to).filter(|to| !closed(*to));
    let nodes = graph.nodes() as u32;
    let mut starts = vec![0_u32; graph.nodes() + 1];
    for to in (0..nodes).filter(|node| !closed(*node)).flat_map(inner) {
        starts[to as usize + 1] += 1;
    }
    for at in 0..graph.nodes() {
        starts[at + 1] += starts[at];
    }
    let mut sources = vec![0; starts[graph.nodes()] as usize];
    let mut free = starts.clone();
    for from in (0..nodes).filter(|node| !closed(*node)) {
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

/// The open nodes, component after component, sources first, each component in reverse
/// post-order; and where the components begin. Tarjan's algorithm without recursion.
fn components(graph: &Graph, roles: &[Role]) -> (Vec<u32>, Vec<usize>) {
    const NEW: u32 = u32::MAX;
    let is_open = |node: u32| roles[node as usize] == Role::Open;
    let nodes = graph.nodes();
    // By node: when it was found, and the earliest found node on the stack that it leads to.
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
                    let member = stack.pop().expect("a component's root is on the stack");
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

fn run<const W: usize>(
    graph: &Graph,
    plan: &Plan,
    constraints: Vec<Constraint>,
    watch: Watch<'_>,
) -> Result<Solution, GaveUp> {
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
        if *role == Role::Beginning {
            *formula = Formula::FALSE;
        }
    }
    let changed = vec![false; graph.nodes()];
    let mut pass = Pass { graph, plan, formulas, prevents, avoid, changed, watch };
    let (acyclic, passes) = pass.all()?;
    let of_goal = pass.avoid[graph.goal() as usize];
    let mut formula = Clauses::over(constraints.len());
    let mut sets: Vec<Set> =
        pass.formulas.clauses(of_goal).map(|b| set(constraints.len(), b)).collect();
    sets.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.iter().cmp(b.iter())));
    sets.into_iter().for_each(|set| {
        formula.add(set);
    });
    Ok(Solution { constraints, formula, acyclic, passes })
}

fn set<const W: usize>(constraints: usize, bits: &Bits<W>) -> Set {
    Set::of(constraints, (0..constraints).filter(|at| bits[at / 64] >> (at % 64) & 1 == 1))
}

/// The computation under way.
struct Pass<'a, const W: usize> {
    graph: &'a Graph,
    plan: &'a Plan,
    formulas: Formulas<W>,
    /// By label.
    prevents: Vec<Clause>,
    /// By node: what keeps runs away from it, as far as known.
    avoid: Vec<Formula>,
    /// By node: whether its formula has changed since it was handed on.
    changed: Vec<bool>,
    watch: Watch<'a>,
}

impl<const W: usize> Pass<'_, W> {
    /// Computes all formulas. Whether each node was gone through once, and how often at most.
    fn all(&mut self) -> Result<(bool, u32), GaveUp> {
        let plan = self.plan;
        for node in (0..self.graph.nodes()).filter(|n| plan.roles[*n] == Role::Beginning) {
            self.hand_on(node as u32)?;
        }
        let mut acyclic = true;
        let mut most = 1;
        for ends in plan.components.windows(2) {
            let component = &plan.order[ends[0]..ends[1]];
            acyclic &= component.len() == 1;
            let mut passes = 0;
            while component.iter().any(|node| self.changed[*node as usize]) {
                for node in component {
                    if self.changed[*node as usize] {
                        self.hand_on(*node)?;
                    }
                }
                passes += 1;
            }
            most = most.max(passes);
        }
        Ok((acyclic, most))
    }

    /// Tells the targets of a node's steps what its formula is.
    fn hand_on(&mut self, node: u32) -> Result<(), GaveUp> {
        // Each time, because one node with a large formula can take long.
        if let Some(stop) = self.watch.cancel.raised() {
            return Err(GaveUp::Stopped(stop));
        }
        if self.formulas.bytes() + self.graph.bytes() > self.watch.bytes {
            return Err(GaveUp::Stopped(Stop::Memory));
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
