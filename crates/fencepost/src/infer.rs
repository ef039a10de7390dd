//! `fencepost infer`: finds the cheapest fences that make a program correct, and writes them into
//! its source.
//!
//! - [`prepare`]: turns options into requests; [`show`]: prints the answer.
//! - [`weaken`]: finds orders and fences that can be weaker.
//! - [`write`](mod@write): writes the changed files.
//! - [`draw`]: writes transition systems with their avoid formulas for Graphviz.

mod draw;
mod prepare;
mod show;
mod weaken;
mod write;

use crate::args::{Format, Infer};
use crate::exit::Exit;
use crate::guard::catch_panic_while;
use crate::input;
use crate::output::Output;
use crate::session::Session;
use crate::store::{TraceNames, replace, replace_with};
use fencepost::{PreparedRepair, Repaired};
use fencepost_frontends::repair::Changes;
use fencepost_infer::repair::{Inference, Sufficiency};
use fencepost_report::json::InputError;
use fencepost_report::models::coverage_note;
use fencepost_report::paint::printable;
use fencepost_report::repair_json::{InferReport, MultiModelReport, ReportExtras};
use fencepost_report::verdict_line::shown;
use fencepost_report::weakening_json::WeakenReport;
use prepare::Input;
pub(crate) use prepare::{Job, definition};
use serde::Serialize;
use std::path::Path;
use write::write;

/// Infers fences for each model.
pub(crate) fn run(options: &Infer, output: &mut Output) -> Exit {
    run_job(&Job::from(options), output)
}

/// Infers fences for each model of a job.
pub(crate) fn run_job(job: &Job, output: &mut Output) -> Exit {
    let version = env!("CARGO_PKG_VERSION");
    let file = input::display_path(&job.file);
    let json = job.format == Format::Json;
    let several = job.models.len() > 1;
    let error_report = |model: &str, errors: Vec<InputError>| {
        let mut report = InferReport::unusable(version, &file, model, errors);
        report.method = job.repair.method.name().into();
        report.engine = job.repair.verifier.engine().name().into();
        report
    };
    let session = Session::new(&job.search.limits, job.quiet);
    let input = prepare::read(job, output);
    let observer = session.observer(&file);
    if job.weaken {
        return match &input {
            Ok(input) => weaken::run(job, input, &session, &observer, output),
            Err(errors) => {
                if json {
                    let (models, errors) = (job.models.clone(), errors.clone());
                    output.json(&WeakenReport::unusable(version, &file, models, errors));
                }
                Exit::Unusable
            }
        };
    }
    let requests = input
        .as_ref()
        .map_err(Vec::clone)
        .and_then(|input| input.requests(job, &session, &observer, output));
    let requests = match requests {
        Ok(requests) => requests,
        Err(errors) if json && several => {
            print_json(&MultiModelReport::new(version, &file, Vec::new(), errors), output);
            return Exit::Unusable;
        }
        Err(errors) => {
            if json {
                print_json(&error_report(&job.models.join(","), errors), output);
            }
            return Exit::Unusable;
        }
    };
    let (mut reports, mut worst) = (Vec::new(), Exit::Success);
    let input = input.as_ref().map_err(|_| ()).expect("requests exist only for a valid input");
    let models: Vec<_> = requests.iter().map(|request| request.model().clone()).collect();
    for (at, request) in requests.into_iter().enumerate() {
        if at > 0 && !json {
            output.print("\n");
        }
        let (exit, report) = answer(job, input, request, output);
        worst = worst.combine(exit);
        reports.extend(report);
    }
    if !json {
        let note = models.iter().find_map(coverage_note);
        note.into_iter().for_each(|note| output.print(&note));
    }
    match &reports[..] {
        _ if !json => {}
        [report] if !several => print_json(report, output),
        [] if !several => {}
        _ => print_json(&MultiModelReport::new(version, &file, reports, Vec::new()), output),
    }
    worst
}

/// Runs a request. Returns the JSON report for `--format json`; otherwise prints the answer. A file
/// that cannot be written is an error of the report. The answer is not lost.
fn answer(
    job: &Job,
    input: &Input,
    request: PreparedRepair<'_>,
    output: &mut Output,
) -> (Exit, Option<InferReport>) {
    let what = format!("{}  {}", input.source.name(), shown(request.model()));
    let task = format!("inferring fences for {what}");
    let Ok(repaired) = catch_panic_while(task.clone(), || request.run()) else {
        return (Exit::Internal, None);
    };
    let mut extras = ReportExtras {
        version: env!("CARGO_PKG_VERSION").into(),
        seconds: repaired.seconds(),
        cpu_seconds: repaired.cpu_seconds(),
        diff: repaired.diff().into(),
        diff_folder: repaired.diff_folder().map(String::from),
        changed_files: repaired.changes().map(file_names).unwrap_or_default(),
        ..ReportExtras::default()
    };
    let mut errors = Vec::new();
    if let Some(dir) = &job.trace_dir {
        extras.trace_files = store_traces(dir, input, &repaired, output, &mut errors);
    }
    let accepted = repaired.changes().filter(|_| repaired.is_accepted(job.accept_bounded));
    let written = accepted.map(|changes| write(job, input, changes, output)).unwrap_or_default();
    let is_unwritable = written.error.is_some();
    extras.written_files = written.files;
    errors.extend(written.error);
    let certificate = write_certificate(job, &repaired);
    extras.certificate = certificate.path;
    let mut exit = match repaired.inference() {
        Inference::Repaired(_) if repaired.is_accepted(job.accept_bounded) => Exit::Success,
        Inference::Repaired(_) | Inference::GaveUp(_) => Exit::Inconclusive,
        Inference::Unrepairable(_) => Exit::Violated,
    };
    let mut report = match job.format {
        Format::Json => Some(repaired.report(&extras)),
        Format::Text => {
            show::show(job, &repaired, &extras, is_unwritable, output);
            None
        }
    };
    if let Some(message) = certificate.error {
        errors.push(report_error("--certificate", message, output));
    }
    if let Some(note) = certificate.note {
        output.message(&format!("no certificate written: {note}\n"));
    }
    if let Some(dir) = &job.dot {
        errors.extend(draw::draw(dir, job, &repaired, output).err());
    }
    if !errors.is_empty() {
        exit = exit.combine(Exit::Unusable);
    }
    report.iter_mut().for_each(|report| report.errors.append(&mut errors));
    (exit, report)
}

/// Stores the run that each fence prevents, or the run that no fence prevents. Each trace file
/// contains the source that its run belongs to. Returns the paths. Stops after the first error.
fn store_traces(
    dir: &Path,
    input: &Input,
    repaired: &Repaired<'_>,
    output: &Output,
    errors: &mut Vec<InputError>,
) -> Vec<Option<String>> {
    let mut names = TraceNames::default();
    let mut stored = Vec::new();
    for run in repaired.prevented_runs() {
        let Some(run) = run else {
            stored.push(None);
            continue;
        };
        let path = names.name(dir, input.source.name(), &run.client, &run.model.name);
        let name = input::display_path(&path);
        let written = std::fs::create_dir_all(dir)
            .and_then(|()| replace(&path, run.file.to_text().as_bytes()));
        if let Err(error) = written {
            let message = format!("cannot write the trace {name}: {error}");
            errors.push(report_error(&name, message, output));
            break;
        }
        stored.push(Some(name));
    }
    stored
}

/// Returns the names of changed files.
fn file_names(changes: &Changes) -> Vec<String> {
    changes.files.iter().map(|file| file.name.clone()).collect()
}

/// The result of writing a certificate.
#[derive(Default)]
struct CertificateResult {
    /// The path, if the certificate was written.
    path: Option<String>,
    /// Why an answer that is proved has no certificate.
    error: Option<String>,
    /// Why there is nothing to certify.
    note: Option<&'static str>,
}

/// Writes the certificate of optimality if `--certificate` is given and the repair is verified.
fn write_certificate(job: &Job, repaired: &Repaired<'_>) -> CertificateResult {
    let mut result = CertificateResult::default();
    let Some(path) = &job.certificate else { return result };
    let sufficiency = match repaired.inference() {
        Inference::Repaired(repair) => &repair.sufficiency,
        Inference::Unrepairable(_) => {
            result.note = Some("no fences repair the program");
            return result;
        }
        Inference::GaveUp(_) => {
            result.note = Some("inference ended without an answer; raise the limits");
            return result;
        }
    };
    if let Sufficiency::Bounded(_) = sufficiency {
        result.note = Some("the fences are verified only up to a bound; raise --max-buffer");
        return result;
    }
    let name = input::display_path(path);
    match replace_with(path, |file| repaired.write_certificate(file)) {
        Ok(()) => result.path = Some(name),
        Err(why) => result.error = Some(format!("cannot write the certificate {name}: {why}")),
    }
    result
}

fn print_json(report: &impl Serialize, output: &mut Output) {
    output.json(report);
}

/// Prints an error that has no position in the source, and returns it for the report.
fn report_error(file: &str, message: String, output: &Output) -> InputError {
    output.error(&message);
    let (severity, code, line, column) = ("error", None, None, None);
    InputError { file: printable(file), severity, code, line, column, message }
}
