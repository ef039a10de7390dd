//! The result of one query: a program under a memory model.

use crate::json::CheckResult;
use crate::paint::Paint;
use crate::picture::run_text;
use crate::spurious::SpuriousTrace;
use crate::trace::TraceRows;
use crate::verdict_line::{definition_note, explain, growth_note, reason_word, row, value_note};
use crate::violation::describe_claim;
use fencepost_engines::{
    Answer, ClaimWithRun, Decider, InconclusiveReason, RobustDefinition, Verdict,
};
use fencepost_ir::{Problem, Violation};
use fencepost_models::{ModelSpec, Reductions};
use std::borrow::Cow;

/// A query (a program under a model) and its result.
#[derive(Clone, Debug)]
pub struct Finding<'a> {
    /// The name of the source file.
    pub file: &'a str,
    /// The program and its properties.
    pub problem: &'a Problem,
    /// The memory model.
    pub model: ModelSpec,
    /// The engine's name.
    pub engine: &'a str,
    /// The definition of robustness, if the engine decides robustness.
    pub definition: Option<RobustDefinition>,
    /// The reductions of the search.
    pub reductions: Reductions,
    /// The wall-clock time of the query in seconds.
    pub seconds: f64,
    /// The CPU time of the query in seconds. None if it is unknown.
    pub cpu_seconds: Option<f64>,
    /// The result of the query.
    pub result: QueryResult,
}

/// The result of a query.
#[derive(Clone, Debug)]
pub enum QueryResult {
    /// The engine's answer.
    Answer(Box<Answer>),
    /// The query was not started because of an interruption.
    NotRun,
    /// The engine panicked; with the panic message.
    Crashed(String),
}

/// The class of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// All properties hold.
    Verified,
    /// A property is violated.
    Violated,
    /// Inconclusive, but the search explored everything within a bound and found no violation.
    Bounded,
    /// Inconclusive for another reason, or not started.
    Inconclusive,
    /// The engine panicked.
    Crashed,
}

impl Finding<'_> {
    /// Returns the verdict; none when the query was not started or the engine panicked.
    pub fn verdict(&self) -> Option<&Verdict> {
        match &self.result {
            QueryResult::Answer(answer) => Some(&answer.verdict),
            QueryResult::NotRun | QueryResult::Crashed(_) => None,
        }
    }

    /// Returns the finding as text: the verdict, and the trace of a violation.
    pub fn text(&self, paint: Paint) -> String {
        let trace_rows = self.trace_rows();
        let mut text = row(self, trace_rows.as_ref(), self.model.name.len(), paint);
        if let (Class::Violated, Some(shown), Some(trace_rows)) =
            (self.class(), self.shown(), trace_rows)
        {
            text.push_str(&run_text(self.file, &self.model, shown, &trace_rows, paint));
        }
        text
    }

    /// Returns the finding as JSON.
    pub fn json(&self) -> String {
        let record = CheckResult::new(self, self.trace_rows().as_ref());
        serde_json::to_string_pretty(&record).expect("plain data serialises as JSON")
    }

    /// Returns the class of the result.
    pub fn class(&self) -> Class {
        match &self.result {
            QueryResult::Answer(answer) => match &answer.verdict {
                Verdict::Verified(_) => Class::Verified,
                Verdict::Violated(_) => Class::Violated,
                Verdict::Inconclusive(inconclusive) if inconclusive.is_bounded() => Class::Bounded,
                Verdict::Inconclusive(_) => Class::Inconclusive,
            },
            QueryResult::NotRun => Class::Inconclusive,
            QueryResult::Crashed(_) => Class::Crashed,
        }
    }

    /// Returns the violation or witness of the verdict, with its run.
    pub fn shown(&self) -> Option<ClaimWithRun<'_>> {
        match &self.result {
            QueryResult::Answer(answer) => answer.verdict.claim_with_run(),
            QueryResult::NotRun | QueryResult::Crashed(_) => None,
        }
    }

    /// Returns the rows of the run that proves the violation or witness.
    pub fn trace_rows(&self) -> Option<TraceRows<'_>> {
        Some(TraceRows::new(self.problem, Cow::Borrowed(self.shown()?.run?)))
    }

    /// Returns the spurious run of the answer, if there is one.
    pub fn spurious_trace(&self) -> Option<SpuriousTrace<'_>> {
        let QueryResult::Answer(answer) = &self.result else { return None };
        let spurious_run = answer.spurious_run.as_deref()?;
        Some(SpuriousTrace::new(self.problem, &self.model, self.reductions, spurious_run))
    }

    /// Describes the violation or witness, or the reason for an inconclusive verdict, in one
    /// sentence, and the definition of robustness if it matters. Returns none for an ordinary
    /// verification.
    pub fn message(&self, trace_rows: Option<&TraceRows<'_>>) -> Option<String> {
        let message = self.verdict_message(trace_rows);
        let Some(note) = self.definition_note() else { return message };
        Some(message.map_or(note.into(), |message| format!("{message}; {note}")))
    }

    /// Says which definition of robustness the verdict refers to. Returns none if the verdict does
    /// not depend on it.
    fn definition_note(&self) -> Option<&'static str> {
        let note = definition_note(self.definition?, self.problem);
        match (self.verdict()?, self.definition?) {
            (Verdict::Violated(violated), definition) => {
                let not_robust = violated.evidence().violation() == Violation::NotRobust;
                // A run that is not SC without failed spin iterations is not SC with them.
                let is_strict = definition == RobustDefinition::Strict;
                note.filter(|_| not_robust && is_strict)
            }
            (Verdict::Verified(_), _) => note,
            (Verdict::Inconclusive(inconclusive), _) => note.filter(|_| inconclusive.is_bounded()),
        }
    }

    fn verdict_message(&self, trace_rows: Option<&TraceRows<'_>>) -> Option<String> {
        match &self.result {
            QueryResult::Answer(answer) => match &answer.verdict {
                Verdict::Verified(_) | Verdict::Violated(_) => {
                    match answer.verdict.claim_with_run() {
                        Some(shown) => Some(describe_claim(self.problem, shown.claim, trace_rows)),
                        None => value_note(answer),
                    }
                }
                Verdict::Inconclusive(inconclusive) => {
                    let reason = inconclusive.reason();
                    let spurious = *reason == InconclusiveReason::Spurious;
                    let spurious_trace = spurious.then(|| self.spurious_trace()).flatten();
                    let mut text = match spurious_trace {
                        Some(spurious_trace) => {
                            format!("possibly spurious: {}", spurious_trace.message())
                        }
                        None => explain(inconclusive),
                    };
                    if answer.decider == Decider::Translation
                        && inconclusive.is_bounded()
                        && !self.problem.may_hang
                        && self.problem.program.may_wait_forever()
                    {
                        text.push_str("; hangs are not checked");
                    }
                    if let Some(note) = value_note(answer) {
                        text.push_str(&format!("; {note}"));
                    }
                    if let Some(growing) = answer.growing {
                        text.push_str(&format!("; {}", growth_note(self.problem, growing)));
                    }
                    Some(text)
                }
            },
            QueryResult::NotRun => Some("not started (interrupted)".into()),
            QueryResult::Crashed(what) => Some(format!("internal error: {what}")),
        }
    }

    /// Returns the stable word for the violation or for the inconclusive reason.
    pub fn reason(&self) -> Option<&'static str> {
        match &self.result {
            QueryResult::Answer(answer) => match &answer.verdict {
                Verdict::Verified(_) => None,
                Verdict::Violated(violated) => {
                    Some(crate::violation::claim_word(violated.evidence().violation().into()))
                }
                Verdict::Inconclusive(inconclusive) => Some(reason_word(inconclusive.reason())),
            },
            QueryResult::NotRun => Some("interrupted"),
            QueryResult::Crashed(_) => Some("internal-error"),
        }
    }
}
