//! The abstraction engine: one search of an abstract model, for store buffers of any length.
//!
//! Source: \[KVY11\] section 4. Direction: over. What it verifies is so. A violation it meets is tried on
//! the exact model, step by step ([`crate::concretise`]); only if it happens there it is reported as one.

use crate::concretise::{Suspect, concretise};
use crate::engine::{Answer, Budget, Decider, Engine, Settings, Statistics, Task};
use crate::evidence::{exists, missing_witness, options, outcomes, path};
use crate::explicit::Explicit;
use crate::growing::growing;
use crate::verdict::{Evidence, Inconclusive, Judgement, Verdict, Why, judge};
use fencepost_models::buffered::Buffered;
use fencepost_models::coherence::{Coherence, Domain};
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::{Fidelity, Machine};
use fencepost_search::{Antichain, Exploration, Ordered, Relation, Target, explore_ordered};

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
                Ok(evidence) => real.push(evidence),
                Err(doubt) => {
                    suspect.get_or_insert(doubt);
                }
            }
            let enough = real.len() >= settings.traces.max(1);
            if enough || budget.cancel.raised().is_some() {
                break;
            }
        }
        let violation = found.target(VIOLATION).is_some();
        let mut real = real.into_iter();
        let first = real.next();
        let verdict = match judge(Fidelity::Over, found.coverage, violation, first.is_some()) {
            Judgement::Violated => Verdict::Violated(first.expect("judged by it")),
            Judgement::Inconclusive(why) => {
                // The only bound of an abstract model is one on values.
                let why = if why == Why::Buffers { Why::Values } else { why };
                Verdict::Inconclusive(Inconclusive { why, clean_up_to: None })
            }
            Judgement::Verified => witnesses(task, settings, &machine, &found),
        };
        let suspect = suspect.filter(|_| matches!(verdict, Verdict::Inconclusive(_)));
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

/// Tries a target of an abstract search on the exact model: a violation, or a witness of the `final
/// exists` at this position of the properties.
fn tried(
    task: Task<'_>,
    settings: Settings,
    machine: &Abstract<'_>,
    found: &Exploration<Antichain>,
    target: Target,
    witness: Option<usize>,
) -> Result<Evidence, Box<Suspect>> {
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

/// With nothing violated and everything seen: a `final exists` that has no witness in the abstract model
/// has none; one that has needs a run of the exact model.
fn witnesses(
    task: Task<'_>,
    settings: Settings,
    machine: &Abstract<'_>,
    found: &Exploration<Antichain>,
) -> Verdict {
    if let Some(at) = missing_witness(machine, found) {
        return Verdict::Violated(Evidence::no_witness(at));
    }
    let mut first = None;
    for (at, class) in exists(machine) {
        let target = found.target(class).expect("none is missing");
        match tried(task, settings, machine, found, target, Some(at)) {
            Ok(run) => {
                first.get_or_insert(run);
            }
            Err(_) => {
                let why = Why::Spurious;
                return Verdict::Inconclusive(Inconclusive { why, clean_up_to: None });
            }
        }
    }
    Verdict::Verified(first)
}
