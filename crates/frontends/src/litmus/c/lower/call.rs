//! Lowers calls, by the table in [`super::super::functions`].

use fencepost_ir::{AccessOrder, Address, BinOp, Expr, FenceKinds, Op, Reg, Span, UnOp, Update};

use super::super::super::error::LitmusError;
use super::super::super::wrap::{WRAP_64, in_64_bits, negated_in_64_bits};
use super::super::ast::{Expression, ExpressionKind};
use super::super::functions::{
    self, AddUnless, FunctionInfo, FunctionKind, LocationArgument, Operands, Returns, UpdateKind,
};
use super::Lowerer;
use super::value::{ResultUse, binary};
use crate::orders::{FencesAround, MemoryOrder};

/// A resolved call. `arguments` excludes the memory orders, which `order` combines.
pub(super) struct Call<'e> {
    name: &'e str,
    pub(super) span: Span,
    kind: FunctionKind,
    pub(super) arguments: &'e [Expression],
    pub(super) order: MemoryOrder,
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
            | FunctionKind::IsLocked
            | FunctionKind::Unlock => 1,
            FunctionKind::AddUnless(AddUnless { has_amount: false, .. }) => 1,
            FunctionKind::Store(_)
            | FunctionKind::Update(_, Operands::AddressValue | Operands::ValueAddress, _) => 2,
            FunctionKind::CompareExchange
            | FunctionKind::CompareSwap
            | FunctionKind::TryCompareSwap
            | FunctionKind::AddUnless(AddUnless { has_amount: true, .. }) => 3,
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
                ExpressionKind::Name(word) => MemoryOrder::by_c11_name(word),
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
            | FunctionKind::TryCompareSwap
            | FunctionKind::AddUnless(_)
            | FunctionKind::Lock
            | FunctionKind::TryLock
            | FunctionKind::IsLocked
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
                self.note_order(call.order, MemoryOrder::load_order);
                self.emit_with_fences(around, Op::Load { reg, from });
                Ok(Some(Expr::Var(reg)))
            }
            FunctionKind::Store(argument_kind) => {
                let around =
                    call.order.store_fences().ok_or_else(|| call.invalid_order("store"))?;
                let to = self.location_argument(argument_kind, &call.arguments[0])?;
                let value = self.value(&call.arguments[1])?;
                self.mark_access_source(result_use, span);
                self.note_order(call.order, MemoryOrder::store_order);
                self.emit_with_fences(around, Op::Store { to, value });
                Ok(None)
            }
            FunctionKind::Clear | FunctionKind::Unlock => {
                let around =
                    call.order.store_fences().ok_or_else(|| call.invalid_order("store"))?;
                let to = self.pointee(&call.arguments[0])?;
                self.mark_access_source(result_use, span);
                self.note_order(call.order, MemoryOrder::store_order);
                self.emit_with_fences(around, Op::Store { to, value: Expr::Const(0) });
                Ok(None)
            }
            FunctionKind::Update(update_kind, operands, returns) => {
                self.update(&call, update_kind, operands, returns, result_use)
            }
            FunctionKind::CompareSwap => self.compare_swap(&call, result_use),
            FunctionKind::TryCompareSwap => self.try_compare_swap(&call, result_use),
            FunctionKind::AddUnless(form) => self.add_unless(&call, form, result_use),
            FunctionKind::CompareExchange => self.compare_exchange(&call, result_use),
            FunctionKind::Rcu(rcu, _) => self.rcu_call(rcu, call.arguments, span, result_use),
            FunctionKind::Lock => {
                let at = self.pointee(&call.arguments[0])?;
                self.mark_access_source(result_use, span);
                self.emit_lock(at, span)?;
                Ok(None)
            }
            FunctionKind::IsLocked => {
                let from = self.pointee(&call.arguments[0])?;
                let reg = self.temporary(span)?;
                self.mark_access_source(result_use, span);
                self.emit_access(Op::Load { reg, from });
                Ok(Some(binary(BinOp::Ne, Expr::Var(reg), Expr::Const(0))))
            }
            FunctionKind::TryLock => {
                let at = self.pointee(&call.arguments[0])?;
                let reg = self.destination_register(result_use, span)?;
                self.mark_access_source(result_use, span);
                let update = Update::cas(Expr::Const(0), Expr::Const(1));
                self.note_order(call.order, MemoryOrder::update_order);
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

    /// Notes the order of the accesses of the current source statement. The fences of `Full` are
    /// fences on every machine.
    pub(super) fn note_order(&mut self, order: MemoryOrder, of: fn(MemoryOrder) -> AccessOrder) {
        if order != MemoryOrder::Full {
            self.asm.note_order(of(order));
        }
    }

    /// Emits an access with the fences before and after it.
    fn emit_with_fences(&mut self, (before, after): FencesAround, op: Op) {
        self.emit_fence(before);
        self.emit_access(op);
        self.emit_fence(after);
    }

    pub(super) fn emit_fence(&mut self, kinds: FenceKinds) {
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
        let is_64_bit = call.arguments.iter().any(|argument| self.points_to_64_bits(argument));
        let of_width = |op| if is_64_bit { in_64_bits(op) } else { op };
        let wrap = if is_64_bit { WRAP_64 } else { None };
        let (update, op) = match update_kind {
            UpdateKind::Swap => (Update::Swap { new: value.clone() }, None),
            UpdateKind::Add { negative: false } => {
                (Update::Add { by: value.clone(), wrap }, Some(of_width(BinOp::Add)))
            }
            UpdateKind::Add { negative: true } => {
                let by = match is_64_bit {
                    true => negated_in_64_bits(value.clone()),
                    false => Expr::Unary(UnOp::Neg, Box::new(value.clone())),
                };
                (Update::Add { by: by.fold(), wrap }, Some(of_width(BinOp::Sub)))
            }
            UpdateKind::Bits(op) => (Update::Bits { op, by: value.clone() }, Some(op)),
        };
        let reg = match (returns, result_use) {
            (Returns::Nothing, _) => None,
            (_, ResultUse::Discarded) if self.read_order.is_none() => None,
            (Returns::Old, _) => Some(self.destination_register(result_use, call.span)?),
            (Returns::New | Returns::Zero | Returns::Negative, _) => {
                Some(self.temporary(call.span)?)
            }
        };
        self.mark_access_source(result_use, call.span);
        self.note_order(call.order, MemoryOrder::update_order);
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
