//! Cycles of happens-before in a trace: a trace is an SC trace if and only if it has none.
//!
//! Source: the definition in the book (`book/src/robust.md`), after Shasha and Snir. The graph has
//! one node for each event. Its edges are program order, the order of writes to a location, the
//! edge from a write to its reads, and the edge from a read to the next write to the location.
//! Direction: exact.

use super::{Access, Event, Trace, WriteId};
use fencepost_ir::Loc;

/// Returns whether happens-before of a trace has a cycle. No store may be pending.
///
/// ```
/// use fencepost_conformance::traces::{Recorder, cycle::has_cycle};
/// use fencepost_ir::Loc;
///
/// // Store buffering: both loads overtake the stores.
/// let mut recorder = Recorder::new(vec![0, 0], 2);
/// recorder.store(0, Loc(0));
/// recorder.load(0, Loc(1));
/// recorder.write(1, Loc(1));
/// recorder.load(1, Loc(0));
/// recorder.commit(0, Loc(0));
/// assert!(has_cycle(recorder.trace()));
/// ```
pub fn has_cycle(trace: &Trace) -> bool {
    let graph = Graph::new(trace);
    // Kahn's algorithm: remove nodes without incoming edges until none is left.
    let mut incoming = vec![0; graph.successors.len()];
    graph.successors.iter().flatten().for_each(|to| incoming[*to] += 1);
    let mut free: Vec<usize> = (0..incoming.len()).filter(|node| incoming[*node] == 0).collect();
    let mut removed = 0;
    while let Some(node) = free.pop() {
        removed += 1;
        for to in &graph.successors[node] {
            incoming[*to] -= 1;
            if incoming[*to] == 0 {
                free.push(*to);
            }
        }
    }
    removed < incoming.len()
}

struct Graph {
    /// By node: the nodes that it happens before.
    successors: Vec<Vec<usize>>,
    /// By thread: the node of its first event.
    first: Vec<usize>,
}

impl Graph {
    fn new(trace: &Trace) -> Self {
        let mut first = Vec::new();
        let mut nodes = 0;
        for events in &trace.threads {
            first.push(nodes);
            nodes += events.len();
        }
        let mut graph = Graph { successors: vec![Vec::new(); nodes], first };
        for (thread, events) in trace.threads.iter().enumerate() {
            let start = graph.first[thread];
            for (at, event) in events.iter().enumerate() {
                if at > 0 {
                    graph.add(start + at - 1, start + at);
                }
                let accesses = match event {
                    Event::Access(access) => std::slice::from_ref(access),
                    Event::Atomic(accesses) => accesses,
                };
                for access in accesses {
                    if let Access::Load { loc, from } | Access::Update { loc, from, .. } = access {
                        graph.add_read(trace, start + at, *loc, *from);
                    }
                }
            }
        }
        for writes in &trace.coherence {
            for pair in writes.windows(2) {
                graph.add(graph.node(pair[0]), graph.node(pair[1]));
            }
        }
        graph
    }

    /// Adds the edges of a read: from its write, and to the next write.
    fn add_read(&mut self, trace: &Trace, reader: usize, loc: Loc, from: Option<WriteId>) {
        let writes = &trace.coherence[loc.index()];
        let at = |write| writes.iter().position(|other| *other == write);
        let next = from.map_or(0, |write| at(write).expect("no store is pending") + 1);
        if let Some(write) = from {
            self.add(self.node(write), reader);
        }
        if let Some(write) = writes.get(next) {
            self.add(reader, self.node(*write));
        }
    }

    fn add(&mut self, from: usize, to: usize) {
        // An event is not ordered with itself.
        if from != to {
            self.successors[from].push(to);
        }
    }

    fn node(&self, write: WriteId) -> usize {
        self.first[write.thread] + write.event
    }
}
