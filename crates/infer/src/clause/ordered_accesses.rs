//! Which barriers block a run on a machine with ordered accesses.
//!
//! The events of a run are in an order that contains *ordered before* (see the page "The ARM model"
//! of the book). A barrier adds pairs to this relation. If the order of the run contains them, too,
//! the barrier allows the run.
//!
//! - A fence is what the machine has for it, together with the fence that is already at its place.
//!   The thread waits at a fence that orders loads, so such a fence also delays visible actions.
//! - A release write is after all earlier accesses. An acquire read is before all later accesses,
//!   and the thread does not fetch the next access before it. It does not read from a pending update.
//! - A write is after the reads that the value of an earlier acquire read picks: it waits until this
//!   value is confirmed. A read from a pending write takes such a value, and the reads that it picks
//!   may be performed later.
//! - Fences do not have this rule. A `DMB LD` waits for all earlier reads, so also for those that a
//!   value picks. It ignores reads whose value is discarded, even if a value picks them.
//! - A strong acquire read is after earlier release writes. This needs both orders. If a run
//!   contradicts such a pair, its clause has one of the two that the run does not have. A placement
//!   without that one allows the run, so the clause is valid. Another run may yield the other one.

use super::PlaceContext;
use super::items::{Access, EventIndex, Item, NEVER, VisibleAction};
use crate::candidates::Candidates;
use crate::set::Set;
use fencepost_ir::{
    AccessOrder, Acquire, Barrier, FenceKinds, Label, PlaceId, Problem, Program, WrittenFences,
};
use fencepost_models::arm;
use std::collections::BTreeMap;

impl PlaceContext<'_> {
    /// Returns whether a fence at a place blocks the run.
    pub(super) fn is_run_blocked_by_machine_fence(
        &self,
        program: &Program,
        candidates: &Candidates,
        (place, kinds): (PlaceId, FenceKinds),
    ) -> bool {
        let written = program.place(place).written.map(|(kinds, _)| kinds);
        let written = written.filter(|_| candidates.written == WrittenFences::Kept);
        match arm::fence_kinds(kinds.union(written.unwrap_or_default())) {
            FenceKinds::FULL => self.last_load.max(self.last_store) > self.first_effect,
            FenceKinds::ACQUIRE => self.last_used_load(program) > self.first_effect,
            FenceKinds::STORE_STORE => self.last_store > self.first_store,
            _ => false,
        }
    }

    /// Returns the time of the last read before the place whose value the machine does not discard.
    fn last_used_load(&self, program: &Program) -> EventIndex {
        let reads = self.before.iter().filter_map(|item| {
            let Item::Access(access) = item else { return None };
            let is_discarded = order_of(program, access.label).discards_value;
            access.read.filter(|_| !is_discarded)
        });
        reads.max().unwrap_or(0)
    }
}

fn order_of(program: &Program, access: Label) -> AccessOrder {
    program.orders.get(&access).copied().unwrap_or_default()
}

/// The candidates for the order of an access: what they add, by position.
type Orders = BTreeMap<Label, Vec<(usize, AccessOrder)>>;

/// Adds the memory orders that block a run of a (fenced) problem.
pub(super) fn add_blocking_orders(
    problem: &Problem,
    threads: &[Vec<Item>],
    candidates: &Candidates,
    found: &mut Set,
) {
    let program = &problem.program;
    let mut orders = Orders::new();
    for (position, atom) in candidates.atoms.iter().enumerate() {
        if let (Barrier::Order(effect), Some(site)) =
            (atom.barrier, &program.place(atom.place).order)
        {
            orders.entry(site.access).or_default().push((position, effect.access));
        }
    }
    for items in threads.iter().filter(|_| !orders.is_empty()) {
        for (at, item) in items.iter().enumerate() {
            let Item::Access(access) = item else { continue };
            let Some(own) = orders.get(&access.label) else { continue };
            let (before, after) = (&items[..at], &items[at + 1..]);
            let has = AccessBlocks {
                release: is_release_blocking(access, before),
                acquire: is_acquire_blocking(access, after),
                strong: is_strong_blocking(program, &orders, access, before),
                release_before_strong: is_release_blocking_reads(program, access, after),
            };
            let blocking = own.iter().filter(|(_, order)| has.blocks(*order));
            blocking.for_each(|(position, _)| found.insert(*position));
        }
    }
}

/// Which orders of an access block a run.
struct AccessBlocks {
    release: bool,
    acquire: bool,
    /// A strong acquire, because of an earlier release write.
    strong: bool,
    /// A release, because of a later strong acquire read.
    release_before_strong: bool,
}

impl AccessBlocks {
    fn blocks(&self, order: AccessOrder) -> bool {
        order.release && (self.release || self.release_before_strong)
            || order.acquire != Acquire::None && self.acquire
            || order.acquire == Acquire::Strong && self.strong
    }
}

fn accesses(items: &[Item]) -> impl Iterator<Item = &Access> {
    items.iter().filter_map(|item| match item {
        Item::Access(access) => Some(access),
        Item::Action { .. } | Item::Place { .. } | Item::Invoke { .. } | Item::Guess { .. } => None,
    })
}

fn is_release_blocking(access: &Access, before: &[Item]) -> bool {
    let last = accesses(before).flat_map(Access::effects).max();
    access.write.is_some_and(|write| last.is_some_and(|last| last > write))
}

fn is_acquire_blocking(access: &Access, after: &[Item]) -> bool {
    let Some(read) = access.read else { return false };
    let mut first = NEVER;
    let first_write = accesses(after).filter_map(|later| later.write).min();
    // The thread waits at the next access.
    let mut inside = None;
    for item in after {
        match *item {
            Item::Access(access) => {
                first = access.effects().fold(first, EventIndex::min);
                inside = inside.or(Some(access.critical));
            }
            Item::Action { action: VisibleAction::InCriticalSection, .. }
                if inside == Some(true) => {}
            Item::Action { effect, action } => {
                if inside.is_some() {
                    first = first.min(effect);
                }
                if action == VisibleAction::LeaveCriticalSection {
                    inside = inside.map(|_| false);
                }
            }
            Item::Place { .. } | Item::Invoke { .. } | Item::Guess { .. } => {}
        }
    }
    access.by_pair || read > first || first_write.is_some_and(|write| access.confirmed > write)
}

/// Returns whether a strong acquire of an access blocks the run, because an earlier write has release
/// order or a candidate for it.
fn is_strong_blocking(
    program: &Program,
    orders: &Orders,
    access: &Access,
    before: &[Item],
) -> bool {
    let is_release = |label: Label| {
        let candidates = orders.get(&label);
        order_of(program, label).release
            || order_of(program, access.label).acquire != Acquire::Strong
                && candidates.is_some_and(|all| all.iter().any(|(_, order)| order.release))
    };
    let overtakes = |earlier: &Access| earlier.write.is_some_and(|w| access.read < Some(w));
    access.read.is_some()
        && accesses(before).any(|earlier| overtakes(earlier) && is_release(earlier.label))
}

/// Returns whether a release of an access blocks the run, because a later read is a strong acquire.
fn is_release_blocking_reads(program: &Program, access: &Access, after: &[Item]) -> bool {
    let is_overtaken = |later: &Access| later.read.is_some_and(|read| Some(read) < access.write);
    let is_strong = |label: Label| order_of(program, label).acquire == Acquire::Strong;
    access.write.is_some()
        && accesses(after).any(|later| is_overtaken(later) && is_strong(later.label))
}
