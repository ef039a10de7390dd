//! The engines on top of the abstract models: `auto` never contradicts `explicit`, the traces of
//! its violations replay, and the answers do not depend on the number of search threads.

use super::requirements::{DOMAINS, MODELS, Outcomes};
use crate::common::{
    Replay, check, corpus, lower, model, outcomes, report_comparisons, seeds, settings,
};
use fencepost_engines::Evidence;
use fencepost_engines::{Abstraction, Answer, Auto, Budget, Engine, Settings, Task, Verdict};
use fencepost_ir::{BinOp, Condition, Expr, Problem, Property, Quantifier, Span, Value};
use fencepost_models::ModelSpec;
use fencepost_models::coherence::Domain;
use fencepost_search::{Cancel, Limits, Progress};
use fencepost_testkit::programs::{Profile, program, shrink};
use std::fs;

/// The number of random programs of each profile.
const PROGRAMS: u64 = 6;
/// The maximum number of states of a search.
const MAX_STATES: u64 = 100_000;

fn run_query(
    engine: &dyn Engine,
    problem: &Problem,
    model: &ModelSpec,
    settings: Settings,
) -> Answer {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    engine.run(Task { problem, model }, settings, budget)
}

/// Returns the problem with one property besides assertions: the outcome never occurs, or
/// (`exists`) it occurs.
fn with_outcome_property(problem: &Problem, quantifier: Quantifier, outcome: &[Value]) -> Problem {
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

/// Returns an outcome that does not occur: an existing outcome with one value changed.
fn impossible_outcome(outcomes: &Outcomes, seed: u64) -> Option<Vec<Value>> {
    let existing = outcomes.iter().nth(seed as usize % outcomes.len().max(1))?;
    (0..existing.len()).flat_map(|at| [(at, 0), (at, 1), (at, 2)]).find_map(|(at, value)| {
        let mut changed = existing.clone();
        changed[at] = value;
        (!outcomes.contains(&changed)).then_some(changed)
    })
}

/// Returns the first contradiction among the answers of all engines and the true verdict, if any.
/// `truth` may be "unknown".
fn contradiction(problem: &Problem, model: &ModelSpec, truth: &str) -> Option<String> {
    let limits = Limits { states: MAX_STATES, ..Limits::default() };
    let settings = Settings { limits, max_buffer: Some(8), ..settings(1) };
    let exact = check(problem, model, settings);
    let auto = run_query(&Auto, problem, model, settings);
    let domains =
        DOMAINS.map(|(domain, k)| run_query(&Abstraction { domain, k }, problem, model, settings));
    for (answer, by) in [(&exact, "explicit".into()), (&auto, "auto".into())]
        .into_iter()
        .chain(domains.iter().zip(DOMAINS).map(|(answer, domain)| (answer, format!("{domain:?}"))))
    {
        let word = answer.verdict.word();
        let known = |word: &str| word == "verified" || word == "violated";
        if known(word) && known(truth) && word != truth {
            return Some(format!("{by} answers {word}, but the true verdict is {truth}"));
        }
        let evidence = answer.verdict.evidence();
        let Some(trace) = evidence.and_then(Evidence::trace) else { continue };
        match model.visit(trace.replay_bound(), Replay { problem, trace }) {
            Ok(true) => {}
            Ok(false) => return Some(format!("{by}: the trace does not end with a violation")),
            Err(reason) => return Some(format!("{by}: the trace does not replay: {reason}")),
        }
    }
    let words = (exact.verdict.word(), auto.verdict.word());
    match words {
        ("verified", "violated") | ("violated", "verified") => Some(format!("{words:?}")),
        // `auto` includes the explicit engine, so it must not be inconclusive then.
        ("verified" | "violated", "inconclusive") => {
            Some(format!("auto is inconclusive: {words:?}"))
        }
        _ => None,
    }
}

/// The numbers of queries by true verdict.
#[derive(Debug, Default)]
struct Tally {
    violated: usize,
    verified: usize,
    unknown: usize,
}

/// Returns the first contradiction for a source text: for its own properties, and for outcomes that
/// do and do not occur.
fn find_contradiction(source: &str, seed: u64, tally: &mut Tally) -> Option<String> {
    let problem = &lower(source).ok()?[0];
    for (name, ..) in MODELS {
        let model = model(name);
        let limits = Limits { states: MAX_STATES, ..Limits::default() };
        let all =
            outcomes(problem, &model, Settings { limits, max_buffer: Some(4), ..settings(1) });
        let assertions_only = Problem {
            properties: vec![Property::Assertions],
            sometimes: Vec::new(),
            ..problem.clone()
        };
        let fails =
            match check(&assertions_only, &model, Settings { limits, ..settings(1) }).verdict {
                Verdict::Violated(_) => Some(true),
                Verdict::Verified(_) => Some(false),
                Verdict::Inconclusive(_) => None,
            };
        let mut queries = vec![(problem.clone(), "unknown")];
        if let Some(existing) = all.outcomes.iter().nth(seed as usize % all.outcomes.len().max(1)) {
            let never = with_outcome_property(problem, Quantifier::Never, existing);
            queries.push((never, "violated"));
            let truth = match fails {
                Some(true) => "violated",
                Some(false) => "verified",
                None => "unknown",
            };
            queries.push((with_outcome_property(problem, Quantifier::Exists, existing), truth));
        }
        let impossible = impossible_outcome(&all.outcomes, seed);
        if let Some(impossible) = impossible.filter(|_| all.outcomes_complete) {
            let truth = if fails == Some(true) { "violated" } else { "verified" };
            let never = with_outcome_property(problem, Quantifier::Never, &impossible);
            queries.push((never, truth));
            let exists = with_outcome_property(problem, Quantifier::Exists, &impossible);
            queries.push((exists, "violated"));
        }
        for (query, truth) in queries {
            match truth {
                "violated" => tally.violated += 1,
                "verified" => tally.verified += 1,
                _ => tally.unknown += 1,
            }
            if let Some(what) = contradiction(&query, &model, truth) {
                let properties = (&query.properties, &query.sometimes);
                return Some(format!("{name}: {what}; {properties:?}"));
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
            if find_contradiction(&drawn.to_string(), seed, &mut tally).is_none() {
                continue;
            }
            let fails = |source: &str| find_contradiction(source, seed, &mut tally).is_some();
            let small = shrink(&drawn, fails).to_string();
            let what = find_contradiction(&small, seed, &mut tally).unwrap_or_default();
            panic!("{profile:?} seed {seed}: {what}\n{small}");
        }
    }
    println!("{tally:?}");
    let total = tally.violated + tally.verified + tally.unknown;
    report_comparisons("answers: auto and explicit", total as u64);
    assert!(tally.violated > 0 && tally.verified > 0, "queries with both true verdicts are made");
}

fn corpus_problem(path: &str) -> Problem {
    let source = fs::read_to_string(corpus().join(path)).expect("a program of the corpus");
    lower(&source).expect("the program compiles").swap_remove(0)
}

/// Checks that the answers with one and with two threads are equal. Returns the number of states.
fn check_one_and_two_threads(
    engine: &dyn Engine,
    problem: &Problem,
    name: &str,
    file: &str,
) -> u64 {
    let limits = Limits { states: 50_000, ..Limits::default() };
    let answers = [1, 2].map(|threads| {
        let settings = Settings { limits, ..settings(threads) };
        run_query(engine, problem, &model(name), settings)
    });
    let [one, two] = answers.each_ref().map(|a| {
        (&a.verdict, &a.outcomes, a.statistics, a.decider, &a.spurious_run, a.outcomes_complete)
    });
    assert!(one == two, "{file} {name}: {one:?}\n{two:?}");
    answers[0].statistics.states
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let mut largest = 0;
    for stem in ["peterson2", "dekker2", "bakery3", "clh2", "szymanski0"] {
        let problem = corpus_problem(&format!("mutex/{stem}.fp"));
        for (name, ..) in MODELS {
            for (domain, k) in [(Domain::Set, 0), (Domain::Partial, 1), (Domain::Full, 1)] {
                let states =
                    check_one_and_two_threads(&Abstraction { domain, k }, &problem, name, stem);
                largest = largest.max(states);
            }
            check_one_and_two_threads(&Auto, &problem, name, stem);
        }
    }
    // Small rounds of the search always run on one thread.
    assert!(largest > 5_000, "some searches are large: {largest}");
}
