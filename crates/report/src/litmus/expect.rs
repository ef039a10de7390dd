//! Recorded results of litmus tests, and their comparison with our results.
//!
//! There are two formats. A *table* has a line of column names and cells separated by tabs. The
//! columns are `test` or `file` (the key), `model`, and any of `kind`, `verdict`, `observation`,
//! `nstates`, `states` (separated by ` | `), `condition` and `hash`. Only the given columns are
//! compared. A *log* is the output of herd: blocks that start with `Test NAME KIND`. A log is about
//! one model, which it does not name.
//!
//! Numbers of witnesses are not compared, because herd counts executions. A record of a test that
//! herd did not finish (`Loop`, `ERROR`) is not compared either.

use super::{ModelResult, TestRun};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The recorded result of one test under one model. Absent fields are not compared.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Record {
    /// `Allowed`, `Forbidden` or `Required`.
    pub kind: Option<String>,
    /// `Ok` or `No`.
    pub verdict: Option<String>,
    /// `Never`, `Sometimes` or `Always`.
    pub observation: Option<String>,
    /// The number of states.
    pub count: Option<usize>,
    /// The states.
    pub states: Option<BTreeSet<String>>,
    /// The condition with its quantifier.
    pub condition: Option<String>,
    /// The hash.
    pub hash: Option<String>,
}

impl Record {
    /// Whether herd did not finish the test.
    fn is_unfinished(&self) -> bool {
        self.verdict.as_deref().is_some_and(|verdict| !["Ok", "No"].contains(&verdict))
    }

    /// Whether the record has no field to compare.
    fn is_empty(&self) -> bool {
        *self == Record::default()
    }
}

/// Records of many tests.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// The records by file or test, and by model; no model for logs.
    by_key: BTreeMap<(String, Option<String>), Record>,
}

/// An error in a file of records.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RecordsError {
    /// The file has no records.
    Empty,
    /// The file is neither a table nor a log.
    UnknownFormat,
    /// The table has neither a `test` nor a `file` column.
    NoKeyColumn,
    /// The table has no `model` column.
    NoModelColumn,
    /// A line is invalid.
    Line {
        /// The line number, from 1.
        number: usize,
        /// The error in the line.
        error: LineError,
    },
}

/// An error in a line of records.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LineError {
    /// The line has no name of the test or of the model.
    TooFewColumns,
    /// The line has more cells than the table has columns.
    TooManyCells {
        /// The number of cells.
        cells: usize,
        /// The number of columns.
        columns: usize,
    },
    /// The line has no verdict.
    NoVerdict,
    /// A word is not a verdict.
    NotAVerdict(String),
    /// A cell is not a number of states.
    NotACount(String),
    /// An earlier line has a different record for the same test and model.
    Contradiction,
    /// The first line of a block in a log is malformed.
    NotABlock,
}

impl LineError {
    /// Returns the error for the line with this number, from 0.
    fn at(self, number: usize) -> RecordsError {
        RecordsError::Line { number: number + 1, error: self }
    }
}

impl fmt::Display for RecordsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, error) = match self {
            RecordsError::Empty => return f.write_str("the file has no records"),
            RecordsError::UnknownFormat => {
                return f.write_str("the file is neither a table of records nor a herd log");
            }
            RecordsError::NoKeyColumn => {
                return f.write_str("the first line has neither a `test` nor a `file` column");
            }
            RecordsError::NoModelColumn => {
                return f.write_str("the first line has no `model` column");
            }
            RecordsError::Line { number, error } => (number, error),
        };
        match error {
            LineError::TooFewColumns => write!(f, "line {number} has too few columns"),
            LineError::TooManyCells { cells, columns } => {
                write!(f, "line {number} has {cells} cells for {columns} columns")
            }
            LineError::NoVerdict => write!(f, "line {number} has no verdict"),
            LineError::NotAVerdict(word) => write!(f, "line {number}: `{word}` is not a verdict"),
            LineError::NotACount(text) => {
                write!(f, "line {number}: `{text}` is not a number of states")
            }
            LineError::Contradiction => {
                write!(f, "line {number} contradicts an earlier record")
            }
            LineError::NotABlock => write!(f, "line {number} does not start a block"),
        }
    }
}

impl std::error::Error for RecordsError {}

/// The result of a comparison with a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RecordComparison {
    /// The result is as recorded.
    Same,
    /// The result differs: one line for each difference.
    Different(Vec<String>),
    /// There is no record to compare with.
    Unknown,
}

impl Records {
    /// Adds the records of a text.
    pub fn read(&mut self, text: &str) -> Result<(), RecordsError> {
        let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
        match first {
            None => Err(RecordsError::Empty),
            Some(line) if line.contains('\t') => self.read_table(text),
            Some(_) if text.lines().any(|line| line.starts_with("Test ")) => self.read_log(text),
            Some(_) => Err(RecordsError::UnknownFormat),
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
                return Err(LineError::TooFewColumns.at(number));
            };
            let states = |text: String| -> BTreeSet<String> {
                text.split('|').map(|state| state.trim().to_string()).collect()
            };
            if cells.len() > names.len() {
                let (cells, columns) = (cells.len(), names.len());
                return Err(LineError::TooManyCells { cells, columns }.at(number));
            }
            let verdict = cell(column("verdict"));
            if verdict.is_none() && column("verdict").is_some() {
                return Err(LineError::NoVerdict.at(number));
            }
            if let Some(word) = verdict.as_deref().filter(|word| !is_verdict_cell(word)) {
                return Err(LineError::NotAVerdict(word.into()).at(number));
            }
            let count =
                get("nstates").map(|n| n.parse().map_err(|_| LineError::NotACount(n).at(number)));
            let record = Record {
                kind: get("kind"),
                verdict,
                observation: get("observation"),
                count: count.transpose()?,
                // A test that observes nothing has one empty state.
                states: cell(column("states")).map(states),
                condition: get("condition"),
                hash: get("hash"),
            };
            let base = key.rsplit(['/', '\\']).next().unwrap_or(&key).to_string();
            let key = (base, Some(model_name(&model)));
            if let Some(before) = self.by_key.insert(key, record.clone())
                && before != record
            {
                return Err(LineError::Contradiction.at(number));
            }
        }
        Ok(())
    }

    fn read_log(&mut self, text: &str) -> Result<(), RecordsError> {
        let mut lines = text.lines().enumerate().peekable();
        while let Some((number, line)) = lines.next() {
            let Some(head) = line.strip_prefix("Test ") else { continue };
            let (name, kind) =
                head.split_once(' ').ok_or_else(|| LineError::NotABlock.at(number))?;
            let mut record = Record { kind: Some(kind.trim().into()), ..Record::default() };
            while let Some((_, line)) = lines.next_if(|(_, line)| !line.starts_with("Test ")) {
                let rest = |word: &str| line.strip_prefix(word).map(str::to_string);
                if let Some(count) = rest("States ") {
                    record.count = count.trim().parse().ok();
                    let states = (0..record.count.unwrap_or(0)).map_while(|_| lines.next());
                    record.states = Some(states.map(|(_, state)| state.trim().into()).collect());
                } else if record.verdict.is_none() && is_verdict(line) {
                    record.verdict = Some(line.trim().into());
                } else if let Some(condition) = rest("Condition ") {
                    record.condition = Some(condition);
                } else if let Some(observation) = rest("Observation ") {
                    record.observation = observation.split(' ').nth(1).map(str::to_string);
                } else if let Some(hash) = rest("Hash=") {
                    record.hash = Some(hash);
                }
            }
            // A block without a verdict is truncated. The empty verdict marks it as unfinished.
            record.verdict.get_or_insert_default();
            self.by_key.insert((name.to_string(), None), record);
        }
        Ok(())
    }

    /// Returns the record of a test under a model. The name of the file has precedence over the
    /// name of the test.
    fn find(&self, file: &str, test: &str, model: &str) -> Option<&Record> {
        let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
        [file, test].into_iter().find_map(|key| {
            let record_key = |model: Option<&str>| (key.to_string(), model.map(str::to_string));
            self.by_key.get(&record_key(Some(model))).or_else(|| self.by_key.get(&record_key(None)))
        })
    }

    /// Compares the result of a test with its record.
    pub fn compare(&self, run: &TestRun, model: &str, result: &ModelResult) -> RecordComparison {
        let record = self.find(&run.file, &run.test.name, model);
        let usable = |record: &&Record| !record.is_unfinished() && !record.is_empty();
        let Some(record) = record.filter(usable) else {
            return RecordComparison::Unknown;
        };
        let mut different = Vec::new();
        let mut check = |what: &str, recorded: &Option<String>, ours: &str| {
            if let Some(recorded) = recorded
                && recorded != ours
            {
                different.push(format!("{what}: recorded {recorded}, found {ours}"));
            }
        };
        check("kind", &record.kind, run.test.kind());
        check("verdict", &record.verdict, result.verdict(run.test.quantifier));
        check("observation", &record.observation, result.observation());
        check("condition", &record.condition, &run.test.quantified_condition());
        if let Some(hash) = &run.test.hash {
            check("hash", &record.hash, hash);
        }
        let count = record.count.map(|count| count.to_string());
        check("number of states", &count, &result.shown.states.len().to_string());
        if let Some(recorded) = &record.states {
            let ours: BTreeSet<String> =
                result.shown.states.iter().map(|state| run.test.format_state(state)).collect();
            let missing = recorded.difference(&ours);
            different.extend(missing.map(|state| format!("recorded, but not found: {state}")));
            let extra = ours.difference(recorded);
            different.extend(extra.map(|state| format!("found, but not recorded: {state}")));
        }
        if different.is_empty() {
            RecordComparison::Same
        } else {
            RecordComparison::Different(different)
        }
    }
}

/// Whether a cell of the verdict column is valid: a verdict, or a word for an unfinished test.
fn is_verdict_cell(text: &str) -> bool {
    text.is_empty() || text == "ERROR" || is_verdict(text)
}

fn is_verdict(line: &str) -> bool {
    ["Ok", "No", "Undef", "Loop Ok", "Loop No"].contains(&line.trim())
}

/// Returns our name of a model.
fn model_name(recorded: &str) -> String {
    recorded.to_ascii_lowercase()
}
