//! Calls, by the table.
//!
//! # Compare and exchange
//! An update that compares yields whether it succeeds, not what it found. Where that is wanted as well, the call is
//!
//! ```text
//! again: found = fetch_add(x, 0)       reads as an update does: it waits for what an update waits for
//!        if found != expected: done
//!        ok = cas(x, expected, new)
//!        if !ok: again                 somebody was faster, and nothing has happened yet
//! done:
//! ```
//!
//! Nobody can tell this from one step: the first update changes nothing, and the run in which
//! nobody acts between the two is the one step. Direction: exact, but for accesses after a relaxed or release one
//! under RMO; they wait until it is decided, as if the thread branched on what it found.

use fencepost_ir::{Address, BinOp, Expr, FenceKinds, Op, Reg, Span, UnOp, Update};

use super::super::super::wrong::Wrong;
use super::super::ast::{Expression, ExpressionKind};
use super::super::table::{self, Around, Change, Known, Meaning, Operands, Order, Told, Yields};
use super::Lowerer;
use super::value::{Meant, Want, binary};

/// Where the value is that a compare-and-exchange must find.
enum Expected {
    /// In a local.
    Local(Reg),
    /// In a location.
    Location(Address),
}

/// The arguments of a call, those that tell its order apart.
struct Call<'e> {
    name: &'e str,
    span: Span,
    meaning: Meaning,
    arguments: &'e [Expression],
    order: Order,
}

impl Lowerer<'_> {
    /// What a call means, and its arguments.
    fn known<'e>(
        &self,
        span: Span,
        name: &'e str,
        arguments: &'e [Expression],
    ) -> Result<Call<'e>, Wrong> {
        let address_first = arguments.first().is_some_and(|first| self.is_address(first));
        let Known { meaning, order, orders } =
            table::find(name, address_first).ok_or_else(|| {
                Wrong::unsupported(span, format!("the function `{name}` is not supported"))
            })?;
        let values = match meaning {
            Meaning::Fence | Meaning::Barrier(_) => 0,
            Meaning::Load(_)
            | Meaning::Clear
            | Meaning::Update(_, Operands::Address, _)
            | Meaning::Lock
            | Meaning::TryLock
            | Meaning::Unlock => 1,
            Meaning::Store(_)
            | Meaning::Update(_, Operands::AddressValue | Operands::ValueAddress, _) => 2,
            Meaning::CompareExchange | Meaning::CompareSwap => 3,
        };
        if arguments.len() != values + orders {
            let (wanted, found) = (values + orders, arguments.len());
            let plural = if wanted == 1 { "" } else { "s" };
            let message = format!("`{name}` takes {wanted} argument{plural}, not {found}");
            return Err(Wrong::syntax(span, message));
        }
        let (arguments, last) = arguments.split_at(values);
        let mut told = Vec::new();
        for argument in last {
            let named = match &argument.kind {
                ExpressionKind::Name(word) => Order::named(word),
                _ => None,
            };
            told.push(named.ok_or_else(|| {
                Wrong::syntax(argument.span, "expected a memory order")
                    .hint("as in `memory_order_acquire`")
            })?);
        }
        let order = told.into_iter().reduce(stronger).unwrap_or(order);
        Ok(Call { name, span, meaning, arguments, order })
    }

    /// What a call orders, if it is a fence.
    pub(super) fn fence_kinds(
        &self,
        name: &str,
        arguments: &[Expression],
        span: Span,
    ) -> Result<Option<FenceKinds>, Wrong> {
        let call = self.known(span, name, arguments)?;
        Ok(match call.meaning {
            Meaning::Fence => Some(call.order.of_fence()),
            Meaning::Barrier(kinds) => Some(kinds),
            Meaning::Load(_)
            | Meaning::Store(_)
            | Meaning::Clear
            | Meaning::Update(..)
            | Meaning::CompareExchange
            | Meaning::CompareSwap
            | Meaning::Lock
            | Meaning::TryLock
            | Meaning::Unlock => None,
        })
    }

    /// A call, and what it yields.
    pub(super) fn call(
        &mut self,
        span: Span,
        name: &str,
        arguments: &[Expression],
        want: Want,
    ) -> Result<Option<Expr<Reg>>, Wrong> {
        let call = self.known(span, name, arguments)?;
        match call.meaning {
            // As a statement it is a fence of the author, and no call.
            Meaning::Fence | Meaning::Barrier(_) => Ok(None),
            Meaning::Load(told) => {
                let around = call.order.of_load().ok_or_else(|| call.refused("load"))?;
                let from = self.told(told, &call.arguments[0])?;
                let reg = self.destination(want, span)?;
                self.mark_access(want, span);
                self.ordered(around, Op::Load { reg, from });
                Ok(Some(Expr::Var(reg)))
            }
            Meaning::Store(told) => {
                let around = call.order.of_store().ok_or_else(|| call.refused("store"))?;
                let to = self.told(told, &call.arguments[0])?;
                let value = self.value(&call.arguments[1])?;
                self.mark_access(want, span);
                self.ordered(around, Op::Store { to, value });
                Ok(None)
            }
            Meaning::Clear | Meaning::Unlock => {
                let around = call.order.of_store().ok_or_else(|| call.refused("store"))?;
                let to = self.pointed(&call.arguments[0])?;
                self.mark_access(want, span);
                self.ordered(around, Op::Store { to, value: Expr::Const(0) });
                Ok(None)
            }
            Meaning::Update(change, operands, yields) => {
                self.update(&call, change, operands, yields, want)
            }
            Meaning::CompareSwap => self.compare_swap(&call, want),
            Meaning::CompareExchange => self.compare_exchange(&call, want),
            Meaning::Lock => {
                let at = self.pointed(&call.arguments[0])?;
                let found = self.temporary(span)?;
                self.mark_access(want, span);
                self.asm.emit(Op::AtomicBegin);
                self.asm.emit(Op::Load { reg: found, from: at.clone() });
                self.asm.emit(Op::Assume(binary(BinOp::Eq, Expr::Var(found), Expr::Const(0))));
                self.asm.emit(Op::Store { to: at, value: Expr::Const(1) });
                self.asm.emit(Op::AtomicEnd);
                Ok(None)
            }
            Meaning::TryLock => {
                let at = self.pointed(&call.arguments[0])?;
                let reg = self.destination(want, span)?;
                self.mark_access(want, span);
                let update = Update::Cas { expected: Expr::Const(0), new: Expr::Const(1) };
                self.ordered(call.order.of_update(), Op::Update { reg: Some(reg), at, update });
                Ok(Some(Expr::Var(reg)))
            }
        }
    }

    fn told(&mut self, told: Told, argument: &Expression) -> Result<Address, Wrong> {
        match told {
            Told::Address => self.pointed(argument),
            Told::Itself => self.place(argument),
        }
    }

    /// An access with its fences.
    fn ordered(&mut self, (before, after): Around, op: Op) {
        self.order(before);
        self.asm.emit(op);
        self.order(after);
    }

    fn order(&mut self, kinds: FenceKinds) {
        if kinds != FenceKinds::default() {
            self.asm.emit(Op::Fence(kinds));
        }
    }

    fn update(
        &mut self,
        call: &Call<'_>,
        change: Change,
        operands: Operands,
        yields: Yields,
        want: Want,
    ) -> Result<Option<Expr<Reg>>, Wrong> {
        let (at, value) = match operands {
            Operands::Address => (self.pointed(&call.arguments[0])?, Expr::Const(1)),
            Operands::AddressValue => {
                let at = self.pointed(&call.arguments[0])?;
                (at, self.value(&call.arguments[1])?)
            }
            Operands::ValueAddress => {
                let value = self.value(&call.arguments[0])?;
                (self.pointed(&call.arguments[1])?, value)
            }
        };
        let (update, op) = match change {
            Change::Swap => (Update::Swap { new: value.clone() }, None),
            Change::Add { negative: false } => {
                (Update::Add { by: value.clone() }, Some(BinOp::Add))
            }
            Change::Add { negative: true } => {
                let by = Expr::Unary(UnOp::Neg, Box::new(value.clone())).fold();
                (Update::Add { by }, Some(BinOp::Sub))
            }
            Change::Bits(op) => (Update::Bits { op, by: value.clone() }, Some(op)),
        };
        if op.is_some() {
            self.layout.computes(call.span);
        }
        let reg = match (yields, want) {
            (Yields::Nothing, _) | (_, Want::Effects) => None,
            (Yields::Old, _) => Some(self.destination(want, call.span)?),
            (Yields::New | Yields::Zero | Yields::Negative, _) => Some(self.temporary(call.span)?),
        };
        self.mark_access(want, call.span);
        self.ordered(call.order.of_update(), Op::Update { reg, at, update });
        let Some(old) = reg else { return Ok(None) };
        let old = Expr::Var(old);
        let new = |old| match op {
            Some(op) => binary(op, old, value),
            None => value,
        };
        let zero = Expr::Const(0);
        Ok(match yields {
            Yields::Nothing => None,
            Yields::Old => Some(old),
            Yields::New => Some(new(old)),
            Yields::Zero => Some(binary(BinOp::Eq, new(old), zero)),
            Yields::Negative => Some(binary(BinOp::Lt, new(old), zero)),
        })
    }

    fn compare_swap(&mut self, call: &Call<'_>, want: Want) -> Result<Option<Expr<Reg>>, Wrong> {
        let at = self.pointed(&call.arguments[0])?;
        let expected = self.value(&call.arguments[1])?;
        let new = self.value(&call.arguments[2])?;
        let found = match want {
            Want::Effects => None,
            Want::Inside | Want::Into(_) => Some(self.temporary(call.span)?),
        };
        self.mark_access(want, call.span);
        let (before, after) = call.order.of_update();
        self.order(before);
        match found {
            None => {
                let update = Update::Cas { expected, new };
                self.asm.emit(Op::Update { reg: None, at, update });
            }
            Some(found) => self.find_and_swap(found, &at, &expected, &new, call.span)?,
        }
        self.order(after);
        Ok(found.map(Expr::Var))
    }

    /// Writes `new` if `expected` is there; `found` tells what was, in any case.
    fn find_and_swap(
        &mut self,
        found: Reg,
        at: &Address,
        expected: &Expr<Reg>,
        new: &Expr<Reg>,
        span: Span,
    ) -> Result<(), Wrong> {
        let ok = self.temporary(span)?;
        let (again, done) = (self.asm.target(), self.asm.target());
        self.asm.bind(again);
        let update = Update::Add { by: Expr::Const(0) };
        self.asm.emit(Op::Update { reg: Some(found), at: at.clone(), update });
        let there = binary(BinOp::Eq, Expr::Var(found), expected.clone());
        self.asm.jump_unless(there, done);
        let update = Update::Cas { expected: expected.clone(), new: new.clone() };
        self.asm.emit(Op::Update { reg: Some(ok), at: at.clone(), update });
        self.asm.jump_unless(Expr::Var(ok), again);
        self.asm.bind(done);
        Ok(())
    }

    fn compare_exchange(
        &mut self,
        call: &Call<'_>,
        want: Want,
    ) -> Result<Option<Expr<Reg>>, Wrong> {
        let at = self.pointed(&call.arguments[0])?;
        let argument = &call.arguments[1];
        let (holder, only_here) = match &argument.kind {
            ExpressionKind::Address(inner) => match &inner.kind {
                ExpressionKind::Name(name) => match self.meant(name) {
                    Some(Meant::Local(local)) => {
                        (Expected::Local(local.reg), self.is_only_here(name))
                    }
                    _ => (Expected::Location(self.pointed(argument)?), false),
                },
                _ => (Expected::Location(self.pointed(argument)?), false),
            },
            _ => (Expected::Location(self.pointed(argument)?), false),
        };
        let new = self.value(&call.arguments[2])?;
        let expected = match &holder {
            Expected::Local(reg) => Expr::Var(*reg),
            Expected::Location(from) => {
                let reg = self.temporary(argument.span)?;
                self.mark(argument.span);
                self.asm.emit(Op::Load { reg, from: from.clone() });
                Expr::Var(reg)
            }
        };
        let ok = self.temporary(call.span)?;
        let (before, after) = call.order.of_update();
        if only_here {
            self.mark_access(want, call.span);
            self.order(before);
            let update = Update::Cas { expected, new };
            let reg = (want != Want::Effects).then_some(ok);
            self.asm.emit(Op::Update { reg, at, update });
            self.order(after);
            return Ok(Some(Expr::Var(ok)));
        }
        let found = self.temporary(call.span)?;
        self.mark_access(want, call.span);
        self.order(before);
        self.find_and_swap(found, &at, &expected, &new, call.span)?;
        self.order(after);
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

    /// Whether nobody looks at a local after a call that just named it: it is named nowhere else, not in the
    /// condition, and the call is not repeated.
    fn is_only_here(&self, name: &str) -> bool {
        let mut named = 0;
        self.function.body.for_each(&mut |expression| {
            named += usize::from(matches!(&expression.kind, ExpressionKind::Name(n) if n == name));
        });
        named == 1 && self.loops == 0 && !self.shown.iter().any(|shown| shown == name)
    }
}

impl Call<'_> {
    fn refused(&self, what: &str) -> Wrong {
        let message = format!("`{}` is a {what}, which cannot have this memory order", self.name);
        Wrong::unsupported(self.span, message)
    }
}

/// The order that has the fences of both.
fn stronger(a: Order, b: Order) -> Order {
    match (a, b) {
        (Order::Relaxed, other) | (other, Order::Relaxed) => other,
        (Order::Full, _) | (_, Order::Full) => Order::Full,
        (Order::Sequential, _) | (_, Order::Sequential) => Order::Sequential,
        (Order::Acquire, Order::Acquire) => Order::Acquire,
        (Order::Release, Order::Release) => Order::Release,
        (Order::AcquireRelease | Order::Acquire | Order::Release, _) => Order::AcquireRelease,
    }
}
