//! Visits the parts of typed statements and expressions.

use crate::c::typed::{Expr, ExprKind, Init, Intrinsic, Place, PlaceKind, Stmt, StmtKind};

/// A part of a statement.
#[derive(Clone, Copy)]
pub(super) enum Node<'a> {
    Stmt(&'a Stmt),
    Expr(&'a Expr),
    Place(&'a Place),
}

/// Calls `visit` on a statement and all its parts, outer parts first. If `visit` returns false, the
/// parts of the node are left out.
pub(super) fn walk_stmt<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(Node<'a>) -> bool) {
    if !visit(Node::Stmt(stmt)) {
        return;
    }
    match &stmt.kind {
        StmtKind::Expr(expr) => walk_expr(expr, visit),
        StmtKind::Block { items, .. } => items.iter().for_each(|item| walk_stmt(item, visit)),
        StmtKind::Declare { init, .. } => init.iter().for_each(|init| walk_init(init, visit)),
        StmtKind::If { condition, then, otherwise } => {
            walk_expr(condition, visit);
            walk_stmt(then, visit);
            otherwise.iter().for_each(|stmt| walk_stmt(stmt, visit));
        }
        StmtKind::While { condition, body } | StmtKind::DoWhile { body, condition } => {
            walk_expr(condition, visit);
            walk_stmt(body, visit);
        }
        StmtKind::For { first, condition, step, body } => {
            first.iter().for_each(|stmt| walk_stmt(stmt, visit));
            condition.iter().chain(step).for_each(|expr| walk_expr(expr, visit));
            walk_stmt(body, visit);
        }
        StmtKind::Switch { value, body } => {
            walk_expr(value, visit);
            walk_stmt(body, visit);
        }
        StmtKind::Case { body, .. } | StmtKind::Default { body } | StmtKind::Label { body, .. } => {
            walk_stmt(body, visit);
        }
        StmtKind::Return(value) => value.iter().for_each(|value| walk_expr(value, visit)),
        StmtKind::Goto(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Empty => {}
    }
}

/// Calls `visit` on an expression and all its parts, outer parts first.
pub(super) fn walk_expr<'a>(expr: &'a Expr, visit: &mut dyn FnMut(Node<'a>) -> bool) {
    if !visit(Node::Expr(expr)) {
        return;
    }
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Function(_) => {}
        ExprKind::Load(place, _) | ExprKind::AddressOf(place) => walk_place(place, visit),
        ExprKind::Negate(a) | ExprKind::Complement(a) | ExprKind::Convert(a) => walk_expr(a, visit),
        ExprKind::Binary(_, a, b)
        | ExprKind::And(a, b)
        | ExprKind::Or(a, b)
        | ExprKind::Comma(a, b)
        | ExprKind::PointerAdd { pointer: a, index: b, .. }
        | ExprKind::PointerDifference { left: a, right: b, .. } => {
            walk_expr(a, visit);
            walk_expr(b, visit);
        }
        ExprKind::Conditional(a, b, c) => {
            walk_expr(a, visit);
            walk_expr(b, visit);
            walk_expr(c, visit);
        }
        ExprKind::Assign { place, value, .. } | ExprKind::Modify { place, value, .. } => {
            walk_place(place, visit);
            walk_expr(value, visit);
        }
        ExprKind::Call { function, arguments } => {
            walk_expr(function, visit);
            arguments.iter().for_each(|argument| walk_expr(argument, visit));
        }
        ExprKind::Intrinsic(intrinsic) => {
            arguments(intrinsic).into_iter().for_each(|argument| walk_expr(argument, visit));
        }
        ExprKind::Statements(stmts) => stmts.iter().for_each(|stmt| walk_stmt(stmt, visit)),
    }
}

fn walk_place<'a>(place: &'a Place, visit: &mut dyn FnMut(Node<'a>) -> bool) {
    if !visit(Node::Place(place)) {
        return;
    }
    match &place.kind {
        PlaceKind::Variable(_) => {}
        PlaceKind::Deref(pointer) => walk_expr(pointer, visit),
        PlaceKind::Field(base, _) => walk_place(base, visit),
        PlaceKind::Index(base, index) => {
            walk_place(base, visit);
            walk_expr(index, visit);
        }
        PlaceKind::Compound { init, .. } => walk_init(init, visit),
        PlaceKind::Value(value) => walk_expr(value, visit),
    }
}

fn walk_init<'a>(init: &'a Init, visit: &mut dyn FnMut(Node<'a>) -> bool) {
    init.items.iter().for_each(|item| walk_expr(&item.value, visit));
}

/// Returns the arguments of a function with a special meaning.
pub(super) fn arguments(intrinsic: &Intrinsic) -> Vec<&Expr> {
    match intrinsic {
        Intrinsic::AtomicLoad { pointer, order } => vec![pointer, order],
        Intrinsic::AtomicStore { pointer, value, order }
        | Intrinsic::AtomicExchange { pointer, value, order }
        | Intrinsic::AtomicFetch { pointer, value, order, .. } => vec![pointer, value, order],
        Intrinsic::AtomicCompareExchange {
            pointer, expected, desired, success, failure, ..
        } => vec![pointer, expected, desired, success, failure],
        Intrinsic::AtomicCompareSwap { pointer, expected, desired, order, .. } => {
            vec![pointer, expected, desired, order]
        }
        Intrinsic::Fence { order } => vec![order],
        Intrinsic::ThreadCreate { function, argument } => vec![function, argument],
        Intrinsic::ThreadJoin { thread } => vec![thread],
        Intrinsic::ThreadExit { value } => vec![value],
        Intrinsic::Assume(condition) | Intrinsic::Assert { condition, .. } => vec![condition],
        Intrinsic::Allocate { size, .. } => vec![size],
        Intrinsic::Reallocate { pointer, size } => vec![pointer, size],
        Intrinsic::Free { pointer } => vec![pointer],
        Intrinsic::MemoryCopy { target, source, size } => vec![target, source, size],
        Intrinsic::MemorySet { target, value, size } => vec![target, value, size],
        Intrinsic::NoEffect { arguments } => arguments.iter().collect(),
        Intrinsic::MachineFence(_)
        | Intrinsic::ThreadSelf
        | Intrinsic::Fail { .. }
        | Intrinsic::Exit
        | Intrinsic::Nondet
        | Intrinsic::AtomicBegin
        | Intrinsic::AtomicEnd => Vec::new(),
    }
}

/// Returns whether a statement has a label, `case` or `default` that a jump from outside reaches.
pub(super) fn contains_label(stmt: &Stmt) -> bool {
    let mut found = false;
    walk_stmt(stmt, &mut |node| {
        if let Node::Stmt(stmt) = node {
            found |= matches!(
                stmt.kind,
                StmtKind::Label { .. } | StmtKind::Case { .. } | StmtKind::Default { .. }
            );
        }
        !found
    });
    found
}
