//! Hiding locations: a program in which some locations are not accessed any more.
//!
//! Source: the localization reduction of \[Kur94\]. Direction: over-approximation, under every
//! model. A load of a hidden location becomes a choice of any value that the location may hold; a
//! store to it becomes a `skip`. An execution of the exact program without its accesses to hidden
//! locations is an execution of the result: events and orders disappear, and no order is added. So a
//! program whose windows or buffers are unbounded because of a few locations may have a finite
//! counterpart without them.
//!
//! A location can be hidden only if its accesses cannot fault, if its values are few, if it has no
//! updates and no exclusive accesses. These conditions hold for whole [groups] of locations: those
//! that one statement may access, and the elements of an array.
//!
//! What an invariant or a client operation observes depends on the moment of an access, and progress
//! depends on what a thread can choose. A condition on final states could be checked on runs that
//! only the result has. Such properties are not supported. A hang is preserved if no thread waits at
//! a load of a hidden location.

use fencepost_ir::range::{self, Range, Ranges};
use fencepost_ir::{Expr, Loc, MemoryOp, Op, Pc, Problem, Program, Reg, ThreadId, flow};

/// The largest number of values of a hidden location.
const MAX_VALUES: u64 = 8;

/// Returns the groups of locations that can be hidden, in the order of their first locations.
pub fn groups(problem: &Problem) -> Vec<Vec<Loc>> {
    let is_supported = problem.ignores_intermediate_states()
        && !problem.has_final_properties()
        && problem.sometimes.is_empty();
    if !is_supported {
        return Vec::new();
    }
    let program = &problem.program;
    // Values that a thread reads speculatively count, too.
    let ranges = range::ranges_with_guesses(program);
    let mut can_be_hidden = vec![true; program.locations.len()];
    let mut is_accessed = vec![false; program.locations.len()];
    // By location: the first location of its group.
    let mut first: Vec<usize> = (0..program.locations.len()).collect();
    for (at, location) in program.locations.iter().enumerate() {
        let array = |name: &str| name.split_once('[').map(|(array, _)| array.to_owned());
        let name = array(&location.name);
        if at > 0 && name.is_some() && name == array(&program.locations[at - 1].name) {
            join(&mut first, at - 1, at);
        }
        can_be_hidden[at] = program.cell_of(Loc::from_index(at)).is_none();
    }
    for t in program.thread_ids() {
        let may_wait = flow::may_wait_forever(program.thread(t));
        for (at, footprint) in ranges.footprints[t.index()].iter().enumerate() {
            let may_be_hidden = can_hide_access(program, &ranges, t, Pc::from_index(at), footprint)
                && (!may_wait[at] || problem.may_hang);
            for loc in footprint {
                is_accessed[loc.index()] = true;
                can_be_hidden[loc.index()] &= may_be_hidden;
                join(&mut first, footprint[0].index(), loc.index());
            }
        }
    }
    let mut groups: Vec<(usize, Vec<Loc>)> = Vec::new();
    for at in (0..first.len()).filter(|at| is_accessed[*at]) {
        match groups.iter_mut().find(|(of, _)| *of == first[at]) {
            Some((_, group)) => group.push(Loc::from_index(at)),
            None => groups.push((first[at], vec![Loc::from_index(at)])),
        }
    }
    let all_can = |group: &Vec<Loc>| group.iter().all(|loc| can_be_hidden[loc.index()]);
    groups.into_iter().map(|(_, group)| group).filter(all_can).collect()
}

/// Returns the problem with some [groups] of locations hidden.
pub fn hide(problem: &Problem, hidden: &[&[Loc]]) -> Problem {
    let ranges = range::ranges_with_guesses(&problem.program);
    let mut result = problem.clone();
    for (thread, footprints) in result.program.threads.iter_mut().zip(&ranges.footprints) {
        for (stmt, footprint) in thread.code.iter_mut().zip(footprints) {
            let is_hidden = footprint.first().is_some_and(|loc| {
                let mut all = hidden.iter().flat_map(|group| group.iter());
                all.any(|other| other == loc)
            });
            if is_hidden {
                let (lo, hi) = values_of(&ranges, footprint);
                stmt.op = match stmt.op.memory() {
                    Some(MemoryOp::Load { reg, .. }) => Op::Choose { reg, lo, hi },
                    Some(MemoryOp::Store { .. } | MemoryOp::Drain(_)) => Op::Skip,
                    Some(MemoryOp::Update { .. } | MemoryOp::Fence(_)) | None => {
                        unreachable!("only loads, stores and drains can be hidden")
                    }
                };
            }
        }
    }
    result
}

/// Makes two groups one.
fn join(first: &mut [usize], a: usize, b: usize) {
    let (from, to) = (first[a].max(first[b]), first[a].min(first[b]));
    first.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
}

/// Returns the least and the greatest value of some locations.
fn values_of(ranges: &Ranges, locations: &[Loc]) -> Range {
    let of = |loc: &Loc| ranges.locations[loc.index()];
    let all = locations.iter().map(of).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    all.expect("an access has a location")
}

/// Returns whether an access can be replaced by a choice or a `skip`.
fn can_hide_access(
    program: &Program,
    ranges: &Ranges,
    t: ThreadId,
    pc: Pc,
    footprint: &[Loc],
) -> bool {
    if footprint.is_empty() {
        return true;
    }
    let stmt = program.thread(t).stmt(pc);
    let registers = &ranges.registers[t.index()];
    let is_safe = stmt.op.address().is_some_and(|address| range::is_safe(address, registers))
        && !program.access_order(stmt).exclusive;
    let fits = |(least, greatest): Range, limits: Option<Range>| {
        limits.is_none_or(|(low, high)| low <= least && greatest <= high)
    };
    let limits_of = |loc: &Loc| program.limits(&program.location(*loc).ty);
    is_safe
        && match stmt.op.memory() {
            Some(MemoryOp::Load { reg, .. }) => {
                let (lo, hi) = values_of(ranges, footprint);
                let register = &program.thread(t).registers[reg.index()];
                hi.abs_diff(lo) < MAX_VALUES && fits((lo, hi), program.limits(&register.ty))
            }
            Some(MemoryOp::Store { value, .. }) => simple_range(value, registers)
                .is_some_and(|stored| footprint.iter().all(|loc| fits(stored, limits_of(loc)))),
            Some(MemoryOp::Drain(_)) => true,
            Some(MemoryOp::Update { .. } | MemoryOp::Fence(_)) | None => false,
        }
}

/// Returns the range of an expression that cannot fault: a constant or a register.
fn simple_range(expr: &Expr<Reg>, registers: &[Range]) -> Option<Range> {
    match expr {
        Expr::Const(value) => Some((*value, *value)),
        Expr::Var(reg) => Some(registers[reg.index()]),
        Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => None,
    }
}
