//! The requirements on the abstract models, checked on one program.

use crate::common::lower;
use fencepost_conformance::reference::{Model, Report, explore};
use fencepost_ir::flow::successors;
use fencepost_ir::{FenceKinds, Op, Problem, Property, StoreBuffers, Value};
use fencepost_models::buffered::Buffered;
use fencepost_models::coherence::buffer::LAST_EPOCH;
use fencepost_models::coherence::{Coherence, Domain};
use fencepost_models::machine::collapsed::Collapsed;
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::mutation::Mutated;
use fencepost_models::{Machine, Reductions};
use fencepost_search::{Cancel, Coverage, Limits, Options, Progress, explore_ordered};
use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroUsize;

/// A set of outcomes: the values of the observables in each final state.
pub(crate) type Outcomes = BTreeSet<Vec<Value>>;

/// The maximum number of pending stores in exact searches.
pub(crate) const BOUND: usize = 3;
/// The maximum number of states of the reference interpreter.
const REFERENCE_STATES: usize = 6_000;

/// The models under test: the name, the store buffers of the abstract model, and the reference
/// model.
pub(crate) const MODELS: [(&str, StoreBuffers, Model); 2] =
    [("tso", StoreBuffers::Tso, Model::Tso), ("pso", StoreBuffers::Pso, Model::Pso)];

/// The domains under test, coarsest first.
pub(crate) const DOMAINS: [(Domain, u32); 7] = [
    (Domain::Set, 0),
    (Domain::Partial, 0),
    (Domain::Full, 0),
    (Domain::Partial, 1),
    (Domain::Full, 1),
    (Domain::Partial, 2),
    (Domain::Full, 2),
];

/// Pairs of domains, the coarser domain first.
const COARSER: [((Domain, u32), (Domain, u32)); 9] = [
    ((Domain::Set, 0), (Domain::Partial, 0)),
    ((Domain::Partial, 0), (Domain::Full, 0)),
    ((Domain::Partial, 1), (Domain::Full, 1)),
    ((Domain::Partial, 2), (Domain::Full, 2)),
    ((Domain::Partial, 0), (Domain::Partial, 1)),
    ((Domain::Partial, 1), (Domain::Partial, 2)),
    ((Domain::Full, 0), (Domain::Full, 1)),
    ((Domain::Full, 1), (Domain::Full, 2)),
    ((Domain::Set, 0), (Domain::Full, 2)),
];

/// The result of an exact search.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExactResult {
    /// The outcomes found.
    pub(crate) outcomes: Outcomes,
    /// Whether a violation was found.
    pub(crate) violated: bool,
    /// The length of the longest queue, or `None` if the search was not complete.
    pub(crate) longest: Option<u32>,
}

impl ExactResult {
    /// Explores the problem with the reference interpreter.
    pub(crate) fn by_reference(problem: &Problem, model: Model) -> Self {
        for bound in 1..=BOUND {
            let report = explore(problem, model, bound, REFERENCE_STATES);
            let exhaustive = report.complete && !report.bound_hit;
            if exhaustive || !report.complete || bound == BOUND {
                let longest = exhaustive.then_some(bound as u32);
                return ExactResult {
                    violated: has_violation(problem, &report),
                    outcomes: report.outcomes,
                    longest,
                };
            }
        }
        unreachable!("the loop returns at the last bound")
    }
}

/// Returns whether the report has a violation of a property of the problem.
fn has_violation(problem: &Problem, report: &Report) -> bool {
    let is_declared = |property| problem.properties.contains(&property);
    !report.faults.is_empty()
        || !report.assertion_failures.is_empty()
        || !report.invariant_violations.is_empty()
        || !report.operation_violations.is_empty()
        || (is_declared(Property::MutualExclusion) && report.mutual_exclusion_violated)
        || (!problem.may_hang && report.hang)
}

/// The result of an abstract search.
#[derive(Clone, Debug)]
pub(crate) struct AbstractResult {
    /// The outcomes of the abstract model.
    pub(crate) outcomes: Outcomes,
    /// Whether a violation was found.
    pub(crate) violated: bool,
    /// Whether the search was exhaustive.
    pub(crate) complete: bool,
}

/// Explores an abstract model, at most `states` states.
pub(crate) fn search(
    problem: &Problem,
    coherence: Coherence,
    reductions: Reductions,
    states: u64,
) -> AbstractResult {
    let machine = Machine::new(problem, Buffered(coherence), reductions);
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let limits = Limits { states, ..Limits::default() };
    let (cancel, progress) = (&cancel, &progress);
    let threads = NonZeroUsize::MIN;
    let options = Options { limits, cancel, progress, threads, stop_at: None };
    let found = explore_ordered(&Collapsed::ordered(&machine), options);
    let value = |four: &[u8; 8]| Value::from_le_bytes(*four);
    let outcome = |fact: &Vec<u8>| fact.as_chunks::<8>().0.iter().map(value).collect();
    AbstractResult {
        outcomes: found.facts.iter().map(outcome).collect(),
        violated: found.target(VIOLATION).is_some(),
        complete: found.coverage == Coverage::Exhaustive,
    }
}

/// Returns whether no thread passes more store-store fences than the abstract model counts epochs.
/// With more fences, the abstract model loses order for heads of any length.
fn has_few_epochs(problem: &Problem) -> bool {
    let begins_epoch = |op: &Op| {
        let Op::Fence(kinds) = op else { return false };
        *kinds != FenceKinds::FULL && kinds.contains(FenceKinds::STORE_STORE)
    };
    problem.program.threads.iter().all(|thread| {
        let fences = thread.code.iter().filter(|stmt| begins_epoch(&stmt.op)).count();
        let has_back_edge = |(at, stmt)| successors(stmt).any(|next| next.index() <= at);
        let has_loop = thread.code.iter().enumerate().any(has_back_edge);
        fences == 0 || (fences <= usize::from(LAST_EPOCH) && !has_loop)
    })
}

/// A requirement on the abstract models.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Requirement {
    /// The abstract model has every exact outcome and violation: it is sound.
    Inclusion,
    /// A coarser domain has every outcome and violation of a finer one.
    Hierarchy,
    /// With heads as long as the longest queue, the abstract model adds nothing.
    Exactness,
}

/// A violation of a requirement.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    pub(crate) requirement: Requirement,
    pub(crate) text: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.requirement, self.text)
    }
}

/// The numbers of searches and comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tally {
    /// Exhaustive abstract searches.
    pub(crate) complete: usize,
    /// Abstract searches that were cut short. Their results are not used.
    pub(crate) cut: usize,
    /// Comparisons with heads that are long enough to be exact.
    pub(crate) exact: usize,
}

/// The scope of the checks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    /// The maximum number of states of an abstract search.
    pub(crate) states: u64,
    /// Whether to search without reductions too.
    pub(crate) unreduced: bool,
    /// A mutation of the abstract rules.
    pub(crate) mutated: Mutated,
}

impl Scope {
    /// Returns the scope for small programs.
    pub(crate) fn for_small_programs() -> Self {
        Scope { states: 30_000, unreduced: true, mutated: Mutated::default() }
    }
}

/// Compares the abstract models with the exact result and with each other.
pub(crate) fn check_requirements(
    problem: &Problem,
    grouping: StoreBuffers,
    exact: &ExactResult,
    scope: Scope,
    tally: &mut Tally,
) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut report = |requirement, text| differences.push(Difference { requirement, text });
    let Scope { states, unreduced, mutated } = scope;
    let unreduced = unreduced.then_some((Reductions::NONE, "none"));
    let longest =
        exact.longest.filter(|_| grouping == StoreBuffers::Tso || has_few_epochs(problem));
    for (reductions, name) in [(Reductions::ALL, "all")].into_iter().chain(unreduced) {
        let mut sets: Vec<((Domain, u32), Option<AbstractResult>)> = Vec::new();
        let extra_head = longest.filter(|k| !DOMAINS.contains(&(Domain::Full, *k)));
        for (domain, k) in DOMAINS.into_iter().chain(extra_head.map(|k| (Domain::Full, k))) {
            let case = format!("{grouping:?} {} k={k} reductions {name}", domain.name());
            let coherence = Coherence { grouping, domain, k, labelled: false, mutated };
            let found = search(problem, coherence, reductions, states);
            if !found.complete {
                tally.cut += 1;
                sets.push(((domain, k), None));
                continue;
            }
            tally.complete += 1;
            let missing: Vec<_> = exact.outcomes.difference(&found.outcomes).collect();
            if !missing.is_empty() {
                report(Requirement::Inclusion, format!("{case}: outcomes missing: {missing:?}"));
            }
            if exact.violated && !found.violated {
                report(Requirement::Inclusion, format!("{case}: a violation is missing"));
            }
            if domain == Domain::Full && longest.is_some_and(|longest| k >= longest) {
                tally.exact += 1;
                let extra: Vec<_> = found.outcomes.difference(&exact.outcomes).collect();
                if !extra.is_empty() {
                    report(Requirement::Exactness, format!("{case}: outcomes added: {extra:?}"));
                }
                if found.violated && !exact.violated {
                    report(Requirement::Exactness, format!("{case}: a violation is added"));
                }
            }
            sets.push(((domain, k), Some(found)));
        }
        let of = |which| sets.iter().find(|(domain, _)| *domain == which)?.1.as_ref();
        for (coarse, fine) in COARSER {
            let (Some(more), Some(less)) = (of(coarse), of(fine)) else { continue };
            let missing: Vec<_> = less.outcomes.difference(&more.outcomes).collect();
            let case = format!("{grouping:?} {coarse:?} over {fine:?} reductions {name}");
            if !missing.is_empty() {
                report(Requirement::Hierarchy, format!("{case}: outcomes missing: {missing:?}"));
            }
            if less.violated && !more.violated {
                report(Requirement::Hierarchy, format!("{case}: a violation is missing"));
            }
        }
    }
    differences
}

/// Checks a source text under both models, with the reference interpreter as the exact oracle.
pub(crate) fn check_source(
    source: &str,
    scope: Scope,
    tally: &mut Tally,
) -> Result<Vec<Difference>, String> {
    let problems = lower(source)?;
    let mut differences = Vec::new();
    for (_, grouping, model) in MODELS {
        let exact = ExactResult::by_reference(&problems[0], model);
        differences.extend(check_requirements(&problems[0], grouping, &exact, scope, tally));
    }
    Ok(differences)
}
