//! `fencepost infer --weaken`: which orders and fences are stronger than the models need.

use super::prepare::{Input, option_error};
use super::show::{files_note, written_line};
use super::write::{Written, write};
use super::{Job, file_names, report_error};
use crate::args::Format;
use crate::exit::Exit;
use crate::guard::catch_panic_while;
use crate::output::Output;
use crate::session::{ProgressObserver, Session};
use fencepost::Weakened;
use fencepost_infer::weaken::WeakenAnswer;
use fencepost_report::models::coverage_note;
use fencepost_report::repair_json::ReportExtras;
use fencepost_report::weakening_json::WeakenReport;
use fencepost_report::{diff, weakening};

/// Finds the maximal weakenings under all models of a job.
pub(super) fn run(
    job: &Job,
    input: &Input,
    session: &Session,
    observer: &ProgressObserver,
    output: &mut Output,
) -> Exit {
    let request = (input.source.weaken(&input.models))
        .verifier(job.repair.verifier)
        .options(session.options(&job.search))
        .cancel(session.cancel())
        .observer(observer);
    let task = format!("weakening the orders and fences of {}", input.source.name());
    let weakened = match catch_panic_while(task, || request.run()) {
        Ok(Ok(weakened)) => weakened,
        Ok(Err(error)) => {
            let (option, message) = option_error(&error);
            let error = report_error(option, message, output);
            if job.format == Format::Json {
                let (name, models) = (input.source.name(), job.models.clone());
                let version = env!("CARGO_PKG_VERSION");
                output.json(&WeakenReport::unusable(version, name, models, vec![error]));
            }
            return Exit::Unusable;
        }
        Err(_) => return Exit::Internal,
    };
    let changes = weakened.changes();
    let Written { files, error } =
        changes.map(|changes| write(job, input, changes, output)).unwrap_or_default();
    let extras = ReportExtras {
        version: env!("CARGO_PKG_VERSION").into(),
        seconds: weakened.seconds(),
        cpu_seconds: weakened.cpu_seconds(),
        diff: weakened.diff().into(),
        diff_folder: weakened.diff_folder().map(String::from),
        changed_files: changes.map(file_names).unwrap_or_default(),
        written_files: files,
        ..ReportExtras::default()
    };
    let mut exit = match weakened.answer() {
        WeakenAnswer::Found(_) => Exit::Success,
        WeakenAnswer::Violated(_) => Exit::Violated,
        WeakenAnswer::Undecided { .. } | WeakenAnswer::Stopped(_) => Exit::Inconclusive,
    };
    if error.is_some() {
        exit = exit.combine(Exit::Unusable);
    }
    match job.format {
        Format::Json => {
            let mut report = weakened.report(&extras);
            report.errors.extend(error);
            output.json(&report);
        }
        Format::Text => {
            show(job, &weakened, &extras, output);
            let writes = job.write || job.output.is_some();
            match &extras.written_files[..] {
                [] if writes && error.is_none() => {
                    output.print("\nnothing written: the program is unchanged\n");
                }
                [] => {}
                files => output.print(&written_line(files)),
            }
        }
    }
    exit
}

fn show(job: &Job, weakened: &Weakened, extras: &ReportExtras, output: &mut Output) {
    let (subject, paint) = (&weakened.subject(), output.paint);
    let mut text = weakening::headline(subject, weakened.answer(), paint);
    match weakened.answer() {
        WeakenAnswer::Found(found) => {
            if !weakened.diff().is_empty() {
                text.push_str(&format!("\n{}", diff::painted(weakened.diff(), paint)));
                text.push_str(&files_note(subject.file, extras));
            }
            let parts = weakening::parts(subject, found);
            if !job.quiet && !parts.is_empty() {
                text.push_str(&format!("\n{parts}"));
                text.push_str(&weakening::others(subject, found));
            }
            if job.explain && !job.quiet {
                text.push_str(&weakening::traces(subject, found, paint));
            }
            if !parts.is_empty() {
                text.push_str(&format!("\n{}", weakening::coverage(subject, found)));
            }
        }
        WeakenAnswer::Violated(violation) => {
            if !job.quiet {
                let picture = subject.original_run(violation).picture(subject.file, paint);
                text.push_str(&format!("\n{picture}"));
                text.push_str("  try: repair the program first (infer without --weaken)\n");
            }
        }
        WeakenAnswer::Undecided { .. } | WeakenAnswer::Stopped(_) => {}
    }
    text.extend(subject.models.iter().find_map(coverage_note));
    output.print(&text);
}
