//! Detection of silent loops: infinite loops of invisible steps of one thread.
//!
//! Invisible steps read and write only the program counter and the registers of their thread, and
//! they have no choices. So a thread that returns to the same program counter and registers by
//! invisible steps never leaves the loop. The detector stores one earlier position and replaces it
//! after 1, 2, 4, ... times a fixed number of steps (Brent's algorithm). A thread whose registers
//! keep changing is not detected; the caller polls its cancellation flag.

use fencepost_ir::{Pc, ThreadId, Value};
use fencepost_models::state::State;
use fencepost_models::{Machine, MemoryModel};

/// The number of steps before the first position is stored. Most events have fewer invisible
/// steps, and these cost nothing.
const FIRST_STORED: u64 = 8;

/// Observes the positions of one thread between invisible steps.
#[derive(Clone, Debug)]
pub(crate) struct SilentLoopDetector {
    stored: Option<(Pc, Vec<Value>)>,
    /// The number of steps before the next position is stored.
    steps_left: u64,
    interval: u64,
}

impl Default for SilentLoopDetector {
    fn default() -> Self {
        SilentLoopDetector { stored: None, steps_left: FIRST_STORED, interval: FIRST_STORED }
    }
}

impl SilentLoopDetector {
    /// Observes the position of a thread before an invisible step. Returns whether the thread was
    /// at the same position before, so that it never leaves the loop.
    pub(crate) fn is_in_loop<M: MemoryModel>(
        &mut self,
        machine: &Machine<'_, M>,
        state: &State<M::Pending>,
        t: ThreadId,
    ) -> bool {
        let shape = machine.shape.thread(t);
        let registers = shape.registers..shape.registers + shape.register_fields.len();
        let (pc, registers) = (state.pcs[t.index()], &state.registers[registers]);
        if self.stored.as_ref().is_some_and(|(at, values)| *at == pc && values == registers) {
            return true;
        }
        self.steps_left -= 1;
        if self.steps_left == 0 {
            self.interval *= 2;
            self.steps_left = self.interval;
            self.stored = Some((pc, registers.to_vec()));
        }
        false
    }
}
