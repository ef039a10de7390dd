//! The request whether a C program has a data race.

use super::Control;
use crate::search::SearchOptions;
use crate::source::Source;
use fencepost_engines::data_races::MAX_EXECUTIONS;
use fencepost_engines::{RaceSearch, find_data_race};

/// A request to look for a data race, in executions under SC.
///
/// ```
/// use fencepost::Source;
///
/// let source = Source::parse("count.c", "
///     #include <pthread.h>
///     int count;
///     void *worker(void *argument) { count++; return 0; }
///     int main() {
///         pthread_t p, q;
///         pthread_create(&p, 0, worker, 0);
///         pthread_create(&q, 0, worker, 0);
///         return 0;
///     }")?;
/// let answers = source.data_races().run();
/// let found = answers[0].as_ref().and_then(|answer| answer.found.as_ref()).expect("a race");
/// let program = &source.programs()[0].program;
/// assert_eq!(program.location(found.race.loc).name, "count");
/// # Ok::<(), fencepost::SourceError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a request does nothing until it is run"]
pub struct DataRaces<'s> {
    source: &'s Source,
    max_executions: u64,
    options: SearchOptions,
    control: Control<'s>,
}

impl Source {
    /// Returns a request for a data race.
    pub fn data_races(&self) -> DataRaces<'_> {
        DataRaces {
            source: self,
            max_executions: MAX_EXECUTIONS,
            options: SearchOptions::default(),
            control: Control::default(),
        }
    }
}

impl<'s> DataRaces<'s> {
    search_methods!();

    /// Sets the limit on executions.
    pub fn max_executions(mut self, max_executions: u64) -> Self {
        self.max_executions = max_executions;
        self
    }

    /// Runs the request. Returns an answer for each program of the source; none for a program
    /// without plain accesses.
    pub fn run(&self) -> Vec<Option<RaceSearch>> {
        let DataRaces { source, max_executions, options, control } = self;
        let search = |problem| {
            let settings = options.settings;
            control
                .run(options, |budget| find_data_race(problem, *max_executions, settings, budget))
                .0
        };
        source.programs().iter().map(search).collect()
    }
}
