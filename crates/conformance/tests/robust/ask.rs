//! Trace sets, engines asked, random programs.

use crate::common::{caught, check_with, compared, lower, model, seeds, settings};
use fencepost_conformance::traces::{Traces, pso_traces, sc_traces, tso_traces};
use fencepost_engines::stateless::{Census, Schedules, census};
use fencepost_engines::{Budget, Robust, RobustBy, Verdict};
use fencepost_ir::{Op, Problem, Violation};
use fencepost_models::ModelSpec;
use fencepost_monitor::Model;
use fencepost_search::{Cancel, Progress};
use fencepost_testkit::corpus;
use fencepost_testkit::programs::{RandomProgram, shrink};

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

/// Asks whether a program is robust.
pub(crate) fn robust(
    by: RobustBy,
    problem: &Problem,
    model: Model,
    threads: usize,
) -> Result<bool, String> {
    let verdict = check_with(&Robust { by }, problem, &spec(model), settings(threads)).verdict;
    match verdict {
        Verdict::Verified(_) => Ok(true),
        Verdict::Violated(violated) if violated.evidence().violation() == Violation::NotRobust => {
            Ok(false)
        }
        Verdict::Violated(_) | Verdict::Inconclusive(_) => {
            Err(format!("{by:?} under {model:?} says {verdict:?}"))
        }
    }
}

/// Our own model.
pub(crate) fn spec(of: Model) -> ModelSpec {
    model(match of {
        Model::Tso => "tso",
        Model::Pso => "pso",
    })
}

/// `x`, `y` and `z` are shared, each text is a thread `t0`, `t1`, ...
fn program(threads: &[&str]) -> Problem {
    let mut source = "shared int x, y, z;\n".to_string();
    for (at, body) in threads.iter().enumerate() {
        source += &format!("thread t{at} {{ {body} }}\n");
    }
    lower(&(source + "observe x;")).expect("it compiles").remove(0)
}

/// Checks whether a program is robust under TSO and PSO, and how many complete and stuck traces it has under SC.
#[track_caller]
pub(crate) fn check(threads: &[&str], tso: bool, pso: bool, traces: (u64, u64)) {
    let problem = &program(threads);
    let sets = Sets::of(problem).expect("its traces can be written down");
    assert_eq!(sets.robust(Model::Tso), tso, "by definition: {threads:?}");
    assert_eq!(sets.robust(Model::Pso), pso, "by definition: {threads:?}");
    assert_eq!((sets.sc.complete.len() as u64, sets.sc.stuck.len() as u64), traces);
    let questions = [
        (RobustBy::Stateless, Model::Tso, tso),
        (RobustBy::Stateless, Model::Pso, pso),
        (RobustBy::Attack, Model::Tso, tso),
    ];
    for (by, model, expected) in questions {
        let found = robust(by, problem, model, 1);
        assert_eq!(found, Ok(expected), "{by:?} under {model:?}: {threads:?}");
    }
    let counted = count(problem, Schedules::Traces, None, 1);
    runs_for_traces(problem, (counted.complete, counted.stuck), traces).expect("one run for each");
}

/// Whether there are as many runs, complete and stuck, as traces. Where a block chooses, each choice counts as touching
/// what all of them touch: there may be more runs.
pub(crate) fn runs_for_traces(
    problem: &Problem,
    runs: (u64, u64),
    traces: (u64, u64),
) -> Result<(), String> {
    if chooses_in_a_block(problem) && runs.0 >= traces.0 && runs.1 >= traces.1 {
        return Ok(());
    }
    same("complete and stuck", runs, traces)
}

/// Whether some atomic block has a `choose`.
fn chooses_in_a_block(problem: &Problem) -> bool {
    problem.program.threads.iter().any(|thread| {
        let mut inside = false;
        thread.code.iter().any(|stmt| {
            inside =
                (inside || matches!(stmt.op, Op::AtomicBegin)) && !matches!(stmt.op, Op::AtomicEnd);
            inside && matches!(stmt.op, Op::Choose { .. })
        })
    })
}

/// Holds each random program against a check, which tells whether it could compare, or what is wrong. One
/// that fails is shrunk and printed. Returns how many were compared.
pub(crate) fn each(
    draw: impl Fn(u64) -> RandomProgram,
    usual: u64,
    check: impl Fn(&Problem) -> Result<bool, String>,
) -> u64 {
    let seeds = seeds(usual);
    let (total, mut same) = (seeds.end - seeds.start, 0);
    let judge = |source: &str| caught(|| check(&lower(source)?[0]));
    for seed in seeds {
        let drawn = draw(seed);
        match judge(&drawn.to_string()) {
            Ok(could) => same += u64::from(could),
            Err(_) => {
                let fails = |source: &str| lower(source).is_ok() && judge(source).is_err();
                let small = shrink(&drawn, fails).to_string();
                let difference = judge(&small).expect_err("it still fails");
                panic!("seed {seed}: {difference}\n{small}");
            }
        }
    }
    compared("programs: robustness", same);
    assert!(same * 10 >= total * 9, "most are small enough: {same} of {total}");
    same
}

/// The litmus tests of the corpus, by name.
pub(crate) fn litmus() -> Vec<(String, Problem)> {
    let sources = corpus::sources("litmus").into_iter();
    sources.map(|(name, source)| (name, lower(&source).expect("it compiles").remove(0))).collect()
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
