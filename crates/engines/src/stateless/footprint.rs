//! What one step of a sequentially consistent run touches: for partial orders, in *cells*; for the monitor
//! of robustness, as *actions*.
//!
//! Cells are more than locations. Two steps that touch no common cell, or only read it, commute, and whoever
//! looks at one order of them has seen the other:
//! - a location;
//! - a record: allocated or not. `new` reads those it passes over, and every access to a field reads its own;
//! - how many operations of a client a thread has returned from, which `invoke` reads;
//! - all that an invariant looks at, together: each order of writes to it is a state of its own.

use fencepost_explore::Touch;
use fencepost_ir::{FenceKinds, Loc, Op, Pc, ThreadId};
use fencepost_models::event::{Event, EventKind, Record};
use fencepost_models::shape::Shape;
use fencepost_monitor as monitor;

/// An action for the monitor, with the accesses of a block elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Act {
    /// One that stands for itself.
    Plain(monitor::Action<'static>),
    /// A block with these accesses of the footprint.
    Block { from: usize, to: usize },
}

/// Where cells begin.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    records: u32,
    returns: u32,
    invariant: u32,
    /// By thread: whether some other one looks at how far it is.
    watched: Vec<bool>,
    /// Addresses of the monitor: locations, then pools.
    pub(crate) addresses: usize,
}

impl Cells {
    /// Those of a program.
    pub(crate) fn new(shape: &Shape<'_>) -> Self {
        let program = shape.program();
        let records = program.locations.len() as u32;
        let returns = records + shape.cells as u32;
        let mut watched = vec![false; program.threads.len()];
        for stmt in program.threads.iter().flat_map(|thread| &thread.code) {
            if let Op::Invoke { seen } = &stmt.op {
                seen.iter().for_each(|(other, _)| watched[other.index()] = true);
            }
        }
        Cells {
            records,
            returns,
            invariant: returns + program.threads.len() as u32,
            watched,
            addresses: program.locations.len() + program.pools.len(),
        }
    }

    /// Whether another thread looks at how far this one is.
    pub(crate) fn is_watched(&self, t: ThreadId) -> bool {
        self.watched[t.index()]
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.invariant as usize + 1
    }
}

/// What a step did, as far as it matters. Filled by the machine, read by [`Footprint::finish`].
#[derive(Debug, Default)]
pub(crate) struct Footprint {
    noted: Vec<(EventKind, Option<Pc>)>,
    /// Cells, each as often as it was touched.
    pub(crate) touches: Vec<Touch>,
    /// Actions, in order.
    pub(crate) acts: Vec<Act>,
    /// The accesses of blocks.
    pub(crate) accesses: Vec<monitor::Access>,
}

impl Record for Footprint {
    fn take(&mut self, event: Event) {
        if !matches!(event.kind, EventKind::Set { .. } | EventKind::Test(_)) {
            self.noted.push((event.kind, event.pc));
        }
    }
}

impl Footprint {
    /// Forgets everything, before a step.
    pub(crate) fn clear(&mut self) {
        self.noted.clear();
        self.touches.clear();
        self.acts.clear();
        self.accesses.clear();
    }

    /// After a step that went wrong, of which not all was told: it may have touched anything.
    pub(crate) fn touch_all(&mut self, cells: &Cells) {
        let all = 0..cells.len() as u32;
        self.touches.extend(all.map(|cell| Touch { cell, writes: true }));
    }

    /// Turns what the machine told of a step of `t`, from `pc` to `to`, into cells and actions.
    pub(crate) fn finish(
        &mut self,
        shape: &Shape<'_>,
        cells: &Cells,
        t: ThreadId,
        (pc, to): (Pc, Pc),
    ) {
        let mut block = None;
        for at in 0..self.noted.len() {
            let (kind, at) = self.noted[at];
            match kind {
                EventKind::Load { loc, .. } => {
                    self.access(shape, cells, loc, false);
                    let read = monitor::Access::read(loc.0);
                    self.act(block, read, monitor::Action::Load(loc.0));
                }
                EventKind::Write { loc, .. } => {
                    self.access(shape, cells, loc, true);
                    let write = monitor::Access::write(loc.0);
                    self.act(block, write, monitor::Action::Store(loc.0));
                }
                EventKind::Update { loc, new, .. } => {
                    let writes = new.is_some();
                    self.access(shape, cells, loc, writes);
                    let update = monitor::Action::Update { address: loc.0, writes };
                    let access = monitor::Access { address: loc.0, reads: true, writes };
                    self.act(block, access, update);
                }
                EventKind::New(reference) => {
                    let Some(Op::New { pool, .. }) = at.map(|pc| &shape.stmt(t, pc).op) else {
                        unreachable!("told of the statement that allocates")
                    };
                    let first = shape.pool_cells[pool.index()];
                    let taken = shape.cell_index(*pool, reference) as u32;
                    let passed = (first..taken).map(|cell| (cell, false));
                    for (cell, writes) in passed.chain([(taken, true)]) {
                        self.touches.push(Touch { cell: cells.records + cell, writes });
                    }
                    let allocator = cells.records + u32::from(pool.0);
                    let access = monitor::Access::update(allocator);
                    self.act(block, access, monitor::Action::Direct(allocator));
                }
                EventKind::Free(_) => {
                    let Some(Op::Free { pool, .. }) = at.map(|pc| &shape.stmt(t, pc).op) else {
                        unreachable!("told of the statement that frees")
                    };
                    // Which one is not told; all of its pool is right, too.
                    let first = shape.pool_cells[pool.index()];
                    let all = shape.program().pool(*pool).cells;
                    let touch = |cell| Touch { cell: cells.records + cell, writes: true };
                    self.touches.extend((first..first + all).map(touch));
                }
                EventKind::Fence(FenceKinds::FULL) => {
                    let from = self.accesses.len();
                    self.acts.push(Act::Block { from, to: from });
                }
                EventKind::Fence(kinds) => {
                    self.acts.push(Act::Plain(monitor::Action::Fence {
                        store_store: kinds.contains(FenceKinds::STORE_STORE),
                        store_load: kinds.contains(FenceKinds::STORE_LOAD),
                    }));
                }
                EventKind::Drain(loc) => {
                    self.acts.push(Act::Plain(monitor::Action::Drain(loc.0)));
                }
                EventKind::AtomicBegin => block = Some(self.accesses.len()),
                EventKind::AtomicEnd => {
                    if let Some(from) = block.take() {
                        self.acts.push(Act::Block { from, to: self.accesses.len() });
                    }
                }
                EventKind::Skip => {
                    if let Some(Op::Invoke { seen }) = at.map(|pc| &shape.stmt(t, pc).op) {
                        let read = |other: &ThreadId| Touch {
                            cell: cells.returns + u32::from(other.0),
                            writes: false,
                        };
                        self.touches.extend(seen.iter().map(|(other, _)| read(other)));
                    }
                }
                EventKind::Leave
                | EventKind::Set { .. }
                | EventKind::Test(_)
                | EventKind::Defer
                | EventKind::Fetch { .. }
                | EventKind::Store { .. }
                | EventKind::Commit { .. }
                | EventKind::Stay { .. } => {}
            }
        }
        self.noted.clear();
        // A block that is not possible has no end.
        if let Some(from) = block {
            self.acts.push(Act::Block { from, to: self.accesses.len() });
        }
        let passed = |pc: Pc| shape.thread(t).returned[pc.index()].len();
        if cells.watched[t.index()] && passed(pc) != passed(to) {
            self.touches.push(Touch { cell: cells.returns + u32::from(t.0), writes: true });
        }
    }

    fn access(&mut self, shape: &Shape<'_>, cells: &Cells, loc: Loc, writes: bool) {
        self.touches.push(Touch { cell: loc.0, writes });
        if let Some(record) = shape.cell[loc.index()] {
            self.touches.push(Touch { cell: cells.records + record, writes: false });
        }
        if writes && shape.watched[loc.index()] {
            self.touches.push(Touch { cell: cells.invariant, writes: true });
        }
    }

    /// An action of its own, or one access more of the block at hand.
    fn act(
        &mut self,
        block: Option<usize>,
        access: monitor::Access,
        alone: monitor::Action<'static>,
    ) {
        let Some(from) = block else {
            self.acts.push(Act::Plain(alone));
            return;
        };
        match self.accesses[from..].iter_mut().find(|own| own.address == access.address) {
            Some(own) => {
                own.reads |= access.reads && !own.writes;
                own.writes |= access.writes;
            }
            None => self.accesses.push(access),
        }
    }

    /// Hands the actions to someone.
    #[inline]
    pub(crate) fn for_each_action(&self, mut take: impl FnMut(monitor::Action<'_>)) {
        for act in &self.acts {
            match *act {
                Act::Plain(action) => take(action),
                Act::Block { from, to } => take(monitor::Action::Block(&self.accesses[from..to])),
            }
        }
    }
}
