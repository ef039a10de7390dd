//! The transition system of a small program with the avoid formula of each state, as in \[KVY10\]
//! Fig. 3.
//!
//! Shows the states from which a run may reach an error. Omits states that only lead back to states
//! that cannot be avoided: every run through them to an error continues as a run that is shown.

use super::per_state::PerState;
use super::plan::{Plan, Role};
use super::{Equations, LabelledGraph, MAX_CONSTRAINTS, NoFormula, StopConditions, prevent};
use super::{abstract_graph, grow_windows, window_graph};
use crate::constraint::Constraint;
use crate::labelled_machine::{LabelledMachine, Prevention};
use fencepost_engines::{Budget, Settings, Task};
use fencepost_ir::{Label, ThreadId, Value};
use fencepost_models::MemoryModel;
use fencepost_models::buffered::Buffered;
use fencepost_models::coherence::Coherence;
use fencepost_search::{Cancel, Graph, Limits};

/// The maximum number of states in a drawing.
pub const MAX_DRAWN_STATES: usize = 200;

/// The words of a clause that fit the constraints of every graph that can be drawn.
const WORDS: usize = MAX_CONSTRAINTS / 64;

/// A conjunction of clauses, each a disjunction of constraints. The empty clause is false.
pub type Formula = Vec<Vec<Constraint>>;

/// A transition system with the avoid formula of each state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateGraph {
    /// The states.
    pub states: Vec<DrawnState>,
    /// The steps between the states.
    pub steps: Vec<DrawnStep>,
    /// The formula that avoids every error.
    pub avoid_errors: Formula,
    /// The bound on windows, if it excluded steps.
    pub bound: Option<u32>,
}

/// A state with its avoid formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DrawnState {
    /// The contents of the state.
    pub contents: StateContents,
    /// The formula that avoids the state.
    pub avoid: Formula,
}

/// The contents of a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateContents {
    /// The values of the locations.
    pub memory: Vec<Value>,
    /// The contents of each thread.
    pub threads: Vec<ThreadContents>,
}

/// The contents of one thread in a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadContents {
    /// The next statement.
    pub next: Label,
    /// The values of the registers.
    pub registers: Vec<Value>,
    /// The pending accesses, oldest first. Under an abstraction: the stores that may be pending.
    pub pending: Vec<Label>,
}

/// A step between two states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DrawnStep {
    /// The position of the source state.
    pub from: usize,
    /// The position of the target state, or `None` for an error.
    pub to: Option<usize>,
    /// The thread and the statement that takes effect, if the two states show it.
    pub statement: Option<(ThreadId, Label)>,
    /// The constraints that prevent the step: enforcing one of them is sufficient.
    pub prevented_by: Vec<Constraint>,
}

/// The reason why there is no drawing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoDrawing {
    /// There is no formula.
    NoFormula(NoFormula),
    /// This many states lead to an error, more than [`MAX_DRAWN_STATES`].
    TooLarge(usize),
}

impl From<NoFormula> for NoDrawing {
    fn from(reason: NoFormula) -> Self {
        NoDrawing::NoFormula(reason)
    }
}

/// Computes the transition system of a task with the avoid formula of each state. Uses the abstract
/// model, if one is given.
pub fn draw_states(
    task: Task<'_>,
    abstraction: Option<Buffered<Coherence>>,
    settings: Settings,
    budget: Budget<'_>,
) -> Result<StateGraph, NoDrawing> {
    let Settings { limits, .. } = settings;
    let cancel = &budget.cancel.child();
    let budget = Budget { cancel, ..budget };
    match abstraction {
        Some(model) => draw(&abstract_graph(task, model, settings, budget, true)?, limits, cancel),
        None => grow_windows(
            task,
            settings,
            |table| draw(&window_graph(task, table, settings, budget, true)?, limits, cancel),
            |drawn| drawn.bound.is_none(),
        ),
    }
}

/// Returns the contents of states.
pub(super) fn contents_of<'s, M: MemoryModel, P: Prevention<M>>(
    system: &LabelledMachine<'_, '_, M, P>,
    states: impl Iterator<Item = &'s [u8]>,
) -> Vec<StateContents> {
    let machine = system.machine;
    let mut state = machine.blank();
    let program = machine.shape.program();
    let thread_contents = |bytes: &[u8]| {
        machine.unpack(bytes, &mut state);
        let mut registers = state.registers.as_slice();
        let threads = program.thread_ids().map(|t| {
            let thread = program.thread(t);
            let (own, others) = registers.split_at(thread.registers.len());
            registers = others;
            ThreadContents {
                next: thread.stmt(state.pcs[t.index()]).label,
                registers: own.to_vec(),
                pending: system.prevention.pending(machine, &state, t),
            }
        });
        let threads = threads.collect();
        StateContents { memory: state.memory.values.clone(), threads }
    };
    states.map(thread_contents).collect()
}

/// Draws the states that lead to an error.
fn draw(
    labelled: &LabelledGraph,
    limits: Limits,
    cancel: &Cancel,
) -> Result<StateGraph, NoDrawing> {
    let LabelledGraph { graph, contents, bound, .. } = labelled;
    let equations = Equations::new(graph)?;
    let Equations { plan, constraints, labels, .. } = &equations;
    let shown = leading_to_error(graph, plan);
    let count = shown.iter().filter(|shown| **shown).count() - 1;
    if count > MAX_DRAWN_STATES {
        return Err(NoDrawing::TooLarge(count));
    }
    let stop = StopConditions { bytes: limits.bytes.saturating_sub(graph.bytes()), cancel };
    let mut per_state = PerState::<WORDS>::new(graph, plan, labels, constraints.len(), false, stop);
    let done = per_state.run(u64::MAX).map_err(NoFormula::Stopped)?;
    assert!(done, "the work is not limited");
    let formula = |node: u32| {
        let mut clauses: Formula = per_state
            .clauses(node)
            .iter()
            .map(|clause| clause.iter().map(|at| constraints[at]).collect())
            .collect();
        clauses.sort_by_key(|clause| (clause.len(), clause.clone()));
        clauses
    };
    let mut positions = vec![None; graph.nodes()];
    let (mut states, mut steps) = (Vec::new(), Vec::new());
    let drawn = || (0..graph.goal()).filter(|node| shown[*node as usize]);
    for node in drawn() {
        positions[node as usize] = Some(states.len());
        let contents = contents[node as usize].clone();
        states.push(DrawnState { contents, avoid: formula(node) });
    }
    for node in drawn() {
        for (to, label) in graph.steps(node).filter(|(to, _)| shown[*to as usize]) {
            let label = &graph.labels()[label as usize];
            let prevented_by = prevent(label).collect();
            let own = label.last().map(|own| Label(*own));
            let after = (to != graph.goal()).then(|| &contents[to as usize]);
            let statement = after
                .and_then(|after| statement_between(&contents[node as usize], after))
                .map(|(thread, label)| (thread, own.unwrap_or(label)));
            let from = positions[node as usize].expect("the source of the step is drawn");
            let step = DrawnStep { from, to: positions[to as usize], statement, prevented_by };
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
    }
    Ok(StateGraph { states, steps, avoid_errors: formula(graph.goal()), bound: *bound })
}

/// Returns by node whether it is drawn: open nodes, the goal, and the entries on paths to them.
fn leading_to_error(graph: &Graph, plan: &Plan) -> Vec<bool> {
    let mut shown: Vec<bool> = plan.roles.iter().map(|role| *role == Role::Open).collect();
    shown[graph.goal() as usize] = true;
    let mut sources = vec![Vec::new(); graph.nodes()];
    for node in (0..graph.goal()).filter(|n| plan.roles[*n as usize] == Role::Entry) {
        graph.steps(node).for_each(|(to, _)| sources[to as usize].push(node));
    }
    let mut stack: Vec<u32> =
        (0..graph.nodes() as u32).filter(|node| shown[*node as usize]).collect();
    while let Some(node) = stack.pop() {
        for source in &sources[node as usize] {
            if !std::mem::replace(&mut shown[*source as usize], true) {
                stack.push(*source);
            }
        }
    }
    shown
}

/// Returns the thread and the statement of the step between two states: the access that is no
/// longer pending, or else the next statement of the thread that changed. `None` if several threads
/// differ, because the target is a join.
fn statement_between(before: &StateContents, after: &StateContents) -> Option<(ThreadId, Label)> {
    let pairs = before.threads.iter().zip(&after.threads).enumerate();
    let mut changed = pairs.filter(|(_, (before, after))| before != after);
    let (at, (before, after)) = changed.next()?;
    if changed.next().is_some() {
        return None;
    }
    let count = |all: &[Label], label: Label| all.iter().filter(|other| **other == label).count();
    let is_gone = |label: &&Label| count(&after.pending, **label) < count(&before.pending, **label);
    let performed = before.pending.iter().find(is_gone).copied();
    Some((ThreadId::from_index(at), performed.unwrap_or(before.next)))
}
