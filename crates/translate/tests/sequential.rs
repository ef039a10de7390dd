//! Tests of sequential C: the export compiles, and enumerating all of its choices gives the verdict
//! of the explicit engine for the concurrent simulation.
//!
//! Without a C compiler on the path, the tests print a note and check only that the export
//! succeeds.

use crate::common::{check, corpus};
use fencepost_engines::Verdict;
use fencepost_ir::spin_loops::spin_assume;
use fencepost_ir::{Op, Problem, StoreBuffers};
use fencepost_testkit::{is_campaign, problem, tools};
use fencepost_translate::contexts::{Bound, contexts, sequentialize};
use fencepost_translate::export::Export;
use fencepost_translate::export::sequential::sequential;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

/// Exports the program with this number of context switches as sequential C; `None` if it cannot be
/// simulated.
fn export(problem: &Problem, model: StoreBuffers, switches: u32) -> Option<String> {
    let frees = |op: &Op| matches!(op, Op::Free { .. });
    let mut code = problem.program.threads.iter().flat_map(|thread| &thread.code);
    let translation = match sequentialize(problem, model, switches) {
        Ok(translation) => translation,
        Err(why) => {
            assert!(code.any(|stmt| frees(&stmt.op)), "{why}");
            return None;
        }
    };
    fencepost_ir::validate::validate(&translation.problem).expect("the translation is well-formed");
    let line = |span: fencepost_ir::Span| (span.line > 0).then_some(span.line);
    let about = vec!["A test.".to_string()];
    let export = Export { problem: &translation.problem, about: &about, line: &line };
    Some(sequential(&export, &translation).unwrap_or_else(|why| panic!("{why}\n{problem}")))
}

/// A temporary file, removed on drop.
struct File(PathBuf);

impl File {
    fn new(ending: &str) -> File {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("fencepost-sequential-{}-{number}{ending}", std::process::id());
        File(env::temp_dir().join(name))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Compiles a program and checks that there are no warnings.
fn cc(name: &str, text: &str, arguments: &[&str]) {
    let source = File::new(".c");
    fs::write(&source.0, text).expect("the source file can be written");
    let strict = ["-std=c11", "-Wall", "-Wextra", "-Werror"];
    let mut command = Command::new("cc");
    let Output { status, stderr, .. } = command
        .args(strict)
        .args(arguments)
        .arg(&source.0)
        .output()
        .expect("the compiler can be started");
    let output_text = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{name} {arguments:?}: {output_text}\n{text}");
}

/// Returns the verdict of running all choices; `None` if there are too many.
fn enumerate(name: &str, text: &str, runs: u64) -> Option<&'static str> {
    let program = File::new("");
    let limit = format!("-DRUNS={runs}UL");
    let path = program.0.to_string_lossy();
    cc(name, text, &["-O1", "-DFENCEPOST_ENUMERATE", "-DCHOICES=200", &limit, "-o", &path]);
    let output = Command::new(&program.0).output().expect("the compiled program can be started");
    let output_text = String::from_utf8_lossy(&output.stdout);
    if env::var_os("SHOW").is_some() {
        eprintln!("{name}: {output_text}");
    }
    match output.status.code() {
        Some(0) => Some("verified"),
        Some(1) => Some("violated"),
        Some(2) => None,
        code => panic!("{name}: {code:?} {output_text}\n{text}"),
    }
}

/// Compares the concurrent and the sequential simulation. Returns the verdict; `None` if a search
/// is too long.
fn compare(
    name: &str,
    problem: &Problem,
    model: StoreBuffers,
    switches: u32,
) -> Option<&'static str> {
    let concurrent =
        contexts(problem, model, Bound::Switches(switches)).expect("the program can be simulated");
    let answer = check(&concurrent.problem, 1_000_000);
    if matches!(answer.verdict, Verdict::Inconclusive(_)) {
        return None;
    }
    // Failed spin iterations would never end.
    let cut_problem = spin_assume(problem, false).problem;
    let text = export(&cut_problem, model, switches).expect("the program can be simulated");
    let name = format!("{name} {} {switches}", model.name());
    let found = enumerate(&name, &text, 4_000_000)?;
    assert_eq!(found, answer.verdict.word(), "{name}\n{text}");
    Some(found)
}

const MODELS: [StoreBuffers; 2] = [StoreBuffers::Tso, StoreBuffers::Pso];

#[test]
fn the_corpus_compiles_campaign() {
    let all = corpus(&["litmus", "mutex", "papers", "regress", "structures"]);
    let has_compiler = tools::are_installed(&["cc"]);
    let verifier = ["-fsyntax-only", "-DFENCEPOST_VERIFIER"];
    for (at, (name, _, problem)) in
        all.iter().enumerate().step_by(if is_campaign() { 1 } else { 5 })
    {
        for model in MODELS {
            let switches = (at % 3) as u32;
            let Some(text) = export(problem, model, switches) else { continue };
            if has_compiler {
                cc(name, &text, if at % 2 == 0 { &verifier[..] } else { &verifier[..1] });
            }
        }
    }
}

/// Compares programs of the corpus, all of which must be decided. Returns the number of violated
/// ones.
fn verdicts(named: &[&str], switches: &[u32]) -> usize {
    let mut violated = 0;
    for (name, _, problem) in corpus(&["litmus", "mutex", "regress"]) {
        let stem = name.split_once('/').map_or(name.as_str(), |(_, stem)| stem);
        if !named.contains(&stem) {
            continue;
        }
        for model in MODELS {
            for k in switches {
                let word = compare(&name, &problem, model, *k);
                assert!(word.is_some(), "{name} {} {k}: too many runs", model.name());
                violated += usize::from(word == Some("violated"));
            }
        }
    }
    violated
}

#[test]
fn two_thread_verdicts_agree() {
    if !tools::are_installed(&["cc"]) {
        return;
    }
    let named = ["MP", "2+2W", "CoWW", "CoRR", "R", "S", "n6", "LB"];
    // Missing witnesses: without switches, all; with one switch under TSO, MP, 2+2W and S; always
    // CoWW, CoRR and LB.
    assert_eq!(verdicts(&named, &[0, 1]), 2 * named.len() + 3 + 6);
    assert_eq!(verdicts(&["SB"], &[0, 1, 2]), 2);
}

#[test]
fn fence_and_update_verdicts_agree() {
    if !tools::are_installed(&["cc"]) {
        return;
    }
    let named = ["SB+cas+cas", "SB+full+full", "MP+ss+po", "MP+swapy+ll", "SB+atomic+atomic"];
    verdicts(&named, &[0, 1]);
    // Under PSO, the flag of the spin loop overtakes the data.
    assert_eq!(verdicts(&["MP+spin"], &[1]), 1);
}

#[test]
fn three_thread_verdicts_agree() {
    if tools::are_installed(&["cc"]) {
        verdicts(&["WRC", "3.SB"], &[0]);
    }
}

#[test]
fn mutual_exclusion_verdicts_agree() {
    if tools::are_installed(&["cc"]) {
        assert_eq!(verdicts(&["peterson0-once", "dekker0-once"], &[0, 1]), 8);
        assert_eq!(verdicts(&["peterson2-once"], &[0, 1]), 0);
    }
}

#[test]
fn regression_verdicts_agree() {
    if tools::are_installed(&["cc"]) {
        verdicts(&["assert-overtaken", "many-exists", "forward-out-of-range"], &[0, 1]);
    }
}

/// Returns the verdicts for a small program under both models, after comparing both simulations.
fn verdict_of(source: &str, switches: u32) -> [&'static str; 2] {
    let problem = &problem(source);
    MODELS.map(|model| {
        if tools::are_installed(&["cc"]) {
            compare(source, problem, model, switches).expect("the program is small")
        } else {
            let concurrent = contexts(problem, model, Bound::Switches(switches))
                .expect("the program can be simulated");
            check(&concurrent.problem, 100_000).verdict.word()
        }
    })
}

#[test]
fn invariants_are_checked_in_every_slot() {
    let two = "shared int x, y; thread p { x = 1; y = 1; } thread q { r = y; }";
    assert_eq!(verdict_of(&format!("{two} invariant y <= x;"), 1), ["verified", "violated"]);
    assert_eq!(verdict_of(&format!("{two} invariant x + y <= 2;"), 1), ["verified"; 2]);
}

#[test]
fn failures_need_confirmed_guesses() {
    // Thread `q` writes 1 only after thread `p` has read `x`.
    let early = "shared int x, y;
        thread p { r = x; assert(r != 1); y = 1; }
        thread q { while (y == 0) { skip; } x = 1; }";
    assert_eq!(verdict_of(early, 1), ["verified"; 2]);
    let free = "shared int x; thread p { r = x; assert(r != 1); } thread q { x = 1; }";
    assert_eq!(verdict_of(free, 0), ["violated"; 2]);
}

#[test]
fn records_and_arrays_have_a_copy_per_slot() {
    let records = "record Node { int(0..3) value; }
        pool Node[2];
        shared Node top;
        thread p { n = new Node; n.value = 1; top = n; }
        thread q { n = top; if (n != null) { v = n.value; assert(v == 1); } }";
    assert_eq!(verdict_of(records, 1), ["verified", "violated"]);
    let arrays = "shared int a[2] = {0, 1};
        thread p { i = choose(0..=1); a[i] = 1 - i; }
        thread q { j = a[1]; k = a[0];";
    assert_eq!(verdict_of(&format!("{arrays} assert(j == 1 || k == 0); }}"), 0), ["verified"; 2]);
    assert_eq!(verdict_of(&format!("{arrays} assert(j == 1); }}"), 0), ["violated"; 2]);
}

#[test]
fn init_runs_in_the_first_slot() {
    let init = "shared int x; shared int y = 3; init { x = y - 1; }
        thread p { r = x; x = r + 1; } thread q { y = 4; }";
    assert_eq!(verdict_of(&format!("{init} final forall x == 3 && y == 4;"), 1), ["verified"; 2]);
    assert_eq!(verdict_of(&format!("{init} final never x == 3;"), 0), ["violated"; 2]);
    assert_eq!(verdict_of(&format!("{init} invariant x == 0 || y > x;"), 1), ["violated"; 2]);
    assert_eq!(verdict_of(&format!("{init} invariant x >= 2;"), 1), ["verified"; 2]);
}

#[test]
fn genmc_is_refused() {
    let problem = problem("shared int x; thread p { x = 1; } thread q { r = x; }");
    let text = export(&problem, StoreBuffers::Pso, 1).expect("the program can be translated");
    let at = text.find("__has_include(<genmc.h>)").expect("the header is recognised");
    assert!(text[at..].lines().nth(1).is_some_and(|line| line.starts_with("#error")), "{text}");
    assert!(text.contains("end of run"), "{text}");
}

#[test]
fn program_names_do_not_clash_with_the_prelude() {
    let names =
        "shared int x, x_at, now, used; thread p { error = x_at; run = now; x_guess = x; x = 1; }
        thread check { x_at = 1; used = 1; } final forall x == 1;";
    assert_eq!(verdict_of(names, 0), ["verified"; 2]);
}
