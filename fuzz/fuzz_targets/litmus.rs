//! Reading any input as a litmus test never panics and never fails without a diagnostic. Lowering validates its
//! own result.
//!
//! Run with `cargo +nightly fuzz run litmus`.

#![no_main]

use fencepost_frontends::litmus::read;
use fencepost_ir::Diagnostics;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let source = String::from_utf8_lossy(bytes);
    let mut diagnostics = Diagnostics::new();
    let test = read(&source, "fuzzed", true, &mut diagnostics);
    assert_eq!(test.is_some(), !diagnostics.has_errors());
});
