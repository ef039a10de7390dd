//! Variables that take more and more values.
//!
//! A program whose integers grow without bound has infinitely many states, however its buffers are
//! represented. If a search is cut short, the likely reason is a variable with many values in the
//! visited states whose range neither its type nor the range analysis bounds. Direction: heuristic.

use fencepost_ir::range::ranges;
use fencepost_ir::{Loc, Observable, Reg, ThreadId, Value};
use fencepost_models::{Fidelity, Machine, MemoryModel};
use fencepost_search::visited::Arena;
use fencepost_search::{Coverage, Exploration, Stop};
use rustc_hash::FxHashSet;

/// A variable with at least this many values is reported.
const MIN_VALUES: usize = 64;
/// A range of at least this span counts as unbounded.
const UNBOUNDED_SPAN: u64 = 1 << 16;
/// How many of the latest states are examined.
const EXAMINED_STATES: usize = 200_000;

/// A variable that takes more and more values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GrowingVariable {
    /// The variable.
    pub what: Observable,
    /// The number of different values in the examined states.
    pub values: usize,
}

/// Returns a variable with many values, if the search was cut short: the first one, locations
/// first, with more than half of the largest number of values.
pub(crate) fn growing_variable<M: MemoryModel, V: AsRef<Arena>>(
    machine: &Machine<'_, M>,
    found: &Exploration<V>,
) -> Option<GrowingVariable> {
    match found.coverage {
        Coverage::Cut(Stop::States | Stop::Memory | Stop::Time | Stop::Interrupted) => {}
        // The only bound of an abstract model is a bound on values.
        Coverage::Bounded if machine.model.fidelity() == Fidelity::Over => {}
        Coverage::Cut(Stop::Depth) | Coverage::Exhaustive | Coverage::Bounded | Coverage::Found => {
            return None;
        }
    }
    let program = machine.shape.program();
    let computed = ranges(program);
    let is_unbounded = |(lo, hi): (Value, Value)| hi.abs_diff(lo) >= UNBOUNDED_SPAN;
    let mut candidates: Vec<(Observable, FxHashSet<Value>)> = Vec::new();
    for (at, range) in computed.locations.iter().enumerate() {
        if is_unbounded(*range) {
            candidates.push((Observable::Loc(Loc::from_index(at)), FxHashSet::default()));
        }
    }
    for (thread, registers) in computed.registers.iter().enumerate() {
        for (at, range) in registers.iter().enumerate() {
            if is_unbounded(*range) {
                let thread = ThreadId::from_index(thread);
                candidates
                    .push((Observable::Reg(thread, Reg::from_index(at)), FxHashSet::default()));
            }
        }
    }
    if candidates.is_empty() {
        return None;
    }
    let mut state = machine.blank();
    for bytes in found.latest(EXAMINED_STATES) {
        machine.unpack(bytes, &mut state);
        for (what, values) in &mut candidates {
            values.insert(machine.observe(&state, *what));
        }
    }
    let max_values = candidates
        .iter()
        .map(|(_, values)| values.len())
        .max()
        .filter(|max_values| *max_values >= MIN_VALUES)?;
    let first = candidates.iter().find(|(_, values)| values.len() * 2 > max_values);
    first.map(|(what, values)| GrowingVariable { what: *what, values: values.len() })
}
