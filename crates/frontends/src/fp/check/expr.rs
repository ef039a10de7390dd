//! Checks expressions.

use fencepost_ir::{BinOp, Span, UnOp, Value};

use super::{Checker, Scope};
use crate::fp::ast::{self, ExprKind as Ast};
use crate::fp::codes;
use crate::fp::foreign;
use crate::fp::limits;
use crate::fp::names::{BUILTINS, Global};
use crate::fp::suggest::did_you_mean;
use crate::fp::tree::{Expr, ExprKind};
use crate::fp::types::{ProcId, Ty};

/// The statements with the syntax of a call.
const WORDS: [&str; 4] = ["assert", "assume", "await", "free"];

impl Checker<'_> {
    /// Checks an expression that must have the type `expected`.
    pub fn expr_of(&mut self, expr: &ast::Expr, expected: Ty) -> Option<Expr> {
        let expr = self.expr(expr)?;
        self.coerce(expr, expected)
    }

    /// Checks an expression.
    pub fn expr(&mut self, expr: &ast::Expr) -> Option<Expr> {
        if limits::error_limit_reached(self.diagnostics) {
            return None;
        }
        let span = expr.span;
        match &expr.kind {
            Ast::Number(number) => self.literal((*number).into(), span),
            Ast::Bool(value) => Some(self.constant(Value::from(*value), Ty::Bool, span)),
            Ast::Null => Some(self.constant(0, Ty::Null, span)),
            Ast::Name(name) => self.name(name, span),
            Ast::Paren(inner) => self.expr(inner).map(|inner| Expr { span, ..inner }),
            Ast::Unary(op, operand) => {
                let operand = match op {
                    UnOp::Not => self.negated(operand)?,
                    UnOp::Neg | UnOp::BitNot => self.operand_of(operand, Ty::Int)?,
                };
                let ty = operand.ty;
                // A negative number is a constant, so that its type is checked as one.
                if let (UnOp::Neg, ExprKind::Const(value)) = (op, &operand.kind) {
                    return self.literal(-ty.number(*value), span);
                }
                let pure = operand.pure;
                Some(Expr { kind: ExprKind::Unary(*op, Box::new(operand)), ty, span, pure })
            }
            Ast::Binary(op, left, right) => self.binary(*op, left, right, span),
            Ast::Select(cond, then, otherwise) => {
                let cond = self.expr_of(cond, Ty::Bool);
                let then = self.expr(then);
                let otherwise = self.expr(otherwise);
                let cond = cond?;
                let (then, otherwise) = self.adapt_literal(then?, otherwise?)?;
                let Some(ty) = then.ty.join(otherwise.ty) else {
                    self.mismatch(&otherwise, then.ty);
                    return None;
                };
                let (then, otherwise) = (self.coerce(then, ty)?, self.coerce(otherwise, ty)?);
                let pure = cond.pure && then.pure && otherwise.pure;
                let parts = (Box::new(cond), Box::new(then), Box::new(otherwise));
                Some(Expr { kind: ExprKind::Select(parts.0, parts.1, parts.2), ty, span, pure })
            }
            Ast::Index(..) | Ast::Field(..) => self.access(expr),
            Ast::Call(name, args) => {
                if !self.require_body(span, "calls") {
                    return None;
                }
                if BUILTINS.contains(&name.text.as_str()) {
                    return self.builtin_update(name, args, span);
                }
                let (id, call) = self.call(name, args, span)?;
                if self.globals.procs[id.index()].returns.is_none() {
                    let message = format!("`{}` returns nothing", name.text);
                    self.diagnostics
                        .error(codes::NO_VALUE, span, message)
                        .label("expected a value")
                        .related(self.globals.declared_at(&name.text), "declared `void` here")
                        .hint("write a result type instead of `void`, and return a value");
                    return None;
                }
                Some(call)
            }
            Ast::Method(base, name, args) => {
                if !self.require_body(span, "accesses with a memory order") {
                    return None;
                }
                let method = self.method(base, name, args, span)?;
                self.method_value(&method, span)
            }
            Ast::ChooseRange(range) => {
                if !self.require_body(span, "`choose`") {
                    return None;
                }
                let lo = self.thread_constant(&range.lo, Some(Ty::Int));
                let hi = self.thread_constant(&range.hi, Some(Ty::Int));
                let kind = ExprKind::ChooseRange(Box::new(lo?), Box::new(hi?), range.inclusive);
                Some(Expr { kind, ty: Ty::Int, span, pure: false })
            }
            Ast::ChooseList(list) => self.choose_list(list, span),
            Ast::New(name) => self.new_record(name, span),
            Ast::At(thread, label) => self.at_label(thread, label, span),
        }
    }

    /// Checks the operand of an operator for operands of type `expected`. Numbers are not converted:
    /// their common type depends on all operands.
    fn operand_of(&mut self, expr: &ast::Expr, expected: Ty) -> Option<Expr> {
        let expr = self.expr(expr)?;
        if !expr.ty.fits(expected) {
            self.mismatch(&expr, expected);
            return None;
        }
        Some(expr)
    }

    /// Returns a number as a constant of the first type that has it: `int`, `i64` or `u64`.
    fn literal(&mut self, number: i128, span: Span) -> Option<Expr> {
        let Some(ty) = Ty::of_literal(number) else {
            self.diagnostics
                .error(codes::BAD_NUMBER, span, "this number does not fit in 64 bits")
                .label("too large")
                .hint("use a number from -9223372036854775808 to 18446744073709551615");
            return None;
        };
        // A number from 2^63 is stored as its bit pattern.
        Some(self.constant(number as Value, ty, span))
    }

    /// Returns whether the scope is a body, which allows effects. Reports an error if not.
    pub(super) fn require_body(&mut self, span: Span, what: &str) -> bool {
        let (code, message) = match self.scope {
            Scope::Body => return true,
            Scope::Constant => (codes::NOT_CONSTANT, format!("a constant cannot contain {what}")),
            Scope::Condition { .. } => {
                (codes::CONDITION, format!("a condition cannot contain {what}"))
            }
        };
        self.diagnostics.error(code, span, message).label("not allowed here");
        false
    }

    fn name(&mut self, name: &str, span: Span) -> Option<Expr> {
        if let Some(id) = self.by_name.get(name).copied() {
            let register = &mut self.registers[id.index()];
            register.read = true;
            if !register.typed {
                return None;
            }
            let ty = register.local.ty.ty;
            return Some(Expr { kind: ExprKind::Local(id), ty, span, pure: true });
        }
        if self.arrays.contains_key(name) {
            // An array without an index. The check of an element reports it.
            let array = ast::Expr { kind: Ast::Name(name.into()), span, height: 1 };
            self.local_element(&array);
            return None;
        }
        if self.param.is_some_and(|p| p.text == name) {
            return Some(Expr { kind: ExprKind::Param, ty: Ty::Int, span, pure: true });
        }
        match self.globals.get(name) {
            Some((Global::Const(value, ty), _)) => Some(self.constant(value, ty, span)),
            Some((Global::Shared(_), declared)) => {
                if self.scope == Scope::Constant {
                    let message = format!("`{name}` is not a constant");
                    self.diagnostics
                        .error(codes::NOT_CONSTANT, span, message)
                        .label("this is a location")
                        .related(declared, "declared here")
                        .hint("use a number or a constant, for example `const N = 3;`");
                    return None;
                }
                let name = ast::Expr { kind: Ast::Name(name.into()), span, height: 1 };
                self.access(&name)
            }
            Some((Global::RecordVar(_), _)) if self.scope != Scope::Constant => {
                let name = ast::Expr { kind: Ast::Name(name.into()), span, height: 1 };
                self.access(&name)
            }
            Some((Global::Invalid, _)) => None,
            // The name may also be a register that an unparsed part assigns.
            Some(_) if self.globals.is_in_unparsed(name) => None,
            Some((other, declared)) => {
                let in_condition = matches!(self.scope, Scope::Condition { .. });
                let message = format!("`{name}` is {}, not a value", other.describe());
                let diagnostic = self.diagnostics.error(codes::UNKNOWN_NAME, span, message);
                diagnostic.label("expected a value").related(declared, "declared here");
                match other {
                    Global::Proc(_) => diagnostic.hint(format!("write `{name}()` to call it")),
                    Global::Thread(_) if in_condition => {
                        diagnostic.hint(format!("write `{name}.r` for register `r` of the thread"))
                    }
                    Global::Thread(_) => diagnostic,
                    Global::Const(..)
                    | Global::Enum(_)
                    | Global::Record(_)
                    | Global::ValueRecord(_)
                    | Global::Shared(_)
                    | Global::RecordVar(_)
                    | Global::Invalid => diagnostic,
                };
                None
            }
            None => {
                if let Some(result) = self.client_result(name, span) {
                    return result;
                }
                self.unknown_name(name, span);
                None
            }
        }
    }

    /// Checks the operand of `!`. Not inlined, because nested expressions need small stack frames.
    #[inline(never)]
    fn negated(&mut self, operand: &ast::Expr) -> Option<Expr> {
        let operand = self.expr(operand)?;
        let zero = match (operand.ty, &operand.kind) {
            (Ty::Int | Ty::Fixed(_) | Ty::Ref(_), ExprKind::Const(_)) => None,
            (Ty::Int | Ty::Fixed(_), _) => Some("0"),
            (Ty::Ref(_), _) => Some("null"),
            (Ty::Bool | Ty::Enum(_) | Ty::Null, _) => None,
        };
        let Some(zero) = zero else {
            return self.coerce(operand, Ty::Bool);
        };
        let text = self.text(operand.span);
        let hint = format!("write `{text} == {zero}` for `!{text}`");
        self.mismatch_hint(&operand, Ty::Bool, Some(hint));
        None
    }

    fn binary(
        &mut self,
        op: BinOp,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Option<Expr> {
        let operands = match op {
            BinOp::And | BinOp::Or => Some(Ty::Bool),
            BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => Some(Ty::Int),
            BinOp::Eq | BinOp::Ne | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => None,
            BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Rem => Some(Ty::Int),
            BinOp::Shl | BinOp::Shr | BinOp::Wide(_) => Some(Ty::Int),
        };
        let (left, right) = match operands {
            Some(ty) => (self.operand_of(left, ty), self.operand_of(right, ty)),
            None => (self.expr(left), self.expr(right)),
        };
        self.combine(op, left?, right?, span)
    }

    /// Combines two checked operands. For `==`, `!=` and bitwise operators, also checks that the
    /// types of the operands are compatible.
    pub(super) fn combine(
        &mut self,
        op: BinOp,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Option<Expr> {
        // The amount of a shift may have another number type.
        let shifts = matches!(op, BinOp::Shl | BinOp::Shr) && right.ty.is_number();
        let (left, right) = match shifts {
            true => (left, right),
            false => self.adapt_literal(left, right)?,
        };
        let joined = if shifts { Some(left.ty) } else { left.ty.join(right.ty) };
        let Some(joined) = joined else {
            // Report the operand that is easier to change: a literal, otherwise the right one.
            if matches!(left.kind, ExprKind::Const(_)) && !matches!(right.kind, ExprKind::Const(_))
            {
                self.mismatch(&left, right.ty);
            } else {
                self.mismatch(&right, left.ty);
            }
            return None;
        };
        let ty = match op {
            BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => match joined {
                Ty::Bool | Ty::Int | Ty::Fixed(_) => joined,
                Ty::Enum(_) | Ty::Ref(_) | Ty::Null => {
                    self.mismatch(&left, Ty::Int);
                    return None;
                }
            },
            BinOp::Add
            | BinOp::Sub
            | BinOp::Mul
            | BinOp::Div
            | BinOp::Rem
            | BinOp::Shl
            | BinOp::Shr
            | BinOp::Wide(_) => match joined {
                Ty::Int | Ty::Fixed(_) => joined,
                Ty::Bool | Ty::Enum(_) | Ty::Ref(_) | Ty::Null => {
                    let wrong = if left.ty.is_number() { &right } else { &left };
                    self.mismatch(&wrong.clone(), Ty::Int);
                    return None;
                }
            },
            BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => Ty::Bool,
            BinOp::And | BinOp::Or => Ty::Bool,
        };
        let (left, right) = self.balance(op, left, right)?;
        let pure = left.pure && right.pure;
        Some(Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span, pure })
    }

    /// Checks a call of a procedure. The procedure may be `void`.
    pub(super) fn call(
        &mut self,
        name: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<(ProcId, Expr)> {
        let (id, declared) = match self.globals.get(&name.text) {
            Some((Global::Proc(id), declared)) => (id, declared),
            Some((Global::Invalid, _)) => return None,
            Some((other, declared)) => {
                let message = format!("`{}` is {}, not a procedure", name.text, other.describe());
                self.diagnostics
                    .error(codes::UNKNOWN_PROCEDURE, name.span, message)
                    .label("cannot be called")
                    .related(declared, "declared here");
                return None;
            }
            None => {
                let procs = self.globals.names(|g| matches!(g, Global::Proc(_)));
                let near = did_you_mean(
                    &name.text,
                    procs.chain(BUILTINS).chain(WORDS),
                    self.diagnostics.len(),
                );
                let message = format!("there is no procedure `{}`", name.text);
                let declare = || format!("declare it: `proc void {}() {{ ... }}`", name.text);
                let foreign = foreign::procedure(&name.text).map(str::to_string);
                self.diagnostics
                    .error(codes::UNKNOWN_PROCEDURE, name.span, message)
                    .label("unknown procedure")
                    .hint(foreign.or(near).unwrap_or_else(declare));
                return None;
            }
        };
        let signature = &self.globals.procs[id.index()];
        if args.len() != signature.params.len() {
            let (expected, found) = (signature.params.len(), args.len());
            let message = format!("`{}` takes {}, not {found}", name.text, arguments(expected));
            self.diagnostics
                .error(codes::ARGUMENTS, span, message)
                .label(arguments(found))
                .related(declared, "declared here");
            return None;
        }
        self.record_call(id, span);
        let checked: Vec<Option<Expr>> = args
            .iter()
            .zip(&signature.params)
            .map(|(arg, (_, ty))| self.expr(arg).and_then(|arg| self.fit(arg, *ty)))
            .collect();
        let checked = checked.into_iter().collect::<Option<Vec<Expr>>>()?;
        // A `void` call has no type. A caller that needs a value must check the signature.
        let ty = signature.returns.map_or(Ty::Null, |ty| ty.ty);
        Some((id, Expr { kind: ExprKind::Call(id, checked), ty, span, pure: false }))
    }
}

/// Returns "1 argument", "2 arguments" and so on.
pub(super) fn arguments(count: usize) -> String {
    if count == 1 { "1 argument".into() } else { format!("{count} arguments") }
}
