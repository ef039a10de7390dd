//! No input makes the C front end panic, hang or use much memory: the result is a program, or
//! diagnostics.
//!
//! The inputs are corpus programs and random programs whose words are changed, removed, repeated
//! or taken from other programs, texts that are cut, random bytes, and texts that are deep or
//! large.

use crate::common::{report_comparisons, seeds};
use fencepost_frontends::Request;
use fencepost_frontends::c::frontend::compile;
use fencepost_ir::Diagnostics;
use fencepost_testkit::c_programs::sequential;
use fencepost_testkit::{Random, catch_panic, corpus};
use std::fs;
use std::time::{Duration, Instant};

/// The number of changed programs.
const CHANGED: u64 = 200;
/// A front end that needs more time for one input is at fault. A debug build on a busy machine
/// needs some seconds for a large program.
const MAX_TIME: Duration = Duration::from_secs(60);

/// Compiles a text, with and without places for fences.
fn read(text: &str) -> Result<bool, String> {
    let start = Instant::now();
    let mut accepted = false;
    for places in [false, true] {
        let mut diagnostics = Diagnostics::new();
        let request = Request { places, ..Request::default() };
        let problem = compile(text, &request, &mut diagnostics);
        if problem.is_none() != diagnostics.has_errors() {
            return Err("a program is missing without an error".into());
        }
        accepted = problem.is_some();
    }
    match start.elapsed() {
        time if time > MAX_TIME => Err(format!("the front end needs {time:?}")),
        _ => Ok(accepted),
    }
}

fn check(texts: impl Iterator<Item = String>) -> (u64, u64) {
    let (mut count, mut accepted) = (0, 0);
    let (mut failures, mut messages) = (0, Vec::new());
    for text in texts {
        match catch_panic(|| read(&text)) {
            Ok(is_program) => accepted += u64::from(is_program),
            Err(message) => {
                failures += 1;
                if !messages.iter().any(|(known, _)| *known == message) {
                    messages.push((message, text));
                }
            }
        }
        count += 1;
    }
    let shown: Vec<String> =
        messages.iter().map(|(message, text)| format!("{message}\n{text}\n")).collect();
    assert!(messages.is_empty(), "{failures} failures:\n{}", shown.join("\n"));
    (count, accepted)
}

/// Returns the texts of the corpus.
fn programs() -> Vec<String> {
    let folders = ["litmus", "mutex", "sequential", "structures", "threads"];
    let paths = folders.iter().flat_map(|folder| corpus::files(&format!("c/{folder}"), "c"));
    paths.map(|path| fs::read_to_string(path).expect("a corpus program")).collect()
}

/// Splits a text into words, signs and spaces.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut last = None;
    for (at, c) in text.char_indices() {
        let this = class(c);
        if at > start && (last != Some(this) || this == 2) {
            words.push(&text[start..at]);
            start = at;
        }
        last = Some(this);
    }
    words.push(&text[start..]);
    words
}

/// Changes some words of a program. `other` gives new words.
fn change(text: &str, other: &str, random: &mut Random) -> String {
    let mut changed = words(text);
    let others = words(other);
    for _ in 0..random.within(1, 4) {
        let (at, from) = (random.below(changed.len()), random.below(others.len()));
        match random.below(8) {
            0 => drop(changed.remove(at)),
            1 => changed.insert(at, others[from]),
            2 => changed.swap(at, from % text.len().min(at + 1)),
            3 => {
                let end = (from + random.within(2, 40)).min(others.len());
                let part = others[from..end].to_vec();
                let until = (at + random.below(40)).min(changed.len());
                changed.splice(at..until, part);
            }
            4 => {
                changed[at] = random.pick(&["0", "-1", "4294967296", "1e9", "18446744073709551615"])
            }
            5 => {
                let signs = [
                    "*", "&", "(", ")", "[", "]", "{", "}", ";", ",", "?", ":", "->", "=", "#",
                    "\"",
                ];
                changed[at] = random.pick(&signs);
            }
            6 => {
                let types = [
                    "_Atomic", "void", "char", "long", "struct", "union", "static", "_Bool",
                    "double",
                ];
                changed[at] = random.pick(&types);
            }
            _ => changed[at] = others[from],
        }
        if changed.is_empty() {
            changed.push(";");
        }
    }
    let mut text = changed.concat();
    if random.percent(5) {
        let cut = random.below(text.len() + 1);
        text.truncate((0..=cut).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0));
    }
    text
}

#[test]
fn random_changes_of_programs_give_a_program_or_diagnostics() {
    let programs = programs();
    let texts = seeds(CHANGED).map(|seed| {
        let mut random = Random::new(seed ^ 0xbad << 40);
        let other = &programs[random.below(programs.len())];
        match random.percent(80) {
            true => {
                let text = &programs[random.below(programs.len())];
                change(text, other, &mut random)
            }
            false => change(&sequential(seed).text, other, &mut random),
        }
    });
    let (count, accepted) = check(texts);
    assert!(accepted > count / 20, "only {accepted} of {count} texts are programs");
    report_comparisons("changed C programs", count);
}

#[test]
fn random_bytes_give_diagnostics() {
    let texts = seeds(200).map(|seed| {
        let mut random = Random::new(seed ^ 0xb17e << 40);
        let bytes: Vec<u8> = (0..random.below(200)).map(|_| random.below(256) as u8).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let (count, _) = check(texts);
    report_comparisons("random bytes as C programs", count);
}

#[test]
fn deep_and_large_texts_give_a_program_or_diagnostics() {
    let body = |text: String| format!("int x; int a[4]; int main(void) {{ {text} return 0; }}");
    let deep = |open: &str, inner: &str, close: &str, count: usize| {
        format!("{}{inner}{}", open.repeat(count), close.repeat(count))
    };
    let mut texts = Vec::new();
    for count in [50, 300, 5_000, 60_000] {
        texts.extend([
            body(format!("x = {};", deep("(", "1", ")", count))),
            body(format!("x = {};", deep("-", "1", "", count))),
            body(format!("x = {};", deep("!", "x", "", count))),
            body(format!("x = {};", deep("1 + (", "1", ")", count))),
            body(format!("x = 0{};", " + x".repeat(count))),
            body(format!("x = {};", deep("x ? 1 : ", "1", "", count))),
            body(format!("x = {}0;", "a[".repeat(count))),
            body(format!("x = {};", deep("a[", "0", "]", count))),
            body(deep("{", "", "}", count)),
            body(format!("{};", deep("if (x) ", "", "", count))),
            body(format!("{};", deep("while (x) ", "x++", "", count))),
            body(format!("{};", deep("switch (x) case 1: ", "x++", "", count))),
            body("x++;".repeat(count)),
            body(format!("int {}p;", "*".repeat(count))),
            body(format!("int p{};", "[2]".repeat(count))),
            body(format!("struct s {{ int v; }} p = {};", deep("{", "1", "}", count))),
            format!("{}int x;{}", "struct s { ".repeat(count), "};".repeat(count)),
            format!("int x = {};", deep("sizeof(", "int", ")", count)),
            format!("{}\n", "#if 1\n".repeat(count)),
            format!("#define f(x) x\nint y = {};", deep("f(", "1", ")", count)),
        ]);
    }
    let doubling: String = (1..40).map(|at| format!("#define m{at} m{0} m{0}\n", at - 1)).collect();
    texts.push(format!("#define m0 x++;\n{doubling}int x; int main(void) {{ m39 return 0; }}"));
    let nested: String =
        (1..40).map(|at| format!("struct s{at} {{ struct s{0} a[9]; }};\n", at - 1)).collect();
    texts.push(format!("struct s0 {{ int v; }};\n{nested}struct s39 big; int main(void) {{}}"));
    let calls: String =
        (1..40).map(|at| format!("void f{at}(void) {{ f{0}(); f{0}(); }}\n", at - 1)).collect();
    texts.push(format!("int x; void f0(void) {{ x++; }}\n{calls}int main(void) {{ f39(); }}"));
    texts.extend([
        "int a[1000000000]; int main(void) { return a[5]; }".into(),
        "int a[100000][100000]; int main(void) { a[1][2] = 3; }".into(),
        "int a[0xffffffffffffffff]; int main(void) { a[1] = 3; }".into(),
        "int a[-1]; int main(void) { a[1] = 3; }".into(),
        "int a[] = { [1000000000] = 3 }; int main(void) { return a[1]; }".into(),
        "int a[] = { [0 ... 1000000000] = 3 }; int main(void) { return a[1]; }".into(),
        "int main(void) { int a[1000000] = { 0 }; return a[1]; }".into(),
        "#include <stdlib.h>\nint main(void) { int *p = malloc(1000000000); p[3] = 1; }".into(),
        "int main(void) { for (;;) { } }".into(),
        "int f(int n) { return n ? f(n - 1) : 0; } int main(void) { return f(1000000); }".into(),
        "int f(int n) { return f(n) + f(n); } int main(void) { return f(1); }".into(),
        "int x; int main(void) { for (int i = 0; i < 1000000000; i++) x ^= i; }".into(),
        "int x; int main(void) { switch (x) { case 0 ... 1000000000: x = 1; } }".into(),
        "#define f(x) f(x) f(x)\nint main(void) { f(f(f(f(1)))); }".into(),
        "#include \"main.c\"\nint main(void) { }".into(),
    ]);
    // The stack of a main thread. A debug build needs more than a test thread has.
    let work = std::thread::Builder::new().stack_size(8 << 20);
    let work = work.spawn(|| check(texts.into_iter())).expect("a thread");
    let (count, _) = work.join().expect("every text is read");
    report_comparisons("deep and large C programs", count);
}
