//! Constraints: `L1 < L2`, the statement with the first label takes effect before the later one.
//!
//! Source: \[KVY10\] IV-B. A constraint names statements of the source, not copies of them, and is
//! about two accesses of one thread of which the first comes first in program order.

use fencepost_ir::Label;
use std::fmt;

/// `before < after`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Constraint {
    /// What comes first in program order, and has to take effect first.
    pub before: Label,
    /// What may not overtake it.
    pub after: Label,
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} < {}", self.before, self.after)
    }
}
