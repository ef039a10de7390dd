//! Candidate executions and the axioms of `arm`.
//!
//! A candidate is one run of each thread, with *rf* and *co*. Runs are chosen thread by thread. If
//! some threads, and the rf edges from their writes, are removed from an allowed candidate, the
//! rest satisfies the axioms, too: it has fewer edges. So a partial choice without allowed rf and
//! co is pruned.
//!
//! The axioms *internal* and *atomic* are about one location. So rf and co of each location are
//! enumerated first ([`Layout`]), and then combined for the axiom *external*.

use std::collections::BTreeSet;

use fencepost_ir::{Acquire, Loc, Observable, Problem, Value};

use super::super::Unsupported;
use super::order;
use super::run::{Event, Events, MAX_EVENTS, Run};

/// The maximum number of explored choices of runs, and of layouts.
const MAX_CHOICES: usize = 1 << 20;

/// Returns the outcomes of all allowed candidates. `runs` holds the runs of each thread.
pub(super) fn outcomes(
    problem: &Problem,
    runs: &[Vec<Run>],
) -> Result<BTreeSet<Vec<Value>>, Unsupported> {
    let longest = |all: &Vec<Run>| all.iter().map(|run| run.events.len()).max().unwrap_or(0);
    if runs.iter().map(longest).sum::<usize>() > MAX_EVENTS {
        return Err(Unsupported::TooLarge);
    }
    let mut later = vec![BTreeSet::new(); runs.len() + 1];
    for (at, all) in runs.iter().enumerate().rev() {
        let written = all.iter().flat_map(Run::writes);
        later[at] = later[at + 1].iter().copied().chain(written).collect();
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

impl Search<'_> {
    /// Chooses a run for each remaining thread, in every way.
    fn choose(&mut self) -> Result<(), Unsupported> {
        let later = &self.later[self.chosen.len()];
        let chosen = self.chosen.clone();
        let Some(candidate) = Candidate::new(self.problem, &chosen, later) else {
            return Ok(());
        };
        let runs = self.runs;
        let Some(runs) = runs.get(self.chosen.len()) else {
            return self.collect_outcomes(&candidate);
        };
        let mut is_allowed = false;
        candidate.combine(&mut self.choices, &mut |_| {
            is_allowed = true;
            false
        })?;
        if !is_allowed {
            return Ok(());
        }
        for run in runs {
            self.chosen.push(run);
            self.choose()?;
            self.chosen.pop();
        }
        Ok(())
    }

    /// Adds the outcomes of the allowed executions of a complete candidate.
    fn collect_outcomes(&mut self, candidate: &Candidate) -> Result<(), Unsupported> {
        let (problem, chosen, found) = (self.problem, &self.chosen, &mut self.found);
        candidate.combine(&mut self.choices, &mut |layouts| {
            let value = |what: &Observable| match what {
                Observable::Loc(loc) => {
                    let at = candidate.locations.iter().position(|other| other == loc);
                    at.map_or(problem.program.location(*loc).init, |at| layouts[at].last)
                }
                Observable::Reg(thread, reg) => chosen[thread.index()].registers[reg.index()],
                Observable::At(..) => unreachable!("only invariants mention control points"),
            };
            found.insert(problem.observed.iter().map(value).collect());
            true
        })
    }
}

/// One run of each thread, or of the first threads, with the possible layouts of each location.
struct Candidate<'a> {
    runs: &'a [&'a Run],
    /// The accessed locations.
    locations: Vec<Loc>,
    /// For each event: the events of its thread that are ordered before it.
    before: Vec<Events>,
    /// For each accessed location: its layouts.
    layouts: Vec<Vec<Layout>>,
}

/// rf and co of one location that satisfy the axioms *internal* and *atomic*.
struct Layout {
    /// The edges of ordered-before: `rfe`, `coe`, `fre`, and the parts of rules 5 and 7 about
    /// reads-from.
    edges: Vec<(usize, usize)>,
    /// The writes and reads of one thread that *rf* relates.
    internal: Vec<(usize, usize)>,
    /// The final value.
    last: Value,
}

impl<'a> Candidate<'a> {
    /// Creates a candidate of these runs. `later` holds the writes that threads without a run may
    /// make. Reads that may read from these get no rf edge. Returns `None` if a location has no
    /// layout.
    fn new(
        problem: &Problem,
        runs: &'a [&'a Run],
        later: &BTreeSet<(Loc, Value)>,
    ) -> Option<Candidate<'a>> {
        let (mut events, mut before) = (Vec::new(), Vec::new());
        for (thread, run) in runs.iter().enumerate() {
            let first = events.len();
            events.extend(run.events.iter().map(|event| Placed { event, thread, first }));
            before.extend(run.before.iter().map(|before| before << first));
        }
        let locations: BTreeSet<Loc> = events.iter().map(|placed| placed.event.loc).collect();
        let (mut all, mut layouts) = (Vec::new(), Vec::new());
        for loc in locations {
            let init = problem.program.location(loc).init;
            let found = LocationEvents::new(&events, loc, init, later).layouts();
            if found.is_empty() {
                return None;
            }
            all.push(loc);
            layouts.push(found);
        }
        Some(Candidate { runs, locations: all, before, layouts })
    }

    /// Calls `visit` with each combination of layouts that satisfies the axiom *external*, until it
    /// returns `false`.
    fn combine(
        &self,
        choices: &mut usize,
        visit: &mut impl FnMut(&[&Layout]) -> bool,
    ) -> Result<(), Unsupported> {
        if is_acyclic(&self.before) {
            self.combine_from(&mut Vec::new(), &self.before, choices, visit)?;
        }
        Ok(())
    }

    /// Extends the chosen layouts. Returns whether to continue.
    fn combine_from<'b>(
        &'b self,
        chosen: &mut Vec<&'b Layout>,
        before: &[Events],
        choices: &mut usize,
        visit: &mut impl FnMut(&[&Layout]) -> bool,
    ) -> Result<bool, Unsupported> {
        *choices += 1;
        if *choices > MAX_CHOICES {
            return Err(Unsupported::TooLarge);
        }
        let Some(layouts) = self.layouts.get(chosen.len()) else {
            return Ok(!self.is_picked_in_order(chosen, before) || visit(chosen));
        };
        for layout in layouts {
            let mut before = before.to_vec();
            for (earlier, later) in &layout.edges {
                before[*later] |= 1 << earlier;
            }
            if is_acyclic(&before) {
                chosen.push(layout);
                let goes_on = self.combine_from(chosen, &before, choices, visit)?;
                chosen.pop();
                if !goes_on {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

impl Candidate<'_> {
    /// Returns whether ordered-before has no cycle with rule 11, too.
    fn is_picked_in_order(&self, chosen: &[&Layout], before: &[Events]) -> bool {
        let mut before = before.to_vec();
        let mut first = 0;
        for run in self.runs {
            let events = first..first + run.events.len();
            let internal = chosen.iter().flat_map(|layout| &layout.internal);
            let internal: Vec<(usize, usize)> = internal
                .filter(|(write, _)| events.contains(write))
                .map(|(write, read)| (write - first, read - first))
                .collect();
            let picked = order::picked_before(run, &passed(run, &internal));
            for (later, picked) in picked.into_iter().enumerate() {
                before[first + later] |= picked << first;
            }
            first = events.end;
        }
        is_acyclic(&before)
    }
}

/// Returns, for each read of a run, the reads that its value picks because it reads from a write of
/// its own thread. `internal` has these writes and reads.
fn passed(run: &Run, internal: &[(usize, usize)]) -> Vec<Events> {
    let mut passed = vec![0; run.events.len()];
    loop {
        let before = passed.clone();
        for (write, read) in internal {
            let write = &run.events[*write];
            let mut dependencies = write.addr | write.data | write.passed_pick;
            if let Some(pair) = write.pair().filter(|pair| pair.decides_value) {
                dependencies |= 1 << pair.read;
            }
            passed[*read] |= write.passed_pick | order::passed_by(&passed, dependencies);
        }
        if passed == before {
            return passed;
        }
    }
}

/// An event, its thread, and the number of the first event of this thread.
struct Placed<'a> {
    event: &'a Event,
    thread: usize,
    first: usize,
}

/// The events of one location.
struct LocationEvents<'a> {
    /// The events of all locations.
    all: &'a [Placed<'a>],
    init: Value,
    writes: Vec<usize>,
    /// The reads that have an rf edge.
    reads: Vec<usize>,
}

/// The source of a read: a write, or `None` for the initial value.
type Source = Option<usize>;

impl<'a> LocationEvents<'a> {
    fn new(
        all: &'a [Placed<'a>],
        loc: Loc,
        init: Value,
        later: &BTreeSet<(Loc, Value)>,
    ) -> LocationEvents<'a> {
        let here = |is_wanted: &dyn Fn(&Event) -> bool| {
            let wanted = |at: &usize| all[*at].event.loc == loc && is_wanted(all[*at].event);
            (0..all.len()).filter(wanted).collect::<Vec<_>>()
        };
        let writes = here(&Event::is_write);
        let reads = here(&|event| event.is_read() && !later.contains(&(loc, event.value)));
        LocationEvents { all, init, writes, reads }
    }

    /// Returns all layouts.
    fn layouts(&self) -> Vec<Layout> {
        let (mut orders, mut sources) = (Vec::new(), Vec::new());
        permutations(&self.writes, &mut Vec::new(), &mut orders);
        self.sources(&mut Vec::new(), &mut sources);
        let mut layouts = Vec::new();
        for co in &orders {
            for rf in &sources {
                layouts.extend(self.layout(co, rf));
            }
        }
        layouts
    }

    /// Appends every choice of a source for each read to `found`. Sources have the value of the
    /// read.
    fn sources(&self, chosen: &mut Vec<Source>, found: &mut Vec<Vec<Source>>) {
        let Some(read) = self.reads.get(chosen.len()) else {
            found.push(chosen.clone());
            return;
        };
        let value = self.all[*read].event.value;
        let writes = self.writes.iter().filter(|write| self.all[**write].event.value == value);
        let init = (self.init == value).then_some(None);
        for source in init.into_iter().chain(writes.map(|write| Some(*write))) {
            chosen.push(source);
            self.sources(chosen, found);
            chosen.pop();
        }
    }

    /// Returns the layout with this order of the writes and these sources of the reads, if it
    /// satisfies the axioms *internal* and *atomic*.
    fn layout(&self, co: &[usize], rf: &[Source]) -> Option<Layout> {
        // The position in co, from 1. The initial value is at 0.
        let position = |source: Source| {
            source.map_or(0, |write| 1 + co.iter().position(|other| *other == write).unwrap_or(0))
        };
        let mut edges = Vec::new();
        for (at, write) in co.iter().enumerate() {
            edges.extend(co[at + 1..].iter().map(|later| (*write, *later)));
        }
        for (read, source) in self.reads.iter().zip(rf) {
            edges.extend(source.map(|write| (write, *read)));
            edges.extend(co[position(*source)..].iter().map(|write| (*read, *write)));
        }
        self.is_internal(&edges).then_some(())?;
        self.is_atomic(co, rf, &position).then_some(())?;
        edges.retain(|(from, to)| self.all[*from].thread != self.all[*to].thread);
        self.add_internal_reads(rf, &mut edges);
        let pairs = self.reads.iter().zip(rf).filter_map(|(read, write)| Some(((*write)?, *read)));
        let internal = pairs
            .filter(|(write, read)| self.all[*write].thread == self.all[*read].thread)
            .collect();
        let last = co.last().map_or(self.init, |write| self.all[*write].event.value);
        Some(Layout { edges, internal, last })
    }

    /// The axiom *internal*: program order of this location and these edges have no cycle.
    fn is_internal(&self, edges: &[(usize, usize)]) -> bool {
        let mut before: Vec<Events> = vec![0; self.all.len()];
        let here: Vec<usize> = self.writes.iter().chain(&self.reads).copied().collect();
        for later in &here {
            for earlier in here.iter().filter(|earlier| *earlier < later) {
                if self.all[*earlier].thread == self.all[*later].thread {
                    before[*later] |= 1 << earlier;
                }
            }
        }
        for (earlier, later) in edges {
            before[*later] |= 1 << earlier;
        }
        is_acyclic(&before)
    }

    /// The axiom *atomic*.
    fn is_atomic(&self, co: &[usize], rf: &[Source], position: &impl Fn(Source) -> usize) -> bool {
        self.writes.iter().all(|write| {
            let placed = &self.all[*write];
            let Some(pair) = placed.event.pair() else { return true };
            let read = self.reads.iter().position(|read| *read == placed.first + pair.read);
            let Some(read) = read else { return true };
            let mut between = co.iter().take(position(Some(*write))).skip(position(rf[read]));
            between.all(|other| self.all[*other].thread == placed.thread)
        })
    }

    /// Adds the edges to a read that reads from a write of its own thread: rule 5, and the second
    /// part of rule 7.
    fn add_internal_reads(&self, rf: &[Source], edges: &mut Vec<(usize, usize)>) {
        for (read, source) in self.reads.iter().zip(rf) {
            let Some(write) = source else { continue };
            let (from, to) = (&self.all[*write], &self.all[*read]);
            if from.thread != to.thread {
                continue;
            }
            let mut deciding = from.event.addr | from.event.data;
            if let Some(pair) = from.event.pair() {
                if pair.decides_value {
                    deciding |= 1 << pair.read;
                }
                if to.event.acquire() != Acquire::None {
                    edges.push((*write, *read));
                }
            }
            let decides = |at: &usize| deciding & (1 << at) != 0;
            edges.extend((0..MAX_EVENTS).filter(decides).map(|at| (from.first + at, *read)));
        }
    }
}

/// Appends all orders of the writes that start with `order` to `found`.
fn permutations(writes: &[usize], order: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    if order.len() == writes.len() {
        found.push(order.clone());
        return;
    }
    for write in writes {
        if !order.contains(write) {
            order.push(*write);
            permutations(writes, order, found);
            order.pop();
        }
    }
}

/// Returns whether a relation has no cycle. `before` has, for each event, the events before it.
fn is_acyclic(before: &[Events]) -> bool {
    let mut remaining: Events = (0..before.len()).map(|event| 1 << event).sum();
    loop {
        let has_before = |event: &usize| before[*event] & remaining != 0;
        let events = (0..before.len()).filter(|event| remaining & (1 << event) != 0);
        let next: Events = events.filter(has_before).map(|event| 1 << event).sum();
        if next == remaining {
            return remaining == 0;
        }
        remaining = next;
    }
}
