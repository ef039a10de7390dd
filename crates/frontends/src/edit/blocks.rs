//! Fences as statements in a language with braces: ours, and the C of litmus tests.
//!
//! A fence goes on a line of its own when what follows its place does, else it stands inline. A
//! statement that has to share its braces with a fence gets some. What the placement does not concern is
//! left alone to the byte, line ends included; indentation is copied from what is there.
//!
//! Only the text is looked at here. That the new text means what the placement means is checked with the front
//! end ([`crate::repaired`]).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fencepost_ir::{FenceKinds, Place, PlaceId, Placement, Program, Span, Written};

use super::{EditError, TextEdit, line_end};
use crate::fences::FenceSyntax;

/// The edits that put a placement's barriers into the source, in its order. They do not overlap; where
/// several insert at one byte, they do so one after another. `program` is that of the source, with places.
pub fn insert(
    syntax: &FenceSyntax,
    source: &str,
    program: &Program,
    placement: &Placement,
    written: Written,
) -> Result<Vec<TextEdit>, EditError> {
    let mut editor = Editor { source, eol: line_end(source), found: Vec::new() };
    let barriers = placement.by_place();
    let mut wrapped: BTreeMap<Span, Wrapped> = BTreeMap::new();
    for (at, place) in program.places.iter().enumerate() {
        let none = (FenceKinds::default(), Vec::new());
        let (added, drains) = barriers.get(&PlaceId::from_index(at)).unwrap_or(&none);
        if let Some((own, span)) = place.written {
            let kept = if written == Written::Kept { own } else { FenceKinds::default() };
            let kinds = kept.union(*added);
            if kinds != own || !drains.is_empty() {
                editor.rewrite(place, span, &syntax.statements(program, kinds, drains)?);
            }
            continue;
        }
        let texts = syntax.statements(program, *added, drains)?;
        if texts.is_empty() {
            continue;
        }
        let Some(wrap) = place.wrap else {
            editor.insert(place, &texts);
            continue;
        };
        let parts = wrapped.entry(wrap).or_default();
        if place.at_end {
            parts.after = texts;
        } else if place.offset == wrap.start {
            parts.before = texts;
        } else {
            editor.insert(place, &texts); // behind a label
        }
    }
    for (wrap, parts) in &wrapped {
        editor.wrap(*wrap, parts);
    }
    editor.found.sort_by_key(|(edit, order)| (edit.start, *order));
    Ok(editor.found.into_iter().map(|(edit, _)| edit).collect())
}

/// What goes into the braces around a statement.
#[derive(Default)]
struct Wrapped {
    before: Vec<String>,
    after: Vec<String>,
}

/// Edits at one byte: what closes comes first, inner braces before outer ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    /// The end of braces around a statement that begins here.
    Close(Reverse<u32>),
    /// The end of a block.
    End,
    /// Before a statement.
    Open,
    /// In place of one.
    Replace,
}

struct Editor<'a> {
    source: &'a str,
    eol: &'static str,
    found: Vec<(TextEdit, Order)>,
}

impl<'a> Editor<'a> {
    fn put(&mut self, start: usize, end: usize, text: String, order: Order) {
        self.found.push((TextEdit { start, end, text }, order));
    }

    /// The part of its line before an offset.
    fn line_before(&self, offset: usize) -> &'a str {
        let start = self.source[..offset].rfind('\n').map_or(0, |at| at + 1);
        &self.source[start..offset]
    }

    /// The part of its line from an offset on, without the line end.
    fn line_after(&self, offset: usize) -> &'a str {
        let rest = &self.source[offset..];
        rest.split('\n').next().unwrap_or(rest).trim_end_matches('\r')
    }

    /// What a line that begins at an offset is indented by; none if the offset is inside of a line.
    fn indentation(&self, offset: usize) -> Option<&'a str> {
        let before = self.line_before(offset);
        before.chars().all(char::is_whitespace).then_some(before)
    }

    /// Statements at a place that needs no braces.
    fn insert(&mut self, place: &Place, texts: &[String]) {
        let at = place.offset as usize;
        let order = if place.at_end { Order::End } else { Order::Open };
        let inline = texts.join(" ");
        if !place.at_end && self.source[at..].starts_with(';') {
            // Instead of an empty statement.
            return self.put(at, at + 1, inline, Order::Replace);
        }
        let Some(outer) = self.indentation(at) else {
            let blank = if self.line_before(at).ends_with(char::is_whitespace) { "" } else { " " };
            return self.put(at, at, format!("{blank}{inline} "), order);
        };
        let mut text = String::new();
        let inner = if place.at_end { self.inner_indentation(at, outer) } else { outer.into() };
        for (which, statement) in texts.iter().enumerate() {
            // The first comes behind the indentation that is there.
            let indent = if which == 0 { &inner[outer.len()..] } else { &inner };
            text.push_str(&format!("{indent}{statement}{}", self.eol));
        }
        text.push_str(outer);
        self.put(at, at, text, order);
    }

    /// How the statements of a block are indented whose closing brace is at the beginning of a line.
    fn inner_indentation(&self, brace: usize, outer: &str) -> String {
        let indent = |line: &'a str| &line[..line.len() - line.trim_start().len()];
        let lines = self.source[..brace - outer.len()].lines().rev();
        let lines = lines.map(str::trim_end).filter(|line| !line.is_empty()).map(indent);
        let inside = lines.take_while(|i| i.len() > outer.len() && i.starts_with(outer));
        inside.min_by_key(|i| i.len()).map_or_else(|| format!("{outer}  "), String::from)
    }

    /// Braces around a statement, with others before and after it.
    fn wrap(&mut self, wrap: Span, parts: &Wrapped) {
        let (start, end) = (wrap.start as usize, wrap.end as usize);
        let joined = |texts: &[String]| texts.iter().map(|t| format!("{t} ")).collect::<String>();
        let inside = wrap.text(self.source);
        let head = self.source[..start].trim_end();
        let blank = if head.len() == start { " " } else { "" };
        if inside == ";" {
            let text = format!("{blank}{{ {}}}", joined(&parts.before));
            return self.put(start, end, text, Order::Replace);
        }
        let close = Order::Close(Reverse(wrap.start));
        let Some(inner) = self.indentation(start) else {
            self.put(start, start, format!("{blank}{{ {}", joined(&parts.before)), Order::Open);
            return self.put(end, end, format!(" {}}}", joined(&parts.after)), close);
        };
        let eol = self.eol;
        let of_head = self.line_before(head.len());
        let of_head = &of_head[..of_head.len() - of_head.trim_start().len()];
        let outer = match inner.strip_prefix(of_head) {
            Some(more) if !more.is_empty() => of_head,
            Some(_) | None => inner.strip_suffix("  ").unwrap_or(""),
        };
        // The brace goes behind the head, unless a comment is in the way.
        if self.line_before(head.len()).contains("//") {
            let line = start - inner.len();
            self.put(line, line, format!("{outer}{{{eol}"), Order::Open);
        } else {
            self.put(head.len(), head.len(), " {".into(), Order::Open);
        }
        let lines: String = parts.before.iter().map(|text| format!("{text}{eol}{inner}")).collect();
        self.put(start, start, lines, Order::Open);
        let rest = self.line_after(end);
        let remark = rest.trim().is_empty() || rest.trim_start().starts_with("//");
        let end = if remark { end + rest.len() } else { end };
        let lines: String = parts.after.iter().map(|text| format!("{eol}{inner}{text}")).collect();
        self.put(end, end, format!("{lines}{eol}{outer}}}"), close);
    }

    /// Puts statements, or none, in the place of a fence.
    fn rewrite(&mut self, place: &Place, span: Span, texts: &[String]) {
        let (start, end) = (span.start as usize, span.end as usize);
        let indent = self.indentation(start);
        if !texts.is_empty() {
            let text = match (indent, place.wrap) {
                (_, Some(_)) if texts.len() > 1 => format!("{{ {} }}", texts.join(" ")),
                (Some(indent), _) => texts.join(&format!("{}{indent}", self.eol)),
                (None, _) => texts.join(" "),
            };
            return self.put(start, end, text, Order::Replace);
        }
        if place.wrap.is_some() || last_of_code(&self.source[..start]) == Some(':') {
            // Something has to stand here.
            return self.put(start, end, ";".into(), Order::Replace);
        }
        let rest = self.line_after(end);
        let is_last = rest.trim().is_empty();
        let (from, to) = match indent {
            Some(indent) if is_last => {
                let line_end = self.source[end..].find('\n').map_or(0, |at| at + 1);
                (start - indent.len(), end + line_end)
            }
            None if is_last => (self.source[..start].trim_end().len(), end),
            Some(_) | None => (start, end + (rest.len() - rest.trim_start().len())),
        };
        self.put(from, to, String::new(), Order::Replace);
    }
}

/// The last character of the source that is neither blank nor in a comment.
fn last_of_code(source: &str) -> Option<char> {
    let mut last = None;
    let mut rest = source;
    while let Some(next) = rest.chars().next() {
        let comment = match rest {
            _ if rest.starts_with("//") => Some(rest.find('\n').unwrap_or(rest.len())),
            _ if rest.starts_with("/*") => {
                Some(rest[2..].find("*/").map_or(rest.len(), |at| at + 4))
            }
            _ => None,
        };
        if comment.is_none() && !next.is_whitespace() {
            last = Some(next);
        }
        rest = &rest[comment.unwrap_or(next.len_utf8())..];
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_no_code() {
        assert_eq!(last_of_code("L: // here; it is\n  "), Some(':'));
        assert_eq!(last_of_code("x = 1; /* L: */ "), Some(';'));
        assert_eq!(last_of_code(" // nothing"), None);
    }
}
