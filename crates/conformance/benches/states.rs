//! Benchmark of the explicit engine: states per second with one and two threads, bytes per state,
//! and the growth of time from N to 10 N states. It prints numbers and makes no checks.
//!
//! Every time is the best of three. The first line of output is the speedup of two threads on pure
//! arithmetic. It is an upper bound for the speedup of a search on this machine.
//!
//! Usage: `cargo xtask bench [PROGRAM]`

use fencepost_engines::{Answer, Budget, Engine, Explicit, Settings, Task};
use fencepost_ir::{Diagnostics, Problem};
use fencepost_models::{ModelSpec, Reductions};
use fencepost_search::{Cancel, Limits, Progress};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

/// The programs, with the number of threads if it differs from the file, and a bound on pending
/// stores that gives enough states.
const PROGRAMS: [(&str, Option<u32>, u32); 7] = [
    ("peterson-filter3", None, 4),
    ("peterson-filter3", Some(4), 4),
    ("bakery3", None, 4),
    ("bakery3", Some(4), 4),
    ("szymanski3", None, 4),
    ("peterson0", None, 24),
    ("dekker0", None, 24),
];

fn main() {
    println!("two threads of pure arithmetic: {:.2} times one", arithmetic());
    println!(
        "{:<21} {:<6} {:<4} {:>10} {:>10} {:>9} {:>9} {:>6} {:>8} {:>7}",
        "program",
        "model",
        "por",
        "states",
        "transit.",
        "1 thr/s",
        "2 thr/s",
        "ratio",
        "B/state",
        "10N/N"
    );
    // Cargo passes `--bench`. Other arguments are names of programs.
    let selected: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    for (name, threads, bound) in PROGRAMS {
        if !selected.is_empty() && !selected.iter().any(|selected| selected == name) {
            continue;
        }
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../corpus/mutex/{name}.fp"));
        let mut source = std::fs::read_to_string(&file).expect("a corpus program");
        let mut name = name.to_owned();
        if let Some(threads) = threads {
            source = source.replace("const N = 3;", &format!("const N = {threads};"));
            name = format!("{name}, N={threads}");
        }
        let frontend = fencepost_frontends::by_extension("fp").expect("a front end exists for .fp");
        let problems =
            frontend.lower(&source, &mut Diagnostics::new()).expect("the program compiles");
        for model in ["tso", "pso"] {
            for partial_order in [true, false] {
                row(&name, &problems[0], model, bound, partial_order);
            }
        }
    }
}

/// Returns the speedup of two threads over one on fixed work.
fn arithmetic() -> f64 {
    let work = |rounds: u64| {
        let scramble = |x: u64, i: u64| x.wrapping_mul(6_364_136_223_846_793_005) ^ (x >> 13) ^ i;
        std::hint::black_box((0..rounds).fold(1, scramble));
    };
    const ROUNDS: u64 = 100_000_000;
    let one = best(|| work(ROUNDS)).1;
    let two = best(|| {
        std::thread::scope(|scope| {
            scope.spawn(|| work(ROUNDS / 2));
            scope.spawn(|| work(ROUNDS / 2));
        });
    });
    one / two.1
}

/// Returns the result and the shortest time of three runs, in seconds.
fn best<T>(mut run: impl FnMut() -> T) -> (T, f64) {
    let mut timed = || {
        let start = Instant::now();
        let result = run();
        (result, start.elapsed().as_secs_f64())
    };
    let runs = [timed(), timed(), timed()];
    runs.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("three runs")
}

fn row(name: &str, problem: &Problem, model: &str, bound: u32, partial_order: bool) {
    let spec = ModelSpec::by_name(model).expect("a built-in model");
    let run = |threads: usize, states: u64| -> (Answer, f64) {
        let settings = Settings {
            limits: Limits { states, ..Limits::default() },
            threads: NonZeroUsize::new(threads).expect("at least one"),
            reductions: Reductions { partial_order, ..Reductions::ALL },
            fixed_buffer: Some(bound),
            ..Settings::default()
        };
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let budget = Budget { cancel: &cancel, progress: &progress };
        // `outcomes` does not stop at a violation, so the whole state space is searched.
        best(|| Explicit.outcomes(Task { problem, model: &spec }, settings, budget))
    };
    const MAX_STATES: u64 = 3_000_000;
    let (one, seconds_one) = run(1, MAX_STATES);
    let (_, seconds_two) = run(2, MAX_STATES);
    let states = one.statistics.states;
    let (tenth, seconds_tenth) = run(1, states / 10);
    let growth = (seconds_one / states as f64) / (seconds_tenth / tenth.statistics.states as f64);
    println!(
        "{name:<21} {model:<6} {:<4} {states:>10} {:>10} {:>8.2}M {:>8.2}M {:>6.2} {:>8.1} {:>7.1}",
        if partial_order { "on" } else { "off" },
        one.statistics.transitions,
        states as f64 / seconds_one / 1e6,
        states as f64 / seconds_two / 1e6,
        seconds_one / seconds_two,
        one.statistics.bytes as f64 / states as f64,
        10.0 * growth,
    );
}
