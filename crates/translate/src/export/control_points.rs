//! Replaces control points in invariants by locations, for languages without `at`. The result is
//! meant for SC. Direction: exact, for invariants that require no control point
//! ([`fencepost_ir::control_point`]).
//!
//! The location `at_p_A` is 1 while thread `p` is at the label `A`. The `choose` at the label becomes
//! two stores: one sets the location, the next one clears it. So a thread arrives at the label one
//! step later than in the original. Nothing can block that step, and it has no other effect. So if
//! an invariant is violated in the original, each thread that is at a label can set its location,
//! and the invariant is violated in the result. Conversely, a thread whose location is 1 is at the
//! label.

use crate::Unsupported;
use crate::export::substitute::substitute;
use crate::groups::identifier;
use fencepost_ir::assemble::{Assembler, Locations, Target};
use fencepost_ir::{
    Address, Expr, Label, Loc, Observable, Op, Pc, Problem, Property, Thread, ThreadId, Type, Value,
};
use std::collections::BTreeMap;

/// A program without control points.
pub(super) struct Replaced {
    pub(super) problem: Problem,
    /// By thread and program counter: the statement of the input whose step begins here. `None` for
    /// the stores that set a location.
    pub(super) origins: Vec<Vec<Option<Pc>>>,
}

/// Replaces the control points of invariants by locations.
pub(super) fn replace_control_points(problem: &Problem) -> Result<Replaced, Unsupported> {
    Unsupported::check_control_points(problem)?;
    let program = &problem.program;
    let mut locations = Locations::new(program.locations.clone());
    let mut marks: BTreeMap<(ThreadId, Label), Loc> = BTreeMap::new();
    for (thread, label) in problem.control_points() {
        let label_name = &program.label(label).text;
        let name = format!("at_{}_{}", program.thread(thread).name, label_name);
        let add = || locations.add(&identifier(&name), Type::Bool, 0);
        marks.entry((thread, label)).or_insert_with(add);
    }
    let mut result = problem.clone();
    result.program.locations = locations.finish();
    let mut origins = Vec::new();
    for (id, thread) in program.thread_ids().zip(&mut result.program.threads) {
        let (changed, origin) = mark_thread(thread, |label| marks.get(&(id, label)).copied());
        *thread = changed;
        origins.push(origin);
    }
    for property in &mut result.properties {
        if let Property::Invariant(condition) = property {
            condition.expr = substitute(&condition.expr, &|what| {
                Expr::Var(match *what {
                    Observable::At(thread, label) => Observable::Loc(marks[&(thread, label)]),
                    Observable::Loc(_) | Observable::Reg(..) => *what,
                })
            });
        }
    }
    Ok(Replaced { problem: result, origins })
}

/// Replaces the statements of a thread at control points. `mark` returns the location of a label.
fn mark_thread(thread: &Thread, mark: impl Fn(Label) -> Option<Loc>) -> (Thread, Vec<Option<Pc>>) {
    let mut code = Assembler::new(thread.registers.clone());
    let targets: Vec<Target> = thread.code.iter().map(|_| code.target()).collect();
    let mut origins = Vec::new();
    for (at, stmt) in thread.code.iter().enumerate() {
        code.at(stmt.label, stmt.critical);
        code.bind(targets[at]);
        let next = targets[stmt.next.index()];
        let store =
            |to: Loc, value: Value| Op::Store { to: Address::fixed(to), value: Expr::Const(value) };
        match (mark(stmt.label), &stmt.op) {
            (Some(loc), _) => {
                code.op(store(loc, 1));
                code.op_then(store(loc, 0), next);
                origins.push(None);
            }
            (None, Op::Branch { cond, then, otherwise }) => {
                code.branch(cond.clone(), targets[then.index()], targets[otherwise.index()]);
            }
            (None, op) => code.op_then(op.clone(), next),
        }
        origins.push(Some(Pc::from_index(at)));
    }
    let (registers, code) = code.finish();
    (Thread { name: thread.name.clone(), registers, code }, origins)
}
