//! What an answer says, and the one function that decides it.
//!
//! The payloads of [`Verdict`] have private fields, so only this module can make a verdict: [`judge`] concludes
//! one from what an engine found, [`Verdict::weakened`] takes a conclusion back, and
//! [`Verdict::with_shorter`] replaces a run by a shorter one.

use crate::evidence::{Evidence, Shown, Witness};
use fencepost_models::Fidelity;
use fencepost_search::{Coverage, Stop};
use fencepost_translate::contexts;
use std::borrow::Cow;

/// The answer to a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every run has all properties, and every condition that some run must meet has a witness.
    Verified(Verified),
    /// A property does not hold.
    Violated(Violated),
    /// Not known.
    Inconclusive(Inconclusive),
}

/// All properties hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verified {
    witness: Option<Witness>,
}

impl Verified {
    /// A run that shows the first condition that some run must meet, if there is one.
    pub fn witness(&self) -> Option<&Witness> {
        self.witness.as_ref()
    }
}

/// A property does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violated {
    evidence: Evidence,
}

impl Violated {
    /// What is violated, with the run that shows it.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// The same by value.
    pub fn into_evidence(self) -> Evidence {
        self.evidence
    }
}

/// Why there is no conclusion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inconclusive {
    reason: InconclusiveReason,
    clean_up_to: Option<u32>,
}

impl Inconclusive {
    /// What ended the search.
    pub fn reason(&self) -> &InconclusiveReason {
        &self.reason
    }

    /// The largest bound on pending accesses for which everything was explored, without a violation.
    pub fn clean_up_to(&self) -> Option<u32> {
        self.clean_up_to
    }

    /// Whether everything within a bound was explored and nothing is wrong there.
    pub fn is_bounded(&self) -> bool {
        matches!(self.reason, InconclusiveReason::Bound { witness_missing: false, .. })
    }

    /// A limit ended something other than an engine.
    pub fn by_limit(stop: Stop) -> Inconclusive {
        Inconclusive { reason: InconclusiveReason::Limit(stop), clean_up_to: None }
    }
}

/// What ended a search that did not conclude.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InconclusiveReason {
    /// A limit on time, memory, states or the length of runs, or an interruption.
    Limit(Stop),
    /// Only runs within a bound were explored.
    Bound {
        /// The bound.
        bound: Bound,
        /// No run within it meets a condition that some run must meet.
        witness_missing: bool,
    },
    /// An over-approximation meets a violation that does not replay.
    Spurious,
    /// The engine does not decide this problem.
    Unsupported {
        /// Why not.
        reason: Unsupported,
    },
}

impl InconclusiveReason {
    /// The engine does not decide the problem.
    pub fn unsupported(reason: Unsupported) -> Self {
        InconclusiveReason::Unsupported { reason }
    }
}

/// What bounds the runs that are explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// The largest number of pending accesses that was tried. More can be pending.
    Buffers,
    /// This many pending accesses. It is not known whether more can be pending.
    BuffersUpTo(u32),
    /// This many preemptions.
    Preemptions(u32),
    /// The bound of a translation to SC.
    Contexts(contexts::Bound),
}

/// Why an engine does not decide a problem.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Unsupported {
    /// A store buffer of an abstract model can hold too many different values.
    Values,
    /// The search had fewer behaviours than the model.
    UnderApproximated,
    /// The program is right under sequential consistency, but has other runs.
    NotRobust,
    /// The engine does not know this model.
    Model,
    /// Robustness is not defined here for programs that free records.
    Frees,
    /// The program cannot be translated, for this reason.
    Translation(String),
    /// An outside tool did not answer; the reason was reported where the tool was run.
    Tool,
}

impl Unsupported {
    /// The reason, in words.
    pub fn text(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Unsupported::Values => "a store buffer can hold more than 64 different values",
            Unsupported::UnderApproximated => "not all behaviours were looked at",
            Unsupported::NotRobust => "right under SC, but not robust: SC runs do not tell",
            Unsupported::Model => "this engine does not decide that under this model",
            Unsupported::Frees => "robustness is not decided for programs that free records",
            Unsupported::Translation(reason) => return Cow::Owned(reason.clone()),
            Unsupported::Tool => "no answer from the tool",
        })
    }
}

impl Verdict {
    /// The word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Verified(_) => "verified",
            Verdict::Violated(_) => "violated",
            Verdict::Inconclusive(_) => "inconclusive",
        }
    }

    /// Whether it is known that all properties hold.
    pub fn is_verified(&self) -> bool {
        matches!(self, Verdict::Verified(_))
    }

    /// What is violated, if something is.
    pub fn evidence(&self) -> Option<&Evidence> {
        match self {
            Verdict::Violated(violated) => Some(&violated.evidence),
            Verdict::Verified(_) | Verdict::Inconclusive(_) => None,
        }
    }

    /// The same by value.
    pub fn into_evidence(self) -> Option<Evidence> {
        match self {
            Verdict::Violated(violated) => Some(violated.evidence),
            Verdict::Verified(_) | Verdict::Inconclusive(_) => None,
        }
    }

    /// What it shows: a violation or a witness.
    pub fn shown(&self) -> Option<Shown<'_>> {
        match self {
            Verdict::Violated(violated) => Some(violated.evidence.shown()),
            Verdict::Verified(verified) => verified.witness.as_ref().map(Witness::shown),
            Verdict::Inconclusive(_) => None,
        }
    }

    /// What ended the search, if there is no conclusion.
    pub fn inconclusive(&self) -> Option<&Inconclusive> {
        match self {
            Verdict::Inconclusive(inconclusive) => Some(inconclusive),
            Verdict::Verified(_) | Verdict::Violated(_) => None,
        }
    }

    /// Why there is no conclusion, if there is none.
    pub fn inconclusive_reason(&self) -> Option<&InconclusiveReason> {
        self.inconclusive().map(Inconclusive::reason)
    }

    /// No conclusion, whatever this verdict says: it was reached under conditions that do not hold for the
    /// question, or a later phase ended early.
    pub fn weakened(self, reason: InconclusiveReason) -> Verdict {
        Verdict::Inconclusive(Inconclusive { reason, clean_up_to: None })
    }

    /// The verdict with the bound up to which everything is right, if it is inconclusive.
    pub(crate) fn clean_up_to(mut self, bound: Option<u32>) -> Verdict {
        if let Verdict::Inconclusive(inconclusive) = &mut self {
            inconclusive.clean_up_to = bound;
        }
        self
    }

    /// The verdict with a shorter run for its violation, if it is one.
    pub(crate) fn with_shorter(self, shorter: Option<Evidence>) -> Verdict {
        match (self, shorter) {
            (Verdict::Violated(_), Some(evidence)) => Verdict::Violated(Violated { evidence }),
            (verdict, _) => verdict,
        }
    }
}

/// What an engine has found, before it is judged.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Which way the searched model errs.
    pub fidelity: Fidelity,
    /// How much of it was explored.
    pub explored: Explored,
    /// The violation that was met.
    pub violation: Option<Met<Evidence>>,
    /// By position in [`Problem::sometimes`](fencepost_ir::Problem::sometimes): the witness that was met.
    pub witnesses: Vec<Option<Met<Witness>>>,
}

/// Something that a search has met.
#[derive(Clone, Debug)]
pub enum Met<T> {
    /// It was replayed on the exact model.
    Replayed(T),
    /// The exact model does not follow.
    Spurious,
}

/// How much was explored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Explored {
    /// Everything.
    Everything,
    /// Everything within a bound.
    Within(Bound),
    /// A limit ended the search.
    UntilLimit(Stop),
    /// The search ended at a violation.
    UntilViolation,
    /// Nothing, or nothing that counts.
    Unsupported(Unsupported),
}

impl Explored {
    /// What a search with this bound has explored.
    pub fn of(coverage: Coverage, bound: Bound) -> Self {
        match coverage {
            Coverage::Exhaustive => Explored::Everything,
            Coverage::Bounded => Explored::Within(bound),
            Coverage::Cut(stop) => Explored::UntilLimit(stop),
            Coverage::Found => Explored::UntilViolation,
        }
    }
}

impl Findings {
    /// Nothing was searched, for this reason.
    pub fn unsupported(reason: Unsupported) -> Self {
        Findings {
            fidelity: Fidelity::Exact,
            explored: Explored::Unsupported(reason),
            violation: None,
            witnesses: Vec::new(),
        }
    }

    /// A violation that was replayed.
    pub fn violation(evidence: Evidence) -> Self {
        Findings {
            fidelity: Fidelity::Exact,
            explored: Explored::UntilViolation,
            violation: Some(Met::Replayed(evidence)),
            witnesses: Vec::new(),
        }
    }
}

/// What may be concluded from a search: the only place where a conclusion is drawn.
///
/// - A violation that replays on the exact model is one. A violation that does not is inconclusive.
/// - Without a violation, everything must be explored under a model that has all behaviours. Then a
///   condition that some run must meet and none meets is violated; one that only spurious runs meet is
///   inconclusive; otherwise the problem is verified.
/// - Everything else is inconclusive, with the reason.
///
/// # Panics
/// When a search claims to have ended at a violation that it does not have.
pub fn judge(findings: Findings) -> Verdict {
    let Findings { fidelity, explored, violation, witnesses } = findings;
    let inconclusive = |reason| Verdict::Inconclusive(Inconclusive { reason, clean_up_to: None });
    match violation {
        Some(Met::Replayed(evidence)) => return Verdict::Violated(Violated { evidence }),
        Some(Met::Spurious) => return inconclusive(InconclusiveReason::Spurious),
        None => {}
    }
    let missing = witnesses.iter().position(Option::is_none);
    match explored {
        Explored::Everything => match fidelity {
            Fidelity::Exact | Fidelity::Over => {}
            Fidelity::Under => {
                let reason = Unsupported::UnderApproximated;
                return inconclusive(InconclusiveReason::Unsupported { reason });
            }
        },
        Explored::Within(bound) => {
            let witness_missing = missing.is_some();
            return inconclusive(InconclusiveReason::Bound { bound, witness_missing });
        }
        Explored::UntilLimit(stop) => return inconclusive(InconclusiveReason::Limit(stop)),
        Explored::Unsupported(reason) => {
            return inconclusive(InconclusiveReason::Unsupported { reason });
        }
        Explored::UntilViolation => panic!("a search that ends at a violation reports it"),
    }
    if let Some(at) = missing {
        return Verdict::Violated(Violated { evidence: Evidence::no_witness(at) });
    }
    let mut first = None;
    for witness in witnesses.into_iter().flatten() {
        match witness {
            Met::Replayed(witness) => {
                first.get_or_insert(witness);
            }
            Met::Spurious => return inconclusive(InconclusiveReason::Spurious),
        }
    }
    Verdict::Verified(Verified { witness: first })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::Violation;

    fn findings(fidelity: Fidelity, explored: Explored) -> Findings {
        Findings { fidelity, explored, violation: None, witnesses: Vec::new() }
    }

    #[test]
    fn only_an_exhaustive_search_of_all_behaviours_verifies() {
        let stops = [Stop::States, Stop::Memory, Stop::Time, Stop::Interrupted, Stop::Depth];
        let mut all: Vec<Explored> = stops.map(Explored::UntilLimit).into();
        all.extend([
            Explored::Everything,
            Explored::Within(Bound::Buffers),
            Explored::Within(Bound::Preemptions(2)),
            Explored::Unsupported(Unsupported::Model),
        ]);
        for fidelity in [Fidelity::Exact, Fidelity::Over, Fidelity::Under] {
            for explored in &all {
                let verified = judge(findings(fidelity, explored.clone())).is_verified();
                let may = *explored == Explored::Everything && fidelity != Fidelity::Under;
                assert_eq!(verified, may, "{fidelity:?} {explored:?}");
            }
        }
    }

    #[test]
    fn a_spurious_violation_is_never_reported_as_one() {
        let violation = Some(Met::Spurious);
        let found = Findings { violation, ..findings(Fidelity::Over, Explored::UntilViolation) };
        let verdict = judge(found);
        assert_eq!(verdict.inconclusive_reason(), Some(&InconclusiveReason::Spurious));
    }

    #[test]
    fn a_missing_witness_violates_only_after_an_exhaustive_search() {
        let missing =
            |explored| Findings { witnesses: vec![None], ..findings(Fidelity::Exact, explored) };
        let all = judge(missing(Explored::Everything));
        assert_eq!(all.evidence().map(Evidence::violation), Some(Violation::NoWitness(0)));
        let bounded = judge(missing(Explored::Within(Bound::Buffers)));
        assert!(!bounded.inconclusive().is_some_and(Inconclusive::is_bounded));
    }

    #[test]
    fn a_weakened_verdict_is_inconclusive() {
        let verified = judge(findings(Fidelity::Exact, Explored::Everything));
        let weakened = verified.weakened(InconclusiveReason::Spurious);
        assert_eq!(weakened.word(), "inconclusive");
    }
}
