//! Recorded results of litmus tests, and their comparison with our results.
//!
//! There are two formats. A *table* has a line of column names and cells separated by tabs. The
//! columns are `test` or `file` (the key), `model`, and any of `kind`, `verdict`, `observation`,
//! `nstates`, `states` (separated by ` | `), `condition` and `hash`. Only the given columns are
//! compared. A *log* is the output of herd: blocks that start with `Test NAME KIND`. A log, and a
//! table without the column `model`, is about one model, which it does not name.
//!
//! A record with a file belongs to the test whose path ends with the same components. The record
//! with the most common components is chosen. A record without a file belongs to the test of its
//! name. A record that fits several tests, or a test that several records fit equally well, is
//! reported as ambiguous and never compared.
//!
//! Numbers of witnesses are not compared, because herd counts executions. A record of a test that
//! herd did not finish (`Loop`, `ERROR`) is not compared either. Hexadecimal and decimal numbers
//! are equal if their values are.

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

/// The test and the model of a record; no model if the records do not name it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    /// For a file the last component of its path, else the name of the test.
    name: String,
    /// The directories of a file, the innermost first; `None` for a test.
    directories: Option<Vec<String>>,
    model: Option<String>,
}

impl Key {
    /// Returns the key of a file.
    fn file(path: &str, model: Option<String>) -> Self {
        let mut parts = components(path);
        let name = parts.next().unwrap_or_default().to_string();
        let directories = Some(parts.map(str::to_string).collect());
        Key { name, directories, model }
    }

    /// Returns the path of the file, or the name of the test.
    fn shown(&self) -> String {
        let directories = self.directories.iter().flatten().rev().map(String::as_str);
        directories.chain([self.name.as_str()]).collect::<Vec<_>>().join("/")
    }
}

/// Returns the components of a path, the last first.
fn components(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit(['/', '\\']).filter(|part| !part.is_empty() && *part != ".")
}

/// Records of many tests.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// The records, each with the file of the test that it was compared with.
    by_key: BTreeMap<Key, Entry>,
}

/// A record, and its use.
#[derive(Clone, Debug)]
struct Entry {
    record: Record,
    /// The file of the first test that the record fits.
    used_by: Option<String>,
}

/// A record that fits no test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unmatched {
    /// The file or the name of the test.
    pub test: String,
    /// The model; none if the records do not name it.
    pub model: Option<String>,
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
    /// It is not known which record belongs to the test, with the reason.
    Ambiguous(String),
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
        let has_files = column("file").is_some();
        let key = column("file").or_else(|| column("test"));
        let key = key.ok_or(RecordsError::NoKeyColumn)?;
        let model = column("model");
        for (number, line) in lines {
            let cells: Vec<&str> = line.split('\t').collect();
            let cell = |at: Option<usize>| at.and_then(|at| cells.get(at)).map(|c| c.to_string());
            let get = |name: &str| cell(column(name)).filter(|text| !text.is_empty());
            let key = cell(Some(key)).ok_or_else(|| LineError::TooFewColumns.at(number))?;
            if model.is_some_and(|at| at >= cells.len()) {
                return Err(LineError::TooFewColumns.at(number));
            }
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
            let model = cell(model).map(|model| model_name(&model));
            let key = if has_files {
                Key::file(&key, model)
            } else {
                Key { name: key, directories: None, model }
            };
            self.add(key, record, number)?;
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
            self.add(
                Key { name: name.to_string(), directories: None, model: None },
                record,
                number,
            )?;
        }
        Ok(())
    }

    /// Adds a record of the line with this number, from 0.
    fn add(&mut self, key: Key, record: Record, number: usize) -> Result<(), RecordsError> {
        let entry = Entry { record: record.clone(), used_by: None };
        match self.by_key.insert(key, entry) {
            Some(before) if before.record != record => Err(LineError::Contradiction.at(number)),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the key of the record of a test under a model. A file has precedence over the name of
    /// a test, and a record for the model over one without a model. The error says why the record is ambiguous.
    fn find(&self, file: &str, test: &str, model: &str) -> Result<Option<Key>, String> {
        let mut parts = components(file);
        let name = parts.next().unwrap_or_default();
        let directories: Vec<&str> = parts.collect();
        for model in [Some(model.to_string()), None] {
            let first = Key { name: name.to_string(), directories: None, model: model.clone() };
            let same_name = self.by_key.range(first..).take_while(|(key, _)| key.name == name);
            let mut fitting: Vec<(usize, &Key)> = Vec::new();
            for (key, _) in same_name.filter(|(key, _)| key.model == model) {
                let Some(recorded) = &key.directories else { continue };
                let pairs = || recorded.iter().zip(&directories);
                let common = pairs().take_while(|(a, b)| a == b).count();
                // One of the two paths must end with the other.
                if common == pairs().count() {
                    fitting.push((common, key));
                }
            }
            let most = fitting.iter().map(|(common, _)| *common).max();
            fitting.retain(|(common, _)| Some(*common) == most);
            match fitting[..] {
                [] => {}
                [(_, key)] => return Ok(Some(key.clone())),
                [(_, one), (_, other), ..] => {
                    return Err(format!(
                        "ambiguous: the records of {} and {} fit this file",
                        one.shown(),
                        other.shown()
                    ));
                }
            }
        }
        let by_test = [Some(model.to_string()), None].map(|model| Key {
            name: test.to_string(),
            directories: None,
            model,
        });
        Ok(by_test.into_iter().find(|key| self.by_key.contains_key(key)))
    }

    /// Returns the records that were compared with no test, for the given models.
    pub fn unmatched(&self, models: &[&str]) -> Vec<Unmatched> {
        let unused = self.by_key.iter().filter(|(key, entry)| {
            let has_run = key.model.as_deref().is_none_or(|model| models.contains(&model));
            has_run && entry.used_by.is_none()
        });
        let shown =
            |(key, _): (&Key, &Entry)| Unmatched { test: key.shown(), model: key.model.clone() };
        unused.map(shown).collect()
    }

    /// Compares the result of a test with its record; without a result, the test has a fault.
    pub fn compare(
        &mut self,
        run: &TestRun,
        model: &str,
        result: Result<&ModelResult, &str>,
    ) -> RecordComparison {
        let key = match self.find(&run.file, &run.test.name, model) {
            Ok(Some(key)) => key,
            Ok(None) => return fault_or(result, RecordComparison::Unknown),
            Err(reason) => return RecordComparison::Ambiguous(reason),
        };
        let entry = self.by_key.get_mut(&key).expect("`find` returns the key of a record");
        // A record without a file fits every test of its name. The hash tells tests apart.
        let is_same_test = entry.record.hash.is_some() && entry.record.hash == run.test.hash;
        if let Some(other) = &entry.used_by
            && *other != run.file
            && !is_same_test
        {
            return RecordComparison::Ambiguous(format!(
                "ambiguous: the record of {} was also compared with {other}; try: records with a \
                 column `file` that has the paths of the tests",
                key.shown()
            ));
        }
        entry.used_by.get_or_insert_with(|| run.file.clone());
        let record = &entry.record;
        let result = match result {
            Ok(result) => result,
            Err(_) => return fault_or(result, RecordComparison::Unknown),
        };
        if record.is_unfinished() || record.is_empty() {
            return RecordComparison::Unknown;
        }
        let mut different = Vec::new();
        let mut check = |what: &str, recorded: &Option<String>, ours: &str| {
            if let Some(recorded) = recorded
                && decimal(recorded) != decimal(ours)
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
            let ours = result.shown.states.iter().map(|state| run.test.format_state(state));
            let ours: BTreeSet<String> = ours.map(|state| decimal(&state)).collect();
            let recorded: BTreeSet<String> = recorded.iter().map(|state| decimal(state)).collect();
            let missing = recorded.difference(&ours);
            different.extend(missing.map(|state| format!("recorded, but not found: {state}")));
            let extra = ours.difference(&recorded);
            different.extend(extra.map(|state| format!("found, but not recorded: {state}")));
        }
        if different.is_empty() {
            RecordComparison::Same
        } else {
            RecordComparison::Different(different)
        }
    }
}

/// Returns the difference of a test with a fault, or else `comparison`.
fn fault_or(result: Result<&ModelResult, &str>, comparison: RecordComparison) -> RecordComparison {
    match result {
        Ok(_) => comparison,
        Err(fault) => RecordComparison::Different(vec![fault.to_string()]),
    }
}

/// Writes the hexadecimal numbers of a text in decimal.
fn decimal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['x', 'X']) {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        let digits = after.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(after.len());
        let in_word = before.len() >= 2
            && before[..before.len() - 1].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let followed = after[digits..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let number = u128::from_str_radix(&after[..digits], 16).ok();
        match number.filter(|_| before.ends_with('0') && !in_word && !followed) {
            Some(number) => {
                out.push_str(&before[..before.len() - 1]);
                out.push_str(&number.to_string());
                rest = &after[digits..];
            }
            None => {
                out.push_str(&rest[..=at]);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
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
