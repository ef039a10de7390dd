//! Formulas compared with reachability under every assignment, and small programs whose formula is
//! known.

use super::*;
use fencepost_search::Cancel;
use fencepost_testkit::{Random, compared, seeds};

fn solved(graph: &Graph) -> Solution {
    let cancel = Cancel::default();
    solve(graph, Watch { bytes: u64::MAX, cancel: &cancel }).expect("nothing stops it")
}

/// A random graph whose labels are about five statements: `L0 < L9` to `L4 < L9`.
fn random(seed: u64, cycles: bool) -> (Graph, Vec<(u32, u32, Vec<u32>)>) {
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

/// Whether the goal is reached when the constraints in `kept` hold.
fn goes_wrong(goal: u32, steps: &[(u32, u32, Vec<u32>)], kept: &[Constraint]) -> bool {
    let mut reached = BTreeSet::from([0]);
    loop {
        let before = reached.len();
        for (from, to, label) in steps {
            if reached.contains(from) && !prevent(label).any(|c| kept.contains(&c)) {
                reached.insert(*to);
            }
        }
        if reached.len() == before {
            return reached.contains(&goal);
        }
    }
}

#[test]
fn random_graphs_have_formulas_that_hold_where_no_error_is_reached() {
    let (mut drawn, mut interesting, mut cyclic, mut false_ones) = (0, 0, 0, 0);
    for seed in seeds(800) {
        drawn += 1;
        let (graph, steps) = random(seed, seed % 2 == 0);
        let solution = solved(&graph);
        assert!(seed % 2 == 0 || solution.acyclic, "seed {seed}: no cycles were made");
        let all: Vec<Constraint> =
            (0..5).map(|l| Constraint { before: Label(l), after: Label(9) }).collect();
        for bits in 0..32_u32 {
            let kept: Vec<Constraint> =
                (0..5).filter(|c| bits >> c & 1 == 1).map(|c| all[c]).collect();
            let position = |c: &Constraint| solution.constraints.binary_search(c).ok();
            let number = solution.constraints.len();
            let holds =
                solution.formula.are_hit_by(&Set::of(number, kept.iter().filter_map(position)));
            let expected = !goes_wrong(graph.goal(), &steps, &kept);
            assert_eq!(holds, expected, "seed {seed} {kept:?}");
        }
        interesting += usize::from(solution.formula.len() > 1);
        cyclic += usize::from(solution.passes > 1);
        false_ones += usize::from(solution.formula.iter().any(Set::is_empty));
    }
    compared("formulas of graphs: reachability", drawn);
    assert!(
        interesting > 40 && cyclic > 10 && false_ones > 40,
        "{interesting} {cyclic} {false_ones}"
    );
}

#[test]
fn an_initial_error_cannot_be_avoided() {
    let graph = Graph::from_steps(1, &[0, 1], &[]);
    let solution = solved(&graph);
    assert!(solution.formula.iter().any(Set::is_empty));
}

#[test]
fn too_many_constraints_are_refused() {
    let most = MOST_CONSTRAINTS as u32;
    let chain = |length: u32| {
        let steps: Vec<_> = (0..length).map(|at| (at, at + 1, vec![at, 9_999])).collect();
        Graph::from_steps(length, &[0], &steps)
    };
    let solution = solved(&chain(most));
    assert_eq!(solution.formula.iter().map(Set::len).collect::<Vec<_>>(), [MOST_CONSTRAINTS]);
    let cancel = Cancel::default();
    let refused = solve(&chain(most + 1), Watch { bytes: u64::MAX, cancel: &cancel });
    assert_eq!(refused.err(), Some(GaveUp::Constraints(MOST_CONSTRAINTS + 1)));
}

#[test]
fn formulas_are_conjoined_by_what_constraints_name() {
    let one = |label: u32, bound| {
        let solution = solved(&Graph::from_steps(1, &[0], &[(0, 1, vec![label, 9])]));
        Avoidance {
            constraints: solution.constraints,
            formula: solution.formula,
            states: 1,
            edges: 1,
            bound,
            acyclic: true,
            passes: 1,
            unavoidable: false,
        }
    };
    let all = conjoin(&[one(3, None), one(1, Some(8)), one(3, None)]);
    let names: Vec<String> = all.constraints.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["L1 < L9", "L3 < L9"]);
    assert_eq!((all.formula.len(), all.fewest(), all.bound), (2, Some(2), Some(8)));
}
