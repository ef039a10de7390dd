//! Which operations and commits are enabled, and which cells they access.
//!
//! Direction: exact, with the deviations of [`crate::state`].

use crate::names::{Cell, Names};
use crate::op::{Kind, Op};
use crate::state::{Pending, State, Status};
use fencepost_explore::CellAccess;
use std::sync::atomic::Ordering;

/// An evaluated operation.
pub(crate) struct Evaluated {
    pub(crate) enabled: bool,
    /// The cells that the operation accesses or, if it is not enabled, inspects.
    pub(crate) footprint: Vec<CellAccess>,
    /// Whether the operation has this footprint and is enabled wherever its thread could perform
    /// it.
    pub(crate) is_unconditional: bool,
}

impl State {
    /// Returns the stores of the thread that an operation waits for.
    fn awaited(&self, thread: usize, kind: &Kind) -> Vec<(usize, usize)> {
        let releases = |order: Ordering| {
            matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
        };
        match *kind {
            Kind::Store { order: Ordering::SeqCst, .. } | Kind::Fence(Ordering::SeqCst) => {
                self.required(thread, None, true)
            }
            Kind::Update { target, order, .. } | Kind::CompareExchange { target, order, .. } => {
                self.required(thread, Some(target), releases(order))
            }
            Kind::Lock(target) | Kind::TryLock(target) => {
                self.required(thread, Some(target), false)
            }
            Kind::WaitEnd { mutex, .. } => self.required(thread, Some(mutex), false),
            Kind::Unlock(_)
            | Kind::Wait { .. }
            | Kind::Notify { .. }
            | Kind::Spawn(_)
            | Kind::Finish
            | Kind::Exclusive(_) => self.required(thread, None, true),
            Kind::Load(_)
            | Kind::Store { .. }
            | Kind::Fence(_)
            | Kind::SpinHint
            | Kind::Begin
            | Kind::Join(_) => Vec::new(),
        }
    }

    /// Evaluates the next operation of a thread, without performing it.
    pub(crate) fn evaluate(&self, thread: usize, op: &Op, names: &mut Names) -> Evaluated {
        let awaited = self.awaited(thread, &op.kind);
        let mut enabled = awaited.iter().all(|store| self.is_committed(thread, *store));
        let mut is_unconditional = awaited.is_empty();
        let mut footprint: Vec<CellAccess> = Vec::new();
        for (buffer, number) in awaited {
            footprint.push(CellAccess::read(names.cell(Cell::Pending(thread, buffer, number))));
        }
        let mut access = |cell: Cell, writes: bool| {
            let cell = names.cell(cell);
            footprint.push(CellAccess { cell, writes });
        };
        match op.kind {
            Kind::Load(target) => match self.last_store(thread, target.loc) {
                None => access(Cell::of(target.site), false),
                Some((buffer, number)) => {
                    is_unconditional = false;
                    access(Cell::Pending(thread, buffer, number), false);
                    if self.is_committed(thread, (buffer, number)) {
                        access(Cell::of(target.site), false);
                    }
                }
            },
            Kind::Store { target, order, .. } => match self.buffer_of(thread, target, order) {
                None => access(Cell::of(target.site), true),
                Some(buffer) => {
                    let buffers = self.thread(thread).map_or(&[][..], |it| &it.buffers);
                    let number = buffers.get(buffer).map_or(0, |buffer| buffer.stores.len());
                    access(Cell::Pending(thread, buffer, number), true);
                }
            },
            Kind::Update { target, .. } => access(Cell::of(target.site), true),
            Kind::CompareExchange { target, expected, .. } => {
                is_unconditional = false;
                access(Cell::of(target.site), self.value(target).0 == expected);
            }
            Kind::Exclusive(target) => {
                is_unconditional = false;
                access(Cell::of(target.site), true);
                let pending = self.threads.values().flat_map(|thread| &thread.buffers);
                let mut pending = pending.flat_map(|buffer| &buffer.stores[buffer.committed..]);
                enabled &= pending.all(|store| store.target.loc != target.loc);
            }
            Kind::Fence(_) => {}
            Kind::SpinHint => {
                if self.is_wait(thread, op.at) {
                    is_unconditional = false;
                    let reads = &self.threads[&thread].reads;
                    enabled = reads.iter().any(|read| self.value(read.target).1 != read.version);
                    for read in reads {
                        access(Cell::of(read.target.site), false);
                    }
                }
            }
            Kind::Spawn(child) => access(Cell::Status(child), true),
            Kind::Begin => {
                is_unconditional = false;
                access(Cell::Status(thread), false);
                enabled &= self.thread(thread).is_some_and(|it| it.status == Status::Spawned);
            }
            Kind::Finish => access(Cell::Status(thread), true),
            Kind::Join(child) => {
                is_unconditional = false;
                access(Cell::Status(child), false);
                enabled &= self.thread(child).is_some_and(|it| it.status == Status::Finished);
            }
            Kind::Lock(target) => {
                is_unconditional = false;
                access(Cell::of(target.site), true);
                enabled &= self.value(target).0 == 0;
            }
            Kind::TryLock(target) => {
                is_unconditional = false;
                access(Cell::of(target.site), self.value(target).0 == 0);
            }
            Kind::Unlock(target) => access(Cell::of(target.site), true),
            Kind::Wait { condvar, mutex } => {
                access(Cell::of(condvar.site), true);
                access(Cell::of(mutex.site), true);
            }
            Kind::WaitEnd { condvar, mutex } => {
                is_unconditional = false;
                access(Cell::of(condvar.site), true);
                access(Cell::of(mutex.site), true);
                let notified = self.condvars.get(&condvar.loc).is_some_and(|condvar| {
                    condvar.notifications.iter().any(|threads| threads.contains(&thread))
                });
                enabled &= notified && self.value(mutex).0 == 0;
            }
            Kind::Notify { condvar, .. } => access(Cell::of(condvar.site), true),
        }
        footprint.sort_unstable();
        footprint.dedup_by(|later, first| {
            let same = later.cell == first.cell;
            first.writes |= same && later.writes;
            same
        });
        Evaluated { enabled, footprint, is_unconditional }
    }

    /// Returns the next store that a buffer commits and whether it may commit it now, with the
    /// cells that the commit accesses or, if it is not enabled, inspects.
    pub(crate) fn evaluate_commit(
        &self,
        owner: usize,
        buffer: usize,
        names: &mut Names,
    ) -> (Option<&Pending>, Evaluated) {
        let stored = self.thread(owner).and_then(|thread| thread.buffers.get(buffer));
        let number = stored.map_or(0, |stored| stored.committed);
        let mut footprint =
            vec![CellAccess::write(names.cell(Cell::Pending(owner, buffer, number)))];
        let store = stored.and_then(|stored| stored.stores.get(number));
        let mut enabled = false;
        if let Some(store) = store {
            enabled = store.after.iter().all(|store| self.is_committed(owner, *store));
            footprint.push(CellAccess::write(names.cell(Cell::of(store.target.site))));
            // The commits of this buffer are in order.
            for (other, number) in store.after.iter().filter(|(other, _)| *other != buffer) {
                let cell = names.cell(Cell::Pending(owner, *other, *number));
                footprint.push(CellAccess::read(cell));
            }
        }
        (store, Evaluated { enabled, footprint, is_unconditional: false })
    }
}
