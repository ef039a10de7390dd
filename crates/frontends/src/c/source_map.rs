//! The files of a translation unit in one range of offsets.
//!
//! The main file begins at offset 0, so its spans are offsets into its text. Included files follow,
//! each with its own start. The line and column of a [`Span`] count in its own file.

use fencepost_ir::{Diagnostics, Severity, Span};

/// The kind of a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FileKind {
    /// The file that the user named.
    Main,
    /// A file of the user that is included.
    Included,
    /// One of our own headers. Statements in it are shown as the call that leads to them.
    BuiltIn,
}

/// A file of a translation unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// The name for messages, as in the `#include`.
    pub name: String,
    /// The text.
    pub text: String,
    /// The offset of the first byte.
    pub start: u32,
    /// The kind.
    pub kind: FileKind,
    /// Whether a repair may change the file: it is a file of the user, and `text` is its text. A
    /// file that is not UTF-8 is read with replacement characters.
    pub is_editable: bool,
}

impl File {
    /// Returns whether a span is inside of the file.
    pub fn contains(&self, span: Span) -> bool {
        self.start <= span.start && span.end as usize <= self.start as usize + self.text.len()
    }
}

/// The files of a translation unit, by start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceMap {
    files: Vec<File>,
    /// For each file, the position in the main file of the `#include` that leads to it.
    inclusions: Vec<Span>,
}

impl SourceMap {
    /// Adds a file and returns its index. The first file is the main file. Returns `None` if the
    /// total size exceeds the range of offsets.
    pub fn add(&mut self, name: &str, text: &str, kind: FileKind) -> Option<usize> {
        // One offset between files, so that an end never equals the next start.
        let start = self.files.last().map_or(0, |last| last.start as usize + last.text.len() + 1);
        u32::try_from(start + text.len()).ok()?;
        let is_editable = match kind {
            FileKind::Main => true,
            FileKind::Included => !text.contains(char::REPLACEMENT_CHARACTER),
            FileKind::BuiltIn => false,
        };
        let (name, text) = (name.into(), text.into());
        self.files.push(File { name, text, start: start as u32, kind, is_editable });
        self.inclusions.push(Span { line: 1, column: 1, ..Span::default() });
        Some(self.files.len() - 1)
    }

    /// Returns the files, by start.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// Returns the file that a span is in.
    pub fn file(&self, span: Span) -> Option<&File> {
        let after = self.files.partition_point(|file| file.start <= span.start);
        self.files.get(after.checked_sub(1)?)
    }

    /// Returns whether a repair may change the text of a span.
    pub fn is_editable(&self, span: Span) -> bool {
        self.file(span).is_some_and(|file| file.is_editable && file.contains(span))
    }

    /// Returns whether a repair may change the text of a statement, which is in one file. The span of
    /// a statement that begins in an included file and ends in the main file ends too early: its end
    /// is that of its last part with the largest offset.
    pub fn is_editable_statement(&self, span: Span) -> bool {
        let is_main = self.file(span).is_some_and(|file| file.kind == FileKind::Main);
        self.is_editable(span) && (is_main || self.text(span).ends_with([';', '}']))
    }

    /// Returns the text of a span, or an empty string if the span is not inside one file.
    pub fn text(&self, span: Span) -> &str {
        let Some(file) = self.file(span) else { return "" };
        let (start, end) = (span.start - file.start, span.end.saturating_sub(file.start));
        file.text.get(start as usize..end as usize).unwrap_or("")
    }

    /// Stores the position in the main file of the `#include` that leads to a file.
    pub fn set_inclusion(&mut self, file: usize, at: Span) {
        if let Some(inclusion) = self.inclusions.get_mut(file) {
            *inclusion = at;
        }
    }

    /// Returns the position in the main file that leads to the position `at` of a file: `at` itself
    /// in the main file, otherwise the `#include`.
    pub fn inclusion(&self, file: usize, at: Span) -> Span {
        self.inclusions.get(file).copied().filter(|_| file > 0).unwrap_or(at)
    }

    /// Returns the position to show for a span: itself in the main file. For another file, the
    /// `#include` that leads to it, and the text that the message begins with.
    pub fn shown_position(&self, span: Span) -> (Span, String) {
        let after = self.files.partition_point(|file| file.start <= span.start);
        match after.checked_sub(1).and_then(|at| Some((at, self.files.get(at)?))) {
            Some((at, file)) if at > 0 => {
                (self.inclusion(at, span), format!("`{}`, line {}: ", file.name, span.line))
            }
            Some(_) | None => (span, String::new()),
        }
    }

    /// Copies diagnostics to `target` and moves those of included files to the main file: they get
    /// the position of the `#include`, and the message begins with the file and the line.
    pub fn report(&self, diagnostics: &Diagnostics, target: &mut Diagnostics) {
        for diagnostic in diagnostics.iter() {
            let (span, prefix) = self.shown_position(diagnostic.span);
            let message = format!("{prefix}{}", diagnostic.message);
            let copy = match diagnostic.severity {
                Severity::Error => target.error(diagnostic.code, span, message),
                Severity::Warning => target.warning(diagnostic.code, span, message),
            };
            copy.label(diagnostic.label.clone());
            copy.hint.clone_from(&diagnostic.hint);
            for (span, text) in &diagnostic.related {
                let (span, prefix) = self.shown_position(*span);
                copy.related(span, format!("{prefix}{text}"));
            }
        }
    }
}
