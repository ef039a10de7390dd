//! What a search may use, and how it is stopped and watched.
//!
//! Engines know neither a clock nor a terminal: they get limits and a flag that cancels them. This module raises
//! the flag when the time is over, and lets an observer look at the progress meanwhile.

use fencepost_engines::{Budget, Settings};
use fencepost_search::{Cancel, Progress};
use std::num::NonZeroUsize;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often an observer is called.
const TICK: Duration = Duration::from_millis(100);

/// Limits and settings of a request. All have defaults: no limit on time, one thread, all reductions.
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
    /// Wall-clock time for each program and model.
    pub time: Option<Duration>,
    /// The settings of the engines.
    pub settings: Settings,
}

impl SearchOptions {
    /// Stops after this time, for each program and model.
    #[must_use]
    pub fn time_limit(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Stops when a search holds about so many bytes.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.settings.limits.bytes = bytes;
        self
    }

    /// Stops when about so many states are stored.
    #[must_use]
    pub fn max_states(mut self, states: u64) -> Self {
        self.settings.limits.states = states;
        self
    }

    /// Searches with so many threads; 0 counts as 1. The answer does not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.settings.threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
        self
    }

    /// The largest bound on pending accesses to try.
    #[must_use]
    pub fn max_buffer(mut self, bound: u32) -> Self {
        self.settings.max_buffer = Some(bound);
        self
    }
}

/// Someone who watches a search.
pub trait Observer: Sync {
    /// Called about ten times a second while a search runs.
    fn tick(&self, progress: &Progress, elapsed: Duration);

    /// Called when the search has ended.
    fn done(&self) {}
}

/// Nobody watches.
impl Observer for () {
    fn tick(&self, _: &Progress, _: Duration) {}
}

/// Runs a search within its time. Returns how long it took.
pub fn run_within<T>(
    time: Option<Duration>,
    cancel: &Cancel,
    observer: &dyn Observer,
    search: impl FnOnce(Budget<'_>) -> T,
) -> (T, Duration) {
    let progress = Progress::default();
    let started = Instant::now();
    let result = std::thread::scope(|scope| {
        let (done, finished) = channel::<()>();
        // The watcher ends when `done` is dropped, also by a panic, and the scope waits for it: a late alarm
        // cannot meet the next search.
        scope.spawn(|| {
            let finished = finished;
            loop {
                let left = time.map(|time| time.saturating_sub(started.elapsed()));
                if left == Some(Duration::ZERO) {
                    cancel.time_is_over();
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
    cancel.reset_time();
    (result, started.elapsed())
}
