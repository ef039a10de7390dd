//! Why rows differ from the paper's.
//!
//! Each reason was tried out by changing the program as the reason says, unless it says that it is an argument only. A
//! reason is about what we found: when that changes, the reason does not hold any more.

use super::paper::{Cell, Line, PROVED, UNFIXABLE};
use fencepost_models::coherence::Domain;

/// Why a row differs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reason {
    pub(super) program: &'static str,
    pub(super) model: &'static str,
    /// The abstraction.
    pub(super) cell: (Domain, u32),
    /// What we found.
    said: &'static str,
    note: &'static str,
}

/// Nobody has found out yet.
pub(super) const UNKNOWN: &str = "The reason is not known.";
/// A limit of the proof of a placement.
pub(super) const UNPROVED: &str = "it was not proved that the fences are enough";
/// Fewer fences than the paper's.
pub(super) const FEWER: &str = "Fewer fences than in the paper's fenced version are enough, which is proved for store \
    buffers of any length. The paper does not claim that its versions have the fewest.";

/// One fence keeps several orderings.
pub(super) const SHARED: &str = "The formula needs more orderings than fences: one fence of ours, between the statements, \
    keeps several of them. The paper has a fence for each, next to its statements.";

const BARRIER: &str = "Our barrier passes its fence before each store that lets others through, so that a thread \
    never has two stores to one location pending; then `set` keeps as much as `fd` with k = 0, and both searches \
    visit the same states. The fence has no other place. The paper does not show its barrier; \
    it must store more than ours.";

const UPDATE: &str = "An update drains only the queue of its own location here, as in the paper's rules. Where it drains \
    all, as in the paper's prose, which a fence before `fetch_sub` stands for, this abstraction leads to \
    fences, too.";

const TWICE: &str = "An argument, not an experiment: the run of section 6.2.1 is one of this program, too, and has no step that an ordering prevents: the store that is \
    committed twice is the only one pending. So no fences are enough for this abstraction; which ones \
    the paper means, it does not say.";

/// The reasons that are known.
#[rustfmt::skip]
pub(super) const REASONS: &[Reason] = &[
    Reason { program: "sense1", model: "pso", cell: (Domain::Set, 0), said: PROVED, note: BARRIER },
    Reason { program: "sense0", model: "pso", cell: (Domain::Partial, 0), said: UNFIXABLE, note: UPDATE },
    Reason { program: "fast1a", model: "pso", cell: (Domain::Full, 0), said: UNFIXABLE, note: TWICE },
    Reason { program: "fast1b", model: "pso", cell: (Domain::Full, 0), said: UNFIXABLE, note: TWICE },
];

/// Why a row differs in what is said.
pub(super) fn reason(line: &Line, cell: &Cell, said: &str) -> &'static str {
    let fits = |reason: &&Reason| {
        (reason.program, reason.model) == (line.program, line.model)
            && reason.cell == (cell.domain, cell.k)
            && reason.said == said
    };
    REASONS.iter().find(fits).map_or(UNKNOWN, |reason| reason.note)
}
