//! From a trace to a clause: which barriers would have made this very run impossible.
//!
//! A thread's run is a list in program order of what it did: accesses, each with the moment it took
//! effect (a store: when it was committed), places it passed, and other *deeds* that others notice
//! or that end the run. Everything else (issuing a store, computing, choosing) can be put off until
//! just before the thread's next effect without anybody noticing. So a barrier at a place
//! blocks the run exactly when something it orders went the wrong way round there: an access before
//! the place took effect after one behind it (for a full fence: after any access or deed behind it).
//! Each barrier blocks or not independently of others, hence:
//!
//! - a placement that contains no member of the clause still allows the run, and is not enough;
//! - a clause is never hit by the placement the run was found with.
//!
//! The first makes the cheapest hitting set a lower bound for every repair, the second makes
//! inference progress.

use crate::candidates::Candidates;
use crate::set::Set;
use fencepost_ir::{
    Atom, Barrier, FenceKinds, Label, Loc, Op, Pc, PlaceId, Problem, ThreadId, Violation,
};
use fencepost_models::event::EventKind;
use fencepost_models::machine::Action;
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_models::replay::{Run, Told};
use std::collections::{BTreeMap, VecDeque};

/// When something took effect: the position of its event in the run.
type Moment = u64;
/// At the end of the run.
const AT_THE_END: Moment = u64::MAX - 1;
/// Not in this run.
const NEVER: Moment = u64::MAX;

/// What a thread did, in program order.
#[derive(Clone, Copy, Debug)]
enum Item {
    Access {
        label: Label,
        loads: bool,
        stores: bool,
        loc: Option<Loc>,
        effect: Moment,
    },
    Deed {
        effect: Moment,
        what: Deed,
    },
    Place {
        place: PlaceId,
        critical: bool,
    },
    /// An operation of a client begins.
    Invoke {
        pc: Pc,
        at: Moment,
    },
}

/// What others notice, or ends the run, besides accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Deed {
    /// Leaving a critical section.
    Leave,
    /// Being in one at the end.
    Inside,
    /// The end of a client's operation, if another one begins later that must see it.
    Return,
    /// Allocation, the beginning of an atomic block, something that goes wrong.
    Other,
}

/// The barriers among the candidates that would have blocked a run of a (fenced) problem.
pub fn clause(problem: &Problem, run: &Run, candidates: &Candidates) -> Set {
    let mut found = Set::below(candidates.len());
    for thread in &told(problem, run) {
        for (at, item) in thread.iter().enumerate() {
            let Item::Place { place, critical } = *item else { continue };
            let around = Around::new(thread, at, critical);
            for number in numbers_at(candidates, place) {
                if around.is_blocked_by(candidates.atoms[number].barrier, candidates.mutated) {
                    found.insert(number);
                }
            }
        }
    }
    found
}

/// Whether some access of the run took effect before an earlier one of its thread.
pub fn is_reordered(problem: &Problem, run: &Run) -> bool {
    told(problem, run).iter().any(|thread| {
        let mut latest = 0;
        thread.iter().any(|item| match *item {
            Item::Access { effect, .. } | Item::Deed { effect, .. } => {
                let overtakes = effect < latest;
                latest = latest.max(effect);
                overtakes
            }
            Item::Place { .. } | Item::Invoke { .. } => false,
        })
    })
}

fn numbers_at(candidates: &Candidates, place: PlaceId) -> std::ops::Range<usize> {
    let from = candidates.atoms.partition_point(|atom| atom.place < place);
    let to = candidates.atoms.partition_point(|atom| atom.place <= place);
    from..to
}

/// The extremes of what took effect before and after a place a thread passed.
struct Around<'a> {
    before: &'a [Item],
    last_load: Moment,
    last_store: Moment,
    first_load: Moment,
    first_store: Moment,
    first_of_all: Moment,
}

impl<'a> Around<'a> {
    fn new(items: &'a [Item], at: usize, critical: bool) -> Self {
        let (before, after) = (&items[..at], &items[at + 1..]);
        let mut around = Around {
            before,
            last_load: 0,
            last_store: 0,
            first_load: NEVER,
            first_store: NEVER,
            first_of_all: NEVER,
        };
        for item in before {
            if let Item::Access { loads, stores, effect, .. } = *item {
                around.last_load = around.last_load.max(if loads { effect } else { 0 });
                around.last_store = around.last_store.max(if stores { effect } else { 0 });
            }
        }
        // A thread that waits at a place inside of its critical section is in it all the same.
        let mut inside = critical;
        for item in after {
            match *item {
                Item::Access { loads, stores, effect, .. } => {
                    around.first_load = around.first_load.min(if loads { effect } else { NEVER });
                    around.first_store =
                        around.first_store.min(if stores { effect } else { NEVER });
                    around.first_of_all = around.first_of_all.min(effect);
                }
                Item::Deed { what: Deed::Inside, .. } if inside => {}
                Item::Deed { effect, what } => {
                    inside &= what != Deed::Leave;
                    around.first_of_all = around.first_of_all.min(effect);
                }
                Item::Place { .. } | Item::Invoke { .. } => {}
            }
        }
        around
    }

    fn is_blocked_by(&self, barrier: Barrier, mutated: Mutated) -> bool {
        match barrier {
            Barrier::Fence(FenceKinds::FULL) => {
                let last = self.last_load.max(self.last_store);
                if mutated.is(Mutation::FencesBlockAll) {
                    return last > 0;
                }
                if mutated.is(Mutation::OnlyStoreLoad) {
                    return self.last_store > self.first_load;
                }
                last > self.first_of_all
            }
            Barrier::Fence(kinds) => {
                let orders = |kind, earlier, later| kinds.contains(kind) && earlier > later;
                orders(FenceKinds::STORE_STORE, self.last_store, self.first_store)
                    || orders(FenceKinds::STORE_LOAD, self.last_store, self.first_load)
                    || orders(FenceKinds::LOAD_LOAD, self.last_load, self.first_load)
                    || orders(FenceKinds::LOAD_STORE, self.last_load, self.first_store)
            }
            Barrier::Drain(store) => {
                self.last_store_to(store) > self.first_of_all
                    && !mutated.is(Mutation::DrainsIgnored)
            }
        }
    }

    /// When the last store to the location took effect that the store with this label has just
    /// written.
    fn last_store_to(&self, store: Label) -> Moment {
        let written = self.before.iter().rev().find_map(|item| {
            let Item::Access { label, loc, .. } = *item else { return None };
            (label == store).then_some(loc)
        });
        let Some(written) = written else { return 0 };
        let same = |loc: Option<Loc>| loc.is_none() || written.is_none() || loc == written;
        let stores = self.before.iter().filter_map(|item| {
            let Item::Access { stores: true, loc, effect, .. } = *item else { return None };
            same(loc).then_some(effect)
        });
        stores.max().unwrap_or(0)
    }
}

/// The lists of all threads.
fn told(problem: &Problem, run: &Run) -> Vec<Vec<Item>> {
    let mut telling = Telling::new(problem);
    let moments = run.moments.iter().flat_map(|moment| &moment.events);
    for told in run.first.events.iter().chain(moments) {
        telling.event(told);
    }
    telling.end(run);
    telling.threads
}

struct Telling<'p> {
    problem: &'p Problem,
    places: BTreeMap<Label, PlaceId>,
    threads: Vec<Vec<Item>>,
    /// By thread: the positions of pending accesses in its list, in program order.
    pending: Vec<Vec<usize>>,
    /// By thread: what waits in its window besides accesses; for deeds the position in its list.
    deferred: Vec<BTreeMap<Label, VecDeque<Option<usize>>>>,
    now: Moment,
}

impl<'p> Telling<'p> {
    fn new(problem: &'p Problem) -> Self {
        let threads = problem.program.threads.len();
        let places = problem.program.places.iter().enumerate();
        Telling {
            problem,
            places: places.map(|(at, p)| (p.label, PlaceId::from_index(at))).collect(),
            threads: vec![Vec::new(); threads],
            pending: vec![Vec::new(); threads],
            deferred: vec![BTreeMap::new(); threads],
            now: 0,
        }
    }

    fn event(&mut self, told: &Told) {
        self.now += 1;
        let event = &told.event;
        let t = event.thread.index();
        let label = event.label.expect("the replay knows every label");
        let now = self.now;
        let done =
            |loads, stores, loc| Item::Access { label, loads, stores, loc: Some(loc), effect: now };
        match event.kind {
            EventKind::Fetch { stores, loc, .. } => {
                let op = event.pc.map(|pc| &self.problem.program.thread(event.thread).stmt(pc).op);
                let loads = !matches!(op, Some(Op::Store { .. }));
                self.begin(t, Item::Access { label, loads, stores, loc, effect: NEVER });
            }
            EventKind::Store { loc, .. } => {
                let loc = Some(loc);
                let item = Item::Access { label, loads: false, stores: true, loc, effect: NEVER };
                self.begin(t, item);
            }
            EventKind::Load { loc, .. } => self.access(told, done(true, false, loc)),
            EventKind::Update { loc, .. } => self.access(told, done(true, true, loc)),
            EventKind::Write { loc, .. } => self.access(told, done(false, true, loc)),
            EventKind::Commit { loc, .. } => {
                let at = event.ahead.map_or_else(|| self.oldest_to(t, loc), |at| at as usize);
                self.perform(t, at, loc);
            }
            EventKind::Stay { .. } => unreachable!("clauses are made from runs of exact models"),
            EventKind::New(_) | EventKind::Free(_) | EventKind::AtomicBegin => {
                self.threads[t].push(Item::Deed { effect: now, what: Deed::Other });
            }
            EventKind::Leave => self.threads[t].push(Item::Deed { effect: now, what: Deed::Leave }),
            EventKind::Defer => {
                let at = if self.pass(told) {
                    None
                } else {
                    self.threads[t].push(Item::Deed { effect: NEVER, what: Deed::Other });
                    Some(self.threads[t].len() - 1)
                };
                self.deferred[t].entry(label).or_default().push_back(at);
            }
            EventKind::Fence(_)
            | EventKind::Drain(_)
            | EventKind::Set { .. }
            | EventKind::Test(_)
            | EventKind::AtomicEnd
            | EventKind::Skip => {
                let waited = self.deferred[t].get_mut(&label).and_then(VecDeque::pop_front);
                match waited {
                    Some(Some(at)) => {
                        // What a pending assertion finds out is noticed only if it fails.
                        if event.kind == EventKind::Test(false) {
                            self.threads[t][at] =
                                Item::Deed { effect: AT_THE_END, what: Deed::Other };
                        }
                    }
                    Some(None) => {}
                    None => {
                        if !self.pass(told) {
                            self.operation(told);
                        }
                    }
                }
            }
        }
    }

    /// Notes that a thread passes a place, if the event is at one.
    fn pass(&mut self, told: &Told) -> bool {
        let event = &told.event;
        let Some(place) = event.label.and_then(|label| self.places.get(&label)) else {
            return false;
        };
        let thread = self.problem.program.thread(event.thread);
        let critical = event.pc.is_some_and(|pc| thread.stmt(pc).critical);
        self.threads[event.thread.index()].push(Item::Place { place: *place, critical });
        true
    }

    /// Notes where a client's operations begin and end.
    fn operation(&mut self, told: &Told) {
        let event = &told.event;
        let thread = self.problem.program.thread(event.thread);
        let Some((pc, op)) = event.pc.map(|pc| (pc, &thread.stmt(pc).op)) else { return };
        let items = &mut self.threads[event.thread.index()];
        if let Op::Invoke { .. } = op {
            items.push(Item::Invoke { pc, at: self.now });
        } else if let Op::Return { .. } = op {
            items.push(Item::Deed { effect: NEVER, what: Deed::Return });
        }
    }

    /// When results are compared with what operations saw of each other: each end that one saw has
    /// to come before the first effect of that one. Seeing more does no harm: it leaves fewer orders.
    fn orders(&mut self, run: &Run) {
        let mut invokes: Vec<(Moment, usize, usize, Pc)> = Vec::new();
        for (t, items) in self.threads.iter().enumerate() {
            invokes.extend(items.iter().enumerate().filter_map(|(i, item)| match *item {
                Item::Invoke { pc, at } => Some((at, t, i, pc)),
                Item::Access { .. } | Item::Deed { .. } | Item::Place { .. } => None,
            }));
        }
        // The last first: what one has to see is due before the ends of its own that others see.
        invokes.sort_unstable_by_key(|(at, ..)| std::cmp::Reverse(*at));
        for (_, t, i, pc) in invokes {
            let effects = self.threads[t][i + 1..].iter().map(|item| match *item {
                Item::Access { effect, .. } | Item::Deed { effect, .. } => effect,
                Item::Place { .. } | Item::Invoke { .. } => NEVER,
            });
            let due = effects.min().unwrap_or(NEVER);
            let Op::Invoke { seen } = &self.problem.program.threads[t].stmt(pc).op else {
                continue;
            };
            for (other, reg) in seen {
                let count = run.last.registers[t][reg.index()].max(0) as usize;
                let returns = self.threads[other.index()].iter_mut().filter_map(|item| {
                    let Item::Deed { effect, what: Deed::Return } = item else { return None };
                    Some(effect)
                });
                returns.take(count).for_each(|effect| *effect = due.min(*effect));
            }
        }
    }

    /// An access that waits.
    fn begin(&mut self, t: usize, item: Item) {
        self.pending[t].push(self.threads[t].len());
        self.threads[t].push(item);
    }

    /// An access that takes effect: a pending one of a window, or one that never waited.
    fn access(&mut self, told: &Told, item: Item) {
        let t = told.event.thread.index();
        match (told.event.ahead, item) {
            (Some(at), Item::Access { loc: Some(loc), .. }) => self.perform(t, at as usize, loc),
            _ => self.threads[t].push(item),
        }
    }

    fn perform(&mut self, t: usize, at: usize, place: Loc) {
        let item = self.pending[t].remove(at);
        if let Item::Access { effect, loc, .. } = &mut self.threads[t][item] {
            *effect = self.now;
            *loc = Some(place);
        }
    }

    fn oldest_to(&self, t: usize, to: Loc) -> usize {
        let is_there = |item: &usize| match self.threads[t][*item] {
            Item::Access { loc, .. } => loc == Some(to),
            Item::Deed { .. } | Item::Place { .. } | Item::Invoke { .. } => false,
        };
        self.pending[t].iter().position(is_there).expect("what is committed was issued")
    }

    /// What the end of the run asks of its threads.
    fn end(&mut self, run: &Run) {
        let Some(violation) = run.violation else { return };
        match violation {
            Violation::MutualExclusion(a, b) => {
                for t in [a, b] {
                    let item = Item::Deed { effect: AT_THE_END, what: Deed::Inside };
                    self.threads[t.index()].push(item);
                }
            }
            Violation::Fault(_, Some(thread), label)
            | Violation::Assertion(Some(thread), label) => self.stumbled(run, thread, label),
            Violation::Operations(_) => self.orders(run),
            Violation::Fault(_, None, _)
            | Violation::Assertion(None, _)
            | Violation::Invariant(_)
            | Violation::Final(_)
            | Violation::Deadlock
            | Violation::NoWitness(_)
            | Violation::NotRobust => {}
        }
    }

    /// A fault or a failed assertion: of a commit or a pending access, or of the thread itself.
    fn stumbled(&mut self, run: &Run, thread: ThreadId, label: Option<Label>) {
        let t = thread.index();
        let last = run.moments.last().and_then(|moment| moment.events.last());
        let is_noted = |kind| match kind {
            EventKind::Commit { .. } => true,
            EventKind::Test(false) => self.threads[t]
                .iter()
                .any(|item| matches!(item, Item::Deed { effect: AT_THE_END, what: Deed::Other })),
            EventKind::Fetch { .. }
            | EventKind::Load { .. }
            | EventKind::Store { .. }
            | EventKind::Write { .. }
            | EventKind::Stay { .. }
            | EventKind::Update { .. }
            | EventKind::Fence(_)
            | EventKind::Drain(_)
            | EventKind::Set { .. }
            | EventKind::Test(_)
            | EventKind::New(_)
            | EventKind::Free(_)
            | EventKind::Leave
            | EventKind::AtomicBegin
            | EventKind::AtomicEnd
            | EventKind::Skip
            | EventKind::Defer => false,
        };
        if last.is_some_and(|told| told.event.thread == thread && is_noted(told.event.kind)) {
            return;
        }
        let step = run.moments.last().map(|moment| &moment.step.action);
        let internal = matches!(step, Some(Action::Internal(_)));
        let pending = self.pending[t].iter().copied().filter(|_| internal).find(|item| {
            matches!(self.threads[t][*item], Item::Access { label: own, .. } if Some(own) == label)
        });
        match pending.map(|item| &mut self.threads[t][item]) {
            Some(Item::Access { effect, .. }) => *effect = AT_THE_END,
            _ => self.threads[t].push(Item::Deed { effect: AT_THE_END, what: Deed::Other }),
        }
    }
}

/// A clause in words: the barriers it offers.
pub fn atoms<'c>(clause: &'c Set, candidates: &'c Candidates) -> impl Iterator<Item = Atom> + 'c {
    clause.iter().map(|number| candidates.atoms[number])
}
