//! Explorations of random systems, undivided and in parts, compared with the traces that sleep sets
//! alone find.

use super::brute_force::{Interleavings, Trace, traces_with_sleep_sets};
use super::divisions::Division;
use super::subjects::Code;
use super::subjects::Op::{Await, Check, Lock, Pick, Read, Unlock, Update, Write};
use fencepost_testkit::{Random, report_comparisons, seeds};

/// The largest number of traces of a system that is explored.
const MAX_TRACES: usize = 150;

/// Returns the code of three or four threads with 6 to 14 operations. A thread may keep a lock.
pub(super) fn random_code(seed: u64, choices: bool) -> Code {
    let mut random = Random::new(seed);
    let threads = random.within(3, 4);
    let mut code: Code = vec![Vec::new(); threads];
    for at in 0..random.within(6, 14) {
        // Each thread has an operation.
        let thread = if at < threads { at } else { random.below(threads) };
        let cell = random.below(3) as u32;
        code[thread].push(match random.below(18) {
            0..4 => Read(cell),
            4..8 => Write(cell),
            8..10 => Check(cell),
            10..12 => Await(cell),
            12 => Lock(cell),
            13..15 => Unlock(cell),
            15..17 => Update(cell, (cell + 1) % 3),
            _ if choices => Pick(vec![cell, (cell + 1) % 3]),
            _ => Lock(cell),
        });
    }
    code
}

/// Returns random systems that do not have too many traces, with their traces.
fn random_systems(usual: u64, choices: bool) -> impl Iterator<Item = (u64, Code, Vec<Trace>)> {
    seeds(usual).filter_map(move |seed| {
        let code = random_code(seed, choices);
        let mut traces = traces_with_sleep_sets(&code, MAX_TRACES)?;
        traces.sort();
        Some((seed, code, traces))
    })
}

#[test]
fn every_trace_is_explored_once() {
    let mut compared = 0;
    for (seed, code, traces) in random_systems(300, false) {
        for division in Division::small().chain([Division::of(50_000)]) {
            let (counts, mut found) = division.explore(&code);
            assert_eq!(counts.redundant, 0, "{seed}: {code:?} {division:?}");
            found.sort();
            assert_eq!(found, traces, "{seed}: {code:?} {division:?}");
            compared += 1;
        }
    }
    report_comparisons("explorations of random systems", compared);
}

/// Alternatives share a footprint, so some traces may be explored more than once.
#[test]
fn no_trace_of_threads_with_choices_is_missed() {
    let mut compared = 0;
    for (seed, code, traces) in random_systems(150, true) {
        for division in Division::small().chain([Division::of(50_000)]) {
            let (_, mut found) = division.explore(&code);
            found.sort();
            found.dedup();
            assert_eq!(found, traces, "{seed}: {code:?} {division:?}");
            compared += 1;
        }
    }
    report_comparisons("explorations of random systems with choices", compared);
}

#[test]
fn the_oracles_agree() {
    for (seed, code, traces) in random_systems(200, true) {
        if code.iter().map(Vec::len).sum::<usize>() <= 9 {
            let all = Interleavings::of(&code).traces;
            assert!(traces.iter().eq(&all), "{seed}: {code:?}");
        }
    }
}
