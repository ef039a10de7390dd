//! Trace sets, engines asked, random programs.

use crate::common::{lower, settings};
use fencepost_conformance::random::{bounded, shrink};
use fencepost_conformance::traces::{Traces, pso_traces, sc_traces, tso_traces};
use fencepost_engines::Budget;
use fencepost_engines::stateless::{Census, Schedules, census};
use fencepost_ir::Problem;
use fencepost_monitor::Model;
use fencepost_search::{Cancel, Progress};
use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The traces of a program under each model.
pub(crate) struct Sets {
    pub(crate) sc: Traces,
    pub(crate) tso: Traces,
    pub(crate) pso: Traces,
}

impl Sets {
    /// All of them, where they can be written down.
    pub(crate) fn of(problem: &Problem) -> Option<Self> {
        let (sc, tso) = (sc_traces(problem)?, tso_traces(problem)?);
        Some(Sets { sc, tso, pso: pso_traces(problem)? })
    }

    /// Whether the program is robust, by definition.
    pub(crate) fn robust(&self, model: Model) -> bool {
        match model {
            Model::Tso => self.tso == self.sc,
            Model::Pso => self.pso == self.sc,
        }
    }
}

/// Counts runs with so many search threads.
pub(crate) fn count(
    problem: &Problem,
    schedules: Schedules,
    watch: Option<Model>,
    threads: usize,
) -> Census {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    census(problem, schedules, watch, settings(threads), budget)
}

/// Holds each random program against a check, which tells whether it could compare, or what is wrong. One
/// that fails is shrunk and printed. Returns how many were compared.
pub(crate) fn each(usual: u64, check: impl Fn(&Problem) -> Result<bool, String>) -> u64 {
    let seeds = seeds(usual);
    let (total, mut compared) = (seeds.end - seeds.start, 0);
    let judge = |source: &str| caught(|| check(&lower(source)?[0]));
    for seed in seeds {
        let drawn = bounded(seed);
        match judge(&drawn.to_string()) {
            Ok(could) => compared += u64::from(could),
            Err(_) => {
                let fails = |source: &str| lower(source).is_ok() && judge(source).is_err();
                let small = shrink(&drawn, fails).to_string();
                let difference = judge(&small).expect_err("it still fails");
                panic!("seed {seed}: {difference}\n{small}");
            }
        }
    }
    assert!(compared * 10 > total * 9, "most are small enough: {compared} of {total}");
    compared
}

/// What something returns, or with which words it panics.
fn caught<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let told = |panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_else(|| "it panics".into())
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(told(panic)))
}

/// Which random programs to draw: the usual ones, or those that the environment asks for.
fn seeds(usual: u64) -> Range<u64> {
    let Ok(text) = std::env::var("FENCEPOST_SEEDS") else { return 0..usual };
    let (from, to) = text.split_once("..").expect("FENCEPOST_SEEDS is `from..to`");
    let number = |text: &str| text.parse().expect("FENCEPOST_SEEDS is made of numbers");
    number(from)..number(to)
}

/// Says what differs, if anything does.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    found: T,
    expected: T,
) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: found {found:?}, expected {expected:?}"))
}
