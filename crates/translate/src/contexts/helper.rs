//! Builds the helper of a thread, which begins the contexts of the thread.

use super::data::ShadowArrays;
use super::{Simulation, load, store};
use crate::formula::{add, eq, lt, ne, num, positive, sub};
use fencepost_ir::assemble::{Array, Assembler};
use fencepost_ir::{Expr, Label, Loc, Op, Reg, Register, Stmt, Type};

impl Simulation<'_> {
    /// Builds the code of the helper: one block, repeated until the thread is done.
    pub(super) fn helper_code(&self, label: Label) -> (Vec<Register>, Vec<Stmt>) {
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
        self.begin_context(&mut code, test);
        for shadow in &self.data.shadows {
            self.commit_due_stores(&mut code, shadow, test, value);
        }
        for at in [self.data.latest, self.data.store_store_barrier, self.data.store_load_barrier]
            .into_iter()
            .flatten()
        {
            self.count_down(&mut code, at, test);
        }
        code.bind(end);
        code.op(Op::AtomicEnd);
        code.jump_unless(Expr::Var(done), again);
        code.op(Op::Halt);
        code.finish()
    }

    /// Begins a context. Blocks if the thread is already running or has no context left.
    fn begin_context(&self, code: &mut Assembler, test: Reg) {
        let begun = code.register("%begun", Type::INT);
        if let Some(running) = self.running {
            load(code, test, running);
            code.op(Op::Assume(ne(Expr::Var(test), self.thread_number())));
        }
        if let Some(at) = self.data.contexts_begun {
            load(code, begun, at);
            code.op(Op::Assume(lt(Expr::Var(begun), self.never())));
        }
        let can_begin = code.target();
        if let (Some(left), Some(latest)) = (self.data.contexts_left, self.data.latest) {
            load(code, test, latest);
            code.jump_unless(eq(Expr::Var(test), self.never()), can_begin);
            load(code, begun, left);
            code.op(Op::Assume(positive(Expr::Var(begun))));
            store(code, left, sub(Expr::Var(begun), num(1)));
        }
        code.bind(can_begin);
        if let Some(running) = self.running {
            store(code, running, self.thread_number());
        }
        if let Some(at) = self.data.contexts_begun {
            store(code, at, add(Expr::Var(begun), num(1)));
        }
    }

    /// Commits the due store to each location of a group, and shifts the remaining ones by one
    /// context.
    fn commit_due_stores(
        &self,
        code: &mut Assembler,
        shadow: &ShadowArrays,
        test: Reg,
        value: Reg,
    ) {
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

    /// Decrements a counter, unless it is 0 or `never`.
    fn count_down(&self, code: &mut Assembler, at: Loc, test: Reg) {
        let next = code.target();
        load(code, test, at);
        code.jump_unless(Expr::Var(test), next);
        code.jump_if(eq(Expr::Var(test), self.never()), next);
        store(code, at, sub(Expr::Var(test), num(1)));
        code.bind(next);
    }
}
