//! Points-to analysis: which locations each access through a pointer may touch.
//!
//! A front end gives every access through a pointer all locations of the right size as
//! [targets](crate::Pointer::targets). This pass removes the targets that the pointer can never
//! have. Smaller sets make partial-order reduction, store buffers and packed states better.
//!
//! Over-approximation: for each register and location the set of values that it may hold, without
//! regard to the order of statements, so it holds under every memory model. A set with more than
//! [`MOST`] values becomes "anything", which removes no target. A pointer outside of its targets
//! remains a fault, because the pointer then has no location in the full list either.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::expr::{BinOp, Expr};
use crate::ids::{Loc, Reg};
use crate::op::{Address, CasResult, Op, Update};
use crate::program::{Program, Thread};
use crate::value::{Value, wrap_into};

/// The most values of a set.
const MOST: usize = 256;
/// The most combinations of values for which an expression is evaluated.
const MOST_COMBINATIONS: usize = 4096;

/// The values that a register or location may hold. `None`: anything.
type Values = Option<BTreeSet<Value>>;

/// Removes the targets that pointers never have. Each access keeps at least the targets that it has
/// in some run.
pub fn narrow_targets(program: &mut Program) {
    if !program.uses_pointers() {
        return;
    }
    let facts = Facts::compute(program);
    let mut threads = std::mem::take(&mut program.threads);
    let mut init = program.init.take();
    for (thread, registers) in init.iter_mut().chain(&mut threads).zip(&facts.registers) {
        for stmt in &mut thread.code {
            let Some(pointer) = stmt.op.address_mut().and_then(|at| at.pointer.as_mut()) else {
                continue;
            };
            let Some(numbers) = evaluate(&pointer.value, registers) else { continue };
            let kept = pointer.targets.iter().filter(|(number, _)| numbers.contains(number));
            pointer.targets = kept.copied().collect::<Arc<[_]>>();
        }
    }
    (program.threads, program.init) = (threads, init);
}

/// The values of all locations and registers.
struct Facts {
    locations: Vec<Values>,
    /// By thread (`init` first, if there is one) and register.
    registers: Vec<Vec<Values>>,
}

impl Facts {
    fn compute(program: &Program) -> Facts {
        let code: Vec<&Thread> = program.init.iter().chain(&program.threads).collect();
        let start = |value: Value| Some(BTreeSet::from([value]));
        let mut facts = Facts {
            locations: program.locations.iter().map(|location| start(location.init)).collect(),
            registers: code.iter().map(|thread| vec![start(0); thread.registers.len()]).collect(),
        };
        // Terminates: sets only grow, up to a limit.
        let mut changed = true;
        while changed {
            changed = false;
            for (at, thread) in code.iter().enumerate() {
                for stmt in &thread.code {
                    changed |= facts.step(program, at, &stmt.op);
                }
            }
        }
        facts
    }

    /// Adds the effect of an operation. Returns whether a set has grown.
    fn step(&mut self, program: &Program, thread: usize, op: &Op) -> bool {
        let registers = &self.registers[thread];
        let value = |expr: &Expr<Reg>| evaluate(expr, registers);
        match op {
            Op::Assign { reg, expr } => {
                let new = value(expr);
                grow(&mut self.registers[thread][reg.index()], new)
            }
            Op::Choose { reg, lo, hi } => {
                let few = hi.abs_diff(*lo) < MOST as u64;
                let new = few.then(|| (*lo..=*hi).collect());
                grow(&mut self.registers[thread][reg.index()], new)
            }
            Op::New { reg, pool } => {
                let new = (0..=Value::from(program.pool(*pool).cells)).collect();
                grow(&mut self.registers[thread][reg.index()], Some(new))
            }
            Op::Load { reg, from } => {
                let new = self.read(&self.touched(program, thread, from));
                grow(&mut self.registers[thread][reg.index()], new)
            }
            Op::Store { to, value: stored } => {
                let (new, touched) = (value(stored), self.touched(program, thread, to));
                self.write(&touched, &new)
            }
            Op::Update { reg, at, update } => {
                let touched = self.touched(program, thread, at);
                let old = self.read(&touched);
                let combine = |op: BinOp, by: &Expr<Reg>| {
                    combinations(&old, &value(by), |a, b| op.apply(a, b).ok())
                };
                let (new, yields) = match update {
                    Update::Cas { new, result: CasResult::Success, .. } => {
                        (value(new), Some(BTreeSet::from([0, 1])))
                    }
                    Update::Cas { new, result: CasResult::Old, .. } => (value(new), old.clone()),
                    Update::Swap { new } => (value(new), old.clone()),
                    Update::Add { by, wrap: None } => (combine(BinOp::Add, by), old.clone()),
                    Update::Add { by, wrap: Some(range) } => {
                        let sum = |a, b| Some(wrap_into(i128::from(a) + i128::from(b), *range));
                        (combinations(&old, &value(by), sum), old.clone())
                    }
                    Update::Bits { op, by } => (combine(*op, by), old.clone()),
                };
                let stored = self.write(&touched, &new);
                let loaded =
                    reg.is_some_and(|reg| grow(&mut self.registers[thread][reg.index()], yields));
                stored | loaded
            }
            Op::Invoke { seen } => {
                let registers: Vec<Reg> = seen.iter().map(|(_, reg)| *reg).collect();
                self.forget(thread, &registers)
            }
            Op::SectionBegin { held, index, .. } => {
                let registers: Vec<Reg> = index.iter().chain([held]).copied().collect();
                self.forget(thread, &registers)
            }
            Op::SectionEnd { held: reg, .. } | Op::GracePeriod { seen: reg, .. } => {
                self.forget(thread, &[*reg])
            }
            Op::Skip
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Return { .. }
            | Op::Join
            | Op::Halt => false,
        }
    }

    /// Returns the locations that an access may touch, as far as is known.
    fn touched(&self, program: &Program, thread: usize, at: &Address) -> Vec<Loc> {
        let Some(pointer) = &at.pointer else {
            return crate::range::footprint(program, at).collect();
        };
        let numbers = evaluate(&pointer.value, &self.registers[thread]);
        let may = |number: &Value| numbers.as_ref().is_none_or(|known| known.contains(number));
        pointer.targets.iter().filter(|(number, _)| may(number)).map(|(_, loc)| *loc).collect()
    }

    /// Registers that no pointer is computed from may hold anything.
    fn forget(&mut self, thread: usize, registers: &[Reg]) -> bool {
        let mut changed = false;
        for reg in registers {
            changed |= grow(&mut self.registers[thread][reg.index()], None);
        }
        changed
    }

    fn read(&self, touched: &[Loc]) -> Values {
        let mut all = Some(BTreeSet::new());
        for loc in touched {
            grow(&mut all, self.locations[loc.index()].clone());
        }
        all
    }

    fn write(&mut self, touched: &[Loc], new: &Values) -> bool {
        let mut changed = false;
        for loc in touched {
            changed |= grow(&mut self.locations[loc.index()], new.clone());
        }
        changed
    }
}

/// Adds values to a set. Returns whether it has grown.
fn grow(set: &mut Values, new: Values) -> bool {
    let Some(known) = set else { return false };
    match new {
        Some(new) => {
            let before = known.len();
            known.extend(new);
            let after = known.len();
            if after > MOST {
                *set = None;
            }
            after > before
        }
        None => {
            *set = None;
            true
        }
    }
}

/// Returns the values that an expression may have.
fn evaluate(expr: &Expr<Reg>, registers: &[Values]) -> Values {
    match expr {
        Expr::Const(value) => Some(BTreeSet::from([*value])),
        Expr::Var(reg) => registers[reg.index()].clone(),
        Expr::Unary(op, a) => {
            let results = evaluate(a, registers)?.into_iter().filter_map(|a| op.apply(a).ok());
            Some(results.collect())
        }
        // The right operand may fault without being evaluated.
        Expr::Binary(BinOp::And | BinOp::Or, ..) => Some(BTreeSet::from([0, 1])),
        Expr::Binary(op @ (BinOp::BitXor | BinOp::Sub), a, b) if a == b => {
            // Faults aside, `a ^ a` and `a - a` are 0 for every `a`.
            op.apply(0, 0).ok().map(|zero| BTreeSet::from([zero]))
        }
        Expr::Binary(op, a, b) => {
            let (a, b) = (evaluate(a, registers), evaluate(b, registers));
            combinations(&a, &b, |a, b| op.apply(a, b).ok())
        }
        Expr::Select(c, a, b) => {
            let condition = evaluate(c, registers);
            let may = |truth: bool| {
                condition.as_ref().is_none_or(|known| known.iter().any(|v| (*v != 0) == truth))
            };
            let mut all = Some(BTreeSet::new());
            if may(true) {
                grow(&mut all, evaluate(a, registers));
            }
            if may(false) {
                grow(&mut all, evaluate(b, registers));
            }
            all
        }
    }
}

/// Returns the results of an operator on all pairs of values.
fn combinations(a: &Values, b: &Values, apply: impl Fn(Value, Value) -> Option<Value>) -> Values {
    let (a, b) = (a.as_ref()?, b.as_ref()?);
    if a.len() * b.len() > MOST_COMBINATIONS {
        return None;
    }
    let all: BTreeSet<Value> =
        a.iter().flat_map(|a| b.iter().filter_map(|b| apply(*a, *b))).collect();
    (all.len() <= MOST).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Label, Location, Pc, Pointer, Register, Stmt, Type};

    fn load(reg: u16, pointer: Expr<Reg>, targets: &Arc<[(Value, Loc)]>) -> Op {
        let pointer = Pointer { value: pointer, targets: targets.clone(), ended: Arc::from([]) };
        Op::Load { reg: Reg(reg), from: Address::through(pointer) }
    }

    /// `p` is a location that points to `x` at first; `q` may be anything; `y` is never pointed to.
    fn program() -> Program {
        let names = ["p", "x", "y"];
        let location = |name: &str, init| Location { name: name.into(), ty: Type::INT, init };
        let targets: Arc<[(Value, Loc)]> =
            (0..3).map(|at| (4096 + 8 * at, Loc(at as u32))).collect::<Vec<_>>().into();
        let ops = [
            Op::Load { reg: Reg(0), from: Address::fixed(Loc(0)) },
            load(1, Expr::Var(Reg(0)), &targets),
            Op::Store { to: Address::fixed(Loc(0)), value: Expr::Const(4096) },
            Op::Choose { reg: Reg(2), lo: 0, hi: 5000 },
            load(1, Expr::Var(Reg(2)), &targets),
            Op::Halt,
        ];
        let stmt =
            |(at, op)| Stmt { label: Label(0), op, next: Pc(at as u32 + 1), critical: false };
        let code = ops.into_iter().enumerate().map(stmt).collect();
        let register = |name: &str| Register { name: name.into(), ty: Type::INT };
        let registers = vec![register("r"), register("s"), register("q")];
        Program {
            locations: names.iter().zip([4104, 0, 0]).map(|(n, init)| location(n, init)).collect(),
            threads: vec![Thread { name: "t".into(), registers, code }],
            ..Program::default()
        }
    }

    #[test]
    fn targets_are_those_that_the_pointer_may_have() {
        let mut program = program();
        narrow_targets(&mut program);
        let targets = |pc: usize| -> Vec<Loc> {
            let address = program.threads[0].code[pc].op.address();
            let pointer = address.and_then(|at| at.pointer.as_ref()).expect("a pointer");
            pointer.targets.iter().map(|(_, loc)| *loc).collect()
        };
        assert_eq!(targets(1), [Loc(0), Loc(1)], "the initial and the stored value of `p`");
        assert_eq!(targets(4), [Loc(0), Loc(1), Loc(2)], "too many values to know them");
    }

    /// A false dependency: `q` may be anything, but `q ^ q` is 0.
    #[test]
    fn an_operand_cancels_itself() {
        let q = || Box::new(Expr::Var(Reg(2)));
        for op in [BinOp::BitXor, BinOp::Sub] {
            let zero = Box::new(Expr::Binary(op, q(), q()));
            let sum = Expr::Binary(BinOp::Add, Box::new(Expr::Const(4104)), zero);
            assert_eq!(evaluate(&sum, &[None, None, None]), Some(BTreeSet::from([4104])));
        }
        let other = Expr::Binary(BinOp::BitXor, q(), Box::new(Expr::Var(Reg(1))));
        assert_eq!(evaluate(&other, &[None, None, None]), None);
    }
}
