//! The reorderings that explain a run: the "Why:" lines below a picture.
//!
//! A reordering of two accesses of a thread is reported only if it is observable. The condition
//! follows Shasha and Snir's critical cycles: another thread's access conflicts with the overtaken
//! access while that access is pending, and another thread's access conflicts with the overtaking
//! access after it. A run without reorderings may still differ from SC: a thread violates an
//! invariant about control points while its stores are pending.
//!
//! Direction: a hint for the reader, not a proof. Every reported reordering did happen. That the
//! violation depends on the reordering is not checked.

use crate::paint::printable;
use crate::wording::{cell, place};
use fencepost_ir::{Label, Loc, Program, ThreadId, Value, Violation};
use fencepost_models::catalog::ModelKind;
use fencepost_models::replay::ReplayedRun;
use fencepost_models::{EventKind, ModelSpec, Source};

/// The maximal number of reasons.
const MAX_REASONS: usize = 3;

/// The time of an access that does not take effect within the run.
const NEVER: usize = usize::MAX;

/// A shared access of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Access {
    thread: ThreadId,
    label: Label,
    loc: Option<Loc>,
    /// Whether the access reads memory.
    reads: bool,
    /// The value read, if it is known.
    value_read: Option<Value>,
    /// Whether the access writes memory.
    writes: bool,
    /// The value written, if it is known.
    value_written: Option<Value>,
    /// The number of the event that issued the access, from 1; 0 before the first step.
    issued: usize,
    /// The number of the event with which the access took effect, from 1; or [`NEVER`].
    time: usize,
}

impl Access {
    fn conflicts(&self, other: &Access) -> bool {
        self.thread != other.thread
            && self.loc.is_some()
            && self.loc == other.loc
            && (self.writes || other.writes)
    }
}

/// An access that overtook an earlier access of its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Reordering {
    overtaking: Access,
    overtaken: Access,
}

/// Describes the observable reorderings of a run, one sentence each, in the order of the run.
pub fn describe_reorderings(
    program: &Program,
    model: &ModelSpec,
    run: &ReplayedRun,
) -> Vec<String> {
    let (accesses, reorderings) = accesses(run);
    let describer = Describer { program, model };
    if reorderings.is_empty() {
        let arrivals = describer.early_arrivals(run, &accesses);
        if !arrivals.is_empty() {
            return arrivals;
        }
        return vec![match model.kind {
            ModelKind::Sc => {
                "Nothing is reordered under SC: the program itself allows this.".into()
            }
            ModelKind::Tso | ModelKind::Pso | ModelKind::Table(_) | ModelKind::Arm => {
                "No reordering is involved: this also happens under SC.".into()
            }
        }];
    }
    let mut found: Vec<Reason> = Vec::new();
    for reordering in &reorderings {
        for reason in describer.observable(reordering, &accesses) {
            // Of several reasons of one kind between two threads, the last is kept.
            match found.iter_mut().find(|other| other.key == reason.key) {
                Some(other) if other.time > reason.time => {}
                Some(other) => *other = reason,
                None => found.push(reason),
            }
        }
    }
    if found.is_empty() {
        // No reordering is observable by the condition above: report the last one.
        found.extend(reorderings.last().map(|reordering| describer.reordered(reordering)));
    }
    found.sort_by_key(|reason| reason.time);
    let skipped = found.len().saturating_sub(MAX_REASONS);
    found.into_iter().skip(skipped).map(|reason| reason.text).collect()
}

struct Reason {
    /// The kind of reason and the threads concerned.
    key: (u8, ThreadId, ThreadId),
    time: usize,
    text: String,
}

struct Describer<'a> {
    program: &'a Program,
    model: &'a ModelSpec,
}

impl Describer<'_> {
    /// Returns the reasons for an observable reordering; none if the reordering is not observable.
    fn observable(&self, reordering: &Reordering, accesses: &[Access]) -> Vec<Reason> {
        let Reordering { overtaking, overtaken } = *reordering;
        let after = |x: &&Access| x.conflicts(&overtaking) && x.time > overtaking.time;
        let while_pending = |y: &&Access| {
            y.conflicts(&overtaken) && overtaken.issued <= y.time && y.time < overtaken.time
        };
        // A load that reads the value of the overtaken store anyway does not observe the delay.
        let observes = |y: &&Access| {
            !y.reads || !overtaken.writes || y.value_read != overtaken.value_written || y.writes
        };
        let observer = accesses.iter().filter(while_pending).filter(observes);
        let observer = observer.max_by_key(|y| (y.reads, y.time));
        let (Some(_), Some(observer)) = (accesses.iter().find(after), observer) else {
            return Vec::new();
        };
        let is_stale_read = overtaken.writes && observer.reads;
        let mut reasons = Vec::new();
        if overtaking.writes || !is_stale_read {
            reasons.push(self.reordered(reordering));
        }
        if is_stale_read {
            reasons.push(self.stale_read(observer, &overtaken));
        }
        reasons
    }

    /// States that two accesses were reordered.
    fn reordered(&self, reordering: &Reordering) -> Reason {
        let Reordering { overtaking, overtaken } = reordering;
        let name = self.name(overtaking.thread);
        let (first, second) = (self.place(overtaking), self.place(overtaken));
        let text = match (overtaking.writes, overtaken.writes) {
            (true, true) => format!(
                "{name}'s {} {first} became visible before its earlier {} {second}.",
                self.store(overtaking),
                self.store(overtaken)
            ),
            (true, false) => format!(
                "{name}'s {} {first} became visible before its earlier load of {} {second}.",
                self.store(overtaking),
                self.location(overtaken)
            ),
            (false, true) => format!(
                "{name} read {} {first} before its earlier {} {second} became visible.",
                self.location_read(overtaking),
                self.store(overtaken)
            ),
            (false, false) => format!(
                "{name} read {} {first} before its earlier load of {} {second}.",
                self.location_read(overtaking),
                self.location(overtaken)
            ),
        };
        let kind = 2 * u8::from(overtaking.writes) + u8::from(overtaken.writes);
        Reason { key: (kind, overtaking.thread, overtaking.thread), time: overtaking.time, text }
    }

    /// States that another thread read the old value while a store was pending.
    fn stale_read(&self, reader: &Access, store: &Access) -> Reason {
        let status = self.pending_status();
        let text = format!(
            "{} read {} from memory {} while {}'s {} {} was {status}.",
            self.name(reader.thread),
            self.location_read(reader),
            self.place(reader),
            self.name(store.thread),
            self.store(store),
            self.place(store),
        );
        Reason { key: (4, reader.thread, store.thread), time: reader.time, text }
    }

    /// States for each thread that violates an invariant by its control point which of its stores are
    /// pending.
    fn early_arrivals(&self, run: &ReplayedRun, accesses: &[Access]) -> Vec<String> {
        let Some(Violation::Invariant(_)) = run.violation else { return Vec::new() };
        let has_arrived =
            |t: ThreadId| run.last.control_points.get(t.index()).is_some_and(Option::is_some);
        let early = accesses.iter().filter(|a| a.writes && a.time == NEVER);
        let early = early.filter(|store| has_arrived(store.thread)).take(MAX_REASONS);
        let text = |store: &Access| {
            format!(
                "{} was at its label while its {} {} was {}.",
                self.name(store.thread),
                self.store(store),
                self.place(store),
                self.pending_status(),
            )
        };
        early.map(text).collect()
    }

    fn pending_status(&self) -> &'static str {
        match self.model.kind {
            ModelKind::Sc | ModelKind::Tso | ModelKind::Pso => "still in its buffer",
            ModelKind::Table(_) | ModelKind::Arm => "still pending",
        }
    }

    fn name(&self, thread: ThreadId) -> &str {
        &self.program.thread(thread).name
    }

    fn place(&self, access: &Access) -> String {
        format!("({})", place(self.program, access.label))
    }

    fn location(&self, access: &Access) -> String {
        match access.loc {
            Some(loc) => self.program.location(loc).name.clone(),
            None => printable(&self.program.label(access.label).text),
        }
    }

    /// Formats the location and the value read: `x = 0`.
    fn location_read(&self, access: &Access) -> String {
        self.cell(access, access.value_read)
    }

    /// Formats a store or update with the value written: `store x = 1`.
    fn store(&self, access: &Access) -> String {
        let kind = if access.reads { "update" } else { "store" };
        format!("{kind} {}", self.cell(access, access.value_written))
    }

    fn cell(&self, access: &Access, value: Option<Value>) -> String {
        match (access.loc, value) {
            (Some(loc), Some(value)) => cell(self.program, loc, " = ", value),
            _ => self.location(access),
        }
    }
}

/// Returns the accesses of a run and their reorderings.
fn accesses(run: &ReplayedRun) -> (Vec<Access>, Vec<Reordering>) {
    let mut all: Vec<Access> = Vec::new();
    // The index of each overtaking access, with the statements that it overtakes.
    let mut overtaking: Vec<(usize, Vec<Label>)> = Vec::new();
    let events = run.steps.iter().flat_map(|replayed| &replayed.events);
    for (now, annotated) in (1..).zip(events) {
        let (thread, Some(label)) = (annotated.event.thread, annotated.event.label) else {
            continue;
        };
        let blank = Access {
            thread,
            label,
            loc: None,
            reads: false,
            value_read: None,
            writes: false,
            value_written: None,
            issued: now,
            time: now,
        };
        let load = |loc, value_read| Access { loc, reads: true, value_read, ..blank };
        let store = |loc, value_written| Access { loc, writes: true, value_written, ..blank };
        let access = match annotated.event.kind {
            EventKind::Fetch { stores: true, loc, value } => {
                Access { time: NEVER, ..store(loc, value) }
            }
            EventKind::Fetch { stores: false, loc, .. } => {
                Access { time: NEVER, ..load(loc, None) }
            }
            EventKind::Store { loc, value } => {
                Access { time: NEVER, ..store(Some(loc), Some(value)) }
            }
            // A forwarded load does not access memory, so no other access conflicts with it. Nor does
            // a store that repeats another one.
            EventKind::Load { source: Source::Forwarded { .. }, .. } | EventKind::Repeat { .. } => {
                blank
            }
            EventKind::Load { loc, value, source: Source::Memory } => load(Some(loc), Some(value)),
            EventKind::Write { loc, value }
            | EventKind::Commit { loc, value }
            | EventKind::CommitAndKeep { loc, value } => store(Some(loc), Some(value)),
            EventKind::Update { loc, old, new } => {
                Access { writes: new.is_some(), value_written: new, ..load(Some(loc), Some(old)) }
            }
            EventKind::Fence(_)
            | EventKind::Drain(_)
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
            | EventKind::Skip => continue,
        };
        let is_pending = |a: &Access| a.thread == thread && a.label == label && a.time == NEVER;
        let at = match all.iter().position(is_pending) {
            Some(at) if access.time != NEVER => {
                all[at] = Access { issued: all[at].issued, ..access };
                at
            }
            _ => {
                all.push(access);
                all.len() - 1
            }
        };
        if !annotated.overtaken.is_empty() {
            overtaking.push((at, annotated.overtaken.clone()));
        }
    }
    add_pending_at_end(run, &mut all);
    let reorderings = overtaking
        .iter()
        .flat_map(|(at, labels)| labels.iter().map(|label| (all[*at], *label)))
        .filter_map(|(overtaking, label)| {
            let is_overtaken = |a: &&Access| {
                a.thread == overtaking.thread && a.label == label && a.time > overtaking.time
            };
            let mut overtaken = *all.iter().find(is_overtaken)?;
            if overtaken.issued > overtaking.time {
                overtaken.issued = 0; // fetched before the first step of the run
            }
            let locations_differ = overtaken.loc.is_none() || overtaken.loc != overtaking.loc;
            (overtaking.loc.is_some() && locations_differ)
                .then_some(Reordering { overtaking, overtaken })
        })
        .collect();
    (all, reorderings)
}

/// Adds the accesses that were fetched before the first step and are still pending at the end.
fn add_pending_at_end(run: &ReplayedRun, all: &mut Vec<Access>) {
    for (t, list) in run.steps.last().map(|m| &m.pending).into_iter().flatten().enumerate() {
        let thread = ThreadId::from_index(t);
        for p in list {
            let is_same = |a: &Access| a.thread == thread && a.label == p.label && a.time == NEVER;
            if !all.iter().any(is_same) {
                all.push(Access {
                    thread,
                    label: p.label,
                    loc: p.loc,
                    reads: !p.stores,
                    value_read: None,
                    writes: p.stores,
                    value_written: p.value,
                    issued: 0,
                    time: NEVER,
                });
            }
        }
    }
}
