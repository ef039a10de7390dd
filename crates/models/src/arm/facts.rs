//! What decides whether the accesses of a window may be performed, for each entry.

use crate::address::{apply_update, check_limits};
use crate::shape::Shape;
use crate::window::operands::{is_known, location_of, value_of};
use crate::window::{Mark, Note, Operand, Window};
use fencepost_ir::{AccessOrder, FenceKinds, Loc, MemoryOp, Op, Pc, ThreadId, Update, Value};

/// The facts about one entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub(super) pc: Pc,
    /// Whether its read is pending.
    pub(super) reads: bool,
    /// Whether its write is pending.
    pub(super) writes: bool,
    /// Whether its read is performed, and its write is pending or comes with a later statement.
    pub(super) holds: bool,
    /// The location: an error if the address faults, `None` if the address is unknown or the entry
    /// is no access.
    pub(super) location: Option<Result<Loc, ()>>,
    /// Whether all operands are known.
    pub(super) is_ready: bool,
    /// Whether the entry is a read-modify-write.
    pub(super) is_update: bool,
    /// Whether the entry is a branch or assumption with a guess.
    pub(super) is_guess: bool,
    /// Whether the entry is a fence. Only fences that order stores are in a window.
    pub(super) is_store_fence: bool,
    pub(super) order: AccessOrder,
}

impl Facts {
    /// Returns whether a read or a write of the entry is pending.
    pub(super) fn is_pending(&self) -> bool {
        self.reads || self.writes
    }
}

/// Computes the facts about all entries of a window.
pub(super) fn facts(shape: &Shape<'_>, t: ThreadId, window: &Window) -> Vec<Facts> {
    let has_notes = window.has_notes();
    let fact = |(entry, (pc, operands)): (usize, (Pc, &[Operand]))| {
        let op = &shape.stmt(t, pc).op;
        let is_ready = operands.iter().all(|operand| matches!(operand, Operand::Value(_)));
        let mut facts = Facts {
            pc,
            reads: false,
            writes: false,
            holds: false,
            location: None,
            is_ready,
            is_update: matches!(op, Op::Update { .. }),
            is_guess: matches!(op, Op::Branch { .. } | Op::Assume(_)),
            is_store_fence: matches!(op, Op::Fence(_)),
            order: shape.thread(t).orders[pc.index()],
        };
        let (Some(access), Some(address)) = (op.access(), op.address()) else { return facts };
        facts.location =
            location_of(shape, t, pc, address, operands).map(|loc| loc.map_err(|_| ()));
        (facts.reads, facts.writes) = (access.loads, access.stores);
        if has_notes {
            for note in window.notes(entry) {
                match note {
                    Note::ReadDone(_) => {
                        facts.reads = false;
                        facts.holds = true;
                    }
                    // An update that is passed by a read of the same write must not write.
                    Note::WritesNothing | Note::At(_) => facts.writes = false,
                    Note::Failed(_) => (facts.reads, facts.writes) = (false, false),
                    Note::NotAt(_) | Note::Succeeds => {}
                }
            }
            facts.holds &= facts.writes || !facts.is_update;
        }
        facts
    };
    let mut all = Vec::with_capacity(window.len());
    all.extend(window.entries(shape, t).enumerate().map(fact));
    all
}

/// Returns whether a pending access may be to a location.
pub(super) fn may_be_at(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    facts: &[Facts],
    entry: usize,
    loc: Loc,
) -> bool {
    match facts[entry].location {
        Some(known) => known == Ok(loc),
        None => {
            let mut allowed = window.notes(entry).filter_map(|note| match note {
                Note::NotAt(other) => Some(other != loc),
                Note::At(guessed) => Some(guessed == loc),
                Note::ReadDone(_) | Note::WritesNothing | Note::Succeeds | Note::Failed(_) => None,
            });
            allowed.all(|allowed| allowed)
                && shape.thread(t).footprints[facts[entry].pc.index()].contains(&loc)
        }
    }
}

/// Returns whether a window holds a location: no other thread may write it.
pub(super) fn holds(shape: &Shape<'_>, t: ThreadId, window: &Window, loc: Loc) -> bool {
    if !window.has_notes() {
        return false;
    }
    for (entry, fact) in facts(shape, t, window).iter().enumerate() {
        // Writes of other threads come before this pending write.
        if fact.writes && !fact.holds && fact.location == Some(Ok(loc)) {
            return false;
        }
        let is_at = || window.notes(entry).any(|note| note == Note::At(loc));
        if fact.holds && fact.location == Some(Ok(loc)) || fact.reads && is_at() {
            return true;
        }
    }
    false
}

/// Returns the value that a pending write will write. `None` if it is not known yet or faults.
pub(super) fn written_value(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    fact: &Facts,
    entry: usize,
    loc: Loc,
) -> Option<Value> {
    let uses = &shape.thread(t).uses[fact.pc.index()];
    let operands = window.operands(shape, t, entry);
    let limits = shape.location_limits[loc.index()];
    let value = match shape.stmt(t, fact.pc).op.memory()? {
        MemoryOp::Store { value, .. } if is_known(value, uses, operands) => {
            value.eval(&|reg| value_of(uses, operands, *reg)).ok()?
        }
        // The value of a swap or a compare-and-swap does not depend on what is read.
        MemoryOp::Update { update: Update::Swap { new }, .. } if is_known(new, uses, operands) => {
            new.eval(&|reg| value_of(uses, operands, *reg)).ok()?
        }
        MemoryOp::Update { update: Update::Cas { new, .. }, .. }
            if has(window, entry, Note::Succeeds) && is_known(new, uses, operands) =>
        {
            new.eval(&|reg| value_of(uses, operands, *reg)).ok()?
        }
        MemoryOp::Update { update, .. } if fact.is_ready => {
            let old = read_value(window, entry)?;
            apply_update(update, old, &|reg| value_of(uses, operands, *reg)).ok()?.0?
        }
        MemoryOp::Load { .. }
        | MemoryOp::Store { .. }
        | MemoryOp::Update { .. }
        | MemoryOp::Fence(_)
        | MemoryOp::Drain(_) => return None,
    };
    check_limits(limits, value).ok()
}

/// Returns the value that the performed read of an update had.
pub(super) fn read_value(window: &Window, entry: usize) -> Option<Value> {
    window.notes(entry).find_map(|note| match note {
        Note::ReadDone(value) => Some(value),
        Note::WritesNothing | Note::Succeeds | Note::NotAt(_) | Note::At(_) | Note::Failed(_) => {
            None
        }
    })
}

/// Returns whether there is a note about an access.
pub(super) fn has(window: &Window, entry: usize, note: Note) -> bool {
    window.notes(entry).any(|other| other == note)
}

/// Returns the oldest entry about which there is an unresolved guess: a direction of a branch, an
/// address, or the failure of a comparison.
pub(super) fn oldest_guess(shape: &Shape<'_>, t: ThreadId, window: &Window) -> Option<usize> {
    let of_branches = window.oldest_guess();
    if !window.has_notes() {
        return of_branches;
    }
    let is_guess = |entry: &usize| {
        window.notes(*entry).any(|note| match note {
            Note::WritesNothing | Note::Succeeds => true,
            Note::NotAt(_) | Note::At(_) => window.location(shape, t, *entry).is_none(),
            Note::ReadDone(_) | Note::Failed(_) => false,
        })
    };
    let of_accesses = (0..window.len()).find(is_guess);
    of_branches.into_iter().chain(of_accesses).min()
}

/// Returns whether an update may write nothing.
pub(super) fn may_fail(update: &Update) -> bool {
    match update {
        Update::Cas { .. } => true,
        Update::Swap { .. } | Update::Add { .. } | Update::Bits { .. } => false,
    }
}

/// Returns whether an entry is an update that may write nothing.
pub(super) fn is_comparison(shape: &Shape<'_>, t: ThreadId, fact: &Facts) -> bool {
    let Op::Update { update, .. } = &shape.stmt(t, fact.pc).op else { return false };
    may_fail(update)
}

/// The barriers of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Barrier {
    /// `DMB SY`.
    Full,
    /// `DMB LD`.
    Loads,
    /// `DMB ST`.
    Stores,
    /// `ISB`.
    Instruction,
    /// None.
    Nothing,
}

/// Returns the weakest barrier that orders what a fence orders.
pub(super) fn barrier(kinds: FenceKinds) -> Barrier {
    let has = |kind| kinds.contains(kind);
    let loads = has(FenceKinds::LOAD_LOAD) || has(FenceKinds::LOAD_STORE);
    if has(FenceKinds::STORE_LOAD) || loads && has(FenceKinds::STORE_STORE) {
        Barrier::Full
    } else if loads {
        Barrier::Loads
    } else if has(FenceKinds::STORE_STORE) {
        Barrier::Stores
    } else if has(FenceKinds::INSTRUCTION) {
        Barrier::Instruction
    } else {
        Barrier::Nothing
    }
}

/// Returns whether an entry has the mark of a branch whose direction is guessed.
pub(super) fn is_marked(window: &Window, entry: usize) -> bool {
    matches!(window.mark(entry), Some(Mark::Guess(_)))
}
