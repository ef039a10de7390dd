//! The smallest number of full fences that make a program robust under TSO by the strict
//! definition. For random programs it is compared with the definition: the fences are sufficient,
//! and fewer are not, wherever they are.

use super::queries::{allow_hangs, check_equal, check_random_sources};
use crate::common::{model, settings};
use fencepost_conformance::traces::has_non_sc_run;
use fencepost_conformance::traces::step::BufferModel;
use fencepost_engines::{Budget, Robust, RobustDefinition, RobustMethod};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::fence_costs::{FenceCosts, FenceKind};
use fencepost_infer::lazy::{Query, infer};
use fencepost_infer::repair::{Inference, Sufficiency};
use fencepost_infer::set::Set;
use fencepost_ir::{FenceKinds, Placement, Problem, WrittenFences, placement};
use fencepost_search::{Cancel, Progress};
use fencepost_testkit::lower_with_places;
use fencepost_testkit::programs::bounded_with_spin_loops;
use std::cell::Cell;

/// The number of random programs.
const PROGRAMS: u64 = 40;
/// How often each thread of a random program jumps back.
const MAX_BACK_JUMPS: usize = 3;

/// Returns the places for full fences.
fn full_fences(problem: &Problem) -> Candidates {
    let costs = FenceCosts::with_default_costs(&[FenceKind::Fence(FenceKinds::FULL)]);
    let problems = std::slice::from_ref(problem);
    Candidates::new(problems, &costs, &Restrictions::default(), WrittenFences::Kept)
}

/// Infers the fewest fences that make the program robust by the strict definition.
fn fewest_fences(problem: &Problem, candidates: &Candidates) -> Result<Placement, String> {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let query = Query {
        problems: std::slice::from_ref(problem),
        model: &model("tso"),
        candidates,
        engine: &Robust { method: RobustMethod::Attack, definition: RobustDefinition::Strict },
        settings: settings(1),
        all: false,
        abstraction: None,
    };
    match infer(query, budget) {
        Inference::Repaired(repair) if repair.sufficiency == Sufficiency::Verified => {
            Ok(repair.placements[0].clone())
        }
        other => Err(format!("{other:?}")),
    }
}

/// Returns the number of fences for a source text.
fn count(source: &str) -> usize {
    let problem = lower_with_places(source).expect("the program compiles").remove(0);
    let problem = allow_hangs(&problem);
    fewest_fences(&problem, &full_fences(&problem)).expect("a repair").atoms.len()
}

/// Returns whether the program with these fences is robust, by definition.
fn is_robust(problem: &Problem, placement: &Placement) -> Option<bool> {
    let program = placement::fenced(&problem.program, placement, WrittenFences::Kept);
    let fenced = Problem { program, ..problem.clone() };
    has_non_sc_run(&fenced, BufferModel::Tso, MAX_BACK_JUMPS).map(|found| !found)
}

/// Calls `visit` for each set of `size` numbers below `n`, until it returns false.
fn for_each_subset(n: usize, size: usize, visit: &mut impl FnMut(&[usize]) -> bool) {
    fn extend(
        chosen: &mut Vec<usize>,
        (n, size): (usize, usize),
        visit: &mut impl FnMut(&[usize]) -> bool,
    ) -> bool {
        if chosen.len() == size {
            return visit(chosen);
        }
        for next in chosen.last().map_or(0, |last| last + 1)..n {
            chosen.push(next);
            let goes_on = extend(chosen, (n, size), visit);
            chosen.pop();
            if !goes_on {
                return false;
            }
        }
        true
    }
    extend(&mut Vec::new(), (n, size), visit);
}

/// Returns the numbers of fences for two threads with this body: once as instances of one template,
/// which share their fences, and once as two separate threads. `ME` stands for the thread's number.
fn counts(declarations: &str, body: &str) -> (usize, usize) {
    let thread = |head: &str, me: &str| format!("thread {head} {{ {} }}\n", body.replace("ME", me));
    let shared = format!("{declarations}\n{}", thread("p(i in 0..2)", "i"));
    let separate = format!("{declarations}\n{}{}", thread("p", "0"), thread("q", "1"));
    (count(&shared), count(&separate))
}

#[test]
fn a_fence_in_a_template_counts_once_for_all_its_threads() {
    let declarations = "shared int want[2], turn;";
    let peterson = "loop {
        want[ME] = 1;
        turn = 1 - ME;
        do { w = want[1 - ME]; t = turn; } while (w == 1 && t == 1 - ME);
        want[ME] = 0;
    }";
    assert_eq!(counts(declarations, peterson), (1, 2));
    let dekker = "loop {
        want[ME] = 1;
        loop {
            w = want[1 - ME];
            if (w == 0) break;
            t = turn;
            if (t != ME) {
                want[ME] = 0;
                do { t = turn; } while (t != ME);
                want[ME] = 1;
            }
        }
        turn = 1 - ME;
        want[ME] = 0;
    }";
    assert_eq!(counts(declarations, dekker), (2, 4));
}

#[test]
fn a_fence_behind_a_label_counts_once_for_all_jumps_to_it() {
    // Two paths with a store lead to `again`, and one fence behind the label is on both.
    let waits = "again: r0 = y; if (r0 == 1) goto last;
        r1 = z; if (r1 == 1) { x = 2; goto again; }
        x = 1; goto again;
        last: skip;";
    let others = ["y = 1; fence; r0 = x;", "z = 1;"];
    let threads = [waits, others[0], others[1]];
    let threads = threads.iter().enumerate().map(|(at, body)| format!("thread t{at} {{ {body} }}"));
    let source = format!("shared int x, y, z;\n{}", threads.collect::<Vec<_>>().join("\n"));
    assert_eq!(count(&source), 1);
}

#[test]
fn a_block_that_accesses_two_locations_is_one_access() {
    // No SC run has the accesses of `p` between the load and the store of the block, although each
    // of them alone could be ordered. So `p` needs a fence.
    let source = "shared int x, y;
        thread p { x = 1; r0 = y; }
        thread q { atomic { r0 = x; y = 1; } }";
    assert_eq!(count(source), 1);
    // Two separate accesses are ordered, because `q` loads before it stores.
    assert_eq!(count(&source.replace("atomic", "")), 0);
}

#[test]
fn random_programs_get_the_fewest_fences_that_exclude_every_cycle() {
    let by_count = [const { Cell::new(0_u64) }; 3];
    check_random_sources(bounded_with_spin_loops, PROGRAMS, |source| {
        let problem = &allow_hangs(&lower_with_places(source)?[0]);
        let candidates = full_fences(problem);
        let found = fewest_fences(problem, &candidates)?;
        let Some(sufficient) = is_robust(problem, &found) else { return Ok(false) };
        check_equal("robust with the fences", sufficient, true)?;
        let size = found.atoms.len();
        // Fences only exclude runs, so sets that are still smaller need no check.
        let (mut fewer, mut is_complete) = (None, true);
        if let Some(size) = size.checked_sub(1) {
            for_each_subset(candidates.len(), size, &mut |set| {
                let set = Set::of(candidates.len(), set.iter().copied());
                let placement = candidates.placement(&set);
                match is_robust(problem, &placement) {
                    Some(true) => fewer = Some(placement),
                    Some(false) => {}
                    None => is_complete = false,
                }
                fewer.is_none() && is_complete
            });
        }
        check_equal("fewer fences", fewer, None)?;
        let at = &by_count[size.min(2)];
        at.set(at.get() + u64::from(is_complete));
        Ok(is_complete)
    });
    let counts = by_count.map(|count| count.get());
    println!("programs with 0, 1 and more fences: {counts:?}");
    assert!(counts.iter().all(|count| *count > 1), "{counts:?}");
}
