//! Runs many tests in parallel, each within its limits.
//!
//! A test with many threads may have too many states for any limit. So a depth-first search looks
//! for a run that decides the condition before the search of all states goes on.

use crate::args::{CPrograms, Search};
use crate::exit::Exit;
use crate::input::{self, InputFile};
use crate::parallel::{Pool, Turn};
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
use fencepost_report::verdict_line::{reason_text, shown};
use fencepost_report::violation::describe_claim;
use fencepost_search::{Limits, Stop};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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

impl Runner<'_> {
    /// Runs all files and passes their results to `each`, in order. Cancels the rest when `each`
    /// returns false. After an interruption no more files are started.
    pub(super) fn run(&self, files: &[PathBuf], each: impl FnMut(Finished) -> bool) {
        let session = self.session;
        let settings = settings(self.search);
        let pool = Pool { session, settings, title: "litmus tests", in_parallel: true };
        pool.run(
            files,
            |path| (!session.interrupted()).then(|| InputFile::read(path, &CPrograms::default())),
            |path, file, turn, emit| {
                file.iter().for_each(|file| emit(self.file(path, file, turn)));
            },
            each,
        );
    }

    /// Runs the test in a file. A panic becomes a result.
    fn file(&self, path: &Path, file: &Result<InputFile, String>, turn: &Turn<'_>) -> Finished {
        let name = || input::display_path(path);
        let finished = turn.catch_panic_while(
            || format!("running {}", name()),
            || self.run_test(parse(path, file.as_ref(), self.paint), turn),
        );
        finished.unwrap_or_else(|_| Finished {
            entry: Entry::Unsupported(name(), "an internal error of Fencepost".into()),
            messages: String::new(),
            exit: Exit::Internal,
        })
    }

    fn run_test(&self, read: ReadTest, turn: &Turn<'_>) -> Finished {
        let ReadTest { file, messages, test } = read;
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
        let settings = turn.settings();
        let bound = settings.fixed_buffer.or(bound_without_loops(&problem));
        let settings = Settings { fixed_buffer: bound, ..settings };
        let mut exit = Exit::Success;
        let mut models = Vec::new();
        for model in self.models {
            let seen = run_under(model, (&test, &problem), settings, turn);
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
    parse(path, InputFile::read(path, &CPrograms::default()).as_ref(), paint)
}

/// Parses a test. The error of `source` says why it cannot be read.
fn parse(path: &Path, source: Result<&InputFile, &String>, paint: Paint) -> ReadTest {
    let source = match source {
        Ok(source) => source,
        Err(message) => {
            let messages = format!("{}: {message}\n", paint.bad("error"));
            let file = input::display_path(path);
            return ReadTest { file, messages, test: Err(message.clone()) };
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
    ReadTest { file: source.name.clone(), messages, test }
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
fn run_under(
    model: &ModelSpec,
    (test, problem): (&Test, &Problem),
    settings: Settings,
    turn: &Turn<'_>,
) -> Result<ModelResult, String> {
    let what = || format!("{}  {}", test.name, shown(model));
    let task = Task { problem, model };
    let ((answer, dived), elapsed) = turn.search(what, |b| search(test, task, settings, b));
    let seconds = elapsed.seconds();
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
