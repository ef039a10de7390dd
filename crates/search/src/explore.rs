//! Parallel breadth-first search with a deterministic result for any number of threads.
//!
//! The states of one depth are expanded in rounds of at most `ROUND_CHUNKS` chunks. A round has two
//! phases:
//!
//! 1. *Expand*: threads claim chunks of states. The successors of a chunk are written to the
//!    outboxes of this chunk, one for each shard of the visited set. The visited set does not
//!    change.
//! 2. *Insert*: threads claim shards. For each shard, the outboxes are inserted in the order of the
//!    chunks.
//!
//! In each phase, every thread writes only to its own chunks or shards. Locks are therefore never
//! contended, and the order of states in every shard depends only on the system. Small rounds run
//! on the calling thread, in the same order.
//!
//! [`explore()`] keeps every state. [`resume`] continues a search that ended at its limit on states. If
//! its system has omitted steps because of its own bound, it expands the states concerned again, with a
//! larger bound.
//! If the [encoding](crate::Encoding) of states has become too small for a successor, a round is
//! repeated with a larger one.
//! [`explore_ordered`] uses an [`Antichain`]: it does not expand a
//! state that is replaced before the round of the state begins.

use crate::antichain::Antichain;
use crate::chunk::{Chunk, ChunkSink, Records};
use crate::level::{Level, is_large};
use crate::limits::{Cancel, Coverage, Limits, Progress, Stop};
use crate::system::{Ordered, TransitionSystem};
use crate::visited::{Arena, SHARDS, Shard, StateId, Visited};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The maximum number of chunks in a round.
const ROUND_CHUNKS: usize = 512;
/// The number of insertions by which prefetching of table slots is ahead.
const PREFETCH_DISTANCE: usize = 8;

/// The maximum number of targets that are kept for the class to stop at.
const MAX_STOP_TARGETS: usize = 64;

/// The options of a search.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The limits of the search.
    pub limits: Limits,
    /// The cancellation flag.
    pub cancel: &'a Cancel,
    /// Receives the progress of the search.
    pub progress: &'a Progress,
    /// The number of search threads.
    pub threads: NonZeroUsize,
    /// If set, the search stops when it finds a target of this class.
    pub stop_at: Option<u32>,
}

/// A target that the system reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// The state whose expansion reported the target.
    pub state: StateId,
    /// The class given by the system.
    pub class: u32,
    /// The detail given by the system.
    pub detail: u32,
}

/// The result of a search. `V` is the visited set: all states, or an [`Antichain`].
#[derive(Debug)]
pub struct Exploration<V = Shard> {
    /// How much of the state space was visited.
    pub coverage: Coverage,
    /// The first target of each class, at the smallest depth where the class occurs. For the class
    /// that stopped the search, also further targets at the same depth.
    pub targets: Vec<Target>,
    /// All facts.
    pub facts: BTreeSet<Vec<u8>>,
    /// Whether the system omitted steps because of its own bound.
    pub bounded: bool,
    /// The states whose expansion omitted such a step.
    pub(crate) cut: Vec<StateId>,
    /// What remains of the level at which a search ended at its limit on states.
    pub(crate) rest: Option<Level>,
    /// The number of visited states; for an ordered system, of members of the antichain.
    pub states: u64,
    /// The number of stored states: the members and the states that were replaced.
    pub stored: u64,
    /// The number of computed successors.
    pub transitions: u64,
    /// The largest depth of a state: the length of the longest shortest path. For an ordered
    /// system, the length of the longest path that was extended.
    pub depth: u32,
    /// The number of bytes allocated at the end of the search, which is the maximum.
    pub bytes: u64,
    pub(crate) shards: Vec<V>,
}

impl<V: AsRef<Arena>> Exploration<V> {
    /// Returns whether [`resume`] can continue this search with the same bound of its system.
    pub fn is_paused(&self) -> bool {
        self.rest.is_some()
    }

    /// Returns the states on a shortest path from an initial state to `state`, both included.
    ///
    /// For an ordered system, the first state covers an initial state, and every other state covers
    /// a successor of the previous state. Because of joins, it need not be that successor, and the
    /// path need not be shortest.
    pub fn path(&self, state: StateId) -> Vec<&[u8]> {
        let mut path = Vec::new();
        let mut at = state;
        while at != StateId::NONE {
            let arena = self.shards[at.shard()].as_ref();
            path.push(arena.state(at.index()));
            at = arena.parent(at.index());
        }
        path.reverse();
        path
    }

    /// Returns approximately `count` of the most recently stored states.
    pub fn latest(&self, count: usize) -> impl Iterator<Item = &[u8]> {
        let share = count.div_ceil(SHARDS);
        self.shards.iter().map(AsRef::as_ref).flat_map(move |shard: &Arena| {
            (shard.len().saturating_sub(share)..shard.len()).map(move |at| shard.state(at))
        })
    }

    /// Returns the first target of a class.
    pub fn target(&self, class: u32) -> Option<Target> {
        self.targets.iter().copied().find(|t| t.class == class)
    }
}

impl Exploration {
    /// Returns the state with this number in the [graph](crate::graph()) of the search.
    pub fn node(&self, number: u32) -> StateId {
        let mut index = number as usize;
        for (shard, states) in self.shards.iter().enumerate() {
            let len = states.as_ref().len();
            if index < len {
                return StateId::new(shard, index);
            }
            index -= len;
        }
        StateId::NONE
    }

    /// Returns the bytes of a state.
    pub fn state(&self, id: StateId) -> &[u8] {
        self.shards[id.shard()].as_ref().state(id.index())
    }
}

impl Exploration<Antichain> {
    /// Returns the members of the antichain in a deterministic order. If the search was not cut
    /// short, they cover all reachable states.
    pub fn members(&self) -> impl Iterator<Item = &[u8]> {
        self.shards.iter().flat_map(Antichain::member_states)
    }
}

/// Visits every reachable state of `system` in breadth-first order, within the limits.
pub fn explore<T: TransitionSystem>(system: &T, options: Options<'_>) -> Exploration {
    run(system, options)
}

/// Visits states of `system` in breadth-first order until the antichain covers every reachable
/// state, within the limits. The limit on states applies to stored states.
pub fn explore_ordered<T: Ordered>(system: &T, options: Options<'_>) -> Exploration<Antichain> {
    run(system, options)
}

/// Continues a search.
///
/// If the search is [paused](Exploration::is_paused), `system` is the same system, and the result is
/// that of a search with the new limit on states. Otherwise the search is complete except for steps
/// that it omitted because of the bound of its system. `system` is the same system with a larger bound:
/// its states have the same encoding, and an expansion that omits no step is the same with both bounds.
/// The result is that of a search with the larger bound, except that paths need not be shortest.
pub fn resume<T: TransitionSystem>(
    system: &T,
    found: Exploration,
    options: Options<'_>,
) -> Exploration {
    let mut search = Search::new(system, options, found.shards);
    search.targets = found.targets;
    search.facts = found.facts;
    search.transitions = found.transitions;
    let mut depth = found.depth;
    let first = match found.rest {
        Some(rest) => {
            search.cut = found.cut;
            match rest.chunks.is_empty() {
                true => {
                    depth += 1;
                    search.level_after(&rest.ends)
                }
                false => rest,
            }
        }
        None => {
            let is_bounded = found.coverage == Coverage::Bounded;
            assert!(is_bounded, "a resumed search is paused or complete up to its bound");
            let chunk = |id: StateId| (id.shard(), id.index()..id.index() + 1);
            Level { chunks: found.cut.into_iter().map(chunk).collect(), ends: search.lens() }
        }
    };
    let (coverage, depth) = search.levels(first, depth);
    search.finish(coverage, depth)
}

fn run<T: TransitionSystem, V: Visited<T>>(system: &T, options: Options<'_>) -> Exploration<V> {
    let mut search = Search::new(system, options, (0..SHARDS).map(|_| V::new()).collect());
    let (coverage, depth) = match search.start() {
        true => search.levels(search.level_after(&[0; SHARDS]), 0),
        false => (Coverage::Found, 0),
    };
    search.finish(coverage, depth)
}

struct Search<'a, T: TransitionSystem, V: Visited<T>> {
    system: &'a T,
    options: Options<'a>,
    shards: Vec<V>,
    chunks: Vec<Mutex<Chunk>>,
    scratch: T::Scratch,
    /// The working memory of the other threads.
    other_scratches: Vec<T::Scratch>,
    work: V::Work,
    other_works: Vec<V::Work>,
    targets: Vec<Target>,
    facts: BTreeSet<Vec<u8>>,
    transitions: u64,
    cut: Vec<StateId>,
    rest: Option<Level>,
}

impl<'a, T: TransitionSystem, V: Visited<T>> Search<'a, T, V> {
    fn new(system: &'a T, options: Options<'a>, shards: Vec<V>) -> Self {
        Search {
            system,
            options,
            shards,
            chunks: Vec::new(),
            scratch: system.scratch(),
            other_scratches: Vec::new(),
            work: V::work(system),
            other_works: Vec::new(),
            targets: Vec::new(),
            facts: BTreeSet::new(),
            transitions: 0,
            cut: Vec::new(),
            rest: None,
        }
    }

    fn finish(self, coverage: Coverage, depth: u32) -> Exploration<V> {
        Exploration {
            coverage,
            states: self.shards.iter().map(|s| s.count() as u64).sum(),
            stored: self.stored(),
            depth,
            bytes: self.bytes(),
            targets: self.targets,
            facts: self.facts,
            bounded: !self.cut.is_empty(),
            cut: self.cut,
            rest: self.rest,
            transitions: self.transitions,
            shards: self.shards,
        }
    }

    fn stored(&self) -> u64 {
        self.shards.iter().map(|s| s.as_ref().len() as u64).sum()
    }

    fn bytes(&self) -> u64 {
        let stored: u64 = self.shards.iter().map(V::bytes).sum();
        let in_flight: usize = self
            .chunks
            .iter()
            .filter_map(|c| c.lock().ok())
            .map(|c| c.outboxes.iter().map(Vec::capacity).sum::<usize>())
            .sum();
        let cut = self.cut.capacity() * size_of::<StateId>();
        stored + self.system.bytes() + (in_flight + cut) as u64
    }

    /// Inserts the initial states. Returns false if one of them is a target to stop at.
    fn start(&mut self) -> bool {
        self.chunks.push(Mutex::default());
        loop {
            let chunk = self.chunks[0].get_mut().unwrap_or_else(|e| e.into_inner());
            chunk.clear();
            let (system, shards, state) = (self.system, &self.shards, StateId::NONE);
            let work = RefCell::new(&mut self.work);
            let ends = &[0; SHARDS];
            let mut sink = ChunkSink { system, shards, ends, chunk, state, work };
            self.system.initial(&mut self.scratch, &mut sink);
            if !self.recode() {
                break;
            }
        }
        self.merge(1);
        self.insert(1, false);
        self.transitions = 0;
        !self.has_stop_target()
    }

    /// Returns the number of states of each shard.
    fn lens(&self) -> [usize; SHARDS] {
        std::array::from_fn(|shard| self.shards[shard].as_ref().len())
    }

    /// Returns the level with all states behind these ends of the previous one.
    fn level_after(&self, ends: &[usize; SHARDS]) -> Level {
        Level::between(ends, self.lens())
    }

    /// Expands the states of one depth after the other. Returns the coverage and the last depth.
    fn levels(&mut self, first: Level, first_depth: u32) -> (Coverage, u32) {
        let mut level = first;
        for depth in first_depth.. {
            let Level { chunks, ends } = level;
            if chunks.is_empty() {
                // A system may have left out work because of the flag.
                if let Some(reason) = self.options.cancel.reason() {
                    return (Coverage::Cut(reason), depth.max(1) - 1);
                }
                let bounded = !self.cut.is_empty();
                let coverage = if bounded { Coverage::Bounded } else { Coverage::Exhaustive };
                return (coverage, depth.max(1) - 1);
            }
            if depth >= self.options.limits.depth {
                return (Coverage::Cut(Stop::Depth), depth);
            }
            for (number, round) in chunks.chunks(ROUND_CHUNKS).enumerate() {
                if let Some(reason) = self.options.cancel.reason() {
                    return (Coverage::Cut(reason), depth);
                }
                loop {
                    if !self.expand(round, &ends) {
                        let reason = self.options.cancel.reason().unwrap_or(Stop::Interrupted);
                        return (Coverage::Cut(reason), depth);
                    }
                    if !self.recode() {
                        break;
                    }
                }
                self.merge(round.len());
                self.insert(round.len(), is_large(round));
                self.options.progress.states.store(self.stored(), Ordering::Relaxed);
                self.options.progress.depth.store(u64::from(depth), Ordering::Relaxed);
                if self.has_stop_target() {
                    return (Coverage::Found, depth);
                }
                if self.stored() >= self.options.limits.states {
                    let done = (number * ROUND_CHUNKS + round.len()).min(chunks.len());
                    self.rest = Some(Level { chunks: chunks[done..].to_vec(), ends });
                    return (Coverage::Cut(Stop::States), depth);
                }
                if self.bytes() >= self.options.limits.bytes
                    || self.system.is_full()
                    || self.shards.iter().any(|shard| shard.as_ref().is_full())
                {
                    self.options.cancel.record_out_of_memory();
                    return (Coverage::Cut(Stop::Memory), depth);
                }
            }
            level = self.level_after(&ends);
        }
        unreachable!("the loop over depths ends only by `return`")
    }

    fn has_stop_target(&self) -> bool {
        self.targets.iter().any(|t| self.options.stop_at == Some(t.class))
    }

    /// Phase 1: expands the chunks of a round. Returns false if the search was cancelled during the
    /// phase; the results are then incomplete.
    fn expand(&mut self, round: &[(usize, Range<usize>)], ends: &[usize; SHARDS]) -> bool {
        while self.chunks.len() < round.len() {
            self.chunks.push(Mutex::default());
        }
        let (system, shards, chunks) = (self.system, &self.shards, &self.chunks);
        let cancel = self.options.cancel;
        let next = AtomicUsize::new(0);
        let work = |scratch: &mut T::Scratch, work: &mut V::Work| {
            while cancel.reason().is_none() {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some((shard, range)) = round.get(at) else {
                    return true;
                };
                let mut chunk = chunks[at].lock().unwrap_or_else(|e| e.into_inner());
                chunk.clear();
                let members = range.clone().filter(|index| shards[*shard].is_member(*index));
                for index in members {
                    if cancel.reason().is_some() {
                        return false;
                    }
                    let (state, chunk) = (StateId::new(*shard, index), &mut *chunk);
                    let work = RefCell::new(&mut *work);
                    let mut sink = ChunkSink { system, shards, ends, chunk, state, work };
                    system.expand(shards[*shard].as_ref().state(index), scratch, &mut sink);
                }
            }
            false
        };
        if !is_large(round) || self.options.threads.get() == 1 {
            return work(&mut self.scratch, &mut self.work);
        }
        let others = self.options.threads.get() - 1;
        self.other_scratches.resize_with(others, || system.scratch());
        self.other_works.resize_with(others, || V::work(system));
        thread::scope(|scope| {
            let work = &work;
            let others: Vec<_> = (self.other_scratches.iter_mut().zip(&mut self.other_works))
                .map(|(scratch, compare)| scope.spawn(move || work(scratch, compare)))
                .collect();
            let completed = work(&mut self.scratch, &mut self.work);
            others.into_iter().fold(completed, |all, other| match other.join() {
                Ok(done) => all && done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })
    }

    /// Encodes the stored states again if the encoding has become too small. Returns whether it had.
    fn recode(&mut self) -> bool {
        let needs_recoding = self.system.needs_recoding();
        if needs_recoding {
            let recode = self.system.begin_recoding();
            self.shards.iter_mut().for_each(|shard| shard.recode(&recode));
            // The working memory may remember states.
            self.work = V::work(self.system);
            self.other_works.clear();
        }
        needs_recoding
    }

    /// Between the phases: collects targets, facts and counters in the order of the chunks.
    fn merge(&mut self, chunks: usize) {
        for chunk in &mut self.chunks[..chunks] {
            let chunk = chunk.get_mut().unwrap_or_else(|e| e.into_inner());
            self.transitions += chunk.transitions;
            self.cut.append(&mut chunk.cut);
            for target in chunk.targets.drain(..) {
                let is_stop_class = self.options.stop_at == Some(target.class);
                let known = self.targets.iter().filter(|t| t.class == target.class).count();
                if known == 0 || (is_stop_class && known < MAX_STOP_TARGETS) {
                    self.targets.push(target);
                }
            }
            self.facts.append(&mut chunk.facts);
        }
    }

    /// Phase 2: inserts the successors into the visited set.
    fn insert(&mut self, chunks: usize, large: bool) {
        let outboxes: Vec<&Chunk> = self.chunks[..chunks]
            .iter_mut()
            .map(|c| &*c.get_mut().unwrap_or_else(|e| e.into_inner()))
            .collect();
        let system = self.system;
        let insert_into = |id: usize, shard: &mut V, work: &mut V::Work| {
            for chunk in &outboxes {
                let mut ahead = Records(&chunk.outboxes[id]);
                let mut prefetched = 0;
                for _ in 0..PREFETCH_DISTANCE {
                    prefetched ^= ahead.next().map_or(0, |(hash, ..)| shard.prefetch(hash));
                }
                for (hash, parent, state) in Records(&chunk.outboxes[id]) {
                    prefetched ^= ahead.next().map_or(0, |(hash, ..)| shard.prefetch(hash));
                    shard.insert(system, hash, state, parent, work);
                }
                std::hint::black_box(prefetched);
            }
        };
        let threads = self.options.threads.get();
        if !large || threads == 1 {
            for (id, shard) in self.shards.iter_mut().enumerate() {
                insert_into(id, shard, &mut self.work);
            }
            return;
        }
        let shards: Vec<Mutex<&mut V>> = self.shards.iter_mut().map(Mutex::new).collect();
        let next = AtomicUsize::new(0);
        let work = |work: &mut V::Work| {
            loop {
                let id = next.fetch_add(1, Ordering::Relaxed);
                let Some(shard) = shards.get(id) else { return };
                insert_into(id, &mut shard.lock().unwrap_or_else(|e| e.into_inner()), work);
            }
        };
        self.other_works.resize_with(threads - 1, || V::work(system));
        thread::scope(|scope| {
            for other in &mut self.other_works {
                scope.spawn(|| work(other));
            }
            work(&mut self.work);
        });
    }
}
