//! The explicit engine compared with the reference interpreter, by sets of outcomes and by what goes
//! wrong, on random programs, for every model and every combination of reductions.
//!
//! A program on which they differ is shrunk and printed as a `.fp` file.

use crate::common::{MODELS, REDUCTIONS, check, compared, lower, model, outcomes, seeds, settings};
use fencepost_conformance::reference::{Report, explore};
use fencepost_engines::{Answer, Settings, Verdict};
use fencepost_ir::Violation;
use fencepost_ir::{Problem, Property};
use fencepost_testkit::is_campaign;
use fencepost_testkit::programs::{Profile, program, shrink};
use std::collections::BTreeMap;

/// Pending accesses allowed in both. Small, so that many programs meet the bound: what happens then must
/// be the same, too.
const BOUND: usize = 3;
/// A window holds loads and assignments, too.
const WINDOW: usize = 5;
/// Programs with more states than this (in the reference) are passed over.
const STATES: usize = 20_000;
/// Programs of each profile.
const PROGRAMS: u64 = 40;

fn bound(name: &str) -> usize {
    match name {
        "tso" | "pso" | "sc" => BOUND,
        _ => WINDOW,
    }
}

/// What is wrong with the engine's answer, if anything.
///
/// Partial-order reduction commits a store at once when nobody else looks at its location, so it can be
/// exact where the reference meets the bound (`beyond`): it may then find more, but never less.
fn difference(problem: &Problem, report: &Report, answer: &Answer, por: bool) -> Option<String> {
    let beyond = por && report.bound_hit && answer.outcomes_complete;
    let missing: Vec<_> = report.outcomes.difference(&answer.outcomes).collect();
    let extra: Vec<_> = answer.outcomes.difference(&report.outcomes).collect();
    if !missing.is_empty() || (!extra.is_empty() && !beyond) {
        return Some(format!("outcomes missing {missing:?}, too many {extra:?}"));
    }
    let asked = |property| problem.properties.contains(&property);
    let wrong = !report.faults.is_empty()
        || !report.assertion_failures.is_empty()
        || !report.invariant_violations.is_empty()
        || (asked(Property::MutualExclusion) && report.mutual_exclusion_violated)
        || (asked(Property::DeadlockFree) && report.deadlock);
    match &answer.verdict {
        Verdict::Violated(violated) => {
            let violation = violated.evidence().violation();
            let known = match violation {
                Violation::Fault(fault, ..) => report.faults.contains(&fault),
                Violation::Assertion(_, label) => {
                    label.is_some_and(|l| report.assertion_failures.contains(&l))
                }
                Violation::MutualExclusion(..) => report.mutual_exclusion_violated,
                Violation::Invariant(at) => report.invariant_violations.contains(&at),
                Violation::Deadlock => report.deadlock,
                Violation::Final(_)
                | Violation::Operations(_)
                | Violation::NoWitness(_)
                | Violation::NotRobust => false,
            };
            (!known && !beyond).then(|| format!("{violation:?} does not happen"))
        }
        Verdict::Verified(_) if wrong => Some(format!("missed: {report:?}")),
        Verdict::Verified(_) if report.bound_hit && !beyond => {
            Some("the bound goes unmentioned".into())
        }
        Verdict::Verified(_) => None,
        Verdict::Inconclusive(_) if wrong => Some(format!("missed: {report:?}")),
        Verdict::Inconclusive(_) if !report.bound_hit => Some("no bound was met".into()),
        Verdict::Inconclusive(_) => None,
    }
}

/// Compares one source text under all models. Returns the reports, or the first difference.
fn compare(source: &str, turn: u64) -> Result<Option<BTreeMap<&'static str, Report>>, String> {
    let problems = lower(source).map_err(|e| format!("does not compile:\n{e}"))?;
    let mut problem = problems[0].clone();
    if turn % 3 == 1 {
        // Registers that nobody observes may be cleared: that must not show in the others.
        let mut keep = false;
        problem.observed.retain(|_| {
            keep = !keep;
            keep
        });
    }
    let problem = &problem;
    let mut reports = BTreeMap::new();
    for (name, reference) in MODELS {
        let report = explore(problem, reference, bound(name), STATES);
        if !report.complete {
            return Ok(None);
        }
        // All and no reductions for every program, the others in turn.
        let third = 2 + (turn as usize + name.len()) % 3;
        for reductions in [REDUCTIONS[0], REDUCTIONS[1], REDUCTIONS[third]] {
            let settings = Settings {
                reductions,
                fixed_buffer: Some(bound(name) as u32),
                ..settings(1 + turn as usize % 2)
            };
            let answer = outcomes(problem, &model(name), settings);
            let por = reductions.partial_order;
            if let Some(difference) = difference(problem, &report, &answer, por) {
                return Err(format!("{name} with {reductions:?}: {difference}"));
            }
            let verdict = check(problem, &model(name), settings).verdict;
            if verdict.word() != answer.verdict.word() {
                return Err(format!("{name} with {reductions:?}: check says {}", verdict.word()));
            }
        }
        reports.insert(name, report);
    }
    Ok(Some(reports))
}

/// Stronger models allow less; table-driven models agree with the dedicated ones.
fn relations(reports: &BTreeMap<&str, Report>) -> Option<String> {
    let exact = |name: &str| !reports[name].bound_hit;
    for (stronger, weaker) in [("sc", "tso"), ("ibm370", "tso"), ("tso", "pso"), ("pso", "rmo")] {
        if exact(stronger) && exact(weaker) {
            let (stronger_set, weaker_set) =
                (&reports[stronger].outcomes, &reports[weaker].outcomes);
            if !stronger_set.is_subset(weaker_set) {
                return Some(format!("{stronger} allows what {weaker} does not"));
            }
        }
    }
    for (one, other) in [("tso", "table-tso"), ("pso", "table-pso")] {
        if exact(one) && exact(other) && reports[one].outcomes != reports[other].outcomes {
            return Some(format!("{one} and {other} differ"));
        }
    }
    None
}

fn run(profile: Profile) {
    let (mut same, mut skipped) = (0, 0);
    for seed in seeds(if is_campaign() { 2 * PROGRAMS } else { PROGRAMS }) {
        let drawn = program(profile, seed);
        let verdict = |source: &str| match compare(source, seed) {
            Err(difference) => Some(difference),
            Ok(Some(reports)) => relations(&reports),
            Ok(None) => None,
        };
        match compare(&drawn.to_string(), seed) {
            Ok(None) => skipped += 1,
            Ok(Some(reports)) if relations(&reports).is_none() => same += 1,
            _ => {
                let fails = |source: &str| lower(source).is_ok() && verdict(source).is_some();
                let small = shrink(&drawn, fails).to_string();
                let difference = verdict(&small).unwrap_or_default();
                panic!("{profile:?} seed {seed}: {difference}\n{small}");
            }
        }
    }
    compared(&format!("programs of {profile:?}: explicit and reference"), same);
    assert!(same > skipped, "most programs are small enough to compare");
}

#[test]
fn random_straight_line_programs() {
    run(Profile::Straight);
}

#[test]
fn random_loops() {
    run(Profile::Loops);
}

#[test]
fn random_records() {
    run(Profile::Records);
}

#[test]
fn random_everything() {
    run(Profile::Kitchen);
}
