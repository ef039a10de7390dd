//! Detection and cutting of spin loops: loops that only re-read until a condition holds.
//!
//! A failed spin iteration returns to the head of the loop. It changes no location, and no register
//! that is read later has another value than before. An exploration can therefore omit failed iterations and let the thread wait
//! until an iteration leaves the loop. [`spin_assume`] makes this explicit: it redirects each back
//! edge of a spin loop to a new statement `assume(false)`, a *cut point*. An exploration treats a
//! step that would end at a cut point as disabled.
//!
//! The body of a spin loop consists of loads, local statements, fences, drains, and
//! compare-and-swaps that leave the loop on success. Every iteration has a load or a
//! compare-and-swap. A loop with an iteration that accesses nothing is not a spin loop: nothing can
//! end it, and the step that would end at its cut point contains an access before the loop, which
//! must not be omitted. A loop in an `atomic` block is not a spin loop either: nothing changes
//! inside the block, so the loop never ends.

use crate::constants::constants;
use crate::dominators::FlowGraph;
use crate::expr::{BinOp, Expr, UnOp};
use crate::flow::{self, successors};
use crate::ids::{Pc, Reg, ThreadId};
use crate::op::{CasResult, Op, Update};
use crate::program::{Problem, Stmt, Thread};
use crate::value::Value;
use std::collections::BTreeSet;

/// A problem whose spin loops are cut, or kept by [`keep_spin_loops`].
#[derive(Clone, Debug)]
pub struct SpinAssumed {
    /// The transformed problem. Unless it is unrolled, the program counters of the original problem
    /// remain valid.
    pub problem: Problem,
    /// The original problem.
    pub original: Problem,
    /// Indexed by thread: the first bound point of [`unwind`](crate::unwind::unwind). The bound
    /// points are before the cut points.
    pub(crate) bound_points: Vec<Pc>,
    /// Indexed by thread: the first cut point. All statements from there on are cut points.
    pub(crate) cut_points: Vec<Pc>,
    /// By thread and program counter: where the original thread is.
    pub(crate) origins: Vec<Vec<Pc>>,
}

impl SpinAssumed {
    /// Returns the program counter of the original thread. A thread at a cut point continues its
    /// loop there.
    pub fn original_pc(&self, thread: ThreadId, pc: Pc) -> Pc {
        self.origins[thread.index()][pc.index()]
    }

    /// Returns whether a program counter is a cut point: the thread has failed a spin iteration.
    #[inline]
    pub fn is_cut_point(&self, thread: ThreadId, pc: Pc) -> bool {
        pc >= self.cut_points[thread.index()]
    }

    /// Returns whether a program counter is a bound point: the thread would begin another iteration
    /// of an unrolled loop.
    pub fn is_bound_point(&self, thread: ThreadId, pc: Pc) -> bool {
        (self.bound_points[thread.index()]..self.cut_points[thread.index()]).contains(&pc)
    }

    /// Returns whether a spin loop of some thread is cut.
    pub fn has_cut_points(&self) -> bool {
        let mut threads = self.problem.program.thread_ids();
        threads.any(|thread| self.has_spin_loops(thread))
    }

    /// Returns whether a spin loop of the thread is cut.
    pub fn has_spin_loops(&self, thread: ThreadId) -> bool {
        self.cut_points[thread.index()].index() < self.problem.program.thread(thread).code.len()
    }
}

impl SpinAssumed {
    /// Returns whether some thread has a cycle in its control flow, ignoring cut spin loops.
    pub fn has_loops(&self) -> bool {
        let mut threads = self.problem.program.threads.iter();
        threads.any(|thread| {
            flow::near_cycles(thread, |at| is_assume_false(thread, at)).contains(&true)
        })
    }
}

/// Returns whether a statement is `assume(false)`. A cut point is its own successor, but control
/// never passes it.
pub(crate) fn is_assume_false(thread: &Thread, at: usize) -> bool {
    matches!(thread.code[at].op, Op::Assume(Expr::Const(0)))
}

/// Cuts the spin loops of all threads. Registers in properties are live in final states and, if
/// `outcomes` is set, so are registers in outcomes.
pub fn spin_assume(problem: &Problem, outcomes: bool) -> SpinAssumed {
    let mut cut = problem.clone();
    let mut cut_points = Vec::new();
    let mut origins = Vec::new();
    for (at, thread) in cut.program.threads.iter_mut().enumerate() {
        cut_points.push(Pc::from_index(thread.code.len()));
        let mut thread_origins: Vec<Pc> = (0..thread.code.len()).map(Pc::from_index).collect();
        let live = flow::live_registers(
            thread,
            &[],
            &problem.observed_registers(ThreadId::from_index(at), outcomes),
        );
        for edge in failed_iteration_edges(thread, &changeable_registers(thread, live)) {
            let cut_point = Pc::from_index(thread.code.len());
            let from = &mut thread.code[edge.from.index()];
            let stmt = Stmt {
                label: from.label,
                op: Op::Assume(Expr::Const(0)),
                next: cut_point,
                critical: from.critical,
            };
            let successor = if let Op::Branch { then, otherwise, .. } = &mut from.op {
                if edge.is_then { then } else { otherwise }
            } else {
                &mut from.next
            };
            thread_origins.push(std::mem::replace(successor, cut_point));
            thread.code.push(stmt);
        }
        origins.push(thread_origins);
    }
    let bound_points = cut_points.clone();
    SpinAssumed { problem: cut, original: problem.clone(), bound_points, cut_points, origins }
}

/// Keeps the spin loops of all threads: there are no cut points, and failed iterations are taken.
pub fn keep_spin_loops(problem: &Problem) -> SpinAssumed {
    let threads = &problem.program.threads;
    let ends: Vec<Pc> = threads.iter().map(|thread| Pc::from_index(thread.code.len())).collect();
    let origins = |thread: &Thread| (0..thread.code.len()).map(Pc::from_index).collect();
    SpinAssumed {
        problem: problem.clone(),
        original: problem.clone(),
        bound_points: ends.clone(),
        cut_points: ends,
        origins: threads.iter().map(origins).collect(),
    }
}

/// Returns the live registers that are not constant where they are live: an iteration may change
/// them. A compare-and-swap that resets its expected value before it tries again does not.
fn changeable_registers(thread: &Thread, mut live: Vec<Vec<bool>>) -> Vec<Vec<bool>> {
    for (live, constants) in live.iter_mut().zip(constants(thread)) {
        for (is_live, constant) in live.iter_mut().zip(constants) {
            *is_live &= constant.is_none();
        }
    }
    live
}

/// An edge of the control-flow graph.
#[derive(Clone, Copy, Debug)]
struct Edge {
    from: Pc,
    /// For a branch: whether this is the edge for a true condition.
    is_then: bool,
}

/// Returns the edges that end a failed spin iteration: control continues at the head of a spin
/// loop, directly or through skips, fences and drains.
fn failed_iteration_edges(thread: &Thread, live: &[Vec<bool>]) -> Vec<Edge> {
    let predecessors = flow::predecessors(thread);
    let graph = FlowGraph::new(Pc(0), |pc| successors(thread.stmt(pc)).collect());
    let dominates = |head: Pc, pc: Pc| match (graph.position(head), graph.position(pc)) {
        (Some(head), Some(pc)) => graph.dominates(head, pc),
        (None, _) | (_, None) => false,
    };
    let near_cycles = flow::near_cycles(thread, |_| false);
    let mut loops = Loops::new(thread, &predecessors);
    let atomic = flow::atomic_statements(thread, false);
    let mut found = Vec::new();
    for (at, stmt) in
        thread.code.iter().enumerate().filter(|(at, _)| near_cycles[*at] && !atomic[*at])
    {
        let from = Pc::from_index(at);
        for (number, to) in successors(stmt).enumerate() {
            let mut is_spin_head = |head: &Pc| {
                near_cycles[head.index()]
                    && may_be_head(&predecessors, *head)
                    && dominates(*head, from)
                    && loops.is_spin_loop(live, *head, from)
            };
            if after_fences(thread, to).any(|head| is_spin_head(&head)) {
                found.push(Edge { from, is_then: number == 0 });
            }
        }
    }
    found
}

/// Returns whether a statement may be the head of a loop. The head of a loop has a predecessor in
/// the loop and, unless the thread starts there, one outside.
fn may_be_head(predecessors: &[Vec<Pc>], pc: Pc) -> bool {
    pc == Pc(0) || predecessors[pc.index()].len() > 1
}

/// Returns a program counter and all program counters that control reaches from there through
/// skips, fences and drains only.
fn after_fences(thread: &Thread, from: Pc) -> impl Iterator<Item = Pc> {
    let next = |pc: &Pc| {
        let stmt = thread.stmt(*pc);
        matches!(stmt.op, Op::Skip | Op::Fence(_) | Op::Drain(_)).then_some(stmt.next)
    };
    // `take` bounds a loop that consists of such statements only.
    std::iter::successors(Some(from), next).take(thread.code.len())
}

/// A set of statements that is cleared in constant time, so that a loop takes time in its own size
/// and not in that of the thread.
struct Marks {
    rounds: Vec<u32>,
    round: u32,
}

impl Marks {
    fn new(thread: &Thread) -> Self {
        Marks { rounds: vec![0; thread.code.len()], round: 0 }
    }

    fn clear(&mut self) {
        self.round += 1;
    }

    /// Adds a statement. Returns whether it is new.
    fn insert(&mut self, pc: Pc) -> bool {
        std::mem::replace(&mut self.rounds[pc.index()], self.round) != self.round
    }

    fn contains(&self, pc: Pc) -> bool {
        self.rounds[pc.index()] == self.round
    }
}

/// The natural loops of a thread, one at a time.
pub(crate) struct Loops<'a> {
    thread: &'a Thread,
    predecessors: &'a [Vec<Pc>],
    /// The body of the current loop.
    body: Marks,
}

impl<'a> Loops<'a> {
    pub(crate) fn new(thread: &'a Thread, predecessors: &'a [Vec<Pc>]) -> Self {
        Loops { thread, predecessors, body: Marks::new(thread) }
    }

    /// Returns whether the loop with this head and the back edge from `last` is a spin loop. The
    /// head dominates `last`.
    pub(crate) fn is_spin_loop(&mut self, live: &[Vec<bool>], head: Pc, last: Pc) -> bool {
        let body = self.find_body(head, &[last]);
        self.only_reads(live, &body, head, last)
    }

    /// Returns whether the loop with this head and these back edges becomes a spin loop if its
    /// iterations begin after `branch`, the test at its head. The head dominates the back edges.
    pub(crate) fn spins_after_test(
        &mut self,
        live: &[Vec<bool>],
        head: Pc,
        back_edges: &[Pc],
        branch: Pc,
    ) -> bool {
        let body = self.find_body(head, back_edges);
        let inside = |pc: &Pc| self.body.contains(*pc);
        let mut begins = successors(self.thread.stmt(branch)).filter(inside);
        match (begins.next(), begins.next()) {
            (Some(begin), None) => self.only_reads(live, &body, begin, branch),
            (None, _) | (Some(_), Some(_)) => false,
        }
    }

    /// Finds the statements of the loop with this head and these back edges.
    fn find_body(&mut self, head: Pc, back_edges: &[Pc]) -> Vec<Pc> {
        self.body.clear();
        self.body.insert(head);
        let mut body = vec![head];
        let mut open = back_edges.to_vec();
        while let Some(here) = open.pop() {
            if self.body.insert(here) {
                body.push(here);
                open.extend(&self.predecessors[here.index()]);
            }
        }
        body
    }

    /// Returns whether the iterations of the current loop, which begin at `begin` and end at `last`,
    /// only read. `body` contains the statements of the loop.
    fn only_reads(&self, live: &[Vec<bool>], body: &[Pc], begin: Pc, last: Pc) -> bool {
        let thread = self.thread;
        let inside = |pc: Pc| self.body.contains(pc);
        if may_access_nothing(thread, inside, begin, last) {
            return false;
        }
        let critical = thread.stmt(begin).critical;
        body.iter().all(|at| {
            let stmt = thread.stmt(*at);
            let only_reads = match &stmt.op {
                Op::Load { .. }
                | Op::Skip
                | Op::Assign { .. }
                | Op::Branch { .. }
                | Op::Assume(_)
                | Op::Assert(_)
                | Op::Fence(_)
                | Op::Drain(_) => true,
                Op::Update {
                    reg: Some(reg), update: Update::Cas { expected, result, .. }, ..
                } => {
                    // A success that returns through fences stays in the loop, too.
                    success_target(thread, *at, *reg, expected, *result)
                        .is_some_and(|to| !after_fences(thread, to).any(inside))
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
                | Op::Join
                | Op::SectionBegin { .. }
                | Op::SectionEnd { .. }
                | Op::GracePeriod { .. }
                | Op::Halt => false,
            };
            let keeps_live_registers =
                stmt.op.target().is_none_or(|reg| !live[begin.index()][reg.index()]);
            only_reads && keeps_live_registers && stmt.critical == critical
        })
    }
}

/// Returns whether a path inside a loop, from its head to `last`, accesses no location.
fn may_access_nothing(thread: &Thread, inside: impl Fn(Pc) -> bool, head: Pc, last: Pc) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![head];
    while let Some(here) = open.pop() {
        let stmt = thread.stmt(here);
        let accesses = matches!(stmt.op, Op::Load { .. } | Op::Update { .. });
        if accesses || !inside(here) || !seen.insert(here) {
            continue;
        }
        if here == last {
            return true;
        }
        open.extend(successors(stmt));
    }
    false
}

/// Returns the successor of a successful compare-and-swap at `pc`, if the next statement with an
/// effect is a branch whose direction follows from the success.
fn success_target(
    thread: &Thread,
    pc: Pc,
    reg: Reg,
    expected: &Expr<Reg>,
    result: CasResult,
) -> Option<Pc> {
    let next = thread.stmt(pc).next;
    let branch = after_fences(thread, next).last().unwrap_or(next);
    let Op::Branch { cond, then, otherwise } = &thread.stmt(branch).op else { return None };
    let on_success = match result {
        CasResult::Success => Some(1),
        CasResult::Old => expected.as_const(),
    };
    let holds = match on_success {
        Some(value) => truth(cond, reg, value),
        None => compares(cond, reg, expected),
    };
    holds.map(|holds| if holds { *then } else { *otherwise })
}

/// Returns the truth value of a condition if a register has a value. None if it reads others.
fn truth(cond: &Expr<Reg>, reg: Reg, value: Value) -> Option<bool> {
    let mut reads_only_it = true;
    cond.for_each_var(&mut |other| reads_only_it &= *other == reg);
    let result = cond.eval(&|_: &Reg| value).ok()?;
    reads_only_it.then_some(result != 0)
}

/// Returns the truth value of a condition if a register has the value of an expression, for
/// conditions that compare the two. None if the register is a part of the expression.
fn compares(cond: &Expr<Reg>, reg: Reg, value: &Expr<Reg>) -> Option<bool> {
    let mut is_read = false;
    value.for_each_var(&mut |other| is_read |= *other == reg);
    match cond {
        Expr::Unary(UnOp::Not, inner) => compares(inner, reg, value).map(|holds| !holds),
        Expr::Binary(op @ (BinOp::Eq | BinOp::Ne), a, b) => {
            let (found, value) = (&Expr::Var(reg), value);
            let is_both = (&**a, &**b) == (found, value) || (&**a, &**b) == (value, found);
            (is_both && !is_read).then_some(*op == BinOp::Eq)
        }
        Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => {
            None
        }
    }
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
        let thread = Thread { name: "p".into(), registers: vec![register.clone(), register], code };
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

    fn has_spin_loop(problem: &Problem) -> bool {
        spin_assume(problem, false).has_spin_loops(ThreadId(0))
    }

    #[test]
    fn a_loop_that_only_reads_is_a_spin_loop() {
        let spinning = problem(&[(load(), 1), (until(Expr::Var(Reg(0)), 2), 0), (Op::Halt, 0)]);
        let cut = spin_assume(&spinning, false);
        assert!(cut.has_spin_loops(ThreadId(0)));
        assert!(cut.is_cut_point(ThreadId(0), Pc(3)) && !cut.is_cut_point(ThreadId(0), Pc(2)));
        let branch = Op::Branch { cond: Expr::Var(Reg(0)), then: Pc(2), otherwise: Pc(3) };
        assert_eq!(cut.problem.program.threads[0].code[1].op, branch);
    }

    #[test]
    fn a_kept_spin_loop_has_no_cut_point() {
        let spinning = problem(&[(load(), 1), (until(Expr::Var(Reg(0)), 2), 0), (Op::Halt, 0)]);
        assert!(spin_assume(&spinning, false).has_cut_points());
        let kept = keep_spin_loops(&spinning);
        assert!(!kept.has_cut_points() && kept.has_loops());
        assert_eq!(kept.problem, spinning);
        assert_eq!(kept.original_pc(ThreadId(0), Pc(1)), Pc(1));
    }

    #[test]
    fn a_loop_that_stores_or_counts_is_not_a_spin_loop() {
        let store = Op::Store { to: Address::fixed(Loc(0)), value: Expr::Const(1) };
        let var = || Expr::Var(Reg(0));
        assert!(!has_spin_loop(&problem(&[(store, 1), (until(var(), 2), 0), (Op::Halt, 0)])));
        let more = Expr::Binary(crate::BinOp::Add, Box::new(var()), Box::new(Expr::Const(1)));
        let count = Op::Assign { reg: Reg(0), expr: more };
        assert!(!has_spin_loop(&problem(&[(count, 1), (until(var(), 2), 0), (Op::Halt, 0)])));
    }

    #[test]
    fn a_loop_with_an_iteration_that_reads_nothing_is_not_a_spin_loop() {
        assert!(!has_spin_loop(&problem(&[(Op::Skip, 0)])));
        let silent = [(Op::Skip, 1), (until(Expr::Const(0), 2), 0), (Op::Halt, 0)];
        assert!(!has_spin_loop(&problem(&silent)));
        // One of two paths back to the head has no load.
        let branch = Op::Branch { cond: Expr::Const(1), then: Pc(1), otherwise: Pc(2) };
        let code = [(branch, 0), (load(), 2), (until(Expr::Const(0), 3), 0), (Op::Halt, 0)];
        assert!(!has_spin_loop(&problem(&code)));
    }

    #[test]
    fn a_loop_that_retries_a_failed_cas_is_a_spin_loop() {
        let cas = |reg| Op::Update {
            reg,
            at: Address::fixed(Loc(0)),
            update: Update::cas(Expr::Const(0), Expr::Const(1)),
        };
        let out = until(Expr::Var(Reg(0)), 2);
        assert!(has_spin_loop(&problem(&[(cas(Some(Reg(0))), 1), (out, 0), (Op::Halt, 0)])));
        let back = Op::Branch { cond: Expr::Var(Reg(0)), then: Pc(0), otherwise: Pc(2) };
        assert!(!has_spin_loop(&problem(&[(cas(Some(Reg(0))), 1), (back, 0), (Op::Halt, 0)])));
        let back = Op::Branch { cond: Expr::Var(Reg(0)), then: Pc(3), otherwise: Pc(2) };
        let fence = Op::Fence(crate::FenceKinds::FULL);
        let through_fence =
            problem(&[(cas(Some(Reg(0))), 1), (back, 0), (Op::Halt, 0), (fence, 0)]);
        assert!(!has_spin_loop(&through_fence));
    }

    #[test]
    fn a_loop_that_resets_a_register_to_a_constant_is_a_spin_loop() {
        let cas = Op::Update {
            reg: Some(Reg(0)),
            at: Address::fixed(Loc(0)),
            update: Update::cas(Expr::Var(Reg(1)), Expr::Const(1)),
        };
        let is_spin_loop = |value: Expr<Reg>| {
            let branch = Op::Branch { cond: Expr::Var(Reg(0)), then: Pc(3), otherwise: Pc(2) };
            let reset = Op::Assign { reg: Reg(1), expr: value };
            has_spin_loop(&problem(&[(cas.clone(), 1), (branch, 0), (reset, 0), (Op::Halt, 0)]))
        };
        assert!(is_spin_loop(Expr::Const(0)));
        assert!(!is_spin_loop(Expr::Const(1)));
        assert!(!is_spin_loop(Expr::Var(Reg(0))));
    }

    #[test]
    fn a_loop_that_retries_a_failed_cmpxchg_is_a_spin_loop() {
        let is_spin_loop = |expected: Expr<Reg>, cond: Expr<Reg>| {
            let update = Update::Cas { expected, new: Expr::Const(7), result: CasResult::Old };
            let op = Op::Update { reg: Some(Reg(0)), at: Address::fixed(Loc(0)), update };
            has_spin_loop(&problem(&[(op, 1), (until(cond, 2), 0), (Op::Halt, 0)]))
        };
        let found = || Expr::Var(Reg(0));
        let compare = |op, with| Expr::Binary(op, Box::new(found()), Box::new(with));
        let not = |inner| Expr::Unary(UnOp::Not, Box::new(inner));
        let three = || Expr::Const(3);
        assert!(is_spin_loop(three(), compare(BinOp::Eq, three())));
        assert!(is_spin_loop(three(), not(compare(BinOp::Ne, three()))));
        assert!(is_spin_loop(Expr::Const(0), not(found())));
        // A success stays in the loop.
        assert!(!is_spin_loop(three(), compare(BinOp::Ne, three())));
        assert!(!is_spin_loop(Expr::Const(0), found()));
        let other = || Expr::Var(Reg(1));
        assert!(is_spin_loop(other(), compare(BinOp::Eq, other())));
        assert!(is_spin_loop(other(), not(compare(BinOp::Ne, other()))));
        assert!(!is_spin_loop(other(), compare(BinOp::Ne, other())));
        assert!(!is_spin_loop(other(), compare(BinOp::Eq, Expr::Const(0))));
        // The found value becomes the expected one, so iterations differ.
        assert!(!is_spin_loop(found(), compare(BinOp::Eq, found())));
    }
}
