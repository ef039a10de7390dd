//! The oracle of the monitor: the relations of an execution, computed from their definitions. It
//! also computes the explanation of an answer.
//!
//! Source: \[BM08\] definitions 1 to 3, Lemma 1. Direction: exact. This module uses no clocks.
//! The moved event has a *position*: for each of its addresses, the number of writes before it.
//! The relations are computed for all pairs of events, and cycles are searched in the resulting
//! graph. The cost is quadratic in the number of events for each position. Use this module for
//! small executions and for the explanation of a single answer.
//!
//! DIVERGENCE: as in the crate's header, a load that reads its own thread's plain store has no
//! relaxed edges from writes of other threads.

use crate::event::{Access, Action, Model};

/// An SC execution.
#[derive(Clone, Debug)]
pub struct Execution {
    model: Model,
    events: Vec<Event>,
}

#[derive(Clone, Debug)]
struct Event {
    thread: usize,
    kind: Kind,
    accesses: Vec<Access>,
}

/// The kind of an event. It determines the pending stores that the event waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Load,
    Store,
    Update,
    Direct,
    Block,
    Fence { store_store: bool, store_load: bool },
    Drain(u32),
}

/// The kind of a happens-before edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// The first event precedes the second in the same thread.
    ProgramOrder,
    /// The second event reads the value that the first writes.
    ReadsFrom,
    /// The first event reads a value that is older than the write of the second.
    FromRead,
    /// The second event overwrites the value that the first writes.
    Coherence,
}

/// An edge of happens-before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The earlier event.
    pub from: usize,
    /// The later event.
    pub to: usize,
    /// The kind of the edge.
    pub kind: EdgeKind,
}

/// An access to one address, with version numbers. Version `n` is the value of the `n`-th write
/// to the address in coherence order. Version 0 is the initial value.
#[derive(Clone, Copy, Debug)]
struct VersionedAccess {
    address: u32,
    /// The version that the access reads.
    reads: Option<usize>,
    /// The version that the access writes.
    writes: Option<usize>,
}

/// A prefix of an execution with its last event at a given position.
struct PlacedExecution<'a> {
    execution: &'a Execution,
    accesses: Vec<Vec<VersionedAccess>>,
}

impl Execution {
    /// Creates an execution without events.
    pub fn new(model: Model) -> Execution {
        Execution { model, events: Vec::new() }
    }

    /// Appends an event.
    pub fn push(&mut self, thread: usize, action: Action<'_>) {
        let (kind, accesses) = match action {
            Action::Load(address) => (Kind::Load, vec![Access::read(address)]),
            Action::Store(address) => (Kind::Store, vec![Access::write(address)]),
            Action::Update { address, writes } => {
                (Kind::Update, vec![Access { address, reads: true, writes }])
            }
            Action::Direct(address) => (Kind::Direct, vec![Access::update(address)]),
            Action::Block(accesses) => (Kind::Block, accesses.to_vec()),
            Action::Fence { store_store, store_load } => {
                (Kind::Fence { store_store, store_load }, Vec::new())
            }
            Action::Drain(address) => (Kind::Drain(address), Vec::new()),
        };
        self.events.push(Event { thread, kind, accesses });
    }

    /// Returns the number of events, including fences and drains.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the immediate edges of happens-before: from an access to the next access of its
    /// thread, from a write to its readers, and from an access to the next write.
    pub fn edges(&self) -> Vec<Edge> {
        let Some(last) = self.events.len().checked_sub(1) else { return Vec::new() };
        let placed = self.place_event(last, &self.original_position(last));
        let mut edges = placed.edges();
        edges.retain(|&edge| placed.is_immediate(edge));
        edges
    }

    /// Returns all writes `w` such that moving event `at` directly before `w` gives an execution
    /// of the memory model that is not SC. Only the events up to `at` count. In contrast to
    /// [`Monitor`](crate::Monitor), this also moves stores, updates and blocks under TSO.
    pub fn borderline(&self, at: usize) -> Vec<usize> {
        let writes = (0..at).filter(|&write| self.borderline_positions(at, write).next().is_some());
        writes.collect()
    }

    /// Returns a shortest cycle of happens-before in the execution with `at` moved directly
    /// before the write `before`. The first edge is from `at` to `before`. Returns an empty cycle
    /// if `before` is not in [`Execution::borderline`].
    pub fn cycle(&self, at: usize, before: usize) -> Vec<Edge> {
        let Some(position) = self.borderline_positions(at, before).next() else {
            return Vec::new();
        };
        let placed = self.place_event(at, &position);
        let kind = placed.edge_kind(at, before).expect("the event was moved before the write");
        let mut cycle = vec![Edge { from: at, to: before, kind }];
        cycle.extend(placed.path(before, at).expect("the write happens before the event"));
        cycle
    }

    /// Returns an order in which the accesses up to `at` can take effect if `at` is moved directly
    /// before the write `before`. It follows the order of the execution where possible. Fences and
    /// drains are omitted. Returns an empty order if `before` is not in [`Execution::borderline`].
    pub fn reordered(&self, at: usize, before: usize) -> Vec<usize> {
        let Some(position) = self.borderline_positions(at, before).next() else {
            return Vec::new();
        };
        self.place_event(at, &position)
            .relaxed_order()
            .expect("the memory model allows the execution")
    }

    /// Returns the edges of relaxed happens-before in the execution with `at` moved directly
    /// before the write `before`. [`Execution::reordered`] respects these edges.
    pub fn relaxed_edges(&self, at: usize, before: usize) -> Vec<(usize, usize)> {
        let Some(position) = self.borderline_positions(at, before).next() else {
            return Vec::new();
        };
        let placed = self.place_event(at, &position);
        let pairs = (0..=at).flat_map(|from| (0..=at).map(move |to| (from, to)));
        pairs.filter(|&(from, to)| placed.is_relaxed_edge(from, to)).collect()
    }

    /// Returns the positions of `at` directly before the write `before` that close a happens-before
    /// cycle through `before`, but no cycle of relaxed happens-before.
    fn borderline_positions(&self, at: usize, before: usize) -> impl Iterator<Item = Vec<usize>> {
        self.positions(at).into_iter().filter(move |position| {
            let mut accesses = position.iter().zip(&self.events[at].accesses);
            let directly = accesses.any(|(&index, access)| {
                self.writes(at, access.address).get(index) == Some(&before)
            });
            if !directly || self.splits_update(at, position) {
                return false;
            }
            let placed = self.place_event(at, position);
            !placed.conflicts_with_own_past(at)
                && placed.path(before, at).is_some()
                && placed.relaxed_order().is_some()
        })
    }

    /// Returns the writes to an address before event `at`.
    fn writes(&self, at: usize, address: u32) -> Vec<usize> {
        let writes = |event: &Event| {
            event.accesses.iter().any(|access| access.address == address && access.writes)
        };
        (0..at).filter(|&event| writes(&self.events[event])).collect()
    }

    /// Returns the original position of event `at`: after all earlier writes to its addresses.
    fn original_position(&self, at: usize) -> Vec<usize> {
        let accesses = self.events[at].accesses.iter();
        accesses.map(|access| self.writes(at, access.address).len()).collect()
    }

    /// Returns all positions of event `at`, the latest first.
    fn positions(&self, at: usize) -> Vec<Vec<usize>> {
        let mut positions = vec![Vec::new()];
        for last in self.original_position(at) {
            let longer = |position: &Vec<usize>| {
                let position = position.clone();
                (0..=last).rev().map(move |index| [position.as_slice(), &[index]].concat())
            };
            positions = positions.iter().flat_map(longer).collect();
        }
        positions
    }

    /// Returns whether event `at` at this position would separate an update from the write that the
    /// update reads.
    fn splits_update(&self, at: usize, position: &[usize]) -> bool {
        position.iter().zip(&self.events[at].accesses).any(|(&index, access)| {
            let next = self.writes(at, access.address).get(index).copied();
            access.writes
                && next.is_some_and(|next| {
                    let mut accesses = self.events[next].accesses.iter();
                    accesses.any(|other| other.address == access.address && other.reads)
                })
        })
    }

    /// Returns the execution up to `at` with `at` moved to a position.
    fn place_event(&self, at: usize, position: &[usize]) -> PlacedExecution<'_> {
        let moved_write = |address: u32| {
            let mut accesses = self.events[at].accesses.iter().zip(position);
            accesses.find(|(access, _)| access.address == address && access.writes)
        };
        let accesses = (0..=at).map(|event| {
            let accesses = self.events[event].accesses.iter().enumerate();
            let versioned = accesses.map(|(number, access)| {
                let mut version = if event == at {
                    position[number]
                } else {
                    self.writes(event, access.address).len()
                };
                let moved = moved_write(access.address).map(|(_, &index)| index);
                // A moved write increases the versions of the writes after it.
                let shifted = |version: usize, least: usize| {
                    version
                        + usize::from(
                            event != at && moved.is_some_and(|index| version >= least + index),
                        )
                };
                let writes = access.writes.then(|| shifted(version, 0) + 1);
                version = shifted(version, 1);
                VersionedAccess {
                    address: access.address,
                    reads: access.reads.then_some(version),
                    writes,
                }
            });
            versioned.collect()
        });
        PlacedExecution { execution: self, accesses: accesses.collect() }
    }

    /// Returns whether the memory model preserves the program order of two events of a thread.
    fn preserves_program_order(&self, from: usize, to: usize) -> bool {
        let (first, second) = (&self.events[from], &self.events[to]);
        let Kind::Store = first.kind else { return true };
        let address = first.accesses[0].address;
        let same_address = second.accesses.iter().any(|access| access.address == address);
        let has_between = |matches: &dyn Fn(usize, Kind) -> bool| {
            (from + 1..to).any(|event| {
                let other = &self.events[event];
                other.thread == first.thread && matches(event, other.kind)
            })
        };
        let store_store =
            has_between(&|_, kind| matches!(kind, Kind::Fence { store_store: true, .. }));
        let store_load =
            has_between(&|_, kind| matches!(kind, Kind::Fence { store_load: true, .. }));
        let drained = has_between(&|drain, kind| {
            let Kind::Drain(drained_address) = kind else { return false };
            // Under TSO a drain also commits the stores before the last store to the address.
            let last = match self.model {
                Model::Tso => drain,
                Model::Pso => from + 1,
            };
            self.events[from..last].iter().any(|store| {
                store.thread == first.thread
                    && store.kind == Kind::Store
                    && store.accesses[0].address == drained_address
            })
        });
        let tso = self.model == Model::Tso;
        drained
            || match second.kind {
                Kind::Load => store_load,
                Kind::Store => tso || same_address || store_store,
                Kind::Update => tso || same_address || store_store || store_load,
                Kind::Direct => same_address,
                Kind::Block => true,
                Kind::Fence { .. } | Kind::Drain(_) => false,
            }
    }
}

impl PlacedExecution<'_> {
    fn len(&self) -> usize {
        self.accesses.len()
    }

    fn is_access(&self, event: usize) -> bool {
        match self.execution.events[event].kind {
            Kind::Fence { .. } | Kind::Drain(_) => false,
            Kind::Load | Kind::Store | Kind::Update | Kind::Direct | Kind::Block => true,
        }
    }

    fn program_order(&self, from: usize, to: usize) -> bool {
        from < to
            && self.execution.events[from].thread == self.execution.events[to].thread
            && self.is_access(from)
            && self.is_access(to)
    }

    /// Returns the pairs of accesses of two events to the same address.
    fn access_pairs(
        &self,
        from: usize,
        to: usize,
    ) -> impl Iterator<Item = (VersionedAccess, VersionedAccess)> {
        let seconds = &self.accesses[to];
        self.accesses[from].iter().flat_map(move |&first| {
            let same = seconds.iter().filter(move |second| second.address == first.address);
            same.map(move |&second| (first, second))
        })
    }

    /// Returns whether two events are in conflict order, by their versions. An update counts with
    /// the version that it writes.
    fn conflict(&self, from: usize, to: usize) -> bool {
        let version = |access: VersionedAccess| {
            access.writes.or(access.reads).expect("an access reads or writes")
        };
        from != to
            && self.access_pairs(from, to).any(|(first, second)| {
                if second.writes.is_some() {
                    version(first) < version(second)
                } else {
                    first.writes.is_some() && version(first) <= version(second)
                }
            })
    }

    /// Returns the kind of the happens-before edge between two events, if there is one.
    fn edge_kind(&self, from: usize, to: usize) -> Option<EdgeKind> {
        if self.program_order(from, to) {
            return Some(EdgeKind::ProgramOrder);
        }
        if from == to {
            return None;
        }
        let any_pair = |matches: &dyn Fn(VersionedAccess, VersionedAccess) -> bool| {
            self.access_pairs(from, to).any(|(first, second)| matches(first, second))
        };
        if any_pair(&|first, second| first.writes.is_some() && first.writes == second.reads) {
            Some(EdgeKind::ReadsFrom)
        } else if any_pair(&|first, second| first.writes.is_some() && first.writes < second.writes)
        {
            Some(EdgeKind::Coherence)
        } else if any_pair(&|first, second| first.reads.is_some() && first.reads < second.writes) {
            Some(EdgeKind::FromRead)
        } else {
            None
        }
    }

    fn edges(&self) -> Vec<Edge> {
        let pairs = (0..self.len()).flat_map(|from| (0..self.len()).map(move |to| (from, to)));
        let edge = |(from, to)| self.edge_kind(from, to).map(|kind| Edge { from, to, kind });
        pairs.filter_map(edge).collect()
    }

    /// Returns whether no event of the same kind of edge is between the two events.
    fn is_immediate(&self, edge: Edge) -> bool {
        let Edge { from, to, kind } = edge;
        let next = |version: Option<usize>| version.map(|number| number + 1);
        let mut access_pairs = self.access_pairs(from, to);
        match kind {
            EdgeKind::ProgramOrder => !(from + 1..to).any(|event| self.program_order(from, event)),
            EdgeKind::ReadsFrom => true,
            EdgeKind::FromRead => {
                access_pairs.any(|(f, s)| f.reads.is_some() && next(f.reads) == s.writes)
            }
            EdgeKind::Coherence => {
                access_pairs.any(|(f, s)| f.writes.is_some() && next(f.writes) == s.writes)
            }
        }
    }

    /// Returns whether event `at` violates axiom TSO2 of the paper: it precedes an earlier event
    /// of its own thread in conflict order.
    fn conflicts_with_own_past(&self, at: usize) -> bool {
        (0..at).any(|event| self.program_order(event, at) && self.conflict(at, event))
    }

    /// Returns whether an event is a load that reads a plain store of its own thread, possibly by
    /// forwarding.
    fn reads_own_store(&self, load: usize) -> bool {
        let event = &self.execution.events[load];
        event.kind == Kind::Load
            && (0..load).any(|from| {
                let store = &self.execution.events[from];
                store.thread == event.thread
                    && store.kind == Kind::Store
                    && self
                        .access_pairs(from, load)
                        .any(|(first, second)| first.writes == second.reads)
            })
    }

    /// Returns whether relaxed happens-before has an edge between two events.
    fn is_relaxed_edge(&self, from: usize, to: usize) -> bool {
        let threads = [from, to].map(|event| self.execution.events[event].thread);
        if self.program_order(from, to) && self.execution.preserves_program_order(from, to) {
            return true;
        }
        threads[0] != threads[1] && self.conflict(from, to) && !self.reads_own_store(to)
    }

    /// Returns a shortest path of happens-before. Prefers earlier events.
    fn path(&self, from: usize, to: usize) -> Option<Vec<Edge>> {
        let mut incoming: Vec<Option<Edge>> = vec![None; self.len()];
        let mut frontier = vec![from];
        while incoming[to].is_none() && !frontier.is_empty() {
            let mut next = Vec::new();
            for &event in &frontier {
                for (other, incoming) in incoming.iter_mut().enumerate() {
                    let is_new = other != from && incoming.is_none();
                    if let Some(kind) = self.edge_kind(event, other).filter(|_| is_new) {
                        *incoming = Some(Edge { from: event, to: other, kind });
                        next.push(other);
                    }
                }
            }
            frontier = next;
        }
        let mut path = Vec::new();
        let mut at = to;
        while at != from {
            let edge = incoming[at]?;
            path.push(edge);
            at = edge.from;
        }
        path.reverse();
        Some(path)
    }

    /// Returns the accesses in topological order of relaxed happens-before, or `None` if there is a
    /// cycle. Of several possible next accesses it takes the earliest.
    fn relaxed_order(&self) -> Option<Vec<usize>> {
        let accesses = || (0..self.len()).filter(|&event| self.is_access(event));
        let mut predecessors: Vec<usize> = (0..self.len())
            .map(|to| accesses().filter(|&from| self.is_relaxed_edge(from, to)).count())
            .collect();
        let mut order = Vec::new();
        let mut done = vec![false; self.len()];
        while order.len() < accesses().count() {
            let next = accesses().find(|&event| !done[event] && predecessors[event] == 0)?;
            done[next] = true;
            order.push(next);
            accesses()
                .filter(|&to| self.is_relaxed_edge(next, to))
                .for_each(|to| predecessors[to] -= 1);
        }
        Some(order)
    }
}
