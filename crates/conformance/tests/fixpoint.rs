//! The papers' inference on programs of the corpus: known formulas, and placements that must verify.

use crate::common::{check, corpus, model, settings};
use fencepost_engines::{Auto, Budget, Settings, Task, Verdict};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::constraint::Constraint;
use fencepost_infer::enforce::{Enforced, enforce};
use fencepost_infer::fixpoint::{Avoidance, GaveUp, abstract_avoidance, avoidance};
use fencepost_infer::lazy::Question;
use fencepost_infer::menu::{Dish, Menu};
use fencepost_infer::papers;
use fencepost_infer::repair::{Inference, Sufficiency};
use fencepost_ir::{Barrier, FenceKinds, Problem, Property, Written, placement};
use fencepost_models::Reductions;
use fencepost_models::coherence::Domain;
use fencepost_search::{Cancel, Limits, Progress, Stop};
use fencepost_testkit::{corpus, is_campaign, lower_with_places};
use std::collections::BTreeSet;
use std::fs;

/// The problems of a file, ready for repair.
fn problems(path: &str) -> Vec<Problem> {
    let source = fs::read_to_string(corpus().join(path)).expect("a file of the corpus");
    lower_with_places(&source).expect("no errors")
}

fn formula(problem: &Problem, name: &str, settings: Settings) -> Result<Avoidance, GaveUp> {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    avoidance(Task { problem, model: &model(name) }, settings, budget)
}

/// The clauses of a formula in terms of the source.
fn shown(problem: &Problem, avoidance: &Avoidance) -> Vec<String> {
    let text = |label| problem.program.label(label).text.clone();
    let clause = |set| {
        let all = avoidance.named(set).into_iter();
        let all: Vec<String> =
            all.map(|c| format!("{} < {}", text(c.before), text(c.after))).collect();
        all.join(" | ")
    };
    avoidance.formula.iter().map(clause).collect()
}

fn cheapest(problem: &Problem, name: &str, avoidance: &Avoidance) -> Enforced {
    let problems = std::slice::from_ref(problem);
    let menu = Menu::of(&model(name));
    let candidates = Candidates::new(problems, &menu, &Restrictions::default(), Written::Kept);
    enforce(problems, avoidance, &candidates, 1).expect("fences can be put everywhere")
}

/// The fences of a placement: the text of what follows, and the kind.
fn fences(problem: &Problem, enforced: &Enforced) -> Vec<String> {
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
    });
    shown.collect()
}

fn fenced(problem: &Problem, enforced: &Enforced) -> Problem {
    let program = placement::fenced(&problem.program, &enforced.placements[0], Written::Kept);
    Problem { program, ..problem.clone() }
}

#[test]
fn message_passing_has_the_formula_of_the_paper() {
    let problem = problems("papers/fender-fig2.fp").remove(0);
    for (name, expected) in [
        ("sc", &[][..]),
        ("tso", &[]),
        ("pso", &["x = 1 < y = 1"]),
        ("rmo", &["x = 1 < y = 1", "y < x"]),
    ] {
        let found = formula(&problem, name, settings(2)).expect("no limits");
        assert_eq!(shown(&problem, &found), expected, "{name}");
        assert!(found.acyclic && found.bound.is_none() && !found.unavoidable);
        assert_eq!(found.fewest(), Some(expected.len()));
        let placed = cheapest(&problem, name, &found);
        assert_eq!(placed.placements[0].atoms.len(), expected.len());
        let answer = check(&fenced(&problem, &placed), &model(name), settings(2));
        assert!(matches!(answer.verdict, Verdict::Verified(_)), "{name}: {:?}", answer.verdict);
    }
}

#[test]
fn dekker_with_data_needs_a_fence_under_tso_and_two_under_pso() {
    let problem = problems("mutex/dekker-data0.fp").remove(0);
    for (name, bound, fewest, number) in [("tso", 4, 2, 1), ("pso", 3, 3, 2)] {
        let settings = Settings { fixed_buffer: Some(bound), ..settings(2) };
        let found = formula(&problem, name, settings).expect("no limits");
        assert_eq!((found.fewest(), found.bound), (Some(fewest), Some(bound)), "{name}");
        assert!(!found.acyclic && !found.unavoidable);
        let placed = cheapest(&problem, name, &found);
        let fences = fences(&problem, &placed);
        assert_eq!(fences.len(), number, "{name}: {fences:?}");
        let answer = check(&fenced(&problem, &placed), &model(name), crate::common::settings(2));
        assert!(matches!(answer.verdict, Verdict::Verified(_)), "{name}: {fences:?}");
    }
}

#[test]
fn a_limit_gives_no_formula_but_its_reason() {
    let problem = problems("mutex/dekker-data0.fp").remove(0);
    let limits = Limits { states: 100, ..Limits::default() };
    let given_up = formula(&problem, "pso", Settings { limits, ..settings(1) });
    assert_eq!(given_up.err(), Some(GaveUp::Stopped(Stop::States)));
}

/// The clauses of a formula, in no order.
fn clauses(avoidance: &Avoidance) -> BTreeSet<Vec<Constraint>> {
    avoidance.formula.iter().map(|clause| avoidance.named(clause)).collect()
}

#[test]
fn the_reduction_changes_no_formula_campaign() {
    let states = if is_campaign() { 40_000 } else { 8_000 };
    let limits = Limits { states, ..Limits::default() };
    let reduced = Settings { limits, max_buffer: Some(8), ..settings(2) };
    let whole = Settings { reductions: Reductions::NONE, ..reduced };
    let files = ["structures/msn-queue.fp", "structures/treiber.fp", "structures/lifo-wsq.fp"];
    let others = ["structures/vyset.fp", "mutex/dekker0-once.fp", "mutex/peterson0-once.fp"];
    let (mut compared, mut smaller) = (0, 0);
    for problem in files.iter().chain(&others).flat_map(|path| problems(path)) {
        for name in ["tso", "pso", "rmo"] {
            let Ok(all) = formula(&problem, name, whole) else { continue };
            let Ok(some) = formula(&problem, name, reduced) else { continue };
            if all.bound == some.bound {
                assert_eq!(clauses(&all), clauses(&some), "{} {name}", problem.name);
                compared += 1;
                smaller += usize::from(some.states * 10 < all.states * 9);
            }
        }
    }
    assert!(compared >= 40 && smaller >= 5, "{compared} {smaller}");
}

/// What is asked for must not happen, what may not happen stays so.
fn forbid_witnesses(problem: &mut Problem) {
    let forbidden = std::mem::take(&mut problem.sometimes);
    problem.properties.extend(forbidden.into_iter().map(Property::FinalNever));
}

#[test]
fn what_is_right_under_sc_is_repaired_campaign() {
    let (states, buffer) = if is_campaign() { (20_000, 16) } else { (5_000, 8) };
    let small = Limits { states, ..Limits::default() };
    let mut settings = Settings { limits: small, max_buffer: Some(buffer), ..settings(2) };
    settings.shortest = false;
    let (mut repaired, mut bounded) = (0, 0);
    for folder in ["litmus", "papers", "mutex"] {
        for (file, source) in corpus::sources(folder) {
            let mut problem = lower_with_places(&source).expect("no errors").remove(0);
            forbid_witnesses(&mut problem);
            let is = |problem: &Problem, name: &str| check(problem, &model(name), settings).verdict;
            if !matches!(is(&problem, "sc"), Verdict::Verified(_)) {
                continue;
            }
            for name in ["ibm370", "tso", "pso", "rmo"] {
                if !matches!(is(&problem, name), Verdict::Violated(_)) {
                    continue;
                }
                let Ok(found) = formula(&problem, name, settings) else { continue };
                assert!(!found.unavoidable, "{file} {name}");
                let placed = cheapest(&problem, name, &found);
                let verdict = is(&fenced(&problem, &placed), name);
                match (verdict, found.bound) {
                    (Verdict::Verified(_), _) => repaired += 1,
                    (_, Some(_)) => bounded += 1,
                    (verdict, None) => {
                        panic!("{file} {name}: {:?}: {verdict:?}", fences(&problem, &placed))
                    }
                }
            }
        }
    }
    assert!(repaired >= 200 && bounded < 20, "{repaired} {bounded}");
}

/// The formula under an abstraction.
fn abstract_formula(
    problem: &Problem,
    name: &str,
    (domain, k): (Domain, u32),
    settings: Settings,
) -> Result<Avoidance, GaveUp> {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let spec = model(name);
    let labelled = spec.abstracted(domain, k, true).expect("it has store buffers");
    abstract_avoidance(Task { problem, model: &spec }, labelled, settings, budget)
}

/// What the papers' method says under an abstraction.
fn said(problems: &[Problem], name: &str, menu: &Menu, abstraction: (Domain, u32)) -> Inference {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let model = &model(name);
    let candidates = &Candidates::new(problems, menu, &Restrictions::default(), Written::Kept);
    let (engine, settings, all, abstraction) = (&Auto, settings(2), false, Some(abstraction));
    let question = Question { problems, model, candidates, engine, settings, all, abstraction };
    papers::infer(question, budget)
}

/// How many barriers the method places; they are verified.
fn placed(problems: &[Problem], name: &str, menu: &Menu, abstraction: (Domain, u32)) -> usize {
    match said(problems, name, menu, abstraction) {
        Inference::Repaired(repair) => {
            assert_eq!(repair.sufficiency, Sufficiency::Verified, "{name} {abstraction:?}");
            assert!(!repair.optimal, "an abstraction proves no price to be the lowest");
            repair.placements[0].atoms.len()
        }
        other => panic!("{name} {abstraction:?}: {other:?}"),
    }
}

fn full() -> Menu {
    Menu::only(&[Dish::Fence(FenceKinds::FULL)])
}

#[test]
fn an_abstraction_without_order_asks_for_a_redundant_fence() {
    let problems = problems("papers/blender-fig6.fp");
    let coarse = abstract_formula(&problems[0], "pso", (Domain::Full, 0), settings(1));
    let coarse = coarse.expect("no limits");
    assert_eq!(shown(&problems[0], &coarse), ["x = 1 < x = 2"]);
    assert_eq!(placed(&problems, "pso", &full(), (Domain::Full, 0)), 1);
    for finer in [(Domain::Full, 1), (Domain::Partial, 1), (Domain::Full, 2)] {
        let formula = abstract_formula(&problems[0], "pso", finer, settings(1));
        assert_eq!(formula.expect("no limits").formula.len(), 0, "{finer:?}");
        assert_eq!(placed(&problems, "pso", &full(), finer), 0, "{finer:?}");
    }
    // Joined with what it would be without the first store, nothing prevents the error.
    let said = said(&problems, "pso", &full(), (Domain::Partial, 0));
    let Inference::GaveUp(gave_up) = &said else { panic!("{said:?}") };
    assert!(gave_up.because.as_ref().is_some_and(|why| why.contains("abstraction")), "{said:?}");
}

#[test]
fn peterson_is_fenced_for_buffers_of_any_length() {
    let problems = problems("mutex/peterson0.fp");
    for (domain, constraints) in [(Domain::Full, 2), (Domain::Partial, 3)] {
        let formula = abstract_formula(&problems[0], "pso", (domain, 0), settings(2));
        let formula = formula.expect("no limits");
        assert_eq!((formula.fewest(), formula.bound), (Some(constraints), None), "{domain:?}");
        assert_eq!(placed(&problems, "pso", &full(), (domain, 0)), 2, "{domain:?}");
    }
    // Under TSO the order of the two stores of the entry must not be lost.
    assert_eq!(placed(&problems, "tso", &full(), (Domain::Full, 1)), 2);
    assert_eq!(placed(&problems, "tso", &full(), (Domain::Partial, 2)), 1);
}

#[test]
fn the_number_of_threads_changes_no_abstract_formula() {
    let problem = problems("mutex/dekker0-once.fp").remove(0);
    for abstraction in [(Domain::Full, 1), (Domain::Partial, 0), (Domain::Set, 0)] {
        let with = |threads| {
            let formula = abstract_formula(&problem, "pso", abstraction, settings(threads));
            let formula = formula.expect("no limits");
            (clauses(&formula), formula.states, formula.edges)
        };
        let one = with(1);
        assert!(!one.0.is_empty(), "{abstraction:?}");
        assert_eq!(one, with(3), "{abstraction:?}");
    }
}

#[test]
fn under_an_abstraction_a_store_store_fence_holds_nothing_up() {
    // Only the load must not overtake the first store. The formula offers to hold up the second
    // one instead, which a full fence does, and one that keeps the two in order does not.
    let source = |fence: &str| {
        format!(
            "shared int a, b, y;
             thread p {{ a = 1; {fence} b = 1; r = y; }}
             thread q {{ y = 1; fence; s = a; }}
             final forall !(p.r == 0 && q.s == 0);"
        )
    };
    let menu = Menu::only(&[Dish::Fence(FenceKinds::STORE_STORE), Dish::Fence(FenceKinds::FULL)]);
    for fence in ["", "fence store_store;"] {
        let problems = lower_with_places(&source(fence)).expect("no errors");
        for abstraction in [(Domain::Full, 1), (Domain::Partial, 1)] {
            assert_eq!(placed(&problems, "pso", &menu, abstraction), 1, "{fence} {abstraction:?}");
        }
    }
}

#[test]
fn limits_hold_for_abstract_formulas() {
    let problem = problems("mutex/peterson0.fp").remove(0);
    let whole = abstract_formula(&problem, "pso", (Domain::Full, 0), settings(2));
    let edges = whole.expect("no limits").edges;
    let limits = Limits { states: 1_000, ..Limits::default() };
    let few = Settings { limits, ..settings(2) };
    let given_up = abstract_formula(&problem, "pso", (Domain::Full, 0), few);
    assert_eq!(given_up.err(), Some(GaveUp::Stopped(Stop::States)));
    // Enough for the states, which take less than their steps, but not for the graph.
    let limits = Limits { bytes: edges * 30, ..Limits::default() };
    let small = Settings { limits, ..settings(2) };
    let given_up = abstract_formula(&problem, "pso", (Domain::Full, 0), small);
    assert_eq!(given_up.err(), Some(GaveUp::Stopped(Stop::Memory)));
}
