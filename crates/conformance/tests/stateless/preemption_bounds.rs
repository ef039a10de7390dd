//! Bounds on preemptions: a violation found with one bound is found with every larger bound, and
//! nothing is verified while the bound cuts executions.

use super::queries::{Compared, QueryKind, STATELESS, check_evidence, check_random, run_query};
use crate::common::{lower, seeds, settings};
use fencepost_engines::stateless::{Schedules, count_executions};
use fencepost_engines::{
    Answer, Bound, Budget, Engine, Explicit, InconclusiveReason, Robust, RobustMethod, Settings,
    Stateless, Unsupported, Verdict,
};
use fencepost_ir::Problem;
use fencepost_search::{Cancel, Coverage, Limits, Progress};
use fencepost_testkit::corpus;
use fencepost_testkit::programs::{
    Profile, RandomProgram, critical_sections, deadlocks, invariants, program,
};

/// The largest bound on preemptions.
const MAX_PREEMPTIONS: u32 = 9;
/// The number of random programs of each kind.
const PROGRAMS: u64 = 20;

fn stateless_settings() -> Settings {
    let limits = Limits { states: 3_000, depth: 40, ..Limits::default() };
    Settings { limits, ..settings(1) }
}

/// Checks that the answers are monotone in the bound on preemptions.
fn compare_bounds(problem: &Problem) -> Result<Compared, String> {
    let all =
        run_query(&STATELESS, QueryKind::Verdict, (problem, "sc"), stateless_settings()).verdict;
    let mut violated = false;
    let mut runs = 0;
    let mut last = None;
    for preemptions in 0..=MAX_PREEMPTIONS {
        let engine = Stateless { preemptions: Some(preemptions) };
        let verdict =
            run_query(&engine, QueryKind::Verdict, (problem, "sc"), stateless_settings()).verdict;
        check_evidence(problem, "sc", &verdict)?;
        match &verdict {
            Verdict::Violated(_) => violated = true,
            Verdict::Verified(_) if violated => {
                return Err(format!(
                    "{preemptions}: verified, but violated with fewer preemptions"
                ));
            }
            Verdict::Verified(_) => {}
            Verdict::Inconclusive(_) if violated => {
                return Err(format!(
                    "{preemptions}: inconclusive, but violated with fewer preemptions"
                ));
            }
            Verdict::Inconclusive(inconclusive) => match inconclusive.reason() {
                InconclusiveReason::Bound { bound: Bound::Preemptions(clean), .. } => {
                    if *clean > preemptions {
                        return Err(format!("{preemptions}: the engine claims a bound of {clean}"));
                    }
                }
                _ => return Ok(Compared::default()),
            },
        }
        let known = |verdict: &Verdict| !matches!(verdict, Verdict::Inconclusive(_));
        if known(&verdict) && known(&all) && verdict.word() != all.word() {
            return Err(format!("{preemptions}: {verdict:?}, but {all:?}"));
        }
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let budget = Budget { cancel: &cancel, progress: &progress };
        let schedules = Schedules::Preemptions(preemptions);
        let counted = count_executions(problem, schedules, None, stateless_settings(), budget);
        if counted.complete + counted.stuck < runs && !matches!(counted.coverage, Coverage::Cut(_))
        {
            return Err(format!("{preemptions}: fewer executions than with fewer preemptions"));
        }
        runs = counted.complete + counted.stuck;
        if counted.coverage == Coverage::Exhaustive && last == Some(Coverage::Exhaustive) {
            break;
        }
        last = Some(counted.coverage);
    }
    Ok(Compared { verdicts: 1, violated: u64::from(violated), outcomes: 0 })
}

fn check_monotone(draw: impl Fn(u64) -> RandomProgram) {
    let compared = check_random(draw, PROGRAMS, compare_bounds);
    let usual = std::env::var("FENCEPOST_SEEDS").is_err();
    let drawn = seeds(PROGRAMS).end;
    assert!(!usual || compared.verdicts * 3 > drawn, "{compared:?}");
    assert!(!usual || compared.violated * 20 >= drawn, "{compared:?}");
}

/// Returns the only program of a file of the corpus.
fn corpus_problem(folder: &str, name: &str) -> Problem {
    let mut sources = corpus::sources(folder).into_iter();
    let (_, source) = sources.find(|(stem, _)| stem == name).expect("the program exists");
    lower(&source).expect("the program compiles").swap_remove(0)
}

#[test]
fn a_bound_under_tso_is_not_claimed_for_programs_that_leave_sc_within_the_bound() {
    for (folder, name) in
        [("papers", "sober-dekker"), ("mutex", "peterson0-once"), ("papers", "sober-takequeue")]
    {
        let problem = corpus_problem(folder, name);
        let exact = run_query(&Explicit, QueryKind::Verdict, (&problem, "tso"), settings(1));
        assert_eq!(exact.verdict.word(), "violated", "{name}");
        let engine = Stateless { preemptions: Some(2) };
        let bounded = run_query(&engine, QueryKind::Verdict, (&problem, "tso"), settings(1));
        let not_robust = InconclusiveReason::unsupported(Unsupported::NotRobust);
        assert_eq!(bounded.verdict.inconclusive_reason(), Some(&not_robust), "{name}");
    }
}

#[test]
fn a_bound_is_claimed_only_if_the_monitor_finds_nothing_within_it() {
    let (mut bounds, mut not_robust) = (0, 0);
    for (name, source) in corpus::sources("litmus") {
        let problem = lower(&source).expect("the program compiles").swap_remove(0);
        for (model, preemptions) in [("tso", 0), ("tso", 1), ("pso", 0), ("pso", 1)] {
            let engine = Stateless { preemptions: Some(preemptions) };
            let robust = Robust::by(RobustMethod::Preemptions(preemptions));
            let query = |engine: &(dyn Engine + Sync)| {
                run_query(engine, QueryKind::Verdict, (&problem, model), stateless_settings())
            };
            let is_claimed = |answer: &Answer| {
                let reason = answer.verdict.inconclusive_reason();
                matches!(reason, Some(InconclusiveReason::Bound { .. }))
            };
            let claims = is_claimed(&query(&engine));
            let finds = matches!(query(&robust).verdict, Verdict::Violated(_));
            assert!(!(claims && finds), "{name} {model} {preemptions}");
            bounds += u32::from(claims);
            not_robust += u32::from(finds);
        }
    }
    assert!(bounds > 20 && not_robust > 20, "{bounds} bounds, {not_robust} not robust");
}

#[test]
fn random_straight_line_programs_are_monotone_in_the_bound() {
    check_monotone(|seed| program(Profile::Straight, seed));
}

#[test]
fn random_critical_sections_are_monotone_in_the_bound() {
    check_monotone(critical_sections);
}

#[test]
fn random_invariants_are_monotone_in_the_bound() {
    check_monotone(invariants);
}

#[test]
fn random_deadlocks_are_monotone_in_the_bound() {
    check_monotone(deadlocks);
}
