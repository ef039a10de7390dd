//! Answers whether runs reach the goal if some constraints are enforced, and which constraints
//! prevent one such run.
//!
//! A graph reduced to what these queries need: the entries are one node, only open nodes remain,
//! and the steps from one node to another are one arc. An arc carries the numbers of the labels of
//! its steps. Few different lists of labels occur, so a query first computes which of them it may
//! pass, and then visits each arc at most once.

use super::StopConditions;
use super::plan::{Plan, Role};
use crate::set::Set;
use fencepost_search::{Graph, Stop};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The node that represents all entries.
const ENTRY: u32 = 0;
/// The mark of a node that a query has not reached.
const UNREACHED: u32 = u32::MAX;
/// The number of visited nodes between two checks for cancellation.
const CHECK_INTERVAL: u64 = 1024;

/// The reduced graph.
#[derive(Debug)]
pub(super) struct Reachability<'a> {
    /// By node: its first arc. The last entry is the number of arcs.
    starts: Vec<u32>,
    targets: Vec<u32>,
    /// By arc: the number of its list of labels.
    list_of: Vec<u32>,
    /// The lists of labels. The labels of a list are those of different steps.
    lists: Vec<Box<[u32]>>,
    /// By label: the constraints that prevent its steps.
    labels: &'a [Set],
    goal: u32,
    pub(super) stop: StopConditions<'a>,
    /// The number of arcs that queries have visited.
    pub(super) visited: u64,
    /// By node: the arc through which the query reached it, or [`UNREACHED`].
    reached_by: Vec<u32>,
    /// By node: the node from which the query reached it.
    reached_from: Vec<u32>,
}

impl<'a> Reachability<'a> {
    /// Reduces a graph. The goal is an open node.
    pub(super) fn new(
        graph: &Graph,
        plan: &Plan,
        labels: &'a [Set],
        stop: StopConditions<'a>,
    ) -> Result<Self, Stop> {
        let mut numbers = vec![ENTRY; graph.nodes()];
        for (number, node) in (ENTRY + 1..).zip(&plan.order) {
            numbers[*node as usize] = number;
        }
        let mut reduced = Reachability {
            starts: vec![0],
            targets: Vec::new(),
            list_of: Vec::new(),
            lists: Vec::new(),
            labels,
            goal: numbers[graph.goal() as usize],
            stop,
            visited: 0,
            reached_by: vec![UNREACHED; plan.order.len() + 1],
            reached_from: vec![ENTRY; plan.order.len() + 1],
        };
        let mut list_numbers = FxHashMap::default();
        let is_open = |node: u32| plan.roles[node as usize] == Role::Open;
        let steps_of = |node: u32, steps: &mut Vec<(u32, u32)>| {
            let steps_to_open = graph.steps(node).filter(|(to, _)| *to != node && is_open(*to));
            steps.extend(steps_to_open.map(|(to, label)| (numbers[to as usize], label)));
        };
        let entries = (0..graph.nodes() as u32).filter(|n| plan.roles[*n as usize] == Role::Entry);
        let mut steps: Vec<(u32, u32)> = Vec::new();
        for entry in entries {
            steps_of(entry, &mut steps);
            // Many entries have the same steps.
            if steps.len() > 1 << 16 {
                steps.sort_unstable();
                steps.dedup();
            }
        }
        reduced.add_arcs(&mut steps, &mut list_numbers);
        for node in &plan.order {
            steps_of(*node, &mut steps);
            reduced.add_arcs(&mut steps, &mut list_numbers);
            stop.check(reduced.bytes())?;
        }
        Ok(reduced)
    }

    /// Adds the arcs of the next node and clears the list of its steps.
    fn add_arcs(
        &mut self,
        steps: &mut Vec<(u32, u32)>,
        list_numbers: &mut FxHashMap<Box<[u32]>, u32>,
    ) {
        steps.sort_unstable();
        steps.dedup();
        let mut list = Vec::new();
        for parallel in steps.chunk_by(|a, b| a.0 == b.0) {
            list.clear();
            list.extend(parallel.iter().map(|(_, label)| *label));
            let number = match list_numbers.get(&*list) {
                Some(number) => *number,
                None => {
                    let number = self.lists.len() as u32;
                    self.lists.push(list.as_slice().into());
                    list_numbers.insert(list.as_slice().into(), number);
                    number
                }
            };
            self.targets.push(parallel[0].0);
            self.list_of.push(number);
        }
        self.starts.push(self.targets.len() as u32);
        steps.clear();
    }

    /// Estimates the memory use in bytes.
    pub(super) fn bytes(&self) -> u64 {
        4 * (3 * self.starts.len() + 2 * self.targets.len()) as u64
    }

    /// Returns the number of arcs.
    pub(super) fn arcs(&self) -> u64 {
        self.targets.len() as u64
    }

    /// Searches for a run to the goal that only constraints in `allowed` prevent. Returns the
    /// constraints that prevent the run which was found, or `None` if there is no such run. The
    /// search prefers steps without a label.
    pub(super) fn run_within(&mut self, allowed: &Set) -> Result<Option<Set>, Stop> {
        let passes = |label: &u32| self.labels[*label as usize].is_subset(allowed);
        // By list of labels: a label that the query may pass. Labels are sorted, so an empty label
        // is the first.
        let label_of: Vec<Option<u32>> =
            self.lists.iter().map(|list| list.iter().copied().find(passes)).collect();
        self.reached_by.fill(UNREACHED);
        let mut queue = VecDeque::from([ENTRY]);
        let mut polled = 0;
        while let Some(node) = queue.pop_front() {
            if node == self.goal {
                return Ok(Some(self.constraints_of_run(&label_of, allowed)));
            }
            polled += 1;
            if polled % CHECK_INTERVAL == 1 {
                self.stop.check(0)?;
            }
            let arcs = self.starts[node as usize]..self.starts[node as usize + 1];
            self.visited += u64::from(arcs.end - arcs.start);
            for arc in arcs {
                let Some(label) = label_of[self.list_of[arc as usize] as usize] else { continue };
                let to = self.targets[arc as usize];
                if self.reached_by[to as usize] != UNREACHED {
                    continue;
                }
                self.reached_by[to as usize] = arc;
                self.reached_from[to as usize] = node;
                if label == Graph::EMPTY {
                    queue.push_front(to);
                } else {
                    queue.push_back(to);
                }
            }
        }
        Ok(None)
    }

    /// Returns the constraints that prevent the run to the goal of the last query.
    fn constraints_of_run(&self, label_of: &[Option<u32>], allowed: &Set) -> Set {
        let mut constraints = allowed.clone();
        constraints.subtract(allowed);
        let mut node = self.goal;
        while node != ENTRY {
            let list = self.list_of[self.reached_by[node as usize] as usize];
            let label = label_of[list as usize].expect("the run passes only allowed labels");
            constraints.union_with(&self.labels[label as usize]);
            node = self.reached_from[node as usize];
        }
        constraints
    }
}
