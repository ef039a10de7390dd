//! Inserts a placement into a source text, compiles the result and compares it with the verified
//! program.
//!
//! A placement is verified on the program representation. The repaired source text is new input.
//! If it compiles to the same code as the verified program, it needs no second verification.
//! Otherwise it must be verified again.

use fencepost_ir::code_equality::same_code;
use fencepost_ir::{Diagnostics, Placement, Problem, WrittenFences, placement};

use crate::edit::{EditError, apply};
use crate::{Frontend, Request};

/// A source text and the problems lowered from it, with places for fences.
#[derive(Clone, Copy)]
pub struct LoweredSource<'a> {
    /// The front end of the source language.
    pub frontend: &'static dyn Frontend,
    /// The source text.
    pub text: &'a str,
    /// The options with which the source text was lowered.
    pub request: Request<'a>,
    /// The problems lowered from the source text, with places.
    pub problems: &'a [Problem],
}

/// A source text with inserted fences.
#[derive(Clone, Debug)]
pub struct RepairedSource {
    /// The source text.
    pub text: String,
    /// The problems lowered from the text, in the order of the original problems.
    pub problems: Vec<Problem>,
    /// The indices of problems whose code differs from the original code with the placement. These
    /// problems must be verified again.
    pub differing: Vec<usize>,
}

impl LoweredSource<'_> {
    /// Inserts a placement into the source text. Formats the result if the original text is in
    /// standard style.
    pub fn insert_placement(
        &self,
        placement: &Placement,
        written: WrittenFences,
    ) -> Result<String, EditError> {
        let program = &self.problems.first().ok_or(EditError::Unreadable)?.program;
        let edits = self.frontend.insert(self.text, program, placement, written)?;
        let text = apply(self.text, &edits);
        match self.frontend.format(self.text) {
            Some(before) if before == self.text => Ok(self.frontend.format(&text).unwrap_or(text)),
            Some(_) | None => Ok(text),
        }
    }

    /// Compiles a modified text for the same clients, without places.
    pub fn compile(&self, text: &str) -> Result<Vec<Problem>, EditError> {
        let request = Request { places: false, orders: false, ..self.request };
        let mut diagnostics = Diagnostics::new();
        let problems = self.frontend.lower_for(text, &request, &mut diagnostics);
        let problems = problems.ok_or(EditError::Rejected(diagnostics))?;
        let (before, after) = (self.problems.len(), problems.len());
        if before == after {
            Ok(problems)
        } else {
            Err(EditError::ClientCountChanged { before, after })
        }
    }

    /// Inserts a placement, compiles the result and compares its code with the verified code.
    pub fn repair(
        &self,
        placement: &Placement,
        written: WrittenFences,
    ) -> Result<RepairedSource, EditError> {
        let text = self.insert_placement(placement, written)?;
        let problems = self.compile(&text)?;
        let pairs = self.problems.iter().zip(&problems).enumerate();
        let differs = |(at, (before, after)): (usize, (&Problem, &Problem))| {
            let verified = placement::fenced(&before.program, placement, written);
            (!same_code(&verified, &after.program)).then_some(at)
        };
        let differing = pairs.filter_map(differs).collect();
        Ok(RepairedSource { text, problems, differing })
    }
}
