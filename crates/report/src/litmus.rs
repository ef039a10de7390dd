//! What litmus tests show.
//!
//! - [`block`]: as herd prints it.
//! - [`table`]: a row for each test, a column for each model.
//! - [`expect`]: compared with what was recorded.
//! - [`json`]: for programs.

pub mod block;
pub mod expect;
pub mod json;
pub mod table;
#[cfg(test)]
mod tests;

use fencepost_frontends::litmus::Test;
use fencepost_frontends::litmus::test::{Observation, Shown};
use fencepost_ir::Quantifier;
use fencepost_models::ModelSpec;

/// Why not all states are known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cut {
    /// Pending accesses grow without end; up to this many were looked at.
    Buffers(u32),
    /// A limit was met; in words.
    Limit(String),
}

/// What a test shows under a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    /// The states.
    pub shown: Shown,
    /// Why they may not be all.
    pub cut: Option<Cut>,
    /// Seconds.
    pub seconds: f64,
}

impl Seen {
    /// Whether what a test asks is the case; none when that is not known.
    pub fn answer(&self, quantifier: Quantifier) -> Option<bool> {
        let holds = self.shown.holds(quantifier);
        // One state settles it one way; the other way takes all of them.
        let settled = match quantifier {
            Quantifier::Exists => holds,
            Quantifier::Forall | Quantifier::Never => !holds,
        };
        (settled || self.cut.is_none()).then_some(holds)
    }

    /// herd's word for how the condition stands; `Undef` when that is not known.
    pub fn observation(&self) -> &'static str {
        let seen = self.shown.observation();
        match (&self.cut, seen) {
            (Some(Cut::Limit(_)), Observation::Never | Observation::Always) => "Undef",
            (None | Some(_), _) => seen.name(),
        }
    }

    /// herd's verdict. It begins with `Loop` where it is known only up to a bound.
    pub fn verdict(&self, quantifier: Quantifier) -> &'static str {
        match (&self.cut, self.answer(quantifier)) {
            (None | Some(_), Some(true)) => "Ok",
            (None | Some(_), Some(false)) => "No",
            (Some(Cut::Buffers(_)), None) if self.shown.holds(quantifier) => "Loop Ok",
            (Some(Cut::Buffers(_)), None) => "Loop No",
            (Some(Cut::Limit(_)) | None, None) => "Undef",
        }
    }
}

/// A test that was run under some models.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What the reader calls its file.
    pub file: String,
    /// The test.
    pub test: Test,
    /// What it shows under each model, or what went wrong.
    pub models: Vec<(ModelSpec, Result<Seen, String>)>,
}

/// A file that was to be run.
#[derive(Clone, Debug)]
pub enum Entry {
    /// It was.
    Ran(Box<Ran>),
    /// It could not be read: its name, and what is wrong in one line.
    Unsupported(String, String),
}
