//! The helper of a thread: it begins the thread's contexts.

use super::data::Shadow;
use super::{Simulation, load, store};
use crate::formula::{add, eq, lt, ne, num, positive, sub};
use fencepost_ir::assemble::{Array, Assembler};
use fencepost_ir::{Expr, Label, Loc, Op, Reg, Register, Stmt, Type};

impl Simulation<'_> {
    /// The code of the helper: one block, again and again until the thread is done.
    pub(super) fn helper(&self, label: Label) -> (Vec<Register>, Vec<Stmt>) {
        let mut code = Assembler::new(Vec::new());
        code.at(label, false);
        let done = code.register("%done", Type::Bool);
        let test = code.register("%test", Type::INT);
        let value = code.register("%value", Type::INT);
        let again = code.here();
        let end = code.target();
        code.op(Op::AtomicBegin);
        load(&mut code, done, self.data.done);
        code.jump_if(Expr::Var(done), end);
        self.may_begin(&mut code, test);
        for shadow in &self.data.shadows {
            self.commit(&mut code, shadow, test, value);
        }
        for at in [self.data.latest, self.data.fence, self.data.load].into_iter().flatten() {
            self.count_down(&mut code, at, test);
        }
        code.bind(end);
        code.op(Op::AtomicEnd);
        code.jump_unless(Expr::Var(done), again);
        code.op(Op::Halt);
        code.finish()
    }

    /// A context may begin when another thread's is over and there is one left.
    fn may_begin(&self, code: &mut Assembler, test: Reg) {
        let begun = code.register("%begun", Type::INT);
        if let Some(running) = self.running {
            load(code, test, running);
            code.op(Op::Assume(ne(Expr::Var(test), self.me())));
        }
        if let Some(at) = self.data.begun {
            load(code, begun, at);
            code.op(Op::Assume(lt(Expr::Var(begun), self.never())));
        }
        let may = code.target();
        if let (Some(left), Some(latest)) = (self.data.left, self.data.latest) {
            load(code, test, latest);
            code.jump_unless(eq(Expr::Var(test), self.never()), may);
            load(code, begun, left);
            code.op(Op::Assume(positive(Expr::Var(begun))));
            store(code, left, sub(Expr::Var(begun), num(1)));
        }
        code.bind(may);
        if let Some(running) = self.running {
            store(code, running, self.me());
        }
        if let Some(at) = self.data.begun {
            store(code, at, add(Expr::Var(begun), num(1)));
        }
    }

    /// Commits what is due to each location of a group, and moves the rest one context nearer.
    fn commit(&self, code: &mut Assembler, shadow: &Shadow, test: Reg, value: Reg) {
        let k = self.bound.k();
        for (at, loc) in shadow.group.locations(self.original).into_iter().enumerate() {
            let init = Expr::Const(self.original.location(loc).init);
            let index = num(at as u32);
            let of = |array: Array| array.at(index.clone());
            let slot =
                |array: Array, context: u32| array.at(shadow.slot(num(context), index.clone()));
            let next = code.target();
            code.op(Op::Load { reg: test, from: of(shadow.last) });
            code.jump_unless(Expr::Var(test), next);
            if k > 0 {
                let later = code.target();
                code.op(Op::Load { reg: value, from: slot(shadow.mask, 1) });
                code.jump_unless(Expr::Var(value), later);
                code.op(Op::Load { reg: value, from: slot(shadow.queue, 1) });
                let to = shadow.group.address(index.clone());
                code.op(Op::Store { to, value: Expr::Var(value) });
                code.bind(later);
                for array in [shadow.mask, shadow.queue] {
                    for context in 1..k {
                        code.op(Op::Load { reg: value, from: slot(array, context + 1) });
                        code.op(Op::Store { to: slot(array, context), value: Expr::Var(value) });
                    }
                }
                code.op(Op::Store { to: slot(shadow.mask, k), value: num(0) });
                code.op(Op::Store { to: slot(shadow.queue, k), value: init.clone() });
                code.jump_if(eq(Expr::Var(test), self.never()), next);
                let less = sub(Expr::Var(test), num(1));
                code.op(Op::Store { to: of(shadow.last), value: less });
                code.jump_if(lt(num(1), Expr::Var(test)), next);
                code.op(Op::Store { to: of(shadow.view), value: init });
            }
            code.bind(next);
        }
    }

    /// One context less until then, unless it is reached or never will be.
    fn count_down(&self, code: &mut Assembler, at: Loc, test: Reg) {
        let next = code.target();
        load(code, test, at);
        code.jump_unless(Expr::Var(test), next);
        code.jump_if(eq(Expr::Var(test), self.never()), next);
        store(code, at, sub(Expr::Var(test), num(1)));
        code.bind(next);
    }
}
