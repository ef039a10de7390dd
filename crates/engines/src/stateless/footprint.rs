//! The footprint of a step: *cells* for partial orders, and *actions* for the robustness monitor.
//!
//! Cells are more than locations. Two steps that touch no common cell, or only read common cells,
//! commute, so one order represents the other. The cells are:
//! - each location;
//! - each record: allocated or not. `new` reads the records that it passes over. Every access to a
//!   field reads its record;
//! - for each thread, the number of client operations it has returned from. `invoke` reads this
//!   cell;
//! - for each thread, whether it has finished, if a last thread waits for that;
//! - for each invariant, one cell for all its locations and control points: each order of writes to
//!   them, and of steps to and from its control points, has its own states.

use fencepost_explore::CellAccess;
use fencepost_ir::{FenceKinds, Label, Loc, Observable, Op, Pc, Property, ThreadId};
use fencepost_models::event::{Event, EventKind, EventRecorder};
use fencepost_models::shape::Shape;
use fencepost_monitor as monitor;
use std::collections::BTreeMap;

/// An action for the monitor. The accesses of a block are stored separately.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MonitorAction {
    /// An action without separate accesses.
    Plain(monitor::Action<'static>),
    /// A block with this range of accesses.
    Block { from: usize, to: usize },
}

/// The numbering of cells.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    records: u32,
    returns: u32,
    /// The first of the cells of invariants.
    invariants: u32,
    /// By location: the cells of the invariants that mention it.
    invariants_of_location: Vec<Vec<u32>>,
    /// By thread and label: the cells of the invariants that mention the control point.
    invariants_of_control_point: Vec<BTreeMap<Label, Vec<u32>>>,
    /// The number of invariants.
    invariant_count: u32,
    /// The first of the cells that say whether a thread has finished, by thread. None if no thread
    /// waits for that.
    finished: Option<u32>,
    /// By thread: whether an `invoke` of another thread reads how many operations it has returned
    /// from.
    observed: Vec<bool>,
    /// The number of addresses of the monitor: locations, then pools.
    pub(crate) addresses: usize,
}

impl Cells {
    /// Numbers the cells of a program.
    pub(crate) fn new(shape: &Shape<'_>) -> Self {
        let program = shape.program();
        let records = program.locations.len() as u32;
        let returns = records + shape.cells as u32;
        let mut observed = vec![false; program.threads.len()];
        for stmt in program.threads.iter().flat_map(|thread| &thread.code) {
            if let Op::Invoke { seen } = &stmt.op {
                seen.iter().for_each(|(other, _)| observed[other.index()] = true);
            }
        }
        let invariants = returns + program.threads.len() as u32;
        let invariant_count = shape.invariants.len() as u32;
        let mut cells = Cells {
            records,
            returns,
            invariants,
            invariants_of_location: vec![Vec::new(); program.locations.len()],
            invariants_of_control_point: vec![BTreeMap::new(); program.threads.len()],
            invariant_count,
            finished: program.last_thread().map(|last| {
                // The last thread itself needs no cell.
                debug_assert_eq!(last.index() + 1, program.threads.len(), "it comes last");
                invariants + invariant_count
            }),
            observed,
            addresses: program.locations.len() + program.pools.len(),
        };
        cells.add_invariants(shape);
        cells
    }

    /// Finds the locations and control points of each invariant.
    fn add_invariants(&mut self, shape: &Shape<'_>) {
        for (cell, at) in (self.invariants..).zip(&shape.invariants) {
            let Property::Invariant(condition) = &shape.problem.properties[*at] else { continue };
            condition.expr.for_each_var(&mut |what| match *what {
                Observable::Loc(loc) => self.invariants_of_location[loc.index()].push(cell),
                Observable::At(t, label) => {
                    let of_thread = &mut self.invariants_of_control_point[t.index()];
                    of_thread.entry(label).or_default().push(cell);
                }
                Observable::Reg(..) => unreachable!("invariants mention no registers"),
            });
        }
    }

    /// Returns whether the position of a thread is observed: by another thread, which reads how many
    /// operations this thread has returned from, or by an invariant.
    pub(crate) fn is_observed(&self, t: ThreadId) -> bool {
        self.observed[t.index()] || !self.invariants_of_control_point[t.index()].is_empty()
    }

    /// Returns the number of cells.
    pub(crate) fn len(&self) -> usize {
        let finished = self.finished.map_or(0, |_| self.observed.len() - 1);
        (self.invariants + self.invariant_count) as usize + finished
    }
}

/// The footprint of a step. The machine records events; [`Footprint::finish`] evaluates them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Footprint {
    /// The recorded events of the step.
    pub(crate) events: Vec<(EventKind, Option<Pc>)>,
    /// The touched cells, with repetitions.
    pub(crate) touches: Vec<CellAccess>,
    /// The actions for the monitor, in order.
    pub(crate) actions: Vec<MonitorAction>,
    /// The accesses of blocks.
    pub(crate) accesses: Vec<monitor::Access>,
}

impl EventRecorder for Footprint {
    fn record(&mut self, event: Event) {
        let (kind, pc) = (event.kind, event.pc);
        let is_fence = |kind: &EventKind| matches!(kind, EventKind::Fence(_) | EventKind::Drain(_));
        // An event may repeat in a loop without accesses. The repetitions have no effect.
        let is_needed = match kind {
            EventKind::Set { .. }
            | EventKind::Test(_)
            | EventKind::Leave
            | EventKind::SectionBegin
            | EventKind::SectionEnd
            | EventKind::GracePeriod { .. } => false,
            EventKind::Skip => !self.events.contains(&(kind, pc)),
            EventKind::Fence(_) | EventKind::Drain(_) => {
                let earlier = self.events.iter().rev().map(|(other, _)| other);
                let since_access =
                    earlier.take_while(|other| is_fence(other) || **other == EventKind::Skip);
                // The second of two release fences matters for happens-before if there is an
                // acquire fence between them.
                since_access.filter(|other| **other == kind).count() < 2
            }
            EventKind::Fetch { .. }
            | EventKind::Load { .. }
            | EventKind::Store { .. }
            | EventKind::Write { .. }
            | EventKind::Commit { .. }
            | EventKind::CommitAndKeep { .. }
            | EventKind::Confirm
            | EventKind::Repeat { .. }
            | EventKind::Update { .. }
            | EventKind::New(_)
            | EventKind::Free(_)
            | EventKind::AtomicBegin
            | EventKind::AtomicEnd
            | EventKind::Guess(_)
            | EventKind::Defer => true,
        };
        if is_needed {
            self.events.push((kind, pc));
        }
    }
}

impl Footprint {
    /// Clears the footprint before a step.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.touches.clear();
        self.actions.clear();
        self.accesses.clear();
    }

    /// Touches all cells. Used after a failing step, whose events may be incomplete.
    pub(crate) fn touch_all(&mut self, cells: &Cells) {
        let all = 0..cells.len() as u32;
        self.touches.extend(all.map(|cell| CellAccess { cell, writes: true }));
    }

    /// Converts the recorded events of a step of `t`, from `pc` to `to`, into cells and actions.
    pub(crate) fn finish(
        &mut self,
        shape: &Shape<'_>,
        cells: &Cells,
        t: ThreadId,
        (pc, to): (Pc, Pc),
    ) {
        let mut block = None;
        for at in 0..self.events.len() {
            let (kind, at) = self.events[at];
            match kind {
                EventKind::Load { loc, .. } => {
                    self.add_access(shape, cells, loc, false);
                    let read = monitor::Access::read(loc.0);
                    self.add_action(block, read, monitor::Action::Load(loc.0));
                }
                EventKind::Write { loc, .. } => {
                    self.add_access(shape, cells, loc, true);
                    let write = monitor::Access::write(loc.0);
                    self.add_action(block, write, monitor::Action::Store(loc.0));
                }
                EventKind::Update { loc, new, .. } => {
                    let writes = new.is_some();
                    self.add_access(shape, cells, loc, writes);
                    let update = monitor::Action::Update { address: loc.0, writes };
                    let access = monitor::Access { address: loc.0, reads: true, writes };
                    self.add_action(block, access, update);
                }
                EventKind::New(reference) => {
                    let Some(Op::New { pool, .. }) = at.map(|pc| &shape.stmt(t, pc).op) else {
                        unreachable!("the event comes from a statement that allocates")
                    };
                    let first = shape.pool_cells[pool.index()];
                    // Without a free record, the reference may be 0.
                    let taken = (reference != 0).then(|| shape.cell_index(*pool, reference) as u32);
                    let end = taken.unwrap_or(first + shape.program().pool(*pool).cells);
                    let passed = (first..end).map(|cell| (cell, false));
                    for (cell, writes) in passed.chain(taken.map(|cell| (cell, true))) {
                        self.touches.push(CellAccess { cell: cells.records + cell, writes });
                    }
                    let allocator = cells.records + u32::from(pool.0);
                    let access = monitor::Access::update(allocator);
                    self.add_action(block, access, monitor::Action::Direct(allocator));
                }
                EventKind::Free(_) => {
                    let Some(Op::Free { pool, .. }) = at.map(|pc| &shape.stmt(t, pc).op) else {
                        unreachable!("the event comes from a statement that frees")
                    };
                    // The event does not name the record. Touching all records of the pool is
                    // sound.
                    let first = shape.pool_cells[pool.index()];
                    let all = shape.program().pool(*pool).cells;
                    let touch = |cell| CellAccess { cell: cells.records + cell, writes: true };
                    self.touches.extend((first..first + all).map(touch));
                }
                EventKind::Fence(FenceKinds::FULL) => {
                    let from = self.accesses.len();
                    self.actions.push(MonitorAction::Block { from, to: from });
                }
                EventKind::Fence(kinds) => {
                    self.actions.push(MonitorAction::Plain(monitor::Action::Fence {
                        store_store: kinds.contains(FenceKinds::STORE_STORE),
                        store_load: kinds.contains(FenceKinds::STORE_LOAD),
                    }));
                }
                EventKind::Drain(loc) => {
                    self.actions.push(MonitorAction::Plain(monitor::Action::Drain(loc.0)));
                }
                EventKind::AtomicBegin => block = Some(self.accesses.len()),
                EventKind::AtomicEnd => {
                    if let Some(from) = block.take() {
                        self.actions.push(MonitorAction::Block { from, to: self.accesses.len() });
                    }
                }
                EventKind::Skip => {
                    if let Some(Op::Invoke { seen }) = at.map(|pc| &shape.stmt(t, pc).op) {
                        let read = |other: &ThreadId| CellAccess {
                            cell: cells.returns + u32::from(other.0),
                            writes: false,
                        };
                        self.touches.extend(seen.iter().map(|(other, _)| read(other)));
                    }
                }
                EventKind::Leave
                | EventKind::SectionBegin
                | EventKind::SectionEnd
                | EventKind::GracePeriod { .. }
                | EventKind::Set { .. }
                | EventKind::Test(_)
                | EventKind::Guess(_)
                | EventKind::Defer
                | EventKind::Fetch { .. }
                | EventKind::Store { .. }
                | EventKind::Commit { .. }
                | EventKind::CommitAndKeep { .. }
                | EventKind::Confirm
                | EventKind::Repeat { .. } => {}
            }
        }
        // A blocked block has no end event.
        if let Some(from) = block {
            self.actions.push(MonitorAction::Block { from, to: self.accesses.len() });
        }
        if let Some(finished) = cells.finished {
            self.finish_with_join(shape, finished, t, (pc, to));
        }
        let passed = |pc: Pc| shape.thread(t).returned[pc.index()].len();
        if cells.observed[t.index()] && passed(pc) != passed(to) {
            self.touches.push(CellAccess { cell: cells.returns + u32::from(t.0), writes: true });
        }
        self.add_control_points(shape, cells, t, (pc, to));
    }

    /// Adds the cells of the invariants that observe a step from `pc` to `to`.
    fn add_control_points(
        &mut self,
        shape: &Shape<'_>,
        cells: &Cells,
        t: ThreadId,
        (pc, to): (Pc, Pc),
    ) {
        let label = |pc: Pc| shape.stmt(t, pc).label;
        if label(pc) == label(to) {
            return;
        }
        let of_thread = &cells.invariants_of_control_point[t.index()];
        let touched = [pc, to].into_iter().filter_map(|pc| of_thread.get(&label(pc))).flatten();
        self.touches.extend(touched.map(|cell| CellAccess { cell: *cell, writes: true }));
    }

    /// Adds the accesses to the cells that say whether a thread has finished. The last thread has no
    /// actions for the monitor: nothing is pending when it runs.
    fn finish_with_join(
        &mut self,
        shape: &Shape<'_>,
        finished: u32,
        t: ThreadId,
        (pc, to): (Pc, Pc),
    ) {
        let cell = |t: usize, writes: bool| CellAccess { cell: finished + t as u32, writes };
        if shape.program().last_thread() == Some(t) {
            self.actions.clear();
            self.accesses.clear();
            if matches!(shape.stmt(t, pc).op, Op::Join) {
                self.touches.extend((0..t.index()).map(|other| cell(other, false)));
            }
        } else if matches!(shape.stmt(t, to).op, Op::Halt) {
            self.touches.push(cell(t.index(), true));
        }
    }

    fn add_access(&mut self, shape: &Shape<'_>, cells: &Cells, loc: Loc, writes: bool) {
        self.touches.push(CellAccess { cell: loc.0, writes });
        if let Some(record) = shape.cell[loc.index()] {
            self.touches.push(CellAccess { cell: cells.records + record, writes: false });
        }
        if writes {
            let invariants = cells.invariants_of_location[loc.index()].iter();
            self.touches.extend(invariants.map(|cell| CellAccess { cell: *cell, writes: true }));
        }
    }

    /// Adds an action, or an access to the current block.
    fn add_action(
        &mut self,
        block: Option<usize>,
        access: monitor::Access,
        alone: monitor::Action<'static>,
    ) {
        let Some(from) = block else {
            self.actions.push(MonitorAction::Plain(alone));
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

    /// Calls `take` for each action.
    #[inline]
    pub(crate) fn for_each_action(&self, mut take: impl FnMut(monitor::Action<'_>)) {
        for monitor_action in &self.actions {
            match *monitor_action {
                MonitorAction::Plain(action) => take(action),
                MonitorAction::Block { from, to } => {
                    take(monitor::Action::Block(&self.accesses[from..to]))
                }
            }
        }
    }
}
