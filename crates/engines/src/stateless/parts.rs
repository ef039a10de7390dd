//! An exploration in parts: for two cores, for the same answer on every machine, and to go on another time.
//!
//! A part is everything that begins with some moves, but for what is asleep. A part that turns out to have
//! many runs is cut into smaller ones, which begin with one or more moves in addition, and begun again. Parts
//! of a round are explored side by side; what is found is that of the first part, in their order,
//! that has found something. So nothing depends on time.

use super::explorer::{Explorer, Found, Plan, Tally, Until};
use super::footprint::{Cells, conflict};
use super::interleavings;
use super::path::{Move, Path, Pushed};
use super::traces::Traces;
use super::wakeup::Asleep;
use crate::engine::Budget;
use crate::sc::ScMachine;
use fencepost_ir::waits::Waiting;
use fencepost_models::machine::choice::Choices;
use fencepost_models::replay::Trace;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs after which a part is cut.
const MANY: u64 = 5_000;
/// Parts that one is cut into, at least, unless it has no more.
const PIECES: usize = 16;

/// Something to explore.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    /// The choices of `init`.
    pub(crate) init: Vec<u32>,
    /// What happens first.
    pub(crate) moves: Vec<Move>,
    /// For traces: what need not be explored after that.
    pub(crate) sleep: Vec<Asleep>,
    /// For interleavings: how many preemptions are left.
    pub(crate) left: Option<u32>,
}

/// What came of a part.
enum Done {
    /// It was explored.
    Explored(Tally),
    /// It has many runs; these are its pieces. Whether there would be more with more preemptions.
    Cut(Vec<Part>, bool),
    /// Someone wanted to stop.
    Stopped(Tally),
}

/// What is explored.
pub(crate) struct Exploring<'m, 'p> {
    pub(crate) machine: &'m ScMachine<'p>,
    pub(crate) waiting: &'m Waiting,
    pub(crate) cells: &'m Cells,
    pub(crate) plan: Plan,
    pub(crate) threads: NonZeroUsize,
    pub(crate) budget: Budget<'m>,
    /// Runs to take at most, about.
    pub(crate) runs: u64,
}

impl Exploring<'_, '_> {
    /// Everything, as parts: one for each way that the choices of `init` go. Notes what goes wrong before the
    /// first event.
    pub(crate) fn all(&self, left: Option<u32>, tally: &mut Tally) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut choices = Choices::default();
        loop {
            let mut path = Path::new(self.machine, self.waiting, self.cells, None);
            choices.rewind();
            // Which way the choices go is known after a first try.
            let _ = self.machine.start(&mut self.machine.blank(), &mut choices, &mut ());
            let init = choices.script().to_vec();
            match path.start(&init) {
                Some(Ok(())) => {
                    parts.push(Part { init, moves: Vec::new(), sleep: Vec::new(), left });
                }
                Some(Err(())) if self.plan.judge => {
                    let trace = Trace { init, steps: path.opening.clone(), bound: None };
                    tally.found.get_or_insert(Found::Trouble(trace));
                }
                Some(Err(())) | None => {}
            }
            if !choices.advance() {
                return parts;
            }
        }
    }

    /// Explores parts until all are done, something is found, or it takes too long; then `parts` holds what is
    /// left.
    pub(crate) fn explore(&self, parts: &mut Vec<Part>, tally: &mut Tally) {
        let mut wasted = 0;
        while !parts.is_empty() {
            // How many are explored, and how far, must not depend on time.
            let room = self.runs.saturating_sub(tally.runs() + wasted).max(1);
            let some = usize::try_from(room / MANY + 1).unwrap_or(usize::MAX).min(parts.len());
            let rest = parts.split_off(some);
            let results = self.round(parts, room);
            let mut left = Vec::new();
            for (part, done) in std::mem::take(parts).into_iter().zip(results) {
                match done {
                    Some(Done::Explored(counted)) => {
                        let found = self.is_enough(&counted);
                        tally.add(counted);
                        if found {
                            // What comes later was perhaps not explored, depending on time.
                            return;
                        }
                    }
                    Some(Done::Cut(pieces, bounded)) => {
                        tally.bounded |= bounded;
                        wasted += MANY.min(room);
                        left.extend(pieces);
                    }
                    Some(Done::Stopped(counted)) => {
                        tally.stopped = tally.stopped.or(counted.stopped);
                        left.push(part);
                    }
                    None => left.push(part),
                }
            }
            left.extend(rest);
            *parts = left;
            self.budget.progress.states.store(tally.runs(), Ordering::Relaxed);
            if let Some(stop) = self.budget.cancel.raised() {
                tally.stopped = Some(stop);
                return;
            }
            if tally.runs() + wasted >= self.runs && !parts.is_empty() {
                tally.stopped = Some(fencepost_search::Stop::States);
                return;
            }
        }
    }

    /// Whether nobody wants to know more.
    fn is_enough(&self, tally: &Tally) -> bool {
        tally.found.is_some() && self.plan.until == Until::Found
    }

    /// Explores parts side by side. None for those that nobody wants to know about any more.
    fn round(&self, parts: &[Part], room: u64) -> Vec<Option<Done>> {
        let results: Vec<Mutex<Option<Done>>> = parts.iter().map(|_| Mutex::default()).collect();
        let next = AtomicUsize::new(0);
        let first = AtomicUsize::new(usize::MAX);
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(part) = parts.get(at) else { return };
                if at > first.load(Ordering::Relaxed) || self.budget.cancel.raised().is_some() {
                    return;
                }
                let done = self.part(part, room);
                if matches!(&done, Done::Explored(tally) if self.is_enough(tally)) {
                    first.fetch_min(at, Ordering::Relaxed);
                }
                *results[at].lock().unwrap_or_else(|e| e.into_inner()) = Some(done);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads.get().min(parts.len()) {
                scope.spawn(work);
            }
            work();
        });
        results.into_iter().map(|r| r.into_inner().unwrap_or_else(|e| e.into_inner())).collect()
    }

    /// Whether parts are ones of this program: all begin with moves that are possible.
    pub(crate) fn has(&self, parts: &[Part]) -> bool {
        parts.iter().all(|part| self.explorer(part).is_some())
    }

    /// An explorer at the beginning of a part. None when it begins with moves that are not possible.
    fn explorer(&self, part: &Part) -> Option<Explorer<'_, '_>> {
        let Exploring { machine, waiting, cells, plan, .. } = *self;
        let mut explorer = Explorer::new(machine, waiting, cells, plan, self.budget.cancel);
        explorer.path.start(&part.init)?.ok()?;
        for made in &part.moves {
            if explorer.path.push(made.clone()) != Pushed::Yes {
                return None;
            }
        }
        Some(explorer)
    }

    /// Explores a part, in at most so many runs.
    fn part(&self, part: &Part, runs: u64) -> Done {
        self.explored(part, MANY.min(runs)).unwrap_or_else(|| {
            let (pieces, bounded) = self.pieces(part);
            if pieces == [part.clone()] {
                // It cannot be cut.
                return self.explored(part, u64::MAX).expect("it may take as many runs as it has");
            }
            Done::Cut(pieces, bounded)
        })
    }

    /// Explores a part, if that takes at most so many runs.
    fn explored(&self, part: &Part, runs: u64) -> Option<Done> {
        let mut explorer = self.explorer(part).expect("parts begin where nothing is wrong");
        explorer.runs_left = runs;
        let all = match part.left {
            None => Traces::explore(&mut explorer, part.sleep.clone()),
            Some(left) => interleavings::explore(&mut explorer, left),
        };
        let tally = explorer.tally;
        if tally.stopped.is_some() {
            Some(Done::Stopped(tally))
        } else {
            (all || self.is_enough(&tally)).then_some(Done::Explored(tally))
        }
    }

    /// Cuts a part. Whether there would be more with more preemptions.
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

    /// The parts that begin with one move more; the part itself if there is none that just goes on.
    fn longer(&self, part: &Part, bounded: &mut bool) -> Vec<Part> {
        let mut explorer = self.explorer(part).expect("parts begin where nothing is wrong");
        let threads = explorer.threads();
        let last = explorer.path.events.last().map(|event| event.made.thread);
        let mut found: Vec<Part> = Vec::new();
        let mut sleep = part.sleep.clone();
        let mut last_goes_on = false;
        for offset in 0..threads {
            let t = (last.unwrap_or(0) + offset) % threads;
            if explorer.path.has_halted(t) {
                continue;
            }
            let moves = explorer.moves(t);
            let mut possible = Vec::new();
            let mut all = Vec::new();
            for made in moves {
                if sleep.iter().any(|asleep| asleep.made == made) {
                    continue;
                }
                let pushed = explorer.path.push(made.clone());
                match pushed {
                    Pushed::Blocked | Pushed::Waiting => continue,
                    // Whoever explores it sees that it goes wrong.
                    Pushed::Wrong(_) => return vec![part.clone()],
                    Pushed::Yes => {}
                }
                let touches = explorer.path.footprint.touches.clone();
                explorer.path.pop();
                all.extend_from_slice(&touches);
                possible.push((made, touches));
            }
            for (made, touches) in possible {
                last_goes_on |= last == Some(t);
                let preempts = last_goes_on && last != Some(t);
                let left = match part.left {
                    Some(0) if preempts => {
                        *bounded = true;
                        continue;
                    }
                    left => left.map(|left| left - u32::from(preempts)),
                };
                let still = |asleep: &&Asleep| {
                    asleep.made.thread != t && !conflict(&asleep.touches, &touches)
                };
                found.push(Part {
                    init: part.init.clone(),
                    moves: part.moves.iter().chain([&made]).cloned().collect(),
                    sleep: sleep.iter().filter(still).cloned().collect(),
                    left,
                });
                if part.left.is_none() {
                    let chosen = (!made.script.is_empty()).then(|| all.clone());
                    sleep.push(Asleep { made, touches, chosen });
                }
            }
        }
        if found.is_empty() { vec![part.clone()] } else { found }
    }
}
