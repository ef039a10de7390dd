//! `switch`: a chain of comparisons, then the body with its labels as targets.

use fencepost_ir::assemble::Target;
use fencepost_ir::{BinOp, Expr, Span};

use super::arithmetic::{Val, binary};
use super::layout::{POINTER, scalar_type};
use super::state::State;
use super::thread::{Enclosing, Lowerer};
use super::walk::{Node, walk_stmt};
use crate::c::typed::{Expr as TypedExpr, Stmt, StmtKind};

/// A label of a `switch`.
pub(super) struct CaseTarget {
    /// The values; `None` for `default`.
    values: Option<(i64, i64)>,
    target: Target,
    /// Whether some value leads here.
    is_used: bool,
    is_bound: bool,
}

impl<'p> Lowerer<'_, 'p> {
    /// Lowers a `switch`.
    pub(super) fn switch(&mut self, value: &'p TypedExpr, body: &'p Stmt, span: Span) {
        let ty = scalar_type(&value.ty).unwrap_or(POINTER);
        let value = self.value(value);
        let value = self.keep(value, ty, span);
        let mut cases = self.cases(body);
        let exit = self.code.target();
        let mut exit_state: State = None;
        let head = self.state.clone();
        let mut default = None;
        for (at, case) in cases.iter_mut().enumerate() {
            let Some((first, last)) = case.values else {
                default = Some(at);
                continue;
            };
            let matches = matches(&value, first, last);
            let next = self.code.target();
            let (here, other) = self.branch_value(matches, case.target, next, span);
            self.code.bind(next);
            case.is_used = here.is_some();
            self.state = other;
        }
        match default.and_then(|at| cases.get_mut(at)) {
            Some(case) => {
                case.is_used = self.is_live();
                let target = case.target;
                self.jump(target, span);
            }
            None => {
                exit_state = self.state.clone();
                self.jump(exit, span);
            }
        }
        let is_conditional = value.as_const().is_none();
        self.conditional += u32::from(is_conditional);
        let (again, again_state) = (None, None);
        let may_skip = self.may_skip;
        let scopes = self.frame().scopes.len();
        self.frame_mut().enclosing.push(Enclosing {
            exit,
            exit_state,
            again,
            again_state,
            cases,
            head,
            scopes,
        });
        self.stmt(body);
        self.conditional -= u32::from(is_conditional);
        let Some(enclosing) = self.frame_mut().enclosing.pop() else { return };
        for case in enclosing.cases.iter().filter(|case| !case.is_bound) {
            self.code.bind(case.target);
        }
        self.code.bind(exit);
        let state = self.state.take();
        self.state = self.merge(state, enclosing.exit_state, span);
        self.may_skip = may_skip;
    }

    /// Collects the labels of a `switch` body.
    fn cases(&mut self, body: &'p Stmt) -> Vec<CaseTarget> {
        let mut found = Vec::new();
        walk_stmt(body, &mut |node| {
            match node {
                Node::Stmt(Stmt { kind: StmtKind::Case { first, last, .. }, .. }) => {
                    found.push(Some((*first, *last)));
                }
                Node::Stmt(Stmt { kind: StmtKind::Default { .. }, .. }) => found.push(None),
                Node::Stmt(Stmt { kind: StmtKind::Switch { .. }, .. }) => return false,
                Node::Stmt(_) | Node::Expr(_) | Node::Place(_) => {}
            }
            true
        });
        let case = |values| CaseTarget {
            values,
            target: self.code.target(),
            is_used: false,
            is_bound: false,
        };
        found.into_iter().map(case).collect()
    }

    /// Lowers a label of a `switch`.
    pub(super) fn case(&mut self, values: Option<(i64, i64)>, span: Span) {
        let frame = self.frame_mut();
        let Some(enclosing) = frame.enclosing.iter_mut().rev().find(|e| e.again.is_none()) else {
            return;
        };
        let head = enclosing.head.clone();
        let found = enclosing.cases.iter_mut().find(|case| case.values == values && !case.is_bound);
        let Some(case) = found else { return };
        case.is_bound = true;
        let (target, is_used) = (case.target, case.is_used);
        self.code.bind(target);
        if is_used {
            let state = self.state.take();
            self.state = self.merge(state, head, span);
        }
    }
}

/// Returns the condition that a value is in a range.
fn matches(value: &Val, first: i64, last: i64) -> Val {
    if first == last {
        return binary(BinOp::Eq, value.clone(), Expr::Const(first));
    }
    let low = binary(BinOp::Ge, value.clone(), Expr::Const(first));
    let high = binary(BinOp::Le, value.clone(), Expr::Const(last));
    binary(BinOp::And, low, high)
}
