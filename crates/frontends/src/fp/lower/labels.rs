//! Labels, which identify operations of the source.
//!
//! The key is the source position and the kind of the operation. All instances of a template and
//! all inlined copies of a procedure thus share their labels.

use std::collections::BTreeMap;

use fencepost_ir::{Label, LabelInfo, Span};

use crate::fp::tree::Gap;

/// The kind of an operation. Distinguishes operations at the same source position.
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
    /// The fence before an access with a memory order.
    FenceBefore,
    /// The fence after an access with a memory order.
    FenceAfter,
    /// The branch on the result of a compare-and-exchange before its fence.
    FenceBranch,
    /// The copy of the expected value that this branch reads.
    Expected,
    /// The number of a local array's element.
    Index(u32),
    /// The assignment to one register of a local array.
    Element(u32),
    /// The comparison of a `switch` with a constant.
    Case,
    Drain,
    New,
    Free,
    Leave,
    AtomicBegin,
    AtomicEnd,
    Join,
    Halt,
    Invoke,
    Return,
    /// A label that an invariant mentions.
    ControlPoint,
    Skip,
    /// Sets a register to 0.
    Reset,
    /// Sets a parameter to its argument.
    Parameter(u32),
    /// Marks a place for a fence. Nested unbraced bodies can end at the same position, so the field
    /// is the start of the body.
    Place(Option<u32>),
}

/// The labels of a file.
pub(super) struct Labels<'a> {
    source: &'a str,
    by_position: BTreeMap<(Span, Kind), Label>,
    infos: Vec<LabelInfo>,
}

impl<'a> Labels<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Labels { source, by_position: BTreeMap::new(), infos: Vec::new() }
    }

    /// Returns the label of an operation.
    pub(super) fn get(&mut self, span: Span, kind: Kind, function: &str) -> Label {
        self.get_with_text(span, kind, function, span)
    }

    /// Returns the label of an operation, if the operation is known.
    pub(super) fn find(&self, span: Span, kind: Kind) -> Option<Label> {
        self.by_position.get(&(span, kind)).copied()
    }

    /// Returns the label of an operation whose text is the source text of another span.
    pub(super) fn get_with_text(
        &mut self,
        span: Span,
        kind: Kind,
        function: &str,
        text: Span,
    ) -> Label {
        if let Some(label) = self.by_position.get(&(span, kind)) {
            return *label;
        }
        let label = Label::from_index(self.infos.len());
        self.by_position.insert((span, kind), label);
        self.infos.push(LabelInfo { span, text: self.text(text), function: function.to_string() });
        label
    }

    /// Returns the label of a place for a fence. The text of the label is the code after the place.
    pub(super) fn place(&mut self, gap: &Gap, function: &str) -> Label {
        let before = self.infos.len();
        let label = self.get(gap.at, Kind::Place(gap.wrap.map(|w| w.start)), function);
        if self.infos.len() > before {
            // The head is empty where a fence adds the closing brace.
            let text = self.text(gap.head);
            let text = if gap.at_end && text.is_empty() { "}".into() } else { text };
            self.infos[label.index()].text = text;
        }
        label
    }

    /// Returns the source text of a span on one line, without comments.
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
