//! Runs many files in parallel. `check`, `robust` and `litmus` use it.
//!
//! Most files take milliseconds, so the workers share the files and not the search of one file.
//! First, a file gets one thread, a part of the memory and a short time. If it needs more, or if it
//! panics, that run is dropped. The file then runs alone, with all threads and all memory, while the
//! other workers wait. So no result depends on the number of workers or on other files.
//!
//! Rejected: one thread for each file until the end, as two large files would get half of the
//! memory each, and the last large file would use one processor only.
//!
//! Results are delivered in the order of the files, as early as possible.

use crate::guard::{catch_panic, catch_panic_while, hide_panics};
use crate::session::Session;
use fencepost::{Elapsed, Stopwatch};
use fencepost_engines::{Budget, Settings};
use fencepost_search::{Cancel, Progress, Stop};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The interval between two checks of the time limit.
const TICK: Duration = Duration::from_millis(20);

/// How long a file may take next to others. A file that takes longer runs alone.
const SHARED_TIME: Duration = Duration::from_secs(1);

/// Runs files.
pub(crate) struct Pool<'a> {
    pub(crate) session: &'a Session,
    pub(crate) settings: Settings,
    /// What the files are, for the progress bar.
    pub(crate) title: &'a str,
    pub(crate) in_parallel: bool,
}

/// The resources of one file: how its searches run.
pub(crate) struct Turn<'a> {
    session: &'a Session,
    settings: Settings,
    /// The flag of a file that runs next to others. None: the file runs alone.
    shared: Option<&'a Cancel>,
    has_panicked: Cell<bool>,
}

impl<'a> Turn<'a> {
    /// Returns the resources of a file that runs alone.
    pub(crate) fn alone(session: &'a Session, settings: Settings) -> Self {
        Turn { session, settings, shared: None, has_panicked: Cell::new(false) }
    }

    /// Returns the settings of searches.
    pub(crate) fn settings(&self) -> Settings {
        self.settings
    }

    /// Whether the user has pressed Ctrl-C.
    pub(crate) fn interrupted(&self) -> bool {
        self.session.interrupted()
    }

    /// Runs a search within the time limit. Returns its result and the time it took.
    pub(crate) fn search<T>(
        &self,
        what: impl FnOnce() -> String,
        search: impl FnOnce(Budget<'_>) -> T,
    ) -> (T, Elapsed) {
        let Some(cancel) = self.shared else { return self.session.run(&what(), search) };
        let stopwatch = Stopwatch::start_for_this_thread();
        let result = search(Budget { cancel, progress: &Progress::default() });
        (result, stopwatch.elapsed())
    }

    /// Runs `work`. A panic becomes an error with its message.
    pub(crate) fn catch_panic_while<T>(
        &self,
        task: impl FnOnce() -> String,
        work: impl FnOnce() -> T,
    ) -> Result<T, String> {
        if self.shared.is_none() {
            return catch_panic_while(task(), work);
        }
        catch_panic(work).inspect_err(|_| self.has_panicked.set(true))
    }

    /// Whether the file must run again, alone.
    fn needs_more(&self) -> bool {
        let has_reached_limit = self
            .shared
            .is_some_and(|own| own.reason() == Some(Stop::Time) || own.is_out_of_memory());
        has_reached_limit || self.has_panicked.get()
    }
}

/// A worker: its flag, and when its current file started.
#[derive(Default)]
struct Worker {
    current: Mutex<Option<(Cancel, Instant)>>,
}

/// What the workers share.
struct Shared<'a, I> {
    items: &'a [I],
    /// The next item to start.
    next: AtomicUsize,
    done: AtomicUsize,
    /// Whether no more items are started.
    stopped: AtomicBool,
    /// Held by each file that runs next to others; for writing, by one that runs alone.
    machine: RwLock<()>,
    is_alone: AtomicBool,
}

/// A part of the result of an item, or none if the item is done.
type Part<E> = (usize, Option<E>);

impl Pool<'_> {
    /// Runs all items. `read` is called once for each item, `work` once or twice. `work` passes the
    /// parts of its result to its last argument. `deliver` gets the parts of all results, in order.
    /// When it returns false, the rest is cancelled.
    pub(crate) fn run<I: Sync, R, E: Send>(
        &self,
        items: &[I],
        read: impl Fn(&I) -> R + Sync,
        work: impl Fn(&I, &R, &Turn<'_>, &mut dyn FnMut(E)) + Sync,
        mut deliver: impl FnMut(E) -> bool,
    ) {
        let workers = self.settings.threads.get().min(items.len());
        if workers <= 1 || !self.in_parallel {
            let turn = Turn::alone(self.session, self.settings);
            let mut goes_on = true;
            for item in items {
                if !goes_on {
                    break;
                }
                work(item, &read(item), &turn, &mut |part| {
                    goes_on = goes_on && deliver(part);
                    if !goes_on {
                        self.session.cancel().interrupt();
                    }
                });
            }
            return;
        }
        let workers: Vec<Worker> = (0..workers).map(|_| Worker::default()).collect();
        let shared = Shared {
            items,
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            machine: RwLock::new(()),
            is_alone: AtomicBool::new(false),
        };
        hide_panics(true);
        std::thread::scope(|scope| {
            let (all_done, all_done_receiver) = channel::<()>();
            let (workers, shared, read, work) = (&workers, &shared, &read, &work);
            // This thread ends when `all_done` is dropped, also after a panic.
            scope.spawn(move || self.watch(workers, shared, &all_done_receiver));
            let (sender, receiver) = channel();
            for worker in workers {
                let sender = sender.clone();
                scope.spawn(move || self.work(worker, workers.len(), shared, read, work, &sender));
            }
            drop(sender);
            deliver_in_order(&receiver, |part| {
                let goes_on = deliver(part);
                if !goes_on {
                    shared.stopped.store(true, Ordering::Relaxed);
                    self.session.cancel().interrupt();
                }
                goes_on
            });
            drop(all_done);
        });
        hide_panics(false);
    }

    /// Takes items and runs them until none is left.
    fn work<I, R, E>(
        &self,
        worker: &Worker,
        workers: usize,
        shared: &Shared<'_, I>,
        read: &impl Fn(&I) -> R,
        work: &impl Fn(&I, &R, &Turn<'_>, &mut dyn FnMut(E)),
        sender: &Sender<Part<E>>,
    ) {
        let mut settings = self.settings;
        settings.threads = NonZeroUsize::MIN;
        settings.limits.bytes /= workers as u64;
        while !shared.stopped.load(Ordering::Relaxed) {
            let at = shared.next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = shared.items.get(at) else { break };
            let input = read(item);
            let parts = {
                let _machine = shared.machine.read().unwrap_or_else(PoisonError::into_inner);
                self.work_next_to_others(worker, settings, |turn, emit| {
                    work(item, &input, turn, emit)
                })
            };
            // The receiver is gone only after a panic of the delivering thread.
            let send = |part| {
                let _ = sender.send((at, part));
            };
            match parts {
                Some(parts) => parts.into_iter().for_each(|part| send(Some(part))),
                None => {
                    let _machine = shared.machine.write().unwrap_or_else(PoisonError::into_inner);
                    shared.is_alone.store(true, Ordering::Relaxed);
                    hide_panics(false);
                    let turn = Turn::alone(self.session, self.settings);
                    work(item, &input, &turn, &mut |part| send(Some(part)));
                    hide_panics(true);
                    shared.is_alone.store(false, Ordering::Relaxed);
                }
            }
            send(None);
            shared.done.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Runs a file next to others. Returns none if the file must run again, alone.
    fn work_next_to_others<E>(
        &self,
        worker: &Worker,
        settings: Settings,
        work: impl FnOnce(&Turn<'_>, &mut dyn FnMut(E)),
    ) -> Option<Vec<E>> {
        let cancel = self.session.cancel().task();
        *lock(&worker.current) = Some((cancel.clone(), Instant::now()));
        let has_panicked = Cell::new(false);
        let turn = Turn { session: self.session, settings, shared: Some(&cancel), has_panicked };
        let mut parts = Vec::new();
        let done =
            turn.catch_panic_while(String::new, || work(&turn, &mut |part| parts.push(part)));
        *lock(&worker.current) = None;
        (done.is_ok() && !turn.needs_more()).then_some(parts)
    }

    /// Cancels runs that take longer than a run next to others may, and shows how many items are
    /// done, until `all_done` closes.
    fn watch<I>(&self, workers: &[Worker], shared: &Shared<'_, I>, all_done: &Receiver<()>) {
        let time = self.session.time().map_or(SHARED_TIME, |time| time.min(SHARED_TIME));
        let mut bar = None;
        while all_done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            for worker in workers {
                if let Some((cancel, started)) = &*lock(&worker.current)
                    && started.elapsed() >= time
                {
                    cancel.time_out();
                }
            }
            if shared.is_alone.load(Ordering::Relaxed) {
                // The search shows its own progress.
                bar.take().inspect(indicatif::ProgressBar::finish_and_clear);
                continue;
            }
            let bar = bar.get_or_insert_with(|| self.session.bar(self.title));
            let done = shared.done.load(Ordering::Relaxed);
            bar.set_message(format!("{done} of {}", shared.items.len()));
            bar.tick();
        }
        bar.inspect(indicatif::ProgressBar::finish_and_clear);
    }
}

/// Passes the parts of all results to `deliver`, in the order of the items, until it returns false.
fn deliver_in_order<E>(receiver: &Receiver<Part<E>>, mut deliver: impl FnMut(E) -> bool) {
    let mut early: BTreeMap<usize, Vec<Option<E>>> = BTreeMap::new();
    let mut due = 0;
    for (at, part) in receiver {
        early.entry(at).or_default().push(part);
        while let Some(parts) = early.remove(&due) {
            let is_done = parts.last().is_some_and(Option::is_none);
            for part in parts.into_iter().flatten() {
                if !deliver(part) {
                    return;
                }
            }
            if !is_done {
                break;
            }
            due += 1;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::tests::lock_panics;
    use fencepost_search::Limits;
    use std::sync::atomic::AtomicU32;

    const BYTES: u64 = 1000;

    fn settings(threads: usize) -> Settings {
        Settings {
            threads: NonZeroUsize::new(threads).expect("not 0"),
            limits: Limits { bytes: BYTES, ..Limits::default() },
            ..Settings::default()
        }
    }

    /// Runs items and returns what was delivered.
    fn run<E: Send>(
        threads: usize,
        items: &[u32],
        work: impl Fn(u32, &Turn<'_>, &mut dyn FnMut(E)) + Sync,
        deliver: impl FnMut(&E) -> bool,
    ) -> Vec<E> {
        let session = Session::within(0.0, true);
        let pool =
            Pool { session: &session, settings: settings(threads), title: "", in_parallel: true };
        let (mut deliver, mut delivered) = (deliver, Vec::new());
        pool.run(
            items,
            |item| *item,
            |_, item, turn, emit| work(*item, turn, emit),
            |part| {
                let goes_on = deliver(&part);
                delivered.push(part);
                goes_on
            },
        );
        delivered
    }

    #[test]
    fn parts_are_delivered_in_the_order_of_the_items() {
        let _panics = lock_panics();
        let items: Vec<u32> = (0..200).collect();
        let work = |item: u32, _: &Turn<'_>, emit: &mut dyn FnMut((u32, u32))| {
            // The first items take longest.
            std::thread::sleep(Duration::from_micros(u64::from(200 - item) * 10));
            (0..item % 4).for_each(|part| emit((item, part)));
        };
        let all: Vec<(u32, u32)> =
            items.iter().flat_map(|item| (0..item % 4).map(|part| (*item, part))).collect();
        for threads in [1, 2, 7] {
            assert_eq!(run(threads, &items, work, |_| true), all, "{threads} threads");
        }
    }

    #[test]
    fn nothing_is_delivered_after_the_end() {
        let _panics = lock_panics();
        let items: Vec<u32> = (0..50).collect();
        for threads in [1, 3] {
            let work = |item: u32, _: &Turn<'_>, emit: &mut dyn FnMut(u32)| {
                emit(item);
                emit(item);
            };
            let delivered = run(threads, &items, work, |part| *part < 2);
            assert_eq!(delivered, [0, 0, 1, 1, 2], "{threads} threads");
        }
    }

    #[test]
    fn an_item_that_reaches_a_limit_runs_again_alone_with_all_resources() {
        let _panics = lock_panics();
        let (running, together) = (AtomicU32::new(0), AtomicU32::new(0));
        let work = |item: u32, turn: &Turn<'_>, emit: &mut dyn FnMut((u32, u64, usize, bool))| {
            let now = running.fetch_add(1, Ordering::SeqCst);
            let settings = turn.settings();
            let has_all = settings.limits.bytes == BYTES;
            if has_all {
                together.fetch_max(now, Ordering::SeqCst);
            }
            let is_cut = turn.search(String::new, |budget| {
                match item {
                    // Needs more memory than its share.
                    0 if !has_all => budget.cancel.child().record_out_of_memory(),
                    // Needs more time than it gets next to others.
                    1 if !has_all => {
                        while budget.cancel.reason().is_none() {
                            std::thread::sleep(Duration::from_millis(5));
                        }
                    }
                    _ => std::thread::sleep(Duration::from_millis(20)),
                }
                budget.cancel.reason().is_some()
            });
            running.fetch_sub(1, Ordering::SeqCst);
            emit((item, settings.limits.bytes, settings.threads.get(), is_cut.0));
        };
        let delivered = run(4, &[0, 1, 2, 3, 4, 5], work, |_| true);
        let small = |item| (item, BYTES / 4, 1, false);
        let large = |item| (item, BYTES, 4, false);
        let expected = [large(0), large(1), small(2), small(3), small(4), small(5)];
        assert_eq!(delivered, expected);
        assert_eq!(together.load(Ordering::SeqCst), 0, "nothing runs next to a large item");
    }

    #[test]
    fn a_panic_is_reported_by_the_run_alone() {
        let _panics = lock_panics();
        let runs = AtomicU32::new(0);
        let work = |item: u32, turn: &Turn<'_>, emit: &mut dyn FnMut(Result<u32, String>)| {
            emit(turn.catch_panic_while(String::new, || {
                if item == 3 {
                    runs.fetch_add(1, Ordering::SeqCst);
                    std::thread::scope(|scope| {
                        let panics = || panic!("a queue is never negative");
                        scope.spawn(panics).join().expect("joined");
                    });
                }
                item
            }));
        };
        let delivered = run(2, &[0, 1, 2, 3, 4], work, |_| true);
        let good: Vec<u32> = delivered.iter().flatten().copied().collect();
        assert_eq!(good, [0, 1, 2, 4]);
        let message = delivered[3].as_ref().expect_err("a panic");
        assert!(message.starts_with("a queue is never negative"), "{message}");
        assert_eq!(runs.load(Ordering::SeqCst), 2);
    }
}
