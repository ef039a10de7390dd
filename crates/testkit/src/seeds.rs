//! Which seeds a random test draws.
//!
//! - `cargo test` draws few: enough to notice the mutations.
//! - `FENCEPOST_CAMPAIGN=N` draws N times as many. `cargo xtask campaign` sets it and runs every test with `random`
//!   or `campaign` in its path.
//! - `FENCEPOST_SEEDS=from..to` draws exactly these.

use std::ops::Range;

/// The seeds of a test that usually draws the first so many.
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

/// Whether `cargo xtask campaign` runs the tests: some look at more then, without random programs.
pub fn is_campaign() -> bool {
    std::env::var_os("FENCEPOST_CAMPAIGN").is_some()
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// Says how many comparisons a random test made, and of what. `cargo xtask campaign` adds these lines up.
pub fn compared(what: &str, count: u64) {
    println!("compared: {count} {what}");
}
