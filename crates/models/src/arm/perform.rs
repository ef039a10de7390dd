//! The steps of a window: performing a read or a write.

use super::Arm;
use super::facts::{self, Facts};
use super::order::Read;
use crate::address::{apply_update, check_allocated, check_limits, locate};
use crate::event::{Event, EventKind, EventRecorder, Source};
use crate::shape::Shape;
use crate::state::State;
use crate::window::operands::{is_known, value_of};
use crate::window::{Note, Window};
use fencepost_ir::{CasResult, Fault, Loc, MemoryOp, Op, Pc, Reg, ThreadId, Update, Value};

impl Arm {
    /// Performs the read of an entry at `loc`. `guesses` says for each guess of the read, as a bit,
    /// whether it is "at the same location" or "writes nothing".
    pub(super) fn perform_read(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        (entry, loc): (usize, Loc),
        (read, guesses): (&Read, u32),
        recorder: &mut dyn EventRecorder,
    ) -> Result<(), Fault> {
        let window = &state.pending[t.index()];
        let pc = window.pc(entry);
        let value = read.forwarded.unwrap_or(state.memory.values[loc.index()]);
        let target = shape.stmt(t, pc).op.target();
        let limits = |reg: Reg| shape.thread(t).register_limits[reg.index()];
        let yields_value = !yields_success(&shape.stmt(t, pc).op);
        let checked = check_allocated(shape, &state.memory, loc).and_then(|()| match target {
            Some(reg) if yields_value => check_limits(limits(reg), value).map(|_| ()),
            Some(_) | None => Ok(()),
        });
        let presumed = read.presumed_from.is_some() && checked.is_ok();
        let source = match read.forwarded {
            Some(_) => Source::Forwarded { by_pair: read.by_pair, presumed },
            None => Source::Memory,
        };
        // A comparison with a value in memory that fails at once is one event, see `settle_access`.
        // A forwarded value has an event of its own, with its source.
        let fails = comparison(shape, t, window, entry, value) == Some(Ok(false));
        if read.forwarded.is_some() || !fails {
            recorder.record_with(|| {
                let kind = EventKind::Load { loc, value, source };
                event(shape, t, window, entry, kind)
            });
        }
        let window = &mut state.pending[t.index()];
        for earlier in &read.not_at {
            window.add_note(*earlier, Note::NotAt(loc));
        }
        for earlier in &read.at {
            window.add_note(*earlier, Note::At(loc));
        }
        for (bit, earlier) in read.either.iter().enumerate() {
            let is_at = guesses >> bit & 1 != 0;
            window.add_note(*earlier, if is_at { Note::At(loc) } else { Note::NotAt(loc) });
        }
        // Whether a read fails depends on the time when it is performed, so it does not wait for
        // guesses. Its failure does. A comparison still shows whether a guess about it is right.
        if let Err(fault) = checked {
            if matches!(shape.stmt(t, pc).op, Op::Update { .. }) {
                window.add_note(entry, Note::ReadDone(value));
            }
            return Err(fault);
        }
        let registers = &mut state.registers[shape.thread(t).registers..];
        let is_update = matches!(shape.stmt(t, pc).op, Op::Update { .. });
        if let Some(write) = read.presumed_from {
            window.add_note(entry, Note::TakenFrom(write as u16));
        }
        if !is_update && !shape.thread(t).orders[pc.index()].exclusive {
            if read.presumed_from.is_some() {
                window.add_note(entry, Note::ReadDone(value));
            } else if read.has_open_address {
                window.add_note(entry, Note::Performed);
                window.deliver(entry, value, registers);
            } else {
                window.remove(shape, t, entry, value, registers);
            }
            return Ok(());
        }
        let is_at = window.notes(entry).any(|note| matches!(note, Note::At(_)));
        window.retain_notes(entry, |note| !matches!(note, Note::At(_) | Note::NotAt(_)));
        let guesses_failure = read.may_fail && guesses >> read.either.len() & 1 != 0;
        if is_at && is_update || read.must_fail || guesses_failure {
            window.add_note(entry, Note::WritesNothing);
        } else if read.may_fail || read.must_succeed {
            window.add_note(entry, Note::Succeeds);
        }
        window.add_note(entry, Note::ReadDone(value));
        let is_presumed = read.presumed_from.is_some() || window.has(entry, Note::Succeeds);
        if yields_value && !is_presumed {
            window.deliver(entry, value, registers);
        }
        Ok(())
    }

    /// Performs the write of an entry.
    pub(super) fn perform_write(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        facts: &[Facts],
        entry: usize,
        recorder: &mut dyn EventRecorder,
    ) -> Result<(), Fault> {
        let window = &state.pending[t.index()];
        let fact = &facts[entry];
        let stmt = shape.stmt(t, fact.pc);
        let uses = &shape.thread(t).uses[fact.pc.index()];
        let operands = window.operands(shape, t, entry);
        let read = |reg: &Reg| value_of(uses, operands, *reg);
        let address = stmt.op.address().expect("only accesses are performed");
        let loc = locate(shape, address, &read)?;
        check_allocated(shape, &state.memory, loc)?;
        let value = match stmt.op.memory() {
            Some(MemoryOp::Store { value, .. }) => value.eval(&read)?,
            Some(MemoryOp::Update { update, .. }) => {
                let old = window.value_read(entry).expect("the read is performed");
                apply_update(update, old, &read)?.0.expect("a comparison that fails is settled")
            }
            _ => unreachable!("only stores and updates write"),
        };
        let value = check_limits(shape.location_limits[loc.index()], value)?;
        recorder.record_with(|| event(shape, t, window, entry, EventKind::Commit { loc, value }));
        state.memory.values[loc.index()] = value;
        let window = &mut state.pending[t.index()];
        let registers = &mut state.registers[shape.thread(t).registers..];
        window.remove(shape, t, entry, 0, registers);
        if fact.order.exclusive && !fact.is_update {
            let is_reservation = |at: &usize| {
                facts[*at].holds && facts[*at].order.exclusive && !facts[*at].is_update
            };
            let reservation = (0..entry).rev().find(is_reservation);
            window.remove(shape, t, reservation.expect("a pair has a load"), 0, registers);
        }
        Ok(())
    }
}

/// Returns whether the operation yields whether a comparison succeeds, not the value that it reads.
pub(super) fn yields_success(op: &Op) -> bool {
    let Op::Update { update: Update::Cas { result, .. }, .. } = op else { return false };
    *result == CasResult::Success
}

/// Returns an event of an entry.
pub(super) fn event(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    entry: usize,
    kind: EventKind,
) -> Event {
    let pc: Pc = window.pc(entry);
    Event {
        thread: t,
        label: Some(shape.stmt(t, pc).label),
        pc: Some(pc),
        earlier_pending: Some(accesses_before(shape, t, window, entry)),
        kind,
    }
}

/// Returns the number of incomplete accesses before an entry.
pub(super) fn accesses_before(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    entry: usize,
) -> u32 {
    let facts = facts::facts(shape, t, window);
    let has_read = |entry: usize| {
        window.notes(entry).any(|note| matches!(note, Note::ReadDone(_) | Note::Failed(_)))
    };
    let is_incomplete =
        |(at, fact): &(usize, &Facts)| fact.is_pending() || fact.is_update && has_read(*at);
    facts[..entry].iter().enumerate().filter(is_incomplete).count() as u32
}

/// Returns whether the comparison of a compare-and-swap that reads `old` succeeds. `None` if its
/// expected value is unknown or presumed, or if it is no compare-and-swap.
pub(super) fn comparison(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    entry: usize,
    old: Value,
) -> Option<Result<bool, Fault>> {
    let pc = window.pc(entry);
    let Op::Update { update: Update::Cas { expected, .. }, .. } = &shape.stmt(t, pc).op else {
        return None;
    };
    let uses = &shape.thread(t).uses[pc.index()];
    let operands = window.operands(shape, t, entry);
    if !is_known(expected, uses, operands) {
        return None;
    }
    Some(expected.eval(&|reg| value_of(uses, operands, *reg)).map(|expected| expected == old))
}

/// Returns whether an access that reads this value will write: an update, or a load that reserves
/// its location for a store. The answer may rely on presumed values. `None` if it is not known yet.
pub(super) fn will_write(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    entry: usize,
    value: Value,
) -> Option<bool> {
    let Op::Update { update: Update::Cas { expected, .. }, .. } =
        &shape.stmt(t, window.pc(entry)).op
    else {
        return Some(true);
    };
    let expected = window.presumed_value(shape, t, entry, expected)?;
    // The write reports a fault.
    Some(expected.map_or(true, |expected| expected == value))
}
