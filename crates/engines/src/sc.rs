//! The SC machine, for the engines that explore only SC: `stateless`, `robust`, `attack`,
//! `translate`.

use fencepost_ir::Problem;
use fencepost_models::buffered::Buffered;
use fencepost_models::sc::Sc;
use fencepost_models::state::State;
use fencepost_models::{Machine, MemoryModel, Reductions};

/// The machine of a program under sequential consistency.
pub(crate) type ScMachine<'p> = Machine<'p, Buffered<Sc>>;

/// A state of the SC machine. It has no pending stores.
pub(crate) type ScState = State<<Buffered<Sc> as MemoryModel>::Pending>;

/// Creates the SC machine of a problem.
pub(crate) fn sc_machine(problem: &Problem, reductions: Reductions) -> ScMachine<'_> {
    Machine::new(problem, Buffered(Sc), reductions)
}
