//! A stored trace. The file contains the source and the model, so the trace can be re-executed
//! without any other file.

use crate::json::{EventRecord, StepRecord, events};
use crate::trace::TraceRows;
use fencepost_ir::{Problem, Program};
use fencepost_models::catalog::ModelKind;
use fencepost_models::replay::Trace;
use fencepost_models::table::Bypass;
use fencepost_models::{ModelSpec, Reductions};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The format version. Files with another version are rejected.
const VERSION: u32 = 1;

/// A stored trace.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// The format version.
    pub trace_version: u32,
    /// The version of Fencepost that wrote the file.
    pub fencepost: String,
    /// The name of the source file.
    pub file: String,
    /// The client of the source; empty when the source has none.
    pub client: String,
    /// The memory model.
    pub model: ModelRecord,
    /// The reductions that determine the size of a step.
    pub reductions: ReductionsRecord,
    /// The violation, in one sentence.
    pub violation: String,
    /// The bound on pending accesses, for RMO and table models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<u32>,
    /// For a livelock: the number of the first step of the cycle, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle_start: Option<usize>,
    /// The alternatives that `choose` took in `init`.
    pub init: Vec<u32>,
    /// The steps of the run.
    pub steps: Vec<StepRecord>,
    /// The events of the run.
    pub events: Vec<EventRecord>,
    /// The source text.
    pub source: String,
    /// For a C program: its macros and included files.
    #[serde(default, skip_serializing_if = "PreprocessingRecord::is_empty")]
    pub preprocessing: PreprocessingRecord,
}

/// How a C program was preprocessed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreprocessingRecord {
    /// Macro definitions: `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Files that are included before the program.
    pub forced_includes: Vec<String>,
    /// The files that were included.
    pub files: Vec<IncludedFile>,
}

/// A file that a C program includes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IncludedFile {
    /// The name of the including file.
    pub from: String,
    /// The name in the directive.
    pub name: String,
    /// Whether the name is in `<...>`.
    pub angled: bool,
    /// The name of the file for messages.
    pub file: String,
    /// The text of the file.
    pub text: String,
}

impl PreprocessingRecord {
    /// Returns whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        *self == PreprocessingRecord::default()
    }
}

/// A complete definition of a memory model.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRecord {
    /// The model's name.
    pub name: String,
    /// `sc`, `tso`, `pso` for the store-buffer models, `table` for a model with a bypass table.
    pub kind: String,
    /// The pairs of accesses that may be reordered: `W->R`, `W->W`, `R->R`, `R->W`.
    pub relax: Vec<String>,
    /// Whether a load may read its thread's own pending store.
    pub read_own_writes_early: bool,
    /// Whether the directions of branches are guessed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub speculation: bool,
}

/// The reductions that determine the size of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReductionsRecord {
    /// Whether local statements are fused with the statement before them.
    pub fuse: bool,
    /// Whether dead registers are cleared.
    pub clear_dead: bool,
}

impl ModelRecord {
    /// Creates the record of a model.
    pub fn new(model: &ModelSpec) -> Self {
        let bypass = model.relaxes();
        ModelRecord {
            name: model.name.to_string(),
            kind: match model.kind {
                ModelKind::Sc => "sc",
                ModelKind::Tso => "tso",
                ModelKind::Pso => "pso",
                ModelKind::Table(_) => "table",
                ModelKind::Arm => "arm",
            }
            .into(),
            relax: relaxed_pairs(bypass).into_iter().map(String::from).collect(),
            read_own_writes_early: bypass.read_own_early,
            speculation: bypass.speculation,
        }
    }

    /// Returns the recorded model.
    pub fn model(&self) -> Result<ModelSpec, TraceFileError> {
        let has = |pair: &str| self.relax.iter().any(|p| p == pair);
        let bypass = Bypass {
            store_load: has("W->R"),
            store_store: has("W->W"),
            load_load: has("R->R"),
            load_store: has("R->W"),
            read_own_early: self.read_own_writes_early,
            speculation: self.speculation,
        };
        let kind = match self.kind.as_str() {
            "sc" => ModelKind::Sc,
            "tso" => ModelKind::Tso,
            "pso" => ModelKind::Pso,
            "table" => ModelKind::Table(bypass),
            "arm" => ModelKind::Arm,
            _ => return Err(TraceFileError::ModelKind(self.kind.clone())),
        };
        if self.name == "rmo" && kind == ModelSpec::RMO_NOSPEC.kind {
            // A trace from the time when `rmo` had no speculation.
            return Ok(ModelSpec::RMO_NOSPEC);
        }
        let model = ModelSpec { name: self.name.clone().into(), about: "".into(), kind };
        if model.relaxes() != bypass {
            return Err(TraceFileError::Relax(self.kind.clone()));
        }
        if ModelSpec::by_name(&model.name).is_some_and(|built_in| built_in.kind != kind) {
            return Err(TraceFileError::ModelName(self.name.clone()));
        }
        Ok(model)
    }
}

/// Returns the pairs that may be reordered, as model files write them.
pub fn relaxed_pairs(bypass: Bypass) -> Vec<&'static str> {
    let pairs = [
        (bypass.store_load, "W->R"),
        (bypass.store_store, "W->W"),
        (bypass.load_load, "R->R"),
        (bypass.load_store, "R->W"),
    ];
    pairs.into_iter().filter(|(relaxed, _)| *relaxed).map(|(_, name)| name).collect()
}

/// An error in a trace file.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TraceFileError {
    /// The text has no `trace_version`; with the JSON parser's message.
    NotATrace(String),
    /// The format version is not supported.
    Version(u32),
    /// The text does not match the format; with the JSON parser's message.
    Damaged(String),
    /// The kind of model is unknown.
    ModelKind(String),
    /// `relax` does not match the kind of model.
    Relax(String),
    /// The model has the name of a different built-in model.
    ModelName(String),
}

impl fmt::Display for TraceFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceFileError::NotATrace(error) => write!(f, "this is not a trace file: {error}"),
            TraceFileError::Version(version) => write!(
                f,
                "the trace file has version {version}; this Fencepost reads version {VERSION}"
            ),
            TraceFileError::Damaged(error) => write!(f, "the trace file is damaged: {error}"),
            TraceFileError::ModelKind(kind) => write!(f, "unknown kind of model `{kind}`"),
            TraceFileError::Relax(kind) => {
                write!(f, "`relax` does not match a model of kind `{kind}`")
            }
            TraceFileError::ModelName(name) => {
                write!(f, "`{name}` is the name of a different built-in model")
            }
        }
    }
}

impl std::error::Error for TraceFileError {}

/// A difference between a replayed run and the recorded one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The step, from 0, if the difference is in a step.
    pub step: Option<usize>,
    /// A description of the difference.
    pub what: String,
}

impl TraceFile {
    /// Creates a trace file from a run.
    pub fn new(
        version: &str,
        (file, source): (&str, &str),
        (model, reductions): (&ModelSpec, Reductions),
        trace_rows: &TraceRows<'_>,
        violation: String,
    ) -> Self {
        let trace = &trace_rows.run.trace;
        let Problem { name, program, .. } = trace_rows.problem;
        TraceFile {
            trace_version: VERSION,
            fencepost: version.into(),
            file: file.into(),
            client: name.clone(),
            model: ModelRecord::new(model),
            reductions: ReductionsRecord {
                fuse: reductions.fuse,
                clear_dead: reductions.clear_dead,
            },
            violation,
            bound: trace.bound,
            cycle_start: trace_rows.run.cycle_start(),
            init: trace.init.clone(),
            steps: trace.steps.iter().map(|step| StepRecord::new(program, step)).collect(),
            events: events(trace_rows),
            source: source.into(),
            preprocessing: PreprocessingRecord::default(),
        }
    }

    /// Returns the file content.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data serialises as JSON");
        text.push('\n');
        text
    }

    /// Parses the file content.
    pub fn parse(text: &str) -> Result<TraceFile, TraceFileError> {
        #[derive(Deserialize)]
        struct Head {
            trace_version: u32,
        }
        let head: Head =
            serde_json::from_str(text).map_err(|e| TraceFileError::NotATrace(e.to_string()))?;
        if head.trace_version != VERSION {
            return Err(TraceFileError::Version(head.trace_version));
        }
        serde_json::from_str(text).map_err(|e| TraceFileError::Damaged(e.to_string()))
    }

    /// Returns the recorded steps as a trace of the program.
    pub fn trace(&self, program: &Program) -> Result<Trace, Difference> {
        let mut steps = Vec::new();
        for (at, record) in self.steps.iter().enumerate() {
            let step = record.step(program);
            steps.push(
                step.map_err(|error| Difference { step: Some(at), what: error.to_string() })?,
            );
        }
        Ok(Trace { init: self.init.clone(), steps, bound: self.bound })
    }

    /// Returns the reductions of the search that found the run.
    pub fn reductions(&self) -> Reductions {
        let ReductionsRecord { fuse, clear_dead } = self.reductions;
        // A recorded guess is allowed, whether it is useful or not.
        Reductions { fuse, clear_dead, ..Reductions::NONE }
    }

    /// Compares every event of the first `steps` steps of a run with the recorded event.
    pub fn compare_events(
        &self,
        trace_rows: &TraceRows<'_>,
        steps: usize,
    ) -> Result<(), Difference> {
        let all_replayed = events(trace_rows);
        let mut recorded = self.events.iter().filter(|event| event.step < steps);
        let mut replayed = all_replayed.iter().filter(|event| event.step < steps);
        loop {
            let (recorded, replayed) = (recorded.next(), replayed.next());
            if recorded.is_none() && replayed.is_none() {
                return Ok(());
            }
            // Label numbers depend on the clients that were lowered together. Lines and columns
            // identify the statement.
            let without_label = |event: Option<&EventRecord>| {
                event.map(|event| EventRecord { label: None, ..event.clone() })
            };
            if without_label(recorded) != without_label(replayed) {
                let step = [recorded, replayed].into_iter().flatten().map(|event| event.step).min();
                let show = |event: Option<&EventRecord>| event.map_or("nothing".into(), event_text);
                let what = format!("recorded {}, but replayed {}", show(recorded), show(replayed));
                return Err(Difference { step, what });
            }
        }
    }
}

/// Formats an event on one line.
fn event_text(event: &EventRecord) -> String {
    let part = |name: &str, text: &Option<String>| match text {
        Some(text) => format!(" {name}{text}"),
        None => String::new(),
    };
    let line = event.line.map(|line| format!(" (:{line})")).unwrap_or_default();
    format!(
        "`{} {}{}{}{}`{line}",
        event.thread,
        event.kind,
        part("", &event.location),
        part("= ", &event.value),
        part("from ", &event.from),
    )
}
