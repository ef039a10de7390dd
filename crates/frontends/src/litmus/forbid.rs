//! Turns the `exists` condition of a test into a forbidden outcome, for fence inference.
//!
//! An `exists` condition describes an outcome that fences should prevent. Inference therefore needs
//! its negation as a property. Conditions with `~exists` and `forall` are properties already.

use fencepost_ir::{Problem, Property, Quantifier};

use super::parse;

/// Turns every `exists` condition into a property that forbids its outcome. Returns a sentence that
/// describes the property, or `None` if there is no such condition.
pub fn forbid(text: &str, problems: &mut [Problem]) -> Option<String> {
    let filtered = parse(text, "").is_ok_and(|file| file.constraint.filter.is_some());
    let mut description = None;
    for problem in problems {
        for condition in std::mem::take(&mut problem.sometimes) {
            let which = if filtered { " that passes the filter" } else { "" };
            description = Some(format!("no run{which} may end with {}", condition.text));
            problem.properties.push(Property::FinalNever(condition));
        }
    }
    description
}

/// Rewrites the text of a test with `exists` to `~exists`. A stored run of the outcome violates the
/// new test when it is replayed. Returns `None` if the test has another quantifier or is invalid.
pub fn forbid_in_text(text: &str) -> Option<String> {
    let file = parse(text, "").ok().filter(|f| f.constraint.quantifier == Quantifier::Exists)?;
    let (before, rest) = text.split_at(file.constraint.span.start as usize);
    let rest = ["exists", "final"].iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest);
    Some(format!("{before}~exists {}", rest.trim_start()))
}
