//! A test's block of output, as herd prints it, so that scripts made for herd read it.
//!
//! herd counts executions as witnesses; a search of states has states to count, so `Positive`, `Negative` and the
//! numbers behind the observation are numbers of states.

use super::{Cut, Ran, Seen};
use fencepost_ir::Quantifier;
use std::fmt::Write;

/// The block for one model; with the line `Time` if times are wanted.
pub fn block(ran: &Ran, seen: &Seen, times: bool) -> String {
    let test = &ran.test;
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(format!("Test {} {}", test.name, test.kind()));
    line(format!("States {}", seen.shown.states.len()));
    for state in &seen.shown.states {
        line(test.state(state));
    }
    line(seen.verdict(test.quantifier).to_string());
    let (positive, negative) = (seen.shown.positive, seen.shown.negative);
    let (good, bad) = match test.quantifier {
        Quantifier::Exists | Quantifier::Forall => (positive, negative),
        Quantifier::Never => (negative, positive),
    };
    line("Witnesses".into());
    line(format!("Positive: {good} Negative: {bad}"));
    line(format!("Condition {}", test.question()));
    let observation = seen.observation();
    line(format!("Observation {} {observation} {positive} {negative}", test.name));
    if times {
        line(format!("Time {} {:.2}", test.name, seen.seconds));
    }
    if let Some(hash) = &test.hash {
        line(format!("Hash={hash}"));
    }
    out.push('\n');
    out
}

/// What a reader should know about a block that does not show everything.
pub fn warning(ran: &Ran, seen: &Seen) -> Option<String> {
    let mut text = format!("{}: ", ran.file);
    let Some(cut) = &seen.cut else {
        text.push_str("no run comes to an end that counts: there are no states");
        return Some(text).filter(|_| seen.shown.states.is_empty());
    };
    match cut {
        Cut::Buffers(bound) => write!(
            text,
            "more and more accesses can be pending; states with more than {bound} are missing"
        ),
        Cut::Limit(why) => write!(text, "{why}; states may be missing"),
    }
    .expect("writing to a string");
    Some(text)
}
