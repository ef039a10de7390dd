//! Checks accesses with a memory order: `x.load(acquire)`, `x.store(1, release)`,
//! `x.fetch_add(1, relaxed)`.

use fencepost_ir::Span;

use super::Checker;
use super::expr::arguments;
use crate::fp::ast::{self, ExprKind as Ast};
use crate::fp::codes;
use crate::fp::foreign;
use crate::fp::suggest::did_you_mean;
use crate::fp::tree::{Expr, ExprKind, Place, StmtKind};
use crate::orders::MemoryOrder;

/// The methods of locations, with their forms.
const METHODS: [(&str, &str); 11] = [
    ("load", "x.load(acquire)"),
    ("store", "x.store(1, release)"),
    ("swap", "x.swap(1, acq_rel)"),
    ("cas", "x.cas(0, 1, acq_rel)"),
    ("compare_exchange", "x.compare_exchange(0, 1, acq_rel, acquire)"),
    ("cmpxchg", "x.cmpxchg(0, 1, acq_rel, acquire)"),
    ("fetch_add", "x.fetch_add(1, relaxed)"),
    ("fetch_sub", "x.fetch_sub(1, relaxed)"),
    ("fetch_and", "x.fetch_and(1, relaxed)"),
    ("fetch_or", "x.fetch_or(1, relaxed)"),
    ("fetch_xor", "x.fetch_xor(1, relaxed)"),
];

/// The orders in the hint of messages.
const ORDERS: &str = "the orders are `relaxed`, `acquire`, `release`, `acq_rel` and `seq_cst`";

/// A checked method of a location, with the arguments that are values.
pub(super) struct Method<'e> {
    name: &'e ast::Name,
    base: &'e ast::Expr,
    values: &'e [ast::Expr],
    orders: (MemoryOrder, MemoryOrder),
    written_orders: Vec<Span>,
}

impl Checker<'_> {
    /// Checks the name, the number of arguments and the orders of a method.
    pub(super) fn method<'e>(
        &mut self,
        base: &'e ast::Expr,
        name: &'e ast::Name,
        args: &'e [ast::Expr],
        span: Span,
    ) -> Option<Method<'e>> {
        let Some((_, form)) = METHODS.iter().find(|(method, _)| *method == name.text) else {
            let near = did_you_mean(&name.text, METHODS.map(|(n, _)| n), self.diagnostics.len());
            let hint = match name.text.as_str() {
                "compare_exchange_weak" | "compare_exchange_strong" | "compare_and_swap" => {
                    "write `compare_exchange`, which never fails spuriously".into()
                }
                "exchange" => "write `swap`".into(),
                word => match foreign::procedure(word) {
                    Some(hint) => hint.into(),
                    None => near.unwrap_or(
                        "write `load`, `store`, `swap`, `compare_exchange` or `fetch_add`".into(),
                    ),
                },
            };
            let message = format!("locations have no method `{}`", name.text);
            self.diagnostics
                .error(codes::UNKNOWN_METHOD, name.span, message)
                .label("unknown method")
                .hint(hint);
            return None;
        };
        let (values, most_orders) = match name.text.as_str() {
            "load" => (0, 1),
            "cas" | "compare_exchange" | "cmpxchg" => (2, 2),
            _ => (1, 1),
        };
        if args.len() < values || args.len() > values + most_orders {
            let expected = format!("{values} to {}", values + most_orders);
            let message = format!("`{}` takes {expected} arguments", name.text);
            self.diagnostics
                .error(codes::ARGUMENTS, span, message)
                .label(arguments(args.len()))
                .hint(format!("write `{form}`; without an order it is `seq_cst`"));
            return None;
        }
        let (values, orders) = args.split_at(values);
        let mut given = Vec::new();
        for order in orders {
            given.push((self.order(order)?, order.span));
        }
        let all = self.access_orders(&name.text, &given)?;
        // An order in a guard stays as it is: the fence of another order would be a second step.
        let written = orders.iter().map(|order| order.span).filter(|_| !self.in_guard);
        let written_orders = written.collect();
        Some(Method { name, base, values, orders: all, written_orders })
    }

    fn order(&mut self, expr: &ast::Expr) -> Option<MemoryOrder> {
        let name = if let Ast::Name(name) = &expr.kind { name.as_str() } else { "" };
        let order = MemoryOrder::by_name(name);
        if order.is_none() {
            let known = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];
            let near = did_you_mean(name, known, self.diagnostics.len());
            let message = format!("`{}` is not a memory order", self.text(expr.span));
            self.diagnostics
                .error(codes::MEMORY_ORDER, expr.span, message)
                .label("expected a memory order")
                .hint(near.unwrap_or(ORDERS.into()));
        }
        order
    }

    /// Returns the order of an access, and the order of a compare-and-exchange that fails. Without
    /// an order, it is `seq_cst`.
    fn access_orders(
        &mut self,
        method: &str,
        given: &[(MemoryOrder, Span)],
    ) -> Option<(MemoryOrder, MemoryOrder)> {
        let order = given.first().map_or(MemoryOrder::SeqCst, |(order, _)| *order);
        // Without an order for a failure, it is the success order without its release part.
        let weaker = match order {
            MemoryOrder::Release => MemoryOrder::Relaxed,
            MemoryOrder::AcqRel => MemoryOrder::Acquire,
            MemoryOrder::Relaxed
            | MemoryOrder::Acquire
            | MemoryOrder::SeqCst
            | MemoryOrder::Full => order,
        };
        let failure = given.get(1).map_or(weaker, |(order, _)| *order);
        let allowed = match method {
            "load" => (order.load_fences().is_some(), "a load", "acquire"),
            "store" => (order.store_fences().is_some(), "a store", "release"),
            _ => (failure.load_fences().is_some(), "a failed compare-and-exchange", "acquire"),
        };
        let (true, _, _) = allowed else {
            let (_, what, other) = allowed;
            let (found, span) = given.last().copied()?;
            self.diagnostics
                .error(
                    codes::MEMORY_ORDER,
                    span,
                    format!("{what} cannot have the order `{}`", found.name()),
                )
                .label("not allowed here")
                .hint(format!("use `relaxed`, `{other}` or `seq_cst`"));
            return None;
        };
        Some((order, failure))
    }

    /// Checks a method that yields a value.
    pub(super) fn method_value(&mut self, method: &Method<'_>, span: Span) -> Option<Expr> {
        if method.name.text == "load" {
            let place = self.ordered_place(method)?;
            let ty = place.ty.ty;
            return Some(Expr { kind: ExprKind::Load(place), ty, span, pure: false });
        }
        if method.name.text == "store" {
            self.diagnostics
                .error(codes::NO_VALUE, span, "`store` returns nothing")
                .label("expected a value")
                .hint("use `swap`, which yields the old value");
            return None;
        }
        let place = self.ordered_place(method);
        self.update(method.name, place, method.values, span)
    }

    /// Checks a method that is a statement.
    pub(super) fn method_stmt(&mut self, method: &Method<'_>, span: Span) -> Option<StmtKind> {
        let ([value], "store") = (method.values, method.name.text.as_str()) else {
            return Some(StmtKind::Eval(self.method_value(method, span)?));
        };
        let place = self.ordered_place(method);
        let value = self.expr(value);
        let (place, value) = (place?, value?);
        let value = self.fit(value, place.ty)?;
        Some(StmtKind::Store(place, value))
    }

    fn ordered_place(&mut self, method: &Method<'_>) -> Option<Place> {
        let (order, failure) = method.orders;
        let written_orders = method.written_orders.clone();
        Some(Place { order, failure, written_orders, ..self.place(method.base)? })
    }
}
