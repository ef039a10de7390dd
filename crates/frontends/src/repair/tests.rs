//! Tests of repairs of several files.

use std::collections::BTreeMap;

use fencepost_ir::{Atom, Barrier, OrderFences, PlaceId};

use super::*;
use crate::CFrontend;
use fencepost_ir::FenceKinds;

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

const FENCE: &str = "__atomic_thread_fence(__ATOMIC_SEQ_CST);";

#[test]
fn fences_are_inserted_into_every_file() {
    let lock = "int x, y;\nstatic void lock(void)\n{\n  x = 1;\n  y = 2;\n}\n";
    let main = "#include \"lock.h\"\nint main(void)\n{\n  lock();\n  y = 3;\n  return 0;\n}\n";
    let files = Files::new(main, &[("lock.h", lock)]);
    let changed = files.fenced(|_, text| text.starts_with("y ="));
    let fenced = |text: &str| text.replace("  y =", &format!("  {FENCE}\n  y ="));
    assert_eq!(
        changed,
        [("main.c".to_string(), fenced(main)), ("lock.h".to_string(), fenced(lock))]
    );
    let changed = files.fenced(|file, text| file == "lock.h" && text.starts_with("y ="));
    assert_eq!(changed, [("lock.h".to_string(), fenced(lock))]);
    assert_eq!(files.fenced(|_, _| false), []);
}

#[test]
fn a_file_that_is_included_twice_is_edited_once() {
    let body = "  x = 1;\n  y = 2;\n";
    let main = "int x, y;\nvoid f(void)\n{\n#include \"body.inc\"\n}\nint main(void)\n{\n  f();\n\
                #include \"body.inc\"\n  return 0;\n}\n";
    let changed = Files::new(main, &[("body.inc", body)]).fenced(|_, text| text.starts_with("y ="));
    assert_eq!(changed, [("body.inc".to_string(), format!("  x = 1;\n  {FENCE}\n  y = 2;\n"))]);
}

#[test]
fn a_file_that_includes_itself_is_edited_once() {
    let main = "#ifndef BODY\n#define BODY\nint x;\nint main(void)\n{\n#include \"main.c\"\n  \
                return 0;\n}\n#else\n  x = 1;\n  x = 2;\n#endif\n";
    let changed = Files::new(main, &[]).fenced(|_, text| text == "x = 2;");
    let expected = main.replace("  x = 2;", &format!("  {FENCE}\n  x = 2;"));
    assert_eq!(changed, [("main.c".to_string(), expected)]);
}

#[test]
fn a_statement_in_two_files_gets_no_braces() {
    let main =
        "int x;\nint main(void)\n{\n  if (x)\n#include \"head.inc\"\n    x = 2;\n  return 0;\n}\n";
    let files = Files::new(main, &[("head.inc", "while (x == 1)\n")]);
    files.lowered(|source| {
        let places = &source.problems[0].program.places;
        let wraps: Vec<&str> =
            places.iter().filter_map(|place| Some(place.wrap?.text(main))).collect();
        // The body of `while` is in the main file. The body of `if` begins in the other one.
        assert!(!wraps.is_empty() && wraps.iter().all(|wrap| *wrap == "x = 2;"), "{wraps:?}");
    });
}

#[test]
fn a_file_that_is_not_text_is_not_changed() {
    let lock = "/* \u{fffd} */\nstatic void lock(void)\n{\n  x = 1;\n}\n";
    let main = "int x;\n#include \"lock.h\"\nint main(void)\n{\n  lock();\n  return 0;\n}\n";
    let changed = Files::new(main, &[("lock.h", lock)]).fenced(|_, text| text.starts_with("x ="));
    assert_eq!(changed, []);
}

#[test]
fn orders_are_changed_in_every_file() {
    let lock = "#include <stdatomic.h>\nstatic atomic_int x;\nstatic void lock(void)\n{\n  \
                atomic_store_explicit(&x, 1, memory_order_relaxed);\n}\n";
    let main = "#include \"lock.h\"\nint main(void)\n{\n  lock();\n  \
                return atomic_load_explicit(&x, memory_order_relaxed);\n}\n";
    Files::new(main, &[("lock.h", lock)]).lowered(|source| {
        let places = source.problems[0].program.places.iter().enumerate();
        let strongest = places.filter_map(|(at, place)| {
            let choices = &place.order.as_ref()?.choices;
            let fences: OrderFences =
                choices.iter().fold(OrderFences::default(), |all, choice| all.union(choice.fences));
            Some(Atom { place: PlaceId::from_index(at), barrier: Barrier::Order(fences) })
        });
        let repaired = source.repair(&strongest.collect(), WrittenFences::Kept);
        let repaired = repaired.expect("a repair");
        assert!(repaired.differing.is_empty());
        let texts: Vec<&str> = repaired.changes.files.iter().map(|file| &*file.after).collect();
        let acquire = main.replace("relaxed", "acquire");
        assert_eq!(texts, [&*acquire, &*lock.replace("relaxed", "seq_cst")]);
    });
}
