//! Limits, cancellation and observation of a search.
//!
//! Engines access neither the clock nor the terminal. They get limits and a cancellation flag. This
//! module sets the flag when the time limit is reached, and calls an observer in the meantime.

use crate::cpu_time::{cpu_time, thread_cpu_time};
use fencepost_engines::{Budget, Settings};
use fencepost_search::{Cancel, Progress};
use std::num::NonZeroUsize;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The interval between two calls of an observer.
const TICK: Duration = Duration::from_millis(100);

/// Limits and settings of a request. The defaults are: no limits, one thread, all reductions.
///
/// ```
/// use fencepost::SearchOptions;
/// use std::time::Duration;
///
/// let options = SearchOptions::default().time_limit(Duration::from_secs(10)).threads(2);
/// assert_eq!(options.time, Some(Duration::from_secs(10)));
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SearchOptions {
    /// The limit on wall-clock time for each program and model.
    pub time: Option<Duration>,
    /// The settings of the engines.
    pub settings: Settings,
}

impl SearchOptions {
    /// Sets the limit on wall-clock time for each program and model.
    #[must_use]
    pub fn time_limit(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Sets the approximate memory limit of a search, in bytes.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.settings.limits.bytes = bytes;
        self
    }

    /// Sets the approximate limit on stored states.
    #[must_use]
    pub fn max_states(mut self, states: u64) -> Self {
        self.settings.limits.states = states;
        self
    }

    /// Sets the number of search threads; 0 counts as 1. The answer does not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.settings.threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
        self
    }

    /// Sets the largest bound on pending accesses to try.
    #[must_use]
    pub fn max_buffer(mut self, bound: u32) -> Self {
        self.settings.max_buffer = Some(bound);
        self
    }
}

/// An observer of the progress of a search.
pub trait Observer: Sync {
    /// Called about ten times per second while a search runs.
    fn tick(&self, progress: &Progress, elapsed: Duration);

    /// Called when the search has ended.
    fn done(&self) {}
}

/// The observer that does nothing.
impl Observer for () {
    fn tick(&self, _: &Progress, _: Duration) {}
}

/// The time that a search took.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Elapsed {
    /// The wall-clock time. Time limits refer to it.
    pub wall: Duration,
    /// The CPU time of all threads of this process, or of one thread if the search used only that
    /// thread. `None` if the system has no supported clock.
    pub cpu: Option<Duration>,
}

impl Elapsed {
    /// Returns the wall-clock time in seconds.
    pub fn seconds(&self) -> f64 {
        self.wall.as_secs_f64()
    }

    /// Returns the CPU time in seconds.
    pub fn cpu_seconds(&self) -> Option<f64> {
        self.cpu.map(|cpu| cpu.as_secs_f64())
    }
}

/// Measures wall-clock time and CPU time.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    started: Instant,
    cpu: Option<Duration>,
    /// The clock of CPU time.
    cpu_clock: fn() -> Option<Duration>,
}

impl Stopwatch {
    /// Starts a measurement. CPU time is that of all threads of this process.
    pub fn start() -> Self {
        Stopwatch { started: Instant::now(), cpu: cpu_time(), cpu_clock: cpu_time }
    }

    /// Starts a measurement. CPU time is that of the calling thread, which also ends the
    /// measurement.
    pub fn start_for_this_thread() -> Self {
        let cpu = thread_cpu_time();
        Stopwatch { started: Instant::now(), cpu, cpu_clock: thread_cpu_time }
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Elapsed {
        let cpu = self.cpu.zip((self.cpu_clock)()).map(|(before, now)| now.saturating_sub(before));
        Elapsed { wall: self.started.elapsed(), cpu }
    }
}

/// Runs a search within a limit on wall-clock time. Returns its result and the time it took.
pub fn run_within<T>(
    time: Option<Duration>,
    cancel: &Cancel,
    observer: &dyn Observer,
    search: impl FnOnce(Budget<'_>) -> T,
) -> (T, Elapsed) {
    let progress = Progress::default();
    let stopwatch = Stopwatch::start();
    let started = stopwatch.started;
    let result = std::thread::scope(|scope| {
        let (done, finished) = channel::<()>();
        // This thread ends when `done` is dropped, also after a panic. The scope waits for the
        // thread, so a late time-out cannot cancel the next search.
        scope.spawn(|| {
            let finished = finished;
            loop {
                let left = time.map(|time| time.saturating_sub(started.elapsed()));
                if left == Some(Duration::ZERO) {
                    cancel.time_out();
                }
                let wait = match left {
                    Some(left) if left > Duration::ZERO => left.min(TICK),
                    _ => TICK,
                };
                match finished.recv_timeout(wait) {
                    Err(RecvTimeoutError::Timeout) => observer.tick(&progress, started.elapsed()),
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            observer.done();
        });
        let result = search(Budget { cancel, progress: &progress });
        drop(done);
        result
    });
    cancel.clear_time_out();
    (result, stopwatch.elapsed())
}
