//! The search up to the size of numbers (`engines/src/counters.rs`) compared with the exact search, on
//! random programs whose numbers grow. A program with a violation is never verified, and a finite
//! program without a violation is never violated. With numbers of 8 bits, which wrap soon, the exact
//! search is complete for many programs.

use crate::common::{check, model, report_comparisons, settings};
use fencepost_engines::counters::decide_above;
use fencepost_engines::{Answer, Auto, Budget, Decider, Engine, Settings, Task, Verdict};
use fencepost_ir::Problem;
use fencepost_models::ModelSpec;
use fencepost_search::{Cancel, Limits, Progress};
use fencepost_testkit::{Random, corpus, problem};
use std::collections::BTreeMap;

/// The number of random programs of each type.
const PROGRAMS: u64 = 150;
/// The bound on pending stores.
const BOUND: u32 = 2;
/// The states of each search.
const STATES: u64 = 30_000;

/// A random program of two threads that loop, with numbers of this type.
fn random_program(random: &mut Random, ty: &str) -> String {
    let is_int = ty == "int";
    let mut text = format!("shared {ty} x, y;\nshared int(0..4) data[2];\n");
    for thread in ["p", "q"] {
        text.push_str(&format!("thread {thread} {{\n  {ty} r; {ty} s; int(0..4) d;\n  loop {{\n"));
        for _ in 0..random.within(2, 6) {
            let statement = random_statement(random, is_int);
            let condition = random_condition(random, is_int);
            match random.below(6) {
                0 => text.push_str(&format!("    if ({condition}) {{ {statement} }}\n")),
                1 => text.push_str(&format!("    {statement}\n    assert({condition});\n")),
                _ => text.push_str(&format!("    {statement}\n")),
            }
        }
        if random.percent(80) {
            text.push_str("    fence;\n");
        }
        text.push_str("  }\n}\n");
    }
    text
}

fn random_statement(random: &mut Random, is_int: bool) -> String {
    let (loc, reg) = (random.pick(&["x", "y"]), random.pick(&["r", "s"]));
    let other = random.pick(&["r", "s"]);
    let amount = random.within(1, 2);
    match random.below(if is_int { 16 } else { 13 }) {
        0 | 1 => format!("{reg} = {loc};"),
        2 => format!("{loc} = {reg};"),
        3 | 4 => format!("{loc} = {reg} + {amount};"),
        5 => format!("{reg} = fetch_add({loc}, {amount});"),
        6 => format!("cas({loc}, {reg}, {other} + 1);"),
        7 => format!("{reg} = swap({loc}, {other});"),
        8 => format!("{reg} = {other} + {amount};"),
        9 => format!("atomic {{ {reg} = {loc}; {loc} = {reg} + 1; }}"),
        10 => format!("d = data[{reg} % 2];"),
        11 => format!("data[{reg} % 2] = {};", random.below(3)),
        12 => format!("do {{ {reg} = {loc}; }} while ({reg} != {other});"),
        13 => format!("{loc} = {reg} - 1;"),
        14 => format!("{loc} = {};", random.below(3)),
        _ => format!("{loc} = {reg} * 2;"),
    }
}

fn random_condition(random: &mut Random, is_int: bool) -> String {
    let amount = random.below(4);
    match random.below(if is_int { 9 } else { 4 }) {
        0 => "r == s".into(),
        1 => format!("r != s + {amount}"),
        2 => "r == s || d == 1".into(),
        3 => "r % 2 == 0 || d == 0".into(),
        4 => "r <= s".into(),
        5 => format!("r < s + {amount}"),
        6 => format!("r < {amount}"),
        7 => format!("r - s < {amount}"),
        _ => format!("s != {amount}"),
    }
}

fn decide(problem: &Problem, model: &ModelSpec) -> Option<Answer> {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let limits = Limits { states: STATES, ..Limits::default() };
    let settings = Settings { limits, ..settings(1) };
    // With this span, every variable is a candidate.
    decide_above(Task { problem, model }, settings, budget, BOUND, 2)
}

/// What the comparisons of a type have found.
#[derive(Default)]
struct Found {
    verified: u64,
    violated: u64,
}

fn compare(ty: &str) -> Found {
    let mut found = Found::default();
    // Some programs with larger seeds take minutes.
    for seed in 0..PROGRAMS {
        let text = random_program(&mut Random::new(seed), ty);
        let problem = problem(&text);
        for name in ["sc", "tso", "pso"] {
            let model = model(name);
            let Some(answer) = decide(&problem, &model) else { continue };
            let limits = Limits { states: STATES, ..Limits::default() };
            let settings =
                Settings { limits, max_buffer: Some(BOUND), shortest: false, ..settings(1) };
            let exact = check(&problem, &model, settings);
            match &answer.verdict {
                Verdict::Verified(_) => {
                    assert!(exact.verdict.evidence().is_none(), "{name}, seed {seed}:\n{text}");
                    found.verified += 1;
                }
                Verdict::Violated(_) => {
                    assert!(!exact.verdict.is_verified(), "{name}, seed {seed}:\n{text}");
                    found.violated += 1;
                }
                Verdict::Inconclusive(_) => {}
            }
        }
    }
    report_comparisons("programs with growing numbers", found.verified + found.violated);
    found
}

#[test]
fn random_programs_with_numbers_that_wrap_get_true_verdicts() {
    let found = compare("u8");
    assert!(found.verified > 20 && found.violated > 20, "{} {}", found.verified, found.violated);
}

#[test]
fn random_programs_with_ordered_numbers_get_true_verdicts() {
    let found = compare("int");
    assert!(found.verified > 20 && found.violated > 20, "{} {}", found.verified, found.violated);
}

/// Returns the answer of the portfolio.
fn auto(text: &str, name: &str) -> Answer {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let problem = problem(text);
    Auto.run(Task { problem: &problem, model: &model(name) }, settings(1), budget)
}

const TICKET_LOCK: &str = "shared u32 next, owner;
thread p(i in 0..2) {
  loop {
    my = fetch_add(next, 1);
    while (owner != my) skip;
    critical { skip; }
    fence store_store;
    owner = my + 1;
  }
}
property mutual_exclusion;";

#[test]
fn a_ticket_lock_is_verified_for_numbers_of_any_size() {
    for (ty, covers_overflow) in [("u32", true), ("u64", true), ("i32", true), ("int", false)] {
        let text = TICKET_LOCK.replace("u32", ty);
        for name in ["sc", "tso", "pso"] {
            let answer = auto(&text, name);
            assert!(answer.verdict.is_verified(), "{ty} under {name}: {:?}", answer.verdict);
            assert_eq!(answer.decider, Decider::Counters { covers_overflow }, "{ty} under {name}");
        }
    }
}

#[test]
fn a_wrong_ticket_lock_is_violated() {
    // Serves the next two tickets, so three threads are needed.
    let twice = TICKET_LOCK.replace("my + 1;", "my + 2; fence; owner = my + 1;");
    let twice = twice.replace("0..2", "0..3");
    // Reads and writes the counter in two steps, so two threads can draw one ticket.
    let drawn = "my = next; next = my + 1;";
    let torn = TICKET_LOCK.replace("my = fetch_add(next, 1);", drawn);
    for text in [twice, torn] {
        for name in ["sc", "tso", "pso"] {
            assert!(auto(&text, name).verdict.evidence().is_some(), "{name}:\n{text}");
        }
    }
}

#[test]
fn a_wrapping_number_that_is_ordered_is_not_verified() {
    // After 2^32 tickets, `t < n` is false.
    let text = "shared u32 x;
thread p { loop { t = fetch_add(x, 1); n = x; assert(t < n); } }
thread q { loop { skip; } }";
    let problem = problem(text);
    assert!(decide(&problem, &model("sc")).is_none());
}

/// The difference of `r` and `b` is cut, and then it shrinks step by step. If a cut difference stood for
/// itself only, ten steps would always reach 0.
#[test]
fn a_large_difference_stays_large_while_it_shrinks() {
    let text = "shared int a, b;
thread p { loop { a = a + 1; } }
thread q {
  int(0..=10) n;
  r = a;
  while (n < 10) { b = b + 1; n = n + 1; }
  s = b;
  assert(s >= r);
}";
    let answer = decide(&problem(text), &model("sc"));
    assert!(!answer.is_some_and(|answer| answer.verdict.is_verified()));
    let few = decide(&problem(&text.replace("s >= r", "s >= 0")), &model("sc"));
    assert!(few.is_some_and(|answer| answer.verdict.is_verified()), "the search applies");
}

#[test]
fn a_number_that_is_multiplied_is_not_handled() {
    let text = "shared int x, y;
thread p { loop { r = x; x = r + 1; y = r * 2; } }
thread q { loop { s = y; assert(s != 40); } }";
    assert!(decide(&problem(text), &model("sc")).is_none());
}

#[test]
fn programs_with_growing_numbers_have_their_expected_verdicts() {
    let text = std::fs::read_to_string(corpus::folder().join("counters/expected.toml"));
    let expected: BTreeMap<String, BTreeMap<String, String>> =
        toml::from_str(&text.expect("the file exists")).expect("well-formed");
    let programs = corpus::sources("counters");
    assert_eq!(programs.len(), expected.len(), "each program has an expectation");
    for (name, source) in programs {
        let name = name.trim_end_matches(".fp");
        for (model, verdict) in &expected[name] {
            let answer = auto(&source, model);
            assert_eq!(answer.verdict.word(), verdict, "{name} under {model}");
        }
    }
}
