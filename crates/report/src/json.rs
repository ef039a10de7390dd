//! The results of `check` as JSON. `check.schema.json` in the book describes the format. Within one
//! major version, keys are added but never renamed or removed.

use crate::cycle::{self, LinkRecord};
use crate::data_race::RaceRecord;
use crate::finding::{Class, Finding, QueryResult};
use crate::hang::describe_waits;
use crate::reorderings::describe_reorderings;
use crate::spurious::SpuriousRecord;
use crate::trace::TraceRows;
use crate::verdict_line::variable_name;
use crate::violation;
use crate::wording;
use fencepost_engines::{Claim, RobustDefinition, Statistics, Verdict};
use fencepost_ir::{Diagnostic, Program, Severity, Violation};
use fencepost_models::replay::AnnotatedEvent;
use fencepost_models::{Action, EventKind, ModelSpec, Step};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The output of `fencepost check --format json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CheckReport {
    /// The version of Fencepost.
    pub fencepost: String,
    /// Always `check`.
    pub command: String,
    /// One result for each program and model, in the order of the request.
    pub results: Vec<CheckResult>,
    /// Errors in input files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<InputError>,
}

/// The result for a program under a model.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CheckResult {
    /// The file name, as given by the user.
    pub file: String,
    /// The client, if the file has clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The model's name.
    pub model: String,
    /// Similar models that the verdict does not cover.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub not_covered: &'static [&'static str],
    /// The engine's name.
    pub engine: String,
    /// For robustness: the definition, `strict` or `without-failed-spins`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<&'static str>,
    /// The analysis that decided: `explicit`, `automata`, ..., or an abstract domain such as `fd
    /// k=1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// `verified`, `violated` or `inconclusive`.
    pub verdict: &'static str,
    /// A stable word for the violation or for the inconclusive reason.
    pub reason: Option<&'static str>,
    /// The property violated or witnessed, as the language writes it.
    pub property: Option<String>,
    /// The violation, the witness or the inconclusive reason, in a sentence.
    pub message: Option<String>,
    /// The number of states stored.
    pub states: u64,
    /// The number of executions that ended with a blocked thread, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked: Option<u64>,
    /// The number of steps computed.
    pub transitions: u64,
    /// The wall-clock time in seconds.
    pub seconds: f64,
    /// The CPU time of all threads in seconds. None if it is unknown.
    pub cpu_seconds: Option<f64>,
    /// The peak memory of the search in bytes.
    pub peak_bytes: u64,
    /// The bound on pending accesses that the search used.
    pub bound: Option<u32>,
    /// When inconclusive: the largest bound that was explored completely without a violation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clean_up_to: Option<u32>,
    /// A variable that took ever more values until the search was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growing: Option<String>,
    /// A data race of a C program, if one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_race: Option<RaceRecord>,
    /// What the search for data races did not explore.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_races_note: Option<String>,
    /// The path of the certificate, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
    /// The possible buffer contents at each statement, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffers: Option<Vec<BufferRecord>>,
    /// Whether `buffers` has all contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffers_complete: Option<bool>,
    /// The path of the stored trace, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_file: Option<String>,
    /// The run that violates the property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceRecord>,
    /// The run that satisfies a `final exists`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<TraceRecord>,
    /// A spurious run: a run of an abstract model that the exact model does not have.
    #[serde(rename = "suspect", skip_serializing_if = "Option::is_none")]
    pub spurious: Option<SpuriousRecord>,
}

/// The possible contents of a thread's buffer at a statement.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BufferRecord {
    /// The thread's name.
    pub thread: String,
    /// The statement's line, from 1.
    pub line: u32,
    /// The contents, oldest store first, as a regular expression.
    pub contents: String,
    /// Whether there are only finitely many contents.
    pub finite: bool,
    /// The path of the automaton for Graphviz, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dot_file: Option<String>,
}

/// A run as JSON.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TraceRecord {
    /// Whether no run with fewer steps has the same violation or witness.
    pub shortest: bool,
    /// The reorderings that explain the run, one sentence each.
    pub why: Vec<String>,
    /// For a run that ends in a hang: what keeps the threads waiting, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<String>,
    /// For a run that is not sequentially consistent: a cycle of happens-before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<LinkRecord>,
    /// The events of the run.
    pub events: Vec<EventRecord>,
    /// For a livelock: the number of the first step of the cycle, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle_start: Option<usize>,
    /// The alternatives that `choose` took in `init`.
    pub init: Vec<u32>,
    /// The steps that replay the run.
    pub steps: Vec<StepRecord>,
}

/// One event of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventRecord {
    /// The step that the event belongs to, from 0.
    pub step: usize,
    /// The number of the event in the picture, from 1; none for a local event.
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
    /// The kind of event: `load`, `store`, `commit`, ...
    pub kind: String,
    /// The location accessed.
    pub location: Option<String>,
    /// The value loaded, stored, committed or assigned, as the language writes it. For an update,
    /// the value of the location after it.
    pub value: Option<String>,
    /// The origin of a value read: `initial`, `own buffer`, or thread and line as in `p(1):12`.
    pub from: Option<String>,
}

/// One step: a statement of a thread, or an internal step of the memory model.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepRecord {
    /// The thread's name.
    pub thread: String,
    /// For a statement: the alternatives that its choices take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Vec<u32>>,
    /// For an internal step: its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internal: Option<u32>,
}

/// A diagnostic about an input file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct InputError {
    /// The file name, as given by the user.
    pub file: String,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// The diagnostic code, if there is one.
    pub code: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// The message.
    pub message: String,
}

impl InputError {
    /// Creates the record of a diagnostic.
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
    /// Creates a report.
    pub fn new(version: &str, results: Vec<CheckResult>, errors: Vec<InputError>) -> Self {
        CheckReport { fencepost: version.into(), command: "check".into(), results, errors }
    }
}

impl CheckResult {
    /// Creates the record of a finding. `trace_rows` are the rows of its run.
    pub fn new(finding: &Finding<'_>, trace_rows: Option<&TraceRows<'_>>) -> Self {
        let (answer, clean_up_to) = match &finding.result {
            QueryResult::Answer(answer) => match &answer.verdict {
                Verdict::Inconclusive(reason) => (Some(answer), reason.clean_up_to()),
                Verdict::Verified(_) | Verdict::Violated(_) => (Some(answer), None),
            },
            QueryResult::NotRun | QueryResult::Crashed(_) => (None, None),
        };
        let statistics = answer.map_or(Statistics::default(), |answer| answer.statistics);
        let growing = answer.and_then(|answer| answer.growing);
        let shown = finding.shown();
        let record = || {
            let shown = shown?;
            let mut record = TraceRecord::new(&finding.model, trace_rows?, shown.shortest);
            if shown.claim == Claim::Violation(Violation::NotRobust) {
                record.cycle = cycle::records(trace_rows?);
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
            not_covered: finding.model.not_covered(),
            engine: finding.engine.into(),
            definition: finding.definition.map(RobustDefinition::name),
            decided_by: answer.map(|answer| answer.decider.to_string()),
            verdict,
            reason: finding.reason(),
            property: shown.map(|s| violation::property(finding.problem, s.claim)),
            message: finding.message(trace_rows),
            states: statistics.states,
            blocked: (statistics.blocked > 0).then_some(statistics.blocked),
            transitions: statistics.transitions,
            seconds: rounded(finding.seconds),
            cpu_seconds: finding.cpu_seconds.map(rounded),
            peak_bytes: statistics.bytes,
            bound: statistics.bound,
            clean_up_to,
            growing: growing.map(|growing| variable_name(finding.problem, growing.what)),
            data_race: None,
            data_races_note: None,
            certificate: None,
            buffers: None,
            buffers_complete: None,
            trace_file: None,
            trace,
            witness,
            spurious: finding.spurious_trace().map(|spurious_trace| spurious_trace.record()),
        }
    }
}

impl TraceRecord {
    /// Creates the record of a run.
    pub fn new(model: &ModelSpec, trace_rows: &TraceRows<'_>, shortest: bool) -> Self {
        let program = &trace_rows.problem.program;
        TraceRecord {
            shortest,
            why: describe_reorderings(program, model, &trace_rows.run),
            waits: describe_waits(program, &trace_rows.run),
            cycle: Vec::new(),
            events: events(trace_rows),
            cycle_start: trace_rows.run.cycle_start(),
            init: trace_rows.run.trace.init.clone(),
            steps: trace_rows
                .run
                .trace
                .steps
                .iter()
                .map(|step| StepRecord::new(program, step))
                .collect(),
        }
    }
}

/// Whether an event only marks that a thread passes a place for a fence.
fn is_place_mark(program: &Program, annotated: &AnnotatedEvent) -> bool {
    let is_place = |label| program.places.iter().any(|place| place.label == label);
    annotated.event.kind == EventKind::Skip && annotated.event.label.is_some_and(is_place)
}

/// Returns every event of a run, without place marks.
pub fn events(trace_rows: &TraceRows<'_>) -> Vec<EventRecord> {
    let program = &trace_rows.problem.program;
    let mut number = 0;
    let replayed = trace_rows.run.steps.iter().enumerate();
    replayed
        .flat_map(|(step, replayed)| replayed.events.iter().map(move |annotated| (step, annotated)))
        .filter(|(_, annotated)| !is_place_mark(program, annotated))
        .map(|(step, annotated)| {
            let mut record = EventRecord::new(program, step, annotated);
            if wording::is_numbered(program, &annotated.event) {
                number += 1;
                record.number = Some(number);
            }
            record
        })
        .collect()
}

impl EventRecord {
    fn new(program: &Program, step: usize, annotated: &AnnotatedEvent) -> Self {
        let event = &annotated.event;
        let span = event.label.map(|label| program.label(label).span);
        let (location, value) = match event.kind {
            EventKind::Load { loc, value, .. }
            | EventKind::Store { loc, value }
            | EventKind::Write { loc, value }
            | EventKind::Commit { loc, value }
            | EventKind::CommitAndKeep { loc, value }
            | EventKind::Repeat { loc, value, .. } => (Some(loc), Some(value)),
            EventKind::Update { loc, old, new } => (Some(loc), Some(new.unwrap_or(old))),
            EventKind::Fetch { loc, value, .. } => (loc, value),
            EventKind::Drain(loc) => (Some(loc), None),
            EventKind::Set { .. }
            | EventKind::Fence(_)
            | EventKind::Confirm
            | EventKind::Test(_)
            | EventKind::Guess(_)
            | EventKind::New(_)
            | EventKind::Free(_)
            | EventKind::Leave
            | EventKind::SectionBegin
            | EventKind::SectionEnd
            | EventKind::GracePeriod { .. }
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
            EventKind::Test(holds) | EventKind::Guess(holds) => Some(holds.to_string()),
            EventKind::New(reference) | EventKind::Free(reference) => Some(format!("#{reference}")),
            EventKind::Fence(kinds) => Some(kinds.name()),
            EventKind::Load { .. }
            | EventKind::Store { .. }
            | EventKind::Write { .. }
            | EventKind::Commit { .. }
            | EventKind::CommitAndKeep { .. }
            | EventKind::Confirm
            | EventKind::Repeat { .. }
            | EventKind::Update { .. }
            | EventKind::Fetch { .. }
            | EventKind::Drain(_)
            | EventKind::Leave
            | EventKind::SectionBegin
            | EventKind::SectionEnd
            | EventKind::GracePeriod { .. }
            | EventKind::AtomicBegin
            | EventKind::AtomicEnd
            | EventKind::Defer
            | EventKind::Skip => of_location.map(|(loc, value)| program.show_value(loc, value)),
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
            from: wording::value_origin(program, annotated),
        }
    }
}

/// An error in a recorded step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StepError {
    /// The program has no such thread.
    UnknownThread(String),
    /// The step does not have exactly one of `run` and `internal`.
    NoAction,
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepError::UnknownThread(name) => write!(f, "unknown thread `{name}`"),
            StepError::NoAction => f.write_str("a step needs either `run` or `internal`"),
        }
    }
}

impl std::error::Error for StepError {}

impl StepRecord {
    /// Creates the record of a step.
    pub fn new(program: &Program, step: &Step) -> Self {
        let thread = program.thread(step.thread).name.clone();
        match &step.action {
            Action::Run(script) => StepRecord { thread, run: Some(script.clone()), internal: None },
            Action::Internal(which) => StepRecord { thread, run: None, internal: Some(*which) },
        }
    }

    /// Returns the recorded step.
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

/// Rounds a time to microseconds.
pub(crate) fn rounded(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}
