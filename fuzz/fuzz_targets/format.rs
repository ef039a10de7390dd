//! Formatting any input is idempotent and keeps all comments.
//!
//! Run with `cargo +nightly fuzz run format`.

#![no_main]

use fencepost_frontends::fp::{format::format, lexer::lex};
use fencepost_ir::Diagnostics;
use libfuzzer_sys::fuzz_target;

/// Returns all comments, sorted.
fn comments(source: &str) -> Vec<&str> {
    let lexed = lex(source, &mut Diagnostics::new());
    let mut all: Vec<&str> = lexed
        .comments
        .iter()
        .map(|c| c.text(source).trim_end())
        .collect();
    all.sort_unstable();
    all
}

fuzz_target!(|bytes: &[u8]| {
    let source = String::from_utf8_lossy(bytes);
    let Some(once) = format(&source, &mut Diagnostics::new()) else {
        return;
    };
    assert_eq!(comments(&once), comments(&source));
    let twice = format(&once, &mut Diagnostics::new()).expect("formatted text parses");
    assert_eq!(twice, once);
});
