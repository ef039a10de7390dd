//! Consistency of a library's operations: sequential consistency and linearizability.
//!
//! The results of a client's operations are consistent if some sequential order of the operations
//! yields the same results. The order must respect the order of operations within each thread. For
//! [`Consistency::Linearizable`] it must also respect real time: an operation that returns before
//! another one is invoked comes first. Operations before the threads run in `init`, and operations
//! after the threads come after all others. There is no separate specification. A checker executes
//! the operations in all such orders, each operation alone and in one step.

use crate::flow;
use crate::ids::{Loc, Pc, Reg, ThreadId};
use crate::op::Op;
use crate::program::Thread;
use crate::span::Span;
use crate::value::Value;

/// Which sequential orders may explain the results of operations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Consistency {
    /// All orders that respect the order within each thread.
    Sequential,
    /// Only orders that also respect real time: an operation that returned before another one was
    /// invoked comes first.
    Linearizable,
}

impl Consistency {
    /// Returns the keyword of the `.fp` language.
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
    /// Which orders are allowed.
    pub consistency: Consistency,
    /// The client's threads, each with its operations in program order.
    pub threads: Vec<(ThreadId, Vec<Operation>)>,
    /// The operations after the threads: the position in `threads` of the
    /// [thread that runs last](crate::Program::last_thread). Its operations come after all others,
    /// in every order.
    pub last: Option<usize>,
    /// The locations in which `init` stores the results of the operations before the threads. No
    /// thread accesses them. Empty if `init` makes no choice: there is only one result then.
    pub first: Vec<Loc>,
    /// The source position of the property.
    pub span: Span,
}

/// One call of an operation by a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The name of the call in conditions: `d1`.
    pub name: String,
    /// The code of the operation alone, with arguments substituted. Registers start as 0. The code
    /// ends with `Halt`.
    pub body: Thread,
    /// The registers of the result, if there is one: the register of `body` that holds the result
    /// at the end, and the register of the client's thread that stores it.
    pub result: Option<(Reg, Reg)>,
    /// For [`Consistency::Linearizable`] only: threads, each with the register of the client's
    /// thread in which [`Op::Invoke`] stores how many operations of that thread had returned before
    /// this call.
    pub seen: Vec<(ThreadId, Reg)>,
    /// If set, the operation may also have no effect and return this value: it gave up because of
    /// another operation.
    pub aborts: Option<Value>,
    /// If true, the operation may also return its result without its effect, so that another
    /// operation returns the same result.
    pub repeats: bool,
}

/// Computes for each program counter which operations have returned: the operations whose end
/// ([`Op::Return`]) the thread has passed, in order, each as the register of its result. The list
/// of an unreachable program counter is empty. Returns `None` if two paths to a statement pass
/// different ends.
pub fn returned_operations(thread: &Thread) -> Option<Vec<Vec<Option<Reg>>>> {
    let mut passed: Vec<Option<Vec<Option<Reg>>>> = vec![None; thread.code.len()];
    passed[0] = Some(Vec::new());
    let mut pending = vec![Pc(0)];
    while let Some(pc) = pending.pop() {
        let stmt = thread.stmt(pc);
        let mut after = passed[pc.index()].clone().expect("a pending statement has a list");
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
    fn returns_accumulate_along_a_path() {
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
        assert_eq!(returned_operations(&thread(code)), Some(passed));
    }

    #[test]
    fn paths_with_different_returns_are_rejected() {
        let end = || Op::Return { result: None };
        assert_eq!(
            returned_operations(&thread(vec![(branch(1, 2), 0), (end(), 2), (Op::Halt, 0)])),
            None
        );
        assert_eq!(returned_operations(&thread(vec![(end(), 0)])), None, "a loop");
    }
}
