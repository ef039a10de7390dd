//! A failed execution as text and as a seed.
//!
//! The seed lists the threads of the events: `tso:main*3,T0*2,T0~0` with `*n` for n events in a
//! row, and `T0~0` for a commit from the store buffer 0 of `T0`.

use crate::model::Model;
use crate::names::{Names, ThreadName};
use crate::op::{Kind, Op, Target};
use crate::system::{Action, Record};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// What went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FailureKind {
    /// A thread panicked. Contains the message and its place.
    Panic(String),
    /// Threads wait for each other.
    Deadlock,
    /// A spin loop waits for a change that no thread makes.
    Hang,
    /// The closure performed other operations when it ran again with the same schedule.
    NotDeterministic,
    /// The seed of a replay does not fit the closure.
    WrongSeed,
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FailureKind::Panic(message) => f.write_str(message),
            FailureKind::Deadlock => f.write_str("deadlock: no thread can go on"),
            FailureKind::Hang => f.write_str(
                "hang: a spin loop waits for a change that no thread makes, and no thread can go on",
            ),
            FailureKind::NotDeterministic => f.write_str(
                "the closure is not deterministic: with the same schedule it performed other \
                 operations; remove time, random numbers and state that is left from an earlier \
                 execution",
            ),
            FailureKind::WrongSeed => {
                f.write_str("the seed does not fit this closure; use it with the code that printed it")
            }
        }
    }
}

/// A failed execution.
#[derive(Clone, Debug)]
pub struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) trace: Trace,
}

impl Failure {
    /// Returns what went wrong.
    pub fn kind(&self) -> &FailureKind {
        &self.kind
    }

    /// Returns the seed, the value of `FENCEPOST_REPLAY` that runs only this execution.
    pub fn seed(&self) -> &str {
        &self.trace.seed
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\n{}", self.kind, self.trace.text)?;
        write!(f, "\nto run only this execution: FENCEPOST_REPLAY='{}'", self.trace.seed)
    }
}

/// The events of a failed execution.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    text: String,
    seed: String,
}

impl Trace {
    /// Renders an execution, with the next operations of the threads that have not finished.
    pub(crate) fn new(
        model: Model,
        records: &[Record],
        waiting: Vec<(usize, Op)>,
        names: &Names,
    ) -> Trace {
        let threads: Vec<usize> = records.iter().map(|record| record.thread).collect();
        Trace { text: render(records, &waiting, names), seed: seed(model, &threads, names) }
    }
}

/// Returns the seed of an execution.
fn seed(model: Model, threads: &[usize], names: &Names) -> String {
    let runs = threads.chunk_by(|one, other| one == other).map(|run| match run.len() {
        1 => names.display(run[0]),
        events => format!("{}*{events}", names.display(run[0])),
    });
    format!("{model}:{}", runs.collect::<Vec<_>>().join(","))
}

/// Reads a seed for a model.
pub(crate) fn parse_seed(text: &str, model: Model, names: &mut Names) -> Option<Vec<usize>> {
    let runs = text.trim().strip_prefix(&model.to_string())?.strip_prefix(':')?;
    let mut threads = Vec::new();
    for run in runs.split(',').filter(|run| !run.is_empty()) {
        let (name, events) = match run.split_once('*') {
            Some((name, events)) => (name, events.parse().ok()?),
            None => (run, 1usize),
        };
        let thread = names.parse(name)?;
        threads.extend(std::iter::repeat_n(thread, events.min(1_000_000)));
    }
    Some(threads)
}

/// The names of the objects of an execution.
#[derive(Default)]
struct Objects {
    numbers: BTreeMap<u32, usize>,
    legend: String,
}

impl Objects {
    fn name(&mut self, target: Target) -> String {
        let next = self.numbers.len();
        let number = *self.numbers.entry(target.loc).or_insert(next);
        if number == next {
            let _ = writeln!(self.legend, "  x{number}: created at {}", target.site);
        }
        format!("x{number}")
    }
}

fn render(records: &[Record], waiting: &[(usize, Op)], names: &Names) -> String {
    let mut objects = Objects::default();
    let owner = |thread: usize| match names.threads().get(thread) {
        Some(ThreadName::Buffer(owner, _)) => *owner,
        Some(ThreadName::Program(_)) | None => thread,
    };
    let mut columns: Vec<usize> = records.iter().map(|record| owner(record.thread)).collect();
    columns.sort_unstable();
    columns.dedup();
    let mut rows: Vec<(usize, String, String)> = Vec::new();
    for record in records {
        let (text, at) = match &record.action {
            Action::Op(op, result) => {
                let mut text = describe(op, Some(*result), &mut objects, names);
                if record.is_pending {
                    text.push_str(" (pending)");
                }
                (text, op.at)
            }
            Action::Commit(store) => (
                format!("~ commit {} = {}", objects.name(store.target), show(store.value)),
                store.at,
            ),
        };
        rows.push((owner(record.thread), text, at.to_string()));
    }
    for (thread, op) in waiting {
        let text = format!("! next: {}", describe(op, None, &mut objects, names));
        rows.push((*thread, text, op.at.to_string()));
        columns.push(*thread);
    }
    columns.sort_unstable();
    columns.dedup();
    let width = |column: usize| {
        let cells = rows.iter().filter(|row| row.0 == column).map(|row| row.1.chars().count());
        cells.max().unwrap_or(0).max(names.display(column).len())
    };
    let widths: Vec<usize> = columns.iter().map(|column| width(*column)).collect();
    let mut text = String::new();
    for (column, width) in columns.iter().zip(&widths) {
        let _ = write!(text, "  {:width$}", names.display(*column));
    }
    text.push_str("  place\n");
    for (thread, cell, at) in &rows {
        for (column, width) in columns.iter().zip(&widths) {
            let _ = write!(text, "  {:width$}", if column == thread { cell } else { "" });
        }
        let _ = writeln!(text, "  {at}");
    }
    if !objects.legend.is_empty() {
        text.push_str("objects:\n");
        text.push_str(&objects.legend);
    }
    text
}

fn show(value: u64) -> String {
    match value {
        0..=0xffff_ffff => value.to_string(),
        _ if value >= u64::MAX - 0xffff => (value as i64).to_string(),
        _ => format!("{value:#x}"),
    }
}

fn describe(op: &Op, result: Option<u64>, objects: &mut Objects, names: &Names) -> String {
    let returned = result.map(|result| format!(" -> {}", show(result))).unwrap_or_default();
    match op.kind {
        Kind::Load(target) => format!("load {}{returned}", objects.name(target)),
        Kind::Store { target, value, order } => {
            format!("store {} = {} {order:?}", objects.name(target), show(value))
        }
        Kind::Update { target, operand, name, .. } => {
            format!("{name}({}, {}){returned}", objects.name(target), show(operand))
        }
        Kind::CompareExchange { target, expected, new, .. } => format!(
            "compare_exchange({}, {}, {}){returned}",
            objects.name(target),
            show(expected),
            show(new)
        ),
        Kind::Exclusive(target) => {
            format!("exclusive access to {}{returned}", objects.name(target))
        }
        Kind::Fence(order) => format!("fence {order:?}"),
        Kind::SpinHint => "spin hint".to_owned(),
        Kind::Spawn(child) => format!("spawn {}", names.display(child)),
        Kind::Begin => "begin".to_owned(),
        Kind::Finish => "finish".to_owned(),
        Kind::Join(child) => format!("join {}", names.display(child)),
        Kind::Lock(target) => format!("lock {}", objects.name(target)),
        Kind::TryLock(target) => format!("try_lock {}{returned}", objects.name(target)),
        Kind::Unlock(target) => format!("unlock {}", objects.name(target)),
        Kind::Wait { condvar, mutex } => {
            format!("wait {}, unlock {}", objects.name(condvar), objects.name(mutex))
        }
        Kind::WaitEnd { condvar, mutex } => {
            format!("notified by {}, lock {}", objects.name(condvar), objects.name(mutex))
        }
        Kind::Notify { condvar, all } => {
            format!("notify_{} {}", if all { "all" } else { "one" }, objects.name(condvar))
        }
    }
}
