//! Explorations that are divided in different ways: all must find the same traces, each once.

use super::brute_force::Trace;
use super::random_systems::random_code;
use super::subjects::{Code, Op, StackSystem};
use super::{Exploration, Limits, explore};
use crate::{Counts, StopReason};
use fencepost_testkit::{Random, report_comparisons, seeds};
use std::num::NonZeroUsize;

/// How an exploration is divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division {
    /// The number of executions of a part.
    pub(super) part: u64,
    pub(super) workers: usize,
    /// The exploration is stopped and resumed after this number of parts. A round has at most as
    /// many.
    pub(super) resumed_after: Option<u64>,
}

impl Division {
    /// Returns parts of this number of executions, with one worker.
    pub(super) fn of(part: u64) -> Self {
        Division { part, workers: 1, resumed_after: None }
    }

    /// Returns divisions into small parts.
    pub(super) fn small() -> impl Iterator<Item = Division> {
        let parts = [1, 2, 3, 5, 17].map(Division::of);
        let steps = [(1, 1), (1, 2), (1, 3), (2, 4)];
        let resumed = steps
            .map(|(part, parts)| Division { resumed_after: Some(parts), ..Division::of(part) });
        parts.into_iter().chain(resumed)
    }

    /// Explores a system. The findings are the traces in the order of exploration.
    pub(super) fn explore(self, code: &Code) -> (Counts, Vec<Trace>) {
        let Division { part, workers, resumed_after } = self;
        let start = |_: &[u32]| Some(StackSystem::new(code));
        let mut exploration = Exploration::traces([vec![]]);
        let mut findings = Vec::new();
        loop {
            let step = resumed_after.map_or(u64::MAX, |parts| parts * part);
            let executions = exploration.counts.executions().saturating_add(step);
            let workers = NonZeroUsize::new(workers).expect("at least one worker");
            let limits = Limits { part, workers, executions, ..Limits::default() };
            let explored = explore(start, exploration, &limits);
            findings.extend(explored.findings);
            if explored.traces.is_empty() {
                return (explored.counts, findings);
            }
            assert_eq!(explored.stopped, Some(StopReason::Executions), "{code:?} {self:?}");
            exploration = Exploration::resumed(explored.counts, explored.traces);
        }
    }
}

/// Returns the code of three or four threads with up to 18 operations.
fn larger_code(seed: u64) -> Code {
    let mut code = random_code(seed, false);
    let mut random = Random::new(seed ^ 0x5eed);
    for _ in 0..random.within(2, 6) {
        let thread = random.below(code.len());
        let cell = random.below(3) as u32;
        code[thread].push(if random.below(2) == 0 { Op::Read(cell) } else { Op::Write(cell) });
    }
    code
}

#[test]
fn larger_random_systems_have_the_same_traces_in_every_division() {
    let mut compared = 0;
    for seed in seeds(40) {
        let code = larger_code(seed);
        let start = |_: &[u32]| Some(StackSystem::new(&code));
        let limits = Limits { executions: 3_000, part: u64::MAX, ..Limits::default() };
        let whole = explore(start, Exploration::traces([vec![]]), &limits);
        if !whole.is_complete() || whole.counts.executions() < 100 {
            continue;
        }
        let mut traces = whole.findings;
        traces.sort();
        let distinct = traces.windows(2).all(|pair| pair[0] != pair[1]);
        assert!(distinct && whole.counts.redundant == 0, "{seed}: {code:?}");
        for division in Division::small().chain([7, 50, 333].map(Division::of)) {
            let (counts, mut found) = division.explore(&code);
            assert_eq!(counts, whole.counts, "{seed}: {code:?} {division:?}");
            found.sort();
            assert!(found == traces, "{seed}: {code:?} {division:?}");
            compared += 1;
        }
    }
    report_comparisons("divided explorations of larger random systems", compared);
}

#[test]
fn random_explorations_do_not_depend_on_the_number_of_workers() {
    for seed in seeds(60) {
        let code = random_code(seed, true);
        for part in [1, 3] {
            let limit = Limits { executions: 400, part: u64::MAX, ..Limits::default() };
            let start = |_: &[u32]| Some(StackSystem::new(&code));
            if !explore(start, Exploration::traces([vec![]]), &limit).is_complete() {
                continue;
            }
            let one = Division::of(part).explore(&code);
            for workers in [2, 3] {
                let more = Division { workers, ..Division::of(part) }.explore(&code);
                assert!(more == one, "{seed}: {code:?} in parts of {part}, {workers} workers");
            }
        }
    }
}
