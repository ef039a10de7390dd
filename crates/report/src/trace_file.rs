//! A trace that can be stored, handed on and re-executed: it carries the source and the model.

use crate::json::{EventRecord, StepRecord, events};
use crate::trace::Story;
use fencepost_ir::{Problem, Program};
use fencepost_models::catalog::Kind;
use fencepost_models::replay::Trace;
use fencepost_models::table::Bypass;
use fencepost_models::{ModelSpec, Reductions};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The version of the form that is written and the only one that is read.
const VERSION: u32 = 1;

/// A stored trace.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// The version of this form.
    pub trace_version: u32,
    /// The version of Fencepost that wrote it.
    pub fencepost: String,
    /// What the source was called.
    pub file: String,
    /// Which of the source's clients; empty when it has none.
    pub client: String,
    /// The model.
    pub model: ModelRecord,
    /// How many statements one step is.
    pub reductions: ReductionsRecord,
    /// What went wrong, in one sentence.
    pub violation: String,
    /// The bound on pending accesses, for models with a window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<u32>,
    /// The alternatives `choose` took in `init`.
    pub init: Vec<u32>,
    /// The steps.
    pub steps: Vec<StepRecord>,
    /// What happened.
    pub events: Vec<EventRecord>,
    /// The whole source.
    pub source: String,
}

/// A model, whole.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRecord {
    /// Its name.
    pub name: String,
    /// `sc`, `tso`, `pso` for the store-buffer models, `table` for a table-driven one.
    pub kind: String,
    /// Which pairs may change places: `W->R`, `W->W`, `R->R`, `R->W`.
    pub relax: Vec<String>,
    /// Whether a load may read its thread's own pending store.
    pub read_own_writes_early: bool,
}

/// The reductions that decide how many statements one step is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReductionsRecord {
    /// Local statements run together with the one before them.
    pub fuse: bool,
    /// Registers that are never read again are cleared.
    pub clear_dead: bool,
}

impl ModelRecord {
    /// A model for a file.
    pub fn new(model: &ModelSpec) -> Self {
        let bypass = model.relaxes();
        ModelRecord {
            name: model.name.to_string(),
            kind: match model.kind {
                Kind::Sc => "sc",
                Kind::Tso => "tso",
                Kind::Pso => "pso",
                Kind::Table(_) => "table",
            }
            .into(),
            relax: relaxed(bypass).into_iter().map(String::from).collect(),
            read_own_writes_early: bypass.read_own_early,
        }
    }

    /// The model it records.
    pub fn model(&self) -> Result<ModelSpec, TraceFileError> {
        let has = |pair: &str| self.relax.iter().any(|p| p == pair);
        let bypass = Bypass {
            store_load: has("W->R"),
            store_store: has("W->W"),
            load_load: has("R->R"),
            load_store: has("R->W"),
            read_own_early: self.read_own_writes_early,
        };
        let kind = match self.kind.as_str() {
            "sc" => Kind::Sc,
            "tso" => Kind::Tso,
            "pso" => Kind::Pso,
            "table" => Kind::Table(bypass),
            _ => return Err(TraceFileError::ModelKind(self.kind.clone())),
        };
        let model = ModelSpec { name: self.name.clone().into(), about: "".into(), kind };
        if model.relaxes() != bypass {
            return Err(TraceFileError::Relax(self.kind.clone()));
        }
        if ModelSpec::by_name(&model.name).is_some_and(|known| known.kind != kind) {
            return Err(TraceFileError::ModelName(self.name.clone()));
        }
        Ok(model)
    }
}

/// The pairs that may change places, as model files write them.
pub fn relaxed(bypass: Bypass) -> Vec<&'static str> {
    let pairs = [
        (bypass.store_load, "W->R"),
        (bypass.store_store, "W->W"),
        (bypass.load_load, "R->R"),
        (bypass.load_store, "R->W"),
    ];
    pairs.into_iter().filter(|(relaxed, _)| *relaxed).map(|(_, name)| name).collect()
}

/// Why a text is not a stored trace.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TraceFileError {
    /// It is something else; with the reader's message.
    NotATrace(String),
    /// It has another version.
    Version(u32),
    /// It is damaged; with the reader's message.
    Damaged(String),
    /// There is no such kind of model.
    ModelKind(String),
    /// The relaxations are not those of a model of this kind.
    Relax(String),
    /// The model has the name of another, built-in model.
    ModelName(String),
}

impl fmt::Display for TraceFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceFileError::NotATrace(error) => write!(f, "this is not a trace file: {error}"),
            TraceFileError::Version(version) => write!(
                f,
                "the trace file has version {version}, this program reads version {VERSION}"
            ),
            TraceFileError::Damaged(error) => write!(f, "the trace file is damaged: {error}"),
            TraceFileError::ModelKind(kind) => write!(f, "there is no kind of model `{kind}`"),
            TraceFileError::Relax(kind) => {
                write!(f, "`relax` is not what a model of kind `{kind}` relaxes")
            }
            TraceFileError::ModelName(name) => {
                write!(f, "`{name}` is the name of another, built-in model")
            }
        }
    }
}

impl std::error::Error for TraceFileError {}

/// Where a replayed run is not the recorded one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The step, from 0, if it is about one.
    pub step: Option<usize>,
    /// What is different.
    pub what: String,
}

impl TraceFile {
    /// A run for a file.
    pub fn new(
        version: &str,
        (file, source): (&str, &str),
        (model, reductions): (&ModelSpec, Reductions),
        story: &Story<'_>,
        violation: String,
    ) -> Self {
        let trace = &story.run.trace;
        let Problem { name, program, .. } = story.problem;
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
            init: trace.init.clone(),
            steps: trace.steps.iter().map(|step| StepRecord::new(program, step)).collect(),
            events: events(story),
            source: source.into(),
        }
    }

    /// As text.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data becomes JSON");
        text.push('\n');
        text
    }

    /// From text.
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

    /// The steps to take.
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

    /// The reductions it was found with.
    pub fn reductions(&self) -> Reductions {
        let ReductionsRecord { fuse, clear_dead } = self.reductions;
        Reductions { fuse, clear_dead, partial_order: false }
    }

    /// Compares every event of the first steps of a run with the recorded one.
    pub fn compare_events(&self, story: &Story<'_>, steps: usize) -> Result<(), Difference> {
        let happened = events(story);
        let mut recorded = self.events.iter().filter(|event| event.step < steps);
        let mut now = happened.iter().filter(|event| event.step < steps);
        loop {
            let (recorded, now) = (recorded.next(), now.next());
            if recorded.is_none() && now.is_none() {
                return Ok(());
            }
            // The numbers of labels depend on which clients the program was made with; lines and
            // columns say the same.
            let plain = |event: Option<&EventRecord>| {
                event.map(|event| EventRecord { label: None, ..event.clone() })
            };
            if plain(recorded) != plain(now) {
                let step = [recorded, now].into_iter().flatten().map(|event| event.step).min();
                let show = |event: Option<&EventRecord>| event.map_or("nothing".into(), brief);
                let what = format!("recorded {}, but now {}", show(recorded), show(now));
                return Err(Difference { step, what });
            }
        }
    }
}

/// An event on one line.
fn brief(event: &EventRecord) -> String {
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
