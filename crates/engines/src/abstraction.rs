//! The abstraction engine: one search of an abstract model, for store buffers of any length.
//!
//! Source: \[KVY11\] section 4. Direction: over. What it verifies is so. A violation it meets is tried on
//! the exact model, step by step ([`crate::concretise`]); only if it happens there it is reported as one.

use crate::concretise::{Suspect, concretise};
use crate::engine::{Answer, Budget, Decider, Engine, Settings, Statistics, Task};
use crate::evidence::{Evidence, Witness};
use crate::explicit::Explicit;
use crate::growing::growing;
use crate::path::{options, outcomes, path};
use crate::verdict::{Bound, Explored, Findings, Met, Unsupported, judge};
use fencepost_models::buffered::Buffered;
use fencepost_models::coherence::{Coherence, Domain};
use fencepost_models::machine::system::{VIOLATION, WITNESS};
use fencepost_models::replay::Trace;
use fencepost_models::{Fidelity, Machine};
use fencepost_search::{
    Antichain, Coverage, Exploration, Ordered, Relation, Target, explore_ordered,
};

/// The abstraction engine. Models that are not made of store buffers are left to the explicit one.
#[derive(Clone, Copy, Debug)]
pub struct Abstraction {
    /// What is kept of a buffer behind its head.
    pub domain: Domain,
    /// How many entries its head has.
    pub k: u32,
}

/// A machine of an abstract model.
type Abstract<'p> = Machine<'p, Buffered<Coherence>>;

impl Engine for Abstraction {
    fn name(&self) -> &'static str {
        "abstraction"
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        self.search(task, settings, budget, Some(VIOLATION))
    }

    /// All outcomes of the abstract model: at least those of the exact one.
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
        let machine = Machine::new(task.problem, model, settings.reductions);
        let found = explore_ordered(&machine, options(settings, budget, settings.limits, stop_at));
        let statistics = Statistics::of(&found);
        let mut real = Vec::new();
        let mut suspect = None;
        for target in found.targets.iter().filter(|t| t.class == VIOLATION) {
            match tried(task, settings, &machine, &found, *target, None) {
                Ok(trace) => real.push(Evidence::replay(task, settings.reductions, &trace)),
                Err(doubt) => {
                    suspect.get_or_insert(doubt);
                }
            }
            let enough = real.len() >= settings.traces.max(1);
            if enough || budget.cancel.raised().is_some() {
                break;
            }
        }
        let mut real = real.into_iter();
        let violation = match real.next() {
            Some(evidence) => Some(Met::Replayed(evidence)),
            None => found.target(VIOLATION).map(|_| Met::Spurious),
        };
        // The only bound of an abstract model is one on values.
        let explored = if found.coverage == Coverage::Bounded {
            Explored::Unsupported(Unsupported::Values)
        } else {
            Explored::of(found.coverage, Bound::Buffers)
        };
        // A condition without a witness in the abstract model has none; one with a witness needs a run of
        // the exact model.
        let witnesses = match (&violation, &explored) {
            (None, Explored::Everything) => witnesses(task, settings, &machine, &found),
            _ => Vec::new(),
        };
        let fidelity = Fidelity::Over;
        let verdict = judge(Findings { fidelity, explored, violation, witnesses });
        let suspect = suspect.filter(|_| verdict.inconclusive().is_some());
        Answer {
            verdict,
            others: real.collect(),
            statistics,
            outcomes: outcomes(&found),
            outcomes_complete: false,
            by: Decider::Abstraction(self.domain, self.k),
            suspect,
            growing: growing(&machine, &found),
        }
    }
}

/// Tries a target of an abstract search on the exact model: a violation, or a witness of the condition at
/// this position of `sometimes`.
fn tried(
    task: Task<'_>,
    settings: Settings,
    machine: &Abstract<'_>,
    found: &Exploration<Antichain>,
    target: Target,
    witness: Option<usize>,
) -> Result<Trace, Box<Suspect>> {
    let (mut work, mut joined) = (machine.work(), Vec::new());
    let leads = |after: &[u8], next: &[u8]| {
        joined.clear();
        after == next
            || (keys_agree(machine, after, next)
                && machine.relate(next, after, &mut work, &mut joined) == Relation::Covered)
    };
    let path = path(machine, found, target, leads);
    concretise(task, settings.reductions, machine, path, witness)
}

/// Whether two states may be compared at all.
fn keys_agree(machine: &Abstract<'_>, one: &[u8], other: &[u8]) -> bool {
    let key = |state: &[u8]| {
        let mut key = Vec::new();
        machine.key(state, &mut machine.work(), &mut key);
        key
    };
    key(one) == key(other)
}

/// By position among the conditions that some run must meet: what is known of a witness.
fn witnesses(
    task: Task<'_>,
    settings: Settings,
    machine: &Abstract<'_>,
    found: &Exploration<Antichain>,
) -> Vec<Option<Met<Witness>>> {
    let classes = (WITNESS..).zip(0..task.problem.sometimes.len());
    let witness = |(class, at)| {
        let target = found.target(class)?;
        Some(match tried(task, settings, machine, found, target, Some(at)) {
            Ok(trace) => Met::Replayed(Witness::replay(task, settings.reductions, at, &trace)),
            Err(_) => Met::Spurious,
        })
    };
    classes.map(witness).collect()
}
