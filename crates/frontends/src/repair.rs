//! Inserts a placement into the files of a source, compiles the result and compares it with the
//! verified program.
//!
//! A placement is verified on the program representation. The repaired source is new input. If it
//! compiles to the same code as the verified program, it needs no second verification. Otherwise it
//! must be verified again.

use fencepost_ir::code_equality::same_code;
use fencepost_ir::{Diagnostics, Placement, Problem, WrittenFences, placement};

use crate::c::PreprocessOptions;
use crate::edit::{EditError, FileEdits, apply};
use crate::{Frontend, Request};

/// A source text and the problems lowered from it, with places for fences.
#[derive(Clone, Copy)]
pub struct LoweredSource<'a> {
    /// The front end of the source language.
    pub frontend: &'static dyn Frontend,
    /// The text of the main file.
    pub text: &'a str,
    /// The options with which the source text was lowered.
    pub request: Request<'a>,
    /// The problems lowered from the source text, with places.
    pub problems: &'a [Problem],
}

/// A file of a source that a repair changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangedFile {
    /// The name of the file, for messages. May be empty for the main file.
    pub name: String,
    /// Whether the file is the one that the user named. All others are included.
    pub is_main: bool,
    /// The original text.
    pub before: String,
    /// The new text.
    pub after: String,
}

/// The files of a source that a repair changes: the main file first, then included files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Changes {
    /// The changed files. Each file occurs once.
    pub files: Vec<ChangedFile>,
}

impl Changes {
    /// Returns the new text of the main file, whose original text is `original`.
    pub fn main_text<'t>(&'t self, original: &'t str) -> &'t str {
        let main = self.files.iter().find(|file| file.is_main);
        main.map_or(original, |main| &main.after)
    }

    /// Returns the new text of the included file with this name, if it is changed.
    pub fn included_text(&self, name: &str) -> Option<&str> {
        self.files.iter().find(|file| file.name == name).map(|file| &*file.after)
    }

    /// Returns the changes with another new text of the main file.
    pub fn with_main_text(mut self, (name, before): (&str, &str), after: String) -> Changes {
        self.files.retain(|file| !file.is_main);
        let (name, before) = (name.into(), before.into());
        self.files.insert(0, ChangedFile { name, is_main: true, before, after });
        self
    }
}

/// A source with inserted fences.
#[derive(Clone, Debug)]
pub struct RepairedSource {
    /// The changed files.
    pub changes: Changes,
    /// The problems lowered from the files, in the order of the original problems.
    pub problems: Vec<Problem>,
    /// The indices of problems whose code differs from the original code with the placement. These
    /// problems must be verified again.
    pub differing: Vec<usize>,
}

impl LoweredSource<'_> {
    /// Inserts a placement into the files of the source. Formats a result if the original text is in
    /// standard style.
    pub fn insert_placement(
        &self,
        placement: &Placement,
        written: WrittenFences,
    ) -> Result<Changes, EditError> {
        let program = &self.problems.first().ok_or(EditError::Unreadable)?.program;
        let all = self.frontend.insert(self.text, &self.request, program, placement, written)?;
        let changed = |FileEdits { name, is_main, text: before, edits }: FileEdits| {
            let text = apply(&before, &edits);
            let after = match self.frontend.format(&before) {
                Some(formatted) if formatted == before => {
                    self.frontend.format(&text).unwrap_or(text)
                }
                Some(_) | None => text,
            };
            (after != before).then_some(ChangedFile { name, is_main, before, after })
        };
        Ok(Changes { files: all.into_iter().filter_map(changed).collect() })
    }

    /// Compiles the source with changed files for the same clients, without places.
    pub fn compile(&self, changes: &Changes) -> Result<Vec<Problem>, EditError> {
        let original = self.request.preprocessing;
        let find_file = |from: &str, name: &str, angled: bool| {
            let (name, text) = (original.find_file)(from, name, angled)?;
            let text = changes.included_text(&name).map_or(text, String::from);
            Some((name, text))
        };
        let preprocessing = PreprocessOptions { find_file: &find_file, ..original };
        let request = Request { places: false, orders: false, preprocessing, ..self.request };
        let mut diagnostics = Diagnostics::new();
        let text = changes.main_text(self.text);
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
        let changes = self.insert_placement(placement, written)?;
        let problems = self.compile(&changes)?;
        let pairs = self.problems.iter().zip(&problems).enumerate();
        let differs = |(at, (before, after)): (usize, (&Problem, &Problem))| {
            let verified = placement::fenced(&before.program, placement, written);
            (!same_code(&verified, &after.program)).then_some(at)
        };
        let differing = pairs.filter_map(differs).collect();
        Ok(RepairedSource { changes, problems, differing })
    }
}

#[cfg(test)]
mod tests;
