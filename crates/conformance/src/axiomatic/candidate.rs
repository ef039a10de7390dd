//! Candidates: one run of each thread, for every read the write it reads from (*rf*), for every location the
//! order of its writes (*co*). A read comes before (*fr*) the writes after the one it reads from.
//!
//! The axioms, with *po* for program order and *po-loc* for the part of it at one location:
//! 1. At each location, po-loc, rf, co and fr together have no cycle.
//! 2. Kept order ([`order`](super::order)), rf between threads, co and fr together have no cycle.
//!
//! A node stands for all that an update or an `atomic` block does. So a write between the read and the write of an update is
//! a cycle, by fr into it and co out of it, and no axiom of atomicity is needed.
//!
//! Only what is shown in the end matters: for each choice of runs and last values one consistent candidate is enough. The
//! axioms are checked with every edge that is added, so that what cannot become consistent is left early.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{Loc, Observable, Problem, Value};

use super::Unsupported;
use super::run::{MOST_NODES, Nodes, Run};

/// The most ways to choose a run of each thread, or of the first ones, that are looked at.
const MOST_CHOICES: usize = 1 << 18;

/// What all consistent candidates show. `runs` has the runs of each thread.
pub(super) fn outcomes(
    problem: &Problem,
    runs: &[Vec<Run>],
) -> Result<BTreeSet<Vec<Value>>, Unsupported> {
    let largest = runs.iter().map(|all| all.iter().map(|run| run.before.len()).max().unwrap_or(0));
    if largest.sum::<usize>() > MOST_NODES {
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
    /// For each thread, what it and those after it may write.
    later: Vec<BTreeSet<(Loc, Value)>>,
    chosen: Vec<&'a Run>,
    /// How many choices were looked at.
    choices: usize,
    found: BTreeSet<Vec<Value>>,
}

impl<'a> Search<'a> {
    /// Chooses a run for each thread that has none yet, in every way.
    ///
    /// What is left of a consistent candidate without some threads, and without the reads that read from them, is consistent.
    /// So a beginning that is not is left at once.
    fn choose(&mut self) -> Result<(), Unsupported> {
        self.choices += 1;
        if self.choices > MOST_CHOICES {
            return Err(Unsupported::TooLarge);
        }
        let later = &self.later[self.chosen.len()];
        let candidate = Candidate::new(self.problem, &self.chosen, later);
        if !candidate.can_end(&vec![None; candidate.places.len()]) {
            return Ok(());
        }
        let Some(runs) = self.runs.get(self.chosen.len()) else {
            self.judge(&candidate);
            return Ok(());
        };
        for run in runs {
            self.chosen.push(run);
            self.choose()?;
            self.chosen.pop();
        }
        Ok(())
    }

    /// Notes what the chosen runs show, for all values that may be written last.
    fn judge(&mut self, candidate: &Candidate) {
        for last in candidate.lasts(&self.problem.observed) {
            let outcome = self.outcome(candidate, &last);
            if !self.found.contains(&outcome) && candidate.can_end(&last) {
                self.found.insert(outcome);
            }
        }
    }

    /// The outcome with these values written last.
    fn outcome(&self, candidate: &Candidate, last: &[Option<Value>]) -> Vec<Value> {
        let value = |what: &Observable| match what {
            Observable::Loc(loc) => {
                let at = candidate.places.iter().position(|place| place.loc == *loc);
                let init = self.problem.program.location(*loc).init;
                at.and_then(|at| last[at]).unwrap_or(init)
            }
            Observable::Reg(thread, reg) => self.chosen[thread.index()].registers[reg.index()],
        };
        self.problem.observed.iter().map(value).collect()
    }
}

/// One run of each thread, or of the first ones, with everything about them that does not depend on rf and co.
struct Candidate {
    /// For each node, its thread.
    threads: Vec<usize>,
    /// For each node, what the kept order has before it.
    kept: Vec<Nodes>,
    places: Vec<Place>,
}

/// A node, and the value that it reads from or writes to a location.
type Part = (usize, Value);

/// What happens at one location. Nodes of a thread are in program order.
struct Place {
    loc: Loc,
    init: Value,
    reads: Vec<Part>,
    writes: Vec<Part>,
}

/// For each node, what comes before it.
#[derive(Clone)]
struct Edges {
    /// At the location that is being settled: the relation of the first axiom.
    here: Vec<Nodes>,
    /// The relation of the second axiom.
    global: Vec<Nodes>,
}

impl Edges {
    /// An edge of both relations.
    fn add(&mut self, earlier: usize, later: usize) {
        self.here[later] |= 1 << earlier;
        self.global[later] |= 1 << earlier;
    }

    fn are_acyclic(&self) -> bool {
        is_acyclic(&self.here) && is_acyclic(&self.global)
    }
}

impl Candidate {
    /// `later` is what threads that are not in it yet may write: reads that may be from there are left out.
    fn new(problem: &Problem, runs: &[&Run], later: &BTreeSet<(Loc, Value)>) -> Candidate {
        let (mut threads, mut kept) = (Vec::new(), Vec::new());
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
                kept.push(before << first);
            }
        }
        let locs: BTreeSet<Loc> = reads.keys().chain(writes.keys()).copied().collect();
        let place = |loc| Place {
            loc,
            init: problem.program.location(loc).init,
            reads: reads.remove(&loc).unwrap_or_default(),
            writes: writes.remove(&loc).unwrap_or_default(),
        };
        Candidate { threads, kept, places: locs.into_iter().map(place).collect() }
    }

    /// The values that might be written last, one for each location, in all combinations. None where nothing is written, or
    /// where nobody looks.
    fn lasts(&self, observed: &[Observable]) -> Vec<Vec<Option<Value>>> {
        let mut all = vec![Vec::new()];
        for place in &self.places {
            let mut values = BTreeSet::new();
            if observed.contains(&Observable::Loc(place.loc)) {
                let last_of_thread: BTreeMap<usize, Value> = place
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

    /// Whether some rf and co satisfy the axioms and have these values written last.
    fn can_end(&self, last: &[Option<Value>]) -> bool {
        self.settle(0, &self.kept, last)
    }

    /// Whether the locations from this one on can be settled.
    fn settle(&self, at: usize, global: &[Nodes], last: &[Option<Value>]) -> bool {
        let Some(place) = self.places.get(at) else { return true };
        self.order_writes(place, &mut Vec::new(), &mut |co| {
            let written = co.last().map(|(_, value)| *value);
            if last[at].is_some() && last[at] != written {
                return false;
            }
            let mut edges = Edges { here: self.po_loc(place), global: global.to_vec() };
            for pair in co.windows(2) {
                edges.add(pair[0].0, pair[1].0);
            }
            edges.are_acyclic()
                && self.read(place, co, 0, &edges, &mut |edges| {
                    self.settle(at + 1, &edges.global, last)
                })
        })
    }

    /// Whether `goes_on` holds for some co: an order of the writes that keeps those of a thread as they are in it.
    /// Others have a cycle of co and po-loc.
    fn order_writes(
        &self,
        place: &Place,
        co: &mut Vec<Part>,
        goes_on: &mut dyn FnMut(&[Part]) -> bool,
    ) -> bool {
        if co.len() == place.writes.len() {
            return goes_on(co);
        }
        for write in &place.writes {
            let is_next = |other: &&Part| {
                self.threads[other.0] == self.threads[write.0] && !co.contains(other)
            };
            if place.writes.iter().find(is_next) == Some(write) {
                co.push(*write);
                let found = self.order_writes(place, co, goes_on);
                co.pop();
                if found {
                    return true;
                }
            }
        }
        false
    }

    /// Whether `goes_on` holds for some rf, of the reads from the one at `next` on.
    fn read(
        &self,
        place: &Place,
        co: &[Part],
        next: usize,
        edges: &Edges,
        goes_on: &mut dyn FnMut(&Edges) -> bool,
    ) -> bool {
        let Some((read, value)) = place.reads.get(next) else { return goes_on(edges) };
        // How many writes have come when it reads.
        (0..=co.len()).any(|come| {
            let source = come.checked_sub(1).map(|at| co[at]);
            if source.map_or(place.init, |(_, written)| written) != *value {
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
            // An update may come directly before itself.
            if let Some((overwrites, _)) = co[come..].iter().find(|(younger, _)| younger != read) {
                edges.add(*read, *overwrites);
            }
            edges.are_acyclic() && self.read(place, co, next + 1, &edges, goes_on)
        })
    }

    /// Program order at the location.
    fn po_loc(&self, place: &Place) -> Vec<Nodes> {
        let mut before = vec![0; self.threads.len()];
        let nodes = || place.reads.iter().chain(&place.writes).map(|(node, _)| *node);
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

/// Whether the nodes can be put in a row with everything in `before` before its node.
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
