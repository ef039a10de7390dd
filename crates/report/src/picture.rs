//! A run as a picture: a column for each thread, what is pending, what memory holds.
//!
//! When the columns do not fit, the words get shorter, then memory shows changes only, and at last
//! (or with more than three threads at work) every event is one line with the thread's name.

use crate::cycle;
use crate::memory::View;
use crate::paint::{Paint, clip, width};
use crate::trace::{Row, Story};
use crate::verdict_line::heading;
use crate::violation::shown_by;
use crate::why::reasons;
use crate::wording;
use fencepost_engines::{Claim, Shown};
use fencepost_ir::{Loc, Observable, Property, ThreadId, Violation};
use fencepost_models::{EventKind, ModelSpec};
use std::fmt::Write;

/// A run for a reader: the heading, the picture, the reasons and, for a run that is not sequentially consistent,
/// the cycle that shows it.
pub fn run_text(
    name: &str,
    model: &ModelSpec,
    shown: Shown<'_>,
    story: &Story<'_>,
    paint: Paint,
) -> String {
    let mut text = heading(name, model, shown, story, paint);
    text.push_str(&picture(story, Look { width: WIDTH, paint }));
    for reason in reasons(&story.problem.program, model, &story.run) {
        text.push_str(&format!("  {} {reason}\n", paint.strong("Why:")));
    }
    if shown.claim == Claim::Violation(Violation::NotRobust) {
        text.push_str(&cycle::told(story, paint));
    }
    text
}

/// How many columns a terminal is expected to have for a picture.
pub const WIDTH: usize = 140;

/// Threads that get columns of their own.
const COLUMNS: usize = 3;

/// The head of the column with what the acting thread has pending.
const OWN: &str = "its pending";

/// What is said of a thread that begins in its critical section.
const FROM_THE_START: &str = "in critical section from the start";

/// Pictures with more rows than this show the first and the last few.
const MOST_ROWS: usize = 300;

/// How many of the first, and of the last, a picture that is too long shows.
const ENDS: usize = 100;

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
        let memory = view.all(story.run.memory(), story.run.memory(), look.paint);
        let when = match story.run.moments.len() {
            0 => "already so before the first step",
            _ => "after local steps only",
        };
        let colon = if memory.is_empty() { "" } else { ": " };
        return format!("  {when}{colon}{memory}\n");
    }
    let drawing = Drawing::new(story, look);
    let ways = [
        Way { brief: false, changes: false, own: false },
        Way { brief: true, changes: false, own: false },
        Way { brief: true, changes: true, own: false },
        Way { brief: true, changes: true, own: true },
    ];
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
    /// Only the acting thread's pending accesses are shown.
    own: bool,
}

struct Drawing<'a> {
    story: &'a Story<'a>,
    look: Look,
    view: View<'a>,
    /// The threads that act, and those that what is wrong is about.
    actors: Vec<ThreadId>,
    /// Those of them that have something pending at some time.
    waiting: Vec<ThreadId>,
}

impl<'a> Drawing<'a> {
    fn new(story: &'a Story<'a>, look: Look) -> Self {
        let program = &story.problem.program;
        let concerned = match story.run.violation {
            Some(Violation::MutualExclusion(a, b)) => vec![a, b],
            _ => Vec::new(),
        };
        let acts =
            |t: &ThreadId| concerned.contains(t) || story.rows.iter().any(|row| row.thread == *t);
        let actors: Vec<ThreadId> = program.thread_ids().filter(acts).collect();
        let waits = |t: &ThreadId| {
            let later = story.run.moments.iter().map(|moment| &moment.pending);
            let ever = std::iter::once(&story.run.first.pending).chain(later);
            ever.into_iter().any(|pending| !pending[t.index()].is_empty())
        };
        let waiting = actors.iter().copied().filter(waits).collect();
        Drawing { story, look, view: View::new(program, &touched(story)), actors, waiting }
    }

    fn name(&self, thread: ThreadId) -> &str {
        &self.story.problem.program.thread(thread).name
    }

    /// What a thread has pending after a row; before the first one for none.
    fn pending(&self, row: Option<&Row>, thread: ThreadId) -> String {
        let pending = match row {
            None => &self.story.run.first.pending,
            Some(row) if row.settles => &self.story.run.moments[row.moment].pending,
            Some(_) => return String::new(),
        };
        let program = &self.story.problem.program;
        let shown: Vec<String> =
            pending[thread.index()].iter().map(|p| wording::pending(program, thread, p)).collect();
        shown.join(", ")
    }

    /// Memory after a row; before the first one for none.
    fn memory(&self, row: Option<&Row>, changes: bool, paint: Paint) -> String {
        let run = &self.story.run;
        let Some(row) = row else {
            let initial = self.view.all(&run.first.memory, &run.first.memory, paint);
            return if changes { String::new() } else { initial };
        };
        if !row.settles {
            return String::new();
        }
        let now = &run.moments[row.moment].memory;
        let before = match row.moment {
            0 => &run.first.memory,
            at => &run.moments[at - 1].memory,
        };
        if changes { self.view.changes(now, before) } else { self.view.all(now, before, paint) }
    }

    /// What a thread does in a row. Before the first one, only that it is in a critical section.
    fn event(&self, row: Option<&Row>, thread: ThreadId, brief: bool) -> String {
        match row {
            Some(row) if row.thread == thread => shortened(&row.text, brief),
            None if self.story.run.first.critical[thread.index()] => FROM_THE_START.into(),
            Some(_) | None => String::new(),
        }
    }

    /// Memory and what is pending before the first row on lines of their own, where the columns are
    /// too narrow for it.
    fn initially(&self) -> String {
        let memory = self.memory(None, false, self.look.paint);
        let mut text = match memory.as_str() {
            "" => String::new(),
            memory => format!("      initially {memory}\n"),
        };
        for thread in self.story.problem.program.thread_ids() {
            let pending = self.pending(None, thread);
            if !pending.is_empty() {
                let name = self.name(thread);
                writeln!(text, "      initially pending {name}: {pending}")
                    .expect("strings take text");
            }
        }
        text
    }

    /// The rows that are shown: the first and the last, when there are too many.
    fn shown(&self) -> impl Iterator<Item = &Row> {
        let rows = &self.story.rows;
        let (first, last) = match rows.len() {
            0..=MOST_ROWS => (&rows[..], &rows[..0]),
            len => (&rows[..ENDS], &rows[len - ENDS..]),
        };
        first.iter().chain(last)
    }

    /// What stands between the first rows and the last, before this row (from 0) of those shown.
    fn gap(&self, at: usize) -> String {
        let rows = self.story.rows.len();
        if rows <= MOST_ROWS || at != ENDS {
            return String::new();
        }
        format!("  ... {} rows left out ... (all of them with --format json)\n", rows - 2 * ENDS)
    }

    /// The row before the first, then all that are shown.
    fn rows(&self) -> impl Iterator<Item = Option<&Row>> {
        std::iter::once(None).chain(self.shown().map(Some))
    }

    /// Whether there is something to see in the row before the first.
    fn has_first_row(&self, way: Way) -> bool {
        let first = &self.story.run.first;
        !way.changes || self.actors.iter().any(|t| first.critical[t.index()])
    }

    fn widest(&self, least: usize, of: impl Fn(Option<&Row>) -> String) -> usize {
        self.rows().map(|row| width(&of(row))).max().unwrap_or(0).max(least)
    }

    /// A column for each thread; none when that is too wide.
    fn columns(&self, way: Way) -> Option<String> {
        let paint = self.look.paint;
        let lines = self.widest(0, line);
        let events: Vec<usize> = (self.actors.iter())
            .map(|t| {
                let head = width(self.name(*t)).saturating_sub(lines + 1);
                self.widest(head, |row| self.event(row, *t, way.brief))
            })
            .collect();
        let memory = self.widest("memory".len(), |row| self.memory(row, way.changes, Paint::Plain));
        let pending = self.pending_columns(way);
        let total = 6
            + events.iter().map(|w| w + lines + 4).sum::<usize>()
            + pending.iter().map(|(_, w)| w + 2).sum::<usize>()
            + usize::from(!pending.is_empty())
            + memory;
        if total > self.look.width {
            return None;
        }

        let mut out = if way.changes { self.initially() } else { String::new() };
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
            writeln!(out, "{}", text.trim_end()).expect("strings take text");
        };
        let heads = (self.actors.iter().zip(&events))
            .map(|(t, w)| paint.strong(&format!("{:<1$}", self.name(*t), w + lines + 1)));
        let waits = pending.iter().map(|(whose, w)| {
            let head = whose.map_or(OWN.into(), |t| format!("pending {}", self.name(t)));
            format!("{head:<w$}")
        });
        put(&mut out, "#", heads.collect(), waits.collect(), "memory");
        for (at, row) in self.rows().enumerate() {
            if row.is_none() && !self.has_first_row(way) {
                continue;
            }
            if row.is_some() {
                out.push_str(&self.gap(at - 1));
            }
            let number = row.and_then(|row| row.number).map(|n| n.to_string()).unwrap_or_default();
            let cells = (self.actors.iter().zip(&events)).map(|(t, w)| {
                let what = format!("{:<w$}", self.event(row, *t, way.brief));
                let mine = row.filter(|row| row.thread == *t);
                let place = format!("{:<lines$}", mine.map(|r| line(Some(r))).unwrap_or_default());
                format!("{} {}", emphasised(&what, row, paint), paint.faint(&place))
            });
            let waits = pending.iter().map(|(whose, w)| {
                let whose = whose.or_else(|| row.map(|row| row.thread));
                let told = row.is_none() && way.changes; // above the picture
                let shown = whose.filter(|_| !told).map(|t| self.pending(row, t));
                let shown = shown.unwrap_or_default();
                format!("{shown:<w$}")
            });
            let memory = self.memory(row, way.changes, paint);
            put(&mut out, &number, cells.collect(), waits.collect(), &memory);
        }
        Some(out)
    }

    /// The columns of what is pending: whose (none: the acting thread's), and how wide.
    fn pending_columns(&self, way: Way) -> Vec<(Option<ThreadId>, usize)> {
        if way.own && self.waiting.len() > 1 {
            let of = |row: Option<&Row>| {
                row.map(|row| self.pending(Some(row), row.thread)).unwrap_or_default()
            };
            return vec![(None, self.widest(OWN.len(), of))];
        }
        let whole = |t: &ThreadId| {
            let head = width(self.name(*t)) + "pending ".len();
            let shown = |row: &Option<&Row>| row.is_some() || !way.changes;
            let of = |row: Option<&Row>| {
                Some(row).filter(shown).map(|row| self.pending(row, *t)).unwrap_or_default()
            };
            (Some(*t), self.widest(head, of))
        };
        self.waiting.iter().map(whole).collect()
    }

    /// A line for each event.
    fn list(&self) -> String {
        let paint = self.look.paint;
        let most = |of: &dyn Fn(&Row) -> usize| self.shown().map(of).max().unwrap_or(0);
        let text = |row: &Row| clip(&shortened(&row.text, true), 70);
        let names = most(&|row| width(self.name(row.thread))).max("thread".len());
        let texts = most(&|row| width(&text(row))).max("event".len());
        let lines = most(&|row| width(&line(Some(row))));
        let changed = |row: &Row| self.memory(Some(row), true, paint);
        let memory = most(&|row| width(&changed(row)));
        // What is pending gets the room that is left.
        let room = self.look.width.saturating_sub(names + texts + lines + memory + 15).max(24);
        let mine = |row: &Row| clip(&self.pending(Some(row), row.thread), room);
        let pending = match most(&|row| width(&mine(row))) {
            0 => 0,
            some => some.max(OWN.len()),
        };
        let mut out = self.initially();
        for thread in &self.actors {
            if self.story.run.first.critical[thread.index()] {
                writeln!(out, "      {} {FROM_THE_START}", self.name(*thread))
                    .expect("strings take text");
            }
        }
        let put = |out: &mut String,
                   number: &str,
                   name: &str,
                   what: &str,
                   place: &str,
                   wait: &str,
                   mem: &str| {
            let waits = match pending {
                0 => String::new(),
                _ => format!(" | {wait:<pending$}"),
            };
            let text = format!("{number:>4}  {name:<names$}  {what} {place}{waits} | {mem}");
            writeln!(out, "{}", text.trim_end()).expect("strings take text");
        };
        let pad = |text: &str, w: usize| format!("{text:<w$}");
        put(&mut out, "#", "thread", &pad("event", texts), &pad("", lines), OWN, "memory");
        for (at, row) in self.shown().enumerate() {
            out.push_str(&self.gap(at));
            let number = row.number.map(|n| n.to_string()).unwrap_or_default();
            let what = emphasised(&pad(&text(row), texts), Some(row), paint);
            let place = paint.faint(&pad(&line(Some(row)), lines));
            put(&mut out, &number, self.name(row.thread), &what, &place, &mine(row), &changed(row));
        }
        out
    }
}

fn line(row: Option<&Row>) -> String {
    row.and_then(|row| row.line).map(|line| format!(":{line}")).unwrap_or_default()
}

/// Remarks stand out from events.
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
            | EventKind::Stay { loc, .. }
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
            | EventKind::Defer
            | EventKind::Skip => {}
        }
    }
    let condition = match shown_by(story) {
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
