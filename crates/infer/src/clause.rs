//! Clauses from traces: computes the barriers that block a given run.
//!
//! The run of a thread is a list of items in program order: accesses, each with the event where it
//! took effect (for a store: its commit), the places that the thread passed, and other *visible
//! actions*, which are observable or end the run. Every other step (issue of a store, local
//! computation, choice) can be delayed until just before the thread's next effect without being
//! observable. So a barrier at a place blocks the run exactly if the run reordered two items there
//! that the barrier orders: an access before the place took effect after an access behind the place
//! (for a full fence: after any access or visible action behind it). Each barrier blocks the run
//! independently of other barriers. Therefore:
//!
//! - A placement without a member of the clause still allows the run, so it is not sufficient.
//! - The placement of the run never hits the clause.
//!
//! An invariant about control points is violated by arrivals, and requires none
//! ([`fencepost_ir::control_point`]). The arrivals that the violation needs are visible actions at
//! the end of the run. A thread that a barrier delays has not arrived. If it waits at an earlier
//! label instead, the invariant stays violated.
//!
//! A guess of a branch's direction is a local computation, too: a thread that fetches the branch
//! later, when the condition is known, continues in the same way. What a thread does behind a guess
//! is visible when the guess is resolved.
//!
//! The first property makes the cheapest hitting set a lower bound for every repair. The second
//! guarantees progress of the inference.

mod arrivals;

use arrivals::needed_arrivals;

use crate::candidates::Candidates;
use crate::set::Set;
use fencepost_ir::{
    Atom, Barrier, FenceKinds, Label, Loc, Op, Pc, PlaceId, Problem, ThreadId, Violation,
};
use fencepost_models::event::EventKind;
use fencepost_models::machine::Action;
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_models::replay::{AnnotatedEvent, ReplayedRun};
use std::collections::{BTreeMap, VecDeque};

/// The time of an effect: the position of its event in the run, starting at 1.
type EventIndex = u64;
/// The time of an effect at the end of the run.
const RUN_END: EventIndex = u64::MAX - 1;
/// The time of an effect that does not occur in the run.
const NEVER: EventIndex = u64::MAX;

/// An item of a thread's run.
#[derive(Clone, Copy, Debug)]
enum Item {
    Access {
        label: Label,
        loads: bool,
        stores: bool,
        loc: Option<Loc>,
        effect: EventIndex,
    },
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

/// Which statement marks a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    /// The only one. At an order place: the one before the access.
    Before,
    /// At an order place: the one after the access.
    After,
}

/// A visible action: observable or ending the run, and not an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum VisibleAction {
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

/// Returns the candidates that block a run of a (fenced) problem.
pub fn blocking_clause(problem: &Problem, run: &ReplayedRun, candidates: &Candidates) -> Set {
    let mut found = Set::empty(candidates.len());
    for thread in &read_threads(problem, run) {
        for (at, item) in thread.iter().enumerate() {
            let Item::Place { place, side, critical } = *item else { continue };
            let context = PlaceContext::new(thread, at, critical);
            for position in positions_at(candidates, place) {
                let barrier = barrier_at(candidates.atoms[position].barrier, side);
                if context.is_run_blocked_by(barrier, candidates.mutated) {
                    found.insert(position);
                }
            }
        }
    }
    found
}

/// Returns the barrier at one side of a place. A memory order is a fence on each side. It blocks a
/// run if one of them does.
fn barrier_at(barrier: Barrier, side: Side) -> Barrier {
    match (barrier, side) {
        (Barrier::Order(fences), Side::Before) => Barrier::Fence(fences.before),
        (Barrier::Order(fences), Side::After) => Barrier::Fence(fences.after),
        (Barrier::Fence(_) | Barrier::Drain(_), _) => barrier,
    }
}

/// Returns whether some access or visible action of the run took effect before an earlier one of
/// its thread.
pub fn is_reordered(problem: &Problem, run: &ReplayedRun) -> bool {
    read_threads(problem, run).iter().any(|thread| {
        let mut latest = 0;
        thread.iter().any(|item| match *item {
            Item::Access { effect, .. } | Item::Action { effect, .. } => {
                let overtakes = effect < latest;
                latest = latest.max(effect);
                overtakes
            }
            Item::Place { .. } | Item::Invoke { .. } | Item::Guess { .. } => false,
        })
    })
}

/// Returns the positions of the candidates at a place.
fn positions_at(candidates: &Candidates, place: PlaceId) -> std::ops::Range<usize> {
    let from = candidates.atoms.partition_point(|atom| atom.place < place);
    let to = candidates.atoms.partition_point(|atom| atom.place <= place);
    from..to
}

/// The last effects before and the first effects after a place that a thread passed.
struct PlaceContext<'a> {
    before: &'a [Item],
    last_load: EventIndex,
    last_store: EventIndex,
    first_load: EventIndex,
    first_store: EventIndex,
    first_effect: EventIndex,
}

impl<'a> PlaceContext<'a> {
    fn new(items: &'a [Item], at: usize, critical: bool) -> Self {
        let (before, after) = (&items[..at], &items[at + 1..]);
        let mut context = PlaceContext {
            before,
            last_load: 0,
            last_store: 0,
            first_load: NEVER,
            first_store: NEVER,
            first_effect: NEVER,
        };
        for item in before {
            if let Item::Access { loads, stores, effect, .. } = *item {
                context.last_load = context.last_load.max(if loads { effect } else { 0 });
                context.last_store = context.last_store.max(if stores { effect } else { 0 });
            }
        }
        // A thread that a barrier delays inside its critical section is still in the section.
        let mut inside = critical;
        for item in after {
            match *item {
                Item::Access { loads, stores, effect, .. } => {
                    context.first_load = context.first_load.min(if loads { effect } else { NEVER });
                    context.first_store =
                        context.first_store.min(if stores { effect } else { NEVER });
                    context.first_effect = context.first_effect.min(effect);
                }
                Item::Action { action: VisibleAction::InCriticalSection, .. } if inside => {}
                Item::Action { effect, action } => {
                    inside &= action != VisibleAction::LeaveCriticalSection;
                    context.first_effect = context.first_effect.min(effect);
                }
                Item::Place { .. } | Item::Invoke { .. } | Item::Guess { .. } => {}
            }
        }
        context
    }

    /// Returns whether a barrier at the place blocks the run.
    fn is_run_blocked_by(&self, barrier: Barrier, mutated: Mutated) -> bool {
        match barrier {
            Barrier::Fence(FenceKinds::FULL) => {
                let last = self.last_load.max(self.last_store);
                if mutated.is(Mutation::FullFenceBlocksAll) {
                    return last > 0;
                }
                if mutated.is(Mutation::FullFenceOnlyStoreLoad) {
                    return self.last_store > self.first_load;
                }
                last > self.first_effect
            }
            Barrier::Fence(kinds) => {
                let orders = |kind, earlier, later| kinds.contains(kind) && earlier > later;
                orders(FenceKinds::STORE_STORE, self.last_store, self.first_store)
                    || orders(FenceKinds::STORE_LOAD, self.last_store, self.first_load)
                    || orders(FenceKinds::LOAD_LOAD, self.last_load, self.first_load)
                    || orders(FenceKinds::LOAD_STORE, self.last_load, self.first_store)
            }
            Barrier::Drain(store) => {
                self.last_store_to(store) > self.first_effect
                    && !mutated.is(Mutation::DrainsIgnored)
            }
            Barrier::Order(_) => unreachable!("an order is a fence on each side"),
        }
    }

    /// Returns the time of the last effect of a store to the location that the store with this
    /// label wrote last before the place.
    fn last_store_to(&self, store: Label) -> EventIndex {
        let written = self.before.iter().rev().find_map(|item| {
            let Item::Access { label, loc, .. } = *item else { return None };
            (label == store).then_some(loc)
        });
        let Some(written) = written else { return 0 };
        let may_be_same = |loc: Option<Loc>| loc.is_none() || written.is_none() || loc == written;
        let stores = self.before.iter().filter_map(|item| {
            let Item::Access { stores: true, loc, effect, .. } = *item else { return None };
            may_be_same(loc).then_some(effect)
        });
        stores.max().unwrap_or(0)
    }
}

/// Returns the items of each thread.
fn read_threads(problem: &Problem, run: &ReplayedRun) -> Vec<Vec<Item>> {
    let mut reader = RunReader::new(problem);
    let steps = run.steps.iter().flat_map(|step| &step.events);
    for annotated in run.first.events.iter().chain(steps) {
        reader.record_event(annotated);
    }
    reader.record_run_end(run);
    reader.threads
}

/// Collects the items of each thread from the events of a run.
struct RunReader<'p> {
    problem: &'p Problem,
    places: BTreeMap<Label, (PlaceId, Side)>,
    threads: Vec<Vec<Item>>,
    /// By thread: the positions of its pending accesses in `threads`, in program order.
    pending: Vec<Vec<usize>>,
    /// By thread and label: the pending statements of its window that are not accesses. For a
    /// visible action: its position in `threads`.
    deferred: Vec<BTreeMap<Label, VecDeque<Option<usize>>>>,
    /// By thread: the positions of its unresolved guesses in `threads`, in program order.
    guesses: Vec<Vec<usize>>,
    now: EventIndex,
}

impl<'p> RunReader<'p> {
    fn new(problem: &'p Problem) -> Self {
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
            places,
            threads: vec![Vec::new(); threads],
            pending: vec![Vec::new(); threads],
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
        let access =
            |loads, stores, loc| Item::Access { label, loads, stores, loc: Some(loc), effect: now };
        match event.kind {
            EventKind::Fetch { stores, loc, .. } => {
                let op = event.pc.map(|pc| &self.problem.program.thread(event.thread).stmt(pc).op);
                let loads = !matches!(op, Some(Op::Store { .. }));
                self.push_pending(t, Item::Access { label, loads, stores, loc, effect: NEVER });
            }
            EventKind::Store { loc, .. } => {
                let loc = Some(loc);
                let item = Item::Access { label, loads: false, stores: true, loc, effect: NEVER };
                self.push_pending(t, item);
            }
            EventKind::Load { loc, .. } => self.record_access(annotated, access(true, false, loc)),
            EventKind::Update { loc, .. } => self.record_access(annotated, access(true, true, loc)),
            EventKind::Write { loc, .. } => self.record_access(annotated, access(false, true, loc)),
            EventKind::Commit { loc, .. } => {
                let at = event
                    .earlier_pending
                    .map_or_else(|| self.oldest_pending_to(t, loc), |at| at as usize);
                self.record_effect(t, at, loc);
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
            Item::Access { .. }
            | Item::Action { .. }
            | Item::Invoke { .. }
            | Item::Guess { .. } => None,
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
                Item::Access { .. }
                | Item::Action { .. }
                | Item::Place { .. }
                | Item::Guess { .. } => None,
            }));
        }
        // Later invocations first: they fix the times of the returns that they have seen, and a
        // return counts as an effect of its own operation.
        invokes.sort_unstable_by_key(|(at, ..)| std::cmp::Reverse(*at));
        for (_, t, i, pc) in invokes {
            let effects = self.threads[t][i + 1..].iter().map(|item| match *item {
                Item::Access { effect, .. } | Item::Action { effect, .. } => effect,
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
    fn push_pending(&mut self, t: usize, item: Item) {
        self.pending[t].push(self.threads[t].len());
        self.threads[t].push(item);
    }

    /// Records an access that takes effect: a pending access of a window, or an access that was
    /// never pending.
    fn record_access(&mut self, annotated: &AnnotatedEvent, item: Item) {
        let t = annotated.event.thread.index();
        match (annotated.event.earlier_pending, item) {
            (Some(at), Item::Access { loc: Some(loc), .. }) => {
                self.record_effect(t, at as usize, loc)
            }
            _ => self.threads[t].push(item),
        }
    }

    /// Records that the pending access at position `at` takes effect on a location.
    fn record_effect(&mut self, t: usize, at: usize, to: Loc) {
        let item = self.pending[t].remove(at);
        if let Item::Access { effect, loc, .. } = &mut self.threads[t][item] {
            *effect = self.now;
            *loc = Some(to);
        }
    }

    /// Returns the position of the oldest pending access to a location.
    fn oldest_pending_to(&self, t: usize, to: Loc) -> usize {
        let has_location = |item: &usize| match self.threads[t][*item] {
            Item::Access { loc, .. } => loc == Some(to),
            Item::Action { .. } | Item::Place { .. } | Item::Invoke { .. } | Item::Guess { .. } => {
                false
            }
        };
        self.pending[t].iter().position(has_location).expect("a committed store was issued")
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
                    Item::Access { .. }
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
            EventKind::Test(false) => self.threads[t].iter().any(|item| {
                matches!(item, Item::Action { effect: RUN_END, action: VisibleAction::Other })
            }),
            EventKind::Fetch { .. }
            | EventKind::Load { .. }
            | EventKind::Store { .. }
            | EventKind::Write { .. }
            | EventKind::CommitAndKeep { .. }
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
            matches!(self.threads[t][*item], Item::Access { label: own, .. } if Some(own) == label)
        });
        match pending.map(|item| &mut self.threads[t][item]) {
            Some(Item::Access { effect, .. }) => *effect = RUN_END,
            _ => {
                self.threads[t].push(Item::Action { effect: RUN_END, action: VisibleAction::Other })
            }
        }
    }
}

/// Returns the barriers of a clause.
pub fn atoms<'c>(clause: &'c Set, candidates: &'c Candidates) -> impl Iterator<Item = Atom> + 'c {
    clause.iter().map(|position| candidates.atoms[position])
}
