//! The effects of `init` and of operations that run alone.

use super::{ENTRY_BYTES, memory_bytes};
use crate::machine::choice::Choices;
use crate::shape::Shape;
use crate::state::Memory;
use fencepost_ir::{Operation, Value};
use fencepost_search::{Stop, WorkLimits};
use rustc_hash::FxHashSet;

/// Returns the possible memories after `init`.
pub(super) fn initial_memories(
    shape: &Shape<'_>,
    limits: &WorkLimits,
) -> Result<Vec<Memory>, Stop> {
    let blank = Memory::initial(shape);
    match &shape.program().init {
        None => Ok(vec![blank]),
        Some(init) => {
            let ends = final_states(shape, init, &blank, limits)?;
            Ok(ends.into_iter().map(|(_, memory)| memory).collect())
        }
    }
}

/// Returns the possible results of an operation, each with the memory after it.
pub(super) fn effects(
    shape: &Shape<'_>,
    operation: &Operation,
    before: &Memory,
    limits: &WorkLimits,
) -> Result<Vec<(Option<Value>, Memory)>, Stop> {
    let mut found: Vec<(Option<Value>, Memory)> = Vec::new();
    let mut known = FxHashSet::default();
    let mut add = |effect: (Option<Value>, Memory)| {
        if known.insert(effect.clone()) {
            found.push(effect);
        }
    };
    for (registers, after) in final_states(shape, &operation.body, before, limits)? {
        let result = operation.result.map(|(inside, _)| registers[inside.index()]);
        if operation.repeats {
            add((result, before.clone()));
        }
        add((result, after));
    }
    if let Some(value) = operation.aborts {
        add((operation.result.map(|_| value), before.clone()));
    }
    Ok(found)
}

/// Returns the registers and the memory at the end of code that runs alone, for each combination of
/// its choices.
fn final_states(
    shape: &Shape<'_>,
    code: &fencepost_ir::Thread,
    before: &Memory,
    limits: &WorkLimits,
) -> Result<Vec<(Vec<Value>, Memory)>, Stop> {
    let mut final_states = Vec::new();
    let mut choices = Choices::default();
    let bytes_per_state = (2 * ENTRY_BYTES + memory_bytes(shape)) as u64;
    loop {
        choices.rewind();
        let mut memory = before.clone();
        if let Ok(Some(registers)) = shape.run_alone(code, &mut memory, &mut choices, &mut ()) {
            final_states.push((registers, memory));
        }
        if !choices.advance() {
            return Ok(final_states);
        }
        if let Some(stop) = limits.cancel.reason() {
            return Err(stop);
        }
        if final_states.len() as u64 * bytes_per_state > limits.bytes {
            return Err(Stop::Memory);
        }
    }
}
