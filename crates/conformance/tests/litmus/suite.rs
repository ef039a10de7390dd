//! The generated suite: the tests of all critical cycles of at most six edges.
//!
//! Theory decides which cycles a model allows. In every model here a store becomes visible to all
//! other threads at once. So a cycle of external communications and program order is observable if
//! and only if the model can reorder some pair of accesses in program order: neither the model nor
//! the fence between them preserves their order \[SS88\]. The file, the theory and the engine must
//! agree on all tests, and the axiomatic judge must agree on their outcomes.
//!
//! `corpus/x86/cycles.tsv` holds the suite in compact form. `FENCEPOST_BLESS=1` rewrites it: the
//! word from theory, the number of states from the engine.

use super::queries::{MODELS, parse, run_model};
use crate::common::corpus;
use fencepost_conformance::axiomatic;
use fencepost_conformance::reference::Table;
use fencepost_cycles::{Access, Cycle, Edge, Fence, default_edges, generate};
use std::fmt::Write;
use std::fs;

const HEADER: &str = "\
# All critical cycles of at most six edges: program order to different locations, plain and with each
# fence, and communications between threads. For each model: whether the cycle is observed, and the
# number of states. Observations follow from theory; the explicit engine and the axioms agree on states.
";

/// Returns whether a model can reorder the two ends of an edge.
fn is_relaxed(edge: Edge, table: Table) -> bool {
    let overtakes = |earlier, later| match (earlier, later) {
        (Access::Store, Access::Load) => table.w_r,
        (Access::Store, Access::Store) => table.w_w,
        (Access::Load, Access::Load) => table.r_r,
        (Access::Load, Access::Store) => table.r_w,
    };
    match edge {
        Edge::ReadFrom(_) | Edge::FromRead(_) | Edge::Coherence(_) | Edge::Exchange => false,
        Edge::ProgramOrder(_, earlier, later) => overtakes(earlier, later),
        Edge::Fenced(fence, _, earlier, later) => {
            let ordered = match fence {
                Fence::Full => true,
                Fence::Stores => (earlier, later) == (Access::Store, Access::Store),
                Fence::Loads => earlier == Access::Load,
            };
            !ordered && overtakes(earlier, later)
        }
    }
}

/// Returns the answer of theory for a cycle. No cycle occurs in all final states: the threads may
/// always run one after the other.
fn theoretical_answer(cycle: &Cycle, table: Table) -> &'static str {
    let seen = cycle.edges().iter().any(|edge| is_relaxed(*edge, table));
    if seen { "Sometimes" } else { "Never" }
}

/// Returns the row of a cycle: the answers of theory and the numbers of states. Checks that the
/// engine agrees with theory.
fn row(cycle: &Cycle) -> String {
    let name = cycle.name();
    let test = parse(&cycle.litmus_text(), &name).expect("a generated test is well-formed");
    let mut row = format!("{name}\t{cycle}");
    for (model, _, table) in MODELS {
        let shown = test
            .evaluate(&run_model(&test.problem, model))
            .expect("the condition can be evaluated");
        let word = theoretical_answer(cycle, table);
        assert_eq!(shown.observation().name(), word, "{name} {model}");
        write!(row, "\t{word} {}", shown.states.len()).expect("writing to a string");
    }
    row
}

#[test]
fn file_theory_and_engine_agree() {
    let cycles = generate(6, &default_edges());
    let mut text = format!("{HEADER}test\tcycle");
    MODELS.iter().for_each(|(model, _, _)| text.extend(["\t", model]));
    text.push('\n');
    for cycle in &cycles {
        text.push_str(&row(cycle));
        text.push('\n');
    }
    let path = corpus().join("x86/cycles.tsv");
    if std::env::var_os("FENCEPOST_BLESS").is_some() {
        fs::write(&path, &text).expect("the corpus is writable");
    }
    let file = fs::read_to_string(&path).expect("the suite exists");
    for (file, found) in file.lines().zip(text.lines()) {
        assert_eq!(file, found);
    }
    assert_eq!(
        file.lines().count(),
        text.lines().count(),
        "the file has as many tests as the suite"
    );
    assert_eq!(cycles.len(), 794, "the suite is complete");
}

#[test]
fn the_file_lists_every_cycle_once_under_its_name() {
    let text = fs::read_to_string(corpus().join("x86/cycles.tsv")).expect("the suite exists");
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut cycles = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.split('\t').collect();
        let cycle: Cycle = cells[1].parse().expect("a cycle");
        assert_eq!(cycle.name(), cells[0]);
        cycles.push(cycle);
    }
    let listed = cycles.len();
    cycles.sort();
    cycles.dedup();
    assert_eq!(cycles.len(), listed);
}

/// Compares all outcomes, not only the one of the condition.
#[test]
fn the_axiomatic_judge_has_the_same_outcomes() {
    let mut compared = 0;
    for cycle in generate(6, &default_edges()) {
        let name = cycle.name();
        let problem =
            parse(&cycle.litmus_text(), &name).expect("a generated test is well-formed").problem;
        for (model, _, table) in MODELS {
            let judged = axiomatic::outcomes(&problem, table);
            let judged =
                judged.unwrap_or_else(|reason| panic!("{name} is not supported: {reason}"));
            assert_eq!(judged, run_model(&problem, model), "{name} {model}");
            compared += 1;
        }
    }
    assert_eq!(compared, MODELS.len() * 794);
}
