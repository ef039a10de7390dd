//! Fences in a source text: the text, compiled again and compared with the program that was verified.
//!
//! A placement is verified on the program representation. Its text is new input: only a text that compiles to
//! the same code is known to be right without another verification.

use fencepost_ir::essence::same_code;
use fencepost_ir::{Diagnostics, Placement, Problem, Written, placement};

use crate::edit::{EditError, apply};
use crate::{Frontend, Request};

/// A source text with the problems that were made from it, ready for fences.
#[derive(Clone, Copy)]
pub struct Original<'a> {
    /// The front end of its language.
    pub frontend: &'static dyn Frontend,
    /// The text.
    pub text: &'a str,
    /// The clients that were asked for; those of the text, if there are none.
    pub clients: &'a [String],
    /// What it was lowered to, with places.
    pub problems: &'a [Problem],
}

/// A text with fences.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// The text.
    pub text: String,
    /// What it compiles to, in the order of the original's problems.
    pub problems: Vec<Problem>,
    /// The problems whose code is not that of the original with the placement: they have to be verified.
    pub differing: Vec<usize>,
}

impl Original<'_> {
    /// The text with a placement; in the standard form of its language if it was in it before.
    pub fn with(&self, placement: &Placement, written: Written) -> Result<String, EditError> {
        let program = &self.problems.first().ok_or(EditError::Unreadable)?.program;
        let edits = self.frontend.insert(self.text, program, placement, written)?;
        let text = apply(self.text, &edits);
        match self.frontend.format(self.text) {
            Some(before) if before == self.text => Ok(self.frontend.format(&text).unwrap_or(text)),
            Some(_) | None => Ok(text),
        }
    }

    /// What a text made from this one compiles to, for the same clients and without places.
    pub fn compile(&self, text: &str) -> Result<Vec<Problem>, EditError> {
        let clients = Some(self.clients).filter(|clients| !clients.is_empty());
        let request = Request { clients, places: false };
        let mut diagnostics = Diagnostics::new();
        let problems = self.frontend.lower_for(text, &request, &mut diagnostics);
        let problems = problems.ok_or(EditError::Rejected(diagnostics))?;
        let (before, after) = (self.problems.len(), problems.len());
        if before == after { Ok(problems) } else { Err(EditError::OtherClients { before, after }) }
    }

    /// The text with a placement, compiled again and compared.
    pub fn repaired(&self, placement: &Placement, written: Written) -> Result<Repaired, EditError> {
        let text = self.with(placement, written)?;
        let problems = self.compile(&text)?;
        let pairs = self.problems.iter().zip(&problems).enumerate();
        let differs = |(at, (before, after)): (usize, (&Problem, &Problem))| {
            let wanted = placement::fenced(&before.program, placement, written);
            (!same_code(&wanted, &after.program)).then_some(at)
        };
        let differing = pairs.filter_map(differs).collect();
        Ok(Repaired { text, problems, differing })
    }
}
