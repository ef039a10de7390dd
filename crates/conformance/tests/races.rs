//! The reduction to races changes neither outcomes nor whether there is a violation.
//!
//! By default, races are explored alone only in programs with many threads. Here they are in all.

use crate::common::model;
use fencepost_ir::Problem;
use fencepost_models::{Machine, MemoryModel, Reductions, Visitor};
use fencepost_search::{Cancel, Coverage, Exploration, Limits, Options, Progress, explore};
use fencepost_testkit::programs::{
    Profile, critical_sections, deadlocks, invariants, litmus, many_executions, program, spin_loops,
};
use fencepost_testkit::{problem, report_comparisons, seeds};
use std::num::NonZeroUsize;

/// A search with all reductions, or without partial-order reduction.
struct Search<'a> {
    problem: &'a Problem,
    is_reduced: bool,
}

impl Visitor for Search<'_> {
    type Output = Exploration;

    fn visit<M: MemoryModel>(self, model: M) -> Exploration {
        let reductions = Reductions { partial_order: self.is_reduced, ..Reductions::ALL };
        let mut machine = Machine::new(self.problem, model, reductions);
        machine.race_threads = 0;
        let (cancel, progress) = (&Cancel::default(), &Progress::default());
        let limits = Limits { states: 100_000, ..Limits::default() };
        let threads = NonZeroUsize::MIN;
        explore(&machine, Options { limits, cancel, progress, threads, stop_at: None })
    }
}

/// Compares the two searches. Returns whether both were exhaustive.
fn compare(problem: &Problem, name: &str, text: &str) -> bool {
    let spec = model(name);
    let search = |is_reduced| spec.visit(4, Search { problem, is_reduced });
    let (all, reduced) = (search(false), search(true));
    if all.coverage != Coverage::Exhaustive || reduced.coverage != Coverage::Exhaustive {
        return false;
    }
    assert_eq!(all.facts, reduced.facts, "{name}\n{text}");
    let is_violated = |found: &Exploration| found.target(0).is_some();
    assert_eq!(is_violated(&all), is_violated(&reduced), "{name}\n{text}");
    true
}

#[test]
fn random_programs_have_the_same_outcomes_with_races() {
    let mut compared = 0;
    for seed in seeds(25) {
        let texts = [
            program(Profile::Straight, seed).to_string(),
            program(Profile::Loops, seed).to_string(),
            critical_sections(seed).to_string(),
            deadlocks(seed).to_string(),
            invariants(seed).to_string(),
            spin_loops(seed).to_string(),
            many_executions(seed).to_string(),
            litmus(seed).to_string(),
        ];
        for text in texts {
            let problem = problem(&text);
            for name in ["sc", "tso", "pso", "rmo", "rmo-nospec"] {
                compared += u64::from(compare(&problem, name, &text));
            }
        }
    }
    report_comparisons("programs and models with races", compared);
}

/// A chain of threads has exponentially many states without the reduction.
#[test]
fn races_make_chains_of_threads_small() {
    let chain = |threads: usize| {
        let shared: Vec<String> = (1..=threads).map(|at| format!("x{at}")).collect();
        let mut text = format!("shared int x0 = 1, {};\n", shared.join(", "));
        for at in 0..threads {
            text.push_str(&format!("thread p{at} {{ r = x{at}; x{} = r; }}\n", at + 1));
        }
        text + &format!("observe x{threads};")
    };
    for name in ["sc", "tso", "pso", "rmo", "rmo-nospec"] {
        let text = chain(6);
        assert!(compare(&problem(&text), name, &text), "{name}");
        let problem = problem(&chain(20));
        let found = model(name).visit(4, Search { problem: &problem, is_reduced: true });
        assert_eq!(found.coverage, Coverage::Exhaustive, "{name}");
        assert_eq!(found.facts.len(), 2, "{name}");
        assert!(found.states < 5_000, "{name}: {} states", found.states);
    }
}
