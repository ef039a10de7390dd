//! Silent commits: programs that need them, and comparisons of the engine with and without them.
//!
//! Direction: both. The answers are the same with and without silent commits, and the outcomes are
//! those of the reference interpreter.

use super::queries::{MODELS, Outcomes, limited_to, missing, outcomes, replay_failure};
use crate::common::{lower, model, report_comparisons, seeds};
use fencepost_conformance::reference::{Model, explore};
use fencepost_engines::automata::Order;
use fencepost_engines::{Automata, Budget, Engine, Task};
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_search::{Cancel, Progress};
use fencepost_testkit::programs::{Profile, program, unbounded_buffers};

/// The maximum number of states of a search.
const MAX_STATES: u64 = 3_000;
/// The number of random programs of each of three kinds.
const PROGRAMS: u64 = 12;
/// One search with silent commits.
const WITH: Automata = Automata { order: Some(Order::Statements), ..Automata::DEFAULT };
/// The engine without silent commits.
const WITHOUT: Automata = Automata { silent: false, ..Automata::DEFAULT };

/// Loops that store to three locations, with the expected verdict under PSO.
const LOOPS: [(&str, &str); 4] = [
    (
        "shared int x, y, z; thread p { loop { x = 1; y = 1; z = 1; } }
         thread q { a = z; b = y; c = x; assert(a <= 1 && b <= 1 && c <= 1); }",
        "verified",
    ),
    (
        "shared int x, y, z; thread p { loop { x = 1; y = 1; z = 1; } }
         thread q { a = z; b = y; c = x; assert(a <= b && b <= c); }",
        "violated",
    ),
    (
        "shared int x, y, z; thread p { loop { x = 1; y = 1; z = 1; } }
         thread q { loop { a = z; b = z; assert(a <= b); } }",
        "verified",
    ),
    (
        "shared int x, y, z; thread p { loop { x = 1; y = 1; z = 1; } }
         thread q { loop { z = 1; y = 1; x = 1; } }",
        "verified",
    ),
];

#[test]
fn loops_that_store_to_three_locations_are_decided() {
    for (source, expected) in LOOPS {
        let problem = &lower(source).expect("the programs compile")[0];
        let model = &model("pso");
        let task = Task { problem, model };
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let budget = Budget { cancel: &cancel, progress: &progress };
        let answer = Automata::DEFAULT.run(task, limited_to(50_000), budget);
        assert_eq!(answer.verdict.word(), expected, "{source}");
        assert_eq!(replay_failure(problem, model, &answer.verdict), None, "{source}");
    }
}

/// Returns the outcomes of the reference interpreter, if they are complete.
fn reference(source: &str, model: Model) -> Option<Outcomes> {
    let problem = &lower(source).ok()?[0];
    let report = explore(problem, model, 8, MAX_STATES as usize);
    (report.complete && !report.bound_hit).then_some(report.outcomes)
}

#[test]
fn silent_commits_do_not_change_the_outcomes_of_random_programs() {
    let (mut same, mut exact) = (0, 0);
    for seed in seeds(PROGRAMS) {
        let sources = [
            program(Profile::Straight, seed).to_string(),
            program(Profile::Buffers, seed).to_string(),
            unbounded_buffers(seed).to_string(),
        ];
        for (source, (name, reference_model)) in
            sources.iter().flat_map(|source| MODELS.map(|model| (source, model)))
        {
            let Ok(problems) = lower(source) else { continue };
            let (problem, model) = (&problems[0], &model(name));
            let task = Task { problem, model };
            let [with, without] =
                [WITH, WITHOUT].map(|engine| outcomes(&engine, task, limited_to(MAX_STATES)));
            let case = format!("seed {seed} {name}\n{source}");
            assert_eq!(replay_failure(problem, model, &with.verdict), None, "{case}");
            if with.outcomes_complete && without.outcomes_complete {
                same += 1;
                assert_eq!(with.outcomes, without.outcomes, "{case}");
                assert_eq!(with.verdict.word(), without.verdict.word(), "{case}");
            }
            let Some(expected) = reference(source, reference_model) else { continue };
            assert_eq!(missing(&with.outcomes, &expected), None, "{case}");
            if with.outcomes_complete {
                exact += 1;
                assert_eq!(missing(&expected, &with.outcomes), None, "{case}");
            }
        }
    }
    report_comparisons("silent commits: with and without them", same);
    report_comparisons("silent commits: with the reference", exact);
    assert!(same >= PROGRAMS && exact >= PROGRAMS, "{same} and {exact} comparisons");
}

#[test]
fn stores_of_other_values_are_not_silent() {
    let source = "shared int x; thread p { x = 1; fence; } observe x;";
    let problem = &lower(source).expect("the program compiles")[0];
    let mutated = Mutated::with(Mutation::SilentCommitsIgnoreMemory);
    let wrong = Automata { mutated, ..WITH };
    for (name, reference_model) in MODELS {
        let task = Task { problem, model: &model(name) };
        let expected = reference(source, reference_model).expect("the program is finite");
        assert_eq!(outcomes(&WITH, task, limited_to(MAX_STATES)).outcomes, expected);
        let added = outcomes(&wrong, task, limited_to(MAX_STATES)).outcomes;
        assert!(missing(&added, &expected).is_some(), "{name}: {added:?}");
    }
}
