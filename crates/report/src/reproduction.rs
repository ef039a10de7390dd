//! A reproduced table of a paper: the paper's figures and ours side by side.
//!
//! The format is the same for every table. A row has figures of the paper and our figures under the
//! same names. The caller decides whether they agree and writes the note. As text, our figure comes
//! first and the paper's follows in parentheses. Notes are numbered; equal notes are printed once.
//! [`markdown()`] prints the same table in Markdown.

mod markdown;

pub use markdown::markdown;

use crate::paint::{Paint, count, counted, width};
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};
use std::fmt::Write;

/// The maximal width of notes and lists.
const WIDTH: usize = 100;

/// One figure. In data files, a count is an integer and seconds are a number with a decimal point.
#[derive(Clone, PartialEq, Debug, serde::Deserialize)]
#[serde(untagged, expecting = "a count, seconds, a flag, a word, or a list of texts")]
pub enum Figure {
    /// A count.
    Number(u64),
    /// A duration in seconds.
    Seconds(f64),
    /// A yes-or-no value.
    Flag(bool),
    /// A word, such as `proved`.
    Word(String),
    /// A list of texts, in order.
    List(Vec<String>),
}

/// Figures with their names, in the order they are shown.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Figures(Vec<(String, Figure)>);

impl Figures {
    /// Creates an empty list.
    pub fn new() -> Self {
        Figures::default()
    }

    /// Adds a figure, if there is one.
    pub fn with(mut self, name: &str, figure: impl Into<Option<Figure>>) -> Self {
        self.0.extend(figure.into().map(|figure| (name.into(), figure)));
        self
    }

    /// Returns the figure of this name.
    pub fn get(&self, name: &str) -> Option<&Figure> {
        self.0.iter().find(|(other, _)| *other == name).map(|(_, figure)| figure)
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Figure::Number(number) => number.serialize(serializer),
            Figure::Seconds(seconds) => ((seconds * 1000.0).round() / 1000.0).serialize(serializer),
            Figure::Flag(flag) => flag.serialize(serializer),
            Figure::Word(word) => word.serialize(serializer),
            Figure::List(texts) => texts.serialize(serializer),
        }
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, figure) in &self.0 {
            map.serialize_entry(name, figure)?;
        }
        map.end()
    }
}

/// How a row compares with the paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// All figures that can be compared agree, and there is at least one.
    Agrees,
    /// A figure differs, or a requirement on our figures does not hold.
    Differs,
    /// The row was computed, and the paper has no figure to compare with.
    NothingToCompare,
    /// A limit ended the computation of the row.
    Limit,
}

impl Status {
    /// All statuses, in the order of the summary.
    pub const ALL: [Status; 4] =
        [Status::Agrees, Status::Differs, Status::NothingToCompare, Status::Limit];

    /// Returns the status in words.
    pub fn text(self) -> &'static str {
        match self {
            Status::Agrees => "agrees",
            Status::Differs => "differs",
            Status::NothingToCompare => "nothing to compare",
            Status::Limit => "limit",
        }
    }
}

/// One row of the table, for one of its columns.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// The group of the row: the algorithm.
    pub group: String,
    /// The part of the group; rows of one part have the same figures.
    pub part: String,
    /// The name of the row, starting with its group.
    pub row: String,
    /// The column: the memory model and the abstraction or method.
    pub column: String,
    /// The figures of the paper.
    pub paper: Figures,
    /// Our figures; empty if the row reached a limit.
    pub ours: Figures,
    /// How the row compares with the paper.
    pub status: Status,
    /// The reason for a difference, or another note; may be empty.
    pub note: String,
    /// The CPU time of the row in seconds. None if it is unknown.
    pub cpu_seconds: Option<f64>,
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = serializer.serialize_struct("Row", 9)?;
        row.serialize_field("row", &self.row)?;
        row.serialize_field("column", &self.column)?;
        row.serialize_field("paper", &self.paper)?;
        row.serialize_field("ours", &self.ours)?;
        row.serialize_field("status", &self.status.text().replace(' ', "-"))?;
        row.serialize_field("ran", &(self.status != Status::Limit))?;
        row.serialize_field("agrees", &(self.status == Status::Agrees))?;
        row.serialize_field("note", &self.note)?;
        row.serialize_field("cpu_seconds", &self.cpu_seconds)?;
        row.end()
    }
}

/// A reproduced table.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Reproduction {
    /// The version of Fencepost.
    pub fencepost: String,
    /// The name of the table.
    pub table: String,
    /// The rows.
    pub rows: Vec<Row>,
    /// The number of rows that were skipped because of an interruption.
    pub left_out: usize,
    /// The total wall-clock time in seconds.
    pub seconds: f64,
    /// The total CPU time in seconds. None if it is unknown.
    pub cpu_seconds: Option<f64>,
}

impl Reproduction {
    /// Whether every row was computed without reaching a limit.
    pub fn is_complete(&self) -> bool {
        self.left_out == 0 && self.count(Status::Limit) == 0
    }

    /// Returns the number of rows with this status.
    pub fn count(&self, status: Status) -> usize {
        self.rows.iter().filter(|row| row.status == status).count()
    }
}

/// Returns the table as text, below a title and an introduction.
pub fn table(reproduction: &Reproduction, title: &str, about: &str, paint: Paint) -> String {
    let mut out = format!("{}\n", paint.strong(title));
    out.push_str(&wrapped("", &format!("Our figures first, the paper's in parentheses. {about}")));
    let mut notes = Vec::new();
    for rows in reproduction.rows.chunk_by(|a, b| a.group == b.group) {
        writeln!(out, "\n{}", paint.strong(&rows[0].group))
            .expect("writing to a string cannot fail");
        for alike in rows.chunk_by(|a, b| a.part == b.part) {
            part(&mut out, alike, &mut notes, paint);
        }
    }
    if !notes.is_empty() {
        out.push_str("\nNotes\n");
    }
    for (at, note) in notes.iter().enumerate() {
        out.push_str(&wrapped(&format!("{:>4}  ", format!("[{}]", at + 1)), note));
    }
    writeln!(out, "\n{}", summary(reproduction)).expect("writing to a string cannot fail");
    out
}

/// Returns the line with the number of rows of each status, and the duration.
fn summary(reproduction: &Reproduction) -> String {
    let counts = Status::ALL.iter().map(|status| (*status, reproduction.count(*status)));
    let mut parts: Vec<String> = counts
        .filter(|(status, count)| *count > 0 || matches!(status, Status::Agrees | Status::Differs))
        .map(|(status, count)| match status {
            Status::Agrees => format!("{count} agree"),
            Status::Differs => format!("{count} differ"),
            Status::NothingToCompare => format!("{count} with nothing to compare"),
            Status::Limit => format!("{count} reached a limit"),
        })
        .collect();
    if reproduction.left_out > 0 {
        parts.push(format!("{} skipped", reproduction.left_out));
    }
    let rows = counted((reproduction.rows.len() + reproduction.left_out) as u64, "row");
    let cpu = reproduction.cpu_seconds.map_or_else(String::new, |cpu| format!(", CPU {cpu:.1} s"));
    format!("{rows}: {} ({:.1} s{cpu})", parts.join(", "), reproduction.seconds)
}

/// A column of figures: its title, and for each row our figure and the paper's.
struct FigureColumn {
    title: String,
    cells: Vec<(String, String)>,
}

/// Returns the columns of some rows, in order of first occurrence, without lists. The CPU time
/// follows the wall-clock time.
fn columns(rows: &[Row]) -> Vec<FigureColumn> {
    let mut names: Vec<&str> = Vec::new();
    for (name, figure) in rows.iter().flat_map(|row| row.ours.0.iter().chain(&row.paper.0)) {
        if !matches!(figure, Figure::List(_)) && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let cell = |figure: Option<&Figure>| figure.map(shown).unwrap_or_default();
    let mut columns = Vec::new();
    for name in names {
        let cells = rows.iter().map(|row| (cell(row.ours.get(name)), cell(row.paper.get(name))));
        columns.push(FigureColumn { title: name.into(), cells: cells.collect() });
        if name == "seconds" && rows.iter().any(|row| row.cpu_seconds.is_some()) {
            let seconds = |row: &Row| row.cpu_seconds.map(Figure::Seconds);
            let cells = rows.iter().map(|row| (cell(seconds(row).as_ref()), String::new()));
            columns.push(FigureColumn { title: "CPU".into(), cells: cells.collect() });
        }
    }
    columns
}

/// Returns the name of a row without its group.
fn own_name(row: &Row) -> &str {
    row.row.strip_prefix(&row.group).unwrap_or(&row.row).trim_start()
}

/// Returns the number of the note of a row, and adds the note if it is new. None without a note.
fn note_number<'r>(row: &'r Row, notes: &mut Vec<&'r str>) -> Option<usize> {
    if row.note.is_empty() {
        return None;
    }
    let known = notes.iter().position(|note| *note == row.note);
    Some(
        known.unwrap_or_else(|| {
            notes.push(&row.note);
            notes.len() - 1
        }) + 1,
    )
}

/// Appends rows with the same figures, in columns. Lists are on separate lines.
fn part<'r>(out: &mut String, rows: &'r [Row], notes: &mut Vec<&'r str>, paint: Paint) {
    let columns = columns(rows);
    let mut lines: Vec<Vec<String>> = vec![vec![rows[0].part.clone(), "model".into()]];
    lines[0].extend(columns.iter().flat_map(|column| [column.title.clone(), String::new()]));
    for (at, row) in rows.iter().enumerate() {
        let mut cells = vec![own_name(row).to_string(), row.column.clone()];
        for (ours, paper) in columns.iter().map(|column| &column.cells[at]) {
            let paper = if paper.is_empty() { String::new() } else { format!("({paper})") };
            cells.extend([ours.clone(), paper]);
        }
        lines.push(cells);
    }
    let widths: Vec<usize> = (0..lines[0].len())
        .map(|at| lines.iter().map(|cells| width(&cells[at])).max().unwrap_or(0))
        .collect();
    for (at, cells) in lines.iter().enumerate() {
        let mut line = String::new();
        for (column, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            let gap = if column > 1 && column % 2 == 1 { " " } else { "  " };
            match column {
                0 | 1 => write!(line, "{gap}{cell:<width$}"),
                _ if column % 2 == 1 => write!(line, "{gap}{cell:<width$}"),
                _ => write!(line, "{gap}{cell:>width$}"),
            }
            .expect("writing to a string cannot fail");
        }
        match at.checked_sub(1).map(|at| &rows[at]) {
            None => writeln!(out, "{}", paint.faint(line.trim_end())),
            Some(row) => writeln!(out, "{line}  {}", judgement(row, notes, paint)),
        }
        .expect("writing to a string cannot fail");
        if let Some(row) = at.checked_sub(1).map(|at| &rows[at]) {
            lists(out, row);
        }
    }
}

/// Returns the judgement of a row, with the number of its note.
fn judgement<'r>(row: &'r Row, notes: &mut Vec<&'r str>, paint: Paint) -> String {
    let text = row.status.text();
    let word = match row.status {
        Status::Agrees => paint.good(text),
        Status::Differs => paint.bad(text),
        Status::NothingToCompare => paint.faint(text),
        Status::Limit => paint.unsure(text),
    };
    match note_number(row, notes) {
        Some(number) => format!("{word} [{number}]"),
        None => word,
    }
}

/// Appends the lists of a row; the paper's list only where it differs.
fn lists(out: &mut String, row: &Row) {
    for (name, figure) in &row.ours.0 {
        let Figure::List(ours) = figure else { continue };
        if !ours.is_empty() {
            out.push_str(&wrapped(&format!("    {name}: "), &ours.join(", ")));
        }
        if let Some(Figure::List(paper)) = row.paper.get(name)
            && paper != ours
        {
            out.push_str(&wrapped(&format!("    {name} in the paper: "), &paper.join(", ")));
        }
    }
}

fn shown(figure: &Figure) -> String {
    match figure {
        Figure::Number(number) => count(*number),
        Figure::Seconds(seconds) => format!("{seconds:.2}"),
        Figure::Flag(true) => "yes".into(),
        Figure::Flag(false) => "no".into(),
        Figure::Word(word) => word.clone(),
        Figure::List(texts) => texts.join(", "),
    }
}

/// Wraps a text after a head. Further lines are indented by the width of the head.
fn wrapped(head: &str, text: &str) -> String {
    let indent = width(head);
    let mut out = head.to_string();
    let mut at = indent;
    for (number, word) in text.split_whitespace().enumerate() {
        if number > 0 && at + 1 + width(word) > WIDTH {
            write!(out, "\n{:indent$}{word}", "").expect("writing to a string cannot fail");
            at = indent + width(word);
            continue;
        }
        let gap = if number > 0 { " " } else { "" };
        write!(out, "{gap}{word}").expect("writing to a string cannot fail");
        at += width(gap) + width(word);
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, ours: Figures, status: Status, note: &str) -> Row {
        Row {
            group: "Sieve".into(),
            cpu_seconds: (status != Status::Limit).then_some(0.5),
            part: "client".into(),
            row: format!("Sieve {name}"),
            column: "PSO".into(),
            paper: Figures::new()
                .with("states", Figure::Number(1_200))
                .with("places", Figure::List(vec!["a:1".into()])),
            ours,
            status,
            note: note.into(),
        }
    }

    pub(super) fn sample() -> Reproduction {
        let found = |states, place: &str| {
            let list = Figure::List(vec![place.into()]);
            Figures::new()
                .with("result", Figure::Word("proved".into()))
                .with("states", Figure::Number(states))
                .with("seconds", Figure::Seconds(0.25))
                .with("places", list)
        };
        let rows = vec![
            row("p|t", found(7, "a:1"), Status::Agrees, ""),
            row("pp|t", found(12_345, "b:2"), Status::Differs, "Other places."),
            row("ppp|t", Figures::new(), Status::Limit, "Time limit reached."),
            row("pt|t", found(8, "b:2"), Status::Differs, "Other places."),
            Row {
                paper: Figures::new(),
                ..row("tt|t", found(9, "b:2"), Status::NothingToCompare, "")
            },
        ];
        let (table, left_out) = ("sieve".into(), 2);
        Reproduction {
            fencepost: "1.2.3".into(),
            table,
            rows,
            left_out,
            seconds: 1.25,
            cpu_seconds: Some(2.5),
        }
    }

    #[test]
    fn a_table_has_figures_lists_notes_and_a_summary() {
        let expected = "\
Sieves of 1970
Our figures first, the paper's in parentheses. Primes only.

Sieve
  client  model  result   states          seconds    CPU
  p|t     PSO    proved        7 (1,200)     0.25   0.50   agrees
    places: a:1
  pp|t    PSO    proved   12,345 (1,200)     0.25   0.50   differs [1]
    places: b:2
    places in the paper: a:1
  ppp|t   PSO                    (1,200)                   limit [2]
  pt|t    PSO    proved        8 (1,200)     0.25   0.50   differs [1]
    places: b:2
    places in the paper: a:1
  tt|t    PSO    proved        9             0.25   0.50   nothing to compare
    places: b:2

Notes
 [1]  Other places.
 [2]  Time limit reached.

7 rows: 1 agree, 2 differ, 1 with nothing to compare, 1 reached a limit, 2 skipped (1.2 s, CPU 2.5 s)
";
        assert_eq!(table(&sample(), "Sieves of 1970", "Primes only.", Paint::Plain), expected);
        assert!(!sample().is_complete());
    }

    #[test]
    fn json_has_the_documented_keys() {
        let json = serde_json::to_value(sample()).expect("plain data serialises as JSON");
        assert_eq!(json["table"], "sieve");
        let row = serde_json::json!({
            "row": "Sieve pp|t", "column": "PSO", "status": "differs", "ran": true, "agrees": false,
            "paper": {"states": 1200, "places": ["a:1"]},
            "ours": {"result": "proved", "states": 12345, "seconds": 0.25, "places": ["b:2"]},
            "note": "Other places.", "cpu_seconds": 0.5,
        });
        assert_eq!(json["rows"][1], row);
        assert_eq!(json["rows"][2]["ours"], serde_json::json!({}));
        assert_eq!(json["rows"][4]["status"], "nothing-to-compare");
        assert_eq!(json["rows"][4]["agrees"], false);
    }

    #[test]
    fn long_notes_wrap_between_words() {
        let text = "word ".repeat(40);
        let lines = wrapped("[1]  ", &text);
        assert!(lines.lines().all(|line| width(line) <= WIDTH), "{lines}");
        assert!(lines.lines().skip(1).all(|line| line.starts_with("     word")), "{lines}");
        assert_eq!(lines.split_whitespace().count(), 41);
    }
}
