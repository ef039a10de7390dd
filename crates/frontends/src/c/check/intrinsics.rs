//! Calls of known functions become intrinsics of the typed tree. [Atomic
//! operations](super::atomics) have their own file.

use std::ops::RangeInclusive;

use fencepost_ir::Span;

use super::bits::BitCount;
use super::calls::counted;
use super::conversions::{Purpose, constant, convert, is_scalar, unqualified};
use super::expressions::size_type;
use super::library::Known;
use super::operators::{assign, binary_expr};
use super::types::bool_type;
use super::{Checker, int, long, void, void_pointer};
use crate::c::ast;
use crate::c::codes;
use crate::c::orders::order_value;
use crate::c::typed::{BinaryOp, Expr, ExprKind, Intrinsic, Place, PlaceKind, Type, TypeKind};
use crate::orders::MemoryOrder;

/// A call of a known function.
#[derive(Debug)]
pub(super) struct Call<'e> {
    pub(super) name: &'e str,
    pub(super) arguments: &'e [ast::Expr],
    pub(super) span: Span,
    /// The result type, if the function is declared.
    pub(super) result: Option<Type>,
}

impl Call<'_> {
    pub(super) fn expr(&self, intrinsic: Intrinsic, ty: Type) -> Expr {
        Expr { kind: ExprKind::Intrinsic(Box::new(intrinsic)), ty, span: self.span }
    }

    pub(super) fn order(&self, order: MemoryOrder) -> Expr {
        constant(order_value(order), int(), self.span)
    }
}

/// `EINVAL`, the result of `posix_memalign` for an alignment that is not a power of two.
const INVALID_ARGUMENT: i64 = 22;

/// Returns the allowed numbers of arguments.
fn arity(known: &Known) -> RangeInclusive<usize> {
    const ANY: usize = usize::MAX;
    match known {
        Known::AtomicLoad | Known::TestAndSet | Known::Clear => 2..=2,
        Known::AtomicLoadInto | Known::AtomicStore | Known::AtomicStoreFrom | Known::Exchange => {
            3..=3
        }
        Known::ExchangeInto | Known::CompareSwap(_) => 4..=4,
        Known::CompareExchange { .. } => 6..=6,
        Known::Fetch { .. } => 3..=3,
        Known::Fence => 1..=1,
        Known::SyncFetch(..) | Known::SyncExchange => 2..=ANY,
        Known::SyncSwap(_) => 3..=ANY,
        Known::SyncFence => 0..=ANY,
        Known::SyncRelease => 1..=ANY,
        Known::ThreadCreate => 2..=2,
        Known::ThreadCreateWith => 3..=3,
        Known::ThreadJoin | Known::ThreadExit | Known::Assume => 1..=1,
        Known::Assert => 1..=2,
        Known::ThreadSelf | Known::AtomicBegin | Known::AtomicEnd => 0..=0,
        Known::LockFree
        | Known::Fail
        | Known::Exit
        | Known::Nondet(_)
        | Known::NoEffect
        | Known::Rejected(_) => 0..=ANY,
        Known::Allocate | Known::Free => 1..=1,
        Known::AllocateAligned | Known::AllocateZero | Known::Reallocate => 2..=2,
        Known::AllocateInto | Known::MemoryCopy | Known::MemorySet => 3..=3,
        Known::Expect | Known::Same => 1..=3,
        Known::IsConstant | Known::Bits(..) => 1..=1,
        Known::MachineFence(_) => 0..=0,
    }
}

impl Checker<'_> {
    /// Checks a call of a known function.
    pub(super) fn known_call(&mut self, known: &Known, call: &Call<'_>) -> Option<Expr> {
        let allowed = arity(known);
        if !allowed.contains(&call.arguments.len()) {
            let given = call.arguments.len();
            let expected = match (*allowed.start(), *allowed.end()) {
                (least, most) if least == most => counted(least, "argument"),
                (least, usize::MAX) => format!("at least {}", counted(least, "argument")),
                (least, most) => format!("{least} to {most} arguments"),
            };
            let message = format!("`{}` takes {expected}, not {given}", call.name);
            self.error(codes::ARGUMENTS, call.span, message);
            return None;
        }
        match known {
            Known::AtomicLoad
            | Known::AtomicLoadInto
            | Known::AtomicStore
            | Known::AtomicStoreFrom
            | Known::Exchange
            | Known::ExchangeInto
            | Known::CompareExchange { .. }
            | Known::CompareSwap(_)
            | Known::Fetch { .. }
            | Known::TestAndSet
            | Known::Clear
            | Known::SyncFetch(..)
            | Known::SyncSwap(_)
            | Known::SyncExchange
            | Known::SyncRelease => self.atomic(known, call),
            Known::Fence => {
                let order = self.int_argument(&call.arguments[0], "a memory order")?;
                Some(call.expr(Intrinsic::Fence { order }, void()))
            }
            Known::SyncFence => {
                let order = call.order(MemoryOrder::SeqCst);
                Some(call.expr(Intrinsic::Fence { order }, void()))
            }
            Known::MachineFence(kinds) => Some(call.expr(Intrinsic::MachineFence(*kinds), void())),
            Known::ThreadCreate => self.thread_create(call, 0),
            Known::ThreadCreateWith => self.thread_create(call, 1),
            Known::ThreadJoin => {
                let thread = self.scalar_argument(call, 0, &size_type())?;
                Some(call.expr(Intrinsic::ThreadJoin { thread }, void_pointer()))
            }
            Known::ThreadExit => {
                let value = self.scalar_argument(call, 0, &void_pointer())?;
                Some(call.expr(Intrinsic::ThreadExit { value }, void()))
            }
            Known::ThreadSelf => Some(call.expr(Intrinsic::ThreadSelf, size_type())),
            Known::Assume => {
                let condition = self.condition(&call.arguments[0])?;
                Some(call.expr(Intrinsic::Assume(condition), void()))
            }
            Known::Assert => {
                let condition = self.condition(&call.arguments[0])?;
                let text = texts(&call.arguments[1..]).next().map(str::to_string);
                let written = || self.sources.text(call.arguments[0].span).to_string();
                let text = text.unwrap_or_else(written);
                Some(call.expr(Intrinsic::Assert { condition, text }, void()))
            }
            Known::Fail => {
                let text = texts(call.arguments).next().map(str::to_string);
                let text = text.unwrap_or_else(|| format!("{}()", call.name));
                Some(call.expr(Intrinsic::Fail { text }, void()))
            }
            Known::Exit => {
                let exit = call.expr(Intrinsic::Exit, void());
                self.after_arguments(call, exit)
            }
            Known::Nondet(ty) => {
                let ty = call.result.as_ref().filter(|ty| is_scalar(ty)).unwrap_or(ty);
                Some(call.expr(Intrinsic::Nondet, unqualified(ty)))
            }
            Known::AtomicBegin => Some(call.expr(Intrinsic::AtomicBegin, void())),
            Known::AtomicEnd => Some(call.expr(Intrinsic::AtomicEnd, void())),
            Known::NoEffect => self.no_effect(call),
            Known::LockFree => {
                let yes = constant(1, bool_type(), call.span);
                self.after_arguments(call, yes)
            }
            Known::Allocate
            | Known::AllocateAligned
            | Known::AllocateInto
            | Known::AllocateZero
            | Known::Reallocate
            | Known::Free => self.allocation(known, call),
            Known::MemoryCopy => {
                let target = self.pointer_argument(call, 0)?;
                let source = self.pointer_argument(call, 1)?;
                let size = self.scalar_argument(call, 2, &size_type())?;
                let copy = Intrinsic::MemoryCopy { target, source, size };
                Some(call.expr(copy, void_pointer()))
            }
            Known::MemorySet => {
                let target = self.pointer_argument(call, 0)?;
                let value = self.scalar_argument(call, 1, &int())?;
                let size = self.scalar_argument(call, 2, &size_type())?;
                Some(call.expr(Intrinsic::MemorySet { target, value, size }, void_pointer()))
            }
            Known::Expect => self.scalar_argument(call, 0, &long()),
            Known::Same => self.value(&call.arguments[0]),
            Known::IsConstant => {
                let value = self.value(&call.arguments[0])?;
                let known = i64::from(self.evaluate(&value).is_ok());
                Some(constant(known, int(), call.span))
            }
            Known::Bits(count, width) => {
                let (value, _) = self.integer(&call.arguments[0], "the argument")?;
                Some(self.count_bits(*count, *width, value, call.span))
            }
            Known::Rejected(hint) => {
                let message = format!("the function `{}` is not supported", call.name);
                self.error(codes::UNSUPPORTED, call.span, message).hint(*hint);
                None
            }
        }
    }

    /// Checks an integer or pointer argument and converts it, as a cast does.
    pub(super) fn scalar_argument(
        &mut self,
        call: &Call<'_>,
        position: usize,
        ty: &Type,
    ) -> Option<Expr> {
        let value = self.value(&call.arguments[position])?;
        let value = self.scalar(value, "this argument")?;
        Some(convert(value, ty))
    }

    /// Checks an argument that is a pointer. It keeps its type.
    pub(super) fn pointer_argument(&mut self, call: &Call<'_>, position: usize) -> Option<Expr> {
        let value = self.value(&call.arguments[position])?;
        if let TypeKind::Pointer(_) = value.ty.kind {
            return Some(value);
        }
        let ty = self.type_text(&value.ty);
        let message = format!("`{}` needs a pointer here, not `{ty}`", call.name);
        self.error(codes::TYPE_MISMATCH, value.span, message).hint("write `&` before the variable");
        None
    }

    /// Returns a value after the arguments are evaluated.
    fn after_arguments(&mut self, call: &Call<'_>, value: Expr) -> Option<Expr> {
        if call.arguments.iter().all(is_literal) {
            return Some(value);
        }
        let before = self.no_effect(call)?;
        let ty = value.ty.clone();
        let kind = ExprKind::Comma(Box::new(before), Box::new(value));
        Some(Expr { kind, ty, span: call.span })
    }

    /// A function without effect. Texts and floating-point numbers are dropped.
    fn no_effect(&mut self, call: &Call<'_>) -> Option<Expr> {
        let mut arguments = Vec::new();
        for argument in call.arguments {
            if is_literal(argument) {
                continue;
            }
            let earlier = std::mem::take(&mut self.diagnostics);
            let value = self.value(argument);
            let new = std::mem::replace(&mut self.diagnostics, earlier);
            let is_float = value.is_none()
                && new.iter().all(|found| found.code == codes::UNSUPPORTED_TYPE)
                && !has_effect(argument);
            if is_float {
                continue;
            }
            self.diagnostics.append(new);
            arguments.push(value?);
        }
        let result = call.result.clone().unwrap_or_else(int);
        let ty = match result.kind {
            TypeKind::Void | TypeKind::Int(_) | TypeKind::Pointer(_) => unqualified(&result),
            _ => int(),
        };
        Some(call.expr(Intrinsic::NoEffect { arguments }, ty))
    }

    fn thread_create(&mut self, call: &Call<'_>, first: usize) -> Option<Expr> {
        let function = self.value(&call.arguments[first])?;
        let is_function = match &function.ty.kind {
            TypeKind::Pointer(to) => matches!(to.kind, TypeKind::Function(_)),
            _ => false,
        };
        if !is_function {
            let ty = self.type_text(&function.ty);
            self.error(codes::TYPE_MISMATCH, function.span, "a thread starts with a function")
                .label(format!("this has type `{ty}`"));
            return None;
        }
        let argument = self.scalar_argument(call, first + 1, &void_pointer())?;
        Some(call.expr(Intrinsic::ThreadCreate { function, argument }, size_type()))
    }

    fn allocation(&mut self, known: &Known, call: &Call<'_>) -> Option<Expr> {
        let span = call.span;
        let allocate = |size, zero| call.expr(Intrinsic::Allocate { size, zero }, void_pointer());
        Some(match known {
            Known::AllocateAligned => {
                let condition = self.is_power_of_two(call, 0)?;
                let text = "the alignment is a power of two".to_string();
                let checked = call.expr(Intrinsic::Assert { condition, text }, void());
                let object = allocate(self.scalar_argument(call, 1, &size_type())?, false);
                let kind = ExprKind::Comma(Box::new(checked), Box::new(object));
                Expr { kind, ty: void_pointer(), span }
            }
            Known::AllocateInto => {
                let target = self.pointer_argument(call, 0)?;
                let is_valid = self.is_power_of_two(call, 1)?;
                let size = self.scalar_argument(call, 2, &size_type())?;
                let place = self.pointee(target)?;
                let value = convert(allocate(size, false), &place.ty);
                let stored = assign(place, value, span);
                let zero = constant(0, int(), span);
                let kind = ExprKind::Comma(Box::new(stored), Box::new(zero));
                let done = Expr { kind, ty: int(), span };
                let invalid = constant(INVALID_ARGUMENT, int(), span);
                let kind =
                    ExprKind::Conditional(Box::new(is_valid), Box::new(done), Box::new(invalid));
                Expr { kind, ty: int(), span }
            }
            Known::AllocateZero => {
                let count = self.scalar_argument(call, 0, &size_type())?;
                let size = self.scalar_argument(call, 1, &size_type())?;
                allocate(binary_expr(BinaryOp::Mul, count, size, size_type(), span), true)
            }
            Known::Reallocate => {
                let pointer = self.pointer_argument(call, 0)?;
                let size = self.scalar_argument(call, 1, &size_type())?;
                call.expr(Intrinsic::Reallocate { pointer, size }, void_pointer())
            }
            Known::Free => {
                let pointer = self.value(&call.arguments[0])?;
                let pointer = self.assignable(pointer, &void_pointer(), Purpose::Pass)?;
                call.expr(Intrinsic::Free { pointer }, void())
            }
            _ => allocate(self.scalar_argument(call, 0, &size_type())?, false),
        })
    }

    /// Returns the condition that an argument is a power of two.
    fn is_power_of_two(&mut self, call: &Call<'_>, at: usize) -> Option<Expr> {
        let value = self.scalar_argument(call, at, &size_type())?;
        let ones = self.count_bits(BitCount::Ones, 64, value, call.span);
        let one = constant(1, int(), call.span);
        Some(binary_expr(BinaryOp::Eq, ones, one, int(), call.span))
    }

    /// Returns the place that a pointer points to.
    pub(super) fn pointee(&mut self, pointer: Expr) -> Option<Place> {
        let TypeKind::Pointer(to) = &pointer.ty.kind else { return None };
        let (ty, span) = ((**to).clone(), pointer.span);
        if !is_scalar(&ty) && !matches!(ty.kind, TypeKind::Record(_)) {
            let text = self.type_text(&ty);
            let message = format!("there is no atomic operation on an object of type `{text}`");
            self.error(codes::TYPE_MISMATCH, span, message)
                .hint("the pointer points to an integer, a pointer or a record");
            return None;
        }
        self.complete_size(&ty, span)?;
        // `*&x` is `x`.
        if let ExprKind::AddressOf(place) = pointer.kind {
            return Some(place);
        }
        Some(Place { kind: PlaceKind::Deref(Box::new(pointer)), ty, span })
    }
}

/// Returns the string literals among arguments.
fn texts(arguments: &[ast::Expr]) -> impl Iterator<Item = &str> {
    arguments.iter().filter_map(|argument| match &argument.kind {
        ast::ExprKind::String(text) => Some(text.as_str()),
        _ => None,
    })
}

fn is_literal(expr: &ast::Expr) -> bool {
    matches!(
        expr.kind,
        ast::ExprKind::String(_) | ast::ExprKind::Integer { .. } | ast::ExprKind::Float
    )
}

/// Returns whether an expression may change memory or call a function.
fn has_effect(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Integer { .. }
        | ast::ExprKind::String(_)
        | ast::ExprKind::Name(_)
        | ast::ExprKind::Float
        | ast::ExprKind::SizeofType(_)
        | ast::ExprKind::SizeofExpr(_)
        | ast::ExprKind::AlignofType(_)
        | ast::ExprKind::Offsetof { .. }
        | ast::ExprKind::TypesCompatible(..) => false,
        ast::ExprKind::Step { .. }
        | ast::ExprKind::Assign { .. }
        | ast::ExprKind::Call { .. }
        | ast::ExprKind::Compound { .. }
        | ast::ExprKind::StatementExpr(_)
        | ast::ExprKind::Generic { .. }
        | ast::ExprKind::ChooseExpr { .. }
        | ast::ExprKind::Unsupported(_) => true,
        ast::ExprKind::Unary { operand, .. } | ast::ExprKind::Cast { operand, .. } => {
            has_effect(operand)
        }
        ast::ExprKind::Binary { left, right, .. }
        | ast::ExprKind::LogicalAnd(left, right)
        | ast::ExprKind::LogicalOr(left, right)
        | ast::ExprKind::Comma(left, right)
        | ast::ExprKind::Index { base: left, index: right } => {
            has_effect(left) || has_effect(right)
        }
        ast::ExprKind::Conditional { condition, then, otherwise } => {
            has_effect(condition)
                || then.as_ref().is_some_and(|then| has_effect(then))
                || has_effect(otherwise)
        }
        ast::ExprKind::Member { base, .. } => has_effect(base),
    }
}
