//! Outside programs that some tests need: SPIN, a C compiler.
//!
//! A test without its tool is skipped, and says so. Where `FENCEPOST_REQUIRE_TOOLS` is set (CI sets it after it
//! has installed the tools), such a test fails instead.

use std::process::{Command, Stdio};

/// Whether all these tools can be started. Prints what is missing.
///
/// # Panics
/// If one is missing and `FENCEPOST_REQUIRE_TOOLS` is set.
///
/// ```
/// if !fencepost_testkit::tools::are_installed(&["spin", "cc"]) {
///     return;
/// }
/// ```
#[must_use]
pub fn are_installed(tools: &[&str]) -> bool {
    let missing: Vec<&str> = tools.iter().copied().filter(|tool| !starts(tool)).collect();
    if missing.is_empty() {
        return true;
    }
    let missing = missing.join(", ");
    let required = std::env::var_os("FENCEPOST_REQUIRE_TOOLS").is_some();
    assert!(!required, "not installed, but FENCEPOST_REQUIRE_TOOLS is set: {missing}");
    println!("skipped: not installed: {missing}");
    false
}

fn starts(tool: &str) -> bool {
    let version = if tool == "spin" { "-V" } else { "--version" };
    let mut command = Command::new(tool);
    command.arg(version).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tool_is_skipped_or_fails() {
        assert!(are_installed(&[env!("CARGO")]));
        let required = std::env::var_os("FENCEPOST_REQUIRE_TOOLS").is_some();
        let answer = std::panic::catch_unwind(|| are_installed(&["no-tool-has-this-name"]));
        assert_eq!(answer.ok(), (!required).then_some(false));
    }
}
