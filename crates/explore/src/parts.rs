//! Exploration in parts: parallel, deterministic for any number of workers, and resumable.
//!
//! A part is the set of all executions with a given prefix of moves, without those that the sleep
//! set excludes. A part with too many executions is split into parts with longer prefixes; its
//! partial result is discarded. The parts of a round are explored in parallel. The finding of a
//! round is the finding of its first part, in the order of the parts, that has one. The result
//! therefore does not depend on timing.

use crate::event::Move;
use crate::explorer::{Counts, EarlyExit, Explorer, Limits, PushResult, StopReason};
use crate::sleep_set::{SleepSet, Sleeper};
use crate::system::{Findings, System};
use crate::{optimal, preemption_bound};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of executions after which a part is split.
const SPLIT_THRESHOLD: u64 = 5_000;
/// The minimal number of parts that a split produces, if the part has so many.
const MIN_SPLIT_PARTS: usize = 16;

/// A part of an exploration. Plain data, so that it can be saved and loaded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Part {
    /// The start state, in the encoding of the function that creates the systems.
    pub start: Vec<u32>,
    /// The moves of the common prefix.
    pub moves: Vec<Move>,
    /// The sleep set after the prefix. Empty if the part explores interleavings.
    pub sleep: SleepSet,
    /// The remaining preemptions, for a part that explores interleavings. `None` for a part that
    /// explores traces.
    pub preemptions: Option<u32>,
}

/// The state of an exploration: the remaining parts, and the counts and findings so far. Pass it to
/// [`explore`] to start or resume the exploration.
#[derive(Clone, Debug, Default)]
pub struct Exploration<F> {
    /// The counts so far.
    pub counts: Counts,
    /// The findings so far.
    pub findings: F,
    /// The remaining parts. Incomplete if `found` is true.
    pub parts: Vec<Part>,
    /// Whether a finding ended the exploration.
    pub found: bool,
    /// Why the exploration ended early without a finding, if it did.
    pub stopped: Option<StopReason>,
}

impl<F: Findings> Exploration<F> {
    /// Creates an exploration of one execution for each trace, from all of these start states.
    pub fn traces(starts: impl IntoIterator<Item = Vec<u32>>) -> Self {
        Exploration::from_starts(starts, None)
    }

    /// Creates an exploration of all interleavings with at most `preemptions` preemptions, from
    /// all of these start states.
    pub fn interleavings(starts: impl IntoIterator<Item = Vec<u32>>, preemptions: u32) -> Self {
        Exploration::from_starts(starts, Some(preemptions))
    }

    fn from_starts(starts: impl IntoIterator<Item = Vec<u32>>, preemptions: Option<u32>) -> Self {
        let part = |start| Part { start, preemptions, ..Part::default() };
        Exploration { parts: starts.into_iter().map(part).collect(), ..Exploration::default() }
    }
}

/// The result of exploring a part.
enum PartResult<F> {
    /// The part was explored, or a finding ended its exploration.
    Explored { counts: Counts, findings: F, found: bool },
    /// The part has too many executions: the parts of its split, and whether the preemption bound
    /// excluded a move.
    Split(Vec<Part>, bool),
    /// The whole exploration must stop.
    Interrupted(StopReason),
}

/// Explores until no part remains, the system reports a finding, or a limit is reached. `start`
/// creates a system in a start state, or returns `None` if there is no such start state.
///
/// # Panics
///
/// Panics if the parts are not [valid](are_valid_parts) for the system.
pub fn explore<S: System>(
    start: impl Fn(&[u32]) -> Option<S> + Sync,
    mut exploration: Exploration<S::Findings>,
    limits: &Limits<'_>,
) -> Exploration<S::Findings> {
    let explorer = PartExplorer { start, limits };
    exploration.stopped = None;
    // Executions of parts that were split: their results are discarded.
    let mut discarded = 0;
    while !exploration.parts.is_empty() && !exploration.found && exploration.stopped.is_none() {
        // The number of parts and their limits must not depend on timing.
        let executions = exploration.counts.executions() + discarded;
        let executions_left = limits.executions.saturating_sub(executions).max(1);
        let round_size =
            usize::try_from(executions_left / SPLIT_THRESHOLD + 1).unwrap_or(usize::MAX);
        let mut parts = std::mem::take(&mut exploration.parts);
        let rest = parts.split_off(round_size.min(parts.len()));
        let results = explorer.explore_round(&parts, executions_left);
        for (part, result) in parts.into_iter().zip(results) {
            match result {
                Some(PartResult::Explored { counts, findings, found }) => {
                    exploration.counts.add(counts);
                    exploration.findings.merge(findings);
                    exploration.found = found;
                    if found {
                        // Whether the later parts were explored depends on timing.
                        break;
                    }
                }
                Some(PartResult::Split(split, bounded)) => {
                    exploration.counts.bounded |= bounded;
                    discarded += SPLIT_THRESHOLD.min(executions_left);
                    exploration.parts.extend(split);
                }
                Some(PartResult::Interrupted(reason)) => {
                    exploration.stopped = exploration.stopped.or(Some(reason));
                    exploration.parts.push(part);
                }
                None => exploration.parts.push(part),
            }
        }
        if exploration.found {
            break;
        }
        exploration.parts.extend(rest);
        let executions = exploration.counts.executions();
        (limits.progress)(executions);
        if (limits.cancelled)() {
            exploration.stopped = Some(StopReason::Cancelled);
        } else if executions + discarded >= limits.executions && !exploration.parts.is_empty() {
            exploration.stopped = Some(StopReason::Executions);
        }
    }
    exploration
}

/// Returns whether parts are valid for a system: their start states exist, and the moves of their
/// prefixes are enabled and do not fail.
pub fn are_valid_parts<S: System>(
    start: impl Fn(&[u32]) -> Option<S> + Sync,
    parts: &[Part],
) -> bool {
    let limits = Limits::default();
    let explorer = PartExplorer { start, limits: &limits };
    parts.iter().all(|part| explorer.try_replay_prefix(part).is_some())
}

/// Explores and splits parts.
struct PartExplorer<'a, M> {
    start: M,
    limits: &'a Limits<'a>,
}

impl<S: System, M: Fn(&[u32]) -> Option<S> + Sync> PartExplorer<'_, M> {
    /// Explores parts in parallel. The result is `None` for parts that were skipped because of a
    /// finding in an earlier part or a cancellation.
    fn explore_round(
        &self,
        parts: &[Part],
        executions_left: u64,
    ) -> Vec<Option<PartResult<S::Findings>>> {
        let results: Vec<Mutex<Option<_>>> = parts.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let first_finding = AtomicUsize::new(usize::MAX);
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(part) = parts.get(at) else { return };
                if at > first_finding.load(Ordering::Relaxed) || (self.limits.cancelled)() {
                    return;
                }
                let result = self.explore_or_split(part, executions_left);
                if matches!(result, PartResult::Explored { found: true, .. }) {
                    first_finding.fetch_min(at, Ordering::Relaxed);
                }
                *results[at].lock().unwrap_or_else(|e| e.into_inner()) = Some(result);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.limits.workers.get().min(parts.len()) {
                scope.spawn(work);
            }
            work();
        });
        results.into_iter().map(|r| r.into_inner().unwrap_or_else(|e| e.into_inner())).collect()
    }

    /// Returns an explorer after the prefix of a part, or `None` if the part is not valid.
    fn try_replay_prefix(&self, part: &Part) -> Option<Explorer<'_, S>> {
        let mut explorer = Explorer::new((self.start)(&part.start)?, self.limits);
        let threads = explorer.threads();
        for mv in &part.moves {
            if mv.thread >= threads {
                return None;
            }
            let combined = match part.preemptions {
                None => explorer.combined_footprint(std::slice::from_ref(mv)),
                Some(_) => None,
            };
            if explorer.push(mv.clone(), combined.as_deref()) != PushResult::Taken {
                return None;
            }
        }
        Some(explorer)
    }

    /// Returns an explorer after the prefix of a valid part, or `None` if the exploration is
    /// cancelled: a cancelled system may leave out work.
    fn replay_prefix(&self, part: &Part) -> Option<Explorer<'_, S>> {
        let explorer = self.try_replay_prefix(part);
        let cancelled = (self.limits.cancelled)();
        assert!(explorer.is_some() || cancelled, "the moves of a part's prefix are enabled");
        explorer
    }

    /// Explores a part. Splits it instead if it has too many executions.
    fn explore_or_split(&self, part: &Part, executions: u64) -> PartResult<S::Findings> {
        self.explore_within(part, SPLIT_THRESHOLD.min(executions)).unwrap_or_else(|| {
            let (split, bounded) = self.split(part);
            if (self.limits.cancelled)() {
                return PartResult::Interrupted(StopReason::Cancelled);
            }
            if split == [part.clone()] {
                // The part cannot be split.
                let result = self.explore_within(part, u64::MAX);
                return result.expect("the number of executions is not limited");
            }
            PartResult::Split(split, bounded)
        })
    }

    /// Explores a part. Returns `None` if the part reaches the limit on executions.
    fn explore_within(&self, part: &Part, executions: u64) -> Option<PartResult<S::Findings>> {
        let Some(mut explorer) = self.replay_prefix(part) else {
            return Some(PartResult::Interrupted(StopReason::Cancelled));
        };
        explorer.executions_left = executions;
        let end = match part.preemptions {
            None => optimal::explore(&mut explorer, part.sleep.clone()),
            Some(left) => preemption_bound::explore(&mut explorer, left),
        };
        let found = end == ControlFlow::Break(EarlyExit::Found);
        match end {
            ControlFlow::Break(EarlyExit::Interrupted(reason)) => {
                return Some(PartResult::Interrupted(reason));
            }
            // A cancelled system may have skipped some of its work.
            _ if !found && (self.limits.cancelled)() => {
                return Some(PartResult::Interrupted(StopReason::Cancelled));
            }
            ControlFlow::Break(EarlyExit::PartTooLarge) => return None,
            ControlFlow::Break(EarlyExit::Found) | ControlFlow::Continue(()) => {}
        }
        let counts = explorer.counts;
        Some(PartResult::Explored { counts, findings: explorer.system.into_findings(), found })
    }

    /// Splits a part. Also returns whether the preemption bound excluded a move.
    fn split(&self, part: &Part) -> (Vec<Part>, bool) {
        let mut parts = vec![part.clone()];
        let mut bounded = false;
        loop {
            let longer: Vec<Part> =
                parts.iter().flat_map(|part| self.extend_prefix(part, &mut bounded)).collect();
            let grown = longer.iter().zip(&parts).any(|(a, b)| a.moves.len() > b.moves.len());
            parts = longer;
            if parts.len() >= MIN_SPLIT_PARTS || !grown {
                return (parts, bounded);
            }
        }
    }

    /// Returns the parts whose prefix has one more move, or the part itself if there are none.
    fn extend_prefix(&self, part: &Part, bounded: &mut bool) -> Vec<Part> {
        let Some(mut explorer) = self.replay_prefix(part) else { return vec![part.clone()] };
        let last = explorer.execution.last_thread();
        let mut parts: Vec<Part> = Vec::new();
        let mut sleep = part.sleep.clone();
        let mut last_is_enabled = false;
        for thread in explorer.thread_order() {
            if explorer.system.has_halted(thread) {
                continue;
            }
            let mut enabled = Vec::new();
            let moves = explorer.system.moves(thread);
            let combined = match part.preemptions {
                None => explorer.combined_footprint(&moves),
                Some(_) => None,
            };
            for mv in moves {
                if (self.limits.cancelled)() {
                    return vec![part.clone()];
                }
                if sleep.contains(&mv) {
                    continue;
                }
                match explorer.push(mv.clone(), combined.as_deref()) {
                    PushResult::Blocked | PushResult::Spinning => continue,
                    // The part is not split, so that its exploration reports the failure.
                    PushResult::Failed => return vec![part.clone()],
                    PushResult::Taken => {}
                }
                let footprint = explorer.execution.footprint(part.moves.len()).to_vec();
                explorer.pop();
                enabled.push((mv, footprint));
            }
            for (mv, footprint) in enabled {
                last_is_enabled |= last == Some(thread);
                let preempts = last_is_enabled && last != Some(thread);
                let preemptions = match part.preemptions {
                    Some(0) if preempts => {
                        *bounded = true;
                        continue;
                    }
                    left => left.map(|left| left - u32::from(preempts)),
                };
                parts.push(Part {
                    start: part.start.clone(),
                    moves: part.moves.iter().chain([&mv]).cloned().collect(),
                    sleep: sleep.after(thread, &footprint),
                    preemptions,
                });
                if part.preemptions.is_none() {
                    sleep.insert(Sleeper { mv, footprint });
                }
            }
        }
        if parts.is_empty() { vec![part.clone()] } else { parts }
    }
}
