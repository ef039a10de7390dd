//! Labels: the identity of each operation in the source.
//!
//! Keyed by where it stands and what it does, so that two instances of a template and two inlined
//! copies of a procedure carry the same labels.

use std::collections::BTreeMap;

use fencepost_ir::{Label, LabelInfo, Span};

use crate::fp::tree::Gap;

/// What an operation does, as far as it distinguishes operations at one place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    Load,
    Store,
    Update,
    Assign,
    Choose,
    Branch,
    Assume,
    Assert,
    Fence,
    Drain,
    New,
    Free,
    Leave,
    AtomicBegin,
    AtomicEnd,
    Halt,
    Invoke,
    Return,
    Skip,
    /// Gives a register 0 again.
    Reset,
    /// Gives a parameter its value.
    Parameter(u32),
    /// Marks a place for a fence. Ends of nested parts without braces are at one position; they
    /// differ in where the part begins.
    Place(Option<u32>),
}

/// The labels of a file.
pub(super) struct Labels<'a> {
    source: &'a str,
    known: BTreeMap<(Span, Kind), Label>,
    infos: Vec<LabelInfo>,
}

impl<'a> Labels<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Labels { source, known: BTreeMap::new(), infos: Vec::new() }
    }

    /// The label of an operation.
    pub(super) fn get(&mut self, span: Span, kind: Kind, function: &str) -> Label {
        if let Some(label) = self.known.get(&(span, kind)) {
            return *label;
        }
        let label = Label::from_index(self.infos.len());
        self.known.insert((span, kind), label);
        self.infos.push(LabelInfo { span, text: self.text(span), function: function.to_string() });
        label
    }

    /// The label of a place for a fence; its text is that of what follows.
    pub(super) fn place(&mut self, gap: &Gap, function: &str) -> Label {
        let before = self.infos.len();
        let label = self.get(gap.at, Kind::Place(gap.wrap.map(|w| w.start)), function);
        if self.infos.len() > before {
            let text = if gap.at_end { "}".into() } else { self.text(gap.head) };
            self.infos[label.index()].text = text;
        }
        label
    }

    /// Source text on one line, without comments.
    pub(super) fn text(&self, span: Span) -> String {
        let mut text = span.text(self.source);
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
        kept.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(super) fn len(&self) -> usize {
        self.infos.len()
    }

    pub(super) fn into_infos(self) -> Vec<LabelInfo> {
        self.infos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_no_comments_and_one_line() {
        let source = "x = a // the\n  / b /* *c */ + /**/ 1 / 2";
        let span = Span { start: 0, end: source.len() as u32, line: 1, column: 1 };
        assert_eq!(Labels::new(source).text(span), "x = a / b + 1 / 2");
    }
}
