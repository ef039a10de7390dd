//! `fencepost infer`: the cheapest fences that make a program right, written into its source.
//!
//! - [`prepare`]: from options to requests; [`show`]: the answer for a reader.

mod prepare;
mod show;

use crate::args::{Format, Infer};
use crate::exit::Exit;
use crate::guard::guarded_while;
use crate::input;
use crate::output::Output;
use crate::session::Session;
use crate::store::{TraceNames, replace};
use fencepost::{PreparedRepair, Repaired};
use fencepost_infer::repair::Inference;
use fencepost_report::json::InputError;
use fencepost_report::paint::printable;
use fencepost_report::repair_json::{Beside, InferReport, SeveralReports};
use fencepost_report::verdict_line::shown;
use prepare::Input;
pub(crate) use prepare::Job;
use serde::Serialize;
use std::path::Path;

/// Looks for fences, under one model after the other.
pub(crate) fn run(options: &Infer, output: &mut Output) -> Exit {
    run_job(&Job::from(options), output)
}

/// The same for a job.
pub(crate) fn run_job(job: &Job, output: &mut Output) -> Exit {
    let version = env!("CARGO_PKG_VERSION");
    let file = input::shown(&job.file);
    let json = job.format == Format::Json;
    let several = job.models.len() > 1;
    let unusable = |model: &str, errors: Vec<InputError>| {
        let mut report = InferReport::unusable(version, &file, model, errors);
        report.method = job.repair.method.name().into();
        report.engine = job.repair.verifier.engine().name().into();
        report
    };
    let session = Session::new(&job.search, job.quiet);
    let input = prepare::read(job, output);
    let watch = session.watch(&file);
    let requests = input
        .as_ref()
        .map_err(Vec::clone)
        .and_then(|input| input.requests(job, &session, &watch, output));
    let requests = match requests {
        Ok(requests) => requests,
        Err(errors) if json && several => {
            print_json(&SeveralReports::new(version, &file, Vec::new(), errors), output);
            return Exit::Unusable;
        }
        Err(errors) => {
            if json {
                print_json(&unusable(&job.models.join(","), errors), output);
            }
            return Exit::Unusable;
        }
    };
    let (mut reports, mut worst) = (Vec::new(), Exit::Fine);
    let input = input.as_ref().map_err(|_| ()).expect("requests come from an input");
    for (at, request) in requests.into_iter().enumerate() {
        if at > 0 && !json {
            output.print("\n");
        }
        let model = request.model().clone();
        let (exit, report) = match answer(job, input, request, output) {
            Ok(done) => done,
            Err(errors) => (Exit::Unusable, Some(unusable(&model.name, errors))),
        };
        worst = worst.and(exit);
        reports.extend(report);
    }
    match &reports[..] {
        _ if !json => {}
        [report] if !several => print_json(report, output),
        [] if !several => {}
        _ => print_json(&SeveralReports::new(version, &file, reports, Vec::new()), output),
    }
    worst
}

/// Runs a request. Returns the answer for programs, if one is wanted; another one is printed.
fn answer(
    job: &Job,
    input: &Input,
    request: PreparedRepair<'_>,
    output: &mut Output,
) -> Result<(Exit, Option<InferReport>), Vec<InputError>> {
    let what = format!("{}  {}", input.source.name(), shown(request.model()));
    let doing = format!("inferring fences for {what}");
    let Ok(repaired) = guarded_while(doing.clone(), || request.run()) else {
        return Ok((Exit::Internal, None));
    };
    let mut beside = Beside {
        version: env!("CARGO_PKG_VERSION").into(),
        seconds: repaired.seconds(),
        diff: repaired.diff().into(),
        ..Beside::default()
    };
    if let Some(dir) = &job.trace_dir {
        beside.trace_files = store_traces(dir, input, &repaired, output)?;
    }
    beside.written = write(job, input, &repaired, output)?;
    let exit = match repaired.inference() {
        Inference::Repaired(_) if repaired.is_accepted(job.accept_bounded) => Exit::Fine,
        Inference::Repaired(_) | Inference::GaveUp(_) => Exit::Inconclusive,
        Inference::Unrepairable(_) => Exit::Violated,
    };
    let report = match job.format {
        Format::Json => Some(repaired.report(&beside)),
        Format::Text => {
            show::show(job, &repaired, &beside, output);
            None
        }
    };
    Ok((exit, report))
}

/// Stores the run that each fence prevents, or the one that nothing does. The stored source is the one the run is
/// of. Returns where each is.
fn store_traces(
    dir: &Path,
    input: &Input,
    repaired: &Repaired<'_>,
    output: &Output,
) -> Result<Vec<Option<String>>, Vec<InputError>> {
    let mut names = TraceNames::default();
    let mut stored = Vec::new();
    for run in repaired.prevented_runs() {
        let Some(run) = run else {
            stored.push(None);
            continue;
        };
        let path = names.name(dir, input.source.name(), &run.client, &run.model.name);
        let name = input::shown(&path);
        let written = std::fs::create_dir_all(dir)
            .and_then(|()| replace(&path, run.file.to_text().as_bytes()));
        if let Err(error) = written {
            let message = format!("cannot write the trace {name}: {error}");
            return Err(vec![complaint(&name, message, output)]);
        }
        stored.push(Some(name));
    }
    Ok(stored)
}

/// Writes the new text, if it is wanted and is a repair. Returns where to.
fn write(
    job: &Job,
    input: &Input,
    repaired: &Repaired<'_>,
    output: &Output,
) -> Result<Option<String>, Vec<InputError>> {
    let own = input.path.as_ref().filter(|_| job.write);
    let Some(path) = job.output.as_ref().or(own) else { return Ok(None) };
    let Some(text) = repaired.text().filter(|_| repaired.is_accepted(job.accept_bounded)) else {
        return Ok(None);
    };
    if job.write && text == input.source.text() {
        return Ok(None);
    }
    let name = input::shown(path);
    replace(path, text.as_bytes())
        .map_err(|error| vec![complaint(&name, format!("cannot write {name}: {error}"), output)])?;
    Ok(Some(name))
}

fn print_json(report: &impl Serialize, output: &mut Output) {
    let text = serde_json::to_string_pretty(report).expect("plain data becomes JSON");
    output.print(&format!("{text}\n"));
}

/// A complaint that is not about a place in the source.
fn complaint(file: &str, message: String, output: &Output) -> InputError {
    output.error(&message);
    let (severity, code, line, column) = ("error", None, None, None);
    InputError { file: printable(file), severity, code, line, column, message }
}
