//! The tables of a paper as data: `corpus/papers/<name>.toml`, and how such a file is read.
//!
//! A file has four sections.
//!
//! - `tag`, `title`, `about`: the paper's tag in PAPERS.md, the heading of the table, and what a reader should know before
//!   the first row.
//! - `[notes]`: sentences by name. Other fields refer to them.
//! - `[part.NAME]`: a kind of row ([`Part`]): which command computes it, which figures it shows, and which of them must
//!   agree with the paper's.
//! - `[[row]]`: a program that is tried ([`Row`]), with one entry in `columns` ([`Column`]) for each model and abstraction:
//!   the figures of the paper, and the note that explains a difference.
//!
//! Integers are counts, numbers with a decimal point are seconds. Rows are computed and shown in the order of the file.
//! [`Paper::parse`] checks every name in a file except for clients, which a test checks.

use super::compare::{Difference, Rule};
use fencepost_engines::Decider;
use fencepost_models::ModelSpec;
use fencepost_models::coherence::Domain;
use fencepost_report::reproduction::{Figure, Figures};
use fencepost_report::verdict_line::shown;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// The tables of one paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    /// Its name in PAPERS.md.
    tag: String,
    pub(super) title: String,
    /// What a reader should know before the first row.
    #[serde(default)]
    pub(super) about: String,
    notes: BTreeMap<String, String>,
    #[serde(rename = "part")]
    parts: BTreeMap<String, Part>,
    #[serde(rename = "row")]
    rows: Vec<Row>,
}

/// A kind of row.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Part {
    /// What the reader calls it, if not by its name.
    title: Option<String>,
    /// What stands behind the model in the name of a column.
    column: Option<String>,
    pub(super) command: Command,
    #[serde(default)]
    selected_by: Selection,
    /// The paper's words for verdicts, where they are not ours.
    #[serde(default)]
    words: BTreeMap<String, String>,
    /// The figures shown, in order.
    pub(super) figures: Vec<String>,
    /// What we call a figure that the paper calls otherwise.
    #[serde(default)]
    rename: BTreeMap<String, String>,
    /// What must agree.
    pub(super) compare: Vec<Rule>,
    /// What explains differences in several rows.
    #[serde(default)]
    pub(super) differs: Vec<Difference>,
}

/// What `--only` looks at.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Selection {
    #[default]
    Group,
    /// The group and the name of the row.
    Row,
}

/// How a row is computed. [`Command::figures`] lists what each command finds out.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Command {
    /// Checks the program.
    Check(CheckBy),
    /// Computes the avoid formula of a client by exact search.
    Formula,
    /// Finds the cheapest fences for all clients from counterexamples, and conjoins the formulas of earlier rows of the
    /// group.
    Infer { engine: InferBy, fences: FenceChoice },
    /// Computes the avoid formula under an abstraction, and the fewest full fences that enforce it. They are compared with
    /// those of an earlier `infer` row.
    Enforce { gibibytes: u64 },
    /// Compares searches with and without sleep sets. The one without them may store this number of states.
    SleepSets { order: SearchOrder, states: u64 },
    /// Tells what store buffers can hold: where the row says (`at`), or else in one state.
    Contents,
    /// Counts the interleavings of an original and a fixed version.
    Interleavings(Interleavings),
    /// Finds the smallest bound of the translation within which something shows.
    SmallestBound { of: Sought, most: u32 },
}

/// The engine of a check.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum CheckBy {
    /// The abstraction that the column names.
    Abstraction,
    /// Buffer automata, in the order of \[LW10\].
    Automata(Extent),
    /// The translation to SC.
    Translate { contexts: u32 },
}

/// How far a search with buffer automata goes.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Extent {
    End,
    /// To the end, but not on from states in which something is wrong.
    Errors,
}

/// The engine of an inference.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum InferBy {
    Explicit,
    /// All engines; the fences must be proved for store buffers of any length.
    Auto,
}

/// Which fences may be put in.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FenceChoice {
    /// All kinds that make a difference under the model.
    Model,
    Full,
}

/// What a search with buffer automata explores first.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SearchOrder {
    Statements,
    Commits,
}

/// Which interleavings are counted.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Interleavings {
    /// All within the bound of the row.
    Preemptions,
    /// One for each trace.
    Traces,
}

/// What is to show within a bound.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Sought {
    Violation,
    /// A final state that satisfies a `final exists`.
    Witness,
}

/// A program that is tried.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) group: String,
    part: String,
    name: String,
    /// Folder and name of the program in the corpus.
    pub(super) program: String,
    /// The version with fences, for commands that compare two versions.
    pub(super) fixed: Option<String>,
    /// The client of the program; else its first one.
    pub(super) client: Option<String>,
    /// Changes of the program, one after the other.
    #[serde(default)]
    edits: Vec<Edit>,
    /// The paper's bound on execution buffers.
    pub(super) buffer: Option<u32>,
    /// The bound on preemptions; none: all interleavings.
    pub(super) preemptions: Option<u32>,
    /// Where contents of store buffers are told.
    pub(super) at: Option<ControlPoint>,
    columns: Vec<Column>,
}

/// A change of a program: every occurrence of one text becomes another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    from: String,
    to: String,
}

/// Before a statement of a thread.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ControlPoint {
    pub(super) thread: String,
    /// How the line of the statement begins.
    pub(super) before: String,
}

/// A row under one model and abstraction.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Column {
    model: String,
    /// The abstraction: `set`, `fd` or `pd`.
    domain: Option<String>,
    #[serde(default)]
    k: u32,
    /// The figures of the paper; none: the row is not in the paper.
    #[serde(default)]
    pub(super) paper: BTreeMap<String, Figure>,
    /// What we expect where the paper says nothing.
    #[serde(default)]
    pub(super) expected: BTreeMap<String, Figure>,
    /// What a reader should know of a row that agrees.
    note: Option<String>,
    /// What a reader should know of the paper's row, also if ours meets a limit.
    remark: Option<String>,
    /// How we expect the row to differ from the paper, and why.
    pub(super) differs: Option<Difference>,
}

/// A mistake in a file.
#[derive(Debug)]
pub(super) struct DataError(String);

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DataError {}

/// A row under one of its columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'p> {
    paper: &'p Paper,
    pub(super) part: &'p Part,
    pub(super) row: &'p Row,
    pub(super) column: &'p Column,
}

impl Command {
    /// The names of what the command finds out, besides `seconds`.
    fn figures(self) -> &'static [&'static str] {
        match self {
            Command::Check(CheckBy::Abstraction) => &["result", "states", "because"],
            Command::Check(CheckBy::Translate { .. }) => &["result", "states"],
            Command::Check(CheckBy::Automata(_)) => {
                &["result", "possible", "states", "visited", "depth", "errors", "rounds"]
            }
            Command::Formula => &["states", "edges", "constraints"],
            Command::Infer { .. } => &[
                "result",
                "fences",
                "cost",
                "constraints",
                "verified",
                "states",
                "places",
                "lines",
            ],
            Command::Enforce { .. } => &["result", "fences", "verified", "constraints", "states"],
            Command::SleepSets { .. } => {
                &["fewer", "stored", "visited", "stored without", "visited without", "ends without"]
            }
            Command::Contents => &["bounded", "buffers", "contents"],
            Command::Interleavings(_) => &[
                "total",
                "borderline",
                "first",
                "fixed: borderline",
                "with",
                "without",
                "overhead",
                "robust",
            ],
            Command::SmallestBound { .. } => &["possible", "contexts", "delay"],
        }
    }

    fn needs_abstraction(self) -> bool {
        matches!(self, Command::Check(CheckBy::Abstraction) | Command::Enforce { .. })
    }

    fn needs_fixed(self) -> bool {
        matches!(self, Command::Interleavings(_))
    }
}

impl Part {
    /// Our name of a figure.
    pub(super) fn own_name<'a>(&'a self, figure: &'a str) -> &'a str {
        self.rename.get(figure).map_or(figure, String::as_str)
    }

    /// The paper's word for a verdict.
    pub(super) fn word<'a>(&'a self, verdict: &'a str) -> &'a str {
        self.words.get(verdict).map_or(verdict, String::as_str)
    }

    pub(super) fn shows(&self, figure: &str) -> bool {
        self.figures.iter().any(|other| other == figure)
    }

    /// The figures that are shown, from a source of figures.
    pub(super) fn select<'f>(&self, of: impl Fn(&str) -> Option<&'f Figure>) -> Figures {
        let all = self.figures.iter();
        all.fold(Figures::new(), |shown, name| shown.with(name.as_str(), of(name).cloned()))
    }
}

impl Paper {
    /// Reads the file of a paper.
    pub(super) fn parse(file: &str, text: &str) -> Result<Paper, DataError> {
        let wrong = |message: String| DataError(format!("corpus/papers/{file}.toml: {message}"));
        let paper: Paper = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        paper.validate().map_err(wrong)?;
        Ok(paper)
    }

    /// Every row under every column.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.rows.iter().flat_map(move |row| {
            let part = &self.parts[&row.part];
            row.columns.iter().map(move |column| Entry { paper: self, part, row, column })
        })
    }

    /// The sentence of a note.
    pub(super) fn note(&self, name: &str) -> &str {
        &self.notes[name]
    }

    /// Looks for names that mean nothing.
    fn validate(&self) -> Result<(), String> {
        if !self.title.contains(&format!("[{}]", self.tag)) {
            return Err(format!("the title does not name [{}]", self.tag));
        }
        for (name, part) in &self.parts {
            self.validate_part(part).map_err(|wrong| format!("part `{name}`: {wrong}"))?;
        }
        for row in &self.rows {
            self.validate_row(row)
                .map_err(|wrong| format!("row `{} {}`: {wrong}", row.group, row.name))?;
        }
        Ok(())
    }

    fn validate_part(&self, part: &Part) -> Result<(), String> {
        let is_found =
            |name: &str| name == "seconds" || part.command.figures().contains(&part.own_name(name));
        let compared = part.compare.iter().flat_map(Rule::figures);
        let differing = part.differs.iter().flat_map(Difference::figures);
        let named = part.figures.iter().map(String::as_str).chain(compared).chain(differing);
        for name in named {
            if !is_found(name) {
                return Err(format!("the command finds no figure `{name}`"));
            }
        }
        let notes = part.compare.iter().filter_map(|rule| rule.note.as_ref());
        self.validate_notes(notes.chain(part.differs.iter().map(|differs| &differs.note)))
    }

    fn validate_row(&self, row: &Row) -> Result<(), String> {
        let part = self.parts.get(&row.part);
        let part = part.ok_or_else(|| format!("there is no part `{}`", row.part))?;
        source(row)?;
        match &row.fixed {
            Some(fixed) => {
                program(fixed)?;
            }
            None if part.command.needs_fixed() => {
                return Err("the command needs a version with fences: `fixed`".into());
            }
            None => {}
        }
        if row.columns.is_empty() {
            return Err("there are no columns".into());
        }
        for column in &row.columns {
            if ModelSpec::by_name(&column.model).is_none() {
                return Err(format!("there is no model `{}`", column.model));
            }
            match (&column.domain, part.command.needs_abstraction()) {
                (Some(name), true) if domain(name).is_none() => {
                    return Err(format!("there is no domain `{name}`"));
                }
                (None, true) => return Err("the command needs an abstraction: `domain`".into()),
                (Some(_), false) => return Err("the command takes no `domain`".into()),
                (Some(_), true) | (None, false) => {}
            }
            let given = column.paper.keys().chain(column.expected.keys()).map(String::as_str);
            let differing = column.differs.iter().flat_map(Difference::figures);
            for name in given.chain(differing) {
                if !part.shows(name) {
                    return Err(format!("part `{}` shows no figure `{name}`", row.part));
                }
            }
            let differs = column.differs.iter().map(|differs| &differs.note);
            self.validate_notes(column.note.iter().chain(&column.remark).chain(differs))?;
        }
        Ok(())
    }

    fn validate_notes<'n>(&self, names: impl Iterator<Item = &'n String>) -> Result<(), String> {
        for name in names {
            if !self.notes.contains_key(name) {
                return Err(format!("there is no note `{name}`"));
            }
        }
        Ok(())
    }
}

impl<'p> Entry<'p> {
    /// The row, with its group in front.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.row.group, self.row.name)
    }

    pub(super) fn part_title(&self) -> &'p str {
        self.part.title.as_ref().unwrap_or(&self.row.part)
    }

    pub(super) fn column_name(&self) -> String {
        let model = shown(&self.model());
        let abstraction = self.column.domain.as_ref().map(|_| {
            let (domain, k) = self.abstraction();
            Decider::Abstraction(domain, k).to_string()
        });
        match abstraction.or_else(|| self.part.column.clone()) {
            Some(more) => format!("{model} {more}"),
            None => model,
        }
    }

    /// Whether it is among those that the user asks for.
    pub(super) fn matches(&self, only: &str) -> bool {
        let name = match self.part.selected_by {
            Selection::Group => self.row.group.clone(),
            Selection::Row => self.name(),
        };
        name.to_lowercase().contains(&only.to_lowercase())
    }

    pub(super) fn model(&self) -> ModelSpec {
        ModelSpec::by_name(&self.column.model).expect("models are validated")
    }

    pub(super) fn abstraction(&self) -> (Domain, u32) {
        let domain = self.column.domain.as_deref().and_then(domain);
        (domain.expect("abstractions are validated"), self.column.k)
    }

    /// The text of the program.
    pub(super) fn source(&self) -> String {
        source(self.row).expect("programs are validated")
    }

    /// The text of the version with fences.
    pub(super) fn fixed_source(&self) -> &'static str {
        let fixed = self.row.fixed.as_ref().expect("versions are validated");
        program(fixed).expect("programs are validated")
    }

    /// What a reader should know if the row agrees.
    pub(super) fn note(&self) -> Option<&'p str> {
        self.column.note.as_ref().map(|name| self.paper.note(name)).or(self.remark())
    }

    /// What a reader should know even if the row meets a limit.
    pub(super) fn remark(&self) -> Option<&'p str> {
        self.column.remark.as_ref().map(|name| self.paper.note(name))
    }

    /// The sentence of a note of the paper.
    pub(super) fn sentence(&self, note: &str) -> &'p str {
        self.paper.note(note)
    }
}

fn domain(name: &str) -> Option<Domain> {
    Domain::ALL.into_iter().find(|domain| domain.name() == name)
}

fn program(name: &str) -> Result<&'static str, String> {
    fencepost_corpus::program(name)
        .ok_or_else(|| format!("the program `{name}` is not in corpus/lib.rs"))
}

/// The text of a row's program with its changes.
fn source(row: &Row) -> Result<String, String> {
    let mut text = program(&row.program)?.to_string();
    for Edit { from, to } in &row.edits {
        if !text.contains(from) {
            return Err(format!("`{}` does not contain {from:?}", row.program));
        }
        text = text.replace(from, to);
    }
    Ok(text)
}
