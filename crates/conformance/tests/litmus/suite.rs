//! The generated suite: the tests of all critical cycles of at most six edges.
//!
//! Theory says which of them a model allows. In every model here a store becomes visible to all other threads at once,
//! so a cycle of external communications and program order happens exactly when the model lets some pair of
//! accesses in program order change places: when their order is neither kept nor restored by the fence between
//! them \[SS88\]. The file, theory and the engine must agree on all tests, and the axiomatic judge on their outcomes.
//!
//! `corpus/x86/cycles.tsv` has the suite in compact form. `FENCEPOST_BLESS=1` writes it anew: the word from theory, the
//! number of states from the engine.

use super::ask::{MODELS, parse, run};
use crate::common::corpus;
use fencepost_conformance::axiomatic;
use fencepost_conformance::reference::Table;
use fencepost_cycles::{Access, Cycle, Edge, Fence, default_edges, generate};
use std::fmt::Write;
use std::fs;

const HEADER: &str = "\
# The tests of all critical cycles of at most six edges: program order to different locations, plain and with each
# fence, and communications between threads. Under each model: whether the cycle is seen, and how many states there are.
# The words follow from theory; the numbers were counted by the explicit engine and agree with the axioms.
";

/// Whether a model lets the two ends of an edge change places.
fn relaxed(edge: Edge, table: Table) -> bool {
    let overtakes = |earlier, later| match (earlier, later) {
        (Access::Store, Access::Load) => table.w_r,
        (Access::Store, Access::Store) => table.w_w,
        (Access::Load, Access::Load) => table.r_r,
        (Access::Load, Access::Store) => table.r_w,
    };
    match edge {
        Edge::ReadFrom(_) | Edge::FromRead(_) | Edge::Coherence(_) | Edge::Exchange => false,
        Edge::Order(_, earlier, later) => overtakes(earlier, later),
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

/// What theory says about a cycle. No cycle is in all states: there is always the one in which threads take turns.
fn theory(cycle: &Cycle, table: Table) -> &'static str {
    let seen = cycle.edges().iter().any(|edge| relaxed(*edge, table));
    if seen { "Sometimes" } else { "Never" }
}

/// The row of a cycle: the words of theory, which must be those of the engine, and numbers.
fn row(cycle: &Cycle) -> String {
    let name = cycle.name();
    let test = parse(&cycle.test(), &name).expect("a generated test is one");
    let mut row = format!("{name}\t{cycle}");
    for (model, _, table) in MODELS {
        let shown = test.show(&run(&test.problem, model)).expect("values compare");
        let word = theory(cycle, table);
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
        fs::write(&path, &text).expect("a writable corpus");
    }
    let file = fs::read_to_string(&path).expect("the suite is there");
    for (file, found) in file.lines().zip(text.lines()) {
        assert_eq!(file, found);
    }
    assert_eq!(file.lines().count(), text.lines().count(), "as many tests");
    assert_eq!(cycles.len(), 794, "the suite is complete");
}

/// A name is that of its cycle, and a cycle is in the file once.
#[test]
fn the_file_can_be_read_back() {
    let text = fs::read_to_string(corpus().join("x86/cycles.tsv")).expect("the suite is there");
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

/// All outcomes, not only the one that is asked for.
#[test]
fn the_axioms_allow_the_same_outcomes() {
    let mut compared = 0;
    for cycle in generate(6, &default_edges()) {
        let name = cycle.name();
        let problem = parse(&cycle.test(), &name).expect("a generated test is one").problem;
        for (model, _, table) in MODELS {
            let judged = axiomatic::outcomes(&problem, table);
            let judged = judged.unwrap_or_else(|why| panic!("{name} is not judged: {why}"));
            assert_eq!(judged, run(&problem, model), "{name} {model}");
            compared += 1;
        }
    }
    assert_eq!(compared, 4 * 794);
}
