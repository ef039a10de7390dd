//! Inserts fence statements into languages with braces: `.fp`, C and the C of litmus tests. Changes
//! memory orders: only the name of the order is replaced.
//!
//! A fence gets a line of its own if the code after its place starts a line. If only labels precede
//! the place on its line, the fence follows them, and the code after it starts a new line. Otherwise
//! the fence is inserted inline. If a fence becomes part of an unbraced body of `if` or a loop, braces are added
//! around the body. All other text stays byte for byte the same, including line terminators.
//! Indentation is copied from the surrounding lines.
//!
//! This module works on the text only. [`crate::repair`] compiles the new text to check that it
//! has the meaning of the placement.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fencepost_ir::{
    FenceKinds, OrderEffect, OrderSite, Place, PlaceId, Placement, Program, Span, WrittenFences,
};

use super::{EditError, TextEdit, line_end};
use crate::fences::FenceSyntax;

/// A file of a source: its text, and the offset of its first byte in the spans of the program.
#[derive(Clone, Copy, Debug)]
pub struct FileText<'a> {
    /// The text.
    pub text: &'a str,
    /// The offset of the first byte.
    pub start: u32,
}

impl FileText<'_> {
    /// Returns whether an offset is in the file or at its end.
    fn contains(self, offset: u32) -> bool {
        offset.checked_sub(self.start).is_some_and(|at| at as usize <= self.text.len())
    }

    /// Returns a span with offsets into the text.
    fn own(self, span: Span) -> Span {
        Span { start: span.start - self.start, end: span.end - self.start, ..span }
    }

    /// Returns a place with offsets into the text.
    fn own_place(self, place: &Place) -> Place {
        let mut place = place.clone();
        place.offset -= self.start;
        place.wrap = place.wrap.map(|wrap| self.own(wrap));
        place.written = place.written.map(|(kinds, span)| (kinds, self.own(span)));
        for choice in place.order.iter_mut().flat_map(|site| &mut site.choices) {
            choice.edits.iter_mut().for_each(|(span, _)| *span = self.own(*span));
        }
        place
    }
}

/// Computes the edits of one file that insert the barriers of a placement, sorted by position. The
/// edits do not overlap. Several insertions at the same byte are applied in list order. `program` is
/// the program lowered from the source, with places. The spans of a place are in one file.
pub fn insert(
    syntax: &FenceSyntax,
    file: FileText<'_>,
    program: &Program,
    placement: &Placement,
    written: WrittenFences,
) -> Result<Vec<TextEdit>, EditError> {
    let source = file.text;
    let mut editor = Editor { source, eol: line_end(source), edits: Vec::new() };
    let (barriers, orders) = (placement.by_place(), placement.orders());
    let mut wrapped: BTreeMap<Span, Wrapped> = BTreeMap::new();
    let places = program.places.iter().enumerate();
    for (at, place) in places.filter(|(_, place)| file.contains(place.offset)) {
        let place = &file.own_place(place);
        if let Some(site) = &place.order {
            let added = orders.get(&PlaceId::from_index(at)).copied();
            editor.change_order(program, place, site, (added, written))?;
            continue;
        }
        let none = (FenceKinds::default(), Vec::new());
        let (added, drains) = barriers.get(&PlaceId::from_index(at)).unwrap_or(&none);
        if let Some((own, span)) = place.written {
            let kept = if written == WrittenFences::Kept { own } else { FenceKinds::default() };
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
            editor.insert(place, &texts); // after a label
        }
    }
    for (wrap, parts) in &wrapped {
        editor.wrap(*wrap, parts);
    }
    editor.edits.sort_by_key(|(edit, order)| (edit.start, *order));
    Ok(editor.edits.into_iter().map(|(edit, _)| edit).collect())
}

/// The fences to insert before and after a statement that gets braces.
#[derive(Default)]
struct Wrapped {
    before: Vec<String>,
    after: Vec<String>,
}

/// The order of edits at the same byte. Closing braces come first, inner before outer ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    /// A new closing brace. The field is the start of the braced statement.
    Close(Reverse<u32>),
    /// An insertion at the end of a block.
    End,
    /// An insertion before a statement.
    Open,
    /// The replacement of a statement.
    Replace,
}

struct Editor<'a> {
    source: &'a str,
    eol: &'static str,
    edits: Vec<(TextEdit, Order)>,
}

impl<'a> Editor<'a> {
    fn put(&mut self, start: usize, end: usize, text: String, order: Order) {
        self.edits.push((TextEdit { start, end, text }, order));
    }

    /// Returns the part of the line before an offset.
    fn line_before(&self, offset: usize) -> &'a str {
        let start = self.source[..offset].rfind('\n').map_or(0, |at| at + 1);
        &self.source[start..offset]
    }

    /// Returns the part of the line after an offset, without the line terminator.
    fn line_after(&self, offset: usize) -> &'a str {
        let rest = &self.source[offset..];
        rest.split('\n').next().unwrap_or(rest).trim_end_matches('\r')
    }

    /// Returns the indentation before an offset, or `None` if other text precedes the offset on its
    /// line.
    fn indentation(&self, offset: usize) -> Option<&'a str> {
        let before = self.line_before(offset);
        before.chars().all(char::is_whitespace).then_some(before)
    }

    /// Returns the text between two statements of which the first one is at an offset.
    fn separator(&self, offset: usize) -> String {
        let before = self.line_before(offset);
        let indent = self.indentation(offset).or_else(|| {
            let labels = before.trim().strip_suffix(':')?;
            let first = offset - before.trim_start().len();
            let outer = &before[..before.len() - before.trim_start().len()];
            let are_names = labels.split(':').all(|label| is_name(label.trim()));
            are_names.then(|| self.labelled_indentation(first, outer))
        });
        indent.map_or_else(|| " ".into(), |indent| format!("{}{indent}", self.eol))
    }

    /// Inserts statements at a place that needs no braces.
    fn insert(&mut self, place: &Place, texts: &[String]) {
        let at = place.offset as usize;
        let order = if place.at_end { Order::End } else { Order::Open };
        let separator = self.separator(at);
        let joined = texts.join(&separator);
        if !place.at_end && self.source[at..].starts_with(';') {
            // Replace the empty statement.
            return self.put(at, at + 1, joined, Order::Replace);
        }
        let Some(outer) = self.indentation(at) else {
            let blank = if self.line_before(at).ends_with(char::is_whitespace) { "" } else { " " };
            return self.put(at, at, format!("{blank}{joined}{separator}"), order);
        };
        let mut text = String::new();
        let inner = if place.at_end {
            self.inner_indentation(at, outer)
        } else {
            self.labelled_indentation(at, outer).into()
        };
        for (index, statement) in texts.iter().enumerate() {
            // The existing indentation precedes the first statement.
            let indent = if index == 0 { &inner[outer.len()..] } else { &inner };
            text.push_str(&format!("{indent}{statement}{}", self.eol));
        }
        text.push_str(outer);
        self.put(at, at, text, order);
    }

    /// Returns the indentation of the statements of a block. The closing brace of the block is the
    /// first code on its line. The statements of a `switch` are those after its last label.
    fn inner_indentation(&self, brace: usize, outer: &str) -> String {
        let lines = self.source[..brace - outer.len()].lines().rev();
        let mut inner: Option<&str> = None;
        for line in lines.map(str::trim_end).filter(|line| !line.is_empty()) {
            let text = line.trim_start();
            let indent = &line[..line.len() - text.len()];
            if indent.len() <= outer.len() || !indent.starts_with(outer) {
                break;
            }
            if text.starts_with("case ") || text.starts_with("default:") {
                return inner.map_or_else(|| format!("{indent}  "), String::from);
            }
            inner = inner.filter(|found| found.len() <= indent.len()).or(Some(indent));
        }
        inner.map_or_else(|| format!("{outer}  "), String::from)
    }

    /// Returns the indentation of a statement at an offset. A label may stand further left than the
    /// statements around it. A fence before the label has the indentation of these statements.
    fn labelled_indentation(&self, at: usize, outer: &'a str) -> &'a str {
        let (name, _) = self.line_after(at).split_once(':').unwrap_or_default();
        if !is_name(name.trim_end()) {
            return outer;
        }
        let indent = |line: &'a str| &line[..line.len() - line.trim_start().len()];
        let is_statement = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with('}');
        let after = self.source[at..].lines().skip(1).find(|line| !line.trim().is_empty());
        let before = self.source[..at - outer.len()].lines().next_back();
        let before = before.filter(|line| line.trim_end().ends_with(';'));
        let around = [before, after.filter(is_statement)].into_iter().flatten().map(indent);
        let around = around.filter(|indent| indent.starts_with(outer));
        around.min_by_key(|indent| indent.len()).unwrap_or(outer)
    }

    /// Adds braces around a statement and fences before and after the statement.
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
        let head_line = self.line_before(head.len());
        let head_indent = &head_line[..head_line.len() - head_line.trim_start().len()];
        let outer = match inner.strip_prefix(head_indent) {
            Some(more) if !more.is_empty() => head_indent,
            Some(_) | None => inner.strip_suffix("  ").unwrap_or(""),
        };
        // The brace follows the head, unless a comment ends the line.
        if self.line_before(head.len()).contains("//") {
            let line = start - inner.len();
            self.put(line, line, format!("{outer}{{{eol}"), Order::Open);
        } else {
            self.put(head.len(), head.len(), " {".into(), Order::Open);
        }
        let lines: String = parts.before.iter().map(|text| format!("{text}{eol}{inner}")).collect();
        self.put(start, start, lines, Order::Open);
        let rest = self.line_after(end);
        let only_comment = rest.trim().is_empty() || rest.trim_start().starts_with("//");
        let end = if only_comment { end + rest.len() } else { end };
        let lines: String = parts.after.iter().map(|text| format!("{eol}{inner}{text}")).collect();
        self.put(end, end, format!("{lines}{eol}{outer}}}"), close);
    }

    /// Replaces the memory order of an access by the weakest one that has the fences of the
    /// placement. An order of the source is kept if nothing is added to it.
    fn change_order(
        &mut self,
        program: &Program,
        place: &Place,
        site: &OrderSite,
        (added, written): (Option<OrderEffect>, WrittenFences),
    ) -> Result<(), EditError> {
        let fences = match (added, written) {
            (None, WrittenFences::Kept) => return Ok(()),
            (Some(added), WrittenFences::Kept) => site.written_choice().effect.union(added),
            (added, WrittenFences::Dropped) => added.unwrap_or_default(),
        };
        let choice = site.choice(fences).ok_or(EditError::no_position(program, place))?;
        for (span, text) in &choice.edits {
            self.put(span.start as usize, span.end as usize, text.clone(), Order::Replace);
        }
        Ok(())
    }

    /// Replaces an existing fence with statements. Removes the fence if there are no statements.
    fn rewrite(&mut self, place: &Place, span: Span, texts: &[String]) {
        let (start, end) = (span.start as usize, span.end as usize);
        let indent = self.indentation(start);
        if !texts.is_empty() {
            let text = match place.wrap {
                Some(_) if texts.len() > 1 => format!("{{ {} }}", texts.join(" ")),
                Some(_) | None => texts.join(&self.separator(start)),
            };
            return self.put(start, end, text, Order::Replace);
        }
        if place.wrap.is_some() || last_code_char(&self.source[..start]) == Some(':') {
            // The grammar requires a statement here.
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

/// Returns whether a text has the form of a name.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns the last character that is neither whitespace nor part of a comment.
fn last_code_char(source: &str) -> Option<char> {
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
    fn last_code_char_ignores_comments() {
        assert_eq!(last_code_char("L: // here; it is\n  "), Some(':'));
        assert_eq!(last_code_char("x = 1; /* L: */ "), Some(';'));
        assert_eq!(last_code_char(" // nothing"), None);
    }
}
