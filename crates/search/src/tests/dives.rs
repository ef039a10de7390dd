//! The depth-first search: finds deep targets, is deterministic, and respects its limits.

use super::{Formula, naive_depths, search};
use crate::*;
use std::num::NonZeroUsize;

/// Independent counters. The last state, in which all are full, is a target of class 7.
struct Counters {
    count: usize,
    full: u8,
}

impl Encoding for Counters {}

impl TransitionSystem for Counters {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial<S: Sink>(&self, (): &mut (), sink: &mut S) {
        sink.successor(&vec![0; self.count]);
    }

    fn expand<S: Sink>(&self, state: &[u8], (): &mut (), sink: &mut S) {
        if state.iter().all(|counter| *counter == self.full) {
            sink.target(7, 0);
            sink.fact(state);
        }
        for at in (0..self.count).filter(|at| state[*at] < self.full) {
            let mut next = state.to_vec();
            next[at] += 1;
            sink.successor(&next);
        }
    }
}

fn dived<T: TransitionSystem>(system: &T, limits: Limits, stop_at: Option<u32>) -> Exploration {
    let (cancel, progress) = (&Cancel::default(), &Progress::default());
    dive(system, Options { limits, cancel, progress, threads: NonZeroUsize::MIN, stop_at })
}

#[test]
fn a_dive_reaches_a_deep_target_before_a_breadth_first_search() {
    let system = Counters { count: 14, full: 3 };
    let limits = Limits { states: 20_000, ..Limits::default() };
    let found = dived(&system, limits, Some(7));
    assert_eq!(found.coverage, Coverage::Found);
    assert!(found.states < 1_000 && found.facts.len() == 1, "{} states", found.states);
    let path = found.path(found.target(7).expect("the target is found").state);
    assert_eq!(path.len(), 14 * 3 + 1);
    for pair in path.windows(2) {
        let steps: u8 = pair[0].iter().zip(pair[1]).map(|(before, after)| after - before).sum();
        assert_eq!(steps, 1, "neighbours are one step apart");
    }
    let again = dived(&system, limits, Some(7));
    assert_eq!(again.path(again.targets[0].state), path, "the search is deterministic");
}

#[test]
fn a_dive_without_limits_visits_every_state() {
    let system = Formula { states: 60_000, edges: 3, seed: 2 };
    let found = dived(&system, Limits::default(), None);
    assert_eq!(found.coverage, Coverage::Exhaustive);
    assert_eq!(found.states, naive_depths(&system).len() as u64);
    assert_eq!(found.facts, search(&system, 1, Limits::default(), None).facts);
}

/// The limit on states is for all dives together.
#[test]
fn a_dive_respects_its_limits() {
    let system = Counters { count: 14, full: 3 };
    let limits = Limits::default();
    let cases = [
        (Limits { states: 3_000, ..limits }, Stop::States),
        (Limits { bytes: 100_000, ..limits }, Stop::Memory),
        (Limits { depth: 3, ..limits }, Stop::Depth),
    ];
    for (limits, reason) in cases {
        let found = dived(&system, limits, Some(8));
        assert_eq!(found.coverage, Coverage::Cut(reason));
        // The last expansion of each dive may exceed its share.
        assert!(found.stored <= limits.states / 16 + 14 || reason != Stop::States);
    }
    let cancel = Cancel::default();
    cancel.time_out();
    let options = Options {
        limits,
        cancel: &cancel,
        progress: &Progress::default(),
        threads: NonZeroUsize::MIN,
        stop_at: None,
    };
    assert_eq!(dive(&system, options).coverage, Coverage::Cut(Stop::Time));
}
