//! `cargo xtask campaign`: runs the random tests with more seeds than `cargo test` uses.
//!
//! It runs every test with `random` or `campaign` in its path, with `FENCEPOST_CAMPAIGN` set
//! (`crates/testkit/src/seeds.rs`), and sums the comparisons that the tests report.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// The default factor on the number of seeds of `cargo test`.
const DEFAULT_SIZE: u64 = 4;

/// The usage message.
const USAGE: &str = "usage: cargo xtask campaign [SIZE] [TEST...]

  SIZE   the factor on the number of seeds of `cargo test` [default: 4]
  TEST   run the tests with TEST in their path [default: `random` and `campaign`]";

/// Runs the random tests.
pub(crate) fn campaign(root: &Path, arguments: &[String]) -> ExitCode {
    let (size, tests) = match arguments.split_first() {
        Some((first, rest)) => match first.parse::<u64>() {
            Ok(size) => (size, rest),
            Err(_) => (DEFAULT_SIZE, arguments),
        },
        None => (DEFAULT_SIZE, arguments),
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
            eprintln!("cannot start cargo: {error}");
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

/// Parses a line in which a test reports its comparisons: their number and kind.
fn compared(line: &str) -> Option<(u64, &str)> {
    let (count, what) = line.strip_prefix("compared: ")?.split_once(' ')?;
    Some((count.parse().ok()?, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_comparisons_are_parsed() {
        assert_eq!(compared("compared: 12 programs: a and b"), Some((12, "programs: a and b")));
        assert_eq!(compared("test random::programs ... ok"), None);
        assert_eq!(compared("compared: many"), None);
    }
}
