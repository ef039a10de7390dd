//! Corner cases, decided by hand.

use super::queries::{
    QueryKind, STATELESS, compare_under_sc, explicit_settings, run_query, run_query_for,
};
use crate::common::settings;
use fencepost_engines::stateless::{Schedules, count_executions};
use fencepost_engines::{
    Budget, Engine, Explicit, InconclusiveReason, Settings, Stateless, Unsupported,
};
use fencepost_ir::Problem;
use fencepost_search::{Cancel, Coverage, Limits, Progress, Stop};
use fencepost_testkit::problem;
use std::time::Duration;

/// Checks that both engines have this verdict for a program under SC, and that they have the same
/// outcomes.
#[track_caller]
fn check(source: &str, word: &str) {
    let problem = &problem(source);
    let expected =
        run_query(&Explicit, QueryKind::Verdict, (problem, "sc"), explicit_settings()).verdict;
    assert_eq!(expected.word(), word, "the explicit engine: {source}");
    let compared = compare_under_sc(problem, settings(1), explicit_settings());
    let compared = compared.unwrap_or_else(|error| panic!("{error}\n{source}"));
    // Outcomes after a violation may be incomplete.
    let outcomes = if word == "violated" { compared.outcomes } else { 1 };
    assert_eq!((compared.verdicts, compared.outcomes), (1, outcomes), "{source}");
}

#[test]
fn critical_sections_without_an_access_are_checked() {
    let other = "thread b { x = 1; critical { skip; } } property mutual_exclusion;";
    check(&format!("shared int x; thread a {{ critical {{ skip; }} }} {other}"), "violated");
    check(&format!("shared int x; thread a {{ critical {{ skip; }} x = 2; }} {other}"), "violated");
    check(
        &format!("shared int x; thread a {{ critical {{ fence; }} x = 2; }} {other}"),
        "violated",
    );
    let fenced = "thread b { fence; critical { r = x; } } property mutual_exclusion;";
    check(&format!("shared int x; thread a {{ critical {{ skip; }} }} {fenced}"), "violated");
    check(
        &format!("shared int x; thread a {{ fence; critical {{ q = x; }} }} {fenced}"),
        "violated",
    );
}

#[test]
fn a_jump_out_of_a_critical_section_leaves_it() {
    check(
        "shared int x; thread a { for (int i = 0; i < 2; i++) { critical { r = x; if (r == 0) break; } } x = 2; }
         thread b { while (x == 0) { } critical { skip; } } property mutual_exclusion;",
        "verified",
    );
    check(
        "shared int x; thread a { critical { r = x; if (r == 0) goto out; r = x; } out: x = 2; }
         thread b { while (x == 0) { } critical { skip; } } property mutual_exclusion;",
        "verified",
    );
}

#[test]
fn outcomes_after_a_violation_are_the_same() {
    check("shared int x; thread a { x = 1; x = 2; } invariant x != 1; observe x;", "violated");
    let sections = "shared int x; thread a { r = x; critical { r = x; } x = 2; }
        thread b { r = x; critical { r = x; } x = 3; } property mutual_exclusion; observe x, a.r, b.r;";
    check(sections, "violated");
    check("shared int x = 1; thread a { x = 2; } invariant x != 1; observe x;", "violated");
    // The fault does not occur in another order.
    let freed = "record N { int v; } pool N[1]; shared N n; shared int x; init { n = new N; }
        thread a { p = n; p.v = 1; x = 1; } thread b { q = n; free(q); } observe x;";
    check(freed, "violated");
    let reused = "record N { int v; } pool N[1]; shared N n; shared int x; init { n = new N; }
        thread a { p = n; p.v = 1; x = 1; } thread b { q = n; free(q); q = new N; } observe x, n.v;";
    check(&reused.replace(", n.v", ""), "violated");
    let exhausted = "record N { int v; } pool N[1]; shared int x; 
        thread a { p = new N; free(p); } thread b { q = new N; x = 1; free(q); } observe x;";
    check(exhausted, "violated");
    let twice = "record N { int v; } pool N[1]; shared N n; shared int x; init { n = new N; }
        thread a { p = n; free(p); p = new N; x = x + 1; } thread b { q = n; free(q); q = new N; x = x + 1; } observe x;";
    check(twice, "violated");
}

#[test]
fn a_failed_assertion_is_found_among_spin_loops() {
    check(
        "shared int x, y, z; thread a { while (z == 0 && y == 0) { } }
         thread b { do { r = y; q = z; } while (r == 1 || q == 1); z = 0; }
         thread c { loop { r = x; assert(r != 0); if (r == 1) break; } } observe x;",
        "violated",
    );
}

#[test]
fn empty_and_tiny_programs_are_decided() {
    check("shared int x; thread a { } observe x;", "verified");
    check("shared int x; thread a { } thread b { } thread c { } observe x;", "verified");
    check("shared int x; thread a { r = 1; assert(r == 1); } observe x, a.r;", "verified");
    check(
        "shared int x; thread a { r = 1; assert(r == 2); } thread b { x = 1; } observe x;",
        "violated",
    );
    check("shared int x; thread a { x = 1; x = 2; r = x; } observe a.r, x;", "verified");
    check(
        "shared int x; thread a { fence; drain x; skip; } property deadlock_free; observe x;",
        "verified",
    );
}

#[test]
fn choices_in_init_are_explored() {
    let chosen = "shared int x; init { x = choose(0..=2); } thread a { r = x; } observe x, a.r;";
    check(chosen, "verified");
    check(&format!("{chosen} final forall (x < 2);"), "violated");
    check(&format!("{chosen} final exists (x == 2);"), "verified");
    check(&format!("{chosen} final exists (x == 3);"), "violated");
    check(
        "shared int x; init { x = choose(0..=2); assert(x != 1); } thread a { x = 5; } observe x;",
        "violated",
    );
    check(
        "shared int x; init { x = choose(0..=2); assume(x != 1); } thread a { r = x; } observe a.r;",
        "verified",
    );
    check("shared int x; thread a { r = choose(0..=1); assert(r == 0); } observe x;", "violated");
}

#[test]
fn nothing_is_verified_if_no_run_starts() {
    let source = "shared int x; init { assume(x == 1); } thread a { assert(x == 1); } observe x;";
    let problem = &problem(source);
    let expected = InconclusiveReason::unsupported(Unsupported::NoInitialState);
    let engines: [&(dyn Engine + Sync); 2] = [&Explicit, &STATELESS];
    for engine in engines {
        let query = (problem, "sc");
        let verdict = run_query(engine, QueryKind::Verdict, query, explicit_settings()).verdict;
        assert_eq!(verdict.inconclusive_reason(), Some(&expected), "{}", engine.name());
    }
}

#[test]
fn programs_without_final_states_are_decided() {
    let stuck =
        "shared int x; thread a { assume(x == 1); } thread b { while (x == 0) { } } observe x;";
    check(stuck, "verified");
    // A thread blocked by `assume` discards the run, unless deadlock freedom is a property.
    check(&format!("{stuck} property deadlock_free;"), "violated");
    check("shared int x; thread b { while (x == 0) { } } observe x;", "violated");
    check(
        "shared int x; thread b { while (x == 0) { } } property may_hang; observe x;",
        "verified",
    );
    check(
        "shared int x; thread a { assume(x == 1); } property deadlock_free; observe x;",
        "violated",
    );
    check(
        "shared int x; thread a { atomic { assume(x == 1); } } thread b { x = 2; } property deadlock_free; observe x;",
        "violated",
    );
    check(
        "shared int x; thread a { atomic { assume(x == 2); } } thread b { x = 2; } property deadlock_free; observe x;",
        "verified",
    );
}

#[test]
fn programs_with_five_threads_are_decided() {
    let threads =
        (0..5).map(|t| format!("thread t{t} {{ r = fetch_add(x, 1); if (r == {t}) y = {t}; }} "));
    let source = format!("shared int x, y; {} observe x, y;", threads.collect::<String>());
    check(&source, "verified");
    check(&format!("{source} invariant x < 5 || y < 4;"), "violated");
}

/// Builds a program with one thread that stores this many times.
fn sequence_of_stores(stores: usize) -> Problem {
    problem(&format!(
        "shared int x; thread a {{ {} }} observe x;",
        "x = 1; x = 0; ".repeat(stores / 2)
    ))
}

#[test]
fn long_executions_reach_the_depth_limit() {
    for kind in [QueryKind::Verdict, QueryKind::Outcomes] {
        for name in ["sc", "tso", "pso"] {
            let answer =
                run_query(&STATELESS, kind, (&sequence_of_stores(1_900), name), settings(1));
            assert_eq!(answer.verdict.word(), "verified", "{name}");
            let answer =
                run_query(&STATELESS, kind, (&sequence_of_stores(3_000), name), settings(1));
            let expected = InconclusiveReason::Limit(Stop::Depth);
            assert_eq!(answer.verdict.inconclusive_reason(), Some(&expected), "{name}");
            assert!(!answer.outcomes_complete);
        }
    }
}

/// Builds a program of three threads that each store this many times to one location. Every
/// interleaving is a trace.
fn racy(stores: usize, more: &str) -> Problem {
    let threads =
        (0..3).map(|t| format!("thread t{t} {{ {} }} ", format!("x = {t}; ").repeat(stores)));
    problem(&format!("shared int x, y; {} {more} observe x;", threads.collect::<String>()))
}

#[test]
fn the_limit_on_executions_ends_the_exploration() {
    for stores in [6, 8] {
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let limits = Limits { states: 20_000, ..Limits::default() };
        let limited = Settings { limits, ..settings(2) };
        let budget = Budget { cancel: &cancel, progress: &progress };
        let done = std::sync::atomic::AtomicBool::new(false);
        let found = std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..100 {
                    std::thread::sleep(Duration::from_millis(50));
                    if done.load(std::sync::atomic::Ordering::Relaxed) {
                        return;
                    }
                }
                cancel.time_out();
            });
            let found =
                count_executions(&racy(stores, ""), Schedules::Traces, None, limited, budget);
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            found
        });
        assert_eq!(found.coverage, Coverage::Cut(Stop::States), "{found:?}");
    }
}

#[test]
fn long_explorations_miss_no_execution() {
    // Three threads update five locations, in any order at each of them: (3!)^5 traces.
    let updates: String = (0..5).map(|at| format!("fetch_add(x{at}, 1); ")).collect();
    let declarations = "shared int go, x0, x1, x2, x3, x4; thread main { atomic { go = 1; } }";
    for wait in ["", "atomic { s = go; assume(s != 0); } "] {
        let code = format!("{declarations} thread t(i in 0..3) {{ {wait}{updates} }}");
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let budget = Budget { cancel: &cancel, progress: &progress };
        let found = count_executions(&problem(&code), Schedules::Traces, None, settings(2), budget);
        assert_eq!((found.complete, found.coverage), (7_776, Coverage::Exhaustive), "{wait}");
    }
}

#[test]
fn parts_start_behind_borderline_events_without_a_run_that_is_not_sc() {
    // The load of z may overtake the store to y, but then the iteration fails and is no event.
    let updates: String = (0..5).map(|at| format!("fetch_add(x{at}, 1); ")).collect();
    let code = format!(
        "shared int y, z, go, x0, x1, x2, x3, x4;
         thread q {{ z = 1; fence; r = y; }} thread p {{ y = 1; while (z == 0) {{ }} go = 1; }}
         thread t(i in 0..3) {{ while (go == 0) {{ }} {updates} }}"
    );
    let problem = problem(&code);
    for preemptions in [None, Some(3)] {
        let engine = Stateless { preemptions };
        let (time_limit, case) = (Duration::from_secs(60), (&problem, "tso"));
        let answer = run_query_for(time_limit, &engine, QueryKind::Verdict, case, settings(2));
        let word = if preemptions.is_none() { "verified" } else { "inconclusive" };
        assert_eq!(answer.verdict.word(), word, "{preemptions:?}: {:?}", answer.verdict);
    }
}

#[test]
fn executions_after_a_violation_have_correct_outcomes() {
    // The thread `w` stops if it reads too early. The other threads continue.
    let more = "thread s { y = 1; } thread w { r = y; assert(r == 1); }";
    let wrong = racy(4, more);
    let expected = run_query(&Explicit, QueryKind::Outcomes, (&wrong, "sc"), explicit_settings());
    let time_limit = Duration::from_secs(10);
    for preemptions in [None, Some(2)] {
        let engine = Stateless { preemptions };
        let answer =
            run_query_for(time_limit, &engine, QueryKind::Outcomes, (&wrong, "sc"), settings(2));
        assert_eq!(answer.verdict.word(), "violated", "{preemptions:?}");
        assert!(!answer.outcomes_complete, "{:?}", answer.statistics);
        assert!(answer.outcomes.is_subset(&expected.outcomes), "{preemptions:?}");
    }
}

/// Builds a program of seven threads that wait for the first of two stores and then run `rest`.
fn after_the_first_store(rest: &str, property: &str) -> Problem {
    let block = format!("atomic {{ r = x; assume(r == 1); q = y; {rest} }}");
    let threads = (0..7).map(|t| format!("thread t{t} {{ {block} }} "));
    let threads = threads.collect::<String>();
    let first = "shared int x, y, z; thread a { x = 1; y = 1; }";
    problem(&format!("{first} {threads} {property} observe x;"))
}

#[test]
fn a_violation_that_needs_one_preemption_is_found_with_bound_one() {
    // The violation needs a preemption between the two stores. It occurs in a final state of many
    // executions, or in one step.
    let stored = after_the_first_store("if (q == 0) { z = 1; }", "final forall (z == 0);");
    let asserted = after_the_first_store("assert(q == 1);", "");
    for (problem, what) in [(stored, "stored"), (asserted, "asserted")] {
        for (most, word) in [(0, "inconclusive"), (1, "violated")] {
            let engine = Stateless { preemptions: Some(most) };
            let time_limit = Duration::from_secs(10);
            let answer = run_query_for(
                time_limit,
                &engine,
                QueryKind::Verdict,
                (&problem, "sc"),
                settings(2),
            );
            let verdict = &answer.verdict;
            assert_eq!(verdict.word(), word, "{what}, {most} preemptions: {verdict:?}");
        }
    }
}

#[test]
fn a_fault_of_records_in_another_order_is_found() {
    // The pool is exhausted only if the second `new` runs between the first `new` and the `free`.
    let source = "record N { int v; } pool N[1]; shared int x; thread a { p = new N; free(p); }
        thread b { q = new N; } observe x;";
    check(source, "violated");
    let source = "record N { int v; } pool N[1]; shared N n; shared int x; init { n = new N; }
        thread a { p = n; q = p.v; } thread b { p = n; free(p); p = new N; } observe x;";
    check(source, "violated");
}

#[test]
fn a_witness_of_weaker_models_only_is_not_an_sc_witness() {
    let source = "shared int x, y; thread a { x = 1; r = y; } thread b { y = 1; r = x; }
        final exists (a.r == 0 && b.r == 0); observe x;";
    let problem = &problem(source);
    for (name, word) in [("sc", "violated"), ("tso", "verified"), ("pso", "verified")] {
        let expected =
            run_query(&Explicit, QueryKind::Verdict, (problem, name), explicit_settings()).verdict;
        assert_eq!(expected.word(), word, "explicit, {name}");
        let found = run_query(&STATELESS, QueryKind::Verdict, (problem, name), settings(1)).verdict;
        assert!(found.word() == word || found.word() == "inconclusive", "{name}: {found:?}");
    }
}

#[test]
fn an_invariant_violated_by_reordered_stores_is_never_verified() {
    let source = "shared int x, y; thread a { x = 1; y = 1; } invariant y <= x; observe x;";
    let problem = &problem(source);
    for (name, word) in [("sc", "verified"), ("tso", "verified"), ("pso", "violated")] {
        let expected =
            run_query(&Explicit, QueryKind::Verdict, (problem, name), explicit_settings()).verdict;
        assert_eq!(expected.word(), word, "explicit, {name}");
        let found = run_query(&STATELESS, QueryKind::Verdict, (problem, name), settings(1)).verdict;
        assert!(found.word() == word || found.word() == "inconclusive", "{name}: {found:?}");
    }
}
