//! Checks the conditions of `final` and `invariant`, and the expressions of `observe`.

use fencepost_ir::{Span, Value};

use super::place::split_indices;
use super::{Checker, Scope};
use crate::fp::ast::{self, ExprKind as Ast};
use crate::fp::codes;
use crate::fp::names::Global;
use crate::fp::suggest::did_you_mean;
use crate::fp::tree::{Expr, ExprKind};
use crate::fp::types::{LocalId, ProcId, TemplateId, Ty};

impl Checker<'_> {
    /// Checks one expression of `observe`.
    pub(super) fn observable(&mut self, expr: &ast::Expr) -> Option<Expr> {
        if let Ast::Name(name) = &expr.kind
            && let Some((Global::Shared(id), _)) = self.globals.get(name)
            && !self.globals.shared[id.index()].dims.is_empty()
        {
            let kind = ExprKind::WholeArray(id);
            return Some(Expr { kind, ty: Ty::Int, span: expr.span, pure: true });
        }
        let checked = self.expr(expr)?;
        let single = matches!(
            checked.kind,
            ExprKind::Load(_) | ExprKind::ThreadRegister(..) | ExprKind::ClientResult(..)
        );
        if !single {
            self.diagnostics
                .error(
                    codes::CONDITION,
                    expr.span,
                    "only locations, registers and results of operations can be observed",
                )
                .label("neither a location nor a register")
                .hint("write names, for example `observe x, a[1], p(0).r;`");
        }
        single.then_some(checked)
    }

    /// Checks `p.r` or `p(0).r` in a condition. Returns `None` if the expression has another form.
    pub(super) fn thread_register(&mut self, expr: &ast::Expr) -> Option<Option<Expr>> {
        let Scope::Condition { registers } = self.scope else {
            return None;
        };
        let (field, indices) = split_indices(expr);
        let Ast::Field(base, register) = &field.kind else {
            return None;
        };
        let (thread, span, args) = if let Ast::Name(name) = &base.kind {
            (name, base.span, None)
        } else if let Ast::Call(name, args) = &base.kind {
            (&name.text, name.span, Some(args.as_slice()))
        } else {
            return None;
        };
        let shared = |global| matches!(global, Global::Shared(_) | Global::RecordVar(_));
        if args.is_none() && self.globals.get(thread).is_some_and(|(global, _)| shared(global)) {
            return None;
        }
        // An element of a local array is a register of its own.
        let mut register = register.clone();
        for index in indices {
            match self.globals.constant_int(index, self.source, self.diagnostics) {
                Some(at) => register.text = format!("{}[{at}]", register.text),
                None => return Some(None),
            }
        }
        Some(self.register_of(thread, span, args, &register, expr.span, registers))
    }

    fn register_of(
        &mut self,
        thread: &str,
        thread_span: Span,
        args: Option<&[ast::Expr]>,
        register: &ast::Name,
        span: Span,
        allowed: bool,
    ) -> Option<Expr> {
        let id = self.thread_template(thread, thread_span)?;
        if !allowed {
            self.diagnostics
                .error(codes::CONDITION, span, "an invariant can mention only locations")
                .label("this is a register")
                .hint("use `assert` inside the thread, or copy the register to a location");
            return None;
        }
        let instance = self.instance(id, args, thread_span, ".r")?;
        let locals = self.threads.get(id.index()).map_or(&[][..], Vec::as_slice);
        let Some(at) = locals.iter().position(|l| l.name == register.text) else {
            if self.globals.is_in_unparsed(&register.text) {
                return None;
            }
            let near = did_you_mean(
                &register.text,
                locals.iter().map(|l| l.name.as_str()),
                self.diagnostics.len(),
            );
            let message = format!("thread `{thread}` has no register `{}`", register.text);
            self.diagnostics
                .error(codes::UNKNOWN_NAME, register.span, message)
                .label("unknown register")
                .hint = near;
            return None;
        };
        let local = LocalId(at as u32);
        let ty = locals[at].ty.ty;
        self.mentioned.push((id, local));
        Some(Expr { kind: ExprKind::ThreadRegister(id, instance, local), ty, span, pure: true })
    }

    /// Returns the template of a thread with this name.
    pub(super) fn thread_template(&mut self, thread: &str, span: Span) -> Option<TemplateId> {
        match self.globals.get(thread) {
            Some((Global::Thread(id), _)) => Some(id),
            Some((Global::Invalid, _)) => None,
            Some(_) | None => {
                let threads = self.globals.names(|g| matches!(g, Global::Thread(_)));
                let near = did_you_mean(thread, threads, self.diagnostics.len());
                let message = format!("there is no thread `{thread}`");
                self.diagnostics
                    .error(codes::UNKNOWN_THREAD, span, message)
                    .label("unknown thread")
                    .hint = near;
                None
            }
        }
    }

    /// Returns the parameter value of the mentioned instance of a template. `rest` follows the
    /// thread in the condition.
    pub(super) fn instance(
        &mut self,
        id: TemplateId,
        args: Option<&[ast::Expr]>,
        span: Span,
        rest: &str,
    ) -> Option<Option<Value>> {
        let template = &self.globals.templates[id.index()];
        let name = &template.name;
        match (&template.param, args) {
            (None, None) => Some(None),
            (None, Some(_)) => {
                self.diagnostics
                    .error(codes::UNKNOWN_THREAD, span, format!("`{name}` is a single thread"))
                    .label("has no parameter")
                    .hint(format!("write `{name}{rest}`"));
                None
            }
            (Some((_, lo, _)), None) => {
                self.diagnostics
                    .error(codes::UNKNOWN_THREAD, span, format!("`{name}` has several threads"))
                    .label("one of them must be selected")
                    .hint(format!("write `{name}({lo}){rest}`"));
                None
            }
            (Some((_, lo, hi)), Some([arg])) => {
                let value = self.globals.constant_int(arg, self.source, self.diagnostics)?;
                if value < *lo || value > *hi {
                    self.diagnostics
                        .error(
                            codes::UNKNOWN_THREAD,
                            arg.span,
                            format!("there is no thread `{name}({value})`"),
                        )
                        .label("unknown thread")
                        .hint(format!("the threads are `{name}({lo})` to `{name}({hi})`"));
                    return None;
                }
                Some(Some(value))
            }
            (Some((_, lo, _)), Some(_)) => {
                self.diagnostics
                    .error(codes::UNKNOWN_THREAD, span, format!("`{name}` has one parameter"))
                    .label("wrong number of values")
                    .hint(format!("write `{name}({lo}){rest}`"));
                None
            }
        }
    }

    /// Checks the result of an operation: `d1` is the result of the first use of operation `d` in a
    /// client. Returns `None` if the name has another form.
    pub(super) fn client_result(&mut self, name: &str, span: Span) -> Option<Option<Expr>> {
        let Scope::Condition { registers } = self.scope else {
            return None;
        };
        let mut chars = name.chars();
        let letter = chars.next()?;
        let number = chars.as_str().parse::<u32>().ok().filter(|n| *n > 0)?;
        let at = self.globals.procs.iter().position(|p| p.letter == Some(letter))?;
        let signature = &self.globals.procs[at];
        let Some(returns) = signature.returns else {
            let message = format!("operation `{}` returns nothing", signature.name);
            self.diagnostics
                .error(codes::NO_VALUE, span, message)
                .label("there is no result")
                .related(signature.span, "declared `void` here")
                .hint("write a result type instead of `void`");
            return Some(None);
        };
        if !registers {
            self.diagnostics
                .error(codes::CONDITION, span, "an invariant can mention only locations")
                .label("this is the result of an operation")
                .hint("use `final` for a condition on results");
            return Some(None);
        }
        let kind = ExprKind::ClientResult(ProcId(at as u32), number);
        Some(Some(Expr { kind, ty: returns.ty, span, pure: true }))
    }
}
