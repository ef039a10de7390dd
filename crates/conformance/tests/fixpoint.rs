//! Fence inference by the papers' method on programs of the corpus: known formulas, and placements
//! that must be verified.

use crate::common::{check, corpus, model, settings};
use fencepost_engines::{Auto, Budget, Settings, Task, Verdict};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::constraint::Constraint;
use fencepost_infer::fence_costs::{FenceCosts, FenceKind};
use fencepost_infer::fixpoint::{
    Avoidance, NoFormula, compute_abstract_avoidance, compute_avoidance,
};
use fencepost_infer::fixpoint_inference;
use fencepost_infer::lazy::Query;
use fencepost_infer::place_for_constraints::{ConstraintPlacements, place_for_constraints};
use fencepost_infer::repair::{Inference, Sufficiency};
use fencepost_ir::{Barrier, FenceKinds, Problem, Property, WrittenFences, placement};
use fencepost_models::Reductions;
use fencepost_models::coherence::Domain;
use fencepost_search::{Cancel, Limits, Progress, Stop};
use fencepost_testkit::{corpus, is_campaign, lower_with_places};
use std::collections::BTreeSet;
use std::fs;

/// Returns the problems of a file, with the places for fences.
fn problems(path: &str) -> Vec<Problem> {
    let source = fs::read_to_string(corpus().join(path)).expect("a file of the corpus");
    lower_with_places(&source).expect("the program compiles")
}

fn formula(problem: &Problem, name: &str, settings: Settings) -> Result<Avoidance, NoFormula> {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    compute_avoidance(Task { problem, model: &model(name) }, settings, budget)
}

/// Formats the clauses of a formula with the texts of the statements.
fn format_clauses(problem: &Problem, avoidance: &Avoidance) -> Vec<String> {
    let text = |label| problem.program.label(label).text.clone();
    let clause = |set| {
        let all = avoidance.constraints_at(set).into_iter();
        let all: Vec<String> =
            all.map(|c| format!("{} < {}", text(c.before), text(c.after))).collect();
        all.join(" | ")
    };
    avoidance.formula.iter().map(clause).collect()
}

fn fewest_constraints(avoidance: &Avoidance) -> Option<usize> {
    avoidance.fewest(&Cancel::default()).expect("not cancelled")
}

fn cheapest(problem: &Problem, name: &str, avoidance: &Avoidance) -> ConstraintPlacements {
    let problems = std::slice::from_ref(problem);
    let fence_costs = FenceCosts::for_model(&model(name));
    let candidates =
        Candidates::new(problems, &fence_costs, &Restrictions::default(), WrittenFences::Kept);
    place_for_constraints(problems, avoidance, &candidates, 1, &Cancel::default())
        .expect("fences can be placed everywhere")
}

/// Formats the fences of a placement: the kind, and the text of the next statement.
fn format_fences(problem: &Problem, enforced: &ConstraintPlacements) -> Vec<String> {
    let program = &problem.program;
    let atoms = enforced.placements[0].atoms.iter();
    let shown = atoms.map(|atom| match atom.barrier {
        Barrier::Fence(kinds) => {
            format!(
                "{} before {}",
                kinds.name(),
                program.label(program.place(atom.place).label).text
            )
        }
        Barrier::Drain(_) => "drain".into(),
        Barrier::Order(_) => "order".into(),
    });
    shown.collect()
}

fn fenced(problem: &Problem, enforced: &ConstraintPlacements) -> Problem {
    let program = placement::fenced(&problem.program, &enforced.placements[0], WrittenFences::Kept);
    Problem { program, ..problem.clone() }
}

#[test]
fn message_passing_has_the_formula_of_the_paper() {
    let problem = problems("papers/fender-fig2.fp").remove(0);
    for (name, expected) in [
        ("sc", &[][..]),
        ("tso", &[]),
        ("pso", &["x = 1 < y = 1"]),
        ("rmo-nospec", &["x = 1 < y = 1", "y < x"]),
        ("rmo", &["x = 1 < y = 1", "y < x"]),
    ] {
        let found = formula(&problem, name, settings(2)).expect("no limit is reached");
        assert_eq!(format_clauses(&problem, &found), expected, "{name}");
        assert!(found.acyclic && found.bound.is_none() && !found.is_unavoidable);
        assert_eq!(fewest_constraints(&found), Some(expected.len()));
        let placed = cheapest(&problem, name, &found);
        assert_eq!(placed.placements[0].atoms.len(), expected.len());
        let answer = check(&fenced(&problem, &placed), &model(name), settings(2));
        assert!(matches!(answer.verdict, Verdict::Verified(_)), "{name}: {:?}", answer.verdict);
    }
}

#[test]
fn dekker_with_data_needs_one_fence_under_tso_and_two_under_pso() {
    let problem = problems("mutex/dekker-data0.fp").remove(0);
    for (name, bound, fewest, number) in [("tso", 4, 2, 1), ("pso", 3, 3, 2)] {
        let settings = Settings { fixed_buffer: Some(bound), ..settings(2) };
        let found = formula(&problem, name, settings).expect("no limit is reached");
        assert_eq!(
            (fewest_constraints(&found), found.bound),
            (Some(fewest), Some(bound)),
            "{name}"
        );
        assert!(!found.acyclic && !found.is_unavoidable);
        let placed = cheapest(&problem, name, &found);
        let fences = format_fences(&problem, &placed);
        assert_eq!(fences.len(), number, "{name}: {fences:?}");
        let answer = check(&fenced(&problem, &placed), &model(name), crate::common::settings(2));
        assert!(matches!(answer.verdict, Verdict::Verified(_)), "{name}: {fences:?}");
    }
}

#[test]
fn a_reached_limit_is_the_reason_for_no_formula() {
    let problem = problems("mutex/dekker-data0.fp").remove(0);
    let limits = Limits { states: 100, ..Limits::default() };
    let given_up = formula(&problem, "pso", Settings { limits, ..settings(1) });
    assert_eq!(given_up.err(), Some(NoFormula::Stopped(Stop::States)));
}

/// Returns the clauses of a formula as a set.
fn clauses(avoidance: &Avoidance) -> BTreeSet<Vec<Constraint>> {
    avoidance.formula.iter().map(|clause| avoidance.constraints_at(clause)).collect()
}

#[test]
fn reductions_do_not_change_formulas_campaign() {
    let states = if is_campaign() { 40_000 } else { 8_000 };
    let limits = Limits { states, ..Limits::default() };
    let reduced = Settings { limits, max_buffer: Some(8), ..settings(2) };
    let unreduced = Settings { reductions: Reductions::NONE, ..reduced };
    let files = ["structures/msn-queue.fp", "structures/treiber.fp", "structures/lifo-wsq.fp"];
    let others = ["structures/vyset.fp", "mutex/dekker0-once.fp", "mutex/peterson0-once.fp"];
    let (mut compared, mut smaller) = (0, 0);
    for problem in files.iter().chain(&others).flat_map(|path| problems(path)) {
        for name in ["tso", "pso", "rmo-nospec"] {
            let Ok(full) = formula(&problem, name, unreduced) else { continue };
            let Ok(reduced) = formula(&problem, name, reduced) else { continue };
            if full.bound == reduced.bound {
                assert_eq!(clauses(&full), clauses(&reduced), "{} {name}", problem.name);
                compared += 1;
                smaller += usize::from(reduced.states * 10 < full.states * 9);
            }
        }
    }
    assert!(compared >= 40 && smaller >= 5, "{compared} {smaller}");
}

/// Turns every `sometimes` condition into a condition that must never hold. Other properties stay.
fn forbid_witnesses(problem: &mut Problem) {
    let forbidden = std::mem::take(&mut problem.sometimes);
    problem.properties.extend(forbidden.into_iter().map(Property::FinalNever));
}

#[test]
fn programs_verified_under_sc_are_repaired_campaign() {
    let (states, buffer) = if is_campaign() { (20_000, 16) } else { (5_000, 8) };
    let small = Limits { states, ..Limits::default() };
    let mut settings = Settings { limits: small, max_buffer: Some(buffer), ..settings(2) };
    settings.shortest = false;
    let (mut repaired, mut bounded) = (0, 0);
    for folder in ["litmus", "papers", "mutex"] {
        for (file, source) in corpus::sources(folder) {
            let mut problem = lower_with_places(&source).expect("the program compiles").remove(0);
            forbid_witnesses(&mut problem);
            let verdict =
                |problem: &Problem, name: &str| check(problem, &model(name), settings).verdict;
            if !matches!(verdict(&problem, "sc"), Verdict::Verified(_)) {
                continue;
            }
            for name in ["ibm370", "tso", "pso", "rmo-nospec"] {
                if !matches!(verdict(&problem, name), Verdict::Violated(_)) {
                    continue;
                }
                let Ok(found) = formula(&problem, name, settings) else { continue };
                assert!(!found.is_unavoidable, "{file} {name}");
                let placed = cheapest(&problem, name, &found);
                match (verdict(&fenced(&problem, &placed), name), found.bound) {
                    (Verdict::Verified(_), _) => repaired += 1,
                    (_, Some(_)) => bounded += 1,
                    (verdict, None) => {
                        panic!("{file} {name}: {:?}: {verdict:?}", format_fences(&problem, &placed))
                    }
                }
            }
        }
    }
    assert!(repaired >= 200 && bounded < 20, "{repaired} {bounded}");
}

/// Computes the avoid formula under an abstraction.
fn abstract_formula(
    problem: &Problem,
    name: &str,
    (domain, k): (Domain, u32),
    settings: Settings,
) -> Result<Avoidance, NoFormula> {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let spec = model(name);
    let labelled = spec.abstracted(domain, k, true).expect("the model has store buffers");
    compute_abstract_avoidance(Task { problem, model: &spec }, labelled, settings, budget)
}

/// Infers fences by the papers' method under an abstraction.
fn infer_abstractly(
    problems: &[Problem],
    name: &str,
    fence_costs: &FenceCosts,
    abstraction: (Domain, u32),
) -> Inference {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let model = &model(name);
    let candidates =
        &Candidates::new(problems, fence_costs, &Restrictions::default(), WrittenFences::Kept);
    let (engine, settings, all, abstraction) = (&Auto, settings(2), false, Some(abstraction));
    let query = Query { problems, model, candidates, engine, settings, all, abstraction };
    fixpoint_inference::infer(query, budget)
}

/// Returns the number of barriers that the method places. Checks that the placement is verified.
fn count_placed(
    problems: &[Problem],
    name: &str,
    fence_costs: &FenceCosts,
    abstraction: (Domain, u32),
) -> usize {
    match infer_abstractly(problems, name, fence_costs, abstraction) {
        Inference::Repaired(repair) => {
            assert_eq!(repair.sufficiency, Sufficiency::Verified, "{name} {abstraction:?}");
            assert!(!repair.optimal, "an abstraction cannot prove that a cost is the lowest");
            repair.placements[0].atoms.len()
        }
        other => panic!("{name} {abstraction:?}: {other:?}"),
    }
}

fn full_fence_only() -> FenceCosts {
    FenceCosts::with_default_costs(&[FenceKind::Fence(FenceKinds::FULL)])
}

#[test]
fn an_abstraction_without_order_requires_a_redundant_fence() {
    let problems = problems("papers/blender-fig6.fp");
    let coarse = abstract_formula(&problems[0], "pso", (Domain::Full, 0), settings(1));
    let coarse = coarse.expect("no limit is reached");
    assert_eq!(format_clauses(&problems[0], &coarse), ["x = 1 < x = 2"]);
    assert_eq!(count_placed(&problems, "pso", &full_fence_only(), (Domain::Full, 0)), 1);
    for finer in [(Domain::Full, 1), (Domain::Partial, 1), (Domain::Full, 2)] {
        let formula = abstract_formula(&problems[0], "pso", finer, settings(1));
        assert_eq!(formula.expect("no limit is reached").formula.len(), 0, "{finer:?}");
        assert_eq!(count_placed(&problems, "pso", &full_fence_only(), finer), 0, "{finer:?}");
    }
    // After the join with the state without the first store, no fence prevents the error.
    let inference = infer_abstractly(&problems, "pso", &full_fence_only(), (Domain::Partial, 0));
    let Inference::GaveUp(gave_up) = &inference else { panic!("{inference:?}") };
    let names_abstraction =
        gave_up.reason.as_ref().is_some_and(|reason| reason.contains("abstraction"));
    assert!(names_abstraction, "{inference:?}");
}

#[test]
fn peterson_is_repaired_for_unbounded_buffers() {
    let problems = problems("mutex/peterson0.fp");
    for (domain, constraints) in [(Domain::Full, 2), (Domain::Partial, 3)] {
        let formula = abstract_formula(&problems[0], "pso", (domain, 0), settings(2));
        let formula = formula.expect("no limit is reached");
        assert_eq!(
            (fewest_constraints(&formula), formula.bound),
            (Some(constraints), None),
            "{domain:?}"
        );
        assert_eq!(
            count_placed(&problems, "pso", &full_fence_only(), (domain, 0)),
            2,
            "{domain:?}"
        );
    }
    // Under TSO the abstraction must keep the order of the two stores of the entry protocol.
    assert_eq!(count_placed(&problems, "tso", &full_fence_only(), (Domain::Full, 1)), 2);
    assert_eq!(count_placed(&problems, "tso", &full_fence_only(), (Domain::Partial, 2)), 1);
}

#[test]
fn abstract_formulas_do_not_depend_on_the_number_of_threads() {
    let problem = problems("mutex/dekker0-once.fp").remove(0);
    for abstraction in [(Domain::Full, 1), (Domain::Partial, 0), (Domain::Set, 0)] {
        let with = |threads| {
            let formula = abstract_formula(&problem, "pso", abstraction, settings(threads));
            let formula = formula.expect("no limit is reached");
            (clauses(&formula), formula.states, formula.edges)
        };
        let one = with(1);
        assert!(!one.0.is_empty(), "{abstraction:?}");
        assert_eq!(one, with(3), "{abstraction:?}");
    }
}

#[test]
fn under_an_abstraction_a_store_store_fence_delays_no_store() {
    // Only the load must not overtake the first store. The formula also allows to delay the second
    // store instead. A full fence delays it, a store-store fence does not.
    let source = |fence: &str| {
        format!(
            "shared int a, b, y;
             thread p {{ a = 1; {fence} b = 1; r = y; }}
             thread q {{ y = 1; fence; s = a; }}
             final forall !(p.r == 0 && q.s == 0);"
        )
    };
    let fence_costs = FenceCosts::with_default_costs(&[
        FenceKind::Fence(FenceKinds::STORE_STORE),
        FenceKind::Fence(FenceKinds::FULL),
    ]);
    for fence in ["", "fence store_store;"] {
        let problems = lower_with_places(&source(fence)).expect("the program compiles");
        for abstraction in [(Domain::Full, 1), (Domain::Partial, 1)] {
            assert_eq!(
                count_placed(&problems, "pso", &fence_costs, abstraction),
                1,
                "{fence} {abstraction:?}"
            );
        }
    }
}

#[test]
fn limits_apply_to_abstract_formulas() {
    let problem = problems("mutex/peterson0.fp").remove(0);
    let whole = abstract_formula(&problem, "pso", (Domain::Full, 0), settings(2));
    let edges = whole.expect("no limit is reached").edges;
    let limits = Limits { states: 1_000, ..Limits::default() };
    let few = Settings { limits, ..settings(2) };
    let given_up = abstract_formula(&problem, "pso", (Domain::Full, 0), few);
    assert_eq!(given_up.err(), Some(NoFormula::Stopped(Stop::States)));
    // Enough memory for the states, which take less than the edges, but not for the graph.
    let limits = Limits { bytes: edges * 30, ..Limits::default() };
    let small = Settings { limits, ..settings(2) };
    let given_up = abstract_formula(&problem, "pso", (Domain::Full, 0), small);
    assert_eq!(given_up.err(), Some(NoFormula::Stopped(Stop::Memory)));
}
