//! Random tests: no text makes the front end panic or run for long.

use fencepost_ir::Diagnostics;
use proptest::prelude::*;

use crate::c::{PreprocessOptions, parse_unit};

/// Parses a text. Every span must be inside the file.
fn check_no_panic(text: &str) {
    let mut diagnostics = Diagnostics::new();
    let find =
        |_: &str, name: &str, _: bool| (name == "self.h").then(|| (name.into(), text.into()));
    let options = PreprocessOptions { find_file: &find, ..PreprocessOptions::default() };
    let (_, unit) = parse_unit("main.c", text, &options, &mut diagnostics);
    for diagnostic in diagnostics.iter() {
        assert!(diagnostic.span.end as usize <= text.len(), "{diagnostic:?}");
        assert!(text.is_char_boundary(diagnostic.span.start as usize), "{diagnostic:?}");
    }
    drop(unit);
}

const TOKENS: &[&str] = &[
    "int",
    "x",
    "T",
    "f",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "*",
    "&",
    "=",
    "+",
    "-",
    "1",
    "'a'",
    "\"s\"",
    "if",
    "else",
    "while",
    "for",
    "do",
    "switch",
    "case",
    "default",
    ":",
    "?",
    "return",
    "struct",
    "union",
    "enum",
    "typedef",
    "static",
    "void",
    "sizeof",
    "_Generic",
    "typeof",
    "asm",
    "__attribute__((",
    "))",
    "_Atomic",
    "->",
    ".",
    "...",
    "goto",
    "break",
    "({",
    "})",
    "(T)",
    "_Static_assert",
    "__extension__",
    "unsigned",
    "\n#define M(a, ...) a ## M #a\n",
    "M(",
    "M",
    "\n#if 1\n",
    "\n#else\n",
    "\n#endif\n",
    "\n#include \"self.h\"\n",
    "\n#undef M\n",
    "\\\n",
    "##",
    "std::",
    "new",
    "class",
    "@",
    "_Alignas(",
    "__builtin_offsetof(",
    "READ_ONCE(x)",
    "__func__",
];

const PROGRAM: &str = "#include <stdatomic.h>\n#define N 2\n#define inc(x, ...) do { x += N; } \
while (0)\ntypedef struct node { int value; struct node *next; } node_t;\n_Atomic(node_t *) top;\n\
enum { A, B = 3 };\nstatic inline int f(node_t *p, int (*g)(int)) {\n  int a[] = { 1, [2] = B };\n\
  for (int i = 0; i < N; i++) { inc(a[i], 1); if (!p) break; else p->value = g(i) ? 1 : 'x'; }\n\
  switch (a[0]) { case 1: return sizeof(node_t); default: goto out; }\nout:\n  \
asm volatile (\"mfence\" ::: \"memory\");\n  return ({ int r = (int)atomic_load(&top)->value; r; });\n}\n\
#if defined(N) && N > 1\nint main(void) { return f(0, 0); }\n#endif\n";

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text_is_handled_without_panic(text in "\\PC{0,200}") {
        check_no_panic(&text);
    }

    #[test]
    fn any_bytes_are_handled_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        check_no_panic(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_tokens_are_handled_without_panic(words in proptest::collection::vec(0..TOKENS.len(), 0..60)) {
        let words: Vec<&str> = words.into_iter().map(|at| TOKENS[at]).collect();
        check_no_panic(&words.join(" "));
        check_no_panic(&format!("typedef int T; void f(int x) {{ {} }}", words.join(" ")));
    }

    #[test]
    fn truncated_programs_are_handled_without_panic(at in 0..PROGRAM.len()) {
        check_no_panic(&PROGRAM[..at]);
        check_no_panic(&PROGRAM[at..]);
    }

    #[test]
    fn mutated_programs_are_handled_without_panic(
        at in any::<prop::sample::Index>(),
        word in 0..TOKENS.len(),
        keep in any::<bool>(),
    ) {
        let mut tokens: Vec<&str> = PROGRAM.split(' ').collect();
        let at = at.index(tokens.len());
        if keep {
            tokens.insert(at, TOKENS[word]);
        } else {
            tokens[at] = TOKENS[word];
        }
        check_no_panic(&tokens.join(" "));
    }
}

#[test]
fn the_program_of_the_random_tests_is_valid() {
    let mut diagnostics = Diagnostics::new();
    parse_unit("main.c", PROGRAM, &PreprocessOptions::default(), &mut diagnostics);
    assert_eq!(diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>(), [""; 0]);
}
