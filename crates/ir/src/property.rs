//! What must hold of a program.

use crate::expr::Expr;
use crate::ids::{Loc, Reg, ThreadId};
use crate::operations::Operations;
use crate::span::Span;

/// Something a condition about a state may mention.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Observable {
    /// A location's value in memory.
    Loc(Loc),
    /// A thread's register.
    Reg(ThreadId, Reg),
}

/// A condition about one state, with the text it was written as.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The condition; holds when not zero. One that faults breaks its property, and is no witness.
    pub expr: Expr<Observable>,
    /// As written in the source.
    pub text: String,
    /// Where it was written.
    pub span: Span,
}

/// How a source text quantifies a condition over final states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantifier {
    /// Some final state satisfies it: see [`Problem::sometimes`](crate::Problem::sometimes).
    Exists,
    /// Every final state satisfies it.
    Forall,
    /// No final state satisfies it.
    Never,
}

/// A property that every run must have. Faults (out of bounds, null, use after free, ...) are always
/// checked and are not listed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Property {
    /// No `assert` fails. Present in every program that has one.
    Assertions,
    /// At most one thread is in a critical section.
    MutualExclusion,
    /// Every final state satisfies the condition: all threads have halted and no store is pending.
    FinalForall(Condition),
    /// No final state satisfies the condition.
    FinalNever(Condition),
    /// Holds of memory in every state. Mentions locations only.
    Invariant(Condition),
    /// Some thread can always take a step until all have halted.
    DeadlockFree,
    /// In every final state the results of a client's operations are those of some order in which
    /// they run one after another, each in one step.
    Operations(Operations),
}
