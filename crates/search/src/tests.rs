//! Comparison of the search with a naive search on generated graphs, on one and on several threads.

mod dives;
mod encodings;
mod ordered;
mod resumed;

use super::*;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;

/// A graph of numbers whose edges are given by a formula.
struct Formula {
    states: u32,
    edges: u32,
    seed: u32,
}

impl Formula {
    fn successors(&self, state: u32) -> Vec<u32> {
        (0..self.edges)
            .map(|k| {
                let mixed = (state ^ self.seed).wrapping_mul(2_654_435_761).rotate_left(7 + k);
                (state + 1 + mixed % (1 + state / 2 + k)) % self.states
            })
            .collect()
    }
}

impl Encoding for Formula {}

impl TransitionSystem for Formula {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial<S: Sink>(&self, (): &mut (), sink: &mut S) {
        sink.successor(&0u32.to_le_bytes());
    }

    fn expand<S: Sink>(&self, state: &[u8], (): &mut (), sink: &mut S) {
        let state = u32::from_le_bytes(state.try_into().expect("four bytes"));
        for next in self.successors(state) {
            sink.successor(&next.to_le_bytes());
        }
        if state % 1000 == 999 {
            sink.target(3, state);
        }
        sink.fact(&[state as u8 % 5]);
    }
}

fn search<T: TransitionSystem>(
    system: &T,
    threads: usize,
    limits: Limits,
    stop_at: Option<u32>,
) -> Exploration {
    explore(
        system,
        Options {
            limits,
            cancel: &Cancel::default(),
            progress: &Progress::default(),
            threads: NonZeroUsize::new(threads).expect("at least one thread"),
            stop_at,
        },
    )
}

fn naive_depths(system: &Formula) -> BTreeMap<u32, u32> {
    let mut depths = BTreeMap::from([(0, 0)]);
    let mut queue = VecDeque::from([0]);
    while let Some(state) = queue.pop_front() {
        for next in system.successors(state) {
            if !depths.contains_key(&next) {
                depths.insert(next, depths[&state] + 1);
                queue.push_back(next);
            }
        }
    }
    depths
}

#[test]
fn search_agrees_with_a_naive_search() {
    for (states, edges, seed) in [(1, 1, 0), (100, 2, 1), (60_000, 3, 2), (200_000, 2, 3)] {
        let system = Formula { states, edges, seed };
        let depths = naive_depths(&system);
        let found = search(&system, 2, Limits::default(), None);
        assert_eq!(found.coverage, Coverage::Exhaustive);
        assert_eq!(found.states, depths.len() as u64);
        assert_eq!(Some(&found.depth), depths.values().max());
        let nearest = depths.iter().filter(|(s, _)| *s % 1000 == 999).map(|(_, d)| *d).min();
        let target = found.target(3).map(|t| found.path(t.state).len() as u32 - 1);
        assert_eq!(target, nearest, "the target has minimal depth");
    }
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let system = Formula { states: 300_000, edges: 3, seed: 9 };
    for limits in [Limits::default(), Limits { states: 50_000, ..Limits::default() }] {
        for stop_at in [None, Some(3)] {
            let one = search(&system, 1, limits, stop_at);
            for threads in [2, 3] {
                let many = search(&system, threads, limits, stop_at);
                assert_eq!(
                    (one.coverage, one.states, one.transitions, one.depth),
                    (many.coverage, many.states, many.transitions, many.depth)
                );
                assert_eq!((&one.targets, &one.facts), (&many.targets, &many.facts));
                let target = one.targets[0].state;
                assert_eq!(one.path(target), many.path(target));
            }
        }
    }
}

#[test]
fn every_limit_is_reported_as_the_stop_reason() {
    let system = Formula { states: 300_000, edges: 3, seed: 9 };
    let limits = Limits::default();
    let cases = [
        (Limits { states: 1_000, ..limits }, Stop::States),
        (Limits { bytes: 100_000, ..limits }, Stop::Memory),
        (Limits { depth: 3, ..limits }, Stop::Depth),
    ];
    for (limits, reason) in cases {
        assert_eq!(search(&system, 2, limits, None).coverage, Coverage::Cut(reason));
    }
}

#[test]
fn cancellation_stops_the_search() {
    let cancel = Cancel::default();
    cancel.interrupt();
    cancel.time_out();
    let found = explore(
        &Formula { states: 300_000, edges: 3, seed: 9 },
        Options {
            limits: Limits::default(),
            cancel: &cancel,
            progress: &Progress::default(),
            threads: NonZeroUsize::MIN,
            stop_at: None,
        },
    );
    assert_eq!(found.coverage, Coverage::Cut(Stop::Interrupted));
}
