//! The command line through the real binary: what is printed, and with which exit code.
//!
//! The cases are in `tests/cmd`; `TRYCMD=overwrite cargo test -p fencepost --test fencepost command_line` writes
//! what is printed now into them. Times are elided there.

#[test]
fn cases() {
    // The reader's terminal is not part of the test.
    trycmd::TestCases::new().env("COLUMNS", "100").env("NO_COLOR", "1").case("tests/cmd/*.trycmd");
}
