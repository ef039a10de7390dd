//! The results of a check for programs. The form is described by `check.schema.json` in the book;
//! within one major version keys are added, never renamed or dropped.

use crate::cycle::{self, LinkRecord};
use crate::finding::{Class, Finding, Found};
use crate::suspect::SuspectRecord;
use crate::trace::Story;
use crate::verdict_line::variable;
use crate::violation;
use crate::why::reasons;
use crate::wording;
use fencepost_engines::{Claim, Statistics, Verdict};
use fencepost_ir::{Diagnostic, Program, Severity, Violation};
use fencepost_models::replay::Told;
use fencepost_models::{Action, EventKind, ModelSpec, Step};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The whole answer of `fencepost check --format json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CheckReport {
    /// The version of Fencepost.
    pub fencepost: String,
    /// Always `check`.
    pub command: String,
    /// One for each program and model, in the order asked for.
    pub results: Vec<CheckResult>,
    /// Files that could not be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<InputError>,
}

/// What was found out about a program under a model.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CheckResult {
    /// The file, as it was named.
    pub file: String,
    /// The client of the file, where it has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The model's name.
    pub model: String,
    /// The engine's name.
    pub engine: String,
    /// Which way of looking made the verdict: `explicit`, `automata`, or an abstract domain as in `fd k=1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// `verified`, `violated` or `inconclusive`.
    pub verdict: &'static str,
    /// A stable word: what was violated, or what ended an inconclusive search.
    pub reason: Option<&'static str>,
    /// The property concerned, as the language writes it.
    pub property: Option<String>,
    /// The same in a sentence, for people.
    pub message: Option<String>,
    /// States stored.
    pub states: u64,
    /// Steps computed.
    pub transitions: u64,
    /// Seconds it took.
    pub seconds: f64,
    /// The most bytes the search held.
    pub peak_bytes: u64,
    /// The bound on pending accesses the search used.
    pub bound: Option<u32>,
    /// The largest bound within which everything was explored, when inconclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clean_up_to: Option<u32>,
    /// The variable that took more and more values until the search was cut short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growing: Option<String>,
    /// Where the certificate was written, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
    /// What buffers can hold at each statement, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffers: Option<Vec<BufferRecord>>,
    /// Whether these are all contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffers_complete: Option<bool>,
    /// Where the run was stored, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_file: Option<String>,
    /// The run that shows a violation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceRecord>,
    /// The run that shows what a `final exists` asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<TraceRecord>,
    /// A run of an abstract model to a violation that the exact model does not follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspect: Option<SuspectRecord>,
}

/// What a thread's buffer can hold at a statement.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BufferRecord {
    /// The thread's name.
    pub thread: String,
    /// The statement's line, from 1.
    pub line: u32,
    /// The contents, oldest store first, as a regular expression.
    pub contents: String,
    /// Whether there are only finitely many.
    pub finite: bool,
    /// Where the automaton was written, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dot_file: Option<String>,
}

/// A run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TraceRecord {
    /// Whether no run with fewer steps shows the same.
    pub shortest: bool,
    /// Which reorderings it owes its end to, a sentence each.
    pub why: Vec<String>,
    /// For a run that is not sequentially consistent: accesses that come before each other in a circle.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<LinkRecord>,
    /// What happened.
    pub events: Vec<EventRecord>,
    /// The alternatives `choose` took in `init`.
    pub init: Vec<u32>,
    /// The steps to take to see it happen.
    pub steps: Vec<StepRecord>,
}

/// One event of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventRecord {
    /// The step it belongs to, from 0.
    pub step: usize,
    /// Its number in the picture; local bookkeeping has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// The thread's name.
    pub thread: String,
    /// The statement's label.
    pub label: Option<String>,
    /// The statement's line, from 1.
    pub line: Option<u32>,
    /// The statement's column, from 1.
    pub column: Option<u32>,
    /// What it is: `load`, `store`, `commit`, ...
    pub kind: String,
    /// The location concerned.
    pub location: Option<String>,
    /// The value loaded, stored, committed, set or left behind, as the language writes it.
    pub value: Option<String>,
    /// Where a value read came from: `initial`, `own buffer`, or thread and line as in `p(1):12`.
    pub from: Option<String>,
}

/// One step: a statement of a thread (with the alternatives its choices take), or an internal step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepRecord {
    /// The thread's name.
    pub thread: String,
    /// The alternatives, for a statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Vec<u32>>,
    /// Which internal step, for one of the memory model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internal: Option<u32>,
}

/// Something wrong with an input.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct InputError {
    /// The file, as it was named.
    pub file: String,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// The stable code, where there is one.
    pub code: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// What is wrong.
    pub message: String,
}

impl InputError {
    /// From a front end's message.
    pub fn new(file: &str, diagnostic: &Diagnostic) -> Self {
        InputError {
            file: file.into(),
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            code: Some(diagnostic.code.into()),
            line: Some(diagnostic.span.line),
            column: Some(diagnostic.span.column),
            message: diagnostic.message.clone(),
        }
    }
}

impl CheckReport {
    /// A report of these results.
    pub fn new(version: &str, results: Vec<CheckResult>, errors: Vec<InputError>) -> Self {
        CheckReport { fencepost: version.into(), command: "check".into(), results, errors }
    }
}

impl CheckResult {
    /// A finding for programs; `story` is its run, told.
    pub fn new(finding: &Finding<'_>, story: Option<&Story<'_>>) -> Self {
        let (answer, clean_up_to) = match &finding.result {
            Found::Answer(answer) => match &answer.verdict {
                Verdict::Inconclusive(reason) => (Some(answer), reason.clean_up_to()),
                Verdict::Verified(_) | Verdict::Violated(_) => (Some(answer), None),
            },
            Found::NotRun | Found::Crashed(_) => (None, None),
        };
        let statistics = answer.map_or(Statistics::default(), |answer| answer.statistics);
        let growing = answer.and_then(|answer| answer.growing);
        let shown = finding.shown();
        let record = || {
            let shown = shown?;
            let mut record = TraceRecord::new(&finding.model, story?, shown.shortest);
            if shown.claim == Claim::Violation(Violation::NotRobust) {
                record.cycle = cycle::records(story?);
            }
            Some(record)
        };
        let (verdict, trace, witness) = match finding.class() {
            Class::Verified => ("verified", None, record()),
            Class::Violated => ("violated", record(), None),
            Class::Bounded | Class::Inconclusive | Class::Crashed => ("inconclusive", None, None),
        };
        let client = &finding.problem.name;
        CheckResult {
            file: finding.file.into(),
            client: (!client.is_empty()).then(|| client.clone()),
            model: finding.model.name.to_string(),
            engine: finding.engine.into(),
            decided_by: answer.map(|answer| answer.by.to_string()),
            verdict,
            reason: finding.reason(),
            property: shown.map(|s| violation::property(finding.problem, s.claim)),
            message: finding.message(story),
            states: statistics.states,
            transitions: statistics.transitions,
            seconds: (finding.seconds * 1e6).round() / 1e6,
            peak_bytes: statistics.bytes,
            bound: statistics.bound,
            clean_up_to,
            growing: growing.map(|growing| variable(finding.problem, growing.what)),
            certificate: None,
            buffers: None,
            buffers_complete: None,
            trace_file: None,
            trace,
            witness,
            suspect: finding.doubt().map(|doubt| doubt.record()),
        }
    }
}

impl TraceRecord {
    /// A told run for programs.
    pub fn new(model: &ModelSpec, story: &Story<'_>, shortest: bool) -> Self {
        let program = &story.problem.program;
        TraceRecord {
            shortest,
            why: reasons(program, model, &story.run),
            cycle: Vec::new(),
            events: events(story),
            init: story.run.trace.init.clone(),
            steps: story
                .run
                .trace
                .steps
                .iter()
                .map(|step| StepRecord::new(program, step))
                .collect(),
        }
    }
}

/// Whether an event only tells that a thread passes a place where a fence could be.
fn is_mark(program: &Program, told: &Told) -> bool {
    let is_place = |label| program.places.iter().any(|place| place.label == label);
    told.event.kind == EventKind::Skip && told.event.label.is_some_and(is_place)
}

/// Every event of a told run.
pub fn events(story: &Story<'_>) -> Vec<EventRecord> {
    let program = &story.problem.program;
    let mut number = 0;
    let moments = story.run.moments.iter().enumerate();
    moments
        .flat_map(|(step, moment)| moment.events.iter().map(move |told| (step, told)))
        .filter(|(_, told)| !is_mark(program, told))
        .map(|(step, told)| {
            let mut record = EventRecord::new(program, step, told);
            if wording::matters(program, &told.event) {
                number += 1;
                record.number = Some(number);
            }
            record
        })
        .collect()
}

impl EventRecord {
    fn new(program: &Program, step: usize, told: &Told) -> Self {
        let event = &told.event;
        let span = event.label.map(|label| program.label(label).span);
        let (location, value) = match event.kind {
            EventKind::Load { loc, value, .. }
            | EventKind::Store { loc, value }
            | EventKind::Write { loc, value }
            | EventKind::Commit { loc, value }
            | EventKind::Stay { loc, value } => (Some(loc), Some(value)),
            EventKind::Update { loc, old, new } => (Some(loc), Some(new.unwrap_or(old))),
            EventKind::Fetch { loc, value, .. } => (loc, value),
            EventKind::Drain(loc) => (Some(loc), None),
            EventKind::Set { .. }
            | EventKind::Fence(_)
            | EventKind::Test(_)
            | EventKind::New(_)
            | EventKind::Free(_)
            | EventKind::Leave
            | EventKind::AtomicBegin
            | EventKind::AtomicEnd
            | EventKind::Defer
            | EventKind::Skip => (None, None),
        };
        let of_location = location.zip(value);
        let value = match event.kind {
            EventKind::Set { reg, value } => {
                Some(program.register_type(event.thread, reg).show(value))
            }
            EventKind::Test(holds) => Some(holds.to_string()),
            EventKind::New(reference) | EventKind::Free(reference) => Some(format!("#{reference}")),
            EventKind::Fence(kinds) => Some(kinds.name()),
            EventKind::Load { .. }
            | EventKind::Store { .. }
            | EventKind::Write { .. }
            | EventKind::Commit { .. }
            | EventKind::Stay { .. }
            | EventKind::Update { .. }
            | EventKind::Fetch { .. }
            | EventKind::Drain(_)
            | EventKind::Leave
            | EventKind::AtomicBegin
            | EventKind::AtomicEnd
            | EventKind::Defer
            | EventKind::Skip => {
                of_location.map(|(loc, value)| program.location(loc).ty.show(value))
            }
        };
        EventRecord {
            step,
            number: None,
            thread: program.thread(event.thread).name.clone(),
            label: event.label.map(|label| label.to_string()),
            line: span.map(|s| s.line),
            column: span.map(|s| s.column),
            kind: wording::kind(program, event).into(),
            location: location.map(|loc| program.location(loc).name.clone()),
            value,
            from: wording::from(program, told),
        }
    }
}

/// Why a recorded step is not one of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StepError {
    /// The program has no such thread.
    UnknownThread(String),
    /// It does not have exactly one of `run` and `internal`.
    NoAction,
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepError::UnknownThread(name) => write!(f, "there is no thread `{name}`"),
            StepError::NoAction => f.write_str("a step has either `run` or `internal`"),
        }
    }
}

impl std::error::Error for StepError {}

impl StepRecord {
    /// A step for programs.
    pub fn new(program: &Program, step: &Step) -> Self {
        let thread = program.thread(step.thread).name.clone();
        match &step.action {
            Action::Run(script) => StepRecord { thread, run: Some(script.clone()), internal: None },
            Action::Internal(which) => StepRecord { thread, run: None, internal: Some(*which) },
        }
    }

    /// The step it records.
    pub fn step(&self, program: &Program) -> Result<Step, StepError> {
        let named = |t: &fencepost_ir::ThreadId| program.thread(*t).name == self.thread;
        let thread = program.thread_ids().find(named);
        let thread = thread.ok_or_else(|| StepError::UnknownThread(self.thread.clone()))?;
        let action = match (&self.run, self.internal) {
            (Some(script), None) => Action::Run(script.clone()),
            (None, Some(which)) => Action::Internal(which),
            _ => return Err(StepError::NoAction),
        };
        Ok(Step { thread, action })
    }
}
