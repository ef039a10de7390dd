//! The memory layout: shared variables first, then the cells of each pool.

use fencepost_ir::{Loc, Location, Pool, Value};

use crate::fp::tree::{Unit, element_suffix, elements};
use crate::fp::types::{SharedId, Ty, VarTy, to_ir};

/// The memory layout of the programs of a file.
pub(super) struct Layout {
    pub(super) locations: Vec<Location>,
    pub(super) pools: Vec<Pool>,
    /// The first location of each shared variable.
    shared: Vec<Loc>,
    /// The size of the locations, in the units of [`crate::fp::limits::TOTAL`].
    pub(super) size: u64,
}

impl Layout {
    pub(super) fn new(unit: &Unit) -> Layout {
        let mut layout =
            Layout { locations: Vec::new(), pools: Vec::new(), shared: Vec::new(), size: 0 };
        for shared in &unit.shared {
            layout.shared.push(Loc::from_index(layout.locations.len()));
            for (at, init) in shared.init.iter().enumerate() {
                layout.push(unit, shared.element_name(at as u32), shared.ty, *init);
            }
        }
        for record in &unit.records {
            let base = Loc::from_index(layout.locations.len());
            let stride = record.stride();
            layout.pools.push(Pool {
                name: record.name.clone(),
                base,
                cells: record.cells,
                stride,
                yields_null: false,
                is_local: false,
            });
            for cell in 1..=record.cells {
                for field in &record.fields {
                    for at in 0..elements(&field.dims) {
                        let element = element_suffix(&field.dims, at);
                        let name = format!("{}#{cell}.{}{element}", record.name, field.name);
                        layout.push(unit, name, field.ty, 0);
                    }
                }
            }
        }
        layout
    }

    fn push(&mut self, unit: &Unit, name: String, ty: VarTy, init: Value) {
        self.size += 1 + match ty.ty {
            // The type of a location contains a copy of the names of the enum constants.
            Ty::Enum(id) => unit.enums[id.index()].constants.len() as u64 / 2,
            Ty::Bool | Ty::Int | Ty::Fixed(_) | Ty::Ref(_) | Ty::Null => 0,
        };
        // Above the limit, the file is rejected later. Do not allocate more memory.
        if self.size <= crate::fp::limits::TOTAL {
            self.locations.push(Location { name, ty: to_ir(ty, &unit.enums), init });
        }
    }

    /// Returns the first location of a shared variable.
    pub(super) fn shared(&self, id: SharedId) -> Loc {
        self.shared[id.index()]
    }
}
