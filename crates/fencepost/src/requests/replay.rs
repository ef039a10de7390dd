//! Re-execution of a stored trace, step by step, on the source and the model that are stored with
//! it.

use crate::source::{Lowering, Source, SourceError};
use fencepost_engines::happens_before::cycle;
use fencepost_engines::livelock::is_livelock;
use fencepost_engines::{Claim, race_of_run};
use fencepost_ir::{Problem, Violation};
use fencepost_models::ModelSpec;
use fencepost_models::replay::{Divergence, ReplayedRun, Trace};
use fencepost_report::paint::printable;
use fencepost_report::trace::TraceRows;
use fencepost_report::trace_file::{Difference, TraceFile, TraceFileError};
use fencepost_report::violation::{claim_of_run, describe_claim};
use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// A stored trace, and the run that it records.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Replayed {
    /// The stored trace.
    pub file: TraceFile,
    /// The memory model of the trace.
    pub model: ModelSpec,
    /// The program of the trace.
    pub problem: Problem,
    /// The re-executed run.
    pub run: ReplayedRun,
    /// The violation that the run shows.
    pub claim: Claim,
}

/// The reason why a stored trace does not replay.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ReplayError {
    /// The text is not a trace file.
    File(TraceFileError),
    /// The stored source has errors.
    Source(SourceError),
    /// The stored source has no such client.
    UnknownClient(String),
    /// The run differs from the recorded one.
    Diverged {
        /// The number of steps of the trace.
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
                write!(f, "the source in the trace file has no client `{}`", printable(client))
            }
            ReplayError::Diverged { difference: Difference { step, what }, .. } => match step {
                Some(step) => write!(f, "at step {}: {what}", step + 1),
                None => write!(f, "at the end: {what}"),
            },
        }
    }
}

impl std::error::Error for ReplayError {}

/// Re-executes the text of a trace file, as `--trace-dir` writes it.
///
/// Succeeds only if every event is as recorded and the run shows the recorded violation.
pub fn replay(text: &str) -> Result<Replayed, ReplayError> {
    let file = TraceFile::parse(text).map_err(ReplayError::File)?;
    let model = file.model.model().map_err(ReplayError::File)?;
    let extension = Path::new(&file.file).extension().and_then(|end| end.to_str());
    let extension = match extension {
        Some("litmus") => "litmus",
        Some("c") => "c",
        _ => "fp",
    };
    // The client may have been given on the command line instead of in the source.
    let clients = Some(file.client.clone()).filter(|client| !client.is_empty());
    let lowering = Lowering {
        clients: clients.into_iter().collect(),
        preprocessing: file.preprocessing.clone().into(),
        ..Lowering::default()
    };
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

/// Re-executes the trace and compares every event with the recorded one.
fn rerun(
    file: &TraceFile,
    model: &ModelSpec,
    problem: &Problem,
) -> Result<(ReplayedRun, Claim), Difference> {
    let trace = file.trace(&problem.program)?;
    let mut run = model.replay(problem, file.reductions(), &trace).map_err(|divergence| {
        earlier_difference(file, model, problem, &trace, &divergence)
            .unwrap_or(Difference { step: divergence.step, what: divergence.reason })
    })?;
    if let Some(cycle_start) = file.cycle_start {
        let livelock = |thread| {
            is_livelock(problem, model, file.reductions(), &trace, (thread, cycle_start))
                .then_some(Violation::Livelock { thread, cycle_start })
        };
        let mut found = problem.program.thread_ids().filter_map(livelock);
        let is_recorded = |violation: &Violation| {
            let claim = Claim::Violation(*violation);
            let run = ReplayedRun { violation: Some(*violation), ..run.clone() };
            let rows = TraceRows::new(problem, Cow::Owned(run));
            describe_claim(problem, claim, Some(&rows)) == file.violation
        };
        run.violation = found.find(is_recorded).or(run.violation);
    }
    let rows = TraceRows::new(problem, Cow::Borrowed(&run));
    file.compare_events(&rows, file.steps.len())?;
    // A run may violate a property and also show that the program is not robust.
    let not_robust = || {
        let is_not_sc = model.store_buffers().is_some() && cycle(problem, &run).is_some();
        is_not_sc.then_some(Violation::NotRobust.into())
    };
    let race = race_of_run(problem, &run).map(|race| Claim::Violation(Violation::DataRace(race)));
    let claims: Vec<Claim> =
        claim_of_run(&rows).into_iter().chain(not_robust()).chain(race).collect();
    let describe = |claim: &Claim| describe_claim(problem, *claim, Some(&rows));
    match claims.iter().find(|claim| describe(claim) == file.violation) {
        Some(claim) => Ok((run.clone(), *claim)),
        None => {
            let now = claims.first().map_or_else(|| "no violation".into(), describe);
            let what = format!("recorded: {}; replayed: {now}", file.violation);
            Err(Difference { step: None, what })
        }
    }
}

/// Returns the first event that differs from the recorded one, before the step that cannot be
/// executed.
fn earlier_difference(
    file: &TraceFile,
    model: &ModelSpec,
    problem: &Problem,
    trace: &Trace,
    divergence: &Divergence,
) -> Option<Difference> {
    let steps = divergence.step?;
    let prefix = Trace { steps: trace.steps[..steps].to_vec(), ..trace.clone() };
    let run = model.replay(problem, file.reductions(), &prefix).ok()?;
    let rows = TraceRows::new(problem, Cow::Owned(run));
    file.compare_events(&rows, steps).err()
}
