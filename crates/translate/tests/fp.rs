//! Programs written as `.fp` source and read back: the same verdicts and the same outcomes under SC.

use crate::common::{check, corpus, outcomes};
use fencepost_ir::{Diagnostics, Observable, Problem, StoreBuffers, Value};
use fencepost_testkit::programs::{Profile, program};
use fencepost_testkit::{compared, is_campaign, problem, seeds};
use fencepost_translate::contexts::{Bound, contexts};
use fencepost_translate::export::{Export, fp::fp};
use std::collections::BTreeSet;

/// More states than this say nothing about a printer.
const STATES: u64 = 200_000;

fn written(problem: &Problem) -> String {
    let about = ["A program.".to_string()];
    let line = |span: fencepost_ir::Span| Some(span.line);
    fp(&Export { problem, about: &about, line: &line }).expect("it has a text")
}

/// What a front end says about a text: the problem and how many warnings.
fn read(name: &str, source: &str) -> (Problem, usize) {
    let mut diagnostics = Diagnostics::new();
    let problems = fencepost_frontends::fp::lower(source, &mut diagnostics);
    let mut problems = problems.unwrap_or_else(|| panic!("{name}\n{source}\n{diagnostics:?}"));
    (problems.swap_remove(0), diagnostics.len())
}

/// The outcomes without the fields of records, which conditions cannot name.
fn shown(problem: &Problem, all: &BTreeSet<Vec<Value>>) -> BTreeSet<Vec<Value>> {
    let named = |what: &Observable| match what {
        Observable::Loc(loc) => problem.program.cell_of(*loc).is_none(),
        Observable::Reg(..) => true,
    };
    let keep: Vec<usize> =
        (0..problem.observed.len()).filter(|at| named(&problem.observed[*at])).collect();
    all.iter().map(|outcome| keep.iter().map(|at| outcome[*at]).collect()).collect()
}

/// Compares; tells whether there were few enough states for that.
fn comes_back(name: &str, source: &str, problem: &Problem, states: u64) -> bool {
    let text = written(problem);
    let (_, warned) = read(name, source);
    let (back, warnings) = read(name, &text);
    assert!(warnings <= warned, "{name} warns\n{text}");
    let (expected, found) = (outcomes(problem, states), outcomes(&back, states));
    if !expected.outcomes_complete {
        return false;
    }
    // Where records have become arrays, all that was observed still is.
    if problem.observed.len() == back.observed.len() {
        assert_eq!(expected.outcomes, found.outcomes, "{name}\n{problem}\n{text}");
    } else {
        let expected = shown(problem, &expected.outcomes);
        assert_eq!(expected, found.outcomes, "{name}\n{problem}\n{text}");
    }
    let (expected, found) = (check(problem, states), check(&back, states));
    assert_eq!(expected.verdict.word(), found.verdict.word(), "{name}\n{text}");
    true
}

#[test]
fn the_corpus_comes_back() {
    for (name, source, problem) in corpus(&["litmus", "mutex", "papers", "regress", "structures"]) {
        comes_back(&name, &source, &problem, STATES);
    }
}

#[test]
fn random_programs_come_back() {
    let mut same = 0;
    for seed in seeds(20) {
        for profile in Profile::ALL {
            let source = program(profile, seed).to_string();
            let problem = problem(&source);
            let name = format!("{profile:?} {seed}");
            same += u64::from(comes_back(&name, &source, &problem, STATES));
        }
    }
    compared("programs: written and read back", same);
}

#[test]
fn translations_come_back_campaign() {
    let every = if is_campaign() { 3 } else { 6 };
    let mut compared = 0;
    for (name, source, problem) in corpus(&["litmus", "mutex", "structures"]).iter().step_by(every)
    {
        for (model, bound) in
            [(StoreBuffers::Pso, Bound::Switches(1)), (StoreBuffers::Tso, Bound::Ages(1))]
        {
            let Ok(translation) = contexts(problem, model, bound) else { continue };
            compared += usize::from(comes_back(name, source, &translation.problem, STATES / 10));
        }
    }
    assert!(compared > 150 / every, "only {compared} were small enough to compare");
}

#[test]
fn jumps_come_back() {
    for source in [
        // Into a loop, and out of two.
        "shared int x; thread p { int k; if (x == 0) goto middle; loop { k += 2; middle: k++; loop { if (k > 4) goto out; k++; if (k == 2) break; } }
         out: x = k; } observe x;",
        // Two loops that share their head, in a critical section.
        "shared int x; thread q { loop { critical { while (x != 0) { if (x == 5) return; x = x - 1; } if (x == 6) break; x = 4; } x = 5; } x = 1; }
         thread r { x = 6; critical { skip; } } property mutual_exclusion; observe x;",
    ] {
        assert!(comes_back(source, source, &problem(source), STATES), "{source}");
    }
}

/// What a text must say, line by line, without comments.
fn says(source: &str, lines: &[&str]) {
    let text = written(&problem(source));
    for line in lines {
        let found = text.lines().any(|l| l.split("//").next().unwrap_or(l).trim() == *line);
        assert!(found, "no line `{line}` in\n{text}");
    }
    read("what was written", &text);
}

#[test]
fn types_stay_what_they_are() {
    says(
        "enum State { idle, busy } shared State s = busy; shared bool b[2] = true; shared int a[2] = {1, 2};
         thread p(i in 0..2) { State t = s; int(1..3) k = a[i]; if (t == busy && !b[i]) b[i] = k == 1;
           s = idle; bool c = choose(false, true); b[0] = c; r = cas(s, idle, busy); assert(r || c); }",
        &[
            "enum State { idle, busy }",
            "shared State s = busy;",
            "shared bool b[2] = true;",
            "shared int a[2] = {1, 2};",
            "int(1..=2) k = a[1];",
            "s = idle;",
            "b[1] = k == 1;",
            "r = cas(s, idle, busy);",
            "assert(r || c);",
        ],
    );
}

#[test]
fn critical_sections_stay_blocks() {
    says(
        "shared int x; thread p { loop { critical { if (x == 1) break; if (x == 2) continue; x = 3; } } }
         property mutual_exclusion;",
        &["critical {", "break;", "property mutual_exclusion;"],
    );
}

#[test]
fn records_stay_records() {
    says(
        "record Node { int value; Node next; int slot[2]; } pool Node[2]; shared Node top;
         thread p { n = new Node; n.value = 1; n.slot[n.value] = 2; n.next = top; top = n; if (n.next != null) free(n); }",
        &[
            "record Node { int value; Node next; int slot[2]; }",
            "pool Node[2];",
            "n = new Node;",
            "n.value = 1;",
            "free(n);",
        ],
    );
}
