//! Random programs. A program with a difference is shrunk and printed as a `.fp` file.

use super::compare::{Scope, Tally, compare, with_register_stores};
use super::explore::{comparable_report, under_sc};
use crate::common::{lower, report_comparisons, seeds};
use fencepost_conformance::reference::contexts as reference;
use fencepost_ir::StoreBuffers;
use fencepost_testkit::programs::{Profile, RandomProgram, bounded, program, shrink};
use fencepost_translate::contexts::{Bound, contexts};
use std::collections::BTreeSet;

/// The number of random programs of each kind.
const PROGRAMS: u64 = 6;
const SCOPE: Scope = Scope { k: 3, states: 6_000, translated: 40_000 };

/// Compares random programs, unchanged or with threads that store their registers at the end.
fn compare_random(
    name: &str,
    store_registers: bool,
    programs: u64,
    draw: impl Fn(u64) -> RandomProgram,
) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds(programs) {
        let drawn = draw(seed);
        let mut differences = |source: &str, scope: Scope| match lower(source) {
            Ok(problems) if store_registers => {
                compare(&with_register_stores(&problems[0]), scope, &mut tally)
            }
            Ok(problems) => compare(&problems[0], scope, &mut tally),
            Err(_) => Vec::new(),
        };
        let found = differences(&drawn.to_string(), SCOPE);
        if found.is_empty() {
            continue;
        }
        let small = shrink(&drawn, |source| !differences(source, SCOPE).is_empty()).to_string();
        let found = differences(&small, SCOPE);
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        panic!("{name} seed {seed}:\n{}\n{small}", texts.join("\n"));
    }
    println!("{name}: {tally:?}");
    report_comparisons(&format!("bounds of {name} programs: contexts"), tally.compared as u64);
    tally
}

/// Compares [`under_sc`] with the reference interpreter, which uses no reductions.
#[test]
fn the_reduced_exploration_of_a_translation_loses_nothing() {
    let (mut same, mut drawn) = (0, 0);
    for seed in seeds(PROGRAMS) {
        drawn += 1;
        let problem =
            lower(&program(Profile::Straight, seed).to_string()).expect("the program compiles");
        let problem = problem.into_iter().next().expect("one problem");
        for bound in [Bound::Switches(1), Bound::Ages(1)] {
            let translation = contexts(&problem, StoreBuffers::Pso, bound)
                .expect("the program can be translated");
            let unreduced = reference::explore(
                &translation.problem,
                reference::Model::Sc,
                reference::Bound::None,
                10_000,
            );
            if !unreduced.report.complete {
                continue;
            }
            let locations = problem.program.locations.len();
            let found = under_sc(&translation.problem, locations, u64::MAX);
            let projected = unreduced.memories.iter().map(|memory| memory[..locations].to_vec());
            assert_eq!(projected.collect::<BTreeSet<_>>(), found.memories, "seed {seed} {bound:?}");
            let report = comparable_report(&translation.problem, &unreduced.report);
            assert_eq!(
                report,
                comparable_report(&translation.problem, &found.report),
                "seed {seed} {bound:?}"
            );
            same += 1;
        }
    }
    assert!(same * 3 >= drawn * 2, "{same} of {drawn}");
}

#[test]
fn bounded_programs_reach_the_same_states() {
    let tally = compare_random("bounded", false, PROGRAMS, bounded);
    assert!(tally.compared > 4 * tally.cut && tally.refused == 0, "{tally:?}");
    assert!(tally.grown > 0 && tally.relaxed > 0, "{tally:?}");
}

#[test]
fn bounded_programs_that_store_registers_reach_the_same_states() {
    let tally = compare_random("register-storing", true, PROGRAMS, bounded);
    assert!(tally.compared > 4 * tally.cut && tally.refused == 0, "{tally:?}");
    assert!(tally.grown > 0 && tally.relaxed > 0, "{tally:?}");
}

#[test]
fn straight_line_programs_reach_the_same_states() {
    compare_random("straight", false, PROGRAMS, |seed| program(Profile::Straight, seed));
}

#[test]
fn loops_reach_the_same_states() {
    compare_random("loops", false, PROGRAMS, |seed| program(Profile::Loops, seed));
}

#[test]
fn records_reach_the_same_states() {
    compare_random("records", false, PROGRAMS, |seed| program(Profile::Records, seed));
}

#[test]
fn mixed_programs_reach_the_same_states() {
    compare_random("mixed", false, PROGRAMS, |seed| program(Profile::Mixed, seed));
}

#[test]
fn full_buffers_reach_the_same_states() {
    compare_random("buffers", false, PROGRAMS, |seed| program(Profile::Buffers, seed));
}
