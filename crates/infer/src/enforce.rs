//! Enforcing a formula of constraints: the cheapest placement that does.
//!
//! Source: \[KVY10\] IV-C asks for `implement(P, formula)` and suggests a fence right after `L1` or right
//! before `L2`. DIVERGENCE: a fence anywhere between them counts, on every path. Direction: a constraint
//! `L1 < L2` counts as kept when in every thread each path of the control-flow graph that leaves a statement
//! `L1` and arrives at one `L2` meets a barrier of a kind that orders the two, one the author wrote, or an
//! `atomic` block; what the model or the values on the way order by themselves is not looked at. So a
//! placement found here is always enough for the formula, and there may be a cheaper one that
//! keeps the runs, but not all paths, in order.
//!
//! *Exact, without a SAT solver.* The usual encoding has a variable for "reachable from `L1` without a suitable
//! fence" at each statement, and asks for a cheapest solution. Here its clauses are found when they are
//! needed: if a clause of the formula has no kept constraint, then each of its constraints has a path
//! without a barrier, and one of the barriers that fit on one of these paths must be there. Every placement that
//! keeps the formula hits every such clause, so the cheapest set that hits those found so far costs no more
//! than the cheapest placement; and when it keeps the formula, it is one. Each round adds a clause that was not
//! hit, and there are finitely many.

use crate::candidates::Candidates;
use crate::constraint::Constraint;
use crate::fixpoint::Avoidance;
use crate::hitting::Clauses;
use crate::set::Set;
use fencepost_ir::{
    Access, Barrier, FenceKinds, Label, Op, Pc, Placement, Problem, Program, Thread, Written, flow,
    placement,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Placements that keep a formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Enforced {
    /// The cheapest ones, as many as wanted.
    pub placements: Vec<Placement>,
    /// What each costs, in units of the menu.
    pub price: u32,
    /// How often a placement was proposed that was not enough.
    pub rounds: u32,
}

/// A clause of the formula that no candidates keep: none of these constraints can be enforced. Empty when
/// nothing could be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unenforceable {
    /// The constraints.
    pub constraints: Vec<Constraint>,
}

/// The cheapest placements of candidates that keep a formula in all problems, not more than `limit` (at
/// least one).
pub fn enforce(
    problems: &[Problem],
    avoidance: &Avoidance,
    candidates: &Candidates,
    limit: usize,
) -> Result<Enforced, Unenforceable> {
    let codes = codes(problems, candidates);
    let mut clauses = Clauses::over(candidates.len());
    let mut rounds = 0;
    loop {
        let sets = clauses.all_cheapest(&candidates.costs, limit.max(1));
        let mut enough = true;
        for (set, clause) in sets.iter().flat_map(|s| avoidance.formula.iter().map(move |c| (s, c)))
        {
            let Some(missing) = missing(&codes, avoidance, candidates, clause, set) else {
                continue;
            };
            if missing.is_empty() {
                return Err(Unenforceable { constraints: avoidance.named(clause) });
            }
            clauses.add(missing);
            enough = false;
        }
        if enough {
            let placements: Vec<Placement> = sets.iter().map(|s| candidates.placement(s)).collect();
            let price = placements.first().map_or(0, |first| candidates.price(first));
            return Ok(Enforced { placements, price, rounds });
        }
        rounds += 1;
    }
}

/// Whether a set of candidates keeps a constraint in all problems.
pub fn is_kept(
    problems: &[Problem],
    constraint: Constraint,
    candidates: &Candidates,
    set: &Set,
) -> bool {
    let codes = codes(problems, candidates);
    codes.iter().all(|code| code.gap(constraint, candidates, set).is_none())
}

/// What would have to be added to a set so that it keeps one constraint of a clause; none if it does.
fn missing(
    codes: &[Code<'_>],
    avoidance: &Avoidance,
    candidates: &Candidates,
    clause: &Set,
    set: &Set,
) -> Option<Set> {
    let mut missing = Set::below(candidates.len());
    for at in clause.iter() {
        let constraint = avoidance.constraints[at];
        let gaps = codes.iter().filter_map(|code| code.gap(constraint, candidates, set));
        missing.union_with(&gaps.min_by_key(Set::len)?);
    }
    Some(missing)
}

/// One thread's code with what matters for paths.
#[derive(Debug)]
struct Code<'a> {
    thread: &'a Thread,
    /// By program counter: the candidates that stand there.
    candidates: Vec<Vec<usize>>,
    /// By program counter: the fence that stands there anyway.
    fences: Vec<FenceKinds>,
    /// By program counter: whether control comes there outside of atomic blocks.
    reached: Vec<bool>,
}

/// The different codes of the threads of all problems.
fn codes<'a>(problems: &'a [Problem], candidates: &Candidates) -> Vec<Code<'a>> {
    let mut found: Vec<Code<'a>> = Vec::new();
    for program in problems.iter().map(|p| &p.program) {
        for thread in &program.threads {
            if !found.iter().any(|other| other.thread.code == thread.code) {
                found.push(Code::new(program, thread, candidates));
            }
        }
    }
    found
}

impl<'a> Code<'a> {
    fn new(program: &Program, thread: &'a Thread, candidates: &Candidates) -> Self {
        let mut at_label: BTreeMap<Label, Vec<usize>> = BTreeMap::new();
        for (number, atom) in candidates.atoms.iter().enumerate() {
            at_label.entry(program.place(atom.place).label).or_default().push(number);
        }
        let dropped: BTreeSet<Label> = match candidates.written {
            Written::Kept => BTreeSet::new(),
            Written::Dropped => program.places.iter().map(|place| place.label).collect(),
        };
        let code = thread.code.iter();
        let fence = |op: &Op, label: Label| {
            let Op::Fence(kinds) = op else { return FenceKinds::default() };
            if dropped.contains(&label) { FenceKinds::default() } else { *kinds }
        };
        Code {
            thread,
            candidates: code
                .clone()
                .map(|stmt| at_label.get(&stmt.label).cloned().unwrap_or_default())
                .collect(),
            fences: code.map(|stmt| fence(&stmt.op, stmt.label)).collect(),
            reached: reached(thread),
        }
    }

    /// The candidates that would close a gap: a path from the constraint's first statement to its second
    /// that meets no barrier. Of several gaps, one that the fewest candidates close; none if there is none.
    fn gap(&self, constraint: Constraint, candidates: &Candidates, set: &Set) -> Option<Set> {
        let accesses = |label: Label| {
            self.thread.code.iter().enumerate().filter_map(move |(at, stmt)| {
                let access = stmt.op.access().filter(|_| stmt.label == label)?;
                Some((Pc::from_index(at), access))
            })
        };
        let kinds: BTreeSet<Access> = accesses(constraint.after).map(|(_, kind)| kind).collect();
        let mut best: Option<Set> = None;
        for (from, before) in accesses(constraint.before) {
            if !self.reached[from.index()] {
                continue;
            }
            for after in &kinds {
                let ends = |pc: Pc| {
                    let stmt = self.thread.stmt(pc);
                    stmt.label == constraint.after && stmt.op.access() == Some(*after)
                };
                let pair = Pair { from, before, after: *after };
                let gap = self.path(pair, ends, candidates, set);
                if let Some(gap) = gap
                    && best.as_ref().is_none_or(|best| gap.len() < best.len())
                {
                    best = Some(gap);
                }
            }
        }
        best
    }

    /// The candidates along a path without a barrier, one with the fewest of them (Dijkstra).
    fn path(
        &self,
        pair: Pair,
        ends: impl Fn(Pc) -> bool,
        candidates: &Candidates,
        set: &Set,
    ) -> Option<Set> {
        let fitting = |pc: Pc| {
            let here = self.candidates[pc.index()].iter().copied();
            here.filter(move |number| self.fits(pair, pc, candidates.atoms[*number].barrier))
        };
        let mut before: Vec<Option<Pc>> = vec![None; self.thread.code.len()];
        let mut nearest = vec![usize::MAX; self.thread.code.len()];
        let mut heap = BinaryHeap::new();
        let mut visit = |from: Pc, distance: usize, heap: &mut BinaryHeap<_>, first: bool| {
            for next in flow::successors(self.thread.stmt(from)) {
                let stmt = self.thread.stmt(next);
                let fenced = self.fences[next.index()].orders(pair.before, pair.after)
                    || matches!(stmt.op, Op::AtomicBegin)
                    || fitting(next).any(|number| set.contains(number));
                let distance = distance + fitting(next).count();
                if !fenced && distance < nearest[next.index()] {
                    nearest[next.index()] = distance;
                    before[next.index()] = (!first).then_some(from);
                    heap.push(Reverse((distance, next)));
                }
            }
        };
        visit(pair.from, 0, &mut heap, true);
        while let Some(Reverse((distance, pc))) = heap.pop() {
            if ends(pc) {
                let on_path = std::iter::successors(Some(pc), |pc| before[pc.index()]);
                return Some(Set::of(candidates.len(), on_path.flat_map(fitting)));
            }
            visit(pc, distance, &mut heap, false);
        }
        None
    }

    /// Whether a barrier at a place orders two accesses.
    fn fits(&self, pair: Pair, place: Pc, barrier: Barrier) -> bool {
        match barrier {
            Barrier::Fence(kinds) => kinds.orders(pair.before, pair.after),
            // Nothing but one store leads to such a place; it has to be this one.
            Barrier::Drain(store) => {
                self.thread.stmt(pair.from).label == store
                    && placement::drained(self.thread, place, store).is_some()
                    && self.leads_straight(pair.from, place)
            }
        }
    }

    /// Whether only statements that do nothing lie between two.
    fn leads_straight(&self, from: Pc, to: Pc) -> bool {
        let mut at = self.thread.stmt(from).next;
        for _ in 0..self.thread.code.len() {
            if at == to {
                return true;
            }
            if !matches!(self.thread.stmt(at).op, Op::Skip | Op::Fence(_) | Op::Drain(_)) {
                return false;
            }
            at = self.thread.stmt(at).next;
        }
        false
    }
}

/// Two accesses to be ordered: the first of them, and what both do.
#[derive(Clone, Copy, Debug)]
struct Pair {
    from: Pc,
    before: Access,
    after: Access,
}

/// By program counter: whether control comes there outside of atomic blocks. What happens inside of one
/// is never pending.
fn reached(thread: &Thread) -> Vec<bool> {
    let mut outside = vec![false; thread.code.len()];
    let mut inside = vec![false; thread.code.len()];
    let mut stack = vec![(Pc(0), false)];
    while let Some((pc, atomic)) = stack.pop() {
        let known = if atomic { &mut inside } else { &mut outside };
        if std::mem::replace(&mut known[pc.index()], true) {
            continue;
        }
        let stmt = thread.stmt(pc);
        let atomic =
            !matches!(stmt.op, Op::AtomicEnd) && (atomic || matches!(stmt.op, Op::AtomicBegin));
        stack.extend(flow::successors(stmt).map(|next| (next, atomic)));
    }
    outside
}

#[cfg(test)]
mod tests;
