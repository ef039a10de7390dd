//! Loops.
//!
//! A loop that creates or joins threads or allocates is unrolled while its condition is a constant,
//! and so is a loop in the prefix of `main`. A loop with labels is not unrolled, because a label has
//! one place. All other loops stay loops. What is known about the
//! variables that a loop assigns is forgotten at its head.

use fencepost_ir::Span;
use fencepost_ir::assemble::Target;

use super::constants;
use super::effects::writes;
use super::state::State;
use super::thread::{Enclosing, Lowerer, Prefix};
use super::walk::{Node, walk_expr, walk_stmt};
use crate::c::typed::{Expr as TypedExpr, ExprKind, Stmt, StmtKind};

/// The largest number of iterations of a loop that are unrolled.
const MAX_UNROLLED: u32 = 64;

/// Returns whether a part of a loop has a label.
fn has_labels<'a>(body: &'a Stmt, others: impl Iterator<Item = &'a TypedExpr>) -> bool {
    let mut found = false;
    let mut visit = |node: Node<'_>| {
        found |= matches!(node, Node::Stmt(Stmt { kind: StmtKind::Label { .. }, .. }));
        !found
    };
    walk_stmt(body, &mut visit);
    others.for_each(|expr| walk_expr(expr, &mut visit));
    found
}

impl<'p> Lowerer<'_, 'p> {
    /// Lowers a loop. `test_first` is false for `do`.
    pub(super) fn loop_stmt(
        &mut self,
        condition: Option<&'p TypedExpr>,
        step: Option<&'p TypedExpr>,
        body: &'p Stmt,
        test_first: bool,
        span: Span,
    ) {
        let exit = self.code.target();
        let may_skip = self.may_skip;
        let mut exit_state = None;
        let is_once = !test_first && condition.is_some_and(|c| c.kind == ExprKind::Const(0));
        if is_once {
            exit_state = self.iteration(body, exit, exit_state);
            let state = self.state.take();
            exit_state = self.merge(exit_state, state, span);
        } else {
            let has_labels = has_labels(body, condition.into_iter().chain(step));
            let is_unrolled = test_first && !has_labels && self.is_unrolled(body);
            if let Some(condition) = condition.filter(|_| is_unrolled) {
                exit_state = self.unroll(condition, step, body, exit);
            }
            if self.is_live() {
                exit_state =
                    self.general_loop((condition, step, body), test_first, exit, exit_state, span);
            }
        }
        self.code.bind(exit);
        self.state = exit_state;
        self.may_skip = may_skip;
    }

    fn is_unrolled(&self, body: &Stmt) -> bool {
        self.prefix == Prefix::Open || self.pass.effects.of_stmt(body)
    }

    /// Lowers iterations while the condition is a constant. The rest of the loop follows if the
    /// position after it is reachable.
    fn unroll(
        &mut self,
        condition: &'p TypedExpr,
        step: Option<&'p TypedExpr>,
        body: &'p Stmt,
        exit: Target,
    ) -> State {
        let mut exit_state = None;
        if matches!(condition.kind, ExprKind::Const(_)) {
            return None;
        }
        for _ in 0..MAX_UNROLLED {
            if !self.is_live() || self.pass.stopped {
                break;
            }
            let Some(value) = constants::condition(self, condition) else { break };
            let kept = self.temporaries.len();
            self.discard(condition);
            self.release_temporaries(kept);
            if value == 0 {
                let state = self.state.clone();
                exit_state = self.merge(exit_state, state, condition.span);
                self.jump(exit, condition.span);
                break;
            }
            exit_state = self.iteration(body, exit, exit_state);
            if let Some(step) = step {
                self.discard(step);
                self.release_temporaries(kept);
            }
        }
        exit_state
    }

    /// Lowers the body of a loop once, up to the target of `continue`. Returns the knowledge at the
    /// exit.
    fn iteration(&mut self, body: &'p Stmt, exit: Target, exit_state: State) -> State {
        let again = self.code.target();
        let scopes = self.frame().scopes.len();
        self.frame_mut().enclosing.push(Enclosing {
            exit,
            exit_state,
            again: Some(again),
            again_state: None,
            cases: Vec::new(),
            head: None,
            scopes,
        });
        self.nested_body(body);
        let enclosing = self.frame_mut().enclosing.pop()?;
        self.code.bind(again);
        let state = self.state.take();
        self.state = self.merge(state, enclosing.again_state, body.span);
        enclosing.exit_state
    }

    fn general_loop(
        &mut self,
        (condition, step, body): (Option<&'p TypedExpr>, Option<&'p TypedExpr>, &'p Stmt),
        test_first: bool,
        exit: Target,
        mut exit_state: State,
        span: Span,
    ) -> State {
        self.close_prefix(span);
        let changed = writes([body], condition.into_iter().chain(step));
        self.forget(&changed);
        let entry = self.state.as_ref().map(|state| state.atomic);
        self.loops += 1;
        self.conditional += 1;
        let head = self.code.here();
        let kept = self.temporaries.len();
        if let Some(condition) = condition.filter(|_| test_first) {
            let inside = self.code.target();
            let (enters, leaves) = self.branch_on(condition, inside, exit);
            self.release_temporaries(kept);
            exit_state = self.merge(exit_state, leaves, span);
            self.code.bind(inside);
            self.state = enters;
        }
        exit_state = self.iteration(body, exit, exit_state);
        if let Some(step) = step.filter(|_| self.is_live()) {
            self.discard(step);
            self.release_temporaries(kept);
        }
        let mut back = self.state.clone();
        match condition.filter(|_| !test_first) {
            Some(condition) => {
                let (repeats, leaves) = self.branch_on(condition, head, exit);
                self.release_temporaries(kept);
                exit_state = self.merge(exit_state, leaves, span);
                back = repeats;
            }
            None => self.jump(head, span),
        }
        if let (Some(back), Some(entry)) = (back, entry)
            && back.atomic != entry
        {
            self.atomic_mismatch(span);
        }
        self.state = None;
        self.loops -= 1;
        self.conditional -= 1;
        exit_state
    }
}
