//! Registers of a thread. A register is used again when its variable is out of scope.
//!
//! A register keeps the name of its variable in reports, so only variables of the same name share
//! it. Temporaries and variables of built-in functions have no names and share registers by type.

use std::collections::BTreeMap;

use fencepost_ir::assemble::Assembler;
use fencepost_ir::{Reg, Type, Value};

use super::layout::{ir_type, limits};
use crate::c::typed::IntType;

/// The registers that are not in use.
#[derive(Default)]
pub(super) struct Registers {
    free: BTreeMap<(String, Value, Value), Vec<Reg>>,
    keys: BTreeMap<Reg, (String, Value, Value)>,
    limits: Vec<(Value, Value)>,
}

impl Registers {
    /// Takes a register for values of a type. An empty name stands for a temporary.
    pub(super) fn take(&mut self, code: &mut Assembler, name: &str, ty: IntType) -> Reg {
        self.take_typed(code, name, limits(ty), ir_type(ty))
    }

    /// Takes a register for numbers of a range.
    pub(super) fn take_range(
        &mut self,
        code: &mut Assembler,
        name: &str,
        range: (Value, Value),
    ) -> Reg {
        self.take_typed(code, name, range, Type::Int { range: Some(range) })
    }

    fn take_typed(
        &mut self,
        code: &mut Assembler,
        name: &str,
        (lo, hi): (Value, Value),
        ty: Type,
    ) -> Reg {
        let key = (name.to_string(), lo, hi);
        if let Some(reg) = self.free.get_mut(&key).and_then(Vec::pop) {
            return reg;
        }
        let reg = match name {
            "" => code.temporary(ty),
            name => code.register(name, ty),
        };
        self.keys.insert(reg, key);
        self.limits.resize(reg.index() + 1, (Value::MIN, Value::MAX));
        self.limits[reg.index()] = (lo, hi);
        reg
    }

    /// Gives a register back.
    pub(super) fn release(&mut self, reg: Reg) {
        if let Some(key) = self.keys.get(&reg) {
            self.free.entry(key.clone()).or_default().push(reg);
        }
    }

    /// Returns the smallest and largest value of a register.
    pub(super) fn limits(&self, reg: Reg) -> (Value, Value) {
        self.limits.get(reg.index()).copied().unwrap_or((Value::MIN, Value::MAX))
    }
}
