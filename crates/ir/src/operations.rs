//! What a client's operations may return: the results of some order in which they run one after another.
//!
//! The order respects the order of operations within each thread. [`Consistency::Linearizable`] asks for
//! more: an operation that has returned before another one is invoked comes before it. What is allowed
//! is not written down by anybody: whoever checks the property runs the operations, each alone and
//! in one step, in all such orders.

use crate::ids::{Reg, ThreadId};
use crate::program::Thread;
use crate::span::Span;
use crate::value::Value;

/// Which orders of atomic executions explain the results of operations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Consistency {
    /// All that respect the order within each thread.
    Sequential,
    /// Those that also respect which operation returned before which was invoked.
    Linearizable,
}

impl Consistency {
    /// The word of the language.
    pub fn word(self) -> &'static str {
        match self {
            Consistency::Sequential => "sequentially_consistent",
            Consistency::Linearizable => "linearizable",
        }
    }
}

/// The operations of a client, for [`Property::Operations`](crate::Property::Operations).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operations {
    /// Which orders count.
    pub consistency: Consistency,
    /// The client's threads with their operations in order.
    pub threads: Vec<(ThreadId, Vec<Operation>)>,
    /// Where the property was written.
    pub span: Span,
}

/// One use of an operation by a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// What conditions call it: `d1`.
    pub name: String,
    /// Its code alone, arguments in place; registers start as 0, and it ends with `Halt`.
    pub body: Thread,
    /// Its result, if it has one: the register of `body` that holds it at the end, and the register
    /// of the client's thread that keeps it.
    pub result: Option<(Reg, Reg)>,
    /// It may also do nothing and return this: it gave up because of another one.
    pub aborts: Option<Value>,
    /// It may also return its result without any other effect, so that another one returns the same.
    pub repeats: bool,
}
