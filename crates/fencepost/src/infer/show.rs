//! The answer of inference for a reader: verdict, change, fences, runs.

use super::Job;
use crate::output::Output;
use fencepost::{EngineChoice, Repaired};
use fencepost_infer::repair::{Inference, Repair, Round, Sufficiency, Unrepairable};
use fencepost_models::ModelSpec;
use fencepost_report::diff;
use fencepost_report::repair::{self, Subject};
use fencepost_report::repair_json::Beside;

/// Prints the answer.
pub(super) fn show(job: &Job, repaired: &Repaired<'_>, beside: &Beside, output: &mut Output) {
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
            show_repair(job, repaired, repair, beside, output, &mut text);
            if explain {
                text.push_str(&explained(subject, &repair.rounds, output));
            }
        }
        Inference::Unrepairable(why) if !quiet => {
            let sc = ModelSpec::SC;
            let hopeless = subject.hopeless(why, &sc);
            if let (Unrepairable::OutOfReach { .. }, Some(shown)) = (why, &hopeless) {
                text.push_str(&repair::out_of_reach(subject, &repaired.fences_anywhere(shown)));
            }
            if let Some(shown) = hopeless {
                text.push_str(&format!("\n{}", shown.picture(subject.file, paint)));
            }
            if let Some(Some(path)) = beside.trace_files.first() {
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
                text.push_str(&explained(subject, &gave_up.rounds, output));
            }
        }
    }
    output.print(&text);
}

/// What the reader should know before the rest.
fn notes(job: &Job, repaired: &Repaired<'_>, output: &Output) -> String {
    let mut text = String::new();
    let mut note = |what: &str| {
        text.push_str(&output.paint.faint(&format!("  note: {what}")));
        text.push('\n');
    };
    if job.repair.verifier == EngineChoice::ROBUST {
        return text;
    }
    if let Some(taken) = repaired.condition() {
        note(&format!("the condition is taken as: {taken}"));
    }
    if repaired.problems().iter().any(|p| !p.sometimes.is_empty()) {
        note("no fence makes more runs possible: a `final exists` is looked at in the end");
    }
    if repaired.problems().iter().all(|p| p.properties.is_empty()) {
        note("the file states nothing else that must hold; only faults are looked for");
    }
    text
}

fn show_repair(
    job: &Job,
    repaired: &Repaired<'_>,
    repair: &Repair,
    beside: &Beside,
    output: &Output,
    text: &mut String,
) {
    let paint = output.paint;
    let subject = &repaired.subject();
    if let Sufficiency::Bounded(open) = &repair.sufficiency {
        text.push_str(&repair::undecided(subject, open));
        if job.accept_bounded && !job.quiet {
            text.push_str("  accepted: this counts as success (--accept-bounded)\n");
        } else if !job.quiet {
            text.push_str(&repair::advice(open, job.search.buffer.is_some()));
        }
    }
    if !beside.diff.is_empty() {
        text.push_str(&format!("\n{}", diff::painted(&beside.diff, paint)));
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
            let head = "of the fences that were there:";
            match redundant.as_str() {
                "" => text.push_str("\nevery fence that was there is needed as it is\n"),
                lines => text.push_str(&format!("\n{head}\n{lines}")),
            }
        }
        text.push_str(&repair::traces(subject, repair, paint));
        for (at, path) in beside.trace_files.iter().enumerate() {
            if let Some(path) = path {
                let number = at + 1;
                text.push_str(&format!("  replay {number}: fencepost replay {path}\n"));
            }
        }
    }
    let wants = job.write || job.output.is_some();
    match &beside.written {
        Some(path) => text.push_str(&format!("\nwritten to {path}\n")),
        None if wants && !repaired.is_accepted(job.accept_bounded) => {
            text.push_str("\nnothing written: --accept-bounded settles for this\n");
        }
        None if wants => text.push_str("\nnothing to write\n"),
        None => {}
    }
}

/// How an answer was found.
fn explained(subject: &Subject<'_>, rounds: &[Round], output: &Output) -> String {
    match rounds {
        [] => "\nnothing had to be tried: there is no violation\n".into(),
        rounds => format!("\n{}", repair::explanation(subject, rounds, output.paint)),
    }
}
