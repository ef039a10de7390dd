//! Clauses from traces: computes the barriers that block a given run.
//!
//! The run of a thread is a list of items in program order: accesses, each with the event where it
//! took effect (for a store: its commit), the places that the thread passed, and other *visible
//! actions*, which are observable or end the run. Every other step (issue of a store, local
//! computation, choice) can be delayed until just before the thread's next effect without being
//! observable. So a barrier at a place blocks the run exactly if the run reordered two items there
//! that the barrier orders: an access before the place took effect after an access behind the place
//! (for a full fence: after any access or visible action behind it). Each barrier blocks the run
//! independently of other barriers. Therefore:
//!
//! - A placement without a member of the clause still allows the run, so it is not sufficient.
//! - The placement of the run never hits the clause.
//!
//! An invariant about control points is violated by arrivals, and requires none
//! ([`fencepost_ir::control_point`]). The arrivals that the violation needs are visible actions at
//! the end of the run. A thread that a barrier delays has not arrived. If it waits at an earlier
//! label instead, the invariant stays violated.
//!
//! A guess of a branch's direction is a local computation, too: a thread that fetches the branch
//! later, when the condition is known, continues in the same way. What a thread does behind a guess
//! is visible when the guess is resolved.
//!
//! The first property makes the cheapest hitting set a lower bound for every repair. The second
//! guarantees progress of the inference.

mod arrivals;
mod items;
mod ordered_accesses;

use items::{EventIndex, Item, NEVER, Side, VisibleAction, read_threads};

use crate::candidates::Candidates;
use crate::set::Set;
use fencepost_ir::{Atom, Barrier, FenceKinds, Label, Loc, PlaceId, Problem};
use fencepost_models::ModelSpec;
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_models::replay::ReplayedRun;

/// Returns the candidates that block a run of a (fenced) problem under a model.
pub fn blocking_clause(
    problem: &Problem,
    model: &ModelSpec,
    run: &ReplayedRun,
    candidates: &Candidates,
) -> Set {
    let mut found = Set::empty(candidates.len());
    let threads = read_threads(problem, model, run);
    if model.has_ordered_accesses() {
        ordered_accesses::add_blocking_orders(problem, &threads, candidates, &mut found);
    }
    for thread in &threads {
        for (at, item) in thread.iter().enumerate() {
            let Item::Place { place, side, critical } = *item else { continue };
            let context = PlaceContext::new(thread, at, critical);
            for position in positions_at(candidates, place) {
                let barrier = candidates.atoms[position].barrier;
                let is_blocked = match barrier {
                    Barrier::Order(_) if model.has_ordered_accesses() => false,
                    Barrier::Fence(kinds) if model.has_ordered_accesses() => context
                        .is_run_blocked_by_machine_fence(
                            &problem.program,
                            candidates,
                            (place, kinds),
                        ),
                    Barrier::Fence(_) | Barrier::Drain(_) | Barrier::Order(_) => {
                        context.is_run_blocked_by(barrier_at(barrier, side), candidates.mutated)
                    }
                };
                if is_blocked {
                    found.insert(position);
                }
            }
        }
    }
    found
}

/// Returns the barrier at one side of a place. A memory order is a fence on each side. It blocks a
/// run if one of them does.
fn barrier_at(barrier: Barrier, side: Side) -> Barrier {
    match (barrier, side) {
        (Barrier::Order(fences), Side::Before) => Barrier::Fence(fences.before),
        (Barrier::Order(fences), Side::After) => Barrier::Fence(fences.after),
        (Barrier::Fence(_) | Barrier::Drain(_), _) => barrier,
    }
}

/// Returns whether some access or visible action of the run took effect before an earlier one of
/// its thread.
pub fn is_reordered(problem: &Problem, model: &ModelSpec, run: &ReplayedRun) -> bool {
    read_threads(problem, model, run).iter().any(|thread| {
        let effects = thread.iter().flat_map(|item| match *item {
            Item::Access(access) => access.effects().collect(),
            Item::Action { effect, .. } => vec![effect],
            Item::Place { .. } | Item::Invoke { .. } | Item::Guess { .. } => Vec::new(),
        });
        let mut latest = 0;
        effects.into_iter().any(|effect| {
            let overtakes = effect < latest;
            latest = latest.max(effect);
            overtakes
        })
    })
}

/// Returns the positions of the candidates at a place.
fn positions_at(candidates: &Candidates, place: PlaceId) -> std::ops::Range<usize> {
    let from = candidates.atoms.partition_point(|atom| atom.place < place);
    let to = candidates.atoms.partition_point(|atom| atom.place <= place);
    from..to
}

/// The last effects before and the first effects after a place that a thread passed.
struct PlaceContext<'a> {
    before: &'a [Item],
    last_load: EventIndex,
    last_store: EventIndex,
    first_load: EventIndex,
    first_store: EventIndex,
    first_effect: EventIndex,
}

impl<'a> PlaceContext<'a> {
    fn new(items: &'a [Item], at: usize, critical: bool) -> Self {
        let (before, after) = (&items[..at], &items[at + 1..]);
        let mut context = PlaceContext {
            before,
            last_load: 0,
            last_store: 0,
            first_load: NEVER,
            first_store: NEVER,
            first_effect: NEVER,
        };
        for item in before {
            if let Item::Access(access) = *item {
                context.last_load = context.last_load.max(access.read.unwrap_or(0));
                context.last_store = context.last_store.max(access.write.unwrap_or(0));
            }
        }
        // A thread that a barrier delays inside its critical section is still in the section.
        let mut inside = critical;
        for item in after {
            match *item {
                Item::Access(access) => {
                    context.first_load = context.first_load.min(access.read.unwrap_or(NEVER));
                    context.first_store = context.first_store.min(access.write.unwrap_or(NEVER));
                    context.first_effect =
                        access.effects().fold(context.first_effect, EventIndex::min);
                }
                Item::Action { action: VisibleAction::InCriticalSection, .. } if inside => {}
                Item::Action { effect, action } => {
                    inside &= action != VisibleAction::LeaveCriticalSection;
                    context.first_effect = context.first_effect.min(effect);
                }
                Item::Place { .. } | Item::Invoke { .. } | Item::Guess { .. } => {}
            }
        }
        context
    }

    /// Returns whether a barrier at the place blocks the run.
    fn is_run_blocked_by(&self, barrier: Barrier, mutated: Mutated) -> bool {
        match barrier {
            Barrier::Fence(FenceKinds::FULL) => {
                let last = self.last_load.max(self.last_store);
                if mutated.is(Mutation::FullFenceBlocksAll) {
                    return last > 0;
                }
                if mutated.is(Mutation::FullFenceOnlyStoreLoad) {
                    return self.last_store > self.first_load;
                }
                last > self.first_effect
            }
            Barrier::Fence(kinds) => {
                let orders = |kind, earlier, later| kinds.contains(kind) && earlier > later;
                orders(FenceKinds::STORE_STORE, self.last_store, self.first_store)
                    || orders(FenceKinds::STORE_LOAD, self.last_store, self.first_load)
                    || orders(FenceKinds::LOAD_LOAD, self.last_load, self.first_load)
                    || orders(FenceKinds::LOAD_STORE, self.last_load, self.first_store)
            }
            Barrier::Drain(store) => {
                self.last_store_to(store) > self.first_effect
                    && !mutated.is(Mutation::DrainsIgnored)
            }
            Barrier::Order(_) => unreachable!("an order is a fence on each side"),
        }
    }

    /// Returns the time of the last effect of a store to the location that the store with this
    /// label wrote last before the place.
    fn last_store_to(&self, store: Label) -> EventIndex {
        let written = self.before.iter().rev().find_map(|item| {
            let Item::Access(access) = *item else { return None };
            (access.label == store).then_some(access.loc)
        });
        let Some(written) = written else { return 0 };
        let may_be_same = |loc: Option<Loc>| loc.is_none() || written.is_none() || loc == written;
        let stores = self.before.iter().filter_map(|item| {
            let Item::Access(access) = *item else { return None };
            access.write.filter(|_| may_be_same(access.loc))
        });
        stores.max().unwrap_or(0)
    }
}

/// Returns the barriers of a clause.
pub fn atoms<'c>(clause: &'c Set, candidates: &'c Candidates) -> impl Iterator<Item = Atom> + 'c {
    clause.iter().map(|position| candidates.atoms[position])
}
