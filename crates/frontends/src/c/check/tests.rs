//! Tests of the checker.

mod print;

use fencepost_ir::Diagnostics;

use super::check;
use crate::c::{PreprocessOptions, parse_unit};

/// Checks a program. Returns its typed tree, or the messages.
fn checked(text: &str) -> String {
    let mut diagnostics = Diagnostics::new();
    let (map, unit) = parse_unit("main.c", text, &PreprocessOptions::default(), &mut diagnostics);
    let program = check(&unit, &map, &mut diagnostics);
    assert_eq!(program.is_none(), diagnostics.has_errors());
    let mut out = messages(&diagnostics);
    if let Some(program) = program {
        out.push_str(&print::program(&program));
    }
    out
}

fn messages(diagnostics: &Diagnostics) -> String {
    let mut out = String::new();
    for d in diagnostics.sorted() {
        let hint = d.hint.as_ref().map_or(String::new(), |hint| format!(" ({hint})"));
        out.push_str(&format!(
            "{} {}:{} {}{hint}\n",
            d.code, d.span.line, d.span.column, d.message
        ));
    }
    out
}

#[test]
fn smoke() {
    println!(
        "{}",
        checked(
            "#include <stdatomic.h>\n#include <pthread.h>\nint x; atomic_int y;
             struct s { char c; int a[3]; struct s *next; } g = { 1, {2, 3}, &g };
             void *f(void *p) { y++; x = g.a[1]; atomic_store(&y, 3); return 0; }
             int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return x + g.c; }"
        )
    );
}
