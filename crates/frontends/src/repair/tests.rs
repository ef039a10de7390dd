//! Tests of repairs of several files.

use std::collections::BTreeMap;

use fencepost_ir::{Atom, Barrier, FenceKinds, OrderEffect, PlaceId};

use super::*;
use crate::CFrontend;

/// A C program: the main file and the files that it includes, by name.
struct Files<'a> {
    main: &'a str,
    included: BTreeMap<&'a str, &'a str>,
}

impl<'a> Files<'a> {
    fn new(main: &'a str, included: &[(&'a str, &'a str)]) -> Self {
        Files { main, included: included.iter().copied().collect() }
    }

    /// Applies a function to the lowered source.
    fn lowered<T>(&self, test: impl FnOnce(LoweredSource<'_>) -> T) -> T {
        let find_file = |_: &str, name: &str, _: bool| match name {
            "main.c" => Some((name.into(), self.main.into())),
            name => Some((name.to_string(), (*self.included.get(name)?).to_string())),
        };
        let preprocessing =
            PreprocessOptions { find_file: &find_file, ..PreprocessOptions::default() };
        let request = Request {
            name: "main.c",
            preprocessing,
            places: true,
            orders: true,
            ..Request::default()
        };
        let mut diagnostics = Diagnostics::new();
        let problems = CFrontend.lower_for(self.main, &request, &mut diagnostics);
        let problems = problems.unwrap_or_else(|| panic!("{diagnostics:?}"));
        test(LoweredSource { frontend: &CFrontend, text: self.main, request, problems: &problems })
    }

    /// Puts a full fence at each place that `is_wanted` selects by file and text. Returns the name
    /// and the new text of each changed file.
    fn fenced(&self, is_wanted: impl Fn(&str, &str) -> bool) -> Vec<(String, String)> {
        self.lowered(|source| {
            let program = &source.problems[0].program;
            let places = program.places.iter().enumerate();
            let wanted = places.filter(|(_, place)| {
                let file = program.included.get(&place.label).map_or("main.c", String::as_str);
                let text = &program.label(place.label).text;
                place.order.is_none() && !place.at_end && is_wanted(file, text)
            });
            let atom = |(at, _)| Atom {
                place: PlaceId::from_index(at),
                barrier: Barrier::Fence(FenceKinds::FULL),
            };
            let placement: Placement = wanted.map(atom).collect();
            let repaired = source.repair(&placement, WrittenFences::Kept).expect("a repair");
            assert!(repaired.differing.is_empty(), "{:?}", repaired.changes);
            let files = repaired.changes.files.into_iter();
            files.map(|file| (file.name, file.after)).collect()
        })
    }
}

/// Two threads that run `f`. Code that runs before the first thread starts has no places.
const THREADS: &str = "
#include <pthread.h>
int main(void)
{
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
";

/// Returns a program whose threads run a function with this body.
fn program(head: &str, body: &str) -> String {
    format!("{head}\nvoid *f(void *p)\n{{\n{body}\n  return p;\n}}\n{THREADS}")
}

const FENCE: &str = "__atomic_thread_fence(__ATOMIC_SEQ_CST);";

/// Returns a text with a fence before each line that starts with `y =`.
fn fenced(text: &str) -> String {
    text.replace("  y =", &format!("  {FENCE}\n  y ="))
}

fn sets_y(_file: &str, text: &str) -> bool {
    text.starts_with("y =")
}

#[test]
fn fences_are_inserted_into_every_file() {
    let lock = "int x, y;\nstatic void lock(void)\n{\n  x = 1;\n  y = 2;\n}\n";
    let main = &program("#include \"lock.h\"", "  lock();\n  y = 3;");
    let files = Files::new(main, &[("lock.h", lock)]);
    let both = [("main.c".to_string(), fenced(main)), ("lock.h".to_string(), fenced(lock))];
    assert_eq!(files.fenced(sets_y), both);
    let changed = files.fenced(|file, text| file == "lock.h" && sets_y(file, text));
    assert_eq!(changed, both[1..]);
    assert_eq!(files.fenced(|_, _| false), []);
}

#[test]
fn a_file_that_is_included_twice_is_edited_once() {
    let body = "  x = 1;\n  y = 2;\n";
    let head = "int x, y;\nvoid g(void)\n{\n#include \"body.inc\"\n}";
    let main = &program(head, "  g();\n#include \"body.inc\"");
    let changed = Files::new(main, &[("body.inc", body)]).fenced(sets_y);
    assert_eq!(changed, [("body.inc".to_string(), fenced(body))]);
}

#[test]
fn a_file_that_includes_itself_is_edited_once() {
    let main = program("#ifndef BODY\n#define BODY\nint x, y;", "#include \"main.c\"");
    let main = &format!("{main}#else\n  x = 1;\n  y = 2;\n#endif\n");
    let changed = Files::new(main, &[]).fenced(sets_y);
    assert_eq!(changed, [("main.c".to_string(), fenced(main))]);
}

#[test]
fn a_statement_in_two_files_gets_no_braces() {
    let main = &program("int x;", "  if (x)\n#include \"head.inc\"\n    x = 2;");
    let files = Files::new(main, &[("head.inc", "while (x == 1)\n")]);
    files.lowered(|source| {
        let places = &source.problems[0].program.places;
        let wraps: Vec<&str> =
            places.iter().filter_map(|place| Some(place.wrap?.text(main))).collect();
        // The body of `while` is in the main file. The body of `if` begins in the other one, where
        // `text` finds nothing.
        assert_eq!(wraps, ["x = 2;", "x = 2;"]);
    });
}

#[test]
fn a_file_that_is_not_text_is_not_changed() {
    let lock = "/* \u{fffd} */\nstatic void lock(void)\n{\n  y = 1;\n}\n";
    let main = &program("int y;\n#include \"lock.h\"", "  lock();\n  y = 2;");
    let changed = Files::new(main, &[("lock.h", lock)]).fenced(sets_y);
    assert_eq!(changed, [("main.c".to_string(), fenced(main))]);
}

#[test]
fn orders_are_changed_in_every_file() {
    let lock = "#include <stdatomic.h>\nstatic atomic_int x;\nstatic void lock(void)\n{\n  \
                atomic_store_explicit(&x, 1, memory_order_relaxed);\n}\n";
    let body = "  lock();\n  if (atomic_load_explicit(&x, memory_order_relaxed))\n    p = 0;";
    let main = &program("#include \"lock.h\"", body);
    Files::new(main, &[("lock.h", lock)]).lowered(|source| {
        let places = source.problems[0].program.places.iter().enumerate();
        let strongest = places.filter_map(|(at, place)| {
            let choices = place.order.as_ref()?.choices.iter().map(|choice| choice.effect);
            let effect = choices.fold(OrderEffect::default(), OrderEffect::union);
            Some(Atom { place: PlaceId::from_index(at), barrier: Barrier::Order(effect) })
        });
        let repaired = source.repair(&strongest.collect(), WrittenFences::Kept);
        let repaired = repaired.expect("a repair");
        assert!(repaired.differing.is_empty());
        let texts: Vec<&str> = repaired.changes.files.iter().map(|file| &*file.after).collect();
        let strongest = [&**main, lock].map(|text| text.replace("relaxed", "seq_cst"));
        assert_eq!(texts, strongest);
    });
}
