//! The same answer whoever looks, however often, and however often one stops and goes on: explorations large
//! enough to be cut into parts.

use super::ask::{Question, STATELESS, ask_for};
use crate::common::{corpus, seeds, settings};
use fencepost_engines::InconclusiveReason;
use fencepost_engines::stateless::{Census, Schedules, census};
use fencepost_engines::{Answer, Budget, Engine, Resumed, Robust, RobustBy, Settings, Stateless};
use fencepost_ir::Problem;
use fencepost_monitor::Model;
use fencepost_search::{Cancel, Coverage, Limits, Progress, Stop};
use fencepost_testkit::programs::many_runs;
use fencepost_testkit::{is_campaign, problem};
use std::fs;
use std::sync::Mutex;
use std::time::Duration;

/// Asks an engine that is given all the time it needs.
fn ask(
    engine: &(dyn Engine + Sync),
    question: Question,
    of: (&Problem, &str),
    settings: Settings,
) -> Answer {
    ask_for(Duration::from_secs(60), engine, question, of, settings)
}

fn paper(stem: &str) -> Problem {
    let path = corpus().join(format!("papers/{stem}.fp"));
    problem(&fs::read_to_string(path).expect("a corpus program"))
}

/// So many threads with so many stores each to one location: every interleaving is a trace.
fn racy(threads: usize, stores: usize, more: &str) -> Problem {
    let thread = |t| format!("thread t{t} {{ {} {more} }} ", "x = 1; ".repeat(stores));
    let threads: String = (0..threads).map(thread).collect();
    problem(&format!("shared int x; {threads} observe x;"))
}

fn count(problem: &Problem, schedules: Schedules, watch: Option<Model>, threads: usize) -> Census {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    census(problem, schedules, watch, settings(threads), budget)
}

#[test]
fn counts_that_are_known() {
    let known = [
        // 12! / (4! 4! 4!)
        (racy(3, 4, ""), 34_650),
        // 16! / (8! 8!)
        (racy(2, 8, ""), 12_870),
        // 8!
        (racy(8, 1, ""), 40_320),
        // 8! / (4! 4!) 2^8: the two choices commute with everything.
        (racy(2, 4, "r = choose(0..16);"), 70 * 256),
    ];
    for (problem, expected) in known {
        for threads in [1, 2, 3] {
            let found = count(&problem, Schedules::Traces, None, threads);
            assert_eq!((found.complete, found.stuck), (expected, 0), "{threads} threads");
            assert_eq!((found.redundant, found.coverage), (0, Coverage::Exhaustive));
        }
    }
    // All stores race, so runs with all preemptions are traces.
    for threads in [1, 2] {
        let found = count(&racy(3, 4, ""), Schedules::Preemptions(100), None, threads);
        assert_eq!((found.complete, found.coverage), (34_650, Coverage::Exhaustive));
    }
}

#[track_caller]
fn same(one: &Answer, other: &Answer, what: &str) {
    assert_eq!(one.verdict, other.verdict, "{what}");
    assert_eq!(one.statistics, other.statistics, "{what}");
    assert_eq!(one.outcomes, other.outcomes, "{what}");
    assert_eq!(one.outcomes_complete, other.outcomes_complete, "{what}");
}

#[test]
fn the_number_of_threads_does_not_show() {
    let mut large = 0;
    let drawn =
        seeds(4).map(|seed| (format!("seed {seed}"), problem(&many_runs(seed).to_string())));
    let corpus =
        ["sober-bakery", "sober-dekker-fenced"].map(|stem| (stem.to_string(), paper(stem)));
    for (name, problem) in drawn.chain(corpus) {
        let limits = Limits { states: 20_000, ..Limits::default() };
        let of = |threads| Settings { limits, ..settings(threads) };
        let engines: [(&str, &(dyn Engine + Sync)); 4] = [
            ("sc", &STATELESS),
            ("sc", &Stateless { preemptions: Some(2) }),
            ("tso", &Robust { by: RobustBy::Stateless }),
            ("pso", &Robust { by: RobustBy::Stateless }),
        ];
        for (model, engine) in engines {
            for question in [Question::Verdict, Question::Outcomes] {
                if question == Question::Outcomes && model != "sc" {
                    continue;
                }
                let one = ask(engine, question, (&problem, model), of(1));
                large += u64::from(one.statistics.states > 5_000);
                for threads in [2, 3] {
                    let other = ask(engine, question, (&problem, model), of(threads));
                    same(&one, &other, &format!("{name} {model} {threads} threads"));
                }
            }
        }
    }
    println!("{large} large");
    assert!(large >= 6, "some have many runs: {large}");
}

/// Explores with limits that grow by so many runs, as often as it takes; how often that was.
fn in_steps(problem: &Problem, model: &str, step: u64, threads: usize) -> (Answer, u64) {
    let resumed = Resumed::default();
    let mut times = 0;
    loop {
        times += 1;
        let limits = Limits { states: step * times, ..Limits::default() };
        let settings = Settings { limits, ..settings(threads) };
        let answer = ask(&resumed, Question::Verdict, (problem, model), settings);
        let more = resumed.saved.lock().expect("nobody panics").is_some();
        let limit = InconclusiveReason::Limit(Stop::States);
        let stopped = answer.verdict.inconclusive_reason() == Some(&limit);
        assert_eq!(stopped, more, "what is left is kept: {:?}", answer.verdict);
        assert!(!resumed.foreign.load(std::sync::atomic::Ordering::Relaxed));
        if !more {
            return (answer, times);
        }
        assert!(times < 10_000, "it ends");
    }
}

#[test]
fn to_stop_and_go_on_campaign() {
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
            let once = ask(&Resumed::default(), Question::Verdict, (&problem, model), settings);
            let threads = if model == "tso" { [1, 2] } else { [2, 1] };
            for threads in &threads[..if is_campaign() { 2 } else { 1 }] {
                let (steps, times) = in_steps(&problem, model, 2_000, *threads);
                assert_eq!(steps.verdict, once.verdict, "{name} {model}");
                assert_eq!(steps.statistics, once.statistics, "{name} {model}");
                stops += times - 1;
            }
        }
    }
    println!("{stops} stops");
    assert!(stops >= 4, "some are stopped: {stops}");
}

#[test]
fn what_is_of_another_program_is_not_used_campaign() {
    let stores = if is_campaign() { 4 } else { 3 };
    let one = racy(3, stores, "");
    let other = racy(3, stores, "r = x;");
    let resumed = Resumed::default();
    let few = Settings { limits: Limits { states: 500, ..Limits::default() }, ..settings(1) };
    ask(&resumed, Question::Verdict, (&one, "tso"), few);
    let saved = resumed.saved.lock().expect("nobody panics").clone().expect("there is more");
    assert!(!saved.parts.is_empty());
    for (problem, model, foreign) in
        [(&one, "tso", false), (&other, "tso", true), (&one, "pso", true)]
    {
        let fresh = ask(&Resumed::default(), Question::Verdict, (problem, model), settings(1));
        let resumed = Resumed { saved: Mutex::new(Some(saved.clone())), ..Resumed::default() };
        let answer = ask(&resumed, Question::Verdict, (problem, model), settings(1));
        assert_eq!(answer.verdict, fresh.verdict);
        assert_eq!(answer.statistics, fresh.statistics);
        assert_eq!(resumed.foreign.load(std::sync::atomic::Ordering::Relaxed), foreign);
    }
    // What was written down may have been changed: it names moves that there are none of.
    let mut strange = vec![saved.clone(); 4];
    strange[0].parts[0].moves = vec![(99, Vec::new())];
    strange[1].parts[0].moves = vec![(0, Vec::new()); 5];
    strange[2].parts[0].init = vec![7];
    strange[3].parts[0].moves = vec![(0, vec![3])];
    for saved in strange {
        let resumed = Resumed { saved: Mutex::new(Some(saved)), ..Resumed::default() };
        let answer = ask(&resumed, Question::Verdict, (&one, "tso"), settings(1));
        assert_eq!(answer.verdict.word(), "verified");
    }
}

#[test]
fn programs_that_free_are_not_judged() {
    let source = "record N { int v; } pool N[2]; shared N n; shared int x;
        thread a { p = new N; n = p; free(p); } thread b { x = 1; } observe x;";
    let problem = &problem(source);
    let once = ask(&Robust::default(), Question::Verdict, (problem, "tso"), settings(1));
    let resumed = ask(&Resumed::default(), Question::Verdict, (problem, "tso"), settings(1));
    assert_eq!(once.verdict, resumed.verdict);
}
