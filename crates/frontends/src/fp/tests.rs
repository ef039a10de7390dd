//! Properties of the whole front end, on random text and random programs.

use std::collections::BTreeSet;

use fencepost_ir::Diagnostics;
use proptest::prelude::*;

use super::interpret::{End, run_code, run_tree};
use super::sample::{Dice, disarrange, program};
use super::{check, codes, format, lexer, lower, parse};

/// Words to make nonsense of.
const WORDS: [&str; 74] = [
    "const", "enum", "record", "pool", "shared", "init", "proc", "operation", "client", "thread",
    "property", "final", "invariant", "observe", "int", "bool", "void", "if", "else", "while", "do",
    "for", "loop", "break", "continue", "goto", "return", "skip", "fence", "drain", "assume",
    "assert", "critical", "atomic", "free", "new", "null", "true", "in", "as", "exists", "never",
    "mutual_exclusion", "cas", "choose", "x", "y", "p", "Node", "r", "0", "1", "2147483648", "{",
    "}", "(", ")", "[", "]", ";", ",", ":", "?", ".", "..", "..=", "=", "+=", "++", "||", "&&", "==",
    "-", "!",
];

/// Nothing may panic, and errors are the only reason for no result.
fn survives(source: &str) {
    let mut diagnostics = Diagnostics::new();
    let lowered = lower(source, &mut diagnostics);
    assert_eq!(lowered.is_none(), diagnostics.has_errors(), "{source}");
    let mut diagnostics = Diagnostics::new();
    let formatted = format::format(source, &mut diagnostics);
    assert_eq!(formatted.is_none(), diagnostics.has_errors(), "{source}");
    for diagnostic in diagnostics.iter() {
        let (start, end) = (diagnostic.span.start as usize, diagnostic.span.end as usize);
        assert!(start <= end && source.get(start..end).is_some(), "{diagnostic:?}");
        assert!(codes::ALL.contains(&diagnostic.code));
    }
}

/// The tokens of a text, without commas before a brace; and its comments.
fn essence(source: &str) -> (Vec<String>, Vec<String>) {
    let lexed = lexer::lex(source, &mut Diagnostics::new());
    let mut tokens: Vec<String> = Vec::new();
    for token in &lexed.tokens {
        if token.kind == lexer::Tok::RBrace && tokens.last().is_some_and(|t| t == ",") {
            tokens.pop();
        }
        tokens.push(token.span.text(source).to_string());
    }
    let mut comments: Vec<String> =
        lexed.comments.iter().map(|c| c.text(source).trim_end().to_string()).collect();
    comments.sort();
    (tokens, comments)
}

fn formats_well(source: &str) {
    let mut diagnostics = Diagnostics::new();
    let once = format::format(source, &mut diagnostics).expect("has no errors");
    assert_eq!(essence(&once), essence(source), "tokens or comments differ:\n{source}\n--\n{once}");
    let twice = format::format(&once, &mut diagnostics).expect("still has no errors");
    assert_eq!(twice, once, "not stable:\n{source}");
}

fn shown(diagnostics: &Diagnostics) -> Vec<String> {
    diagnostics.iter().map(|d| format!("{}:{} {}", d.span.line, d.code, d.message)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(source in "\\PC{0,200}") {
        survives(&source);
    }

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        survives(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_words_are_survived(words in proptest::collection::vec(0..WORDS.len(), 0..60)) {
        let words: Vec<&str> = words.into_iter().map(|at| WORDS[at]).collect();
        survives(&words.join(" "));
        survives(&format!("shared int x, y; thread p {{ r = 0; {} }}", words.join(" ")));
    }

    /// A good program with one token changed is nearly good, and reaches deep into the checker.
    #[test]
    fn broken_programs_are_survived(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        at in any::<prop::sample::Index>(),
        word in 0..WORDS.len(),
        keep in any::<bool>(),
    ) {
        let good = program(&mut Dice::new(&bytes));
        let mut tokens: Vec<&str> = good.split(' ').collect();
        let at = at.index(tokens.len());
        if keep {
            tokens.insert(at, WORDS[word]);
        } else {
            tokens[at] = WORDS[word];
        }
        survives(&tokens.join(" "));
    }

    #[test]
    fn formatting_keeps_everything_and_is_stable(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        layout in proptest::collection::vec(any::<u8>(), 0..1500),
    ) {
        let source = disarrange(&program(&mut Dice::new(&bytes)), &mut Dice::new(&layout));
        formats_well(&source);
    }

    #[test]
    fn lowered_code_does_what_the_source_says(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
    ) {
        let source = program(&mut Dice::new(&bytes));
        let mut diagnostics = Diagnostics::new();
        let problems = lower(&source, &mut diagnostics);
        let Some(problems) = problems else {
            panic!("{:?}\n{source}", shown(&diagnostics));
        };
        let file = parse(&source, &mut diagnostics).expect("it parsed before");
        let unit = check::check(&file, &source, &mut diagnostics);
        let (naive, lowered) = (run_tree(&unit), run_code(&problems[0]));
        if naive != End::Endless && lowered != End::Endless {
            prop_assert_eq!(naive, lowered, "{}\n{}", source, problems[0]);
        }
    }
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("(", ")"), ("!", ""), ("-", ""), ("a[", "]"), ("f(", ")"), ("1 ? 2 : ", "")] {
        let source = format!("const N = {}1{};", open.repeat(100_000), close.repeat(100_000));
        survives(&source);
    }
    for open in ["{", "if (x) ", "loop ", "L: ", "if (x) {} else ", "critical { atomic {"] {
        survives(&format!("thread p {{ {} ", open.repeat(50_000)));
    }
    survives(&format!("const N = 1{};", " + 1".repeat(100_000)));
    survives(&format!("thread p {{ r = n{}; }}", ".next".repeat(100_000)));
}

#[test]
fn what_is_just_not_too_deep_is_accepted() {
    let sum = format!("const N = 1{}; thread p {{ r = N; }}", " + 1".repeat(300));
    let nested = format!("thread p {{ {} skip; {} }}", "{".repeat(90), "}".repeat(90));
    let chain = (0..100).map(|k| format!("proc int f{k}(int a) {{ return f{}(a) + 1; }}", k + 1));
    let chain: String = chain.collect();
    let calls = format!("{chain} proc int f100(int a) {{ return a; }} thread p {{ r = f0(3); }}");
    for source in [sum, nested, calls] {
        let mut diagnostics = Diagnostics::new();
        assert!(lower(&source, &mut diagnostics).is_some(), "{:?}", shown(&diagnostics));
        formats_well(&source);
    }
}

#[test]
fn sizes_are_limited() {
    let doubling: String = (0..60)
        .map(|k| format!("proc void f{k}() {{ f{n}(); f{n}(); }}", n = k + 1))
        .chain(["proc void f60() { } thread p { f0(); }".into()])
        .collect();
    let growing: String = (0..30)
        .map(|k| format!("proc void f{k}() {{ f{n}(); f{n}(); }}", n = k + 1))
        .chain(["shared int x; proc void f30() { x = 1; } thread p { f0(); }".into()])
        .collect();
    let registers: String = (0..1100).map(|k| format!("r{k} = {k};")).collect();
    let deep: String = (0..5000)
        .map(|k| format!("proc int f{k}() {{ return f{}(); }}", k + 1))
        .chain(["proc int f5000() { return 1; } thread p { r = f0(); }".into()])
        .collect();
    let constants: Vec<String> = (0..900).map(|k| format!("c{k}")).collect();
    let sources = [
        "shared int a[1000000000]; thread p { a[0] = 1; }".to_string(),
        "shared int a[60000], b[60000]; thread p { a[0] = 1; }".into(),
        "thread p(i in 0..1000000000) { r = i; }".into(),
        "thread p(i in 0..40) { r = i; } thread q(i in 0..40) { r = i; }".into(),
        "record N { int a[60000]; } pool N[60000]; thread p { skip; }".into(),
        "thread p(i in -2147483648..=2147483647) { r = i; }".into(),
        format!("enum E {{ {} }} shared E a[65000]; thread p {{ skip; }}", constants.join(", ")),
        doubling,
        growing,
        deep,
        format!("thread p {{ {registers} }}"),
    ];
    for source in sources {
        let mut diagnostics = Diagnostics::new();
        assert!(lower(&source, &mut diagnostics).is_none());
        let found: BTreeSet<&str> = diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(found, BTreeSet::from([codes::TOO_LARGE]), "{:?}", shown(&diagnostics));
    }
}

/// The page lists every code, and each example shows what its section is about.
#[test]
fn the_page_of_errors_is_complete() {
    let page = include_str!("../../../../book/src/errors.md");
    let mut listed = Vec::new();
    for section in page.split("\n## ").skip(1) {
        let code = section.get(..6).expect("a section begins with its code");
        listed.push(code.to_string());
        let mut parts = section.split("```fp\n");
        let example = parts.nth(1).and_then(|rest| rest.split("```").next());
        let example = example.unwrap_or_else(|| panic!("{code} has no example"));
        let mut diagnostics = Diagnostics::new();
        lower(example, &mut diagnostics);
        let found: Vec<&str> = diagnostics.iter().map(|d| d.code).collect();
        assert!(found.contains(&code), "the example of {code} gives {:?}", shown(&diagnostics));
    }
    assert_eq!(listed, codes::ALL);
}
