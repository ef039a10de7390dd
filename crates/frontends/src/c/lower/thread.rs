//! Lowers one thread: frames, emission of statements, knowledge about constants.

use std::collections::BTreeMap;

use fencepost_ir::assemble::{Assembler, Target};
use fencepost_ir::{AccessOrder, Expr, Label, Op, Reg, Span};

use super::arithmetic::Val;
use super::effects::Writes;
use super::labels::Position;
use super::layout::scalar_type;
use super::pass::Pass;
use super::plan::{LocalObject, ObjectId};
use super::registers::Registers;
use super::state::{Known, State, merge};
use super::threads::Site;
use super::uninitialised::VariableKey;
use crate::c::codes;
use crate::c::typed::{Function, FunctionId, IntType, Type};
use crate::fp::limits;

/// The storage of a local variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    /// The variable is not declared yet.
    None,
    /// A scalar whose address is not used.
    Register(Reg, IntType),
    /// An object with an address, in registers or in memory.
    Object(ObjectId),
}

/// A loop or `switch` around the current statement.
pub(super) struct Enclosing {
    pub(super) exit: Target,
    pub(super) exit_state: State,
    /// The target of `continue`; `None` for a `switch`.
    pub(super) again: Option<Target>,
    pub(super) again_state: State,
    /// For a `switch`: the targets of its labels.
    pub(super) cases: Vec<super::switch::CaseTarget>,
    /// The state at the head of a `switch`.
    pub(super) head: State,
    /// The number of scopes around it.
    pub(super) scopes: usize,
}

/// A label for `goto`.
pub(super) struct GotoLabel {
    pub(super) target: Target,
    pub(super) is_bound: bool,
    /// The number of atomic blocks around it, if it is known.
    pub(super) atomic: Option<u32>,
}

/// A function that is being inlined.
pub(super) struct Frame<'p> {
    pub(super) id: FunctionId,
    pub(super) function: &'p Function,
    pub(super) slots: Vec<Slot>,
    /// The variables to release, by scope.
    pub(super) scopes: Vec<Vec<u32>>,
    /// The local variables that have an address.
    pub(super) objects: Vec<ObjectId>,
    pub(super) labels: Vec<GotoLabel>,
    pub(super) enclosing: Vec<Enclosing>,
    /// The target of `return`.
    pub(super) end: Target,
    pub(super) end_state: State,
    /// The registers of the returned value, one for each scalar.
    pub(super) results: Vec<Reg>,
    /// The position of the call in the user's file, if the function is built in.
    pub(super) shown: Option<Span>,
    /// The type of the object that the caller expects the returned pointer to point to.
    pub(super) hint: Option<Type>,
    /// The knowledge at the labels of the function.
    pub(super) at_labels: Known,
}

/// The atomic block at the start of `main`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Prefix {
    /// The code is after the block, or in another thread.
    None,
    /// The code runs before all threads.
    Open,
    /// Threads are created, but nothing happened since.
    Created,
}

/// Lowers one thread.
pub(super) struct Lowerer<'c, 'p> {
    pub(super) pass: &'c mut Pass<'p>,
    pub(super) thread: u32,
    pub(super) code: Assembler,
    pub(super) state: State,
    pub(super) frames: Vec<Frame<'p>>,
    pub(super) registers: Registers,
    /// The temporaries in use, the newest last.
    pub(super) temporaries: Vec<Reg>,
    /// The registers of objects that are not in memory.
    pub(super) held: BTreeMap<ObjectId, Vec<Reg>>,
    /// The local objects of the thread, and whether they are in use.
    pub(super) objects: Vec<(LocalObject, bool)>,
    /// By object whose lifetime is tracked: the register that says whether it exists.
    pub(super) lifetimes: BTreeMap<ObjectId, Reg>,
    /// The registers of variables that were declared without a value.
    pub(super) unset_variables: BTreeMap<Reg, VariableKey>,
    /// The registers that say whether a variable has a value.
    pub(super) flags: BTreeMap<Reg, Reg>,
    /// The order of the access that is emitted next.
    pub(super) access_order: AccessOrder,
    /// The end of the thread.
    pub(super) end: Target,
    /// The register of the thread's result.
    pub(super) result: Reg,
    pub(super) sites: Vec<Site>,
    /// The number of branches around the current statement.
    pub(super) conditional: u32,
    /// Whether `break` or `continue` may have skipped the current statement.
    pub(super) may_skip: bool,
    /// Whether `return` or `goto` may have skipped the current statement.
    pub(super) may_return: bool,
    /// The number of loops around the current statement that are not unrolled.
    pub(super) loops: u32,
    /// The number of allocations so far that are executed at most once.
    pub(super) allocations: u32,
    pub(super) prefix: Prefix,
    pub(super) depth: u32,
    /// The labels of statements that keep the old value of a compare-and-exchange.
    pub(super) old_values: Vec<Label>,
    /// Whether the thread may have ended before the current statement.
    pub(super) may_end: bool,
    /// Whether the thread is created in every run that ends.
    pub(super) is_certain: bool,
    /// The end of a thread that is never created.
    pub(super) cancelled: Target,
    /// The statement around the current one.
    pub(super) around: Span,
    /// The values of the next nondeterministic value, if the code after it assumes them.
    pub(super) assumed: Option<(i64, i64)>,
    /// The current statement, if it is a fence.
    pub(super) fence_stmt: Option<Span>,
}

impl<'p> Lowerer<'_, 'p> {
    /// Returns whether other paths may pass around the current statement.
    pub(super) fn is_conditional(&self) -> bool {
        self.conditional > 0 || self.may_skip || self.may_return
    }

    /// Returns whether the current position is reachable.
    pub(super) fn is_live(&self) -> bool {
        self.state.is_some()
    }

    pub(super) fn frame(&self) -> &Frame<'p> {
        self.frames.last().expect("code is in a function")
    }

    pub(super) fn frame_mut(&mut self) -> &mut Frame<'p> {
        self.frames.last_mut().expect("code is in a function")
    }

    /// Returns the position of an operation in the user's file and in its own file.
    pub(super) fn position(&self, span: Span) -> Position {
        let shown = self.frames.last().and_then(|frame| frame.shown).unwrap_or(span);
        Position { shown, own: span }
    }

    /// Returns the position to show for an operation.
    pub(super) fn shown(&self, span: Span) -> Span {
        self.position(span).shown
    }

    /// Returns the label of an operation.
    pub(super) fn label(&mut self, span: Span, kind: &'static str, number: u32) -> Label {
        let at = self.position(span);
        let user = self.frames.iter().rev().find(|frame| frame.shown.is_none());
        let function = user.map_or("", |frame| frame.function.name.as_str());
        self.pass.labels.get(at, kind, number, function)
    }

    /// Adds a statement, unless the position is not reachable.
    pub(super) fn emit(&mut self, op: Op, span: Span, kind: &'static str) {
        self.emit_numbered(op, span, kind, 0);
    }

    pub(super) fn emit_numbered(&mut self, op: Op, span: Span, kind: &'static str, number: u32) {
        let order = op.access().map(|_| std::mem::take(&mut self.access_order));
        if self.is_live() && self.check_size(span) {
            self.before_op(&op, span);
            self.note_pending(&op);
            let label = self.label(span, kind, number);
            if let Some(order) = order {
                self.pass.note_order(label, order);
            }
            self.code.at(label, false);
            self.code.op(op);
        }
    }

    /// Adds a branch to one of two targets.
    pub(super) fn emit_branch(&mut self, cond: Val, then: Target, otherwise: Target, span: Span) {
        if self.is_live() && self.check_size(span) {
            self.before_branch(span);
            let label = self.label(span, "branch", 0);
            self.code.at(label, false);
            self.code.branch(cond, then, otherwise);
        }
    }

    /// Adds a jump. The position after it is not reachable.
    pub(super) fn jump(&mut self, target: Target, span: Span) {
        if self.is_live() {
            let label = self.label(span, "jump", 0);
            self.code.at(label, false);
            self.code.jump(target);
        }
        self.state = None;
    }

    /// Reports an error if the thread is too large.
    pub(super) fn check_size(&mut self, span: Span) -> bool {
        if self.pass.stopped {
            self.state = None;
            return false;
        }
        let (code, registers) = (self.code.len(), self.code.registers().len());
        if code < limits::STATEMENTS && registers < limits::REGISTERS {
            return true;
        }
        let span = self.shown(span);
        let what = if code < limits::STATEMENTS { "registers" } else { "statements" };
        self.pass.stop(codes::PROGRAM_TOO_LARGE, span, format!("a thread has too many {what}"));
        self.state = None;
        false
    }

    /// Counts a visited part of the program. Returns false if there were too many.
    pub(super) fn spend(&mut self, span: Span) -> bool {
        self.pass.fuel = self.pass.fuel.saturating_sub(1);
        if self.pass.fuel == 0 && !self.pass.stopped {
            let span = self.shown(span);
            let message = "the program is too large after all calls are inlined";
            self.pass.stop(codes::PROGRAM_TOO_LARGE, span, message.into());
        }
        !self.pass.stopped
    }

    /// Runs `lower` one level deeper. Returns `None` if the nesting is too deep.
    pub(super) fn nested<T>(
        &mut self,
        span: Span,
        lower: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        if self.depth >= limits::LOWERING_DEPTH {
            let span = self.shown(span);
            self.pass.stop(codes::NESTED_CALLS, span, "the nesting of calls is too deep".into());
            self.state = None;
            return None;
        }
        self.depth += 1;
        let result = lower(self);
        self.depth -= 1;
        Some(result)
    }

    /// Reports an error at a position.
    pub(super) fn error(&mut self, code: &'static str, span: Span, message: String, hint: &str) {
        let span = self.shown(span);
        self.pass.error(code, span, message, hint);
    }

    /// Takes a temporary register until the end of the statement.
    pub(super) fn temporary(&mut self, ty: IntType) -> Reg {
        let reg = self.registers.take(&mut self.code, "", ty);
        self.temporaries.push(reg);
        reg
    }

    /// Takes a temporary register for a value in memory that was written.
    pub(super) fn temporary_for_load(&mut self, range: (i64, i64)) -> Reg {
        let reg = self.registers.take_range(&mut self.code, "", range);
        self.temporaries.push(reg);
        reg
    }

    /// Releases the temporaries that were taken since there were `kept`.
    pub(super) fn release_temporaries(&mut self, kept: usize) {
        for reg in self.temporaries.drain(kept.min(self.temporaries.len())..) {
            self.registers.release(reg);
        }
    }

    /// Returns the value of a register.
    pub(super) fn register_value(&self, reg: Reg) -> Val {
        let known = self.state.as_ref().and_then(|state| state.registers.get(&reg));
        known.map_or(Expr::Var(reg), |value| Expr::Const(*value))
    }

    /// Emits an assignment to a register and remembers a constant.
    pub(super) fn assign(&mut self, reg: Reg, expr: Val, span: Span, number: u32) {
        if expr == Expr::Var(reg) {
            return self.note_set(reg, span);
        }
        let constant = expr.as_const();
        self.emit_numbered(Op::Assign { reg, expr }, span, "assign", number);
        self.know(reg, constant);
        self.note_set(reg, span);
    }

    /// Sets a register to 0 where its variable begins to live.
    pub(super) fn reset(&mut self, reg: Reg, span: Span, number: u32) {
        if self.is_live() && self.check_size(span) {
            let label = self.label(span, "reset", number);
            self.code.at(label, false);
            self.code.reset(reg);
            self.know(reg, Some(0));
        }
    }

    /// Remembers the constant in a register, or that it is not known.
    pub(super) fn know(&mut self, reg: Reg, constant: Option<i64>) {
        if let Some(state) = &mut self.state {
            match constant {
                Some(value) => state.registers.insert(reg, value),
                None => state.registers.remove(&reg),
            };
        }
    }

    /// Joins two paths.
    pub(super) fn merge(&mut self, a: State, b: State, span: Span) -> State {
        let (merged, mismatch) = merge(a, b);
        if mismatch {
            self.atomic_mismatch(span);
        }
        merged
    }

    pub(super) fn atomic_mismatch(&mut self, span: Span) {
        self.error(
            codes::ATOMIC_BLOCK,
            span,
            "one path to this statement is inside an atomic block and another is not".into(),
            "begin and end the atomic block on the same paths",
        );
    }

    /// Forgets what a loop may change.
    pub(super) fn forget(&mut self, writes: &Writes) {
        self.forget_where_set(writes);
        let mut changed: Vec<Reg> = Vec::new();
        for local in &writes.locals {
            match self.frame().slots.get(*local as usize).copied() {
                Some(Slot::Register(reg, _)) => changed.push(reg),
                Some(Slot::Object(id)) => changed.extend(self.held.get(&id).into_iter().flatten()),
                Some(Slot::None) | None => {}
            }
        }
        if writes.others {
            changed.extend(self.held.values().flatten());
        }
        if let Some(state) = &mut self.state {
            state.drained = false;
            changed.iter().for_each(|reg| {
                state.registers.remove(reg);
            });
            if writes.others {
                state.locations.clear();
            }
        }
    }

    /// Returns the name of a local variable of the current function in reports.
    pub(super) fn local_name(&self, local: u32) -> String {
        let frame = self.frame();
        let name = frame.function.locals.get(local as usize).map_or("", |v| v.name.as_str());
        match (self.frames.len(), frame.shown) {
            (_, Some(_)) => String::new(),
            (1, None) => name.to_string(),
            (_, None) => format!("{}.{name}", frame.function.name),
        }
    }

    /// Gives a local variable its storage.
    pub(super) fn declare(&mut self, local: u32) -> Slot {
        let function = self.frame().function;
        let Some(variable) = function.locals.get(local as usize) else { return Slot::None };
        if let Some(slot) = self.frame().slots.get(local as usize)
            && *slot != Slot::None
        {
            return *slot;
        }
        let name = self.local_name(local);
        let slot = match scalar_type(&variable.ty) {
            Some(ty) if !variable.address_taken => {
                Slot::Register(self.registers.take(&mut self.code, &name, ty), ty)
            }
            _ => Slot::Object(self.new_object(&variable.name, &variable.ty)),
        };
        let frame = self.frame_mut();
        frame.slots[local as usize] = slot;
        if let Slot::Object(id) = slot {
            frame.objects.push(id);
        }
        if let Some(scope) = frame.scopes.last_mut() {
            scope.push(local);
        }
        if let Slot::Object(id) = slot {
            self.begin_lifetime(id, variable.span);
        }
        slot
    }

    /// Runs `lower` in a scope of its own and releases the variables that it declares. The scope
    /// ends at the end of a span.
    pub(super) fn scoped<T>(&mut self, span: Span, lower: impl FnOnce(&mut Self) -> T) -> T {
        let outside = self.frame().scopes.len();
        self.frame_mut().scopes.push(Vec::new());
        let result = lower(self);
        let objects = self.objects_of_scopes(outside);
        self.end_lifetimes(&objects, span);
        self.end_scope();
        result
    }

    pub(super) fn end_scope(&mut self) {
        let Some(scope) = self.frame_mut().scopes.pop() else { return };
        for local in scope {
            let slot = std::mem::replace(&mut self.frame_mut().slots[local as usize], Slot::None);
            match slot {
                Slot::Register(reg, _) => {
                    self.forget_unset(reg);
                    self.registers.release(reg);
                }
                Slot::Object(id) => self.release_object(id),
                Slot::None => {}
            }
        }
    }

    /// Creates a local object. Each declaration in the inlined code has its own object, so that a
    /// pointer to a variable of a call that has returned does not point to one of a later call.
    pub(super) fn new_object(&mut self, name: &str, ty: &Type) -> ObjectId {
        let id = ObjectId::Local(self.thread, self.objects.len() as u32);
        let object = LocalObject { name: name.to_string(), ty: ty.clone() };
        self.objects.push((object, true));
        self.pass.know_object(id, name, ty);
        self.hold(id, name);
        id
    }

    /// Gives an object of this thread registers, unless it is in memory.
    pub(super) fn hold(&mut self, id: ObjectId, name: &str) {
        if self.pass.is_in_memory(id) || self.held.contains_key(&id) {
            return;
        }
        let Some(object) = self.pass.memory.object(id) else { return };
        let scalars = object.scalars.clone();
        if scalars.len() > 256 {
            self.pass.next.in_memory.insert(id);
            return;
        }
        let registers = scalars
            .iter()
            .map(|scalar| {
                let name = format!("{name}{}", scalar.path);
                self.registers.take(&mut self.code, &name, scalar.ty)
            })
            .collect();
        self.held.insert(id, registers);
    }

    fn release_object(&mut self, id: ObjectId) {
        for reg in self.held.remove(&id).into_iter().flatten() {
            self.forget_unset(reg);
            self.registers.release(reg);
        }
        if let ObjectId::Local(_, at) = id
            && let Some((_, busy)) = self.objects.get_mut(at as usize)
        {
            *busy = false;
        }
    }
}
