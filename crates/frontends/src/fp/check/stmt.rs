//! Checks statements.

use fencepost_ir::{BinOp, FenceKinds, Span};

use super::gap;
use super::jump::Region;
use super::{BodyKind, Checker};
use crate::fp::ast::{self, ExprKind, StmtKind as Ast};
use crate::fp::codes;
use crate::fp::names::{BUILTINS, Global, list_values};
use crate::fp::suggest::did_you_mean;
use crate::fp::tree::{Expr, ExprKind as TreeExpr, Gap, Stmt, StmtKind};
use crate::fp::types::{LocalId, Outside, Ty};
use crate::orders::MemoryOrder;

impl Checker<'_> {
    /// Checks a statement. `wrap` is the span that needs braces if a fence is inserted directly
    /// before the statement.
    pub(super) fn stmt(&mut self, stmt: &ast::Stmt, wrap: Option<Span>) -> Option<Stmt> {
        let span = stmt.span;
        let kind = match &stmt.kind {
            Ast::Block(block) => StmtKind::Block(self.block(block)),
            Ast::Label(name, body) => {
                let fence = matches!(body.kind, Ast::Fence(_));
                let gap = (!fence).then(|| gap::before(body, wrap));
                let body = self.stmt(body, wrap).map(Box::new);
                StmtKind::Label(self.label(name), gap, body?)
            }
            Ast::Declare(_, vars) => StmtKind::Block(self.declaration(vars)),
            Ast::Assign(place, op, value) => self.assign(place, *op, value, span)?,
            Ast::Step(place, op) => {
                let one = ast::Expr { kind: ExprKind::Number(1), span, height: 1 };
                self.assign(place, Some(*op), &one, span)?
            }
            Ast::Eval(expr) => self.eval(expr)?,
            Ast::If { cond, head, then, otherwise } => {
                let cond = self.expr_of(cond, Ty::Bool);
                let then = self.nested_body(then);
                let otherwise = match otherwise {
                    Some(otherwise) => Some(self.nested_body(otherwise)?),
                    None => None,
                };
                StmtKind::If(cond?, *head, then?, otherwise)
            }
            Ast::While { cond, head, body } => {
                let cond = self.expr_of(cond, Ty::Bool);
                let body = self.in_region(Region::Loop, |c| c.nested_body(body));
                StmtKind::While { cond: Some(cond?), head: *head, body: body?, step: None }
            }
            Ast::DoWhile { body, cond, head } => {
                let body = self.in_region(Region::Loop, |c| c.nested_body(body));
                let cond = self.expr_of(cond, Ty::Bool);
                StmtKind::DoWhile(body?, cond?, *head)
            }
            Ast::For { init, cond, step, body } => {
                let init = init.as_ref().map(|init| self.stmt(init, None));
                let head = cond.as_ref().map_or(span, |cond| cond.span);
                let cond = cond.as_ref().map(|cond| self.expr_of(cond, Ty::Bool));
                let (step, body) = self.in_region(Region::Loop, |c| {
                    (
                        step.as_ref().map(|step| c.stmt(step, None).map(Box::new)),
                        c.nested_body(body),
                    )
                });
                let cond = match cond {
                    Some(cond) => Some(cond?),
                    None => None,
                };
                let step = match step {
                    Some(step) => Some(step?),
                    None => None,
                };
                let body = body?;
                let looping = Stmt { kind: StmtKind::While { cond, head, body, step }, span };
                match init {
                    Some(init) => StmtKind::Block(vec![init?, looping]),
                    None => looping.kind,
                }
            }
            Ast::Loop(body) => {
                let body = self.in_region(Region::Loop, |c| c.nested_body(body))?;
                StmtKind::While { cond: None, head: span, body, step: None }
            }
            Ast::Critical(block) => {
                if let Some(atomic) = self.atomic_region() {
                    self.diagnostics
                        .error(
                            codes::CRITICAL_IN_ATOMIC,
                            span,
                            "a `critical` block cannot be inside an `atomic` block",
                        )
                        .label("no other thread can observe this critical section")
                        .related(atomic, "the `atomic` block")
                        .hint("put the `atomic` block inside the `critical` block");
                    return None;
                }
                let code = self.in_region(Region::Critical(block.span), |c| c.block(block));
                StmtKind::Critical(code, block.close)
            }
            Ast::Atomic(block) => {
                let code = self.in_region(Region::Atomic(block.span), |c| c.block(block));
                StmtKind::Atomic(code, block.close)
            }
            Ast::Either(branches) => self.either(branches, span)?,
            Ast::Switch { value, head, cases, close } => {
                self.switch(value, *head, cases, *close)?
            }
            // The parser accepts `when` only as a part of `either`, which is checked above.
            Ast::When(_) => return None,
            Ast::Break => self.loop_jump(StmtKind::Break, span)?,
            Ast::Continue => self.loop_jump(StmtKind::Continue, span)?,
            Ast::Goto(name) => self.goto(name, span)?,
            Ast::Return(value) => self.return_stmt(value.as_ref(), span)?,
            Ast::Skip => StmtKind::Skip,
            Ast::Empty => StmtKind::Block(Vec::new()),
            Ast::Fence(kinds) => {
                let head = Span { end: stmt.end.end, ..span };
                StmtKind::Fence(self.fence(kinds)?, Gap { head, ..gap::before(stmt, wrap) })
            }
            Ast::Drain(place) => StmtKind::Drain(self.place(place)?),
            Ast::Assume(cond) => {
                if self.kind == BodyKind::Finally {
                    self.diagnostics
                        .error(codes::ASSUME_IN_FINALLY, span, "`finally` cannot contain `assume`")
                        .label("the run has ended; it cannot be discarded here")
                        .hint("use `if`, or put the `assume` into a thread");
                }
                StmtKind::Assume(self.expr_of(cond, Ty::Bool)?)
            }
            Ast::Await(cond) => {
                self.record_await(span);
                StmtKind::Await(self.expr_of(cond, Ty::Bool)?)
            }
            Ast::Assert(cond) => {
                self.asserts = true;
                StmtKind::Assert(self.expr_of(cond, Ty::Bool)?)
            }
            Ast::Free(expr) => {
                let checked = self.expr(expr)?;
                let Ty::Ref(pool) = checked.ty else {
                    let message = format!("{} cannot be freed", self.globals.show(checked.ty));
                    self.diagnostics
                        .error(codes::NOT_A_RECORD, expr.span, message)
                        .label("not a reference to a record")
                        .hint("only references to records can be freed");
                    return None;
                };
                StmtKind::Free(pool, checked)
            }
        };
        Some(Stmt { kind, span })
    }

    fn in_region<T>(&mut self, region: Region, check: impl FnOnce(&mut Self) -> T) -> T {
        self.regions.push(region);
        let result = check(self);
        self.regions.pop();
        result
    }

    fn declaration(&mut self, vars: &[ast::Declarator]) -> Vec<Stmt> {
        let mut code = Vec::new();
        // Registers start as 0, so a reset matters only if it can run twice.
        let resets = self.regions.contains(&Region::Loop) || !self.labels.is_empty();
        for var in vars {
            let name = &var.name;
            if let Some(array) = self.arrays.get(&name.text).filter(|_| !var.dims.is_empty()) {
                let array = array.clone();
                code.extend(self.array_values(var, &array, resets));
                continue;
            }
            let Some(id) = self.by_name.get(&name.text).copied() else {
                continue;
            };
            let value = match &var.init {
                Some(ast::Initial::One(value)) => Some(value),
                Some(ast::Initial::List(list, span)) => {
                    list_values(list, *span, &[], name, self.diagnostics);
                    continue;
                }
                None => None,
            };
            let span = value.map_or(name.span, |value| name.span.to(value.span));
            let kind = match value {
                Some(value) => {
                    self.registers[id.index()].local.assigned = true;
                    if !self.registers[id.index()].typed {
                        self.expr(value);
                        continue;
                    }
                    let Some(kind) = self.assign_register(id, None, value, name.span, span) else {
                        continue;
                    };
                    kind
                }
                None if !self.registers[id.index()].local.ty.contains(0) => {
                    self.zero_outside_range(name);
                    continue;
                }
                None if resets => StmtKind::Reset(id),
                None => continue,
            };
            code.push(Stmt { kind, span });
        }
        code
    }

    pub(super) fn zero_outside_range(&mut self, name: &ast::Name) {
        self.diagnostics
            .error(codes::BAD_CONSTANT, name.span, format!("register `{}` starts as 0", name.text))
            .label("0 is outside the range of this register")
            .hint("write an initial value, or use a range that contains 0");
    }

    /// Checks an assignment to a register whose type is known.
    fn assign_register(
        &mut self,
        id: LocalId,
        op: Option<BinOp>,
        value: &ast::Expr,
        place: Span,
        span: Span,
    ) -> Option<StmtKind> {
        let ty = self.registers[id.index()].local.ty;
        let mut value = self.expr(value)?;
        if let Some(op) = op {
            let kind = TreeExpr::Local(id);
            let old = Expr { kind, ty: ty.ty, span: place, pure: true };
            let combined = self.combine(op, old, value.clone(), span)?;
            if ty.ty != Ty::Int || ty.outside != Outside::Fault {
                value = combined;
            } else {
                let value = self.coerce(value, Ty::Int)?;
                return Some(StmtKind::Modify(id, op, value));
            }
        }
        let value = self.fit(value, ty)?;
        Some(match ty.range.filter(|_| ty.outside == Outside::Block) {
            Some(range) => StmtKind::AssignWaiting(id, value, range),
            None => StmtKind::Assign(id, value),
        })
    }

    fn assign(
        &mut self,
        place: &ast::Expr,
        op: Option<BinOp>,
        value: &ast::Expr,
        span: Span,
    ) -> Option<StmtKind> {
        if let ExprKind::Name(name) = &place.kind {
            if let Some(id) = self.by_name.get(name).copied() {
                self.registers[id.index()].local.assigned = true;
                if !self.registers[id.index()].typed {
                    self.expr(value);
                    return None;
                }
                return self.assign_register(id, op, value, place.span, span);
            }
            let is_array = self.arrays.contains_key(name);
            if !is_array && !self.assignable(name, place.span) {
                return None;
            }
        }
        if let Some(result) = self.assign_element(place, op, value, span) {
            return result;
        }
        let target = self.place(place);
        let Some(target) = target else {
            self.expr(value);
            return None;
        };
        match op {
            None => {
                let value = self.expr(value)?;
                let value = self.fit(value, target.ty)?;
                Some(StmtKind::Store(target, value))
            }
            Some(op) => {
                let kind = TreeExpr::Load(target.clone());
                let old = Expr { kind, ty: target.ty.ty, span: place.span, pure: false };
                let value = self.operand(op, old, value, span)?;
                Some(StmtKind::StoreModify(target, op, value))
            }
        }
    }

    /// Checks the right side of `old op= value`.
    fn operand(&mut self, op: BinOp, old: Expr, value: &ast::Expr, span: Span) -> Option<Expr> {
        let value = self.expr(value)?;
        let ty = old.ty;
        // The right operand may be converted.
        let right = match self.combine(op, old, value, span)?.kind {
            TreeExpr::Binary(_, _, right) => *right,
            _ => return None,
        };
        if ty == Ty::Int { self.coerce(right, ty) } else { Some(right) }
    }

    /// Returns whether a name that is not a register can be assigned to. Reports an error if not.
    fn assignable(&mut self, name: &str, span: Span) -> bool {
        if let Some(param) = self.param.filter(|p| p.text == name) {
            let declared = param.span;
            self.diagnostics
                .error(
                    codes::NOT_ASSIGNABLE,
                    span,
                    format!("`{name}` is the parameter of the thread and never changes"),
                )
                .label("cannot be assigned to")
                .related(declared, "declared here")
                .hint("use a register with another name");
            return false;
        }
        match self.globals.get(name) {
            Some((Global::Const(..), declared)) => {
                self.diagnostics
                    .error(codes::NOT_ASSIGNABLE, span, format!("`{name}` is a constant"))
                    .label("cannot be assigned to")
                    .related(declared, "declared here")
                    .hint("use a register or a location with another name");
                false
            }
            Some((Global::Shared(_) | Global::RecordVar(_), _)) => true,
            Some((Global::Invalid, _)) => false,
            Some((
                Global::Enum(_)
                | Global::Record(_)
                | Global::ValueRecord(_)
                | Global::Proc(_)
                | Global::Thread(_),
                _,
            ))
            | None => {
                self.unknown_name(name, span);
                false
            }
        }
    }

    fn eval(&mut self, expr: &ast::Expr) -> Option<StmtKind> {
        if let ExprKind::Method(base, name, args) = &expr.kind {
            let method = self.method(base, name, args, expr.span)?;
            return self.method_stmt(&method, expr.span);
        }
        let ExprKind::Call(name, args) = &expr.kind else {
            return self.expr(expr).map(StmtKind::Eval);
        };
        if BUILTINS.contains(&name.text.as_str()) {
            return self.expr(expr).map(StmtKind::Eval);
        }
        self.call(name, args, expr.span).map(|(_, call)| StmtKind::Eval(call))
    }

    fn fence(&mut self, kinds: &[ast::Name]) -> Option<FenceKinds> {
        let mut all: Option<FenceKinds> = None;
        for name in kinds {
            let single = FenceKinds::SINGLE.iter().find(|(_, n)| *n == name.text).map(|(k, _)| *k);
            let full = (name.text == "full").then_some(FenceKinds::FULL);
            let order = MemoryOrder::by_name(&name.text).map(MemoryOrder::fence_kinds);
            let order = order.filter(|kinds| *kinds != FenceKinds::default());
            let Some(kind) = single.or(full).or(order) else {
                let known = FenceKinds::SINGLE.iter().map(|(_, n)| *n).chain(["full"]);
                let known = known.chain(["acquire", "release", "acq_rel", "seq_cst"]);
                let near = did_you_mean(&name.text, known, self.diagnostics.len());
                let hint = "the kinds are `full`, `store_store`, `store_load`, `load_load`, \
                    `load_store`, and `acquire`, `release`, `acq_rel`, `seq_cst`";
                let message = format!("there is no fence kind `{}`", name.text);
                self.diagnostics
                    .error(codes::UNKNOWN_WORD, name.span, message)
                    .label("unknown fence kind")
                    .hint(near.unwrap_or(hint.into()));
                return None;
            };
            all = Some(all.map_or(kind, |all| all.union(kind)));
        }
        Some(all.unwrap_or(FenceKinds::FULL))
    }
}
