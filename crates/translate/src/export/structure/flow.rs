//! Computes the control-flow facts for the walk over the dominator tree: where each statement is
//! placed.
//!
//! A statement with one forward predecessor is written there. Any other statement is placed after
//! its immediate dominator. If the dominator is in loops that do not contain the statement, the
//! statement is placed after the outermost of them.

use fencepost_ir::dominators::FlowGraph;
use fencepost_ir::flow::successors;
use fencepost_ir::{Op, Pc, Thread};
use std::collections::BTreeMap;

/// The control flow of a thread, in which atomic blocks are single statements, or of the inside of
/// one block.
pub(super) struct Flow {
    entry: Pc,
    end: Option<Pc>,
    nodes: BTreeMap<Pc, NodeInfo>,
}

#[derive(Default)]
struct NodeInfo {
    /// The only forward predecessor, if there is exactly one and the statement is written there.
    sole_predecessor: Option<Pc>,
    is_head: bool,
    /// The statements placed after this one, in order. For a loop head: after the loop.
    after: Vec<Pc>,
    /// For a loop head: the statements placed after the head, inside the loop.
    after_in_loop: Vec<Pc>,
}

impl Flow {
    /// Computes the control flow of a thread.
    pub(super) fn of_thread(thread: &Thread) -> Flow {
        // A jump out of a critical section is preceded by a `Leave`, which belongs to the jump.
        let stays_in_loop = |pc| matches!(thread.stmt(pc).op, Op::Leave);
        Flow::new(Pc(0), None, stays_in_loop, |pc| match &thread.stmt(pc).op {
            Op::AtomicBegin => {
                let ends = ends(thread, pc);
                let mut exits: Vec<Pc> = ends.iter().map(|end| thread.stmt(*end).next).collect();
                // Additional exits are listed twice, so that they have two predecessors and are
                // never written in place of the jump.
                let main = exits.first().copied();
                exits.retain(|exit| Some(*exit) != main);
                exits.sort_unstable();
                exits.dedup();
                main.into_iter().chain(exits.iter().copied()).chain(exits.clone()).collect()
            }
            _ => successors(thread.stmt(pc)).collect(),
        })
    }

    /// Computes the control flow inside the atomic block that begins here.
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

    /// `stays_in_loop`: whether a statement stays in the loops of its predecessor, if it has only
    /// one.
    fn new(
        entry: Pc,
        end: Option<Pc>,
        stays_in_loop: impl Fn(Pc) -> bool,
        next: impl Fn(Pc) -> Vec<Pc>,
    ) -> Flow {
        let graph = FlowGraph::new(entry, next);
        let mut infos: Vec<NodeInfo> = graph.order.iter().map(|_| NodeInfo::default()).collect();
        let mut loops = loops(&graph);
        for at in 1..graph.order.len() {
            if let ([predecessors], true) =
                (&graph.predecessors[at][..], stays_in_loop(graph.order[at]))
            {
                loops.iter_mut().for_each(|(_, all)| all[at] |= all[*predecessors]);
            }
        }
        for (head, _) in &loops {
            infos[*head].is_head = true;
        }
        // In reverse postorder, so that the placement lists are in order, too.
        for at in 1..graph.order.len() {
            let pc = graph.order[at];
            let immediate_dominator = graph.immediate_dominator[at];
            let forward = graph.predecessors[at].iter().filter(|from| !graph.dominates(at, **from));
            let left = loops.iter().filter(|(_, all)| all[immediate_dominator] && !all[at]);
            let left = left.max_by_key(|(_, all)| all.iter().filter(|inside| **inside).count());
            if let Some((head, _)) = left {
                infos[*head].after.push(pc);
            } else if forward.count() == 1 {
                infos[at].sole_predecessor = Some(graph.order[immediate_dominator]);
            } else if infos[immediate_dominator].is_head {
                infos[immediate_dominator].after_in_loop.push(pc);
            } else {
                infos[immediate_dominator].after.push(pc);
            }
        }
        let nodes = graph.order.into_iter().zip(infos).collect();
        Flow { entry, end, nodes }
    }

    /// Returns the entry statement.
    pub(super) fn entry(&self) -> Pc {
        self.entry
    }

    /// Returns the `AtomicEnd` of a block, the first one if there are several; `None` if the block
    /// has no end.
    pub(super) fn end(&self) -> Option<Pc> {
        self.end
    }

    /// Returns whether there are no statements: a block that ends where it begins.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns whether this statement is a loop head.
    pub(super) fn is_head(&self, pc: Pc) -> bool {
        self.nodes[&pc].is_head
    }

    /// Returns the statements placed after this one. For a loop head: after the loop.
    pub(super) fn after(&self, pc: Pc) -> &[Pc] {
        &self.nodes[&pc].after
    }

    /// Returns the statements placed after this loop head, inside the loop.
    pub(super) fn after_in_loop(&self, pc: Pc) -> &[Pc] {
        &self.nodes[&pc].after_in_loop
    }

    /// Returns whether `from` is the only forward predecessor of `to`, so that `to` is written
    /// after it.
    pub(super) fn is_sole_predecessor(&self, from: Pc, to: Pc) -> bool {
        self.nodes.get(&to).is_some_and(|infos| infos.sole_predecessor == Some(from))
    }

    /// Returns the real target of a jump. All ends of a block with the same successor are
    /// equivalent. A jump to an end with another successor leaves the block.
    pub(super) fn resolve(&self, thread: &Thread, to: Pc) -> Pc {
        match (self.end, &thread.stmt(to).op) {
            (Some(end), Op::AtomicEnd) if thread.stmt(to).next == thread.stmt(end).next => end,
            (_, Op::AtomicEnd) => thread.stmt(to).next,
            _ => to,
        }
    }
}

/// Returns the ends of the atomic block that begins here, in order.
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

/// Returns every loop head, with the members of its loop.
fn loops(graph: &FlowGraph) -> Vec<(usize, Vec<bool>)> {
    let mut loops = Vec::new();
    for head in 0..graph.order.len() {
        let ends =
            graph.predecessors[head].iter().copied().filter(|from| graph.dominates(head, *from));
        let mut pending: Vec<usize> = ends.collect();
        if pending.is_empty() {
            continue;
        }
        let mut inside = vec![false; graph.order.len()];
        inside[head] = true;
        while let Some(at) = pending.pop() {
            if !std::mem::replace(&mut inside[at], true) {
                pending.extend(&graph.predecessors[at]);
            }
        }
        loops.push((head, inside));
    }
    loops
}
