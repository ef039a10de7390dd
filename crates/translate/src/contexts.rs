//! Store buffers simulated without buffers.

use crate::{Model, Translation, Unsupported};
use fencepost_ir::Problem;

/// What is bounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Every thread has at most so many context switches (and one context more).
    Switches(u32),
    /// There is no limit on context switches, but a store is pending for at most so many of its thread.
    Ages(u32),
}

/// The program that simulates runs of the original within the bound.
pub fn contexts(_: &Problem, _: Model, _: Bound) -> Result<Translation, Unsupported> {
    Err(Unsupported("not built yet".into()))
}
