//! Limits of a check. A check that reaches a limit decides nothing.

use crate::format::{CertState, CertThread};
use crate::rejection::{Rejection, RejectionReason};

/// The limits of a check.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// The approximate memory limit for the states of a certificate, in bytes.
    pub bytes: u64,
    /// Returns why the check must stop, such as "time limit reached". Called at every step.
    pub stop: &'a dyn Fn() -> Option<&'static str>,
}

impl Limits<'_> {
    /// No limits.
    pub const NONE: Limits<'static> = Limits { bytes: u64::MAX, stop: &|| None };

    /// Fails if the check must stop.
    pub(crate) fn check_stop(&self) -> Result<(), Rejection> {
        match (self.stop)() {
            None => Ok(()),
            Some(reason) => Err(Rejection::new(RejectionReason::Stopped, reason)),
        }
    }

    /// Fails if states of this size need too much memory.
    pub(crate) fn check_bytes(&self, bytes: u64) -> Result<(), Rejection> {
        if bytes <= self.bytes {
            return Ok(());
        }
        Err(Rejection::new(RejectionReason::Stopped, "memory limit reached"))
    }
}

/// Returns the approximate number of bytes that a state takes in memory, with its entry in the index.
pub(crate) fn state_bytes(state: &CertState) -> u64 {
    let thread = |thread: &CertThread| {
        size_of::<CertThread>()
            + size_of_val(&thread.registers[..])
            + size_of_val(&thread.head[..])
            + size_of_val(&thread.set[..])
    };
    let threads: usize = state.threads.iter().map(thread).sum();
    let own = size_of::<CertState>() + size_of_val(&state.memory[..]) + state.allocated.len();
    (own + threads + INDEX_BYTES) as u64
}

/// The approximate size of a state in the index: key, list and position.
const INDEX_BYTES: usize = 64;
