//! What is known about one program under one model, ready to be shown.

use crate::json::CheckResult;
use crate::paint::Paint;
use crate::picture::run_text;
use crate::suspect::Doubt;
use crate::trace::Story;
use crate::verdict_line::{explain, grows, reason, row, vacuous};
use crate::violation::sentence;
use fencepost_engines::{Answer, Bound, InconclusiveReason, Shown, Verdict};
use fencepost_ir::{Problem, Property};
use fencepost_models::{ModelSpec, Reductions};
use std::borrow::Cow;

/// What became of one question: a program under a model.
#[derive(Clone, Debug)]
pub struct Finding<'a> {
    /// What the reader calls the source.
    pub file: &'a str,
    /// The program.
    pub problem: &'a Problem,
    /// The model.
    pub model: ModelSpec,
    /// The engine's name.
    pub engine: &'a str,
    /// The reductions in use.
    pub reductions: Reductions,
    /// How long it took.
    pub seconds: f64,
    /// What came of it.
    pub result: Found,
}

/// What came of a question.
#[derive(Clone, Debug)]
pub enum Found {
    /// An answer.
    Answer(Answer),
    /// None: it was interrupted before this question's turn came.
    NotRun,
    /// None: a bug of ours, described here.
    Crashed(String),
}

/// What is found, without its details.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// All properties hold.
    Verified,
    /// One does not.
    Violated,
    /// Everything within the bound on pending accesses was explored, and all is well there.
    Bounded,
    /// Not known.
    Inconclusive,
    /// A bug of ours.
    Crashed,
}

impl Finding<'_> {
    /// The verdict; none when the question was not asked, or crashed.
    pub fn verdict(&self) -> Option<&Verdict> {
        match &self.result {
            Found::Answer(answer) => Some(&answer.verdict),
            Found::NotRun | Found::Crashed(_) => None,
        }
    }

    /// The whole finding for a reader: the verdict, and the run that shows a violation.
    pub fn text(&self, paint: Paint) -> String {
        let story = self.story();
        let mut text = row(self, story.as_ref(), self.model.name.len(), paint);
        if let (Class::Violated, Some(shown), Some(story)) = (self.class(), self.shown(), story) {
            text.push_str(&run_text(self.file, &self.model, shown, &story, paint));
        }
        text
    }

    /// The whole finding as JSON.
    pub fn json(&self) -> String {
        let record = CheckResult::new(self, self.story().as_ref());
        serde_json::to_string_pretty(&record).expect("plain data becomes JSON")
    }

    /// The short form.
    pub fn class(&self) -> Class {
        match &self.result {
            Found::Answer(answer) => match &answer.verdict {
                Verdict::Verified(_) => Class::Verified,
                Verdict::Violated(_) => Class::Violated,
                Verdict::Inconclusive(inconclusive) if inconclusive.is_bounded() => Class::Bounded,
                Verdict::Inconclusive(_) => Class::Inconclusive,
            },
            Found::NotRun => Class::Inconclusive,
            Found::Crashed(_) => Class::Crashed,
        }
    }

    /// What the verdict shows: a violation or a witness, with its run.
    pub fn shown(&self) -> Option<Shown<'_>> {
        match &self.result {
            Found::Answer(answer) => answer.verdict.shown(),
            Found::NotRun | Found::Crashed(_) => None,
        }
    }

    /// The run to show, told.
    pub fn story(&self) -> Option<Story<'_>> {
        Some(Story::new(self.problem, Cow::Borrowed(self.shown()?.run?)))
    }

    /// The run of an abstract model that leaves it open whether there is a violation, told.
    pub fn doubt(&self) -> Option<Doubt<'_>> {
        let Found::Answer(answer) = &self.result else { return None };
        let suspect = answer.suspect.as_deref()?;
        Some(Doubt::new(self.problem, &self.model, self.reductions, suspect))
    }

    /// What is wrong, or why there is no answer, or why a verification says little, in one sentence;
    /// none when all is well.
    pub fn message(&self, story: Option<&Story<'_>>) -> Option<String> {
        match &self.result {
            Found::Answer(answer) => match &answer.verdict {
                Verdict::Verified(_) | Verdict::Violated(_) => match answer.verdict.shown() {
                    Some(shown) => Some(sentence(self.problem, shown.claim, story)),
                    None => vacuous(self.problem, answer).map(String::from),
                },
                Verdict::Inconclusive(inconclusive) => {
                    let reason = inconclusive.reason();
                    let spurious = *reason == InconclusiveReason::Spurious;
                    let doubt = spurious.then(|| self.doubt()).flatten();
                    let mut text = match doubt {
                        Some(doubt) => format!("possibly spurious: {}", doubt.sentence()),
                        None => explain(inconclusive),
                    };
                    let deadlocks = self.problem.properties.contains(&Property::DeadlockFree);
                    let contexts = matches!(
                        reason,
                        InconclusiveReason::Bound {
                            bound: Bound::Contexts(_),
                            witness_missing: false
                        }
                    );
                    if deadlocks && contexts {
                        text.push_str("; deadlocks are not looked for");
                    }
                    if let Some(growing) = answer.growing {
                        text.push_str(&format!("; {}", grows(self.problem, growing)));
                    }
                    Some(text)
                }
            },
            Found::NotRun => Some("interrupted before it was this one's turn".into()),
            Found::Crashed(what) => Some(format!("internal error: {what}")),
        }
    }

    /// The stable word for what is wrong, or for why there is no answer.
    pub fn reason(&self) -> Option<&'static str> {
        match &self.result {
            Found::Answer(answer) => match &answer.verdict {
                Verdict::Verified(_) => None,
                Verdict::Violated(violated) => {
                    Some(crate::violation::word(violated.evidence().violation().into()))
                }
                Verdict::Inconclusive(inconclusive) => Some(reason(inconclusive.reason())),
            },
            Found::NotRun => Some("interrupted"),
            Found::Crashed(_) => Some("internal-error"),
        }
    }
}
