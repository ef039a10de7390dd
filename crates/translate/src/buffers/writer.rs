//! Writing blocks: code with the origins of its statements, and registers that are 0 outside of blocks.

use super::layout::Array;
use crate::Origin;
use crate::formula::num;
use fencepost_ir::assemble::{Assembler, Target};
use fencepost_ir::{Address, Expr, Label, Op, Program, Reg, Register, Stmt, Type, Value};

/// Code in the making, with what each statement stands for.
pub(super) struct Writer<'p> {
    program: &'p Program,
    code: Assembler,
    origins: Vec<Origin>,
    /// Registers of ours, by what they are for.
    ours: Vec<(&'static str, Type, Reg)>,
    /// Those that the block uses, to be cleared in its end.
    used: Vec<(Reg, Value)>,
}

impl<'p> Writer<'p> {
    pub(super) fn new(program: &'p Program, registers: Vec<Register>) -> Self {
        let code = Assembler::new(registers);
        let (origins, ours, used) = (Vec::new(), Vec::new(), Vec::new());
        Writer { program, code, origins, ours, used }
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

    /// A statement of ours.
    pub(super) fn op(&mut self, op: Op) {
        self.origins.push(Origin::Nothing);
        self.code.op(op);
    }

    /// A statement with a known origin and a known follower.
    pub(super) fn original(&mut self, op: Op, origin: Origin, next: Target) {
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

    /// A statement of ours that is followed by this place.
    pub(super) fn op_then(&mut self, op: Op, next: Target) {
        self.original(op, Origin::Nothing, next);
    }

    pub(super) fn jump_if(&mut self, cond: Expr<Reg>, then: Target) {
        self.origins.push(Origin::Nothing);
        self.code.jump_if(cond, then);
    }

    /// Goes on only here if the condition holds: what `inside` writes is left out when it does not.
    pub(super) fn when(&mut self, cond: Expr<Reg>, inside: impl FnOnce(&mut Self)) {
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

    /// Clears the registers that the block has used, at least one, and goes there.
    pub(super) fn clear_then(&mut self, next: Target) {
        let (last, value) = self.used.pop().expect("a block that waits reads");
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
        self.original(Op::AtomicEnd, origin, next);
    }

    /// A register that keeps its value from block to block.
    pub(super) fn lasting(&mut self, purpose: &'static str, ty: &Type) -> Reg {
        self.code.register(&format!("%{purpose}"), ty.clone())
    }

    /// A register for use in this block.
    pub(super) fn register(&mut self, purpose: &'static str, ty: &Type) -> Reg {
        let known = self.ours.iter().find(|(p, t, _)| *p == purpose && t == ty);
        let reg = known.map(|(_, _, reg)| *reg).unwrap_or_else(|| {
            let alike = self.ours.iter().filter(|(p, _, _)| *p == purpose).count();
            let suffix = if alike == 0 { String::new() } else { alike.to_string() };
            let reg = self.code.register(&format!("%{purpose}{suffix}"), ty.clone());
            self.ours.push((purpose, ty.clone(), reg));
            reg
        });
        // Registers start as 0 whatever their type; one whose type has no 0 cannot be set to it.
        let cleared = self.program.limits(ty).map_or(0, |(lo, hi)| 0.clamp(lo, hi));
        if !self.used.iter().any(|(used, _)| *used == reg) {
            self.used.push((reg, cleared));
        }
        reg
    }

    /// Reads an element of ours into a register for this block.
    pub(super) fn read(
        &mut self,
        purpose: &'static str,
        from: &Array,
        index: Expr<Reg>,
    ) -> Expr<Reg> {
        let reg = self.register(purpose, &from.ty);
        self.op(Op::Load { reg, from: from.at(index) });
        Expr::Var(reg)
    }

    /// Reads a location of ours.
    pub(super) fn get(&mut self, purpose: &'static str, from: &Array) -> Expr<Reg> {
        self.read(purpose, from, num(0))
    }

    pub(super) fn store(&mut self, to: Address, value: Expr<Reg>) {
        self.op(Op::Store { to, value });
    }

    /// Writes a location of ours.
    pub(super) fn set(&mut self, to: &Array, value: Expr<Reg>) {
        self.store(to.at(num(0)), value);
    }

    pub(super) fn assume(&mut self, cond: Expr<Reg>) {
        self.op(Op::Assume(cond));
    }
}
