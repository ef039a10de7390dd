//! Calls: functions are inlined.
//!
//! Recursion is followed up to a bound. A call through a pointer whose value is not known compares
//! the pointer with every function whose address is used as a value and that has the same number of
//! parameters.
//!
//! A function whose name begins with `__VERIFIER_atomic_` is one atomic block, as in SV-COMP.

use fencepost_ir::{BinOp, Expr, Fault, Op, Span};

use super::arithmetic::{Val, binary};
use super::expressions::Value;
use super::layout::scalar_type;
use super::memory::{function_address, function_at};
use super::state::State;
use super::thread::{Frame, GotoLabel, Lowerer, Slot};
use crate::c::typed::{Expr as TypedExpr, ExprKind, Function, FunctionId, Type, TypeKind};

/// The largest number of nested calls of one function.
const MAX_RECURSION: usize = 8;

impl<'p> Lowerer<'_, 'p> {
    /// Evaluates a call of a function of the program.
    pub(super) fn call(
        &mut self,
        function: &'p TypedExpr,
        arguments: &'p [TypedExpr],
        call: &'p TypedExpr,
        hint: Option<&Type>,
    ) -> Value {
        let pointer = match function.kind {
            ExprKind::Function(id) => Expr::Const(function_address(id.0)),
            _ => self.value(function),
        };
        let mut values = Vec::new();
        for argument in arguments {
            let value = self.eval(argument, None);
            values.push(self.keep_argument(value, argument));
        }
        if let Some(address) = pointer.as_const() {
            return match function_at(self.pass.program, address) {
                Some(id) => self.inline(FunctionId(id), values, call.span, hint),
                None => self.invalid_call(call),
            };
        }
        self.call_one_of(pointer, values, call, hint)
    }

    /// Keeps the value of an argument while later arguments are evaluated.
    fn keep_argument(&mut self, value: Value, argument: &TypedExpr) -> Value {
        match (value, scalar_type(&argument.ty)) {
            (Value::Scalar(value), Some(_)) => Value::Scalar(value),
            (value, _) => value,
        }
    }

    /// Calls the function that a pointer points to.
    fn call_one_of(
        &mut self,
        pointer: Val,
        arguments: Vec<Value>,
        call: &'p TypedExpr,
        hint: Option<&Type>,
    ) -> Value {
        let results: Vec<_> = match scalar_type(&call.ty) {
            Some(ty) => vec![self.temporary(ty)],
            None => {
                let scalars = self.pass.scalars(&call.ty, call.span);
                scalars.iter().map(|scalar| self.temporary(scalar.ty)).collect()
            }
        };
        let candidates: Vec<u32> = self
            .pass
            .plan
            .escaped_functions
            .iter()
            .copied()
            .filter(|at| {
                let function = self.pass.program.functions.get(*at as usize);
                function.is_some_and(|f| f.parameters as usize == arguments.len())
            })
            .collect();
        let done = self.code.target();
        let mut after: State = None;
        self.conditional += 1;
        for candidate in candidates {
            let (yes, no) = (self.code.target(), self.code.target());
            let address = Expr::Const(function_address(candidate));
            let is_it = binary(BinOp::Eq, pointer.clone(), address);
            let (here, other) = self.branch_value(is_it, yes, no, call.span);
            self.code.bind(yes);
            self.state = here;
            let value = self.inline(FunctionId(candidate), arguments.clone(), call.span, hint);
            for (number, (reg, value)) in results.iter().zip(value.scalars()).enumerate() {
                self.assign(*reg, value, call.span, number as u32);
            }
            let state = self.state.clone();
            self.jump(done, call.span);
            after = self.merge(after, state, call.span);
            self.code.bind(no);
            self.state = other;
        }
        // The assertion reads the pointer, so that the next pass knows what it may point to.
        let never = binary(BinOp::Lt, pointer.clone(), pointer);
        self.note_fault(Fault::InvalidCall, call.span, "invalid call");
        self.emit(Op::Assert(never), call.span, "invalid call");
        self.cut_run(call.span, "after failure", 0);
        self.conditional -= 1;
        self.code.bind(done);
        self.state = after;
        let values = results.iter().map(|reg| self.register_value(*reg)).collect();
        match (&call.ty.kind, scalar_type(&call.ty)) {
            (TypeKind::Void, _) => Value::Void,
            (_, Some(_)) => Value::Scalar(Value::Record(values).scalar()),
            (_, None) => Value::Record(values),
        }
    }

    /// Emits the failure of a call through a pointer that is not the address of a function.
    fn invalid_call(&mut self, call: &TypedExpr) -> Value {
        self.require(Expr::Const(0), Fault::InvalidCall, call.span, "invalid call");
        match scalar_type(&call.ty) {
            Some(_) => Value::Scalar(Expr::Const(0)),
            None => Value::Void,
        }
    }

    /// Inlines a function.
    pub(super) fn inline(
        &mut self,
        id: FunctionId,
        arguments: Vec<Value>,
        span: Span,
        hint: Option<&Type>,
    ) -> Value {
        let Some(function) = self.pass.program.functions.get(id.0 as usize) else {
            return Value::Void;
        };
        if !self.is_live() {
            return Value::Void;
        }
        let nested = self.frames.iter().filter(|frame| frame.id == id).count();
        if nested >= MAX_RECURSION {
            let name = &function.name;
            let text = format!("recursion of `{name}` deeper than {MAX_RECURSION} calls");
            self.reach_bound(text, span);
            return Value::Void;
        }
        let result = &function.ty.result;
        let scalars = match scalar_type(result) {
            Some(ty) => vec![ty],
            None => self.pass.scalars(result, span).iter().map(|s| s.ty).collect(),
        };
        let results: Vec<_> = scalars.into_iter().map(|ty| self.temporary(ty)).collect();
        let is_block = function.name.starts_with("__VERIFIER_atomic_");
        if is_block {
            self.begin_atomic(span);
        }
        let shown = match self.frame().shown {
            Some(shown) => Some(shown),
            None => function.built_in.then_some(span),
        };
        let (may_return, loops) = (self.may_return, self.loops);
        let hint = hint.cloned();
        let lowered = self.nested(span, |lowerer| {
            lowerer.run_function(id, function, arguments, results, shown, hint, span)
        });
        let Some(values) = lowered else { return Value::Void };
        (self.may_return, self.loops) = (may_return, loops);
        if is_block {
            self.end_atomic(span);
        }
        match (&result.kind, scalar_type(result)) {
            (TypeKind::Void, _) => Value::Void,
            (_, Some(_)) => Value::Scalar(Value::Record(values).scalar()),
            (_, None) => Value::Record(values),
        }
    }

    /// Lowers the body of a function in a new frame. Returns the scalars of the result.
    #[expect(clippy::too_many_arguments, reason = "the parts of one call")]
    pub(super) fn run_function(
        &mut self,
        id: FunctionId,
        function: &'p Function,
        arguments: Vec<Value>,
        results: Vec<fencepost_ir::Reg>,
        shown: Option<Span>,
        hint: Option<Type>,
        span: Span,
    ) -> Vec<Val> {
        let end = self.code.target();
        let labels = function.labels.iter().map(|_| GotoLabel {
            target: self.code.target(),
            is_bound: false,
            atomic: None,
        });
        let labels = labels.collect();
        self.frames.push(Frame {
            id,
            function,
            slots: vec![Slot::None; function.locals.len()],
            scopes: vec![Vec::new()],
            objects: Vec::new(),
            labels,
            enclosing: Vec::new(),
            end,
            end_state: None,
            results,
            shown,
            hint,
            at_labels: Default::default(),
        });
        self.pass_arguments(function, arguments, span);
        self.declare_before_jumps(function);
        if !function.labels.is_empty() {
            self.know_at_labels(function);
        }
        let kept = self.temporaries.len();
        self.body(function);
        self.release_temporaries(kept);
        // The end of the body is a `return`.
        let state = self.state.take();
        let end_state = self.frame_mut().end_state.take();
        self.state = self.merge(state, end_state, function.close);
        self.bind_unused_labels();
        self.code.bind(end);
        if self.frames.len() > 1 {
            let objects = self.frame().objects.clone();
            self.end_lifetimes(&objects, function.close);
        }
        let results = std::mem::take(&mut self.frame_mut().results);
        let values = results.iter().map(|reg| self.register_value(*reg)).collect();
        while !self.frame().scopes.is_empty() {
            self.end_scope();
        }
        self.frames.pop();
        values
    }

    /// Gives the parameters the values of the arguments.
    fn pass_arguments(&mut self, function: &'p Function, arguments: Vec<Value>, span: Span) {
        for (at, argument) in arguments.into_iter().enumerate().take(function.parameters as usize) {
            let number = at as u32;
            match self.declare(number) {
                Slot::Register(reg, ty) => {
                    let value = self.converted(argument.scalar(), ty);
                    self.assign_parameter(reg, value, span, number);
                }
                Slot::Object(id) => {
                    let Some(parameter) = function.locals.get(at) else { continue };
                    let spot = super::places::Spot::Object { id, offset: 0, steps: Vec::new() };
                    self.store_record(&spot, &parameter.ty, argument.scalars(), span);
                }
                Slot::None => {}
            }
        }
    }

    fn assign_parameter(&mut self, reg: fencepost_ir::Reg, value: Val, span: Span, number: u32) {
        let constant = value.as_const();
        let op = fencepost_ir::Op::Assign { reg, expr: value };
        self.emit_numbered(op, span, "parameter", number);
        self.know(reg, constant);
    }
}
