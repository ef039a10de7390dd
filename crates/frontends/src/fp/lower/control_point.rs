//! Lowers labels that invariants mention: a step of its own, without effect, at the label. A thread
//! is at the label while this step is its next one.

use std::collections::BTreeMap;

use fencepost_ir::{Op, Span};

use super::labels::Kind;
use super::thread::Lowerer;
use crate::fp::tree::{Claim, Expr, ExprKind, Template, Unit};
use crate::fp::types::{Ty, VarTy};

/// Returns the labels of a template that invariants mention, with their positions.
pub(super) fn control_points(unit: &Unit, template: &Template) -> BTreeMap<usize, Span> {
    let mut found = BTreeMap::new();
    for claim in &unit.claims {
        if let Claim::Invariant(condition) = claim {
            collect(condition, &mut |id, label| {
                if unit.templates[id].name == template.name {
                    found.insert(label, template.body.labels[label].span);
                }
            });
        }
    }
    found
}

/// Calls `visit` on the template and the label of every `at`.
fn collect(expr: &Expr, visit: &mut impl FnMut(usize, usize)) {
    match &expr.kind {
        ExprKind::At(template, _, label) => visit(template.index(), *label),
        ExprKind::Unary(_, a) | ExprKind::Wrap(a, _) | ExprKind::ToInt(a) => collect(a, visit),
        ExprKind::Binary(_, a, b) => {
            collect(a, visit);
            collect(b, visit);
        }
        ExprKind::Select(c, a, b) => {
            collect(c, visit);
            collect(a, visit);
            collect(b, visit);
        }
        ExprKind::Const(_)
        | ExprKind::Local(_)
        | ExprKind::LocalElement(_)
        | ExprKind::Param
        | ExprKind::Load(_)
        | ExprKind::Update(..)
        | ExprKind::ChooseRange(..)
        | ExprKind::ChooseList(_)
        | ExprKind::New(_)
        | ExprKind::Call(..)
        | ExprKind::ThreadRegister(..)
        | ExprKind::ClientResult(..)
        | ExprKind::WholeArray(_) => {}
    }
}

impl Lowerer<'_, '_> {
    /// Emits the step at a label, if an invariant mentions the label. Not inlined, because nested
    /// statements need small stack frames.
    #[inline(never)]
    pub(super) fn mark_control_point(&mut self, label: usize) {
        if let Some(span) = self.frame.control_points.get(&label).copied() {
            let reg = self.temporary(VarTy::plain(Ty::Int), span);
            self.emit(Op::Choose { reg, lo: 0, hi: 0 }, span, Kind::ControlPoint);
        }
    }
}
