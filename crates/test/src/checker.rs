//! Checks and their reports.
//!
//! The check is exact within the model ([`Model`]) and the limits of the [`Checker`]. Each limit
//! that was hit is part of the [`Report`].

use crate::model::Model;
use crate::names::Names;
use crate::run::{Mode, lock, mode};
use crate::spin_loop::SpinLoops;
use crate::system::{ClosureSystem, Shared};
use crate::trace::{Failure, FailureKind, parse_seed};
use fencepost_explore::{
    Counts, Exploration, Limits, Move, MoveResult, StopReason, System, explore,
};
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The environment variable with the seed of the only execution to run.
const REPLAY: &str = "FENCEPOST_REPLAY";
/// The first number of threads and store buffers. It is doubled if it is too small.
const FIRST_CAPACITY: usize = 8;

/// The options of a check.
///
/// ```
/// use fencepost_test::sync::atomic::{AtomicUsize, Ordering};
/// use fencepost_test::{Checker, Model, thread};
/// use std::sync::Arc;
///
/// let report = Checker::new().model(Model::Tso).run(|| {
///     let counter = Arc::new(AtomicUsize::new(0));
///     let other = Arc::clone(&counter);
///     let handle = thread::spawn(move || other.fetch_add(1, Ordering::Relaxed));
///     counter.fetch_add(1, Ordering::Relaxed);
///     handle.join().expect("the thread does not panic");
///     assert_eq!(counter.load(Ordering::Relaxed), 2);
/// });
/// assert!(report.is_verified());
/// assert_eq!(report.executions(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Checker {
    model: Model,
    preemptions: Option<u32>,
    max_executions: u64,
    max_events: usize,
    time_limit: Option<Duration>,
    accepts_bounded: bool,
}

impl Default for Checker {
    fn default() -> Self {
        Checker::new()
    }
}

impl Checker {
    /// Creates a check under sequential consistency: all traces, at most 1,000 events in an
    /// execution, no other limits.
    pub fn new() -> Self {
        Checker {
            model: Model::Sc,
            preemptions: None,
            max_executions: u64::MAX,
            max_events: 1_000,
            time_limit: None,
            accepts_bounded: false,
        }
    }

    /// Sets the memory model.
    pub fn model(mut self, model: Model) -> Self {
        self.model = model;
        self
    }

    /// Explores all interleavings with at most this number of preemptions, instead of all traces.
    /// A switch from a thread to a commit of a pending store counts as a preemption, too.
    pub fn preemptions(mut self, preemptions: u32) -> Self {
        self.preemptions = Some(preemptions);
        self
    }

    /// Limits the number of executions.
    pub fn max_executions(mut self, executions: u64) -> Self {
        self.max_executions = executions;
        self
    }

    /// Limits the number of events of an execution. A longer execution is cut.
    pub fn max_events(mut self, events: usize) -> Self {
        self.max_events = events;
        self
    }

    /// Limits the time. The limit is checked between two events.
    pub fn time_limit(mut self, time: Duration) -> Self {
        self.time_limit = Some(time);
        self
    }

    /// Lets [`check`](Self::check) pass if no failure was found but a limit was hit.
    pub fn accept_bounded(mut self) -> Self {
        self.accepts_bounded = true;
        self
    }

    /// Checks a closure and prints the verdict.
    ///
    /// # Panics
    ///
    /// Panics if an execution fails, or if a limit was hit and
    /// [`accept_bounded`](Self::accept_bounded) was not called.
    #[track_caller]
    pub fn check(&self, body: impl Fn() + Send + Sync + 'static) {
        let report = self.run(body);
        let is_accepted = report.is_verified() || report.is_replay || self.accepts_bounded;
        assert!(report.failure.is_none() && is_accepted, "{report}");
        println!("{report}");
    }

    /// Checks a closure and returns the report.
    ///
    /// Checks run one at a time in a process, because they may share statics.
    ///
    /// # Panics
    ///
    /// Panics inside a check.
    #[track_caller]
    pub fn run(&self, body: impl Fn() + Send + Sync + 'static) -> Report {
        static RUNNING: Mutex<()> = Mutex::new(());
        assert!(mode() == Mode::Outside, "a check cannot run inside a check");
        let _running = lock(&RUNNING);
        let start = Instant::now();
        let mut shared = Shared {
            body: Arc::new(body),
            at: Location::caller(),
            model: self.model,
            names: Arc::new(Mutex::new(Names::default())),
            capacity: FIRST_CAPACITY,
            overflow: AtomicBool::new(false),
            executions: AtomicU64::new(0),
            stops_at_cut: !self.accepts_bounded,
            spin_loops: SpinLoops::default(),
        };
        let mut report = Report {
            model: self.model,
            preemptions: self.preemptions,
            max_events: self.max_events,
            counts: Counts::default(),
            executions: 0,
            gives_up: None,
            time: Duration::ZERO,
            failure: None,
            stopped: None,
            is_replay: false,
        };
        if let Ok(seed) = std::env::var(REPLAY) {
            report.is_replay = true;
            report.failure = replay(&mut shared, &seed);
            shared.executions = AtomicU64::new(1);
        } else {
            let explored = self.explore(&mut shared, start);
            report.counts = explored.counts;
            report.stopped = explored.stopped;
            report.failure = explored.findings.into_iter().next();
        }
        report.executions = shared.executions.load(Ordering::Relaxed);
        report.gives_up = shared.spin_loops.giving_up();
        report.time = start.elapsed();
        report
    }

    fn explore(&self, shared: &mut Shared, start: Instant) -> Exploration<Vec<Failure>> {
        loop {
            let is_late = || self.time_limit.is_some_and(|limit| start.elapsed() > limit);
            let overflow = &shared.overflow;
            let cancelled = || overflow.load(Ordering::Relaxed) || is_late();
            let limits = Limits {
                events: self.max_events,
                executions: self.max_executions,
                cancelled: &cancelled,
                ..Limits::default()
            };
            let exploration = match self.preemptions {
                Some(preemptions) => Exploration::interleavings([vec![]], preemptions),
                None => Exploration::traces([vec![]]),
            };
            let system = |_: &[u32]| Some(ClosureSystem::new(shared));
            let explored = explore(system, exploration, &limits);
            if !shared.overflow.load(Ordering::Relaxed) {
                return explored;
            }
            shared.capacity *= 2;
            shared.overflow = AtomicBool::new(false);
            shared.executions = AtomicU64::new(0);
        }
    }
}

/// Runs the execution of a seed.
fn replay(shared: &mut Shared, seed: &str) -> Option<Failure> {
    let threads = parse_seed(seed, shared.model, &mut lock(&shared.names));
    shared.capacity = usize::MAX;
    let mut system = ClosureSystem::new(shared);
    let Some(threads) = threads else { return Some(system.fail(FailureKind::WrongSeed)) };
    for thread in threads {
        if system.has_halted(thread) || system.step(&Move::of(thread)) != MoveResult::Taken {
            return Some(system.fail(FailureKind::WrongSeed));
        }
        if let Some(failure) = system.take_failure() {
            return Some(failure);
        }
    }
    system.end_of_replay()
}

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Report {
    model: Model,
    preemptions: Option<u32>,
    max_events: usize,
    counts: Counts,
    executions: u64,
    /// A spin loop that gives up.
    gives_up: Option<Location<'static>>,
    time: Duration,
    failure: Option<Failure>,
    stopped: Option<StopReason>,
    is_replay: bool,
}

impl Report {
    /// Returns whether all executions were explored and none failed.
    pub fn is_verified(&self) -> bool {
        self.failure.is_none() && !self.is_replay && self.bound().is_none()
    }

    /// Returns the failure that was found, if any.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Returns the number of explored executions.
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// Returns why executions were left out, if any were.
    pub fn bound(&self) -> Option<String> {
        if self.counts.cut > 0 {
            let events = self.max_events;
            return Some(format!("an execution reached the limit of {events} events"));
        }
        match self.stopped {
            Some(StopReason::Executions) => {
                return Some("the limit on executions was reached".to_owned());
            }
            Some(StopReason::Cancelled) => return Some("the time limit was reached".to_owned()),
            Some(StopReason::Cut) => unreachable!("the number of cut executions has no limit"),
            None => {}
        }
        if let Some(at) = self.gives_up {
            return Some(format!(
                "the spin loop at {at} can end without a change, and a spin hint waits for one"
            ));
        }
        let preemptions = self.preemptions.filter(|_| self.counts.bounded);
        preemptions.map(|limit| format!("some need more than {limit} preemptions"))
    }

    /// Returns the time that the check took.
    pub fn time(&self) -> Duration {
        self.time
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (executions, seconds) = (self.executions, self.time.as_secs_f64());
        match (&self.failure, self.bound()) {
            (Some(failure), _) => writeln!(f, "violated: {failure}")?,
            (None, _) if self.is_replay => writeln!(f, "the replayed execution did not fail")?,
            (None, Some(bound)) => writeln!(
                f,
                "no failure found, but executions were left out: {bound}; raise the limit, or \
                 accept this with .accept_bounded()"
            )?,
            (None, None) => writeln!(f, "verified: all executions were explored")?,
        }
        write!(
            f,
            "model {}: {executions} executions, {seconds:.2} s. The model is that of the hardware \
             for the operations in source order; reorderings by the compiler and by the rules of \
             the language are not explored. In a loop, a spin hint waits until a value changes \
             that the loop has read.",
            self.model
        )
    }
}
