//! An exploration in parts: for several cores, with the same result for any number of them, and resumable.
//!
//! A part is everything that begins with some moves, except for what is asleep. A part that turns out to have many
//! executions is split into smaller ones, which begin with one or more moves in addition, and is begun again. The parts
//! of a round are explored in parallel; what is found is that of the first part, in their order, that has found
//! something. So nothing depends on time.

use crate::event::Move;
use crate::explorer::{Counts, Explorer, Halt, Limits, Pushed, Stopped};
use crate::sleep::{SleepSet, Sleeper};
use crate::system::{Findings, System};
use crate::{optimal, preemption};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Executions after which a part is split.
const MANY: u64 = 5_000;
/// Parts that one is split into, at least, unless it has no more.
const PIECES: usize = 16;

/// Something to explore. Plain data: it can be written down and read again.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Part {
    /// Where it starts; what that means is known to whoever makes the systems.
    pub start: Vec<u32>,
    /// The moves that it begins with.
    pub moves: Vec<Move>,
    /// For one execution for each trace: what need not be explored after them.
    pub sleep: SleepSet,
    /// For all interleavings: how many preemptions are left. None for one execution for each trace.
    pub preemptions: Option<u32>,
}

/// An exploration: what is left to explore, and what was counted and found so far. Give it to [`explore`] to begin,
/// or once more to resume it.
#[derive(Clone, Debug, Default)]
pub struct Exploration<F> {
    /// What was counted.
    pub counts: Counts,
    /// What was found out.
    pub findings: F,
    /// What is left. If something was found this is not everything.
    pub parts: Vec<Part>,
    /// Whether the exploration has ended because of something that was found.
    pub found: bool,
    /// Why it ended early, if it did.
    pub stopped: Option<Stopped>,
}

impl<F: Findings> Exploration<F> {
    /// One execution for each trace, from all of these starts.
    pub fn traces(starts: impl IntoIterator<Item = Vec<u32>>) -> Self {
        Exploration::from_starts(starts, None)
    }

    /// All interleavings with at most so many preemptions, from all of these starts.
    pub fn interleavings(starts: impl IntoIterator<Item = Vec<u32>>, preemptions: u32) -> Self {
        Exploration::from_starts(starts, Some(preemptions))
    }

    fn from_starts(starts: impl IntoIterator<Item = Vec<u32>>, preemptions: Option<u32>) -> Self {
        let part = |start| Part { start, preemptions, ..Part::default() };
        Exploration { parts: starts.into_iter().map(part).collect(), ..Exploration::default() }
    }
}

/// What came of a part.
enum Done<F> {
    /// It was explored, or something was found that is enough.
    Explored { counts: Counts, findings: F, found: bool },
    /// It has many executions; these are its pieces. Whether there would be more with more preemptions.
    Split(Vec<Part>, bool),
    /// It must not go on.
    Stopped(Stopped),
}

/// Explores until nothing is left, something is found, or a limit is met. `start` makes a system at one of the
/// starts, `None` if there is no such start.
///
/// # Panics
///
/// If a part does not [fit](fits) the system.
pub fn explore<S: System>(
    start: impl Fn(&[u32]) -> Option<S> + Sync,
    mut exploration: Exploration<S::Findings>,
    limits: &Limits<'_>,
) -> Exploration<S::Findings> {
    let exploring = Exploring { start, limits };
    exploration.stopped = None;
    let mut wasted = 0;
    while !exploration.parts.is_empty() && !exploration.found && exploration.stopped.is_none() {
        // How many are explored, and how far, must not depend on time.
        let executions = exploration.counts.executions() + wasted;
        let room = limits.executions.saturating_sub(executions).max(1);
        let some = usize::try_from(room / MANY + 1).unwrap_or(usize::MAX);
        let mut parts = std::mem::take(&mut exploration.parts);
        let rest = parts.split_off(some.min(parts.len()));
        let results = exploring.round(&parts, room);
        for (part, done) in parts.into_iter().zip(results) {
            match done {
                Some(Done::Explored { counts, findings, found }) => {
                    exploration.counts.add(counts);
                    exploration.findings.merge(findings);
                    exploration.found = found;
                    if found {
                        // What comes later was perhaps not explored, depending on time.
                        break;
                    }
                }
                Some(Done::Split(pieces, bounded)) => {
                    exploration.counts.bounded |= bounded;
                    wasted += MANY.min(room);
                    exploration.parts.extend(pieces);
                }
                Some(Done::Stopped(why)) => {
                    exploration.stopped = exploration.stopped.or(Some(why));
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
            exploration.stopped = Some(Stopped::Cancelled);
        } else if executions + wasted >= limits.executions && !exploration.parts.is_empty() {
            exploration.stopped = Some(Stopped::Executions);
        }
    }
    exploration
}

/// Whether parts are ones of this system: their starts exist, and all begin with moves that are possible.
pub fn fits<S: System>(start: impl Fn(&[u32]) -> Option<S> + Sync, parts: &[Part]) -> bool {
    let limits = Limits::default();
    let exploring = Exploring { start, limits: &limits };
    parts.iter().all(|part| exploring.explorer(part).is_some())
}

struct Exploring<'a, M> {
    start: M,
    limits: &'a Limits<'a>,
}

impl<S: System, M: Fn(&[u32]) -> Option<S> + Sync> Exploring<'_, M> {
    /// Explores parts in parallel. None for those that are not needed any more.
    fn round(&self, parts: &[Part], room: u64) -> Vec<Option<Done<S::Findings>>> {
        let results: Vec<Mutex<Option<_>>> = parts.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let first = AtomicUsize::new(usize::MAX);
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(part) = parts.get(at) else { return };
                if at > first.load(Ordering::Relaxed) || (self.limits.cancelled)() {
                    return;
                }
                let done = self.part(part, room);
                if matches!(done, Done::Explored { found: true, .. }) {
                    first.fetch_min(at, Ordering::Relaxed);
                }
                *results[at].lock().unwrap_or_else(|e| e.into_inner()) = Some(done);
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

    /// An explorer at the beginning of a part. None if the part is not one of this system.
    fn explorer(&self, part: &Part) -> Option<Explorer<'_, S>> {
        let mut explorer = Explorer::new((self.start)(&part.start)?, self.limits);
        let threads = explorer.threads();
        for made in &part.moves {
            if made.thread >= threads {
                return None;
            }
            let alternatives = match part.preemptions {
                None => explorer.alternatives(std::slice::from_ref(made)),
                Some(_) => None,
            };
            if explorer.push(made.clone(), alternatives.as_deref()) != Pushed::Yes {
                return None;
            }
        }
        Some(explorer)
    }

    /// An explorer at the beginning of a part of this system.
    fn begin(&self, part: &Part) -> Explorer<'_, S> {
        self.explorer(part).expect("a part begins with moves that are possible")
    }

    /// Explores a part, in at most so many executions.
    fn part(&self, part: &Part, executions: u64) -> Done<S::Findings> {
        self.explored(part, MANY.min(executions)).unwrap_or_else(|| {
            let (pieces, bounded) = self.pieces(part);
            if pieces == [part.clone()] {
                // It cannot be split.
                let done = self.explored(part, u64::MAX);
                return done.expect("it may have as many executions as it has");
            }
            Done::Split(pieces, bounded)
        })
    }

    /// Explores a part, if it has at most so many executions.
    fn explored(&self, part: &Part, executions: u64) -> Option<Done<S::Findings>> {
        let mut explorer = self.begin(part);
        explorer.executions_left = executions;
        let halt = match part.preemptions {
            None => optimal::explore(&mut explorer, part.sleep.clone()),
            Some(left) => preemption::explore(&mut explorer, left),
        };
        let found = halt == ControlFlow::Break(Halt::Found);
        match halt {
            ControlFlow::Break(Halt::Stopped(why)) => return Some(Done::Stopped(why)),
            // A system that was asked to stop may have given up on something.
            _ if !found && (self.limits.cancelled)() => {
                return Some(Done::Stopped(Stopped::Cancelled));
            }
            ControlFlow::Break(Halt::Large) => return None,
            ControlFlow::Break(Halt::Found) | ControlFlow::Continue(()) => {}
        }
        let counts = explorer.counts;
        Some(Done::Explored { counts, findings: explorer.system.into_findings(), found })
    }

    /// Splits a part. Whether there would be more with more preemptions.
    fn pieces(&self, part: &Part) -> (Vec<Part>, bool) {
        let mut pieces = vec![part.clone()];
        let mut bounded = false;
        loop {
            let longer: Vec<Part> =
                pieces.iter().flat_map(|part| self.longer(part, &mut bounded)).collect();
            let grown = longer.iter().zip(&pieces).any(|(a, b)| a.moves.len() > b.moves.len());
            pieces = longer;
            if pieces.len() >= PIECES || !grown {
                return (pieces, bounded);
            }
        }
    }

    /// The parts that begin with one move more; the part itself if it has no such parts.
    fn longer(&self, part: &Part, bounded: &mut bool) -> Vec<Part> {
        let mut explorer = self.begin(part);
        let last = explorer.execution.last_thread();
        let mut found: Vec<Part> = Vec::new();
        let mut sleep = part.sleep.clone();
        let mut last_goes_on = false;
        for thread in explorer.order() {
            if explorer.system.has_halted(thread) {
                continue;
            }
            let mut possible = Vec::new();
            let moves = explorer.system.moves(thread);
            let alternatives = match part.preemptions {
                None => explorer.alternatives(&moves),
                Some(_) => None,
            };
            for made in moves {
                if sleep.contains(&made) {
                    continue;
                }
                match explorer.push(made.clone(), alternatives.as_deref()) {
                    Pushed::Blocked | Pushed::Spinning => continue,
                    // Whoever explores it sees that it fails.
                    Pushed::Failed => return vec![part.clone()],
                    Pushed::Yes => {}
                }
                let footprint = explorer.execution.footprint(part.moves.len()).to_vec();
                explorer.pop();
                possible.push((made, footprint));
            }
            for (made, footprint) in possible {
                last_goes_on |= last == Some(thread);
                let preempts = last_goes_on && last != Some(thread);
                let preemptions = match part.preemptions {
                    Some(0) if preempts => {
                        *bounded = true;
                        continue;
                    }
                    left => left.map(|left| left - u32::from(preempts)),
                };
                found.push(Part {
                    start: part.start.clone(),
                    moves: part.moves.iter().chain([&made]).cloned().collect(),
                    sleep: sleep.after(thread, &footprint),
                    preemptions,
                });
                if part.preemptions.is_none() {
                    sleep.insert(Sleeper { made, footprint });
                }
            }
        }
        if found.is_empty() { vec![part.clone()] } else { found }
    }
}
