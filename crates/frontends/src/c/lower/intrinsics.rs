//! Calls of functions with a special meaning.

use fencepost_ir::{Expr, Op, Span};

use super::access::AccessMode;
use super::arithmetic::Val;
use super::expressions::Value;
use super::thread::Lowerer;
use crate::c::typed::{Expr as TypedExpr, ExprKind, Intrinsic, Type};

impl<'p> Lowerer<'_, 'p> {
    /// Evaluates a call of a function with a special meaning.
    pub(super) fn intrinsic(
        &mut self,
        intrinsic: &'p Intrinsic,
        expr: &'p TypedExpr,
        hint: Option<&Type>,
        is_used: bool,
    ) -> Value {
        let span = expr.span;
        Value::Scalar(match intrinsic {
            Intrinsic::AtomicLoad { pointer, order } => {
                let (cell, ty) = self.pointee_cell(pointer);
                let order = self.order(order);
                self.load(&cell, &ty, AccessMode::Ordered(order), span)
            }
            Intrinsic::AtomicStore { pointer, value, order } => {
                let (cell, ty) = self.pointee_cell(pointer);
                let value = self.value(value);
                let order = self.order(order);
                let mode = AccessMode::Ordered(order);
                self.store(&cell, value, Self::scalar_of(&ty), mode, (span, 0));
                return Value::Void;
            }
            Intrinsic::AtomicExchange { pointer, value, order } => {
                let (cell, ty) = self.pointee_cell(pointer);
                let value = self.value(value);
                let order = self.order(order);
                self.swap(&cell, Self::scalar_of(&ty), value, order, (span, is_used))
            }
            Intrinsic::AtomicCompareExchange {
                pointer,
                expected,
                desired,
                success,
                failure,
                ..
            } => self.compare_exchange((pointer, expected, desired), (success, failure), span),
            Intrinsic::AtomicCompareSwap { pointer, expected, desired, order, yields } => {
                let operands = (pointer, expected, desired);
                self.compare_swap(operands, order, *yields, (span, is_used))
            }
            Intrinsic::AtomicFetch { op, pointer, value, order, yields } => {
                let (cell, ty) = self.pointee_cell(pointer);
                let value = self.value(value);
                let order = self.order(order);
                let ty = Self::scalar_of(&ty);
                let amount = self.converted(value, ty);
                self.fetch(&cell, ty, *op, amount, order, (*yields, is_used), span)
            }
            Intrinsic::Fence { order } => {
                let kinds = self.order(order).order.fence_kinds();
                self.written_fence(kinds, span);
                return Value::Void;
            }
            Intrinsic::MachineFence(kinds) => {
                self.written_fence(*kinds, span);
                return Value::Void;
            }
            Intrinsic::ThreadCreate { function, argument } => {
                self.create_thread(function, argument, span)
            }
            Intrinsic::ThreadJoin { thread } => self.join_thread(thread, span),
            Intrinsic::ThreadExit { value } => {
                let value = self.value(value);
                self.exit_thread(value, span);
                return Value::Void;
            }
            Intrinsic::ThreadSelf => Expr::Const(i64::from(self.thread)),
            Intrinsic::Assume(condition) => {
                let condition = self.value(condition);
                self.assume(condition, span);
                return Value::Void;
            }
            Intrinsic::Assert { condition, .. } => {
                self.assertion(condition, span);
                return Value::Void;
            }
            Intrinsic::Fail { .. } => {
                self.assert(Expr::Const(0), span, "fail");
                return Value::Void;
            }
            Intrinsic::Exit => {
                self.cut_run(span, "exit", 0);
                return Value::Void;
            }
            Intrinsic::Nondet => self.nondet(&expr.ty, span),
            Intrinsic::AtomicBegin => {
                self.begin_atomic(span);
                return Value::Void;
            }
            Intrinsic::AtomicEnd => {
                self.end_atomic(span);
                return Value::Void;
            }
            Intrinsic::Allocate { size, zero } => self.allocate(size, *zero, hint, span),
            Intrinsic::Reallocate { pointer, size } => self.reallocate(pointer, size, hint, span),
            Intrinsic::Free { pointer } => {
                let pointer = self.value(pointer);
                self.free(pointer, span);
                return Value::Void;
            }
            Intrinsic::MemoryCopy { target, source, size } => {
                self.copy_memory(target, source, size, span)
            }
            Intrinsic::MemorySet { target, value, size } => {
                self.set_memory(target, value, size, span)
            }
            Intrinsic::NoEffect { arguments } => {
                arguments.iter().for_each(|argument| {
                    self.eval(argument, None);
                });
                Expr::Const(0)
            }
        })
    }

    /// Emits an assertion. The last conjunct is one statement, so that its values are shown.
    fn assertion(&mut self, condition: &'p TypedExpr, span: Span) {
        if !self.is_pure(condition)
            && let ExprKind::And(..) | ExprKind::Or(..) = condition.kind
        {
            let (yes, no) = (self.code.target(), self.code.target());
            let (holds, fails) = self.branch_on(condition, yes, no);
            self.code.bind(no);
            self.state = fails;
            self.assert(Expr::Const(0), span, "assert");
            self.code.bind(yes);
            self.state = holds;
            return;
        }
        let condition: Val = self.value(condition);
        self.pass.has_assertions = true;
        if condition.as_const().is_none() {
            self.emit(Op::Assert(condition), span, "assert");
        } else {
            self.assert(condition, span, "assert");
        }
    }
}
