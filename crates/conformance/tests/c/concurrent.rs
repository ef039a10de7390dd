//! Random programs with threads have the same outcomes as C and as `.fp`.
//!
//! C programs use the C11 library, the builtins of GCC or the names of the Linux kernel. The
//! creation of a thread and the end of `main` add no outcome.

use crate::common::{model, outcomes, report_comparisons, seeds, settings};
use fencepost_engines::Settings;
use fencepost_ir::{Problem, Value};
use fencepost_search::Limits;
use fencepost_testkit::c_programs::{Concurrent, Dialect, concurrent};
use fencepost_testkit::{c_problem, catch_panic, problem};
use std::collections::BTreeSet;

/// The number of programs of each dialect.
const PROGRAMS: u64 = 40;
/// Programs with more states are skipped.
const MAX_STATES: u64 = 100_000;

/// Returns the outcomes, with names, or `None` if there are too many states.
fn named_outcomes(problem: &Problem, name: &str) -> Option<BTreeSet<Vec<(String, Value)>>> {
    let limits = Limits { states: MAX_STATES, ..Limits::default() };
    let limited = Settings { limits, ..settings(1) };
    let answer = outcomes(problem, &model(name), limited);
    let names: Vec<String> =
        problem.observed.iter().map(|what| problem.program.observable_name(*what)).collect();
    let named = |outcome: &Vec<Value>| {
        let mut named: Vec<_> = names.iter().cloned().zip(outcome.iter().copied()).collect();
        named.sort();
        named
    };
    answer.outcomes_complete.then(|| answer.outcomes.iter().map(named).collect())
}

/// Compares both texts. Returns the number of comparisons.
fn compare(program: &Concurrent) -> Result<u64, String> {
    let c = c_problem(&program.c)?;
    let fp = problem(&program.fp);
    let mut compared = 0;
    for name in ["sc", "tso", "pso", "rmo-nospec"] {
        let (Some(c), Some(fp)) = (named_outcomes(&c, name), named_outcomes(&fp, name)) else {
            continue;
        };
        let (missing, extra): (Vec<_>, Vec<_>) =
            (fp.difference(&c).take(3).collect(), c.difference(&fp).take(3).collect());
        if !missing.is_empty() || !extra.is_empty() {
            return Err(format!("{name}: only in .fp {missing:?}, only in C {extra:?}"));
        }
        compared += 1;
    }
    Ok(compared)
}

#[test]
fn random_concurrent_programs_have_the_outcomes_of_their_fp_twins() {
    let (mut compared, mut wrong) = (0, Vec::new());
    for dialect in Dialect::ALL {
        for seed in seeds(PROGRAMS) {
            let program = concurrent(dialect, seed);
            match catch_panic(|| compare(&program)) {
                Ok(count) => compared += count,
                Err(message) => wrong.push((message, program)),
            }
        }
    }
    if let Some((message, program)) = wrong.first() {
        panic!("{} differences, first:\n{message}\n{}\n{}", wrong.len(), program.c, program.fp);
    }
    report_comparisons("outcome sets of C and .fp programs", compared);
}
