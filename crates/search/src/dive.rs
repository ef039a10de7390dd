//! Depth-first search for a target, with a deterministic result.
//!
//! A breadth-first search reaches deep states last. A system with many independent components has
//! so many shallow states that it never gets there. A dive follows one path to its end before it
//! takes back a decision. It takes back late decisions first, so one dive covers only the runs that
//! begin alike. Therefore there are several dives, each with an equal share of the states. The
//! first one takes the successors in the order of the system, the second one in the opposite order,
//! and each further one in its own pseudo-random order.
//!
//! Direction: under. The result never claims to be exhaustive, except if a dive visits all states.

use crate::explore::{Exploration, Options, Target};
use crate::limits::{Coverage, Stop};
use crate::system::{Encoding, Sink, TransitionSystem};
use crate::visited::{Arena, SHARDS, Shard, StateId, Visited, hash, shard_of};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

/// The number of dives.
const DIVES: u64 = 16;

/// Searches for a target of the class to stop at, within the limits. The limit on states is for all
/// dives together. The result has the states and paths of the last dive, and the facts of all.
pub fn dive<T: TransitionSystem>(system: &T, options: Options<'_>) -> Exploration {
    let mut facts = BTreeSet::new();
    let (mut transitions, mut stored, mut number) = (0, 0, 0);
    loop {
        let left = options.limits.states.saturating_sub(stored);
        let share = (left / (DIVES - number)).max(1);
        let mut found = Dive::new(system, options, number).run(share, stored);
        number += 1;
        facts.append(&mut found.facts);
        transitions += found.transitions;
        stored += found.stored;
        let is_last = match found.coverage {
            Coverage::Cut(Stop::States) => number == DIVES || stored >= options.limits.states,
            Coverage::Cut(_) | Coverage::Exhaustive | Coverage::Bounded | Coverage::Found => true,
        };
        if is_last {
            return Exploration { facts, transitions, ..found };
        }
    }
}

/// One dive.
struct Dive<'a, T: TransitionSystem> {
    system: &'a T,
    options: Options<'a>,
    /// The number of the dive, which determines the order of successors.
    number: u64,
    shards: Vec<Shard>,
    results: Results,
}

/// The results of expansions.
#[derive(Default)]
struct Results {
    targets: Vec<Target>,
    facts: BTreeSet<Vec<u8>>,
    bounded: bool,
    transitions: u64,
    /// The successors of the state that is expanded.
    successors: Vec<Vec<u8>>,
}

impl<'a, T: TransitionSystem> Dive<'a, T> {
    fn new(system: &'a T, options: Options<'a>, number: u64) -> Self {
        let shards = (0..SHARDS).map(|_| <Shard as Visited<T>>::new()).collect();
        Dive { system, options, number, shards, results: Results::default() }
    }

    /// Runs the dive up to a number of states. `before` is the number of states of earlier dives.
    fn run(mut self, max_states: u64, before: u64) -> Exploration {
        let mut scratch = self.system.scratch();
        let mut stack: Vec<(StateId, u32)> = Vec::new();
        self.with_sink(StateId::NONE, |system, sink| system.initial(&mut scratch, sink));
        self.push_successors(StateId::NONE, 0, &mut stack);
        let mut deepest = 0;
        let mut coverage = None;
        let mut bytes: Vec<u8> = Vec::new();
        while coverage.is_none() {
            coverage = self.stop(max_states);
            let Some((state, depth)) = stack.pop().filter(|_| coverage.is_none()) else { break };
            deepest = deepest.max(depth);
            if depth >= self.options.limits.depth {
                coverage = Some(Coverage::Cut(Stop::Depth));
                break;
            }
            bytes.clear();
            let arena: &Arena = self.shards[state.shard()].as_ref();
            bytes.extend_from_slice(arena.state(state.index()));
            self.with_sink(state, |system, sink| system.expand(&bytes, &mut scratch, sink));
            self.push_successors(state, depth + 1, &mut stack);
            self.options.progress.states.store(before + self.stored(), Ordering::Relaxed);
            self.options.progress.depth.store(u64::from(depth), Ordering::Relaxed);
        }
        let coverage = coverage.unwrap_or(match (self.stop(u64::MAX), self.results.bounded) {
            (Some(stop), _) => stop,
            (None, true) => Coverage::Bounded,
            (None, false) => Coverage::Exhaustive,
        });
        let (stored, bytes) = (self.stored(), self.bytes());
        let Results { targets, facts, bounded, transitions, .. } = self.results;
        Exploration {
            coverage,
            targets,
            facts,
            bounded,
            cut: Vec::new(),
            rest: None,
            states: stored,
            stored,
            transitions,
            depth: deepest,
            bytes,
            shards: self.shards,
        }
    }

    /// Returns why the dive ends now, if it does.
    fn stop(&self, max_states: u64) -> Option<Coverage> {
        let stop_at = self.options.stop_at;
        if self.results.targets.iter().any(|target| Some(target.class) == stop_at) {
            return Some(Coverage::Found);
        }
        if let Some(reason) = self.options.cancel.reason() {
            return Some(Coverage::Cut(reason));
        }
        if self.stored() >= max_states {
            return Some(Coverage::Cut(Stop::States));
        }
        let is_full = self.bytes() >= self.options.limits.bytes
            || self.shards.iter().any(|shard| AsRef::<Arena>::as_ref(shard).is_full());
        if is_full {
            self.options.cancel.record_out_of_memory();
        }
        is_full.then_some(Coverage::Cut(Stop::Memory))
    }

    fn stored(&self) -> u64 {
        self.shards.iter().map(|shard| AsRef::<Arena>::as_ref(shard).len() as u64).sum()
    }

    fn bytes(&self) -> u64 {
        self.shards.iter().map(<Shard as Visited<T>>::bytes).sum()
    }

    fn with_sink(&mut self, state: StateId, expand: impl FnOnce(&T, &mut DiveSink<'_, T>)) {
        let Dive { system, shards, results, .. } = self;
        expand(system, &mut DiveSink { system, shards, results, state });
    }

    /// Stores the new successors of a state and pushes them, the one to expand next last.
    fn push_successors(&mut self, parent: StateId, depth: u32, stack: &mut Vec<(StateId, u32)>) {
        let mut successors = std::mem::take(&mut self.results.successors);
        match self.number {
            0 => successors.reverse(),
            1 => {}
            seed => {
                let mixed = |state: &[u8]| {
                    (hash(state) ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
                        .wrapping_mul(0xff51_afd7_ed55_8ccd)
                };
                successors.sort_by_cached_key(|state| mixed(state).rotate_left(31));
            }
        }
        for state in successors.drain(..) {
            let hash = hash(&state);
            let shard = shard_of(hash);
            let index = AsRef::<Arena>::as_ref(&self.shards[shard]).len();
            self.shards[shard].insert(self.system, hash, &state, parent, &mut ());
            if AsRef::<Arena>::as_ref(&self.shards[shard]).len() > index {
                stack.push((StateId::new(shard, index), depth));
            }
        }
        self.results.successors = successors;
    }
}

struct DiveSink<'a, T> {
    system: &'a T,
    shards: &'a [Shard],
    results: &'a mut Results,
    state: StateId,
}

impl<T: Encoding> Sink for DiveSink<'_, T> {
    fn successor(&mut self, state: &[u8]) {
        self.results.transitions += 1;
        self.results.successors.push(state.to_vec());
    }

    /// A state that is not stored yet is expanded later than the current state. On every cycle, the
    /// state that is expanded last has a successor that is stored. So the reduction expands it fully.
    fn is_farther(&self, state: &[u8]) -> bool {
        let hash = hash(state);
        let shard = &self.shards[shard_of(hash)];
        shard.covering_member(self.system, hash, state, usize::MAX, &mut ()).is_none()
    }

    fn target(&mut self, class: u32, detail: u32) {
        let targets = &mut self.results.targets;
        if !targets.iter().any(|target| target.class == class) {
            targets.push(Target { state: self.state, class, detail });
        }
    }

    fn fact(&mut self, fact: &[u8]) {
        if !self.results.facts.contains(fact) {
            self.results.facts.insert(fact.to_vec());
        }
    }

    fn bounded(&mut self) {
        self.results.bounded = true;
    }
}
