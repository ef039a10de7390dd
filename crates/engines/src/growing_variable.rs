//! Variables that take more and more values.
//!
//! A program whose integers grow without bound has infinitely many states, however its buffers are
//! represented. If a search is cut short, the likely reason is a variable with many values in the
//! visited states whose range neither its type nor the range analysis bounds. If such a variable has
//! many more values among many more states, a search of even more states is unlikely to end, and an
//! engine gives up early. Direction: heuristic.

use crate::engine::{Budget, Engine, Settings, Task};
use crate::explicit::Explicit;
use fencepost_ir::range::{Range, ranges};
use fencepost_ir::{Loc, Observable, Program, Reg, ThreadId, Value};
use fencepost_models::{Fidelity, Machine, MemoryModel, ModelSpec};
use fencepost_search::visited::Arena;
use fencepost_search::{Coverage, Exploration, Limits, Stop};
use rustc_hash::FxHashSet;

/// A variable with at least this many values is reported.
const MIN_VALUES: usize = 64;
/// A range of at least this span counts as unbounded.
const UNBOUNDED_SPAN: u64 = 1 << 16;
/// The states of the searches that show whether a variable keeps growing.
const FEW_STATES: u64 = 20_000;
const MORE_STATES: u64 = 160_000;
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
/// first, with more than half of the largest number of values. `packed` returns the packed form of a
/// state.
pub(crate) fn growing_variable<M: MemoryModel, V: AsRef<Arena>>(
    machine: &Machine<'_, M>,
    found: &Exploration<V>,
    packed: impl Fn(&[u8]) -> Vec<u8>,
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
    let mut candidates: Vec<(Observable, FxHashSet<Value>)> =
        unbounded(program).into_iter().map(|what| (what, FxHashSet::default())).collect();
    if candidates.is_empty() {
        return None;
    }
    let mut state = machine.blank();
    for bytes in found.latest(EXAMINED_STATES) {
        machine.unpack(&packed(bytes), &mut state);
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

/// Returns the variables that neither their types nor the range analysis bound.
pub(crate) fn unbounded(program: &Program) -> Vec<Observable> {
    let computed = ranges(program);
    let is_unbounded = |(lo, hi): Range| hi.abs_diff(lo) >= UNBOUNDED_SPAN;
    let mut found = Vec::new();
    for (at, range) in computed.locations.iter().enumerate() {
        if is_unbounded(*range) {
            found.push(Observable::Loc(Loc::from_index(at)));
        }
    }
    for (thread, registers) in computed.registers.iter().enumerate() {
        for (at, range) in registers.iter().enumerate() {
            if is_unbounded(*range) {
                let thread = ThreadId::from_index(thread);
                found.push(Observable::Reg(thread, Reg::from_index(at)));
            }
        }
    }
    found
}

/// Returns whether a variable still grew in a search with a multiple of the states.
pub(crate) fn still_grows(earlier: Option<GrowingVariable>, later: GrowingVariable) -> bool {
    earlier.is_none_or(|earlier| later.values / 5 > earlier.values / 4)
}

/// Returns a variable that keeps growing under SC. Then a search of all states under any model is
/// unlikely to end. None if the user has set a limit on states.
pub(crate) fn growing_under_sc(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
) -> Option<GrowingVariable> {
    if settings.limits.states != u64::MAX || unbounded(&task.problem.program).is_empty() {
        return None;
    }
    let task = Task { model: &ModelSpec::SC, ..task };
    let among = |states| {
        let limits = Limits { states, ..settings.limits };
        Explicit.run(task, Settings { limits, ..settings }, budget).growing
    };
    let few = among(FEW_STATES);
    among(MORE_STATES).filter(|more| still_grows(few, *more))
}
