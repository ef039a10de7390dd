//! Fences inferred with the automata engine as verifier cost the same as with the usual engine, and
//! are sufficient for buffers of any length.

use super::queries::limited_to;
use crate::common::{corpus, model};
use fencepost_engines::{Auto, Automata, Budget, Decider, Engine};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::fence_costs::FenceCosts;
use fencepost_infer::lazy::{Query, infer};
use fencepost_infer::repair::{Inference, Repair, Sufficiency};
use fencepost_ir::{Problem, WrittenFences};
use fencepost_models::ModelSpec;
use fencepost_search::{Cancel, Progress};
use fencepost_testkit::lower_with_places;
use std::fs;

/// Programs with and without unbounded buffers before the repair.
const PROGRAMS: [&str; 5] = ["dekker0", "peterson0", "burns0", "clh0", "sense0"];

fn repair(problems: &[Problem], model: &ModelSpec, engine: &(dyn Engine + Sync)) -> Repair {
    let fence_costs = FenceCosts::for_model(model);
    let candidates =
        Candidates::new(problems, &fence_costs, &Restrictions::default(), WrittenFences::Kept);
    let query = Query {
        problems,
        model,
        candidates: &candidates,
        engine,
        settings: limited_to(100_000),
        all: false,
        abstraction: None,
    };
    let (cancel, progress) = (Cancel::default(), Progress::default());
    match infer(query, Budget { cancel: &cancel, progress: &progress }) {
        Inference::Repaired(repair) => repair,
        other => panic!("the program can be repaired by fences: {other:?}"),
    }
}

#[test]
fn fences_cost_the_same_and_suffice_for_unbounded_buffers() {
    for name in PROGRAMS {
        let source = fs::read_to_string(corpus().join("mutex").join(format!("{name}.fp")));
        let source = source.expect("a file of the corpus");
        let problems = lower_with_places(&source).expect("the corpus compiles");
        for model in ["tso", "pso"].map(model) {
            let auto = repair(&problems, &model, &Auto);
            let automata = repair(&problems, &model, &Automata::DEFAULT);
            assert_eq!(automata.cost, auto.cost, "{name} {}", model.name);
            assert!(matches!(automata.sufficiency, Sufficiency::Verified), "{name} {}", model.name);
            assert_eq!(automata.deciders, [Decider::Automata], "{name} {}", model.name);
        }
    }
}
