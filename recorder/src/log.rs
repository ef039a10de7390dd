//! The log of each thread.
//!
//! An access appends to the log of its own thread, without a lock. A thread hands its log over when
//! [`thread`] returns or when the thread ends.

use crate::merge::{TraceError, print};
use std::cell::RefCell;
use std::panic::Location;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// What an event does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Load,
    Store,
    Update,
    Failed,
}

/// The kind of a fence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FenceKind {
    Full,
    StoreStore,
}

/// The location of an access, and the number of the write that it makes or reads. The initial value
/// has the number 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    pub(crate) location: u32,
    pub(crate) name: &'static str,
    pub(crate) index: u32,
}

/// One event of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    Access(Kind, Target),
    Fence(FenceKind),
}

/// An event and its place in the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Event {
    pub(crate) action: Action,
    pub(crate) at: &'static Location<'static>,
}

/// The events of a thread, in program order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ThreadLog {
    pub(crate) number: u32,
    pub(crate) name: String,
    pub(crate) events: Vec<Event>,
}

/// The number of the next thread.
static NEXT_THREAD: AtomicU32 = AtomicU32::new(0);

/// The logs that threads have handed over. Locked only when a thread ends, and to take the trace.
static FINISHED: Mutex<Vec<ThreadLog>> = Mutex::new(Vec::new());

/// The log of the current thread. Hands itself over when the thread ends.
struct CurrentLog(ThreadLog);

impl CurrentLog {
    fn new() -> Self {
        let number = NEXT_THREAD.fetch_add(1, Ordering::Relaxed);
        let name = std::thread::current().name().map(String::from);
        let name = name.unwrap_or_else(|| format!("thread {number}"));
        CurrentLog(ThreadLog { number, name, events: Vec::new() })
    }

    fn hand_over(&mut self) {
        let events = std::mem::take(&mut self.0.events);
        if events.is_empty() {
            return;
        }
        let mut finished = FINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        match finished.iter_mut().find(|log| log.number == self.0.number) {
            Some(log) => log.events.extend(events),
            None => finished.push(ThreadLog { events, name: self.0.name.clone(), ..self.0 }),
        }
    }
}

impl Drop for CurrentLog {
    fn drop(&mut self) {
        self.hand_over();
    }
}

thread_local! {
    static CURRENT: RefCell<CurrentLog> = RefCell::new(CurrentLog::new());
}

/// Names the current thread in the trace, runs `work`, and hands the log over, also if `work`
/// panics. Threads of [`std::thread::scope`] need this: such a thread may be joined before its
/// thread-local data is dropped.
pub fn thread<T>(name: &str, work: impl FnOnce() -> T) -> T {
    struct HandOver;
    impl Drop for HandOver {
        fn drop(&mut self) {
            CURRENT.with_borrow_mut(CurrentLog::hand_over);
        }
    }
    CURRENT.with_borrow_mut(|log| log.0.name = name.into());
    let _hand_over = HandOver;
    work()
}

/// Executes and records a fence, as [`std::sync::atomic::fence`] does. `SeqCst` is a full fence.
/// `Release` and `AcqRel` keep stores in order. `Acquire` has no effect under TSO and PSO.
#[track_caller]
pub fn fence(order: Ordering) {
    std::sync::atomic::fence(order);
    match order {
        Ordering::SeqCst => record_fence(FenceKind::Full, Location::caller()),
        Ordering::Release | Ordering::AcqRel => {
            record_fence(FenceKind::StoreStore, Location::caller());
        }
        // The enum is open. `Acquire` orders loads, which store buffers do not reorder.
        _ => {}
    }
}

/// Merges the logs and returns the trace, as text for `fencepost monitor`. Call this once, after the
/// other threads have ended.
pub fn take_trace() -> Result<String, TraceError> {
    CURRENT.with_borrow_mut(CurrentLog::hand_over);
    let mut finished = FINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut logs = std::mem::take(&mut *finished);
    logs.sort_by_key(|log| log.number);
    print(&logs)
}

pub(crate) fn record(kind: Kind, target: Target, at: &'static Location<'static>) {
    append(Event { action: Action::Access(kind, target), at });
}

pub(crate) fn record_fence(kind: FenceKind, at: &'static Location<'static>) {
    append(Event { action: Action::Fence(kind), at });
}

fn append(event: Event) {
    CURRENT.with_borrow_mut(|log| log.0.events.push(event));
}
