//! The rounds of an inference, for `infer --explain`: the placements tried, and the clauses learned
//! from each. A place is named by the text, the line and the column of its statement.

use crate::paint::{Paint, printable};
use crate::repair::{MAX_STATEMENT, Subject};
use crate::wording::{self, statement};
use fencepost_infer::clause::atoms;
use fencepost_infer::repair::{LearnedClause, Round};
use fencepost_ir::{Atom, Placement};
use std::fmt::Write;

/// Returns the rounds of an inference: the placements tried, and the clauses learned from each.
pub fn explanation(subject: &Subject<'_>, rounds: &[Round], paint: Paint) -> String {
    let mut text = String::new();
    for (at, round) in rounds.iter().enumerate() {
        let head = paint.strong(&format!("round {}", at + 1));
        writeln!(text, "{head}: with {}", named_placement(subject, &round.placement))
            .expect("writing to a string cannot fail");
        for learned in &round.learned_clauses {
            text.push_str(&learned_clause(subject, round, learned));
        }
    }
    text
}

/// Describes a violation and the clause learned from it.
fn learned_clause(subject: &Subject<'_>, round: &Round, learned: &LearnedClause) -> String {
    let shown = subject.fenced_run(learned.problem, &learned.placement, &learned.evidence);
    let client = match shown.problem.name.as_str() {
        "" => String::new(),
        client => format!("client {}: ", printable(client)),
    };
    let more: Placement =
        learned.placement.atoms.difference(&round.placement.atoms).copied().collect();
    let also = match more.atoms.is_empty() {
        true => String::new(),
        false => format!(" (also with {})", named_placement(subject, &more)),
    };
    let choices: Vec<String> = atoms(&learned.clause, subject.candidates)
        .map(|atom| named_barrier(subject, atom))
        .collect();
    let choices = match &choices[..] {
        [only] => format!("needs {only}"),
        several => format!("needs one of: {}", several.join(", ")),
    };
    format!("  {client}{}{also}\n    {choices}\n", shown.message())
}

/// Formats a barrier with the text and the column of the statement at its place.
fn named_barrier(subject: &Subject<'_>, atom: Atom) -> String {
    let place = subject.program().place(atom.place);
    let info = subject.program().label(place.label);
    let (line, column) = (wording::place(subject.program(), place.label), info.span.column);
    let what = subject.barrier_words(atom);
    if subject.fences.located_by_thread {
        return subject.barrier_text(atom);
    }
    if place.at_end && place.written.is_none() {
        return format!("{what} {line}:{column}");
    }
    let text = statement(subject.program(), place.label, MAX_STATEMENT);
    format!("{what} `{text}` ({line}:{column})")
}

/// Formats the barriers of a placement, with the statements at their places.
fn named_placement(subject: &Subject<'_>, placement: &Placement) -> String {
    let all: Vec<String> =
        placement.atoms.iter().map(|atom| named_barrier(subject, *atom)).collect();
    if all.is_empty() { "no fences".into() } else { all.join(", ") }
}
