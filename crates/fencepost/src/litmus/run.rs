//! Many tests on all cores, each within its limits.
//!
//! Tests are small: each is searched by one thread, and the cores share the tests. One clock watches all of them.
//! Results come in the order of the files, each as soon as those before it are there.

use crate::args::Search;
use crate::exit::Exit;
use crate::guard::guarded;
use crate::input::{self, InputFile};
use crate::session::{Session, settings};
use fencepost_engines::{Answer, Budget, Engine, Explicit, Settings, Task, Verdict};
use fencepost_frontends::litmus::{self, Test};
use fencepost_ir::{Diagnostics, Problem, Thread, flow};
use fencepost_models::ModelSpec;
use fencepost_report::Paint;
use fencepost_report::diagnostics::render;
use fencepost_report::litmus::{Cut, Entry, Ran, Seen};
use fencepost_report::paint::printable;
use fencepost_report::verdict_line::ended_by;
use fencepost_report::violation::sentence;
use fencepost_search::{Cancel, Progress};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often the clock looks at the searches.
const TICK: Duration = Duration::from_millis(20);

/// What came of a file.
pub(super) struct Finished {
    pub(super) entry: Entry,
    /// What there is to say about its text.
    pub(super) said: String,
    pub(super) exit: Exit,
}

/// Runs files under models.
pub(super) struct Runner<'a> {
    pub(super) models: &'a [ModelSpec],
    pub(super) search: &'a Search,
    pub(super) session: &'a Session,
    /// Colours of what there is to say.
    pub(super) paint: Paint,
}

/// What one worker is doing.
struct Worker {
    cancel: Cancel,
    started: Mutex<Option<Instant>>,
}

impl Runner<'_> {
    /// Runs all files and hands over what came of each, in order. Stops when `each` says so.
    pub(super) fn run(&self, files: &[PathBuf], mut each: impl FnMut(Finished) -> bool) {
        let whole = self.session.cancel();
        let mut settings = settings(self.search);
        let workers = settings.threads.get().min(files.len().max(1));
        // A search has the threads that the number of tests leaves it.
        let threads = (settings.threads.get() / workers).max(1);
        settings.threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
        settings.limits.bytes /= workers as u64;
        let workers: Vec<Worker> = (0..workers)
            .map(|_| Worker { cancel: whole.below(), started: Mutex::new(None) })
            .collect();
        let next = AtomicUsize::new(0);
        let done = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let (over, is_over) = channel::<()>();
            let (workers, next, done) = (&workers, &next, &done);
            // Ends when `over` is dropped, also by a panic.
            scope.spawn(move || self.watch(workers, files.len(), done, &is_over));
            let (sender, receiver) = channel();
            for worker in workers {
                let sender = sender.clone();
                scope.spawn(move || {
                    while whole.raised().is_none() {
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
            let mut waiting: BTreeMap<usize, Finished> = BTreeMap::new();
            let mut due = 0;
            for (at, finished) in &receiver {
                done.fetch_add(1, Ordering::Relaxed);
                waiting.insert(at, finished);
                while let Some(finished) = waiting.remove(&due) {
                    due += 1;
                    if !each(finished) {
                        whole.interrupt();
                    }
                }
            }
            drop(over);
        });
    }

    /// Ends searches whose time is over, and shows how many tests are done.
    fn watch(&self, workers: &[Worker], files: usize, done: &AtomicUsize, over: &Receiver<()>) {
        let bar = self.session.bar("litmus tests");
        while over.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            for worker in workers {
                let started = *locked(&worker.started);
                if let (Some(started), Some(time)) = (started, self.session.time())
                    && started.elapsed() >= time
                {
                    worker.cancel.time_is_over();
                }
            }
            bar.set_message(format!("{} of {files}", done.load(Ordering::Relaxed)));
            bar.tick();
        }
        bar.finish_and_clear();
    }

    /// Reads and runs one file.
    fn file(&self, path: &Path, settings: Settings, worker: &Worker) -> Finished {
        let name = input::shown(path);
        let finished = guarded(|| self.guarded_file(path, settings, worker));
        finished.unwrap_or_else(|_| Finished {
            entry: Entry::Unsupported(name, "an internal error of Fencepost".into()),
            said: String::new(),
            exit: Exit::Internal,
        })
    }

    fn guarded_file(&self, path: &Path, settings: Settings, worker: &Worker) -> Finished {
        let Read { file, said, test } = read(path, self.paint);
        let test = match test {
            Ok(test) => test,
            Err(why) => {
                return Finished {
                    entry: Entry::Unsupported(file, why),
                    said,
                    exit: Exit::Unusable,
                };
            }
        };
        // Only outcomes are asked for, so no time is spent on evidence for a property.
        let problem = test.problem.without_requirements();
        let settings =
            Settings { fixed_buffer: settings.fixed_buffer.or(enough(&problem)), ..settings };
        let mut exit = Exit::Fine;
        let mut models = Vec::new();
        for model in self.models {
            let seen = under(&test, &problem, model, settings, worker);
            exit = exit.and(match &seen {
                Ok(Seen { cut: None, .. }) => Exit::Fine,
                Ok(_) => Exit::Inconclusive,
                Err(_) => Exit::Unusable,
            });
            models.push((model.clone(), seen));
        }
        Finished { entry: Entry::Ran(Box::new(Ran { file, test, models })), said, exit }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that was read.
pub(super) struct Read {
    /// What the reader calls it.
    pub(super) file: String,
    /// What there is to say about it.
    pub(super) said: String,
    /// The test, or what is wrong with it in one line.
    pub(super) test: Result<Test, String>,
}

/// Reads a test.
pub(super) fn read(path: &Path, paint: Paint) -> Read {
    let source = match InputFile::read(path) {
        Ok(source) => source,
        Err(message) => {
            let said = format!("{}: {message}\n", paint.bad("error"));
            return Read { file: input::shown(path), said, test: Err(message) };
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
    let said = render(&diagnostics, &source.name, &text, paint);
    let why = || {
        let first = diagnostics.sorted().first().map(|d| (d.span.line, printable(&d.message)));
        first.map_or_else(String::new, |(line, message)| format!("line {line}: {message}"))
    };
    let test = test.ok_or_else(why);
    Read { file: source.name, said, test }
}

/// A bound on pending accesses that is large enough for a program without loops.
fn enough(problem: &Problem) -> Option<u32> {
    let threads = &problem.program.threads;
    let forward = |thread: &Thread| {
        let stmts = thread.code.iter().enumerate();
        let mut ways = stmts.flat_map(|(at, stmt)| flow::successors(stmt).map(move |to| (at, to)));
        ways.all(|(at, to)| to.index() > at)
    };
    let longest = threads.iter().map(|thread| thread.code.len()).max().unwrap_or(1);
    threads.iter().all(forward).then_some(longest as u32)
}

/// What a test shows under a model, or what goes wrong.
fn under(
    test: &Test,
    problem: &Problem,
    model: &ModelSpec,
    settings: Settings,
    worker: &Worker,
) -> Result<Seen, String> {
    let progress = Progress::default();
    let budget = Budget { cancel: &worker.cancel, progress: &progress };
    let started = Instant::now();
    *locked(&worker.started) = Some(started);
    let answer = Explicit.outcomes(Task { problem, model }, settings, budget);
    *locked(&worker.started) = None;
    worker.cancel.reset_time();
    let seconds = started.elapsed().as_secs_f64();
    let Answer { verdict, outcomes, statistics, .. } = answer;
    let cut = match verdict {
        Verdict::Verified(_) => None,
        Verdict::Violated(violated) => {
            return Err(sentence(problem, violated.evidence().violation().into(), None));
        }
        Verdict::Inconclusive(inconclusive) if inconclusive.is_bounded() => {
            Some(Cut::Buffers(statistics.bound.unwrap_or(0)))
        }
        Verdict::Inconclusive(inconclusive) => {
            Some(Cut::Limit(ended_by(inconclusive.reason()).into_owned()))
        }
    };
    let shown = test.show(&outcomes).map_err(|fault| fault.describe().to_string())?;
    Ok(Seen { shown, cut, seconds })
}
