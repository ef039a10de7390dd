//! `fencepost infer --weaken`: which orders and fences are stronger than the models need.

use super::prepare::{Input, option_error};
use super::{Job, report_error};
use crate::exit::Exit;
use crate::guard::catch_panic_while;
use crate::input;
use crate::output::Output;
use crate::session::{ProgressObserver, Session};
use crate::store::replace;
use fencepost::Weakened;
use fencepost_infer::weaken::WeakenAnswer;
use fencepost_report::models::coverage_note;
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
            report_error(option, message, output);
            return Exit::Unusable;
        }
        Err(_) => return Exit::Internal,
    };
    show(job, &weakened, output);
    let exit = match weakened.answer() {
        WeakenAnswer::Found(_) => Exit::Success,
        WeakenAnswer::Violated(_) => Exit::Violated,
        WeakenAnswer::Undecided { .. } | WeakenAnswer::Stopped(_) => Exit::Inconclusive,
    };
    exit.combine(write(job, input, &weakened, output))
}

fn show(job: &Job, weakened: &Weakened, output: &mut Output) {
    let (subject, paint) = (&weakened.subject(), output.paint);
    let mut text = weakening::headline(subject, weakened.answer(), paint);
    match weakened.answer() {
        WeakenAnswer::Found(found) => {
            if !weakened.diff().is_empty() {
                text.push_str(&format!("\n{}", diff::painted(weakened.diff(), paint)));
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

/// Writes the weaker text if an option requests it.
fn write(job: &Job, input: &Input, weakened: &Weakened, output: &mut Output) -> Exit {
    let in_place = input.path.as_ref().filter(|_| job.write);
    let Some(path) = job.output.as_ref().or(in_place) else { return Exit::Success };
    let changed = weakened.text().filter(|text| !job.write || *text != input.source.text());
    let Some(text) = changed else {
        output.print("\nnothing written: the program is unchanged\n");
        return Exit::Success;
    };
    let name = input::display_path(path);
    match replace(path, text.as_bytes()) {
        Ok(()) => {
            output.print(&format!("\nwritten to {name}\n"));
            Exit::Success
        }
        Err(error) => {
            report_error(&name, format!("cannot write {name}: {error}"), output);
            Exit::Unusable
        }
    }
}
