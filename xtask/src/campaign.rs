//! `cargo xtask campaign`: the random tests with more seeds than `cargo test` draws.
//!
//! The same tests from the same binaries: every test with `random` or `campaign` in its path, with `FENCEPOST_CAMPAIGN` set
//! (`crates/testkit/src/seeds.rs`). What they compared is added up.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// How many times as many seeds as in `cargo test`, unless told otherwise.
const USUAL: u64 = 4;

/// How it is called.
const USAGE: &str = "usage: cargo xtask campaign [SIZE] [TEST...]

  SIZE   how many times as many seeds as in `cargo test` [default: 4]
  TEST   the tests with one of these in their path, instead of those with `random` or `campaign`";

/// Runs the random tests.
pub(crate) fn campaign(root: &Path, arguments: &[String]) -> ExitCode {
    let (size, tests) = match arguments.split_first() {
        Some((first, rest)) => match first.parse::<u64>() {
            Ok(size) => (size, rest),
            Err(_) => (USUAL, arguments),
        },
        None => (USUAL, arguments),
    };
    if size == 0 || tests.iter().any(|test| test.starts_with('-')) {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--workspace", "--tests", "--", "--show-output"]);
    if tests.is_empty() {
        command.args(["random", "campaign"]);
    }
    command.args(tests).env("FENCEPOST_CAMPAIGN", size.to_string());
    let child = command.current_dir(root).stdout(Stdio::piped()).spawn();
    let (mut child, stdout) = match child.map(|mut child| (child.stdout.take(), child)) {
        Ok((Some(stdout), child)) => (child, stdout),
        Ok((None, _)) => unreachable!("the output is piped"),
        Err(error) => {
            eprintln!("cargo does not start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut comparisons: BTreeMap<String, u64> = BTreeMap::new();
    let mut output = String::new();
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        if let Some((count, what)) = compared(&line) {
            *comparisons.entry(what.into()).or_default() += count;
        } else if line.starts_with("test ") {
            println!("{line}");
        }
        output += &line;
        output.push('\n');
    }
    let passed = child.wait().is_ok_and(|status| status.success());
    if !passed {
        println!("{output}");
    }
    for (what, count) in &comparisons {
        println!("{count:>9} {what}");
    }
    let total: u64 = comparisons.values().sum();
    println!("campaign of size {size}: {total} comparisons");
    if passed && total > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How many comparisons of what, if this is the line of a test that says so.
fn compared(line: &str) -> Option<(u64, &str)> {
    let (count, what) = line.strip_prefix("compared: ")?.split_once(' ')?;
    Some((count.parse().ok()?, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_tests_are_understood() {
        assert_eq!(compared("compared: 12 programs: a and b"), Some((12, "programs: a and b")));
        assert_eq!(compared("test random::programs ... ok"), None);
        assert_eq!(compared("compared: many"), None);
    }
}
