//! Compares avoid formulas with reachability under every assignment, and checks small graphs with
//! known formulas.

use super::*;
use fencepost_search::Cancel;
use fencepost_testkit::{Random, report_comparisons, seeds};

fn solve_without_limits(graph: &Graph) -> Solution {
    let cancel = Cancel::default();
    solve(graph, StopConditions { bytes: u64::MAX, cancel: &cancel })
        .expect("the computation has no limits")
}

/// Returns a random graph, and its steps, over five constraints: `L0 < L9` to `L4 < L9`.
fn random_graph(seed: u64, cycles: bool) -> (Graph, Vec<(u32, u32, Vec<u32>)>) {
    let mut draw = Random::new(seed);
    let states = 2 + draw.below(9) as u32;
    let mut steps = Vec::new();
    for _ in 0..states + draw.below(16) as u32 {
        let from = draw.below(states as usize) as u32;
        let to = if cycles {
            draw.below(states as usize + 1) as u32
        } else {
            from + 1 + draw.below((states - from) as usize) as u32
        };
        let mut label: Vec<u32> = (0..draw.below(3)).map(|_| draw.below(5) as u32).collect();
        label.sort_unstable();
        label.dedup();
        if !label.is_empty() {
            label.push(9);
        }
        steps.push((from, to, label));
    }
    (Graph::from_steps(states, &[0], &steps), steps)
}

/// Returns whether the goal is reachable if the constraints in `enforced` hold.
fn is_goal_reachable(goal: u32, steps: &[(u32, u32, Vec<u32>)], enforced: &[Constraint]) -> bool {
    let mut reached = BTreeSet::from([0]);
    loop {
        let before = reached.len();
        for (from, to, label) in steps {
            if reached.contains(from) && !prevent(label).any(|c| enforced.contains(&c)) {
                reached.insert(*to);
            }
        }
        if reached.len() == before {
            return reached.contains(&goal);
        }
    }
}

#[test]
fn random_formulas_hold_exactly_if_no_error_is_reachable() {
    let (mut graphs, mut with_several_clauses, mut iterated, mut false_formulas) = (0, 0, 0, 0);
    for seed in seeds(800) {
        graphs += 1;
        let (graph, steps) = random_graph(seed, seed % 2 == 0);
        let solution = solve_without_limits(&graph);
        assert!(seed % 2 == 0 || solution.acyclic, "seed {seed}: the graph has no cycles");
        let all: Vec<Constraint> =
            (0..5).map(|l| Constraint { before: Label(l), after: Label(9) }).collect();
        for bits in 0..32_u32 {
            let enforced: Vec<Constraint> =
                (0..5).filter(|c| bits >> c & 1 == 1).map(|c| all[c]).collect();
            let position = |c: &Constraint| solution.constraints.binary_search(c).ok();
            let number = solution.constraints.len();
            let holds =
                solution.formula.are_hit_by(&Set::of(number, enforced.iter().filter_map(position)));
            let expected = !is_goal_reachable(graph.goal(), &steps, &enforced);
            assert_eq!(holds, expected, "seed {seed} {enforced:?}");
        }
        with_several_clauses += usize::from(solution.formula.len() > 1);
        iterated += usize::from(solution.passes > 1);
        false_formulas += usize::from(solution.formula.iter().any(Set::is_empty));
    }
    report_comparisons("formulas of graphs: reachability", graphs);
    assert!(
        with_several_clauses > 40 && iterated > 10 && false_formulas > 40,
        "{with_several_clauses} {iterated} {false_formulas}"
    );
}

#[test]
fn an_initial_error_is_unavoidable() {
    let graph = Graph::from_steps(1, &[0, 1], &[]);
    let solution = solve_without_limits(&graph);
    assert!(solution.formula.iter().any(Set::is_empty));
}

#[test]
fn too_many_constraints_are_refused() {
    let max = MAX_CONSTRAINTS as u32;
    let chain = |length: u32| {
        let steps: Vec<_> = (0..length).map(|at| (at, at + 1, vec![at, 9_999])).collect();
        Graph::from_steps(length, &[0], &steps)
    };
    let solution = solve_without_limits(&chain(max));
    assert_eq!(solution.formula.iter().map(Set::len).collect::<Vec<_>>(), [MAX_CONSTRAINTS]);
    let cancel = Cancel::default();
    let refused = solve(&chain(max + 1), StopConditions { bytes: u64::MAX, cancel: &cancel });
    assert_eq!(refused.err(), Some(NoFormula::TooManyConstraints(MAX_CONSTRAINTS + 1)));
}

#[test]
fn conjoin_identifies_equal_constraints() {
    let with_constraint = |label: u32, bound| {
        let solution = solve_without_limits(&Graph::from_steps(1, &[0], &[(0, 1, vec![label, 9])]));
        Avoidance {
            constraints: solution.constraints,
            formula: solution.formula,
            states: 1,
            edges: 1,
            bound,
            acyclic: true,
            passes: 1,
            is_unavoidable: false,
        }
    };
    let all =
        conjoin(&[with_constraint(3, None), with_constraint(1, Some(8)), with_constraint(3, None)]);
    let names: Vec<String> = all.constraints.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["L1 < L9", "L3 < L9"]);
    assert_eq!(
        (all.formula.len(), all.fewest(&Cancel::default()), all.bound),
        (2, Ok(Some(2)), Some(8))
    );
}
