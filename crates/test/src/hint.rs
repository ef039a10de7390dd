//! Spin hints.

use crate::op::Kind;
use crate::run::{Mode, mode, perform};
use std::panic::Location;

/// Hints that the thread is in a spin loop. Use it instead of [`std::hint::spin_loop`].
///
/// In a check, the second hint in a row at the same place waits until an object changes its value
/// that the thread has read since the first one. It does not wait if the thread has changed
/// something since then. If the loop ends without such a change, for example because it counts its
/// iterations, the verdict is bounded.
#[track_caller]
pub fn spin_loop() {
    match mode() {
        Mode::Outside | Mode::Unwinding => std::hint::spin_loop(),
        Mode::Checked => {
            perform(Kind::SpinHint, Location::caller());
        }
    }
}
