//! Computes the cheapest placement that enforces a formula of ordering constraints.
//!
//! Source: \[KVY10\] IV-C requires `implement(P, formula)` and suggests a fence right after `L1` or
//! right before `L2`. DIVERGENCE: a fence anywhere between them counts, on every path. Direction: a
//! constraint `L1 < L2` is enforced if, in every thread, each path of the control-flow graph from a
//! statement `L1` to a statement `L2` passes a suitable barrier, a suitable fence of the user, or
//! an `atomic` block. Orders that the model or the values on the path guarantee are ignored. So
//! every placement found here is sufficient for the formula, but a cheaper placement may exist that
//! enforces the order in all runs and not on all paths.
//!
//! *Exact, without a SAT solver.* The usual encoding has a variable "reachable from `L1` without a
//! suitable fence" for each statement, and minimises the cost. Here the clauses are generated on
//! demand. If no constraint of a clause of the formula is enforced, then each of its constraints
//! has a path without a barrier, and one of the barriers that fit on one of these paths is
//! necessary. Every placement that enforces the formula hits all of these clauses, so the cheapest
//! set that hits the clauses found so far is a lower bound. If that set enforces the formula, it is
//! a cheapest placement. Each round adds a clause that was not hit, and there are finitely many
//! clauses.

use crate::candidates::Candidates;
use crate::constraint::Constraint;
use crate::fixpoint::Avoidance;
use crate::hitting_set::Clauses;
use crate::set::Set;
use fencepost_ir::{
    Access, Barrier, FenceKinds, Label, Op, Pc, Placement, Problem, Program, Thread, WrittenFences,
    flow, placement,
};
use fencepost_search::{Cancel, Stop};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// The cheapest placements that enforce a formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConstraintPlacements {
    /// The placements, at most as many as requested.
    pub placements: Vec<Placement>,
    /// The cost of each placement, in units of the fence costs.
    pub cost: u32,
    /// The number of rounds with an insufficient placement.
    pub rounds: u32,
}

/// A clause of the formula that the candidates cannot enforce: none of its constraints can be
/// enforced. An empty clause means that the formula is false.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unenforceable {
    /// The constraints of the clause.
    pub constraints: Vec<Constraint>,
}

/// The reason why there is no placement that enforces a formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoPlacement {
    /// The candidates cannot enforce the formula.
    Unenforceable(Unenforceable),
    /// The computation was cancelled.
    Stopped(Stop),
}

/// Computes the cheapest placements of candidates that enforce a formula in all problems. Returns
/// at most `limit` placements, but at least one.
pub fn place_for_constraints(
    problems: &[Problem],
    avoidance: &Avoidance,
    candidates: &Candidates,
    limit: usize,
    cancel: &Cancel,
) -> Result<ConstraintPlacements, NoPlacement> {
    let threads = distinct_threads(problems, candidates);
    let mut clauses = Clauses::new(candidates.len());
    let mut rounds = 0;
    loop {
        let sets = clauses.all_cheapest(&candidates.weights, limit.max(1), cancel);
        let sets = sets.map_err(NoPlacement::Stopped)?;
        let mut is_sufficient = true;
        for (set, clause) in sets.iter().flat_map(|s| avoidance.formula.iter().map(move |c| (s, c)))
        {
            if let Some(stop) = cancel.reason() {
                return Err(NoPlacement::Stopped(stop));
            }
            let Some(missing) = missing_barriers(&threads, avoidance, candidates, clause, set)
            else {
                continue;
            };
            if missing.is_empty() {
                let constraints = avoidance.constraints_at(clause);
                return Err(NoPlacement::Unenforceable(Unenforceable { constraints }));
            }
            clauses.add(missing);
            is_sufficient = false;
        }
        if is_sufficient {
            let placements: Vec<Placement> = sets.iter().map(|s| candidates.placement(s)).collect();
            let cost = placements.first().map_or(0, |first| candidates.cost(first));
            return Ok(ConstraintPlacements { placements, cost, rounds });
        }
        rounds += 1;
    }
}

/// Returns whether a set of candidates enforces a constraint in all problems.
pub fn is_enforced(
    problems: &[Problem],
    constraint: Constraint,
    candidates: &Candidates,
    set: &Set,
) -> bool {
    let threads = distinct_threads(problems, candidates);
    threads.iter().all(|thread| thread.closing_candidates(constraint, candidates, set).is_none())
}

/// Returns the candidates of which at least one must be added to a set, so that it enforces a
/// constraint of a clause. None if the set enforces one already.
fn missing_barriers(
    threads: &[ThreadPaths<'_>],
    avoidance: &Avoidance,
    candidates: &Candidates,
    clause: &Set,
    set: &Set,
) -> Option<Set> {
    let mut missing = Set::empty(candidates.len());
    for at in clause.iter() {
        let constraint = avoidance.constraints[at];
        let closing = threads
            .iter()
            .filter_map(|thread| thread.closing_candidates(constraint, candidates, set));
        missing.union_with(&closing.min_by_key(Set::len)?);
    }
    Some(missing)
}

/// The code of a thread with the barriers on its paths.
#[derive(Debug)]
struct ThreadPaths<'a> {
    thread: &'a Thread,
    /// By program counter: the candidates at this place.
    candidates: Vec<Vec<usize>>,
    /// By program counter: the kinds of the user's fence, if the program keeps it.
    fences: Vec<FenceKinds>,
    /// By program counter: whether it is reachable outside atomic blocks.
    reachable: Vec<bool>,
}

/// Returns the threads of all problems, without threads of equal code.
fn distinct_threads<'a>(problems: &'a [Problem], candidates: &Candidates) -> Vec<ThreadPaths<'a>> {
    let mut found: Vec<ThreadPaths<'a>> = Vec::new();
    for program in problems.iter().map(|p| &p.program) {
        for thread in &program.threads {
            if !found.iter().any(|other| other.thread.code == thread.code) {
                found.push(ThreadPaths::new(program, thread, candidates));
            }
        }
    }
    found
}

impl<'a> ThreadPaths<'a> {
    fn new(program: &Program, thread: &'a Thread, candidates: &Candidates) -> Self {
        let mut at_label: BTreeMap<Label, Vec<usize>> = BTreeMap::new();
        for (position, atom) in candidates.atoms.iter().enumerate() {
            at_label.entry(program.place(atom.place).label).or_default().push(position);
        }
        let dropped: BTreeSet<Label> = match candidates.written {
            WrittenFences::Kept => BTreeSet::new(),
            WrittenFences::Dropped => program.places.iter().map(|place| place.label).collect(),
        };
        let code = thread.code.iter();
        let fence = |op: &Op, label: Label| {
            let Op::Fence(kinds) = op else { return FenceKinds::default() };
            if dropped.contains(&label) { FenceKinds::default() } else { *kinds }
        };
        ThreadPaths {
            thread,
            candidates: code
                .clone()
                .map(|stmt| at_label.get(&stmt.label).cloned().unwrap_or_default())
                .collect(),
            fences: code.map(|stmt| fence(&stmt.op, stmt.label)).collect(),
            reachable: reachable_outside_atomic(thread),
        }
    }

    /// Returns the candidates that close a gap. A gap is a path from the first statement of the
    /// constraint to the second that passes no barrier. Chooses a gap that the fewest candidates
    /// close. None if there is no gap.
    fn closing_candidates(
        &self,
        constraint: Constraint,
        candidates: &Candidates,
        set: &Set,
    ) -> Option<Set> {
        let accesses = |label: Label| {
            self.thread.code.iter().enumerate().filter_map(move |(at, stmt)| {
                let access = stmt.op.access().filter(|_| stmt.label == label)?;
                Some((Pc::from_index(at), access))
            })
        };
        let kinds: BTreeSet<Access> = accesses(constraint.after).map(|(_, kind)| kind).collect();
        let mut best: Option<Set> = None;
        for (from, before) in accesses(constraint.before) {
            if !self.reachable[from.index()] {
                continue;
            }
            for after in &kinds {
                let is_end = |pc: Pc| {
                    let stmt = self.thread.stmt(pc);
                    stmt.label == constraint.after && stmt.op.access() == Some(*after)
                };
                let pair = Pair { from, before, after: *after };
                let closing = self.unfenced_path(pair, is_end, candidates, set);
                if let Some(closing) = closing
                    && best.as_ref().is_none_or(|best| closing.len() < best.len())
                {
                    best = Some(closing);
                }
            }
        }
        best
    }

    /// Returns the candidates along a path without a barrier. Chooses a path with the fewest
    /// candidates (Dijkstra).
    fn unfenced_path(
        &self,
        pair: Pair,
        is_end: impl Fn(Pc) -> bool,
        candidates: &Candidates,
        set: &Set,
    ) -> Option<Set> {
        let fitting = |pc: Pc| {
            let here = self.candidates[pc.index()].iter().copied();
            here.filter(move |position| {
                self.orders_pair(pair, pc, candidates.atoms[*position].barrier)
            })
        };
        let mut predecessor: Vec<Option<Pc>> = vec![None; self.thread.code.len()];
        let mut nearest = vec![usize::MAX; self.thread.code.len()];
        let mut heap = BinaryHeap::new();
        let mut visit = |from: Pc, distance: usize, heap: &mut BinaryHeap<_>, is_first: bool| {
            for next in flow::successors(self.thread.stmt(from)) {
                let stmt = self.thread.stmt(next);
                let is_fenced = self.fences[next.index()].orders(pair.before, pair.after)
                    || matches!(stmt.op, Op::AtomicBegin)
                    || fitting(next).any(|position| set.contains(position));
                let distance = distance + fitting(next).count();
                if !is_fenced && distance < nearest[next.index()] {
                    nearest[next.index()] = distance;
                    predecessor[next.index()] = (!is_first).then_some(from);
                    heap.push(Reverse((distance, next)));
                }
            }
        };
        visit(pair.from, 0, &mut heap, true);
        while let Some(Reverse((distance, pc))) = heap.pop() {
            if is_end(pc) {
                let on_path = std::iter::successors(Some(pc), |pc| predecessor[pc.index()]);
                return Some(Set::of(candidates.len(), on_path.flat_map(fitting)));
            }
            visit(pc, distance, &mut heap, false);
        }
        None
    }

    /// Returns whether a barrier at a place orders two accesses.
    fn orders_pair(&self, pair: Pair, place: Pc, barrier: Barrier) -> bool {
        match barrier {
            Barrier::Fence(kinds) => kinds.orders(pair.before, pair.after),
            // The candidates of this method are at gaps only.
            Barrier::Order(_) => false,
            // Control reaches the place only from one store, which must be the first access.
            Barrier::Drain(store) => {
                self.thread.stmt(pair.from).label == store
                    && placement::drained_address(self.thread, place, store).is_some()
                    && self.directly_precedes(pair.from, place)
            }
        }
    }

    /// Returns whether only skips, fences and drains lie between two statements.
    fn directly_precedes(&self, from: Pc, to: Pc) -> bool {
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

/// Two accesses to order: the position of the first, and the access kinds of both.
#[derive(Clone, Copy, Debug)]
struct Pair {
    from: Pc,
    before: Access,
    after: Access,
}

/// Returns by program counter whether it is reachable outside atomic blocks. Accesses inside an
/// atomic block are never pending.
fn reachable_outside_atomic(thread: &Thread) -> Vec<bool> {
    let mut outside = vec![false; thread.code.len()];
    let mut inside = vec![false; thread.code.len()];
    let mut stack = vec![(Pc(0), false)];
    while let Some((pc, atomic)) = stack.pop() {
        let visited = if atomic { &mut inside } else { &mut outside };
        if std::mem::replace(&mut visited[pc.index()], true) {
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
