//! Read-side sections and grace periods.
//!
//! Source: the book's page on semantics, section "Read-side sections and grace periods". A poll
//! sees one condition at a time here, so a comparison also tests that seeing all of them at once
//! loses nothing.

use fencepost_ir::{Domain, Fault, Op, Pc, Program, Reg, Thread, Value};

use super::memory::check_register_range;
use super::{State, ThreadState};

/// Returns the registers after the begin of a section, as assignments.
pub(super) fn begin(
    program: &Program,
    thread: &Thread,
    held: (Reg, Value),
    index: Option<Reg>,
) -> Result<Vec<(Reg, Value)>, Fault> {
    let (reg, now) = held;
    let Some(index) = index else {
        return Ok(vec![(reg, check_register_range(program, thread, reg, now + 1)?)]);
    };
    let free = (0..31).find(|bit| now & (1 << bit) == 0).ok_or(Fault::OutOfRange)?;
    let now = check_register_range(program, thread, reg, now | (1 << free))?;
    Ok(vec![(reg, now), (index, check_register_range(program, thread, index, free)?)])
}

/// Returns the value of the register of the sections after the end of a section.
pub(super) fn end(now: Value, index: Option<Value>) -> Result<Value, Fault> {
    match index {
        None if now == 0 => Err(Fault::NotInSection),
        None => Ok(now - 1),
        Some(index) if (0..31).contains(&index) && now & (1 << index) != 0 => {
            Ok(now - (1 << index))
        }
        Some(_) => Err(Fault::NotInSection),
    }
}

/// One condition of a grace period: a thread, and the register and the index of a section that it
/// must not be in. Without an index, the register counts nested sections.
struct Condition {
    thread: usize,
    section: Option<(Reg, Option<u32>)>,
}

/// Returns the conditions of a grace period of thread `at`.
fn conditions(program: &Program, at: usize, domain: Domain) -> Vec<Condition> {
    let mut found = Vec::new();
    for (thread, code) in program.threads.iter().enumerate() {
        let is_last = matches!(code.stmt(Pc(0)).op, Op::Join);
        if is_last {
            continue;
        }
        let held = code.code.iter().find_map(|stmt| {
            if let Op::SectionBegin { domain: other, held, .. }
            | Op::SectionEnd { domain: other, held, .. } = stmt.op
                && other == domain
            {
                Some(held)
            } else {
                None
            }
        });
        if thread == at && held.is_none() {
            continue;
        }
        if domain == Domain(0) {
            found.push(Condition { thread, section: held.map(|reg| (reg, None)) });
        } else if let Some(reg) = held {
            let (_, most) = program.limits(&code.registers[reg.index()].ty).unwrap_or((0, 0));
            for index in (0..31).filter(|index| most >> index != 0) {
                found.push(Condition { thread, section: Some((reg, Some(index))) });
            }
        }
    }
    found
}

/// Returns the steps of a thread whose next statement is a grace period.
pub(super) fn grace_period<T: ThreadState>(
    program: &Program,
    state: &State<T>,
    at: usize,
) -> Vec<State<T>> {
    let thread = &state.threads[at];
    let stmt = program.threads[at].stmt(thread.pc());
    let Op::GracePeriod { domain, seen } = stmt.op else { return Vec::new() };
    if !thread.has_nothing_pending() {
        return Vec::new();
    }
    let conditions = conditions(program, at, domain);
    let holds = |condition: &Condition| {
        let other = &state.threads[condition.thread];
        let is_inside = condition.section.is_some_and(|(reg, index)| match index {
            None => other.register(reg) != 0,
            Some(index) => other.register(reg) & (1 << index) != 0,
        });
        !is_inside && other.has_nothing_pending()
    };
    let seen_before = thread.register(seen);
    let all: Value = conditions.iter().enumerate().map(|(bit, _)| 1 << bit).sum();
    let poll = |seen_now: Value| {
        let (pc, value) = if seen_now == all { (stmt.next, 0) } else { (thread.pc(), seen_now) };
        let mut after = state.clone();
        after.threads[at] = thread.invoke(pc, &[(seen, value)]);
        after
    };
    if conditions.is_empty() {
        return vec![poll(0)];
    }
    let new = conditions.iter().enumerate().filter(|(bit, _)| seen_before & (1 << bit) == 0);
    new.filter(|(_, condition)| holds(condition))
        .map(|(bit, _)| poll(seen_before | 1 << bit))
        .collect()
}
