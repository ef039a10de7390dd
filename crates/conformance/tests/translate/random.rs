//! Random programs. One on which the sides differ is shrunk and printed as a `.fp` file.

use super::compare::{Scope, Tally, compare, telling};
use super::explore::{told, under_sc};
use crate::common::{compared, lower, seeds};
use fencepost_conformance::reference::contexts as reference;
use fencepost_ir::StoreBuffers;
use fencepost_testkit::programs::{Profile, RandomProgram, bounded, program, shrink};
use fencepost_translate::contexts::{Bound, contexts};
use std::collections::BTreeSet;

/// Programs of each kind.
const PROGRAMS: u64 = 6;
const SCOPE: Scope = Scope { k: 3, states: 6_000, translated: 40_000 };

/// Compares them as they are, or with threads that tell at their ends what they have read.
fn random(name: &str, tells: bool, programs: u64, draw: impl Fn(u64) -> RandomProgram) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds(programs) {
        let drawn = draw(seed);
        let mut differences = |source: &str, scope: Scope| match lower(source) {
            Ok(problems) if tells => compare(&telling(&problems[0]), scope, &mut tally),
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
    compared(&format!("bounds of {name} programs: contexts"), tally.compared as u64);
    tally
}

/// The way translations are explored here, against the interpreter, which reduces nothing.
#[test]
fn both_ways_to_explore_a_translation_agree() {
    let (mut same, mut drawn) = (0, 0);
    for seed in seeds(PROGRAMS) {
        drawn += 1;
        let problem = lower(&program(Profile::Straight, seed).to_string()).expect("it compiles");
        let problem = problem.into_iter().next().expect("one problem");
        for bound in [Bound::Switches(1), Bound::Ages(1)] {
            let translation =
                contexts(&problem, StoreBuffers::Pso, bound).expect("nothing is freed");
            let whole = reference::explore(
                &translation.problem,
                reference::Model::Sc,
                reference::Bound::None,
                10_000,
            );
            if !whole.report.complete {
                continue;
            }
            let locations = problem.program.locations.len();
            let found = under_sc(&translation.problem, locations, u64::MAX);
            let cut = whole.memories.iter().map(|memory| memory[..locations].to_vec());
            assert_eq!(cut.collect::<BTreeSet<_>>(), found.memories, "seed {seed} {bound:?}");
            let report = told(&translation.problem, &whole.report);
            assert_eq!(report, told(&translation.problem, &found.report), "seed {seed} {bound:?}");
            same += 1;
        }
    }
    assert!(same * 3 >= drawn * 2, "{same} of {drawn}");
}

#[test]
fn bounded_programs() {
    let tally = random("bounded", false, PROGRAMS, bounded);
    assert!(tally.compared > 4 * tally.cut && tally.refused == 0, "{tally:?}");
    assert!(tally.grown > 0 && tally.relaxed > 0, "{tally:?}");
}

#[test]
fn bounded_programs_that_tell() {
    let tally = random("telling", true, PROGRAMS, bounded);
    assert!(tally.compared > 4 * tally.cut && tally.refused == 0, "{tally:?}");
    assert!(tally.grown > 0 && tally.relaxed > 0, "{tally:?}");
}

#[test]
fn straight_line_programs() {
    random("straight", false, PROGRAMS, |seed| program(Profile::Straight, seed));
}

#[test]
fn loops() {
    random("loops", false, PROGRAMS, |seed| program(Profile::Loops, seed));
}

#[test]
fn records() {
    random("records", false, PROGRAMS, |seed| program(Profile::Records, seed));
}

#[test]
fn everything() {
    random("kitchen", false, PROGRAMS, |seed| program(Profile::Kitchen, seed));
}

#[test]
fn full_buffers() {
    random("buffers", false, PROGRAMS, |seed| program(Profile::Buffers, seed));
}
