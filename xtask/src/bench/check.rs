//! `cargo xtask bench --check`: compares the instructions of a few short rows with the recorded ones.
//!
//! Counts depend on the compiler and the C library a little, so a change below 10 % is accepted.

use super::callgrind::Callgrind;
use super::rows::{Row, rows};
use super::run::Runner;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The rows: a search under each model, an exploration of executions, an inference. Each takes a
/// fraction of a second.
const ROWS: [&str; 5] = [
    "explicit filter3-fenced sc",
    "explicit szymanski3-fenced tso",
    "explicit clh3-fenced pso",
    "stateless rounds3-fenced tso",
    "infer burns2 pso",
];

/// The accepted increase.
const TOLERANCE: f64 = 0.1;

/// The recorded instructions of each row.
type Counts = BTreeMap<String, u64>;

/// Counts the instructions. Writes them to the record, or compares them with it. Returns whether
/// no row needs more instructions than accepted.
pub(super) fn check(
    runner: &Runner,
    callgrind: &Callgrind,
    record: &Path,
    update: bool,
) -> Result<bool, String> {
    let complain = |error: &dyn std::fmt::Display| format!("{}: {error}", record.display());
    let old: Counts = match update {
        true => Counts::new(),
        false => {
            let text = fs::read_to_string(record).map_err(|error| complain(&error))?;
            serde_json::from_str(&text).map_err(|error| complain(&error))?
        }
    };
    let all = rows();
    let mut new = Counts::new();
    for name in ROWS {
        let row: &Row = all.iter().find(|row| row.name() == name).expect("a row of the plan");
        let count = runner.instructions(row, callgrind)?;
        let (line, _) = judge(name, count, old.get(name).copied());
        println!("{line}");
        new.insert(name.to_string(), count);
    }
    if update {
        let text = serde_json::to_string_pretty(&new).map_err(|error| complain(&error))?;
        fs::write(record, text + "\n").map_err(|error| complain(&error))?;
        println!("recorded in {}", record.display());
        return Ok(true);
    }
    let is_accepted = new.iter().all(|(name, count)| judge(name, *count, old.get(name).copied()).1);
    if !is_accepted {
        println!(
            "more instructions than recorded: if this is intended, run `cargo xtask bench --check \
             --update` and commit {}",
            record.display()
        );
    }
    Ok(is_accepted)
}

/// Describes a count and returns whether it is accepted. A row without a recorded count is not.
fn judge(name: &str, count: u64, recorded: Option<u64>) -> (String, bool) {
    match recorded {
        Some(recorded) => {
            let change = count as f64 / recorded as f64 - 1.0;
            let is_accepted = change <= TOLERANCE;
            let word = if is_accepted { "ok" } else { "TOO MANY" };
            let line = format!(
                "{name:<32} {count:>13} instructions, recorded {recorded:>13} ({:+.1} %) {word}",
                100.0 * change
            );
            (line, is_accepted)
        }
        None => (format!("{name:<32} {count:>13} instructions, not recorded"), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increases_above_the_tolerance_are_rejected() {
        assert!(judge("a", 1099, Some(1000)).1);
        assert!(judge("a", 500, Some(1000)).1);
        assert!(!judge("a", 1101, Some(1000)).1);
        assert!(!judge("a", 1000, None).1);
        assert!(judge("a", 1101, Some(1000)).0.contains("(+10.1 %) TOO MANY"));
    }

    #[test]
    fn the_rows_are_in_the_plan_and_in_the_record() {
        let all: Vec<String> = rows().iter().map(Row::name).collect();
        let record = include_str!("../../../bench/record/instructions.json");
        let record: Counts = serde_json::from_str(record).expect("a map of counts");
        for name in ROWS {
            assert!(all.iter().any(|row| row == name), "{name}");
            assert!(record.contains_key(name), "{name}");
        }
        assert_eq!(record.len(), ROWS.len());
    }
}
