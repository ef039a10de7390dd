//! Waits: loops that only re-read.
//!
//! A round of such a loop that leads back to its head has changed nothing: no location, and no register that
//! is read later. So nothing is lost when it does not happen: the thread waits until a round leaves the
//! loop. [`without_waits`] makes that explicit. An edge back to the head of such a loop leads to a statement
//! of its own that can never be passed, a *dead end*, instead; whoever explores the program treats a step
//! that would end there as one that is not possible yet.
//!
//! What counts as only re-reading: loads, local statements, fences, drains, and a compare-and-swap
//! whose success leaves the loop.

use crate::expr::{Expr, UnOp};
use crate::flow::{self, successors};
use crate::ids::{Pc, Reg, ThreadId};
use crate::op::{Op, Update};
use crate::program::{Problem, Stmt, Thread};

/// A problem whose waits lead to dead ends.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The problem. Every program counter of the original means the same in it.
    pub problem: Problem,
    /// By thread: the first dead end; all statements from there on are dead ends.
    dead_ends: Vec<Pc>,
}

impl Waiting {
    /// Whether a thread that is here has gone round in a wait.
    #[inline]
    pub fn is_dead_end(&self, thread: ThreadId, pc: Pc) -> bool {
        pc >= self.dead_ends[thread.index()]
    }

    /// Whether the thread has a wait at all.
    pub fn has_waits(&self, thread: ThreadId) -> bool {
        self.dead_ends[thread.index()].index() < self.problem.program.thread(thread).code.len()
    }
}

impl Waiting {
    /// Whether some thread can go round in its code, waits aside.
    pub fn has_loops(&self) -> bool {
        self.problem.program.threads.iter().any(|thread| {
            let goes_back = |at: usize| {
                let mut seen = vec![false; thread.code.len()];
                let mut open: Vec<Pc> = successors(&thread.code[at]).collect();
                while let Some(here) = open.pop() {
                    if here.index() == at {
                        return !is_dead_end(thread, at);
                    }
                    if !std::mem::replace(&mut seen[here.index()], true) {
                        open.extend(successors(thread.stmt(here)));
                    }
                }
                false
            };
            (0..thread.code.len()).any(goes_back)
        })
    }
}

/// Whether a statement is a dead end: it leads to itself, but nobody passes it.
fn is_dead_end(thread: &Thread, at: usize) -> bool {
    matches!(thread.code[at].op, Op::Assume(Expr::Const(0)))
}

/// Cuts the waits of all threads. What registers hold at the end matters where a property looks
/// at them and, with `outcomes`, where an outcome shows them.
pub fn without_waits(problem: &Problem, outcomes: bool) -> Waiting {
    let mut cut = problem.clone();
    let mut dead_ends = Vec::new();
    for (at, thread) in cut.program.threads.iter_mut().enumerate() {
        dead_ends.push(Pc::from_index(thread.code.len()));
        let live = flow::live_registers(
            thread,
            &[],
            &problem.kept_registers(ThreadId::from_index(at), outcomes),
        );
        for edge in fruitless(thread, &live) {
            let end = Pc::from_index(thread.code.len());
            let from = &mut thread.code[edge.from.index()];
            let stmt = Stmt {
                label: from.label,
                op: Op::Assume(Expr::Const(0)),
                next: end,
                critical: from.critical,
            };
            if let Op::Branch { then, otherwise, .. } = &mut from.op {
                *(if edge.first { then } else { otherwise }) = end;
            } else {
                from.next = end;
            }
            thread.code.push(stmt);
        }
    }
    Waiting { problem: cut, dead_ends }
}

/// An edge of the control flow.
#[derive(Clone, Copy, Debug)]
struct Edge {
    from: Pc,
    /// For a branch: whether it is the edge of a condition that holds.
    first: bool,
}

/// The edges on which a round of a wait ends.
fn fruitless(thread: &Thread, live: &[Vec<bool>]) -> Vec<Edge> {
    let ways_in = flow::ways_in(thread);
    let mut found = Vec::new();
    for (at, stmt) in thread.code.iter().enumerate() {
        let from = Pc::from_index(at);
        for (number, to) in successors(stmt).enumerate() {
            let is_round = |head: &Pc| {
                dominates(thread, *head, from) && is_wait(thread, &ways_in, live, *head, from)
            };
            if onward(thread, to).any(|head| is_round(&head)) {
                found.push(Edge { from, first: number == 0 });
            }
        }
    }
    found
}

/// A program counter and those that control comes to from it without doing anything but waiting for own
/// stores.
fn onward(thread: &Thread, from: Pc) -> impl Iterator<Item = Pc> {
    let next = |pc: &Pc| {
        let stmt = thread.stmt(*pc);
        matches!(stmt.op, Op::Skip | Op::Fence(_) | Op::Drain(_)).then_some(stmt.next)
    };
    // A loop of such statements alone would go on for ever.
    std::iter::successors(Some(from), next).take(thread.code.len())
}

/// Whether every way from the beginning to `pc` passes `head`.
fn dominates(thread: &Thread, head: Pc, pc: Pc) -> bool {
    let mut seen = vec![false; thread.code.len()];
    let mut open = vec![Pc(0)];
    while let Some(here) = open.pop() {
        if here == head || std::mem::replace(&mut seen[here.index()], true) {
            continue;
        }
        if here == pc {
            return false;
        }
        open.extend(successors(thread.stmt(here)));
    }
    true
}

/// Whether the statements on the ways from `head` to `last` only re-read.
fn is_wait(thread: &Thread, ways_in: &[Vec<Pc>], live: &[Vec<bool>], head: Pc, last: Pc) -> bool {
    let mut body = vec![false; thread.code.len()];
    body[head.index()] = true;
    let mut open = vec![last];
    while let Some(here) = open.pop() {
        if !std::mem::replace(&mut body[here.index()], true) {
            open.extend(&ways_in[here.index()]);
        }
    }
    let inside = |pc: Pc| body[pc.index()];
    let critical = thread.stmt(head).critical;
    thread.code.iter().enumerate().filter(|(at, _)| body[*at]).all(|(at, stmt)| {
        let harmless = match &stmt.op {
            Op::Load { .. }
            | Op::Skip
            | Op::Assign { .. }
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Fence(_)
            | Op::Drain(_) => true,
            Op::Update { reg: Some(reg), update: Update::Cas { .. }, .. } => {
                success(thread, Pc::from_index(at), *reg).is_some_and(|to| !inside(to))
            }
            Op::Update { .. }
            | Op::Store { .. }
            | Op::Choose { .. }
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Halt => false,
        };
        let forgotten = stmt.op.target().is_none_or(|reg| !live[head.index()][reg.index()]);
        harmless && forgotten && stmt.critical == critical
    })
}

/// Where control goes when the compare-and-swap at `pc` succeeds, if a branch right after it decides that.
fn success(thread: &Thread, pc: Pc, result: Reg) -> Option<Pc> {
    let next = thread.stmt(pc).next;
    let branch = onward(thread, next).last().unwrap_or(next);
    let Op::Branch { cond, then, otherwise } = &thread.stmt(branch).op else { return None };
    let result = Expr::Var(result);
    if *cond == result {
        return Some(*then);
    }
    let Expr::Unary(UnOp::Not, inner) = cond else { return None };
    (**inner == result).then_some(*otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Label, Loc};
    use crate::op::Address;
    use crate::program::{Location, Program, Register};
    use crate::value::Type;

    fn problem(ops: &[(Op, u32)]) -> Problem {
        let stmt = |(op, next): &(Op, u32)| Stmt {
            label: Label(0),
            op: op.clone(),
            next: Pc(*next),
            critical: false,
        };
        let code = ops.iter().map(stmt).collect();
        let register = Register { name: "r".into(), ty: Type::Int { range: None } };
        let location = Location { name: "x".into(), ty: Type::Int { range: None }, init: 0 };
        let thread = Thread { name: "p".into(), registers: vec![register], code };
        Problem {
            program: Program {
                locations: vec![location],
                threads: vec![thread],
                ..Program::default()
            },
            ..Problem::default()
        }
    }

    fn load() -> Op {
        Op::Load { reg: Reg(0), from: Address::fixed(Loc(0)) }
    }

    fn until(cond: Expr<Reg>, out: u32) -> Op {
        Op::Branch { cond, then: Pc(out), otherwise: Pc(0) }
    }

    fn has_wait(problem: &Problem) -> bool {
        without_waits(problem, false).has_waits(ThreadId(0))
    }

    #[test]
    fn a_loop_that_only_reads_is_a_wait() {
        let waiting = problem(&[(load(), 1), (until(Expr::Var(Reg(0)), 2), 0), (Op::Halt, 0)]);
        let cut = without_waits(&waiting, false);
        assert!(cut.has_waits(ThreadId(0)));
        assert!(cut.is_dead_end(ThreadId(0), Pc(3)) && !cut.is_dead_end(ThreadId(0), Pc(2)));
        let branch = Op::Branch { cond: Expr::Var(Reg(0)), then: Pc(2), otherwise: Pc(3) };
        assert_eq!(cut.problem.program.threads[0].code[1].op, branch);
    }

    #[test]
    fn a_loop_that_stores_or_counts_is_none() {
        let store = Op::Store { to: Address::fixed(Loc(0)), value: Expr::Const(1) };
        let var = || Expr::Var(Reg(0));
        assert!(!has_wait(&problem(&[(store, 1), (until(var(), 2), 0), (Op::Halt, 0)])));
        let more = Expr::Binary(crate::BinOp::Add, Box::new(var()), Box::new(Expr::Const(1)));
        let count = Op::Assign { reg: Reg(0), expr: more };
        assert!(!has_wait(&problem(&[(count, 1), (until(var(), 2), 0), (Op::Halt, 0)])));
    }

    #[test]
    fn a_swap_that_fails_may_be_tried_again() {
        let cas = |reg| Op::Update {
            reg,
            at: Address::fixed(Loc(0)),
            update: Update::Cas { expected: Expr::Const(0), new: Expr::Const(1) },
        };
        let out = until(Expr::Var(Reg(0)), 2);
        assert!(has_wait(&problem(&[(cas(Some(Reg(0))), 1), (out, 0), (Op::Halt, 0)])));
        let back = Op::Branch { cond: Expr::Var(Reg(0)), then: Pc(0), otherwise: Pc(2) };
        assert!(!has_wait(&problem(&[(cas(Some(Reg(0))), 1), (back, 0), (Op::Halt, 0)])));
    }
}
