//! Breadth-first search in rounds, the same result on any number of threads.
//!
//! States of one depth are expanded in rounds of at most `ROUND` chunks. A round has two phases:
//!
//! 1. *Expand*: threads claim chunks of states; each chunk writes its successors into its own
//!    outboxes, one for each shard of the visited set. The visited set does not change.
//! 2. *Insert*: threads take shards; each shard goes through the outboxes made for it in the order
//!    of the chunks.
//!
//! No phase shares anything it writes, so there are no locks to wait for, and the order of states in
//! every shard depends on the system alone. Small rounds run on the calling thread, in the same order.
//!
//! [`explore()`] keeps every state. [`explore_ordered`] does the same with an [`Antichain`]: a state that
//! another one has replaced by the beginning of its round is not expanded.

use crate::antichain::Antichain;
use crate::limits::{Cancel, Coverage, Limits, Progress, Stop};
use crate::system::{Ordered, Sink, TransitionSystem};
use crate::visited::{Arena, SHARDS, Shard, StateId, Visited, shard_of};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// States in a chunk.
const CHUNK: usize = 64;
/// Chunks in a round.
const ROUND: usize = 512;
/// Rounds of fewer states than this are not worth waking other threads for.
const PARALLEL: usize = 512;
/// How many insertions ahead the table is touched.
const AHEAD: usize = 8;

/// How many targets of the class that ends the search are kept.
const MANY: usize = 64;

/// What to search for and with how many threads.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// How far to go.
    pub limits: Limits,
    /// Ends the search from outside.
    pub cancel: &'a Cancel,
    /// Tells others how far it is.
    pub progress: &'a Progress,
    /// Search threads.
    pub threads: NonZeroUsize,
    /// Stop when a target of this class is found.
    pub stop_at: Option<u32>,
}

/// Something the system pointed at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// The state that was being expanded.
    pub state: StateId,
    /// The class given by the system.
    pub class: u32,
    /// The detail given by the system.
    pub detail: u32,
}

/// What a search has found. `V` is how it kept the states: all of them, or an [`Antichain`].
#[derive(Debug)]
pub struct Exploration<V = Shard> {
    /// How much was seen.
    pub coverage: Coverage,
    /// The first target of each class, at the smallest depth at which that class occurs. Of the class
    /// that ended the search, also others met at the same depth.
    pub targets: Vec<Target>,
    /// All facts.
    pub facts: BTreeSet<Vec<u8>>,
    /// Whether the system left out steps because of a bound of its own.
    pub bounded: bool,
    /// States visited; of an ordered system, the members of the antichain.
    pub states: u64,
    /// States stored: those of `states`, and those that were replaced.
    pub stored: u64,
    /// Successors computed.
    pub transitions: u64,
    /// The length of the longest shortest path; of an ordered system, the length of the longest path that
    /// was extended.
    pub depth: u32,
    /// Bytes held at the end, which is when most are held.
    pub bytes: u64,
    pub(crate) shards: Vec<V>,
}

impl<V: AsRef<Arena>> Exploration<V> {
    /// The states on a shortest path from an initial state to `state`, both included.
    ///
    /// Of an ordered system: states of which the first covers an initial one, and each other one covers a
    /// successor of the one before. It need not be that successor, because of joins, nor need
    /// the path be a shortest one.
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

    /// About so many of the states that were stored last.
    pub fn latest(&self, many: usize) -> impl Iterator<Item = &[u8]> {
        let share = many.div_ceil(SHARDS);
        self.shards.iter().map(AsRef::as_ref).flat_map(move |shard: &Arena| {
            (shard.len().saturating_sub(share)..shard.len()).map(move |at| shard.state(at))
        })
    }

    /// The first target of a class.
    pub fn target(&self, class: u32) -> Option<Target> {
        self.targets.iter().copied().find(|t| t.class == class)
    }
}

impl Exploration<Antichain> {
    /// The members of the antichain, always in the same order. When the search was not cut short, they cover
    /// all reachable states.
    pub fn members(&self) -> impl Iterator<Item = &[u8]> {
        self.shards.iter().flat_map(Antichain::states)
    }
}

/// A successor on its way to the visited set: hash, parent, length, then the bytes.
const HEADER: usize = 16;

/// What expanding one chunk produces.
#[derive(Default)]
struct Chunk {
    outboxes: [Vec<u8>; SHARDS],
    targets: Vec<Target>,
    facts: BTreeSet<Vec<u8>>,
    transitions: u64,
    bounded: bool,
}

impl Chunk {
    fn clear(&mut self) {
        for outbox in &mut self.outboxes {
            outbox.clear();
        }
        self.targets.clear();
        self.facts.clear();
        self.transitions = 0;
        self.bounded = false;
    }
}

struct ChunkSink<'a, T, V: Visited<T>> {
    system: &'a T,
    shards: &'a [V],
    /// By shard: one past the last state of the depth being expanded.
    ends: &'a [usize; SHARDS],
    chunk: &'a mut Chunk,
    state: StateId,
    work: RefCell<&'a mut V::Work>,
}

impl<T, V: Visited<T>> Sink for ChunkSink<'_, T, V> {
    #[inline]
    fn successor(&mut self, state: &[u8]) {
        let hash = V::hash(self.system, state, self.work.get_mut());
        let outbox = &mut self.chunk.outboxes[shard_of(hash)];
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&hash.to_le_bytes());
        header[8..12].copy_from_slice(&self.state.0.to_le_bytes());
        header[12..].copy_from_slice(&(state.len() as u32).to_le_bytes());
        outbox.extend_from_slice(&header);
        outbox.extend_from_slice(state);
        self.chunk.transitions += 1;
    }

    #[inline]
    fn is_farther(&self, state: &[u8]) -> bool {
        let work = &mut **self.work.borrow_mut();
        let hash = V::hash(self.system, state, work);
        let shard = shard_of(hash);
        let end = self.ends[shard];
        self.shards[shard].standing_for(self.system, hash, state, end, work).is_none()
    }

    fn target(&mut self, class: u32, detail: u32) {
        if !self.chunk.targets.iter().any(|t| t.class == class) {
            self.chunk.targets.push(Target { state: self.state, class, detail });
        }
    }

    fn fact(&mut self, fact: &[u8]) {
        if !self.chunk.facts.contains(fact) {
            self.chunk.facts.insert(fact.to_vec());
        }
    }

    fn bounded(&mut self) {
        self.chunk.bounded = true;
    }
}

/// The records of an outbox, one after another.
struct Records<'a>(&'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = (u64, StateId, &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (header, rest) = self.0.split_first_chunk::<HEADER>()?;
        let (hash, header) = header.split_first_chunk::<8>().expect("eight of sixteen bytes");
        let (parent, len) = header.split_first_chunk::<4>().expect("four of eight bytes");
        let len = u32::from_le_bytes(len.try_into().expect("the last four bytes")) as usize;
        let (state, rest) = rest.split_at(len);
        self.0 = rest;
        Some((u64::from_le_bytes(*hash), StateId(u32::from_le_bytes(*parent)), state))
    }
}

/// Visits every reachable state of `system`, breadth first, within the limits.
pub fn explore<T: TransitionSystem>(system: &T, options: Options<'_>) -> Exploration {
    run(system, options)
}

/// Visits states of `system`, breadth first, until the kept ones cover every reachable one, within the
/// limits. The limit on states is for those that are stored.
pub fn explore_ordered<T: Ordered>(system: &T, options: Options<'_>) -> Exploration<Antichain> {
    run(system, options)
}

fn run<T: TransitionSystem, V: Visited<T>>(system: &T, options: Options<'_>) -> Exploration<V> {
    let mut search = Search {
        system,
        options,
        shards: (0..SHARDS).map(|_| V::new()).collect(),
        chunks: Vec::new(),
        scratch: system.scratch(),
        work: V::work(system),
        found: Vec::new(),
        facts: BTreeSet::new(),
        transitions: 0,
        bounded: false,
    };
    let (coverage, depth) = search.run();
    Exploration {
        coverage,
        targets: search.found.clone(),
        facts: std::mem::take(&mut search.facts),
        bounded: search.bounded,
        states: search.shards.iter().map(|s| s.count() as u64).sum(),
        stored: search.stored(),
        transitions: search.transitions,
        depth,
        bytes: search.bytes(),
        shards: search.shards,
    }
}

struct Search<'a, T: TransitionSystem, V: Visited<T>> {
    system: &'a T,
    options: Options<'a>,
    shards: Vec<V>,
    chunks: Vec<Mutex<Chunk>>,
    scratch: T::Scratch,
    work: V::Work,
    found: Vec<Target>,
    facts: BTreeSet<Vec<u8>>,
    transitions: u64,
    bounded: bool,
}

impl<T: TransitionSystem, V: Visited<T>> Search<'_, T, V> {
    fn stored(&self) -> u64 {
        self.shards.iter().map(|s| s.as_ref().len() as u64).sum()
    }

    fn bytes(&self) -> u64 {
        let stored: u64 = self.shards.iter().map(V::bytes).sum();
        let flying: usize = self
            .chunks
            .iter()
            .filter_map(|c| c.lock().ok())
            .map(|c| c.outboxes.iter().map(Vec::capacity).sum::<usize>())
            .sum();
        stored + flying as u64
    }

    fn run(&mut self) -> (Coverage, u32) {
        self.chunks.push(Mutex::default());
        {
            let chunk = self.chunks[0].get_mut().unwrap_or_else(|e| e.into_inner());
            let (system, shards, state) = (self.system, &self.shards, StateId::NONE);
            let work = RefCell::new(&mut self.work);
            let ends = &[0; SHARDS];
            let mut sink = ChunkSink { system, shards, ends, chunk, state, work };
            self.system.initial(&mut self.scratch, &mut sink);
        }
        self.merge(1);
        self.insert(1, false);
        self.transitions = 0;
        if self.must_stop() {
            return (Coverage::Found, 0);
        }
        let mut done = [0; SHARDS];
        for depth in 0.. {
            let lens = self.shards.iter().map(|shard| shard.as_ref().len());
            let level: Vec<Range<usize>> =
                done.iter().zip(lens).map(|(from, len)| *from..len).collect();
            if level.iter().all(|range| range.is_empty()) {
                let whole = if self.bounded { Coverage::Bounded } else { Coverage::Exhaustive };
                return (whole, depth.max(1) - 1);
            }
            if depth >= self.options.limits.depth {
                return (Coverage::Cut(Stop::Depth), depth);
            }
            let ends = std::array::from_fn(|shard| level[shard].end);
            let pieces = pieces(&level);
            for round in pieces.chunks(ROUND) {
                if let Some(reason) = self.options.cancel.raised() {
                    return (Coverage::Cut(reason), depth);
                }
                if !self.expand(round, &ends) {
                    let reason = self.options.cancel.raised().unwrap_or(Stop::Interrupted);
                    return (Coverage::Cut(reason), depth);
                }
                self.merge(round.len());
                self.insert(round.len(), is_large(round));
                self.options.progress.states.store(self.stored(), Ordering::Relaxed);
                self.options.progress.depth.store(u64::from(depth), Ordering::Relaxed);
                if self.must_stop() {
                    return (Coverage::Found, depth);
                }
                if self.stored() >= self.options.limits.states {
                    return (Coverage::Cut(Stop::States), depth);
                }
                if self.bytes() >= self.options.limits.bytes
                    || self.shards.iter().any(|shard| shard.as_ref().is_full())
                {
                    return (Coverage::Cut(Stop::Memory), depth);
                }
            }
            done = ends;
        }
        unreachable!("the loop over depths only ends by returning")
    }

    fn must_stop(&self) -> bool {
        self.found.iter().any(|t| self.options.stop_at == Some(t.class))
    }

    /// Phase one. False when it was cancelled half-way: the round's results are then incomplete.
    fn expand(&mut self, round: &[(usize, Range<usize>)], ends: &[usize; SHARDS]) -> bool {
        while self.chunks.len() < round.len() {
            self.chunks.push(Mutex::default());
        }
        let (system, shards, chunks) = (self.system, &self.shards, &self.chunks);
        let cancel = self.options.cancel;
        let next = AtomicUsize::new(0);
        let work = |scratch: &mut T::Scratch, work: &mut V::Work| {
            while cancel.raised().is_none() {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some((shard, range)) = round.get(at) else {
                    return true;
                };
                let mut chunk = chunks[at].lock().unwrap_or_else(|e| e.into_inner());
                chunk.clear();
                let members = range.clone().filter(|index| shards[*shard].is_member(*index));
                for index in members {
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
        thread::scope(|scope| {
            let others: Vec<_> = (1..self.options.threads.get())
                .map(|_| scope.spawn(|| work(&mut system.scratch(), &mut V::work(system))))
                .collect();
            let mine = work(&mut self.scratch, &mut self.work);
            others.into_iter().fold(mine, |all, other| match other.join() {
                Ok(done) => all && done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })
    }

    /// Between the phases: collects everything but the successors, in the order of the chunks.
    fn merge(&mut self, chunks: usize) {
        for chunk in &mut self.chunks[..chunks] {
            let chunk = chunk.get_mut().unwrap_or_else(|e| e.into_inner());
            self.transitions += chunk.transitions;
            self.bounded |= chunk.bounded;
            for target in chunk.targets.drain(..) {
                let wanted = self.options.stop_at == Some(target.class);
                let known = self.found.iter().filter(|t| t.class == target.class).count();
                if known == 0 || (wanted && known < MANY) {
                    self.found.push(target);
                }
            }
            self.facts.append(&mut chunk.facts);
        }
    }

    /// Phase two.
    fn insert(&mut self, chunks: usize, large: bool) {
        let outboxes: Vec<&Chunk> = self.chunks[..chunks]
            .iter_mut()
            .map(|c| &*c.get_mut().unwrap_or_else(|e| e.into_inner()))
            .collect();
        let system = self.system;
        let fill = |id: usize, shard: &mut V, work: &mut V::Work| {
            for chunk in &outboxes {
                let mut ahead = Records(&chunk.outboxes[id]);
                let mut touched = 0;
                for _ in 0..AHEAD {
                    touched ^= ahead.next().map_or(0, |(hash, ..)| shard.touch(hash));
                }
                for (hash, parent, state) in Records(&chunk.outboxes[id]) {
                    touched ^= ahead.next().map_or(0, |(hash, ..)| shard.touch(hash));
                    shard.insert(system, hash, state, parent, work);
                }
                std::hint::black_box(touched);
            }
        };
        let threads = self.options.threads.get();
        if !large || threads == 1 {
            for (id, shard) in self.shards.iter_mut().enumerate() {
                fill(id, shard, &mut self.work);
            }
            return;
        }
        let shards: Vec<Mutex<&mut V>> = self.shards.iter_mut().map(Mutex::new).collect();
        let next = AtomicUsize::new(0);
        let work = |work: &mut V::Work| {
            loop {
                let id = next.fetch_add(1, Ordering::Relaxed);
                let Some(shard) = shards.get(id) else { return };
                fill(id, &mut shard.lock().unwrap_or_else(|e| e.into_inner()), work);
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| work(&mut V::work(system)));
            }
            work(&mut self.work);
        });
    }
}

fn is_large(round: &[(usize, Range<usize>)]) -> bool {
    round.iter().map(|(_, range)| range.len()).sum::<usize>() >= PARALLEL
}

/// A level cut into chunks: which shard, which states of it.
fn pieces(level: &[Range<usize>]) -> Vec<(usize, Range<usize>)> {
    let mut pieces = Vec::new();
    // Small levels go into one piece for each shard; there may be up to SHARDS of them.
    for (shard, range) in level.iter().enumerate() {
        let mut from = range.start;
        while from < range.end {
            let to = (from + CHUNK).min(range.end);
            pieces.push((shard, from..to));
            from = to;
        }
    }
    pieces
}
