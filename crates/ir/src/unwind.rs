//! Unrolling of loops up to a number of iterations.
//!
//! [`unwind`] copies the statements of a loop for each iteration. A thread that would go back to the
//! start of a loop more often than allowed stops at a *bound point*, a statement `assume(false)`.
//! Entering a loop again starts a new count. Loops with the same start count as one. A spin loop
//! whose failed iterations are cut ([`crate::spin_loops`]) is no longer a loop and needs no copies.
//! The copies are the same operations in the same order, so a run of the unrolled problem is a run
//! of the original one.
//!
//! Direction: under-approximation. Every run in which each loop has at most this many iterations is
//! a run of the unrolled problem, and a run that is left out reaches a bound point first. A thread
//! may begin one more iteration and stops at its end.
//!
//! An edge of the control flow goes back if its target is not later in reverse postorder. Every
//! cycle has such an edge, with or without structured loops. A loop inside an `atomic` block is
//! kept: nothing else happens inside the block, and a thread cannot stop there.
//!
//! Rejected: a register that counts iterations. The registers of the two problems would differ, and
//! with them the states, and a step would contain statements that the original step does not have.

use std::collections::btree_map::{BTreeMap, Entry};
use std::collections::{BTreeSet, VecDeque};

use crate::dominators::FlowGraph;
use crate::expr::Expr;
use crate::flow::{self, successors};
use crate::ids::{Pc, ThreadId};
use crate::op::Op;
use crate::program::{Stmt, Thread};
use crate::spin_loops::{SpinAssumed, is_assume_false};

/// The largest number of statements of an unrolled thread.
const MAX_STATEMENTS: usize = 100_000;

/// Unrolls the loops of all threads. None if a thread becomes too large.
pub fn unwind(spin_assumed: &SpinAssumed, iterations: u32) -> Option<SpinAssumed> {
    let mut unwound = spin_assumed.clone();
    for (at, thread) in spin_assumed.problem.program.threads.iter().enumerate() {
        let id = ThreadId::from_index(at);
        let Some(loops) = Loops::of(thread) else { continue };
        let copies = copies(thread, &loops, iterations)?;
        let kind = |copy: &Copy| match copy {
            Copy { is_bound: true, .. } => 1,
            Copy { pc, .. } if spin_assumed.is_cut_point(id, *pc) => 2,
            Copy { .. } => 0,
        };
        // The order of the kinds is that of `SpinAssumed`: statements, bound points, cut points.
        let mut order: Vec<usize> = (0..copies.len()).collect();
        order.sort_by_key(|at| kind(&copies[*at]));
        let mut position = vec![Pc(0); copies.len()];
        for (new, old) in order.iter().enumerate() {
            position[*old] = Pc::from_index(new);
        }
        let first_of =
            |least: u32| Pc::from_index(copies.iter().filter(|copy| kind(copy) < least).count());
        unwound.bound_points[at] = first_of(1);
        unwound.cut_points[at] = first_of(2);
        unwound.origins[at] =
            order.iter().map(|at| spin_assumed.original_pc(id, copies[*at].pc)).collect();
        let stmt = |at: &usize| statement(thread, &copies[*at], &position, position[*at]);
        unwound.problem.program.threads[at].code = order.iter().map(stmt).collect();
    }
    Some(unwound)
}

/// A copy of a statement.
struct Copy {
    pc: Pc,
    /// Whether it is a bound point, where the thread would execute the statement.
    is_bound: bool,
    /// The copies of the successors, in the order of `successors`.
    next: Vec<usize>,
}

/// Returns a copy as a statement. `position` has the new program counters of the copies, and `own`
/// is that of this copy.
fn statement(thread: &Thread, copy: &Copy, position: &[Pc], own: Pc) -> Stmt {
    let mut stmt = thread.stmt(copy.pc).clone();
    stmt.next = copy.next.first().map_or(own, |next| position[*next]);
    if copy.is_bound {
        stmt.op = Op::Assume(Expr::Const(0));
    } else if let (Op::Branch { then, otherwise, .. }, [yes, no]) =
        (&mut stmt.op, copy.next.as_slice())
    {
        (*then, *otherwise) = (position[*yes], position[*no]);
    }
    stmt
}

/// The loops of a thread outside of `atomic` blocks.
struct Loops {
    graph: FlowGraph,
    /// By program counter of the head: the statements of the loop.
    bodies: BTreeMap<Pc, BTreeSet<Pc>>,
}

impl Loops {
    /// Returns the loops of a thread. None if there are none.
    fn of(thread: &Thread) -> Option<Loops> {
        let graph = FlowGraph::new(Pc(0), |pc| next_statements(thread, pc));
        let atomic = flow::atomic_statements(thread, false);
        let mut loops = Loops { graph, bodies: BTreeMap::new() };
        let mut bodies: BTreeMap<Pc, BTreeSet<Pc>> = BTreeMap::new();
        for from in &loops.graph.order {
            for head in next_statements(thread, *from) {
                if loops.goes_back(*from, head) && !atomic[head.index()] {
                    loops.collect_body(bodies.entry(head).or_default(), *from, head);
                }
            }
        }
        loops.bodies = bodies;
        (!loops.bodies.is_empty()).then_some(loops)
    }

    /// Returns whether an edge goes back.
    fn goes_back(&self, from: Pc, to: Pc) -> bool {
        self.graph.position(to) <= self.graph.position(from)
    }

    /// Adds the statements from which control reaches `last` without passing a statement before the
    /// head.
    fn collect_body(&self, body: &mut BTreeSet<Pc>, last: Pc, head: Pc) {
        body.insert(head);
        let first = self.graph.position(head);
        let mut open = vec![last];
        while let Some(here) = open.pop() {
            let Some(at) = self.graph.position(here) else { continue };
            if Some(at) >= first && body.insert(here) {
                open.extend(self.graph.predecessors[at].iter().map(|from| self.graph.order[*from]));
            }
        }
    }
}

/// Returns the successors of a statement. Control does not pass `assume(false)`.
fn next_statements(thread: &Thread, pc: Pc) -> Vec<Pc> {
    match is_assume_false(thread, pc.index()) {
        true => Vec::new(),
        false => successors(thread.stmt(pc)).collect(),
    }
}

/// How often the current run of each enclosing loop went back, by its head. Loops that have not are
/// left out.
type Iterations = BTreeMap<Pc, u32>;

/// Returns the reachable copies of all statements. The first one is the start of the thread. None
/// if there are too many.
fn copies(thread: &Thread, loops: &Loops, most: u32) -> Option<Vec<Copy>> {
    let start = (Pc(0), Iterations::new(), false);
    let mut numbers = BTreeMap::from([(start.clone(), 0)]);
    let mut open = VecDeque::from([start]);
    let mut copies: Vec<Copy> = Vec::new();
    while let Some((pc, counts, is_bound)) = open.pop_front() {
        let mut next = Vec::new();
        let ends = if is_bound { Vec::new() } else { next_statements(thread, pc) };
        for to in ends {
            let mut counts = counts.clone();
            counts.retain(|head, _| loops.bodies[head].contains(&to));
            let mut exceeds = false;
            if loops.bodies.contains_key(&to) {
                let count = counts.remove(&to).unwrap_or(0);
                if loops.goes_back(pc, to) {
                    exceeds = count >= most;
                    counts.insert(to, count + 1);
                }
            }
            if exceeds {
                counts.clear();
            }
            let target = (to, counts, exceeds);
            let number = numbers.len();
            next.push(match numbers.entry(target) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    open.push_back(new.key().clone());
                    *new.insert(number)
                }
            });
        }
        if numbers.len() > MAX_STATEMENTS {
            return None;
        }
        copies.push(Copy { pc, is_bound, next });
    }
    Some(copies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Label, Loc, Reg};
    use crate::op::Address;
    use crate::program::{Problem, Program};
    use crate::spin_loops::spin_assume;

    fn store(value: i64) -> Op {
        Op::Store { to: Address::fixed(Loc(0)), value: Expr::Const(value) }
    }

    fn branch(then: u32, otherwise: u32) -> Op {
        Op::Branch { cond: Expr::Var(Reg(0)), then: Pc(then), otherwise: Pc(otherwise) }
    }

    fn unwound(ops: &[(Op, u32)], iterations: u32) -> Option<SpinAssumed> {
        let stmt = |(op, next): &(Op, u32)| Stmt {
            label: Label(0),
            op: op.clone(),
            next: Pc(*next),
            critical: false,
        };
        let register = crate::program::Register { name: "r".into(), ty: crate::Type::INT };
        let code = ops.iter().map(stmt).collect();
        let thread = Thread { name: "p".into(), registers: vec![register], code };
        let program = Program { threads: vec![thread], ..Program::default() };
        unwind(&spin_assume(&Problem { program, ..Problem::default() }, false), iterations)
    }

    /// Counts the copies of a store.
    fn count(unwound: &SpinAssumed, value: i64) -> usize {
        let code = &unwound.problem.program.threads[0].code;
        code.iter().filter(|stmt| stmt.op == store(value)).count()
    }

    #[test]
    fn a_loop_is_copied_and_ends_at_a_bound_point() {
        // while (r) { x = 1; }  x = 2;
        let code = [(branch(1, 2), 0), (store(1), 0), (store(2), 3), (Op::Halt, 0)];
        let unwound = unwound(&code, 3).expect("a small thread");
        assert_eq!((count(&unwound, 1), count(&unwound, 2)), (4, 1));
        let t = ThreadId(0);
        let code = &unwound.problem.program.threads[0].code;
        let bound = (0..code.len()).map(Pc::from_index).filter(|pc| unwound.is_bound_point(t, *pc));
        let bound: Vec<Pc> = bound.collect();
        assert_eq!(bound.len(), 1);
        assert_eq!(code[bound[0].index()].op, Op::Assume(Expr::Const(0)));
        assert_eq!(unwound.original_pc(t, bound[0]), Pc(0));
        assert!(!unwound.has_loops() && !unwound.has_cut_points());
    }

    #[test]
    fn an_inner_loop_is_counted_anew_in_each_iteration() {
        // do { do { x = 1; } while (r); x = 2; } while (r);
        let code =
            [(store(1), 1), (branch(0, 2), 0), (store(2), 3), (branch(0, 4), 0), (Op::Halt, 0)];
        let unwound = unwound(&code, 1).expect("a small thread");
        // Both loops have the same head, so they share a count.
        assert_eq!((count(&unwound, 1), count(&unwound, 2)), (2, 2));
        let code = [
            (store(3), 1),
            (store(1), 2),
            (branch(1, 3), 0),
            (store(2), 4),
            (branch(0, 5), 0),
            (Op::Halt, 0),
        ];
        let unwound = super::tests::unwound(&code, 1).expect("a small thread");
        assert_eq!((count(&unwound, 3), count(&unwound, 1), count(&unwound, 2)), (2, 4, 2));
        assert!(!unwound.has_loops());
    }

    #[test]
    fn a_loop_with_two_entries_is_cut() {
        // Control enters the cycle of the stores 1 and 2 at either of them.
        let code =
            [(branch(1, 2), 0), (store(1), 2), (store(2), 3), (branch(1, 4), 0), (Op::Halt, 0)];
        assert!(!unwound(&code, 2).expect("a small thread").has_loops());
    }

    #[test]
    fn threads_without_loops_and_blocks_stay_as_they_are() {
        let straight = [(store(1), 1), (store(2), 2), (Op::Halt, 0)];
        let same = unwound(&straight, 1).expect("a small thread");
        assert_eq!(same.problem, same.original);
        let block = [
            (Op::AtomicBegin, 1),
            (store(1), 2),
            (branch(1, 3), 0),
            (Op::AtomicEnd, 4),
            (Op::Halt, 0),
        ];
        let same = unwound(&block, 1).expect("a small thread");
        assert_eq!(same.problem, same.original);
    }

    #[test]
    fn a_spin_loop_is_not_copied() {
        let load = Op::Load { reg: Reg(0), from: Address::fixed(Loc(0)) };
        // do { while (!x) {}  y = 1; } while (r);
        let code = [
            (load, 1),
            (Op::Branch { cond: Expr::Var(Reg(0)), then: Pc(2), otherwise: Pc(0) }, 0),
            (store(1), 3),
            (branch(0, 4), 0),
            (Op::Halt, 0),
        ];
        let unwound = unwound(&code, 2).expect("a small thread");
        assert_eq!(count(&unwound, 1), 3);
        assert!(unwound.has_spin_loops(ThreadId(0)));
        let code = &unwound.problem.program.threads[0].code;
        let t = ThreadId(0);
        for (at, stmt) in code.iter().enumerate() {
            let pc = Pc::from_index(at);
            let stops = unwound.is_cut_point(t, pc) || unwound.is_bound_point(t, pc);
            assert_eq!(stops, stmt.op == Op::Assume(Expr::Const(0)));
        }
    }

    #[test]
    fn nested_loops_may_become_too_large() {
        let depth = 6;
        let mut code: Vec<(Op, u32)> = (0..depth).map(|at| (store(at), at as u32 + 1)).collect();
        for level in (0..depth as u32).rev() {
            code.push((branch(level, code.len() as u32 + 1), 0));
        }
        code.push((Op::Halt, 0));
        assert!(unwound(&code, 1).is_some());
        assert!(unwound(&code, 20).is_none());
    }
}
