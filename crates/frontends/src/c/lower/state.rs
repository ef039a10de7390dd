//! What lowering knows at a position of the code: registers and locations with known constants, and
//! whether the position is inside an atomic block.
//!
//! Direction: the known constants hold in every run. A location is known only if no other thread
//! writes it ([`Plan::is_only_writer`](super::plan::Plan::is_only_writer)).

use std::collections::BTreeMap;

use fencepost_ir::{Loc, Reg, Value};

use super::uninitialised::Unset;

/// The knowledge at a reachable position.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Known {
    pub(super) registers: BTreeMap<Reg, Value>,
    pub(super) locations: BTreeMap<Loc, Value>,
    /// The registers of variables that may have no value.
    pub(super) unset: BTreeMap<Reg, Unset>,
    /// Whether no store of the thread is pending.
    pub(super) drained: bool,
    /// The number of atomic blocks of the source around the position.
    pub(super) atomic: u32,
}

/// The knowledge at a position, or `None` if the position is not reachable.
pub(super) type State = Option<Known>;

/// Returns the knowledge where two paths meet. The second result is whether one of them is inside of
/// an atomic block and the other is not.
pub(super) fn merge(a: State, b: State) -> (State, bool) {
    match (a, b) {
        (None, other) | (other, None) => (other, false),
        (Some(mut a), Some(b)) => {
            a.registers.retain(|reg, value| b.registers.get(reg) == Some(value));
            a.locations.retain(|loc, value| b.locations.get(loc) == Some(value));
            for (reg, unset) in &mut a.unset {
                if b.unset.get(reg) != Some(&Unset::Always) {
                    *unset = Unset::Sometimes;
                }
            }
            for reg in b.unset.keys() {
                a.unset.entry(*reg).or_insert(Unset::Sometimes);
            }
            a.drained &= b.drained;
            let mismatch = a.atomic != b.atomic;
            (Some(a), mismatch)
        }
    }
}
