//! Which variable takes more and more values.
//!
//! A program whose integers grow without bound has infinitely many states whatever stands for its
//! buffers. A search that was cut short looks at what it has seen: a variable whose range is not bounded by
//! its type or by the analysis, and which took a great many values, is the likely reason.

use fencepost_ir::range::ranges;
use fencepost_ir::{Loc, Observable, Reg, ThreadId, Value};
use fencepost_models::{Fidelity, Machine, MemoryModel};
use fencepost_search::visited::Arena;
use fencepost_search::{Coverage, Exploration, Stop};
use rustc_hash::FxHashSet;

/// How many values make a variable suspicious.
const MANY: usize = 64;
/// A range of at least this span counts as not bounded.
const WIDE: i64 = 1 << 16;
/// How many states are looked at.
const LOOK: usize = 200_000;

/// A variable that takes more and more values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Growing {
    /// Which one.
    pub what: Observable,
    /// How many different values it was seen to take.
    pub values: usize,
}

/// The variable that took the most values in a search that was cut short; locations first.
pub(crate) fn growing<M: MemoryModel, V: AsRef<Arena>>(
    machine: &Machine<'_, M>,
    found: &Exploration<V>,
) -> Option<Growing> {
    match found.coverage {
        Coverage::Cut(Stop::States | Stop::Memory | Stop::Time | Stop::Interrupted) => {}
        // What bounds an abstract model is values.
        Coverage::Bounded if M::FIDELITY == Fidelity::Over => {}
        Coverage::Cut(Stop::Depth) | Coverage::Exhaustive | Coverage::Bounded | Coverage::Found => {
            return None;
        }
    }
    let program = machine.shape.program();
    let computed = ranges(program);
    let is_wide = |(lo, hi): (Value, Value)| i64::from(hi) - i64::from(lo) >= WIDE;
    let mut wide: Vec<(Observable, FxHashSet<Value>)> = Vec::new();
    for (at, range) in computed.locations.iter().enumerate() {
        if is_wide(*range) {
            wide.push((Observable::Loc(Loc::from_index(at)), FxHashSet::default()));
        }
    }
    for (thread, registers) in computed.registers.iter().enumerate() {
        for (at, range) in registers.iter().enumerate() {
            if is_wide(*range) {
                let thread = ThreadId::from_index(thread);
                wide.push((Observable::Reg(thread, Reg::from_index(at)), FxHashSet::default()));
            }
        }
    }
    if wide.is_empty() {
        return None;
    }
    let mut state = machine.blank();
    for bytes in found.latest(LOOK) {
        machine.unpack(bytes, &mut state);
        for (what, values) in &mut wide {
            values.insert(machine.observe(&state, *what));
        }
    }
    let most = wide.iter().map(|(_, values)| values.len()).max().filter(|most| *most >= MANY)?;
    let first = wide.iter().find(|(_, values)| values.len() * 2 > most);
    first.map(|(what, values)| Growing { what: *what, values: values.len() })
}
