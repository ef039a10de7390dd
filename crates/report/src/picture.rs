//! A run as a picture: a column for each thread, the pending accesses, and memory.
//!
//! When the columns do not fit, the layout becomes narrower in four stages: the texts get shorter;
//! memory shows only changes; only the acting thread's pending accesses are shown; finally, every
//! event is one line with the thread's name. The last layout is also used for more than three
//! threads.

use crate::cycle;
use crate::hang::describe_waits;
use crate::memory::MemoryView;
use crate::paint::{Paint, clip, width};
use crate::reorderings::describe_reorderings;
use crate::trace::{Row, TraceRows};
use crate::verdict_line::heading;
use crate::violation::claim_of_run;
use crate::wording;
use fencepost_engines::{Claim, ClaimWithRun};
use fencepost_ir::{Loc, Observable, Property, ThreadId, Violation};
use fencepost_models::{EventKind, ModelSpec};
use std::fmt::Write;

/// Returns the text of a run: the heading, the picture, the reasons and, for a violation of
/// robustness, the happens-before cycle.
pub fn run_text(
    name: &str,
    model: &ModelSpec,
    shown: ClaimWithRun<'_>,
    trace_rows: &TraceRows<'_>,
    paint: Paint,
) -> String {
    let mut text = heading(name, model, shown, trace_rows, paint);
    text.push_str(&picture(trace_rows, PictureOptions { width: WIDTH, paint }));
    for reason in describe_reorderings(&trace_rows.problem.program, model, &trace_rows.run) {
        text.push_str(&format!("  {} {reason}\n", paint.strong("Why:")));
    }
    for sentence in describe_waits(&trace_rows.problem.program, &trace_rows.run) {
        text.push_str(&format!("  {} {sentence}\n", paint.strong("Hang:")));
    }
    if shown.claim == Claim::Violation(Violation::NotRobust) {
        text.push_str(&cycle::cycle_text(trace_rows, paint));
    }
    text
}

/// The default width of a picture.
pub const WIDTH: usize = 140;

/// The maximal number of threads for a layout with one column for each thread.
const MAX_THREAD_COLUMNS: usize = 3;

/// The head of the column with the acting thread's pending accesses.
const OWN_PENDING: &str = "own pending";

/// The text for a thread that starts in its critical section.
const INITIALLY_CRITICAL: &str = "in critical section from the start";

/// The maximal number of rows of a picture. A longer picture shows only the first and last rows.
const MAX_ROWS: usize = 300;

/// The number of first rows, and of last rows, of a picture that is too long.
const END_ROWS: usize = 100;

/// The options of a picture.
#[derive(Clone, Copy, Debug)]
pub struct PictureOptions {
    /// The maximal width in columns.
    pub width: usize,
    /// Whether to use colours.
    pub paint: Paint,
}

/// Returns the picture of a run. Every line ends in a line feed.
pub fn picture(trace_rows: &TraceRows<'_>, options: PictureOptions) -> String {
    if trace_rows.rows.is_empty() {
        let view = MemoryView::new(&trace_rows.problem.program, &touched(trace_rows));
        let memory = view.all(trace_rows.run.memory(), trace_rows.run.memory(), options.paint);
        let when = match trace_rows.run.steps.len() {
            0 => "before the first step",
            _ => "after local steps only",
        };
        let colon = if memory.is_empty() { "" } else { ": " };
        return format!("  {when}{colon}{memory}\n");
    }
    let drawing = Drawing::new(trace_rows, options);
    let layouts = [
        Layout { brief: false, changes_only: false, own_pending_only: false },
        Layout { brief: true, changes_only: false, own_pending_only: false },
        Layout { brief: true, changes_only: true, own_pending_only: false },
        Layout { brief: true, changes_only: true, own_pending_only: true },
    ];
    let columns = if drawing.actors.len() > MAX_THREAD_COLUMNS {
        None
    } else {
        layouts.into_iter().find_map(|layout| drawing.columns(layout))
    };
    columns.unwrap_or_else(|| drawing.list())
}

/// A layout with one column for each thread.
#[derive(Clone, Copy)]
struct Layout {
    /// Whether texts are shortened.
    brief: bool,
    /// Whether memory shows only changed values.
    changes_only: bool,
    /// Whether only the acting thread's pending accesses are shown.
    own_pending_only: bool,
}

struct Drawing<'a> {
    trace_rows: &'a TraceRows<'a>,
    options: PictureOptions,
    view: MemoryView<'a>,
    /// The threads that have rows, and the threads of a violation of mutual exclusion.
    actors: Vec<ThreadId>,
    /// The actors that have a pending access at some time.
    with_pending: Vec<ThreadId>,
}

impl<'a> Drawing<'a> {
    fn new(trace_rows: &'a TraceRows<'a>, options: PictureOptions) -> Self {
        let program = &trace_rows.problem.program;
        let concerned = match trace_rows.run.violation {
            Some(Violation::MutualExclusion(a, b)) => vec![a, b],
            _ => Vec::new(),
        };
        let acts = |t: &ThreadId| {
            concerned.contains(t) || trace_rows.rows.iter().any(|row| row.thread == *t)
        };
        let actors: Vec<ThreadId> = program.thread_ids().filter(acts).collect();
        let has_pending = |t: &ThreadId| {
            let later = trace_rows.run.steps.iter().map(|replayed| &replayed.pending);
            let all = std::iter::once(&trace_rows.run.first.pending).chain(later);
            all.into_iter().any(|pending| !pending[t.index()].is_empty())
        };
        let with_pending = actors.iter().copied().filter(has_pending).collect();
        Drawing {
            trace_rows,
            options,
            view: MemoryView::new(program, &touched(trace_rows)),
            actors,
            with_pending,
        }
    }

    fn name(&self, thread: ThreadId) -> &str {
        &self.trace_rows.problem.program.thread(thread).name
    }

    /// Formats a thread's pending accesses after a row, or before the first row for none.
    fn pending(&self, row: Option<&Row>, thread: ThreadId) -> String {
        let pending = match row {
            None => &self.trace_rows.run.first.pending,
            Some(row) if row.shows_state => &self.trace_rows.run.steps[row.step].pending,
            Some(_) => return String::new(),
        };
        let program = &self.trace_rows.problem.program;
        let shown: Vec<String> =
            pending[thread.index()].iter().map(|p| wording::pending(program, thread, p)).collect();
        shown.join(", ")
    }

    /// Formats memory after a row, or before the first row for none.
    fn memory(&self, row: Option<&Row>, changes_only: bool, paint: Paint) -> String {
        let run = &self.trace_rows.run;
        let Some(row) = row else {
            let initial = self.view.all(&run.first.memory, &run.first.memory, paint);
            return if changes_only { String::new() } else { initial };
        };
        if !row.shows_state {
            return String::new();
        }
        let now = &run.steps[row.step].memory;
        let before = match row.step {
            0 => &run.first.memory,
            at => &run.steps[at - 1].memory,
        };
        if changes_only {
            self.view.changes(now, before)
        } else {
            self.view.all(now, before, paint)
        }
    }

    /// Returns the text of a thread in a row. Before the first row, it can only state that the
    /// thread is in its critical section.
    fn event(&self, row: Option<&Row>, thread: ThreadId, brief: bool) -> String {
        match row {
            Some(row) if row.thread == thread => shortened(&row.text, brief),
            None if self.trace_rows.run.first.critical[thread.index()] => INITIALLY_CRITICAL.into(),
            Some(_) | None => String::new(),
        }
    }

    /// Returns the initial memory and pending accesses on separate lines, for narrow layouts.
    fn initial_state(&self) -> String {
        let memory = self.memory(None, false, self.options.paint);
        let mut text = match memory.as_str() {
            "" => String::new(),
            memory => format!("      initially {memory}\n"),
        };
        for thread in self.trace_rows.problem.program.thread_ids() {
            let pending = self.pending(None, thread);
            if !pending.is_empty() {
                let name = self.name(thread);
                writeln!(text, "      initially pending {name}: {pending}")
                    .expect("writing to a string cannot fail");
            }
        }
        text
    }

    /// Returns the rows to show: all, or the first and the last when there are too many.
    fn shown(&self) -> impl Iterator<Item = &Row> {
        let rows = &self.trace_rows.rows;
        let (first, last) = match rows.len() {
            0..=MAX_ROWS => (&rows[..], &rows[..0]),
            len => (&rows[..END_ROWS], &rows[len - END_ROWS..]),
        };
        first.iter().chain(last)
    }

    /// Returns the line that replaces the omitted rows, if it precedes row `at` (from 0) of the
    /// shown rows.
    fn gap(&self, at: usize) -> String {
        let rows = self.trace_rows.rows.len();
        if rows <= MAX_ROWS || at != END_ROWS {
            return String::new();
        }
        let omitted = rows - 2 * END_ROWS;
        format!("  ... {omitted} rows omitted ... (--format json has all rows)\n")
    }

    /// Returns none for the initial state, then the rows to show.
    fn rows(&self) -> impl Iterator<Item = Option<&Row>> {
        std::iter::once(None).chain(self.shown().map(Some))
    }

    /// Whether the picture has a row for the initial state.
    fn has_initial_row(&self, layout: Layout) -> bool {
        let first = &self.trace_rows.run.first;
        !layout.changes_only || self.actors.iter().any(|t| first.critical[t.index()])
    }

    fn widest(&self, least: usize, of: impl Fn(Option<&Row>) -> String) -> usize {
        self.rows().map(|row| width(&of(row))).max().unwrap_or(0).max(least)
    }

    /// Returns a picture with one column for each thread; none when it is too wide.
    fn columns(&self, layout: Layout) -> Option<String> {
        let paint = self.options.paint;
        let lines = self.widest(0, line);
        let events: Vec<usize> = (self.actors.iter())
            .map(|t| {
                let head = width(self.name(*t)).saturating_sub(lines + 1);
                self.widest(head, |row| self.event(row, *t, layout.brief))
            })
            .collect();
        let memory =
            self.widest("memory".len(), |row| self.memory(row, layout.changes_only, Paint::Plain));
        let pending = self.pending_columns(layout);
        let total = 6
            + events.iter().map(|w| w + lines + 4).sum::<usize>()
            + pending.iter().map(|(_, w)| w + 2).sum::<usize>()
            + usize::from(!pending.is_empty())
            + memory;
        if total > self.options.width {
            return None;
        }

        let mut out = if layout.changes_only { self.initial_state() } else { String::new() };
        let put = |out: &mut String,
                   number: &str,
                   events: Vec<String>,
                   pending: Vec<String>,
                   memory: &str| {
            let mut parts = events;
            if !pending.is_empty() {
                parts.push(pending.join("  "));
            }
            let text = format!("{number:>4}  {} | {memory}", parts.join(" | "));
            writeln!(out, "{}", text.trim_end()).expect("writing to a string cannot fail");
        };
        let heads = (self.actors.iter().zip(&events))
            .map(|(t, w)| paint.strong(&format!("{:<1$}", self.name(*t), w + lines + 1)));
        let pending_heads = pending.iter().map(|(thread, w)| {
            let head = thread.map_or(OWN_PENDING.into(), |t| format!("pending {}", self.name(t)));
            format!("{head:<w$}")
        });
        put(&mut out, "#", heads.collect(), pending_heads.collect(), "memory");
        for (at, row) in self.rows().enumerate() {
            if row.is_none() && !self.has_initial_row(layout) {
                continue;
            }
            if row.is_some() {
                out.push_str(&self.gap(at - 1));
            }
            let number = row.and_then(|row| row.number).map(|n| n.to_string()).unwrap_or_default();
            let cells = (self.actors.iter().zip(&events)).map(|(t, w)| {
                let what = format!("{:<w$}", self.event(row, *t, layout.brief));
                let own = row.filter(|row| row.thread == *t);
                let place = format!("{:<lines$}", own.map(|r| line(Some(r))).unwrap_or_default());
                format!("{} {}", emphasised(&what, row, paint), paint.faint(&place))
            });
            let pending_cells = pending.iter().map(|(thread, w)| {
                let thread = thread.or_else(|| row.map(|row| row.thread));
                let is_above = row.is_none() && layout.changes_only; // shown above the picture
                let shown = thread.filter(|_| !is_above).map(|t| self.pending(row, t));
                let shown = shown.unwrap_or_default();
                format!("{shown:<w$}")
            });
            let memory = self.memory(row, layout.changes_only, paint);
            put(&mut out, &number, cells.collect(), pending_cells.collect(), &memory);
        }
        Some(out)
    }

    /// Returns the columns of pending accesses: the thread (none for the acting thread) and the
    /// width.
    fn pending_columns(&self, layout: Layout) -> Vec<(Option<ThreadId>, usize)> {
        if layout.own_pending_only && self.with_pending.len() > 1 {
            let of = |row: Option<&Row>| {
                row.map(|row| self.pending(Some(row), row.thread)).unwrap_or_default()
            };
            return vec![(None, self.widest(OWN_PENDING.len(), of))];
        }
        let column = |t: &ThreadId| {
            let head = width(self.name(*t)) + "pending ".len();
            let shown = |row: &Option<&Row>| row.is_some() || !layout.changes_only;
            let of = |row: Option<&Row>| {
                Some(row).filter(shown).map(|row| self.pending(row, *t)).unwrap_or_default()
            };
            (Some(*t), self.widest(head, of))
        };
        self.with_pending.iter().map(column).collect()
    }

    /// Returns a picture with one line for each event.
    fn list(&self) -> String {
        let paint = self.options.paint;
        let widest = |of: &dyn Fn(&Row) -> usize| self.shown().map(of).max().unwrap_or(0);
        let text = |row: &Row| clip(&shortened(&row.text, true), 70);
        let names = widest(&|row| width(self.name(row.thread))).max("thread".len());
        let texts = widest(&|row| width(&text(row))).max("event".len());
        let lines = widest(&|row| width(&line(Some(row))));
        let changed = |row: &Row| self.memory(Some(row), true, paint);
        let memory = widest(&|row| width(&changed(row)));
        // The pending accesses get the remaining width.
        let remaining =
            self.options.width.saturating_sub(names + texts + lines + memory + 15).max(24);
        let own_pending = |row: &Row| clip(&self.pending(Some(row), row.thread), remaining);
        let pending = match widest(&|row| width(&own_pending(row))) {
            0 => 0,
            some => some.max(OWN_PENDING.len()),
        };
        let mut out = self.initial_state();
        for thread in &self.actors {
            if self.trace_rows.run.first.critical[thread.index()] {
                writeln!(out, "      {} {INITIALLY_CRITICAL}", self.name(*thread))
                    .expect("writing to a string cannot fail");
            }
        }
        let put = |out: &mut String,
                   number: &str,
                   name: &str,
                   what: &str,
                   place: &str,
                   own_pending: &str,
                   mem: &str| {
            let own_pending = match pending {
                0 => String::new(),
                _ => format!(" | {own_pending:<pending$}"),
            };
            let text = format!("{number:>4}  {name:<names$}  {what} {place}{own_pending} | {mem}");
            writeln!(out, "{}", text.trim_end()).expect("writing to a string cannot fail");
        };
        let pad = |text: &str, w: usize| format!("{text:<w$}");
        put(&mut out, "#", "thread", &pad("event", texts), &pad("", lines), OWN_PENDING, "memory");
        for (at, row) in self.shown().enumerate() {
            out.push_str(&self.gap(at));
            let number = row.number.map(|n| n.to_string()).unwrap_or_default();
            let what = emphasised(&pad(&text(row), texts), Some(row), paint);
            let place = paint.faint(&pad(&line(Some(row)), lines));
            let (pending, memory) = (own_pending(row), changed(row));
            put(&mut out, &number, self.name(row.thread), &what, &place, &pending, &memory);
        }
        out
    }
}

fn line(row: Option<&Row>) -> String {
    row.and_then(|row| row.line.clone()).unwrap_or_default()
}

/// Emphasises remarks.
fn emphasised(text: &str, row: Option<&Row>, paint: Paint) -> String {
    if row.is_none_or(|row| row.number.is_none()) && text.starts_with(char::is_alphabetic) {
        paint.strong(text)
    } else {
        text.into()
    }
}

fn shortened(text: &str, brief: bool) -> String {
    if brief { text.replace("(memory, ", "(") } else { text.into() }
}

/// For each location: whether the run accesses it or the condition of the claim contains it.
fn touched(trace_rows: &TraceRows<'_>) -> Vec<bool> {
    let problem = trace_rows.problem;
    let mut touched = vec![false; problem.program.locations.len()];
    let mut touch = |loc: Loc| touched[loc.index()] = true;
    for annotated in trace_rows.run.steps.iter().flat_map(|replayed| &replayed.events) {
        match annotated.event.kind {
            EventKind::Load { loc, .. }
            | EventKind::Store { loc, .. }
            | EventKind::Write { loc, .. }
            | EventKind::Commit { loc, .. }
            | EventKind::CommitAndKeep { loc, .. }
            | EventKind::Repeat { loc, .. }
            | EventKind::Update { loc, .. }
            | EventKind::Drain(loc) => touch(loc),
            EventKind::Fetch { loc, .. } => loc.into_iter().for_each(&mut touch),
            EventKind::Fence(_)
            | EventKind::Set { .. }
            | EventKind::Confirm
            | EventKind::Test(_)
            | EventKind::Guess(_)
            | EventKind::New(_)
            | EventKind::Free(_)
            | EventKind::Leave
            | EventKind::SectionBegin
            | EventKind::SectionEnd
            | EventKind::GracePeriod { .. }
            | EventKind::AtomicBegin
            | EventKind::AtomicEnd
            | EventKind::Defer
            | EventKind::Skip => {}
        }
    }
    let condition = match claim_of_run(trace_rows) {
        Some(Claim::Witness(at)) => problem.sometimes.get(at),
        Some(Claim::Violation(Violation::Invariant(at) | Violation::Final(at))) => {
            match problem.properties.get(at) {
                Some(
                    Property::Invariant(condition)
                    | Property::FinalForall(condition)
                    | Property::FinalNever(condition),
                ) => Some(condition),
                Some(
                    Property::Assertions
                    | Property::MutualExclusion
                    | Property::DeadlockFree
                    | Property::Progress
                    | Property::Operations(_),
                )
                | None => None,
            }
        }
        Some(Claim::Violation(_)) | None => None,
    };
    if let Some(condition) = condition {
        condition.expr.for_each_var(&mut |what| {
            if let Observable::Loc(loc) = what {
                touch(*loc);
            }
        });
    }
    touched
}
