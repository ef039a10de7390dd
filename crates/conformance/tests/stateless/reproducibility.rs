//! The answer does not depend on the number of search threads or on interruptions with resumption.
//! The explorations are large enough to be split into parts.

use super::queries::{QueryKind, STATELESS, run_query_for};
use crate::common::{corpus, seeds, settings};
use fencepost_engines::InconclusiveReason;
use fencepost_engines::stateless::saved::{Move, SavedExploration};
use fencepost_engines::stateless::{ExecutionCounts, Schedules, count_executions};
use fencepost_engines::{
    Answer, Budget, Engine, ResumableRobust, Robust, RobustMethod, Settings, Stateless,
};
use fencepost_ir::Problem;
use fencepost_monitor::Model;
use fencepost_search::{Cancel, Coverage, Limits, Progress, Stop};
use fencepost_testkit::programs::many_executions;
use fencepost_testkit::{is_campaign, problem};
use std::fs;
use std::sync::Mutex;
use std::time::Duration;

/// Runs a query with a generous time limit.
fn run_query(
    engine: &(dyn Engine + Sync),
    kind: QueryKind,
    of: (&Problem, &str),
    settings: Settings,
) -> Answer {
    run_query_for(Duration::from_secs(60), engine, kind, of, settings)
}

fn paper(stem: &str) -> Problem {
    let path = corpus().join(format!("papers/{stem}.fp"));
    problem(&fs::read_to_string(path).expect("a corpus program"))
}

/// Builds a program of threads that each store this many times to one location. Every interleaving
/// is a trace.
fn racy(threads: usize, stores: usize, more: &str) -> Problem {
    let thread = |t| format!("thread t{t} {{ {} {more} }} ", "x = 1; ".repeat(stores));
    let threads: String = (0..threads).map(thread).collect();
    problem(&format!("shared int x; {threads} observe x;"))
}

fn count_runs(
    problem: &Problem,
    schedules: Schedules,
    watch: Option<Model>,
    threads: usize,
) -> ExecutionCounts {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    count_executions(problem, schedules, watch, settings(threads), budget)
}

#[test]
fn numbers_of_executions_match_the_formulas() {
    let known = [
        // 12! / (4! 4! 4!)
        (racy(3, 4, ""), 34_650),
        // 16! / (8! 8!)
        (racy(2, 8, ""), 12_870),
        // 8!
        (racy(8, 1, ""), 40_320),
        // 8! / (4! 4!) 2^8: the two choices commute with all other steps.
        (racy(2, 4, "r = choose(0..16);"), 70 * 256),
    ];
    for (problem, expected) in known {
        for threads in [1, 2, 3] {
            let found = count_runs(&problem, Schedules::Traces, None, threads);
            assert_eq!((found.complete, found.stuck), (expected, 0), "{threads} threads");
            assert_eq!((found.redundant, found.coverage), (0, Coverage::Exhaustive));
        }
    }
    // All stores race, so every interleaving is a trace.
    for threads in [1, 2] {
        let found = count_runs(&racy(3, 4, ""), Schedules::Preemptions(100), None, threads);
        assert_eq!((found.complete, found.coverage), (34_650, Coverage::Exhaustive));
    }
}

/// Threads 0 to n - 1 that exchange their number for the next one. If the first k succeed, thread k
/// found one of the k values before its own, and each later thread found one of k + 1 values.
#[test]
fn numbers_of_executions_with_cmpxchg_match_the_formulas() {
    let exchanges = |threads: usize, statement: &str| {
        let thread = |t| format!("thread t{t} {{ i = {t}; {statement} }} ");
        let threads: String = (0..threads).map(thread).collect();
        problem(&format!("shared int x; {threads} observe x;"))
    };
    let known = [
        (exchanges(4, "r = cmpxchg(x, i, i + 1);"), 4 + 6 + 3 + 1),
        (exchanges(5, "r = cmpxchg(x, i, i + 1);"), 8 + 18 + 12 + 4 + 1),
        // The first thread succeeds, and the others find its value.
        (exchanges(6, "r = cmpxchg(x, 0, i + 1);"), 6),
    ];
    for (problem, expected) in known {
        let found = count_runs(&problem, Schedules::Traces, None, 1);
        assert_eq!((found.complete, found.stuck, found.redundant), (expected, 0, 0));
    }
}

#[track_caller]
fn check_equal(one: &Answer, other: &Answer, what: &str) {
    assert_eq!(one.verdict, other.verdict, "{what}");
    assert_eq!(one.statistics, other.statistics, "{what}");
    assert_eq!(one.outcomes, other.outcomes, "{what}");
    assert_eq!(one.outcomes_complete, other.outcomes_complete, "{what}");
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let mut large = 0;
    let drawn =
        seeds(4).map(|seed| (format!("seed {seed}"), problem(&many_executions(seed).to_string())));
    let corpus =
        ["sober-bakery", "sober-dekker-fenced"].map(|stem| (stem.to_string(), paper(stem)));
    for (name, problem) in drawn.chain(corpus) {
        let limits = Limits { states: 20_000, ..Limits::default() };
        let of = |threads| Settings { limits, ..settings(threads) };
        let engines: [(&str, &(dyn Engine + Sync)); 4] = [
            ("sc", &STATELESS),
            ("sc", &Stateless { preemptions: Some(2) }),
            ("tso", &Robust::by(RobustMethod::Stateless)),
            ("pso", &Robust::by(RobustMethod::Stateless)),
        ];
        for (model, engine) in engines {
            for kind in [QueryKind::Verdict, QueryKind::Outcomes] {
                if kind == QueryKind::Outcomes && model != "sc" {
                    continue;
                }
                let one = run_query(engine, kind, (&problem, model), of(1));
                large += u64::from(one.statistics.states > 5_000);
                for threads in [2, 3] {
                    let other = run_query(engine, kind, (&problem, model), of(threads));
                    check_equal(&one, &other, &format!("{name} {model} {threads} threads"));
                }
            }
        }
    }
    println!("{large} large");
    assert!(large >= 6, "some programs have many executions: {large}");
}

/// Explores with a limit that grows by `step` executions, until there is an answer. Returns the
/// answer and the number of parts.
fn run_in_parts(problem: &Problem, model: &str, step: u64, threads: usize) -> (Answer, u64) {
    let resumed = ResumableRobust::default();
    let mut times = 0;
    loop {
        times += 1;
        let limits = Limits { states: step * times, ..Limits::default() };
        let settings = Settings { limits, ..settings(threads) };
        let answer = run_query(&resumed, QueryKind::Verdict, (problem, model), settings);
        let more = resumed.saved.lock().expect("the lock is not poisoned").is_some();
        let limit = InconclusiveReason::Limit(Stop::States);
        let stopped = answer.verdict.inconclusive_reason() == Some(&limit);
        assert_eq!(stopped, more, "the unexplored parts are saved: {:?}", answer.verdict);
        assert!(!resumed.rejected.load(std::sync::atomic::Ordering::Relaxed));
        if !more {
            return (answer, times);
        }
        assert!(times < 10_000, "the exploration terminates");
    }
}

#[test]
fn an_interrupted_and_resumed_exploration_has_the_same_answer_campaign() {
    let choice = if is_campaign() { "r = choose(0..=1);" } else { "" };
    let robust = "shared int x; thread a { BODY } thread b { BODY } thread c { BODY } observe x;"
        .replace("BODY", &format!("swap(x, 1); r = x; swap(x, r); {choice} swap(x, 2);"));
    let late = "shared int x, y; thread a { BODY y = 1; fence; r = z; } thread b { BODY z = 1; r = y; } thread c { BODY } shared int z; observe x;"
        .replace("BODY", "swap(x, 1); swap(x, 2); r = x;");
    let mut stops = 0;
    for (name, problem) in [
        ("robust", problem(&robust)),
        ("not robust", problem(&late)),
        ("dekker", paper("sober-dekker-fenced")),
    ] {
        for model in ["tso", "pso"] {
            let limits = Limits { states: 2_000_000, ..Limits::default() };
            let settings = Settings { limits, ..settings(1) };
            let once = run_query(
                &ResumableRobust::default(),
                QueryKind::Verdict,
                (&problem, model),
                settings,
            );
            let threads = if model == "tso" { [1, 2] } else { [2, 1] };
            for threads in &threads[..if is_campaign() { 2 } else { 1 }] {
                let (steps, times) = run_in_parts(&problem, model, 2_000, *threads);
                assert_eq!(steps.verdict, once.verdict, "{name} {model}");
                assert_eq!(steps.statistics, once.statistics, "{name} {model}");
                stops += times - 1;
            }
        }
    }
    println!("{stops} stops");
    assert!(stops >= 4, "some explorations are interrupted: {stops}");
}

#[test]
fn saved_parts_of_another_program_are_not_used_campaign() {
    let stores = if is_campaign() { 4 } else { 3 };
    let one = racy(3, stores, "");
    let other = racy(3, stores, "r = x;");
    let resumed = ResumableRobust::default();
    let few = Settings { limits: Limits { states: 500, ..Limits::default() }, ..settings(1) };
    run_query(&resumed, QueryKind::Verdict, (&one, "tso"), few);
    let saved = resumed
        .saved
        .lock()
        .expect("the lock is not poisoned")
        .clone()
        .expect("unexplored parts are saved");
    assert!(saved.parts() > 0);
    for (problem, model, foreign) in
        [(&one, "tso", false), (&other, "tso", true), (&one, "pso", true)]
    {
        let fresh = run_query(
            &ResumableRobust::default(),
            QueryKind::Verdict,
            (problem, model),
            settings(1),
        );
        let resumed = ResumableRobust {
            saved: Mutex::new(Some(saved.clone())),
            ..ResumableRobust::default()
        };
        let answer = run_query(&resumed, QueryKind::Verdict, (problem, model), settings(1));
        assert_eq!(answer.verdict, fresh.verdict);
        assert_eq!(answer.statistics, fresh.statistics);
        assert_eq!(resumed.rejected.load(std::sync::atomic::Ordering::Relaxed), foreign);
    }
    // A saved file may be corrupted: it names moves that do not exist.
    let mut corrupted = vec![saved.clone(); 4];
    let last_move = |saved: &mut SavedExploration, thread: usize, choices: Vec<u32>| {
        let last = saved.traces[0].nodes.last_mut().expect("a tree has nodes");
        let (_, before) = last.before.as_mut().expect("the last node is not the root");
        before.mv = Move { thread, choices };
    };
    last_move(&mut corrupted[0], 99, Vec::new());
    last_move(&mut corrupted[1], 0, vec![3]);
    corrupted[2].traces[0].start = vec![7];
    corrupted[3].traces[0].nodes.clear();
    for saved in corrupted {
        let resumed =
            ResumableRobust { saved: Mutex::new(Some(saved)), ..ResumableRobust::default() };
        let answer = run_query(&resumed, QueryKind::Verdict, (&one, "tso"), settings(1));
        assert_eq!(answer.verdict.word(), "verified");
    }
}

#[test]
fn programs_that_free_records_get_the_same_answer_when_resumed() {
    let source = "record N { int v; } pool N[2]; shared N n; shared int x;
        thread a { p = new N; n = p; free(p); } thread b { x = 1; } observe x;";
    let problem = &problem(source);
    let once = run_query(&Robust::default(), QueryKind::Verdict, (problem, "tso"), settings(1));
    let resumed =
        run_query(&ResumableRobust::default(), QueryKind::Verdict, (problem, "tso"), settings(1));
    assert_eq!(once.verdict, resumed.verdict);
}
