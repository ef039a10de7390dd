//! The options about the bound of a translation, shared by `check` and `translate`.

use fencepost_translate::contexts::Bound;

/// The bound on the runs of a store-buffer model that the translation simulates under SC.
#[derive(clap::Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Translation")]
pub(crate) struct Bounds {
    /// Simulate runs with at most K context switches of each thread, that is K + 1 contexts
    /// [default: 2]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) contexts: Option<u32>,

    /// Simulate runs with any number of context switches in which no store stays pending for more
    /// than K context switches of its thread
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=1000))]
    #[arg(conflicts_with = "contexts")]
    pub(crate) delay: Option<u32>,
}

impl Bounds {
    /// Returns the name of the option on the command line, if any.
    pub(crate) fn given(&self) -> Option<&'static str> {
        match (self.contexts, self.delay) {
            (Some(_), _) => Some("--contexts"),
            (None, Some(_)) => Some("--delay"),
            (None, None) => None,
        }
    }

    /// Returns the bound, or the default.
    pub(crate) fn bound(&self) -> Bound {
        match self.delay {
            Some(k) => Bound::Ages(k),
            None => Bound::Switches(self.contexts.unwrap_or(2)),
        }
    }
}
