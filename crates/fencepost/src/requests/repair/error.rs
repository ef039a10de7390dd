//! Invalid options of a request for fences, and programs for which no fences are inferred.

use std::fmt;

/// An invalid option of a request, or a program for which no fences are inferred.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RepairError {
    /// The language has no such fence.
    NoSuchFence {
        /// The requested fence.
        fence: String,
        /// The language.
        language: &'static str,
        /// The fences of the language.
        known: String,
    },
    /// A cost for drains, although drains are not among the fence kinds.
    UnusedDrainCost,
    /// No fence can be placed before this line.
    NoPlace {
        /// The line.
        line: u32,
        /// The lines before which a fence can be placed.
        known: String,
    },
    /// The source has no such function.
    NoSuchFunction {
        /// The requested function.
        name: String,
        /// The functions of the source.
        known: String,
    },
    /// The model has no abstraction.
    NoAbstraction,
    /// An invariant may hold because a thread is at a control point.
    RequiredControlPoint,
    /// The method `fixpoint` does not change memory orders.
    OrdersByFixpoint,
    /// Stronger orders are requested together with fences from scratch.
    OrdersFromScratch,
    /// The program has read-side sections or grace periods.
    GracePeriods,
    /// The method `fixpoint` does not support models with ordered accesses.
    FixpointOfOrderedAccesses,
}

impl fmt::Display for RepairError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RepairError::NoSuchFence { language, known, .. } => {
                write!(f, "{language} has no such fence; its fences: {known}")
            }
            RepairError::UnusedDrainCost => {
                f.write_str("drains are placed only if --fences contains drain")
            }
            RepairError::NoPlace { known, .. } => {
                write!(f, "no fence can be placed before this line; possible lines: {known}")
            }
            RepairError::NoSuchFunction { known, .. } => {
                write!(f, "no such function; known functions: {known}")
            }
            RepairError::RequiredControlPoint => f.write_str(
                "fences are not inferred for an invariant that holds because a thread is at a label: \
                 a fence before the label adds a state in which the thread is not there; write \
                 every `at` under a negation, as in `!(p at A && q at B)`, or use `fencepost check`",
            ),
            RepairError::GracePeriods => {
                f.write_str("fences are not inferred for tests with RCU: use `fencepost check`")
            }
            RepairError::FixpointOfOrderedAccesses => {
                f.write_str("the method `fixpoint` does not support the model `arm`; use `lazy`")
            }
            RepairError::OrdersByFixpoint => {
                f.write_str("the method `fixpoint` does not change memory orders; use `lazy`")
            }
            RepairError::OrdersFromScratch => f.write_str(
                "a repair that changes memory orders keeps the fences and orders of the source",
            ),
            RepairError::NoAbstraction => f.write_str("an abstraction requires TSO or PSO"),
        }
    }
}

impl std::error::Error for RepairError {}
