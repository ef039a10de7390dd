//! Properties of programs and conditions on states.

use crate::expr::Expr;
use crate::ids::{Label, Loc, Reg, ThreadId};
use crate::operations::Operations;
use crate::span::Span;

/// A variable of a condition on a state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Observable {
    /// The value of a location in memory.
    Loc(Loc),
    /// The value of a thread's register.
    Reg(ThreadId, Reg),
    /// In an invariant: 1 if the next statement of the thread has this label, otherwise 0. The
    /// statement is a `choose` with one alternative, which is a step of its own.
    At(ThreadId, Label),
}

/// A condition on one state, with its source text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The expression; the condition holds if its value is not zero. If evaluation faults, the
    /// state violates the property and is not a witness.
    pub expr: Expr<Observable>,
    /// The source text.
    pub text: String,
    /// The source position.
    pub span: Span,
}

/// How a source text quantifies a condition over final states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantifier {
    /// Some final state satisfies the condition: see
    /// [`Problem::sometimes`](crate::Problem::sometimes).
    Exists,
    /// Every final state satisfies the condition.
    Forall,
    /// No final state satisfies the condition.
    Never,
}

/// A property of every run. Faults (out of bounds, null, use after free, ...) are always checked
/// and have no variant here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Property {
    /// No `assert` fails. Present in every problem whose program contains an `assert`.
    Assertions,
    /// At most one thread is in a critical section.
    MutualExclusion,
    /// Every final state satisfies the condition. In a final state all threads have halted and no
    /// store is pending.
    FinalForall(Condition),
    /// No final state satisfies the condition.
    FinalNever(Condition),
    /// The condition holds in every state. It mentions locations and control points only.
    Invariant(Condition),
    /// No hang, as in every problem that does not allow hangs; in addition, a thread that is
    /// blocked by `assume` outside of `atomic` counts as waiting.
    DeadlockFree,
    /// Every fair run lets every thread get on: the thread finishes, or executes
    /// [progress points](crate::progress) again and again.
    Progress,
    /// In every final state, some sequential order of a client's operations, each executed in one
    /// step, explains their results.
    Operations(Operations),
}
