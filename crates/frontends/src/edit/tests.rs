//! Tests that inserted fences have the meaning of the placement and match the layout of the source.

use std::collections::BTreeSet;

use fencepost_ir::code_equality::same_code;
use fencepost_ir::placement::{drained_address, fenced};
use fencepost_ir::{
    Atom, Barrier, Diagnostics, FenceKinds, Label, Op, Pc, PlaceId, Placement, Problem,
    WrittenFences,
};

use fencepost_testkit::{corpus, is_campaign};

use super::apply;
use crate::{FpFrontend, Frontend, Request};

const KINDS: [FenceKinds; 3] = [FenceKinds::FULL, FenceKinds::STORE_STORE, FenceKinds::LOAD_LOAD];

fn lowered(source: &str, places: bool) -> Vec<Problem> {
    let mut diagnostics = Diagnostics::new();
    let request = Request { places, ..Request::default() };
    let problems = FpFrontend.lower_for(source, &request, &mut diagnostics);
    problems.unwrap_or_else(|| panic!("{diagnostics:?}\n{source}"))
}

fn atom(place: usize, kinds: FenceKinds) -> Atom {
    Atom { place: PlaceId::from_index(place), barrier: Barrier::Fence(kinds) }
}

/// Inserts a placement and checks that the result compiles to the program with the placement.
fn edited(
    source: &str,
    problems: &[Problem],
    placement: &Placement,
    written: WrittenFences,
) -> String {
    let request = Request::default();
    let files = FpFrontend.insert(source, &request, &problems[0].program, placement, written);
    let [file] = &files.expect("every place accepts a fence")[..] else { panic!("one file") };
    let text = apply(source, &file.edits);
    let again = lowered(&text, false);
    assert_eq!(problems.len(), again.len());
    for (before, after) in problems.iter().zip(&again) {
        let expected = fenced(&before.program, placement, written);
        assert!(same_code(&expected, &after.program), "{placement:?}\n{source}\n--\n{text}");
    }
    text
}

fn formatted(source: &str) -> String {
    FpFrontend.format(source).expect("the source has no errors")
}

/// Calls `check` on the edited text for the empty placement, each single place, all places, every
/// second and every third place, with the existing fences kept and dropped; and for each drain.
fn for_placements(source: &str, check: &mut dyn FnMut(&str)) {
    let problems = lowered(source, true);
    let places = problems[0].program.places.len();
    for written in [WrittenFences::Kept, WrittenFences::Dropped] {
        let mut insert = |placement: Placement| {
            check(&edited(source, &problems, &placement, written));
        };
        insert(Placement::default());
        (0..places).for_each(|at| insert([atom(at, KINDS[at % 3])].into_iter().collect()));
        for step in 1..=3 {
            let some = (0..places).step_by(step);
            insert(some.map(|at| atom(at, KINDS[at / step % 3])).collect());
        }
    }
    for at in 0..places {
        for store in drainable(&problems, at) {
            let drain = Atom { place: PlaceId::from_index(at), barrier: Barrier::Drain(store) };
            let both = [drain, atom(at, FenceKinds::LOAD_LOAD)];
            check(&edited(source, &problems, &[drain].into_iter().collect(), WrittenFences::Kept));
            check(&edited(source, &problems, &both.into_iter().collect(), WrittenFences::Dropped));
        }
    }
}

/// Returns the stores whose location can be drained at a place by name, in every inlined copy of
/// the place.
fn drainable(problems: &[Problem], at: usize) -> BTreeSet<Label> {
    let program = &problems[0].program;
    let place = program.places[at].label;
    let same_function = |label| program.label(label).function == program.label(place).function;
    let mut found: Option<BTreeSet<Label>> = None;
    for thread in problems.iter().flat_map(|p| &p.program.threads) {
        for pc in (0..thread.code.len()).filter(|pc| thread.code[*pc].label == place) {
            let stores = thread.code.iter().filter(|s| matches!(s.op, Op::Store { .. }));
            let named = |store: &Label| {
                let address = drained_address(thread, Pc::from_index(pc), *store);
                address.is_some_and(|a| match (&a.cell, &a.index) {
                    (None, Some((_, index))) => index.as_const().is_some(),
                    (cell, None) => cell.is_none(),
                    (Some(_), Some(_)) => false,
                })
            };
            let stores = stores.map(|s| s.label).filter(|s| same_function(*s)).filter(named);
            let stores: BTreeSet<Label> = stores.collect();
            found = Some(match found {
                Some(before) => &before & &stores,
                None => stores,
            });
        }
    }
    found.unwrap_or_default()
}

#[test]
fn placements_in_corpus_programs_campaign() {
    let mut files = 0;
    for folder in ["litmus", "mutex", "papers", "regress", "structures", "waiting", "orders"] {
        for (name, source) in corpus::sample(folder, 3) {
            let is_formatted = formatted(&source) == source;
            for_placements(&source, &mut |text| {
                let fits = text.lines().all(|line| line.chars().count() <= 100);
                if is_formatted && fits {
                    assert_eq!(formatted(text), text, "{folder}/{name}");
                }
            });
            files += 1;
        }
    }
    assert!(files > if is_campaign() { 200 } else { 70 }, "{files}");
}

/// Inserts a fence at each `^` mark and compares the resulting text.
fn check(marked: &str, expected: &str) {
    let mut source = String::new();
    let mut marks = Vec::new();
    for part in marked.split('^') {
        source.push_str(part);
        marks.push(source.len() as u32);
    }
    marks.pop();
    let problems = lowered(&source, true);
    let places = &problems[0].program.places;
    // The innermost place at the mark.
    let at = |mark: &u32| places.iter().position(|place| place.offset == *mark).expect("a place");
    let placement = marks.iter().map(|mark| atom(at(mark), FenceKinds::STORE_LOAD)).collect();
    let text = edited(&source, &problems, &placement, WrittenFences::Kept);
    assert_eq!(text, expected);
}

/// Returns a program with one thread that has this body.
fn in_thread(body: &str) -> String {
    format!("shared int x, y;\nthread p {{\n{body}}}\n")
}

#[test]
fn fences_get_their_own_line_or_stay_inline() {
    let check = |marked: &str, expected: &str| check(&in_thread(marked), &in_thread(expected));
    check("  x = 1;\n  ^y = 2;\n", "  x = 1;\n  fence store_load;\n  y = 2;\n");
    check("\tx = 1;\n\t^y = 2;\n", "\tx = 1;\n\tfence store_load;\n\ty = 2;\n");
    check("  x = 1; ^y = 2; // both\n", "  x = 1; fence store_load; y = 2; // both\n");
    check("  x = 1;^y = 2;\n", "  x = 1; fence store_load; y = 2;\n");
    check("    x = 1;\n^", "    x = 1;\n    fence store_load;\n");
    check("^", "  fence store_load;\n");
    check("  critical { x = 1; ^}\n", "  critical { x = 1; fence store_load; }\n");
    check("  critical {^}\n", "  critical { fence store_load; }\n");
    check("  // why\n  ^x = 1;\n", "  // why\n  fence store_load;\n  x = 1;\n");
    check("  x = 1;\r\n  ^y = 2;\r\n", "  x = 1;\r\n  fence store_load;\n  y = 2;\r\n");
    check("  goto L;\n  x = 1;\n  L: ^;\n", "  goto L;\n  x = 1;\n  L: fence store_load;\n");
}

#[test]
fn line_terminators_are_kept() {
    let crlf = |text: &str| in_thread(text).replace('\n', "\r\n");
    check(
        &crlf("  x = 1;\n  ^while (x == 1)\n    ^y = 2;\n^"),
        &crlf(
            "  x = 1;\n  fence store_load;\n  while (x == 1) {\n    fence store_load;\n    y = 2;\n  }\n  \
             fence store_load;\n",
        ),
    );
}

#[test]
fn braces_are_added_where_needed() {
    let check = |marked: &str, expected: &str| check(&in_thread(marked), &in_thread(expected));
    check("  if (x == 1) ^y = 2;\n", "  if (x == 1) { fence store_load; y = 2; }\n");
    check("  if (x == 1) y = 2;^ // so\n", "  if (x == 1) { y = 2; fence store_load; } // so\n");
    check(
        "  if (x == 1)\n    ^y = 2;\n",
        "  if (x == 1) {\n    fence store_load;\n    y = 2;\n  }\n",
    );
    check(
        "    if (x == 1) // so\n        y = 2;^ // then\n",
        "    if (x == 1) // so\n    {\n        y = 2; // then\n        fence store_load;\n    }\n",
    );
    check("  while (x == 1)^;\n", "  while (x == 1) { fence store_load; }\n");
    check("  while (x == 1)\n    ^;\n", "  while (x == 1)\n    { fence store_load; }\n");
    check("  do ^x += 1; while (x < 3);\n", "  do { fence store_load; x += 1; } while (x < 3);\n");
    check(
        "  if (x == 1) if (y == 1) ^x = 2; else x = 3;^\n",
        "  if (x == 1) if (y == 1) { fence store_load; x = 2; } else { x = 3; fence store_load; }\n",
    );
    check(
        "  if (x == 1) y = 1; else ^if (y == 1) {\n    ^x = 2;\n  }\n",
        "  if (x == 1) y = 1; else { fence store_load; if (y == 1) {\n    fence store_load;\n    \
         x = 2;\n  } }\n",
    );
    check(
        "  if (x == 1) L: ^y = 2;\n  goto L;\n",
        "  if (x == 1) { L: fence store_load; y = 2; }\n  goto L;\n",
    );
}

/// A label may stand further left than the statements. A fence does not.
#[test]
fn a_fence_before_a_label_has_the_indentation_of_the_statements() {
    let check = |marked: &str, expected: &str| check(&in_thread(marked), &in_thread(expected));
    check(
        "    x = 1;\n  ^L:\n    y = 2;\n    goto L;\n",
        "    x = 1;\n    fence store_load;\n  L:\n    y = 2;\n    goto L;\n",
    );
    check(
        "    x = 1;\n  ^L: y = 2;\n    goto L;\n",
        "    x = 1;\n    fence store_load;\n  L: y = 2;\n    goto L;\n",
    );
    check(
        "  x = 1;\n  ^L: y = 2;\n  goto L;\n",
        "  x = 1;\n  fence store_load;\n  L: y = 2;\n  goto L;\n",
    );
    check(
        "    x = 1;\n  L:\n    ^y = 2;\n    goto L;\n",
        "    x = 1;\n  L:\n    fence store_load;\n    y = 2;\n    goto L;\n",
    );
}

/// The formatter writes one statement on a line, but leaves the first one behind its label.
#[test]
fn a_fence_behind_a_label_moves_the_statement_to_the_next_line() {
    let check = |marked: &str, expected: &str| {
        check(&in_thread(marked), &in_thread(expected));
        assert_eq!(formatted(&in_thread(expected)), in_thread(expected));
    };
    check("  goto L;\n  L: ^x = 1;\n", "  goto L;\n  L: fence store_load;\n  x = 1;\n");
    check("  goto K;\n  K: L: ^x = 1;\n", "  goto K;\n  K: L: fence store_load;\n  x = 1;\n");
    check(
        "  if (x == 1)\n    L: ^y = 2;\n  goto L;\n",
        "  if (x == 1) {\n    L: fence store_load;\n    y = 2;\n  }\n  goto L;\n",
    );
}

#[test]
fn several_statements_behind_a_label_are_on_several_lines() {
    let drained = |body: &str| {
        let source = in_thread(body);
        let problems = lowered(&source, true);
        let place = source.find("L: ").expect("a label") as u32 + 3;
        let at = problems[0].program.places.iter().position(|found| found.offset == place);
        let at = at.expect("a place behind the label");
        let store = *drainable(&problems, at).first().expect("a store");
        let drain = Atom { place: PlaceId::from_index(at), barrier: Barrier::Drain(store) };
        let both = [drain, atom(at, FenceKinds::LOAD_LOAD)].into_iter().collect();
        edited(&source, &problems, &both, WrittenFences::Dropped)
    };
    let lines = "  x = 1;\n  L: fence load_load;\n  drain x;\n";
    assert_eq!(drained("  x = 1;\n  L: ;\n"), in_thread(lines));
    assert_eq!(drained("  x = 1;\n  L: fence;\n"), in_thread(lines));
    let lines = format!("{lines}  y = 1;\n");
    assert_eq!(drained("  x = 1;\n  L: y = 1;\n"), in_thread(&lines));
}

#[test]
fn existing_fences_are_rewritten_or_removed() {
    let source = in_thread(
        "  x = 1;\n  fence store_store; // first\n  y = 1;\n  fence;\n  L: fence load_load;\n  \
         if (x == 1) fence; else { x = 2; fence; }\n  goto L;\n",
    );
    let problems = lowered(&source, true);
    let none = Placement::default();
    assert_eq!(edited(&source, &problems, &none, WrittenFences::Kept), source);
    assert_eq!(
        edited(&source, &problems, &none, WrittenFences::Dropped),
        in_thread(
            "  x = 1;\n  // first\n  y = 1;\n  L: ;\n  if (x == 1) ; else { x = 2; }\n  goto L;\n"
        )
    );
    let places = problems[0].program.places.iter().enumerate();
    let written = places.filter(|(_, place)| place.written.is_some());
    let stronger: Placement = written.map(|(at, _)| atom(at, FenceKinds::STORE_LOAD)).collect();
    let text = edited(&source, &problems, &stronger, WrittenFences::Kept);
    assert!(
        text.contains("  fence store_store, store_load; // first\n  y = 1;\n  fence;\n"),
        "{text}"
    );
    let text = edited(&source, &problems, &stronger, WrittenFences::Dropped);
    assert_eq!(text.matches("fence store_load;").count(), 5, "{text}");
}
