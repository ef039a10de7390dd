//! Fences inferred with the engine as verifier: as cheap as with the usual one, and enough for buffers of any
//! length.

use super::ask::within;
use crate::common::{corpus, model};
use fencepost_engines::{Auto, Automata, Budget, Decider, Engine};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::lazy::{Question, infer};
use fencepost_infer::menu::Menu;
use fencepost_infer::repair::{Inference, Repair, Sufficiency};
use fencepost_ir::{Problem, Written};
use fencepost_models::ModelSpec;
use fencepost_search::{Cancel, Progress};
use fencepost_testkit::lower_with_places;
use std::fs;

/// Programs whose unfenced versions have buffers without bound, or not, under either model.
const PROGRAMS: [&str; 5] = ["dekker0", "peterson0", "burns0", "clh0", "sense0"];

fn repair(problems: &[Problem], model: &ModelSpec, engine: &(dyn Engine + Sync)) -> Repair {
    let menu = Menu::of(model);
    let candidates = Candidates::new(problems, &menu, &Restrictions::default(), Written::Kept);
    let question = Question {
        problems,
        model,
        candidates: &candidates,
        engine,
        settings: within(100_000),
        all: false,
        abstraction: None,
    };
    let (cancel, progress) = (Cancel::default(), Progress::default());
    match infer(question, Budget { cancel: &cancel, progress: &progress }) {
        Inference::Repaired(repair) => repair,
        other => panic!("fences are enough: {other:?}"),
    }
}

#[test]
fn they_are_as_cheap_and_enough_for_any_length() {
    for name in PROGRAMS {
        let source = fs::read_to_string(corpus().join("mutex").join(format!("{name}.fp")));
        let source = source.expect("a file of the corpus");
        let problems = lower_with_places(&source).expect("the corpus compiles");
        for model in ["tso", "pso"].map(model) {
            let usual = repair(&problems, &model, &Auto);
            let ours = repair(&problems, &model, &Automata::USUAL);
            assert_eq!(ours.price, usual.price, "{name} {}", model.name);
            assert!(matches!(ours.sufficiency, Sufficiency::Verified), "{name} {}", model.name);
            assert_eq!(ours.deciders, [Decider::Automata], "{name} {}", model.name);
        }
    }
}
