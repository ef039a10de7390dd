//! Texts that nobody would write: none makes the front end panic, and each is a test or has an error.
//!
//! A test that is not well-formed in the program representation panics by itself.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use fencepost_ir::Diagnostics;
use proptest::prelude::*;

use super::super::wrong::{ALL, Wrong};
use super::read;

/// Pieces of tests, to make nonsense of.
const PIECES: [&str; 46] = [
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
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/x86");
    let entries = fs::read_dir(folder).expect("the corpus is there");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "litmus"));
    paths.sort();
    assert!(paths.len() >= 100, "the corpus is there");
    paths.iter().map(|path| fs::read_to_string(path).expect("a readable file")).collect()
});

/// Reads a text with and without places for fences. There is an error exactly when there is no test.
fn check(source: &str) {
    for places in [false, true] {
        let mut diagnostics = Diagnostics::new();
        let test = super::super::read(source, "t", places, &mut diagnostics);
        assert_eq!(test.is_none(), diagnostics.has_errors(), "{source}");
        for told in diagnostics.iter() {
            assert!(ALL.contains(&told.code), "{}", told.code);
            let end = told.span.end as usize;
            assert!(end <= source.len() && told.span.start <= told.span.end, "{source}");
        }
    }
}

/// A change of a text.
#[derive(Clone, Debug)]
enum Change {
    /// Leaves out so many characters.
    Cut(usize),
    /// Puts in a piece.
    Put(&'static str),
    /// Says so many characters twice.
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
    fn any_text(source in "\\PC*") {
        check(&source);
    }

    #[test]
    fn any_program(rows in "[ -~\n]{0,80}") {
        check(&format!("X86 T {{ x=0; }} P0 | P1 ;\n{rows}"));
    }

    #[test]
    fn any_pieces(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40)) {
        let text = pieces.join(" ");
        check(&text);
        check(&format!("X86 T {{ {text} }} P0 ; NOP ; forall (true)"));
        check(&format!("X86_64 T {{ }} P0 | P1 ; {text}"));
        check(&format!("X86 T {{ }} P0 ; NOP ; exists {text}"));
    }

    #[test]
    fn mutated_tests(
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

/// What is mutated is well-formed to begin with.
#[test]
fn the_corpus_is_read() {
    for source in CORPUS.iter() {
        let mut diagnostics = Diagnostics::new();
        assert!(super::super::read(source, "t", true, &mut diagnostics).is_some(), "{source}");
    }
}

#[test]
fn a_comment_may_be_the_last_thing_of_a_file() {
    for source in ["C t\n{}\nP0(int *x) // foo", "C t\n{}\n// foo", "C t\n{}\nP0(int *x) {} // foo"]
    {
        let wrong = read(source).err();
        let syntax = |all: Vec<Wrong>| all.iter().all(|wrong| wrong.code == "LT0001");
        assert!(wrong.is_none_or(syntax), "{source}");
    }
}

#[test]
fn conditions_may_be_long() {
    let many = vec!["x=0"; 20_000].join(" /\\ ");
    let test = read(&format!("X86 t\n{{}}\n P0 ;\n NOP ;\nexists ({many})\n"));
    assert_eq!(test.expect("a test").shown, ["[x]"]);
    let values: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
    let set = values.join(",");
    assert!(read(&format!("X86 t\n{{}}\n P0 ;\n NOP ;\nexists (x={{{set}}})\n")).is_ok());
}
