//! The relations of an execution, from their definitions: what the monitor is tested against, and what explains its
//! answers.
//!
//! Source: \[BM08\] definitions 1 to 3, Lemma 1. Direction: exact. No clocks here: an event is put at a *place*, a
//! position in the order of writes of each of its addresses, all pairs of events are asked whether one comes before
//! the other, and cycles are searched for in the graph. That costs the square of the number of events for each place
//! and is meant for small executions and for the one that is shown to a reader.
//!
//! DIVERGENCE: as in the crate's header, a load that reads its own thread's plain store has no relaxed edges from
//! writes.

use crate::event::{Access, Action, Model};

/// A sequentially consistent execution, kept as it was.
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

/// What an event waits for, its accesses left aside.
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

/// Why an event comes before another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The same thread did it earlier.
    ProgramOrder,
    /// The second reads what the first wrote.
    ReadsFrom,
    /// The first reads a value that is older than what the second writes.
    ReadsBefore,
    /// The second writes over what the first wrote.
    Overwrites,
}

/// One edge of happens-before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The event that comes before.
    pub from: usize,
    /// The event that comes after.
    pub to: usize,
    /// Why.
    pub reason: Reason,
}

/// What an event does to one address: its number in the order of writes, and that of the write it reads; 0 is the
/// initial value.
#[derive(Clone, Copy, Debug)]
struct Touch {
    address: u32,
    reads: Option<usize>,
    writes: Option<usize>,
}

/// The first events of an execution, the last of them put somewhere: who reads and writes what.
struct Placed<'a> {
    execution: &'a Execution,
    touches: Vec<Vec<Touch>>,
}

impl Execution {
    /// An execution without events.
    pub fn new(model: Model) -> Execution {
        Execution { model, events: Vec::new() }
    }

    /// Adds the next event.
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

    /// How many events there are, fences and drains included.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The edges of happens-before between neighbours: the next access of the thread, the readers of a write, the
    /// next write.
    pub fn edges(&self) -> Vec<Step> {
        let Some(last) = self.events.len().checked_sub(1) else { return Vec::new() };
        let placed = self.placed(last, &self.end(last));
        let mut steps = placed.steps();
        steps.retain(|&step| placed.is_between_neighbours(step));
        steps
    }

    /// All writes that event `at` could have come directly before, such that the model has this execution of the
    /// events up to it and sequential consistency has not. Stores, updates and blocks under TSO are moved like all
    /// others.
    pub fn borderline(&self, at: usize) -> Vec<usize> {
        let writes = (0..at).filter(|&write| self.leaving(at, write).next().is_some());
        writes.collect()
    }

    /// A shortest cycle of happens-before in the execution with `at` moved directly before the write `before`. Its
    /// first step is from the one to the other. Empty if that is no answer of [`Execution::borderline`].
    pub fn cycle(&self, at: usize, before: usize) -> Vec<Step> {
        let Some(place) = self.leaving(at, before).next() else { return Vec::new() };
        let placed = self.placed(at, &place);
        let reason = placed.reason(at, before).expect("the event was put before the write");
        let mut cycle = vec![Step { from: at, to: before, reason }];
        cycle.extend(placed.path(before, at).expect("the write happens before the event"));
        cycle
    }

    /// An order of the accesses up to `at` in which they may take effect when `at` is moved directly before the write
    /// `before`. It is the order of the execution wherever it can be. Fences and drains, which have no effect of
    /// their own, are left out. Empty if that is no answer of [`Execution::borderline`].
    pub fn order(&self, at: usize, before: usize) -> Vec<usize> {
        let Some(place) = self.leaving(at, before).next() else { return Vec::new() };
        self.placed(at, &place).relaxed_order().expect("the model has the execution")
    }

    /// The relaxed edges of the execution with `at` moved directly before the write `before`: what
    /// [`Execution::order`] respects.
    pub fn relaxed(&self, at: usize, before: usize) -> Vec<(usize, usize)> {
        let Some(place) = self.leaving(at, before).next() else { return Vec::new() };
        let placed = self.placed(at, &place);
        let pairs = (0..=at).flat_map(|from| (0..=at).map(move |to| (from, to)));
        pairs.filter(|&(from, to)| placed.relaxed(from, to)).collect()
    }

    /// The places for `at` directly before the write that leave sequential consistency through it, but not the model.
    fn leaving(&self, at: usize, before: usize) -> impl Iterator<Item = Vec<usize>> {
        self.places(at).into_iter().filter(move |place| {
            let mut accesses = place.iter().zip(&self.events[at].accesses);
            let directly = accesses
                .any(|(&put, access)| self.writes(at, access.address).get(put) == Some(&before));
            if !directly || self.torn(at, place) {
                return false;
            }
            let placed = self.placed(at, place);
            !placed.contradicts_itself(at)
                && placed.path(before, at).is_some()
                && placed.relaxed_order().is_some()
        })
    }

    /// The writes to an address before event `at`.
    fn writes(&self, at: usize, address: u32) -> Vec<usize> {
        let writes = |event: &Event| {
            event.accesses.iter().any(|access| access.address == address && access.writes)
        };
        (0..at).filter(|&event| writes(&self.events[event])).collect()
    }

    /// Where event `at` was: after all writes to its addresses.
    fn end(&self, at: usize) -> Vec<usize> {
        let accesses = self.events[at].accesses.iter();
        accesses.map(|access| self.writes(at, access.address).len()).collect()
    }

    /// All places of event `at`: for each access how many writes are before it. Late ones first.
    fn places(&self, at: usize) -> Vec<Vec<usize>> {
        let mut places = vec![Vec::new()];
        for last in self.end(at) {
            let longer = |place: &Vec<usize>| {
                let place = place.clone();
                (0..=last).rev().map(move |put| [place.as_slice(), &[put]].concat())
            };
            places = places.iter().flat_map(longer).collect();
        }
        places
    }

    /// Whether a write that reads would no longer follow the write it read.
    fn torn(&self, at: usize, place: &[usize]) -> bool {
        place.iter().zip(&self.events[at].accesses).any(|(&put, access)| {
            let next = self.writes(at, access.address).get(put).copied();
            access.writes
                && next.is_some_and(|next| {
                    let mut accesses = self.events[next].accesses.iter();
                    accesses.any(|other| other.address == access.address && other.reads)
                })
        })
    }

    fn placed(&self, at: usize, place: &[usize]) -> Placed<'_> {
        let put_at = |address: u32| {
            let mut accesses = self.events[at].accesses.iter().zip(place);
            accesses.find(|(access, _)| access.address == address && access.writes)
        };
        let touches = (0..=at).map(|event| {
            let accesses = self.events[event].accesses.iter().enumerate();
            let touch = accesses.map(|(number, access)| {
                let mut seen = if event == at {
                    place[number]
                } else {
                    self.writes(event, access.address).len()
                };
                let moved = put_at(access.address).map(|(_, &put)| put);
                // A write that was put in the middle raises the numbers of those after it.
                let raised = |seen: usize, least: usize| {
                    seen + usize::from(event != at && moved.is_some_and(|put| seen >= least + put))
                };
                let writes = access.writes.then(|| raised(seen, 0) + 1);
                seen = raised(seen, 1);
                Touch { address: access.address, reads: access.reads.then_some(seen), writes }
            });
            touch.collect()
        });
        Placed { execution: self, touches: touches.collect() }
    }

    /// Whether the model keeps two events of a thread in the order of the program.
    fn keeps(&self, from: usize, to: usize) -> bool {
        let (first, second) = (&self.events[from], &self.events[to]);
        let Kind::Store = first.kind else { return true };
        let address = first.accesses[0].address;
        let same = second.accesses.iter().any(|access| access.address == address);
        let between = |wanted: &dyn Fn(usize, Kind) -> bool| {
            (from + 1..to).any(|event| {
                let it = &self.events[event];
                it.thread == first.thread && wanted(event, it.kind)
            })
        };
        let store_store = between(&|_, kind| matches!(kind, Kind::Fence { store_store: true, .. }));
        let store_load = between(&|_, kind| matches!(kind, Kind::Fence { store_load: true, .. }));
        let drained = between(&|drain, kind| {
            let Kind::Drain(drained) = kind else { return false };
            // A single queue is also drained of what is before the last store to the address.
            let last = match self.model {
                Model::Tso => drain,
                Model::Pso => from + 1,
            };
            self.events[from..last].iter().any(|store| {
                store.thread == first.thread
                    && store.kind == Kind::Store
                    && store.accesses[0].address == drained
            })
        });
        let tso = self.model == Model::Tso;
        drained
            || match second.kind {
                Kind::Load => store_load,
                Kind::Store => tso || same || store_store,
                Kind::Update => tso || same || store_store || store_load,
                Kind::Direct => same,
                Kind::Block => true,
                Kind::Fence { .. } | Kind::Drain(_) => false,
            }
    }
}

impl Placed<'_> {
    fn len(&self) -> usize {
        self.touches.len()
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

    /// Pairs of touches of the same address by two events.
    fn meetings(&self, from: usize, to: usize) -> impl Iterator<Item = (Touch, Touch)> {
        let seconds = &self.touches[to];
        self.touches[from].iter().flat_map(move |&first| {
            let same = seconds.iter().filter(move |second| second.address == first.address);
            same.map(move |&second| (first, second))
        })
    }

    /// Definition of the conflict order: by the numbers of values. A write that reads counts as what it writes.
    fn conflict(&self, from: usize, to: usize) -> bool {
        let value = |touch: Touch| touch.writes.or(touch.reads).expect("a touch does something");
        from != to
            && self.meetings(from, to).any(|(first, second)| {
                if second.writes.is_some() {
                    value(first) < value(second)
                } else {
                    first.writes.is_some() && value(first) <= value(second)
                }
            })
    }

    /// Why one event comes before another one in a single step of happens-before, if it does.
    fn reason(&self, from: usize, to: usize) -> Option<Reason> {
        if self.program_order(from, to) {
            return Some(Reason::ProgramOrder);
        }
        if from == to {
            return None;
        }
        let met = |wanted: &dyn Fn(Touch, Touch) -> bool| {
            self.meetings(from, to).any(|(first, second)| wanted(first, second))
        };
        if met(&|first, second| first.writes.is_some() && first.writes == second.reads) {
            Some(Reason::ReadsFrom)
        } else if met(&|first, second| first.writes.is_some() && first.writes < second.writes) {
            Some(Reason::Overwrites)
        } else if met(&|first, second| first.reads.is_some() && first.reads < second.writes) {
            Some(Reason::ReadsBefore)
        } else {
            None
        }
    }

    fn steps(&self) -> Vec<Step> {
        let pairs = (0..self.len()).flat_map(|from| (0..self.len()).map(move |to| (from, to)));
        let step = |(from, to)| self.reason(from, to).map(|reason| Step { from, to, reason });
        pairs.filter_map(step).collect()
    }

    /// Whether nothing of the same kind lies between the two events of a step.
    fn is_between_neighbours(&self, step: Step) -> bool {
        let Step { from, to, reason } = step;
        let next = |value: Option<usize>| value.map(|number| number + 1);
        let mut meetings = self.meetings(from, to);
        match reason {
            Reason::ProgramOrder => !(from + 1..to).any(|it| self.program_order(from, it)),
            Reason::ReadsFrom => true,
            Reason::ReadsBefore => {
                meetings.any(|(f, s)| f.reads.is_some() && next(f.reads) == s.writes)
            }
            Reason::Overwrites => {
                meetings.any(|(f, s)| f.writes.is_some() && next(f.writes) == s.writes)
            }
        }
    }

    /// The axiom TSO2 of the paper: no event conflicts into the past of its own thread.
    fn contradicts_itself(&self, at: usize) -> bool {
        (0..at).any(|event| self.program_order(event, at) && self.conflict(at, event))
    }

    /// Whether the load reads a plain store of its own thread, maybe before it is in memory.
    fn reads_own_store(&self, load: usize) -> bool {
        let event = &self.execution.events[load];
        event.kind == Kind::Load
            && (0..load).any(|from| {
                let store = &self.execution.events[from];
                store.thread == event.thread
                    && store.kind == Kind::Store
                    && self.meetings(from, load).any(|(first, second)| first.writes == second.reads)
            })
    }

    /// Relaxed happens-before, in a single step.
    fn relaxed(&self, from: usize, to: usize) -> bool {
        let threads = [from, to].map(|event| self.execution.events[event].thread);
        if self.program_order(from, to) && self.execution.keeps(from, to) {
            return true;
        }
        threads[0] != threads[1] && self.conflict(from, to) && !self.reads_own_store(to)
    }

    /// A shortest path of happens-before, the earliest events first.
    fn path(&self, from: usize, to: usize) -> Option<Vec<Step>> {
        let mut came: Vec<Option<Step>> = vec![None; self.len()];
        let mut front = vec![from];
        while came[to].is_none() && !front.is_empty() {
            let mut next = Vec::new();
            for &event in &front {
                for (other, came) in came.iter_mut().enumerate() {
                    let fresh = other != from && came.is_none();
                    if let Some(reason) = self.reason(event, other).filter(|_| fresh) {
                        *came = Some(Step { from: event, to: other, reason });
                        next.push(other);
                    }
                }
            }
            front = next;
        }
        let mut path = Vec::new();
        let mut at = to;
        while at != from {
            let step = came[at]?;
            path.push(step);
            at = step.from;
        }
        path.reverse();
        Some(path)
    }

    /// The accesses in an order that respects the relaxed order, always the first one that can come next; `None` if
    /// there is a cycle.
    fn relaxed_order(&self) -> Option<Vec<usize>> {
        let accesses = || (0..self.len()).filter(|&event| self.is_access(event));
        let mut waits: Vec<usize> = (0..self.len())
            .map(|to| accesses().filter(|&from| self.relaxed(from, to)).count())
            .collect();
        let mut order = Vec::new();
        let mut done = vec![false; self.len()];
        while order.len() < accesses().count() {
            let next = accesses().find(|&event| !done[event] && waits[event] == 0)?;
            done[next] = true;
            order.push(next);
            accesses().filter(|&to| self.relaxed(next, to)).for_each(|to| waits[to] -= 1);
        }
        Some(order)
    }
}
