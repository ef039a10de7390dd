//! Any bytes: the front end neither panics nor fails without a message. Lowering checks its own
//! result, so a program that is not well-formed is found, too.
//!
//! Run with `cargo +nightly fuzz run parse`.

#![no_main]

use fencepost_ir::Diagnostics;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let source = String::from_utf8_lossy(bytes);
    let mut diagnostics = Diagnostics::new();
    let problems = fencepost_frontends::fp::lower(&source, &mut diagnostics);
    assert_eq!(problems.is_none(), diagnostics.has_errors());
});
