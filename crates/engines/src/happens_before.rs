//! The happens-before graph of a run of a store-buffer model, and its cycles.
//!
//! The nodes of the graph are the accesses of a run. An atomic block is one node. A `new` is a node
//! that reads and writes the allocator of its pool. The edges are program order, reads-from,
//! coherence (the order of the writes to a location) and from-read. The run is sequentially
//! consistent, except for timing, if and only if the graph has no cycle (Shasha, Snir 1988).
//!
//! The graph is built only from the annotated events of a replayed run. Therefore it independently
//! checks every claim that a run is not sequentially consistent.

use fencepost_ir::{Label, Op, Problem, ThreadId};
use fencepost_models::event::{EventKind, Source};
use fencepost_models::replay::{AnnotatedEvent, ReplayedRun};
use std::collections::VecDeque;

/// An access of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// The thread of the access.
    pub thread: ThreadId,
    /// The statement of the access. For an atomic block, the first statement.
    pub label: Label,
    /// The step that issued the access, from 0. Accesses before the first step belong to step 0.
    pub step: usize,
}

/// The kind of a happens-before edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EdgeKind {
    /// Both accesses belong to one thread, in this order.
    ProgramOrder,
    /// The second access reads the value that the first one wrote.
    ReadsFrom,
    /// The first access read a value that the second one overwrote.
    FromRead,
    /// The second access overwrote the value that the first one wrote.
    Coherence,
}

/// An edge of a happens-before cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The access that happens first.
    pub from: Node,
    /// The access that happens later.
    pub to: Node,
    /// The kind of the edge.
    pub kind: EdgeKind,
}

/// Returns a shortest happens-before cycle of a run. None if the run is sequentially consistent.
pub fn cycle(problem: &Problem, run: &ReplayedRun) -> Option<Vec<Edge>> {
    let graph = Graph::new(problem, run);
    (0..graph.nodes.len()).filter_map(|node| graph.cycle_through(node)).min_by_key(Vec::len)
}

/// The node of a write. None stands for the initial value.
type Writer = Option<usize>;

#[derive(Default)]
struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Vec<(usize, EdgeKind)>>,
    /// By address (locations, then allocators): the writes in the order in which they took effect.
    writes: Vec<Vec<usize>>,
    /// The reader, the address and the write that it read from.
    reads: Vec<(usize, usize, Writer)>,
    /// By thread: the pending stores, oldest first.
    pending: Vec<VecDeque<(usize, usize)>>,
    /// By thread: the node of the current atomic block.
    block: Vec<Option<usize>>,
}

impl Graph {
    fn new(problem: &Problem, run: &ReplayedRun) -> Self {
        let program = &problem.program;
        let mut graph = Graph {
            writes: vec![Vec::new(); program.locations.len() + program.pools.len()],
            pending: vec![VecDeque::new(); program.threads.len()],
            block: vec![None; program.threads.len()],
            ..Graph::default()
        };
        run.first.events.iter().for_each(|annotated| graph.add_event(problem, annotated, 0));
        for (step, replayed_step) in run.steps.iter().enumerate() {
            replayed_step
                .events
                .iter()
                .for_each(|annotated| graph.add_event(problem, annotated, step));
        }
        // Stores that are still pending take effect at the end.
        for t in 0..graph.pending.len() {
            while let Some((node, address)) = graph.pending[t].pop_front() {
                graph.writes[address].push(node);
            }
        }
        graph.add_edges();
        graph
    }

    fn node_of(&mut self, annotated: &AnnotatedEvent, step: usize) -> usize {
        let thread = annotated.event.thread;
        if let Some(block) = self.block[thread.index()] {
            return block;
        }
        let label = annotated.event.label.expect("a replayed event must have a label");
        self.nodes.push(Node { thread, label, step });
        self.nodes.len() - 1
    }

    fn add_event(&mut self, problem: &Problem, annotated: &AnnotatedEvent, step: usize) {
        let event = &annotated.event;
        let t = event.thread.index();
        match event.kind {
            EventKind::Load { loc, source, .. } => {
                let node = self.node_of(annotated, step);
                let forwarding_store =
                    self.pending[t].iter().rev().find(|(_, position)| *position == loc.index());
                let writer = match (source, forwarding_store) {
                    (Source::Forwarded { .. }, Some((store, _))) => Some(*store),
                    (Source::Forwarded { .. }, None) | (Source::Memory, _) => {
                        self.last_write(loc.index())
                    }
                };
                self.reads.push((node, loc.index(), writer));
            }
            EventKind::Store { loc, .. } => {
                let node = self.node_of(annotated, step);
                self.pending[t].push_back((node, loc.index()));
            }
            EventKind::Write { loc, .. } => {
                let node = self.node_of(annotated, step);
                self.add_write(node, loc.index());
            }
            EventKind::Commit { loc, .. } => {
                let position =
                    self.pending[t].iter().position(|(_, position)| *position == loc.index());
                let position = position.expect("a committed store must have been issued");
                let (node, address) =
                    self.pending[t].remove(position).expect("the position is valid");
                self.add_write(node, address);
            }
            EventKind::Update { loc, new, .. } => {
                let node = self.node_of(annotated, step);
                self.reads.push((node, loc.index(), self.last_write(loc.index())));
                if new.is_some() {
                    self.add_write(node, loc.index());
                }
            }
            EventKind::New(_) => {
                let op = event.pc.map(|pc| &problem.program.thread(event.thread).stmt(pc).op);
                if let Some(Op::New { pool, .. }) = op {
                    let allocator = problem.program.locations.len() + pool.index();
                    let node = self.node_of(annotated, step);
                    self.reads.push((node, allocator, self.last_write(allocator)));
                    self.add_write(node, allocator);
                }
            }
            EventKind::AtomicBegin => self.block[t] = Some(self.node_of(annotated, step)),
            EventKind::AtomicEnd => self.block[t] = None,
            EventKind::Fetch { .. }
            | EventKind::CommitAndKeep { .. }
            | EventKind::Confirm
            | EventKind::Repeat { .. } => {
                unreachable!("only runs of exact store-buffer models have a happens-before graph")
            }
            EventKind::Free(_)
            | EventKind::Fence(_)
            | EventKind::Drain(_)
            | EventKind::Set { .. }
            | EventKind::Test(_)
            | EventKind::Guess(_)
            | EventKind::Leave
            | EventKind::SectionBegin
            | EventKind::SectionEnd
            | EventKind::GracePeriod { .. }
            | EventKind::Defer
            | EventKind::Skip => {}
        }
    }

    fn last_write(&self, address: usize) -> Writer {
        self.writes[address].last().copied()
    }

    fn add_write(&mut self, node: usize, address: usize) {
        if self.last_write(address) != Some(node) {
            self.writes[address].push(node);
        }
    }

    fn add_edges(&mut self) {
        self.edges = vec![Vec::new(); self.nodes.len()];
        for from in 0..self.nodes.len() {
            for to in from + 1..self.nodes.len() {
                if self.nodes[from].thread == self.nodes[to].thread {
                    self.edges[from].push((to, EdgeKind::ProgramOrder));
                }
            }
        }
        for writes in &self.writes {
            for (position, from) in writes.iter().enumerate() {
                for to in writes[position + 1..].iter().filter(|to| *to != from) {
                    self.edges[*from].push((*to, EdgeKind::Coherence));
                }
            }
        }
        for (reader, address, writer) in &self.reads {
            if let Some(writer) = writer.filter(|writer| writer != reader) {
                self.edges[writer].push((*reader, EdgeKind::ReadsFrom));
            }
            let writes = &self.writes[*address];
            let from = writer.map_or(0, |writer| {
                let position = writes.iter().position(|write| *write == writer);
                position.expect("a value read must have been written") + 1
            });
            for write in writes[from..].iter().filter(|write| *write != reader) {
                self.edges[*reader].push((*write, EdgeKind::FromRead));
            }
        }
    }

    /// Returns a shortest cycle through a node, by breadth-first search.
    fn cycle_through(&self, start: usize) -> Option<Vec<Edge>> {
        let mut reached: Vec<Option<(usize, EdgeKind)>> = vec![None; self.nodes.len()];
        let mut open = VecDeque::from([start]);
        while let Some(from) = open.pop_front() {
            for (to, kind) in &self.edges[from] {
                if reached[*to].is_none() {
                    reached[*to] = Some((from, *kind));
                    if *to == start {
                        return Some(self.cycle_edges(start, &reached));
                    }
                    open.push_back(*to);
                }
            }
        }
        None
    }

    fn cycle_edges(&self, start: usize, reached: &[Option<(usize, EdgeKind)>]) -> Vec<Edge> {
        let mut cycle_edges = Vec::new();
        let mut to = start;
        loop {
            let (from, kind) = reached[to].expect("every node on the path has a predecessor");
            cycle_edges.push(Edge { from: self.nodes[from], to: self.nodes[to], kind });
            to = from;
            if to == start {
                cycle_edges.reverse();
                return cycle_edges;
            }
        }
    }
}
