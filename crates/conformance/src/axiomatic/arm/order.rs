//! Ordered-before inside a thread: the rules of the book that depend on neither *rf* nor *co*.
//!
//! The numbers are those of the page. Rule 1 and the parts of rules 5 and 7 about reads-from are in
//! [`candidate`](super::candidate). Rule 11 also depends on reads-from inside the thread.

use fencepost_ir::Acquire;

use super::run::{Barrier, Event, Events, Fence, Run};

/// Returns, for each event, the earlier events that are directly ordered before it.
pub(super) fn ordered_before(run: &Run) -> Vec<Events> {
    let mut before = Vec::new();
    for later in 0..run.events.len() {
        let is_ordered = |earlier: &usize| is_ordered(run, *earlier, later);
        before.push((0..later).filter(is_ordered).map(|earlier| 1 << earlier).sum());
    }
    before
}

/// Returns, for each event, the earlier reads that rule 11 orders before it. `passed` has, for each
/// read, the reads that its value picks because of the write of the same thread from which it reads.
pub(super) fn picked_before(run: &Run, passed: &[Events]) -> Vec<Events> {
    let mut before = Vec::new();
    for later in 0..run.events.len() {
        let is_picked = |earlier: &usize| is_picked(run, passed, *earlier, later);
        before.push((0..later).filter(is_picked).map(|earlier| 1 << earlier).sum());
    }
    before
}

/// Returns what these reads pass on.
pub(super) fn passed_by(passed: &[Events], reads: Events) -> Events {
    let passing = passed.iter().enumerate().filter(|(read, _)| has(reads, *read));
    passing.fold(0, |all, (_, picks)| all | picks)
}

/// Rule 11: returns whether the event `y` picks the read `x`.
fn is_picked(run: &Run, passed: &[Events], x: usize, y: usize) -> bool {
    let later = &run.events[y];
    let picks = |dependencies: Events, picks: Events| {
        has(picks | passed_by(passed, dependencies | picks), x)
    };
    let is_behind_address =
        |events: &[Event]| events.iter().any(|access| picks(access.addr, access.address_pick));
    if later.is_write() {
        let is_behind_acquire = |(read, event): (usize, &Event)| {
            event.acquire() != Acquire::None && has(passed[read], x)
        };
        return picks(later.addr | later.data | later.ctrl, later.pick)
            || is_behind_address(&run.events[..y])
            || run.events[..y].iter().enumerate().any(is_behind_acquire);
    }
    fences_between(run, x, y).any(|fence| {
        fence.barrier == Barrier::Instruction
            && (picks(fence.ctrl, fence.pick) || is_behind_address(&run.events[..fence.position]))
    })
}

/// Returns whether one of the rules orders two events, of which `x` is earlier in program order.
fn is_ordered(run: &Run, x: usize, y: usize) -> bool {
    let (earlier, later) = (&run.events[x], &run.events[y]);
    // Rule 2: `addr`, `data`, and `ctrl` to a write.
    has(later.addr | later.data, x)
        || (later.is_write() && has(later.ctrl, x))
        // Rule 3: `ctrl` to an `ISB`, or `addr` to an access before it.
        || (later.is_read()
            && fences_between(run, x, y).any(|fence| {
                let before_fence = &run.events[..fence.position];
                fence.barrier == Barrier::Instruction
                    && (has(fence.ctrl, x) || before_fence.iter().any(|access| has(access.addr, x)))
            }))
        // Rule 4: to a write that is later than an access whose address depends on the read.
        || (later.is_write() && run.events[..y].iter().any(|access| has(access.addr, x)))
        // Rule 6: an access to a later write to the same location.
        || (later.is_write() && earlier.loc == later.loc)
        // Rule 7: `rmw`.
        || later.pair().is_some_and(|pair| pair.read == x)
        // Rule 8: fences.
        || fences_between(run, x, y).any(|fence| orders(fence.barrier, earlier, later))
        // Rule 9: acquire and release.
        || earlier.acquire() != Acquire::None
        || later.is_release()
        || (earlier.is_release() && later.acquire() == Acquire::Strong)
        // Rule 10: a read-modify-write with both acquire and release.
        || (x + 1..y).any(|write| {
            run.events[write].pair().is_some_and(|pair| {
                pair.is_update
                    && x < pair.read
                    && run.events[pair.read].acquire() != Acquire::None
                    && run.events[write].is_release()
            })
        })
}

/// Returns the fences between two events.
fn fences_between(run: &Run, x: usize, y: usize) -> impl Iterator<Item = &Fence> {
    run.fences.iter().filter(move |fence| x < fence.position && fence.position <= y)
}

/// Returns whether a barrier orders two events around it.
fn orders(barrier: Barrier, earlier: &Event, later: &Event) -> bool {
    match barrier {
        Barrier::Full => true,
        Barrier::Load => earlier.is_read() && !earlier.is_discarded(),
        Barrier::Store => earlier.is_write() && later.is_write(),
        Barrier::Instruction => false,
    }
}

fn has(events: Events, event: usize) -> bool {
    events & (1 << event) != 0
}
