//! The control flow of a thread with the values of its loop counters.
//!
//! A counter is a register that only gets values computed from constants and other counters, such as the
//! `i` of `for (i = 0; i < 4; i++)`. The control flow determines its value. A node of this graph is a
//! statement with the values of all counters before it, so a branch on counters has one successor, and
//! a loop over counters is no cycle.
//!
//! Direction: over-approximation. Every run of the thread follows a path of the graph. Branches on other
//! registers have both successors.

use crate::constants::registers_with_other_writers;
use crate::expr::Expr;
use crate::flow::successors;
use crate::ids::{Pc, Reg};
use crate::op::Op;
use crate::program::{Stmt, Thread};
use crate::value::Value;
use std::collections::BTreeMap;

/// The largest number of nodes of a graph.
const MAX_NODES: usize = 4096;

/// A control-flow graph whose nodes are statements with values of counters. Node 0 is the entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CountedFlow {
    /// The statement of each node.
    pub(crate) statements: Vec<Pc>,
    /// The successors of each node.
    pub(crate) successors: Vec<Vec<usize>>,
}

impl CountedFlow {
    /// Returns the graph of a thread. None if the thread has no counters, if the graph is too large, or
    /// if the computation of a counter fails.
    pub(crate) fn of(thread: &Thread) -> Option<Self> {
        let is_counter = counters(thread);
        if !is_counter.contains(&true) || thread.code.is_empty() {
            return None;
        }
        let start = (Pc(0), vec![0; thread.registers.len()]);
        let mut flow = CountedFlow { statements: vec![Pc(0)], successors: Vec::new() };
        let mut numbers = BTreeMap::from([(start.clone(), 0)]);
        let mut nodes = vec![start];
        while let Some((pc, values)) = nodes.get(flow.successors.len()).cloned() {
            let stmt = thread.stmt(pc);
            let next = feasible_successors(stmt, &values, &is_counter)?;
            let mut after = values;
            if let Op::Assign { reg, expr } = &stmt.op
                && is_counter[reg.index()]
            {
                after[reg.index()] = expr.eval(&|var: &Reg| after[var.index()]).ok()?;
            }
            let mut all = Vec::new();
            for pc in next {
                let node = (pc, after.clone());
                let number = *numbers.entry(node.clone()).or_insert(nodes.len());
                if number == nodes.len() {
                    nodes.push(node);
                    flow.statements.push(pc);
                }
                all.push(number);
            }
            if nodes.len() > MAX_NODES {
                return None;
            }
            flow.successors.push(all);
        }
        Some(flow)
    }
}

/// Returns the successors of a statement. None if the condition of its branch is on counters and
/// cannot be computed.
fn feasible_successors(stmt: &Stmt, values: &[Value], is_counter: &[bool]) -> Option<Vec<Pc>> {
    if let Op::Branch { cond, then, otherwise } = &stmt.op
        && only_reads(cond, is_counter)
    {
        let holds = cond.eval(&|var: &Reg| values[var.index()]).ok()? != 0;
        return Some(vec![if holds { *then } else { *otherwise }]);
    }
    Some(successors(stmt).collect())
}

/// Returns for each register whether it is a counter. Starts with all registers and removes those with
/// another source of values, until nothing changes.
fn counters(thread: &Thread) -> Vec<bool> {
    let mut is_counter = vec![true; thread.registers.len()];
    for reg in registers_with_other_writers(thread) {
        is_counter[reg.index()] = false;
    }
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for stmt in &thread.code {
            let Some(reg) = stmt.op.target() else { continue };
            let is_computed =
                matches!(&stmt.op, Op::Assign { expr, .. } if only_reads(expr, &is_counter));
            if !is_computed && is_counter[reg.index()] {
                is_counter[reg.index()] = false;
                changed = true;
            }
        }
    }
    is_counter
}

/// Returns whether an expression reads no other registers than counters.
fn only_reads(expr: &Expr<Reg>, is_counter: &[bool]) -> bool {
    let mut only = true;
    expr.for_each_var(&mut |reg| only &= is_counter[reg.index()]);
    only
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::BinOp;
    use crate::ids::{Label, Loc};
    use crate::op::Address;
    use crate::program::Register;
    use crate::value::Type;

    /// Returns the graph of a thread with these statements, one after the other.
    fn graph(ops: Vec<Op>) -> Option<CountedFlow> {
        let stmt = |(at, op)| {
            let next = Pc::from_index(at + 1);
            Stmt { label: Label(0), op, next, critical: false }
        };
        let code = ops.into_iter().chain([Op::Halt]).enumerate().map(stmt).collect();
        let registers =
            ["i", "r"].map(|name| Register { name: name.into(), ty: Type::INT }).to_vec();
        CountedFlow::of(&Thread { name: "t".into(), registers, code })
    }

    const I: Reg = Reg(0);
    const R: Reg = Reg(1);

    fn binary(op: BinOp, reg: Reg, value: Value) -> Expr<Reg> {
        Expr::Binary(op, Box::new(Expr::Var(reg)), Box::new(Expr::Const(value)))
    }

    /// `for (i = 0; i < bound; i++) body;`
    fn counted(bound: Value, body: Op) -> Vec<Op> {
        vec![
            Op::Assign { reg: I, expr: Expr::Const(0) },
            Op::Branch { cond: binary(BinOp::Lt, I, bound), then: Pc(2), otherwise: Pc(5) },
            body,
            Op::Assign { reg: I, expr: binary(BinOp::Add, I, 1) },
            Op::Branch { cond: Expr::Const(1), then: Pc(1), otherwise: Pc(5) },
        ]
    }

    fn load(reg: Reg) -> Op {
        Op::Load { reg, from: Address::fixed(Loc(0)) }
    }

    #[test]
    fn a_counted_loop_is_no_cycle() {
        let flow = graph(counted(3, load(R))).expect("i is a counter");
        let body = flow.statements.iter().filter(|pc| **pc == Pc(2)).count();
        assert_eq!(body, 3, "the body is executed three times");
        assert!(flow.successors.iter().enumerate().all(|(at, all)| all.iter().all(|to| *to > at)));
        assert_eq!(flow.statements.iter().filter(|pc| **pc == Pc(5)).count(), 1);
    }

    #[test]
    fn a_register_that_is_loaded_is_no_counter() {
        let flow = graph(counted(3, load(I))).expect("r is a counter without assignments");
        let branch = flow.statements.iter().position(|pc| *pc == Pc(1)).expect("it is reached");
        assert_eq!(flow.successors[branch].len(), 2, "both directions are possible");
        assert_eq!(flow.statements.len(), 6, "{flow:?}");
    }

    #[test]
    fn a_long_loop_has_no_graph() {
        assert_eq!(graph(counted(1 << 20, load(R))), None);
    }
}
