//! A run of an abstract model that the exact model does not follow: what it shows, and where it departs.

use crate::json::{EventRecord, events};
use crate::paint::{Paint, counted};
use crate::trace::{Story, tell_suspect};
use crate::verdict_line::shown;
use crate::violation::{sentence, word};
use crate::wording::cell;
use fencepost_engines::concretise::{Broken, Suspect};
use fencepost_engines::{Claim, Decider};
use fencepost_ir::{Problem, Program};
use fencepost_models::{EventKind, ModelSpec, Reductions};
use serde::Serialize;

/// A suspect run, told.
#[derive(Clone, Debug)]
pub struct Doubt<'p> {
    /// The run.
    pub story: Story<'p>,
    /// What it shows, and where it departs.
    suspect: &'p Suspect,
}

impl<'p> Doubt<'p> {
    /// Tells a suspect run.
    pub fn new(
        problem: &'p Problem,
        model: &ModelSpec,
        reductions: Reductions,
        suspect: &'p Suspect,
    ) -> Self {
        Doubt { story: tell_suspect(problem, model, reductions, suspect), suspect }
    }

    fn program(&self) -> &'p Program {
        &self.story.problem.program
    }

    /// What is wrong at its end.
    pub fn claim(&self) -> Claim {
        self.suspect.claim
    }

    /// What is wrong at its end, in a sentence.
    pub fn sentence(&self) -> String {
        sentence(self.story.problem, self.suspect.claim, Some(&self.story))
    }

    /// The line above its picture.
    pub fn heading(&self, name: &str, model: &ModelSpec, paint: Paint) -> String {
        let by = Decider::Abstraction(self.suspect.domain, self.suspect.k);
        let events = counted(self.story.events() as u64, "event");
        let (model, word) = (paint.strong(&shown(model)), paint.unsure("SPURIOUS?"));
        let what = self.sentence();
        format!("{name}  {model}  {word}  {what}  (a run of the abstraction {by}, {events})\n")
    }

    /// Where the exact model cannot follow, and why.
    pub fn departure(&self) -> String {
        let departure = self.suspect.departure;
        let thread = &self.program().thread(departure.thread).name;
        let number = self.story.number_at(departure.step);
        match departure.why {
            Broken::Again(loc, value) => {
                let what = cell(self.program(), loc, " = ", value);
                let before = self.committed_before(departure.step);
                let before = before.map(|at| format!(", in {at}")).unwrap_or_default();
                format!(
                    "in {number}, {thread} commits {what} which is not pending any more: \
                     it was committed before{before}. A store is committed once"
                )
            }
            Broken::Order(loc, value) => {
                let what = cell(self.program(), loc, " = ", value);
                format!(
                    "in {number}, {thread} commits {what} ahead of an older store. \
                     Stores of one buffer are committed in their order"
                )
            }
            Broken::Waits => format!(
                "in {number}, {thread} goes on although it must wait for a pending store there"
            ),
            Broken::Fine => {
                "every step is one of the exact model, but nothing is wrong then".into()
            }
        }
    }

    /// The number of the event before a step that committed what the step commits again.
    fn committed_before(&self, step: usize) -> Option<usize> {
        let departure = self.suspect.departure;
        let Broken::Again(loc, value) = departure.why else { return None };
        let (at, _) =
            (self.story.run.moments[..step].iter().enumerate()).rfind(|(_, moment)| {
                moment.step.thread == departure.thread
                    && moment.events.iter().any(|told| match told.event.kind {
                        EventKind::Commit { loc: at, value: what }
                        | EventKind::Stay { loc: at, value: what } => (at, what) == (loc, value),
                        _ => false,
                    })
            })?;
        Some(self.story.number_at(at))
    }

    /// The same for programs.
    pub fn record(&self) -> SuspectRecord {
        SuspectRecord {
            domain: self.suspect.domain.name(),
            k: self.suspect.k,
            reason: word(self.suspect.claim),
            message: self.sentence(),
            departs_at_step: self.suspect.departure.step,
            departure: self.departure(),
            events: events(&self.story),
        }
    }
}

/// A suspect run for programs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SuspectRecord {
    /// The abstract domain it is a run of: `set`, `fd` or `pd`.
    pub domain: &'static str,
    /// How many stores of a buffer the domain keeps in order.
    pub k: u32,
    /// A stable word: what is violated at its end.
    pub reason: &'static str,
    /// The same in a sentence.
    pub message: String,
    /// The step, from 0, that the exact model cannot take.
    pub departs_at_step: usize,
    /// Why, in a sentence.
    pub departure: String,
    /// What happens in it.
    pub events: Vec<EventRecord>,
}
