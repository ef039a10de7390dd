//! Re-executing a stored trace, step by step, on the source and the model that are stored with it.

use crate::source::{Lowering, Source, SourceError};
use fencepost_engines::Claim;
use fencepost_ir::Problem;
use fencepost_models::ModelSpec;
use fencepost_models::replay::{Divergence, Run, Trace};
use fencepost_report::paint::printable;
use fencepost_report::trace::Story;
use fencepost_report::trace_file::{Difference, TraceFile, TraceFileError};
use fencepost_report::violation::{sentence, shown_by};
use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// A stored trace, and the run that it records.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Replayed {
    /// The stored trace.
    pub file: TraceFile,
    /// The model it was found under.
    pub model: ModelSpec,
    /// The program it is about.
    pub problem: Problem,
    /// The run, re-executed.
    pub run: Run,
    /// What the run shows.
    pub claim: Claim,
}

/// Why a stored trace was not re-executed to its end.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ReplayError {
    /// The text is not a trace.
    File(TraceFileError),
    /// The stored source has errors.
    Source(SourceError),
    /// The stored source has no such client.
    UnknownClient(String),
    /// The run is not the recorded one.
    Diverged {
        /// How many steps the trace has.
        steps: usize,
        /// The first difference.
        difference: Difference,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::File(error) => error.fmt(f),
            ReplayError::Source(error) => error.fmt(f),
            ReplayError::UnknownClient(client) => {
                write!(f, "the source in it has no client `{}`", printable(client))
            }
            ReplayError::Diverged { difference: Difference { step, what }, .. } => match step {
                Some(step) => write!(f, "at step {}: {what}", step + 1),
                None => write!(f, "in the end: {what}"),
            },
        }
    }
}

impl std::error::Error for ReplayError {}

/// Re-executes a stored trace: the text that `--trace-dir` writes.
///
/// It succeeds only if every event is the recorded one and the run shows the recorded violation.
pub fn replay(text: &str) -> Result<Replayed, ReplayError> {
    let file = TraceFile::parse(text).map_err(ReplayError::File)?;
    let model = file.model.model().map_err(ReplayError::File)?;
    let extension = Path::new(&file.file).extension().and_then(|end| end.to_str());
    let extension = match extension {
        Some("litmus") => "litmus",
        _ => "fp",
    };
    // A client may have come from outside of the source.
    let clients = Some(file.client.clone()).filter(|client| !client.is_empty());
    let lowering = Lowering { clients: clients.into_iter().collect(), places: false };
    let name = printable(&file.file);
    let source = Source::from_bytes(&name, file.source.as_bytes(), extension, lowering)
        .map_err(ReplayError::Source)?;
    let problem = source.programs().iter().find(|problem| problem.name == file.client);
    let Some(problem) = problem.cloned() else {
        return Err(ReplayError::UnknownClient(file.client));
    };
    let (run, claim) = rerun(&file, &model, &problem)
        .map_err(|difference| ReplayError::Diverged { steps: file.steps.len(), difference })?;
    Ok(Replayed { file, model, problem, run, claim })
}

/// The run, if it is the recorded one to the last event.
fn rerun(
    file: &TraceFile,
    model: &ModelSpec,
    problem: &Problem,
) -> Result<(Run, Claim), Difference> {
    let trace = file.trace(&problem.program)?;
    let run = model.replay(problem, file.reductions(), &trace).map_err(|divergence| {
        earlier_difference(file, model, problem, &trace, &divergence)
            .unwrap_or(Difference { step: divergence.step, what: divergence.reason })
    })?;
    let story = Story::new(problem, Cow::Borrowed(&run));
    file.compare_events(&story, file.steps.len())?;
    let claim = shown_by(&story);
    let said = claim.map(|claim| sentence(problem, claim, Some(&story)));
    match claim {
        Some(claim) if said.as_deref() == Some(file.violation.as_str()) => Ok((run, claim)),
        _ => {
            let now = said.unwrap_or_else(|| "nothing is wrong".into());
            let what = format!("recorded: {}; but now: {now}", file.violation);
            Err(Difference { step: None, what })
        }
    }
}

/// A trace that cannot be followed to its end may have differed long before: the first different event is reported.
fn earlier_difference(
    file: &TraceFile,
    model: &ModelSpec,
    problem: &Problem,
    trace: &Trace,
    divergence: &Divergence,
) -> Option<Difference> {
    let steps = divergence.step?;
    let beginning = Trace { steps: trace.steps[..steps].to_vec(), ..trace.clone() };
    let run = model.replay(problem, file.reductions(), &beginning).ok()?;
    let story = Story::new(problem, Cow::Owned(run));
    file.compare_events(&story, steps).err()
}
