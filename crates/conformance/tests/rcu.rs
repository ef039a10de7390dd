//! RCU: read-side sections and grace periods.
//!
//! - The tests of `corpus/rcu` have the outcomes in `expected.tsv`, which were derived by hand, in
//!   the explicit engine and in the reference interpreter.
//! - On random tests, the machine has the outcomes, faults and hangs of the reference interpreter,
//!   under every model and with several combinations of reductions. A mutation of a rule or of the
//!   reductions makes the comparison fail.
//! - Late steps keep the number of states of a ring of threads small.
//! - The other engines refuse programs with RCU.

use crate::common::{
    MODELS, REDUCTIONS, check, check_with, corpus, model, report_comparisons, seeds, settings,
};
use crate::litmus::queries::{self, files, parse, run_file};
use fencepost_conformance::reference::{Report, explore as reference};
use fencepost_engines::automata::Automata;
use fencepost_engines::{
    Abstraction, Auto, Engine, InconclusiveReason, Robust, Stateless, Translate, Unsupported,
};
use fencepost_ir::{Problem, Value, Violation};
use fencepost_models::coherence::Domain;
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_models::{Machine, MemoryModel, ModelSpec, Reductions, Visitor};
use fencepost_report::litmus::expect::Records;
use fencepost_search::{Cancel, Limits, Options, Progress, explore};
use fencepost_testkit::litmus_problem;
use fencepost_testkit::programs::rcu;
use fencepost_translate::contexts::Bound;
use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;

/// The bound on pending stores.
const BOUND: u32 = 3;
/// The bound on entries of a window.
const WINDOW: u32 = 5;
/// Programs with more states than this in the reference interpreter are skipped.
const MAX_STATES: usize = 20_000;

#[test]
fn every_test_has_its_expected_outcomes() {
    let mut records = Records::default();
    let expected = fs::read_to_string(corpus().join("rcu/expected.tsv")).expect("expectations");
    records.read(&expected).expect("a table of records");
    let all = files(&corpus().join("rcu"));
    assert_eq!(expected.lines().count(), 3 + all.len() * queries::MODELS.len());
    let mut wrong = Vec::new();
    for path in all {
        match run_file(&path) {
            Ok(ran) => wrong.extend(crate::litmus::corpus::differences(&ran, &mut records)),
            Err(message) => wrong.push(message),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reference_interpreter_has_the_same_outcomes() {
    for path in files(&corpus().join("rcu")) {
        let problem = queries::read(&path).expect("a litmus test").problem;
        for (name, reference_model, _) in queries::MODELS {
            let report = reference(&problem, reference_model, 8, 500_000);
            assert!(report.complete && !report.bound_hit, "{} {name}", path.display());
            assert_eq!(report.outcomes, queries::run_model(&problem, name), "{}", path.display());
        }
    }
}

#[test]
fn a_grace_period_inside_its_own_section_is_a_hang() {
    let path = corpus().join("rcu/deadlock+rcu.litmus");
    let problem = queries::read(&path).expect("a litmus test").problem;
    for (name, _) in MODELS {
        let answer = check(&problem, &model(name), settings(1));
        let evidence = answer.verdict.evidence().expect("a violation");
        assert_eq!(evidence.violation(), Violation::Hang, "{name}");
        assert!(evidence.run().is_some(), "{name}: the run is replayed");
    }
}

/// In some states, the load of the loop is pending, so the grace period cannot end at once. It can
/// end when the second thread has performed the load.
#[test]
fn a_grace_period_that_waits_for_a_pending_load_is_no_hang() {
    let source = "C wait\n{}\n\
         P0(int *x) { synchronize_rcu(); WRITE_ONCE(*x, 1); }\n\
         P1(int *x) { while (READ_ONCE(*x) == 0) {} }\n\
         exists (x=1)";
    let cases = cases_of(source.into());
    assert!(cases.iter().any(|case| case.model == "ibm370"));
    for case in cases {
        assert_eq!(case.expected, (BTreeSet::from([vec![1]]), false), "{}", case.model);
        for reductions in REDUCTIONS {
            let found = case.search(reductions, Mutated::NONE);
            assert_eq!(found, case.expected, "{} {reductions:?}", case.model);
        }
    }
}

#[test]
fn a_section_that_was_not_begun_cannot_end() {
    let source = "C end\n{}\nP0(int *x) { rcu_read_unlock(); WRITE_ONCE(*x, 1); }\nexists (x=1)";
    let problem = parse(source, "end").expect("a litmus test").problem;
    let answer = check(&problem, &model("tso"), settings(1));
    let evidence = answer.verdict.evidence().expect("a violation");
    let fault = fencepost_ir::Fault::NotInSection;
    assert!(matches!(evidence.violation(), Violation::Fault(found, ..) if found == fault));
}

#[test]
fn engines_without_grace_periods_refuse_them() {
    let path = corpus().join("rcu/MP+rcu.litmus");
    let problem = queries::read(&path).expect("a litmus test").problem;
    let engines: [&dyn Engine; 5] = [
        &Abstraction { domain: Domain::Full, k: 1 },
        &Automata::DEFAULT,
        &Stateless::default(),
        &Robust::default(),
        &Translate { bound: Bound::Switches(3) },
    ];
    for engine in engines {
        for name in ["tso", "pso"] {
            let answer = check_with(engine, &problem, &model(name), settings(1));
            let reason = answer.verdict.inconclusive_reason();
            assert!(
                matches!(
                    reason,
                    Some(InconclusiveReason::Unsupported {
                        reason: Unsupported::GracePeriods | Unsupported::Translation(_)
                    })
                ),
                "{} {name}: {reason:?}",
                engine.name()
            );
        }
    }
    // The default engine uses the explicit search.
    for (name, _) in MODELS {
        let auto = check_with(&Auto, &problem, &model(name), settings(1));
        let explicit = check(&problem, &model(name), settings(1));
        assert_eq!(auto.verdict.word(), explicit.verdict.word(), "{name}");
    }
}

/// The outcomes and whether there is a violation.
type Results = (BTreeSet<Vec<Value>>, bool);

/// Searches a problem with these reductions and a mutation.
struct Search<'a>(&'a Problem, Reductions, Mutated);

impl Visitor for Search<'_> {
    type Output = Results;

    fn visit<M: MemoryModel>(self, model: M) -> Results {
        let mut machine = Machine::new(self.0, model, self.1);
        machine.mutated = self.2;
        // By default, races are explored alone only in programs with many threads.
        machine.race_threads = 0;
        let (cancel, progress) = (&Cancel::default(), &Progress::default());
        let limits = Limits { states: 400_000, ..Limits::default() };
        let threads = NonZeroUsize::MIN;
        let found = explore(&machine, Options { limits, cancel, progress, threads, stop_at: None });
        let values = |fact: &Vec<u8>| {
            let (chunks, _) = fact.as_chunks::<8>();
            chunks.iter().map(|four| Value::from_le_bytes(*four)).collect()
        };
        (found.facts.iter().map(values).collect(), found.target(VIOLATION).is_some())
    }
}

/// A random test with the results of the reference interpreter.
struct Case {
    source: String,
    problem: Problem,
    model: &'static str,
    expected: Results,
}

impl Case {
    /// Returns the results of the machine.
    fn search(&self, reductions: Reductions, mutated: Mutated) -> Results {
        let spec = ModelSpec::by_name(self.model).expect("a built-in model");
        spec.visit(bound(self.model), Search(&self.problem, reductions, mutated))
    }
}

fn bound(model: &str) -> u32 {
    match model {
        "tso" | "pso" | "sc" => BOUND,
        _ => WINDOW,
    }
}

/// Returns the random tests that are small enough, under each model.
fn cases(seeds: std::ops::Range<u64>) -> impl Iterator<Item = Case> {
    seeds.flat_map(|seed| cases_of(rcu(seed)))
}

/// Returns a test under each model under which it is small enough.
fn cases_of(source: String) -> Vec<Case> {
    let problem = litmus_problem(&source);
    let case = |(model, reference_model)| {
        let report = reference(&problem, reference_model, bound(model) as usize, MAX_STATES);
        (report.complete && !report.bound_hit).then(|| Case {
            source: source.clone(),
            problem: problem.clone(),
            model,
            expected: results(&report),
        })
    };
    MODELS.into_iter().filter_map(case).collect()
}

/// Tests in which the second thread must reorder its accesses while the grace period of the first
/// thread may still see it.
const REORDERED_BEFORE_GRACE_PERIOD: [&str; 2] = [
    "C LB\n{}\nP0(int *x, int *y) { int r; r = READ_ONCE(*y); WRITE_ONCE(*x, r); synchronize_rcu(); }\n\
     P1(int *x, int *y) { int r; r = READ_ONCE(*x); WRITE_ONCE(*y, 1); }\n\
     exists (0:r=1 /\\ 1:r=1)",
    "C SB\n{}\nP0(int *x, int *y) { int r; WRITE_ONCE(*x, 1); smp_mb(); r = READ_ONCE(*y); \
     synchronize_rcu(); }\n\
     P1(int *x, int *y) { int r; WRITE_ONCE(*y, 1); r = READ_ONCE(*x); }\n\
     exists (0:r=0 /\\ 1:r=0)",
];

fn results(report: &Report) -> Results {
    (report.outcomes.clone(), report.hang || !report.faults.is_empty())
}

#[test]
fn random_tests_have_the_results_of_the_reference_interpreter() {
    let mut compared = 0;
    for case in cases(seeds(70)) {
        for reductions in REDUCTIONS {
            let found = case.search(reductions, Mutated::NONE);
            let Case { source, model, expected, .. } = &case;
            assert_eq!(found, *expected, "{model} {reductions:?}\n{source}");
            compared += 1;
        }
    }
    assert!(compared > 0);
    report_comparisons("random tests with RCU", compared);
}

#[test]
fn every_mutation_of_sections_and_grace_periods_is_detected() {
    let mutations = [
        Mutation::GracePeriodIgnoresPending,
        Mutation::GracePeriodIgnoresSections,
        Mutation::GracePeriodIsNoFence,
        Mutation::SectionsDoNotNest,
        Mutation::SectionsInvisible,
        Mutation::LateStepsIssueOneAccess,
        Mutation::LateStepsIgnoreOthers,
        Mutation::AccessesCommuteAtOnce,
        Mutation::RacesIgnoreOthers,
    ];
    let mut cases: Vec<Case> = cases(0..40).collect();
    cases.extend(
        REORDERED_BEFORE_GRACE_PERIOD.into_iter().flat_map(|source| cases_of(source.into())),
    );
    for mutation in mutations {
        let is_detected =
            |case: &Case| case.search(Reductions::ALL, Mutated::with(mutation)) != case.expected;
        assert!(cases.iter().any(is_detected), "{mutation:?} is not detected");
    }
}

/// Returns a test in which each thread reads what the previous one writes, the first one what the
/// last one writes. A thread has a grace period between its accesses, or they are in a section.
fn ring(has_grace_period: &[bool]) -> String {
    let mut text = "C ring\n{}\n".to_string();
    let mut read = Vec::new();
    for (at, grace_period) in has_grace_period.iter().enumerate() {
        let next = (at + 1) % has_grace_period.len();
        let (begin, between, end) = if *grace_period {
            ("", "synchronize_rcu();", "")
        } else {
            ("rcu_read_lock();", "", "rcu_read_unlock();")
        };
        text += &format!(
            "P{at}(int *x{at}, int *x{next}) {{ int r; {begin} r = READ_ONCE(*x{at}); {between} \
             WRITE_ONCE(*x{next}, 1); {end} }}\n"
        );
        read.push(format!("{at}:r=1"));
    }
    text + &format!("exists ({})", read.join(" /\\ "))
}

/// Without late steps, this test has 1,075, 2,062, 2,062 and 8,460 states.
#[test]
fn late_steps_make_rings_of_threads_small() {
    struct States<'a>(&'a Problem);
    impl Visitor for States<'_> {
        type Output = (u64, usize);

        fn visit<M: MemoryModel>(self, model: M) -> (u64, usize) {
            let machine = Machine::new(self.0, model, Reductions::ALL);
            let (cancel, progress) = (&Cancel::default(), &Progress::default());
            let (limits, threads) = (Limits::default(), NonZeroUsize::MIN);
            let options = Options { limits, cancel, progress, threads, stop_at: None };
            let found = explore(&machine, options);
            (found.states, found.facts.len())
        }
    }
    let problem = litmus_problem(&ring(&[true, false, true, false, false]));
    let limits = [("sc", 800, 31), ("tso", 1_200, 31), ("pso", 1_200, 31), ("rmo", 2_500, 32)];
    for (name, most_states, outcomes) in limits {
        let spec = ModelSpec::by_name(name).expect("a built-in model");
        let (states, found) = spec.visit(WINDOW, States(&problem));
        assert_eq!(found, outcomes, "{name}");
        assert!(states < most_states, "{name}: {states} states");
    }
}
