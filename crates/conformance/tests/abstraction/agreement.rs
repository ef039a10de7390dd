//! The engines on top of the abstract models: `auto` never contradicts `explicit`, what it calls a violation
//! replays, and the number of search threads does not show.

use super::examine::{DOMAINS, MODELS, Outcomes};
use crate::common::{Replay, check, compared, corpus, lower, model, outcomes, seeds, settings};
use fencepost_engines::Evidence;
use fencepost_engines::{Abstraction, Answer, Auto, Budget, Engine, Settings, Task, Verdict};
use fencepost_ir::{BinOp, Condition, Expr, Problem, Property, Quantifier, Span, Value};
use fencepost_models::ModelSpec;
use fencepost_models::coherence::Domain;
use fencepost_search::{Cancel, Limits, Progress};
use fencepost_testkit::programs::{Profile, program, shrink};
use std::fs;

/// Random programs of each profile.
const PROGRAMS: u64 = 6;
/// What a search may store.
const STATES: u64 = 100_000;

fn ask(engine: &dyn Engine, problem: &Problem, model: &ModelSpec, settings: Settings) -> Answer {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    engine.run(Task { problem, model }, settings, budget)
}

/// The problem with the only claim that an outcome never happens, or (`exists`) that it does.
fn about(problem: &Problem, quantifier: Quantifier, outcome: &[Value]) -> Problem {
    let equal = problem.observed.iter().zip(outcome).map(|(what, value)| {
        let (what, value) = (Expr::Var(*what), Expr::Const(*value));
        Expr::Binary(BinOp::Eq, Box::new(what), Box::new(value))
    });
    let and = |a, b| Expr::Binary(BinOp::And, Box::new(a), Box::new(b));
    let expr = equal.reduce(and).unwrap_or(Expr::Const(1));
    let condition = Condition { expr, text: format!("{outcome:?}"), span: Span::default() };
    let mut problem = problem.clone();
    problem.properties = vec![Property::Assertions];
    problem.sometimes.clear();
    problem.add_final(quantifier, condition);
    problem
}

/// An outcome that does not happen: a real one with one value changed.
fn unreal(outcomes: &Outcomes, turn: u64) -> Option<Vec<Value>> {
    let real = outcomes.iter().nth(turn as usize % outcomes.len().max(1))?;
    (0..real.len()).flat_map(|at| [(at, 0), (at, 1), (at, 2)]).find_map(|(at, value)| {
        let mut changed = real.clone();
        changed[at] = value;
        (!outcomes.contains(&changed)).then_some(changed)
    })
}

/// What is wrong with the answers about one problem, if anything. `truth` is what must not be contradicted.
fn contradiction(problem: &Problem, model: &ModelSpec, truth: &str) -> Option<String> {
    let limits = Limits { states: STATES, ..Limits::default() };
    let settings = Settings { limits, max_buffer: Some(8), ..settings(1) };
    let exact = check(problem, model, settings);
    let auto = ask(&Auto, problem, model, settings);
    let domains =
        DOMAINS.map(|(domain, k)| ask(&Abstraction { domain, k }, problem, model, settings));
    for (answer, by) in [(&exact, "explicit".into()), (&auto, "auto".into())]
        .into_iter()
        .chain(domains.iter().zip(DOMAINS).map(|(answer, domain)| (answer, format!("{domain:?}"))))
    {
        let word = answer.verdict.word();
        let known = |word: &str| word == "verified" || word == "violated";
        if known(word) && known(truth) && word != truth {
            return Some(format!("{by} says {word}, it is {truth}"));
        }
        let evidence = answer.verdict.evidence();
        let Some(trace) = evidence.and_then(Evidence::trace) else { continue };
        match model.visit(trace.room(), Replay { problem, trace }) {
            Ok(true) => {}
            Ok(false) => return Some(format!("{by}: nothing is wrong at the end of the trace")),
            Err(why) => return Some(format!("{by}: the trace does not replay: {why}")),
        }
    }
    let words = (exact.verdict.word(), auto.verdict.word());
    match words {
        ("verified", "violated") | ("violated", "verified") => Some(format!("{words:?}")),
        // What one of the arms concludes, the whole does.
        ("verified" | "violated", "inconclusive") => Some(format!("auto gives up: {words:?}")),
        _ => None,
    }
}

/// How many answers were compared with a known truth.
#[derive(Debug, Default)]
struct Tally {
    violated: usize,
    verified: usize,
    unknown: usize,
}

/// The first contradiction about a source text: about its own properties, and about outcomes that do and do
/// not happen.
fn contradictions(source: &str, turn: u64, tally: &mut Tally) -> Option<String> {
    let problem = &lower(source).ok()?[0];
    for (name, ..) in MODELS {
        let model = model(name);
        let limits = Limits { states: STATES, ..Limits::default() };
        let all =
            outcomes(problem, &model, Settings { limits, max_buffer: Some(4), ..settings(1) });
        let clean = Problem {
            properties: vec![Property::Assertions],
            sometimes: Vec::new(),
            ..problem.clone()
        };
        let faulty = match check(&clean, &model, Settings { limits, ..settings(1) }).verdict {
            Verdict::Violated(_) => Some(true),
            Verdict::Verified(_) => Some(false),
            Verdict::Inconclusive(_) => None,
        };
        let mut questions = vec![(problem.clone(), "unknown")];
        if let Some(real) = all.outcomes.iter().nth(turn as usize % all.outcomes.len().max(1)) {
            questions.push((about(problem, Quantifier::Never, real), "violated"));
            let truth = match faulty {
                Some(true) => "violated",
                Some(false) => "verified",
                None => "unknown",
            };
            questions.push((about(problem, Quantifier::Exists, real), truth));
        }
        if let Some(unreal) = unreal(&all.outcomes, turn).filter(|_| all.outcomes_complete) {
            let truth = if faulty == Some(true) { "violated" } else { "verified" };
            questions.push((about(problem, Quantifier::Never, &unreal), truth));
            questions.push((about(problem, Quantifier::Exists, &unreal), "violated"));
        }
        for (question, truth) in questions {
            match truth {
                "violated" => tally.violated += 1,
                "verified" => tally.verified += 1,
                _ => tally.unknown += 1,
            }
            if let Some(what) = contradiction(&question, &model, truth) {
                let claim = (&question.properties, &question.sometimes);
                return Some(format!("{name}: {what}; {claim:?}"));
            }
        }
    }
    None
}

#[test]
fn random_programs_get_no_contradictory_answers() {
    let mut tally = Tally::default();
    for profile in Profile::ALL {
        for seed in seeds(PROGRAMS) {
            let drawn = program(profile, seed);
            if contradictions(&drawn.to_string(), seed, &mut tally).is_none() {
                continue;
            }
            let fails = |source: &str| contradictions(source, seed, &mut tally).is_some();
            let small = shrink(&drawn, fails).to_string();
            let what = contradictions(&small, seed, &mut tally).unwrap_or_default();
            panic!("{profile:?} seed {seed}: {what}\n{small}");
        }
    }
    println!("{tally:?}");
    let total = tally.violated + tally.verified + tally.unknown;
    compared("answers: auto and explicit", total as u64);
    assert!(tally.violated > 0 && tally.verified > 0, "both kinds of questions are asked");
}

fn corpus_problem(path: &str) -> Problem {
    let source = fs::read_to_string(corpus().join(path)).expect("a program of the corpus");
    lower(&source).expect("it compiles").swap_remove(0)
}

/// The same answer on one and on two threads, as far as it shows.
fn same(engine: &dyn Engine, problem: &Problem, name: &str, about: &str) -> u64 {
    let limits = Limits { states: 50_000, ..Limits::default() };
    let answers = [1, 2].map(|threads| {
        let settings = Settings { limits, ..settings(threads) };
        ask(engine, problem, &model(name), settings)
    });
    let [one, two] = answers
        .each_ref()
        .map(|a| (&a.verdict, &a.outcomes, a.statistics, a.by, &a.suspect, a.outcomes_complete));
    assert!(one == two, "{about} {name}: {one:?}\n{two:?}");
    answers[0].statistics.states
}

#[test]
fn the_number_of_threads_does_not_show() {
    let mut largest = 0;
    for stem in ["peterson2", "dekker2", "bakery3", "clh2", "szymanski0"] {
        let problem = corpus_problem(&format!("mutex/{stem}.fp"));
        for (name, ..) in MODELS {
            for (domain, k) in [(Domain::Set, 0), (Domain::Partial, 1), (Domain::Full, 1)] {
                let states = same(&Abstraction { domain, k }, &problem, name, stem);
                largest = largest.max(states);
            }
            same(&Auto, &problem, name, stem);
        }
    }
    // Small rounds run on one thread whatever is asked for.
    assert!(largest > 5_000, "some searches are large: {largest}");
}
