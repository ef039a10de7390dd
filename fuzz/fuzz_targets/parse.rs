//! Reading any input as a program never panics and never fails without a diagnostic. Lowering validates its own
//! result, so this also finds ill-formed programs.
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
