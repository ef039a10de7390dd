//! Bounds on preemptions: a violation found with one bound is found with every larger bound, and
//! nothing is verified while the bound cuts executions.

use super::queries::{Compared, QueryKind, STATELESS, check_evidence, check_random, run_query};
use crate::common::{seeds, settings};
use fencepost_engines::stateless::{Schedules, count_executions};
use fencepost_engines::{Bound, Budget, InconclusiveReason, Settings, Stateless, Verdict};
use fencepost_ir::Problem;
use fencepost_search::{Cancel, Coverage, Limits, Progress};
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
