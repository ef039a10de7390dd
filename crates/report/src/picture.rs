//! A run as a picture: a column for each thread, what is pending, what memory holds.
//!
//! When the columns do not fit, the words get shorter, then memory shows changes only, and at last
//! (or with more than three threads at work) every event is one line with the thread's name.

use crate::memory::View;
use crate::paint::{Paint, clip, width};
use crate::trace::{Row, Story};
use crate::wording;
use fencepost_ir::{Loc, Observable, Property, ThreadId, Value};
use fencepost_models::EventKind;
use std::fmt::Write;

/// How many columns a terminal is expected to have for a picture.
pub const WIDTH: usize = 140;

/// Threads that get columns of their own.
const COLUMNS: usize = 3;

/// How a picture is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// How wide it may be.
    pub width: usize,
    /// Colours.
    pub paint: Paint,
}

/// The picture of a run; every line ends in a new line.
pub fn picture(story: &Story<'_>, look: Look) -> String {
    if story.rows.is_empty() {
        let view = View::new(&story.problem.program, &touched(story));
        let memory = view.all(&story.run.initial, &story.run.initial, look.paint);
        return format!("  already so before the first step: {memory}\n");
    }
    let drawing = Drawing::new(story, look);
    let ways = [Way { brief: false, changes: false }, Way { brief: true, changes: false }, Way {
        brief: true,
        changes: true,
    }];
    let columns = if drawing.actors.len() > COLUMNS {
        None
    } else {
        ways.into_iter().find_map(|way| drawing.columns(way))
    };
    columns.unwrap_or_else(|| drawing.list())
}

/// How much is said.
#[derive(Clone, Copy)]
struct Way {
    /// Shorter words.
    brief: bool,
    /// Memory shows only what changes.
    changes: bool,
}

struct Drawing<'a> {
    story: &'a Story<'a>,
    look: Look,
    view: View<'a>,
    /// The threads that act.
    actors: Vec<ThreadId>,
    /// Those of them that have something pending at some time.
    waiting: Vec<ThreadId>,
}

impl<'a> Drawing<'a> {
    fn new(story: &'a Story<'a>, look: Look) -> Self {
        let program = &story.problem.program;
        let actors: Vec<ThreadId> =
            program.thread_ids().filter(|t| story.rows.iter().any(|r| r.thread == *t)).collect();
        let waits = |t: &ThreadId| {
            story.run.moments.iter().any(|moment| !moment.pending[t.index()].is_empty())
        };
        let waiting = actors.iter().copied().filter(waits).collect();
        Drawing { story, look, view: View::new(program, &touched(story)), actors, waiting }
    }

    fn name(&self, thread: ThreadId) -> &str {
        &self.story.problem.program.thread(thread).name
    }

    /// What a thread has pending after a row.
    fn pending(&self, row: &Row, thread: ThreadId) -> String {
        if !row.settles {
            return String::new();
        }
        let list = &self.story.run.moments[row.moment].pending[thread.index()];
        let program = &self.story.problem.program;
        let shown: Vec<String> =
            list.iter().map(|p| wording::pending(program, thread, p)).collect();
        shown.join(", ")
    }

    /// Memory before and after a row's step.
    fn memory(&self, row: &Row) -> (&[Value], &[Value]) {
        let moments = &self.story.run.moments;
        let before = match row.moment {
            0 => &self.story.run.initial,
            at => &moments[at - 1].memory,
        };
        (before, &moments[row.moment].memory)
    }

    fn memory_cell(&self, row: &Row, way: Way, paint: Paint) -> String {
        let (before, now) = self.memory(row);
        match (row.settles, way.changes) {
            (false, _) => String::new(),
            (true, true) => self.view.changes(now, before),
            (true, false) => self.view.all(now, before, paint),
        }
    }

    fn initially(&self) -> String {
        let initial = &self.story.run.initial;
        self.view.all(initial, initial, Paint::Plain)
    }

    /// A column for each thread; none when that is too wide.
    fn columns(&self, way: Way) -> Option<String> {
        let rows = &self.story.rows;
        let paint = self.look.paint;
        let text = |row: &Row| shortened(&row.text, way.brief);
        let widest = |of: &dyn Fn(&Row) -> String, least: usize| {
            rows.iter().map(|row| width(&of(row))).max().unwrap_or(0).max(least)
        };
        let lines = widest(&|row| line(row), 0);
        let events: Vec<usize> = (self.actors.iter())
            .map(|t| {
                let of = |row: &Row| if row.thread == *t { text(row) } else { String::new() };
                widest(&of, width(self.name(*t)).saturating_sub(lines + 1))
            })
            .collect();
        let pending: Vec<usize> = (self.waiting.iter())
            .map(|t| widest(&|row| self.pending(row, *t), width(self.name(*t)) + 8))
            .collect();
        let plain = |row: &Row| self.memory_cell(row, way, Paint::Plain);
        let first = if way.changes { 0 } else { width(&self.initially()) };
        let memory = widest(&plain, first);
        let total = 6
            + events.iter().map(|w| w + lines + 4).sum::<usize>()
            + pending.iter().map(|w| w + 2).sum::<usize>()
            + memory;
        if total > self.look.width {
            return None;
        }

        let mut out = String::new();
        let put = |out: &mut String, number: &str, cells: &[String], memory: &str| {
            let text = format!("{number:>4}  {} | {memory}", cells.join(" | "));
            writeln!(out, "{}", text.trim_end()).expect("strings take text");
        };
        let pendings = |of: &dyn Fn(ThreadId) -> String| -> Option<String> {
            let cells = self.waiting.iter().zip(&pending);
            let cells: Vec<String> = cells.map(|(t, w)| format!("{:<w$}", of(*t))).collect();
            (!cells.is_empty()).then(|| cells.join("  "))
        };
        let mut heads: Vec<String> = (self.actors.iter().zip(&events))
            .map(|(t, w)| paint.strong(&format!("{:<1$}", self.name(*t), w + lines + 1)))
            .collect();
        heads.extend(pendings(&|t| format!("pending {}", self.name(t))));
        put(&mut out, "#", &heads, "memory");
        if way.changes {
            writeln!(out, "      initially {}", self.initially()).expect("strings take text");
        } else {
            let mut cells: Vec<String> =
                events.iter().map(|w| " ".repeat(w + lines + 1)).collect();
            cells.extend(pendings(&|_| String::new()));
            put(&mut out, "", &cells, &self.initially());
        }
        for row in rows {
            let number = row.number.map(|n| n.to_string()).unwrap_or_default();
            let mut cells: Vec<String> = (self.actors.iter().zip(&events))
                .map(|(t, w)| {
                    let (what, place) = if row.thread == *t {
                        (text(row), line(row))
                    } else {
                        (String::new(), String::new())
                    };
                    let what = emphasised(&format!("{what:<w$}"), row, paint);
                    format!("{what} {}", paint.faint(&format!("{place:<lines$}")))
                })
                .collect();
            cells.extend(pendings(&|t| self.pending(row, t)));
            put(&mut out, &number, &cells, &self.memory_cell(row, way, paint));
        }
        Some(out)
    }

    /// A line for each event.
    fn list(&self) -> String {
        let rows = &self.story.rows;
        let paint = self.look.paint;
        let names = self.actors.iter().map(|t| width(self.name(*t))).max().unwrap_or(0).max(6);
        let text = |row: &Row| clip(&shortened(&row.text, true), 70);
        let texts = rows.iter().map(|row| width(&text(row))).max().unwrap_or(0).max(5);
        let lines = rows.iter().map(|row| width(&line(row))).max().unwrap_or(0);
        let mine = |row: &Row| clip(&self.pending(row, row.thread), 40);
        let pending = rows.iter().map(|row| width(&mine(row))).max().unwrap_or(0);
        let pending = if pending == 0 { 0 } else { pending.max(11) };
        let mut out = String::new();
        let mut put = |number: &str, name: &str, what: &str, place: &str, wait: &str, mem: &str| {
            let waits = match pending {
                0 => String::new(),
                _ => format!(" | {wait:<pending$}"),
            };
            let text = format!("{number:>4}  {name}  {what} {place}{waits} | {mem}");
            writeln!(out, "{}", text.trim_end()).expect("strings take text");
        };
        let pad = |text: &str, w: usize| format!("{text:<w$}");
        let (thread, event) = (pad("thread", names), pad("event", texts));
        put("#", &thread, &event, &pad("", lines), "its pending", "memory");
        put("", &pad("", names), &pad("", texts), &pad("", lines), "", &self.initially());
        for row in rows {
            let number = row.number.map(|n| n.to_string()).unwrap_or_default();
            let what = emphasised(&pad(&text(row), texts), row, paint);
            let place = paint.faint(&pad(&line(row), lines));
            let changed = self.memory_cell(row, Way { brief: true, changes: true }, paint);
            let name = pad(self.name(row.thread), names);
            put(&number, &name, &what, &place, &mine(row), &changed);
        }
        out
    }
}

fn line(row: &Row) -> String {
    row.line.map(|line| format!(":{line}")).unwrap_or_default()
}

/// Remarks stand out from events.
fn emphasised(text: &str, row: &Row, paint: Paint) -> String {
    if row.number.is_none() && text.starts_with(char::is_alphabetic) {
        paint.strong(text)
    } else {
        text.into()
    }
}

fn shortened(text: &str, brief: bool) -> String {
    if brief { text.replace("(memory, ", "(") } else { text.into() }
}

/// By location: whether the run, or what is wrong at its end, has to do with it.
fn touched(story: &Story<'_>) -> Vec<bool> {
    let problem = story.problem;
    let mut touched = vec![false; problem.program.locations.len()];
    let mut touch = |loc: Loc| touched[loc.index()] = true;
    for told in story.run.moments.iter().flat_map(|moment| &moment.events) {
        match told.event.kind {
            EventKind::Load { loc, .. }
            | EventKind::Store { loc, .. }
            | EventKind::Write { loc, .. }
            | EventKind::Commit { loc, .. }
            | EventKind::Update { loc, .. }
            | EventKind::Drain(loc) => touch(loc),
            EventKind::Fetch { loc, .. } => loc.into_iter().for_each(&mut touch),
            EventKind::Fence(_)
            | EventKind::Set { .. }
            | EventKind::Test(_)
            | EventKind::New(_)
            | EventKind::Free(_)
            | EventKind::Leave
            | EventKind::AtomicBegin
            | EventKind::AtomicEnd
            | EventKind::Skip => {}
        }
    }
    for property in &problem.properties {
        match property {
            Property::Final(_, condition) | Property::Invariant(condition) => {
                condition.expr.for_each_var(&mut |what| {
                    if let Observable::Loc(loc) = what {
                        touch(*loc);
                    }
                });
            }
            Property::Assertions | Property::MutualExclusion | Property::DeadlockFree => {}
        }
    }
    touched
}
