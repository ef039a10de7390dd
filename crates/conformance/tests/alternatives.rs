//! `either` without guards is a nondeterministic choice: it has the same verdicts and outcomes as
//! `choose` with `if`, in every engine.

use crate::common::{
    MODELS, check_with, lower, model, outcomes, report_comparisons, seeds, settings,
};
use fencepost_conformance::reference::explore;
use fencepost_engines::{
    Auto, Automata, Engine, Explicit, Robust, RobustMethod, Stateless, Verdict,
};
use fencepost_ir::Problem;
use fencepost_testkit::Random;
use std::collections::BTreeSet;

/// Two texts with the same meaning: with `either`, and with `choose`.
type Texts = [String; 2];

fn access(random: &mut Random) -> Texts {
    let location = random.pick(&["x", "y"]);
    let text = match random.below(4) {
        0 => format!("r = {location};"),
        1 => "skip;".into(),
        _ => format!("{location} = {};", 1 + random.below(2)),
    };
    [text.clone(), text]
}

/// Draws a choice with two or three branches, possibly nested.
fn choice(random: &mut Random, depth: usize, number: &mut usize) -> Texts {
    *number += 1;
    let register = format!("c{number}");
    let count = random.within(2, 3);
    let branches: Vec<Texts> = (0..count)
        .map(|_| {
            if depth > 0 && random.percent(40) {
                choice(random, depth - 1, number)
            } else {
                access(random)
            }
        })
        .collect();
    let either: Vec<String> =
        branches.iter().map(|[either, _]| format!("{{ {either} }}")).collect();
    let mut with_if = String::new();
    for (at, [_, text]) in branches.iter().enumerate() {
        with_if += &match at + 1 == count {
            true => format!("{{ {text} }}"),
            false => format!("if ({register} == {at}) {{ {text} }} else "),
        };
    }
    let with_if = format!("{register} = choose(0..{count}); {with_if}");
    [format!("either {}", either.join(" or ")), format!("{with_if} {register} = 0;")]
}

fn problems(seed: u64) -> [Problem; 2] {
    let mut random = Random::new(seed ^ 0xe1 << 32);
    let mut number = 0;
    let mut texts = [String::new(), String::new()];
    for thread in 0..2 {
        let parts = [access(&mut random), choice(&mut random, 1, &mut number), access(&mut random)];
        for (at, text) in texts.iter_mut().enumerate() {
            let body: Vec<&str> = parts.iter().map(|part| part[at].as_str()).collect();
            *text += &format!("thread t{thread} {{ int r; {} _s = r; }}\n", body.join(" "));
        }
    }
    let (x, y) = (random.below(3), random.below(3));
    texts.map(|text| {
        let source = format!(
            "shared int x, y;\n{text}final never x == {x} && y == {y};\nobserve x, y, t0.r, t1.r;"
        );
        lower(&source).unwrap_or_else(|error| panic!("{error}\n{source}")).remove(0)
    })
}

fn verdict(engine: &dyn Engine, problem: &Problem, name: &str) -> &'static str {
    match check_with(engine, problem, &model(name), settings(1)).verdict {
        Verdict::Verified(_) => "verified",
        Verdict::Violated(_) => "violated",
        Verdict::Inconclusive(_) => "inconclusive",
    }
}

#[test]
fn random_choices_have_the_same_answers_with_either_and_choose() {
    let mut comparisons = 0;
    for seed in seeds(12) {
        let problems = problems(seed);
        let answers = problems.each_ref().map(|problem| {
            let mut found = Vec::new();
            for (name, reference) in MODELS {
                let all = outcomes(problem, &model(name), settings(1));
                let report = explore(problem, reference, 8, 200_000);
                if report.complete && !report.bound_hit {
                    let found: BTreeSet<_> = all.outcomes.iter().cloned().collect();
                    assert_eq!(found, report.outcomes, "seed {seed}, {name}");
                }
                found.push(format!("{name}: {:?}", all.outcomes));
                found.push(verdict(&Explicit, problem, name).into());
            }
            for name in ["sc", "tso", "pso"] {
                found.push(format!("auto: {}", verdict(&Auto, problem, name)));
                found.push(format!("automata: {}", verdict(&Automata::DEFAULT, problem, name)));
                found.push(verdict(&Stateless::default(), problem, name).into());
                found.push(verdict(&Robust::by(RobustMethod::Auto), problem, name).into());
            }
            found
        });
        assert_eq!(answers[0], answers[1], "seed {seed}");
        comparisons += 1;
    }
    report_comparisons("choices", comparisons);
}

#[test]
fn progress_is_checked_with_choices_without_guards() {
    let check = |body: &str| {
        let source = format!("shared int x; thread p {{ {body} }} property progress;");
        lower(&source).ok().map(|problems| verdict(&Explicit, &problems[0], "sc"))
    };
    assert_eq!(check("either { x = 1; } or { x = 2; }"), Some("verified"));
    let with_choose = "loop { c = choose(0..2); if (c == 0) x = 1; else x = 2; }";
    assert_eq!(check("loop { either { x = 1; } or { x = 2; } }"), check(with_choose));
    assert_eq!(check("either { when(x == 0); } or { x = 2; }"), None, "a guard is refused");
}
