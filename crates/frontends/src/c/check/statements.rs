//! Statements.

use fencepost_ir::Span;

use super::Checker;
use super::constants::wrap;
use super::conversions::{Purpose, convert, int_type, promoted};
use super::functions::Switch;
use crate::c::ast;
use crate::c::codes;
use crate::c::typed::{Expr, Stmt, StmtKind, TypeKind};

impl Checker<'_> {
    /// Checks a statement and appends it to `out`. A declaration may become several statements.
    ///
    /// This function and [`Checker::statement_kind`] are on the stack once for each nesting level,
    /// so their arms are calls without temporaries.
    pub(super) fn statement(&mut self, stmt: &ast::Stmt, out: &mut Vec<Stmt>) {
        match &stmt.kind {
            ast::StmtKind::Declaration(declaration) => self.declaration(declaration, out),
            ast::StmtKind::StaticAssert { condition } => self.static_assert(condition),
            ast::StmtKind::Return(value) => self.return_statement(value.as_ref(), stmt, out),
            ast::StmtKind::Empty
            | ast::StmtKind::Expr(_)
            | ast::StmtKind::Block(_)
            | ast::StmtKind::If { .. }
            | ast::StmtKind::While { .. }
            | ast::StmtKind::DoWhile { .. }
            | ast::StmtKind::For { .. }
            | ast::StmtKind::Switch { .. }
            | ast::StmtKind::Case { .. }
            | ast::StmtKind::Default { .. }
            | ast::StmtKind::Label { .. }
            | ast::StmtKind::Goto(_)
            | ast::StmtKind::Break
            | ast::StmtKind::Continue
            | ast::StmtKind::Asm(_) => {
                let kind = self.statement_kind(stmt);
                out.extend(kind.map(|kind| Stmt { kind, span: stmt.span }));
            }
        }
    }

    fn statement_kind(&mut self, stmt: &ast::Stmt) -> Option<StmtKind> {
        match &stmt.kind {
            ast::StmtKind::Expr(expr) => self.effect_statement(expr),
            ast::StmtKind::Block(block) => Some(self.block(block)),
            ast::StmtKind::If { condition, then, otherwise } => {
                self.if_statement(condition, then, otherwise.as_deref())
            }
            ast::StmtKind::While { condition, body } => self.while_statement(condition, body),
            ast::StmtKind::DoWhile { body, condition } => self.do_statement(body, condition),
            ast::StmtKind::For { first, condition, step, body } => {
                self.for_statement(first.as_deref(), condition.as_ref(), step.as_ref(), body)
            }
            ast::StmtKind::Switch { value, body } => self.switch(value, body),
            ast::StmtKind::Case { value, last, body } => {
                self.case(value, last.as_ref(), body, stmt.span)
            }
            ast::StmtKind::Default { body } => self.default_case(body, stmt.span),
            ast::StmtKind::Label { name, body } => self.label_statement(name, body),
            ast::StmtKind::Goto(name) => Some(StmtKind::Goto(self.label(name))),
            ast::StmtKind::Break => self.break_statement(stmt.span),
            ast::StmtKind::Continue => self.continue_statement(stmt.span),
            ast::StmtKind::Asm(asm) => self.assembly(asm, stmt.span).map(StmtKind::Expr),
            ast::StmtKind::Empty
            | ast::StmtKind::Declaration(_)
            | ast::StmtKind::StaticAssert { .. }
            | ast::StmtKind::Return(_) => Some(StmtKind::Empty),
        }
    }

    fn effect_statement(&mut self, expr: &ast::Expr) -> Option<StmtKind> {
        self.effect(expr).map(StmtKind::Expr)
    }

    fn while_statement(&mut self, condition: &ast::Expr, body: &ast::Stmt) -> Option<StmtKind> {
        let condition = self.condition(condition);
        let body = self.loop_body(body);
        condition.map(|condition| StmtKind::While { condition, body })
    }

    fn do_statement(&mut self, body: &ast::Stmt, condition: &ast::Expr) -> Option<StmtKind> {
        let body = self.loop_body(body);
        let condition = self.condition(condition);
        condition.map(|condition| StmtKind::DoWhile { body, condition })
    }

    fn break_statement(&mut self, span: Span) -> Option<StmtKind> {
        if self.body.loops == 0 && self.body.switches.is_empty() {
            self.outside("break", "a loop or `switch`", span);
        }
        Some(StmtKind::Break)
    }

    fn continue_statement(&mut self, span: Span) -> Option<StmtKind> {
        if self.body.loops == 0 {
            self.outside("continue", "a loop", span);
        }
        Some(StmtKind::Continue)
    }

    fn label_statement(&mut self, name: &ast::Name, body: &ast::Stmt) -> Option<StmtKind> {
        let label = self.define_label(name);
        Some(StmtKind::Label { label, body: self.sub_statement(body) })
    }

    fn outside(&mut self, word: &str, of: &str, span: Span) {
        self.error(codes::JUMP, span, format!("`{word}` is outside of {of}"));
    }

    /// Checks the body of a loop, `if` or label.
    fn sub_statement(&mut self, stmt: &ast::Stmt) -> Box<Stmt> {
        let mut items = Vec::new();
        self.statement(stmt, &mut items);
        let kind = match (items.pop(), items.is_empty()) {
            (None, _) => StmtKind::Empty,
            (Some(only), true) => return Box::new(only),
            (Some(last), false) => {
                items.push(last);
                StmtKind::Block { items, close: stmt.span }
            }
        };
        Box::new(Stmt { kind, span: stmt.span })
    }

    fn loop_body(&mut self, body: &ast::Stmt) -> Box<Stmt> {
        self.body.loops += 1;
        let body = self.sub_statement(body);
        self.body.loops -= 1;
        body
    }

    pub(super) fn block(&mut self, block: &ast::Block) -> StmtKind {
        self.scopes.push();
        let mut items = Vec::new();
        for item in &block.items {
            self.statement(item, &mut items);
        }
        self.scopes.pop();
        StmtKind::Block { items, close: block.close }
    }

    fn if_statement(
        &mut self,
        condition: &ast::Expr,
        then: &ast::Stmt,
        otherwise: Option<&ast::Stmt>,
    ) -> Option<StmtKind> {
        let condition = self.condition(condition);
        let then = self.sub_statement(then);
        let otherwise = otherwise.map(|otherwise| self.sub_statement(otherwise));
        Some(StmtKind::If { condition: condition?, then, otherwise })
    }

    fn for_statement(
        &mut self,
        first: Option<&ast::Stmt>,
        condition: Option<&ast::Expr>,
        step: Option<&ast::Expr>,
        body: &ast::Stmt,
    ) -> Option<StmtKind> {
        self.scopes.push();
        let mut before = Vec::new();
        if let Some(first) = first {
            self.statement(first, &mut before);
        }
        // The outer `Option` is the part that may be missing, the inner one is an error.
        let condition = condition.map(|condition| self.condition(condition));
        let step = step.map(|step| self.effect(step));
        let body = self.loop_body(body);
        self.scopes.pop();
        if let Some(None) = condition {
            return None;
        }
        if let Some(None) = step {
            return None;
        }
        let (condition, step) = (condition.flatten(), step.flatten());
        Some(StmtKind::For { first: before, condition, step, body })
    }

    fn switch(&mut self, value: &ast::Expr, body: &ast::Stmt) -> Option<StmtKind> {
        let value = self.integer(value, "the value of `switch`");
        let ty = promoted(value.as_ref().map_or(
            crate::c::typed::IntType { bits: 32, signed: true, is_bool: false },
            |(_, ty)| *ty,
        ));
        let switch = Switch { ty, cases: Default::default(), default: None };
        self.body.switches.push(switch);
        let body = self.sub_statement(body);
        self.body.switches.pop();
        let (value, _) = value?;
        Some(StmtKind::Switch { value: convert(value, &int_type(ty)), body })
    }

    fn case(
        &mut self,
        value: &ast::Expr,
        last: Option<&ast::Expr>,
        body: &ast::Stmt,
        span: Span,
    ) -> Option<StmtKind> {
        let range = self.case_range(value, last, span);
        let body = self.sub_statement(body);
        let (first, last) = range?;
        Some(StmtKind::Case { first, last, body })
    }

    fn case_range(
        &mut self,
        value: &ast::Expr,
        last: Option<&ast::Expr>,
        span: Span,
    ) -> Option<(i64, i64)> {
        let first = self.constant(value);
        let end = last.map_or(first, |last| self.constant(last));
        let Some(switch) = self.body.switches.last() else {
            self.outside("case", "a `switch`", span);
            return None;
        };
        let (first, end) = (wrap(first?, switch.ty), wrap(end?, switch.ty));
        // An empty range is allowed, as in GNU C. It matches no value.
        let overlapping = switch.cases.range(..=end).next_back().map(|(_, other)| *other);
        if let Some((other_end, other)) = overlapping
            && other_end >= first
            && first <= end
        {
            self.error(codes::JUMP, value.span, "this `switch` has two cases for one value")
                .related(other, "the other case");
            return None;
        }
        if let Some(switch) = self.body.switches.last_mut() {
            switch.cases.insert(first, (end, value.span));
        }
        Some((first, end))
    }

    fn default_case(&mut self, body: &ast::Stmt, span: Span) -> Option<StmtKind> {
        self.declare_default(span);
        Some(StmtKind::Default { body: self.sub_statement(body) })
    }

    fn declare_default(&mut self, span: Span) {
        match self.body.switches.last_mut() {
            None => self.outside("default", "a `switch`", span),
            Some(switch) => match switch.default {
                None => switch.default = Some(span),
                Some(other) => {
                    self.error(codes::JUMP, span, "this `switch` has two `default` cases")
                        .related(other, "the other `default`");
                }
            },
        }
    }

    fn define_label(&mut self, name: &ast::Name) -> u32 {
        let index = self.label(name);
        let label = &mut self.body.labels[index as usize];
        if let Some(other) = label.defined {
            let message = format!("there are two labels `{}`", name.text);
            self.error(codes::JUMP, name.span, message).related(other, "the other label");
        } else {
            label.defined = Some(name.span);
        }
        index
    }

    fn return_statement(
        &mut self,
        value: Option<&ast::Expr>,
        stmt: &ast::Stmt,
        out: &mut Vec<Stmt>,
    ) {
        let span = stmt.span;
        let Some(result) = self.body.result.clone() else { return };
        let is_void = matches!(result.kind, TypeKind::Void);
        let kind = match value {
            None if is_void => Some(StmtKind::Return(None)),
            None => {
                let message = format!("`{}` returns a value", self.body.name);
                let ty = self.type_text(&result);
                self.error(codes::RETURN, span, message)
                    .label(format!("a value of type `{ty}` is missing"));
                None
            }
            Some(value) if is_void => self.return_void(value, span, out),
            Some(value) => {
                let value = self.value(value);
                let value = value.and_then(|v| self.assignable(v, &result, Purpose::Return));
                value.map(|value| StmtKind::Return(Some(value)))
            }
        };
        if let Some(kind) = kind {
            out.push(Stmt { kind, span });
        }
    }

    /// `return value;` in a function without a result: allowed if the value is `void`.
    fn return_void(
        &mut self,
        value: &ast::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Option<StmtKind> {
        let value: Expr = self.effect(value)?;
        if !matches!(value.ty.kind, TypeKind::Void) {
            let message = format!("`{}` returns no value", self.body.name);
            self.error(codes::RETURN, value.span, message)
                .hint("remove the value, or change the result type of the function");
            return None;
        }
        out.push(Stmt { kind: StmtKind::Expr(value), span });
        Some(StmtKind::Return(None))
    }

    pub(super) fn static_assert(&mut self, condition: &ast::Expr) {
        if self.constant(condition) == Some(0) {
            self.error(codes::STATIC_ASSERT, condition.span, "this static assertion is false");
        }
    }
}
