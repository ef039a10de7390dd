//! Writes lines of text and records the lines that stand for steps.

use super::StepLine;
use fencepost_ir::{Pc, ThreadId};

/// Text under construction.
#[derive(Clone, Default, Debug)]
pub(super) struct Out {
    pub(super) text: String,
    pub(super) steps: Vec<StepLine>,
    pub(super) witnesses: Vec<(u32, usize, String)>,
    lines: u32,
    depth: usize,
    /// The prefix of the next line: a label, or the beginning of an alternative.
    prefix: String,
}

/// The step that a line stands for: thread, statement, choices.
pub(super) type Mark = (Option<ThreadId>, Pc, Vec<u32>);

impl Out {
    /// Returns the number of lines.
    pub(super) fn lines(&self) -> u32 {
        self.lines
    }

    /// Writes an indented line.
    pub(super) fn line(&mut self, text: &str) {
        self.lines += 1;
        if !(text.is_empty() && self.prefix.is_empty()) {
            self.text.push_str(&"  ".repeat(self.depth));
            self.text.push_str(&std::mem::take(&mut self.prefix));
            self.text.push_str(text);
        }
        self.text.push('\n');
    }

    /// Writes a line with a comment, if there is one.
    pub(super) fn commented(&mut self, text: &str, comment: Option<&str>) {
        match comment {
            Some(comment) => self.line(&format!("{text} /* {comment} */")),
            None => self.line(text),
        }
    }

    /// Writes a preprocessor directive, without indentation.
    pub(super) fn directive(&mut self, text: &str) {
        let depth = std::mem::take(&mut self.depth);
        self.line(text);
        self.depth = depth;
    }

    /// Adds a prefix to the next line.
    pub(super) fn prefix_line(&mut self, text: &str) {
        self.prefix.push_str(text);
    }

    /// Returns whether the next line has a prefix.
    pub(super) fn has_prefix(&self) -> bool {
        !self.prefix.is_empty()
    }

    pub(super) fn indent(&mut self) {
        self.depth += 1;
    }

    pub(super) fn outdent(&mut self) {
        self.depth -= 1;
    }

    /// Records that the next line stands for this step.
    pub(super) fn mark(&mut self, mark: Option<&Mark>) {
        if let Some((thread, pc, choices)) = mark {
            let line = self.lines + 1;
            let (thread, pc, choices) = (*thread, *pc, choices.clone());
            self.steps.push(StepLine { line, thread, pc, choices });
        }
    }

    /// Returns an empty text with one more level of indentation, to be appended later.
    pub(super) fn inner(&self) -> Out {
        Out { depth: self.depth + 1, ..Out::default() }
    }

    /// Appends another text.
    pub(super) fn append(&mut self, other: Out) {
        let shift = self.lines;
        self.text.push_str(&other.text);
        self.lines += other.lines;
        self.steps.extend(other.steps.into_iter().map(|s| StepLine { line: s.line + shift, ..s }));
        let moved = other.witnesses.into_iter().map(|(line, at, name)| (line + shift, at, name));
        self.witnesses.extend(moved);
    }
}
