//! Fences written into the table of an X86 test.
//!
//! A new fence gets a row of its own in front of the row of its place; fences of several threads in front of the
//! same row share one. Empty cells mean nothing, so the other columns stay as they are, and so does every other
//! byte: comments, alignment, line ends. We do not move a column's cells down instead: every row below would
//! change, and comments inside of the table would have nowhere to go.
//!
//! Labels stand before the fence that is put behind them: they move up into the new row. A fence of the author
//! is rewritten in its cell; one that goes leaves the cell empty, and takes the row with it if nothing else is
//! there.
//!
//! Only the text is looked at here. That the new text means what the placement means is checked with the front
//! end ([`crate::repaired`]).

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{FenceKinds, Place, PlaceId, Placement, Program, Written};

use super::sections::sections;
use super::tokens::Lines;
use super::x86::ast::{Cell, Column};
use crate::edit::{EditError, TextEdit, line_end};
use crate::fences::FenceSyntax;

/// The edits that put a placement's fences into an X86 test, in the order of its text. `program` is that of the
/// text, with places.
pub(super) fn insert(
    syntax: &FenceSyntax,
    (source, columns): (&str, &[Column]),
    program: &Program,
    placement: &Placement,
    written: Written,
) -> Result<Vec<TextEdit>, EditError> {
    let sections = sections(source, &Lines::new(source)).map_err(|_| EditError::Unreadable)?;
    let rows = rows(&sections.clean, sections.program.0, columns);
    let changes = Changes::default();
    let mut table = Table { source, clean: &sections.clean, columns, rows, changes };
    let barriers = placement.by_place();
    for (at, place) in program.places.iter().enumerate() {
        let none = (FenceKinds::default(), Vec::new());
        let (added, drains) = barriers.get(&PlaceId::from_index(at)).unwrap_or(&none);
        let own = place.written.map(|(own, _)| own).unwrap_or_default();
        let kept = if written == Written::Kept { own } else { FenceKinds::default() };
        let kinds = kept.union(*added);
        if kinds == own && drains.is_empty() {
            continue;
        }
        let texts = syntax.statements(program, kinds, drains)?;
        let done = match place.written {
            Some(_) => table.rewrite(place, texts),
            None => table.insert(place, texts),
        };
        done.ok_or_else(|| EditError::no_position(program, place))?;
    }
    Ok(table.edits())
}

/// A row of the table: the stretches of text between its bars, and where it ends, semicolon included.
#[derive(Debug)]
struct Row {
    start: usize,
    cells: Vec<(usize, usize)>,
    end: usize,
}

/// The rows of a table, that of the threads' names included.
fn rows(clean: &str, start: usize, columns: &[Column]) -> Vec<Row> {
    // `LOCK; INC [x]` has a semicolon inside.
    let spans: BTreeMap<usize, usize> = columns
        .iter()
        .flat_map(|column| &column.cells)
        .map(|cell| (cell.span.start as usize, cell.span.end as usize))
        .collect();
    let last = spans.values().copied().max().unwrap_or(start);
    let bytes = clean.as_bytes();
    let mut rows = Vec::new();
    let (mut row, mut cell, mut at) = (start, start, start);
    let mut cells = Vec::new();
    while at < bytes.len() && row < last {
        if let Some(end) = spans.get(&at) {
            at = *end;
            continue;
        }
        let ends = bytes[at] == b';';
        if ends || bytes[at] == b'|' {
            cells.push((cell, at));
            cell = at + 1;
        }
        at += 1;
        if ends {
            rows.push(Row { start: row, cells: std::mem::take(&mut cells), end: at });
            row = at;
        }
    }
    if row < last {
        cells.push((cell, at));
        rows.push(Row { start: row, cells, end: at });
    }
    rows
}

/// What is to be done, by row.
#[derive(Debug, Default)]
struct Changes {
    /// New rows before a row: by column, what stands there from top to bottom.
    before: BTreeMap<usize, BTreeMap<usize, Vec<String>>>,
    /// New rows behind a row.
    behind: BTreeMap<usize, BTreeMap<usize, Vec<String>>>,
    /// Cells that become empty.
    emptied: BTreeSet<(usize, usize)>,
    /// Inside of rows that stay.
    edits: Vec<TextEdit>,
}

struct Table<'a> {
    source: &'a str,
    /// The source without its comments.
    clean: &'a str,
    columns: &'a [Column],
    rows: Vec<Row>,
    changes: Changes,
}

impl<'a> Table<'a> {
    /// The row and column of a place, and its cell.
    fn find(&self, place: &Place) -> Option<(usize, usize, &'a Cell)> {
        let here = |cell: &&Cell| match &cell.instruction {
            _ if place.at_end => cell.span.end == place.offset,
            Some(instruction) => instruction.span.start == place.offset,
            None => false,
        };
        let columns = self.columns.iter().enumerate();
        let found = columns.map(|(at, column)| (at, column.cells.iter().find(here)));
        let (column, cell) = found.into_iter().find_map(|(at, cell)| Some((at, cell?)))?;
        let start = cell.span.start as usize;
        let row = self.rows.iter().position(|row| row.start <= start && start < row.end)?;
        Some((row, column, cell))
    }

    /// Fences at a place where there is none.
    fn insert(&mut self, place: &Place, mut texts: Vec<String>) -> Option<()> {
        let (row, column, cell) = self.find(place)?;
        if place.at_end {
            self.changes.behind.entry(row).or_default().insert(column, texts);
            return Some(());
        }
        let (start, end) = (cell.span.start as usize, place.offset as usize);
        if !cell.labels.is_empty()
            && let Some(first) = texts.first_mut()
        {
            let labels = self.clean[start..end].split_whitespace().collect::<Vec<_>>().join(" ");
            *first = format!("{labels} {first}");
            self.blank(start, end);
        }
        self.changes.before.entry(row).or_default().insert(column, texts);
        Some(())
    }

    /// Fences, or none, in the place of one of the author.
    fn rewrite(&mut self, place: &Place, mut texts: Vec<String>) -> Option<()> {
        let (row, column, cell) = self.find(place)?;
        let span = cell.instruction.as_ref()?.span;
        let (start, end) = (span.start as usize, span.end as usize);
        let Some(last) = texts.pop() else {
            if cell.labels.is_empty() {
                self.changes.emptied.insert((row, column));
            }
            self.blank(start, end);
            return Some(());
        };
        let text = format!("{last:<0$}", end - start);
        self.changes.edits.push(TextEdit { start, end, text });
        if texts.is_empty() { Some(()) } else { self.insert(place, texts) }
    }

    /// Blanks what is not a comment.
    fn blank(&mut self, start: usize, end: usize) {
        let both = self.clean[start..end].bytes().zip(self.source[start..end].bytes());
        let left = both.map(|(clean, own)| if clean.is_ascii_whitespace() { own } else { b' ' });
        let text = String::from_utf8(left.collect()).expect("code is ASCII, comments stay");
        self.changes.edits.push(TextEdit { start, end, text });
    }

    /// Where a row begins: at the beginning of its line if nothing else is before it there.
    fn begin(&self, row: usize) -> usize {
        let Row { start, end, .. } = self.rows[row];
        let text = &self.clean[start..end];
        let blank = &text[..text.len() - text.trim_start().len()];
        start + blank.rfind('\n').map_or(0, |at| at + 1)
    }

    /// The first byte behind a row, with the rest of its line if that is empty in `text`.
    fn behind(&self, row: usize, text: &str) -> usize {
        let end = self.rows[row].end;
        let line = text[end..].find('\n').map(|at| end + at + 1);
        line.filter(|line| text[end..*line].trim().is_empty()).unwrap_or(end)
    }

    /// New rows, as wide as an old one.
    fn new_rows(&self, row: usize, columns: &BTreeMap<usize, Vec<String>>, eol: &str) -> String {
        let begin = self.begin(row);
        let own_line = begin == 0 || self.clean[..begin].ends_with('\n');
        let height = columns.values().map(Vec::len).max().unwrap_or(0);
        let mut text = String::new();
        for at in 0..height {
            let cells = self.rows[row].cells.iter().enumerate().map(|(column, (start, end))| {
                let old = &self.clean[begin.max(*start)..*end];
                let new = columns.get(&column).and_then(|texts| texts.get(at));
                widened(old, new.map_or("", String::as_str))
            });
            text.push_str(&cells.collect::<Vec<_>>().join("|"));
            text.push_str(if own_line { ";" } else { "; " });
            text.push_str(if own_line { eol } else { "" });
        }
        text
    }

    /// Whether nothing is left in a row, not even a comment.
    fn is_emptied(&self, row: usize) -> bool {
        let (start, end) = (self.begin(row), self.rows[row].end);
        let empty = |column: usize, (start, end): (usize, usize)| {
            self.changes.emptied.contains(&(row, column))
                || self.clean[start..end].trim().is_empty()
        };
        let mut cells = self.rows[row].cells.iter().enumerate();
        cells.all(|(column, cell)| empty(column, *cell))
            && self.changes.emptied.iter().any(|(other, _)| *other == row)
            && self.source[start..end] == self.clean[start..end]
    }

    /// All edits, in the order of the text.
    fn edits(mut self) -> Vec<TextEdit> {
        let eol = line_end(self.source);
        let mut edits = std::mem::take(&mut self.changes.edits);
        for row in 0..self.rows.len() {
            if self.is_emptied(row) {
                let (from, to) = (self.begin(row), self.behind(row, self.source));
                edits.retain(|edit| edit.end <= from || to <= edit.start);
                edits.push(TextEdit { start: from, end: to, text: String::new() });
            }
        }
        for (row, columns) in &self.changes.before {
            let at = self.begin(*row);
            let text = self.new_rows(*row, columns, eol);
            edits.push(TextEdit { start: at, end: at, text });
        }
        for (row, columns) in &self.changes.behind {
            let at = self.behind(*row, self.clean);
            let new = self.new_rows(*row, columns, eol);
            let line_begins = at == 0 || self.clean[..at].ends_with('\n');
            let ended = self.clean[..self.rows[*row].end].ends_with(';');
            let text = match (line_begins, ended) {
                (true, _) => new,
                (false, true) => format!("{eol}{}", new.trim_end()),
                (false, false) => format!(" ;{eol}{}", new.trim_end()),
            };
            edits.push(TextEdit { start: at, end: at, text });
        }
        edits.sort_by_key(|edit| (edit.start, edit.end));
        edits
    }
}

/// A new cell below or above an old one: as far from the bars, and as wide if it fits.
fn widened(old: &str, new: &str) -> String {
    if old.contains('\n') {
        return format!(" {new} ");
    }
    let before = &old[..old.len() - old.trim_start().len()];
    let after = if old.ends_with(char::is_whitespace) { " " } else { "" };
    let wide = old.chars().count();
    if new.is_empty() {
        return format!("{before}{:1$}", "", wide - before.chars().count());
    }
    let cell = format!("{before}{new}");
    if cell.chars().count() < wide { format!("{cell:<wide$}") } else { cell + after }
}

#[cfg(test)]
mod tests;
