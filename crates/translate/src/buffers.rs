//! Bounded store buffers made explicit.

use crate::{Model, Translation, Unsupported};
use fencepost_ir::Problem;

/// The program with store buffers of this size as locations, for a run under SC.
pub fn buffers(_: &Problem, _: Model, _: u32) -> Result<Translation, Unsupported> {
    Err(Unsupported("explicit buffers are not built yet".into()))
}
