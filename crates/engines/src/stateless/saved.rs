//! An exploration to go on with another time: what is left to explore, and what was counted.
//!
//! Plain data, so that whoever touches files can write it down and read it again. What is read is not trusted: moves
//! that the program does not allow are noticed when they are taken.

use fencepost_explore::{Counts, Exploration, Findings, Move, Part, Sleeper, Touch};

/// A move: the thread, and which way its choices go.
pub type SavedMove = (usize, Vec<u32>);

/// Cells, and whether they are written.
pub type SavedTouches = Vec<(u32, bool)>;

/// What need not be explored: a move, and what it touches, whichever way its choices go.
pub type SavedAsleep = (SavedMove, SavedTouches);

/// A part that is left.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SavedPart {
    /// The choices of `init`.
    pub init: Vec<u32>,
    /// What happens first.
    pub moves: Vec<SavedMove>,
    /// What need not be explored after that.
    pub sleep: Vec<SavedAsleep>,
}

/// An exploration, one run for each trace, that was not finished and has found nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Saved {
    /// The program, as text, and the model's name.
    pub of: (String, String),
    /// Runs in which all threads halted.
    pub complete: u64,
    /// Runs in which some thread waits for ever.
    pub stuck: u64,
    /// Runs that were given up because all that was left was explored elsewhere.
    pub redundant: u64,
    /// Runs that became too long.
    pub cut: u64,
    /// Steps of all runs.
    pub steps: u64,
    /// Those of the longest.
    pub longest: usize,
    /// What is left.
    pub parts: Vec<SavedPart>,
}

impl Saved {
    /// What is to be kept of an exploration.
    pub(crate) fn new(of: (String, String), counts: &Counts, parts: &[Part]) -> Self {
        let plain = |made: &Move| (made.thread, made.choices.clone());
        let touches = |touches: &[Touch]| -> SavedTouches {
            touches.iter().map(|touch| (touch.cell, touch.writes)).collect()
        };
        let asleep = |sleeper: &Sleeper| (plain(&sleeper.made), touches(&sleeper.footprint));
        let part = |part: &Part| SavedPart {
            init: part.start.clone(),
            moves: part.moves.iter().map(plain).collect(),
            sleep: part.sleep.iter().map(asleep).collect(),
        };
        Saved {
            of,
            complete: counts.complete,
            stuck: counts.stuck,
            redundant: counts.redundant,
            cut: counts.cut,
            steps: counts.events,
            longest: counts.longest,
            parts: parts.iter().map(part).collect(),
        }
    }

    /// What to go on with.
    pub(crate) fn into_exploration<F: Findings>(self) -> Exploration<F> {
        let counts = Counts {
            complete: self.complete,
            stuck: self.stuck,
            redundant: self.redundant,
            cut: self.cut,
            events: self.steps,
            longest: self.longest,
            bounded: false,
        };
        let made = |(thread, choices): SavedMove| Move { thread, choices };
        let cells = |touches: SavedTouches| -> Vec<Touch> {
            touches.into_iter().map(|(cell, writes)| Touch { cell, writes }).collect()
        };
        let asleep = |(plain, touches): SavedAsleep| Sleeper {
            made: made(plain),
            footprint: cells(touches),
        };
        let part = |part: SavedPart| Part {
            start: part.init,
            moves: part.moves.into_iter().map(made).collect(),
            sleep: part.sleep.into_iter().map(asleep).collect(),
            preemptions: None,
        };
        let parts = self.parts.into_iter().map(part).collect();
        Exploration { counts, parts, ..Exploration::default() }
    }

    /// Whether it is of this program and model, which has so many threads.
    pub(crate) fn is_of(&self, of: &(String, String), threads: usize) -> bool {
        let own = |(thread, _): &SavedMove| *thread < threads;
        self.of == *of
            && self.parts.iter().all(|part| {
                part.moves.iter().all(own) && part.sleep.iter().all(|(made, ..)| own(made))
            })
    }
}
