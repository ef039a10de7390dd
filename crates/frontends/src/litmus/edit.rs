//! Text edits that write fences into the table of a test in an assembly language.
//!
//! A new fence gets a new row before the row of its place. Fences of several threads before the
//! same row share the new row. Empty cells have no effect, so the other columns stay unchanged, and
//! so does every other byte: comments, alignment, line ends. Rejected alternative: moving the cells
//! of a column down. It would change every row below, and comments in the table would lose their
//! position.
//!
//! Labels must precede the fence, so they move up into the new row. A fence of the source is
//! rewritten in its cell. A removed fence leaves its cell empty; if the whole row is then empty,
//! the row is removed.
//!
//! This module edits only the text. [`crate::repair`] compiles the new text and compares it with
//! the placement.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{FenceKinds, Place, PlaceId, Placement, Program, WrittenFences};

use super::sections::split_sections;
use super::table::{Cell, Column, TableInstruction};
use super::tokens::Lines;
use crate::edit::{EditError, TextEdit, line_end};
use crate::fences::FenceSyntax;

/// Computes the edits that write a placement into a table, in text order. `program` is the
/// program of the text, with places.
pub(super) fn insert<I: TableInstruction>(
    syntax: &FenceSyntax,
    (source, columns): (&str, &[Column<I>]),
    program: &Program,
    placement: &Placement,
    written: WrittenFences,
) -> Result<Vec<TextEdit>, EditError> {
    let sections =
        split_sections(source, &Lines::new(source)).map_err(|_| EditError::Unreadable)?;
    let rows = rows(&sections.clean, sections.program.0, columns);
    let changes = Changes::default();
    let mut table = Table { source, clean: &sections.clean, columns, rows, changes };
    let barriers = placement.by_place();
    for (at, place) in program.places.iter().enumerate() {
        let none = (FenceKinds::default(), Vec::new());
        let (added, drains) = barriers.get(&PlaceId::from_index(at)).unwrap_or(&none);
        let own = place.written.map(|(own, _)| own).unwrap_or_default();
        let kept = if written == WrittenFences::Kept { own } else { FenceKinds::default() };
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

/// A row of the table. `cells` are the byte ranges between its bars. `end` is after the semicolon.
#[derive(Debug)]
struct Row {
    start: usize,
    cells: Vec<(usize, usize)>,
    end: usize,
}

/// Splits a table into its rows, including the row of thread names.
fn rows<I>(clean: &str, start: usize, columns: &[Column<I>]) -> Vec<Row> {
    // A semicolon inside of a cell does not end the row: `LOCK; INC [x]`.
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

/// The changes to the table. Keys are row indices, then column indices.
#[derive(Debug, Default)]
struct Changes {
    /// New rows before a row: for each column, the cell texts from top to bottom.
    rows_before: BTreeMap<usize, BTreeMap<usize, Vec<String>>>,
    /// New rows after a row.
    rows_after: BTreeMap<usize, BTreeMap<usize, Vec<String>>>,
    /// Cells that become empty, as pairs of row and column.
    emptied_cells: BTreeSet<(usize, usize)>,
    /// Edits inside of existing rows.
    edits: Vec<TextEdit>,
}

struct Table<'a, I> {
    source: &'a str,
    /// The source with comments replaced by spaces.
    clean: &'a str,
    columns: &'a [Column<I>],
    rows: Vec<Row>,
    changes: Changes,
}

impl<'a, I: TableInstruction> Table<'a, I> {
    /// Finds the row, the column and the cell of a place.
    fn find_cell(&self, place: &Place) -> Option<(usize, usize, &'a Cell<I>)> {
        let here = |cell: &&Cell<I>| match &cell.instruction {
            _ if place.at_end => cell.span.end == place.offset,
            Some(instruction) => instruction.span().start == place.offset,
            None => false,
        };
        let columns = self.columns.iter().enumerate();
        let found = columns.map(|(at, column)| (at, column.cells.iter().find(here)));
        let (column, cell) = found.into_iter().find_map(|(at, cell)| Some((at, cell?)))?;
        let start = cell.span.start as usize;
        let row = self.rows.iter().position(|row| row.start <= start && start < row.end)?;
        Some((row, column, cell))
    }

    /// Inserts fences at a place without a fence. Returns `None` if the place has no cell.
    fn insert(&mut self, place: &Place, mut texts: Vec<String>) -> Option<()> {
        let (row, column, cell) = self.find_cell(place)?;
        if place.at_end {
            self.changes.rows_after.entry(row).or_default().insert(column, texts);
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
        self.changes.rows_before.entry(row).or_default().insert(column, texts);
        Some(())
    }

    /// Replaces a fence of the source by other fences, or removes it if there are none. Returns
    /// `None` if the place has no cell.
    fn rewrite(&mut self, place: &Place, mut texts: Vec<String>) -> Option<()> {
        let (row, column, cell) = self.find_cell(place)?;
        let span = cell.instruction.as_ref()?.span();
        let (start, end) = (span.start as usize, span.end as usize);
        let Some(last) = texts.pop() else {
            if cell.labels.is_empty() {
                self.changes.emptied_cells.insert((row, column));
            }
            self.blank(start, end);
            return Some(());
        };
        let text = format!("{last:<0$}", end - start);
        self.changes.edits.push(TextEdit { start, end, text });
        if texts.is_empty() { Some(()) } else { self.insert(place, texts) }
    }

    /// Replaces code by spaces and keeps comments.
    fn blank(&mut self, start: usize, end: usize) {
        let both = self.clean[start..end].bytes().zip(self.source[start..end].bytes());
        let left = both.map(|(clean, own)| if clean.is_ascii_whitespace() { own } else { b' ' });
        let text =
            String::from_utf8(left.collect()).expect("code is ASCII and comments are kept whole");
        self.changes.edits.push(TextEdit { start, end, text });
    }

    /// Returns the offset where a row starts: the start of its line, if only whitespace and
    /// comments precede the row on this line.
    fn row_start(&self, row: usize) -> usize {
        let Row { start, end, .. } = self.rows[row];
        let text = &self.clean[start..end];
        let blank = &text[..text.len() - text.trim_start().len()];
        start + blank.rfind('\n').map_or(0, |at| at + 1)
    }

    /// Returns the offset after a row. Includes the rest of the line if it is blank in `text`.
    fn row_end(&self, row: usize, text: &str) -> usize {
        let end = self.rows[row].end;
        let line = text[end..].find('\n').map(|at| end + at + 1);
        line.filter(|line| text[end..*line].trim().is_empty()).unwrap_or(end)
    }

    /// Formats new rows with the column widths of an existing row.
    fn new_rows(&self, row: usize, columns: &BTreeMap<usize, Vec<String>>, eol: &str) -> String {
        let begin = self.row_start(row);
        let own_line = begin == 0 || self.clean[..begin].ends_with('\n');
        let height = columns.values().map(Vec::len).max().unwrap_or(0);
        let mut text = String::new();
        for at in 0..height {
            let cells = self.rows[row].cells.iter().enumerate().map(|(column, (start, end))| {
                let old = &self.clean[begin.max(*start)..*end];
                let new = columns.get(&column).and_then(|texts| texts.get(at));
                pad_cell(old, new.map_or("", String::as_str))
            });
            text.push_str(&cells.collect::<Vec<_>>().join("|"));
            text.push_str(if own_line { ";" } else { "; " });
            text.push_str(if own_line { eol } else { "" });
        }
        text
    }

    /// Returns whether the changes empty a row, and the row has no comment.
    fn is_emptied(&self, row: usize) -> bool {
        let (start, end) = (self.row_start(row), self.rows[row].end);
        let empty = |column: usize, (start, end): (usize, usize)| {
            self.changes.emptied_cells.contains(&(row, column))
                || self.clean[start..end].trim().is_empty()
        };
        let mut cells = self.rows[row].cells.iter().enumerate();
        cells.all(|(column, cell)| empty(column, *cell))
            && self.changes.emptied_cells.iter().any(|(other, _)| *other == row)
            && self.source[start..end] == self.clean[start..end]
    }

    /// Returns all edits, in text order.
    fn edits(mut self) -> Vec<TextEdit> {
        let eol = line_end(self.source);
        let mut edits = std::mem::take(&mut self.changes.edits);
        for row in 0..self.rows.len() {
            if self.is_emptied(row) {
                let (from, to) = (self.row_start(row), self.row_end(row, self.source));
                edits.retain(|edit| edit.end <= from || to <= edit.start);
                edits.push(TextEdit { start: from, end: to, text: String::new() });
            }
        }
        for (row, columns) in &self.changes.rows_before {
            let at = self.row_start(*row);
            let text = self.new_rows(*row, columns, eol);
            edits.push(TextEdit { start: at, end: at, text });
        }
        for (row, columns) in &self.changes.rows_after {
            let at = self.row_end(*row, self.clean);
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

/// Formats a new cell with the indentation of an existing cell, padded to its width if the text
/// fits.
fn pad_cell(old: &str, new: &str) -> String {
    if old.contains('\n') {
        return format!(" {new} ");
    }
    let before = &old[..old.len() - old.trim_start().len()];
    let after = if old.ends_with(char::is_whitespace) { " " } else { "" };
    let width = old.chars().count();
    if new.is_empty() {
        return format!("{before}{:1$}", "", width - before.chars().count());
    }
    let cell = format!("{before}{new}");
    if cell.chars().count() < width { format!("{cell:<width$}") } else { cell + after }
}

#[cfg(test)]
mod tests;
