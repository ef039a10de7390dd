//! Spin loops that give up.
//!
//! A spin hint in a loop is a [wait](crate::state::State::is_wait). This leaves out executions if
//! the loop ends without a change, for example because it counts its iterations. The first time
//! that a thread waits at a place, the loop runs alone, and nothing that it reads changes. If it
//! does anything but repeat its reads, it gives up. Then the verdict is bounded, and the wait is
//! not a hang.
//!
//! DIVERGENCE: a loop that gives up after more than [`MAX_HINTS`] iterations, or that gives up only
//! in some of its executions, is not recognised.

use crate::op::{Kind, Op, Site};
use crate::run::{Run, lock};
use crate::system::{ClosureSystem, Shared};
use std::collections::HashMap;
use std::panic::Location;
use std::sync::Mutex;

/// The number of iterations that a loop runs alone.
const MAX_HINTS: usize = 200;
/// The number of operations that a loop runs alone.
const MAX_OPERATIONS: usize = 5_000;

/// The spin loops that have waited, by thread and place: whether they give up.
#[derive(Default, Debug)]
pub(crate) struct SpinLoops {
    found: Mutex<HashMap<(usize, Location<'static>), bool>>,
}

impl SpinLoops {
    /// Returns the first loop in the source that gives up.
    pub(crate) fn giving_up(&self) -> Option<Location<'static>> {
        let found = lock(&self.found);
        found.iter().filter(|(_, gives_up)| **gives_up).map(|((_, at), _)| *at).min()
    }

    /// Returns whether the loop of a thread at this place is known to give up.
    pub(crate) fn gives_up(&self, thread: usize, at: Site) -> bool {
        lock(&self.found).get(&(thread, *at)).copied().unwrap_or(false)
    }
}

impl ClosureSystem<'_> {
    /// Examines the spin loop of a thread that waits at `at`, unless this is done. May end the
    /// current run of the closure, because only one can run at a time.
    pub(crate) fn examine_spin_loop(&mut self, thread: usize, at: Site) {
        let shared = self.shared;
        if lock(&shared.spin_loops.found).contains_key(&(thread, *at)) {
            return;
        }
        self.run = None;
        let gives_up = self.runs_out_of_loop(shared, thread);
        lock(&shared.spin_loops.found).insert((thread, *at), gives_up);
    }

    fn runs_out_of_loop(&self, shared: &Shared, thread: usize) -> bool {
        let awaited = self.state().reads_since_hint(thread);
        let mut alone = ClosureSystem::new(shared);
        alone.run = Some(Run::new(&shared.body, shared.at, &shared.names));
        if !self.records.iter().all(|record| alone.repeat(record)) {
            // The next step reports that the closure is not deterministic.
            return false;
        }
        let mut hints = 0;
        for _ in 0..MAX_OPERATIONS {
            let Some(op) = alone.next.get(&thread).copied() else { return true };
            let repeats = match op.kind {
                Kind::SpinHint => {
                    hints += 1;
                    true
                }
                Kind::Fence(_) => true,
                _ => {
                    let target = op.kind.target();
                    alone.state().only_reads(&op.kind)
                        && target.is_some_and(|target| awaited.contains(&target.loc))
                }
            };
            if !repeats {
                return true;
            }
            if hints > MAX_HINTS || !alone.can_repeat(thread, &op) {
                return false;
            }
            alone.execute(thread, false);
            if alone.failure.is_some() {
                return true;
            }
        }
        false
    }

    /// Returns whether an operation of a loop that runs alone can be performed.
    fn can_repeat(&self, thread: usize, op: &Op) -> bool {
        matches!(op.kind, Kind::SpinHint) || self.evaluate(self.state(), thread, Some(op)).enabled
    }
}
