//! The abstraction engine: one search of an abstract model, for store buffers of any length.
//!
//! Source: \[KVY11\] section 4. Direction: over-approximation. A verified program is correct. A
//! violation is followed step by step in the exact model ([`crate::concretise`]) and is reported
//! only if it happens there.

use crate::concretise::{SpuriousRun, concretise};
use crate::engine::{Answer, Budget, Decider, Engine, Settings, Statistics, Task};
use crate::evidence::{Evidence, Witness};
use crate::explicit::Explicit;
use crate::growing_variable::growing_variable;
use crate::path::{gap_of, options, outcomes, path};
use crate::robust::undecided;
use crate::verdict::{Bound, Explored, Findings, ReplayResult, Unsupported, judge};
use fencepost_ir::grace_period;
use fencepost_models::buffered::Buffered;
use fencepost_models::coherence::{Coherence, Domain};
use fencepost_models::machine::collapsed::Collapsed;
use fencepost_models::machine::system::{FIRST_WITNESS, VIOLATION};
use fencepost_models::replay::Trace;
use fencepost_models::{Fidelity, Machine};
use fencepost_search::{
    Antichain, Coverage, Exploration, Ordered, Relation, Target, WorkLimits, explore_ordered,
};

/// The abstraction engine. It delegates models without store buffers to the explicit engine.
#[derive(Clone, Copy, Debug)]
pub struct Abstraction {
    /// What is kept of a buffer behind its head.
    pub domain: Domain,
    /// The number of entries of the head.
    pub k: u32,
}

/// The machine of an abstract model.
type AbstractMachine<'p> = Machine<'p, Buffered<Coherence>>;
/// The system that is searched.
type Abstract<'m, 'p> = Collapsed<'m, 'p, Buffered<Coherence>>;

impl Engine for Abstraction {
    fn name(&self) -> &'static str {
        "abstraction"
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        self.search(task, settings, budget, Some(VIOLATION))
    }

    /// Computes the outcomes of the abstract model, a superset of those of the exact model.
    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        self.search(task, settings, budget, None)
    }
}

impl Abstraction {
    fn search(
        &self,
        task: Task<'_>,
        settings: Settings,
        budget: Budget<'_>,
        stop_at: Option<u32>,
    ) -> Answer {
        let Some(model) = task.model.abstracted(self.domain, self.k, false) else {
            return match stop_at {
                Some(_) => Explicit.run(task, settings, budget),
                None => Explicit.outcomes(task, settings, budget),
            };
        };
        if grace_period::occurs(&task.problem.program) {
            return undecided(Unsupported::GracePeriods, Decider::Abstraction(self.domain, self.k));
        }
        let cancel = budget.of_search();
        let budget = Budget { cancel: &cancel, ..budget };
        let machine = Machine::new(task.problem, model, settings.reductions)
            .within(WorkLimits::of_search(&cancel, settings.limits));
        let system = Collapsed::ordered(&machine);
        let found = explore_ordered(&system, options(settings, budget, settings.limits, stop_at));
        let statistics = Statistics::from_search(&found);
        let mut confirmed = Vec::new();
        let mut spurious_run = None;
        for target in found.targets.iter().filter(|t| t.class == VIOLATION) {
            match concretise_target(task, settings, &system, &found, *target, None) {
                None => {}
                Some(Ok(trace)) => {
                    confirmed.push(Evidence::replay(task, settings.reductions, &trace));
                }
                Some(Err(spurious)) => {
                    spurious_run.get_or_insert(spurious);
                }
            }
            let enough = confirmed.len() >= settings.traces.max(1);
            if enough || budget.cancel.reason().is_some() {
                break;
            }
        }
        let mut confirmed = confirmed.into_iter();
        let violation = match confirmed.next() {
            Some(evidence) => Some(ReplayResult::Confirmed(evidence)),
            None => spurious_run.as_ref().map(|_| ReplayResult::Spurious),
        };
        // The only bound of an abstract model is a bound on values.
        let explored = if found.coverage == Coverage::Bounded {
            Explored::Unsupported(Unsupported::Values)
        } else {
            Explored::of(found.coverage, Bound::Buffers, &cancel)
        };
        // A condition without a witness in the abstract model has none in the exact model. A
        // witness of the abstract model must be replayed on the exact model.
        let witnesses = match (&violation, &explored) {
            (None, Explored::Everything) => witnesses(task, settings, &system, &found),
            _ => Vec::new(),
        };
        // The work on witnesses may have been cut.
        let explored = if explored == Explored::Everything {
            Explored::of(found.coverage, Bound::Buffers, &cancel)
        } else {
            explored
        };
        let fidelity = Fidelity::Over;
        let gap = gap_of(&machine, &found);
        let verdict = judge(Findings { fidelity, explored, violation, witnesses, gap });
        let spurious_run = spurious_run.filter(|_| verdict.inconclusive().is_some());
        Answer {
            verdict,
            others: confirmed.collect(),
            statistics,
            outcomes: outcomes(&found),
            outcomes_complete: false,
            decider: Decider::Abstraction(self.domain, self.k),
            spurious_run,
            growing: growing_variable(&machine, &found, |state| system.unfold(state)),
            runs: None,
            abstracted_values: None,
        }
    }
}

/// Follows the path to a target of an abstract search in the exact model. The target is a
/// violation, or a witness of the condition at this position of `sometimes`. Returns `None` if the
/// search was cancelled.
fn concretise_target(
    task: Task<'_>,
    settings: Settings,
    system: &Abstract<'_, '_>,
    found: &Exploration<Antichain>,
    target: Target,
    witness: Option<usize>,
) -> Option<Result<Trace, Box<SpuriousRun>>> {
    let machine = system.machine;
    let (mut work, mut joined) = (machine.work(), Vec::new());
    let leads_to = |after: &[u8], next: &[u8]| {
        joined.clear();
        after == next
            || (are_comparable(machine, after, next)
                && machine.relate(next, after, &mut work, &mut joined) == Relation::Covered)
    };
    let path = path(system, found, target, leads_to)?;
    Some(concretise(task, settings.reductions, machine, path, witness))
}

/// Returns whether two states are comparable: they differ in the buffers only.
fn are_comparable(machine: &AbstractMachine<'_>, one: &[u8], other: &[u8]) -> bool {
    let key = |state: &[u8]| {
        let mut key = Vec::new();
        machine.key(state, &mut machine.work(), &mut key);
        key
    };
    key(one) == key(other)
}

/// Returns the witnesses that the search found, by position in `Problem::sometimes`.
fn witnesses(
    task: Task<'_>,
    settings: Settings,
    system: &Abstract<'_, '_>,
    found: &Exploration<Antichain>,
) -> Vec<Option<ReplayResult<Witness>>> {
    let classes = (FIRST_WITNESS..).zip(0..task.problem.sometimes.len());
    let witness = |(class, at)| {
        let target = found.target(class)?;
        Some(match concretise_target(task, settings, system, found, target, Some(at))? {
            Ok(trace) => {
                ReplayResult::Confirmed(Witness::replay(task, settings.reductions, at, &trace))
            }
            Err(_) => ReplayResult::Spurious,
        })
    };
    classes.map(witness).collect()
}
