//! The answer of inference for a reader: verdict, change, fences, runs.

use super::Inferring;
use crate::args::Verifier;
use crate::output::Output;
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::clause;
use fencepost_infer::menu::Menu;
use fencepost_infer::repair::{Inference, Repair, Round, Sufficiency, Unrepairable};
use fencepost_ir::Atom;
use fencepost_models::ModelSpec;
use fencepost_report::diff;
use fencepost_report::repair::{self, Shown, Subject};
use fencepost_report::repair_json::Beside;

impl Inferring<'_> {
    /// Prints the answer.
    pub(super) fn show(
        &self,
        subject: &Subject<'_>,
        inference: &Inference,
        sc: &ModelSpec,
        beside: &Beside,
        output: &mut Output,
    ) {
        let paint = output.paint;
        let (quiet, explain) =
            (self.input.options.quiet, self.input.options.explain && !self.input.options.quiet);
        let fixed = self.input.options.search.buffer.is_some();
        let mut text = repair::headline(subject, inference, paint);
        if !quiet {
            text.push_str(&self.notes(output));
        }
        match inference {
            Inference::Repaired(repair) => {
                self.show_repair(subject, repair, beside, output, &mut text);
                if explain {
                    text.push_str(&explained(subject, &repair.rounds, output));
                }
            }
            Inference::Unrepairable(why) if !quiet => {
                let hopeless = subject.hopeless(why, sc);
                if let (Unrepairable::OutOfReach { .. }, Some(shown)) = (why, &hopeless) {
                    text.push_str(&repair::out_of_reach(subject, &self.elsewhere(shown)));
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
    fn notes(&self, output: &Output) -> String {
        let mut text = String::new();
        let mut note = |what: &str| {
            text.push_str(&output.paint.faint(&format!("  note: {what}")));
            text.push('\n');
        };
        if self.input.options.engine == Verifier::Robust {
            return text;
        }
        if let Some(taken) = &self.input.taken {
            note(&format!("the condition is taken as: {taken}"));
        }
        if self.input.asking {
            note("no fence makes more runs possible: a `final exists` is looked at in the end");
        }
        if self.input.problems.iter().all(|p| p.properties.is_empty()) {
            note("the file states nothing else that must hold; only faults are looked for");
        }
        text
    }

    fn show_repair(
        &self,
        subject: &Subject<'_>,
        repair: &Repair,
        beside: &Beside,
        output: &Output,
        text: &mut String,
    ) {
        let paint = output.paint;
        let options = self.input.options;
        if let Sufficiency::Bounded(open) = &repair.sufficiency {
            text.push_str(&repair::undecided(subject, open));
            if options.accept_bounded && !options.quiet {
                text.push_str("  accepted: this counts as success (--accept-bounded)\n");
            } else if !options.quiet {
                text.push_str(&repair::advice(open, options.search.buffer.is_some()));
            }
        }
        if !beside.diff.is_empty() {
            text.push_str(&format!("\n{}", diff::painted(&beside.diff, paint)));
        }
        let placement = &repair.placements[0];
        if !options.quiet {
            if !placement.atoms.is_empty() {
                text.push_str(&format!("\n{}", repair::fences(subject, repair, paint)));
            }
            if let Some(constraints) = &repair.constraints {
                text.push_str(&format!("\n{}", repair::orderings(subject, constraints)));
            }
            if options.all {
                text.push_str(&format!("\n{}", repair::alternatives(subject, repair)));
            }
            if options.from_scratch {
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
        let wants = options.write || options.output.is_some();
        match &beside.written {
            Some(path) => text.push_str(&format!("\nwritten to {path}\n")),
            None if wants && !self.is_accepted(repair) => {
                text.push_str("\nnothing written: --accept-bounded settles for this\n");
            }
            None if wants => text.push_str("\nnothing to write\n"),
            None => {}
        }
    }

    /// What would prevent a run if everything were allowed.
    fn elsewhere(&self, shown: &Shown<'_>) -> Vec<Atom> {
        let offered = self.input.fences.offered().map(|fence| (fence.kinds, fence.cost));
        let menu = Menu::useful(self.model, offered);
        let anywhere = Restrictions::default();
        let all = Candidates::new(&self.input.problems, &menu, &anywhere, self.candidates.written);
        let Some(story) = shown.story() else { return Vec::new() };
        let blocking = clause::clause(&shown.problem, &story.run, &all);
        clause::atoms(&blocking, &all).collect()
    }
}

/// How an answer was found.
fn explained(subject: &Subject<'_>, rounds: &[Round], output: &Output) -> String {
    match rounds {
        [] => "\nnothing had to be tried: there is no violation\n".into(),
        rounds => format!("\n{}", repair::explanation(subject, rounds, output.paint)),
    }
}
