//! Why rows differ from the paper's.
//!
//! A reason is about what we found: when that changes, the reason does not hold any more.

use super::paper::{Cell, Line, PROVED};
use fencepost_models::coherence::Domain;

/// Why a row differs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reason {
    pub(super) program: &'static str,
    pub(super) model: &'static str,
    /// The abstraction; none for the fewest fences.
    pub(super) cell: Option<(Domain, u32)>,
    /// What we found.
    said: &'static str,
    note: &'static str,
}

/// The reasons that are known.
#[rustfmt::skip]
pub(super) const REASONS: &[Reason] = &[
];

/// Why a row differs in what is said.
pub(super) fn reason(line: &Line, cell: Option<&Cell>, said: &str) -> &'static str {
    let cell = cell.map(|cell| (cell.domain, cell.k));
    let fits = |reason: &&Reason| {
        (reason.program, reason.model) == (line.program, line.model)
            && reason.cell == cell
            && reason.said == said
    };
    REASONS.iter().find(fits).map_or("The reason is not known.", |reason| reason.note)
}
