//! The outcome that a test asks for, forbidden.
//!
//! A test asks whether an outcome `exists`; fences are there to forbid it. So what is asked for becomes what
//! must not be. `~exists` and `forall` say what must hold already.

use fencepost_ir::{Problem, Property, Quantifier};

use super::parse;

/// Makes what a test asks for what must not be. Returns how that reads, if it does ask.
pub fn forbid(text: &str, problems: &mut [Problem]) -> Option<String> {
    let filtered = parse(text, "").is_ok_and(|file| file.constraint.filter.is_some());
    let mut told = None;
    for problem in problems {
        for condition in std::mem::take(&mut problem.sometimes) {
            let those = if filtered { " that passes the filter" } else { "" };
            told = Some(format!("no run{those} may end with {}", condition.text));
            problem.properties.push(Property::FinalNever(condition));
        }
    }
    told
}

/// The text of a test with its outcome forbidden: what a stored run violates when it is replayed.
pub fn forbidden(text: &str) -> Option<String> {
    let file = parse(text, "").ok().filter(|f| f.constraint.quantifier == Quantifier::Exists)?;
    let (before, rest) = text.split_at(file.constraint.span.start as usize);
    let rest = ["exists", "final"].iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest);
    Some(format!("{before}~exists {}", rest.trim_start()))
}
