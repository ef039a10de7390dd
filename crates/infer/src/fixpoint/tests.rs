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

/// Returns the sorted minimal clauses that each method computes, dualisation first.
fn clauses_of_both(graph: &Graph) -> [BTreeSet<Set>; 2] {
    let cancel = Cancel::default();
    let stop = StopConditions { bytes: u64::MAX, cancel: &cancel };
    let equations = Equations::new(graph).expect("few constraints");
    let Equations { plan, constraints, labels, .. } = &equations;
    assert_eq!(plan.roles[graph.goal() as usize], Role::Open);
    let reachability = Reachability::new(graph, plan, labels, stop).expect("no limits");
    let mut dualisation = Dualisation::new(reachability, constraints.len());
    // A small first allowance interrupts the computation.
    let mut allowance = 0;
    while !dualisation.run(allowance).expect("no limits") {
        allowance = 2 * allowance + 1;
    }
    let mut per_state = PerState::<1>::new(graph, plan, labels, constraints.len(), true, stop);
    let mut allowance = 0;
    while !per_state.run(allowance).expect("no limits") {
        allowance = 2 * allowance + 1;
    }
    let dual = dualisation.into_clauses();
    assert_eq!(dual.len(), BTreeSet::from_iter(&dual).len(), "every clause is found once");
    let mut all = PerState::<1>::new(graph, plan, labels, constraints.len(), false, stop);
    assert!(all.run(u64::MAX).expect("no limits"));
    let of_goal =
        |per_state: &PerState<'_, 1>| BTreeSet::from_iter(per_state.clauses(graph.goal()));
    assert_eq!(of_goal(&all), of_goal(&per_state), "pruning does not change the goal's formula");
    [BTreeSet::from_iter(dual), of_goal(&per_state)]
}

#[test]
fn random_graphs_have_the_same_clauses_by_both_methods() {
    let (mut graphs, mut large) = (0, 0);
    for seed in seeds(800) {
        let mut draw = Random::new(seed);
        let (states, constraints) = (3 + draw.below(30), 4 + draw.below(9));
        let mut steps = Vec::new();
        for _ in 0..states * 3 {
            let (from, to) = (draw.below(states) as u32, draw.below(states + 1) as u32);
            let members = draw.below(3);
            let mut label: Vec<u32> =
                (0..members).map(|_| draw.below(constraints) as u32).collect();
            label.sort_unstable();
            label.dedup();
            if !label.is_empty() {
                label.push(99);
            }
            steps.push((from, to, label));
        }
        let graph = Graph::from_steps(states as u32, &[0], &steps);
        if Plan::new(&graph).roles[graph.goal() as usize] != Role::Open {
            continue;
        }
        let [dual, per_state] = clauses_of_both(&graph);
        assert_eq!(dual, per_state, "seed {seed}");
        graphs += 1;
        large += usize::from(dual.len() > 5);
    }
    report_comparisons("formulas of graphs: dualisation, formulas of states", graphs);
    assert!(graphs > 200 && large > 20, "{graphs} {large}");
}

/// Returns the graphs of small programs of the corpus, under abstractions and in windows.
fn graphs_of_programs() -> Vec<(String, Graph)> {
    let (cancel, progress) = (Cancel::default(), fencepost_search::Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let settings = Settings { fixed_buffer: Some(3), ..Settings::default() };
    let mut graphs = Vec::new();
    for name in
        ["mutex/peterson0-once", "mutex/sense0", "papers/fender-fig2", "papers/blender-fig6"]
    {
        let path = fencepost_testkit::corpus::folder().join(name).with_extension("fp");
        let source = std::fs::read_to_string(&path).expect("the program exists");
        let mut problem = fencepost_testkit::problem(&source);
        problem.may_hang = true;
        for model in [ModelSpec::TSO, ModelSpec::PSO] {
            let task = Task { problem: &problem, model: &model };
            for (domain, k) in [(Domain::Full, 0), (Domain::Partial, 0), (Domain::Partial, 1)] {
                let abstracted = model.abstracted(domain, k, true).expect("TSO or PSO");
                let found = abstract_graph(task, abstracted, settings, budget, false);
                let found = found.expect("the graph is small");
                graphs.push((format!("{name} {} {domain:?} {k}", model.name), found.graph));
            }
            let table = Table { bypass: model.relaxes(), bound: 3, mutated: Mutated::NONE };
            let found = window_graph(task, table, settings, budget, false);
            let found = found.expect("the graph is small");
            graphs.push((format!("{name} {} windows", model.name), found.graph));
        }
    }
    graphs
}

#[test]
fn programs_have_the_same_clauses_by_both_methods() {
    let mut compared = 0;
    for (name, graph) in graphs_of_programs() {
        if Plan::new(&graph).roles[graph.goal() as usize] == Role::Open {
            let [dual, per_state] = clauses_of_both(&graph);
            assert_eq!(dual, per_state, "{name}");
            compared += 1;
        }
    }
    assert!(compared >= 8, "{compared} graphs");
}

/// The transition system of \[KVY10\] Fig. 3 has nine states. State 1 is entered without a label.
#[test]
fn the_drawing_of_the_papers_example_has_the_papers_formulas() {
    let (cancel, progress) = (Cancel::default(), fencepost_search::Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let path = fencepost_testkit::corpus::folder().join("papers/fender-fig2.fp");
    let problem =
        fencepost_testkit::problem(&std::fs::read_to_string(path).expect("the program exists"));
    let model = ModelSpec::builtin().into_iter().find(|model| model.name == "rmo");
    let model = model.expect("RMO exists");
    let task = Task { problem: &problem, model: &model };
    let drawn = drawing::draw_states(task, None, Settings::default(), budget).expect("it is small");
    let text = |formula: &drawing::Formula| {
        let line = |label: Label| problem.program.label(label).span.line;
        let clause = |clause: &Vec<Constraint>| {
            let orderings: Vec<String> = (clause.iter())
                .map(|c| format!("{} < {}", line(c.before), line(c.after)))
                .collect();
            format!("[{}]", orderings.join(" or "))
        };
        formula.iter().map(clause).collect::<Vec<_>>().join(" and ")
    };
    let mut formulas: Vec<String> = drawn.states.iter().map(|s| text(&s.avoid)).collect();
    formulas.sort();
    let (a, b) = ("[12 < 13]", "[17 < 18]");
    let both = "[12 < 13] and [17 < 18]";
    assert_eq!(formulas, ["[12 < 13 or 17 < 18]", a, a, a, both, b, b, b, "[]"]);
    assert_eq!(text(&drawn.avoid_errors), both);
    assert_eq!(drawn.steps.iter().filter(|step| step.to.is_none()).count(), 1);
    assert_eq!(drawn.steps.iter().filter(|step| !step.prevented_by.is_empty()).count(), 4);
    assert_eq!(drawn.bound, None);
}

#[test]
fn a_large_transition_system_is_not_drawn() {
    let (cancel, progress) = (Cancel::default(), fencepost_search::Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let path = fencepost_testkit::corpus::folder().join("mutex/peterson0.fp");
    let problem =
        fencepost_testkit::problem(&std::fs::read_to_string(path).expect("the program exists"));
    let model = ModelSpec::PSO;
    let task = Task { problem: &problem, model: &model };
    let abstracted = model.abstracted(Domain::Partial, 0, true);
    let drawn = drawing::draw_states(task, abstracted, Settings::default(), budget);
    assert!(matches!(drawn, Err(drawing::NoDrawing::TooLarge(states)) if states > 1000));
}

#[test]
fn both_methods_respect_limits() {
    let (graph, _) = random_graph(3, true);
    let graph = if Plan::new(&graph).roles[graph.goal() as usize] == Role::Open {
        graph
    } else {
        Graph::from_steps(2, &[0], &[(0, 1, vec![1, 9]), (1, 2, vec![2, 9])])
    };
    let cancel = Cancel::default();
    let equations = Equations::new(&graph).expect("few constraints");
    let Equations { plan, constraints, labels, .. } = &equations;
    let no_memory = StopConditions { bytes: 0, cancel: &cancel };
    assert_eq!(Reachability::new(&graph, plan, labels, no_memory).err(), Some(Stop::Memory));
    let mut per_state =
        PerState::<1>::new(&graph, plan, labels, constraints.len(), true, no_memory);
    assert_eq!(per_state.run(u64::MAX), Err(Stop::Memory));
    let stop = StopConditions { bytes: u64::MAX, cancel: &cancel };
    let reachability = Reachability::new(&graph, plan, labels, stop).expect("no limits");
    let mut dualisation = Dualisation::new(reachability, constraints.len());
    let mut per_state = PerState::<1>::new(&graph, plan, labels, constraints.len(), true, stop);
    cancel.time_out();
    assert_eq!(dualisation.run(u64::MAX), Err(Stop::Time));
    assert_eq!(per_state.run(u64::MAX), Err(Stop::Time));
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
    let (mut graphs, mut with_several_clauses, mut cyclic, mut false_formulas) = (0, 0, 0, 0);
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
        cyclic += usize::from(!solution.acyclic);
        false_formulas += usize::from(solution.formula.iter().any(Set::is_empty));
    }
    report_comparisons("formulas of graphs: reachability", graphs);
    assert!(
        with_several_clauses > 40 && cyclic > 10 && false_formulas > 40,
        "{with_several_clauses} {cyclic} {false_formulas}"
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
