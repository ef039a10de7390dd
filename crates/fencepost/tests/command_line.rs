//! Output and exit codes of the real binary.
//!
//! The cases are in `tests/cmd`. `TRYCMD=overwrite cargo test -p fencepost --test fencepost
//! command_line` updates them. Times are elided.

#[test]
fn cases() {
    // The output must not depend on the terminal.
    trycmd::TestCases::new().env("COLUMNS", "100").env("NO_COLOR", "1").case("tests/cmd/*.trycmd");
}
