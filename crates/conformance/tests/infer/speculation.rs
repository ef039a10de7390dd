//! Fences that only a model with speculation needs.

use super::{compare, problem, run_query};
use crate::common::model;
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::fence_costs::FenceCosts;
use fencepost_infer::lazy::infer;
use fencepost_infer::repair::Inference;
use fencepost_ir::WrittenFences;

/// A control dependency does not order loads under `rmo`: the fences must.
#[test]
fn speculation_makes_acquire_fences_necessary() {
    let reader = "shared int x, y;
        thread p { x = 1; y = 1; }
        thread q { r = y; if (r == 1) { s = x; } }
        observe q.r, q.s;";
    let spinning = "shared int x, y;
        thread p { x = 1; y = 1; }
        thread q { do { r = y; } while (r == 0); s = x; }
        observe q.s;";
    let lock = "shared int lock, x;
        thread p { do { t = swap(lock, 1); } while (t == 1); r = x; x = r + 1; fence store_store; lock = 0; }
        thread q { do { t = swap(lock, 1); } while (t == 1); r = x; x = r + 1; fence store_store; lock = 0; }
        observe x;";
    for (source, with_speculation, without) in [(reader, 4, 2), (spinning, 4, 2), (lock, 4, 0)] {
        for (name, cost) in [("rmo", with_speculation), ("rmo-nospec", without)] {
            let fence_costs = FenceCosts::for_model(&model(name));
            for seed in 0..3 {
                compare(source, name, &fence_costs, seed);
            }
            let problem = problem(source).expect("an SC program");
            let restrictions = Restrictions::default();
            let problems = std::slice::from_ref(&problem);
            let candidates =
                Candidates::new(problems, &fence_costs, &restrictions, WrittenFences::Kept);
            let inference = run_query(&problem, &model(name), &candidates, None, infer);
            let Inference::Repaired(repair) = &inference else { panic!("{inference:?}") };
            assert_eq!(repair.cost, cost, "{name}\n{source}");
        }
    }
}
