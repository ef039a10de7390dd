//! The machine of sequential consistency, for the engines that run on no other: `stateless`, `robust`, `attack` and
//! `translate`.

use fencepost_ir::Problem;
use fencepost_models::buffered::Buffered;
use fencepost_models::sc::Sc;
use fencepost_models::state::State;
use fencepost_models::{Machine, MemoryModel, Reductions};

/// A program under sequential consistency.
pub(crate) type ScMachine<'p> = Machine<'p, Buffered<Sc>>;

/// A state of it: nothing is ever pending.
pub(crate) type ScState = State<<Buffered<Sc> as MemoryModel>::Pending>;

/// The machine that runs a problem under sequential consistency.
pub(crate) fn sc_machine(problem: &Problem, reductions: Reductions) -> ScMachine<'_> {
    Machine::new(problem, Buffered(Sc), reductions)
}
