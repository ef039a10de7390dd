//! What the walk over the dominator tree asks: where each statement has its place.
//!
//! A statement with one way to it is written there. Any other has its place after the statement that
//! dominates it, or, if that one is in loops that it is not in itself, after the outermost of them.

use fencepost_ir::flow::successors;
use fencepost_ir::{Op, Pc, Thread};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The flow of a thread, in which atomic blocks are single statements, or of the inside of one block.
pub(super) struct Flow {
    entry: Pc,
    end: Option<Pc>,
    nodes: BTreeMap<Pc, Facts>,
}

#[derive(Default)]
struct Facts {
    /// The statement from which there is the only way to this one.
    only_way: Option<Pc>,
    is_head: bool,
    /// What has its place after it, in order; for the head of a loop, after the loop.
    after: Vec<Pc>,
    /// For the head of a loop: what has its place after it, in the loop.
    within: Vec<Pc>,
}

impl Flow {
    /// The flow of a thread.
    pub(super) fn of_thread(thread: &Thread) -> Flow {
        // Who jumps out of a critical section leaves it first: that belongs to the jump.
        let sticks = |pc| matches!(thread.stmt(pc).op, Op::Leave);
        Flow::new(Pc(0), None, sticks, |pc| match &thread.stmt(pc).op {
            Op::AtomicBegin => {
                let ends = ends(thread, pc);
                let mut exits: Vec<Pc> = ends.iter().map(|end| thread.stmt(*end).next).collect();
                // An exit that is jumped to is never written in place of the jump.
                let main = exits.first().copied();
                exits.retain(|exit| Some(*exit) != main);
                exits.sort_unstable();
                exits.dedup();
                main.into_iter().chain(exits.iter().copied()).chain(exits.clone()).collect()
            }
            _ => successors(thread.stmt(pc)).collect(),
        })
    }

    /// The flow inside of the atomic block that begins here.
    pub(super) fn of_block(thread: &Thread, begin: Pc) -> Flow {
        let ends = ends(thread, begin);
        let stays = |pc: &Pc| !matches!(thread.stmt(*pc).op, Op::AtomicEnd);
        let entry = thread.stmt(begin).next;
        if !stays(&entry) {
            return Flow { entry, end: Some(entry), nodes: BTreeMap::new() };
        }
        let inside = |pc| successors(thread.stmt(pc)).filter(stays).collect();
        Flow::new(entry, ends.first().copied(), |_| false, inside)
    }

    /// `sticks`: what stays in the loops of the statement before it, if there is only one.
    fn new(
        entry: Pc,
        end: Option<Pc>,
        sticks: impl Fn(Pc) -> bool,
        next: impl Fn(Pc) -> Vec<Pc>,
    ) -> Flow {
        let graph = Graph::new(entry, next);
        let mut facts: Vec<Facts> = graph.order.iter().map(|_| Facts::default()).collect();
        let mut loops = graph.loops();
        for at in 1..graph.order.len() {
            if let ([before], true) = (&graph.before[at][..], sticks(graph.order[at])) {
                loops.iter_mut().for_each(|(_, all)| all[at] |= all[*before]);
            }
        }
        for (head, _) in &loops {
            facts[*head].is_head = true;
        }
        // In reverse postorder, so that what has its place after a statement is in order, too.
        for at in 1..graph.order.len() {
            let pc = graph.order[at];
            let above = graph.above[at];
            let forward = graph.before[at].iter().filter(|from| !graph.dominates(at, **from));
            let left = loops.iter().filter(|(_, all)| all[above] && !all[at]);
            let left = left.max_by_key(|(_, all)| all.iter().filter(|inside| **inside).count());
            if let Some((head, _)) = left {
                facts[*head].after.push(pc);
            } else if forward.count() == 1 {
                facts[at].only_way = Some(graph.order[above]);
            } else if facts[above].is_head {
                facts[above].within.push(pc);
            } else {
                facts[above].after.push(pc);
            }
        }
        let nodes = graph.order.into_iter().zip(facts).collect();
        Flow { entry, end, nodes }
    }

    /// Where it begins.
    pub(super) fn entry(&self) -> Pc {
        self.entry
    }

    /// Of a block: its end; the first, if there are several. None if it has no end.
    pub(super) fn end(&self) -> Option<Pc> {
        self.end
    }

    /// Whether there are no statements: a block that ends where it begins.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether this statement is the head of a loop.
    pub(super) fn is_head(&self, pc: Pc) -> bool {
        self.nodes[&pc].is_head
    }

    /// What has its place after this statement and, if that is the head of a loop, after the loop.
    pub(super) fn after(&self, pc: Pc) -> &[Pc] {
        &self.nodes[&pc].after
    }

    /// What has its place after this head of a loop, in the loop.
    pub(super) fn within(&self, pc: Pc) -> &[Pc] {
        &self.nodes[&pc].within
    }

    /// Whether the only way to a statement is the one from this statement before it.
    pub(super) fn is_only_way(&self, from: Pc, to: Pc) -> bool {
        self.nodes.get(&to).is_some_and(|facts| facts.only_way == Some(from))
    }

    /// Where a jump really goes. Ends of one block that go on to the same place are one; at an end that
    /// goes elsewhere, a jump leaves the block.
    pub(super) fn resolve(&self, thread: &Thread, to: Pc) -> Pc {
        match (self.end, &thread.stmt(to).op) {
            (Some(end), Op::AtomicEnd) if thread.stmt(to).next == thread.stmt(end).next => end,
            (_, Op::AtomicEnd) => thread.stmt(to).next,
            _ => to,
        }
    }
}

/// The ends of the atomic block that begins here, in order.
fn ends(thread: &Thread, begin: Pc) -> Vec<Pc> {
    let mut seen = vec![false; thread.code.len()];
    let mut ends = Vec::new();
    let mut pending = vec![thread.stmt(begin).next];
    while let Some(pc) = pending.pop() {
        if std::mem::replace(&mut seen[pc.index()], true) {
            continue;
        }
        if matches!(thread.stmt(pc).op, Op::AtomicEnd) {
            ends.push(pc);
        } else {
            pending.extend(successors(thread.stmt(pc)));
        }
    }
    ends.sort_unstable();
    ends
}

/// Reachable statements in reverse postorder, with their dominators. Statements are named by their place in
/// that order.
struct Graph {
    order: Vec<Pc>,
    /// Which statements come directly before each.
    before: Vec<Vec<usize>>,
    /// The immediate dominator; the entry is its own.
    above: Vec<usize>,
}

impl Graph {
    fn new(entry: Pc, next: impl Fn(Pc) -> Vec<Pc>) -> Graph {
        let (mut ways, mut order) = (BTreeMap::new(), Vec::new());
        ways.insert(entry, next(entry));
        let mut path = vec![(entry, ways[&entry].clone())];
        while let Some((pc, left)) = path.last_mut() {
            // The last way first: what it leads to ends up behind what the others lead to.
            if let Some(to) = left.pop() {
                if let Entry::Vacant(new) = ways.entry(to) {
                    path.push((to, new.insert(next(to)).clone()));
                }
            } else {
                order.push(*pc);
                path.pop();
            }
        }
        order.reverse();
        let place: BTreeMap<Pc, usize> =
            order.iter().enumerate().map(|(at, pc)| (*pc, at)).collect();
        let mut before = vec![Vec::new(); order.len()];
        for (at, pc) in order.iter().enumerate() {
            ways[pc].iter().for_each(|to| before[place[to]].push(at));
        }
        let above = dominators(&before);
        Graph { order, before, above }
    }

    fn dominates(&self, high: usize, mut low: usize) -> bool {
        while low > high {
            low = self.above[low];
        }
        low == high
    }

    /// Every head of a loop, with what is in the loop.
    fn loops(&self) -> Vec<(usize, Vec<bool>)> {
        let mut loops = Vec::new();
        for head in 0..self.order.len() {
            let ends = self.before[head].iter().copied().filter(|from| self.dominates(head, *from));
            let mut pending: Vec<usize> = ends.collect();
            if pending.is_empty() {
                continue;
            }
            let mut inside = vec![false; self.order.len()];
            inside[head] = true;
            while let Some(at) = pending.pop() {
                if !std::mem::replace(&mut inside[at], true) {
                    pending.extend(&self.before[at]);
                }
            }
            loops.push((head, inside));
        }
        loops
    }
}

/// Immediate dominators, as Cooper, Harvey and Kennedy find them.
fn dominators(before: &[Vec<usize>]) -> Vec<usize> {
    const UNKNOWN: usize = usize::MAX;
    let mut above = vec![UNKNOWN; before.len()];
    above[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for at in 1..before.len() {
            let known = before[at].iter().copied().filter(|from| above[*from] != UNKNOWN);
            let meet = known.reduce(|mut a, mut b| {
                while a != b {
                    if a > b {
                        a = above[a];
                    } else {
                        b = above[b];
                    }
                }
                a
            });
            let meet = meet.expect("in reverse postorder something before it is known");
            changed |= above[at] != meet;
            above[at] = meet;
        }
    }
    above
}
