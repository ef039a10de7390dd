//! Translates the statements of a thread.
//!
//! A statement that reads no abstract value and accesses no abstracted location stays as it is. The
//! others get local statements before or after them. These are not visible to other threads.

use super::formula::{Formulas, is_boolean};
use super::taint::{Taint, yields_success};
use super::{CannotAbstract, Domain};
use crate::atomic_blocks::in_atomic_block;
use fencepost_ir::assemble::{Assembler, Target};
use fencepost_ir::{Address, BinOp, Expr, Loc, Op, Pc, Reg, Stmt, Thread, Type, Update, Value};

/// Translates a thread. `in_one_step` is set for `init`, which accesses memory directly.
pub(super) fn abstract_thread(
    thread: &Thread,
    taint: &Taint,
    domain: &Domain,
    in_one_step: bool,
) -> Result<Thread, CannotAbstract> {
    let mut code = Assembler::new(thread.registers.clone());
    let temporaries = Temporaries {
        choice: code.temporary(Type::INT),
        exact: code.temporary(Type::INT),
        flag: code.temporary(Type::Bool),
        done: code.temporary(Type::Bool),
        value: code.temporary(domain.ty()),
        old: code.temporary(domain.ty()),
    };
    let holds_abstract_value = |reg: &Reg| {
        taint
            .registers
            .get(reg.index())
            .copied()
            .unwrap_or_else(|| [temporaries.value, temporaries.old].contains(reg))
    };
    let targets: Vec<Target> = thread.code.iter().map(|_| code.target()).collect();
    let mut translator = Translator {
        code,
        domain,
        taint,
        formulas: Formulas::new(domain, &holds_abstract_value),
        temporaries,
        targets,
        in_one_step,
    };
    let blocks = in_atomic_block(thread);
    for (at, stmt) in thread.code.iter().enumerate() {
        translator.code.at(stmt.label, stmt.critical);
        let target = translator.targets[at];
        translator.code.bind(target);
        translator.in_one_step = in_one_step || blocks[at];
        translator.statement(at, stmt)?;
        if stmt.op.falls_through() {
            let next = translator.targets[stmt.next.index()];
            translator.code.jump(next);
        }
    }
    let (mut registers, code) = translator.code.finish_compact();
    for (register, is_abstract) in registers.iter_mut().zip(&taint.registers) {
        if *is_abstract {
            register.ty = domain.ty();
        }
    }
    Ok(Thread { name: thread.name.clone(), registers, code })
}

/// The added registers.
#[derive(Clone, Copy)]
struct Temporaries {
    /// A choice that is not a value itself.
    choice: Reg,
    /// An exact result, before its abstraction.
    exact: Reg,
    /// A truth value.
    flag: Reg,
    /// Whether a guess was right.
    done: Reg,
    /// An abstract value to store.
    value: Reg,
    /// The guessed old value of an update.
    old: Reg,
}

struct Translator<'a> {
    code: Assembler,
    domain: &'a Domain,
    taint: &'a Taint,
    formulas: Formulas<'a, Reg>,
    temporaries: Temporaries,
    /// By program counter of the exact program.
    targets: Vec<Target>,
    /// Whether the statement is in a block that executes in one step, directly on memory.
    in_one_step: bool,
}

impl Translator<'_> {
    fn statement(&mut self, at: usize, stmt: &Stmt) -> Result<(), CannotAbstract> {
        if let Some(address) = stmt.op.address() {
            self.check_address(address)?;
        }
        let to_abstracted = self.taint.accesses[at];
        match &stmt.op {
            Op::Assign { reg, expr } => self.assign(*reg, expr)?,
            Op::Choose { reg, lo, hi } => {
                let target = self.exact_target(*reg);
                self.code.op(Op::Choose { reg: target, lo: *lo, hi: *hi });
                self.abstract_register(*reg);
            }
            Op::Load { .. } if to_abstracted => self.code.op(stmt.op.clone()),
            Op::Load { reg, from } => {
                let target = self.exact_target(*reg);
                self.code.op(Op::Load { reg: target, from: from.clone() });
                self.abstract_register(*reg);
            }
            Op::Store { to, value } => {
                let value = match to_abstracted {
                    true => self.abstract_operand(value)?,
                    false => self.exact_operand(value, self.temporaries.flag, to.base)?,
                };
                self.code.op(Op::Store { to: to.clone(), value });
            }
            Op::Update { reg, at, update } if to_abstracted => {
                self.update(*reg, at, update)?;
            }
            Op::Update { reg, at, update } => {
                let update = self.exact_update(update, at.base)?;
                let target = reg.map(|reg| self.exact_target(reg));
                self.code.op(Op::Update { reg: target, at: at.clone(), update });
                if let Some(reg) = reg {
                    self.abstract_register(*reg);
                }
            }
            Op::Branch { cond, then, otherwise } => self.branch(cond, *then, *otherwise)?,
            Op::Assume(cond) => {
                let cond = self.condition(cond)?;
                self.code.op(Op::Assume(cond));
            }
            Op::Assert(cond) => {
                let cond = self.condition(cond)?;
                self.code.op(Op::Assert(cond));
            }
            Op::Free { cell, .. } if self.formulas.reads(cell) => {
                return Err(CannotAbstract::Index);
            }
            Op::Skip
            | Op::Fence(_)
            | Op::Drain(_)
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
            | Op::Halt => self.code.op(stmt.op.clone()),
        }
        Ok(())
    }

    fn check_address(&self, at: &Address) -> Result<(), CannotAbstract> {
        let cell = at.cell.as_ref().map(|(_, expr)| expr);
        let index = at.index.as_ref().map(|(_, expr)| expr);
        match cell.into_iter().chain(index).any(|expr| self.formulas.reads(expr)) {
            true => Err(CannotAbstract::Index),
            false => Ok(()),
        }
    }

    fn is_abstract(&self, reg: Reg) -> bool {
        self.formulas.reads(&Expr::Var(reg))
    }

    /// Returns the register for an exact value that is to be put into a register.
    fn exact_target(&self, reg: Reg) -> Reg {
        if self.is_abstract(reg) { self.temporaries.exact } else { reg }
    }

    /// Completes a statement that has put an exact value into [`Self::exact_target`].
    fn abstract_register(&mut self, reg: Reg) {
        if self.is_abstract(reg) {
            let expr = self.formulas.abstraction(&Expr::Var(self.temporaries.exact));
            self.code.op(Op::Assign { reg, expr });
        }
    }

    /// Sets a register to the value of an expression.
    fn assign(&mut self, reg: Reg, expr: &Expr<Reg>) -> Result<(), CannotAbstract> {
        if self.formulas.is_determined(expr) {
            self.code.op(Op::Assign { reg: self.exact_target(reg), expr: expr.clone() });
            self.abstract_register(reg);
            return Ok(());
        }
        let unknown = self.open_value(expr)?;
        let (choose, done) = (self.code.target(), self.code.target());
        self.code.jump_if(unknown, choose);
        let value = self.formulas.finish(self.formulas.value(expr))?;
        let exact = self.temporaries.exact;
        self.code.op(Op::Assign { reg: exact, expr: value });
        let value = match self.is_abstract(reg) {
            true => self.formulas.abstraction(&Expr::Var(exact)),
            false => Expr::Var(exact),
        };
        self.code.op(Op::Assign { reg, expr: value });
        self.code.jump(done);
        self.code.bind(choose);
        match is_boolean(expr) {
            true => self.code.op(Op::Choose { reg, lo: 0, hi: 1 }),
            false => self.choose_value(reg),
        }
        self.code.bind(done);
        Ok(())
    }

    /// Evaluates the parts of an expression that read no abstract value, because they may fault.
    /// Returns whether the value of the expression is unknown.
    fn open_value(&mut self, expr: &Expr<Reg>) -> Result<Expr<Reg>, CannotAbstract> {
        self.formulas.check(expr)?;
        let mut parts = Vec::new();
        self.formulas.exact_parts(expr, &mut parts);
        for part in parts {
            self.code.op(Op::Assign { reg: self.temporaries.exact, expr: part.clone() });
        }
        self.formulas.finish(self.formulas.unknown(expr))
    }

    /// Sets a register to any abstract value.
    fn choose_value(&mut self, reg: Reg) {
        let all = self.domain.all();
        let (lo, hi) = (all[0], all[all.len() - 1]);
        if hi.abs_diff(lo) == all.len() as u64 - 1 {
            self.code.op(Op::Choose { reg, lo, hi });
            return;
        }
        let choice = self.temporaries.choice;
        self.code.op(Op::Choose { reg: choice, lo: 0, hi: all.len() as Value - 1 });
        let mut chain = Expr::Const(hi);
        for (number, value) in all.iter().enumerate().rev().skip(1) {
            let number = Box::new(Expr::Const(number as Value));
            let is_chosen = Expr::Binary(BinOp::Eq, Box::new(Expr::Var(choice)), number);
            let value = Box::new(Expr::Const(*value));
            chain = Expr::Select(Box::new(is_chosen), value, Box::new(chain));
        }
        self.code.op(Op::Assign { reg, expr: chain });
    }

    /// Returns an expression for a value that is stored to an abstracted location.
    fn abstract_operand(&mut self, expr: &Expr<Reg>) -> Result<Expr<Reg>, CannotAbstract> {
        match expr {
            Expr::Const(value) => Ok(Expr::Const(self.domain.abstraction(*value))),
            Expr::Var(reg) if self.is_abstract(*reg) => Ok(expr.clone()),
            Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => {
                self.assign(self.temporaries.value, expr)?;
                Ok(Expr::Var(self.temporaries.value))
            }
        }
    }

    /// Returns an expression for an operand of an access to a location that is not abstracted.
    fn exact_operand(
        &mut self,
        expr: &Expr<Reg>,
        temporary: Reg,
        base: Loc,
    ) -> Result<Expr<Reg>, CannotAbstract> {
        if !self.formulas.reads(expr) {
            return Ok(expr.clone());
        }
        if !is_boolean(expr) {
            return Err(CannotAbstract::Reaches(base));
        }
        if self.formulas.is_determined(expr) {
            return Ok(expr.clone());
        }
        self.assign(temporary, expr)?;
        Ok(Expr::Var(temporary))
    }

    fn exact_update(&mut self, update: &Update, base: Loc) -> Result<Update, CannotAbstract> {
        let Temporaries { flag, done, .. } = self.temporaries;
        let mut operand = |expr: &Expr<Reg>, temporary| self.exact_operand(expr, temporary, base);
        Ok(match update {
            Update::Cas { expected, new, result } => Update::Cas {
                expected: operand(expected, flag)?,
                new: operand(new, done)?,
                result: *result,
            },
            Update::Swap { new } => Update::Swap { new: operand(new, flag)? },
            Update::Add { by, wrap } => Update::Add { by: operand(by, flag)?, wrap: *wrap },
            Update::Bits { op, by } => Update::Bits { op: *op, by: operand(by, flag)? },
        })
    }

    /// Returns an expression for a condition. It is a register if the truth value may be chosen.
    fn condition(&mut self, cond: &Expr<Reg>) -> Result<Expr<Reg>, CannotAbstract> {
        if self.formulas.is_determined(cond) {
            return Ok(cond.clone());
        }
        let flag = self.temporaries.flag;
        // The truth value, also of a condition that is a number.
        let zero = Expr::Binary(BinOp::Ne, Box::new(cond.clone()), Box::new(Expr::Const(0)));
        self.assign(flag, if is_boolean(cond) { cond } else { &zero })?;
        Ok(Expr::Var(flag))
    }

    fn branch(&mut self, cond: &Expr<Reg>, then: Pc, otherwise: Pc) -> Result<(), CannotAbstract> {
        let cond = self.condition(cond)?;
        let (then, otherwise) = (self.targets[then.index()], self.targets[otherwise.index()]);
        self.code.branch(cond, then, otherwise);
        Ok(())
    }

    /// Translates an update of an abstracted location.
    fn update(
        &mut self,
        reg: Option<Reg>,
        at: &Address,
        update: &Update,
    ) -> Result<(), CannotAbstract> {
        let Temporaries { flag, done, value, old, .. } = self.temporaries;
        let again = self.code.here();
        match self.in_one_step {
            true => self.code.op(Op::Load { reg: old, from: at.clone() }),
            false => self.choose_value(old),
        }
        let binary =
            |op, by: &Expr<Reg>| Expr::Binary(op, Box::new(Expr::Var(old)), Box::new(by.clone()));
        match update {
            Update::Cas { expected, new, .. } => {
                let (keep, go) = (self.code.target(), self.code.target());
                self.assign(flag, &binary(BinOp::Eq, expected))?;
                self.code.jump_unless(Expr::Var(flag), keep);
                self.assign(value, new)?;
                self.code.jump(go);
                self.code.bind(keep);
                self.code.op(Op::Assign { reg: value, expr: Expr::Var(old) });
                self.code.bind(go);
            }
            Update::Swap { new } => self.assign(value, new)?,
            // A location that wraps has a range, so it is not abstracted.
            Update::Add { wrap: Some(_), .. } => return Err(CannotAbstract::Reaches(at.base)),
            Update::Add { by, wrap: None } => self.assign(value, &binary(BinOp::Add, by))?,
            Update::Bits { op, by } => self.assign(value, &binary(*op, by))?,
        }
        if self.in_one_step {
            self.code.op(Op::Store { to: at.clone(), value: Expr::Var(value) });
        } else {
            let update = Update::cas(Expr::Var(old), Expr::Var(value));
            self.code.op(Op::Update { reg: Some(done), at: at.clone(), update });
            self.code.jump_unless(Expr::Var(done), again);
        }
        if let Some(reg) = reg {
            let result = if yields_success(update) { flag } else { old };
            self.code.op(Op::Assign { reg, expr: Expr::Var(result) });
        }
        Ok(())
    }
}
