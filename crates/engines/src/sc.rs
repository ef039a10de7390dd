//! The SC machine, for the engines that explore only SC: `stateless`, `robust`, `attack`,
//! `translate`.

use fencepost_ir::Problem;
use fencepost_ir::spin_loops::SpinAssumed;
use fencepost_models::buffered::Buffered;
use fencepost_models::machine::hang::{HangCheck, WaitCache};
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

/// Checks whether a state of a spin-assumed problem is a hang. `original` is the machine of the
/// problem whose spin loops are not cut: there, a thread that failed an iteration tries again.
pub(crate) fn check_hang(
    original: &ScMachine<'_>,
    spin_assumed: &SpinAssumed,
    state: &ScState,
    cache: &mut WaitCache,
) -> HangCheck {
    let mut state = state.clone();
    for (t, pc) in original.shape.program().thread_ids().zip(&mut state.pcs) {
        *pc = spin_assumed.original_pc(t, *pc);
    }
    original.check_hang(&state, cache)
}
