//! Partial-order reduction with races: all threads that may still access a location are about to
//! access it, so these steps are sufficient.
//!
//! Let T contain, for every thread that may still access a location `x`, one enabled step that
//! accesses `x` in memory. No thread of T accesses `x` in memory before its step of T
//! ([`MemoryModel::racing_step`]), and no other thread accesses `x` at all. So a step outside of T
//! that is taken before the first step of T accesses other locations. It commutes with the steps of
//! T of other threads, because these have no other effect outside of their threads, and with the
//! step of T of its own thread, for the reasons given at [`MemoryModel::issue_commutes`] and
//! [`MemoryModel::internal_commutes`]. T is therefore a persistent set. The steps of T must be
//! invisible, and their successors farther from the initial state, as in [`super::system`]. A step of
//! T may also issue an access and perform it ([`super::at_once`]).
//!
//! Without this rule, a test with n threads in which each thread communicates with the next one
//! has a number of states that is exponential in n: two neighbours race, so no step alone is
//! sufficient. With it, the races are explored one after the other.

use super::system::Scratch;
use super::{Machine, StepResult};
use crate::model::{MemoryModel, RacingStep};
use crate::mutation::Mutation;
use fencepost_ir::{Access, Loc};
use fencepost_search::Sink;

/// The least number of threads for which races are computed, by default. With few threads, a race
/// contains a step of most threads, so it omits little.
pub(super) const MIN_THREADS: usize = 5;

impl<M: MemoryModel> Machine<'_, M> {
    /// Explores only the steps of one race, if that is sufficient. Returns whether it is.
    pub(super) fn expand_race<S: Sink>(
        &self,
        scratch: &mut Scratch<M::Pending>,
        sink: &mut S,
    ) -> bool {
        if self.shape.program().threads.len() < self.race_threads {
            return false;
        }
        self.unpack_base(scratch);
        for t in self.shape.program().thread_ids() {
            scratch.locations.clear();
            self.model.racing_locations(&self.shape, &scratch.base, t, &mut scratch.locations);
            scratch.locations.extend(self.late_location(&scratch.base, t));
            for at in 0..scratch.locations.len() {
                let loc = scratch.locations[at];
                if self.find_race(loc, scratch) && self.emit_race(scratch, sink) {
                    return true;
                }
            }
        }
        false
    }

    /// Collects the steps of the race for a location. Returns whether there is a race.
    fn find_race(&self, loc: Loc, scratch: &mut Scratch<M::Pending>) -> bool {
        let Scratch { base, race, .. } = scratch;
        let shape = &self.shape;
        if !shape.is_unobserved(loc) || shape.cell[loc.index()].is_some() {
            return false;
        }
        race.clear();
        let accessing = shape.readers[loc.index()] | shape.writers[loc.index()];
        for t in shape.program().thread_ids() {
            if accessing >> t.index() & 1 == 0 {
                continue;
            }
            let future = &shape.thread(t).future_accesses;
            let pc = base.pcs[t.index()];
            let pending = self.model.pending_accesses_to(shape, &base.pending, t, loc);
            let may_access = future.loads(pc, loc)
                || future.stores(pc, loc)
                || pending != Access { loads: false, stores: false };
            if !may_access {
                continue;
            }
            let is_late = || self.late_location(base, t) == Some(loc);
            let step = self.model.racing_step(shape, base, t, loc);
            match step.or_else(|| is_late().then_some(RacingStep::AtOnce)) {
                Some(step) => race.push((t, step)),
                None if self.mutated.is(Mutation::RacesIgnoreOthers) => {}
                None => return false,
            }
        }
        !race.is_empty()
    }

    /// Reports the successors of the steps of a race, if the reduction may use all of them. Returns
    /// whether it may.
    fn emit_race<S: Sink>(&self, scratch: &mut Scratch<M::Pending>, sink: &mut S) -> bool {
        let mut saved = 0;
        for at in 0..scratch.race.len() {
            let (t, step) = scratch.race[at];
            scratch.choices.reset();
            loop {
                scratch.choices.rewind();
                let taken = match step {
                    RacingStep::Run => {
                        self.run(&mut scratch.work, t, &mut scratch.choices, &mut ())
                    }
                    RacingStep::Internal(step) => {
                        self.perform_internal_step(&mut scratch.work, t, step, &mut ())
                    }
                    RacingStep::AtOnce => self.run_at_once(&mut scratch.work, t, false),
                };
                let usable = taken == Ok(StepResult::Taken)
                    && self.save_reduced_successor(saved, t, scratch, sink);
                self.restore(&mut scratch.work, &scratch.base, t);
                if !usable {
                    return false;
                }
                saved += 1;
                if step != RacingStep::Run || !self.next_combination(&mut scratch.choices) {
                    break;
                }
            }
        }
        self.emit_saved(saved, scratch, sink);
        true
    }
}
