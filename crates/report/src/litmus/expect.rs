//! What was recorded of tests, and where it differs from what they show.
//!
//! Two forms are read. A *table* has a line of column names, and cells set apart by tabs: `test` or `file` (the key),
//! `model`, and of `kind`, `verdict`, `observation`, `nstates`, `states` (set apart by ` | `), `condition` and `hash`
//! those that are to be compared. A *log* is what herd prints: blocks that begin with `Test NAME KIND`; it is of
//! one model, which it does not name.
//!
//! Counts of witnesses are not compared: herd counts executions. Where a record says that herd gave up (`Loop`, `ERROR`)
//! there is nothing to compare with.

use super::{Ran, Seen};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What was recorded of one test under one model. What is absent is not compared.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Record {
    /// `Allowed`, `Forbidden` or `Required`.
    pub kind: Option<String>,
    /// `Ok` or `No`.
    pub verdict: Option<String>,
    /// `Never`, `Sometimes` or `Always`.
    pub observation: Option<String>,
    /// How many states there are.
    pub count: Option<usize>,
    /// The states.
    pub states: Option<BTreeSet<String>>,
    /// The condition with its quantifier.
    pub condition: Option<String>,
    /// The hash.
    pub hash: Option<String>,
}

impl Record {
    /// Whether it is of a test that was not run to its end.
    fn gave_up(&self) -> bool {
        self.verdict.as_deref().is_some_and(|verdict| !["Ok", "No"].contains(&verdict))
    }

    /// Whether there is nothing in it to compare with.
    fn is_empty(&self) -> bool {
        *self == Record::default()
    }
}

/// Records of many tests.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// By file or test, and model; no model for logs.
    by_key: BTreeMap<(String, Option<String>), Record>,
}

/// Why a text has no records.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RecordsError {
    /// It is empty.
    Empty,
    /// It is neither a table nor a log.
    UnknownForm,
    /// The first line of the table lacks a column.
    NoKeyColumn,
    /// The first line of the table lacks a column.
    NoModelColumn,
    /// A line is wrong.
    Line {
        /// Its number, from 1.
        number: usize,
        /// What is wrong with it.
        wrong: WrongLine,
    },
}

/// What is wrong with a line of records.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum WrongLine {
    /// It lacks the name of the test or of the model.
    TooFewColumns,
    /// It has more cells than the table has columns.
    TooManyCells {
        /// How many cells it has.
        cells: usize,
        /// How many columns there are.
        columns: usize,
    },
    /// It lacks a verdict.
    NoVerdict,
    /// A word is no verdict.
    NotAVerdict(String),
    /// A cell is no number of states.
    NotACount(String),
    /// Another line says something else about the same test and model.
    Contradiction,
    /// A block of a log does not begin as it should.
    NotABlock,
}

impl WrongLine {
    /// In the line with this number, from 0.
    fn at(self, number: usize) -> RecordsError {
        RecordsError::Line { number: number + 1, wrong: self }
    }
}

impl fmt::Display for RecordsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, wrong) = match self {
            RecordsError::Empty => return f.write_str("there are no records in it"),
            RecordsError::UnknownForm => {
                return f.write_str("it is neither a table of records nor a log of herd");
            }
            RecordsError::NoKeyColumn => {
                return f.write_str("its first line names neither a column `test` nor one `file`");
            }
            RecordsError::NoModelColumn => {
                return f.write_str("its first line names no column `model`");
            }
            RecordsError::Line { number, wrong } => (number, wrong),
        };
        match wrong {
            WrongLine::TooFewColumns => write!(f, "line {number} has too few columns"),
            WrongLine::TooManyCells { cells, columns } => {
                write!(f, "line {number} has {cells} cells for {columns} columns")
            }
            WrongLine::NoVerdict => write!(f, "line {number} has no verdict"),
            WrongLine::NotAVerdict(word) => write!(f, "line {number}: `{word}` is no verdict"),
            WrongLine::NotACount(text) => {
                write!(f, "line {number}: `{text}` is no number of states")
            }
            WrongLine::Contradiction => {
                write!(f, "line {number} contradicts an earlier record")
            }
            WrongLine::NotABlock => write!(f, "line {number} is no beginning of a block"),
        }
    }
}

impl std::error::Error for RecordsError {}

/// How a test compares with its record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Compared {
    /// As recorded.
    Same,
    /// Not as recorded: one line for each difference.
    Different(Vec<String>),
    /// There is no record, or one that says nothing.
    Unknown,
}

impl Records {
    /// Adds those of a text.
    pub fn read(&mut self, text: &str) -> Result<(), RecordsError> {
        let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
        match first {
            None => Err(RecordsError::Empty),
            Some(line) if line.contains('\t') => self.read_table(text),
            Some(_) if text.lines().any(|line| line.starts_with("Test ")) => self.read_log(text),
            Some(_) => Err(RecordsError::UnknownForm),
        }
    }

    fn read_table(&mut self, text: &str) -> Result<(), RecordsError> {
        let mut lines = text.lines().enumerate();
        let mut lines = lines.by_ref().filter(|(_, l)| !l.trim().is_empty() && !l.starts_with('#'));
        let names: Vec<&str> =
            lines.next().map(|(_, l)| l.split('\t').collect()).unwrap_or_default();
        let column = |name: &str| names.iter().position(|n| *n == name);
        let key = column("file").or_else(|| column("test"));
        let key = key.ok_or(RecordsError::NoKeyColumn)?;
        let model = column("model").ok_or(RecordsError::NoModelColumn)?;
        for (number, line) in lines {
            let cells: Vec<&str> = line.split('\t').collect();
            let cell = |at: Option<usize>| at.and_then(|at| cells.get(at)).map(|c| c.to_string());
            let get = |name: &str| cell(column(name)).filter(|text| !text.is_empty());
            let (Some(key), Some(model)) = (cell(Some(key)), cell(Some(model))) else {
                return Err(WrongLine::TooFewColumns.at(number));
            };
            let states = |text: String| -> BTreeSet<String> {
                text.split('|').map(|state| state.trim().to_string()).collect()
            };
            if cells.len() > names.len() {
                let (cells, columns) = (cells.len(), names.len());
                return Err(WrongLine::TooManyCells { cells, columns }.at(number));
            }
            let verdict = cell(column("verdict"));
            if verdict.is_none() && column("verdict").is_some() {
                return Err(WrongLine::NoVerdict.at(number));
            }
            if let Some(word) = verdict.as_deref().filter(|word| !is_word(word)) {
                return Err(WrongLine::NotAVerdict(word.into()).at(number));
            }
            let count =
                get("nstates").map(|n| n.parse().map_err(|_| WrongLine::NotACount(n).at(number)));
            let record = Record {
                kind: get("kind"),
                verdict,
                observation: get("observation"),
                count: count.transpose()?,
                // A test that shows nothing has one empty state.
                states: cell(column("states")).map(states),
                condition: get("condition"),
                hash: get("hash"),
            };
            let base = key.rsplit(['/', '\\']).next().unwrap_or(&key).to_string();
            let key = (base, Some(model_name(&model)));
            if let Some(before) = self.by_key.insert(key, record.clone())
                && before != record
            {
                return Err(WrongLine::Contradiction.at(number));
            }
        }
        Ok(())
    }

    fn read_log(&mut self, text: &str) -> Result<(), RecordsError> {
        let mut lines = text.lines().enumerate().peekable();
        while let Some((number, line)) = lines.next() {
            let Some(head) = line.strip_prefix("Test ") else { continue };
            let (name, kind) =
                head.split_once(' ').ok_or_else(|| WrongLine::NotABlock.at(number))?;
            let mut record = Record { kind: Some(kind.trim().into()), ..Record::default() };
            while let Some((_, line)) = lines.next_if(|(_, line)| !line.starts_with("Test ")) {
                let rest = |word: &str| line.strip_prefix(word).map(str::to_string);
                if let Some(count) = rest("States ") {
                    record.count = count.trim().parse().ok();
                    let states = (0..record.count.unwrap_or(0)).filter_map(|_| lines.next());
                    record.states = Some(states.map(|(_, state)| state.trim().into()).collect());
                } else if record.verdict.is_none() && is_verdict(line) {
                    record.verdict = Some(line.trim().into());
                } else if let Some(condition) = rest("Condition ") {
                    record.condition = Some(condition);
                } else if let Some(seen) = rest("Observation ") {
                    record.observation = seen.split(' ').nth(1).map(str::to_string);
                } else if let Some(hash) = rest("Hash=") {
                    record.hash = Some(hash);
                }
            }
            // A block without a verdict was cut off.
            record.verdict.get_or_insert_default();
            self.by_key.insert((name.to_string(), None), record);
        }
        Ok(())
    }

    /// The record of a test under a model: by the name of its file, or by its own.
    fn find(&self, file: &str, test: &str, model: &str) -> Option<&Record> {
        let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
        [file, test].into_iter().find_map(|key| {
            let with = |model: Option<&str>| (key.to_string(), model.map(str::to_string));
            self.by_key.get(&with(Some(model))).or_else(|| self.by_key.get(&with(None)))
        })
    }

    /// Compares a test with its record.
    pub fn compare(&self, ran: &Ran, model: &str, seen: &Seen) -> Compared {
        let record = self.find(&ran.file, &ran.test.name, model);
        let usable = |record: &&Record| !record.gave_up() && !record.is_empty();
        let Some(record) = record.filter(usable) else {
            return Compared::Unknown;
        };
        let mut different = Vec::new();
        let mut check = |what: &str, recorded: &Option<String>, ours: &str| {
            if let Some(recorded) = recorded
                && recorded != ours
            {
                different.push(format!("{what}: recorded {recorded}, found {ours}"));
            }
        };
        check("kind", &record.kind, ran.test.kind());
        check("verdict", &record.verdict, seen.verdict(ran.test.quantifier));
        check("observation", &record.observation, seen.observation());
        check("condition", &record.condition, &ran.test.question());
        if let Some(hash) = &ran.test.hash {
            check("hash", &record.hash, hash);
        }
        let count = record.count.map(|count| count.to_string());
        check("number of states", &count, &seen.shown.states.len().to_string());
        if let Some(recorded) = &record.states {
            let ours: BTreeSet<String> =
                seen.shown.states.iter().map(|state| ran.test.state(state)).collect();
            let missing = recorded.difference(&ours);
            different.extend(missing.map(|state| format!("recorded, but not found: {state}")));
            let added = ours.difference(recorded);
            different.extend(added.map(|state| format!("found, but not recorded: {state}")));
        }
        if different.is_empty() { Compared::Same } else { Compared::Different(different) }
    }
}

/// Whether a cell may say this of a test: a verdict, or that herd gave up.
fn is_word(text: &str) -> bool {
    text.is_empty() || text == "ERROR" || is_verdict(text)
}

fn is_verdict(line: &str) -> bool {
    ["Ok", "No", "Undef", "Loop Ok", "Loop No"].contains(&line.trim())
}

/// Our name of a model: RMO is without speculation here.
fn model_name(recorded: &str) -> String {
    match recorded {
        "rmo-nospec" => "rmo".into(),
        other => other.to_ascii_lowercase(),
    }
}
