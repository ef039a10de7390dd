//! Candidate executions and the axioms.
//!
//! A candidate is one run of each thread, the write that each read reads from (*rf*), and the order
//! of the writes to each location (*co*). A read is before (*fr*) all writes that follow the write
//! it reads from.
//!
//! The axioms, with *po-loc* for program order restricted to one location:
//! 1. At each location, the union of po-loc, rf, co and fr is acyclic.
//! 2. The union of preserved program order ([`order`](super::order)), rf between threads, co and fr
//!    is acyclic.
//!
//! A node is a whole access, a whole update or a whole `atomic` block. So a write between the read
//! and the write of an update makes a cycle: fr into that write and co out of it. No axiom of
//! atomicity is needed.
//!
//! Only outcomes matter: for each choice of runs and final values one consistent candidate is
//! enough. The axioms are checked after every added edge, so that inconsistent candidates are
//! pruned early.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{Loc, Observable, Problem, Value};

use super::Unsupported;
use super::run::{MAX_NODES, Nodes, Run};

/// The maximum number of explored choices of a run for each thread or for the first threads.
const MAX_CHOICES: usize = 1 << 18;

/// Returns the outcomes of all consistent candidates. `runs` holds the runs of each thread.
pub(super) fn outcomes(
    problem: &Problem,
    runs: &[Vec<Run>],
) -> Result<BTreeSet<Vec<Value>>, Unsupported> {
    let largest = runs.iter().map(|all| all.iter().map(|run| run.before.len()).max().unwrap_or(0));
    if largest.sum::<usize>() > MAX_NODES {
        return Err(Unsupported::TooLarge);
    }
    let mut later = vec![BTreeSet::new(); runs.len() + 1];
    for (at, all) in runs.iter().enumerate().rev() {
        let written = all.iter().flat_map(Run::nodes).flat_map(|node| &node.writes);
        later[at] = later[at + 1].iter().chain(written).copied().collect();
    }
    let (chosen, found) = (Vec::new(), BTreeSet::new());
    let mut search = Search { problem, runs, later, chosen, choices: 0, found };
    search.choose()?;
    Ok(search.found)
}

struct Search<'a> {
    problem: &'a Problem,
    runs: &'a [Vec<Run>],
    /// By thread: the writes that this thread and the following ones may make.
    later: Vec<BTreeSet<(Loc, Value)>>,
    chosen: Vec<&'a Run>,
    /// The number of explored choices.
    choices: usize,
    found: BTreeSet<Vec<Value>>,
}

impl<'a> Search<'a> {
    /// Chooses a run for each remaining thread, in every way.
    ///
    /// If some threads, and the reads that read from them, are removed from a consistent candidate,
    /// the rest is consistent. So an inconsistent partial choice is pruned.
    fn choose(&mut self) -> Result<(), Unsupported> {
        self.choices += 1;
        if self.choices > MAX_CHOICES {
            return Err(Unsupported::TooLarge);
        }
        let later = &self.later[self.chosen.len()];
        let candidate = Candidate::new(self.problem, &self.chosen, later);
        if !candidate.has_consistent_execution(&vec![None; candidate.locations.len()]) {
            return Ok(());
        }
        let Some(runs) = self.runs.get(self.chosen.len()) else {
            self.collect_outcomes(&candidate);
            return Ok(());
        };
        for run in runs {
            self.chosen.push(run);
            self.choose()?;
            self.chosen.pop();
        }
        Ok(())
    }

    /// Adds the outcomes of the chosen runs, for all possible final values.
    fn collect_outcomes(&mut self, candidate: &Candidate) {
        for last in candidate.final_values(&self.problem.observed) {
            let outcome = self.outcome(candidate, &last);
            if !self.found.contains(&outcome) && candidate.has_consistent_execution(&last) {
                self.found.insert(outcome);
            }
        }
    }

    /// Returns the outcome with these final values.
    fn outcome(&self, candidate: &Candidate, last: &[Option<Value>]) -> Vec<Value> {
        let value = |what: &Observable| match what {
            Observable::Loc(loc) => {
                let at = candidate.locations.iter().position(|accesses| accesses.loc == *loc);
                let init = self.problem.program.location(*loc).init;
                at.and_then(|at| last[at]).unwrap_or(init)
            }
            Observable::Reg(thread, reg) => self.chosen[thread.index()].registers[reg.index()],
            Observable::At(..) => unreachable!("only invariants mention control points"),
        };
        self.problem.observed.iter().map(value).collect()
    }
}

/// One run of each thread, or of the first threads. This part of a candidate does not depend on rf
/// and co.
struct Candidate {
    /// The thread of each node.
    threads: Vec<usize>,
    /// For each node: the nodes before it in preserved program order.
    preserved_order: Vec<Nodes>,
    locations: Vec<LocationAccesses>,
}

/// A node, and the value that it reads from or writes to one location.
type NodeValue = (usize, Value);

/// The accesses to one location. Nodes of one thread are in program order.
struct LocationAccesses {
    loc: Loc,
    init: Value,
    reads: Vec<NodeValue>,
    writes: Vec<NodeValue>,
}

/// The relations of the axioms: for each node, the nodes before it.
#[derive(Clone)]
struct Edges {
    /// The relation of the first axiom, for the current location.
    here: Vec<Nodes>,
    /// The relation of the second axiom.
    global: Vec<Nodes>,
}

impl Edges {
    /// Adds an edge to both relations.
    fn add(&mut self, earlier: usize, later: usize) {
        self.here[later] |= 1 << earlier;
        self.global[later] |= 1 << earlier;
    }

    fn are_acyclic(&self) -> bool {
        is_acyclic(&self.here) && is_acyclic(&self.global)
    }
}

impl Candidate {
    /// Creates a candidate of these runs. `later` holds the writes that threads without a run may
    /// make. Reads that may read from these are left out.
    fn new(problem: &Problem, runs: &[&Run], later: &BTreeSet<(Loc, Value)>) -> Candidate {
        let (mut threads, mut preserved_order) = (Vec::new(), Vec::new());
        let (mut reads, mut writes) = (BTreeMap::new(), BTreeMap::new());
        for (thread, run) in runs.iter().enumerate() {
            let first = threads.len();
            for (node, before) in run.nodes().zip(&run.before) {
                for (loc, value) in node.reads.iter().filter(|read| !later.contains(read)) {
                    reads.entry(*loc).or_insert_with(Vec::new).push((threads.len(), *value));
                }
                for (loc, value) in &node.writes {
                    writes.entry(*loc).or_insert_with(Vec::new).push((threads.len(), *value));
                }
                threads.push(thread);
                preserved_order.push(before << first);
            }
        }
        let locs: BTreeSet<Loc> = reads.keys().chain(writes.keys()).copied().collect();
        let accesses = |loc| LocationAccesses {
            loc,
            init: problem.program.location(loc).init,
            reads: reads.remove(&loc).unwrap_or_default(),
            writes: writes.remove(&loc).unwrap_or_default(),
        };
        Candidate { threads, preserved_order, locations: locs.into_iter().map(accesses).collect() }
    }

    /// Returns all combinations of final values, one value for each location. The value is `None`
    /// for a location that is not written or not observed.
    fn final_values(&self, observed: &[Observable]) -> Vec<Vec<Option<Value>>> {
        let mut all = vec![Vec::new()];
        for accesses in &self.locations {
            let mut values = BTreeSet::new();
            if observed.contains(&Observable::Loc(accesses.loc)) {
                let last_of_thread: BTreeMap<usize, Value> = accesses
                    .writes
                    .iter()
                    .map(|(node, value)| (self.threads[*node], *value))
                    .collect();
                values.extend(last_of_thread.into_values().map(Some));
            }
            if values.is_empty() {
                values.insert(None);
            }
            let with = |last: &Vec<Option<Value>>, value| [last.as_slice(), &[value]].concat();
            all = all.iter().flat_map(|last| values.iter().map(|v| with(last, *v))).collect();
        }
        all
    }

    /// Returns whether some rf and co satisfy the axioms and give these final values.
    fn has_consistent_execution(&self, last: &[Option<Value>]) -> bool {
        self.solve_locations(0, &self.preserved_order, last)
    }

    /// Returns whether consistent rf and co exist for the locations from `at` on.
    fn solve_locations(&self, at: usize, global: &[Nodes], last: &[Option<Value>]) -> bool {
        let Some(accesses) = self.locations.get(at) else { return true };
        self.order_writes(accesses, &mut Vec::new(), &mut |co| {
            let written = co.last().map(|(_, value)| *value);
            if last[at].is_some() && last[at] != written {
                return false;
            }
            let mut edges = Edges { here: self.po_loc(accesses), global: global.to_vec() };
            for pair in co.windows(2) {
                edges.add(pair[0].0, pair[1].0);
            }
            edges.are_acyclic()
                && self.solve_reads(accesses, co, 0, &edges, &mut |edges| {
                    self.solve_locations(at + 1, &edges.global, last)
                })
        })
    }

    /// Returns whether `accept` holds for some co that keeps the writes of each thread in program
    /// order. Any other co has a cycle with po-loc.
    fn order_writes(
        &self,
        accesses: &LocationAccesses,
        co: &mut Vec<NodeValue>,
        accept: &mut dyn FnMut(&[NodeValue]) -> bool,
    ) -> bool {
        if co.len() == accesses.writes.len() {
            return accept(co);
        }
        for write in &accesses.writes {
            let is_next = |other: &&NodeValue| {
                self.threads[other.0] == self.threads[write.0] && !co.contains(other)
            };
            if accesses.writes.iter().find(is_next) == Some(write) {
                co.push(*write);
                let found = self.order_writes(accesses, co, accept);
                co.pop();
                if found {
                    return true;
                }
            }
        }
        false
    }

    /// Returns whether `accept` holds for some rf of the reads from `next` on.
    fn solve_reads(
        &self,
        accesses: &LocationAccesses,
        co: &[NodeValue],
        next: usize,
        edges: &Edges,
        accept: &mut dyn FnMut(&Edges) -> bool,
    ) -> bool {
        let Some((read, value)) = accesses.reads.get(next) else { return accept(edges) };
        // `preceding` is the number of writes before the read in co.
        (0..=co.len()).any(|preceding| {
            let source = preceding.checked_sub(1).map(|at| co[at]);
            if source.map_or(accesses.init, |(_, written)| written) != *value {
                return false;
            }
            let mut edges = edges.clone();
            if let Some((write, _)) = source {
                if self.threads[write] == self.threads[*read] {
                    edges.here[*read] |= 1 << write;
                } else {
                    edges.add(write, *read);
                }
            }
            // The next write in co after the source may be the write of the update itself.
            if let Some((overwrites, _)) =
                co[preceding..].iter().find(|(younger, _)| younger != read)
            {
                edges.add(*read, *overwrites);
            }
            edges.are_acyclic() && self.solve_reads(accesses, co, next + 1, &edges, accept)
        })
    }

    /// Returns program order restricted to the location.
    fn po_loc(&self, accesses: &LocationAccesses) -> Vec<Nodes> {
        let mut before = vec![0; self.threads.len()];
        let nodes = || accesses.reads.iter().chain(&accesses.writes).map(|(node, _)| *node);
        for node in nodes() {
            for earlier in nodes() {
                if self.threads[earlier] == self.threads[node] && earlier < node {
                    before[node] |= 1 << earlier;
                }
            }
        }
        before
    }
}

/// Returns whether a relation has a topological order.
fn is_acyclic(before: &[Nodes]) -> bool {
    let mut placed: Nodes = 0;
    loop {
        let mut next = placed;
        for (node, needed) in before.iter().enumerate() {
            if needed & !next == 0 {
                next |= 1 << node;
            }
        }
        if next == placed {
            return placed.count_ones() as usize == before.len();
        }
        placed = next;
    }
}
