//! Exploration in parts: parallel, deterministic for any number of workers, and resumable.
//!
//! An exploration proceeds in rounds. The parts of a round are explored in parallel. The finding of
//! a round is the finding of its first part, in the order of the parts, that has one. The result
//! therefore does not depend on timing.
//!
//! A part is a [subtree](crate::open_tree) of traces or a [branch](crate::preemption_bound) of
//! interleavings. If it has too many executions, its exploration ends early, and the rest is
//! divided into parts for the next rounds. A subtree is divided only if two of its subtrees are
//! ready. Otherwise the exploration goes on sequentially.

use crate::event::TrackedMove;
use crate::explorer::{Counts, EarlyExit, Explorer, Limits, PushResult, StopReason};
use crate::open_tree::OpenTree;
use crate::optimal::{self, Subtree, SubtreeResult};
use crate::preemption_bound::{self, Branch};
use crate::system::{Findings, System};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The maximal number of parts in a round. More parts need more memory.
const MAX_ROUND_PARTS: usize = 64;
/// How much smaller the first part is, so that all workers soon have a part.
const FIRST_PART_DIVISOR: u64 = 10;

/// The state of an exploration: what remains, and the counts and findings so far. Pass it to
/// [`explore`] to start or resume the exploration.
#[derive(Clone, Debug, Default)]
pub struct Exploration<F> {
    /// The counts so far.
    pub counts: Counts,
    /// The findings so far.
    pub findings: F,
    /// The remaining traces. Pass them to [`Exploration::resumed`] to go on later.
    pub traces: Vec<OpenTree>,
    /// The remaining interleavings.
    interleavings: Vec<Branch>,
    /// Whether a finding ended the exploration. What remains is incomplete then.
    pub found: bool,
    /// Why the exploration ended early without a finding, if it did.
    pub stopped: Option<StopReason>,
}

impl<F: Findings> Exploration<F> {
    /// Creates an exploration of one execution for each trace, from all of these start states.
    pub fn traces(starts: impl IntoIterator<Item = Vec<u32>>) -> Self {
        let traces = starts.into_iter().map(OpenTree::new).collect();
        Exploration { traces, ..Exploration::default() }
    }

    /// Creates an exploration of all interleavings with at most `preemptions` preemptions, from
    /// all of these start states.
    pub fn interleavings(starts: impl IntoIterator<Item = Vec<u32>>, preemptions: u32) -> Self {
        let all = |start| Branch::all(start, preemptions);
        let interleavings = starts.into_iter().map(all).collect();
        Exploration { interleavings, ..Exploration::default() }
    }

    /// Creates an exploration that goes on with these counts and remaining traces.
    pub fn resumed(counts: Counts, mut traces: Vec<OpenTree>) -> Self {
        // The trees may come from a file. In each of the others, some subtree is ready.
        traces.iter_mut().for_each(|tree| {
            tree.absorb(&[], Vec::new());
        });
        traces.retain(|tree| !tree.is_done());
        Exploration { counts, traces, ..Exploration::default() }
    }

    /// Returns whether nothing remains.
    pub fn is_complete(&self) -> bool {
        self.traces.is_empty() && self.interleavings.is_empty()
    }
}

/// A part of a round.
enum Part {
    /// A subtree, with the indices of its tree and node.
    Traces(usize, usize, Subtree),
    Interleavings(Branch),
}

/// The rest of a part.
enum PartRest {
    /// What remains of a subtree, with the indices of its tree and node.
    Traces(usize, usize, SubtreeResult),
    Interleavings(Vec<Branch>),
}

/// The result of exploring a part.
enum PartResult<F> {
    /// The part was explored, except for the rest. `None` instead of the rest if a finding ended
    /// the exploration.
    Explored(Counts, F, Option<PartRest>),
    /// The whole exploration must stop. The part remains.
    Interrupted(StopReason),
}

/// Explores until nothing remains, the system reports a finding, or a limit is reached. `start`
/// creates a system in a start state, or returns `None` if there is no such start state.
///
/// # Panics
///
/// Panics if the remaining traces are not [valid](are_valid_traces) for the system.
pub fn explore<S: System>(
    start: impl Fn(&[u32]) -> Option<S> + Sync,
    mut exploration: Exploration<S::Findings>,
    limits: &Limits<'_>,
) -> Exploration<S::Findings> {
    let explorer = PartExplorer { start, limits };
    exploration.stopped = None;
    while !exploration.is_complete() && !exploration.found && exploration.stopped.is_none() {
        // The number of parts and their limits must not depend on timing.
        let left = limits.executions.saturating_sub(exploration.counts.executions()).max(1);
        let parts = exploration.next_parts(left / limits.part.max(1));
        let part = match exploration.counts.executions() {
            0 => limits.part.div_ceil(FIRST_PART_DIVISOR),
            _ => limits.part,
        };
        let nodes = exploration.nodes_of(&parts);
        let results = explorer.explore_round(parts, part.clamp(1, left));
        exploration.add_results(&nodes, results);
        let executions = exploration.counts.executions();
        (limits.progress)(executions);
        if exploration.found {
            break;
        } else if (limits.cancelled)() {
            exploration.stopped = Some(StopReason::Cancelled);
        } else if executions >= limits.executions && !exploration.is_complete() {
            exploration.stopped = exploration.stopped.or(Some(StopReason::Executions));
        }
    }
    exploration
}

impl<F: Findings> Exploration<F> {
    /// Returns the parts of the next round, at most `number` and at least one.
    fn next_parts(&self, number: u64) -> Vec<Part> {
        let number = usize::try_from(number).unwrap_or(usize::MAX).clamp(1, MAX_ROUND_PARTS);
        let branches = self.interleavings.iter().take(number).cloned();
        let mut parts: Vec<Part> = branches.map(Part::Interleavings).collect();
        for (at, tree) in self.traces.iter().enumerate() {
            let ready = tree.ready(number - parts.len());
            parts.extend(ready.into_iter().map(|(node, subtree)| Part::Traces(at, node, subtree)));
        }
        parts
    }

    /// Returns the nodes of the parts of each tree.
    fn nodes_of(&self, parts: &[Part]) -> Vec<Vec<usize>> {
        let mut nodes = vec![Vec::new(); self.traces.len()];
        for part in parts {
            if let Part::Traces(tree, node, _) = part {
                nodes[*tree].push(*node);
            }
        }
        nodes
    }

    /// Adds the results of a round: `None` for a part that was skipped. `nodes` are the nodes of all
    /// parts of each tree.
    fn add_results(&mut self, nodes: &[Vec<usize>], results: Vec<Option<PartResult<F>>>) {
        let taken = results.len().min(self.interleavings.len());
        let later = self.interleavings.split_off(taken);
        let taken = std::mem::replace(&mut self.interleavings, later);
        let mut taken = taken.into_iter();
        let mut of_trees: Vec<Vec<_>> = self.traces.iter().map(|_| Vec::new()).collect();
        let mut explored: Vec<Vec<_>> = self.traces.iter().map(|_| Vec::new()).collect();
        for result in results {
            let branch = taken.next();
            match result {
                Some(PartResult::Explored(counts, findings, Some(rest))) => match rest {
                    PartRest::Traces(tree, node, rest) => {
                        of_trees[tree].push((node, rest));
                        explored[tree].push((counts, findings));
                    }
                    PartRest::Interleavings(rest) => {
                        self.add(counts, findings);
                        self.interleavings.extend(rest);
                    }
                },
                Some(PartResult::Explored(counts, findings, None)) => {
                    explored.into_iter().flatten().for_each(|(own, found)| self.add(own, found));
                    self.add(counts, findings);
                    // Whether the later parts were explored depends on timing.
                    self.found = true;
                    return;
                }
                Some(PartResult::Interrupted(reason)) => {
                    self.stopped = self.stopped.or(Some(reason));
                    self.interleavings.extend(branch);
                }
                None => self.interleavings.extend(branch),
            }
        }
        for (at, results) in of_trees.into_iter().enumerate() {
            let accepted = self.traces[at].absorb(&nodes[at], results);
            let explored = std::mem::take(&mut explored[at]).into_iter().zip(accepted);
            for ((counts, findings), _) in explored.filter(|(_, accepted)| *accepted) {
                self.add(counts, findings);
            }
        }
        self.traces.retain(|tree| !tree.is_done());
    }

    fn add(&mut self, counts: Counts, findings: F) {
        self.counts.add(counts);
        self.findings.merge(findings);
    }
}

/// Returns whether the remaining traces of an exploration are valid for a system: their start
/// states exist, and all moves are enabled and do not fail before the last one.
pub fn are_valid_traces<S: System>(
    start: impl Fn(&[u32]) -> Option<S> + Sync,
    traces: &[OpenTree],
) -> bool {
    let limits = Limits::default();
    let explorer = PartExplorer { start, limits: &limits };
    let can_replay = |mut explorer: Explorer<'_, S>, path: &[&TrackedMove]| {
        path.iter().enumerate().all(|(at, TrackedMove { mv, footprint })| {
            let combined = mv.has_alternatives().then_some(footprint.as_slice());
            mv.thread < explorer.threads()
                && match explorer.push(mv.clone(), combined) {
                    PushResult::Taken => true,
                    PushResult::Failed => at + 1 == path.len(),
                    PushResult::Blocked | PushResult::Spinning => false,
                }
        })
    };
    let is_valid = |tree: &OpenTree, path: Vec<&TrackedMove>| {
        explorer.explorer(&tree.start).is_some_and(|explorer| can_replay(explorer, &path))
    };
    traces.iter().all(|tree| tree.is_well_formed() && tree.paths().all(|path| is_valid(tree, path)))
}

/// Explores parts.
struct PartExplorer<'a, M> {
    start: M,
    limits: &'a Limits<'a>,
}

impl<S: System, M: Fn(&[u32]) -> Option<S> + Sync> PartExplorer<'_, M> {
    /// Explores parts in parallel, each up to a number of executions. The result is `None` for
    /// parts that were skipped because of a finding in an earlier part or a cancellation.
    fn explore_round(
        &self,
        parts: Vec<Part>,
        executions: u64,
    ) -> Vec<Option<PartResult<S::Findings>>> {
        let workers = self.limits.workers.get().min(parts.len());
        let results: Vec<Mutex<Option<_>>> = parts.iter().map(|_| Mutex::new(None)).collect();
        let parts: Vec<Mutex<Option<Part>>> =
            parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
        let next = AtomicUsize::new(0);
        let first_finding = AtomicUsize::new(usize::MAX);
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(part) = parts.get(at) else { return };
                if at > first_finding.load(Ordering::Relaxed) || (self.limits.cancelled)() {
                    return;
                }
                let part = part.lock().unwrap_or_else(PoisonError::into_inner).take();
                let result = part.map(|part| self.explore_part(part, executions));
                if matches!(result, Some(PartResult::Explored(_, _, None))) {
                    first_finding.fetch_min(at, Ordering::Relaxed);
                }
                *results[at].lock().unwrap_or_else(PoisonError::into_inner) = result;
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..workers {
                scope.spawn(work);
            }
            work();
        });
        let into_inner = |result: Mutex<_>| -> Option<_> {
            result.into_inner().unwrap_or_else(PoisonError::into_inner)
        };
        results.into_iter().map(into_inner).collect()
    }

    /// Explores a part, up to a number of executions.
    fn explore_part(&self, part: Part, executions: u64) -> PartResult<S::Findings> {
        let start = match &part {
            Part::Traces(_, _, subtree) => &subtree.start,
            Part::Interleavings(branch) => &branch.start,
        };
        let Some(mut explorer) = self.explorer(start) else {
            // A cancelled system may not reach its start state.
            assert!((self.limits.cancelled)(), "the start state of a part must exist");
            return PartResult::Interrupted(StopReason::Cancelled);
        };
        explorer.executions_left = executions;
        let end = match part {
            Part::Traces(tree, node, subtree) => optimal::explore(&mut explorer, subtree)
                .map_continue(|rest| PartRest::Traces(tree, node, rest)),
            Part::Interleavings(branch) => preemption_bound::explore(&mut explorer, branch)
                .map_continue(PartRest::Interleavings),
        };
        let rest = match end {
            ControlFlow::Break(EarlyExit::Found) => None,
            ControlFlow::Break(EarlyExit::Interrupted(reason)) => {
                return PartResult::Interrupted(reason);
            }
            // A cancelled system may have skipped some of its work.
            ControlFlow::Continue(_) if (self.limits.cancelled)() => {
                return PartResult::Interrupted(StopReason::Cancelled);
            }
            ControlFlow::Continue(rest) => Some(rest),
        };
        PartResult::Explored(explorer.counts, explorer.system.into_findings(), rest)
    }

    fn explorer(&self, start: &[u32]) -> Option<Explorer<'_, S>> {
        Some(Explorer::new((self.start)(start)?, self.limits))
    }
}
