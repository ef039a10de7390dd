//! Which reorderings a run owes its end to.
//!
//! An access that overtakes an earlier one of its thread matters only if others can tell: in the
//! manner of Shasha and Snir's critical cycles, another thread conflicts with the overtaken access
//! while it is late, and another conflicts with the overtaking one after it. Pairs that nobody can
//! tell apart are not mentioned.
//!
//! Direction: a hint for the reader, no proof. A pair that is mentioned did change places; that the
//! violation would not happen without it is not checked.

use crate::paint::printable;
use crate::wording::{cell, place};
use fencepost_ir::{Label, Loc, Program, ThreadId, Value};
use fencepost_models::catalog::Kind;
use fencepost_models::replay::Run;
use fencepost_models::{EventKind, ModelSpec, Source};

/// No more reasons than this.
const MOST: usize = 3;

/// A time later than the whole run.
const NEVER: usize = usize::MAX;

/// A shared access of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Access {
    thread: ThreadId,
    label: Label,
    loc: Option<Loc>,
    /// Whether it reads memory, and what it found there.
    reads: bool,
    read: Option<Value>,
    /// Whether it writes memory, and what it leaves there.
    writes: bool,
    wrote: Option<Value>,
    /// When its thread came to it.
    issued: usize,
    /// When it took effect.
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

/// An access that went ahead of an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Overtaking {
    ahead: Access,
    late: Access,
}

/// The reasons, one sentence each, in the order of the run.
pub fn reasons(program: &Program, model: &ModelSpec, run: &Run) -> Vec<String> {
    let (accesses, overtaken) = accesses(run);
    if overtaken.is_empty() {
        return vec![match model.kind {
            Kind::Sc => "Nothing is reordered under SC: the program itself allows this.".into(),
            Kind::Tso | Kind::Pso | Kind::Table(_) => {
                "No reordering is involved: this also happens under SC.".into()
            }
        }];
    }
    let tell = Sentences { program, model };
    let mut found: Vec<Reason> = Vec::new();
    for pair in &overtaken {
        for reason in tell.pair(pair, &accesses) {
            // The last of its kind between two threads says it all.
            match found.iter_mut().find(|other| other.key == reason.key) {
                Some(other) if other.time > reason.time => {}
                Some(other) => *other = reason,
                None => found.push(reason),
            }
        }
    }
    if found.is_empty() {
        // Nothing conclusive: at least the last reordering.
        found.extend(overtaken.last().map(|pair| tell.plain(pair)));
    }
    found.sort_by_key(|reason| reason.time);
    let skipped = found.len().saturating_sub(MOST);
    found.into_iter().skip(skipped).map(|reason| reason.text).collect()
}

struct Reason {
    /// Reasons with the same key are of the same kind, about the same threads.
    key: (u8, ThreadId, ThreadId),
    time: usize,
    text: String,
}

struct Sentences<'a> {
    program: &'a Program,
    model: &'a ModelSpec,
}

impl Sentences<'_> {
    /// What to say about a pair that others can tell apart.
    fn pair(&self, pair: &Overtaking, accesses: &[Access]) -> Vec<Reason> {
        let Overtaking { ahead, late } = *pair;
        let after = |x: &&Access| x.conflicts(&ahead) && x.time > ahead.time;
        let meanwhile =
            |y: &&Access| y.conflicts(&late) && late.issued <= y.time && y.time < late.time;
        // A read that found what the late store brings is no news.
        let tells = |y: &&Access| !y.reads || !late.writes || y.read != late.wrote || y.writes;
        let seen = accesses.iter().filter(meanwhile).filter(tells);
        let seen = seen.max_by_key(|y| (y.reads, y.time));
        let (Some(_), Some(seen)) = (accesses.iter().find(after), seen) else {
            return Vec::new();
        };
        let missed = late.writes && seen.reads;
        let mut reasons = Vec::new();
        if ahead.writes || !missed {
            reasons.push(self.plain(pair));
        }
        if missed {
            reasons.push(self.missed(seen, &late));
        }
        reasons
    }

    /// That the two changed places.
    fn plain(&self, pair: &Overtaking) -> Reason {
        let Overtaking { ahead, late } = pair;
        let name = self.name(ahead.thread);
        let (first, second) = (self.place(ahead), self.place(late));
        let text = match (ahead.writes, late.writes) {
            (true, true) => format!(
                "{name}'s {} {first} became visible before its earlier {} {second}.",
                self.store(ahead),
                self.store(late)
            ),
            (true, false) => format!(
                "{name}'s {} {first} became visible before its earlier load of {} {second}.",
                self.store(ahead),
                self.location(late)
            ),
            (false, true) => format!(
                "{name} read {} {first} before its earlier {} {second} became visible.",
                self.found(ahead),
                self.store(late)
            ),
            (false, false) => format!(
                "{name} read {} {first} before its earlier load of {} {second}.",
                self.found(ahead),
                self.location(late)
            ),
        };
        let kind = 2 * u8::from(ahead.writes) + u8::from(late.writes);
        Reason { key: (kind, ahead.thread, ahead.thread), time: ahead.time, text }
    }

    /// That another thread read the old value.
    fn missed(&self, reader: &Access, late: &Access) -> Reason {
        let waiting = match self.model.kind {
            Kind::Sc | Kind::Tso | Kind::Pso => "still in its buffer",
            Kind::Table(_) => "still pending",
        };
        let text = format!(
            "{} read {} from memory {} while {}'s {} {} was {waiting}.",
            self.name(reader.thread),
            self.found(reader),
            self.place(reader),
            self.name(late.thread),
            self.store(late),
            self.place(late),
        );
        Reason { key: (4, reader.thread, late.thread), time: reader.time, text }
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

    /// `x = 0`, the location and what was found in it.
    fn found(&self, access: &Access) -> String {
        self.cell(access, access.read)
    }

    /// `store x = 1`, with what is left in the location.
    fn store(&self, access: &Access) -> String {
        let kind = if access.reads { "update" } else { "store" };
        format!("{kind} {}", self.cell(access, access.wrote))
    }

    fn cell(&self, access: &Access, value: Option<Value>) -> String {
        match (access.loc, value) {
            (Some(loc), Some(value)) => cell(self.program, loc, " = ", value),
            _ => self.location(access),
        }
    }
}

/// The accesses of a run, and which went ahead of which.
fn accesses(run: &Run) -> (Vec<Access>, Vec<Overtaking>) {
    let mut all: Vec<Access> = Vec::new();
    let mut ahead: Vec<(usize, Vec<Label>)> = Vec::new();
    let events = run.moments.iter().flat_map(|moment| &moment.events);
    for (now, told) in (1..).zip(events) {
        let (thread, Some(label)) = (told.event.thread, told.event.label) else { continue };
        let blank = Access {
            thread,
            label,
            loc: None,
            reads: false,
            read: None,
            writes: false,
            wrote: None,
            issued: now,
            time: now,
        };
        let load = |loc, read| Access { loc, reads: true, read, ..blank };
        let store = |loc, wrote| Access { loc, writes: true, wrote, ..blank };
        let access = match told.event.kind {
            EventKind::Fetch { stores: true, loc, value } => {
                Access { time: NEVER, ..store(loc, value) }
            }
            EventKind::Fetch { stores: false, loc, .. } => {
                Access { time: NEVER, ..load(loc, None) }
            }
            EventKind::Store { loc, value } => {
                Access { time: NEVER, ..store(Some(loc), Some(value)) }
            }
            // Nobody else has to do with what a thread reads from its own buffer.
            EventKind::Load { source: Source::Forwarded, .. } => blank,
            EventKind::Load { loc, value, source: Source::Memory } => load(Some(loc), Some(value)),
            EventKind::Write { loc, value }
            | EventKind::Commit { loc, value }
            | EventKind::Stay { loc, value } => store(Some(loc), Some(value)),
            EventKind::Update { loc, old, new } => {
                Access { writes: new.is_some(), wrote: new, ..load(Some(loc), Some(old)) }
            }
            EventKind::Fence(_)
            | EventKind::Drain(_)
            | EventKind::Set { .. }
            | EventKind::Test(_)
            | EventKind::New(_)
            | EventKind::Free(_)
            | EventKind::Leave
            | EventKind::AtomicBegin
            | EventKind::AtomicEnd
            | EventKind::Defer
            | EventKind::Skip => continue,
        };
        let waiting = |a: &Access| a.thread == thread && a.label == label && a.time == NEVER;
        let at = match all.iter().position(waiting) {
            Some(at) if access.time != NEVER => {
                all[at] = Access { issued: all[at].issued, ..access };
                at
            }
            _ => {
                all.push(access);
                all.len() - 1
            }
        };
        if !told.overtaken.is_empty() {
            ahead.push((at, told.overtaken.clone()));
        }
    }
    still_pending(run, &mut all);
    let overtaken = ahead
        .iter()
        .flat_map(|(at, labels)| labels.iter().map(|label| (all[*at], *label)))
        .filter_map(|(ahead, label)| {
            let late =
                |a: &&Access| a.thread == ahead.thread && a.label == label && a.time > ahead.time;
            let mut late = *all.iter().find(late)?;
            if late.issued > ahead.time {
                late.issued = 0; // fetched before the run's first step
            }
            let apart = late.loc.is_none() || late.loc != ahead.loc;
            (ahead.loc.is_some() && apart).then_some(Overtaking { ahead, late })
        })
        .collect();
    (all, overtaken)
}

/// Adds what was fetched before the first step and never took effect.
fn still_pending(run: &Run, all: &mut Vec<Access>) {
    for (t, list) in run.moments.last().map(|m| &m.pending).into_iter().flatten().enumerate() {
        let thread = ThreadId::from_index(t);
        for p in list {
            let known = |a: &Access| a.thread == thread && a.label == p.label && a.time == NEVER;
            if !all.iter().any(known) {
                all.push(Access {
                    thread,
                    label: p.label,
                    loc: p.loc,
                    reads: !p.stores,
                    read: None,
                    writes: p.stores,
                    wrote: p.value,
                    issued: 0,
                    time: NEVER,
                });
            }
        }
    }
}
