//! Compares explorations of small systems with an enumeration of all interleavings.

mod all_races;
mod brute_force;
mod divisions;
mod random_systems;
mod subjects;

use crate::{
    Attempt, CellAccess, End, Execution, Exploration, Limits, Move, MoveResult, NodeState,
    OpenNode, OpenTree, StopReason, System, TrackedMove, are_valid_traces, explore,
};
use brute_force::{Interleavings, trace};
use divisions::Division;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use subjects::Op::{Await, Check, Lock, Pick, Read, Require, Unlock, Write};
use subjects::{Code, Op, ReplaySystem, StackSystem};

/// Explores one execution for each trace of `code`.
fn traces(code: &Code) -> Exploration<Vec<brute_force::Trace>> {
    explore(|_| Some(StackSystem::new(code)), Exploration::traces([vec![]]), &Limits::default())
}

/// Asserts that each trace is explored exactly once and that no execution is redundant, for a
/// system with undo and for a system without.
fn assert_optimal(code: &Code) {
    let all = Interleavings::of(code);
    let stacked = traces(code);
    let counts = stacked.counts;
    assert_eq!((counts.redundant, counts.cut, stacked.stopped), (0, 0, None), "{code:?}");
    let mut found = stacked.findings;
    assert_eq!(found.len() as u64, counts.complete + counts.stuck, "{code:?}");
    found.sort();
    assert_eq!(found, all.traces.iter().cloned().collect::<Vec<_>>(), "{code:?}");
    assert_eq!(counts.stuck > 0, all.stuck > 0, "{code:?}");

    let runs = AtomicU64::new(0);
    let start = |_: &[u32]| Some(ReplaySystem::new(code, &runs));
    let replayed = explore(start, Exploration::traces([vec![]]), &Limits::default());
    assert_eq!(replayed.counts, counts, "{code:?}");

    for division in Division::small() {
        let (divided, mut traces) = division.explore(code);
        assert_eq!(divided, counts, "{code:?} {division:?}");
        traces.sort();
        assert_eq!(traces, found, "{code:?} {division:?}");
    }
}

/// Returns all lists of `length` operations from `ops`.
fn operation_lists(length: usize, ops: &[Op]) -> Vec<Vec<Op>> {
    let mut lists = vec![Vec::new()];
    for _ in 0..length {
        let longer = |list: Vec<Op>| {
            ops.iter().map(move |op| [list.as_slice(), std::slice::from_ref(op)].concat())
        };
        lists = lists.into_iter().flat_map(longer).collect();
    }
    lists
}

#[test]
fn every_trace_of_reads_and_writes_is_explored_once() {
    let ops = [Read(0), Write(0), Read(1), Write(1)];
    let (one, two) = (operation_lists(1, &ops), operation_lists(2, &ops));
    for a in &two {
        for b in &two {
            assert_optimal(&vec![a.clone(), b.clone()]);
            for c in &one {
                assert_optimal(&vec![a.clone(), b.clone(), c.clone()]);
            }
        }
    }
}

#[test]
fn every_trace_of_blocking_threads_is_explored_once() {
    let threads: [&[Op]; 8] = [
        &[Write(0)],
        &[Read(0), Write(1)],
        &[Lock(2), Write(0), Unlock(2)],
        &[Lock(2), Lock(3), Unlock(3), Unlock(2)],
        &[Lock(3), Lock(2), Unlock(2), Unlock(3)],
        &[Await(0), Write(1)],
        &[Await(1), Write(0)],
        &[Lock(2), Await(0), Unlock(2)],
    ];
    for (i, a) in threads.iter().enumerate() {
        for (j, b) in threads[i..].iter().enumerate() {
            assert_optimal(&vec![a.to_vec(), b.to_vec()]);
            for c in &threads[i + j..] {
                if a.len() + b.len() + c.len() <= 9 {
                    assert_optimal(&vec![a.to_vec(), b.to_vec(), c.to_vec()]);
                }
            }
        }
    }
}

#[test]
fn every_trace_of_threads_that_check_cells_is_explored_once() {
    let ops = [Read(0), Write(0), Check(0), Write(1), Check(1), Await(0)];
    // A linear congruential generator chooses the operations.
    let mut random = 1_u64;
    let mut choose = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        ops[(random >> 33) as usize % ops.len()].clone()
    };
    // The order of two events is decided twice, with different events after them.
    assert_optimal(&vec![
        vec![Write(1), Check(2), Read(0)],
        vec![Write(2), Write(0), Check(2)],
        vec![Write(2), Read(1)],
        vec![Write(2), Check(0)],
    ]);
    // A part must not decide alone that a race needs no second reversal.
    assert_optimal(&vec![
        vec![Write(0), Check(2), Read(0)],
        vec![Write(0), Write(2), Check(0)],
        vec![Write(0), Check(1)],
        vec![Read(1), Write(1)],
    ]);
    for _ in 0..1_000 {
        let code: Code = [2, 2, 2, 1].map(|length| (0..length).map(|_| choose()).collect()).into();
        assert_optimal(&code);
    }
}

/// Asserts that no trace is missed. Alternatives share a footprint, so some traces may be explored
/// more than once.
fn assert_complete(code: &Code) {
    let all = Interleavings::of(code);
    for division in Division::small().chain([Division::of(50_000)]) {
        let (_, mut found) = division.explore(code);
        found.sort();
        found.dedup();
        assert!(found.iter().eq(&all.traces), "{code:?} {division:?}");
    }
}

#[test]
fn no_trace_of_threads_with_choices_is_missed() {
    let pick = || Pick(vec![0, 1]);
    let ops = [Read(0), Write(0), Read(1), pick()];
    let (one, two) = (operation_lists(1, &ops), operation_lists(2, &ops));
    for a in two.iter().filter(|a| a.contains(&pick())) {
        for b in &two {
            for c in &one {
                assert_complete(&vec![a.clone(), b.clone(), c.clone()]);
            }
        }
    }
    let codes = [
        vec![vec![pick(), Read(0)], vec![Write(0), Write(1)], vec![Read(1)]],
        vec![vec![pick(), pick()], vec![pick(), Read(0)], vec![Write(1)]],
        vec![vec![Lock(2), pick(), Unlock(2)], vec![Lock(2), Read(0), Unlock(2)], vec![Write(0)]],
        vec![vec![pick(), Await(0)], vec![pick(), Await(1)]],
    ];
    codes.iter().for_each(assert_complete);
}

#[test]
fn a_failure_is_found_exactly_if_one_exists() {
    let codes = [
        vec![vec![Write(0)], vec![Require(0)]],
        vec![vec![Write(0), Write(1)], vec![Await(1), Require(0)]],
        vec![vec![Write(1), Write(0)], vec![Await(1), Require(0)]],
        vec![vec![Lock(2), Write(0), Unlock(2)], vec![Lock(2), Require(0), Unlock(2)]],
    ];
    for (code, fails) in codes.iter().zip([true, false, true, true]) {
        let all = Interleavings::of(code);
        assert_eq!(all.failed > 0, fails, "{code:?}");
        let stop = |_: &[u32]| Some(StackSystem::until_failure(code));
        for exploration in [Exploration::traces([vec![]]), Exploration::interleavings([vec![]], 4)]
        {
            let explored = explore(stop, exploration, &Limits::default());
            assert_eq!(explored.found, fails, "{code:?}");
        }
        assert_eq!(traces(code).counts.redundant, 0, "{code:?}");
    }
}

#[test]
fn all_interleavings_within_the_preemption_bound_are_explored() {
    let codes = [
        vec![vec![Write(0), Read(1)], vec![Write(1), Read(0)]],
        vec![vec![Read(0), Write(0)], vec![Read(0), Write(0)], vec![Write(0)]],
        vec![vec![Lock(2), Write(0), Unlock(2)], vec![Lock(2), Read(0), Unlock(2)]],
        vec![vec![Lock(2), Lock(3), Unlock(3)], vec![Lock(3), Lock(2), Unlock(2)]],
        vec![vec![Await(0), Write(1)], vec![Write(1), Write(0)], vec![Await(1)]],
        vec![vec![Pick(vec![0, 1]), Read(0)], vec![Write(0), Await(1)]],
    ];
    for code in &codes {
        let all = Interleavings::of(code);
        let most = all.by_preemptions.len();
        for bound in 0..=most {
            let start = |_: &[u32]| Some(StackSystem::new(code));
            let explored = |part| {
                let exploration = Exploration::interleavings([vec![]], bound as u32);
                explore(start, exploration, &Limits { part, ..Limits::default() })
            };
            let within: u64 = all.by_preemptions.iter().take(bound + 1).sum();
            for part in [1, 2, 5] {
                let executions = explored(part).counts.executions();
                assert_eq!(executions, within, "{code:?} {bound} in parts of {part}");
            }
            let explored = explored(50_000);
            assert_eq!(explored.counts.executions(), within, "{code:?} {bound}");
            // The bound may also have excluded a switch to a thread that is blocked.
            assert!(explored.counts.bounded || bound + 1 >= most, "{code:?} {bound}");
        }
        let start = |_: &[u32]| Some(StackSystem::new(code));
        let all = explore(start, Exploration::interleavings([vec![]], 9), &Limits::default());
        assert!(!all.counts.bounded, "{code:?}");
    }
}

/// The number of traces of [`large_code`]: enough to split the exploration.
const LARGE_TRACES: u64 = 11_550;

fn large_code() -> Code {
    vec![vec![Write(0); 4], vec![Write(0); 4], vec![Write(0); 3]]
}

fn limits_with_workers(number: usize) -> Limits<'static> {
    Limits { workers: NonZeroUsize::new(number).expect("at least one"), ..Limits::default() }
}

#[test]
fn the_result_does_not_depend_on_the_number_of_workers() {
    let code = large_code();
    let start = |_: &[u32]| Some(StackSystem::new(&code));
    let one = explore(start, Exploration::traces([vec![]]), &limits_with_workers(1));
    assert_eq!(one.counts.complete, LARGE_TRACES);
    let bounded = explore(start, Exploration::interleavings([vec![]], 5), &limits_with_workers(1));
    assert!(bounded.counts.bounded && bounded.counts.complete > 5_000);
    for number in [2, 5] {
        let more = explore(start, Exploration::traces([vec![]]), &limits_with_workers(number));
        assert_eq!((more.counts, &more.findings), (one.counts, &one.findings));
        let more =
            explore(start, Exploration::interleavings([vec![]], 5), &limits_with_workers(number));
        assert_eq!((more.counts, &more.findings), (bounded.counts, &bounded.findings));
    }
}

#[test]
fn the_finding_does_not_depend_on_the_number_of_workers() {
    let mut code = large_code();
    code[2].push(Require(1));
    let stop = |_: &[u32]| Some(StackSystem::until_failure(&code));
    let found =
        |number| explore(stop, Exploration::traces([vec![], vec![]]), &limits_with_workers(number));
    let one = found(1);
    assert!(one.found && one.findings.len() == 1);
    for number in [2, 5] {
        let more = found(number);
        assert_eq!((more.counts, &more.findings), (one.counts, &one.findings));
    }
}

#[test]
fn an_exploration_can_be_resumed() {
    let code = large_code();
    let start = |_: &[u32]| Some(StackSystem::new(&code));
    let mut exploration = Exploration::traces([vec![]]);
    let mut rounds = 0;
    loop {
        let executions = exploration.counts.executions() + 6_000;
        exploration = explore(start, exploration, &Limits { executions, ..Limits::default() });
        rounds += 1;
        if exploration.is_complete() {
            break;
        }
        assert_eq!(exploration.stopped, Some(StopReason::Executions));
        assert!(are_valid_traces(start, &exploration.traces));
    }
    assert!(rounds > 1, "{rounds}");
    assert_eq!((exploration.counts.complete, exploration.stopped), (LARGE_TRACES, None));
    exploration.findings.sort();
    exploration.findings.dedup();
    assert_eq!(exploration.findings.len() as u64, LARGE_TRACES);
}

#[test]
fn a_cancelled_exploration_can_be_resumed() {
    let code = large_code();
    let start = |_: &[u32]| Some(StackSystem::new(&code));
    let mut exploration = Exploration::traces([vec![]]);
    for checks in [0, 1_000, 10_000, 30_000, u64::MAX] {
        let count = AtomicU64::new(0);
        let cancelled = || count.fetch_add(1, Ordering::Relaxed) >= checks;
        let limits = Limits { cancelled: &cancelled, ..Limits::default() };
        exploration = explore(start, exploration, &limits);
        let stopped = (checks < u64::MAX).then_some(StopReason::Cancelled);
        assert_eq!(exploration.stopped, stopped, "{checks}");
    }
    assert_eq!((exploration.counts.complete, exploration.is_complete()), (LARGE_TRACES, true));
}

#[test]
fn traces_of_another_system_are_not_valid() {
    let code = vec![vec![Lock(0), Unlock(0)], vec![Lock(0), Unlock(0)]];
    let start = |at: &[u32]| at.is_empty().then(|| StackSystem::new(&code));
    let is_valid = |start_at: &[u32], parents: &[usize], threads: &[usize]| {
        let mut tree = OpenTree::new(start_at.to_vec());
        for (parent, thread) in parents.iter().zip(threads) {
            let mv = TrackedMove { mv: Move::of(*thread), footprint: vec![CellAccess::write(0)] };
            let state = NodeState::Planned;
            tree.nodes.push(OpenNode { before: Some((*parent, mv)), state });
        }
        are_valid_traces(start, &[tree])
    };
    assert!(is_valid(&[], &[0, 1, 2, 3], &[0, 0, 1, 1]));
    assert!(is_valid(&[], &[0, 0], &[0, 1]));
    assert!(!is_valid(&[], &[0, 1], &[0, 1]), "the lock is not free");
    assert!(!is_valid(&[], &[0, 1, 2], &[0, 0, 2]), "thread 2 does not exist");
    assert!(!is_valid(&[1], &[], &[]), "start [1] does not exist");
    assert!(!is_valid(&[], &[2, 1], &[0, 0]), "a node is before its parent");
}

#[test]
fn long_executions_are_cut() {
    let code = vec![vec![Write(0); 3], vec![Write(0); 3]];
    let start = |_: &[u32]| Some(StackSystem::new(&code));
    let limits = Limits { events: 4, ..Limits::default() };
    let explored = explore(start, Exploration::traces([vec![]]), &limits);
    let counts = explored.counts;
    assert!(counts.cut > 0 && counts.complete == 0 && counts.longest == 4, "{counts:?}");
    let limits = Limits { cut: 5, ..limits };
    let explored = explore(start, Exploration::traces([vec![]]), &limits);
    assert_eq!(explored.stopped, Some(StopReason::Cut));
    assert!(!explored.is_complete());
}

#[test]
fn a_system_without_undo_runs_once_for_each_trace() {
    let code = vec![vec![Write(0), Read(1)], vec![Write(1), Read(0)], vec![Write(0), Write(1)]];
    let runs = AtomicU64::new(0);
    let start = |_: &[u32]| Some(ReplaySystem::new(&code, &runs));
    let explored = explore(start, Exploration::traces([vec![]]), &Limits::default());
    let traces = explored.counts.complete;
    assert_eq!(traces, Interleavings::of(&code).traces.len() as u64);
    assert_eq!(runs.into_inner(), traces);
}

#[test]
fn conflicting_events_are_ordered_by_happens_before() {
    let mut execution = Execution::new(3);
    execution.push(Move::of(0), &[CellAccess::write(0)]);
    execution.push(Move::of(1), &[CellAccess::read(0)]);
    execution.push(Move::of(2), &[CellAccess::read(0), CellAccess::write(1)]);
    execution.push(Move::of(1), &[CellAccess::read(1)]);
    let before = |one, other| execution.happens_before(one, other);
    assert!(before(0, 1) && before(0, 2) && !before(1, 2) && before(2, 3) && before(1, 3));
    assert_eq!(
        (execution.clock(3), execution.accesses(1)),
        (&[1, 2, 1][..], &[(2, true), (3, false)][..])
    );
    assert_eq!(
        trace(execution.events().len(), |at| (&execution.events()[at].mv, execution.footprint(at)))
            .1
            .len(),
        4
    );
    execution.pop();
    assert_eq!((execution.len(), execution.accesses(1)), (3, &[(2, true)][..]));
}
