//! Lines of text, and which of them stand for steps.

use super::Line;
use fencepost_ir::{Pc, ThreadId};

/// Text in the making.
#[derive(Clone, Default, Debug)]
pub(super) struct Out {
    pub(super) text: String,
    pub(super) steps: Vec<Line>,
    pub(super) witnesses: Vec<(u32, usize, String)>,
    lines: u32,
    depth: usize,
    /// What comes before the next line: a label, or the beginning of an alternative.
    before: String,
}

/// The step that lines stand for: whose, which, with which choices.
pub(super) type Mark = (Option<ThreadId>, Pc, Vec<u32>);

impl Out {
    /// How many lines there are.
    pub(super) fn lines(&self) -> u32 {
        self.lines
    }

    /// One line, indented.
    pub(super) fn line(&mut self, text: &str) {
        self.lines += 1;
        if !(text.is_empty() && self.before.is_empty()) {
            self.text.push_str(&"  ".repeat(self.depth));
            self.text.push_str(&std::mem::take(&mut self.before));
            self.text.push_str(text);
        }
        self.text.push('\n');
    }

    /// One line with a comment, if there is one.
    pub(super) fn commented(&mut self, text: &str, comment: Option<&str>) {
        match comment {
            Some(comment) => self.line(&format!("{text} /* {comment} */")),
            None => self.line(text),
        }
    }

    /// A line at the margin, for the preprocessor.
    pub(super) fn directive(&mut self, text: &str) {
        let depth = std::mem::take(&mut self.depth);
        self.line(text);
        self.depth = depth;
    }

    /// The next line begins with this.
    pub(super) fn begin(&mut self, text: &str) {
        self.before.push_str(text);
    }

    /// Whether something waits for the next line.
    pub(super) fn waits(&self) -> bool {
        !self.before.is_empty()
    }

    /// What follows is inside.
    pub(super) fn indent(&mut self) {
        self.depth += 1;
    }

    /// No longer.
    pub(super) fn outdent(&mut self) {
        self.depth -= 1;
    }

    /// The next line stands for this step.
    pub(super) fn mark(&mut self, mark: Option<&Mark>) {
        if let Some((thread, pc, choices)) = mark {
            let line = self.lines + 1;
            let (thread, pc, choices) = (*thread, *pc, choices.clone());
            self.steps.push(Line { line, thread, pc, choices });
        }
    }

    /// Text that is to be appended to this one, indented once more.
    pub(super) fn inner(&self) -> Out {
        Out { depth: self.depth + 1, ..Out::default() }
    }

    /// Other text after this one.
    pub(super) fn append(&mut self, other: Out) {
        let shift = self.lines;
        self.text.push_str(&other.text);
        self.lines += other.lines;
        self.steps.extend(other.steps.into_iter().map(|s| Line { line: s.line + shift, ..s }));
        let moved = other.witnesses.into_iter().map(|(line, at, name)| (line + shift, at, name));
        self.witnesses.extend(moved);
    }
}
