//! What is asked of the abstract models on one program.

use crate::common::lower;
use fencepost_conformance::reference::{Model, Report, explore};
use fencepost_ir::flow::successors;
use fencepost_ir::{FenceKinds, Op, Problem, Property, StoreBuffers, Value};
use fencepost_models::buffered::Buffered;
use fencepost_models::coherence::buffer::LAST_EPOCH;
use fencepost_models::coherence::{Coherence, Domain};
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::mutation::Mutated;
use fencepost_models::{Machine, Reductions};
use fencepost_search::{Cancel, Coverage, Limits, Options, Progress, explore_ordered};
use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroUsize;

/// The values of what is observed, in each final state.
pub(crate) type Outcomes = BTreeSet<Vec<Value>>;

/// The largest number of pending stores on the exact side.
pub(crate) const BOUND: usize = 3;
/// The same for the reference, which is slower.
const REFERENCE_STATES: usize = 6_000;

/// The models under test: ours by name, how the abstract one groups, and the reference's.
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

/// Pairs of domains, the coarser one first.
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

/// What really happens, as far as it was looked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exact {
    /// Outcomes there are.
    pub(crate) outcomes: Outcomes,
    /// Whether something goes wrong.
    pub(crate) wrong: bool,
    /// Whether that is all there is, and the longest queue.
    pub(crate) longest: Option<u32>,
}

impl Exact {
    /// By the reference interpreter.
    pub(crate) fn by_reference(problem: &Problem, model: Model) -> Self {
        for bound in 1..=BOUND {
            let report = explore(problem, model, bound, REFERENCE_STATES);
            let whole = report.complete && !report.bound_hit;
            if whole || !report.complete || bound == BOUND {
                let longest = whole.then_some(bound as u32);
                return Exact {
                    wrong: is_wrong(problem, &report),
                    outcomes: report.outcomes,
                    longest,
                };
            }
        }
        unreachable!("the last bound ends it")
    }
}

/// Whether the reference saw something that a property of the problem forbids.
fn is_wrong(problem: &Problem, report: &Report) -> bool {
    let asked = |property| problem.properties.contains(&property);
    !report.faults.is_empty()
        || !report.assertion_failures.is_empty()
        || !report.invariant_violations.is_empty()
        || !report.operation_violations.is_empty()
        || (asked(Property::MutualExclusion) && report.mutual_exclusion_violated)
        || (asked(Property::DeadlockFree) && report.deadlock)
}

/// What an abstract search found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The outcomes of the abstract model.
    pub(crate) outcomes: Outcomes,
    /// Whether something goes wrong in it.
    pub(crate) wrong: bool,
    /// Whether everything was seen.
    pub(crate) complete: bool,
}

/// Searches an abstract model to the end, if it has no more than so many states.
pub(crate) fn search(
    problem: &Problem,
    coherence: Coherence,
    reductions: Reductions,
    states: u64,
) -> Found {
    let machine = Machine::new(problem, Buffered(coherence), reductions);
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let limits = Limits { states, ..Limits::default() };
    let (cancel, progress) = (&cancel, &progress);
    let threads = NonZeroUsize::MIN;
    let options = Options { limits, cancel, progress, threads, stop_at: None };
    let found = explore_ordered(&machine, options);
    let value = |four: &[u8; 4]| Value::from_le_bytes(*four);
    let outcome = |fact: &Vec<u8>| fact.as_chunks::<4>().0.iter().map(value).collect();
    Found {
        outcomes: found.facts.iter().map(outcome).collect(),
        wrong: found.target(VIOLATION).is_some(),
        complete: found.coverage == Coverage::Exhaustive,
    }
}

/// Whether no thread passes more store-store fences than epochs are counted. Beyond that, an abstract
/// model forgets an order that the exact one knows, however long its heads are.
fn has_few_epochs(problem: &Problem) -> bool {
    let counts = |op: &Op| {
        let Op::Fence(kinds) = op else { return false };
        *kinds != FenceKinds::FULL && kinds.contains(FenceKinds::STORE_STORE)
    };
    problem.program.threads.iter().all(|thread| {
        let fences = thread.code.iter().filter(|stmt| counts(&stmt.op)).count();
        let goes_back = |(at, stmt)| successors(stmt).any(|next| next.index() <= at);
        let has_loop = thread.code.iter().enumerate().any(goes_back);
        fences == 0 || (fences <= usize::from(LAST_EPOCH) && !has_loop)
    })
}

/// What a difference breaks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Broken {
    /// Something real is missing: the abstraction is not sound.
    Inclusion,
    /// A coarser domain lacks what a finer one has.
    Hierarchy,
    /// Something was added although the heads are long enough to know everything.
    Exactness,
}

/// Something that is not as it must be.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    pub(crate) broken: Broken,
    pub(crate) text: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.broken, self.text)
    }
}

/// How many searches an examination rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tally {
    /// Abstract searches that saw everything.
    pub(crate) complete: usize,
    /// Those that were cut short, and say nothing.
    pub(crate) cut: usize,
    /// Comparisons with heads that are long enough.
    pub(crate) exact: usize,
}

/// How to examine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    /// Searches with more states than this are cut short: what they did not find says nothing.
    pub(crate) states: u64,
    /// Whether to search without reductions, too.
    pub(crate) unreduced: bool,
    /// A deliberate error.
    pub(crate) mutated: Mutated,
}

impl Scope {
    /// For small programs.
    pub(crate) fn whole() -> Self {
        Scope { states: 30_000, unreduced: true, mutated: Mutated::default() }
    }
}

/// Holds the abstract models of one grouping against what really happens, and against each other.
pub(crate) fn examine(
    problem: &Problem,
    grouping: StoreBuffers,
    exact: &Exact,
    scope: Scope,
    tally: &mut Tally,
) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut say = |broken, text| differences.push(Difference { broken, text });
    let Scope { states, unreduced, mutated } = scope;
    let unreduced = unreduced.then_some((Reductions::NONE, "none"));
    let longest =
        exact.longest.filter(|_| grouping == StoreBuffers::Tso || has_few_epochs(problem));
    for (reductions, name) in [(Reductions::ALL, "all")].into_iter().chain(unreduced) {
        let mut sets: Vec<((Domain, u32), Option<Found>)> = Vec::new();
        let beyond = longest.filter(|k| !DOMAINS.contains(&(Domain::Full, *k)));
        for (domain, k) in DOMAINS.into_iter().chain(beyond.map(|k| (Domain::Full, k))) {
            let about = format!("{grouping:?} {} k={k} reductions {name}", domain.name());
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
                say(Broken::Inclusion, format!("{about}: outcomes missing: {missing:?}"));
            }
            if exact.wrong && !found.wrong {
                say(Broken::Inclusion, format!("{about}: verifies what goes wrong"));
            }
            if domain == Domain::Full && longest.is_some_and(|longest| k >= longest) {
                tally.exact += 1;
                let extra: Vec<_> = found.outcomes.difference(&exact.outcomes).collect();
                if !extra.is_empty() {
                    say(Broken::Exactness, format!("{about}: outcomes added: {extra:?}"));
                }
                if found.wrong && !exact.wrong {
                    say(Broken::Exactness, format!("{about}: something goes wrong"));
                }
            }
            sets.push(((domain, k), Some(found)));
        }
        let of = |which| sets.iter().find(|(domain, _)| *domain == which)?.1.as_ref();
        for (coarse, fine) in COARSER {
            let (Some(more), Some(less)) = (of(coarse), of(fine)) else { continue };
            let missing: Vec<_> = less.outcomes.difference(&more.outcomes).collect();
            let about = format!("{grouping:?} {coarse:?} over {fine:?} reductions {name}");
            if !missing.is_empty() {
                say(Broken::Hierarchy, format!("{about}: outcomes missing: {missing:?}"));
            }
            if less.wrong && !more.wrong {
                say(Broken::Hierarchy, format!("{about}: an error is missing"));
            }
        }
    }
    differences
}

/// Examines a source text under both models, with the reference as the exact side.
pub(crate) fn examine_source(
    source: &str,
    scope: Scope,
    tally: &mut Tally,
) -> Result<Vec<Difference>, String> {
    let problems = lower(source)?;
    let mut differences = Vec::new();
    for (_, grouping, model) in MODELS {
        let exact = Exact::by_reference(&problems[0], model);
        differences.extend(examine(&problems[0], grouping, &exact, scope, tally));
    }
    Ok(differences)
}
