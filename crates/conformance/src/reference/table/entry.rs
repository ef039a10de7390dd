//! The entries of a window: captured operands, kinds of accesses, possible locations.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{Address, Expr, Fault, FenceKinds, Loc, Op, Pc, Program, Reg, Thread, Value};

use super::super::Table;
use super::super::memory;

/// The content of a register: a value, or a reference to the entry that will produce it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Operand {
    Value(Value),
    /// The position of the entry in the window. Renumbered when an earlier entry leaves.
    Entry(usize),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Entry {
    /// The statement.
    pub(super) pc: Pc,
    /// The registers that the statement reads, as captured when it was fetched.
    pub(super) operands: BTreeMap<Reg, Operand>,
    /// The guess, for a branch or `assume`.
    pub(super) guess: Option<bool>,
    /// The fault of a speculative load that was performed and failed.
    pub(super) failed: Option<Fault>,
}

/// An access kind. A load is an R, a store a W, an update both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    R,
    W,
}

pub(super) fn kinds(op: &Op) -> &'static [Kind] {
    match op {
        Op::Load { .. } => &[Kind::R],
        Op::Store { .. } => &[Kind::W],
        Op::Update { .. } => &[Kind::R, Kind::W],
        Op::Skip
        | Op::Assign { .. }
        | Op::Choose { .. }
        | Op::Fence(_)
        | Op::Drain(_)
        | Op::Branch { .. }
        | Op::Assume(_)
        | Op::Assert(_)
        | Op::New { .. }
        | Op::Free { .. }
        | Op::Leave
        | Op::AtomicBegin
        | Op::AtomicEnd
        | Op::Invoke { .. }
        | Op::Return { .. }
        | Op::Join
        | Op::SectionBegin { .. }
        | Op::SectionEnd { .. }
        | Op::GracePeriod { .. }
        | Op::Halt => &[],
    }
}

pub(super) fn bypasses(table: Table, earlier: Kind, later: Kind) -> bool {
    match (earlier, later) {
        (Kind::W, Kind::R) => table.w_r,
        (Kind::W, Kind::W) => table.w_w,
        (Kind::R, Kind::R) => table.r_r,
        (Kind::R, Kind::W) => table.r_w,
    }
}

pub(super) fn orders(fence: FenceKinds, earlier: Kind, later: Kind) -> bool {
    fence.contains(match (earlier, later) {
        (Kind::W, Kind::R) => FenceKinds::STORE_LOAD,
        (Kind::W, Kind::W) => FenceKinds::STORE_STORE,
        (Kind::R, Kind::R) => FenceKinds::LOAD_LOAD,
        (Kind::R, Kind::W) => FenceKinds::LOAD_STORE,
    })
}

impl Entry {
    pub(super) fn op<'a>(&self, thread: &'a Thread) -> &'a Op {
        &thread.stmt(self.pc).op
    }

    /// Returns the access kinds. A load that has failed is no access any more.
    pub(super) fn kinds(&self, thread: &Thread) -> &'static [Kind] {
        if self.failed.is_some() { &[] } else { kinds(self.op(thread)) }
    }

    pub(super) fn fence(&self, thread: &Thread) -> Option<FenceKinds> {
        if let Op::Fence(kinds) = self.op(thread) { Some(*kinds) } else { None }
    }

    /// Returns the registers as captured by the entry, if all its operands are values.
    pub(super) fn operand_values(&self, thread: &Thread) -> Option<Vec<Value>> {
        let mut registers = vec![0; thread.registers.len()];
        for (reg, operand) in &self.operands {
            match operand {
                Operand::Value(value) => registers[reg.index()] = *value,
                Operand::Entry(_) => return None,
            }
        }
        Some(registers)
    }

    /// Returns the value of an expression of the entry, if every register it reads is a value.
    pub(super) fn value(&self, expr: &Expr<Reg>) -> Option<Result<Value, Fault>> {
        let mut known = true;
        expr.for_each_var(&mut |reg| known &= matches!(self.operands[reg], Operand::Value(_)));
        known.then(|| {
            expr.eval(&|reg: &Reg| match self.operands[reg] {
                Operand::Value(value) => value,
                Operand::Entry(_) => unreachable!("all operands are values"),
            })
        })
    }

    pub(super) fn address_known(&self, address: &Address) -> bool {
        let cell = address.cell.as_ref().is_none_or(|(_, cell)| self.value(cell).is_some());
        let index = address.index.as_ref().is_none_or(|(_, index)| self.value(index).is_some());
        cell && index
    }

    /// Returns the locations that the entry may access: one if the address is known, else its
    /// static footprint. Two accesses may be to the same location if these sets overlap.
    pub(super) fn possible_locations(&self, program: &Program, thread: &Thread) -> BTreeSet<Loc> {
        let Some(address) = self.op(thread).address() else {
            return BTreeSet::new();
        };
        if !self.address_known(address) {
            return footprint(program, address);
        }
        let eval = |expr: &Expr<Reg>| self.value(expr).expect("the address is known");
        memory::resolve_address(program, address, &eval).into_iter().collect()
    }
}

/// Returns the static footprint of an address: all elements of the array, the field of all records
/// of the pool. A constant cell or index restricts it.
pub(super) fn footprint(program: &Program, address: &Address) -> BTreeSet<Loc> {
    let cells = match &address.cell {
        None => 0..=0,
        Some((pool, cell)) => match cell.as_const() {
            Some(cell) => cell..=cell,
            None => 1..=program.pool(*pool).cells as Value,
        },
    };
    let indices = match &address.index {
        None => 0..=0,
        Some((length, index)) => match index.as_const() {
            Some(index) => index..=index,
            None => 0..=*length as Value - 1,
        },
    };
    if let Some(pointer) = &address.pointer {
        return pointer.targets.iter().map(|(_, loc)| *loc).collect();
    }
    let mut places = BTreeSet::new();
    for cell in cells {
        for index in indices.clone() {
            let constant = Address {
                base: address.base,
                cell: address.cell.as_ref().map(|(pool, _)| (*pool, Expr::Const(cell))),
                index: address.index.as_ref().map(|(length, _)| (*length, Expr::Const(index))),
                pointer: None,
            };
            places.extend(memory::resolve_address(program, &constant, &|expr| {
                memory::eval(expr, &[])
            }));
        }
    }
    places
}
