//! Tests of the Promela export: SPIN and the explicit engine agree, and SPIN's errors are runs of
//! the program.
//!
//! Without SPIN and a C compiler on the path, the tests print a note and check only that the export
//! succeeds.

use crate::common::{check, corpus, replay_steps};
use fencepost_engines::Verdict;
use fencepost_ir::{Problem, StoreBuffers};
use fencepost_testkit::{is_campaign, problem, tools};
use fencepost_translate::contexts::{Bound, contexts};
use fencepost_translate::export::Export;
use fencepost_translate::export::promela::spin::{Report, Trail};
use fencepost_translate::export::promela::{Promela, promela};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

fn export(source: &str, problem: &Problem) -> Promela {
    let line = |span: fencepost_ir::Span| (span.line > 0).then_some(span.line);
    let about = vec!["A test.".to_string()];
    promela(&Export { problem, about: &about, line: &line })
        .unwrap_or_else(|why| panic!("{why}\n{source}"))
}

/// A temporary folder, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("fencepost-spin-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("the folder can be created");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    output.unwrap_or_else(|error| panic!("{program}: {error}"))
}

/// Runs SPIN on a model. The macros disable assertions.
fn spin(name: &str, model: &Promela, disabled: &[String]) -> (Report, Option<Trail>) {
    let folder = Folder::new();
    fs::write(folder.0.join("model.pml"), &model.text).expect("the model can be written");
    let macros: Vec<String> = disabled.iter().map(|name| format!("-D{name}=1")).collect();
    let with = |arguments: &[&'static str]| -> Vec<String> {
        let all = macros.iter().cloned();
        all.chain(arguments.iter().map(|a| (*a).to_string())).collect()
    };
    let call = |program: &str, arguments: &[String]| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = run(&folder.0, program, &arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (text, String::from_utf8_lossy(&output.stderr).into_owned(), output.status.success())
    };
    let (output_text, wrong, fine) = call("spin", &with(&["-a", "model.pml"]));
    let generated = folder.0.join("pan.c").exists();
    assert!(
        fine && generated && !output_text.contains("Error"),
        "{name}: {output_text}{wrong}\n{}",
        model.text
    );
    let mut arguments = ["-O0", "-w", "-DSAFETY", "-o", "pan", "pan.c"].map(String::from).to_vec();
    arguments.push(format!("-DVECTORSZ={}", model.state_vector_bytes));
    let (output_text, wrong, fine) = call("cc", &arguments);
    assert!(fine, "{name}: {output_text}{wrong}");
    let mut arguments = vec!["-m1000000".to_string(), "-n".into()];
    if !model.deadlock_free {
        arguments.push("-E".into());
    }
    let pan = folder.0.join("pan");
    let (output_text, wrong, _) = call(&pan.to_string_lossy(), &arguments);
    let report = Report::parse(&output_text);
    if report.errors == 0 {
        assert_eq!(report.incomplete, None, "{name}: {output_text}{wrong}");
        return (report, None);
    }
    let (output_text, _, _) = call("spin", &with(&["-t", "-p", "-T", "model.pml"]));
    let trail = model.trail(&output_text);
    if env::var_os("SHOW").is_some() {
        eprintln!("{output_text}");
    }
    (report, Some(trail))
}

/// Compares SPIN with the explicit engine. Returns the numbers of states of both.
fn compare(name: &str, source: &str, problem: &Problem, max_states: u64) -> Option<(u64, u64)> {
    let answer = check(problem, max_states);
    if matches!(answer.verdict, Verdict::Inconclusive(_)) {
        return None;
    }
    let model = export(source, problem);
    if env::var_os("SHOW").is_some() {
        eprintln!("{}", model.text);
    }
    let expected = answer.verdict.word();
    let mut disabled = Vec::new();
    let mut missing = model.witnesses.clone();
    let (word, states) = loop {
        let (report, trail) = spin(name, &model, &disabled);
        let Some(trail) = trail else {
            break (if missing.is_empty() { "verified" } else { "violated" }, report.states);
        };
        let witness =
            missing.iter().position(|(line, _, _)| trail.failed_assertion_line == Some(*line));
        let scripted_steps: Vec<_> = trail
            .steps
            .iter()
            .map(|line| (line.thread.expect("a step of a thread"), line.pc, line.choices.clone()))
            .collect();
        let end = replay_steps(problem, trail.init.clone(), &scripted_steps);
        match witness {
            Some(at) => {
                assert_eq!(end, Ok(None), "{name}: {scripted_steps:?}\n{problem}\n{}", model.text);
                disabled.push(missing.swap_remove(at).2);
            }
            None => {
                let wrong = matches!(end, Ok(Some(_)));
                assert!(wrong, "{name}: {end:?} {scripted_steps:?}\n{problem}\n{}", model.text);
                break ("violated", report.states);
            }
        }
    };
    assert_eq!(word, expected, "{name}\n{problem}\n{}", model.text);
    Some((answer.statistics.states, states))
}

/// Parts of the names of programs that SPIN cannot check: its verifier rejects an empty infinite
/// loop, and it never leaves an infinite loop in an atomic block.
const NOT_FOR_SPIN: [&str; 2] = ["silent-loop", "loop-in-atomic"];

/// Compares the programs of a folder of the corpus: a sample in `cargo test`, all in a campaign.
fn compare_folder(name: &str, max_states: u64) {
    if !tools::are_installed(&["spin", "cc"]) {
        return;
    }
    let only = env::var("ONLY").ok();
    let mut compared = 0;
    let every = if is_campaign() || only.is_some() { 1 } else { 10 };
    for (file, source, problem) in corpus(&[name]).into_iter().step_by(every) {
        if NOT_FOR_SPIN.iter().any(|part| file.contains(part))
            || only.as_ref().is_some_and(|only| !file.contains(only.as_str()))
        {
            continue;
        }
        if let Some((ours, theirs)) = compare(&file, &source, &problem, max_states) {
            compared += 1;
            println!("{file}: {ours} {theirs} {:.2}", theirs as f64 / ours.max(1) as f64);
        }
    }
    assert!(compared > 0 || only.is_some(), "no program was small enough");
}

mod campaign {
    use super::compare_folder;

    #[test]
    fn litmus_verdicts_agree() {
        compare_folder("litmus", 10_000);
    }

    #[test]
    fn mutual_exclusion_verdicts_agree() {
        compare_folder("mutex", 100_000);
    }

    #[test]
    fn paper_program_verdicts_agree() {
        compare_folder("papers", 100_000);
    }

    #[test]
    fn regression_verdicts_agree() {
        compare_folder("regress", 10_000);
    }

    #[test]
    fn data_structure_verdicts_agree() {
        compare_folder("structures", 100_000);
    }
}

/// Returns the verdict of a small program, after comparing both tools.
fn verdict_of(source: &str) -> &'static str {
    let problem = &problem(source);
    let word = check(problem, 10_000).verdict.word();
    if tools::are_installed(&["spin", "cc"]) {
        compare(source, source, problem, 10_000).expect("the program is small");
    } else {
        export(source, problem);
    }
    word
}

#[test]
fn translation_verdicts_agree() {
    let sb = "shared int x; shared int y; thread p { x = 1; r = y; } thread q { y = 1; s = x; }
        final never p.r == 0 && q.s == 0;";
    let mp = "shared int x; shared int y; thread p { x = 1; y = 1; } thread q { r = y; s = x; }
        final never q.r == 1 && q.s == 0;";
    let lock =
        "shared int l; shared int x; thread p(i in 0..2) { while (!cas(l, 0, 1)) {} x = x + 1; l = 0; }
        final forall x == 2;";
    let mut words = Vec::new();
    for (source, model) in [
        (sb, StoreBuffers::Tso),
        (mp, StoreBuffers::Tso),
        (mp, StoreBuffers::Pso),
        (lock, StoreBuffers::Pso),
    ] {
        for bound in [Bound::Switches(1), Bound::Switches(2), Bound::Ages(1)] {
            let problem = &problem(source);
            let generated =
                contexts(problem, model, bound).expect("the program can be translated").problem;
            words.push(check(&generated, 1_000_000).verdict.word());
            if tools::are_installed(&["spin", "cc"]) {
                let name = format!("{model:?} {bound:?} {source}");
                let (ours, theirs) =
                    compare(&name, source, &generated, 1_000_000).expect("the program is small");
                println!("{name}: {ours} {theirs}");
            }
        }
    }
    assert!(words.contains(&"verified") && words.contains(&"violated"), "{words:?}");
}

#[test]
fn spin_finds_violations() {
    let wrong = [
        "shared int x; property mutual_exclusion; thread p(i in 0..2) { critical { x = 1; } }",
        "shared int(0..=3) x; thread p(i in 0..2) { loop { x = x + 1; } }",
        "shared int a[2]; shared int i; thread p { i = 2; r = i; a[r] = 1; } thread q { s = i; }",
        "shared int a[2]; shared int i; thread p { i = 2; a[i] = 1; } thread q { s = i; }",
        "shared int x; thread p { r = x; s = 5 / r; } thread q { x = 1; }",
        "shared int x; thread p { if (4 % x == 0) { x = 3; } } thread q { x = 1; }",
        "shared int x; shared int y; invariant x + y <= 1; thread p { x = 1; x = 0; } thread q { y = 1; }",
        "shared int x; invariant x == 1; thread p { x = 1; }",
        "shared int x; thread p { x = 2000000000; r = x; x = r + r; } thread q { s = x; }",
        "shared int x; thread p { r = x; assert(r != 2); } thread q { x = 1; x = 2; }",
        "shared int x; init { c = choose(0..=3); x = c; } thread p { r = x; assert(r < 3); }",
        "shared int x; init { x = 1; assert(x == 2); } thread p { r = x; }",
        "shared int x; thread p { c = choose(2..=4); x = c; d = choose(-1..=1); r = x; assert(r + d < 5); }",
        "shared int x; thread p { atomic { x = 1; d = choose(0..=2); assert(d != 1); assume(d == 2); } }",
        "shared int a[3]; thread p { atomic { i = a[0]; j = a[i + 3]; assume(j == 9); } } thread q { a[1] = 1; }",
        "record N { int v; N next; } pool N[2]; shared N head;
         thread p { n = new N; n.v = 1; head = n; } thread q { m = head; r = m.v; }",
        "record N { int v; } pool N[1]; shared N head;
         thread p { n = new N; head = n; free(n); } thread q { m = head; if (m != null) { r = m.v; } }",
        "shared int x; property deadlock_free; thread p { r = x; assume(r == 1); } thread q { x = 1; }",
        "shared int x; thread p { r = swap(x, 1); s = fetch_add(x, r + 1); t = fetch_or(x, 4);
         assert(t != 2 || r != 0); }",
        "shared int x; thread p { r = 1; r = swap(x, r + 1); r = fetch_add(x, r + 2); assert(r != 2); }",
        "shared int x; shared int y; thread p { r = cas(x, 0, 1); if (r) { y = 1; } else { y = 2; } }
         thread q { x = 1; } final forall y == 1;",
        "shared int x; thread p { for (int i = 0; i < 3; i++) { if (i == 1) continue; x = i; }
         r = x; assert(r != 2); }",
        "shared int x; final exists x == 3; final exists x == 1; thread p { x = 1; } thread q { x = 2; }",
    ];
    for source in wrong {
        assert_eq!(verdict_of(source), "violated", "{source}");
    }
}

#[test]
fn spin_verifies_correct_programs() {
    let right = [
        "shared int x; property mutual_exclusion;
         thread p(i in 0..2) { while (swap(x, 1) == 1) {} critical { skip; } x = 0; }",
        "shared int(0..=3) x; thread p { while (x < 3) { x = x + 1; } }",
        "shared int x; init { c = choose(0..=3); x = c; assume(c != 3); } property deadlock_free;
         thread p { r = x; assert(r < 3); }",
        "shared int x; final exists x == 2; final exists x == 1; thread p { x = 1; } thread q { x = 2; }",
        "shared int x; thread p { atomic { r = x; x = r + 1; } atomic { if (x == 1) { x = 7; } else { x = x + 1; } } }
         thread q { s = x; } final forall x == 7;",
        "shared int x; thread p { atomic { for (int i = 0; i < 5; i++) { x = x + i; } } } final forall x == 10;",
        "shared int a[3]; thread p { atomic { i = a[0]; a[i + 1] = 5; j = a[1]; assume(j == 5); a[2] = 7; } }
         final forall a[2] == 7;",
        "shared int x; thread p { L: r = x; if (r == 0) goto L; x = 5; } thread q { x = 1; }
         final forall x == 5 || x == 1;",
    ];
    for source in right {
        assert_eq!(verdict_of(source), "verified", "{source}");
    }
}

#[test]
fn atomic_blocks_block_at_their_beginning() {
    let lock = "shared int lock; shared int x;
        thread p(i in 0..2) { atomic { l = lock; assume(l == 0); lock = 1; } x = x + 1; lock = 0; }";
    assert_eq!(verdict_of(&format!("{lock} final forall x == 2;")), "verified");
    assert_eq!(verdict_of(&format!("{lock} final exists x == 1;")), "violated");
    assert_eq!(verdict_of(&format!("{lock} property deadlock_free;")), "verified");
    assert_eq!(
        verdict_of(
            "shared int x; property deadlock_free;
             thread p { atomic { x = 1; c = choose(0..=2); assume(x == c); x = 5; } } thread q { r = x; }"
        ),
        "verified"
    );
    assert_eq!(
        verdict_of(
            "shared int x; property deadlock_free;
             thread p { atomic { x = 1; c = choose(0..=2); assume(x + 2 == c); x = 5; } } thread q { r = x; }"
        ),
        "violated"
    );
}

#[test]
fn a_final_exists_becomes_a_witness_assertion() {
    let none = problem("shared int x; thread p { x = 1; } final exists x == 1;");
    assert!(!none.sometimes.is_empty());
    assert_eq!(export("", &none).witnesses.len(), 1);
}
