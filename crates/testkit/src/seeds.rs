//! The seeds of random tests.
//!
//! - `cargo test` uses few seeds: enough to detect the mutations.
//! - `FENCEPOST_CAMPAIGN=N` uses N times as many. `cargo xtask campaign` sets it and runs every
//!   test with `random` or `campaign` in its path.
//! - `FENCEPOST_SEEDS=from..to` uses exactly these seeds.

use std::ops::Range;

/// Returns the seeds of a test: `0..usual` unless an environment variable changes it.
///
/// # Panics
/// If one of the environment variables is malformed.
pub fn seeds(usual: u64) -> Range<u64> {
    if let Ok(text) = std::env::var("FENCEPOST_SEEDS") {
        let bounds =
            text.split_once("..").and_then(|(from, to)| Some((number(from)?, number(to)?)));
        let (from, to) = bounds.expect("FENCEPOST_SEEDS is `from..to`");
        return from..to;
    }
    match std::env::var("FENCEPOST_CAMPAIGN") {
        Ok(text) => 0..usual * number(&text).expect("FENCEPOST_CAMPAIGN is a number"),
        Err(_) => 0..usual,
    }
}

/// Returns whether `cargo xtask campaign` runs the tests. Some tests without random programs then
/// cover more cases.
pub fn is_campaign() -> bool {
    std::env::var_os("FENCEPOST_CAMPAIGN").is_some()
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// Prints how many comparisons a random test made, and of what. `cargo xtask campaign` sums these
/// lines.
pub fn report_comparisons(what: &str, count: u64) {
    println!("compared: {count} {what}");
}
