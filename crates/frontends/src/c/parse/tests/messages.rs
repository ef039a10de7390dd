//! Tests of the messages about programs with errors.

use std::fmt::Write;

use fencepost_ir::{Diagnostics, Severity};

use crate::c::{PreprocessOptions, codes, parse_unit};

/// Returns the messages of a program, with their positions and hints.
fn messages(text: &str) -> String {
    let find = |_: &str, name: &str, _: bool| {
        (name == "queue.h").then(|| ("queue.h".into(), "int a;\nint b\nint c;\n".into()))
    };
    let options = PreprocessOptions { find_file: &find, ..PreprocessOptions::default() };
    let mut diagnostics = Diagnostics::new();
    let (map, _) = parse_unit("main.c", text, &options, &mut diagnostics);
    let mut out = String::new();
    for line in text.lines() {
        writeln!(out, "| {line}").expect("a string");
    }
    for d in diagnostics.sorted() {
        assert!(codes::ALL.contains(&d.code));
        assert!(d.span.end as usize <= text.len(), "{}", d.message);
        let severity = match d.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let (line, column) = (d.span.line, d.span.column);
        let at = map.text(d.span);
        writeln!(out, "{line}:{column} `{at}` {severity} {}: {}", d.code, d.message)
            .expect("a string");
        if !d.label.is_empty() {
            writeln!(out, "    {}", d.label).expect("a string");
        }
        for (span, text) in &d.related {
            writeln!(out, "    {}:{} {text}", span.line, span.column).expect("a string");
        }
        if let Some(hint) = &d.hint {
            writeln!(out, "    hint: {hint}").expect("a string");
        }
    }
    out
}

const PROGRAMS: &[&str] = &[
    "int main(void) {\n  int x = 1\n  int y = 2;\n  x = y\n  return x;\n}\nint z\nint w;",
    "void f(int x) {\n  x = ;\n  if x { x = 1; }\n  for (int i = 0; i < 3; i++ { }\n  x = (1;\n  a[1;\n}\nint y;",
    "#include <atomic>\n#include \"nope.h\"\nint x;",
    "#include \"queue.h\"\nint x;",
    "class A { int x; };\nusing namespace std;\ntemplate <typename T> T f(T x) { return x; }\nextern \"C\" { int z; }\nint y;",
    "void f(void) {\n  std::thread t;\n  int *p = new int;\n  delete p;\n  auto g = [&](int x) { return x; };\n  int &r = *p;\n  p = nullptr;\n  try { } catch (...) { }\n  call([](int x) { });\n}",
    "uint32_t x;\npthread_t t;\natomic_int a;\nfoo_t *f;\nint g(bar_t b) { return (baz *)b; }\nfoo_t again;",
    "int f(a, b) int a, b; { return a; }\nvoid g(void) { goto *p; asm goto (\"\"); p = &&l; int h(void) { } }\nasm(\"nop\");",
    "int a = 09, b = 0xg, c = 1ux, d = 99999999999999999999, e = '\\q', f = '\\x';",
    "int größe;\nint b = 'a;\nint c = \"a;\nint @ d;\nint e;",
    "void f(void) {\n  if (1) { \n  g();\n",
    "}\nint x;\nlong short y;\nint struct s z;\nstatic w = 1;\nstruct { int a } b;\nenum { A B };\nint c;",
    "void f(void) { else { } case: ; return 1 2; }\nint f(int) { }; int g(void) { return 1; }",
    "#define CHECK(x) if (x) {\nvoid f(void) {\n  CHECK(1)\n}\n",
    "#if 0\nint x;\n",
    "#define f(a, b) a b\nint x = f(1);\n#error stop\n",
];

#[test]
fn programs_with_errors_have_messages() {
    let out: Vec<String> = PROGRAMS.iter().map(|text| messages(text)).collect();
    insta::assert_snapshot!("messages_of_bad_programs", out.join("\n"));
}

#[test]
fn nesting_and_size_are_limited() {
    let repeat = |before: &str, middle: &str, after: &str, count: usize| {
        format!("void f(int a) {{ {}{middle}{}; }}", before.repeat(count), after.repeat(count))
    };
    let table = [
        (repeat("(", "1", ")", 10_000), "C0005"),
        (repeat("1 + ", "1", "", 10_000), "C0005"),
        (repeat("! ", "1", "", 10_000), "C0005"),
        (repeat("(int)", "1", "", 10_000), "C0005"),
        (repeat("a = ", "1", "", 10_000), "C0005"),
        (repeat("a ? 1 : ", "1", "", 10_000), "C0005"),
        (repeat("a ? ", "1", " : 1", 10_000), "C0005"),
        (repeat("f(", "1", ")", 10_000), "C0005"),
        (repeat("a", "[1]", "[1]", 10_000), "C0005"),
        (repeat("{", "", "}", 10_000), "C0005"),
        (repeat("if (a) ; else ", ";", "", 10_000), "C0005"),
        (repeat("case 1: ", ";", "", 10_000), "C0005"),
        (repeat("({ 1 + ", "1", "; })", 10_000), "C0005"),
        (repeat("sizeof(struct { int x[", "1", "]; })", 10_000), "C0005"),
        (format!("int {}x;", "*".repeat(10_000)), "C0005"),
        (format!("int {}x{};", "(".repeat(10_000), ")".repeat(10_000)), "C0005"),
        (format!("int x{};", "[1]".repeat(10_000)), "C0005"),
        (format!("int f{};", "(int g".repeat(10_000)), "C0005"),
        (format!("{} x;", "struct {".repeat(10_000)), "C0005"),
        (format!("int x = {}", "{".repeat(10_000)), "C0005"),
        ("int 1;\n".repeat(1000), "C0007"),
    ];
    for (text, code) in table {
        let mut diagnostics = Diagnostics::new();
        parse_unit("main.c", &text, &PreprocessOptions::default(), &mut diagnostics);
        let last = diagnostics.iter().last().map(|diagnostic| diagnostic.code);
        let start: String = text.chars().take(60).collect();
        assert_eq!(last, Some(code), "{start}");
    }
}

/// An expression may be high at each nesting level. The whole tree still has a limit.
#[test]
fn the_height_of_a_tree_is_limited() {
    let mut text = String::from("a");
    for _ in 0..100 {
        text = format!("({text}{})", " + a".repeat(100));
    }
    let out = messages(&format!("int x = {text};"));
    assert!(out.contains("C0005"));
}

/// Reads the book's page: the codes, each with its example.
fn page() -> Vec<(&'static str, Option<&'static str>)> {
    let page = include_str!("../../../../../../book/src/c-errors.md");
    let sections = page.split("\n## ").skip(1);
    sections
        .map(|section| {
            let code = section.get(..5).expect("a section begins with its code");
            let example = section.split("```c\n").nth(1).and_then(|rest| rest.split("```").next());
            (code, example)
        })
        .collect()
}

/// The page lists every code, and each example of preprocessing and syntax causes the message of
/// its section.
#[test]
fn the_page_of_errors_is_complete() {
    let listed: Vec<&str> = page().iter().map(|(code, _)| *code).collect();
    assert_eq!(listed, codes::ALL);
    for (code, example) in page() {
        let Some(example) = example.filter(|_| code < "C0050") else { continue };
        let mut diagnostics = Diagnostics::new();
        parse_unit("main.c", example, &PreprocessOptions::default(), &mut diagnostics);
        let found: Vec<&str> = diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(found, [code], "{example}");
    }
}
