//! Components of the flow of values: which locations and registers must be treated alike.
//!
//! Two variables are in one component if a value may be copied from one to the other, perhaps with
//! a sum, or if they are compared. What a comparison yields is a truth value and belongs to no
//! component. The remainder of a number modulo a small constant does not belong to the component of
//! the number, because it can be an index.

use super::form::small_modulus;
use crate::expr::{BinOp, Expr, UnOp, WideOp};
use crate::flow::for_each_expr;
use crate::ids::{Loc, Reg, ThreadId};
use crate::op::{CasResult, Op, Update};
use crate::program::{Problem, Program};
use crate::property::{Observable, Property};
use crate::range::footprint;

/// A partition of all locations and registers.
#[derive(Clone, Debug)]
pub(super) struct Components {
    locations: usize,
    /// By thread: the number of its first register.
    first: Vec<usize>,
    /// A union-find forest over locations and registers.
    parent: Vec<usize>,
    /// By variable: its class, once classes are selected.
    class: Vec<Option<usize>>,
}

impl Components {
    /// Computes the components of a problem. The `init` block does not count: it runs once, on the
    /// numbers as they are.
    pub(super) fn of(problem: &Problem) -> Components {
        let program = &problem.program;
        let locations = program.locations.len();
        let mut first = Vec::new();
        let mut count = locations;
        for thread in &program.threads {
            first.push(count);
            count += thread.registers.len();
        }
        let mut found =
            Components { locations, first, parent: (0..count).collect(), class: vec![None; count] };
        for (t, thread) in program.threads.iter().enumerate() {
            for stmt in &thread.code {
                found.add(program, ThreadId::from_index(t), &stmt.op);
            }
        }
        for condition in conditions(problem) {
            found.add_expr(&condition.expr, &|_, what| *what);
        }
        found
    }

    /// Selects the components that `is_selected` accepts as classes. Returns their members.
    pub(super) fn select(
        &mut self,
        is_selected: impl Fn(&[Observable]) -> bool,
    ) -> Vec<Vec<Observable>> {
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); self.parent.len()];
        for at in 0..self.parent.len() {
            let root = self.root(at);
            members[root].push(at);
        }
        let mut classes: Vec<Vec<Observable>> = Vec::new();
        for all in members.into_iter().filter(|all| !all.is_empty()) {
            let variables: Vec<Observable> = all.iter().map(|at| self.variable(*at)).collect();
            if is_selected(&variables) {
                all.iter().for_each(|at| self.class[*at] = Some(classes.len()));
                classes.push(variables);
            }
        }
        classes
    }

    /// Returns the class of a variable.
    pub(super) fn class(&self, what: Observable) -> Option<usize> {
        self.class[self.number(what)?]
    }

    fn number(&self, what: Observable) -> Option<usize> {
        match what {
            Observable::Loc(loc) => Some(loc.index()),
            Observable::Reg(t, reg) => Some(self.first[t.index()] + reg.index()),
            Observable::At(..) => None,
        }
    }

    fn variable(&self, number: usize) -> Observable {
        if number < self.locations {
            return Observable::Loc(Loc::from_index(number));
        }
        let thread = self.first.partition_point(|first| *first <= number) - 1;
        let reg = Reg::from_index(number - self.first[thread]);
        Observable::Reg(ThreadId::from_index(thread), reg)
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    /// Puts variables into one component.
    fn unite(&mut self, all: &[Observable]) {
        let mut numbers = all.iter().filter_map(|what| self.number(*what)).collect::<Vec<_>>();
        let Some(first) = numbers.pop() else { return };
        for other in numbers {
            let (a, b) = (self.root(first), self.root(other));
            self.parent[a.max(b)] = a.min(b);
        }
    }

    fn add(&mut self, program: &Program, t: ThreadId, op: &Op) {
        let to_variable = |t: ThreadId, reg: &Reg| Observable::Reg(t, *reg);
        for_each_expr(op, &mut |expr| self.add_expr(expr, &|_, reg| to_variable(t, reg)));
        let mut together: Vec<Observable> = Vec::new();
        let mut take = |expr: &Expr<Reg>| {
            expr_values(expr, &mut |reg| together.push(Observable::Reg(t, *reg)));
        };
        let mut target = None;
        match op {
            Op::Assign { reg, expr } => {
                take(expr);
                target = Some(*reg);
            }
            Op::Load { reg, .. } => target = Some(*reg),
            Op::Store { value, .. } => take(value),
            Op::Update { reg, update, .. } => {
                let yields_value = match update {
                    Update::Cas { expected, new, result } => {
                        take(expected);
                        take(new);
                        *result == CasResult::Old
                    }
                    Update::Swap { new } => {
                        take(new);
                        true
                    }
                    Update::Add { by, .. } | Update::Bits { by, .. } => {
                        take(by);
                        true
                    }
                };
                target = reg.filter(|_| yields_value);
            }
            Op::Skip
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
            | Op::Halt => return,
        }
        together.extend(target.map(|reg| Observable::Reg(t, reg)));
        if let Some(address) = op.address() {
            together.extend(footprint(program, address).map(Observable::Loc));
        }
        self.unite(&together);
    }

    /// Unites the variables that an expression compares with each other.
    fn add_expr<V: Copy>(&mut self, expr: &Expr<V>, variable: &dyn Fn(ThreadId, &V) -> Observable) {
        let none = ThreadId::from_index(0);
        for_each_comparison(expr, &mut |a, b| {
            let mut together = Vec::new();
            expr_values(a, &mut |leaf| together.push(variable(none, leaf)));
            expr_values(b, &mut |leaf| together.push(variable(none, leaf)));
            self.unite(&together);
        });
    }
}

/// Returns the conditions of a problem's properties.
pub(super) fn conditions(problem: &Problem) -> impl Iterator<Item = &crate::Condition> {
    let of_property = |property| match property {
        &Property::FinalForall(ref condition)
        | &Property::FinalNever(ref condition)
        | &Property::Invariant(ref condition) => Some(condition),
        &Property::Assertions
        | &Property::MutualExclusion
        | &Property::DeadlockFree
        | &Property::Progress
        | &Property::Operations(_) => None,
    };
    problem.properties.iter().filter_map(of_property).chain(&problem.sometimes)
}

/// What the operands of a binary operator contribute to its result.
enum Operands {
    /// Their values.
    Values,
    /// They are compared.
    Compared,
    /// Their truth.
    Truth,
}

fn operands(op: BinOp) -> Operands {
    match op {
        BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::Div
        | BinOp::Rem
        | BinOp::BitAnd
        | BinOp::BitOr
        | BinOp::BitXor
        | BinOp::Shl
        | BinOp::Shr => Operands::Values,
        BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => Operands::Compared,
        BinOp::And | BinOp::Or => Operands::Truth,
        BinOp::Wide(op) => match op {
            WideOp::Add
            | WideOp::Sub
            | WideOp::Mul
            | WideOp::Div
            | WideOp::Rem
            | WideOp::Shl
            | WideOp::Shr
            | WideOp::WrapAdd
            | WideOp::WrapSub
            | WideOp::WrapMul
            | WideOp::WrapDiv
            | WideOp::WrapRem
            | WideOp::WrapShl
            | WideOp::UnsignedShr
            | WideOp::UnsignedDiv
            | WideOp::UnsignedRem => Operands::Values,
            WideOp::UnsignedLt | WideOp::UnsignedLe => Operands::Compared,
        },
    }
}

/// Calls `visit` on the leaves that contribute to the value of an expression.
fn expr_values<V>(expr: &Expr<V>, visit: &mut dyn FnMut(&V)) {
    match expr {
        Expr::Const(_) | Expr::Unary(UnOp::Not, _) => {}
        Expr::Var(leaf) => visit(leaf),
        Expr::Unary(UnOp::Neg | UnOp::BitNot, a) => expr_values(a, visit),
        Expr::Binary(op, a, b) => {
            if let Operands::Values = operands(*op)
                && small_modulus(*op, b).is_none()
            {
                expr_values(a, visit);
                expr_values(b, visit);
            }
        }
        Expr::Select(_, a, b) => {
            expr_values(a, visit);
            expr_values(b, visit);
        }
    }
}

/// Calls `visit` on the operands of every comparison in an expression.
fn for_each_comparison<V>(expr: &Expr<V>, visit: &mut dyn FnMut(&Expr<V>, &Expr<V>)) {
    match expr {
        Expr::Const(_) | Expr::Var(_) => {}
        Expr::Unary(_, a) => for_each_comparison(a, visit),
        Expr::Binary(op, a, b) => {
            if let Operands::Compared = operands(*op) {
                visit(a, b);
            }
            for_each_comparison(a, visit);
            for_each_comparison(b, visit);
        }
        Expr::Select(c, a, b) => {
            for_each_comparison(c, visit);
            for_each_comparison(a, visit);
            for_each_comparison(b, visit);
        }
    }
}
