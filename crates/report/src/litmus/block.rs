//! The result of a test in herd's format, for scripts that parse herd's output.
//!
//! DIVERGENCE: herd counts executions. A state search counts states, so `Positive`, `Negative` and
//! the numbers after the observation are numbers of states.

use super::{Incomplete, ModelResult, TestRun};
use fencepost_ir::Quantifier;
use std::fmt::Write;

/// Returns the block for one model, with a line `Time` if `times` is set.
pub fn block(run: &TestRun, result: &ModelResult, times: bool) -> String {
    let test = &run.test;
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(format!("Test {} {}", test.name, test.kind()));
    line(format!("States {}", result.shown.states.len()));
    for state in &result.shown.states {
        line(test.format_state(state));
    }
    line(result.verdict(test.quantifier).to_string());
    let (positive, negative) = (result.shown.positive, result.shown.negative);
    let (good, bad) = match test.quantifier {
        Quantifier::Exists | Quantifier::Forall => (positive, negative),
        Quantifier::Never => (negative, positive),
    };
    line("Witnesses".into());
    line(format!("Positive: {good} Negative: {bad}"));
    line(format!("Condition {}", test.quantified_condition()));
    let observation = result.observation();
    line(format!("Observation {} {observation} {positive} {negative}", test.name));
    if times {
        line(format!("Time {} {:.2}", test.name, result.seconds));
    }
    if let Some(hash) = &test.hash {
        line(format!("Hash={hash}"));
    }
    out.push('\n');
    out
}

/// Returns a warning if the block has no states or may lack states.
pub fn warning(run: &TestRun, result: &ModelResult) -> Option<String> {
    let mut text = format!("{}: ", run.file);
    let Some(incomplete) = &result.incomplete else {
        text.push_str("no run terminates: there are no states");
        return Some(text).filter(|_| result.shown.states.is_empty());
    };
    match incomplete {
        Incomplete::Buffers(bound) => write!(
            text,
            "pending accesses are unbounded; states with more than {bound} are missing"
        ),
        Incomplete::Limit(why) => write!(text, "{why}; states may be missing"),
    }
    .expect("writing to a string cannot fail");
    Some(text)
}
