//! Statements and jumps.
//!
//! A branch with a constant condition is followed only in its direction. Code that is not reachable
//! is left out.

use fencepost_ir::{Expr, Span};

use super::access::AccessMode;
use super::effects::writes;
use super::fence_places::is_fence;
use super::layout::scalar_type;
use super::places::{Spot, move_spot};
use super::thread::{Lowerer, Slot};
use super::walk::contains_label;
use crate::c::typed::{Function, Init, Stmt, StmtKind, Type, TypeKind};

impl<'p> Lowerer<'_, 'p> {
    /// Lowers the body of a function.
    pub(super) fn body(&mut self, function: &'p Function) {
        self.block(&function.body, function.close);
    }

    /// Lowers a statement.
    pub(super) fn stmt(&mut self, stmt: &'p Stmt) {
        if self.pass.stopped || (!self.is_live() && !contains_label(stmt)) {
            return;
        }
        if !self.spend(stmt.span) {
            return;
        }
        let kept = self.temporaries.len();
        self.nested(stmt.span, |lowerer| lowerer.stmt_inner(stmt));
        self.release_temporaries(kept);
    }

    fn stmt_inner(&mut self, stmt: &'p Stmt) {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Empty => {}
            StmtKind::Expr(expr) => {
                self.fence_stmt = is_fence(stmt).then_some(span);
                self.discard(expr);
            }
            StmtKind::Block { items, close } => {
                self.scoped(*close, |lowerer| lowerer.block(items, *close));
            }
            StmtKind::Declare { local, init } => {
                self.declare(*local);
                self.initialize(*local, init.as_ref(), span);
            }
            StmtKind::If { condition, then, otherwise } => {
                let (yes, no, done) = (self.code.target(), self.code.target(), self.code.target());
                let (if_true, if_false) = self.branch_on(condition, yes, no);
                let is_conditional = if_true.is_some() && if_false.is_some();
                self.conditional += u32::from(is_conditional);
                self.code.bind(yes);
                self.state = if_true;
                self.nested_body(then);
                let after_then = self.state.clone();
                self.jump(done, span);
                self.code.bind(no);
                self.state = if_false;
                if let Some(otherwise) = otherwise {
                    self.nested_body(otherwise);
                }
                self.code.bind(done);
                let after_else = self.state.take();
                self.state = self.merge(after_then, after_else, span);
                self.conditional -= u32::from(is_conditional);
            }
            StmtKind::While { condition, body } => {
                self.loop_stmt(Some(condition), None, body, true, span);
            }
            StmtKind::DoWhile { body, condition } => {
                self.loop_stmt(Some(condition), None, body, false, span);
            }
            StmtKind::For { first, condition, step, body } => self.scoped(span, |lowerer| {
                first.iter().for_each(|stmt| lowerer.stmt(stmt));
                lowerer.loop_stmt(condition.as_ref(), step.as_ref(), body, true, span);
            }),
            StmtKind::Switch { value, body } => self.switch(value, body, span),
            StmtKind::Case { first, last, body } => {
                self.case(Some((*first, *last)), span);
                self.stmt(body);
            }
            StmtKind::Default { body } => {
                self.case(None, span);
                self.stmt(body);
            }
            StmtKind::Label { label, body } => {
                self.label_stmt(*label, span);
                self.after_label(body);
                self.stmt(body);
            }
            StmtKind::Goto(label) => self.goto(*label, span),
            StmtKind::Break => self.leave_loop(true, span),
            StmtKind::Continue => self.leave_loop(false, span),
            StmtKind::Return(value) => {
                let hint = self.frame().hint.clone();
                let values = match value {
                    Some(value) => self.eval(value, hint.as_ref()).scalars(),
                    None => Vec::new(),
                };
                if self.frames.len() == 1 {
                    let value = values.into_iter().next().unwrap_or(Expr::Const(0));
                    return self.exit_thread(value, span);
                }
                let results = self.frame().results.clone();
                for (number, (reg, value)) in results.into_iter().zip(values).enumerate() {
                    self.assign(reg, value, span, number as u32);
                }
                self.note_return();
                let end_state = self.frame_mut().end_state.take();
                let state = self.state.clone();
                let merged = self.merge(end_state, state, span);
                let frame = self.frame_mut();
                frame.end_state = merged;
                let end = frame.end;
                self.jump(end, span);
            }
        }
    }

    /// Notes that the rest of the function may be skipped.
    fn note_return(&mut self) {
        if self.is_live() && self.is_conditional() {
            self.may_return = true;
        }
    }

    /// Gives a variable its initial value where it is declared.
    pub(super) fn initialize(&mut self, local: u32, init: Option<&'p Init>, span: Span) {
        let slot = self.frame().slots.get(local as usize).copied().unwrap_or(Slot::None);
        let Some(init) = init else {
            match slot {
                Slot::Register(reg, _) => self.reset(reg, span, local),
                Slot::Object(id) => {
                    for (number, reg) in
                        self.held.get(&id).cloned().into_iter().flatten().enumerate()
                    {
                        self.reset(reg, span, local * 1000 + number as u32);
                    }
                }
                Slot::None => {}
            }
            return self.note_unset(local, span);
        };
        match slot {
            Slot::Register(reg, ty) => {
                let Some(item) = init.items.first() else {
                    return self.assign(reg, Expr::Const(0), span, 0);
                };
                let hint = match &item.value.ty.kind {
                    TypeKind::Pointer(to) if !matches!(to.kind, TypeKind::Void) => Some(&**to),
                    _ => None,
                };
                let value = self.eval(&item.value, hint).scalar();
                let value = self.converted(value, ty);
                self.assign(reg, value, span, 0);
            }
            Slot::Object(id) => {
                let ty = match self.pass.memory.object(id) {
                    Some(object) => object.ty.clone(),
                    None => return,
                };
                self.initialize_object(
                    &Spot::Object { id, offset: 0, steps: Vec::new() },
                    &ty,
                    init,
                    span,
                );
            }
            Slot::None => {}
        }
    }

    fn initialize_object(&mut self, spot: &Spot, ty: &Type, init: &'p Init, span: Span) {
        let scalars = self.pass.scalars(ty, span);
        let mut values: Vec<Option<_>> = vec![None; scalars.len()];
        let mut parts = Vec::new();
        let at = |offset: u64| scalars.iter().position(|scalar| scalar.offset == offset);
        for item in &init.items {
            let value = self.eval(&item.value, None);
            if let Some(ty) = scalar_type(&item.value.ty) {
                match at(item.offset).filter(|at| scalars[*at].ty.bits == ty.bits) {
                    Some(at) => values[at] = Some(value.scalar()),
                    None => parts.push((item.offset, ty, value.scalar())),
                }
                continue;
            }
            let parts = self.pass.scalars(&item.value.ty, span);
            for (part, value) in parts.iter().zip(value.scalars()) {
                if let Some(at) = at(item.offset + part.offset) {
                    values[at] = Some(value);
                }
            }
        }
        for (number, (scalar, value)) in scalars.iter().zip(values).enumerate() {
            let value = match value {
                Some(value) => value,
                None if init.zero => Expr::Const(0),
                None => continue,
            };
            let part_ty = Type::plain(TypeKind::Int(scalar.ty));
            let cell = self.cell(move_spot(spot.clone(), scalar.offset), &part_ty, span);
            self.store(&cell, value, scalar.ty, AccessMode::Plain, (span, number as u32));
        }
        for (offset, ty, value) in parts {
            let part_ty = Type::plain(TypeKind::Int(ty));
            let cell = self.cell(move_spot(spot.clone(), offset), &part_ty, span);
            self.store(&cell, value, ty, AccessMode::Plain, (span, offset as u32));
        }
    }

    /// Lowers `break` or `continue`.
    fn leave_loop(&mut self, is_break: bool, span: Span) {
        if self.is_live() && self.is_conditional() {
            self.may_skip = true;
        }
        let mut around = self.frame().enclosing.iter().rev();
        let left = around.find(|e| is_break || e.again.is_some()).map(|e| e.scopes);
        let objects = left.map(|from| self.objects_of_scopes(from)).unwrap_or_default();
        self.end_lifetimes(&objects, span);
        let state = self.state.clone();
        let frame = self.frame_mut();
        let found = frame.enclosing.iter_mut().rev().find(|e| is_break || e.again.is_some());
        let Some(enclosing) = found else { return };
        let (target, known) = if is_break {
            (enclosing.exit, enclosing.exit_state.take())
        } else {
            (enclosing.again.unwrap_or(enclosing.exit), enclosing.again_state.take())
        };
        let merged = self.merge(known, state, span);
        let frame = self.frame_mut();
        if let Some(enclosing) =
            frame.enclosing.iter_mut().rev().find(|e| is_break || e.again.is_some())
        {
            let known =
                if is_break { &mut enclosing.exit_state } else { &mut enclosing.again_state };
            *known = merged;
        }
        self.jump(target, span);
    }

    /// Computes what is known at the labels of a function: the constants of parameters that the
    /// function does not assign, and what its callers know.
    pub(super) fn know_at_labels(&mut self, function: &'p Function) {
        let state = self.state.clone();
        let changed = writes(&function.body, []);
        self.forget(&changed);
        let known = std::mem::replace(&mut self.state, state);
        self.frame_mut().at_labels = known.unwrap_or_default();
    }

    /// Lowers a label.
    fn label_stmt(&mut self, label: u32, span: Span) {
        self.close_prefix(span);
        let Some(own) = self.frame().labels.get(label as usize) else { return };
        let (target, expected) = (own.target, own.atomic);
        let mut known = self.frame().at_labels.clone();
        let here = self.state.as_ref().map(|state| state.atomic);
        known.atomic = here.or(expected).unwrap_or(known.atomic);
        if expected.is_some_and(|expected| expected != known.atomic) {
            self.atomic_mismatch(span);
        }
        let own = &mut self.frame_mut().labels[label as usize];
        own.atomic = Some(known.atomic);
        own.is_bound = true;
        self.code.bind(target);
        self.state = Some(known);
        self.forget_all_set();
        // Control may come here again, and other code may have been skipped.
        self.loops += 1;
        self.may_return = true;
    }

    fn goto(&mut self, label: u32, span: Span) {
        self.close_prefix(span);
        let Some(state) = &self.state else { return };
        let atomic = state.atomic;
        self.note_return();
        let Some(own) = self.frame_mut().labels.get_mut(label as usize) else { return };
        let target = own.target;
        let expected = *own.atomic.get_or_insert(atomic);
        if expected != atomic {
            self.atomic_mismatch(span);
        }
        self.jump(target, span);
    }

    /// Binds the labels whose statements were not lowered.
    pub(super) fn bind_unused_labels(&mut self) {
        for at in 0..self.frame().labels.len() {
            let own = &mut self.frame_mut().labels[at];
            if !own.is_bound {
                own.is_bound = true;
                let target = own.target;
                self.code.bind(target);
            }
        }
    }
}
