//! A resumable exploration: the parts left to explore, and the counts so far.
//!
//! Plain data, so that other crates can write it to a file and read it back. The data read from a
//! file are not trusted: moves that the program does not allow are detected when they are taken.

use fencepost_explore::{CellAccess, Counts, Exploration, Findings, Move, Part, Sleeper};

/// A move: the thread and its choices.
pub type SavedMove = (usize, Vec<u32>);

/// Touched cells, and whether each one is written.
pub type SavedTouches = Vec<(u32, bool)>;

/// A member of a sleep set: a move, and the cells that it touches with any choices.
pub type SavedSleeper = (SavedMove, SavedTouches);

/// A part that is left to explore.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SavedPart {
    /// The choices of `init`.
    pub init: Vec<u32>,
    /// The first moves of all executions of the part.
    pub moves: Vec<SavedMove>,
    /// The sleep set after these moves.
    pub sleep: Vec<SavedSleeper>,
}

/// An unfinished exploration of one execution for each trace, without a finding so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SavedExploration {
    /// The program as text, and the name of the model.
    pub of: (String, String),
    /// Executions in which all threads halted.
    pub complete: u64,
    /// Executions in which some thread is blocked forever.
    pub stuck: u64,
    /// Redundant executions: abandoned because the rest is explored elsewhere.
    pub redundant: u64,
    /// Executions that exceeded the limit on events.
    pub cut: u64,
    /// Steps of all executions.
    pub steps: u64,
    /// Steps of the longest execution.
    pub longest: usize,
    /// The parts left to explore.
    pub parts: Vec<SavedPart>,
}

impl SavedExploration {
    /// Saves an exploration.
    pub(crate) fn new(of: (String, String), counts: &Counts, parts: &[Part]) -> Self {
        let plain = |mv: &Move| (mv.thread, mv.choices.clone());
        let touches = |touches: &[CellAccess]| -> SavedTouches {
            touches.iter().map(|touch| (touch.cell, touch.writes)).collect()
        };
        let asleep = |sleeper: &Sleeper| (plain(&sleeper.mv), touches(&sleeper.footprint));
        let part = |part: &Part| SavedPart {
            init: part.start.clone(),
            moves: part.moves.iter().map(plain).collect(),
            sleep: part.sleep.iter().map(asleep).collect(),
        };
        SavedExploration {
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

    /// Converts into an exploration to resume.
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
        let mv = |(thread, choices): SavedMove| Move { thread, choices };
        let cells = |touches: SavedTouches| -> Vec<CellAccess> {
            touches.into_iter().map(|(cell, writes)| CellAccess { cell, writes }).collect()
        };
        let asleep =
            |(plain, touches): SavedSleeper| Sleeper { mv: mv(plain), footprint: cells(touches) };
        let part = |part: SavedPart| Part {
            start: part.init,
            moves: part.moves.into_iter().map(mv).collect(),
            sleep: part.sleep.into_iter().map(asleep).collect(),
            preemptions: None,
        };
        let parts = self.parts.into_iter().map(part).collect();
        Exploration { counts, parts, ..Exploration::default() }
    }

    /// Returns whether the exploration belongs to this program and model with this number of
    /// threads.
    pub(crate) fn is_of(&self, of: &(String, String), threads: usize) -> bool {
        let own = |(thread, _): &SavedMove| *thread < threads;
        self.of == *of
            && self
                .parts
                .iter()
                .all(|part| part.moves.iter().all(own) && part.sleep.iter().all(|(mv, ..)| own(mv)))
    }
}
