//! The two definitions of robustness. They differ in the reads of failed spin iterations.

use fencepost_ir::Problem;
use fencepost_ir::spin_loops::{SpinAssumed, keep_spin_loops, spin_assume};

/// Which accesses of a run must have the happens-before of an SC run.
///
/// A program that is robust by the strict definition is robust by the other one, too: an SC run
/// with the same happens-before also has the same happens-before without failed spin iterations.
/// The definitions agree on programs without spin loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RobustDefinition {
    /// All accesses except those of failed spin iterations.
    #[default]
    WithoutFailedSpins,
    /// All accesses: the definition of \[BM08\] and \[BDM13\].
    Strict,
}

impl RobustDefinition {
    /// Returns the name of the definition in JSON.
    pub fn name(self) -> &'static str {
        match self {
            RobustDefinition::WithoutFailedSpins => "without-failed-spins",
            RobustDefinition::Strict => "strict",
        }
    }

    /// Returns whether the definition omits some read of the program.
    pub fn omits_reads(self, problem: &Problem) -> bool {
        self.spin_assumed(&problem.safety()).has_cut_points()
    }

    /// Returns the problem that is explored: its failed spin iterations are cut, or all are kept.
    pub(crate) fn spin_assumed(self, problem: &Problem) -> SpinAssumed {
        match self {
            RobustDefinition::WithoutFailedSpins => spin_assume(problem, false),
            RobustDefinition::Strict => keep_spin_loops(problem),
        }
    }
}
