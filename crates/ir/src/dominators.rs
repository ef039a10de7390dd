//! Dominators of a control-flow graph.
//!
//! Source: Cooper, Harvey, Kennedy, "A simple, fast dominance algorithm", 2001. A query takes
//! constant time: a statement dominates another if its interval in a traversal of the dominator
//! tree contains the other's.
//!
//! The nodes are statements, or whatever else a caller identifies them by.

use crate::ids::Pc;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The reachable statements in reverse postorder, with their dominators. Statements are identified
/// by their position in this order.
#[derive(Clone, Debug)]
pub struct FlowGraph<N = Pc> {
    /// The reachable statements.
    pub order: Vec<N>,
    /// The predecessors of each statement.
    pub predecessors: Vec<Vec<usize>>,
    /// The immediate dominator of each statement; the entry is its own.
    pub immediate_dominator: Vec<usize>,
    positions: BTreeMap<N, usize>,
    /// The first and last position of each statement in a traversal of the dominator tree.
    intervals: Vec<(usize, usize)>,
}

impl<N: Ord + Copy> FlowGraph<N> {
    /// Computes the graph from its entry and the successors of each statement.
    pub fn new(entry: N, next: impl Fn(N) -> Vec<N>) -> Self {
        let (mut successor_lists, mut order) = (BTreeMap::new(), Vec::new());
        successor_lists.insert(entry, next(entry));
        let mut path = vec![(entry, successor_lists[&entry].clone())];
        while let Some((pc, left)) = path.last_mut() {
            // Visit the last successor first, so that its region comes after the regions of the
            // others.
            if let Some(to) = left.pop() {
                if let Entry::Vacant(new) = successor_lists.entry(to) {
                    path.push((to, new.insert(next(to)).clone()));
                }
            } else {
                order.push(*pc);
                path.pop();
            }
        }
        order.reverse();
        let positions: BTreeMap<N, usize> =
            order.iter().enumerate().map(|(at, pc)| (*pc, at)).collect();
        let mut predecessors = vec![Vec::new(); order.len()];
        for (at, pc) in order.iter().enumerate() {
            successor_lists[pc].iter().for_each(|to| predecessors[positions[to]].push(at));
        }
        let immediate_dominator = immediate_dominators(&predecessors);
        let intervals = intervals(&immediate_dominator);
        FlowGraph { order, predecessors, immediate_dominator, positions, intervals }
    }

    /// Returns the position of a statement. `None` if it is unreachable.
    pub fn position(&self, pc: N) -> Option<usize> {
        self.positions.get(&pc).copied()
    }

    /// Returns whether every path from the entry to `low` passes `high`.
    pub fn dominates(&self, high: usize, low: usize) -> bool {
        let ((first, last), (at, _)) = (self.intervals[high], self.intervals[low]);
        (first..=last).contains(&at)
    }
}

fn immediate_dominators(predecessors: &[Vec<usize>]) -> Vec<usize> {
    const UNKNOWN: usize = usize::MAX;
    let mut immediate_dominator = vec![UNKNOWN; predecessors.len()];
    immediate_dominator[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for at in 1..predecessors.len() {
            let known = predecessors[at]
                .iter()
                .copied()
                .filter(|from| immediate_dominator[*from] != UNKNOWN);
            let meet = known.reduce(|mut a, mut b| {
                while a != b {
                    if a > b {
                        a = immediate_dominator[a];
                    } else {
                        b = immediate_dominator[b];
                    }
                }
                a
            });
            let meet = meet.expect("reverse postorder visits a predecessor first");
            changed |= immediate_dominator[at] != meet;
            immediate_dominator[at] = meet;
        }
    }
    immediate_dominator
}

/// Returns the interval of each statement in a traversal of the dominator tree. A statement comes
/// after its immediate dominator in reverse postorder.
fn intervals(immediate_dominator: &[usize]) -> Vec<(usize, usize)> {
    let mut sizes = vec![1; immediate_dominator.len()];
    for at in (1..sizes.len()).rev() {
        sizes[immediate_dominator[at]] += sizes[at];
    }
    let mut next_child = vec![1; sizes.len()];
    let mut found = vec![(0, sizes[0] - 1); sizes.len()];
    for at in 1..sizes.len() {
        let parent = immediate_dominator[at];
        let first = next_child[parent];
        next_child[parent] += sizes[at];
        next_child[at] = first + 1;
        found[at] = (first, first + sizes[at] - 1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Expr;
    use crate::flow::successors;
    use crate::ids::Label;
    use crate::op::Op;
    use crate::program::{Stmt, Thread};

    /// The definition: without `dominator`, `pc` is not reachable.
    fn dominates(thread: &Thread, dominator: Option<Pc>, pc: Pc) -> bool {
        let mut seen = vec![false; thread.code.len()];
        let mut open = vec![Pc(0)];
        while let Some(here) = open.pop() {
            if Some(here) == dominator || std::mem::replace(&mut seen[here.index()], true) {
                continue;
            }
            open.extend(successors(thread.stmt(here)));
        }
        !seen[pc.index()]
    }

    #[test]
    fn dominators_agree_with_the_definition() {
        let mut random: u64 = 1;
        let mut draw = |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) as usize % below
        };
        let mut positive = 0;
        for _ in 0..300 {
            let len = 1 + draw(12);
            let code = (0..len).map(|_| {
                let mut pc = || Pc::from_index(draw(len));
                let next = pc();
                let branch = Op::Branch { cond: Expr::Const(1), then: pc(), otherwise: pc() };
                let op = if draw(2) == 0 { branch } else { Op::Skip };
                Stmt { label: Label(0), op, next, critical: false }
            });
            let code = code.collect();
            let thread = Thread { name: "p".into(), registers: Vec::new(), code };
            let found = FlowGraph::new(Pc(0), |pc| successors(thread.stmt(pc)).collect());
            assert_eq!(found.order[0], Pc(0));
            for (one, other) in (0..len).flat_map(|one| (0..len).map(move |other| (one, other))) {
                let (one, other) = (Pc::from_index(one), Pc::from_index(other));
                let [high, low] = [one, other].map(|pc| found.position(pc));
                assert_eq!(low.is_none(), dominates(&thread, None, other));
                let (Some(high), Some(low)) = (high, low) else { continue };
                let expected = dominates(&thread, Some(one), other);
                assert_eq!(found.dominates(high, low), expected, "{one:?} {other:?} {thread:?}");
                positive += usize::from(expected && one != other);
            }
        }
        assert!(positive > 300, "{positive}");
    }
}
