//! Exclusive loads and stores: `LDXR`, `STXR` and their forms with orders.
//!
//! Whether an exclusive store succeeds is chosen at the exclusive load before it, in a hidden
//! register. So the status depends on no load, and a machine can hold the location between the two
//! accesses. A load that is chosen to reserve must be followed by its store: other runs are
//! discarded by `assume`. The load has two labels, because only the one that reserves is exclusive.

use fencepost_ir::{AccessOrder, BinOp, Expr, Op, Reg};

use super::super::super::error::LitmusError;
use super::super::ast::{Instruction, Operation};
use super::{Lowerer, binary};

/// The name of the hidden register: 1 between a load that reserves and its store.
const RESERVES: &str = "%reserves";

impl Lowerer<'_> {
    /// Discards the runs in which a load reserves but no store uses the reservation.
    pub(super) fn require_no_reservation(&mut self) {
        if self.pairs.is_any() {
            let reserves = Expr::Var(self.asm.register(RESERVES));
            self.asm.emit(Op::Assume(binary(BinOp::Eq, reserves, Expr::Const(0))));
        }
    }

    /// Records the labels of the exclusive pairs.
    pub(super) fn record_pairs(&mut self) {
        let label = |cell: usize| self.exclusive_labels.get(&cell).copied();
        let pairs =
            self.pairs.all().filter_map(|(load, store)| Some((label(load)?, label(store)?)));
        self.accesses.pairs.extend(pairs);
    }

    fn reserves(&mut self) -> Reg {
        self.asm.register(RESERVES)
    }

    pub(super) fn load_exclusive(
        &mut self,
        instruction: &Instruction,
        at: usize,
    ) -> Result<(), LitmusError> {
        let Operation::Load { to, at: memory, bits, acquire, .. } = &instruction.operation else {
            return Ok(());
        };
        let from = self.address(memory, instruction.span)?;
        self.require_no_reservation();
        let plain = AccessOrder { acquire: *acquire, ..AccessOrder::PLAIN };
        let [to] = to[..] else { return Ok(()) };
        if !self.pairs.has_store(at) {
            self.load(to, from, *bits, plain);
            return Ok(());
        }
        let reg = self.reserves();
        self.asm.emit(Op::Choose { reg, lo: 0, hi: 1 });
        let (other, done) = (self.asm.target(), self.asm.target());
        self.asm.jump_unless(Expr::Var(reg), other);
        self.exclusive_labels.insert(at, self.asm.label());
        self.load(to, from.clone(), *bits, AccessOrder { exclusive: true, ..plain });
        self.asm.jump(done);
        self.asm.bind(other);
        let text = self.text(instruction.span);
        self.asm.set_source(instruction.span, &text);
        self.load(to, from, *bits, plain);
        self.asm.bind(done);
        Ok(())
    }

    pub(super) fn store_exclusive(
        &mut self,
        instruction: &Instruction,
        at: usize,
    ) -> Result<(), LitmusError> {
        let Operation::Store { from, at: memory, bits, release, status: Some(status) } =
            &instruction.operation
        else {
            return Ok(());
        };
        if !self.pairs.has_load(at) {
            self.write(*status, Expr::Const(1));
            return Ok(());
        }
        let to = self.address(memory, instruction.span)?;
        let [from] = from[..] else { return Ok(()) };
        let value = self.stored(from, *bits);
        let order = AccessOrder { release: *release, exclusive: true, ..AccessOrder::PLAIN };
        let reserves = self.reserves();
        let (fails, done) = (self.asm.target(), self.asm.target());
        self.asm.jump_unless(Expr::Var(reserves), fails);
        self.exclusive_labels.insert(at, self.asm.label());
        self.emit_access(Op::Store { to, value }, *bits, order);
        self.asm.assign(reserves, Expr::Const(0));
        self.write(*status, Expr::Const(0));
        self.asm.jump(done);
        self.asm.bind(fails);
        self.write(*status, Expr::Const(1));
        self.asm.bind(done);
        Ok(())
    }
}
