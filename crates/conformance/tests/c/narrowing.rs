//! Numbers of 64 bits are replaced by smaller ones before a translation. The verdicts stay the
//! same. The programs of `corpus/c/litmus` need no 64 bits, except for the one with `<threads.h>`,
//! which converts the results of threads.

use crate::common::{check_with, corpus, model, report_comparisons, settings};
use fencepost_engines::Auto;
use fencepost_testkit::{c_problem, corpus as files};
use fencepost_translate::narrowed;
use std::fs;

fn verdicts_after_narrowing(folder: &str, all_narrow: bool) {
    let mut checked = 0;
    for path in files::files(&format!("c/{folder}"), "c") {
        let source = fs::read_to_string(corpus().join(&path)).expect("a program of the corpus");
        let problem = c_problem(&source).expect("a valid program");
        let narrow = narrowed(&problem);
        let name = path.display();
        let must_be_narrow = all_narrow && !source.contains("<threads.h>");
        assert!(!must_be_narrow || !narrow.program.uses_wide_integers(), "{name} is still wide");
        for model_name in ["sc", "tso"] {
            let verdict = |problem| {
                check_with(&Auto, problem, &model(model_name), settings(2)).verdict.word()
            };
            assert_eq!(verdict(&problem), verdict(&narrow), "{name} {model_name}");
            checked += 1;
        }
    }
    report_comparisons("verdicts of narrowed programs", checked);
}

#[test]
fn litmus_programs_need_no_64_bits() {
    verdicts_after_narrowing("litmus", true);
}

#[test]
fn narrowed_locks_have_the_same_verdicts() {
    verdicts_after_narrowing("mutex", false);
}

#[test]
fn narrowed_sequential_programs_have_the_same_verdicts() {
    verdicts_after_narrowing("sequential", false);
}
