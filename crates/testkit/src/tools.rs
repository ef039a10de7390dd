//! External programs that some tests need: SPIN, a C compiler.
//!
//! A test whose tool is missing prints a message and is skipped. If `FENCEPOST_REQUIRE_TOOLS` is
//! set, the test fails instead. CI sets the variable after it has installed the tools.

use std::process::{Command, Stdio};

/// Returns whether all these tools can be started. Prints the missing ones.
///
/// # Panics
/// If a tool is missing and `FENCEPOST_REQUIRE_TOOLS` is set.
///
/// ```
/// if !fencepost_testkit::tools::are_installed(&["spin", "cc"]) {
///     return;
/// }
/// ```
#[must_use]
pub fn are_installed(tools: &[&str]) -> bool {
    let missing: Vec<&str> = tools.iter().copied().filter(|tool| !can_start(tool)).collect();
    if missing.is_empty() {
        return true;
    }
    let missing = missing.join(", ");
    let required = std::env::var_os("FENCEPOST_REQUIRE_TOOLS").is_some();
    assert!(!required, "not installed, but FENCEPOST_REQUIRE_TOOLS is set: {missing}");
    println!("skipped: not installed: {missing}");
    false
}

fn can_start(tool: &str) -> bool {
    let version = if tool == "spin" { "-V" } else { "--version" };
    let mut command = Command::new(tool);
    command.arg(version).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tool_skips_or_fails_the_test() {
        assert!(are_installed(&[env!("CARGO")]));
        let required = std::env::var_os("FENCEPOST_REQUIRE_TOOLS").is_some();
        let answer = std::panic::catch_unwind(|| are_installed(&["no-tool-has-this-name"]));
        assert_eq!(answer.ok(), (!required).then_some(false));
    }
}
