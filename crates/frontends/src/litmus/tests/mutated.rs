//! Random texts: the front end does not panic, and returns either a test or an error.
//!
//! Lowering panics if it builds an ill-formed program, so these tests also check well-formedness.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use fencepost_ir::Diagnostics;
use proptest::prelude::*;

use super::super::error::{ALL, LitmusError};
use super::read;

/// Fragments of tests, for random texts.
const PIECES: [&str; 58] = [
    "AArch64",
    "LDR W0,[X1]",
    "LDXR W2,[X1]",
    "STXR W3,W2,[X1]",
    "STLR X0,[X1]",
    "CASAL W0,W2,[X1]",
    "LDP W0,W1,[X1],#4",
    "CBNZ W0,L",
    "B.LE L",
    "L:",
    "[X1,W2,SXTW]",
    "#",
    "X86",
    "X86_64",
    "C",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "(*",
    "*)",
    "|",
    ";",
    ":",
    ",",
    "=",
    "=>",
    "/\\",
    "\\/",
    "~",
    "<<",
    "$",
    "%",
    "-",
    "exists",
    "forall",
    "filter",
    "locations",
    "not",
    "P0",
    "P1",
    "0:EAX",
    "LOCK",
    "MOV",
    "XCHG",
    "CMPXCHG",
    "JNE",
    "AL",
    "EAX",
    "%rax",
    "x",
    "a[1]",
    "0x",
    "4294967296",
    "\u{e4}",
    "\n",
];

/// The tests of the corpus.
static CORPUS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let corpus = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let entries = ["x86", "aarch64"]
        .map(|folder| fs::read_dir(corpus.join(folder)).expect("the corpus folder exists"));
    let entries = entries.into_iter().flatten();
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "litmus"));
    paths.sort();
    assert!(paths.len() >= 100, "the corpus has at least 100 tests");
    paths.iter().map(|path| fs::read_to_string(path).expect("a readable file")).collect()
});

/// Reads a text with and without places for fences. Checks that there is an error exactly if there
/// is no test, and that codes and spans are valid.
fn check(source: &str) {
    for places in [false, true] {
        let mut diagnostics = Diagnostics::new();
        let test = super::super::read(source, "t", places, &mut diagnostics);
        assert_eq!(test.is_none(), diagnostics.has_errors(), "{source}");
        for diagnostic in diagnostics.iter() {
            assert!(ALL.contains(&diagnostic.code), "{}", diagnostic.code);
            let (start, end) = (diagnostic.span.start as usize, diagnostic.span.end as usize);
            assert!(end <= source.len() && start <= end, "{source}");
        }
    }
}

/// A mutation of a text at a position.
#[derive(Clone, Debug)]
enum Change {
    /// Deletes this many characters.
    Cut(usize),
    /// Inserts a fragment.
    Put(&'static str),
    /// Duplicates this many characters.
    Repeat(usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (1usize..12).prop_map(Change::Cut),
        prop::sample::select(&PIECES[..]).prop_map(Change::Put),
        (1usize..40).prop_map(Change::Repeat),
    ]
}

fn changed(source: &str, at: usize, change: &Change) -> String {
    let chars: Vec<char> = source.chars().collect();
    let at = at % (chars.len() + 1);
    let (before, after) = chars.split_at(at);
    let text = |chars: &[char]| chars.iter().collect::<String>();
    let upto = |count: usize| count.min(after.len());
    match change {
        Change::Cut(count) => text(before) + &text(&after[upto(*count)..]),
        Change::Put(piece) => text(before) + piece + &text(after),
        Change::Repeat(count) => text(before) + &text(&after[..upto(*count)]) + &text(after),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn arbitrary_text_does_not_panic(source in "\\PC*") {
        check(&source);
    }

    #[test]
    fn arbitrary_rows_do_not_panic(rows in "[ -~\n]{0,80}") {
        check(&format!("X86 T {{ x=0; }} P0 | P1 ;\n{rows}"));
    }

    #[test]
    fn arbitrary_fragments_do_not_panic(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40)) {
        let text = pieces.join(" ");
        check(&text);
        check(&format!("X86 T {{ {text} }} P0 ; NOP ; forall (true)"));
        check(&format!("X86_64 T {{ }} P0 | P1 ; {text}"));
        check(&format!("X86 T {{ }} P0 ; NOP ; exists {text}"));
    }

    #[test]
    fn mutated_tests_do_not_panic(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<u16>(), change()), 1..5),
    ) {
        let mut source = which.get(&CORPUS).clone();
        for (at, change) in &changes {
            source = changed(&source, *at as usize, change);
        }
        check(&source);
    }
}

#[test]
fn the_corpus_is_valid() {
    for source in CORPUS.iter() {
        let mut diagnostics = Diagnostics::new();
        assert!(super::super::read(source, "t", true, &mut diagnostics).is_some(), "{source}");
    }
}

#[test]
fn a_file_may_end_with_a_comment() {
    for source in ["C t\n{}\nP0(int *x) // foo", "C t\n{}\n// foo", "C t\n{}\nP0(int *x) {} // foo"]
    {
        let error = read(source).err();
        let syntax = |all: Vec<LitmusError>| all.iter().all(|error| error.code == "LT0001");
        assert!(error.is_none_or(syntax), "{source}");
    }
}

#[test]
fn long_conditions_are_lowered() {
    let many = vec!["x=0"; 20_000].join(" /\\ ");
    let test = read(&format!("X86 t\n{{}}\n P0 ;\n NOP ;\nexists ({many})\n"));
    assert_eq!(test.expect("a test").state_vars, ["[x]"]);
    let values: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
    let set = values.join(",");
    assert!(read(&format!("X86 t\n{{}}\n P0 ;\n NOP ;\nexists (x={{{set}}})\n")).is_ok());
}
