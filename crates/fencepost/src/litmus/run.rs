//! Runs many tests in parallel, each within its limits.
//!
//! Tests are small, so the workers share the tests and not the search of one test. One thread
//! enforces the time limit of all searches. Results are delivered in the order of the files, as
//! early as possible.
//!
//! A test with many threads may have too many states for any limit. So a depth-first search looks
//! for a run that decides the condition before the search of all states goes on.

use crate::args::{CPrograms, Search};
use crate::exit::Exit;
use crate::guard::catch_panic;
use crate::input::{self, InputFile};
use crate::session::{Session, settings};
use fencepost_engines::{
    Answer, Budget, Engine, Explicit, InconclusiveReason, Settings, Task, Verdict, dive_for_outcome,
};
use fencepost_frontends::litmus::{self, Test};
use fencepost_ir::{Diagnostics, Problem, Thread, Value, flow};
use fencepost_models::ModelSpec;
use fencepost_report::Paint;
use fencepost_report::diagnostics::render;
use fencepost_report::litmus::{Entry, Incomplete, ModelResult, TestRun};
use fencepost_report::paint::printable;
use fencepost_report::verdict_line::reason_text;
use fencepost_report::violation::describe_claim;
use fencepost_search::{Cancel, Limits, Progress, Stop};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The interval between two checks of the time limit.
const TICK: Duration = Duration::from_millis(20);

/// The result of one file.
pub(super) struct Finished {
    pub(super) entry: Entry,
    /// Diagnostics about the text, ready to print.
    pub(super) messages: String,
    pub(super) exit: Exit,
}

/// Runs files under models.
pub(super) struct Runner<'a> {
    pub(super) models: &'a [ModelSpec],
    pub(super) search: &'a Search,
    pub(super) session: &'a Session,
    /// Colours of the diagnostics.
    pub(super) paint: Paint,
}

/// A worker: its cancellation flag, and when its current search started.
struct Worker {
    cancel: Cancel,
    started: Mutex<Option<Instant>>,
}

impl Runner<'_> {
    /// Runs all files and passes their results to `each`, in order. Cancels the rest when `each`
    /// returns false.
    pub(super) fn run(&self, files: &[PathBuf], mut each: impl FnMut(Finished) -> bool) {
        let whole = self.session.cancel();
        let mut settings = settings(self.search);
        let workers = settings.threads.get().min(files.len().max(1));
        // With fewer tests than threads, each search uses several threads.
        let threads = (settings.threads.get() / workers).max(1);
        settings.threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
        settings.limits.bytes /= workers as u64;
        let workers: Vec<Worker> = (0..workers)
            .map(|_| Worker { cancel: whole.child(), started: Mutex::new(None) })
            .collect();
        let next = AtomicUsize::new(0);
        let done = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let (all_done, all_done_receiver) = channel::<()>();
            let (workers, next, done) = (&workers, &next, &done);
            // This thread ends when `all_done` is dropped, also after a panic.
            scope.spawn(move || {
                self.enforce_time_limit(workers, files.len(), done, &all_done_receiver);
            });
            let (sender, receiver) = channel();
            for worker in workers {
                let sender = sender.clone();
                scope.spawn(move || {
                    while whole.reason().is_none() {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(path) = files.get(at) else { break };
                        let finished = self.file(path, settings, worker);
                        if sender.send((at, finished)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            let mut early: BTreeMap<usize, Finished> = BTreeMap::new();
            let mut due = 0;
            for (at, finished) in &receiver {
                done.fetch_add(1, Ordering::Relaxed);
                early.insert(at, finished);
                while let Some(finished) = early.remove(&due) {
                    due += 1;
                    if !each(finished) {
                        whole.interrupt();
                    }
                }
            }
            drop(all_done);
        });
    }

    /// Cancels searches that exceed the time limit, and shows how many tests are done, until
    /// `all_done` closes.
    fn enforce_time_limit(
        &self,
        workers: &[Worker],
        files: usize,
        done: &AtomicUsize,
        all_done: &Receiver<()>,
    ) {
        let bar = self.session.bar("litmus tests");
        while all_done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            for worker in workers {
                let started = *lock(&worker.started);
                if let (Some(started), Some(time)) = (started, self.session.time())
                    && started.elapsed() >= time
                {
                    worker.cancel.time_out();
                }
            }
            bar.set_message(format!("{} of {files}", done.load(Ordering::Relaxed)));
            bar.tick();
        }
        bar.finish_and_clear();
    }

    /// Reads and runs one file. A panic becomes a result.
    fn file(&self, path: &Path, settings: Settings, worker: &Worker) -> Finished {
        let name = input::display_path(path);
        let finished = catch_panic(|| self.run_file(path, settings, worker));
        finished.unwrap_or_else(|_| Finished {
            entry: Entry::Unsupported(name, "an internal error of Fencepost".into()),
            messages: String::new(),
            exit: Exit::Internal,
        })
    }

    fn run_file(&self, path: &Path, settings: Settings, worker: &Worker) -> Finished {
        let ReadTest { file, messages, test } = read(path, self.paint);
        let test = match test {
            Ok(test) => test,
            Err(why) => {
                return Finished {
                    entry: Entry::Unsupported(file, why),
                    messages,
                    exit: Exit::Unusable,
                };
            }
        };
        // Only the outcomes matter, so the search need not produce evidence for a property.
        let problem = test.problem.without_requirements();
        let bound = settings.fixed_buffer.or(bound_without_loops(&problem));
        let settings = Settings { fixed_buffer: bound, ..settings };
        let mut exit = Exit::Success;
        let mut models = Vec::new();
        for model in self.models {
            let seen = run_test(&test, &problem, model, settings, worker);
            exit = exit.combine(match &seen {
                Ok(ModelResult { incomplete: None, .. }) => Exit::Success,
                Ok(_) => Exit::Inconclusive,
                Err(_) => Exit::Unusable,
            });
            models.push((model.clone(), seen));
        }
        Finished { entry: Entry::TestRun(Box::new(TestRun { file, test, models })), messages, exit }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result of reading a test.
pub(super) struct ReadTest {
    /// The name of the file, for messages.
    pub(super) file: String,
    /// Diagnostics, ready to print.
    pub(super) messages: String,
    /// The test, or its first error in one line.
    pub(super) test: Result<Test, String>,
}

/// Reads a test.
pub(super) fn read(path: &Path, paint: Paint) -> ReadTest {
    let source = match InputFile::read(path, &CPrograms::default()) {
        Ok(source) => source,
        Err(message) => {
            let messages = format!("{}: {message}\n", paint.bad("error"));
            return ReadTest { file: input::display_path(path), messages, test: Err(message) };
        }
    };
    let stem = path.file_stem().map_or_else(|| "test".into(), |stem| stem.to_string_lossy());
    let mut diagnostics = Diagnostics::new();
    let text = source.text(&mut diagnostics);
    let test = if diagnostics.has_errors() {
        None
    } else {
        litmus::read(&text, &stem, false, &mut diagnostics)
    };
    let messages = render(&diagnostics, &source.name, &text, paint);
    let first_error = || {
        let first = diagnostics.sorted().first().map(|d| (d.span.line, printable(&d.message)));
        first.map_or_else(String::new, |(line, message)| format!("line {line}: {message}"))
    };
    let test = test.ok_or_else(first_error);
    ReadTest { file: source.name, messages, test }
}

/// Returns a bound on pending accesses that is never reached, if the program has no loops.
fn bound_without_loops(problem: &Problem) -> Option<u32> {
    let threads = &problem.program.threads;
    let has_no_loop = |thread: &Thread| {
        let stmts = thread.code.iter().enumerate();
        let mut edges = stmts.flat_map(|(at, stmt)| flow::successors(stmt).map(move |to| (at, to)));
        edges.all(|(at, to)| to.index() > at)
    };
    let longest = threads.iter().map(|thread| thread.code.len()).max().unwrap_or(1);
    threads.iter().all(has_no_loop).then_some(longest as u32)
}

/// The number of states that a breadth-first search may store before a depth-first search. Nearly
/// all tests have fewer states.
const FIRST_STATES: u64 = 200_000;
/// The number of states that a depth-first search may store.
const DIVE_STATES: u64 = 1_000_000;

/// Searches all final states. If a test is large, a depth-first search for a run that decides the
/// condition precedes the search that may reach a limit. Returns also the outcomes of that search.
fn search(
    test: &Test,
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
) -> (Answer, BTreeSet<Vec<Value>>) {
    let limits = settings.limits;
    let first_limits = Limits { states: limits.states.min(FIRST_STATES), ..limits };
    let first = Explicit.outcomes(task, Settings { limits: first_limits, ..settings }, budget);
    let reason = first.verdict.inconclusive_reason();
    if !matches!(reason, Some(InconclusiveReason::Limit(Stop::States))) {
        return (first, BTreeSet::new());
    }
    let mut decided = test.problem.clone();
    decided.allow_hangs();
    let dive_task = Task { problem: &decided, model: task.model };
    let default_bound = task.model.default_max_bound();
    let bound = settings.fixed_buffer.or(settings.max_buffer).unwrap_or(default_bound);
    let dived = dive_for_outcome(dive_task, settings, budget, (DIVE_STATES, bound)).outcomes;
    if limits.states <= FIRST_STATES {
        return (first, dived);
    }
    (Explicit.outcomes(task, settings, budget), dived)
}

/// Computes the final states of a test under a model. The error describes a fault.
fn run_test(
    test: &Test,
    problem: &Problem,
    model: &ModelSpec,
    settings: Settings,
    worker: &Worker,
) -> Result<ModelResult, String> {
    let progress = Progress::default();
    let budget = Budget { cancel: &worker.cancel, progress: &progress };
    let started = Instant::now();
    *lock(&worker.started) = Some(started);
    let (answer, dived) = search(test, Task { problem, model }, settings, budget);
    *lock(&worker.started) = None;
    worker.cancel.clear_time_out();
    let seconds = started.elapsed().as_secs_f64();
    let Answer { verdict, mut outcomes, statistics, .. } = answer;
    outcomes.extend(dived);
    let incomplete = match verdict {
        Verdict::Verified(_) => None,
        Verdict::Violated(violated) => {
            return Err(describe_claim(problem, violated.evidence().violation().into(), None));
        }
        Verdict::Inconclusive(inconclusive) if inconclusive.is_bounded() => {
            Some(Incomplete::Buffers(statistics.bound.unwrap_or(0)))
        }
        Verdict::Inconclusive(inconclusive) => {
            Some(Incomplete::Limit(reason_text(inconclusive.reason()).into_owned()))
        }
    };
    let shown = test.evaluate(&outcomes).map_err(|fault| fault.describe().to_string())?;
    Ok(ModelResult { shown, incomplete, seconds })
}
