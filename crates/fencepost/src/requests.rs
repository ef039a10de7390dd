//! Requests: built from a [`Source`](crate::Source) and answered with plain data.

/// Methods of every request: limits, cancellation and observation of the search.
macro_rules! search_methods {
    () => {
        /// Sets the limit on wall-clock time for each program and model.
        pub fn time_limit(mut self, time: std::time::Duration) -> Self {
            self.options = self.options.time_limit(time);
            self
        }

        /// Sets the number of search threads. The answer does not depend on it.
        pub fn threads(mut self, threads: usize) -> Self {
            self.options = self.options.threads(threads);
            self
        }

        /// Sets all limits and settings.
        pub fn options(mut self, options: crate::SearchOptions) -> Self {
            self.options = options;
            self
        }

        /// Sets the flag that cancels the search from another thread.
        pub fn cancel(mut self, cancel: &'s fencepost_search::Cancel) -> Self {
            self.control.cancel = Some(cancel);
            self
        }

        /// Sets the observer of the progress.
        pub fn observer(mut self, observer: &'s dyn crate::Observer) -> Self {
            self.control.observer = observer;
            self
        }
    };
}

pub mod check;
pub mod data_races;
mod file_diff;
pub mod outcomes;
pub mod repair;
pub mod replay;
pub mod robust;
pub mod translate;
pub mod weaken;

use crate::search::{Elapsed, Observer, SearchOptions, run_within};
use fencepost_engines::Budget;
use fencepost_search::Cancel;

/// The cancellation flag and the observer of a request.
#[derive(Clone, Copy)]
pub(crate) struct Control<'s> {
    cancel: Option<&'s Cancel>,
    observer: &'s dyn Observer,
}

impl Default for Control<'_> {
    fn default() -> Self {
        Control { cancel: None, observer: &() }
    }
}

impl std::fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

impl Control<'_> {
    /// Runs a search within the limits of a request. Returns its result and the time it took.
    fn run<T>(
        &self,
        options: &SearchOptions,
        search: impl FnOnce(Budget<'_>) -> T,
    ) -> (T, Elapsed) {
        let own = Cancel::default();
        let cancel = self.cancel.unwrap_or(&own);
        run_within(options.time, cancel, self.observer, search)
    }
}
