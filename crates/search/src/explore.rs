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

use crate::limits::{Cancel, Coverage, Limits, Progress, Stop};
use crate::system::{Sink, TransitionSystem};
use crate::visited::{SHARDS, Shard, StateId, hash, shard_of};
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

/// What a search has found.
#[derive(Debug)]
pub struct Exploration {
    /// How much was seen.
    pub coverage: Coverage,
    /// The first target of each class, at the smallest depth at which that class occurs. Of the class
    /// that ended the search, also others met at the same depth.
    pub targets: Vec<Target>,
    /// All facts.
    pub facts: BTreeSet<Vec<u8>>,
    /// Whether the system left out steps because of a bound of its own.
    pub bounded: bool,
    /// States stored.
    pub states: u64,
    /// Successors computed.
    pub transitions: u64,
    /// The length of the longest shortest path.
    pub depth: u32,
    /// Bytes held at the end, which is when most are held.
    pub bytes: u64,
    pub(crate) shards: Vec<Shard>,
}

impl Exploration {
    /// The states on a shortest path from an initial state to `state`, both included.
    pub fn path(&self, state: StateId) -> Vec<&[u8]> {
        let mut path = Vec::new();
        let mut at = state;
        while at != StateId::NONE {
            let shard = &self.shards[at.shard()];
            path.push(shard.state(at.index()));
            at = shard.parent(at.index());
        }
        path.reverse();
        path
    }

    /// The first target of a class.
    pub fn target(&self, class: u32) -> Option<Target> {
        self.targets.iter().copied().find(|t| t.class == class)
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

struct ChunkSink<'a> {
    shards: &'a [Shard],
    /// By shard: one past the last state of the depth being expanded.
    ends: &'a [usize; SHARDS],
    chunk: &'a mut Chunk,
    state: StateId,
}

impl Sink for ChunkSink<'_> {
    #[inline]
    fn successor(&mut self, state: &[u8]) {
        let hash = hash(state);
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
        let hash = hash(state);
        let shard = shard_of(hash);
        self.shards[shard].find(hash, state).map_or(true, |index| index >= self.ends[shard])
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
    let mut search = Search {
        system,
        options,
        shards: (0..SHARDS).map(|_| Shard::new()).collect(),
        chunks: Vec::new(),
        scratch: system.scratch(),
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
        states: search.states(),
        transitions: search.transitions,
        depth,
        bytes: search.bytes(),
        shards: search.shards,
    }
}

struct Search<'a, T: TransitionSystem> {
    system: &'a T,
    options: Options<'a>,
    shards: Vec<Shard>,
    chunks: Vec<Mutex<Chunk>>,
    scratch: T::Scratch,
    found: Vec<Target>,
    facts: BTreeSet<Vec<u8>>,
    transitions: u64,
    bounded: bool,
}

impl<T: TransitionSystem> Search<'_, T> {
    fn states(&self) -> u64 {
        self.shards.iter().map(|s| s.len() as u64).sum()
    }

    fn bytes(&self) -> u64 {
        let stored: u64 = self.shards.iter().map(Shard::bytes).sum();
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
            let (shards, state) = (&self.shards, StateId::NONE);
            let mut sink = ChunkSink { shards, ends: &[0; SHARDS], chunk, state };
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
            let level: Vec<Range<usize>> =
                done.iter().zip(&self.shards).map(|(from, shard)| *from..shard.len()).collect();
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
                self.options.progress.states.store(self.states(), Ordering::Relaxed);
                self.options.progress.depth.store(u64::from(depth), Ordering::Relaxed);
                if self.must_stop() {
                    return (Coverage::Found, depth);
                }
                if self.states() >= self.options.limits.states {
                    return (Coverage::Cut(Stop::States), depth);
                }
                if self.bytes() >= self.options.limits.bytes
                    || self.shards.iter().any(Shard::is_full)
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
        let work = |scratch: &mut T::Scratch| {
            while cancel.raised().is_none() {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some((shard, range)) = round.get(at) else {
                    return true;
                };
                let mut chunk = chunks[at].lock().unwrap_or_else(|e| e.into_inner());
                chunk.clear();
                for index in range.clone() {
                    let state = StateId::new(*shard, index);
                    let mut sink = ChunkSink { shards, ends, chunk: &mut chunk, state };
                    system.expand(shards[*shard].state(index), scratch, &mut sink);
                }
            }
            false
        };
        if !is_large(round) || self.options.threads.get() == 1 {
            return work(&mut self.scratch);
        }
        thread::scope(|scope| {
            let others: Vec<_> = (1..self.options.threads.get())
                .map(|_| scope.spawn(|| work(&mut system.scratch())))
                .collect();
            let mine = work(&mut self.scratch);
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
        let fill = |id: usize, shard: &mut Shard| {
            for chunk in &outboxes {
                let mut ahead = Records(&chunk.outboxes[id]);
                let mut touched = 0;
                for _ in 0..AHEAD {
                    touched ^= ahead.next().map_or(0, |(hash, ..)| shard.touch(hash));
                }
                for (hash, parent, state) in Records(&chunk.outboxes[id]) {
                    touched ^= ahead.next().map_or(0, |(hash, ..)| shard.touch(hash));
                    shard.insert(hash, state, parent);
                }
                std::hint::black_box(touched);
            }
        };
        let threads = self.options.threads.get();
        if !large || threads == 1 {
            for (id, shard) in self.shards.iter_mut().enumerate() {
                fill(id, shard);
            }
            return;
        }
        let shards: Vec<Mutex<&mut Shard>> = self.shards.iter_mut().map(Mutex::new).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                let id = next.fetch_add(1, Ordering::Relaxed);
                let Some(shard) = shards.get(id) else { return };
                fill(id, &mut shard.lock().unwrap_or_else(|e| e.into_inner()));
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
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
