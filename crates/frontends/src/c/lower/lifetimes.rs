//! Lifetimes of local variables that have an address.
//!
//! The code of a thread decides which of its own variables exist: calls are inlined, so a position
//! in the code has a fixed set of variables. An access through a pointer has only these variables of
//! its own thread as targets. This needs no state.
//!
//! Other threads cannot know where the owner of a variable is. A variable that another thread may
//! access ([`find_tracked`]) is the only cell of a pool. The cell is allocated where the lifetime
//! begins and freed where it ends, so every access of another thread, and every store that becomes
//! visible too late, is checked. A register says whether the cell is allocated, because control may
//! leave a block in several ways.
//!
//! A `free` waits until the stores of its thread to the cell are visible. The end of a block does
//! not wait on a machine. So where stores may be pending, the end is a choice: the cells are freed, or
//! they stay. Runs in which they stay have all delays of stores, runs in which they are freed find
//! the accesses that come too late.
//!
//! The variables of the outermost block of `main` exist until the end of the program. In a function
//! with labels or a `switch`, a jump may skip a declaration. There, all variables exist from the
//! beginning to the end of the function.

use std::collections::BTreeSet;
use std::sync::Arc;

use fencepost_ir::{Expr, Fault, Loc, Op, Reg, Span, Value};

use super::arithmetic::Val;
use super::layout::scalar_type;
use super::pass::Pass;
use super::plan::ObjectId;
use super::thread::{Lowerer, Slot};
use super::walk::{Node, walk_stmt};
use crate::c::typed::{Function, IntType, Stmt, StmtKind};

const BOOL: IntType = IntType { bits: 8, signed: false, is_bool: true };

/// The locations that a pointer may point to, and the numbers of variables that no longer exist.
pub(super) type Reachable = (Arc<[(Value, Loc)]>, Arc<[(Value, Value)]>);

impl<'p> Lowerer<'_, 'p> {
    /// Begins the lifetime of a local object.
    pub(super) fn begin_lifetime(&mut self, id: ObjectId, span: Span) {
        let is_outermost = self.frames.len() == 1 && self.frame().scopes.len() == 1;
        if self.thread == 0 && is_outermost {
            return;
        }
        self.pass.ending.insert(id);
        let Some(pool) = self.pass.memory.local_pool(id) else { return };
        let ty = fencepost_ir::Type::Int { range: Some((0, 1)) };
        let exists = *self.lifetimes.entry(id).or_insert_with(|| self.code.temporary(ty));
        let number = self.object_number(id);
        self.emit_numbered(Op::New { reg: exists, pool }, span, "begin", number);
        self.know(exists, None);
    }

    /// Declares all objects of a function in which jumps may skip declarations.
    pub(super) fn declare_before_jumps(&mut self, function: &'p Function) {
        let mut may_skip = !function.labels.is_empty();
        for stmt in &function.body {
            walk_stmt(stmt, &mut |node| {
                may_skip |= matches!(node, Node::Stmt(Stmt { kind: StmtKind::Switch { .. }, .. }));
                !may_skip
            });
        }
        for (local, variable) in function.locals.iter().enumerate().filter(|_| may_skip) {
            if variable.address_taken || scalar_type(&variable.ty).is_none() {
                self.declare(local as u32);
            }
        }
    }

    fn object_number(&self, id: ObjectId) -> u32 {
        match id {
            ObjectId::Local(_, at) => at,
            ObjectId::Global(_) | ObjectId::ThreadLocal(..) | ObjectId::Cell(..) => 0,
        }
    }

    /// Ends the lifetimes of objects, if they have begun.
    pub(super) fn end_lifetimes(&mut self, ids: &[ObjectId], span: Span) {
        let tracked = ids.iter().filter_map(|id| Some((*id, *self.lifetimes.get(id)?)));
        let tracked: Vec<(ObjectId, Reg)> =
            tracked.filter(|(_, exists)| self.register_value(*exists) != Expr::Const(0)).collect();
        if tracked.is_empty() || !self.is_live() {
            return;
        }
        if self.is_atomic() || self.state.as_ref().is_some_and(|state| state.drained) {
            return tracked
                .into_iter()
                .for_each(|(id, exists)| self.end_lifetime(id, exists, span));
        }
        let choice = self.temporary(BOOL);
        let number = self.object_number(tracked[0].0);
        self.emit_numbered(Op::Choose { reg: choice, lo: 0, hi: 1 }, span, "ends", number);
        self.know(choice, None);
        self.if_true(Expr::Var(choice), span, |lowerer| {
            tracked.iter().for_each(|(id, exists)| lowerer.end_lifetime(*id, *exists, span));
        });
    }

    fn end_lifetime(&mut self, id: ObjectId, exists: Reg, span: Span) {
        let Some(pool) = self.pass.memory.local_pool(id) else { return };
        let number = self.object_number(id);
        self.if_true(self.register_value(exists), span, |lowerer| {
            let free = Op::Free { pool, cell: Expr::Const(1) };
            lowerer.emit_numbered(free, span, "end", number);
            let gone = Op::Assign { reg: exists, expr: Expr::Const(0) };
            lowerer.emit_numbered(gone, span, "ended", number);
        });
        self.know(exists, None);
    }

    /// Lowers code for the case that a condition holds.
    fn if_true(&mut self, condition: Val, span: Span, lower: impl FnOnce(&mut Self)) {
        let (here, after) = (self.code.target(), self.code.target());
        let (state, other) = self.branch_value(condition, here, after, span);
        self.code.bind(here);
        self.state = state;
        self.conditional += 1;
        lower(self);
        self.conditional -= 1;
        self.code.bind(after);
        let state = self.state.take();
        self.state = self.merge(state, other, span);
    }

    /// Ends the lifetimes of all objects of the thread.
    pub(super) fn end_all_lifetimes(&mut self, span: Span) {
        let ids: Vec<ObjectId> = self.lifetimes.keys().copied().collect();
        self.end_lifetimes(&ids, span);
    }

    /// Returns the objects of the innermost scopes of the current function from one on.
    pub(super) fn objects_of_scopes(&self, from: usize) -> Vec<ObjectId> {
        let frame = self.frame();
        let locals = frame.scopes.iter().skip(from).flatten();
        let slots = locals.filter_map(|local| frame.slots.get(*local as usize));
        slots
            .filter_map(|slot| match slot {
                Slot::Object(id) => Some(*id),
                Slot::Register(..) | Slot::None => None,
            })
            .collect()
    }

    /// Returns whether the lifetime of an object has ended, or has not begun, at this position.
    pub(super) fn is_ended(&self, id: ObjectId) -> bool {
        match id {
            ObjectId::Local(thread, at) if thread == self.thread => {
                self.objects.get(at as usize).is_none_or(|(_, busy)| !busy)
            }
            _ => false,
        }
    }

    /// Emits the failure of an access to a variable that does not exist at this position.
    pub(super) fn fail_ended(&mut self, span: Span) {
        self.require(Expr::Const(0), Fault::EndedLifetime, span, "use after the end");
    }

    /// Returns what a pointer to a scalar may point to at this position.
    pub(super) fn reachable(&mut self, ty: IntType) -> Reachable {
        let own = ObjectId::Local(self.thread, 0)..=ObjectId::Local(self.thread, u32::MAX);
        let escaped = self.pass.plan.escaped.range(own);
        let ended: Vec<ObjectId> = escaped.copied().filter(|id| self.is_ended(*id)).collect();
        self.pass.without(ended, ty)
    }
}

impl Pass<'_> {
    /// Returns the targets of pointers to a scalar except those in some objects.
    fn without(&mut self, ended: Vec<ObjectId>, ty: IntType) -> Reachable {
        let all = self.memory.targets(ty);
        if ended.is_empty() {
            return (all, self.no_ranges.clone());
        }
        let key = (ended, ty.bits, ty.signed);
        if let Some(known) = self.reachable.get(&key) {
            return known.clone();
        }
        let objects = key.0.iter().filter_map(|id| self.memory.object(*id));
        let ranges: Vec<(Value, Value)> =
            objects.map(|object| (object.address, object.address + object.size as Value)).collect();
        let is_ended = |number: Value| ranges.iter().any(|(lo, hi)| (*lo..=*hi).contains(&number));
        let targets = all.iter().filter(|(number, _)| !is_ended(*number)).copied().collect();
        let result: Reachable = (targets, ranges.into());
        self.reachable.insert(key, result.clone());
        result
    }

    /// Finds the local objects that other threads than their owners may access.
    pub(super) fn find_tracked(&mut self) {
        let mut found: BTreeSet<ObjectId> = BTreeSet::new();
        for ((id, _), accessors) in &self.next.accesses {
            let own = id.owner().map_or(0, |owner| 1 << owner);
            if self.ending.contains(id) && (accessors.readers | accessors.writers) & !own != 0 {
                found.insert(*id);
            }
        }
        if self.ending.iter().any(|id| self.plan.escaped.contains(id)) {
            for (thread, objects) in self.pointees().into_iter().enumerate() {
                let of_others = objects.into_iter().filter(|id| id.owner() != Some(thread as u32));
                found.extend(of_others.filter(|id| self.ending.contains(id)));
            }
        }
        self.next.tracked.extend(found);
    }
}
