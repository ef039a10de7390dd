//! The explicit engine and the reference interpreter find the same outcomes and violations on
//! random programs, for every model and several combinations of reductions.
//!
//! A program on which they differ is shrunk and printed as a `.fp` file.

use crate::common::{
    MODELS, REDUCTIONS, check, lower, model, outcomes, report_comparisons, seeds, settings,
};
use fencepost_conformance::reference::{Report, explore};
use fencepost_engines::{Answer, Settings, Verdict};
use fencepost_ir::Violation;
use fencepost_ir::{Problem, Property};
use fencepost_testkit::is_campaign;
use fencepost_testkit::programs::{
    Profile, RandomProgram, c_like, guarded_alternatives, program, shrink, with_finally,
};
use std::collections::BTreeMap;

/// The bound on pending stores in both. It is small, so that many programs reach it: the results
/// must be the same then too.
const BOUND: usize = 3;
/// The bound on window entries. A window also holds loads and assignments.
const WINDOW: usize = 5;
/// Programs with more states than this in the reference interpreter are skipped.
const MAX_STATES: usize = 20_000;
/// The number of programs of each profile.
const PROGRAMS: u64 = 40;

fn bound(name: &str) -> usize {
    match name {
        "tso" | "pso" | "sc" => BOUND,
        _ => WINDOW,
    }
}

/// Returns the difference between the engine's answer and the report, if any.
///
/// Partial-order reduction commits a store at once if no other thread accesses its location, and a
/// thread does not guess if no load can use it. So the engine can be exact although the reference
/// interpreter reaches the bound (`beyond_bound`). Then it may find more, but never less.
fn difference(problem: &Problem, report: &Report, answer: &Answer, por: bool) -> Option<String> {
    let beyond_bound = por && report.bound_hit && answer.outcomes_complete;
    let missing: Vec<_> = report.outcomes.difference(&answer.outcomes).collect();
    let extra: Vec<_> = answer.outcomes.difference(&report.outcomes).collect();
    if !missing.is_empty() || (!extra.is_empty() && !beyond_bound) {
        return Some(format!(
            "outcomes only in the reference {missing:?}, only in the engine {extra:?}"
        ));
    }
    let is_declared = |property| problem.properties.contains(&property);
    let wrong = !report.faults.is_empty()
        || !report.assertion_failures.is_empty()
        || !report.invariant_violations.is_empty()
        || (is_declared(Property::MutualExclusion) && report.mutual_exclusion_violated)
        || (!problem.may_hang && report.hang);
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
                Violation::Hang => report.hang,
                Violation::Final(_)
                | Violation::Operations(_)
                | Violation::Livelock { .. }
                | Violation::NoWitness(_)
                | Violation::NotRobust
                | Violation::DataRace(_) => false,
            };
            (!known && !beyond_bound)
                .then(|| format!("the reference does not have the violation {violation:?}"))
        }
        Verdict::Verified(_) if wrong => Some(format!("the engine misses a violation: {report:?}")),
        Verdict::Verified(_) if report.bound_hit && !beyond_bound => {
            Some("the engine does not report that the bound was reached".into())
        }
        Verdict::Verified(_) => None,
        Verdict::Inconclusive(_) if wrong => {
            Some(format!("the engine misses a violation: {report:?}"))
        }
        Verdict::Inconclusive(_) if !report.bound_hit => {
            Some("inconclusive although no bound was reached".into())
        }
        Verdict::Inconclusive(_) => None,
    }
}

/// Compares one source text under all models. Returns the reports, or the first difference. Returns
/// `None` if the program is too large.
fn compare(source: &str, seed: u64) -> Result<Option<BTreeMap<&'static str, Report>>, String> {
    let problems = lower(source).map_err(|e| format!("does not compile:\n{e}"))?;
    let mut problem = problems[0].clone();
    if seed % 3 == 1 {
        // Registers that are not observed may be cleared. That must not change the other values.
        let mut keep = false;
        problem.observed.retain(|_| {
            keep = !keep;
            keep
        });
    }
    let problem = &problem;
    let mut reports = BTreeMap::new();
    for (name, reference) in MODELS {
        let report = explore(problem, reference, bound(name), MAX_STATES);
        if !report.complete {
            return Ok(None);
        }
        // Every program is checked with all reductions, with none, and with one of the other sets.
        let third = 2 + (seed as usize + name.len()) % (REDUCTIONS.len() - 2);
        for reductions in [REDUCTIONS[0], REDUCTIONS[1], REDUCTIONS[third]] {
            let settings = Settings {
                reductions,
                fixed_buffer: Some(bound(name) as u32),
                ..settings(1 + seed as usize % 2)
            };
            let answer = outcomes(problem, &model(name), settings);
            let por = reductions.partial_order || reductions.useful_guesses;
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

/// Checks that weaker models have all outcomes of stronger models, and that table-driven models
/// agree with the dedicated ones. Returns the first difference.
fn check_relations(reports: &BTreeMap<&str, Report>) -> Option<String> {
    let exact = |name: &str| !reports[name].bound_hit;
    let relations = [
        ("sc", "tso"),
        ("ibm370", "tso"),
        ("tso", "pso"),
        ("pso", "rmo-nospec"),
        ("rmo-nospec", "rmo"),
    ];
    for (stronger, weaker) in relations {
        if exact(stronger) && exact(weaker) {
            let (stronger_set, weaker_set) =
                (&reports[stronger].outcomes, &reports[weaker].outcomes);
            if !stronger_set.is_subset(weaker_set) {
                return Some(format!("{stronger} has outcomes that {weaker} does not have"));
            }
        }
    }
    for (one, other) in [("tso", "table-tso"), ("pso", "table-pso")] {
        if exact(one) && exact(other) && reports[one].outcomes != reports[other].outcomes {
            return Some(format!("the outcomes of {one} and {other} differ"));
        }
    }
    None
}

fn compare_profile(profile: Profile) {
    compare_random(&format!("{profile:?}"), PROGRAMS, |seed| program(profile, seed));
}

fn compare_random(kind: &str, programs: u64, draw: impl Fn(u64) -> RandomProgram) {
    let (mut same, mut skipped) = (0, 0);
    for seed in seeds(if is_campaign() { 2 * programs } else { programs }) {
        let drawn = draw(seed);
        let verdict = |source: &str| match compare(source, seed) {
            Err(difference) => Some(difference),
            Ok(Some(reports)) => check_relations(&reports),
            Ok(None) => None,
        };
        match compare(&drawn.to_string(), seed) {
            Ok(None) => skipped += 1,
            Ok(Some(reports)) if check_relations(&reports).is_none() => same += 1,
            _ => {
                let fails = |source: &str| lower(source).is_ok() && verdict(source).is_some();
                let small = shrink(&drawn, fails).to_string();
                let difference = verdict(&small).unwrap_or_default();
                panic!("{kind} seed {seed}: {difference}\n{small}");
            }
        }
    }
    report_comparisons(&format!("programs of {kind}: explicit and reference"), same);
    assert!(same > skipped, "most programs are small enough to compare");
}

#[test]
fn random_straight_line_programs_agree_with_the_reference() {
    compare_profile(Profile::Straight);
}

#[test]
fn random_loops_agree_with_the_reference() {
    compare_profile(Profile::Loops);
}

#[test]
fn random_alternatives_agree_with_the_reference() {
    compare_random("alternatives", PROGRAMS, guarded_alternatives);
}

#[test]
fn random_programs_like_those_in_c_agree_with_the_reference() {
    compare_random("c_like", 2 * PROGRAMS, c_like);
}

#[test]
fn random_records_agree_with_the_reference() {
    compare_profile(Profile::Records);
}

#[test]
fn random_mixed_programs_agree_with_the_reference() {
    compare_profile(Profile::Mixed);
}

#[test]
fn random_programs_with_finally_agree_with_the_reference() {
    for profile in [Profile::Straight, Profile::Loops, Profile::Records, Profile::Mixed] {
        let kind = format!("{profile:?} with finally");
        compare_random(&kind, PROGRAMS / 4, |seed| with_finally(profile, seed));
    }
}
