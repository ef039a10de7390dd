//! Every engine respects its budget: it ends on programs with silent loops, and it ends when it is
//! cancelled, before its search, during it or after it. A cancelled engine is inconclusive, or its
//! answer is correct.

use crate::common::{check, lower, model, report_comparisons, seeds, settings};
use fencepost_engines::{
    Abstraction, Answer, Auto, Automata, Budget, Engine, Explicit, InconclusiveReason, Robust,
    RobustMethod, Settings, Stateless, Task, Translate, Verdict,
};
use fencepost_ir::Problem;
use fencepost_models::coherence::Domain;
use fencepost_search::{Cancel, Limits, Progress, Stop};
use fencepost_testkit::programs::silent_loops;
use fencepost_translate::contexts::Bound;
use std::sync::mpsc::channel;
use std::time::Duration;

/// The limit on states or executions. Choices in a silent loop have too many executions.
const MAX_STATES: u64 = 3_000;

/// After this time, an engine that was cancelled counts as one that never ends.
const WATCHDOG: Duration = Duration::from_secs(120);

fn engines() -> Vec<(&'static str, Box<dyn Engine + Send + Sync>)> {
    let robust = |method| Box::new(Robust::by(method));
    vec![
        ("explicit", Box::new(Explicit)),
        ("abstraction", Box::new(Abstraction { domain: Domain::Full, k: 1 })),
        ("automata", Box::new(Automata::DEFAULT)),
        ("auto", Box::new(Auto)),
        ("stateless", Box::new(Stateless::default())),
        ("preemptions", Box::new(Stateless { preemptions: Some(1) })),
        ("translate", Box::new(Translate { bound: Bound::Switches(1) })),
        ("robust", robust(RobustMethod::Auto)),
        ("robust traces", robust(RobustMethod::Stateless)),
        ("attack", robust(RobustMethod::Attack)),
    ]
}

fn limited() -> Settings {
    Settings { limits: Limits { states: MAX_STATES, ..Limits::default() }, ..settings(1) }
}

fn problem(source: &str) -> Problem {
    let problems = lower(source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    problems.into_iter().next().expect("the source is one program")
}

fn run(engine: &dyn Engine, problem: &Problem, name: &str, cancel: &Cancel) -> Answer {
    let budget = Budget { cancel, progress: &Progress::default() };
    engine.run(Task { problem, model: &model(name) }, limited(), budget)
}

/// The check for hangs runs the thread through the loop once, not once for each state.
#[test]
fn a_long_loop_is_checked_for_hangs_in_linear_time() {
    let problem = problem(
        "shared int(0..2) x, y;
         thread p { for (int(0..=6000) k = 0; k < 6000; k++) { _r = x; } y = 1; }
         thread q { x = 1; }",
    );
    let answer = Automata::DEFAULT.run(
        Task { problem: &problem, model: &model("tso") },
        settings(1),
        Budget { cancel: &Cancel::default(), progress: &Progress::default() },
    );
    assert!(answer.verdict.is_verified(), "{:?}", answer.verdict);
}

#[test]
fn random_silent_loops_end_without_a_time_limit_and_agree_with_the_explicit_engine() {
    let mut compared = 0;
    for seed in seeds(60) {
        let source = silent_loops(seed, false);
        let problem = problem(&source);
        for name in ["sc", "tso", "pso"] {
            let exact = check(&problem, &model(name), settings(1)).verdict;
            for (engine_name, engine) in engines() {
                let verdict = run(&*engine, &problem, name, &Cancel::default()).verdict;
                let about = format!("{engine_name}, {name}, seed {seed}\n{source}");
                match &verdict {
                    Verdict::Inconclusive(_) => continue,
                    Verdict::Verified(_) => assert!(exact.is_verified(), "{about}"),
                    // A program that is not robust may keep its properties.
                    Verdict::Violated(_) if engine_name.contains("robust") => {}
                    Verdict::Violated(_) if engine_name == "attack" => {}
                    Verdict::Violated(_) => assert!(exact.evidence().is_some(), "{about}"),
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 0, "some engine concludes");
    report_comparisons("verdicts on silent loops", compared);
}

#[test]
fn a_thread_in_a_silent_loop_keeps_its_earlier_effects() {
    // The stores before the loops are visible. The loops hang, which is allowed here.
    let source = |condition: &str| {
        format!(
            "shared int x, y; property may_hang;
             thread p {{ x = 1; int r = 0; while (true) r = 1 - r; }}
             thread q {{ int a = x; y = a; loop {{ fence; }} }}
             thread s {{ int b = y; assert({condition}); }}"
        )
    };
    for (condition, violated) in [("b == 0", true), ("b < 2", false)] {
        let problem = problem(&source(condition));
        for name in ["sc", "tso", "pso"] {
            for (engine_name, engine) in engines() {
                let verdict = run(&*engine, &problem, name, &Cancel::default()).verdict;
                if verdict.inconclusive().is_none() {
                    let found = verdict.evidence().is_some();
                    assert_eq!(found, violated, "{engine_name}, {name}, {condition}");
                } else {
                    // The other engines decide this program.
                    assert!(["translate", "preemptions", "attack"].contains(&engine_name));
                }
            }
        }
    }
}

#[test]
fn random_programs_with_endless_counters_end_when_they_are_cancelled() {
    let mut ended = 0;
    for seed in seeds(12) {
        let source = silent_loops(seed, true);
        let problem = problem(&source);
        for name in ["sc", "tso", "pso"] {
            for (engine_name, engine) in engines() {
                for started in [false, true] {
                    let about = format!("{engine_name}, {name}, seed {seed}\n{source}");
                    let verdict = cancelled(engine.as_ref(), &problem, name, started)
                        .unwrap_or_else(|| panic!("does not end: {about}"));
                    if let Some(InconclusiveReason::Limit(stop)) = verdict.inconclusive_reason() {
                        let known = [Stop::Interrupted, Stop::States, Stop::Depth];
                        assert!(known.contains(stop), "{stop:?}: {about}");
                    }
                    let is_cut = verdict.inconclusive().is_some();
                    // `init` and the first statements may violate a property at once.
                    assert!(started || is_cut || verdict.evidence().is_some(), "{about}");
                    ended += 1;
                }
            }
        }
    }
    report_comparisons("cancelled searches", ended);
}

/// Runs an engine that is cancelled before or after it starts. Returns `None` if the engine does
/// not end.
fn cancelled(
    engine: &(dyn Engine + Send + Sync),
    problem: &Problem,
    name: &str,
    started: bool,
) -> Option<Verdict> {
    let cancel = Cancel::default();
    let (done, verdict) = channel();
    std::thread::scope(|scope| {
        let cancelled = cancel.clone();
        if !started {
            cancel.interrupt();
        }
        scope.spawn(move || done.send(run(engine, problem, name, &cancelled).verdict));
        let first = verdict.recv_timeout(Duration::from_millis(5));
        cancel.interrupt();
        match first {
            Ok(verdict) => Some(verdict),
            Err(_) => match verdict.recv_timeout(WATCHDOG) {
                Ok(verdict) => Some(verdict),
                Err(_) => {
                    eprintln!("an engine ignores its cancellation");
                    std::process::exit(1)
                }
            },
        }
    })
}
