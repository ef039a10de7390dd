//! From control flow to structured code.

use fencepost_ir::{Pc, Thread};

/// Structured code. Statements are named by their place in the thread's code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// A statement that just goes on: everything but branches, `Halt` and the ends of atomic blocks.
    Plain(Pc),
    /// An atomic block: from this `AtomicBegin` to its end.
    Atomic(Pc, Vec<Node>),
    /// The branch at this place.
    If(Pc, Vec<Node>, Vec<Node>),
    /// Again and again, until left.
    Loop(Vec<Node>),
    /// Leaves the innermost loop.
    Break,
    /// Begins the innermost loop again.
    Continue,
    /// What a `Goto` names; stands before the statement at this place.
    Label(Pc),
    /// Goes there.
    Goto(Pc),
    /// The thread is done.
    Halt,
}

/// The code of a thread as a tree. What cannot be reached is left out.
pub fn structure(_: &Thread) -> Vec<Node> {
    Vec::new()
}
