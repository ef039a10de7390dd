//! Fences for invariants about control points, compared with brute force.

use super::{compare_problem, fence_cost_sets, run_query, small_limits};
use crate::common::{check, model, report_comparisons, seeds};
use crate::control_points::random_source;
use fencepost_engines::Verdict;
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::fence_costs::FenceCosts;
use fencepost_infer::fixpoint_inference;
use fencepost_infer::lazy::infer;
use fencepost_infer::repair::Inference;
use fencepost_ir::{Problem, WrittenFences};
use fencepost_models::mutation::Mutated;
use fencepost_testkit::{Random, lower_with_places};

fn problem(source: &str) -> Problem {
    lower_with_places(source).unwrap_or_else(|error| panic!("{error}\n{source}")).remove(0)
}

/// Compares lazy inference and the papers' method with brute force. Returns whether fences are
/// needed; `None` if the invariant is violated under SC or cannot be compared.
fn needs_fences(source: &str, name: &str, fence_costs: &FenceCosts, seed: u64) -> Option<bool> {
    let problem = problem(source);
    let Verdict::Verified(_) = check(&problem, &model("sc"), small_limits()).verdict else {
        return None;
    };
    let compared = compare_problem(Mutated::NONE, &problem, source, name, fence_costs, seed)?;
    Some(compared.needed)
}

const MODELS: [&str; 4] = ["tso", "pso", "rmo-nospec", "rmo"];

#[test]
fn labels_of_a_mutual_exclusion_algorithm_get_the_cheapest_fences() {
    let flags = "shared bool a, b; thread p { a = true; if (!b) { A: skip; } }
        thread q { b = true; if (!a) { B: skip; } } invariant !(p at A && q at B);";
    // The store must be visible at the label.
    let published = "shared int x; thread p { x = 1; A: skip; } invariant !(p at A && x == 0);";
    for source in [flags, published] {
        for name in MODELS {
            for fence_costs in fence_cost_sets(name) {
                assert!(needs_fences(source, name, &fence_costs, 0).is_some(), "{name}\n{source}");
            }
            let all = FenceCosts::for_model(&model(name));
            assert_eq!(needs_fences(source, name, &all, 0), Some(true), "{name}\n{source}");
        }
    }
}

#[test]
fn a_fence_before_a_label_differs_from_one_behind_it() {
    // Only the place before the label is useful.
    let source = "shared int x; thread p { x = 1; A: skip; } invariant !(p at A && x == 0);";
    let problem = problem(source);
    let (tso, anywhere) = (model("tso"), Restrictions::default());
    let costs = FenceCosts::for_model(&tso);
    let problems = std::slice::from_ref(&problem);
    let candidates = Candidates::new(problems, &costs, &anywhere, WrittenFences::Kept);
    let Inference::Repaired(repair) = run_query(&problem, &tso, &candidates, None, infer) else {
        panic!("the program can be repaired");
    };
    let lines = repair.placements.iter().map(|placement| {
        let places = placement.atoms.iter().map(|atom| problem.program.place(atom.place));
        let texts = places.map(|place| source[place.offset as usize..].split(';').next());
        texts.collect::<Vec<_>>()
    });
    assert_eq!(lines.collect::<Vec<_>>(), [[Some("A: skip")]]);
}

#[test]
fn fences_are_not_inferred_for_a_required_control_point() {
    let source = "shared int x; thread p { x = 1; A: skip; } invariant x == 0 || p at A;";
    let problem = problem(source);
    let none = Candidates::new(
        &[],
        &FenceCosts::new(Vec::new()),
        &Restrictions::default(),
        WrittenFences::Kept,
    );
    for method in [infer, fixpoint_inference::infer] {
        let inference = run_query(&problem, &model("tso"), &none, None, method);
        let Inference::GaveUp(gave_up) = inference else { panic!("{inference:?}") };
        assert!(gave_up.reason.is_some_and(|reason| reason.contains("at a label")));
    }
}

/// Returns a random program in which each thread sets its flag and then tests the other flag.
fn random_protocol(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0xc9 << 32);
    let mut text = String::from("shared int x, y, z;\n");
    for (name, own, other) in [("p", "x", "y"), ("q", "y", "x")] {
        let set = format!("{own} = 1;");
        let mut body = vec![set];
        let more = ["z = 1;", "z = 2;", "r = z;", "B: r = 1;", "fence store_store;", ""];
        body.insert(random.below(2), random.pick(&more).to_string());
        let inner = random.pick(&["", "", "z = 3;", "s = z;"]);
        let labelled = random.pick(&["skip;", "z = 4;", "t = z;"]);
        body.push(format!("if ({other} == 0) {{ {inner} A: {labelled} }}"));
        text += &format!("thread {name} {{ {} }}\n", body.join(" "));
    }
    text + random.pick(&[
        "invariant !(p at A && q at A);\n",
        "invariant !(p at A && q at A && z != 2);\n",
        "invariant !(p at A && x == 0);\n",
        "invariant !(p at A && q at A); invariant !(q at A) || y == 1;\n",
    ])
}

#[test]
fn random_control_points_get_the_cheapest_fences() {
    let (mut total, mut needed) = (0, 0);
    let sources = seeds(10)
        .flat_map(|seed| [random_protocol(seed), random_source(seed)].map(|source| (seed, source)));
    for (seed, source) in sources.filter(|(_, s)| !problem(s).requires_control_points()) {
        for name in MODELS {
            for fence_costs in fence_cost_sets(name) {
                let Some(needs) = needs_fences(&source, name, &fence_costs, seed) else { continue };
                total += 1;
                needed += u64::from(needs);
            }
        }
    }
    report_comparisons("placements for control points: brute force", total);
    assert!(needed > total / 8, "many programs need fences");
}
