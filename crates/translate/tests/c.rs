//! Tests of the C export: the programs compile without warnings, and the ones that are run behave
//! as expected.

use crate::common::{corpus, outcomes, outcomes_of};
use fencepost_engines::Stateless;
use fencepost_ir::{Problem, Span, StoreBuffers};
use fencepost_testkit::{problem, tools};
use fencepost_translate::Unsupported;
use fencepost_translate::buffers::buffers;
use fencepost_translate::contexts::{Bound, contexts};
use fencepost_translate::export::c::report::Report;
use fencepost_translate::export::{Export, c::c};
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const WARN: [&str; 4] = ["-std=c11", "-Wall", "-Wextra", "-Werror"];

/// Definitions of the verifiers' built-ins, so that a compiler accepts the code for verifiers.
const CBMC: [&str; 4] = [
    "-D__CPROVER__",
    "-D__CPROVER_assume(c)=((void)(c))",
    "-D__CPROVER_atomic_begin()=((void)0)",
    "-D__CPROVER_atomic_end()=((void)0)",
];
const OTHERS: [&str; 1] = ["-DFENCEPOST_VERIFIER"];

/// A directory with a stub of GenMC's header.
const GENMC: [&str; 2] = ["-I", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/genmc-stub")];

/// Makes the end of the program fail.
const REACHABLE: &str = "-DFENCEPOST_REACHABLE";

fn export_text(problem: &Problem) -> Result<String, Unsupported> {
    let about = ["A program */ \"with\" a /* strange \\".to_string(), "description".to_string()];
    let line = |span: Span| Some(span.line);
    c(&Export { problem, about: &about, line: &line })
}

/// Compiles a text and checks that there are no warnings.
fn compile(name: &str, text: &str, options: &[&str]) {
    let mut compiler = Command::new("cc")
        .args(WARN)
        .args(options)
        .args(["-x", "c", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the compiler can be started");
    let mut input = compiler.stdin.take().expect("the standard input is a pipe");
    input.write_all(text.as_bytes()).expect("the compiler reads its input");
    drop(input);
    let output = compiler.wait_with_output().expect("the compiler terminates");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}\n{errors}\n{text}");
}

#[test]
fn the_corpus_compiles() {
    if !tools::are_installed(&["cc"]) {
        return;
    }
    let folders = ["litmus", "mutex", "papers", "regress", "structures", "waiting", "orders"];
    for (at, (name, _, problem)) in corpus(&folders).into_iter().enumerate() {
        let text = export_text(&problem).expect("the program can be exported");
        compile(&name, &text, &["-fsyntax-only"]);
        let options = [&CBMC[..], &OTHERS, &GENMC][at % 3];
        compile(&name, &text, &[&["-fsyntax-only"], options].concat());
    }
}

#[test]
fn only_wide_integers_are_refused() {
    for (ty, is_refused) in [("u8", false), ("i16", false), ("u32", true), ("u64", true)] {
        let source = format!("shared {ty} x; thread p {{ x = x * x + 1; x = x >> 1; }}");
        let refused = export_text(&fencepost_testkit::problem(&source)).is_err();
        assert_eq!(refused, is_refused, "{ty}");
    }
}

#[test]
fn translations_compile_for_all_verifiers() {
    if !tools::are_installed(&["cc"]) {
        return;
    }
    for (at, (name, _, problem)) in corpus(&["litmus", "mutex", "structures"]).iter().enumerate() {
        // Tests a sample of each folder.
        if at % 7 != 0 {
            continue;
        }
        let bound = Bound::Switches(2);
        for translation in
            [contexts(problem, StoreBuffers::Pso, bound), buffers(problem, StoreBuffers::Tso, 2)]
        {
            let Ok(translation) = translation else { continue };
            let text = export_text(&translation.problem).expect("the program can be exported");
            for options in [&[][..], &CBMC, &OTHERS, &GENMC, &[REACHABLE]] {
                compile(name, &text, &[&["-fsyntax-only"], options].concat());
            }
        }
    }
}

/// A compiled program, removed when dropped.
struct Executable(PathBuf);

impl Executable {
    fn new(name: &str, problem: &Problem, options: &[&str]) -> Executable {
        let text = export_text(problem).expect("the program can be exported");
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("c-{name}"));
        let file = path.to_string_lossy();
        compile(name, &text, &[options, &["-O1", "-pthread", "-o", &file]].concat());
        Executable(path)
    }

    /// Runs the program. Returns the text of the assertion that fails.
    fn run(&self) -> Option<String> {
        let output = Command::new(&self.0).output().expect("the compiled program can be started");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let failed = text.contains("Assertion");
        assert_eq!(output.status.success(), !failed, "{}: {text}", self.0.display());
        failed.then_some(text)
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Compiles and runs a program. Returns whether it ends without a failed assertion.
fn run(name: &str, source: &str) -> bool {
    Executable::new(name, &problem(source), &[]).run().is_none()
}

#[test]
fn programs_fail_exactly_where_expected() {
    if !tools::are_installed(&["cc"]) {
        return;
    }
    for (name, right, source) in [
        ("message", true, "shared int x, y; thread p { x = 1; y = 1; } thread q { while (y == 0) skip; r = x; assert(r == 1); }"),
        ("wrong", false, "shared int x; thread p { x = 1; r = x; assert(r == 2); }"),
        (
            "lock",
            true,
            "shared bool lock; shared int x; thread p(i in 0..2) { for (int k = 0; k < 1000; k++) { while (!cas(lock, false, true)) skip;
               critical { x++; } lock = false; } } property mutual_exclusion; final forall x == 2000;",
        ),
        (
            "no_lock",
            false,
            "shared int inside; thread p { critical { inside = 1; while (inside != 2) skip; } } thread q { while (inside != 1) skip;
               critical { inside = 2; } } property mutual_exclusion;",
        ),
        ("updates", true, "shared int x = 6; thread p { a = fetch_add(x, -2); b = swap(x, 12); c = fetch_and(x, 10); d = fetch_or(x, 1);
            e = fetch_xor(x, 3); f = x; assert(a == 6 && b == 4 && c == 12 && d == 8 && e == 9 && f == 10); }"),
        ("locked_updates", true, "shared int x = 6, y; thread p { atomic { y = 1; } a = fetch_add(x, -2); b = swap(x, 12); c = fetch_and(x, 10);
            d = fetch_or(x, 1); e = fetch_xor(x, 3); f = x; g = cas(x, 10, 11); h = cas(x, 10, 12);
            assert(a == 6 && b == 4 && c == 12 && d == 8 && e == 9 && f == 10 && g && !h); }"),
        ("bounds", false, "shared int a[2]; shared int i = 2; thread p { r = i; a[r] = 1; }"),
        ("range", false, "shared int(0..3) x; shared int y = 3; thread p { r = y; x = r; }"),
        ("range_of_update", false, "shared int(0..3) x = 1; shared int y = 2; thread p { r = y; fetch_add(x, r); }"),
        ("failed_cas", true, "shared int(0..3) x = 1; shared int y = 3; thread p { r = y; s = cas(x, 0, r); assert(!s); }"),
        ("division", false, "shared int x; thread p { r = x; s = 4 / r; x = s; }"),
        ("guarded", true, "shared int x; thread p { r = x; s = r != 0 && 4 / r > 1; assert(!s); }"),
        ("atomic", true, "shared int x; thread p(i in 0..2) { for (int k = 0; k < 1000; k++) atomic { x = x + 1; } } final forall x == 2000;"),
        ("invariant", true, "shared int x, y; thread p(i in 0..2) { for (int k = 0; k < 100; k++) atomic { x++; y++; } } invariant x == y;"),
        ("broken_invariant", false, "shared int x, y; thread p { x = 1; y = 1; } invariant x == y;"),
        ("exists", false, "shared int x; thread p { x = 1; } final exists x == 1;"),
        ("never", true, "shared int x; init { x = 1; } thread p { r = x; } final never x == 2 || p.r != 1;"),
        ("choose", true, "thread p { r = choose(2..=3); assert(r == 2 || r == 3); }"),
        ("assume", true, "shared int x = 1; thread p { r = x; assume(r == 0); assert(false); }"),
        ("records", true, "record Node { int value; Node next; } pool Node[2]; shared Node top;
            thread p { n = new Node; n.value = 4; n.next = top; top = n; m = top; r = m.value; assert(r == 4); }"),
        ("null", false, "record Node { int value; } pool Node[2]; shared Node top; thread p { n = top; n.value = 1; }"),
        ("words", true, "shared int log = 1, y1 = 2, register = 3, memory = 4; thread main { int auto = log + y1 + register + memory; assert(auto == 10); }"),
        ("jumps", true, "shared int x; thread p { int k; again: k++; if (k < 5) goto again; loop { loop { if (k > 7) goto out; k++; if (k % 2 == 0) continue; break; } }
            out: x = k; assert(k == 8); }"),
    ] {
        assert_eq!(run(name, source), right, "{name}");
    }
}

#[test]
fn the_end_of_a_run_fails_only_if_asked() {
    if !tools::are_installed(&["cc"]) {
        return;
    }
    let ends = problem("shared int x; thread p { x = 1; }");
    assert_eq!(Executable::new("end", &ends, &[]).run(), None);
    let text = Executable::new("reachable_end", &ends, &[REACHABLE]).run();
    assert!(text.is_some_and(|text| text.contains("end of run")));
    let discarded = problem("thread p { r = choose(0..=1); assume(r == 2); }");
    assert_eq!(Executable::new("no_end", &discarded, &[REACHABLE]).run(), None);
}

/// The race has every value of the choice as a result, and no other one. Each value is the witness
/// of a condition.
#[test]
fn a_choice_by_race_has_all_values() {
    if !tools::are_installed(&["cc"]) {
        return;
    }
    for (name, source) in [
        ("race", "thread p { r = choose(2..=4); } "),
        ("race_in_block", "shared int x; thread p { atomic { r = choose(2..=4); x = r; } } "),
        ("race_in_init", "shared int x; init { x = choose(2..=4); } thread p { r = x; } "),
    ] {
        let finals = [2, 3, 4].map(|value| format!("final exists p.r == {value}; ")).concat();
        let problem = problem(&format!("{source} thread q {{ s = choose(0..=1); }} {finals}"));
        let program = Executable::new(name, &problem, &[&GENMC[..], &["-DRANDOM_DELAYS"]].concat());
        let mut seen = [0; 3];
        for _ in 0..2000 {
            let text = program.run().expect("every value is a witness");
            let at = (0..3).find(|at| text.contains(&format!("witness {at}")));
            seen[at.expect("a witness fails")] += 1;
            if seen.iter().all(|count| *count > 0) {
                break;
            }
        }
        assert!(seen.iter().all(|count| *count > 0), "{name}: {seen:?}");
    }
}

/// CBMC proves this for all schedules. It has real choices, so the text selects the race for it.
#[test]
fn cbmc_finds_all_values_of_a_choice_by_race() {
    if !tools::are_installed(&["cbmc"]) {
        return;
    }
    let choices = [(2, 0, 1), (2, 1, 0), (3, 0, 0), (3, 1, 1), (4, 0, 1), (4, 1, 0)];
    let finals =
        choices.map(|(c, d, e)| format!("final exists p.c == {c} && p.d == {d} && q.e == {e}; "));
    let problem = problem(&format!(
        "shared int x; thread p {{ int c, d; c = choose(2..=4); x = c; d = choose(0..=1);
         assert(2 <= c && c <= 4 && 0 <= d && d <= 1); }}
         thread q {{ int e; e = choose(0..=1); }} {}",
        finals.concat()
    ));
    let text = export_text(&problem).expect("the program can be exported");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join("cbmc-race.c");
    fs::write(&file, text.replace("defined(__CPROVER__)", "0")).expect("a temporary file");
    let mut command = Command::new("cbmc");
    command.arg(&file).args(["-DFENCEPOST_VERIFIER", REACHABLE, "--unwind", "2"]);
    command.args(["--no-pointer-check", "--no-pointer-primitive-check"]);
    let output = command.output().expect("CBMC can be started");
    fs::remove_file(&file).expect("the file exists");
    let report = Report::parse_cbmc(&String::from_utf8_lossy(&output.stdout));
    let report = report.expect("CBMC answers");
    assert_eq!(report.violation, None);
    assert_eq!(report.witnesses, (0..choices.len()).collect());
    assert!(report.reaches_end && !report.exceeds_unrolling);
}

/// The race as a program of our own: under SC it has the outcomes of the choice that it replaces.
#[test]
fn the_race_and_the_choice_have_equal_outcomes() {
    for (choice, race) in [
        (
            "shared int x, y;
             thread p { int c, r; c = choose(0..=2); x = c; r = y; }
             thread q { int s; y = 1; s = x; } observe p.c, p.r, q.s, x;",
            "shared int x, y, cell, go, over;
             thread p { int c, r; cell = 0; go = 1; c = cell; await(over == 1); x = c; r = y; }
             thread q { int s; y = 1; s = x; }
             thread counter { await(go == 1); cell = 1; cell = 2; over = 1; }
             observe p.c, p.r, q.s, x;",
        ),
        (
            "shared int x;
             thread p { int c, d; c = choose(0..=1); x = c; d = choose(0..=2); x = d; }
             thread q { int s; s = x; } observe p.c, p.d, q.s, x;",
            "shared int x, cell, go, over;
             thread p { int c, d; cell = 0; go = 1; c = cell; await(over == 1); x = c;
               cell = 0; go = 2; d = cell; await(over == 2); x = d; }
             thread q { int s; s = x; }
             thread first { await(go == 1); cell = 1; over = 1; }
             thread second { await(go == 2); cell = 1; cell = 2; over = 2; }
             observe p.c, p.d, q.s, x;",
        ),
    ] {
        let expected = outcomes(&problem(choice), 100_000);
        assert!(expected.outcomes_complete && expected.outcomes.len() >= 8);
        let race = problem(race);
        assert_eq!(outcomes(&race, 100_000).outcomes, expected.outcomes);
        let stateless = outcomes_of(&Stateless::default(), &race, 100_000);
        assert!(stateless.outcomes_complete);
        assert_eq!(stateless.outcomes, expected.outcomes);
    }
}

#[test]
fn a_choice_of_many_values_is_refused_without_data_nondeterminism() {
    let text = export_text(&problem("thread p { r = choose(0..=64); }")).expect("an export");
    assert!(text.contains("#error \"a choice of 65 values"), "{text}");
    let text = export_text(&problem("thread p { r = choose(0..=63); }")).expect("an export");
    assert!(!text.contains("#error"), "{text}");
}

#[test]
fn comments_name_the_source_line() {
    let text = export_text(&problem("shared int x;\nthread p { x = 1 /* one */; }"));
    let text = text.expect("the program can be exported");
    assert!(text.contains("atomic_store(&x, 1);"), "{text}");
    assert!(text.contains("/* line 2: x = 1"), "{text}");
}
