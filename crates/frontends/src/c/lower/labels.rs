//! Labels, which identify operations of the source.
//!
//! The key is the position and the kind of the operation, so all inlined copies share their labels.
//! An operation of a built-in function has the position and the text of the call in the user's file;
//! its own position distinguishes it from other operations of the same call.

use std::collections::BTreeMap;

use fencepost_ir::{Label, LabelInfo, Span};

use crate::c::source_map::{FileKind, SourceMap};

/// The largest number of characters of a label's text.
const MAX_TEXT: usize = 72;

/// The position of an operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Position {
    /// The position in the user's file.
    pub(super) shown: Span,
    /// The position of the operation, possibly in a built-in header.
    pub(super) own: Span,
}

/// The labels of a program. They stay the same in all passes.
pub(super) struct Labels<'a> {
    sources: &'a SourceMap,
    by_key: BTreeMap<(Position, &'static str, u32), Label>,
    pub(super) infos: Vec<LabelInfo>,
    /// The files of labels that are not in the main file.
    pub(super) included: BTreeMap<Label, String>,
}

impl<'a> Labels<'a> {
    pub(super) fn new(sources: &'a SourceMap) -> Self {
        Labels { sources, by_key: BTreeMap::new(), infos: Vec::new(), included: BTreeMap::new() }
    }

    /// Returns the label of an operation. `number` distinguishes operations of one kind.
    pub(super) fn get(
        &mut self,
        at: Position,
        kind: &'static str,
        number: u32,
        function: &str,
    ) -> Label {
        let key = (at, kind, number);
        if let Some(label) = self.by_key.get(&key) {
            return *label;
        }
        let label = Label::from_index(self.infos.len());
        self.by_key.insert(key, label);
        if let Some(file) = self.sources.file(at.shown).filter(|f| f.kind == FileKind::Included) {
            self.included.insert(label, file.name.clone());
        }
        let text = self.text(at.shown);
        self.infos.push(LabelInfo { span: at.shown, text, function: function.into() });
        label
    }

    /// Returns the source text of a span on one line, without comments, shortened.
    pub(super) fn text(&self, span: Span) -> String {
        let mut text = self.sources.text(span);
        let mut kept = String::new();
        while let Some(at) = text.find('/') {
            let (before, rest) = text.split_at(at);
            kept.push_str(before);
            let comment = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if let Some(inside) = rest.strip_prefix("/*") {
                inside.find("*/").map_or(rest.len(), |end| end + 4)
            } else {
                kept.push('/');
                1
            };
            text = &rest[comment..];
        }
        kept.push_str(text);
        let line = kept.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(MAX_TEXT) {
            Some((cut, _)) => format!("{} ...", line[..cut].trim_end()),
            None => line,
        }
    }
}
