//! Lowers updates with a condition: compare-and-exchange, `atomic_add_unless`, locks.
//!
//! C11's compare-and-exchange is one update between the fences of its memory order. A call of Linux
//! is an update with its fences only if it succeeds. If it fails, it is a load:
//!
//! ```text
//! again: found = x
//!        if found != expected: done
//!        fences before; ok = cas(x, expected, new); fences after
//!        if !ok: again
//! done:
//! ```
//!
//! This sequence is observably equivalent to one step: the first access changes nothing, and the
//! run in which no other thread acts between the two accesses is the single step. Direction: exact,
//! except that under RMO accesses after the call wait for the value found as if the thread branched
//! on it: all of them without speculation, stores and updates with speculation. A lost run needs
//! such an access that overtakes a failed, relaxed or release call.
//!
//! Taking a lock is a CAS in a loop, followed by an acquire fence. A failed iteration has no
//! effect.

use fencepost_ir::{Address, BinOp, CasResult, Expr, FenceKinds, Op, Reg, Span, Update};

use super::super::super::error::LitmusError;
use super::super::super::wrap::in_64_bits;
use super::super::ast::ExpressionKind;
use super::super::functions::AddUnless;
use super::Lowerer;
use super::call::Call;
use super::value::{NameKind, ResultUse, binary};
use crate::orders::MemoryOrder;

/// The variable that holds the expected value of a compare-and-exchange.
enum Expected {
    /// A local.
    Local(Reg),
    /// A location.
    Location(Address),
}

impl Lowerer<'_> {
    /// Emits code that waits until a lock is free and takes it.
    pub(super) fn emit_lock(&mut self, at: Address, span: Span) -> Result<(), LitmusError> {
        let ok = self.temporary(span)?;
        let again = self.asm.target();
        self.asm.bind(again);
        let update = Update::cas(Expr::Const(0), Expr::Const(1));
        self.note_order(MemoryOrder::Acquire, MemoryOrder::update_order);
        self.emit_access(Op::Update { reg: Some(ok), at, update });
        self.asm.jump_unless(Expr::Var(ok), again);
        self.asm.emit(Op::Fence(FenceKinds::ACQUIRE));
        Ok(())
    }

    /// Lowers Linux's `cmpxchg`.
    pub(super) fn compare_swap(
        &mut self,
        call: &Call<'_>,
        result_use: ResultUse,
    ) -> Result<Option<Expr<Reg>>, LitmusError> {
        let at = self.pointee(&call.arguments[0])?;
        let expected = self.value(&call.arguments[1])?;
        let new = self.value(&call.arguments[2])?;
        if result_use == ResultUse::Discarded && call.order == MemoryOrder::Relaxed {
            self.mark_access_source(result_use, call.span);
            let update = Update::cas(expected, new);
            self.emit_access(Op::Update { reg: None, at, update });
            return Ok(None);
        }
        let found = self.temporary(call.span)?;
        self.mark_access_source(result_use, call.span);
        let stop = binary(BinOp::Ne, Expr::Var(found), expected.clone());
        self.emit_conditional_swap(found, &at, (stop, &expected, &new), call)?;
        Ok(Some(Expr::Var(found)))
    }

    /// Lowers Linux's `atomic_add_unless` and its variants.
    pub(super) fn add_unless(
        &mut self,
        call: &Call<'_>,
        form: AddUnless,
        result_use: ResultUse,
    ) -> Result<Option<Expr<Reg>>, LitmusError> {
        let at = self.pointee(&call.arguments[0])?;
        let (amount, excluded) = if form.has_amount {
            (self.value(&call.arguments[1])?, self.value(&call.arguments[2])?)
        } else {
            (Expr::Const(1), Expr::Const(0))
        };
        let is_64_bit = self.points_to_64_bits(&call.arguments[0]);
        let add = if is_64_bit { in_64_bits(BinOp::Add) } else { BinOp::Add };
        let found = self.temporary(call.span)?;
        self.mark_access_source(result_use, call.span);
        let stop = binary(BinOp::Eq, Expr::Var(found), excluded.clone());
        let new = binary(add, Expr::Var(found), amount);
        self.emit_conditional_swap(found, &at, (stop, &Expr::Var(found), &new), call)?;
        let found = Expr::Var(found);
        Ok(Some(if form.returns_old { found } else { binary(BinOp::Ne, found, excluded) }))
    }

    /// Emits code that loads a location into `found` and, unless `stop` holds, writes `new` if the
    /// location still has the value `expected`, with the fences of the call. Repeats this until
    /// `stop` holds or the location is written.
    fn emit_conditional_swap(
        &mut self,
        found: Reg,
        at: &Address,
        (stop, expected, new): (Expr<Reg>, &Expr<Reg>, &Expr<Reg>),
        call: &Call<'_>,
    ) -> Result<(), LitmusError> {
        let ok = self.temporary(call.span)?;
        let (before, after) = call.order.update_fences();
        self.note_order(call.order, MemoryOrder::update_order);
        let (again, done) = (self.asm.target(), self.asm.target());
        self.asm.bind(again);
        self.emit_access(Op::Load { reg: found, from: at.clone() });
        self.asm.jump_if(stop, done);
        self.emit_fence(before);
        let update = Update::cas(expected.clone(), new.clone());
        self.emit_access(Op::Update { reg: Some(ok), at: at.clone(), update });
        self.emit_fence(after);
        self.asm.jump_unless(Expr::Var(ok), again);
        self.asm.bind(done);
        Ok(())
    }

    /// Lowers C11's compare-and-exchange.
    pub(super) fn compare_exchange(
        &mut self,
        call: &Call<'_>,
        result_use: ResultUse,
    ) -> Result<Option<Expr<Reg>>, LitmusError> {
        self.exchange(call, result_use, true)
    }

    /// Lowers Linux's `try_cmpxchg`.
    pub(super) fn try_compare_swap(
        &mut self,
        call: &Call<'_>,
        result_use: ResultUse,
    ) -> Result<Option<Expr<Reg>>, LitmusError> {
        self.exchange(call, result_use, call.order == MemoryOrder::Relaxed)
    }

    /// Lowers `f(x, &expected, new)`. `always_fences` is whether the fences are those of a call
    /// that fails, too.
    fn exchange(
        &mut self,
        call: &Call<'_>,
        result_use: ResultUse,
        always_fences: bool,
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
                self.emit_access(Op::Load { reg, from: from.clone() });
                Expr::Var(reg)
            }
        };
        let ok = self.temporary(call.span)?;
        let (before, after) = call.order.update_fences();
        if used_once && always_fences {
            self.mark_access_source(result_use, call.span);
            self.note_order(call.order, MemoryOrder::update_order);
            self.emit_fence(before);
            let update = Update::cas(expected, new);
            let reg = (result_use != ResultUse::Discarded).then_some(ok);
            self.emit_access(Op::Update { reg, at, update });
            self.emit_fence(after);
            return Ok(Some(Expr::Var(ok)));
        }
        let found = self.temporary(call.span)?;
        self.mark_access_source(result_use, call.span);
        if always_fences {
            self.note_order(call.order, MemoryOrder::update_order);
            self.emit_fence(before);
            let expected = expected.clone();
            let update = Update::Cas { expected, new, result: CasResult::Old };
            self.emit_access(Op::Update { reg: Some(found), at, update });
            self.emit_fence(after);
        } else {
            let stop = binary(BinOp::Ne, Expr::Var(found), expected.clone());
            self.emit_conditional_swap(found, &at, (stop, &expected, &new), call)?;
        }
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
        named == 1
            && self.loops.is_empty()
            && !self.observed.iter().any(|observed| observed == name)
    }
}
