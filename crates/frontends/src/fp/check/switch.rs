//! Checks `switch`: its value, its labels and its statements.

use std::collections::BTreeMap;

use fencepost_ir::{Span, Value};

use super::Checker;
use super::jump::Region;
use crate::fp::ast;
use crate::fp::codes;
use crate::fp::tree::{Case, Expr, Gap, StmtKind};
use crate::fp::types::Ty;

impl Checker<'_> {
    /// Checks a `switch` that ends with the brace `close`.
    pub(super) fn switch(
        &mut self,
        value: &ast::Expr,
        head: Span,
        cases: &[ast::Case],
        close: Span,
    ) -> Option<StmtKind> {
        let value = self.expr(value).and_then(|value| self.switch_value(value));
        let mut seen: BTreeMap<Option<Value>, Span> = BTreeMap::new();
        let mut is_valid = true;
        let mut checked = Vec::new();
        self.regions.push(Region::Switch);
        for (at, case) in cases.iter().enumerate() {
            let mut values = Vec::new();
            let mut default = false;
            for label in &case.labels {
                let found = match &label.value {
                    None => Some(None),
                    Some(expr) => self.case_value(expr, value.as_ref().map(|v| v.ty)).map(Some),
                };
                let Some(found) = found else {
                    is_valid = false;
                    continue;
                };
                if let Some(first) = seen.insert(found, label.span) {
                    is_valid = false;
                    self.diagnostics
                        .error(codes::SWITCH, label.span, "this `switch` has two such labels")
                        .label("second label for this value")
                        .related(first, "first label")
                        .hint("remove one of the labels");
                }
                match found {
                    Some(value) => values.push((value, label.span)),
                    None => default = true,
                }
            }
            // The last part ends at the brace, the others at the next label.
            let next = cases.get(at + 1).and_then(|next| next.labels.first());
            let body = match next {
                Some(ast::CaseLabel { span: head, .. }) => {
                    let at = Span { end: head.start, ..*head };
                    let last = Gap { at, head: *head, at_end: true, wrap: None };
                    self.stmts_until(&case.stmts, last)
                }
                None => self.stmts(&case.stmts, close),
            };
            checked.push(Case { values, default, body });
        }
        self.regions.pop();
        let value = value?;
        is_valid.then_some(StmtKind::Switch(value, head, checked))
    }

    fn switch_value(&mut self, value: Expr) -> Option<Expr> {
        match value.ty {
            Ty::Int | Ty::Fixed(_) | Ty::Enum(_) | Ty::Bool => Some(value),
            Ty::Ref(_) | Ty::Null => {
                let message = format!("`switch` on {}", self.globals.show(value.ty));
                self.diagnostics
                    .error(codes::SWITCH, value.span, message)
                    .label("there are no constants of this type")
                    .hint("use `if`, or switch on a number or an enum");
                None
            }
        }
    }

    fn case_value(&mut self, expr: &ast::Expr, ty: Option<Ty>) -> Option<Value> {
        match ty {
            Some(ty) => self.globals.constant_of(expr, ty, self.source, self.diagnostics),
            None => {
                self.globals.constant(expr, self.source, self.diagnostics).map(|(value, _)| value)
            }
        }
    }
}
