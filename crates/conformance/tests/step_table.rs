//! A search with tabulated steps finds exactly what a search finds that executes every step: the same
//! states in the same order, targets and facts. A search of collapsed states finds the same, in another
//! order.

use crate::common::{lower, report_comparisons};
use fencepost_ir::Problem;
use fencepost_models::buffered::Buffered;
use fencepost_models::machine::collapsed::Collapsed;
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_models::pso::Pso;
use fencepost_models::sc::Sc;
use fencepost_models::tso::Tso;
use fencepost_models::{Machine, MemoryModel, Reductions};
use fencepost_search::{Cancel, Exploration, Limits, Options, Progress, TransitionSystem, explore};
use fencepost_testkit::corpus;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// The approximate number of states after which a search stops.
const MAX_STATES: u64 = 2_000;

fn search<T: TransitionSystem>(system: &T) -> Exploration {
    let (cancel, progress) = (&Cancel::default(), &Progress::default());
    let limits = Limits { states: MAX_STATES, ..Limits::default() };
    explore(system, Options { limits, cancel, progress, threads: NonZeroUsize::MIN, stop_at: None })
}

/// Compares a search of collapsed states with a search that has found `expected`. Returns the length of
/// a collapsed state.
fn compare_collapsed<M: MemoryModel>(
    name: &str,
    machine: &Machine<'_, M>,
    expected: &Exploration,
) -> usize {
    let collapsed = Collapsed::new(machine, None);
    let found = search(&collapsed);
    assert_eq!(found.coverage, expected.coverage, "{name}");
    assert_eq!(found.facts, expected.facts, "{name}");
    assert_eq!(found.bounded, expected.bounded, "{name}");
    assert_eq!(found.transitions, expected.transitions, "{name}");
    assert_eq!(found.depth, expected.depth, "{name}");
    let targets = |found: &Exploration| {
        let depth = |target| found.path(target).len();
        found.targets.iter().map(|t| (t.class, depth(t.state))).collect::<BTreeSet<_>>()
    };
    assert_eq!(targets(&found), targets(expected), "{name}");
    let states = |found: &Exploration, packed: &dyn Fn(&[u8]) -> Vec<u8>| {
        let nodes = (0..found.states as u32).map(|number| found.node(number));
        let state = |node| (packed(found.state(node)), found.path(node).len());
        nodes.map(state).collect::<BTreeSet<_>>()
    };
    let unfold = |state: &[u8]| collapsed.unfold(state);
    assert_eq!(found.states, expected.states, "{name}");
    assert_eq!(states(&found, &unfold), states(expected, &<[u8]>::to_vec), "{name}");
    found.state(found.node(0)).len()
}

/// Compares both searches. Returns the number of states.
fn compare<M: MemoryModel>(name: &str, problem: &Problem, model: M, race_threads: usize) -> u64 {
    let mut machine = Machine::new(problem, model, Reductions::ALL);
    machine.race_threads = race_threads;
    let tabulated = search(&machine);
    machine.tabulates = false;
    let executed = search(&machine);
    assert_eq!(tabulated.coverage, executed.coverage, "{name}");
    assert_eq!(tabulated.targets, executed.targets, "{name}");
    assert_eq!(tabulated.facts, executed.facts, "{name}");
    assert_eq!(tabulated.bounded, executed.bounded, "{name}");
    assert_eq!(tabulated.transitions, executed.transitions, "{name}");
    assert_eq!(tabulated.states, executed.states, "{name}");
    for number in 0..executed.states as u32 {
        let node = executed.node(number);
        assert_eq!(tabulated.state(node), executed.state(node), "{name}");
        assert_eq!(tabulated.path(node), executed.path(node), "{name}");
    }
    machine.tabulates = true;
    for max_tabulated_parts in [machine.max_tabulated_parts, 10] {
        machine.max_tabulated_parts = max_tabulated_parts;
        compare_collapsed(name, &machine, &executed);
    }
    executed.states
}

#[test]
fn tabulated_steps_agree_with_executed_ones() {
    let mut states = 0;
    for folder in ["mutex", "orders", "regress", "structures", "waiting"] {
        for (name, source) in corpus::sources(folder) {
            for problem in &lower(&source).expect("the program compiles") {
                for race_threads in [0, 5] {
                    let (bound, mutated) = (2, Mutated::NONE);
                    let mut add = |of_model| states += of_model;
                    add(compare(&name, problem, Buffered(Sc), race_threads));
                    add(compare(&name, problem, Buffered(Tso { bound, mutated }), race_threads));
                    add(compare(&name, problem, Buffered(Pso { bound, mutated }), race_threads));
                }
            }
        }
    }
    report_comparisons("tabulated steps", states);
}

#[test]
fn numbers_of_parts_become_wider_during_a_search() {
    for (count, len) in [(10, 3), (300, 4)] {
        let source = format!(
            "shared int x;
             thread p {{ r = 0; while (r < {count}) {{ r = r + 1; x = r % 4; }} }}
             thread q {{ r1 = x; assert(r1 < 7); }}"
        );
        for problem in &lower(&source).expect("the program compiles") {
            let mut machine = Machine::new(problem, Buffered(Sc), Reductions::ALL);
            machine.tabulates = false;
            let executed = search(&machine);
            machine.tabulates = true;
            for max_tabulated_parts in [machine.max_tabulated_parts, 10] {
                machine.max_tabulated_parts = max_tabulated_parts;
                assert_eq!(compare_collapsed(&source, &machine, &executed), len);
            }
        }
    }
}

#[test]
fn a_table_that_ignores_memory_is_detected() {
    let source = "shared int x;
                  thread p { x = 1; }
                  thread q { r1 = x; r2 = x; }
                  final exists (q.r1 == 0 && q.r2 == 1);";
    for problem in &lower(source).expect("the program compiles") {
        let mut machine = Machine::new(problem, Buffered(Sc), Reductions::ALL);
        let expected = search(&machine);
        machine.mutated = Mutated::with(Mutation::LoadsIgnoreMemory);
        assert_ne!(search(&machine).states, expected.states);
    }
}
