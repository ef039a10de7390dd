//! Time limit, Ctrl-C and progress bar of a search.

use fencepost::{Elapsed, Observer, SearchOptions, run_within};
use fencepost_engines::{Budget, Settings};
use fencepost_report::paint::{count, printable};
use fencepost_search::{self, Cancel, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::args::{Limits, Search};
use crate::output::plain_message;

/// How long the binary may take to print its partial answer after an interruption. Searches end
/// within a fraction of this time.
const GRACE: Duration = Duration::from_secs(5);

/// The exit code of an interruption without a partial answer.
const INTERRUPTED: i32 = 130;

/// One run of the binary: its cancellation flag, its time limit, and whether it shows progress.
pub(crate) struct Session {
    cancel: Arc<Cancel>,
    time: Option<Duration>,
    progress: bool,
}

impl Session {
    /// Installs a handler for Ctrl-C, SIGTERM and SIGHUP: the first signal cancels the search, the
    /// second one exits. If the binary does not end after the first one, it exits, too.
    pub(crate) fn new(limits: &Limits, quiet: bool) -> Self {
        Session::within(limits.time, quiet)
    }

    /// Does the same as [`Session::new`] with a time limit in seconds; 0 means no limit.
    pub(crate) fn within(seconds: f64, quiet: bool) -> Self {
        let cancel = Arc::new(Cancel::default());
        let interrupted = AtomicBool::new(false);
        let cancel_on_signal = Arc::clone(&cancel);
        // If no handler can be installed, Ctrl-C exits at once without a partial answer.
        let _ = ctrlc::set_handler(move || {
            if interrupted.swap(true, Ordering::Relaxed) {
                std::process::exit(INTERRUPTED);
            }
            cancel_on_signal.interrupt();
            std::thread::spawn(|| {
                std::thread::sleep(GRACE);
                std::process::exit(INTERRUPTED);
            });
            plain_message("\ninterrupted: stopping; press Ctrl-C again to quit at once\n");
        });
        let time = (seconds > 0.0).then(|| Duration::from_secs_f64(seconds));
        Session { cancel, time, progress: !quiet && std::io::stderr().is_terminal() }
    }

    /// Whether the user has pressed Ctrl-C.
    pub(crate) fn interrupted(&self) -> bool {
        self.cancel.reason() == Some(fencepost_search::Stop::Interrupted)
    }

    /// Returns the flag that cancels all searches.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Returns the time limit of one search.
    pub(crate) fn time(&self) -> Option<Duration> {
        self.time
    }

    /// Returns the limits and settings for library requests.
    pub(crate) fn options(&self, search: &Search) -> SearchOptions {
        let mut options = SearchOptions::default();
        options.time = self.time;
        options.settings = settings(search);
        options
    }

    /// Runs a search within the time limit and shows its progress. Returns its result and the time
    /// it took.
    pub(crate) fn run<T>(&self, what: &str, search: impl FnOnce(Budget<'_>) -> T) -> (T, Elapsed) {
        run_within(self.time, &self.cancel, &self.observer(what), search)
    }

    /// Returns an observer that shows the progress of a search.
    pub(crate) fn observer(&self, what: &str) -> ProgressObserver {
        ProgressObserver(self.bar(what))
    }

    /// Returns a progress bar with this title, hidden if no progress is shown.
    pub(crate) fn bar(&self, what: &str) -> ProgressBar {
        if !self.progress {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{spinner} {prefix}  {msg}");
        bar.set_style(style.expect("the template is valid"));
        bar.set_prefix(printable(what));
        bar
    }
}

/// Shows in a progress bar how many events of a trace are checked.
pub(crate) struct EventObserver(pub(crate) ProgressBar);

impl Observer for EventObserver {
    fn tick(&self, progress: &Progress, elapsed: Duration) {
        let events = progress.states.load(Ordering::Relaxed);
        let rate = events as f64 / elapsed.as_secs_f64().max(0.001);
        self.0.set_message(format!("{} events  {} events/s", count(events), count(rate as u64)));
        self.0.tick();
    }

    fn done(&self) {
        self.0.finish_and_clear();
    }
}

/// Shows the progress of a search in a progress bar.
pub(crate) struct ProgressObserver(ProgressBar);

impl Observer for ProgressObserver {
    fn tick(&self, progress: &Progress, elapsed: Duration) {
        show(&self.0, progress, elapsed);
    }

    fn done(&self) {
        self.0.finish_and_clear();
    }
}

fn show(bar: &ProgressBar, progress: &Progress, elapsed: Duration) {
    let states = progress.states.load(Ordering::Relaxed);
    let depth = progress.depth.load(Ordering::Relaxed);
    let seconds = elapsed.as_secs_f64();
    let parts = progress.parts.load(Ordering::Relaxed);
    // The rate is meaningless for a sequence of searches.
    let about = if parts > 0 {
        let done = progress.done.load(Ordering::Relaxed).min(parts);
        format!("{done} of {parts} searches  {seconds:.0} s  {} states", count(states))
    } else {
        let rate = states as f64 / seconds.max(0.001);
        format!("{} states  {} states/s  depth {depth}", count(states), count(rate as u64))
    };
    bar.set_message(about);
    bar.tick();
}

/// Converts the search options of the command line to engine settings.
pub(crate) fn settings(search: &Search) -> Settings {
    let threads = |threads: u32| NonZeroUsize::new(threads as usize);
    let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    Settings {
        limits: fencepost_search::Limits {
            states: search.max_states.unwrap_or(u64::MAX),
            bytes: search.limits.bytes(),
            ..fencepost_search::Limits::default()
        },
        threads: search.threads.and_then(threads).unwrap_or_else(cores),
        reductions: search.reductions(),
        max_buffer: search.max_buffer,
        fixed_buffer: search.buffer,
        shortest: true,
        shorten_states: None,
        traces: 1,
        unwind: None,
        certifiable: false,
    }
}
