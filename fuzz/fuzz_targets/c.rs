//! Reading any input as a C program never panics and never fails without a diagnostic. Lowering validates its own
//! result, so this also finds ill-formed programs.
//!
//! Run with `cargo +nightly fuzz run c`.

#![no_main]

use fencepost_frontends::Request;
use fencepost_frontends::c::frontend::compile;
use fencepost_ir::Diagnostics;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let source = String::from_utf8_lossy(bytes);
    for places in [false, true] {
        let mut diagnostics = Diagnostics::new();
        let request = Request {
            places,
            ..Request::default()
        };
        let problem = compile(&source, &request, &mut diagnostics);
        assert_eq!(problem.is_none(), diagnostics.has_errors());
    }
});
