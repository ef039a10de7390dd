//! Small random programs, and their data races by definition.
//!
//! This is written from the page "C programs" of the book, not from the detector. An interleaving
//! is a list of events. Happens-before is the transitive closure of program order and
//! synchronisation, as a matrix.

use fencepost_testkit::Random;

const LOCATIONS: [&str; 3] = ["x", "y", "z"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    Plain,
    Relaxed,
    Acquire,
    Release,
    SeqCst,
}

impl Order {
    fn macro_name(self) -> &'static str {
        match self {
            Order::Plain | Order::Relaxed => "__ATOMIC_RELAXED",
            Order::Acquire => "__ATOMIC_ACQUIRE",
            Order::Release => "__ATOMIC_RELEASE",
            Order::SeqCst => "__ATOMIC_SEQ_CST",
        }
    }

    fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::SeqCst)
    }

    fn releases(self) -> bool {
        matches!(self, Order::Release | Order::SeqCst)
    }
}

#[derive(Clone, Debug)]
enum Stmt {
    Store(usize, Order),
    /// A load, and the statements if the value is not 0.
    Load(usize, Order, Vec<Stmt>),
    FetchAdd(usize, Order),
    Fence(Order),
    Locked(Vec<Stmt>),
}

/// Threads of statements.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    threads: Vec<Vec<Stmt>>,
}

fn random_stmt(random: &mut Random, depth: usize) -> Stmt {
    let at = random.below(LOCATIONS.len());
    let mut pick = |orders: &[Order]| orders[random.below(orders.len())];
    // Mostly, `x` is plain and the others are atomic.
    let load = pick(&[Order::Relaxed, Order::Acquire, Order::Acquire, Order::SeqCst]);
    let store = pick(&[Order::Relaxed, Order::Release, Order::Release, Order::SeqCst]);
    let update = pick(&[Order::Relaxed, Order::Acquire, Order::Release, Order::SeqCst]);
    let fence = pick(&[Order::Acquire, Order::Release, Order::SeqCst]);
    let is_plain = random.percent(if at == 0 { 90 } else { 5 });
    let or_plain = |order| if is_plain { Order::Plain } else { order };
    let body = |random: &mut Random| {
        (0..random.below(3)).map(|_| random_stmt(random, depth + 1)).collect()
    };
    match random.below(10) {
        0..3 => Stmt::Store(at, or_plain(store)),
        3..7 if depth < 2 => Stmt::Load(at, or_plain(load), body(random)),
        3..7 => Stmt::Load(at, or_plain(load), Vec::new()),
        7 if !is_plain => Stmt::FetchAdd(at, update),
        8 if depth == 0 => Stmt::Locked(body(random)),
        _ => Stmt::Fence(fence),
    }
}

impl Program {
    pub(crate) fn random(random: &mut Random) -> Self {
        let threads = random.within(2, 3);
        let length = if threads == 2 { 3 } else { 2 };
        let thread = |random: &mut Random| (0..length).map(|_| random_stmt(random, 0)).collect();
        Program { threads: (0..threads).map(|_| thread(random)).collect() }
    }

    /// Returns the program in C.
    pub(crate) fn source(&self) -> String {
        let mut text = format!("#include <pthread.h>\nint {};\n", LOCATIONS.join(", "));
        text.push_str("pthread_mutex_t m;\n");
        for (number, thread) in self.threads.iter().enumerate() {
            text.push_str(&format!("void *t{number}(void *argument) {{\n"));
            thread.iter().for_each(|stmt| print(stmt, &mut text));
            text.push_str("return 0;\n}\n");
        }
        text.push_str("int main() {\npthread_t t[3];\n");
        for number in 0..self.threads.len() {
            text.push_str(&format!("pthread_create(&t[{number}], 0, t{number}, 0);\n"));
        }
        for number in 0..self.threads.len() {
            text.push_str(&format!("pthread_join(t[{number}], 0);\n"));
        }
        // After the threads, nothing races.
        text.push_str("x = y = z = 5;\nreturn 0;\n}\n");
        text
    }

    /// Returns whether some interleaving has a race.
    pub(crate) fn has_race(&self) -> bool {
        let threads = self.threads.iter().map(|code| code.iter().rev().map(Task::of).collect());
        let state = State {
            threads: threads.collect(),
            values: [0; LOCATIONS.len()],
            owner: None,
            events: Vec::new(),
        };
        state.has_race()
    }
}

fn print(stmt: &Stmt, text: &mut String) {
    let order = |order: &Order| order.macro_name();
    match stmt {
        Stmt::Store(at, Order::Plain) => text.push_str(&format!("{} = 1;\n", LOCATIONS[*at])),
        Stmt::Store(at, by) => {
            let at = LOCATIONS[*at];
            text.push_str(&format!("__atomic_store_n(&{at}, 1, {});\n", order(by)));
        }
        Stmt::Load(at, by, then) => {
            let at = LOCATIONS[*at];
            match by {
                Order::Plain => text.push_str(&format!("if ({at}) {{\n")),
                _ => text.push_str(&format!("if (__atomic_load_n(&{at}, {})) {{\n", order(by))),
            }
            then.iter().for_each(|stmt| print(stmt, text));
            text.push_str("}\n");
        }
        Stmt::FetchAdd(at, by) => {
            let at = LOCATIONS[*at];
            text.push_str(&format!("__atomic_fetch_add(&{at}, 1, {});\n", order(by)));
        }
        Stmt::Fence(by) => text.push_str(&format!("__atomic_thread_fence({});\n", order(by))),
        Stmt::Locked(body) => {
            text.push_str("pthread_mutex_lock(&m);\n");
            body.iter().for_each(|stmt| print(stmt, text));
            text.push_str("pthread_mutex_unlock(&m);\n");
        }
    }
}

/// What a thread does next.
#[derive(Clone, Debug)]
enum Task {
    Do(Stmt),
    Unlock,
}

impl Task {
    fn of(stmt: &Stmt) -> Task {
        Task::Do(stmt.clone())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Access { at: usize, reads: bool, writes: bool, is_plain: bool },
    Release,
    Acquire,
    Lock,
    Unlock,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    thread: usize,
    kind: Kind,
}

/// An interleaving so far. The tasks of a thread are a stack.
#[derive(Clone, Debug)]
struct State {
    threads: Vec<Vec<Task>>,
    values: [u32; LOCATIONS.len()],
    owner: Option<usize>,
    events: Vec<Event>,
}

impl State {
    fn has_race(self) -> bool {
        let mut is_end = true;
        for thread in 0..self.threads.len() {
            let mut next = self.clone();
            if next.step(thread) {
                is_end = false;
                if next.has_race() {
                    return true;
                }
            }
        }
        is_end && has_race(&self.events)
    }

    /// Takes a step of a thread. Returns false if it cannot.
    fn step(&mut self, thread: usize) -> bool {
        let Some(task) = self.threads[thread].pop() else { return false };
        let mut add = |kind| self.events.push(Event { thread, kind });
        let access = |at, reads, writes, order| Kind::Access {
            at,
            reads,
            writes,
            is_plain: order == Order::Plain,
        };
        match task {
            Task::Unlock => {
                add(Kind::Unlock);
                self.owner = None;
            }
            Task::Do(Stmt::Store(at, order)) => {
                if order.releases() {
                    add(Kind::Release);
                }
                add(access(at, false, true, order));
                self.values[at] = 1;
            }
            Task::Do(Stmt::Load(at, order, then)) => {
                add(access(at, true, false, order));
                if order.acquires() {
                    add(Kind::Acquire);
                }
                if self.values[at] != 0 {
                    self.threads[thread].extend(then.iter().rev().map(Task::of));
                }
            }
            Task::Do(Stmt::FetchAdd(at, order)) => {
                if order.releases() {
                    add(Kind::Release);
                }
                add(access(at, true, true, order));
                if order.acquires() {
                    add(Kind::Acquire);
                }
                self.values[at] += 1;
            }
            Task::Do(Stmt::Fence(order)) => {
                if order.acquires() {
                    add(Kind::Acquire);
                }
                if order.releases() {
                    add(Kind::Release);
                }
            }
            Task::Do(Stmt::Locked(body)) => {
                if self.owner.is_some() {
                    return false;
                }
                add(Kind::Lock);
                self.owner = Some(thread);
                self.threads[thread].push(Task::Unlock);
                self.threads[thread].extend(body.iter().rev().map(Task::of));
            }
        }
        true
    }
}

/// Returns whether an interleaving has a race.
fn has_race(events: &[Event]) -> bool {
    let before = happens_before(events);
    let conflict = |a: usize, b: usize| match (events[a].kind, events[b].kind) {
        (
            Kind::Access { at, writes, is_plain, .. },
            Kind::Access { at: other, writes: also_writes, is_plain: also_plain, .. },
        ) => at == other && (writes || also_writes) && (is_plain || also_plain),
        _ => false,
    };
    let all = || 0..events.len();
    all().any(|a| {
        all().any(|b| {
            events[a].thread != events[b].thread && conflict(a, b) && !before[a][b] && !before[b][a]
        })
    })
}

/// Returns the write that an access reads from.
fn source(events: &[Event], reader: usize) -> Option<usize> {
    let Kind::Access { at, reads: true, .. } = events[reader].kind else { return None };
    (0..reader).rev().find(|event| {
        matches!(events[*event].kind, Kind::Access { at: other, writes: true, .. } if other == at)
    })
}

fn happens_before(events: &[Event]) -> Vec<Vec<bool>> {
    let count = events.len();
    let mut before = vec![vec![false; count]; count];
    for b in 0..count {
        for a in 0..b {
            let (first, second) = (events[a], events[b]);
            let handover = (first.kind, second.kind) == (Kind::Unlock, Kind::Lock);
            before[a][b] = first.thread == second.thread || handover;
        }
    }
    let atomic = |event: usize| matches!(events[event].kind, Kind::Access { is_plain: false, .. });
    let same_thread = |a: usize, b: usize| events[a].thread == events[b].thread;
    for reader in (0..count).filter(|event| atomic(*event)) {
        // The write that is read, and those whose release sequence contains it.
        let mut write = source(events, reader);
        while let Some(head) = write.filter(|head| atomic(*head)) {
            for release in (0..head).filter(|at| events[*at].kind == Kind::Release) {
                for acquire in (reader..count).filter(|at| events[*at].kind == Kind::Acquire) {
                    before[release][acquire] |=
                        same_thread(release, head) && same_thread(reader, acquire);
                }
            }
            write = source(events, head);
        }
    }
    for middle in 0..count {
        for a in 0..count {
            for b in 0..count {
                before[a][b] |= before[a][middle] && before[middle][b];
            }
        }
    }
    before
}
