//! Tests of the whole front end: random text, random programs, limits and diagnostics.

use std::collections::BTreeSet;
use std::fmt::Write;

use fencepost_ir::{Diagnostics, Severity};
use proptest::prelude::*;

use super::interpret::{RunResult, run_code, run_tree};
use super::random_program::{Choices, program, randomize_layout};
use super::{check, codes, format, lexer, limits, lower, lower_for, parse};
use crate::Request;

/// Tokens for random text.
const TOKENS: [&str; 89] = [
    "switch (x) {",
    "case",
    "default:",
    "x.load(",
    "acquire",
    "wrap",
    "u8",
    "a[2][2]",
    "const",
    "enum",
    "record",
    "pool",
    "shared",
    "init",
    "finally",
    "proc",
    "operation",
    "client",
    "thread",
    "property",
    "final",
    "invariant",
    "observe",
    "int",
    "bool",
    "void",
    "if",
    "else",
    "while",
    "do",
    "for",
    "loop",
    "break",
    "continue",
    "goto",
    "return",
    "skip",
    "fence",
    "drain",
    "assume",
    "await",
    "assert",
    "critical",
    "atomic",
    "free",
    "new",
    "null",
    "true",
    "in",
    "as",
    "exists",
    "never",
    "mutual_exclusion",
    "linearizable",
    "operations",
    "owner",
    "aborts",
    "as p, owner",
    "cas",
    "choose",
    "x",
    "y",
    "p",
    "Node",
    "r",
    "0",
    "1",
    "2147483648",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ":",
    "?",
    ".",
    "..",
    "..=",
    "=",
    "+=",
    "++",
    "||",
    "&&",
    "==",
    "-",
    "!",
];

/// Checks that nothing panics and that a result is missing exactly when an error was reported.
fn check_no_panic(source: &str) {
    let mut diagnostics = Diagnostics::new();
    let lowered = lower(source, &mut diagnostics);
    assert_eq!(lowered.is_none(), diagnostics.has_errors(), "{source}");
    let request = Request { places: true, ..Request::default() };
    let mut diagnostics = Diagnostics::new();
    let lowered = lower_for(source, &request, &mut diagnostics);
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

/// Returns the tokens of a text, without commas before a closing brace, and its sorted comments.
fn tokens_and_comments(source: &str) -> (Vec<String>, Vec<String>) {
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

/// Checks that formatting keeps tokens and comments and is idempotent.
fn check_format(source: &str) {
    let mut diagnostics = Diagnostics::new();
    let once = format::format(source, &mut diagnostics).expect("the source has no errors");
    let (before, after) = (tokens_and_comments(source), tokens_and_comments(&once));
    assert_eq!(after, before, "tokens or comments differ:\n{source}\n--\n{once}");
    let twice = format::format(&once, &mut diagnostics).expect("the result has no errors");
    assert_eq!(twice, once, "not stable:\n{source}");
}

fn shown(diagnostics: &Diagnostics) -> Vec<String> {
    diagnostics.iter().map(|d| format!("{}:{} {}", d.span.line, d.code, d.message)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text_is_handled_without_panic(source in "\\PC{0,200}") {
        check_no_panic(&source);
    }

    #[test]
    fn any_bytes_are_handled_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        check_no_panic(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_tokens_are_handled_without_panic(words in proptest::collection::vec(0..TOKENS.len(), 0..60)) {
        let words: Vec<&str> = words.into_iter().map(|at| TOKENS[at]).collect();
        check_no_panic(&words.join(" "));
        check_no_panic(&format!("shared int x, y; thread p {{ r = 0; {} }}", words.join(" ")));
    }

    /// A valid program with one changed token reaches later passes than random text.
    #[test]
    fn mutated_programs_are_handled_without_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        at in any::<prop::sample::Index>(),
        word in 0..TOKENS.len(),
        keep in any::<bool>(),
    ) {
        let valid = program(&mut Choices::new(&bytes));
        let mut tokens: Vec<&str> = valid.split(' ').collect();
        let at = at.index(tokens.len());
        if keep {
            tokens.insert(at, TOKENS[word]);
        } else {
            tokens[at] = TOKENS[word];
        }
        check_no_panic(&tokens.join(" "));
    }

    #[test]
    fn formatting_keeps_tokens_and_comments_and_is_idempotent(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        layout in proptest::collection::vec(any::<u8>(), 0..1500),
    ) {
        let source = randomize_layout(&program(&mut Choices::new(&bytes)), &mut Choices::new(&layout));
        check_format(&source);
    }

    #[test]
    fn lowered_code_agrees_with_the_reference_interpreter(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
    ) {
        let source = program(&mut Choices::new(&bytes));
        let mut diagnostics = Diagnostics::new();
        let problems = lower(&source, &mut diagnostics);
        let Some(problems) = problems else {
            panic!("{:?}\n{source}", shown(&diagnostics));
        };
        let file = parse(&source, &mut diagnostics).expect("the source has no errors");
        let unit = check::check(&file, &source, &Request::default(), &mut diagnostics);
        let (expected, lowered) = (run_tree(&unit), run_code(&problems[0]));
        if expected != RunResult::StepLimit && lowered != RunResult::StepLimit {
            prop_assert_eq!(expected, lowered, "{}\n{}", source, problems[0]);
        }
    }
}

#[test]
fn deep_nesting_is_rejected() {
    for (open, close) in
        [("(", ")"), ("!", ""), ("-", ""), ("a[", "]"), ("f(", ")"), ("1 ? 2 : ", "")]
    {
        let source = format!("const N = {}1{};", open.repeat(100_000), close.repeat(100_000));
        check_no_panic(&source);
    }
    for open in ["{", "if (x) ", "loop ", "L: ", "if (x) {} else ", "critical { atomic {"] {
        check_no_panic(&format!("thread p {{ {} ", open.repeat(50_000)));
    }
    check_no_panic(&format!("const N = 1{};", " + 1".repeat(100_000)));
    check_no_panic(&format!("thread p {{ r = n{}; }}", ".next".repeat(100_000)));
}

#[test]
fn nesting_below_the_limit_is_accepted() {
    let sum = format!("const N = 1{}; thread p {{ r = N; }}", " + 1".repeat(200));
    let nested = format!("thread p {{ {} skip; {} }}", "{".repeat(90), "}".repeat(90));
    let chain = (0..60).map(|k| format!("proc int f{k}(int a) {{ return f{}(a) + 1; }}", k + 1));
    let chain: String = chain.collect();
    let calls = format!("{chain} proc int f60(int a) {{ return a; }} thread p {{ r = f0(3); }}");
    for source in [sum, nested, calls] {
        let mut diagnostics = Diagnostics::new();
        assert!(lower(&source, &mut diagnostics).is_some(), "{:?}", shown(&diagnostics));
        check_format(&source);
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

#[test]
fn the_number_of_errors_is_limited() {
    let names: String = (0..2000).map(|k| format!("x = unknown{k};")).collect();
    let cases = [
        ("$ ".repeat(100_000), 1),
        ("$\n".repeat(100_000), limits::ERRORS + 1),
        ("é ".repeat(60_000), 3),
        (format!("thread p {{ {} skip; }}", "if (true) skip; else ".repeat(40_000)), 1),
        (format!("thread p {{ {} }}", "x = ; ".repeat(40_000)), limits::ERRORS + 1),
        (format!("shared int x; thread p {{ {names} }}"), limits::ERRORS + 1),
        // The bodies after the last reported error are not checked.
        (
            format!(
                "shared int x; thread p {{ atomic {{ f(); }} {names} }} \
                 proc void f() {{ g(); }} proc void g() {{ f(); await(x == 1); }}"
            ),
            limits::ERRORS + 1,
        ),
        (format!("shared int x; thread p {{ x = f({}1); }}", "a, ".repeat(50_000)), 1),
    ];
    for (source, most) in cases {
        let start = std::time::Instant::now();
        let mut diagnostics = Diagnostics::new();
        assert!(lower(&source, &mut diagnostics).is_none());
        let found = shown(&diagnostics);
        let first = &found[..found.len().min(5)];
        assert!(found.len() <= most, "{} messages: {first:?}", found.len());
        let seconds = start.elapsed().as_secs();
        assert!(seconds < 5, "{seconds} seconds for {first:?}");
    }
}

#[test]
fn long_names_are_shortened_in_messages() {
    let long = "n".repeat(5_000);
    for source in [
        format!("shared int x; thread p {{ x = {long}; }}"),
        format!("thread p {{ {long}; }}"),
        format!("thread p {{ r = 1{long}; }}"),
        format!("shared int {long}; shared int {long}; thread p {{ int {long}; }}"),
        format!("thread p {{ é{long} = 1; }}"),
    ] {
        let mut diagnostics = Diagnostics::new();
        assert!(lower(&source, &mut diagnostics).is_none());
        for d in diagnostics.iter() {
            let hint = d.hint.as_deref().unwrap_or("");
            assert!(d.message.len() + d.label.len() + hint.len() < 300, "{d:?}");
        }
    }
}

/// A byte order mark is ignored. CRLF is a valid line terminator.
#[test]
fn byte_order_marks_and_crlf_are_accepted() {
    let source = "\u{feff}shared int x;   // one\r\nthread p {\r\n  x = y;\r\n}\r\n";
    let mut diagnostics = Diagnostics::new();
    assert!(lower(source, &mut diagnostics).is_none());
    let message = "3:FP0011 there is no location, constant or register `y`";
    assert_eq!(shown(&diagnostics), [message]);
    let lexed = lexer::lex(source, &mut diagnostics);
    let first = lexed.tokens[0].span;
    assert_eq!((first.text(source), first.line, first.column), ("shared", 1, 1));
    let formatted = format::format(source, &mut Diagnostics::new()).expect("no errors");
    assert_eq!(formatted, "shared int x;   // one\nthread p {\n  x = y;\n}\n");
}

/// Reads the book's page on errors: the codes, each with its example.
fn page() -> Vec<(&'static str, Option<&'static str>)> {
    let page = include_str!("../../../../book/src/errors.md");
    let sections = page.split("\n## ").skip(1);
    sections
        .map(|section| {
            let code = section.get(..6).expect("a section begins with its code");
            let example = section.split("```fp\n").nth(1).and_then(|rest| rest.split("```").next());
            (code, example)
        })
        .collect()
}

/// The page lists every code, and each example causes exactly the error of its section.
#[test]
fn the_errors_page_is_complete() {
    let listed: Vec<&str> = page().iter().map(|(code, _)| *code).collect();
    assert_eq!(listed, codes::ALL);
    for (code, example) in page() {
        // A real example of this error would fill the page.
        let Some(example) = example.filter(|_| code != codes::TOO_DEEP) else {
            continue;
        };
        let mut diagnostics = Diagnostics::new();
        lower(example, &mut diagnostics);
        let found: Vec<&str> = diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(found, [code], "the example of {code} gives {:?}", shown(&diagnostics));
    }
}

/// Snapshot of the diagnostics of each example of the errors page.
#[test]
fn messages_of_the_page() {
    let mut out = String::new();
    for (_, example) in page() {
        if let Some(example) = example {
            out.push_str(&messages(example));
        }
    }
    insta::assert_snapshot!("messages_of_the_page", out);
}

#[test]
fn properties_that_are_ignored_when_hangs_are_allowed_give_a_warning() {
    let source = "shared int x; thread p { x = 1; } property deadlock_free; property progress;
        final forall x == 1;";
    for (allow_hangs, expected) in [(true, ["FP0106"; 2].as_slice()), (false, &[])] {
        let mut diagnostics = Diagnostics::new();
        let request = Request { allow_hangs, ..Request::default() };
        assert!(lower_for(source, &request, &mut diagnostics).is_some());
        let found: Vec<&str> = diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn the_range_of_choose_is_limited() {
    let choose = |range: &str| {
        let mut diagnostics = Diagnostics::new();
        lower(&format!("thread p {{ r = choose({range}); assert(r != 5); }}"), &mut diagnostics);
        diagnostics.iter().map(|d| d.code).collect::<Vec<_>>()
    };
    assert_eq!(choose("0..65536"), [""; 0]);
    for range in ["0..65537", "-2147483648..=2147483647", "-1..=2147483647"] {
        assert_eq!(choose(range), ["FP0006"], "{range}");
    }
}

/// Snapshot of the diagnostics of programs with one or several errors.
#[test]
fn messages_of_bad_programs() {
    let mut out = String::new();
    for source in BAD {
        out.push_str(&messages(source));
    }
    insta::assert_snapshot!("messages_of_bad_programs", out);
}

/// Prints the source and its diagnostics, each with the text of its span.
fn messages(source: &str) -> String {
    let mut diagnostics = Diagnostics::new();
    lower(source, &mut diagnostics);
    let mut out: String = source.trim_end().lines().map(|line| format!("| {line}\n")).collect();
    for d in diagnostics.sorted() {
        let severity = match d.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let at = format!("{}:{} `{}`", d.span.line, d.span.column, d.span.text(source));
        writeln!(out, "{at} {severity} {}: {}", d.code, d.message)
            .expect("writing to a string never fails");
        writeln!(out, "    {}", d.label).expect("writing to a string never fails");
        for (span, text) in &d.related {
            let (line, column) = (span.line, span.column);
            writeln!(out, "    {line}:{column} `{}` {text}", span.text(source))
                .expect("writing to a string never fails");
        }
        if let Some(hint) = &d.hint {
            writeln!(out, "    hint: {hint}").expect("writing to a string never fails");
        }
    }
    out.push('\n');
    out
}

const BAD: [&str; 36] = [
    // Several syntax errors: the parser resumes after each.
    "shared int x\nshared int y;\nthread p {\n  x = ;\n  if x { y = 1; }\n  y == 2;\n  y;\n  y = 3;\n}\n\
     thread q { loop {\nthread r { x = 1 + ; }\nint z;\n",
    "thread int { skip; }",
    "thread p { x = 1; here: }",
    "final always x == 1;",
    "shared int @# x; // €",
    // A keyword as a name.
    "shared int x; thread p { await = 1; x = await + 1; } thread await { skip; }",
    // Guards with two loads or an effect, `when` in other positions, `either` with `progress`.
    "shared int x, y; thread p { either { when(x == y); } or { when(cas(x, 0, 1)); } or { when(x); }\n\
     either { skip; when(x == 1); } } property progress;",
    "shared int x; thread p { either { when(x == 1) x = 2; } or x = 3; either; }",
    // `await` inside `atomic`, directly and through calls, and conditions that do not wait.
    "shared int x; shared bool b; proc void f() { await(x == 1); } proc void g() { f(); }\n\
     proc void h() { atomic { g(); } } thread p { atomic { critical { x = 1; } await(b); f(); } h(); }",
    "shared int x; shared bool b; proc bool set() { return x == 1; }\n\
     proc void once() { assume(x == 2); } init { assume(x == 0); }\n\
     thread p(i in 0..2) { r = x; await(r == i); await(true); await(set()); assume(r == 1); once(); }\n\
     thread q { atomic { assume(!b); once(); } assume(cas(x, 0, 1)); assume(set()); assume(i() > 2); }\n\
     proc int i() { return choose(1, 2); } final exists x == 1;",
    // Types.
    "shared bool b; shared int x; thread p { if (x) b = x; while (b == 1) skip; x = b + 1; x = b; }",
    "enum E { one, two } enum F { three } shared E e; shared F f;\n\
     thread p { e = three; f = 0; e = e + 1; r = e < two; }",
    "record N { int v; N n; } pool N[2]; record M { int v; } pool M[2]; shared N h; shared M m;\n\
     thread p { h = m; h = 0; if (h) skip; r = null; r = h; free(h.v); s = r.n.n.w; }",
    "thread p { r = true; r = 1; int s = false; s += true; s++; }",
    // Names.
    "shared int x; thread p { int x; r = 1; } thread q { s = r; count += 1; }",
    "const N = M; const M = 2; const K = 1 / 0; const L = 2147483647 + 1; shared int a[K];\n\
     thread p { a[0] = L; }",
    "thread p(i in 0..2) { int r; { bool r; } for (int k = 0; k < 2; k++) skip; bool k; int i; }",
    "proc int f(int a, int a) { return a; } proc void g(int p) { return 1; } proc int h() { return; }\n\
     thread p { f(1); g(); g = 2; return 3; }",
    // Recursion: one message for the cycle.
    "proc int a(int n) { return b(n) + 1; } proc int b(int n) { return c(n); }\n\
     proc int c(int n) { if (n == 0) return 0; return a(n - 1); } thread p { r = a(3); }",
    // Conditions.
    "shared int x, a[2]; record N { int v; } pool N[1]; shared N n;\n\
     thread p { r = x; } thread q(i in 0..2) { r = x; }\n\
     final never p.s == 1; final exists q.r == 1; final exists p(0).r == 0; final forall a[2] == x;\n\
     final forall a == 1; final forall n.v == 1; final forall x; final forall z.r == 1 && w == 2;\n\
     invariant p.r == 0; observe x + 1, p.r, a; property mutex;",
    // Clients.
    "shared int x; operation int take() as t { r = x; return r; }\n\
     operation void put(int v) as t { x = v; } operation void two(bool b) as bb { skip; }\n\
     client tp|t; client t|t; client t(t); final never t2 == 0 && t1 == 1;",
    "shared int x; operation int take() as t { r = x; return r; }\n\
     client t|t; client t(t); final never t2 == 0 && t1 == 1 && t3 == 1;",
    // Attributes and properties of operations.
    "operation int take() as t, aborts true, owner, owner { return 1; }\n\
     operation void put(int v) as p, repeats, aborts 0 { skip; }\n\
     operation int(0..4) get() as g, aborts -1 { return 1; } client t|t; client p(tt|g);\n\
     property linearizable operations; property sequentially_consistent operations;",
    "operation int take() as t, ower { return 1; } thread p { r = take(); }",
    "property linearizable operations; property sequentially_consistent; thread p { skip; }",
    "operation int take() as t { owner = 1; repeats = owner; return repeats; } client t;\n\
     property linearizable operation; property mutual_exclusion operations; property linear;",
    // One message for each invalid name, and one for each line of unexpected characters.
    "shared int größe;\nthread p { größe = 1; r = größe; $ $ @ x\n$ # $ }",
    // Misspelt keywords, and hints for them.
    "shared int x; thread p { frence; skp; brek; contniue; y; x = 1; }\n\
     int main(void) { x = 1; }\nvoid f() { }\nx = 1;",
    "shared int x; thread p { asert(x == 1); asume(x == 1); fre(x); }",
    "shared bool b; const N = 1; thread p { if (3) b = 1; while (N) b = 0; }",
    "shared int x; thread p { r = 1; } thread q(i in 0..2) { x = p.r; x = q(0).y; p.r = 2; x = p; }",
    // Typing errors in a file without a property. Numbered names are not typing errors.
    "shared int turn; thread p { trun = 1; turn1 = turn; turn2 = turn; }",
    "shared int x; thread p { count = x; conut = count + 1; r1 = x; r2 = x; }",
    // Syntax errors do not hide other errors and cause no further errors.
    "shared int x; shared bool b = ; const N = 99999999999; shared int a[N]; record R { int v }\n\
     pool R[2]; shared R h; operation int take() as t { return + ; }\n\
     thread p { s = b; if (s) x = true; q = 1 +; u = q; if (u) x = unknown; if (x) h = new R; }\n\
     proc int f(int k) { x = k; return 1 1; } thread q { x = f(true); goto there; there: x = ; }\n\
     client t|t; final never t1 == 0 && p.q == 1 && p.z == 1 && nowhere == 2;",
    "record R { int v; } pool R[; shared R h; thread p { while (h.v > 0 { break; } if (h.w == 1) skip; }",
    "shared int x; thread p { if (x == 1) x = ; else if (x == 2) x = ; else x = 3; y = x + z; }",
];
