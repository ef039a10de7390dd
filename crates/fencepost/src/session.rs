//! The clock, Ctrl-C and progress around a search.

use fencepost::{Observer, SearchOptions, run_within};
use fencepost_engines::{Budget, Settings};
use fencepost_report::paint::count;
use fencepost_search::{Cancel, Limits, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::args::Search;
use crate::memory_size::default_limit;

/// One run of the program, with everything that can end a search from outside.
pub(crate) struct Session {
    cancel: Arc<Cancel>,
    time: Option<Duration>,
    progress: bool,
}

impl Session {
    /// Listens to Ctrl-C from now on: the first ends the search, the second the program.
    pub(crate) fn new(search: &Search, quiet: bool) -> Self {
        let cancel = Arc::new(Cancel::default());
        let asked = AtomicBool::new(false);
        let to_stop = Arc::clone(&cancel);
        // Where no handler can be set, Ctrl-C ends the program at once: no partial answer, no harm.
        let _ = ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            to_stop.interrupt();
            let _ = std::io::stderr()
                .write_all(b"\ninterrupted: finishing; once more to quit at once\n");
        });
        let time = (search.time > 0.0).then(|| Duration::from_secs_f64(search.time));
        Session { cancel, time, progress: !quiet && std::io::stderr().is_terminal() }
    }

    /// Whether the user wants to stop.
    pub(crate) fn interrupted(&self) -> bool {
        self.cancel.raised() == Some(fencepost_search::Stop::Interrupted)
    }

    /// What ends all searches.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// How long a search may take.
    pub(crate) fn time(&self) -> Option<Duration> {
        self.time
    }

    /// Limits and settings for requests.
    pub(crate) fn options(&self, search: &Search) -> SearchOptions {
        let mut options = SearchOptions::default();
        options.time = self.time;
        options.settings = settings(search);
        options
    }

    /// Runs a search within its time, showing how far it is. Returns how long it took, in seconds.
    pub(crate) fn run<T>(&self, what: &str, search: impl FnOnce(Budget<'_>) -> T) -> (T, f64) {
        let (result, time) = run_within(self.time, &self.cancel, &self.watch(what), search);
        (result, time.as_secs_f64())
    }

    /// Shows how far a search is.
    pub(crate) fn watch(&self, what: &str) -> Watch {
        Watch(self.bar(what))
    }

    /// Where progress is shown.
    pub(crate) fn bar(&self, what: &str) -> ProgressBar {
        if !self.progress {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{spinner} {prefix}  {msg}");
        bar.set_style(style.expect("a template of ours"));
        bar.set_prefix(what.to_string());
        bar
    }
}

/// A progress bar that watches a search.
pub(crate) struct Watch(ProgressBar);

impl Observer for Watch {
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
    // The rate means nothing where one search follows another.
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

/// How an engine goes about it.
pub(crate) fn settings(search: &Search) -> Settings {
    let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    Settings {
        limits: Limits {
            states: search.max_states.unwrap_or(u64::MAX),
            bytes: search.memory.unwrap_or_else(default_limit),
            ..Limits::default()
        },
        threads: search.threads.unwrap_or_else(cores),
        reductions: search.reductions(),
        max_buffer: search.max_buffer,
        fixed_buffer: search.buffer,
        shortest: true,
        traces: 1,
    }
}
