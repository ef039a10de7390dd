//! Waits in every shape: `do`, `while`, `for`, `loop` with `break`, `goto`, and `await`. All shapes
//! of a wait read before they test, so they have the same meaning. Every engine must give the same
//! verdict and the same outcomes for all of them, and inference the same number of fences.

use crate::common::{check_with, lower, model, outcomes, report_comparisons, seeds, settings};
use fencepost_engines::{
    Auto, Budget, Engine, Explicit, Robust, RobustMethod, Settings, Stateless, Verdict,
};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::fence_costs::FenceCosts;
use fencepost_infer::lazy::{Query, infer};
use fencepost_infer::repair::Inference;
use fencepost_ir::{Problem, WrittenFences};
use fencepost_search::{Cancel, Limits, Progress};
use fencepost_testkit::{Random, lower_with_places};

/// The shapes. Register `s` starts with a value that no location has. `X` is the location, and `N`
/// the number of the wait.
const SHAPES: [&str; 7] = [
    "do { s = X; } while (s != 1);",
    "while (s != 1) { s = X; }",
    "loop { s = X; if (s == 1) break; }",
    "loop { if (s == 1) break; s = X; }",
    "for (s = 9; s != 1; s = X) skip;",
    "again_N: s = X; if (s != 1) goto again_N;",
    "await(X == 1);",
];

fn limited() -> Settings {
    let limits = Limits { states: 100_000, ..Limits::default() };
    Settings { limits, max_buffer: Some(8), ..settings(1) }
}

/// Returns the text of a random program with one wait in each thread, in this shape.
fn source(seed: u64, shape: &str) -> String {
    let mut random = Random::new(seed ^ 0x3a17 << 32);
    let mut text = String::from("shared int x, y, z;\n");
    for thread in 0..2 {
        let mut body = vec!["int s = 9;".to_string()];
        let wait = random.within(0, 2);
        for at in 0..3 {
            if at == wait && (thread == 0 || random.percent(50)) {
                let location = random.pick(&["x", "y", "z"]);
                let wait = shape.replace('X', location).replace('N', &at.to_string());
                body.push(format!("s = 9; {wait} s = 0;"));
            }
            let location = random.pick(&["x", "y", "z"]);
            body.push(match random.below(5) {
                0 | 1 => format!("r{at} = {location};"),
                2 | 3 => format!("{location} = 1;"),
                _ => "fence;".into(),
            });
        }
        text += &format!("thread t{thread} {{ {} }}\n", body.join(" "));
    }
    let value = random.below(2);
    text + &format!("final never x == {value} && y == 1 && z == 0;\nobserve x, y, z;\n")
}

fn verdict(engine: &dyn Engine, problem: &Problem, name: &str) -> &'static str {
    match check_with(engine, problem, &model(name), limited()).verdict {
        Verdict::Verified(_) => "verified",
        Verdict::Violated(_) => "violated",
        Verdict::Inconclusive(_) => "inconclusive",
    }
}

/// Returns the answers of all engines about one program.
fn answers(source: &str) -> Vec<String> {
    let problem = lower(source).unwrap_or_else(|e| panic!("{e}\n{source}")).remove(0);
    let mut found = Vec::new();
    for name in ["sc", "tso", "pso", "rmo-nospec", "rmo"] {
        let outcomes = outcomes(&problem, &model(name), limited());
        found.push(format!(
            "{name}: {}, outcomes {:?}, complete: {}",
            verdict(&Explicit, &problem, name),
            outcomes.outcomes,
            outcomes.outcomes_complete
        ));
    }
    for name in ["sc", "tso", "pso"] {
        found.push(format!("{name}, auto: {}", verdict(&Auto, &problem, name)));
        found
            .push(format!("{name}, stateless: {}", verdict(&Stateless::default(), &problem, name)));
    }
    for name in ["tso", "pso"] {
        let robust = Robust::by(RobustMethod::Auto);
        found.push(format!("{name}, robust: {}", verdict(&robust, &problem, name)));
        let problem = lower_with_places(source).expect("the program is correct").remove(0);
        for engine in [&Explicit as &(dyn Engine + Sync), &robust] {
            found.push(format!("{name}: {}", fences(engine, &problem, name)));
        }
    }
    found
}

/// Returns the number of fences that make a program correct, or robust.
fn fences(engine: &(dyn Engine + Sync), problem: &Problem, name: &str) -> String {
    let problems = std::slice::from_ref(problem);
    let costs = FenceCosts::for_model(&model(name));
    let candidates =
        Candidates::new(problems, &costs, &Restrictions::default(), WrittenFences::Kept);
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let (settings, model) = (limited(), &model(name));
    let (candidates, abstraction, all) = (&candidates, None, false);
    let query = Query { problems, model, candidates, engine, settings, all, abstraction };
    match infer(query, budget) {
        Inference::Repaired(repair) => {
            format!("{} fences, optimal: {}", repair.placements[0].atoms.len(), repair.optimal)
        }
        Inference::Unrepairable(_) => "unrepairable".into(),
        Inference::GaveUp(_) => "gave up".into(),
    }
}

#[test]
fn random_waits_have_the_same_answers_in_every_shape() {
    let mut comparisons = 0;
    for seed in seeds(12) {
        let expected = answers(&source(seed, SHAPES[0]));
        for shape in &SHAPES[1..] {
            let source = source(seed, shape);
            let found = answers(&source);
            assert_eq!(found, expected, "seed {seed}: {source}");
            comparisons += 1;
        }
    }
    report_comparisons("shapes of waits", comparisons);
}
