//! The run of a thread as a list of items in program order, read from the events of a run.

use super::arrivals::needed_arrivals;
use fencepost_ir::{Label, Loc, Op, Pc, PlaceId, Problem, ThreadId, Violation};
use fencepost_models::ModelSpec;
use fencepost_models::event::{EventKind, Source};
use fencepost_models::machine::Action;
use fencepost_models::replay::{AnnotatedEvent, ReplayedRun};
use std::collections::{BTreeMap, VecDeque};

/// The time of an effect: the position of its event in the run, starting at 1.
pub(super) type EventIndex = u64;
/// The time of an effect at the end of the run. The effects of its completion are later.
const RUN_END: EventIndex = u64::MAX / 2;
/// The time of an effect that does not occur in the run.
pub(super) const NEVER: EventIndex = u64::MAX;

/// An item of a thread's run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    Access(Access),
    Action {
        effect: EventIndex,
        action: VisibleAction,
    },
    Place {
        place: PlaceId,
        side: Side,
        critical: bool,
    },
    /// The start of a client's operation.
    Invoke {
        pc: Pc,
        at: EventIndex,
    },
    /// A branch whose direction is guessed until this time.
    Guess {
        resolved: EventIndex,
    },
}

/// An access of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) label: Label,
    pub(super) loc: Option<Loc>,
    /// The time when it reads, if it reads.
    pub(super) read: Option<EventIndex>,
    /// The time when it writes, if it writes.
    pub(super) write: Option<EventIndex>,
    /// For a write that repeats another one: the position of that one. Both take effect together.
    repeats: Option<usize>,
    /// Whether it reads the pending store of an update or of an exclusive pair.
    pub(super) by_pair: bool,
    /// The time from which the value that it reads is not presumed.
    pub(super) confirmed: EventIndex,
    /// Whether it is in a critical section.
    pub(super) critical: bool,
}

impl Access {
    /// Returns the times of its effects, in order.
    pub(super) fn effects(&self) -> impl Iterator<Item = EventIndex> {
        self.read.into_iter().chain(self.write)
    }

    /// Sets the time of all effects that have not occurred.
    fn set_effects(&mut self, time: EventIndex) {
        for effect in self.read.iter_mut().chain(&mut self.write).filter(|e| **e == NEVER) {
            *effect = time;
        }
    }
}

/// Which statement marks a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// The only one. At an order place: the one before the access.
    Before,
    /// At an order place: the one after the access.
    After,
}

/// A visible action: observable or ending the run, and not an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum VisibleAction {
    /// Leaving a critical section.
    LeaveCriticalSection,
    /// Being in a critical section at the end of the run.
    InCriticalSection,
    /// Being at a control point at the end of the run.
    AtControlPoint,
    /// The end of a client's operation. It is visible if a later operation must see it.
    Return,
    /// An allocation, a deallocation, the start of an atomic block, or a step failure.
    Other,
}

/// Returns the items of each thread in a run under a model.
pub(super) fn read_threads(
    problem: &Problem,
    model: &ModelSpec,
    run: &ReplayedRun,
) -> Vec<Vec<Item>> {
    let mut reader = RunReader::new(problem, model);
    for events in std::iter::once(&run.first.events).chain(run.steps.iter().map(|s| &s.events)) {
        events.iter().for_each(|annotated| reader.record_event(annotated));
    }
    reader.record_run_end(run);
    reader.now = RUN_END;
    run.completion.iter().for_each(|annotated| reader.record_event(annotated));
    reader.complete_repeated_writes();
    reader.threads
}

/// Collects the items of each thread from the events of a run.
struct RunReader<'p> {
    problem: &'p Problem,
    /// Whether the read and the write of an update are separate events.
    splits_updates: bool,
    places: BTreeMap<Label, (PlaceId, Side)>,
    threads: Vec<Vec<Item>>,
    /// By thread: the positions of its pending accesses in `threads`, in program order.
    pending: Vec<Vec<usize>>,
    /// By thread: the positions of the reads with a presumed value in `threads`, in program order.
    presumed: Vec<Vec<usize>>,
    /// By thread and label: the pending statements of its window that are not accesses. For a
    /// visible action: its position in `threads`.
    deferred: Vec<BTreeMap<Label, VecDeque<Option<usize>>>>,
    /// By thread: the positions of its unresolved guesses in `threads`, in program order.
    guesses: Vec<Vec<usize>>,
    now: EventIndex,
}

impl<'p> RunReader<'p> {
    fn new(problem: &'p Problem, model: &ModelSpec) -> Self {
        let threads = problem.program.threads.len();
        let mut places = BTreeMap::new();
        for (at, place) in problem.program.places.iter().enumerate() {
            let id = PlaceId::from_index(at);
            places.insert(place.label, (id, Side::Before));
            let after = place.order.as_ref().and_then(|site| site.after);
            places.extend(after.map(|after| (after, (id, Side::After))));
        }
        RunReader {
            problem,
            splits_updates: model.has_ordered_accesses(),
            places,
            threads: vec![Vec::new(); threads],
            pending: vec![Vec::new(); threads],
            presumed: vec![Vec::new(); threads],
            deferred: vec![BTreeMap::new(); threads],
            guesses: vec![Vec::new(); threads],
            now: 0,
        }
    }

    fn record_event(&mut self, annotated: &AnnotatedEvent) {
        self.now += 1;
        let event = &annotated.event;
        let t = event.thread.index();
        let label = event.label.expect("every replayed event has a label");
        let now = self.now;
        let stmt = event.pc.map(|pc| self.problem.program.thread(event.thread).stmt(pc));
        let critical = stmt.is_some_and(|stmt| stmt.critical);
        let access = |loads: bool, stores: bool, loc, effect| Access {
            label,
            loc,
            read: loads.then_some(effect),
            write: stores.then_some(effect),
            repeats: None,
            by_pair: false,
            confirmed: 0,
            critical,
        };
        match event.kind {
            EventKind::Fetch { stores, loc, .. } => {
                let loads = !stmt.is_some_and(|stmt| matches!(stmt.op, Op::Store { .. }));
                self.push_pending(t, access(loads, stores, loc, NEVER));
            }
            EventKind::Store { loc, .. } => {
                self.push_pending(t, access(false, true, Some(loc), NEVER));
            }
            EventKind::Load { loc, source, .. } => {
                let (by_pair, presumed) = match source {
                    Source::Forwarded { by_pair, presumed } => (by_pair, presumed),
                    Source::Memory => (false, false),
                };
                let confirmed = if presumed { NEVER } else { 0 };
                let item = Access { by_pair, confirmed, ..access(true, false, Some(loc), now) };
                self.record_load(annotated, item);
            }
            EventKind::Confirm => self.confirm(annotated),
            EventKind::Update { loc, new, .. } => {
                let writes = new.is_some() || !self.splits_updates;
                self.record_access(annotated, access(true, writes, Some(loc), now));
            }
            EventKind::Write { loc, .. } => {
                self.record_access(annotated, access(false, true, Some(loc), now));
            }
            EventKind::Commit { loc, .. } => {
                let at = event
                    .earlier_pending
                    .map_or_else(|| self.oldest_pending_to(t, loc), |at| at as usize);
                self.complete(t, at, access(false, true, Some(loc), now));
            }
            EventKind::Repeat { earlier, .. } => {
                let repeated = self.pending[t][earlier as usize];
                let at = event.earlier_pending.map_or(0, |at| at as usize);
                let item = self.pending[t].remove(at);
                if let Item::Access(access) = &mut self.threads[t][item] {
                    access.repeats = Some(repeated);
                }
            }
            EventKind::SectionBegin | EventKind::SectionEnd | EventKind::GracePeriod { .. } => {
                unreachable!("inference rejects programs with sections and grace periods")
            }
            EventKind::CommitAndKeep { .. } => {
                unreachable!("clauses are computed from runs of exact models")
            }
            EventKind::New(_) | EventKind::Free(_) | EventKind::AtomicBegin => {
                self.threads[t].push(Item::Action { effect: now, action: VisibleAction::Other });
            }
            EventKind::Leave => self.threads[t]
                .push(Item::Action { effect: now, action: VisibleAction::LeaveCriticalSection }),
            EventKind::Defer => {
                let at = if self.record_place(annotated) {
                    None
                } else {
                    self.threads[t]
                        .push(Item::Action { effect: NEVER, action: VisibleAction::Other });
                    Some(self.threads[t].len() - 1)
                };
                self.deferred[t].entry(label).or_default().push_back(at);
            }
            EventKind::Guess(_) => {
                self.guesses[t].push(self.threads[t].len());
                self.threads[t].push(Item::Guess { resolved: NEVER });
            }
            EventKind::Test(_) if event.earlier_pending.is_some() => {
                let at = event.earlier_pending.map_or(0, |earlier| earlier as usize);
                let guess = self.guesses[t].remove(at);
                self.threads[t][guess] = Item::Guess { resolved: now };
            }
            EventKind::Fence(_)
            | EventKind::Drain(_)
            | EventKind::Set { .. }
            | EventKind::Test(_)
            | EventKind::AtomicEnd
            | EventKind::Skip => {
                let deferred = self.deferred[t].get_mut(&label).and_then(VecDeque::pop_front);
                match deferred {
                    Some(Some(at)) => {
                        // The result of a pending assertion is observable only if it fails.
                        if event.kind == EventKind::Test(false) {
                            self.threads[t][at] =
                                Item::Action { effect: RUN_END, action: VisibleAction::Other };
                        }
                    }
                    Some(None) => {}
                    None => {
                        if !self.record_place(annotated) {
                            self.record_operation(annotated);
                        }
                    }
                }
            }
        }
    }

    /// Records that a thread passes a place. Returns false if the event is not at a place.
    fn record_place(&mut self, annotated: &AnnotatedEvent) -> bool {
        let event = &annotated.event;
        let Some((place, side)) = event.label.and_then(|label| self.places.get(&label)) else {
            return false;
        };
        let thread = self.problem.program.thread(event.thread);
        let critical = event.pc.is_some_and(|pc| thread.stmt(pc).critical);
        let items = &mut self.threads[event.thread.index()];
        // A loop without effects passes its places again and again. One pass stands for all.
        let mut passed = items.iter().rev().map_while(|item| match item {
            Item::Place { place, side, critical } => Some((*place, *side, *critical)),
            Item::Access(_) | Item::Action { .. } | Item::Invoke { .. } | Item::Guess { .. } => {
                None
            }
        });
        if !passed.any(|known| known == (*place, *side, critical)) {
            items.push(Item::Place { place: *place, side: *side, critical });
        }
        true
    }

    /// Records the start or the end of a client's operation.
    fn record_operation(&mut self, annotated: &AnnotatedEvent) {
        let event = &annotated.event;
        let thread = self.problem.program.thread(event.thread);
        let Some((pc, op)) = event.pc.map(|pc| (pc, &thread.stmt(pc).op)) else { return };
        let items = &mut self.threads[event.thread.index()];
        if let Op::Invoke { .. } = op {
            items.push(Item::Invoke { pc, at: self.now });
        } else if let Op::Return { .. } = op {
            items.push(Item::Action { effect: NEVER, action: VisibleAction::Return });
        }
    }

    /// Orders the operations of a run that violates its specification. If an operation has seen
    /// that another one has returned, the return must take effect before the first effect of the
    /// operation. Seeing more returns keeps the violation: it allows fewer orders.
    fn order_operations(&mut self, run: &ReplayedRun) {
        let mut invokes: Vec<(EventIndex, usize, usize, Pc)> = Vec::new();
        for (t, items) in self.threads.iter().enumerate() {
            invokes.extend(items.iter().enumerate().filter_map(|(i, item)| match *item {
                Item::Invoke { pc, at } => Some((at, t, i, pc)),
                Item::Access(_) | Item::Action { .. } | Item::Place { .. } | Item::Guess { .. } => {
                    None
                }
            }));
        }
        // Later invocations first: they fix the times of the returns that they have seen, and a
        // return counts as an effect of its own operation.
        invokes.sort_unstable_by_key(|(at, ..)| std::cmp::Reverse(*at));
        for (_, t, i, pc) in invokes {
            let effects = self.threads[t][i + 1..].iter().map(|item| match *item {
                Item::Access(access) => access.effects().min().unwrap_or(NEVER),
                Item::Action { effect, .. } => effect,
                Item::Place { .. } | Item::Invoke { .. } | Item::Guess { .. } => NEVER,
            });
            let due = effects.min().unwrap_or(NEVER);
            let Op::Invoke { seen } = &self.problem.program.threads[t].stmt(pc).op else {
                continue;
            };
            for (other, reg) in seen {
                let count = run.last.registers[t][reg.index()].max(0) as usize;
                let returns = self.threads[other.index()].iter_mut().filter_map(|item| {
                    let Item::Action { effect, action: VisibleAction::Return } = item else {
                        return None;
                    };
                    Some(effect)
                });
                returns.take(count).for_each(|effect| *effect = due.min(*effect));
            }
        }
    }

    /// Records a pending access.
    fn push_pending(&mut self, t: usize, item: Access) {
        self.pending[t].push(self.threads[t].len());
        self.threads[t].push(Item::Access(item));
    }

    /// Records an access that takes effect: a pending access of a window, or an access that was
    /// never pending.
    fn record_access(&mut self, annotated: &AnnotatedEvent, access: Access) {
        let t = annotated.event.thread.index();
        match annotated.event.earlier_pending {
            Some(at) => self.complete(t, at as usize, access),
            None => self.threads[t].push(Item::Access(access)),
        }
    }

    /// Records that the pending access at position `at` is complete.
    fn complete(&mut self, t: usize, at: usize, done: Access) {
        let item = self.pending[t].remove(at);
        let Item::Access(known) = &mut self.threads[t][item] else { return };
        if known.read == Some(NEVER) {
            known.read = done.read;
        }
        (known.loc, known.write) = (done.loc, done.write);
    }

    /// Records a load. An update that only reads here is still pending.
    fn record_load(&mut self, annotated: &AnnotatedEvent, load: Access) {
        let t = annotated.event.thread.index();
        let Some(at) = annotated.event.earlier_pending else {
            return self.threads[t].push(Item::Access(load));
        };
        let item = self.pending[t][at as usize];
        if load.confirmed == NEVER {
            let earlier = self.presumed[t].partition_point(|other| *other < item);
            self.presumed[t].insert(earlier, item);
        }
        let Item::Access(known) = &mut self.threads[t][item] else { return };
        *known = Access { write: known.write, ..load };
        if known.write.is_none() {
            self.pending[t].remove(at as usize);
        }
    }

    /// Records that the presumed value of a read becomes known.
    fn confirm(&mut self, annotated: &AnnotatedEvent) {
        let t = annotated.event.thread.index();
        let at = annotated.event.earlier_pending.expect("a presumed value is in a window");
        let item = self.presumed[t].remove(at as usize);
        if let Item::Access(access) = &mut self.threads[t][item] {
            access.confirmed = self.now;
        }
    }

    /// Returns the position of the oldest pending access to a location.
    fn oldest_pending_to(&self, t: usize, to: Loc) -> usize {
        let has_location = |item: &usize| match self.threads[t][*item] {
            Item::Access(access) => access.loc == Some(to),
            Item::Action { .. } | Item::Place { .. } | Item::Invoke { .. } | Item::Guess { .. } => {
                false
            }
        };
        self.pending[t].iter().position(has_location).expect("a committed store was issued")
    }

    /// Sets the times of the writes that repeat others.
    fn complete_repeated_writes(&mut self) {
        for items in &mut self.threads {
            for at in 0..items.len() {
                // The repeated write is earlier, and its time is known.
                let Item::Access(Access { repeats: Some(repeated), .. }) = items[at] else {
                    continue;
                };
                let Item::Access(Access { write, .. }) = items[repeated] else { continue };
                if let Item::Access(access) = &mut items[at] {
                    access.write = write;
                }
            }
        }
    }

    /// Delays the end of a critical section until all guesses before it are resolved. Other visible
    /// actions wait for them.
    fn delay_speculative_leaves(&mut self) {
        for items in &mut self.threads {
            let mut last_resolved = 0;
            for item in items {
                match item {
                    Item::Guess { resolved } => last_resolved = last_resolved.max(*resolved),
                    Item::Action { effect, action: VisibleAction::LeaveCriticalSection } => {
                        *effect = last_resolved.max(*effect);
                    }
                    Item::Access(_)
                    | Item::Action { .. }
                    | Item::Place { .. }
                    | Item::Invoke { .. } => {}
                }
            }
        }
    }

    /// Records the visible actions at the end of a violating run.
    fn record_run_end(&mut self, run: &ReplayedRun) {
        self.delay_speculative_leaves();
        let Some(violation) = run.violation else { return };
        match violation {
            Violation::MutualExclusion(a, b) => {
                for t in [a, b] {
                    let item =
                        Item::Action { effect: RUN_END, action: VisibleAction::InCriticalSection };
                    self.threads[t.index()].push(item);
                }
            }
            Violation::Fault(_, Some(thread), label)
            | Violation::Assertion(Some(thread), label) => {
                self.record_step_failure(run, thread, label)
            }
            Violation::Operations(_) => self.order_operations(run),
            Violation::Invariant(at) => {
                for t in needed_arrivals(self.problem, run, at) {
                    let item =
                        Item::Action { effect: RUN_END, action: VisibleAction::AtControlPoint };
                    self.threads[t.index()].push(item);
                }
            }
            Violation::Fault(_, None, _)
            | Violation::Assertion(None, _)
            | Violation::Final(_)
            | Violation::Hang
            | Violation::Livelock { .. }
            | Violation::NoWitness(_)
            | Violation::NotRobust
            | Violation::DataRace(_) => {}
        }
    }

    /// Records a fault or a failed assertion: of a commit, of a pending access, or of the next
    /// statement of the thread.
    fn record_step_failure(&mut self, run: &ReplayedRun, thread: ThreadId, label: Option<Label>) {
        let t = thread.index();
        let last = run.steps.last().and_then(|step| step.events.last());
        let is_recorded = |kind| match kind {
            EventKind::Commit { .. } => true,
            // The access takes effect, and then it fails.
            EventKind::Load { .. } if self.splits_updates => true,
            EventKind::Test(false) => self.threads[t].iter().any(|item| {
                matches!(item, Item::Action { effect: RUN_END, action: VisibleAction::Other })
            }),
            EventKind::Fetch { .. }
            | EventKind::Load { .. }
            | EventKind::Store { .. }
            | EventKind::Write { .. }
            | EventKind::CommitAndKeep { .. }
            | EventKind::Repeat { .. }
            | EventKind::Confirm
            | EventKind::Update { .. }
            | EventKind::Fence(_)
            | EventKind::Drain(_)
            | EventKind::Set { .. }
            | EventKind::Test(_)
            | EventKind::Guess(_)
            | EventKind::New(_)
            | EventKind::Free(_)
            | EventKind::Leave
            | EventKind::SectionBegin
            | EventKind::SectionEnd
            | EventKind::GracePeriod { .. }
            | EventKind::AtomicBegin
            | EventKind::AtomicEnd
            | EventKind::Skip
            | EventKind::Defer => false,
        };
        if last.is_some_and(|annotated| {
            annotated.event.thread == thread && is_recorded(annotated.event.kind)
        }) {
            return;
        }
        let step = run.steps.last().map(|step| &step.step.action);
        let is_internal = matches!(step, Some(Action::Internal(_)));
        let pending = self.pending[t].iter().copied().filter(|_| is_internal).find(|item| {
            matches!(self.threads[t][*item], Item::Access(access) if Some(access.label) == label)
        });
        match pending.map(|item| &mut self.threads[t][item]) {
            Some(Item::Access(access)) => access.set_effects(RUN_END),
            _ => {
                self.threads[t].push(Item::Action { effect: RUN_END, action: VisibleAction::Other })
            }
        }
    }
}
