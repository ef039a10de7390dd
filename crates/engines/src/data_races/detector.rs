//! Finds the first data race of an execution under SC.
//!
//! Two accesses of different threads to the same location are a data race if at least one of them
//! writes, at least one is plain, and none [happens before](super::clocks) the other. Two accesses
//! in atomic blocks are no race.
//!
//! It is sufficient to compare an access with the last access of each kind of each other thread:
//! if an earlier one is not ordered before it, then the last one is not either.

use super::clocks::HappensBefore;
use fencepost_ir::{DataRace, Label, Loc, Op, Program, RacingAccess, ThreadId};
use fencepost_models::event::{Event, EventKind};

/// An access of an atomic block whose end is not reached.
#[derive(Clone, Copy, Debug)]
struct BlockAccess {
    loc: Loc,
    label: Label,
    reads: bool,
    writes: bool,
}

/// The last access of a kind to a location.
#[derive(Clone, Copy, Debug)]
struct LastAccess {
    access: RacingAccess,
    in_block: bool,
    /// The number of the access among the events of its thread.
    time: u32,
}

impl LastAccess {
    /// Returns whether an access of the same thread and kind replaces this one.
    fn is_replaced_by(&self, later: &LastAccess) -> bool {
        let kind = |last: &LastAccess| {
            (last.access.thread, last.access.writes, last.access.is_plain, last.in_block)
        };
        kind(self) == kind(later)
    }
}

/// The detector. It receives the events of an execution in order.
#[derive(Clone, Debug)]
pub(crate) struct Detector<'p> {
    program: &'p Program,
    order: HappensBefore,
    /// By location: the last accesses.
    accesses: Vec<Vec<LastAccess>>,
    /// The current atomic block: its thread and accesses.
    block: Option<(ThreadId, Vec<BlockAccess>)>,
    race: Option<DataRace>,
}

impl<'p> Detector<'p> {
    pub(crate) fn new(program: &'p Program) -> Self {
        let locations = program.locations.len();
        let records: u32 = program.pools.iter().map(|pool| pool.cells).sum();
        Detector {
            program,
            // A record has a clock of its own, after those of the locations.
            order: HappensBefore::new(program.threads.len(), locations + records as usize),
            accesses: vec![Vec::new(); locations],
            block: None,
            race: None,
        }
    }

    /// Returns the first race so far.
    pub(crate) fn race(&self) -> Option<DataRace> {
        self.race
    }

    /// Adds an event.
    pub(crate) fn add(&mut self, event: &Event) {
        let t = event.thread;
        let label = event.pc.map(|pc| self.program.thread(t).stmt(pc).label).or(event.label);
        match event.kind {
            EventKind::Load { loc, .. } => self.access(t, label, loc, (true, false)),
            EventKind::Store { loc, .. } | EventKind::Write { loc, .. } => {
                self.access(t, label, loc, (false, true));
            }
            EventKind::Update { loc, new, .. } => {
                self.access(t, label, loc, (true, new.is_some()));
            }
            EventKind::Fence(kinds) => self.order.fence(t, kinds),
            EventKind::AtomicBegin => self.block = Some((t, Vec::new())),
            EventKind::AtomicEnd => self.end_block(),
            EventKind::New(reference) => self.allocate(event, reference),
            EventKind::Free(reference) => {
                if let Some((record, _)) = self.record(event, reference) {
                    self.order.acquire(t, record);
                    self.order.release(t, record);
                }
            }
            EventKind::Fetch { .. }
            | EventKind::Commit { .. }
            | EventKind::CommitAndKeep { .. }
            | EventKind::Confirm
            | EventKind::Repeat { .. }
            | EventKind::Drain(_)
            | EventKind::Set { .. }
            | EventKind::Test(_)
            | EventKind::Guess(_)
            | EventKind::Leave
            | EventKind::SectionBegin
            | EventKind::SectionEnd
            | EventKind::GracePeriod { .. }
            | EventKind::Skip
            | EventKind::Defer => {}
        }
    }

    /// Ends an atomic block. An execution may also end inside a block.
    pub(crate) fn end_block(&mut self) {
        let Some((t, accesses)) = self.block.take() else { return };
        for access in accesses.iter().filter(|access| access.reads) {
            self.order.acquire(t, access.loc);
        }
        for access in &accesses {
            self.compare(t, access.label, access.loc, access.writes, true);
        }
        for access in accesses.iter().filter(|access| access.writes) {
            self.order.release(t, access.loc);
        }
    }

    fn access(&mut self, t: ThreadId, label: Option<Label>, loc: Loc, kind: (bool, bool)) {
        let Some(label) = label else { return };
        let (reads, writes) = kind;
        if let Some((owner, accesses)) = &mut self.block
            && *owner == t
        {
            accesses.push(BlockAccess { loc, label, reads, writes });
            return;
        }
        self.compare(t, label, loc, writes, false);
        match (self.program.plain.contains(&label), reads, writes) {
            (true, _, true) => self.order.plain_store(loc),
            (true, _, false) | (false, false, false) => {}
            (false, true, true) => self.order.update(t, loc),
            (false, true, false) => self.order.load(t, loc),
            (false, false, true) => self.order.store(t, loc),
        }
    }

    /// Compares an access with the accesses of other threads to the location.
    fn compare(&mut self, t: ThreadId, label: Label, loc: Loc, writes: bool, in_block: bool) {
        let is_plain = self.program.plain.contains(&label);
        let time = self.order.tick(t);
        let access = RacingAccess { thread: t, label, writes, is_plain };
        let now = self.order.now(t);
        let races = |last: &&LastAccess| {
            last.access.thread != t
                && (last.access.writes || writes)
                && (last.access.is_plain || is_plain)
                && !(last.in_block && in_block)
                && now.get(last.access.thread) < last.time
        };
        let accesses = &mut self.accesses[loc.index()];
        if let (None, Some(last)) = (self.race, accesses.iter().find(races)) {
            self.race = Some(DataRace { loc, accesses: [last.access, access] });
        }
        let last = LastAccess { access, in_block, time };
        match accesses.iter_mut().find(|earlier| earlier.is_replaced_by(&last)) {
            Some(earlier) => *earlier = last,
            None => accesses.push(last),
        }
    }

    /// A record is allocated. Accesses to its former content do not matter any more.
    fn allocate(&mut self, event: &Event, reference: i64) {
        let Some((record, fields)) = self.record(event, reference) else { return };
        self.order.acquire(event.thread, record);
        for field in fields {
            self.accesses[field].clear();
            self.order.plain_store(Loc::from_index(field));
        }
    }

    /// Returns the clock and the locations of the record that a statement allocates or frees.
    fn record(&self, event: &Event, reference: i64) -> Option<(Loc, std::ops::Range<usize>)> {
        let op = event.pc.map(|pc| &self.program.thread(event.thread).stmt(pc).op);
        let Some(Op::New { pool: id, .. } | Op::Free { pool: id, .. }) = op else { return None };
        let pool = self.program.pool(*id);
        let cell = u32::try_from(reference).ok()?.checked_sub(1).filter(|at| *at < pool.cells)?;
        let earlier: u32 = self.program.pools[..id.index()].iter().map(|pool| pool.cells).sum();
        let clock = self.program.locations.len() + (earlier + cell) as usize;
        let first = pool.base.index() + (cell * pool.stride) as usize;
        Some((Loc::from_index(clock), first..first + pool.stride as usize))
    }
}
