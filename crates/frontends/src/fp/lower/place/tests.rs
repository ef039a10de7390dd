//! Tests that a fence at a place has the same meaning as the same fence in the source text.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use fencepost_ir::placement::fenced;
use fencepost_ir::validate::validate;
use fencepost_ir::{
    Atom, Barrier, Diagnostics, FenceKinds, Label, Op, Pc, PlaceId, Placement, Problem, Program,
    Thread, WrittenFences,
};
use fencepost_testkit::{corpus, is_campaign};
use proptest::prelude::*;

use crate::Request;
use crate::fp::lower_for;
use crate::fp::random_program::{Choices, program, randomize_layout};

fn lowered(source: &str, places: bool) -> Vec<Problem> {
    let mut diagnostics = Diagnostics::new();
    let request = Request { places, ..Request::default() };
    let problems = lower_for(source, &request, &mut diagnostics);
    let found: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    problems.unwrap_or_else(|| panic!("{found:?}\n{source}"))
}

/// A text edit: the offset with a key that orders edits at the same offset, the new text, and the
/// number of replaced bytes.
type Edit = ((u32, u8, Reverse<u32>, u8), String, u32);

/// Inserts fences into the source, using only the data of the places.
fn with_text(source: &str, program: &Program, fences: &BTreeMap<usize, FenceKinds>) -> String {
    let mut edits: Vec<Edit> = Vec::new();
    let mut braces = BTreeSet::new();
    for (at, kinds) in fences {
        let place = &program.places[*at];
        let kinds = place.written.map_or(*kinds, |(own, _)| own.union(*kinds));
        let text = format!("fence {};", kinds.name().replace(" + ", ", "));
        let replaced = place.written.map_or(0, |(_, span)| span.end - span.start);
        let start = Reverse(place.wrap.map_or(0, |w| w.start));
        let key = match (place.at_end, place.wrap) {
            (true, Some(_)) => (place.offset, 0, start, 0),
            (true, None) => (place.offset, 1, start, 0),
            (false, _) => (place.offset, 3, start, 0),
        };
        edits.push((key, text, replaced));
        if let Some(wrap) = place.wrap.filter(|_| place.written.is_none()) {
            braces.insert((wrap.start, wrap.end));
        }
    }
    for (start, end) in braces {
        edits.push(((start, 2, Reverse(start), 0), "{".into(), 0));
        edits.push(((end, 0, Reverse(start), 1), "}".into(), 0));
    }
    edits.sort();
    let mut out = String::new();
    let mut done = 0;
    for ((offset, ..), text, replaced) in edits {
        out.push_str(&source[done..offset as usize]);
        out.push_str(&text);
        done = (offset + replaced) as usize;
    }
    out.push_str(&source[done..]);
    out
}

/// Returns the code of a thread without statements that have no effect: the operations in the order
/// of a search from the first one, each with `critical` and the numbers of its successors. A fence
/// inside `atomic` or in `init` has no effect.
fn effective_code(thread: &Thread, init: bool) -> Vec<(Op, bool, Vec<usize>)> {
    let mut atomic = vec![init; thread.code.len()];
    let mut pending = vec![(Pc(0), init)];
    let mut seen = vec![false; thread.code.len()];
    while let Some((pc, inside)) = pending.pop() {
        if std::mem::replace(&mut seen[pc.index()], true) {
            continue;
        }
        atomic[pc.index()] = inside;
        let inside = match thread.stmt(pc).op {
            Op::AtomicBegin => true,
            Op::AtomicEnd => init,
            _ => inside,
        };
        let next = fencepost_ir::flow::successors(thread.stmt(pc));
        pending.extend(next.map(|next| (next, inside)));
    }
    let has_no_effect = |pc: Pc| match thread.stmt(pc).op {
        Op::Skip => true,
        Op::Fence(_) => atomic[pc.index()],
        _ => false,
    };
    // The next statement with an effect. `None` in an endless loop of statements without effect.
    let resolve = |mut pc: Pc| {
        for _ in 0..=thread.code.len() {
            if !has_no_effect(pc) {
                return Some(pc);
            }
            pc = thread.stmt(pc).next;
        }
        None
    };
    let mut numbers: BTreeMap<Option<Pc>, usize> = BTreeMap::new();
    let mut order = Vec::new();
    let mut number = |pc: Option<Pc>, order: &mut Vec<Option<Pc>>| {
        *numbers.entry(pc).or_insert_with(|| {
            order.push(pc);
            order.len() - 1
        })
    };
    number(resolve(Pc(0)), &mut order);
    let mut found = Vec::new();
    let mut at = 0;
    while at < order.len() {
        if let Some(pc) = order[at] {
            let stmt = thread.stmt(pc);
            let next = fencepost_ir::flow::successors(stmt);
            let next = next.map(|next| number(resolve(next), &mut order)).collect();
            let op = match &stmt.op {
                Op::Branch { cond, .. } => {
                    Op::Branch { cond: cond.clone(), then: Pc(0), otherwise: Pc(0) }
                }
                other => other.clone(),
            };
            found.push((op, stmt.critical, next));
        } else {
            found.push((Op::Skip, false, vec![at]));
        }
        at += 1;
    }
    found
}

/// Checks that inserting fences into the text and into the program gives the same code.
fn check_fences(source: &str, problems: &[Problem], fences: &BTreeMap<usize, FenceKinds>) {
    let text = with_text(source, &problems[0].program, fences);
    let placement: Placement = fences
        .iter()
        .map(|(at, kinds)| Atom {
            place: PlaceId::from_index(*at),
            barrier: Barrier::Fence(*kinds),
        })
        .collect();
    let expected = lowered(&text, false);
    assert_eq!(expected.len(), problems.len());
    for (problem, expected) in problems.iter().zip(&expected) {
        let repaired = fenced(&problem.program, &placement, WrittenFences::Kept);
        let repaired = Problem { program: repaired, ..problem.clone() };
        assert!(validate(&repaired).is_ok(), "{:?}", validate(&repaired));
        let (found, expected) = (&repaired.program, &expected.program);
        let same_code = |found: &Thread, expected: &Thread, init: bool| {
            let (found, expected) = (effective_code(found, init), effective_code(expected, init));
            assert_eq!(found, expected, "{source}\n--\n{text}");
        };
        assert_eq!(found.threads.len(), expected.threads.len());
        for (found, expected) in found.threads.iter().zip(&expected.threads) {
            assert_eq!(found.registers, expected.registers);
            same_code(found, expected, false);
        }
        assert_eq!(found.init.is_some(), expected.init.is_some());
        for (found, expected) in found.init.iter().zip(&expected.init) {
            same_code(found, expected, true);
        }
    }
}

/// Checks the empty placement, each single place, all places, every second and every third place.
fn check_placements(source: &str) {
    let problems = lowered(source, true);
    let places = problems[0].program.places.len();
    assert!(problems.iter().all(|p| p.program.places == problems[0].program.places));
    let kind = |at: usize| FenceKinds::SINGLE[at % 4].0;
    check_fences(source, &problems, &BTreeMap::new());
    for at in 0..places {
        check_fences(source, &problems, &BTreeMap::from([(at, kind(at))]));
    }
    for step in 1..=3 {
        let some = (0..places).step_by(step).map(|at| (at, kind(at / step)));
        check_fences(source, &problems, &some.collect());
    }
}

/// A program with all corner cases of the language.
const CORNERS: &str = "shared int x, y; shared bool b;
init { x = 3; f(1); }
proc int f(int v) { if (v == 2) return 7; x = v; return g(v) + g(y); }
proc int g(int v) { int r; fence store_store; r = x; return r + v; }
proc void nothing() { }
operation int take() as t { int r; r = x; x = r - 1; return f(r); }
operation void put(int v) as p { x = v; nothing(); nothing(); }
client pt(t|p); client p|t;
thread main(i in 0..2) {
  int r; ;
  if (b) if (x == 1) y = 1; else y = 2; else if (y == 3) x = 4; else { }
  while (b); while (y == 0) skip; do x += 1; while (x < 2);
  do { fence; } while (b);   // a comment
  for (int k = 0; k < 2; k++) y = k; for (;;) { if (x == 9) break; if (x == 8) continue; }
  again: x = 1; /* before */ y = 2;
  if (y == 5) goto again; if (y == 6) inner: y = f(g(f(1)));
  over: fence store_load; fence load_load;
  x = 2;
  if (b) fence; else fence full;
  if (b) last: fence;
  critical { x = 3; if (b) goto done; critical { } y = 3; }
  atomic { x = 4; fence; if (b) y = 5; f(1); }
  { x = 6; { } }
  if (i == 1) return; nothing();
  loop loop { y = 7; }
  x = 8;
  done: ;
}
thread small { L: M: x = 1; while (true) { } }
";

#[test]
fn fences_in_corner_cases_match_the_text() {
    check_placements(CORNERS);
}

#[test]
fn fences_in_corpus_programs_match_the_text_campaign() {
    let folders = ["litmus", "mutex", "papers", "regress", "structures", "waiting", "orders"];
    let sources: Vec<_> = folders.iter().flat_map(|folder| corpus::sample(folder, 3)).collect();
    for (_, source) in &sources {
        check_placements(source);
    }
    assert!(sources.len() > if is_campaign() { 200 } else { 70 }, "{}", sources.len());
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn fences_in_random_programs_match_the_text(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        layout in proptest::collection::vec(any::<u8>(), 0..600),
        picks in proptest::collection::vec((any::<prop::sample::Index>(), 0..4usize), 0..6),
    ) {
        let source = randomize_layout(&program(&mut Choices::new(&bytes)), &mut Choices::new(&layout));
        let problems = lowered(&source, true);
        let places = problems[0].program.places.len();
        let fences = picks.iter().map(|(at, kind)| (at.index(places), FenceKinds::SINGLE[*kind].0));
        check_fences(&source, &problems, &fences.collect());
    }
}

/// Without a request for places, there are no marks, and all other labels are the same.
#[test]
fn places_are_marked_only_on_request() {
    let (plain, marked) = (lowered(CORNERS, false), lowered(CORNERS, true));
    let program = &plain[0].program;
    assert!(program.places.is_empty());
    let marked = &marked[0].program;
    for thread in &program.threads {
        for stmt in thread.code.iter().filter(|s| s.op != Op::Skip) {
            assert!(marked.labels.contains(program.label(stmt.label)));
        }
    }
    let places: Vec<Label> = marked.places.iter().map(|p| p.label).collect();
    for (at, info) in marked.labels.iter().enumerate() {
        let mark = places.contains(&Label::from_index(at)) && !info.text.starts_with("fence");
        assert_eq!(program.labels.contains(info), !mark, "{info:?}");
    }
}

/// Prints the source with the number of each place, and the data of the places.
#[test]
fn positions_of_places() {
    let problems = lowered(CORNERS, true);
    let program = &problems[0].program;
    let mut out = String::new();
    let mut done = 0;
    for (at, place) in program.places.iter().enumerate() {
        out.push_str(&CORNERS[done..place.offset as usize]);
        write!(out, "<{at}>").expect("writing to a string never fails");
        done = place.offset as usize;
    }
    out.push_str(&CORNERS[done..]);
    for (at, place) in program.places.iter().enumerate() {
        let info = program.label(place.label);
        let span = info.span;
        let mut line =
            format!("F{at} {}:{} {} `{}`", span.line, span.column, info.function, info.text);
        if place.loops > 0 {
            write!(line, ", loops: {}", place.loops).expect("writing to a string never fails");
        }
        if let Some(wrap) = place.wrap {
            write!(line, ", wraps `{}`", wrap.text(CORNERS))
                .expect("writing to a string never fails");
        }
        if let Some((kinds, span)) = place.written {
            write!(line, ", `{}` is {}", span.text(CORNERS), kinds.name())
                .expect("writing to a string never fails");
        }
        writeln!(out, "{line}").expect("writing to a string never fails");
    }
    insta::assert_snapshot!("positions_of_places", out);
}
