//! Inlines calls.

use std::collections::BTreeMap;

use fencepost_ir::{Expr, Op, Reg, Span, Value};

use super::labels::Kind;
use super::thread::{Frame, Lowerer, Slot};
use crate::fp::tree;
use crate::fp::types::{LocalId, ProcId};

impl<'a> Lowerer<'_, 'a> {
    /// Lowers a call. All arguments are evaluated before the first parameter is assigned.
    pub(super) fn call(
        &mut self,
        proc: ProcId,
        arguments: &'a [tree::Expr],
        span: Span,
        result: Option<Reg>,
    ) {
        let arguments = arguments.iter().map(|argument| self.value(argument)).collect();
        self.inline(proc, arguments, span, result);
    }

    /// Inlines the body of a procedure. The returned value is stored in `result`.
    pub(super) fn inline(
        &mut self,
        proc: ProcId,
        arguments: Vec<Expr<Reg>>,
        span: Span,
        result: Option<Reg>,
    ) {
        self.nested(span, |lowerer| lowerer.inline_body(proc, arguments, span, result));
    }

    fn inline_body(
        &mut self,
        proc: ProcId,
        arguments: Vec<Expr<Reg>>,
        span: Span,
        result: Option<Reg>,
    ) {
        let procedure = &self.context.unit.procs[proc.index()];
        let mut arguments = arguments.into_iter();
        let mut slots = Vec::new();
        for (at, local) in procedure.body.locals.iter().enumerate() {
            let id = LocalId(at as u32);
            let argument = arguments.next();
            if let Some(argument) = &argument
                && !local.assigned
                && self.is_alias(argument, local.ty.range)
            {
                slots.push(Slot::Alias(argument.clone()));
                continue;
            }
            let known = self.procedures.get(&(proc, id)).copied();
            let reg = known.unwrap_or_else(|| {
                let name = format!("{}.{}", procedure.name, local.name);
                let reg = self.register(name, local.ty, span);
                self.procedures.insert((proc, id), reg);
                reg
            });
            slots.push(Slot::Reg(reg));
            match argument {
                Some(expr) => {
                    self.emit(Op::Assign { reg, expr }, span, Kind::Parameter(id.0));
                }
                // A register starts as 0 in each call. The assembler removes this reset if the
                // register is written before it is read.
                None if local.ty.contains(0) => self.emit_reset(reg, local.span),
                None => {}
            }
        }
        let frame = Frame {
            function: &procedure.name,
            slots,
            labels: (0..procedure.body.labels.len()).map(|_| self.code.target()).collect(),
            loops: Vec::new(),
            end: self.code.target(),
            result,
            critical: self.critical,
            awaiting: None,
            control_points: BTreeMap::new(),
        };
        let end = frame.end;
        let caller = std::mem::replace(&mut self.frame, frame);
        self.stmts(&procedure.body.code);
        self.frame = caller;
        self.code.bind(end);
    }

    /// Returns whether uses of the parameter can read the argument directly.
    fn is_alias(&self, argument: &Expr<Reg>, range: Option<(Value, Value)>) -> bool {
        match argument {
            Expr::Const(value) => range.is_none_or(|(lo, hi)| lo <= *value && *value <= hi),
            Expr::Var(_) => range.is_none(),
            Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => false,
        }
    }
}
