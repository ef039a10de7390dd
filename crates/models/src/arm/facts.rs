//! What decides whether the accesses of a window may be performed, for each entry.

use crate::address::{apply_update, check_limits};
use crate::shape::Shape;
use crate::window::operands::{self, address_exprs, is_known};
use crate::window::{Mark, Note, Operand, Window};
use fencepost_ir::{
    AccessOrder, Acquire, Address, Expr, Loc, MemoryOp, Op, Pc, Reg, ThreadId, Update, Value,
};

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
    /// The location, perhaps presumed: an error if the address faults, `None` if the address is
    /// unknown or the entry is no access.
    pub(super) location: Option<Result<Loc, ()>>,
    /// Whether the entry is an access whose address is unknown or presumed.
    pub(super) has_open_address: bool,
    /// Whether the entry is a read with acquire order whose value is presumed.
    pub(super) is_open_acquire: bool,
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
            has_open_address: false,
            is_open_acquire: false,
            is_ready,
            is_update: matches!(op, Op::Update { .. }),
            is_guess: matches!(op, Op::Branch { .. } | Op::Assume(_)),
            is_store_fence: matches!(op, Op::Fence(_)),
            order: shape.thread(t).orders[pc.index()],
        };
        let (Some(access), Some(address)) = (op.access(), op.address()) else { return facts };
        facts.location =
            window.location_with(shape, t, (pc, operands)).map(|loc| loc.map_err(|_| ()));
        facts.has_open_address = !is_ready && !is_certain(shape, t, pc, address, operands);
        (facts.reads, facts.writes) = (access.loads, access.stores);
        if has_notes {
            for note in window.notes(entry) {
                match note {
                    Note::ReadDone(_) => {
                        facts.reads = false;
                        facts.holds = true;
                    }
                    Note::Performed => (facts.reads, facts.writes) = (false, false),
                    Note::TakenFrom(_) => {
                        facts.is_open_acquire = facts.order.acquire != Acquire::None;
                    }
                    // An update that is passed by a read of the same write must not write.
                    Note::WritesNothing | Note::At(_) => facts.writes = false,
                    Note::Failed(_) => (facts.reads, facts.writes) = (false, false),
                    Note::NotAt(_) | Note::Succeeds | Note::Selects(_) | Note::Earlier(_) => {}
                }
            }
            facts.holds &= if facts.is_update { facts.writes } else { facts.order.exclusive };
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
                Note::ReadDone(_)
                | Note::WritesNothing
                | Note::Succeeds
                | Note::Performed
                | Note::TakenFrom(_)
                | Note::Selects(_)
                | Note::Failed(_)
                | Note::Earlier(_) => None,
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

/// Returns the value that a pending write will write, perhaps presumed. `None` if it is not known
/// yet or faults.
pub(super) fn written_value(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    fact: &Facts,
    entry: usize,
    loc: Loc,
) -> Option<Value> {
    let value_of = |expr: &Expr<Reg>| window.presumed_value(shape, t, entry, expr)?.ok();
    let limits = shape.location_limits[loc.index()];
    let value = match shape.stmt(t, fact.pc).op.memory()? {
        // The value of a swap or a compare-and-swap does not depend on what is read.
        MemoryOp::Store { value, .. }
        | MemoryOp::Update { update: Update::Swap { new: value }, .. } => value_of(value)?,
        MemoryOp::Update { update: Update::Cas { new, .. }, .. }
            if window.has(entry, Note::Succeeds) =>
        {
            value_of(new)?
        }
        MemoryOp::Update { update, .. } => {
            let old = window.value_read(entry)?;
            let uses = &shape.thread(t).uses[fact.pc.index()];
            let operands: Option<Vec<Value>> =
                uses.iter().map(|reg| value_of(&Expr::Var(*reg))).collect();
            let operands: Vec<Operand> = operands?.into_iter().map(Operand::Value).collect();
            apply_update(update, old, &|reg| operands::value_of(uses, &operands, *reg)).ok()?.0?
        }
        MemoryOp::Load { .. } | MemoryOp::Fence(_) | MemoryOp::Drain(_) => return None,
    };
    check_limits(limits, value).ok()
}

/// Returns whether the address or the value of a pending write, which is known, is presumed.
pub(super) fn is_presumed_write(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    entry: usize,
) -> bool {
    let depends_on_read = match shape.stmt(t, window.pc(entry)).op.memory() {
        Some(MemoryOp::Update { update, .. }) => match update {
            Update::Swap { .. } => false,
            Update::Cas { .. } | Update::Add { .. } | Update::Bits { .. } => true,
        },
        _ => false,
    };
    let is_open = |note| matches!(note, Note::Succeeds | Note::TakenFrom(_));
    !window.is_ready(shape, t, entry) || depends_on_read && window.notes(entry).any(is_open)
}

/// Returns whether the address of an access is neither unknown nor presumed.
pub(super) fn is_certain_access(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    entry: usize,
) -> bool {
    let pc = window.pc(entry);
    let address = shape.stmt(t, pc).op.address().expect("only accesses have an address");
    is_certain(shape, t, pc, address, window.operands(shape, t, entry))
}

/// Returns whether a read took a presumed value.
pub(super) fn is_taken(window: &Window, entry: usize) -> bool {
    window.notes(entry).any(|note| matches!(note, Note::TakenFrom(_)))
}

fn is_certain(
    shape: &Shape<'_>,
    t: ThreadId,
    pc: Pc,
    address: &Address,
    operands: &[Operand],
) -> bool {
    let uses = &shape.thread(t).uses[pc.index()];
    address_exprs(address).all(|expr| is_known(expr, uses, operands))
}

/// Returns the oldest entry about which there is an unresolved guess: a direction of a branch, an
/// address, the result of a comparison, or a selection.
pub(super) fn oldest_guess(shape: &Shape<'_>, t: ThreadId, window: &Window) -> Option<usize> {
    let of_branches = window.oldest_guess();
    if !window.has_notes() {
        return of_branches;
    }
    let is_guess = |entry: &usize| {
        window.notes(*entry).any(|note| match note {
            Note::WritesNothing | Note::Succeeds | Note::Selects(_) => true,
            Note::NotAt(_) | Note::At(_) => window.location(shape, t, *entry).is_none(),
            Note::ReadDone(_)
            | Note::Performed
            | Note::TakenFrom(_)
            | Note::Failed(_)
            | Note::Earlier(_) => false,
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

/// Returns whether an entry has the mark of a branch whose direction is guessed.
pub(super) fn is_marked(window: &Window, entry: usize) -> bool {
    matches!(window.mark(entry), Some(Mark::Guess(_)))
}
