//! Atomic operations.
//!
//! They are generic over the type that their pointer points to. Values are converted to that type.

use super::conversions::{Purpose, constant, convert, unqualified};
use super::expressions::load;
use super::intrinsics::Call;
use super::library::Known;
use super::operators::{assign, binary_expr};
use super::types::bool_type;
use super::{Checker, int, long, void};
use crate::c::codes;
use crate::c::typed::{BinaryOp, Expr, ExprKind, Intrinsic, Place, Type, TypeKind, Yields};
use crate::orders::MemoryOrder;

impl Checker<'_> {
    /// Checks the pointer of an atomic operation. Returns it with the type of the object.
    fn target_argument(&mut self, call: &Call<'_>) -> Option<(Expr, Type)> {
        let pointer = self.pointer_argument(call, 0)?;
        let place = self.pointee(pointer.clone())?;
        Some((pointer, unqualified(&place.ty)))
    }

    fn value_argument(&mut self, call: &Call<'_>, position: usize, ty: &Type) -> Option<Expr> {
        let value = self.value(&call.arguments[position])?;
        self.assignable(value, ty, Purpose::Pass)
    }

    fn order_argument(&mut self, call: &Call<'_>, position: usize) -> Option<Expr> {
        let argument = &call.arguments[position];
        let order = self.int_argument(argument, "a memory order")?;
        // The name of the order, also if it is an argument of a macro.
        Some(Expr { span: argument.origin.unwrap_or(order.span), ..order })
    }

    /// Checks a pointer to a value of a type. Returns the place.
    fn value_place(&mut self, call: &Call<'_>, position: usize, ty: &Type) -> Option<Place> {
        let pointer = self.value_pointer(call, position, ty)?;
        self.pointee(pointer)
    }

    /// Checks a pointer to a value of a type.
    fn value_pointer(&mut self, call: &Call<'_>, position: usize, ty: &Type) -> Option<Expr> {
        let pointer = self.value(&call.arguments[position])?;
        if let TypeKind::Pointer(to) = &pointer.ty.kind
            && !matches!(to.kind, TypeKind::Void)
            && self.size_of(to) != self.size_of(ty)
        {
            let (from, to) = (self.type_text(to), self.type_text(ty));
            let message =
                format!("`{}` needs a pointer to `{to}` here, not to `{from}`", call.name);
            self.error(codes::TYPE_MISMATCH, pointer.span, message)
                .hint("both objects have the same size");
            return None;
        }
        self.assignable(pointer, &Type::pointer(ty.clone()), Purpose::Pass)
    }

    pub(super) fn atomic(&mut self, known: &Known, call: &Call<'_>) -> Option<Expr> {
        let span = call.span;
        if let Known::TestAndSet | Known::Clear = known {
            return self.flag(known, call);
        }
        let (pointer, ty) = self.target_argument(call)?;
        Some(match known {
            Known::AtomicLoad => {
                let order = self.order_argument(call, 1)?;
                call.expr(Intrinsic::AtomicLoad { pointer, order }, ty)
            }
            Known::AtomicLoadInto => {
                let result = self.value_place(call, 1, &ty)?;
                let order = self.order_argument(call, 2)?;
                let value = call.expr(Intrinsic::AtomicLoad { pointer, order }, ty);
                to_void(assign(result, value, span))
            }
            Known::AtomicStore => {
                let value = self.value_argument(call, 1, &ty)?;
                let order = self.order_argument(call, 2)?;
                call.expr(Intrinsic::AtomicStore { pointer, value, order }, void())
            }
            Known::AtomicStoreFrom => {
                let value = load(self.value_place(call, 1, &ty)?);
                let order = self.order_argument(call, 2)?;
                call.expr(Intrinsic::AtomicStore { pointer, value, order }, void())
            }
            Known::Exchange => {
                let value = self.value_argument(call, 1, &ty)?;
                let order = self.order_argument(call, 2)?;
                call.expr(Intrinsic::AtomicExchange { pointer, value, order }, ty)
            }
            Known::ExchangeInto => {
                let value = load(self.value_place(call, 1, &ty)?);
                let result = self.value_place(call, 2, &ty)?;
                let order = self.order_argument(call, 3)?;
                let old = call.expr(Intrinsic::AtomicExchange { pointer, value, order }, ty);
                to_void(assign(result, old, span))
            }
            Known::CompareExchange { from_pointer } => {
                self.compare_exchange(call, pointer, &ty, *from_pointer)?
            }
            Known::CompareSwap(yields) => {
                let order = self.order_argument(call, 3)?;
                self.compare_swap(call, pointer, ty, order, *yields)?
            }
            Known::SyncSwap(yields) => {
                let order = call.order(MemoryOrder::Full);
                self.compare_swap(call, pointer, ty, order, *yields)?
            }
            Known::Fetch { op, yields, scaled } => {
                let order = self.order_argument(call, 2)?;
                self.fetch(call, pointer, ty, *op, order, (*yields, *scaled))?
            }
            Known::SyncFetch(op, yields) => {
                let order = call.order(MemoryOrder::Full);
                self.fetch(call, pointer, ty, *op, order, (*yields, false))?
            }
            Known::SyncExchange => {
                let value = self.value_argument(call, 1, &ty)?;
                let order = call.order(MemoryOrder::Acquire);
                call.expr(Intrinsic::AtomicExchange { pointer, value, order }, ty)
            }
            Known::SyncRelease => {
                let value = convert(constant(0, int(), span), &ty);
                let order = call.order(MemoryOrder::Release);
                call.expr(Intrinsic::AtomicStore { pointer, value, order }, void())
            }
            _ => return None,
        })
    }

    fn compare_exchange(
        &mut self,
        call: &Call<'_>,
        pointer: Expr,
        ty: &Type,
        from_pointer: bool,
    ) -> Option<Expr> {
        let expected = self.value_pointer(call, 1, ty)?;
        let desired = if from_pointer {
            load(self.value_place(call, 2, ty)?)
        } else {
            self.value_argument(call, 2, ty)?
        };
        let weak = self.condition(&call.arguments[3])?;
        // An unknown flag may be true, and a weak operation can do all that a strong one can.
        let weak = self.evaluate(&weak) != Ok(0);
        let success = self.order_argument(call, 4)?;
        let failure = self.order_argument(call, 5)?;
        let intrinsic =
            Intrinsic::AtomicCompareExchange { pointer, expected, desired, weak, success, failure };
        Some(call.expr(intrinsic, bool_type()))
    }

    fn compare_swap(
        &mut self,
        call: &Call<'_>,
        pointer: Expr,
        ty: Type,
        order: Expr,
        yields: Yields,
    ) -> Option<Expr> {
        let expected = self.value_argument(call, 1, &ty)?;
        let desired = self.value_argument(call, 2, &ty)?;
        let result = match yields {
            Yields::Old | Yields::New => ty,
            Yields::Success => bool_type(),
        };
        let swap = Intrinsic::AtomicCompareSwap { pointer, expected, desired, order, yields };
        Some(call.expr(swap, result))
    }

    fn fetch(
        &mut self,
        call: &Call<'_>,
        pointer: Expr,
        ty: Type,
        op: BinaryOp,
        order: Expr,
        (yields, scaled): (Yields, bool),
    ) -> Option<Expr> {
        let value = match &ty.kind {
            TypeKind::Pointer(to) => {
                let value = self.scalar_argument(call, 1, &long())?;
                let size = if scaled { self.complete_size(to, call.span)? } else { 1 };
                match (size, &value.kind) {
                    (1, _) => value,
                    (_, ExprKind::Const(count)) => {
                        constant(count.wrapping_mul(size as i64), long(), value.span)
                    }
                    (_, _) => {
                        let size = constant(size as i64, long(), value.span);
                        binary_expr(BinaryOp::Mul, value, size, long(), call.span)
                    }
                }
            }
            TypeKind::Int(_) => self.value_argument(call, 1, &ty)?,
            _ => {
                let text = self.type_text(&ty);
                let message = format!("`{}` cannot compute with `{text}`", call.name);
                self.error(codes::TYPE_MISMATCH, call.span, message);
                return None;
            }
        };
        Some(call.expr(Intrinsic::AtomicFetch { op, pointer, value, order, yields }, ty))
    }

    /// `test_and_set` and `clear`. A `void *` points to a byte.
    fn flag(&mut self, known: &Known, call: &Call<'_>) -> Option<Expr> {
        let mut pointer = self.pointer_argument(call, 0)?;
        if let TypeKind::Pointer(to) = &pointer.ty.kind
            && matches!(to.kind, TypeKind::Void)
        {
            pointer = convert(pointer, &Type::pointer(Type::int(8, false)));
        }
        let ty = unqualified(&self.pointee(pointer.clone())?.ty);
        let order = self.order_argument(call, 1)?;
        let number = i64::from(matches!(known, Known::TestAndSet));
        let value = convert(constant(number, int(), call.span), &ty);
        Some(match known {
            Known::TestAndSet => {
                let old = call.expr(Intrinsic::AtomicExchange { pointer, value, order }, ty);
                convert(old, &bool_type())
            }
            _ => call.expr(Intrinsic::AtomicStore { pointer, value, order }, void()),
        })
    }
}

/// Discards a value.
fn to_void(value: Expr) -> Expr {
    let span = value.span;
    Expr { kind: ExprKind::Convert(Box::new(value)), ty: void(), span }
}
