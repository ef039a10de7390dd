//! Applies a renaming to code. The traversal knows the class of every constant.

use super::Class;
use super::classes::{Classes, locations};
use crate::expr::{BinOp, Expr};
use crate::ids::{Loc, PoolId, Reg, ThreadId};
use crate::op::{Address, CasResult, Op, Pointer, Update};
use crate::program::Program;
use crate::value::Value;

/// What happens to the values and locations of code.
pub(super) trait Renaming {
    /// Returns the new value of a value of a class.
    fn value(&mut self, class: Class, value: Value) -> Value;

    /// Returns the new location.
    fn location(&mut self, loc: Loc) -> Loc;

    /// Visits the address of a location, or of an array with its length and the class of the index,
    /// before it is renamed.
    fn visit_address(&mut self, _base: Loc, _array: Option<(u32, Option<Class>)>) {}
}

/// Renames an expression whose value has a class; `None` is plain. Returns false if a value of a class
/// is used as something else.
pub(super) fn rename_expr<V>(
    expr: &mut Expr<V>,
    expected: Option<Class>,
    class_of: &dyn Fn(&V) -> Option<Class>,
    renaming: &mut dyn Renaming,
) -> bool {
    match expr {
        Expr::Const(value) => {
            if let Some(class) = expected {
                *value = renaming.value(class, *value);
            }
            true
        }
        Expr::Var(var) => class_of(var) == expected,
        Expr::Unary(_, a) => expected.is_none() && rename_expr(a, None, class_of, renaming),
        Expr::Binary(op, a, b) => {
            let is_comparison = matches!(op, BinOp::Eq | BinOp::Ne);
            let compared = class_of_expr(a, class_of).or_else(|| class_of_expr(b, class_of));
            let class = compared.filter(|_| is_comparison);
            expected.is_none()
                && rename_expr(a, class, class_of, renaming)
                && rename_expr(b, class, class_of, renaming)
        }
        Expr::Select(condition, a, b) => {
            rename_expr(condition, None, class_of, renaming)
                && rename_expr(a, expected, class_of, renaming)
                && rename_expr(b, expected, class_of, renaming)
        }
    }
}

/// Returns the class of the value of an expression. `None` if it is plain or a constant.
fn class_of_expr<V>(expr: &Expr<V>, class_of: &dyn Fn(&V) -> Option<Class>) -> Option<Class> {
    match expr {
        Expr::Var(var) => class_of(var),
        Expr::Select(_, a, b) => class_of_expr(a, class_of).or_else(|| class_of_expr(b, class_of)),
        Expr::Const(_) | Expr::Unary(..) | Expr::Binary(..) => None,
    }
}

/// Renames the operations of a thread.
pub(super) struct OpRenaming<'a, 'p> {
    pub(super) program: &'p Program,
    pub(super) classes: &'a Classes<'p>,
    pub(super) thread: ThreadId,
    pub(super) renaming: &'a mut dyn Renaming,
}

impl OpRenaming<'_, '_> {
    /// Renames an operation. Returns false if the renaming does not apply to it.
    pub(super) fn rename(&mut self, op: &mut Op) -> bool {
        match op {
            Op::Assign { reg, expr } => {
                let class = self.register(*reg);
                self.expr(expr, class)
            }
            Op::Load { reg, from } => {
                let class = self.register(*reg);
                self.address(from) == Some(class)
            }
            Op::Store { to, value } => match self.address(to) {
                Some(class) => self.expr(value, class),
                None => false,
            },
            Op::Update { reg, at, update } => {
                let Some(class) = self.address(at) else { return false };
                let Some(yields) = self.update(update, class) else { return false };
                reg.is_none_or(|reg| self.register(reg) == yields)
            }
            Op::Drain(at) => self.address(at).is_some(),
            Op::Branch { cond, .. } | Op::Assume(cond) | Op::Assert(cond) => self.expr(cond, None),
            Op::Choose { reg, .. } => self.register(*reg).is_none(),
            Op::New { reg, pool } => self.register(*reg).is_none() && self.keeps_pool(*pool),
            Op::Free { pool, cell } => self.expr(cell, None) && self.keeps_pool(*pool),
            Op::Invoke { .. }
            | Op::Return { .. }
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. } => false,
            Op::Skip
            | Op::Fence(_)
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Join
            | Op::Halt => true,
        }
    }

    fn register(&self, reg: Reg) -> Option<Class> {
        self.classes.register(self.thread, reg.index())
    }

    fn expr(&mut self, expr: &mut Expr<Reg>, class: Option<Class>) -> bool {
        let (classes, thread) = (self.classes, self.thread);
        let class_of = |reg: &Reg| classes.register(thread, reg.index());
        rename_expr(expr, class, &class_of, self.renaming)
    }

    /// Renames an update of a location of a class. Returns the class of what it yields.
    fn update(&mut self, update: &mut Update, class: Option<Class>) -> Option<Option<Class>> {
        match update {
            Update::Cas { expected, new, result } => {
                let renamed = self.expr(expected, class) && self.expr(new, class);
                let yields = match result {
                    CasResult::Success => None,
                    CasResult::Old => class,
                };
                renamed.then_some(yields)
            }
            Update::Swap { new } => self.expr(new, class).then_some(class),
            Update::Add { by, .. } | Update::Bits { by, .. } => {
                (class.is_none() && self.expr(by, None)).then_some(None)
            }
        }
    }

    /// Returns whether the renaming keeps all locations of a pool, and the values with which `new`
    /// initialises them.
    fn keeps_pool(&mut self, pool: PoolId) -> bool {
        let pool = self.program.pool(pool);
        let mut locations = (pool.base.0..pool.base.0 + pool.cells * pool.stride).map(Loc);
        locations.all(|loc| {
            let init = self.program.location(loc).init;
            let class = self.classes.location(loc);
            self.renaming.location(loc) == loc
                && class.is_none_or(|class| self.renaming.value(class, init) == init)
        })
    }

    /// Renames an address. Returns the class of the values there. `None` if the renaming does not
    /// apply.
    fn address(&mut self, address: &mut Address) -> Option<Option<Class>> {
        let locations = locations(self.program, address);
        let class = self.classes.location(*locations.first()?);
        if locations.iter().any(|loc| self.classes.location(*loc) != class) {
            return None;
        }
        let renamed = match address {
            Address { pointer: Some(pointer), .. } => self.keeps_pointer(pointer),
            Address { cell: Some((pool, cell)), index, .. } => {
                let pool = *pool;
                let has_plain_index =
                    index.as_mut().is_none_or(|(_, index)| self.expr(index, None));
                has_plain_index && self.expr(cell, None) && self.keeps_pool(pool)
            }
            Address { base, index: Some((len, index)), .. } => self.element(base, *len, index),
            Address { base, .. } => {
                self.renaming.visit_address(*base, None);
                *base = self.renaming.location(*base);
                true
            }
        };
        renamed.then_some(class)
    }

    /// Renames the address of an element of an array. The renamed indices must denote the renamed
    /// locations.
    fn element(&mut self, base: &mut Loc, len: u32, index: &mut Expr<Reg>) -> bool {
        let (classes, thread) = (self.classes, self.thread);
        let class = class_of_expr(index, &|reg: &Reg| classes.register(thread, reg.index()));
        self.renaming.visit_address(*base, Some((len, class)));
        let new_index = |renaming: &mut dyn Renaming, at: u32| match class {
            Some(class) => renaming.value(class, Value::from(at)),
            None => Value::from(at),
        };
        let first = new_index(self.renaming, 0);
        let new_base = Value::from(self.renaming.location(*base).0) - first;
        let Ok(new) = u32::try_from(new_base) else { return false };
        for at in 0..len {
            let renamed = new_index(self.renaming, at);
            let loc = self.renaming.location(Loc(base.0 + at));
            let is_in_array = (0..Value::from(len)).contains(&renamed);
            if !is_in_array || Value::from(loc.0) != new_base + renamed {
                return false;
            }
        }
        *base = Loc(new);
        self.expr(index, class)
    }

    /// Returns whether the renaming keeps everything that a pointer may point to. Pointers are plain,
    /// because front ends compute with them.
    fn keeps_pointer(&mut self, pointer: &mut Pointer) -> bool {
        pointer.targets.iter().all(|(_, loc)| self.renaming.location(*loc) == *loc)
            && self.expr(&mut pointer.value, None)
    }
}
