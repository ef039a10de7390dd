//! Small systems, explored and compared with all interleavings, taken one by one.

mod brute_force;
mod subjects;

use crate::{Attempt, End, Execution, Exploration, Limits, Move, Part, Step, Stopped, System};
use crate::{Touch, explore, fits};
use brute_force::{Interleavings, trace};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use subjects::Op::{Await, Lock, Pick, Read, Require, Unlock, Write};
use subjects::{Code, Op, Replayed, Stacked};

/// Explores one execution for each trace.
fn traces(code: &Code) -> Exploration<Vec<brute_force::Trace>> {
    explore(|_| Some(Stacked::new(code)), Exploration::traces([vec![]]), &Limits::default())
}

/// Every trace is explored once, and nothing else, by a system with undo and by one without.
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
    let start = |_: &[u32]| Some(Replayed::new(code, &runs));
    let replayed = explore(start, Exploration::traces([vec![]]), &Limits::default());
    assert_eq!(replayed.counts, counts, "{code:?}");
}

/// Lists of so many of these operations.
fn lists(length: usize, ops: &[Op]) -> Vec<Vec<Op>> {
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
    let (one, two) = (lists(1, &ops), lists(2, &ops));
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
fn every_trace_of_threads_that_wait_is_explored_once() {
    let menu: [&[Op]; 8] = [
        &[Write(0)],
        &[Read(0), Write(1)],
        &[Lock(2), Write(0), Unlock(2)],
        &[Lock(2), Lock(3), Unlock(3), Unlock(2)],
        &[Lock(3), Lock(2), Unlock(2), Unlock(3)],
        &[Await(0), Write(1)],
        &[Await(1), Write(0)],
        &[Lock(2), Await(0), Unlock(2)],
    ];
    for (i, a) in menu.iter().enumerate() {
        for (j, b) in menu[i..].iter().enumerate() {
            assert_optimal(&vec![a.to_vec(), b.to_vec()]);
            for c in &menu[i + j..] {
                if a.len() + b.len() + c.len() <= 9 {
                    assert_optimal(&vec![a.to_vec(), b.to_vec(), c.to_vec()]);
                }
            }
        }
    }
}

/// No trace is missed. Alternatives count as touching the same cells, so that some traces may be explored twice.
fn assert_complete(code: &Code) {
    let mut found = traces(code).findings;
    found.sort();
    found.dedup();
    let all = Interleavings::of(code);
    assert!(found.iter().eq(&all.traces), "{code:?}");
}

#[test]
fn threads_that_choose_miss_no_trace() {
    let pick = || Pick(vec![0, 1]);
    let ops = [Read(0), Write(0), Read(1), pick()];
    let (one, two) = (lists(1, &ops), lists(2, &ops));
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
fn a_failure_is_met_exactly_if_there_is_one() {
    let codes = [
        vec![vec![Write(0)], vec![Require(0)]],
        vec![vec![Write(0), Write(1)], vec![Await(1), Require(0)]],
        vec![vec![Write(1), Write(0)], vec![Await(1), Require(0)]],
        vec![vec![Lock(2), Write(0), Unlock(2)], vec![Lock(2), Require(0), Unlock(2)]],
    ];
    for (code, fails) in codes.iter().zip([true, false, true, true]) {
        let all = Interleavings::of(code);
        assert_eq!(all.failed > 0, fails, "{code:?}");
        let stop = |_: &[u32]| Some(Stacked::until_failure(code));
        for exploration in [Exploration::traces([vec![]]), Exploration::interleavings([vec![]], 4)]
        {
            let explored = explore(stop, exploration, &Limits::default());
            assert_eq!(explored.found, fails, "{code:?}");
        }
        assert_eq!(traces(code).counts.redundant, 0, "{code:?}");
    }
}

#[test]
fn interleavings_are_those_within_the_bound() {
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
            let start = |_: &[u32]| Some(Stacked::new(code));
            let exploration = Exploration::interleavings([vec![]], bound as u32);
            let explored = explore(start, exploration, &Limits::default());
            let within: u64 = all.by_preemptions.iter().take(bound + 1).sum();
            assert_eq!(explored.counts.executions(), within, "{code:?} {bound}");
            // A switch to a thread that turns out to wait may have been forbidden, too.
            assert!(explored.counts.bounded || bound + 1 >= most, "{code:?} {bound}");
        }
        let start = |_: &[u32]| Some(Stacked::new(code));
        let all = explore(start, Exploration::interleavings([vec![]], 9), &Limits::default());
        assert!(!all.counts.bounded, "{code:?}");
    }
}

/// So many traces that it is split.
const LARGE: u64 = 11_550;

fn large() -> Code {
    vec![vec![Write(0); 4], vec![Write(0); 4], vec![Write(0); 3]]
}

fn workers(number: usize) -> Limits<'static> {
    Limits { workers: NonZeroUsize::new(number).expect("at least one"), ..Limits::default() }
}

#[test]
fn the_result_does_not_depend_on_the_number_of_workers() {
    let code = large();
    let start = |_: &[u32]| Some(Stacked::new(&code));
    let one = explore(start, Exploration::traces([vec![]]), &workers(1));
    assert_eq!(one.counts.complete, LARGE);
    let bounded = explore(start, Exploration::interleavings([vec![]], 5), &workers(1));
    assert!(bounded.counts.bounded && bounded.counts.complete > 5_000);
    for number in [2, 5] {
        let more = explore(start, Exploration::traces([vec![]]), &workers(number));
        assert_eq!((more.counts, &more.findings), (one.counts, &one.findings));
        let more = explore(start, Exploration::interleavings([vec![]], 5), &workers(number));
        assert_eq!((more.counts, &more.findings), (bounded.counts, &bounded.findings));
    }
}

#[test]
fn what_is_found_does_not_depend_on_the_number_of_workers() {
    let mut code = large();
    code[2].push(Require(1));
    let stop = |_: &[u32]| Some(Stacked::until_failure(&code));
    let found = |number| explore(stop, Exploration::traces([vec![], vec![]]), &workers(number));
    let one = found(1);
    assert!(one.found && one.findings.len() == 1);
    for number in [2, 5] {
        let more = found(number);
        assert_eq!((more.counts, &more.findings), (one.counts, &one.findings));
    }
}

#[test]
fn an_exploration_can_be_resumed() {
    let code = large();
    let start = |_: &[u32]| Some(Stacked::new(&code));
    let mut exploration = Exploration::traces([vec![]]);
    let mut rounds = 0;
    loop {
        let executions = exploration.counts.executions() + 6_000;
        exploration = explore(start, exploration, &Limits { executions, ..Limits::default() });
        rounds += 1;
        if exploration.parts.is_empty() {
            break;
        }
        assert_eq!(exploration.stopped, Some(Stopped::Executions));
        assert!(fits(start, &exploration.parts));
    }
    assert!(rounds > 1, "{rounds}");
    assert_eq!((exploration.counts.complete, exploration.stopped), (LARGE, None));
    exploration.findings.sort();
    exploration.findings.dedup();
    assert_eq!(exploration.findings.len() as u64, LARGE);
}

#[test]
fn an_exploration_that_was_cancelled_can_be_resumed() {
    let code = large();
    let start = |_: &[u32]| Some(Stacked::new(&code));
    let mut exploration = Exploration::traces([vec![]]);
    for patience in [0, 1_000, 10_000, 30_000, u64::MAX] {
        let asked = AtomicU64::new(0);
        let cancelled = || asked.fetch_add(1, Ordering::Relaxed) >= patience;
        let limits = Limits { cancelled: &cancelled, ..Limits::default() };
        exploration = explore(start, exploration, &limits);
        let stopped = (patience < u64::MAX).then_some(Stopped::Cancelled);
        assert_eq!(exploration.stopped, stopped, "{patience}");
    }
    assert_eq!((exploration.counts.complete, exploration.parts.len()), (LARGE, 0));
}

#[test]
fn parts_of_another_system_do_not_fit() {
    let code = vec![vec![Lock(0), Unlock(0)], vec![Lock(0), Unlock(0)]];
    let start = |at: &[u32]| at.is_empty().then(|| Stacked::new(&code));
    let fits = |start_at: &[u32], threads: &[usize]| {
        let moves = threads.iter().map(|thread| Move::of(*thread)).collect();
        fits(start, &[Part { start: start_at.to_vec(), moves, ..Part::default() }])
    };
    assert!(fits(&[], &[0, 0, 1, 1]));
    assert!(!fits(&[], &[0, 1]), "the lock is taken");
    assert!(!fits(&[], &[0, 0, 2]), "there is no such thread");
    assert!(!fits(&[1], &[]), "there is no such start");
}

#[test]
fn long_executions_are_cut() {
    let code = vec![vec![Write(0); 3], vec![Write(0); 3]];
    let start = |_: &[u32]| Some(Stacked::new(&code));
    let limits = Limits { events: 4, ..Limits::default() };
    let explored = explore(start, Exploration::traces([vec![]]), &limits);
    let counts = explored.counts;
    assert!(counts.cut > 0 && counts.complete == 0 && counts.longest == 4, "{counts:?}");
    let limits = Limits { cut: 5, ..limits };
    let explored = explore(start, Exploration::traces([vec![]]), &limits);
    assert_eq!(explored.stopped, Some(Stopped::Cut));
    assert_eq!(explored.parts.len(), 1);
}

#[test]
fn a_system_without_undo_runs_about_once_for_each_trace() {
    let code = vec![vec![Write(0), Read(1)], vec![Write(1), Read(0)], vec![Write(0), Write(1)]];
    let runs = AtomicU64::new(0);
    let start = |_: &[u32]| Some(Replayed::new(&code, &runs));
    let explored = explore(start, Exploration::traces([vec![]]), &Limits::default());
    let traces = explored.counts.complete;
    assert_eq!(traces, Interleavings::of(&code).traces.len() as u64);
    assert_eq!(runs.into_inner(), traces);
}

#[test]
fn events_are_ordered_by_what_they_touch() {
    let mut execution = Execution::new(3);
    execution.push(Move::of(0), &[Touch::write(0)]);
    execution.push(Move::of(1), &[Touch::read(0)]);
    execution.push(Move::of(2), &[Touch::read(0), Touch::write(1)]);
    execution.push(Move::of(1), &[Touch::read(1)]);
    let before = |one, other| execution.happens_before(one, other);
    assert!(before(0, 1) && before(0, 2) && !before(1, 2) && before(2, 3) && before(1, 3));
    assert_eq!(
        (execution.clock(3), execution.accesses(1)),
        (&[1, 2, 1][..], &[(2, true), (3, false)][..])
    );
    assert_eq!(
        trace(execution.events().len(), |at| (
            &execution.events()[at].made,
            execution.footprint(at)
        ))
        .1
        .len(),
        4
    );
    execution.pop();
    assert_eq!((execution.len(), execution.accesses(1)), (3, &[(2, true)][..]));
}
