//! Lowers conditions and `observe`.

use fencepost_ir::{
    Condition, Diagnostics, Expr, Loc, Observable, Operations, Problem, Program, Property, Reg,
    Span, ThreadId, Value,
};

use super::client::ClientResult;
use super::labels::{Kind, Labels};
use super::layout::Layout;
use crate::fp::codes;
use crate::fp::integers::{to_int, typed, unary_op, wrap};
use crate::fp::tree::{self, Claim, ExprKind, Place, Root, Unit, elements};
use crate::fp::types::{ProcId, TemplateId, Ty};

/// Lowers the conditions of one program.
pub(super) struct Conditions<'a> {
    pub(super) unit: &'a Unit,
    pub(super) layout: &'a Layout,
    pub(super) results: &'a [ClientResult],
    /// The operations of the client, if the file has a property of operations.
    pub(super) operations: Option<&'a Operations>,
    /// The text of the client.
    pub(super) client: Option<&'a str>,
}

impl Conditions<'_> {
    /// Adds the properties and the observed variables of the file to a problem.
    pub(super) fn add_to(
        &self,
        problem: &mut Problem,
        labels: &Labels<'_>,
        diagnostics: &mut Diagnostics,
    ) {
        let mut mentioned = Vec::new();
        for claim in &self.unit.claims {
            let mut condition = |expr: &tree::Expr| Condition {
                expr: self.expr(expr, labels, diagnostics).fold(),
                text: labels.text(expr.span),
                span: expr.span,
            };
            problem.properties.push(match claim {
                Claim::MutualExclusion => Property::MutualExclusion,
                Claim::DeadlockFree => Property::DeadlockFree,
                Claim::Progress => Property::Progress,
                Claim::MayHang => {
                    problem.may_hang = true;
                    continue;
                }
                Claim::Operations(..) => match self.operations {
                    Some(operations) => Property::Operations(operations.clone()),
                    None => continue,
                },
                Claim::Invariant(expr) => Property::Invariant(condition(expr)),
                Claim::Final(quantifier, expr) => {
                    let lowered = condition(expr);
                    // Collect the variables before folding, so that outcomes show every variable
                    // that the source mentions.
                    self.expr(expr, labels, &mut Diagnostics::new()).for_each_var(&mut |what| {
                        push_once(&mut mentioned, *what);
                    });
                    problem.add_final(*quantifier, lowered);
                    continue;
                }
            });
        }
        let mut observed = Vec::new();
        for expr in &self.unit.observe {
            for what in self.observables(expr, labels, diagnostics) {
                push_once(&mut observed, what);
            }
        }
        if observed.is_empty() {
            observed = mentioned;
        }
        if observed.is_empty() {
            observed = all_observables(&problem.program);
        }
        problem.observed = observed;
    }

    fn observables(
        &self,
        expr: &tree::Expr,
        labels: &Labels<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Observable> {
        if let ExprKind::WholeArray(id) = &expr.kind {
            let base = self.layout.shared(*id);
            let len = elements(&self.unit.shared[id.index()].dims);
            return (0..len).map(|at| Observable::Loc(Loc(base.0 + at))).collect();
        }
        let mut found = Vec::new();
        self.expr(expr, labels, diagnostics).for_each_var(&mut |what| found.push(*what));
        found
    }

    fn expr(
        &self,
        expr: &tree::Expr,
        labels: &Labels<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Expr<Observable> {
        let mut boxed = |expr: &tree::Expr| Box::new(self.expr(expr, labels, diagnostics));
        match &expr.kind {
            ExprKind::Const(value) => Expr::Const(*value),
            ExprKind::Unary(op, a) => match expr.ty {
                Ty::Fixed(width) => unary_op(*op, width, *boxed(a)),
                Ty::Bool | Ty::Int | Ty::Enum(_) | Ty::Ref(_) | Ty::Null => {
                    Expr::Unary(*op, boxed(a))
                }
            },
            ExprKind::Binary(op, a, b) => typed(*op, expr.ty, (a.ty, b.ty), *boxed(a), *boxed(b)),
            ExprKind::Wrap(a, range) => wrap(*boxed(a), *range),
            ExprKind::ToInt(a) => to_int(a.ty, *boxed(a)),
            ExprKind::Select(c, a, b) => Expr::Select(boxed(c), boxed(a), boxed(b)),
            ExprKind::Load(place) => Expr::Var(Observable::Loc(self.location(place))),
            ExprKind::ThreadRegister(template, value, local) => {
                let thread = self.thread(*template, *value);
                Expr::Var(Observable::Reg(thread, Reg::from_index(local.index())))
            }
            ExprKind::At(template, value, label) => {
                let span = self.unit.templates[template.index()].body.labels[*label].span;
                // A label in unreachable code has no statement. No thread is ever there.
                let found = labels.find(span, Kind::ControlPoint);
                found.map_or(Expr::Const(0), |label| {
                    Expr::Var(Observable::At(self.thread(*template, *value), label))
                })
            }
            ExprKind::ClientResult(proc, number) => {
                self.result(*proc, *number, expr.span, diagnostics)
            }
            ExprKind::Local(_)
            | ExprKind::LocalElement(_)
            | ExprKind::Param
            | ExprKind::Update(..)
            | ExprKind::ChooseRange(..)
            | ExprKind::ChooseList(_)
            | ExprKind::New(_)
            | ExprKind::Call(..)
            | ExprKind::WholeArray(_) => unreachable!("conditions contain none of these"),
        }
    }

    fn location(&self, place: &Place) -> Loc {
        let Root::Shared(id) = &place.root else {
            unreachable!("conditions contain no fields");
        };
        let dims = &self.unit.shared[id.index()].dims;
        let index = place.indices.iter().zip(dims).fold(0, |at, (index, len)| {
            let ExprKind::Const(value) = index.kind else {
                unreachable!("indices in conditions are constants");
            };
            at * len + value as u32
        });
        Loc(self.layout.shared(*id).0 + index)
    }

    fn thread(&self, template: TemplateId, value: Option<Value>) -> ThreadId {
        let before: u64 =
            self.unit.templates[..template.index()].iter().map(|t| t.instances()).sum();
        let lo = self.unit.templates[template.index()].param.map_or(0, |(lo, _)| lo);
        let offset = value.map_or(0, |value| (value - lo) as usize);
        ThreadId::from_index(before as usize + offset)
    }

    fn result(
        &self,
        proc: ProcId,
        number: u32,
        span: Span,
        diagnostics: &mut Diagnostics,
    ) -> Expr<Observable> {
        let found = self.results.iter().find(|(key, _)| *key == (proc, number));
        if let Some((_, Some((thread, reg)))) = found {
            return Expr::Var(Observable::Reg(*thread, *reg));
        }
        let info = &self.unit.procs[proc.index()];
        let letter = info.letter.unwrap_or('_');
        match (found, self.client) {
            (Some(_), _) => diagnostics
                .error(codes::CLIENT, span, "results of initial operations cannot be observed")
                .label("this operation runs before the threads")
                .hint("mention only results of operations that run in threads"),
            (None, Some(client)) => diagnostics
                .error(codes::CLIENT, span, format!("client `{client}` has no `{letter}{number}`"))
                .label(format!("this client uses `{letter}` fewer than {number} times"))
                .hint("a condition applies to all clients; mention only results that all have"),
            (None, None) => diagnostics
                .error(codes::CLIENT, span, format!("`{letter}{number}` is a result of a client"))
                .label("there is no client")
                .hint("add a `client`, or give one with `--client`"),
        };
        Expr::Const(0)
    }
}

fn push_once(list: &mut Vec<Observable>, what: Observable) {
    if !list.contains(&what) {
        list.push(what);
    }
}

/// Returns all locations, and all registers of threads with a name in the source.
fn all_observables(program: &Program) -> Vec<Observable> {
    let mut all: Vec<Observable> =
        (0..program.locations.len()).map(|at| Observable::Loc(Loc::from_index(at))).collect();
    for id in program.thread_ids() {
        for (at, register) in program.thread(id).registers.iter().enumerate() {
            // Names of procedure registers contain a dot.
            if !register.is_temporary() && !register.name.contains('.') {
                all.push(Observable::Reg(id, Reg::from_index(at)));
            }
        }
    }
    all
}
