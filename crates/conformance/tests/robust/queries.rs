//! Trace sets, queries to engines, random programs.

use crate::common::{catch_panic, check_with, lower, model, report_comparisons, seeds, settings};
use fencepost_conformance::traces::{Traces, pso_traces, sc_traces, tso_traces};
use fencepost_engines::stateless::{ExecutionCounts, Schedules, count_executions};
use fencepost_engines::{Budget, Robust, RobustDefinition, RobustMethod, Verdict};
use fencepost_ir::{Op, Problem, Violation};
use fencepost_models::ModelSpec;
use fencepost_monitor::Model;
use fencepost_search::{Cancel, Progress};
use fencepost_testkit::corpus;
use fencepost_testkit::programs::{RandomProgram, shrink};

/// The traces of a program under each model.
pub(crate) struct TraceSets {
    pub(crate) sc: Traces,
    pub(crate) tso: Traces,
    pub(crate) pso: Traces,
}

impl TraceSets {
    /// Returns all three sets, or `None` if they cannot be enumerated.
    pub(crate) fn of(problem: &Problem) -> Option<Self> {
        let (sc, tso) = (sc_traces(problem)?, tso_traces(problem)?);
        Some(TraceSets { sc, tso, pso: pso_traces(problem)? })
    }

    /// Returns whether the program is robust, by definition.
    pub(crate) fn is_robust(&self, model: Model) -> bool {
        match model {
            Model::Tso => self.tso == self.sc,
            Model::Pso => self.pso == self.sc,
        }
    }
}

/// Counts executions with this number of search threads.
pub(crate) fn count_runs(
    problem: &Problem,
    schedules: Schedules,
    watch: Option<Model>,
    threads: usize,
) -> ExecutionCounts {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    count_executions(problem, schedules, watch, settings(threads), budget)
}

/// Returns whether a program is robust according to an engine. Any other answer is an error.
pub(crate) fn query_robustness(
    method: RobustMethod,
    problem: &Problem,
    model: Model,
    threads: usize,
) -> Result<bool, String> {
    query(Robust::by(method), problem, model, threads)
}

/// Returns whether a program is robust by the strict definition, according to an engine.
pub(crate) fn query_strict_robustness(
    method: RobustMethod,
    problem: &Problem,
    model: Model,
    threads: usize,
) -> Result<bool, String> {
    query(Robust { method, definition: RobustDefinition::Strict }, problem, model, threads)
}

fn query(engine: Robust, problem: &Problem, model: Model, threads: usize) -> Result<bool, String> {
    let problem = &allow_hangs(problem);
    let verdict = check_with(&engine, problem, &spec(model), settings(threads)).verdict;
    match verdict {
        Verdict::Verified(_) => Ok(true),
        Verdict::Violated(violated) if violated.evidence().violation() == Violation::NotRobust => {
            Ok(false)
        }
        Verdict::Violated(_) | Verdict::Inconclusive(_) => {
            Err(format!("{engine:?} under {model:?} answers {verdict:?}"))
        }
    }
}

/// Returns the problem without the check for hangs. The trace sets know nothing about them.
pub(crate) fn allow_hangs(problem: &Problem) -> Problem {
    let mut problem = problem.clone();
    problem.allow_hangs();
    problem
}

/// Returns the model of the engines.
pub(crate) fn spec(of: Model) -> ModelSpec {
    model(match of {
        Model::Tso => "tso",
        Model::Pso => "pso",
    })
}

/// Builds a program with shared `x`, `y` and `z`. Each text is the body of a thread `t0`, `t1`, ...
pub(crate) fn program(threads: &[&str]) -> Problem {
    let mut source = "shared int x, y, z;\n".to_string();
    for (at, body) in threads.iter().enumerate() {
        source += &format!("thread t{at} {{ {body} }}\n");
    }
    lower(&(source + "observe x;")).expect("the program compiles").remove(0)
}

/// Checks whether a program is robust under TSO and PSO, and the numbers of its complete and stuck
/// traces under SC.
#[track_caller]
pub(crate) fn check(threads: &[&str], tso: bool, pso: bool, traces: (u64, u64)) {
    let problem = &program(threads);
    let sets = TraceSets::of(problem).expect("the traces can be enumerated");
    assert_eq!(sets.is_robust(Model::Tso), tso, "by definition: {threads:?}");
    assert_eq!(sets.is_robust(Model::Pso), pso, "by definition: {threads:?}");
    assert_eq!((sets.sc.complete.len() as u64, sets.sc.stuck.len() as u64), traces);
    let queries = [
        (RobustMethod::Stateless, Model::Tso, tso),
        (RobustMethod::Stateless, Model::Pso, pso),
        (RobustMethod::Attack, Model::Tso, tso),
    ];
    for (method, model, expected) in queries {
        let found = query_robustness(method, problem, model, 1);
        assert_eq!(found, Ok(expected), "{method:?} under {model:?}: {threads:?}");
    }
    let counted = count_runs(problem, Schedules::Traces, None, 1);
    check_run_counts(problem, (counted.complete, counted.stuck), traces)
        .expect("one execution for each trace");
}

/// Checks that there are as many executions, complete and stuck, as traces. If an atomic block has
/// a `choose`, each choice counts as an access to all locations that any choice accesses. Then
/// there may be more executions.
pub(crate) fn check_run_counts(
    problem: &Problem,
    runs: (u64, u64),
    traces: (u64, u64),
) -> Result<(), String> {
    if has_choose_in_atomic(problem) && runs.0 >= traces.0 && runs.1 >= traces.1 {
        return Ok(());
    }
    check_equal("complete and stuck", runs, traces)
}

/// Returns whether some atomic block has a `choose`.
fn has_choose_in_atomic(problem: &Problem) -> bool {
    problem.program.threads.iter().any(|thread| {
        let mut inside = false;
        thread.code.iter().any(|stmt| {
            inside =
                (inside || matches!(stmt.op, Op::AtomicBegin)) && !matches!(stmt.op, Op::AtomicEnd);
            inside && matches!(stmt.op, Op::Choose { .. })
        })
    })
}

/// Checks random programs. `check` returns whether it made a comparison, or an error message. A
/// failing program is shrunk and printed. Returns the number of compared programs.
pub(crate) fn check_random(
    draw: impl Fn(u64) -> RandomProgram,
    usual: u64,
    check: impl Fn(&Problem) -> Result<bool, String>,
) -> u64 {
    check_random_sources(draw, usual, |source| check(&lower(source)?[0]))
}

/// Checks the source texts of random programs, as [`check_random`] checks programs.
pub(crate) fn check_random_sources(
    draw: impl Fn(u64) -> RandomProgram,
    usual: u64,
    check: impl Fn(&str) -> Result<bool, String>,
) -> u64 {
    let seeds = seeds(usual);
    let (total, mut same) = (seeds.end - seeds.start, 0);
    let try_check = |source: &str| catch_panic(|| check(source));
    for seed in seeds {
        let drawn = draw(seed);
        match try_check(&drawn.to_string()) {
            Ok(compared) => same += u64::from(compared),
            Err(_) => {
                let fails = |source: &str| lower(source).is_ok() && try_check(source).is_err();
                let small = shrink(&drawn, fails).to_string();
                let difference = try_check(&small).expect_err("the shrunk program still fails");
                panic!("seed {seed}: {difference}\n{small}");
            }
        }
    }
    report_comparisons("programs: robustness", same);
    assert!(same * 10 >= total * 9, "most programs are small enough to compare: {same} of {total}");
    same
}

/// Returns the litmus tests of the corpus with their names.
pub(crate) fn litmus_tests() -> Vec<(String, Problem)> {
    let sources = corpus::sources("litmus").into_iter();
    sources
        .map(|(name, source)| (name, lower(&source).expect("the program compiles").remove(0)))
        .collect()
}

/// Returns an error message if the values differ.
pub(crate) fn check_equal<T: PartialEq + std::fmt::Debug>(
    what: &str,
    found: T,
    expected: T,
) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: found {found:?}, expected {expected:?}"))
}
