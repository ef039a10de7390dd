//! Happens-before of C11 with vector clocks, on an execution under SC.
//!
//! The program is the mapped one: the memory order of an access is a fence next to it. Therefore
//! only fences and atomic blocks synchronise:
//! - a release fence, then an atomic store or update of a location; an atomic load or update that
//!   reads from it, or from an update in its release sequence; then an acquire fence;
//! - an atomic block is an acquire of each location that it reads and a release of each location
//!   that it writes;
//! - freeing a record and allocating it again.
//!
//! A fence that orders stores with stores is a release fence, and a fence that orders loads with
//! loads is an acquire fence, as `smp_wmb()` and `smp_rmb()` are used.
//!
//! DIVERGENCE: a release store is a fence and a store here, so later relaxed stores of the thread
//! synchronise, too. In C11 they do not. The same holds for acquire loads.
//!
//! Rejected: the clocks of the robustness monitor. They order accesses by conflicts, and their
//! storage is made for undo, which is not needed here.

use fencepost_ir::{FenceKinds, Loc, ThreadId};

/// A vector clock: by thread, the number of its events that happened before. Missing numbers are 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Clock(Vec<u32>);

impl Clock {
    /// Returns the number of events of a thread that happened before.
    pub(crate) fn get(&self, t: ThreadId) -> u32 {
        self.0.get(t.index()).copied().unwrap_or(0)
    }

    fn tick(&mut self, t: ThreadId) -> u32 {
        if self.0.len() <= t.index() {
            self.0.resize(t.index() + 1, 0);
        }
        self.0[t.index()] += 1;
        self.0[t.index()]
    }

    fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, other) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*other);
        }
    }
}

/// The clocks of a thread.
#[derive(Clone, Debug, Default)]
struct ThreadClocks {
    /// What happened before the next event.
    now: Clock,
    /// What happened before the last release fence.
    released: Clock,
    /// What the next acquire fence acquires.
    acquirable: Clock,
}

/// Happens-before after the events so far.
#[derive(Clone, Debug)]
pub(crate) struct HappensBefore {
    threads: Vec<ThreadClocks>,
    /// By location: what a load of its value can acquire.
    locations: Vec<Clock>,
}

impl HappensBefore {
    /// No event happened yet.
    pub(crate) fn new(threads: usize, locations: usize) -> Self {
        HappensBefore {
            threads: vec![ThreadClocks::default(); threads],
            locations: vec![Clock::default(); locations],
        }
    }

    /// Returns what happened before the next event of a thread.
    pub(crate) fn now(&self, t: ThreadId) -> &Clock {
        &self.threads[t.index()].now
    }

    /// Adds an access of a thread. Returns its number among the events of the thread, from 1.
    pub(crate) fn tick(&mut self, t: ThreadId) -> u32 {
        self.threads[t.index()].now.tick(t)
    }

    /// A fence.
    pub(crate) fn fence(&mut self, t: ThreadId, kinds: FenceKinds) {
        let thread = &mut self.threads[t.index()];
        if kinds.contains(FenceKinds::LOAD_LOAD) {
            thread.now.join(&thread.acquirable);
        }
        if kinds.contains(FenceKinds::STORE_STORE) {
            thread.released.clone_from(&thread.now);
        }
    }

    /// An atomic load.
    pub(crate) fn load(&mut self, t: ThreadId, loc: Loc) {
        self.threads[t.index()].acquirable.join(&self.locations[loc.index()]);
    }

    /// An atomic store.
    pub(crate) fn store(&mut self, t: ThreadId, loc: Loc) {
        self.locations[loc.index()].clone_from(&self.threads[t.index()].released);
    }

    /// An atomic update that writes. It continues the release sequence of the value that it reads.
    pub(crate) fn update(&mut self, t: ThreadId, loc: Loc) {
        self.load(t, loc);
        self.locations[loc.index()].join(&self.threads[t.index()].released);
    }

    /// A plain store: nobody acquires anything from it.
    pub(crate) fn plain_store(&mut self, loc: Loc) {
        self.locations[loc.index()] = Clock::default();
    }

    /// A read of an atomic block.
    pub(crate) fn acquire(&mut self, t: ThreadId, loc: Loc) {
        self.threads[t.index()].now.join(&self.locations[loc.index()]);
    }

    /// A write of an atomic block, at the end of the block.
    pub(crate) fn release(&mut self, t: ThreadId, loc: Loc) {
        self.locations[loc.index()].clone_from(&self.threads[t.index()].now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: ThreadId = ThreadId(0);
    const Q: ThreadId = ThreadId(1);
    const X: Loc = Loc(0);

    fn message(release: FenceKinds, acquire: FenceKinds) -> bool {
        let mut order = HappensBefore::new(2, 1);
        let time = order.tick(P);
        order.fence(P, release);
        order.store(P, X);
        order.load(Q, X);
        order.fence(Q, acquire);
        order.now(Q).get(P) >= time
    }

    #[test]
    fn both_fences_are_needed() {
        assert!(message(FenceKinds::RELEASE, FenceKinds::ACQUIRE));
        assert!(message(FenceKinds::STORE_STORE, FenceKinds::LOAD_LOAD));
        assert!(!message(FenceKinds::STORE_LOAD, FenceKinds::ACQUIRE));
        assert!(!message(FenceKinds::RELEASE, FenceKinds::STORE_LOAD));
    }

    #[test]
    fn an_update_continues_a_release_sequence_and_a_store_ends_it() {
        let mut order = HappensBefore::new(2, 1);
        let time = order.tick(P);
        order.fence(P, FenceKinds::RELEASE);
        order.store(P, X);
        let mut updated = order.clone();
        updated.update(Q, X);
        updated.acquire(Q, X);
        assert!(updated.now(Q).get(P) >= time);
        order.store(Q, X);
        order.acquire(Q, X);
        assert_eq!(order.now(Q).get(P), 0);
    }
}
