//! Computes the avoid formula of every state by fixpoint.
//!
//! Source: \[KVY10\] IV-B, Algorithm 1. The formula of a node is the conjunction over the steps
//! into it: the step must be prevented, or its source avoided. A clause of the formula is the union
//! of the labels of one path to the node. Only the minimal clauses matter. If only the goal's
//! formula is needed, a clause that the goal's formula so far implies is not propagated: neither the
//! clause nor the clauses that extend it add anything.
//!
//! Components are processed in topological order, the nodes of a component in reverse post-order,
//! and again only where a formula changed. An acyclic graph needs one pass.

use super::StopConditions;
use super::plan::{Plan, Role};
use crate::avoid::{Bits, Clause, Formula, Formulas};
use crate::set::Set;
use fencepost_search::{Graph, Stop};

/// The state of the fixpoint computation.
#[derive(Debug)]
pub(super) struct PerState<'a, const W: usize> {
    graph: &'a Graph,
    plan: &'a Plan,
    constraints: usize,
    formulas: Formulas<W>,
    /// By edge label: the constraints that prevent the step.
    prevents: Vec<Clause>,
    /// By node: the current approximation of its avoid formula.
    avoid: Vec<Formula>,
    /// By node: whether its formula has changed since its last propagation.
    changed: Vec<bool>,
    /// Whether only the formula of the goal is needed.
    only_goal: bool,
    stop: StopConditions<'a>,
    /// The component that is being processed.
    component: usize,
    /// The position in the order of the next node. `None` before the entries are processed.
    next: Option<usize>,
}

impl<'a, const W: usize> PerState<'a, W> {
    /// Starts the computation. `labels` has the constraints that prevent the steps of each label.
    pub(super) fn new(
        graph: &'a Graph,
        plan: &'a Plan,
        labels: &[Set],
        constraints: usize,
        only_goal: bool,
        stop: StopConditions<'a>,
    ) -> Self {
        let mut formulas = Formulas::<W>::new();
        let prevents = labels.iter().map(|label| formulas.clause(to_bits(label))).collect();
        let avoid = plan.roles.iter().map(|role| match role {
            Role::Entry => Formula::FALSE,
            Role::Irrelevant | Role::Open => Formula::TRUE,
        });
        PerState {
            graph,
            plan,
            constraints,
            formulas,
            prevents,
            avoid: avoid.collect(),
            changed: vec![false; graph.nodes()],
            only_goal,
            stop,
            component: 0,
            next: None,
        }
    }

    /// Continues until the work exceeds `allowance`. Returns whether the formulas are final.
    pub(super) fn run(&mut self, allowance: u64) -> Result<bool, Stop> {
        let plan = self.plan;
        let mut next = match self.next {
            Some(next) => next,
            None => {
                for node in (0..self.graph.nodes()).filter(|n| plan.roles[*n] == Role::Entry) {
                    self.propagate(node as u32)?;
                }
                0
            }
        };
        while let [begin, end] = plan.components[self.component..][..2] {
            if next == end {
                let component = &plan.order[begin..end];
                if component.iter().any(|node| self.changed[*node as usize]) {
                    next = begin;
                    continue;
                }
                self.component += 1;
                if self.component + 1 == plan.components.len() {
                    break;
                }
                continue;
            }
            let node = plan.order[next];
            if self.changed[node as usize] {
                if self.formulas.work() > allowance {
                    self.next = Some(next);
                    return Ok(false);
                }
                self.propagate(node)?;
            }
            next += 1;
        }
        Ok(true)
    }

    /// Propagates the formula of a node to the targets of its steps.
    fn propagate(&mut self, node: u32) -> Result<(), Stop> {
        self.changed[node as usize] = false;
        let mut formula = self.avoid[node as usize];
        if self.only_goal {
            let so_far = self.avoid[self.graph.goal() as usize];
            formula = self.formulas.without(formula, so_far);
        }
        if formula == Formula::TRUE {
            return Ok(());
        }
        for (to, label) in self.graph.steps(node) {
            if self.plan.roles[to as usize] != Role::Open || to == node {
                continue;
            }
            // Checked for every step, because one step with a large formula can take long.
            self.stop.check(self.formulas.bytes())?;
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

    /// Returns the minimal clauses of the formula of a node.
    pub(super) fn clauses(&self, node: u32) -> Vec<Set> {
        let clauses = self.formulas.clauses(self.avoid[node as usize]);
        clauses.map(|bits| to_set(self.constraints, bits)).collect()
    }
}

fn to_bits<const W: usize>(set: &Set) -> Bits<W> {
    let mut bits: Bits<W> = [0; W];
    set.iter().for_each(|at| bits[at / 64] |= 1 << (at % 64));
    bits
}

fn to_set<const W: usize>(constraints: usize, bits: &Bits<W>) -> Set {
    Set::of(constraints, (0..constraints).filter(|at| bits[at / 64] >> (at % 64) & 1 == 1))
}
