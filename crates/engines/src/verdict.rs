//! Verdicts, and `judge`, the only function that reaches one.
//!
//! The payloads of [`Verdict`] have private fields, so only this module can create a verdict.
//! [`judge`] reaches a verdict from the findings of an engine. [`Verdict::weakened`] makes a
//! verdict inconclusive. [`Verdict::with_shorter`] gives a violation a shorter run.

use crate::evidence::{ClaimWithRun, Evidence, Witness};
use fencepost_ir::Problem;
use fencepost_models::Fidelity;
use fencepost_models::machine::can_start;
use fencepost_search::{Cancel, Coverage, Stop};
use fencepost_translate::contexts;
use std::borrow::Cow;

/// The verdict on a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every run has all properties, and every `sometimes` condition has a witness.
    Verified(Verified),
    /// A property is violated.
    Violated(Violated),
    /// The search did not decide the task.
    Inconclusive(Inconclusive),
}

/// The payload of `verified`: all properties hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verified {
    witness: Option<Witness>,
}

impl Verified {
    /// Returns the witness of the first `sometimes` condition, if the problem has one.
    pub fn witness(&self) -> Option<&Witness> {
        self.witness.as_ref()
    }
}

/// The payload of `violated`: a property does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violated {
    evidence: Evidence,
}

impl Violated {
    /// Returns the violation with the run that shows it.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Converts into the violation with the run that shows it.
    pub fn into_evidence(self) -> Evidence {
        self.evidence
    }
}

/// The payload of `inconclusive`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inconclusive {
    reason: InconclusiveReason,
    clean_up_to: Option<u32>,
    gap: Option<Unsupported>,
}

impl Inconclusive {
    /// Returns why the search did not decide the task.
    pub fn reason(&self) -> &InconclusiveReason {
        &self.reason
    }

    /// Returns the largest bound on pending accesses that was explored completely without a
    /// violation.
    pub fn clean_up_to(&self) -> Option<u32> {
        self.clean_up_to
    }

    /// Returns what was not checked within the bound, if something was not.
    pub fn gap(&self) -> Option<&Unsupported> {
        self.gap.as_ref()
    }

    /// Returns whether everything within a bound was explored and checked, without a violation.
    pub fn is_bounded(&self) -> bool {
        let is_bound =
            matches!(self.reason, InconclusiveReason::Bound { witness_missing: false, .. });
        is_bound && self.gap.is_none()
    }

    /// The payload for a limit that ended work outside an engine.
    pub fn by_limit(stop: Stop) -> Inconclusive {
        Inconclusive { reason: InconclusiveReason::Limit(stop), clean_up_to: None, gap: None }
    }
}

/// Why a search is inconclusive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InconclusiveReason {
    /// A limit on time, memory, states or depth, or an interruption.
    Limit(Stop),
    /// Only runs within a bound were explored.
    Bound {
        /// The bound.
        bound: Bound,
        /// Whether some `sometimes` condition has no witness within the bound.
        witness_missing: bool,
    },
    /// An over-approximation has a violation that does not replay on the exact model.
    Spurious,
    /// The engine cannot decide this problem.
    Unsupported {
        /// Why the engine cannot decide it.
        reason: Unsupported,
    },
}

impl InconclusiveReason {
    /// The reason for a problem that the engine cannot decide.
    pub fn unsupported(reason: Unsupported) -> Self {
        InconclusiveReason::Unsupported { reason }
    }
}

/// The bound that limits the explored runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    /// The largest number of pending accesses that was tried. Some run has more.
    Buffers,
    /// This number of pending accesses. Some run may have more.
    BuffersUpTo(u32),
    /// This number of preemptions.
    Preemptions(u32),
    /// This number of iterations of each loop.
    Iterations(u32),
    /// The bound of a translation to SC.
    Contexts(contexts::Bound),
    /// A bound of the front end that some run reaches, in words.
    Source(String),
}

/// Why an engine cannot decide a problem.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Unsupported {
    /// A store buffer of an abstract model can hold too many different values.
    Values,
    /// The searched model under-approximates the memory model.
    UnderApproximated,
    /// The program has runs that are not sequentially consistent, and only SC runs were checked.
    NotRobust,
    /// The engine does not support this memory model.
    Model,
    /// The program has pairs of exclusive accesses, and the memory model has none.
    ExclusiveAccesses,
    /// The robustness check does not support programs that free records.
    Frees,
    /// The engine does not support read-side sections and grace periods.
    GracePeriods,
    /// A thread has too many states while it waits, so it is not decided whether a state is a hang.
    Hangs,
    /// The engine does not check for hangs, and some thread may wait forever.
    HangsUnchecked,
    /// A thread may wait for abstracted values, and a hang may be missed.
    HangsOfValues,
    /// Abstracted values are not supported under a model that reorders loads.
    ValuesOfModel,
    /// The engine does not check `property progress` under this model.
    Progress,
    /// Only SC runs are checked, and an invariant relates control points to memory.
    ControlPoints,
    /// The program is too large if its loops are unrolled this often.
    TooManyIterations,
    /// `init` cannot finish, so nothing was checked.
    NoInitialState,
    /// No run ends, so the conditions on final states were checked on nothing.
    NoFinalState,
    /// No run ends, so the results of operations were checked on nothing.
    NoResults,
    /// The program cannot be translated to SC, for this reason.
    Translation(String),
    /// An external tool unrolled loops only this often, and some loop may have more iterations.
    Unrolled(u32),
    /// An external tool reached no end of a run, so it may not have explored anything.
    NoEndReached,
    /// An external tool reports a run that our search does not find within its limits.
    Unconfirmed,
    /// An external tool did not answer. The reason is reported where the tool runs.
    Tool,
}

impl Unsupported {
    /// Whether some runs were not explored. Otherwise all runs were explored, but a property of them
    /// was not checked or was checked on nothing.
    fn leaves_out_runs(&self) -> bool {
        match self {
            Unsupported::Hangs
            | Unsupported::HangsUnchecked
            | Unsupported::HangsOfValues
            | Unsupported::Progress
            | Unsupported::TooManyIterations
            | Unsupported::NoInitialState
            | Unsupported::NoFinalState
            | Unsupported::NoResults => false,
            Unsupported::Values
            | Unsupported::UnderApproximated
            | Unsupported::NotRobust
            | Unsupported::Model
            | Unsupported::ExclusiveAccesses
            | Unsupported::Frees
            | Unsupported::GracePeriods
            | Unsupported::ValuesOfModel
            | Unsupported::ControlPoints
            | Unsupported::Translation(_)
            | Unsupported::Unrolled(_)
            | Unsupported::NoEndReached
            | Unsupported::Unconfirmed
            | Unsupported::Tool => true,
        }
    }

    /// Returns the reason as text.
    pub fn text(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Unsupported::Values => "a store buffer can hold more than 64 different values",
            Unsupported::UnderApproximated => "the search does not cover all behaviours",
            Unsupported::NotRobust => "not robust: only SC runs were checked, without a violation",
            Unsupported::Model => "this engine cannot decide this problem under this model",
            Unsupported::ExclusiveAccesses => "LDXR and STXR require the model `arm`",
            Unsupported::Frees => "robustness is not supported for programs that free records",
            Unsupported::GracePeriods => {
                "this engine does not support RCU; use the engine `explicit`"
            }
            Unsupported::Hangs => {
                "hangs are not decided: a thread has too many states while it waits in a loop"
            }
            Unsupported::HangsUnchecked => {
                "no violation found, but this engine does not detect threads that wait forever"
            }
            Unsupported::HangsOfValues => {
                "no violation found, but threads may wait forever for abstracted values"
            }
            Unsupported::ValuesOfModel => {
                "abstracted values are not supported under a model that reorders loads"
            }
            Unsupported::Progress => "`property progress` is not checked by this engine and model",
            Unsupported::ControlPoints => {
                "SC runs do not decide an invariant with `at` and a variable under this model"
            }
            Unsupported::TooManyIterations => "the program is too large with so many iterations",
            Unsupported::NoInitialState => "no run starts: `init` cannot finish",
            Unsupported::NoFinalState => {
                "no run ends: the conditions on final states were checked on nothing"
            }
            Unsupported::NoResults => {
                "no run ends: the results of operations were checked on nothing"
            }
            Unsupported::Translation(reason) => return Cow::Owned(reason.clone()),
            Unsupported::Unrolled(unrollings) => {
                return Cow::Owned(format!(
                    "runs with more than {unrollings} iterations of a loop were not checked"
                ));
            }
            Unsupported::NoEndReached => {
                "the tool reached no end of a run, so finding no violation is no evidence"
            }
            Unsupported::Unconfirmed => {
                "the tool reports a violation or a witness, but our search reached a limit before it \
                 found the run"
            }
            Unsupported::Tool => "the external tool did not answer",
        })
    }
}

impl Verdict {
    /// Returns the verdict as a word.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Verified(_) => "verified",
            Verdict::Violated(_) => "violated",
            Verdict::Inconclusive(_) => "inconclusive",
        }
    }

    /// Returns whether all properties hold.
    pub fn is_verified(&self) -> bool {
        matches!(self, Verdict::Verified(_))
    }

    /// Returns the violation, if there is one.
    pub fn evidence(&self) -> Option<&Evidence> {
        match self {
            Verdict::Violated(violated) => Some(&violated.evidence),
            Verdict::Verified(_) | Verdict::Inconclusive(_) => None,
        }
    }

    /// Converts into the violation, if there is one.
    pub fn into_evidence(self) -> Option<Evidence> {
        match self {
            Verdict::Violated(violated) => Some(violated.evidence),
            Verdict::Verified(_) | Verdict::Inconclusive(_) => None,
        }
    }

    /// Returns the violation or the witness of the verdict, with its run.
    pub fn claim_with_run(&self) -> Option<ClaimWithRun<'_>> {
        match self {
            Verdict::Violated(violated) => Some(violated.evidence.claim_with_run()),
            Verdict::Verified(verified) => verified.witness.as_ref().map(Witness::claim_with_run),
            Verdict::Inconclusive(_) => None,
        }
    }

    /// Returns the payload of an inconclusive verdict.
    pub fn inconclusive(&self) -> Option<&Inconclusive> {
        match self {
            Verdict::Inconclusive(inconclusive) => Some(inconclusive),
            Verdict::Verified(_) | Verdict::Violated(_) => None,
        }
    }

    /// Returns why the verdict is inconclusive, if it is.
    pub fn inconclusive_reason(&self) -> Option<&InconclusiveReason> {
        self.inconclusive().map(Inconclusive::reason)
    }

    /// Replaces the verdict by an inconclusive one. Used if the verdict depends on conditions that
    /// do not hold for the task, or if a later phase ended early.
    pub fn weakened(self, reason: InconclusiveReason) -> Verdict {
        Verdict::Inconclusive(Inconclusive { reason, clean_up_to: None, gap: None })
    }

    /// Sets the bound that was explored completely without a violation, if the verdict is
    /// inconclusive.
    pub(crate) fn clean_up_to(mut self, bound: Option<u32>) -> Verdict {
        if let Verdict::Inconclusive(inconclusive) = &mut self {
            inconclusive.clean_up_to = bound;
        }
        self
    }

    /// Replaces the run of a violation by a shorter one, if given.
    pub(crate) fn with_shorter(self, shorter: Option<Evidence>) -> Verdict {
        match (self, shorter) {
            (Verdict::Violated(_), Some(evidence)) => Verdict::Violated(Violated { evidence }),
            (verdict, _) => verdict,
        }
    }
}

/// The findings of an engine, the input of [`judge`].
#[derive(Clone, Debug)]
pub struct Findings {
    /// The direction of approximation of the searched model.
    pub fidelity: Fidelity,
    /// How much of the model was explored.
    pub explored: Explored,
    /// The violation that the search found.
    pub violation: Option<ReplayResult<Evidence>>,
    /// The witnesses that the search found, by position in
    /// [`Problem::sometimes`](fencepost_ir::Problem::sometimes).
    pub witnesses: Vec<Option<ReplayResult<Witness>>>,
    /// Why the problem is not verified although the search found no violation, if there is such a
    /// reason.
    pub gap: Option<Unsupported>,
}

/// Returns why a search without a violation does not verify a problem: it did not decide whether a
/// state is a hang, no run starts, it reached no final state on which to check the conditions, or
/// the problem requires progress, which only the explicit engine checks.
pub(crate) fn gap(
    problem: &Problem,
    reached_final_state: bool,
    undecided_hang: bool,
) -> Option<Unsupported> {
    if undecided_hang {
        Some(Unsupported::Hangs)
    } else if !reached_final_state && !can_start(problem) {
        Some(Unsupported::NoInitialState)
    } else if !reached_final_state && problem.has_final_conditions() {
        Some(Unsupported::NoFinalState)
    } else if !reached_final_state && problem.has_final_properties() {
        Some(Unsupported::NoResults)
    } else if problem.requires_progress() {
        Some(Unsupported::Progress)
    } else {
        None
    }
}

/// The result of replaying a violation or a witness on the exact model.
#[derive(Clone, Debug)]
pub enum ReplayResult<T> {
    /// The exact model replays it.
    Confirmed(T),
    /// The exact model does not have it.
    Spurious,
}

/// How much of a model a search explored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Explored {
    /// The whole model.
    Everything,
    /// All runs within a bound.
    Within(Bound),
    /// A limit ended the search.
    UntilLimit(Stop),
    /// The search ended at a violation.
    UntilViolation,
    /// Nothing relevant: the engine cannot decide the problem.
    Unsupported(Unsupported),
}

impl Explored {
    /// Converts the coverage of a search with this bound. Call this after all work on the results
    /// of the search: if `cancel` is set, some of that work may be missing.
    pub fn of(coverage: Coverage, bound: Bound, cancel: &Cancel) -> Self {
        if let Some(stop) = cancel.reason() {
            return Explored::UntilLimit(stop);
        }
        match coverage {
            Coverage::Exhaustive => Explored::Everything,
            Coverage::Bounded => Explored::Within(bound),
            Coverage::Cut(stop) => Explored::UntilLimit(stop),
            Coverage::Found => Explored::UntilViolation,
        }
    }
}

impl Findings {
    /// Findings of an engine that cannot decide the problem.
    pub fn unsupported(reason: Unsupported) -> Self {
        Findings {
            fidelity: Fidelity::Exact,
            explored: Explored::Unsupported(reason),
            violation: None,
            witnesses: Vec::new(),
            gap: None,
        }
    }

    /// Findings of an engine that stopped at a replayed violation.
    pub fn violation(evidence: Evidence) -> Self {
        Findings {
            fidelity: Fidelity::Exact,
            explored: Explored::UntilViolation,
            violation: Some(ReplayResult::Confirmed(evidence)),
            witnesses: Vec::new(),
            gap: None,
        }
    }
}

/// Reaches a verdict from the findings of an engine. This is the only place that does.
///
/// - A violation that replays on the exact model is `violated`. One that does not is
///   `inconclusive`.
/// - Without a violation, the whole of an exact or over-approximated model must be explored. Then a
///   `sometimes` condition without a witness is `violated`, and one with only spurious witnesses is
///   `inconclusive`. Otherwise the problem is `verified`, unless the findings have a gap.
/// - All other findings are `inconclusive`, with the reason.
///
/// # Panics
/// Panics if a search ended at a violation but does not report one.
pub fn judge(findings: Findings) -> Verdict {
    let Findings { fidelity, explored, violation, witnesses, gap } = findings;
    let inconclusive =
        |reason| Verdict::Inconclusive(Inconclusive { reason, clean_up_to: None, gap: None });
    match violation {
        Some(ReplayResult::Confirmed(evidence)) => return Verdict::Violated(Violated { evidence }),
        Some(ReplayResult::Spurious) => return inconclusive(InconclusiveReason::Spurious),
        None => {}
    }
    let missing = witnesses.iter().position(Option::is_none);
    // A missing witness is a violation only if the search explored all runs.
    let explored = match (explored, &gap) {
        (Explored::Everything, Some(gap)) if missing.is_none() || gap.leaves_out_runs() => {
            Explored::Unsupported(gap.clone())
        }
        (explored, _) => explored,
    };
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
            let reason = InconclusiveReason::Bound { bound, witness_missing };
            return Verdict::Inconclusive(Inconclusive { reason, clean_up_to: None, gap });
        }
        Explored::UntilLimit(stop) => return inconclusive(InconclusiveReason::Limit(stop)),
        Explored::Unsupported(reason) => {
            return inconclusive(InconclusiveReason::Unsupported { reason });
        }
        Explored::UntilViolation => panic!("a search that ends at a violation must report it"),
    }
    if let Some(at) = missing {
        return Verdict::Violated(Violated { evidence: Evidence::no_witness(at) });
    }
    let mut first = None;
    for witness in witnesses.into_iter().flatten() {
        match witness {
            ReplayResult::Confirmed(witness) => {
                first.get_or_insert(witness);
            }
            ReplayResult::Spurious => return inconclusive(InconclusiveReason::Spurious),
        }
    }
    Verdict::Verified(Verified { witness: first })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::Violation;

    fn findings(fidelity: Fidelity, explored: Explored) -> Findings {
        Findings { fidelity, explored, violation: None, witnesses: Vec::new(), gap: None }
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
        let violation = Some(ReplayResult::Spurious);
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
    fn a_missing_witness_is_no_violation_if_runs_are_unexplored() {
        let missing = |gap| {
            let found = findings(Fidelity::Exact, Explored::Everything);
            judge(Findings { witnesses: vec![None], gap: Some(gap), ..found })
        };
        // All runs are explored. Only a property of them is not checked.
        for gap in [Unsupported::Hangs, Unsupported::Progress, Unsupported::NoFinalState] {
            let verdict = missing(gap);
            assert_eq!(verdict.evidence().map(Evidence::violation), Some(Violation::NoWitness(0)));
        }
        for gap in [Unsupported::Unrolled(4), Unsupported::NoEndReached, Unsupported::NotRobust] {
            let reason = InconclusiveReason::unsupported(gap.clone());
            assert_eq!(missing(gap).inconclusive_reason(), Some(&reason));
        }
    }

    #[test]
    fn a_search_with_a_gap_does_not_verify() {
        let gap = Some(Unsupported::NoFinalState);
        let with_gap =
            |explored| judge(Findings { gap: gap.clone(), ..findings(Fidelity::Exact, explored) });
        let reason = InconclusiveReason::unsupported(Unsupported::NoFinalState);
        assert_eq!(with_gap(Explored::Everything).inconclusive_reason(), Some(&reason));
        // A larger bound may help, so the reason is the bound. It is not to be accepted.
        let bounded = with_gap(Explored::Within(Bound::Buffers));
        let bounded = bounded.inconclusive().expect("a bound is inconclusive");
        assert!(matches!(bounded.reason(), InconclusiveReason::Bound { .. }));
        assert!(!bounded.is_bounded() && bounded.gap() == gap.as_ref());
    }

    #[test]
    fn a_weakened_verdict_is_inconclusive() {
        let verified = judge(findings(Fidelity::Exact, Explored::Everything));
        let weakened = verified.weakened(InconclusiveReason::Spurious);
        assert_eq!(weakened.word(), "inconclusive");
    }
}
