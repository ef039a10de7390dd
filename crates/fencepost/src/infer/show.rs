//! Prints the answer of an inference: verdict, diff, fences, traces.

use super::Job;
use crate::output::Output;
use fencepost::{EngineChoice, Repaired};
use fencepost_infer::repair::{GaveUp, Inference, Repair, Sufficiency, Unrepairable};
use fencepost_ir::Problem;
use fencepost_models::ModelSpec;
use fencepost_report::diff;
use fencepost_report::explanation;
use fencepost_report::out_of_reach::out_of_reach;
use fencepost_report::paint::{counted, printable};
use fencepost_report::repair::{self, Subject};
use fencepost_report::repair_json::ReportExtras;

/// Prints the answer as text. `is_unwritable` states that the repaired program could not be written.
pub(super) fn show(
    job: &Job,
    repaired: &Repaired<'_>,
    extras: &ReportExtras,
    is_unwritable: bool,
    output: &mut Output,
) {
    let paint = output.paint;
    let (quiet, explain) = (job.quiet, job.explain && !job.quiet);
    let fixed = job.search.buffer.is_some();
    let (subject, inference) = (&repaired.subject(), repaired.inference());
    let mut text = repair::headline(subject, inference, paint);
    if !quiet {
        text.push_str(&notes(job, repaired, output));
    }
    match inference {
        Inference::Repaired(repair) => {
            show_repair(job, repaired, repair, extras, output, &mut text);
            text.push_str(&written(job, repaired, extras, is_unwritable));
            if explain {
                text.push_str(&explain_repair(subject, repair, output));
            }
        }
        Inference::Unrepairable(why) if !quiet => {
            let sc = ModelSpec::SC;
            let unprevented = subject.unrepairable_run(why, &sc);
            if let (Unrepairable::NotPreventable { .. }, Some(shown)) = (why, &unprevented) {
                text.push_str(&out_of_reach(subject, &repaired.fences_anywhere(shown)));
            }
            if let Some(shown) = unprevented {
                text.push_str(&format!("\n{}", shown.picture(subject.file, paint)));
            }
            if let Some(Some(path)) = extras.trace_files.first() {
                text.push_str(&format!("  replay: fencepost replay {path}\n"));
            }
        }
        Inference::Unrepairable(_) => {}
        Inference::GaveUp(gave_up) => {
            text.push_str(&repair::gave_up(subject, gave_up));
            if !quiet {
                text.push_str(&repair::advice(&gave_up.undecided, fixed));
            }
            if explain {
                text.push_str(&explain_failure(subject, gave_up, output));
            }
        }
    }
    output.print(&text);
}

/// Returns the notes below the headline.
fn notes(job: &Job, repaired: &Repaired<'_>, output: &Output) -> String {
    let mut text = String::new();
    let mut note = |what: &str| {
        text.push_str(&output.paint.faint(&format!("  note: {what}")));
        text.push('\n');
    };
    if matches!(job.repair.verifier, EngineChoice::Robust { .. }) {
        return text;
    }
    if let Some(condition) = repaired.condition() {
        note(&format!("the condition is read as: {condition}"));
    }
    if repaired.problems().iter().any(|p| !p.sometimes.is_empty()) {
        note("fences only remove runs: `final exists` is checked at the end");
    }
    if repaired.problems().iter().all(|p| p.properties.is_empty()) {
        note("the file states no property of all runs; only faults are checked");
    }
    let has_orders = |p: &Problem| p.program.places.iter().any(|place| place.order.is_some());
    if job.repair.strengthen.is_some() && !repaired.problems().iter().any(has_orders) {
        note("no access has a memory order that can be changed: only fences are considered");
    }
    text
}

fn show_repair(
    job: &Job,
    repaired: &Repaired<'_>,
    repair: &Repair,
    extras: &ReportExtras,
    output: &Output,
    text: &mut String,
) {
    let paint = output.paint;
    let subject = &repaired.subject();
    if let Sufficiency::Bounded(open) = &repair.sufficiency {
        text.push_str(&repair::undecided(subject, open));
        if job.accept_bounded && !job.quiet {
            text.push_str("  accepted: counts as success because of --accept-bounded\n");
        } else if !job.quiet {
            text.push_str(&repair::advice(open, job.search.buffer.is_some()));
        }
    }
    if !extras.diff.is_empty() {
        text.push_str(&format!("\n{}", diff::painted(&extras.diff, paint)));
        text.push_str(&files_note(subject.file, extras));
    }
    let placement = &repair.placements[0];
    if !job.quiet {
        if !placement.atoms.is_empty() {
            text.push_str(&format!("\n{}", repair::fences(subject, repair, paint)));
        }
        if let Some(constraints) = &repair.constraints {
            text.push_str(&format!("\n{}", repair::orderings(subject, constraints)));
        }
        if job.repair.all {
            text.push_str(&format!("\n{}", repair::alternatives(subject, repair)));
        }
        if job.repair.from_scratch {
            let redundant = repair::redundant(subject, placement);
            let head = "existing fences:";
            match redundant.as_str() {
                "" => text.push_str("\nevery existing fence is needed, unchanged\n"),
                lines => text.push_str(&format!("\n{head}\n{lines}")),
            }
        }
        text.push_str(&repair::traces(subject, repair, paint));
        for (at, path) in extras.trace_files.iter().enumerate() {
            if let Some(path) = path {
                let number = at + 1;
                text.push_str(&format!("  replay {number}: fencepost replay {path}\n"));
            }
        }
    }
}

/// Returns the line that names the files that were written.
pub(super) fn written_line(files: &[String]) -> String {
    format!("\nwritten to {}\n", files.join(", "))
}

/// Returns a note on the files that a diff changes and on the folder in which it applies, unless
/// it changes only the named file, in the current folder.
pub(super) fn files_note(named: &str, extras: &ReportExtras) -> String {
    let mut text = String::new();
    let files: Vec<String> = extras.changed_files.iter().map(|file| printable(file)).collect();
    if files.iter().any(|file| file != named) {
        let count = counted(files.len() as u64, "file");
        text.push_str(&format!("\nthe change concerns {count}: {}\n", files.join(", ")));
    }
    if let Some(folder) = &extras.diff_folder {
        text.push_str(&format!("\nthe names in the diff are relative to {folder}\n"));
    }
    text
}

/// Returns what was written, or why nothing was.
fn written(
    job: &Job,
    repaired: &Repaired<'_>,
    extras: &ReportExtras,
    is_unwritable: bool,
) -> String {
    let writes = job.write || job.output.is_some();
    let mut text = match &extras.written_files[..] {
        [] if is_unwritable => "\nnothing written: the file cannot be written\n".into(),
        files @ [_, ..] => written_line(files),
        [] if writes && !repaired.is_accepted(job.accept_bounded) => {
            let hint = "--accept-bounded accepts fences that are verified only up to a bound";
            format!("\nnothing written: {hint}\n")
        }
        [] if writes => "\nnothing written: the program is unchanged\n".into(),
        [] => String::new(),
    };
    if let Some(path) = &extras.certificate {
        text.push_str(&format!("\ncertificate: {path}\n"));
    }
    text
}

/// Returns the `--explain` section of a repair.
fn explain_repair(subject: &Subject<'_>, repair: &Repair, output: &Output) -> String {
    match (&repair.rounds[..], &repair.constraints) {
        ([], Some(formula)) if !repair.placements[0].atoms.is_empty() => {
            let states = counted(formula.states, "state");
            let method = "the method `fixpoint` tries no fences one after the other";
            format!(
                "\n{method}: it computed the orderings above from {states}, and the cheapest fences \
                 that enforce them\n"
            )
        }
        ([], _) => match &repair.sufficiency {
            Sufficiency::Verified => "\nno fences were tried: there is no violation\n".into(),
            Sufficiency::Bounded(_) => {
                "\nno fences were tried: no violation was found within the bound\n".into()
            }
        },
        (rounds, _) => format!("\n{}", explanation::explanation(subject, rounds, output.paint)),
    }
}

/// Returns the `--explain` section of an inference that stopped without an answer.
fn explain_failure(subject: &Subject<'_>, gave_up: &GaveUp, output: &Output) -> String {
    match &gave_up.rounds[..] {
        [] if gave_up.placement.atoms.is_empty() => {
            "\nthe inference stopped before it found fences\n".into()
        }
        [] => {
            let fences = subject.placement_text(&gave_up.placement);
            format!("\none placement was tried, which is not proved to be sufficient: {fences}\n")
        }
        rounds => format!("\n{}", explanation::explanation(subject, rounds, output.paint)),
    }
}
