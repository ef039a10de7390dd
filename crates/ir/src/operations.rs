//! What a client's operations may return: the results of some order in which they run one after another.
//!
//! The order respects the order of operations within each thread. [`Consistency::Linearizable`] asks for
//! more: an operation that has returned before another one is invoked comes before it. What is allowed
//! is not written down by anybody: whoever checks the property runs the operations, each alone and
//! in one step, in all such orders.

use crate::flow;
use crate::ids::{Pc, Reg, ThreadId};
use crate::op::Op;
use crate::program::Thread;
use crate::span::Span;
use crate::value::Value;

/// Which orders of atomic executions explain the results of operations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Consistency {
    /// All that respect the order within each thread.
    Sequential,
    /// Those that also respect which operation returned before which was invoked.
    Linearizable,
}

impl Consistency {
    /// The word of the language.
    pub fn word(self) -> &'static str {
        match self {
            Consistency::Sequential => "sequentially_consistent",
            Consistency::Linearizable => "linearizable",
        }
    }
}

/// The operations of a client, for [`Property::Operations`](crate::Property::Operations).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operations {
    /// Which orders count.
    pub consistency: Consistency,
    /// The client's threads with their operations in order.
    pub threads: Vec<(ThreadId, Vec<Operation>)>,
    /// Where the property was written.
    pub span: Span,
}

/// One use of an operation by a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// What conditions call it: `d1`.
    pub name: String,
    /// Its code alone, arguments in place; registers start as 0, and it ends with `Halt`.
    pub body: Thread,
    /// Its result, if it has one: the register of `body` that holds it at the end, and the register
    /// of the client's thread that keeps it.
    pub result: Option<(Reg, Reg)>,
    /// Only for [`Consistency::Linearizable`]: how many operations each of these threads had returned
    /// from when this one was invoked, kept by [`Op::Invoke`] in a register of the client's thread.
    pub seen: Vec<(ThreadId, Reg)>,
    /// It may also do nothing and return this: it gave up because of another one.
    pub aborts: Option<Value>,
    /// It may also return its result without any other effect, so that another one returns the same.
    pub repeats: bool,
}

/// For each program counter: the operations whose end ([`Op::Return`]) the thread has passed when it is
/// there, in order, as the registers of their results; none where control never comes. `None` when two ways to a statement pass different ends.
pub fn returned(thread: &Thread) -> Option<Vec<Vec<Option<Reg>>>> {
    let mut passed: Vec<Option<Vec<Option<Reg>>>> = vec![None; thread.code.len()];
    passed[0] = Some(Vec::new());
    let mut pending = vec![Pc(0)];
    while let Some(pc) = pending.pop() {
        let stmt = thread.stmt(pc);
        let mut after = passed[pc.index()].clone().expect("known before it is followed");
        if let Op::Return { result } = stmt.op {
            after.push(result);
        }
        for next in flow::successors(stmt) {
            match &passed[next.index()] {
                None => {
                    passed[next.index()] = Some(after.clone());
                    pending.push(next);
                }
                Some(known) if *known != after => return None,
                Some(_) => {}
            }
        }
    }
    Some(passed.into_iter().map(Option::unwrap_or_default).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expr, Label, Stmt};

    fn thread(ops: Vec<(Op, u32)>) -> Thread {
        let stmt = |(op, next)| Stmt { label: Label(0), op, next: Pc(next), critical: false };
        Thread {
            name: "client(0)".into(),
            registers: Vec::new(),
            code: ops.into_iter().map(stmt).collect(),
        }
    }

    fn branch(then: u32, otherwise: u32) -> Op {
        Op::Branch { cond: Expr::Var(Reg(0)), then: Pc(then), otherwise: Pc(otherwise) }
    }

    #[test]
    fn returns_count_along_the_way() {
        let invoke = || Op::Invoke { seen: Vec::new() };
        let code = vec![
            (invoke(), 1),
            (branch(1, 2), 0),
            (Op::Return { result: Some(Reg(0)) }, 3),
            (invoke(), 4),
            (Op::Return { result: None }, 5),
            (Op::Halt, 0),
        ];
        let first = Some(Reg(0));
        let passed = vec![vec![], vec![], vec![], vec![first], vec![first], vec![first, None]];
        assert_eq!(returned(&thread(code)), Some(passed));
    }

    #[test]
    fn ways_that_differ_are_refused() {
        let end = || Op::Return { result: None };
        assert_eq!(returned(&thread(vec![(branch(1, 2), 0), (end(), 2), (Op::Halt, 0)])), None);
        assert_eq!(returned(&thread(vec![(end(), 0)])), None, "a loop");
    }
}
