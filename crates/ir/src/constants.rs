//! Constant registers: registers that have one value whenever control is at a statement.
//!
//! Direction: under-approximation. A forward data-flow analysis of one thread: a register is constant
//! behind an assignment whose operands are constant, and stays constant where all paths agree.
//! Registers are 0 at first. Values from memory and choices are not constant.

use crate::flow::successors;
use crate::grace_period;
use crate::ids::{Pc, Reg};
use crate::op::Op;
use crate::program::Thread;
use crate::value::Value;

/// By register: its value, if it is constant.
type Constants = Vec<Option<Value>>;

/// Returns the constant registers before each statement. A statement that control does not reach has
/// none.
pub(crate) fn constants(thread: &Thread) -> Vec<Constants> {
    let mut at_start: Constants = vec![Some(0); thread.registers.len()];
    for reg in registers_with_other_writers(thread) {
        at_start[reg.index()] = None;
    }
    let mut before: Vec<Option<Constants>> = vec![None; thread.code.len()];
    if !before.is_empty() {
        before[0] = Some(at_start);
    }
    let mut open = vec![Pc(0)];
    while let Some(pc) = open.pop() {
        let Some(mut after) = before.get(pc.index()).cloned().flatten() else { continue };
        let stmt = thread.stmt(pc);
        if let Some(reg) = stmt.op.target() {
            after[reg.index()] = if let Op::Assign { expr, .. } = &stmt.op {
                let mut is_constant = true;
                expr.for_each_var(&mut |var| is_constant &= after[var.index()].is_some());
                let value = expr.eval(&|var: &Reg| after[var.index()].unwrap_or_default());
                value.ok().filter(|_| is_constant)
            } else {
                None
            };
        }
        for next in successors(stmt) {
            let known = &mut before[next.index()];
            let joined = match known {
                None => after.clone(),
                Some(known) => {
                    let join = |(a, b): (&Option<Value>, &Option<Value>)| a.filter(|_| a == b);
                    known.iter().zip(&after).map(join).collect()
                }
            };
            if known.as_ref() != Some(&joined) {
                *known = Some(joined);
                open.push(next);
            }
        }
    }
    let none = || vec![None; thread.registers.len()];
    before.into_iter().map(|known| known.unwrap_or_else(none)).collect()
}

/// Returns the registers that a statement sets besides its [target](Op::target).
pub(crate) fn registers_with_other_writers(thread: &Thread) -> Vec<Reg> {
    let mut registers = grace_period::registers(thread);
    for stmt in &thread.code {
        if let Op::Invoke { seen } = &stmt.op {
            registers.extend(seen.iter().map(|(_, reg)| *reg));
        }
    }
    registers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{BinOp, Expr};
    use crate::ids::{Label, Loc};
    use crate::op::Address;
    use crate::program::{Register, Stmt};
    use crate::value::Type;

    #[test]
    fn a_register_is_constant_where_all_paths_agree() {
        let [a, b, c] = [Reg(0), Reg(1), Reg(2)];
        let set = |reg, expr| Op::Assign { reg, expr };
        let branch = Op::Branch { cond: Expr::Var(c), then: Pc(1), otherwise: Pc(5) };
        let sum = Expr::Binary(BinOp::Add, Box::new(Expr::Var(a)), Box::new(Expr::Const(1)));
        // a = 3; loop { load c; b = a + 1; a = 3; if (!c) break; }
        let code = [
            set(a, Expr::Const(3)),
            Op::Load { reg: c, from: Address::fixed(Loc(0)) },
            set(b, sum),
            set(a, Expr::Const(3)),
            branch,
            Op::Halt,
        ];
        let stmt = |(at, op): (usize, Op)| {
            let next = Pc::from_index((at + 1).min(5));
            Stmt { label: Label(0), op, next, critical: false }
        };
        let register = Register { name: "r".into(), ty: Type::INT };
        let registers = vec![register.clone(), register.clone(), register];
        let code = code.into_iter().enumerate().map(stmt).collect();
        let constants = constants(&Thread { name: "p".into(), registers, code });
        assert_eq!(constants[0], [Some(0), Some(0), Some(0)]);
        // In the first iteration b is 0.
        assert_eq!(constants[1], [Some(3), None, None]);
        assert_eq!(constants[5], [Some(3), Some(4), None]);
    }
}
