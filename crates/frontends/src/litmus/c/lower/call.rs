//! Lowers calls, by the table in [`super::super::functions`].
//!
//! # Compare and exchange
//! A CAS update returns whether it succeeds, but not the value that it found. If the value is
//! needed, the call becomes
//!
//! ```text
//! again: found = fetch_add(x, 0)       a load with the ordering of an update
//!        if found != expected: done
//!        ok = cas(x, expected, new)
//!        if !ok: again                 another thread wrote x, and nothing has changed yet
//! done:
//! ```
//!
//! This sequence is observably equivalent to one step: the first update changes nothing, and the
//! run in which no other thread acts between the two updates is the single step. Direction: exact,
//! except for accesses after a relaxed or release call under RMO. They wait for the result of the
//! call as if the thread branched on the value found.

use fencepost_ir::{Address, BinOp, Expr, FenceKinds, Op, Reg, Span, UnOp, Update};

use super::super::super::error::LitmusError;
use super::super::ast::{Expression, ExpressionKind};
use super::super::functions::{
    self, FencesAround, FunctionInfo, FunctionKind, LocationArgument, MemoryOrder, Operands,
    Returns, UpdateKind,
};
use super::Lowerer;
use super::value::{NameKind, ResultUse, binary};

/// The variable that holds the expected value of a compare-and-exchange.
enum Expected {
    /// A local.
    Local(Reg),
    /// A location.
    Location(Address),
}

/// A resolved call. `arguments` excludes the memory orders, which `order` combines.
struct Call<'e> {
    name: &'e str,
    span: Span,
    kind: FunctionKind,
    arguments: &'e [Expression],
    order: MemoryOrder,
}

impl Lowerer<'_> {
    /// Looks up the function of a call and checks its arguments.
    fn resolve_call<'e>(
        &self,
        span: Span,
        name: &'e str,
        arguments: &'e [Expression],
    ) -> Result<Call<'e>, LitmusError> {
        let address_first = arguments.first().is_some_and(|first| self.is_address(first));
        let FunctionInfo { kind, order, orders } = functions::find(name, address_first)
            .ok_or_else(|| {
                LitmusError::unsupported(span, format!("the function `{name}` is not supported"))
            })?;
        let values = match kind {
            FunctionKind::Rcu(_, arguments) => arguments,
            FunctionKind::Fence | FunctionKind::Barrier(_) => 0,
            FunctionKind::Load(_)
            | FunctionKind::Clear
            | FunctionKind::Update(_, Operands::Address, _)
            | FunctionKind::Lock
            | FunctionKind::TryLock
            | FunctionKind::Unlock => 1,
            FunctionKind::Store(_)
            | FunctionKind::Update(_, Operands::AddressValue | Operands::ValueAddress, _) => 2,
            FunctionKind::CompareExchange | FunctionKind::CompareSwap => 3,
        };
        if arguments.len() != values + orders {
            let (expected, found) = (values + orders, arguments.len());
            let plural = if expected == 1 { "" } else { "s" };
            let message = format!("`{name}` takes {expected} argument{plural}, not {found}");
            return Err(LitmusError::syntax(span, message));
        }
        let (arguments, last) = arguments.split_at(values);
        let mut given_orders = Vec::new();
        for argument in last {
            let order = match &argument.kind {
                ExpressionKind::Name(word) => MemoryOrder::by_name(word),
                _ => None,
            };
            given_orders.push(order.ok_or_else(|| {
                LitmusError::syntax(argument.span, "expected a memory order")
                    .hint("write a C11 memory order, as in `memory_order_acquire`")
            })?);
        }
        let order = given_orders.into_iter().reduce(join_orders).unwrap_or(order);
        Ok(Call { name, span, kind, arguments, order })
    }

    /// Returns the kinds of a call that is a fence; `None` for other calls.
    pub(super) fn fence_kinds(
        &self,
        name: &str,
        arguments: &[Expression],
        span: Span,
    ) -> Result<Option<FenceKinds>, LitmusError> {
        let call = self.resolve_call(span, name, arguments)?;
        Ok(match call.kind {
            FunctionKind::Fence => Some(call.order.fence_kinds()),
            FunctionKind::Barrier(kinds) => Some(kinds),
            FunctionKind::Load(_)
            | FunctionKind::Store(_)
            | FunctionKind::Clear
            | FunctionKind::Update(..)
            | FunctionKind::CompareExchange
            | FunctionKind::CompareSwap
            | FunctionKind::Lock
            | FunctionKind::TryLock
            | FunctionKind::Unlock
            | FunctionKind::Rcu(..) => None,
        })
    }

    /// Lowers a call. Returns its value, if it has one.
    pub(super) fn call(
        &mut self,
        span: Span,
        name: &str,
        arguments: &[Expression],
        result_use: ResultUse,
    ) -> Result<Option<Expr<Reg>>, LitmusError> {
        let call = self.resolve_call(span, name, arguments)?;
        match call.kind {
            // A fence statement is lowered elsewhere. Inside of an expression a fence is an error.
            FunctionKind::Fence | FunctionKind::Barrier(_) => Ok(None),
            FunctionKind::Load(argument_kind) => {
                let around = call.order.load_fences().ok_or_else(|| call.invalid_order("load"))?;
                let from = self.location_argument(argument_kind, &call.arguments[0])?;
                let reg = self.destination_register(result_use, span)?;
                self.mark_access_source(result_use, span);
                self.emit_with_fences(around, Op::Load { reg, from });
                Ok(Some(Expr::Var(reg)))
            }
            FunctionKind::Store(argument_kind) => {
                let around =
                    call.order.store_fences().ok_or_else(|| call.invalid_order("store"))?;
                let to = self.location_argument(argument_kind, &call.arguments[0])?;
                let value = self.value(&call.arguments[1])?;
                self.mark_access_source(result_use, span);
                self.emit_with_fences(around, Op::Store { to, value });
                Ok(None)
            }
            FunctionKind::Clear | FunctionKind::Unlock => {
                let around =
                    call.order.store_fences().ok_or_else(|| call.invalid_order("store"))?;
                let to = self.pointee(&call.arguments[0])?;
                self.mark_access_source(result_use, span);
                self.emit_with_fences(around, Op::Store { to, value: Expr::Const(0) });
                Ok(None)
            }
            FunctionKind::Update(update_kind, operands, returns) => {
                self.update(&call, update_kind, operands, returns, result_use)
            }
            FunctionKind::CompareSwap => self.compare_swap(&call, result_use),
            FunctionKind::CompareExchange => self.compare_exchange(&call, result_use),
            FunctionKind::Rcu(rcu, _) => self.rcu_call(rcu, call.arguments, span, result_use),
            FunctionKind::Lock => {
                let at = self.pointee(&call.arguments[0])?;
                let found = self.temporary(span)?;
                self.mark_access_source(result_use, span);
                self.asm.emit(Op::AtomicBegin);
                self.asm.emit(Op::Load { reg: found, from: at.clone() });
                self.asm.emit(Op::Assume(binary(BinOp::Eq, Expr::Var(found), Expr::Const(0))));
                self.asm.emit(Op::Store { to: at, value: Expr::Const(1) });
                self.asm.emit(Op::AtomicEnd);
                Ok(None)
            }
            FunctionKind::TryLock => {
                let at = self.pointee(&call.arguments[0])?;
                let reg = self.destination_register(result_use, span)?;
                self.mark_access_source(result_use, span);
                let update = Update::Cas { expected: Expr::Const(0), new: Expr::Const(1) };
                self.emit_with_fences(
                    call.order.update_fences(),
                    Op::Update { reg: Some(reg), at, update },
                );
                Ok(Some(Expr::Var(reg)))
            }
        }
    }

    fn location_argument(
        &mut self,
        argument_kind: LocationArgument,
        argument: &Expression,
    ) -> Result<Address, LitmusError> {
        match argument_kind {
            LocationArgument::Address => self.pointee(argument),
            LocationArgument::Lvalue => self.lvalue(argument),
        }
    }

    /// Emits an access with the fences before and after it.
    fn emit_with_fences(&mut self, (before, after): FencesAround, op: Op) {
        self.emit_fence(before);
        self.asm.emit(op);
        self.emit_fence(after);
    }

    fn emit_fence(&mut self, kinds: FenceKinds) {
        if kinds != FenceKinds::default() {
            self.asm.emit(Op::Fence(kinds));
        }
    }

    fn update(
        &mut self,
        call: &Call<'_>,
        update_kind: UpdateKind,
        operands: Operands,
        returns: Returns,
        result_use: ResultUse,
    ) -> Result<Option<Expr<Reg>>, LitmusError> {
        let (at, value) = match operands {
            Operands::Address => (self.pointee(&call.arguments[0])?, Expr::Const(1)),
            Operands::AddressValue => {
                let at = self.pointee(&call.arguments[0])?;
                (at, self.value(&call.arguments[1])?)
            }
            Operands::ValueAddress => {
                let value = self.value(&call.arguments[0])?;
                (self.pointee(&call.arguments[1])?, value)
            }
        };
        let (update, op) = match update_kind {
            UpdateKind::Swap => (Update::Swap { new: value.clone() }, None),
            UpdateKind::Add { negative: false } => {
                (Update::Add { by: value.clone() }, Some(BinOp::Add))
            }
            UpdateKind::Add { negative: true } => {
                let by = Expr::Unary(UnOp::Neg, Box::new(value.clone())).fold();
                (Update::Add { by }, Some(BinOp::Sub))
            }
            UpdateKind::Bits(op) => (Update::Bits { op, by: value.clone() }, Some(op)),
        };
        if op.is_some() {
            self.layout.note_arithmetic(call.span);
        }
        let reg = match (returns, result_use) {
            (Returns::Nothing, _) | (_, ResultUse::Discarded) => None,
            (Returns::Old, _) => Some(self.destination_register(result_use, call.span)?),
            (Returns::New | Returns::Zero | Returns::Negative, _) => {
                Some(self.temporary(call.span)?)
            }
        };
        self.mark_access_source(result_use, call.span);
        self.emit_with_fences(call.order.update_fences(), Op::Update { reg, at, update });
        let Some(old) = reg else { return Ok(None) };
        let old = Expr::Var(old);
        let new = |old| match op {
            Some(op) => binary(op, old, value),
            None => value,
        };
        let zero = Expr::Const(0);
        Ok(match returns {
            Returns::Nothing => None,
            Returns::Old => Some(old),
            Returns::New => Some(new(old)),
            Returns::Zero => Some(binary(BinOp::Eq, new(old), zero)),
            Returns::Negative => Some(binary(BinOp::Lt, new(old), zero)),
        })
    }

    fn compare_swap(
        &mut self,
        call: &Call<'_>,
        result_use: ResultUse,
    ) -> Result<Option<Expr<Reg>>, LitmusError> {
        let at = self.pointee(&call.arguments[0])?;
        let expected = self.value(&call.arguments[1])?;
        let new = self.value(&call.arguments[2])?;
        let found = match result_use {
            ResultUse::Discarded => None,
            ResultUse::Operand | ResultUse::Into(_) => Some(self.temporary(call.span)?),
        };
        self.mark_access_source(result_use, call.span);
        let (before, after) = call.order.update_fences();
        self.emit_fence(before);
        match found {
            None => {
                let update = Update::Cas { expected, new };
                self.asm.emit(Op::Update { reg: None, at, update });
            }
            Some(found) => self.emit_find_and_swap(found, &at, &expected, &new, call.span)?,
        }
        self.emit_fence(after);
        Ok(found.map(Expr::Var))
    }

    /// Emits code that writes `new` if the location has the value `expected`, and sets `found` to
    /// the old value in both cases.
    fn emit_find_and_swap(
        &mut self,
        found: Reg,
        at: &Address,
        expected: &Expr<Reg>,
        new: &Expr<Reg>,
        span: Span,
    ) -> Result<(), LitmusError> {
        let ok = self.temporary(span)?;
        let (again, done) = (self.asm.target(), self.asm.target());
        self.asm.bind(again);
        let update = Update::Add { by: Expr::Const(0) };
        self.asm.emit(Op::Update { reg: Some(found), at: at.clone(), update });
        let equal = binary(BinOp::Eq, Expr::Var(found), expected.clone());
        self.asm.jump_unless(equal, done);
        let update = Update::Cas { expected: expected.clone(), new: new.clone() };
        self.asm.emit(Op::Update { reg: Some(ok), at: at.clone(), update });
        self.asm.jump_unless(Expr::Var(ok), again);
        self.asm.bind(done);
        Ok(())
    }

    fn compare_exchange(
        &mut self,
        call: &Call<'_>,
        result_use: ResultUse,
    ) -> Result<Option<Expr<Reg>>, LitmusError> {
        let at = self.pointee(&call.arguments[0])?;
        let argument = &call.arguments[1];
        let (holder, used_once) = match &argument.kind {
            ExpressionKind::AddressOf(inner) => match &inner.kind {
                ExpressionKind::Name(name) => match self.resolve_name(name) {
                    Some(NameKind::Local(local)) => {
                        (Expected::Local(local.reg), self.is_used_once(name))
                    }
                    _ => (Expected::Location(self.pointee(argument)?), false),
                },
                _ => (Expected::Location(self.pointee(argument)?), false),
            },
            _ => (Expected::Location(self.pointee(argument)?), false),
        };
        let new = self.value(&call.arguments[2])?;
        let expected = match &holder {
            Expected::Local(reg) => Expr::Var(*reg),
            Expected::Location(from) => {
                let reg = self.temporary(argument.span)?;
                self.mark_source(argument.span);
                self.asm.emit(Op::Load { reg, from: from.clone() });
                Expr::Var(reg)
            }
        };
        let ok = self.temporary(call.span)?;
        let (before, after) = call.order.update_fences();
        if used_once {
            self.mark_access_source(result_use, call.span);
            self.emit_fence(before);
            let update = Update::Cas { expected, new };
            let reg = (result_use != ResultUse::Discarded).then_some(ok);
            self.asm.emit(Op::Update { reg, at, update });
            self.emit_fence(after);
            return Ok(Some(Expr::Var(ok)));
        }
        let found = self.temporary(call.span)?;
        self.mark_access_source(result_use, call.span);
        self.emit_fence(before);
        self.emit_find_and_swap(found, &at, &expected, &new, call.span)?;
        self.emit_fence(after);
        self.asm.assign(ok, binary(BinOp::Eq, Expr::Var(found), expected));
        match holder {
            Expected::Local(reg) => self.asm.assign(reg, Expr::Var(found)),
            Expected::Location(to) => {
                let end = self.asm.target();
                self.asm.jump_if(Expr::Var(ok), end);
                self.asm.emit(Op::Store { to, value: Expr::Var(found) });
                self.asm.bind(end);
            }
        }
        Ok(Some(Expr::Var(ok)))
    }

    /// Returns whether the value of a local after the current call is dead: no other expression and
    /// no condition names the local, and the call is not in a loop.
    fn is_used_once(&self, name: &str) -> bool {
        let mut named = 0;
        self.function.body.for_each(&mut |expression| {
            named += usize::from(matches!(&expression.kind, ExpressionKind::Name(n) if n == name));
        });
        named == 1 && self.loops == 0 && !self.observed.iter().any(|observed| observed == name)
    }
}

impl Call<'_> {
    fn invalid_order(&self, what: &str) -> LitmusError {
        let message = format!("`{}` is a {what}, which cannot have this memory order", self.name);
        let allowed = if what == "load" { "acquire" } else { "release" };
        LitmusError::unsupported(self.span, message).hint(format!(
            "use `memory_order_relaxed`, `memory_order_{allowed}` or `memory_order_seq_cst`"
        ))
    }
}

/// Returns the weakest order that has the fences of both orders.
fn join_orders(a: MemoryOrder, b: MemoryOrder) -> MemoryOrder {
    match (a, b) {
        (MemoryOrder::Relaxed, other) | (other, MemoryOrder::Relaxed) => other,
        (MemoryOrder::Full, _) | (_, MemoryOrder::Full) => MemoryOrder::Full,
        (MemoryOrder::SeqCst, _) | (_, MemoryOrder::SeqCst) => MemoryOrder::SeqCst,
        (MemoryOrder::Acquire, MemoryOrder::Acquire) => MemoryOrder::Acquire,
        (MemoryOrder::Release, MemoryOrder::Release) => MemoryOrder::Release,
        (MemoryOrder::AcqRel | MemoryOrder::Acquire | MemoryOrder::Release, _) => {
            MemoryOrder::AcqRel
        }
    }
}
