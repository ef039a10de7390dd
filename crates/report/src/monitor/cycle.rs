//! The happens-before cycle that explains a borderline event.
//!
//! Source: happens-before as in \[BM08\] definition 1. Direction: exact. Moving a borderline event
//! before an earlier write closes a cycle: from the event to the write, and back along
//! happens-before. The path back lies between the two events in the trace, so the rest of the trace
//! is ignored.
//!
//! An event with one address is moved alone. Then only program order leads to the moved event, and
//! one pass over the trace finds a shortest path. The pass keeps paths for each thread and address,
//! not for each event. For a block with several addresses, [`Execution`] tries all positions of the
//! block; if there are too many, no cycle is shown. Rejected: [`Execution`] for all events. Its cost
//! is cubic in the number of events, and a spin loop produces thousands of events. The tests compare
//! both algorithms.

use super::trace::Event;
use fencepost_monitor::{Access, Action, Borderline, EdgeKind, Execution, Model};
use std::rc::Rc;

/// The maximal number of events since the write for which [`Execution`] is used.
const MAX_EVENTS: usize = 200;
/// The maximal number of positions of a block for which [`Execution`] is used.
const MAX_POSITIONS: usize = 1000;

/// An event of the trace, for the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedEvent {
    pub(super) line: u32,
    pub(super) thread: u32,
    pub(super) word: &'static str,
    pub(super) place: Option<Box<str>>,
}

impl NamedEvent {
    pub(super) fn new(event: &Event<'_>) -> NamedEvent {
        let Event { line, thread, place, .. } = *event;
        NamedEvent { line, thread, word: event.word(), place: place.map(Box::from) }
    }
}

/// An edge of the cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedEdge {
    pub(super) from: NamedEvent,
    pub(super) to: NamedEvent,
    pub(super) kind: EdgeKind,
}

/// A search for the cycle of a borderline event. It gets the events from the write to the event.
/// The number of an event is its line.
pub(super) enum CycleSearch {
    OnePass(OnePass),
    ByDefinition(ByDefinition),
}

impl CycleSearch {
    /// Starts a search. `addresses` is the number of addresses of the borderline event.
    pub(super) fn new(model: Model, found: Borderline, addresses: usize) -> CycleSearch {
        if addresses == 1 {
            CycleSearch::OnePass(OnePass { found, ..OnePass::default() })
        } else {
            CycleSearch::ByDefinition(ByDefinition { model, events: Vec::new() })
        }
    }

    /// Adds the next event.
    pub(super) fn add(&mut self, event: &Event<'_>) {
        match self {
            CycleSearch::OnePass(search) => search.add(event),
            CycleSearch::ByDefinition(search) => search.add(event),
        }
    }

    /// Returns a shortest cycle that starts with the edge from the event to the write; empty if it
    /// is not known. The last event that was added is the borderline event.
    pub(super) fn finish(self) -> Vec<NamedEdge> {
        match self {
            CycleSearch::OnePass(search) => search.finish(),
            CycleSearch::ByDefinition(search) => search.finish(),
        }
    }
}

/// The events from the write to the event, as long as there are not too many.
pub(super) struct ByDefinition {
    model: Model,
    events: Vec<(NamedEvent, OwnedAction)>,
}

/// An action that owns the accesses of its block.
enum OwnedAction {
    Block(Vec<Access>),
    Plain(Action<'static>),
}

impl OwnedAction {
    fn new(action: Action<'_>) -> OwnedAction {
        OwnedAction::Plain(match action {
            Action::Block(accesses) => return OwnedAction::Block(accesses.to_vec()),
            Action::Load(address) => Action::Load(address),
            Action::Store(address) => Action::Store(address),
            Action::Update { address, writes } => Action::Update { address, writes },
            Action::Direct(address) => Action::Direct(address),
            Action::Fence { store_store, store_load } => Action::Fence { store_store, store_load },
            Action::Drain(address) => Action::Drain(address),
        })
    }

    fn action(&self) -> Action<'_> {
        match self {
            OwnedAction::Block(accesses) => Action::Block(accesses),
            OwnedAction::Plain(action) => *action,
        }
    }
}

impl ByDefinition {
    fn add(&mut self, event: &Event<'_>) {
        // One more than the maximum states that there are too many.
        if self.events.len() <= MAX_EVENTS {
            self.events.push((NamedEvent::new(event), OwnedAction::new(event.action)));
        }
    }

    /// Returns the number of positions of the last event, a block. Stops counting above
    /// [`MAX_POSITIONS`].
    fn block_positions(&self) -> usize {
        let Some(((_, block), earlier)) = self.events.split_last() else { return 0 };
        let accesses = |action: Action<'_>| match action {
            Action::Block(accesses) => accesses.to_vec(),
            Action::Store(address) => vec![Access::write(address)],
            Action::Update { address, writes: true } | Action::Direct(address) => {
                vec![Access::update(address)]
            }
            Action::Load(_) | Action::Update { .. } | Action::Fence { .. } | Action::Drain(_) => {
                Vec::new()
            }
        };
        let writes = |address: u32| {
            let writes = earlier.iter().filter(|(_, action)| {
                let accesses = accesses(action.action());
                accesses.iter().any(|access| access.address == address && access.writes)
            });
            writes.count()
        };
        let mut positions = 1usize;
        for access in accesses(block.action()) {
            positions = positions.saturating_mul(1 + writes(access.address));
            if positions > MAX_POSITIONS {
                break;
            }
        }
        positions
    }

    fn finish(self) -> Vec<NamedEdge> {
        if self.events.len() > MAX_EVENTS || self.block_positions() > MAX_POSITIONS {
            return Vec::new();
        }
        let mut execution = Execution::new(self.model);
        for (event, action) in &self.events {
            execution.push(event.thread as usize, action.action());
        }
        let edges = execution.cycle(self.events.len().saturating_sub(1), 0).into_iter();
        let named = |event: usize| self.events[event].0.clone();
        let edge = |edge: fencepost_monitor::Edge| NamedEdge {
            from: named(edge.from),
            to: named(edge.to),
            kind: edge.kind,
        };
        edges.map(edge).collect()
    }
}

/// An event that the write happens before, with a shortest path to it. A shortest path has at most
/// two events of each thread, because program order is transitive.
struct Reached {
    event: NamedEvent,
    steps: usize,
    /// The last edge of the path; none for the write.
    incoming: Option<(Rc<Reached>, EdgeKind)>,
}

/// The reached accesses of an address: the last write, and the nearest write and read.
#[derive(Clone, Default)]
struct ReachedAccesses {
    last: Option<Rc<Reached>>,
    write: Option<Rc<Reached>>,
    read: Option<Rc<Reached>>,
}

/// A pass over the events from the write to an event with one address.
pub(super) struct OnePass {
    found: Borderline,
    /// By thread: the nearest reached event.
    threads: Vec<Option<Rc<Reached>>>,
    addresses: Vec<ReachedAccesses>,
    /// The path to the borderline event, and the kind of the edge from it to the write.
    end: Option<(Rc<Reached>, EdgeKind)>,
}

impl Default for OnePass {
    fn default() -> OnePass {
        let found = Borderline { event: 0, before: 0 };
        OnePass { found, threads: Vec::new(), addresses: Vec::new(), end: None }
    }
}

impl OnePass {
    fn add(&mut self, event: &Event<'_>) {
        let accesses = event.accesses();
        let thread = event.thread as usize;
        let Some(largest) = accesses.iter().map(|access| access.address as usize).max() else {
            return;
        };
        if self.threads.len() <= thread {
            self.threads.resize(thread + 1, None);
        }
        if self.addresses.len() <= largest {
            self.addresses.resize(largest + 1, ReachedAccesses::default());
        }
        let is_moved = event.line as usize == self.found.event;
        let mut edges = vec![(&self.threads[thread], EdgeKind::ProgramOrder)];
        // The moved event precedes the conflicting accesses, so only program order leads to it.
        for access in accesses.iter().filter(|_| !is_moved) {
            let entry = &self.addresses[access.address as usize];
            if access.reads {
                edges.push((&entry.last, EdgeKind::ReadsFrom));
            }
            if access.writes {
                edges.push((&entry.write, EdgeKind::Coherence));
                edges.push((&entry.read, EdgeKind::FromRead));
            }
        }
        let known = edges.into_iter().filter_map(|(from, kind)| Some((from.as_ref()?, kind)));
        let reached = if event.line as usize == self.found.before {
            Some(Reached { event: NamedEvent::new(event), steps: 0, incoming: None })
        } else {
            known.min_by_key(|(from, _)| from.steps).map(|(from, kind)| Reached {
                event: NamedEvent::new(event),
                steps: from.steps + 1,
                incoming: Some((Rc::clone(from), kind)),
            })
        };
        let reached = reached.map(Rc::new);
        if is_moved {
            let writes = accesses.iter().any(|access| access.writes);
            let kind = if writes { EdgeKind::Coherence } else { EdgeKind::FromRead };
            self.end = reached.map(|reached| (reached, kind));
            return;
        }
        set_nearer(&mut self.threads[thread], &reached);
        for access in accesses.iter() {
            let entry = &mut self.addresses[access.address as usize];
            if access.reads {
                set_nearer(&mut entry.read, &reached);
            }
            if access.writes {
                entry.last.clone_from(&reached);
                set_nearer(&mut entry.write, &reached);
            }
        }
    }

    fn finish(self) -> Vec<NamedEdge> {
        let Some((end, kind)) = self.end else { return Vec::new() };
        let mut cycle = Vec::new();
        let mut at = &end;
        while let Some((from, kind)) = &at.incoming {
            let (from_event, to) = (from.event.clone(), at.event.clone());
            cycle.push(NamedEdge { from: from_event, to, kind: *kind });
            at = from;
        }
        cycle.push(NamedEdge { from: end.event.clone(), to: at.event.clone(), kind });
        cycle.reverse();
        cycle
    }
}

/// Replaces an event by one with a shorter path. Keeps it if the paths are equally long.
fn set_nearer(old: &mut Option<Rc<Reached>>, new: &Option<Rc<Reached>>) {
    let Some(new) = new else { return };
    if old.as_ref().is_none_or(|old| new.steps < old.steps) {
        *old = Some(Rc::clone(new));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_monitor::StreamMonitor;
    use fencepost_testkit::Random;

    /// The thread and the action of each event.
    type Events = Vec<(usize, OwnedAction)>;

    /// Returns a random execution. Some blocks have two addresses.
    fn random_events(seed: u64, events: usize) -> Events {
        let mut random = Random::new(seed);
        let event = |_| {
            let thread = random.below(3);
            let address = random.below(3) as u32;
            let action = match random.below(12) {
                0..4 => Action::Load(address),
                4..8 => Action::Store(address),
                8 => Action::Update { address, writes: random.below(2) == 0 },
                9 => Action::Drain(address),
                10 => Action::Fence {
                    store_store: random.below(2) == 0,
                    store_load: random.below(2) == 0,
                },
                _ => {
                    let other = (address + 1) % 3;
                    let accesses = [Access::read(address), Access::update(other)];
                    let length = random.below(3);
                    return (thread, OwnedAction::Block(accesses[..length].to_vec()));
                }
            };
            (thread, OwnedAction::Plain(action))
        };
        (0..events).map(event).collect()
    }

    fn event(events: &Events, number: usize) -> Event<'_> {
        let (thread, action) = &events[number];
        let (line, thread) = (number as u32, *thread as u32);
        Event { line, thread, place: None, action: action.action() }
    }

    /// Runs a search on the events of a borderline event.
    fn cycle(mut search: CycleSearch, events: &Events, found: Borderline) -> Vec<NamedEdge> {
        (found.before..=found.event).for_each(|number| search.add(&event(events, number)));
        search.finish()
    }

    /// Whether the edge is in the happens-before of the original execution, by the definition of
    /// [`EdgeKind`].
    fn holds(events: &Events, edge: &NamedEdge) -> bool {
        let (from, to) = (edge.from.line as usize, edge.to.line as usize);
        let addresses = |number: usize, selects: &dyn Fn(bool, bool) -> bool| -> Vec<u32> {
            let accesses = event(events, number).accesses();
            let selected = accesses.iter().filter(|access| selects(access.reads, access.writes));
            selected.map(|access| access.address).collect()
        };
        let reads = |number| addresses(number, &|reads, _| reads);
        let writes = |number| addresses(number, &|_, writes| writes);
        let common = |a: Vec<u32>, b: Vec<u32>| a.into_iter().find(|address| b.contains(address));
        from < to
            && match edge.kind {
                EdgeKind::ProgramOrder => edge.from.thread == edge.to.thread,
                EdgeKind::ReadsFrom => {
                    let address = common(writes(from), reads(to));
                    let between = from + 1..to;
                    address.is_some_and(|a| between.clone().all(|e| !writes(e).contains(&a)))
                }
                EdgeKind::FromRead => common(reads(from), writes(to)).is_some(),
                EdgeKind::Coherence => common(writes(from), writes(to)).is_some(),
            }
    }

    #[test]
    fn one_pass_agrees_with_the_definition() {
        let (mut compared, mut blocks) = (0, 0);
        for seed in 0..800 {
            let events = random_events(seed, 16);
            for model in [Model::Tso, Model::Pso] {
                let mut monitor = StreamMonitor::with_all_writes(model);
                for number in 0..events.len() {
                    let (thread, action) = &events[number];
                    let answer = monitor.add_event(*thread, action.action());
                    let Some(found) = answer.expect("all writes are kept") else { continue };
                    let addresses = event(&events, number).accesses().len();
                    let usual = cycle(CycleSearch::new(model, found, addresses), &events, found);
                    let by_definition = ByDefinition { model, events: Vec::new() };
                    let by_definition = CycleSearch::ByDefinition(by_definition);
                    let slow = cycle(by_definition, &events, found);
                    assert_eq!(usual.len(), slow.len(), "{seed}: {usual:?} {slow:?}");
                    assert_eq!(usual.first(), slow.first());
                    assert_eq!(usual.last().map(|edge| edge.to.line as usize), Some(found.event));
                    assert!(
                        usual.windows(2).all(|edges| edges[0].to == edges[1].from),
                        "{usual:?}"
                    );
                    if addresses == 1 {
                        assert!(usual[1..].iter().all(|edge| holds(&events, edge)), "{usual:?}");
                        compared += 1;
                    } else {
                        assert_eq!(usual, slow);
                        blocks += 1;
                    }
                }
            }
        }
        assert!(
            compared > 200 && blocks > 20,
            "only {compared} and {blocks} answers were compared"
        );
    }

    #[test]
    fn a_block_with_too_many_positions_has_no_cycle() {
        let store = |address: u32| (1, OwnedAction::Plain(Action::Store(address)));
        let mut events: Events = (0..180).map(|number| store(number / 20)).collect();
        events.push((0, OwnedAction::Block((0..9).map(Access::read).collect())));
        let found = Borderline { event: 180, before: 0 };
        let mut search = ByDefinition { model: Model::Pso, events: Vec::new() };
        (0..=180).for_each(|number| search.add(&event(&events, number)));
        assert!(search.block_positions() > MAX_POSITIONS);
        assert_eq!(cycle(CycleSearch::new(Model::Pso, found, 9), &events, found), []);
    }

    #[test]
    fn the_search_keeps_no_event_that_is_on_no_shortest_path() {
        // A thread spins for a long time between the write and the event.
        let found = Borderline { event: 100_000, before: 0 };
        let mut search = OnePass { found, ..OnePass::default() };
        let add = |search: &mut OnePass, line: u32, thread: u32, action: Action<'static>| {
            search.add(&Event { line, thread, place: None, action });
        };
        add(&mut search, 0, 0, Action::Store(0));
        add(&mut search, 1, 0, Action::Store(1));
        (2..100_000).for_each(|line| add(&mut search, line, 1, Action::Load(1)));
        let write = search.threads[0].clone().expect("the write is reached");
        // The states of the thread and the address, the local variable, and the two events after
        // the write.
        assert!(Rc::strong_count(&write) < 8, "{}", Rc::strong_count(&write));
        add(&mut search, 100_000, 1, Action::Load(0));
        assert_eq!(search.finish().len(), 4);
    }
}
