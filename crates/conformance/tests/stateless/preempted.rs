//! Bounds on preemptions: what is found with one is found with every larger one, and nothing is proved while
//! the bound is in the way.

use super::ask::{Compared, Question, STATELESS, ask, each, shown};
use crate::common::{seeds, settings};
use fencepost_engines::stateless::{Schedules, census};
use fencepost_engines::{Bound, Budget, InconclusiveReason, Settings, Stateless, Verdict};
use fencepost_ir::Problem;
use fencepost_search::{Cancel, Coverage, Limits, Progress};
use fencepost_testkit::programs::{
    Profile, RandomProgram, deadlocks, invariants, program, sections,
};

/// More preemptions than these programs have room for, and so many programs.
const MANY: u32 = 9;
const PROGRAMS: u64 = 20;

fn within() -> Settings {
    let limits = Limits { states: 3_000, depth: 40, ..Limits::default() };
    Settings { limits, ..settings(1) }
}

/// Asks with more and more preemptions.
fn monotone(problem: &Problem) -> Result<Compared, String> {
    let all = ask(&STATELESS, Question::Verdict, (problem, "sc"), within()).verdict;
    let mut violated = false;
    let mut runs = 0;
    let mut last = None;
    for most in 0..=MANY {
        let engine = Stateless { preemptions: Some(most) };
        let verdict = ask(&engine, Question::Verdict, (problem, "sc"), within()).verdict;
        shown(problem, "sc", &verdict)?;
        match &verdict {
            Verdict::Violated(_) => violated = true,
            Verdict::Verified(_) if violated => return Err(format!("{most}: verified after all")),
            Verdict::Verified(_) => {}
            Verdict::Inconclusive(_) if violated => return Err(format!("{most}: not found again")),
            Verdict::Inconclusive(inconclusive) => match inconclusive.reason() {
                InconclusiveReason::Bound { bound: Bound::Preemptions(clean), .. } => {
                    if *clean > most {
                        return Err(format!("{most}: clean up to {clean}"));
                    }
                }
                _ => return Ok(Compared::default()),
            },
        }
        let known = |verdict: &Verdict| !matches!(verdict, Verdict::Inconclusive(_));
        if known(&verdict) && known(&all) && verdict.word() != all.word() {
            return Err(format!("{most}: {verdict:?}, but {all:?}"));
        }
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let budget = Budget { cancel: &cancel, progress: &progress };
        let schedules = Schedules::Preemptions(most);
        let counted = census(problem, schedules, None, within(), budget);
        if counted.complete + counted.stuck < runs && !matches!(counted.coverage, Coverage::Cut(_))
        {
            return Err(format!("{most}: fewer runs than before"));
        }
        runs = counted.complete + counted.stuck;
        if counted.coverage == Coverage::Exhaustive && last == Some(Coverage::Exhaustive) {
            break;
        }
        last = Some(counted.coverage);
    }
    Ok(Compared { verdicts: 1, violated: u64::from(violated), outcomes: 0 })
}

fn run(draw: impl Fn(u64) -> RandomProgram) {
    let compared = each(draw, PROGRAMS, monotone);
    let usual = std::env::var("FENCEPOST_SEEDS").is_err();
    let drawn = seeds(PROGRAMS).end;
    assert!(!usual || compared.verdicts * 3 > drawn, "{compared:?}");
    assert!(!usual || compared.violated * 20 >= drawn, "{compared:?}");
}

#[test]
fn random_straight() {
    run(|seed| program(Profile::Straight, seed));
}

#[test]
fn random_critical_sections() {
    run(sections);
}

#[test]
fn random_invariants_of_several_locations() {
    run(invariants);
}

#[test]
fn random_deadlock_freedom() {
    run(deadlocks);
}
