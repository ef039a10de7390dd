//! External programs that some tests need: SPIN, CBMC, GenMC, a C compiler.
//!
//! A test whose tool is missing prints a message and is skipped. If `FENCEPOST_REQUIRE_TOOLS`
//! contains the name of the tool, the test fails instead. CI sets the variable to the tools that it
//! has installed.

use std::process::{Command, Stdio};

/// Returns whether all these tools can be started. Prints the missing ones.
///
/// # Panics
/// If a tool is missing and `FENCEPOST_REQUIRE_TOOLS` contains its name.
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
    let required = std::env::var("FENCEPOST_REQUIRE_TOOLS").unwrap_or_default();
    let is_required = |tool: &&str| is_listed(&required, tool);
    assert!(
        !missing.iter().any(is_required),
        "not installed, but in FENCEPOST_REQUIRE_TOOLS ({required}): {missing:?}"
    );
    let missing = missing.join(", ");
    println!("skipped: not installed: {missing}");
    false
}

/// Returns whether a list of words contains a tool.
fn is_listed(required: &str, tool: &str) -> bool {
    required.split_whitespace().any(|word| word == tool)
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
    fn a_missing_tool_skips_the_test_unless_it_is_listed() {
        assert!(are_installed(&[env!("CARGO")]));
        assert!(!are_installed(&["no-tool-has-this-name"]));
        assert!(is_listed("spin cc", "cc") && !is_listed("spin cc", "cbmc"));
    }
}
