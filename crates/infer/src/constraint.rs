//! Ordering constraints `L1 < L2`: the statement `L1` takes effect before the later statement `L2`.
//!
//! Source: \[KVY10\] IV-B. A constraint names source statements, not their copies. It relates two
//! accesses of one thread, and `L1` is first in program order.

use fencepost_ir::Label;
use std::fmt;

/// The ordering constraint `before < after`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Constraint {
    /// The access that is first in program order and must take effect first.
    pub before: Label,
    /// The access that must not overtake `before`.
    pub after: Label,
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} < {}", self.before, self.after)
    }
}
