//! Every engine with every bound, domain and k, compared with the explicit engine under TSO and
//! PSO.
//!
//! - `verified` only if the explicit engine verifies, `violated` only if it finds a violation. If
//!   the explicit engine does not conclude, all engines that conclude must agree.
//! - No violation up to a bound is inconclusive. A larger bound of the same kind never finds less:
//!   an engine that finds a violation with a bound claims no larger bound without one.
//! - No bound on preemptions is claimed if the monitor fires within the bound.

use crate::common::{check_with, lower, model, report_comparisons, seeds, settings};
use fencepost_engines::{
    Abstraction, Auto, Automata, Engine, Explicit, Inconclusive, Robust, RobustMethod, Settings,
    Stateless, Translate, Verdict,
};
use fencepost_ir::{Problem, Property, Violation};
use fencepost_models::coherence::Domain;
use fencepost_search::Limits;
use fencepost_testkit::corpus;
use fencepost_testkit::programs::{
    Profile, RandomProgram, bounded, bounded_with_spin_loops, critical_sections, deadlocks,
    guarded_alternatives, invariants, program, silent_loops, spin_loops, turn_taking,
    unbounded_buffers, with_finally,
};
use fencepost_translate::contexts::Bound;

/// The number of programs of each random kind in `cargo test`.
const PROGRAMS: u64 = 6;

/// An engine with its options.
struct Configuration {
    name: String,
    engine: Box<dyn Engine>,
    settings: Settings,
    /// The kind of bound and the bound, if the options have one.
    bound: Option<(&'static str, u32)>,
}

fn limited(states: u64, depth: u32) -> Settings {
    let limits = Limits { states, depth, ..Limits::default() };
    Settings { limits, shortest: false, ..settings(1) }
}

/// Returns every engine with every kind of bound, domain and k.
fn configurations() -> Vec<Configuration> {
    let searching = Settings { max_buffer: Some(8), ..limited(20_000, u32::MAX) };
    // Executions are slower than states.
    let exploring = limited(1_000, 60);
    let mut all = Vec::new();
    let mut add = |name: &str, engine: Box<dyn Engine>, settings, bound| {
        let name = match bound {
            Some((kind, bound)) => format!("{name}, {kind} {bound}"),
            None => name.into(),
        };
        all.push(Configuration { name, engine, settings, bound });
    };
    for bound in [1, 2, 4] {
        let fixed = Settings { fixed_buffer: Some(bound), ..searching };
        let growing = Settings { max_buffer: Some(bound), ..searching };
        add("explicit", Box::new(Explicit), fixed, Some(("buffer", bound)));
        add("explicit", Box::new(Explicit), growing, Some(("largest buffer", bound)));
        add("auto", Box::new(Auto), fixed, Some(("buffer of auto", bound)));
        add("auto", Box::new(Auto), growing, None);
    }
    for domain in [Domain::Set, Domain::Full, Domain::Partial] {
        for k in [0, 1, 2] {
            let name = format!("{} k={k}", domain.name());
            add(&name, Box::new(Abstraction { domain, k }), searching, None);
        }
    }
    add("automata", Box::new(Automata::DEFAULT), searching, None);
    add("auto", Box::new(Auto), searching, None);
    add("stateless", Box::new(Stateless { preemptions: None }), exploring, None);
    for bound in [0, 1, 2] {
        let preemptions = Some(bound);
        let bounded = Some(("preemptions", bound));
        add("stateless", Box::new(Stateless { preemptions }), exploring, bounded);
        let method = RobustMethod::Preemptions(bound);
        add("robust", Box::new(Robust::by(method)), exploring, None);
        let switches = Translate { bound: Bound::Switches(bound) };
        add("translate", Box::new(switches), searching, Some(("switches", bound)));
        let ages = Translate { bound: Bound::Ages(bound) };
        add("translate", Box::new(ages), searching, Some(("delay", bound)));
    }
    for method in [RobustMethod::Auto, RobustMethod::Stateless, RobustMethod::Attack] {
        add(&format!("robust {method:?}"), Box::new(Robust::by(method)), exploring, None);
    }
    all
}

/// Returns whether a robust program that is correct under SC is correct under a model.
fn robustness_suffices(problem: &Problem) -> bool {
    problem.sometimes.is_empty()
        && problem.properties.iter().all(|property| match property {
            Property::Invariant(_) | Property::Operations(_) => false,
            Property::Assertions
            | Property::MutualExclusion
            | Property::FinalForall(_)
            | Property::FinalNever(_)
            | Property::DeadlockFree
            | Property::Progress => true,
        })
}

/// Returns what a verdict of an engine says about the properties: whether they hold.
fn holds(configuration: &Configuration, problem: &Problem, verdict: &Verdict) -> Option<bool> {
    let is_robustness = configuration.engine.name() == "robust";
    match verdict {
        Verdict::Verified(_) => (!is_robustness || robustness_suffices(problem)).then_some(true),
        Verdict::Violated(violated) => {
            (violated.evidence().violation() != Violation::NotRobust).then_some(false)
        }
        Verdict::Inconclusive(_) => None,
    }
}

/// Compares all configurations on a program. Returns the number of conclusive answers.
fn compare(problem: &Problem) -> Result<u64, String> {
    let mut compared = 0;
    for name in ["tso", "pso"] {
        let model = model(name);
        let exact = Settings { max_buffer: Some(8), ..limited(100_000, u32::MAX) };
        let exact = check_with(&Explicit, problem, &model, exact).verdict;
        let mut known = match exact {
            Verdict::Verified(_) => Some(("the explicit engine".to_string(), true)),
            Verdict::Violated(_) => Some(("the explicit engine".to_string(), false)),
            Verdict::Inconclusive(_) => None,
        };
        let mut violated_within: Vec<(&str, u32)> = Vec::new();
        let mut claimed: Vec<(&str, u32)> = Vec::new();
        for configuration in configurations() {
            let Configuration { name: own, engine, settings, bound } = &configuration;
            let verdict = check_with(&**engine, problem, &model, *settings).verdict;
            if let Some(holds) = holds(&configuration, problem, &verdict) {
                let (other, expected) = known.get_or_insert((own.clone(), holds));
                if *expected != holds {
                    return Err(format!("{name}: {own} finds {holds}, {other} {expected}"));
                }
                compared += 1;
            }
            let is_bounded = verdict.inconclusive().is_some_and(Inconclusive::is_bounded);
            match bound {
                Some(bound) if verdict.evidence().is_some() => violated_within.push(*bound),
                // An engine may claim a smaller bound, if a limit ended its search.
                Some((kind, _)) if is_bounded => claimed.extend(claim(kind, &verdict)),
                Some(_) | None => {}
            }
        }
        for (kind, bound) in &claimed {
            let contradicts = |(other, smaller): &&(&str, u32)| other == kind && smaller <= bound;
            if let Some((_, smaller)) = violated_within.iter().find(contradicts) {
                return Err(format!("{name}: {kind} {bound} is claimed, {smaller} is violated"));
            }
            if *kind == "preemptions" && fires(problem, name, *bound) {
                return Err(format!("{name}: not robust within {bound} preemptions"));
            }
        }
    }
    Ok(compared)
}

/// Returns the bound of this kind up to which a verdict claims that there is no violation.
fn claim(kind: &'static str, verdict: &Verdict) -> Option<(&'static str, u32)> {
    use fencepost_engines::{Bound as Claimed, InconclusiveReason};
    let inconclusive = verdict.inconclusive()?;
    let InconclusiveReason::Bound { bound, .. } = inconclusive.reason() else { return None };
    let bound = match *bound {
        Claimed::Buffers => inconclusive.clean_up_to()?,
        Claimed::BuffersUpTo(bound) | Claimed::Preemptions(bound) => bound,
        Claimed::Contexts(Bound::Switches(bound) | Bound::Ages(bound)) => bound,
        Claimed::Source(_) | Claimed::Iterations(_) => return None,
    };
    Some((kind, bound))
}

/// Returns whether the monitor finds within a bound on preemptions that a program is not robust.
fn fires(problem: &Problem, name: &str, bound: u32) -> bool {
    let robust = Robust::by(RobustMethod::Preemptions(bound));
    let verdict = check_with(&robust, problem, &model(name), limited(1_000, 60)).verdict;
    verdict.evidence().is_some_and(|evidence| evidence.violation() == Violation::NotRobust)
}

#[track_caller]
fn compare_random(draw: impl Fn(u64) -> String) {
    let mut compared = 0;
    for seed in seeds(PROGRAMS) {
        let source = draw(seed);
        let problems = lower(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
        for problem in &problems {
            compared += compare(problem).unwrap_or_else(|error| panic!("{error}\n{source}"));
        }
    }
    assert!(compared > 0, "some engine concludes");
    report_comparisons("verdicts of all engines: explicit", compared);
}

fn text(draw: fn(u64) -> RandomProgram) -> impl Fn(u64) -> String {
    move |seed| draw(seed).to_string()
}

#[test]
fn random_programs_of_all_profiles_get_no_contradictory_answers() {
    for profile in Profile::ALL {
        compare_random(|seed| program(profile, seed).to_string());
    }
}

#[test]
fn random_programs_with_finally_get_no_contradictory_answers() {
    for profile in Profile::ALL {
        compare_random(|seed| with_finally(profile, seed).to_string());
    }
}

#[test]
fn random_bounded_programs_get_no_contradictory_answers() {
    compare_random(text(bounded));
    compare_random(text(bounded_with_spin_loops));
}

#[test]
fn random_synchronization_gets_no_contradictory_answers() {
    compare_random(text(critical_sections));
    compare_random(text(deadlocks));
    compare_random(text(invariants));
    compare_random(text(turn_taking));
    compare_random(text(spin_loops));
    compare_random(text(guarded_alternatives));
}

#[test]
fn random_infinite_programs_get_no_contradictory_answers() {
    compare_random(text(unbounded_buffers));
    compare_random(|seed| silent_loops(seed, false));
}

/// Compares a sample of a folder of the corpus. Each file contributes its first client.
fn compare_folder(folder: &str, every: usize) {
    let mut compared = 0;
    for (stem, source) in corpus::sample(folder, every) {
        let problems = lower(&source).expect("the program compiles");
        let problem = problems.first().expect("a file has a program");
        compared += compare(problem).unwrap_or_else(|error| panic!("{folder}/{stem}: {error}"));
    }
    report_comparisons("verdicts of all engines on the corpus: explicit", compared);
}

#[test]
fn litmus_programs_get_no_contradictory_answers_campaign() {
    compare_folder("litmus", 12);
}

#[test]
fn regression_programs_get_no_contradictory_answers_campaign() {
    compare_folder("regress", 2);
}

#[test]
fn mutex_programs_get_no_contradictory_answers_campaign() {
    compare_folder("mutex", 7);
}

#[test]
fn paper_programs_get_no_contradictory_answers_campaign() {
    compare_folder("papers", 4);
}

#[test]
fn data_structures_get_no_contradictory_answers_campaign() {
    compare_folder("structures", 4);
}
