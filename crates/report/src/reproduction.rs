//! A reproduced table of a paper: the paper's figures and ours side by side.
//!
//! The format is the same for every table. A row has figures of the paper and our figures under the
//! same names. The caller decides whether they agree and writes the note. As text, our figure comes
//! first and the paper's follows in parentheses. Notes are numbered; equal notes are printed once.

use crate::paint::{Paint, count, counted, width};
use serde::ser::{Serialize, SerializeMap, Serializer};
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

/// One row of the table, for one of its columns.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Row {
    /// The group of the row: the algorithm.
    #[serde(skip)]
    pub group: String,
    /// The part of the group; rows of one part have the same figures.
    #[serde(skip)]
    pub part: String,
    /// The name of the row, starting with its group.
    pub row: String,
    /// The column: the memory model and the abstraction or method.
    pub column: String,
    /// The figures of the paper.
    pub paper: Figures,
    /// Our figures; empty if the row reached a limit.
    pub ours: Figures,
    /// Whether the row was computed without reaching a limit.
    pub ran: bool,
    /// Whether all comparable figures agree; true if the paper has no figures.
    pub agrees: bool,
    /// The reason for a difference, or another note; may be empty.
    pub note: String,
    /// The CPU time of the row in seconds. None if it is unknown.
    pub cpu_seconds: Option<f64>,
}

impl Row {
    /// Whether the paper has no figures for the row.
    pub fn is_not_in_paper(&self) -> bool {
        self.paper.0.is_empty()
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
        self.left_out == 0 && self.rows.iter().all(|row| row.ran)
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

/// Returns the line with the number of rows that ran and agree, and the duration.
fn summary(reproduction: &Reproduction) -> String {
    let rows = &reproduction.rows;
    let number = |count: usize| count as u64;
    let ran = rows.iter().filter(|row| row.ran).count();
    let agree = rows.iter().filter(|row| row.agrees && !row.is_not_in_paper()).count();
    let new = rows.iter().filter(|row| row.agrees && row.is_not_in_paper()).count();
    let mut text = format!("{} run", counted(number(ran), "row"));
    if ran < rows.len() {
        write!(text, ", {} reached a limit", rows.len() - ran)
            .expect("writing to a string cannot fail");
    }
    if reproduction.left_out > 0 {
        write!(text, ", {} skipped", reproduction.left_out)
            .expect("writing to a string cannot fail");
    }
    let differ = ran - agree - new;
    write!(text, ": {agree} agree, {differ} differ").expect("writing to a string cannot fail");
    if new > 0 {
        write!(text, ", {new} not in the paper").expect("writing to a string cannot fail");
    }
    let cpu = reproduction.cpu_seconds.map_or_else(String::new, |cpu| format!(", CPU {cpu:.1} s"));
    format!("{text} ({:.1} s{cpu})", reproduction.seconds)
}

/// Returns the names of the figures of some rows, in order of first occurrence, without lists.
fn names(rows: &[Row]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, figure) in rows.iter().flat_map(|row| row.ours.0.iter().chain(&row.paper.0)) {
        if !matches!(figure, Figure::List(_)) && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// Appends rows with the same figures, in columns. Lists are on separate lines.
fn part<'r>(out: &mut String, rows: &'r [Row], notes: &mut Vec<&'r str>, paint: Paint) {
    let names = names(rows);
    let mut lines: Vec<Vec<String>> = vec![vec![rows[0].part.clone(), "model".into()]];
    lines[0].extend(names.iter().flat_map(|name| [name.to_string(), String::new()]));
    for row in rows {
        let own = row.row.strip_prefix(&row.group).unwrap_or(&row.row).trim_start();
        let mut cells = vec![own.to_string(), row.column.clone()];
        for name in &names {
            let paper = row.paper.get(name).map(|figure| format!("({})", shown(figure)));
            cells.push(row.ours.get(name).map(shown).unwrap_or_default());
            cells.push(paper.unwrap_or_default());
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
    let word = match (row.ran, row.agrees) {
        (false, _) => paint.unsure("limit"),
        (true, true) if row.is_not_in_paper() => paint.faint("not in the paper"),
        (true, true) => paint.good("agrees"),
        (true, false) => paint.bad("differs"),
    };
    if row.note.is_empty() {
        return word;
    }
    let number = notes.iter().position(|note| *note == row.note).unwrap_or_else(|| {
        notes.push(&row.note);
        notes.len() - 1
    });
    format!("{word} [{}]", number + 1)
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

    fn row(name: &str, ours: Figures, agrees: bool, note: &str) -> Row {
        Row {
            group: "Sieve".into(),
            cpu_seconds: None,
            part: "client".into(),
            row: format!("Sieve {name}"),
            column: "PSO".into(),
            paper: Figures::new()
                .with("states", Figure::Number(1_200))
                .with("places", Figure::List(vec!["a:1".into()])),
            ran: ours != Figures::new(),
            ours,
            agrees,
            note: note.into(),
        }
    }

    fn sample() -> Reproduction {
        let found = |states, place: &str| {
            let list = Figure::List(vec![place.into()]);
            Figures::new()
                .with("result", Figure::Word("proved".into()))
                .with("states", Figure::Number(states))
                .with("places", list)
        };
        let rows = vec![
            row("p|t", found(7, "a:1"), true, ""),
            row("pp|t", found(12_345, "b:2"), false, "Other places."),
            row("ppp|t", Figures::new(), false, "Time limit reached."),
            row("pt|t", found(8, "b:2"), false, "Other places."),
            Row { paper: Figures::new(), ..row("tt|t", found(9, "b:2"), true, "") },
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
  client  model  result   states
  p|t     PSO    proved        7 (1,200)  agrees
    places: a:1
  pp|t    PSO    proved   12,345 (1,200)  differs [1]
    places: b:2
    places in the paper: a:1
  ppp|t   PSO                    (1,200)  limit [2]
  pt|t    PSO    proved        8 (1,200)  differs [1]
    places: b:2
    places in the paper: a:1
  tt|t    PSO    proved        9          not in the paper
    places: b:2

Notes
 [1]  Other places.
 [2]  Time limit reached.

4 rows run, 1 reached a limit, 2 skipped: 1 agree, 2 differ, 1 not in the paper (1.2 s, CPU 2.5 s)
";
        assert_eq!(table(&sample(), "Sieves of 1970", "Primes only.", Paint::Plain), expected);
        assert!(!sample().is_complete());
    }

    #[test]
    fn json_has_the_documented_keys() {
        let json = serde_json::to_value(sample()).expect("plain data serialises as JSON");
        assert_eq!(json["table"], "sieve");
        let row = serde_json::json!({
            "row": "Sieve pp|t", "column": "PSO", "ran": true, "agrees": false,
            "paper": {"states": 1200, "places": ["a:1"]},
            "ours": {"result": "proved", "states": 12345, "places": ["b:2"]},
            "note": "Other places.", "cpu_seconds": null,
        });
        assert_eq!(json["rows"][1], row);
        assert_eq!(json["rows"][2]["ours"], serde_json::json!({}));
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
