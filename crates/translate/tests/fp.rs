//! Exports programs as `.fp` source and reads them back: the verdicts and outcomes under SC are the
//! same.

use crate::common::{check, corpus, outcomes};
use fencepost_ir::{Diagnostics, Observable, Problem, StoreBuffers, Value};
use fencepost_testkit::programs::{Profile, program};
use fencepost_testkit::{is_campaign, problem, report_comparisons, seeds};
use fencepost_translate::contexts::{Bound, contexts};
use fencepost_translate::export::{Export, fp::fp};
use std::collections::BTreeSet;

/// The limit on states. Larger programs add nothing to a test of a printer.
const STATES: u64 = 200_000;

fn export_text(problem: &Problem) -> String {
    let about = ["A program.".to_string()];
    let line = |span: fencepost_ir::Span| Some(span.line);
    fp(&Export { problem, about: &about, line: &line }).expect("the program has `.fp` syntax")
}

/// Returns the problem and the number of warnings of the front end.
fn read(name: &str, source: &str) -> (Problem, usize) {
    let mut diagnostics = Diagnostics::new();
    let problems = fencepost_frontends::fp::lower(source, &mut diagnostics);
    let mut problems = problems.unwrap_or_else(|| panic!("{name}\n{source}\n{diagnostics:?}"));
    (problems.swap_remove(0), diagnostics.len())
}

/// Returns the outcomes without fields of records, which conditions cannot name.
fn without_fields(problem: &Problem, all: &BTreeSet<Vec<Value>>) -> BTreeSet<Vec<Value>> {
    let named = |what: &Observable| match what {
        Observable::Loc(loc) => problem.program.cell_of(*loc).is_none(),
        Observable::Reg(..) | Observable::At(..) => true,
    };
    let keep: Vec<usize> =
        (0..problem.observed.len()).filter(|at| named(&problem.observed[*at])).collect();
    all.iter().map(|outcome| keep.iter().map(|at| outcome[*at]).collect()).collect()
}

/// Compares a program with its export. Returns whether the search was small enough for a
/// comparison.
fn keeps_outcomes(name: &str, source: &str, problem: &Problem, states: u64) -> bool {
    let text = export_text(problem);
    let (_, warned) = read(name, source);
    let (back, warnings) = read(name, &text);
    assert!(warnings <= warned, "{name}: the export has more warnings\n{text}");
    let (expected, found) = (outcomes(problem, states), outcomes(&back, states));
    if !expected.outcomes_complete {
        return false;
    }
    // If records became arrays, all observables are still observed.
    if problem.observed.len() == back.observed.len() {
        assert_eq!(expected.outcomes, found.outcomes, "{name}\n{problem}\n{text}");
    } else {
        let expected = without_fields(problem, &expected.outcomes);
        assert_eq!(expected, found.outcomes, "{name}\n{problem}\n{text}");
    }
    let (expected, found) = (check(problem, states), check(&back, states));
    assert_eq!(expected.verdict.word(), found.verdict.word(), "{name}\n{text}");
    true
}

#[test]
fn the_corpus_keeps_its_outcomes() {
    for (name, source, problem) in
        corpus(&["litmus", "mutex", "papers", "regress", "structures", "waiting", "orders"])
    {
        keeps_outcomes(&name, &source, &problem, STATES);
    }
}

#[test]
fn random_programs_keep_their_outcomes() {
    let mut same = 0;
    for seed in seeds(20) {
        for profile in Profile::ALL {
            let source = program(profile, seed).to_string();
            let problem = problem(&source);
            let name = format!("{profile:?} {seed}");
            same += u64::from(keeps_outcomes(&name, &source, &problem, STATES));
        }
    }
    report_comparisons("programs: written and read back", same);
}

#[test]
fn translations_keep_their_outcomes_campaign() {
    let every = if is_campaign() { 3 } else { 6 };
    let mut compared = 0;
    for (name, source, problem) in corpus(&["litmus", "mutex", "structures"]).iter().step_by(every)
    {
        for (model, bound) in
            [(StoreBuffers::Pso, Bound::Switches(1)), (StoreBuffers::Tso, Bound::Ages(1))]
        {
            let Ok(translation) = contexts(problem, model, bound) else { continue };
            compared +=
                usize::from(keeps_outcomes(name, source, &translation.problem, STATES / 10));
        }
    }
    assert!(compared > 150 / every, "only {compared} translations were small enough to compare");
}

#[test]
fn jumps_keep_their_outcomes() {
    for source in [
        // A jump into a loop, and a jump out of two loops.
        "shared int x; thread p { int k; if (x == 0) goto middle; loop { k += 2; middle: k++; loop { if (k > 4) goto out; k++; if (k == 2) break; } }
         out: x = k; } observe x;",
        // Two loops that share their head, in a critical section.
        "shared int x; thread q { loop { critical { while (x != 0) { if (x == 5) return; x = x - 1; } if (x == 6) break; x = 4; } x = 5; } x = 1; }
         thread r { x = 6; critical { skip; } } property mutual_exclusion; observe x;",
    ] {
        assert!(keeps_outcomes(source, source, &problem(source), STATES), "{source}");
    }
}

/// Checks that the export has these lines, without comments.
fn exports_lines(source: &str, lines: &[&str]) {
    let text = export_text(&problem(source));
    for line in lines {
        let found = text.lines().any(|l| l.split("//").next().unwrap_or(l).trim() == *line);
        assert!(found, "no line `{line}` in\n{text}");
    }
    read("the export", &text);
}

#[test]
fn types_are_preserved() {
    exports_lines(
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
fn critical_sections_are_preserved() {
    exports_lines(
        "shared int x; thread p { loop { critical { if (x == 1) break; if (x == 2) continue; x = 3; } } }
         property mutual_exclusion;",
        &["critical {", "break;", "property mutual_exclusion;"],
    );
}

#[test]
fn records_are_preserved() {
    exports_lines(
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
