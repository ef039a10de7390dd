//! Read-side sections and grace periods (RCU and SRCU of the Linux kernel).
//!
//! A thread begins and ends *sections* of a [`Domain`]. A grace period of a domain waits for the
//! sections of other threads. [`waits`] lists what a grace period waits for.
//!
//! The register `held` of a thread and domain says which sections the thread is in. In the domain
//! [`Domain::RCU`] it is the nesting depth. In other domains it is a set of bits: a section has an
//! *index*, and bit `1 << index` is set while the thread is in the section. So sections of these
//! domains may overlap without being nested.

use crate::flow;
use crate::ids::{Domain, Label, Pc, Reg, ThreadId};
use crate::op::Op;
use crate::program::{Program, Thread};
use crate::value::{Type, Value};

/// The largest number of domains.
pub const MAX_DOMAINS: usize = 64;
/// The largest number of conditions that one grace period waits for.
pub const MAX_WAITS: usize = 30;
/// The largest nesting depth of RCU sections.
pub const MAX_DEPTH: Value = 15;

impl Domain {
    /// The domain of RCU. The others are the domains of SRCU.
    pub const RCU: Domain = Domain(0);
}

/// One condition that a grace period waits for: a thread is outside of these sections and has
/// nothing pending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// The thread.
    pub thread: ThreadId,
    /// The register that records the sections, and the bits that must be 0. `None` if the thread
    /// has no section of the domain.
    pub held: Option<(Reg, Value)>,
}

/// Returns the domain and the register of an operation that begins or ends a section.
fn section(op: &Op) -> Option<(Domain, Reg)> {
    if let Op::SectionBegin { domain, held, .. } | Op::SectionEnd { domain, held, .. } = op {
        Some((*domain, *held))
    } else {
        None
    }
}

/// Returns the register that records the sections of a domain, if the thread has any.
pub fn held_register(thread: &Thread, domain: Domain) -> Option<Reg> {
    thread.code.iter().find_map(|stmt| match section(&stmt.op) {
        Some((found, held)) if found == domain => Some(held),
        Some(_) | None => None,
    })
}

/// Returns what a grace period of thread `t` waits for. RCU waits for all other threads, SRCU only
/// for threads with sections of its domain, and for each index of them separately. Both wait for the
/// sections of the thread itself, and so forever if it is in one. The
/// [last thread](Program::last_thread) runs alone, so nothing waits for it.
pub fn waits(program: &Program, t: ThreadId, domain: Domain) -> Vec<Wait> {
    let last = program.last_thread();
    let mut found = Vec::new();
    for other in program.thread_ids().filter(|other| Some(*other) != last) {
        let thread = program.thread(other);
        match held_register(thread, domain) {
            held if domain == Domain::RCU && (other != t || held.is_some()) => {
                found.push(Wait { thread: other, held: held.map(|reg| (reg, -1)) });
            }
            Some(reg) => {
                let most = program.limits(&thread.registers[reg.index()].ty).map_or(0, |l| l.1);
                let bits = (0..Value::BITS - 1).map(|index| 1 << index);
                let bits = bits.take_while(|bit| *bit <= most);
                found.extend(bits.map(|bit| Wait { thread: other, held: Some((reg, bit)) }));
            }
            None => {}
        }
    }
    found
}

/// Returns the registers of a thread that record sections and the progress of grace periods. Other
/// threads read them, or they hold a value while the thread stays at one statement.
pub fn registers(thread: &Thread) -> Vec<Reg> {
    let mut found: Vec<Reg> = Vec::new();
    for stmt in &thread.code {
        if let Op::SectionBegin { held: reg, .. }
        | Op::SectionEnd { held: reg, .. }
        | Op::GracePeriod { seen: reg, .. } = stmt.op
            && !found.contains(&reg)
        {
            found.push(reg);
        }
    }
    found
}

/// Sets the types of the registers of sections and grace periods to the smallest sufficient ranges.
/// The error is a grace period with too many waits.
pub fn set_register_types(program: &mut Program) -> Result<(), Label> {
    let mut types: Vec<(ThreadId, Reg, Value)> = Vec::new();
    for t in program.thread_ids() {
        let code = &program.thread(t).code;
        let begins = |reg| {
            let is_begin = |op: &Op| matches!(op, Op::SectionBegin { held, .. } if *held == reg);
            code.iter().filter(|stmt| is_begin(&stmt.op)).count().min(MAX_WAITS)
        };
        for (domain, held) in code.iter().filter_map(|stmt| section(&stmt.op)) {
            let indices = (1 << begins(held)) - 1;
            types.push((t, held, if domain == Domain::RCU { MAX_DEPTH } else { indices.max(1) }));
        }
    }
    let set = |program: &mut Program, types: Vec<(ThreadId, Reg, Value)>| {
        for (t, reg, most) in types {
            program.threads[t.index()].registers[reg.index()].ty =
                Type::Int { range: Some((0, most)) };
        }
    };
    set(program, types);
    let mut types: Vec<(ThreadId, Reg, Value)> = Vec::new();
    for t in program.thread_ids() {
        let mut most = 0;
        let first = types.len();
        for stmt in &program.thread(t).code {
            let Op::GracePeriod { domain, seen } = stmt.op else { continue };
            let waits = waits(program, t, domain).len();
            if waits > MAX_WAITS {
                return Err(stmt.label);
            }
            most = most.max((1 << waits) - 1);
            types.push((t, seen, most));
        }
        types[first..].iter_mut().for_each(|(_, _, known)| *known = most);
    }
    set(program, types);
    Ok(())
}

/// Returns whether the program has sections or grace periods.
pub fn occurs(program: &Program) -> bool {
    program.threads.iter().any(|thread| !registers(thread).is_empty())
}

/// Returns whether some thread may wait forever inside a section: it may loop, block or halt there.
/// Then a grace period may wait forever, too. Direction: over-approximation.
pub fn may_wait_inside(program: &Program) -> bool {
    program.threads.iter().any(|thread| {
        let depth = most_sections(thread);
        let cyclic = flow::near_cycles(thread, |at| depth[at] == 0);
        thread.code.iter().enumerate().any(|(at, stmt)| {
            let blocks = matches!(
                stmt.op,
                Op::AtomicBegin | Op::Assume(_) | Op::Join | Op::GracePeriod { .. } | Op::Halt
            );
            depth[at] > 0 && (blocks || cyclic[at])
        })
    })
}

/// Returns for each program counter the largest number of sections, of all domains, that the thread
/// may be in. Numbers above [`MAX_DEPTH`] are not distinguished.
fn most_sections(thread: &Thread) -> Vec<Value> {
    let mut most: Vec<Option<Value>> = vec![None; thread.code.len()];
    most[0] = Some(0);
    let mut open = vec![Pc(0)];
    while let Some(pc) = open.pop() {
        let stmt = thread.stmt(pc);
        let here = most[pc.index()].unwrap_or(0);
        let after = if matches!(stmt.op, Op::SectionBegin { .. }) {
            (here + 1).min(MAX_DEPTH + 1)
        } else if matches!(stmt.op, Op::SectionEnd { .. }) {
            (here - 1).max(0)
        } else {
            here
        };
        for next in flow::successors(stmt) {
            if most[next.index()].is_none_or(|known| known < after) {
                most[next.index()] = Some(after);
                open.push(next);
            }
        }
    }
    most.into_iter().map(|most| most.unwrap_or(0)).collect()
}

/// Returns the broken rules about sections and grace periods:
///
/// - There are at most [`MAX_DOMAINS`] domains, and a grace period has at most [`MAX_WAITS`] waits.
/// - A thread has one register for the sections of a domain. Only these sections set it. Its type
///   is a range from 0, and with indices the largest value is a number of the form `2^n - 1`.
/// - Sections have indices in all domains except [`Domain::RCU`].
/// - Only grace periods set the register of a grace period. Its type is a range from 0 that holds
///   one bit for each wait.
/// - Sections and grace periods occur only in threads, outside of `atomic`.
pub fn broken_rules(program: &Program) -> Vec<String> {
    let mut broken = Vec::new();
    if program.init.as_ref().is_some_and(|init| !registers(init).is_empty()) {
        broken.push("init contains a section or a grace period".into());
    }
    for t in program.thread_ids() {
        let thread = program.thread(t);
        let owned = registers(thread);
        let largest = |reg: Reg| {
            let register = thread.registers.get(reg.index())?;
            program.limits(&register.ty).filter(|limits| limits.0 == 0).map(|limits| limits.1)
        };
        for (at, stmt) in thread.code.iter().enumerate() {
            let mut check = |holds: bool, what: &str| {
                if !holds {
                    broken.push(format!("{} {}: {what}", thread.name, Pc::from_index(at)));
                }
            };
            let sets_owned = stmt.op.target().is_some_and(|reg| owned.contains(&reg));
            check(!sets_owned, "another statement sets a register of sections");
            if let Some((domain, held)) = section(&stmt.op) {
                check(domain.index() < MAX_DOMAINS, "there are too many domains");
                check(held_register(thread, domain) == Some(held), "a domain has two registers");
                let indexed = matches!(
                    stmt.op,
                    Op::SectionBegin { index: Some(_), .. } | Op::SectionEnd { index: Some(_), .. }
                );
                check(indexed == (domain != Domain::RCU), "an index is missing or not needed");
                let fits = |most: Value| !indexed || (most & most.wrapping_add(1)) == 0;
                check(largest(held).is_some_and(fits), "the register has no suitable range");
                let is_shared = thread.code.iter().any(|other| {
                    section(&other.op).is_some_and(|(d, reg)| reg == held && d != domain)
                        || matches!(other.op, Op::GracePeriod { seen, .. } if seen == held)
                });
                check(!is_shared, "a register records two domains");
            }
            if let Op::GracePeriod { domain, seen } = stmt.op {
                check(domain.index() < MAX_DOMAINS, "there are too many domains");
                let waits = waits(program, t, domain).len();
                check(waits <= MAX_WAITS, "the grace period waits for too many sections");
                let bits = (1i64 << waits.min(MAX_WAITS)) - 1;
                let fits = |most: Value| most >= bits;
                check(largest(seen).is_some_and(fits), "the register has no suitable range");
            }
        }
    }
    broken
}
