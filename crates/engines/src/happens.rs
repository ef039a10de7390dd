//! What happens before what in a run of a store-buffer model, and whether that goes round in a circle.
//!
//! The accesses of a run are the nodes of a graph: an atomic block is one of them, a `new` is one that reads and writes the
//! allocator of its pool. One comes before another when it does so in program order, when the other
//! reads or overwrites what it wrote, or when it read what the other overwrites. The run is one of sequential
//! consistency, but for timing, exactly when that has no cycle (Shasha, Snir 1988).
//!
//! Made from the told events of a replayed run alone, so that it checks all that claims that a run is not
//! sequentially consistent.

use fencepost_ir::{Label, Op, Problem, ThreadId};
use fencepost_models::event::{EventKind, Source};
use fencepost_models::replay::{Run, Told};
use std::collections::VecDeque;

/// An access of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// Whose.
    pub thread: ThreadId,
    /// Which statement; the first of a block.
    pub label: Label,
    /// The step of the run that issued it, from 0; steps before the first count as the first.
    pub moment: usize,
}

/// Why an access comes before another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Because {
    /// It does so in its thread.
    ProgramOrder,
    /// The other reads what it wrote.
    ReadsFrom,
    /// It read what was there before the other wrote.
    ReadsBefore,
    /// The other wrote over what it wrote.
    WrittenBefore,
}

/// One edge of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// What comes before.
    pub from: Node,
    /// What comes after.
    pub to: Node,
    /// Why.
    pub because: Because,
}

/// A shortest cycle of happens-before in a run; none if it is sequentially consistent.
pub fn cycle(problem: &Problem, run: &Run) -> Option<Vec<Link>> {
    let graph = Graph::of(problem, run);
    (0..graph.nodes.len()).filter_map(|node| graph.cycle_through(node)).min_by_key(Vec::len)
}

/// A write, or (none) what was there before the first.
type Writer = Option<usize>;

#[derive(Default)]
struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Vec<(usize, Because)>>,
    /// By address (locations, then allocators): its writes in the order they took effect.
    writes: Vec<Vec<usize>>,
    /// Reader, address, what it read.
    reads: Vec<(usize, usize, Writer)>,
    /// By thread: its pending stores, oldest first.
    pending: Vec<VecDeque<(usize, usize)>>,
    /// By thread: the block it is in.
    block: Vec<Option<usize>>,
}

impl Graph {
    fn of(problem: &Problem, run: &Run) -> Self {
        let program = &problem.program;
        let mut graph = Graph {
            writes: vec![Vec::new(); program.locations.len() + program.pools.len()],
            pending: vec![VecDeque::new(); program.threads.len()],
            block: vec![None; program.threads.len()],
            ..Graph::default()
        };
        run.first.events.iter().for_each(|told| graph.event(problem, told, 0));
        for (moment, told) in run.moments.iter().enumerate() {
            told.events.iter().for_each(|told| graph.event(problem, told, moment));
        }
        // What is still pending takes effect in the end.
        for t in 0..graph.pending.len() {
            while let Some((node, address)) = graph.pending[t].pop_front() {
                graph.writes[address].push(node);
            }
        }
        graph.connect();
        graph
    }

    fn node(&mut self, told: &Told, moment: usize) -> usize {
        let thread = told.event.thread;
        if let Some(block) = self.block[thread.index()] {
            return block;
        }
        let label = told.event.label.expect("the replay knows every label");
        self.nodes.push(Node { thread, label, moment });
        self.nodes.len() - 1
    }

    fn event(&mut self, problem: &Problem, told: &Told, moment: usize) {
        let event = &told.event;
        let t = event.thread.index();
        match event.kind {
            EventKind::Load { loc, source, .. } => {
                let node = self.node(told, moment);
                let own = self.pending[t].iter().rev().find(|(_, at)| *at == loc.index());
                let writer = match (source, own) {
                    (Source::Forwarded, Some((store, _))) => Some(*store),
                    (Source::Forwarded, None) | (Source::Memory, _) => self.last(loc.index()),
                };
                self.reads.push((node, loc.index(), writer));
            }
            EventKind::Store { loc, .. } => {
                let node = self.node(told, moment);
                self.pending[t].push_back((node, loc.index()));
            }
            EventKind::Write { loc, .. } => {
                let node = self.node(told, moment);
                self.write(node, loc.index());
            }
            EventKind::Commit { loc, .. } => {
                let at = self.pending[t].iter().position(|(_, at)| *at == loc.index());
                let at = at.expect("what is committed was issued");
                let (node, address) = self.pending[t].remove(at).expect("it is there");
                self.write(node, address);
            }
            EventKind::Update { loc, new, .. } => {
                let node = self.node(told, moment);
                self.reads.push((node, loc.index(), self.last(loc.index())));
                if new.is_some() {
                    self.write(node, loc.index());
                }
            }
            EventKind::New(_) => {
                let op = event.pc.map(|pc| &problem.program.thread(event.thread).stmt(pc).op);
                if let Some(Op::New { pool, .. }) = op {
                    let allocator = problem.program.locations.len() + pool.index();
                    let node = self.node(told, moment);
                    self.reads.push((node, allocator, self.last(allocator)));
                    self.write(node, allocator);
                }
            }
            EventKind::AtomicBegin => self.block[t] = Some(self.node(told, moment)),
            EventKind::AtomicEnd => self.block[t] = None,
            EventKind::Fetch { .. } | EventKind::Stay { .. } => {
                unreachable!("only runs of exact store-buffer models are looked at")
            }
            EventKind::Free(_)
            | EventKind::Fence(_)
            | EventKind::Drain(_)
            | EventKind::Set { .. }
            | EventKind::Test(_)
            | EventKind::Leave
            | EventKind::Defer
            | EventKind::Skip => {}
        }
    }

    fn last(&self, address: usize) -> Writer {
        self.writes[address].last().copied()
    }

    fn write(&mut self, node: usize, address: usize) {
        if self.last(address) != Some(node) {
            self.writes[address].push(node);
        }
    }

    fn connect(&mut self) {
        self.edges = vec![Vec::new(); self.nodes.len()];
        for from in 0..self.nodes.len() {
            for to in from + 1..self.nodes.len() {
                if self.nodes[from].thread == self.nodes[to].thread {
                    self.edges[from].push((to, Because::ProgramOrder));
                }
            }
        }
        for writes in &self.writes {
            for (at, from) in writes.iter().enumerate() {
                for to in writes[at + 1..].iter().filter(|to| *to != from) {
                    self.edges[*from].push((*to, Because::WrittenBefore));
                }
            }
        }
        for (reader, address, writer) in &self.reads {
            if let Some(writer) = writer.filter(|writer| writer != reader) {
                self.edges[writer].push((*reader, Because::ReadsFrom));
            }
            let writes = &self.writes[*address];
            let from = writer.map_or(0, |writer| {
                let at = writes.iter().position(|write| *write == writer);
                at.expect("what was read was written") + 1
            });
            for write in writes[from..].iter().filter(|write| *write != reader) {
                self.edges[*reader].push((*write, Because::ReadsBefore));
            }
        }
    }

    /// A shortest cycle through a node.
    fn cycle_through(&self, start: usize) -> Option<Vec<Link>> {
        let mut reached: Vec<Option<(usize, Because)>> = vec![None; self.nodes.len()];
        let mut open = VecDeque::from([start]);
        while let Some(from) = open.pop_front() {
            for (to, because) in &self.edges[from] {
                if reached[*to].is_none() {
                    reached[*to] = Some((from, *because));
                    if *to == start {
                        return Some(self.links(start, &reached));
                    }
                    open.push_back(*to);
                }
            }
        }
        None
    }

    fn links(&self, start: usize, reached: &[Option<(usize, Because)>]) -> Vec<Link> {
        let mut links = Vec::new();
        let mut to = start;
        loop {
            let (from, because) = reached[to].expect("the search came this way");
            links.push(Link { from: self.nodes[from], to: self.nodes[to], because });
            to = from;
            if to == start {
                links.reverse();
                return links;
            }
        }
    }
}
