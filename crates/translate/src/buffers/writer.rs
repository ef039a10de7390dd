//! Writes atomic blocks, with the origin of each statement. Scratch registers are 0 outside of
//! blocks.

use super::layout::Array;
use crate::Origin;
use crate::formula::num;
use fencepost_ir::assemble::{Assembler, Target};
use fencepost_ir::{Address, Expr, Label, Op, Program, Reg, Register, Stmt, Type, Value};

/// Code under construction, with the origin of each statement.
pub(super) struct BlockWriter<'p> {
    program: &'p Program,
    code: Assembler,
    origins: Vec<Origin>,
    /// Scratch registers, with their purpose and type.
    scratch: Vec<(&'static str, Type, Reg)>,
    /// The scratch registers that the current block uses, with the values that reset them.
    used: Vec<(Reg, Value)>,
}

impl<'p> BlockWriter<'p> {
    pub(super) fn new(program: &'p Program, registers: Vec<Register>) -> Self {
        let code = Assembler::new(registers);
        let (origins, scratch, used) = (Vec::new(), Vec::new(), Vec::new());
        BlockWriter { program, code, origins, scratch, used }
    }

    pub(super) fn at(&mut self, label: Label, critical: bool) {
        self.code.at(label, critical);
    }

    pub(super) fn target(&mut self) -> Target {
        self.code.target()
    }

    pub(super) fn bind(&mut self, target: Target) {
        self.code.bind(target);
    }

    pub(super) fn finish(self) -> (Vec<Register>, Vec<Stmt>, Vec<Origin>) {
        let (registers, code) = self.code.finish();
        (registers, code, self.origins)
    }

    /// Adds an auxiliary statement.
    pub(super) fn op(&mut self, op: Op) {
        self.origins.push(Origin::Nothing);
        self.code.op(op);
    }

    /// Adds a statement with an origin and an explicit successor.
    pub(super) fn op_with_origin(&mut self, op: Op, origin: Origin, next: Target) {
        self.origins.push(origin);
        self.code.op_then(op, next);
    }

    pub(super) fn branch(
        &mut self,
        cond: Expr<Reg>,
        then: Target,
        otherwise: Target,
        from: Origin,
    ) {
        self.origins.push(from);
        self.code.branch(cond, then, otherwise);
    }

    pub(super) fn jump_unless(&mut self, cond: Expr<Reg>, otherwise: Target) {
        self.origins.push(Origin::Nothing);
        self.code.jump_unless(cond, otherwise);
    }

    /// Adds an auxiliary statement with an explicit successor.
    pub(super) fn op_then(&mut self, op: Op, next: Target) {
        self.op_with_origin(op, Origin::Nothing, next);
    }

    pub(super) fn jump_if(&mut self, cond: Expr<Reg>, then: Target) {
        self.origins.push(Origin::Nothing);
        self.code.jump_if(cond, then);
    }

    /// Emits the code of `inside` under a condition.
    pub(super) fn if_holds(&mut self, cond: Expr<Reg>, inside: impl FnOnce(&mut Self)) {
        let after = self.target();
        self.jump_unless(cond, after);
        inside(self);
        self.bind(after);
    }

    /// Begins a block.
    pub(super) fn begin(&mut self, origin: Origin) {
        self.used.clear();
        self.origins.push(origin);
        self.code.op(Op::AtomicBegin);
    }

    /// Resets the scratch registers of the block, of which there is at least one, then jumps to
    /// `next`.
    pub(super) fn clear_then(&mut self, next: Target) {
        let (last, value) = self.used.pop().expect("a block that waits reads a location");
        self.clear();
        self.op_then(Op::Assign { reg: last, expr: Expr::Const(value) }, next);
    }

    fn clear(&mut self) {
        for (reg, value) in std::mem::take(&mut self.used) {
            self.op(Op::Assign { reg, expr: Expr::Const(value) });
        }
    }

    /// Ends a block.
    pub(super) fn end(&mut self, origin: Origin, next: Target) {
        self.clear();
        self.op_with_origin(Op::AtomicEnd, origin, next);
    }

    /// Adds a register that keeps its value between blocks.
    pub(super) fn persistent_register(&mut self, purpose: &'static str, ty: &Type) -> Reg {
        self.code.register(&format!("%{purpose}"), ty.clone())
    }

    /// Returns a scratch register for the current block.
    pub(super) fn scratch_register(&mut self, purpose: &'static str, ty: &Type) -> Reg {
        let known = self.scratch.iter().find(|(p, t, _)| *p == purpose && t == ty);
        let reg = known.map(|(_, _, reg)| *reg).unwrap_or_else(|| {
            let alike = self.scratch.iter().filter(|(p, _, _)| *p == purpose).count();
            let suffix = if alike == 0 { String::new() } else { alike.to_string() };
            let reg = self.code.register(&format!("%{purpose}{suffix}"), ty.clone());
            self.scratch.push((purpose, ty.clone(), reg));
            reg
        });
        // Every register starts as 0, whatever its type. If the type excludes 0, reset it to the
        // nearest value.
        let cleared = self.program.limits(ty).map_or(0, |(lo, hi)| 0.clamp(lo, hi));
        if !self.used.iter().any(|(used, _)| *used == reg) {
            self.used.push((reg, cleared));
        }
        reg
    }

    /// Loads an array element into a scratch register.
    pub(super) fn read(
        &mut self,
        purpose: &'static str,
        from: &Array,
        index: Expr<Reg>,
    ) -> Expr<Reg> {
        let reg = self.scratch_register(purpose, &from.ty);
        self.op(Op::Load { reg, from: from.at(index) });
        Expr::Var(reg)
    }

    /// Loads a single location into a scratch register.
    pub(super) fn read_single(&mut self, purpose: &'static str, from: &Array) -> Expr<Reg> {
        self.read(purpose, from, num(0))
    }

    pub(super) fn store(&mut self, to: Address, value: Expr<Reg>) {
        self.op(Op::Store { to, value });
    }

    /// Stores to a single location.
    pub(super) fn write_single(&mut self, to: &Array, value: Expr<Reg>) {
        self.store(to.at(num(0)), value);
    }

    pub(super) fn assume(&mut self, cond: Expr<Reg>) {
        self.op(Op::Assume(cond));
    }
}
