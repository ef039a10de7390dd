//! The answer of `infer --weaken` as JSON. `$defs/weaken` in `infer.schema.json` in the book describes
//! the format. Within one major version, keys are added but never renamed or removed.

use crate::json::{InputError, rounded};
use crate::repair_json::{ReportExtras, ViolationRecord};
use crate::verdict_line::{explain, limit_text, reason_word};
use crate::weakening::{WeakenSubject, WeakenedPart};
use fencepost_engines::InconclusiveReason;
use fencepost_infer::weaken::{WeakenAnswer, Weakenings};
use serde::Serialize;

/// The output of `fencepost infer --weaken --format json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WeakenReport {
    /// The version of Fencepost.
    pub fencepost: String,
    /// Always `infer --weaken`.
    pub command: &'static str,
    /// The file name, as given by the user.
    pub file: String,
    /// The names of the models. The answer holds under all of them.
    pub models: Vec<String>,
    /// Similar models that the result does not cover.
    pub not_covered: Vec<&'static str>,
    /// `weaker`, `minimal`, `nothing_to_weaken`, `violated` or `gave_up`; none when the input has
    /// errors.
    pub result: Option<&'static str>,
    /// A stable word for the reason why there is no answer.
    pub reason: Option<&'static str>,
    /// The reason why there is no answer, in a sentence.
    pub message: Option<String>,
    /// The maximal weakenings. The diff is that of the first one.
    pub weakenings: Vec<WeakeningRecord>,
    /// Whether `weakenings` has all maximal weakenings.
    pub complete: bool,
    /// The number of weaker programs that could not be decided. They count as not correct.
    pub undecided: usize,
    /// The number of programs that were checked.
    pub checks: usize,
    /// For each part that the first weakening keeps: what happens if the part is weaker.
    pub needs: Vec<NeedRecord>,
    /// The first weakening, as a unified diff.
    pub diff: String,
    /// The folder in which `patch -p1` applies the diff, if it is not the current one.
    pub diff_folder: Option<String>,
    /// The names of the files that the diff changes.
    pub changed_files: Vec<String>,
    /// The wall-clock time in seconds.
    pub seconds: f64,
    /// The CPU time of all threads in seconds. None if it is unknown.
    pub cpu_seconds: Option<f64>,
    /// The paths of the files that were written.
    pub written_files: Vec<String>,
    /// The violation of the original program.
    pub violation: Option<ViolationRecord>,
    /// Errors in the input.
    pub errors: Vec<InputError>,
}

/// A maximal weakening.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct WeakeningRecord {
    /// The orders and fences of the program, with what is left of each.
    pub parts: Vec<PartRecord>,
}

/// An order or a fence of the original, and what a weakening leaves of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PartRecord {
    /// The file name, as given by the user, or the name of an included file.
    pub file: String,
    /// The line in the original source, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// `load`, `store`, `update` or `fence`.
    pub access: &'static str,
    /// The order or the fence in the original source.
    pub from: String,
    /// What is left of it; none for a fence that is removed.
    pub to: Option<String>,
    /// Whether `to` is weaker than `from`.
    pub weaker: bool,
    /// The access or the fence, as the source writes it.
    pub text: String,
    /// The function or thread template.
    pub function: String,
}

/// A part that a weakening keeps, and why.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NeedRecord {
    /// The file name, as given by the user, or the name of an included file.
    pub file: String,
    /// The line in the original source, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The violation that occurs if the part is weaker; none if a limit was reached.
    pub violation: Option<ViolationRecord>,
}

impl WeakenReport {
    /// Creates a report for an input with errors.
    pub fn unusable(
        version: &str,
        file: &str,
        models: Vec<String>,
        errors: Vec<InputError>,
    ) -> Self {
        WeakenReport {
            fencepost: version.into(),
            command: "infer --weaken",
            file: file.into(),
            models,
            not_covered: Vec::new(),
            result: None,
            reason: None,
            message: None,
            weakenings: Vec::new(),
            complete: false,
            undecided: 0,
            checks: 0,
            needs: Vec::new(),
            diff: String::new(),
            diff_folder: None,
            changed_files: Vec::new(),
            seconds: 0.0,
            cpu_seconds: None,
            written_files: Vec::new(),
            violation: None,
            errors,
        }
    }

    /// Creates the report of an answer.
    pub fn new(subject: &WeakenSubject<'_>, answer: &WeakenAnswer, extras: &ReportExtras) -> Self {
        let models = subject.models.iter().map(|model| model.name.to_string()).collect();
        let mut report = Self::unusable(&extras.version, subject.file, models, Vec::new());
        for other in subject.models.iter().flat_map(|model| model.not_covered()) {
            if !report.not_covered.contains(other) {
                report.not_covered.push(other);
            }
        }
        report.diff.clone_from(&extras.diff);
        report.diff_folder.clone_from(&extras.diff_folder);
        report.changed_files.clone_from(&extras.changed_files);
        report.written_files.clone_from(&extras.written_files);
        report.seconds = rounded(extras.seconds);
        report.cpu_seconds = extras.cpu_seconds.map(rounded);
        match answer {
            WeakenAnswer::Found(found) => report.add_weakenings(subject, found),
            WeakenAnswer::Violated(violation) => {
                report.result = Some("violated");
                let run = subject.original_run(violation);
                report.message = Some(run.message());
                report.violation = Some(ViolationRecord::new(&run, None));
            }
            WeakenAnswer::Undecided { reason, .. } => {
                report.result = Some("gave_up");
                report.reason = Some(reason_word(reason.reason()));
                report.message = Some(explain(reason));
            }
            WeakenAnswer::Stopped(stop) => {
                report.result = Some("gave_up");
                report.reason = Some(reason_word(&InconclusiveReason::Limit(*stop)));
                report.message = Some(limit_text(*stop).into());
            }
        }
        report
    }

    fn add_weakenings(&mut self, subject: &WeakenSubject<'_>, found: &Weakenings) {
        let parts = |left| subject.parts(left).into_iter().map(PartRecord::from).collect();
        self.weakenings =
            found.left.iter().map(|left| WeakeningRecord { parts: parts(left) }).collect();
        let first = self.weakenings.first().map(|first| &first.parts[..]).unwrap_or_default();
        self.result = Some(match first {
            [] => "nothing_to_weaken",
            parts if parts.iter().any(|part| part.weaker) => "weaker",
            _ => "minimal",
        });
        self.complete = found.complete;
        self.undecided = found.undecided;
        self.checks = found.checks;
        let program = &subject.problems[0].program;
        for (atom, violation) in &found.needs {
            let label = program.place(atom.place).label;
            let (span, included) = (program.label(label).span, program.included.get(&label));
            let file = included.map_or(subject.file, String::as_str).into();
            let runs = violation.as_ref().map(|violation| subject.run(violation));
            let violation = runs.map(|run| ViolationRecord::new(&run, None));
            let (line, column) = (span.line, span.column);
            self.needs.push(NeedRecord { file, line, column, violation });
        }
    }
}

impl From<WeakenedPart> for PartRecord {
    fn from(part: WeakenedPart) -> Self {
        let weaker = part.is_weaker();
        let WeakenedPart { file, line, column, what, from, to, text, function, .. } = part;
        PartRecord { file, line, column, access: what, from, to, weaker, text, function }
    }
}
