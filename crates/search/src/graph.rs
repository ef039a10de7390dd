//! The graph of a finished search: consecutively numbered states and labelled steps.
//!
//! [`explore`](crate::explore()) stores states but no steps. Analyses of all paths need the steps.
//! [`graph`] recomputes the steps of every state and stores each step as two numbers: its target
//! and its label. A label is a list of numbers that the system defines; equal labels are stored
//! once. The graph has one additional node, the *goal*. The system decides which steps lead to the
//! goal. Threads process chunks of states, and the chunks are combined in order, so the result does
//! not depend on the number of threads.
//!
//! For an ordered system ([`graph_ordered`]), the nodes are the members of the antichain, and a
//! step leads to the first member that covers its target. Direction: over-approximation. The graph
//! contains all paths of the system, and possibly more.

use crate::antichain::Antichain;
use crate::explore::Exploration;
use crate::limits::Cancel;
use crate::system::{Encoding, Ordered};
use crate::visited::{SHARDS, Visited, shard_of};
use rustc_hash::FxHashMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The number of states in a chunk.
const CHUNK_STATES: usize = 1024;

/// A transition system with labelled steps.
pub trait Labelled: Encoding + Sync {
    /// Working memory of one thread.
    type Scratch;

    /// Creates the working memory.
    fn scratch(&self) -> Self::Scratch;

    /// Adds the initial states to `steps`, as steps with an empty label.
    fn initial(&self, scratch: &mut Self::Scratch, steps: &mut Steps<'_>);

    /// Adds the steps of a state to `steps`.
    fn steps(&self, state: &[u8], scratch: &mut Self::Scratch, steps: &mut Steps<'_>);
}

/// The receiver of the steps of a state.
pub struct Steps<'a> {
    /// Returns the number of a visited state.
    number: &'a mut dyn FnMut(&[u8]) -> Option<u32>,
    goal: u32,
    chunk: &'a mut StepChunk,
}

impl Steps<'_> {
    /// Adds a step to a state.
    ///
    /// # Panics
    /// If the search has not visited the state.
    #[inline]
    pub fn to(&mut self, state: &[u8], label: &[u32]) {
        self.to_each(state, [label]);
    }

    /// Adds one step to a state for each label. Finds the state only once.
    ///
    /// # Panics
    /// If the search has not visited the state.
    #[inline]
    pub fn to_each<'l>(&mut self, state: &[u8], labels: impl IntoIterator<Item = &'l [u32]>) {
        let to = (self.number)(state).expect("the search visited all reachable states");
        labels.into_iter().for_each(|label| self.chunk.add(to, label));
    }

    /// Adds a step to the goal.
    pub fn to_goal(&mut self, label: &[u32]) {
        self.chunk.add(self.goal, label);
    }
}

impl fmt::Debug for Steps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steps").field("chunk", &self.chunk).finish_non_exhaustive()
    }
}

/// The members of a visited set, numbered from 0.
#[derive(Debug)]
struct Numbering<'a, V> {
    shards: &'a [V],
    /// Indexed by shard: the number of its first member. The last entry is the number of members.
    firsts: [u32; SHARDS + 1],
    /// Indexed by shard: the indices of its members, or `None` if all states are members.
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

    /// Returns the number of the first member that equals or covers a state.
    #[inline]
    fn number<T>(&self, system: &T, state: &[u8], work: &mut V::Work) -> Option<u32>
    where
        V: Visited<T>,
    {
        let hash = V::hash(system, state, None, work);
        let shard = shard_of(hash);
        let index = self.shards[shard].covering_member(system, hash, state, usize::MAX, work)?;
        let rank = match &self.members[shard] {
            None => index,
            Some(members) => members.binary_search(&(index as u32)).ok()?,
        };
        Some(self.firsts[shard] + rank as u32)
    }
}

/// The steps of a chunk of consecutive states.
#[derive(Debug, Default)]
struct StepChunk {
    /// Indexed by state: one past its last step.
    ends: Vec<u32>,
    targets: Vec<u32>,
    /// Indexed by step: the position of its label in `labels`.
    label_of: Vec<u32>,
    labels: Vec<Box<[u32]>>,
    label_numbers: FxHashMap<Box<[u32]>, u32>,
}

impl StepChunk {
    #[inline]
    fn add(&mut self, to: u32, label: &[u32]) {
        let number = intern(&mut self.label_numbers, &mut self.labels, label);
        self.targets.push(to);
        self.label_of.push(number);
    }
}

/// Returns the number of a label. Adds the label if it is new.
fn intern(
    label_numbers: &mut FxHashMap<Box<[u32]>, u32>,
    labels: &mut Vec<Box<[u32]>>,
    label: &[u32],
) -> u32 {
    if let Some(number) = label_numbers.get(label) {
        return *number;
    }
    let number = labels.len() as u32;
    labels.push(label.into());
    label_numbers.insert(label.into(), number);
    number
}

/// A graph of numbered nodes and labelled steps.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Indexed by node: its first step. The last entry is the number of steps.
    starts: Vec<u32>,
    targets: Vec<u32>,
    label_of: Vec<u32>,
    labels: Vec<Box<[u32]>>,
    initial: Vec<u32>,
}

impl Graph {
    /// The number of the empty label.
    pub const EMPTY: u32 = 0;

    /// Creates a graph from its steps `(from, to, label)`, in any order. The number of the goal is
    /// `states`.
    pub fn from_steps(states: u32, initial: &[u32], steps: &[(u32, u32, Vec<u32>)]) -> Self {
        let mut graph = Graph::empty();
        let mut label_numbers = FxHashMap::from_iter([(Box::from([]), Graph::EMPTY)]);
        for state in 0..states {
            for (_, to, label) in steps.iter().filter(|(from, ..)| *from == state) {
                graph.targets.push(*to);
                graph.label_of.push(intern(&mut label_numbers, &mut graph.labels, label));
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

    /// Returns the number of nodes: the states and the goal.
    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of steps.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// Returns the goal, which has no steps.
    pub fn goal(&self) -> u32 {
        self.nodes() as u32 - 1
    }

    /// Returns the initial nodes. They include the goal if it is reached without a step.
    pub fn initial(&self) -> &[u32] {
        &self.initial
    }

    /// Returns the steps of a node, each as its target and the number of its label.
    #[inline]
    pub fn steps(&self, node: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let range = self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize;
        let labels = self.label_of[range.clone()].iter();
        self.targets[range].iter().copied().zip(labels.copied())
    }

    /// Returns the labels, indexed by number.
    pub fn labels(&self) -> &[Box<[u32]>] {
        &self.labels
    }

    /// Returns the number of bytes in use, without the labels.
    pub fn bytes(&self) -> u64 {
        4 * (self.starts.len() + 2 * self.targets.len()) as u64
    }
}

/// Builds the graph of a search that was not cut short. Returns `None` if cancelled.
pub fn graph<L: Labelled>(
    found: &Exploration,
    system: &L,
    threads: NonZeroUsize,
    cancel: &Cancel,
) -> Option<Graph> {
    build(found, system, threads, cancel)
}

/// Builds the graph of a search of an ordered system that was not cut short. Returns `None` if
/// cancelled. A step leads to the first member that equals or covers its target. Nodes are numbered
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
    let chunks = (states.len() as usize).div_ceil(CHUNK_STATES);
    let step_chunks: Vec<Mutex<StepChunk>> = (0..chunks).map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut scratch, mut compare) = (system.scratch(), V::work(system));
        let mut number = |state: &[u8]| states.number(system, state, &mut compare);
        while cancel.reason().is_none() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = step_chunks.get(at) else { return };
            let mut chunk = chunk.lock().unwrap_or_else(|e| e.into_inner());
            let from = (at * CHUNK_STATES) as u32;
            for node in from..(from + CHUNK_STATES as u32).min(goal) {
                if cancel.reason().is_some() {
                    return;
                }
                let mut steps = Steps { number: &mut number, goal, chunk: &mut chunk };
                system.steps(states.state(node), &mut scratch, &mut steps);
                let end = chunk.targets.len() as u32;
                chunk.ends.push(end);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.get().min(chunks) {
            scope.spawn(work);
        }
        work();
    });
    let mut graph = Graph::empty();
    let mut label_numbers = FxHashMap::from_iter([(Box::from([]), Graph::EMPTY)]);
    graph.starts.reserve_exact(goal as usize + 1);
    for chunk in step_chunks {
        if cancel.reason().is_some() {
            return None;
        }
        let chunk = chunk.into_inner().unwrap_or_else(|e| e.into_inner());
        let numbers: Vec<u32> = chunk
            .labels
            .iter()
            .map(|label| intern(&mut label_numbers, &mut graph.labels, label))
            .collect();
        let before = graph.targets.len() as u32;
        graph.starts.extend(chunk.ends.iter().map(|end| before + end));
        graph.targets.extend_from_slice(&chunk.targets);
        graph.label_of.extend(chunk.label_of.iter().map(|label| numbers[*label as usize]));
    }
    graph.starts.push(graph.targets.len() as u32);
    let mut initial = StepChunk::default();
    let mut compare = V::work(system);
    let mut number = |state: &[u8]| states.number(system, state, &mut compare);
    let mut steps = Steps { number: &mut number, goal, chunk: &mut initial };
    system.initial(&mut system.scratch(), &mut steps);
    graph.initial = initial.targets;
    graph.initial.sort_unstable();
    graph.initial.dedup();
    // A system may have left out steps because of the flag.
    cancel.reason().is_none().then_some(graph)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Coverage, Encoding, Limits, Options, Progress, Sink, TransitionSystem, explore};
    use std::collections::BTreeSet;

    /// A cycle of numbers with short cuts. Multiples of 1000 also have a step to the goal.
    struct Cycle(u32);

    impl Cycle {
        fn successors(&self, state: u32) -> [(u32, u32); 2] {
            [((state + 1) % self.0, 0), ((state * 7 + 3) % self.0, state % 5)]
        }
    }

    fn read(state: &[u8]) -> u32 {
        u32::from_le_bytes(state.try_into().expect("four bytes"))
    }

    impl Encoding for Cycle {}

    impl TransitionSystem for Cycle {
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

    impl Labelled for Cycle {
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
    fn every_step_occurs_once_for_any_number_of_threads() {
        let system = Cycle(20_000);
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let threads = NonZeroUsize::MIN;
        let (limits, stop_at) = (Limits::default(), None);
        let options = Options { limits, cancel: &cancel, progress: &progress, threads, stop_at };
        let found = explore(&system, options);
        assert_eq!(found.coverage, Coverage::Exhaustive);
        let numbers = Numbering::new::<Cycle>(&found.shards);
        let number = |state: u32| {
            numbers.number(&system, &state.to_le_bytes(), &mut ()).expect("a visited state")
        };
        let one = graph(&found, &system, threads, &cancel).expect("not cancelled");
        assert_eq!((one.nodes(), one.edges()), (20_001, 40_020));
        assert_eq!(one.initial(), [number(0)]);
        let mut seen = BTreeSet::new();
        for node in 0..numbers.len() {
            let state = read(numbers.state::<Cycle>(node));
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
            let threads = NonZeroUsize::new(threads).expect("at least one thread");
            let many = graph(&found, &system, threads, &cancel).expect("not cancelled");
            assert_eq!((&one.starts, &one.targets), (&many.starts, &many.targets));
            assert_eq!((&one.label_of, &one.labels), (&many.label_of, &many.labels));
        }
        cancel.interrupt();
        assert!(graph(&found, &system, threads, &cancel).is_none());
    }
}
