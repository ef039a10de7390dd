//! The graph of a finished search: its states numbered without gaps, its steps with their labels.
//!
//! [`explore`](crate::explore()) keeps states but no steps: most questions need none. A question about all
//! paths does. [`graph`] takes every step of every state once more and stores it as two numbers,
//! where it leads and which label it has; a label is a list of numbers whose meaning is the system's, kept
//! once. Beside the states there is one more node, the *goal*, for whatever the system wants to lead there.
//! Threads share the states in chunks, and chunks are put together in their order, so that the
//! result does not depend on the number of threads.
//!
//! Of an ordered system ([`graph_ordered`]) the nodes are the members of the antichain, and a step leads to the first
//! one that covers its state: the graph has all paths of the system, and more.

use crate::antichain::Antichain;
use crate::explore::Exploration;
use crate::limits::Cancel;
use crate::system::Ordered;
use crate::visited::{SHARDS, Visited, shard_of};
use rustc_hash::FxHashMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// States in a chunk.
const CHUNK: usize = 1024;

/// A system whose steps have labels.
pub trait Labelled: Sync {
    /// Working memory of one thread.
    type Scratch;

    /// Makes the working memory.
    fn scratch(&self) -> Self::Scratch;

    /// Tells the initial states, as steps without a label.
    fn initial(&self, scratch: &mut Self::Scratch, steps: &mut Steps<'_>);

    /// Tells the steps of a state.
    fn steps(&self, state: &[u8], scratch: &mut Self::Scratch, steps: &mut Steps<'_>);
}

/// Where a system tells its steps.
pub struct Steps<'a> {
    /// Knows the number of a state that the search has seen.
    number: &'a mut dyn FnMut(&[u8]) -> Option<u32>,
    goal: u32,
    part: &'a mut Part,
}

impl Steps<'_> {
    /// A step to a state.
    ///
    /// # Panics
    /// When the search has not seen that state.
    #[inline]
    pub fn to(&mut self, state: &[u8], label: &[u32]) {
        let to = (self.number)(state).expect("a search is complete before its graph is made");
        self.part.add(to, label);
    }

    /// A step to the goal.
    pub fn to_goal(&mut self, label: &[u32]) {
        self.part.add(self.goal, label);
    }
}

impl fmt::Debug for Steps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steps").field("part", &self.part).finish_non_exhaustive()
    }
}

/// The members of a visited set, numbered from 0.
#[derive(Debug)]
struct Numbering<'a, V> {
    shards: &'a [V],
    /// By shard: the number of its first member; then the number of members.
    firsts: [u32; SHARDS + 1],
    /// By shard: the indices of its members, unless every state is one.
    members: Vec<Option<Vec<u32>>>,
}

impl<'a, V> Numbering<'a, V> {
    fn new<T>(shards: &'a [V]) -> Self
    where
        V: Visited<T>,
    {
        let mut firsts = [0; SHARDS + 1];
        for (at, shard) in shards.iter().enumerate() {
            firsts[at + 1] = firsts[at] + shard.count() as u32;
        }
        Numbering { shards, firsts, members: shards.iter().map(V::members).collect() }
    }

    fn len(&self) -> u32 {
        self.firsts[SHARDS]
    }

    fn state<T>(&self, number: u32) -> &'a [u8]
    where
        V: Visited<T>,
    {
        let shard = self.firsts.partition_point(|first| *first <= number) - 1;
        let rank = (number - self.firsts[shard]) as usize;
        let index = self.members[shard].as_ref().map_or(rank, |members| members[rank] as usize);
        self.shards[shard].as_ref().state(index)
    }

    /// The number of the first member that stands for a state.
    #[inline]
    fn number<T>(&self, system: &T, state: &[u8], work: &mut V::Work) -> Option<u32>
    where
        V: Visited<T>,
    {
        let hash = V::hash(system, state, work);
        let shard = shard_of(hash);
        let index = self.shards[shard].standing_for(system, hash, state, usize::MAX, work)?;
        let rank = match &self.members[shard] {
            None => index,
            Some(members) => members.binary_search(&(index as u32)).ok()?,
        };
        Some(self.firsts[shard] + rank as u32)
    }
}

/// The steps of some consecutive states.
#[derive(Debug, Default)]
struct Part {
    /// By state: how many steps come before the end of its own.
    ends: Vec<u32>,
    targets: Vec<u32>,
    /// By step: the position of its label in `labels`.
    label_of: Vec<u32>,
    labels: Vec<Box<[u32]>>,
    known: FxHashMap<Box<[u32]>, u32>,
}

impl Part {
    #[inline]
    fn add(&mut self, to: u32, label: &[u32]) {
        let number = intern(&mut self.known, &mut self.labels, label);
        self.targets.push(to);
        self.label_of.push(number);
    }
}

fn intern(
    known: &mut FxHashMap<Box<[u32]>, u32>,
    labels: &mut Vec<Box<[u32]>>,
    label: &[u32],
) -> u32 {
    if let Some(number) = known.get(label) {
        return *number;
    }
    let number = labels.len() as u32;
    labels.push(label.into());
    known.insert(label.into(), number);
    number
}

/// States and labelled steps, as numbers.
#[derive(Clone, Debug)]
pub struct Graph {
    /// By node: where its steps begin; then how many there are.
    starts: Vec<u32>,
    targets: Vec<u32>,
    label_of: Vec<u32>,
    labels: Vec<Box<[u32]>>,
    initial: Vec<u32>,
}

impl Graph {
    /// The number of the empty label.
    pub const EMPTY: u32 = 0;

    /// A graph of so many states, from its steps `(from, to, label)` in any order. The goal's
    /// number is that of the states.
    pub fn from_steps(states: u32, initial: &[u32], steps: &[(u32, u32, Vec<u32>)]) -> Self {
        let mut graph = Graph::empty();
        let mut known = FxHashMap::from_iter([(Box::from([]), Graph::EMPTY)]);
        for state in 0..states {
            for (_, to, label) in steps.iter().filter(|(from, ..)| *from == state) {
                graph.targets.push(*to);
                graph.label_of.push(intern(&mut known, &mut graph.labels, label));
            }
            graph.starts.push(graph.targets.len() as u32);
        }
        graph.starts.push(graph.targets.len() as u32);
        graph.initial = initial.to_vec();
        graph
    }

    fn empty() -> Self {
        Graph {
            starts: vec![0],
            targets: Vec::new(),
            label_of: Vec::new(),
            labels: vec![Box::from([])],
            initial: Vec::new(),
        }
    }

    /// How many nodes there are: the states and the goal.
    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many steps there are.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// The goal. It has no steps.
    pub fn goal(&self) -> u32 {
        self.nodes() as u32 - 1
    }

    /// The initial nodes. The goal is among them when it is reached without a step.
    pub fn initial(&self) -> &[u32] {
        &self.initial
    }

    /// The steps of a node: where they lead, and the numbers of their labels.
    #[inline]
    pub fn steps(&self, node: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let range = self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize;
        let labels = self.label_of[range.clone()].iter();
        self.targets[range].iter().copied().zip(labels.copied())
    }

    /// The labels, by number.
    pub fn labels(&self) -> &[Box<[u32]>] {
        &self.labels
    }

    /// Bytes held, without the labels.
    pub fn bytes(&self) -> u64 {
        4 * (self.starts.len() + 2 * self.targets.len()) as u64
    }
}

/// The graph of what a search has seen; none when it was cancelled. The search must not have been cut
/// short.
pub fn graph<L: Labelled>(
    found: &Exploration,
    system: &L,
    threads: NonZeroUsize,
    cancel: &Cancel,
) -> Option<Graph> {
    build(found, system, threads, cancel)
}

/// The graph of what a search of an ordered system has kept; none when it was cancelled. The search must
/// not have been cut short. A step leads to the first member that equals or covers its state; nodes are numbered
/// in the order of [`Exploration::members`].
pub fn graph_ordered<L: Labelled + Ordered>(
    found: &Exploration<Antichain>,
    system: &L,
    threads: NonZeroUsize,
    cancel: &Cancel,
) -> Option<Graph> {
    build(found, system, threads, cancel)
}

fn build<L: Labelled, V: Visited<L>>(
    found: &Exploration<V>,
    system: &L,
    threads: NonZeroUsize,
    cancel: &Cancel,
) -> Option<Graph> {
    let states = Numbering::new(&found.shards);
    let goal = states.len();
    let chunks = (states.len() as usize).div_ceil(CHUNK);
    let parts: Vec<Mutex<Part>> = (0..chunks).map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut scratch, mut compare) = (system.scratch(), V::work(system));
        let mut number = |state: &[u8]| states.number(system, state, &mut compare);
        while cancel.raised().is_none() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(at) else { return };
            let mut part = part.lock().unwrap_or_else(|e| e.into_inner());
            let from = (at * CHUNK) as u32;
            for node in from..(from + CHUNK as u32).min(goal) {
                let mut steps = Steps { number: &mut number, goal, part: &mut part };
                system.steps(states.state(node), &mut scratch, &mut steps);
                let end = part.targets.len() as u32;
                part.ends.push(end);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.get().min(chunks) {
            scope.spawn(work);
        }
        work();
    });
    if cancel.raised().is_some() {
        return None;
    }
    let mut graph = Graph::empty();
    let mut known = FxHashMap::from_iter([(Box::from([]), Graph::EMPTY)]);
    graph.starts.reserve_exact(goal as usize + 1);
    for part in parts {
        let part = part.into_inner().unwrap_or_else(|e| e.into_inner());
        let names: Vec<u32> =
            part.labels.iter().map(|label| intern(&mut known, &mut graph.labels, label)).collect();
        let before = graph.targets.len() as u32;
        graph.starts.extend(part.ends.iter().map(|end| before + end));
        graph.targets.extend_from_slice(&part.targets);
        graph.label_of.extend(part.label_of.iter().map(|label| names[*label as usize]));
    }
    graph.starts.push(graph.targets.len() as u32);
    let mut first = Part::default();
    let mut compare = V::work(system);
    let mut number = |state: &[u8]| states.number(system, state, &mut compare);
    let mut steps = Steps { number: &mut number, goal, part: &mut first };
    system.initial(&mut system.scratch(), &mut steps);
    graph.initial = first.targets;
    graph.initial.sort_unstable();
    graph.initial.dedup();
    Some(graph)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Coverage, Limits, Options, Progress, Sink, TransitionSystem, explore};
    use std::collections::BTreeSet;

    /// A circle of numbers with short cuts; multiples of 1000 lead to the goal, too.
    struct Circle(u32);

    impl Circle {
        fn successors(&self, state: u32) -> [(u32, u32); 2] {
            [((state + 1) % self.0, 0), ((state * 7 + 3) % self.0, state % 5)]
        }
    }

    fn read(state: &[u8]) -> u32 {
        u32::from_le_bytes(state.try_into().expect("four bytes"))
    }

    impl TransitionSystem for Circle {
        type Scratch = ();

        fn scratch(&self) {}

        fn initial<S: Sink>(&self, (): &mut (), sink: &mut S) {
            sink.successor(&0u32.to_le_bytes());
        }

        fn expand<S: Sink>(&self, state: &[u8], (): &mut (), sink: &mut S) {
            for (next, _) in self.successors(read(state)) {
                sink.successor(&next.to_le_bytes());
            }
        }
    }

    impl Labelled for Circle {
        type Scratch = ();

        fn scratch(&self) {}

        fn initial(&self, (): &mut (), steps: &mut Steps<'_>) {
            steps.to(&0u32.to_le_bytes(), &[]);
        }

        fn steps(&self, state: &[u8], (): &mut (), steps: &mut Steps<'_>) {
            let state = read(state);
            for (next, label) in self.successors(state) {
                let label = [state, label];
                steps.to(&next.to_le_bytes(), if label[1] == 0 { &[] } else { &label });
            }
            if state.is_multiple_of(1000) {
                steps.to_goal(&[state]);
            }
        }
    }

    #[test]
    fn every_step_is_there_once_whatever_the_number_of_threads() {
        let system = Circle(20_000);
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let threads = NonZeroUsize::MIN;
        let (limits, stop_at) = (Limits::default(), None);
        let options = Options { limits, cancel: &cancel, progress: &progress, threads, stop_at };
        let found = explore(&system, options);
        assert_eq!(found.coverage, Coverage::Exhaustive);
        let numbers = Numbering::new::<Circle>(&found.shards);
        let number = |state: u32| {
            numbers.number(&system, &state.to_le_bytes(), &mut ()).expect("it is known")
        };
        let one = graph(&found, &system, threads, &cancel).expect("not cancelled");
        assert_eq!((one.nodes(), one.edges()), (20_001, 40_020));
        assert_eq!(one.initial(), [number(0)]);
        let mut seen = BTreeSet::new();
        for node in 0..numbers.len() {
            let state = read(numbers.state::<Circle>(node));
            seen.insert(state);
            let mut expected: Vec<(u32, Vec<u32>)> = Vec::new();
            for (next, label) in system.successors(state) {
                let to = number(next);
                expected.push((to, if label == 0 { Vec::new() } else { vec![state, label] }));
            }
            if state.is_multiple_of(1000) {
                expected.push((one.goal(), vec![state]));
            }
            let steps = one.steps(node);
            let steps = steps.map(|(to, label)| (to, one.labels()[label as usize].to_vec()));
            assert_eq!(steps.collect::<Vec<_>>(), expected);
        }
        assert_eq!(seen.len(), 20_000);
        assert_eq!(one.steps(one.goal()).count(), 0);
        for threads in [2, 3] {
            let threads = NonZeroUsize::new(threads).expect("some");
            let many = graph(&found, &system, threads, &cancel).expect("not cancelled");
            assert_eq!((&one.starts, &one.targets), (&many.starts, &many.targets));
            assert_eq!((&one.label_of, &one.labels), (&many.label_of, &many.labels));
        }
        cancel.interrupt();
        assert!(graph(&found, &system, threads, &cancel).is_none());
    }
}
