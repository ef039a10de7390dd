//! What an answer says, and the one function that decides it.

use fencepost_ir::{Fault, Label, ThreadId};
use fencepost_models::Fidelity;
use fencepost_models::replay::Trace;
use fencepost_search::{Coverage, Stop};
use fencepost_translate::contexts::Bound;

/// The answer to a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All properties hold in every run. For a `final exists`, a run that shows it.
    Verified(Option<Evidence>),
    /// A property does not hold.
    Violated(Evidence),
    /// Not known.
    Inconclusive(Inconclusive),
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
}

/// Why there is no conclusion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inconclusive {
    /// What ended the search.
    pub why: Why,
    /// The largest bound on pending accesses for which everything was explored, without a
    /// violation.
    pub clean_up_to: Option<u32>,
}

/// What ended a search that did not conclude.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// A limit.
    Stopped(Stop),
    /// More accesses can be pending than the largest bound tried.
    Buffers,
    /// The same, and up to that bound no final state satisfies a `final exists`.
    NoWitness,
    /// A store buffer of an abstract model can hold too many different values.
    Values,
    /// The model has more behaviours than it stands for, and what was found does not replay.
    Spurious,
    /// The model has fewer behaviours than it stands for.
    UnderApproximated,
    /// More preemptions may do more than this many.
    Preemptions(u32),
    /// The program is right under sequential consistency, but has other runs.
    NotRobust,
    /// The engine does not know this model.
    Model,
    /// Only runs within this bound were looked at.
    Within(Bound),
    /// The same, and no final state of theirs satisfies a `final exists`.
    NoWitnessWithin(Bound),
    /// The program cannot be translated.
    Untranslated,
    /// Only runs with at most so many pending accesses were looked at; whether there are others is not known.
    Room(u32),
    /// A tool that was to answer did not; why was said elsewhere.
    Tool,
    /// The engine does not know what freeing records does to the order of accesses.
    Frees,
}

/// Something that happens, with the run that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evidence {
    /// What happens.
    pub violation: Violation,
    /// The run. None only for [`Violation::NoWitness`], which no single run can show.
    pub trace: Option<Trace>,
    /// Whether no run with fewer steps shows it.
    pub shortest: bool,
}

impl Evidence {
    /// That no final state satisfies the `final exists` at this position of the properties.
    pub fn no_witness(at: usize) -> Self {
        Evidence { violation: Violation::NoWitness(at), trace: None, shortest: true }
    }
}

/// What is wrong, or (for a witness) what was to be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Violation {
    /// A fault, in this thread (none: in `init`), at this statement.
    Fault(Fault, Option<ThreadId>, Option<Label>),
    /// An assertion that fails.
    Assertion(Option<ThreadId>, Option<Label>),
    /// Two threads in critical sections.
    MutualExclusion(ThreadId, ThreadId),
    /// The invariant at this position of the properties.
    Invariant(usize),
    /// The condition on final states at this position of the properties.
    Final(usize),
    /// The results of operations, which the property at this position does not allow.
    Operations(usize),
    /// No step is possible, and not all threads have halted.
    Deadlock,
    /// No final state satisfies the `final exists` at this position of the properties.
    NoWitness(usize),
    /// A final state satisfies it: not a violation but what was asked for.
    Witness(usize),
    /// A run that is not sequentially consistent.
    NotRobust,
}

/// What may be concluded from a search: the only place where a verdict is made.
///
/// - A violation under a model that is exact, or has only real behaviours, is real. Under an
///   over-approximation it may be spurious until it replays (then `replayed` is true).
/// - Nothing found means verified only if everything was explored under a model that has all
///   behaviours.
/// - Everything else is inconclusive, with the reason.
pub fn judge(fidelity: Fidelity, coverage: Coverage, violation: bool, replayed: bool) -> Judgement {
    if violation {
        return match fidelity {
            Fidelity::Exact | Fidelity::Under => Judgement::Violated,
            Fidelity::Over if replayed => Judgement::Violated,
            Fidelity::Over => Judgement::Inconclusive(Why::Spurious),
        };
    }
    match coverage {
        Coverage::Exhaustive => match fidelity {
            Fidelity::Exact | Fidelity::Over => Judgement::Verified,
            Fidelity::Under => Judgement::Inconclusive(Why::UnderApproximated),
        },
        Coverage::Bounded => Judgement::Inconclusive(Why::Buffers),
        Coverage::Cut(stop) => Judgement::Inconclusive(Why::Stopped(stop)),
        Coverage::Found => unreachable!("a search that stops at a violation reports it"),
    }
}

/// What [`judge`] says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// All properties hold.
    Verified,
    /// One does not.
    Violated,
    /// Not known.
    Inconclusive(Why),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_exhaustive_search_of_all_behaviours_verifies() {
        let coverages = [
            Coverage::Exhaustive,
            Coverage::Bounded,
            Coverage::Cut(Stop::States),
            Coverage::Cut(Stop::Memory),
            Coverage::Cut(Stop::Time),
            Coverage::Cut(Stop::Interrupted),
            Coverage::Cut(Stop::Depth),
        ];
        for fidelity in [Fidelity::Exact, Fidelity::Over, Fidelity::Under] {
            for coverage in coverages {
                let verified = judge(fidelity, coverage, false, false) == Judgement::Verified;
                let may = coverage == Coverage::Exhaustive && fidelity != Fidelity::Under;
                assert_eq!(verified, may, "{fidelity:?} {coverage:?}");
            }
        }
    }

    #[test]
    fn a_spurious_violation_is_never_reported_as_one() {
        let found = Coverage::Found;
        assert_eq!(judge(Fidelity::Exact, found, true, false), Judgement::Violated);
        assert_eq!(judge(Fidelity::Over, found, true, true), Judgement::Violated);
        let spurious = Judgement::Inconclusive(Why::Spurious);
        assert_eq!(judge(Fidelity::Over, found, true, false), spurious);
    }
}
