//! The tables of a paper as data: reads and validates `corpus/papers/<name>.toml`.
//!
//! A file has five sections.
//!
//! - `tag`, `title`, `about`: the tag of the paper in PAPERS.md, the heading of the table, and an
//!   introduction.
//! - `[[implemented]]`: a part of the paper ([`Implemented`]), for the overview in the book.
//! - `[notes]`: named sentences. Other fields refer to them.
//! - `[part.NAME]`: a kind of row ([`Part`]): the command that computes it, the figures it shows,
//!   and the figures that must agree with the paper.
//! - `[[row]]`: a program ([`Row`]), with one entry in `columns` ([`Column`]) for each model and
//!   abstraction: the figures of the paper, and the note that explains a difference.
//!
//! Integers are counts, numbers with a decimal point are seconds. Rows are computed and shown in
//! the order of the file. [`Paper::parse`] checks every name in a file except clients, which a test
//! checks.

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
    /// The tag of the paper in PAPERS.md.
    tag: String,
    pub(super) title: String,
    /// The introduction above the first row.
    #[serde(default)]
    pub(super) about: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "only the book shows it"))]
    pub(super) implemented: Vec<Implemented>,
    notes: BTreeMap<String, String>,
    #[serde(rename = "part")]
    parts: BTreeMap<String, Part>,
    #[serde(rename = "row")]
    rows: Vec<Row>,
}

/// A part of a paper and what we have of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "only the book shows it"))]
pub(super) struct Implemented {
    /// The part of the paper.
    pub(super) what: String,
    /// The command or the engine that implements it.
    pub(super) by: String,
    /// What differs, and why. Empty if nothing does.
    #[serde(default)]
    pub(super) differs: String,
}

/// A kind of row.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Part {
    /// The displayed title, if it differs from the name.
    title: Option<String>,
    /// The text after the model in the name of a column.
    column: Option<String>,
    pub(super) command: Command,
    #[serde(default)]
    selected_by: Selection,
    /// The paper's words for verdicts, if they differ from ours.
    #[serde(default)]
    words: BTreeMap<String, String>,
    /// The figures shown, in order.
    pub(super) figures: Vec<String>,
    /// Our names of figures that have another name in the paper.
    #[serde(default)]
    rename: BTreeMap<String, String>,
    /// The rules that decide whether a row agrees with the paper.
    pub(super) compare: Vec<Rule>,
    /// Explained differences that occur in several rows.
    #[serde(default)]
    pub(super) differs: Vec<Difference>,
}

/// The text that `--only` is matched with.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Selection {
    #[default]
    Group,
    /// The group and the name of the row.
    Row,
}

/// The computation of a row. [`Command::figures`] lists the figures of each command.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Command {
    /// Checks the program.
    Check(CheckEngine),
    /// Computes the avoid formula of a client by exact search.
    Formula,
    /// Finds the cheapest fences for all clients from counterexamples, and conjoins the formulas of
    /// earlier rows of the group.
    Infer { engine: InferEngine, fences: FenceChoice },
    /// Computes the avoid formula under an abstraction, and the fewest full fences that enforce it.
    /// Compares their number with that of an earlier `infer` row.
    Enforce { gibibytes: u64 },
    /// Compares searches with and without sleep sets. The search without sleep sets may store this
    /// number of states.
    SleepSets { order: SearchOrder, states: u64 },
    /// Computes the possible contents of store buffers, at the control point `at` of the row or
    /// else in one state.
    Contents,
    /// Counts the interleavings of an original and a fixed version.
    Interleavings(Interleavings),
    /// Finds the smallest bound of the translation, up to `max`, within which the target is
    /// reachable.
    SmallestBound {
        #[serde(rename = "of")]
        target: Target,
        #[serde(rename = "most")]
        max: u32,
    },
}

/// The engine of a check.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum CheckEngine {
    /// The abstraction of the column.
    Abstraction,
    /// Buffer automata, in the order of \[LW10\].
    Automata(Extent),
    /// The translation to SC.
    Translate { contexts: u32 },
}

/// The extent of a search with buffer automata.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Extent {
    /// All reachable states.
    End,
    /// All reachable states, without the successors of error states.
    Errors,
}

/// The engine of an inference.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum InferEngine {
    Explicit,
    /// All engines; the fences must be verified for store buffers of any length.
    Auto,
}

/// The fence kinds to choose from.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FenceChoice {
    /// All kinds that have an effect under the model.
    Model,
    Full,
}

/// The steps that a search with buffer automata explores first.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SearchOrder {
    Statements,
    Commits,
}

/// The interleavings that are counted.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Interleavings {
    /// All interleavings within the bound on preemptions of the row.
    Preemptions,
    /// One interleaving for each equivalence class.
    Traces,
}

/// The goal of a search for the smallest bound.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Target {
    Violation,
    /// A final state that satisfies a `final exists`.
    Witness,
}

/// A row: a program with its columns.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) group: String,
    part: String,
    name: String,
    /// The directory and name of the program in the corpus.
    pub(super) program: String,
    /// The version with fences, for commands that compare two versions.
    pub(super) fixed: Option<String>,
    /// The client. The default is the first client of the program.
    pub(super) client: Option<String>,
    /// Edits of the program, applied in order.
    #[serde(default)]
    edits: Vec<Edit>,
    /// The paper's bound on execution buffers.
    pub(super) buffer: Option<u32>,
    /// The bound on preemptions. `None` means all interleavings.
    pub(super) preemptions: Option<u32>,
    /// The control point at which contents of store buffers are computed.
    pub(super) at: Option<ControlPoint>,
    columns: Vec<Column>,
}

/// An edit of a program: every occurrence of `from` becomes `to`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    from: String,
    to: String,
}

/// A control point: a thread is about to execute a statement.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ControlPoint {
    pub(super) thread: String,
    /// The beginning of the line of the statement.
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
    /// The figures of the paper. Empty if the row is not in the paper.
    #[serde(default)]
    pub(super) paper: BTreeMap<String, Figure>,
    /// The expected figures if the paper has none.
    #[serde(default)]
    pub(super) expected: BTreeMap<String, Figure>,
    /// The name of a note for a row that agrees with the paper.
    note: Option<String>,
    /// The name of a note about the paper's row, which is shown even if a limit stops our row.
    remark: Option<String>,
    /// The expected difference from the paper, with its explanation.
    pub(super) differs: Option<Difference>,
}

/// An error in a file.
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
    /// Returns the names of the figures that the command computes, except `seconds`.
    fn figures(self) -> &'static [&'static str] {
        match self {
            Command::Check(CheckEngine::Abstraction) => &["result", "states", "because"],
            Command::Check(CheckEngine::Translate { .. }) => &["result", "states"],
            Command::Check(CheckEngine::Automata(_)) => {
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
                "percent",
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
        matches!(self, Command::Check(CheckEngine::Abstraction) | Command::Enforce { .. })
    }

    fn needs_fixed(self) -> bool {
        matches!(self, Command::Interleavings(_))
    }
}

impl Part {
    /// Returns our name of a figure of the paper.
    pub(super) fn our_name<'a>(&'a self, figure: &'a str) -> &'a str {
        self.rename.get(figure).map_or(figure, String::as_str)
    }

    /// Returns the paper's word for a verdict.
    pub(super) fn word<'a>(&'a self, verdict: &'a str) -> &'a str {
        self.words.get(verdict).map_or(verdict, String::as_str)
    }

    pub(super) fn shows(&self, figure: &str) -> bool {
        self.figures.iter().any(|other| other == figure)
    }

    /// Returns the figures that are shown, with values from `get`.
    pub(super) fn select<'f>(&self, get: impl Fn(&str) -> Option<&'f Figure>) -> Figures {
        let all = self.figures.iter();
        all.fold(Figures::new(), |shown, name| shown.with(name.as_str(), get(name).cloned()))
    }
}

impl Paper {
    /// Parses and validates the file of a paper.
    pub(super) fn parse(file: &str, text: &str) -> Result<Paper, DataError> {
        let invalid = |message: String| DataError(format!("corpus/papers/{file}.toml: {message}"));
        let paper: Paper = toml::from_str(text).map_err(|error| invalid(error.to_string()))?;
        paper.validate().map_err(invalid)?;
        Ok(paper)
    }

    /// Returns every row under every column.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.rows.iter().flat_map(move |row| {
            let part = &self.parts[&row.part];
            row.columns.iter().map(move |column| Entry { paper: self, part, row, column })
        })
    }

    /// Returns the sentence of a note.
    pub(super) fn note(&self, name: &str) -> &str {
        &self.notes[name]
    }

    /// Checks that all names are defined.
    fn validate(&self) -> Result<(), String> {
        if !self.title.contains(&format!("[{}]", self.tag)) {
            return Err(format!("the title does not name [{}]", self.tag));
        }
        for (name, part) in &self.parts {
            self.validate_part(part).map_err(|error| format!("part `{name}`: {error}"))?;
        }
        for row in &self.rows {
            self.validate_row(row)
                .map_err(|error| format!("row `{} {}`: {error}", row.group, row.name))?;
        }
        Ok(())
    }

    fn validate_part(&self, part: &Part) -> Result<(), String> {
        let is_computed =
            |name: &str| name == "seconds" || part.command.figures().contains(&part.our_name(name));
        let compared = part.compare.iter().flat_map(Rule::figures);
        let differing = part.differs.iter().flat_map(Difference::figures);
        let named = part.figures.iter().map(String::as_str).chain(compared).chain(differing);
        for name in named {
            if !is_computed(name) {
                return Err(format!("the command computes no figure `{name}`"));
            }
        }
        let notes = part.compare.iter().filter_map(|rule| rule.note.as_ref());
        self.validate_notes(notes.chain(part.differs.iter().map(|differs| &differs.note)))
    }

    fn validate_row(&self, row: &Row) -> Result<(), String> {
        let part = self.parts.get(&row.part);
        let part = part.ok_or_else(|| format!("unknown part `{}`", row.part))?;
        source(row)?;
        match &row.fixed {
            Some(fixed) => {
                program(fixed)?;
            }
            None if part.command.needs_fixed() => {
                return Err("the command requires a version with fences: `fixed`".into());
            }
            None => {}
        }
        if row.columns.is_empty() {
            return Err("`columns` is empty".into());
        }
        for column in &row.columns {
            if ModelSpec::by_name(&column.model).is_none() {
                return Err(format!("unknown model `{}`", column.model));
            }
            match (&column.domain, part.command.needs_abstraction()) {
                (Some(name), true) if domain(name).is_none() => {
                    return Err(format!("unknown domain `{name}`"));
                }
                (None, true) => return Err("the command requires `domain`".into()),
                (Some(_), false) => return Err("the command does not use `domain`".into()),
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
                return Err(format!("unknown note `{name}`"));
            }
        }
        Ok(())
    }
}

impl<'p> Entry<'p> {
    /// Returns the group and the name of the row.
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
            Some(suffix) => format!("{model} {suffix}"),
            None => model,
        }
    }

    /// Whether `--only` selects the entry.
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

    /// Returns the text of the program.
    pub(super) fn source(&self) -> String {
        source(self.row).expect("programs are validated")
    }

    /// Returns the text of the version with fences.
    pub(super) fn fixed_source(&self) -> &'static str {
        let fixed = self.row.fixed.as_ref().expect("versions are validated");
        program(fixed).expect("programs are validated")
    }

    /// Returns the note for a row that agrees with the paper.
    pub(super) fn note(&self) -> Option<&'p str> {
        self.column.note.as_ref().map(|name| self.paper.note(name)).or(self.remark())
    }

    /// Returns the note that is shown even if a limit stops the row.
    pub(super) fn remark(&self) -> Option<&'p str> {
        self.column.remark.as_ref().map(|name| self.paper.note(name))
    }

    /// Returns the sentence of a note.
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

/// Returns the text of a row's program, with its edits applied.
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
