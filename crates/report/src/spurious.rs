//! A spurious run: a run of an abstract model to a violation that the exact model does not have.
//! The report shows the run and the first step that is infeasible in the exact model.

use crate::json::{EventRecord, events};
use crate::paint::{Paint, counted};
use crate::trace::{TraceRows, spurious_trace_rows};
use crate::verdict_line::shown;
use crate::violation::{claim_word, describe_claim};
use crate::wording::cell;
use fencepost_engines::concretise::{LostBufferProperty, SpuriousRun};
use fencepost_engines::{Claim, Decider};
use fencepost_ir::{Problem, Program};
use fencepost_models::{EventKind, ModelSpec, Reductions};
use serde::Serialize;

/// A spurious run and its rows.
#[derive(Clone, Debug)]
pub struct SpuriousTrace<'p> {
    /// The rows of the run.
    pub trace_rows: TraceRows<'p>,
    /// The run, its claim and its infeasible step.
    spurious_run: &'p SpuriousRun,
}

impl<'p> SpuriousTrace<'p> {
    /// Creates the rows of a spurious run.
    pub fn new(
        problem: &'p Problem,
        model: &ModelSpec,
        reductions: Reductions,
        spurious_run: &'p SpuriousRun,
    ) -> Self {
        SpuriousTrace {
            trace_rows: spurious_trace_rows(problem, model, reductions, spurious_run),
            spurious_run,
        }
    }

    fn program(&self) -> &'p Program {
        &self.trace_rows.problem.program
    }

    /// Returns the violation or witness at the end of the run.
    pub fn claim(&self) -> Claim {
        self.spurious_run.claim
    }

    /// Describes the violation or witness at the end of the run in one sentence.
    pub fn message(&self) -> String {
        describe_claim(self.trace_rows.problem, self.spurious_run.claim, Some(&self.trace_rows))
    }

    /// Returns the line above the picture.
    pub fn heading(&self, name: &str, model: &ModelSpec, paint: Paint) -> String {
        let by = Decider::Abstraction(self.spurious_run.domain, self.spurious_run.k);
        let events = counted(self.trace_rows.event_count() as u64, "event");
        let (model, word) = (paint.strong(&shown(model)), paint.unsure("SPURIOUS?"));
        let what = self.message();
        format!("{name}  {model}  {word}  {what}  (run of abstraction {by}, {events})\n")
    }

    /// Describes the step that the exact model cannot take, and the reason.
    pub fn infeasible_step(&self) -> String {
        let infeasible_step = self.spurious_run.infeasible_step;
        let thread = &self.program().thread(infeasible_step.thread).name;
        let number = self.trace_rows.number_at(infeasible_step.step);
        match infeasible_step.lost_property {
            LostBufferProperty::AlreadyCommitted(loc, value) => {
                let what = cell(self.program(), loc, " = ", value);
                let earlier = self.earlier_commit(infeasible_step.step);
                let earlier = earlier.map(|at| format!(" (event {at})")).unwrap_or_default();
                format!(
                    "event {number}: {thread} commits {what}, which is already committed{earlier}. \
                     A store is committed only once"
                )
            }
            LostBufferProperty::NotOldest(loc, value) => {
                let what = cell(self.program(), loc, " = ", value);
                format!(
                    "event {number}: {thread} commits {what} before an older store. \
                     The stores of a buffer are committed in order"
                )
            }
            LostBufferProperty::MustWait => {
                format!("event {number}: {thread} continues, but must wait for a pending store")
            }
            LostBufferProperty::ClaimFails => {
                "the exact model can take these steps, but does not reach this result".into()
            }
        }
    }

    /// Returns the number of the earlier event that commits the store that `step` commits again.
    fn earlier_commit(&self, step: usize) -> Option<usize> {
        let infeasible_step = self.spurious_run.infeasible_step;
        let LostBufferProperty::AlreadyCommitted(loc, value) = infeasible_step.lost_property else {
            return None;
        };
        let (at, _) =
            (self.trace_rows.run.steps[..step].iter().enumerate()).rfind(|(_, replayed)| {
                replayed.step.thread == infeasible_step.thread
                    && replayed.events.iter().any(|annotated| match annotated.event.kind {
                        EventKind::Commit { loc: at, value: what }
                        | EventKind::CommitAndKeep { loc: at, value: what } => {
                            (at, what) == (loc, value)
                        }
                        _ => false,
                    })
            })?;
        Some(self.trace_rows.number_at(at))
    }

    /// Returns the spurious run as a JSON record.
    pub fn record(&self) -> SpuriousRecord {
        SpuriousRecord {
            domain: self.spurious_run.domain.name(),
            k: self.spurious_run.k,
            reason: claim_word(self.spurious_run.claim),
            message: self.message(),
            infeasible_step: self.spurious_run.infeasible_step.step,
            explanation: self.infeasible_step(),
            events: events(&self.trace_rows),
        }
    }
}

/// A spurious run as JSON.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SpuriousRecord {
    /// The abstract domain: `set`, `fd` or `pd`.
    pub domain: &'static str,
    /// The number of stores of a buffer that the domain keeps in order.
    pub k: u32,
    /// A stable word for the violation at the end of the run.
    pub reason: &'static str,
    /// The violation at the end of the run, in a sentence.
    pub message: String,
    /// The step, from 0, that the exact model cannot take.
    #[serde(rename = "departs_at_step")]
    pub infeasible_step: usize,
    /// Why the exact model cannot take the step, in a sentence.
    #[serde(rename = "departure")]
    pub explanation: String,
    /// The events of the run.
    pub events: Vec<EventRecord>,
}
