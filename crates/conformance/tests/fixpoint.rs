//! The papers' inference on programs of the corpus: known formulas, and placements that must verify.

mod common;

use common::{check, corpus, model, settings};
use fencepost_engines::{Budget, Settings, Task, Verdict};
use fencepost_frontends::Request;
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::constraint::Constraint;
use fencepost_infer::enforce::{Enforced, enforce};
use fencepost_infer::fixpoint::{Avoidance, GaveUp, avoidance};
use fencepost_infer::menu::Menu;
use fencepost_ir::{Barrier, Diagnostics, Problem, Property, Quantifier, Written, placement};
use fencepost_models::Reductions;
use fencepost_search::{Cancel, Limits, Progress, Stop};
use std::collections::BTreeSet;
use std::fs;

/// The problems of a file, ready for repair.
fn problems(path: &str) -> Vec<Problem> {
    let source = fs::read_to_string(corpus().join(path)).expect("a file of the corpus");
    let frontend = fencepost_frontends::by_extension("fp").expect("our own language");
    let request = Request { places: true, ..Request::default() };
    frontend.lower_for(&source, &request, &mut Diagnostics::new()).expect("no errors")
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
        let answer = check(&fenced(&problem, &placed), &model(name), common::settings(2));
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
fn the_reduction_changes_no_formula() {
    let limits = Limits { states: 40_000, ..Limits::default() };
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
    for property in &mut problem.properties {
        if let Property::Final(quantifier @ Quantifier::Exists, _) = property {
            *quantifier = Quantifier::Never;
        }
    }
}

#[test]
fn what_is_right_under_sc_is_repaired() {
    let small = Limits { states: 20_000, ..Limits::default() };
    let mut settings = Settings { limits: small, max_buffer: Some(16), ..settings(2) };
    settings.shortest = false;
    let (mut repaired, mut bounded) = (0, 0);
    for folder in ["litmus", "papers", "mutex"] {
        let files = fs::read_dir(corpus().join(folder)).expect("the corpus is there");
        let names = files.map(|f| f.expect("readable").file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".fp")).collect();
        names.sort();
        for file in names {
            let mut problem = problems(&format!("{folder}/{file}")).remove(0);
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
