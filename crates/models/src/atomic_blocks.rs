//! The accesses of atomic blocks, for partial-order reduction.
//!
//! A block is one step. It commutes with the steps of other threads if no other thread can still
//! make a conflicting access ([`Machine::block_commutes`](crate::Machine)).
//!
//! *Latches.* A latch is a location that other threads only wait for: every load of it is in an
//! atomic block, and the next statement of the block waits (`assume`) until the value is not the
//! initial one. While a latch has its initial value, no step that reads it is enabled. So a store to
//! it needs no regard to the reads: they happen after the store in every run. The flags of created
//! and finished threads are latches.
//!
//! *Waiting threads.* A thread at the begin of a block that waits for a latch with its initial value
//! takes no step before a store to the latch. If only one thread stores to the latch, and only in
//! atomic blocks, this thread first performs everything that is pending. So no step of this thread
//! needs regard to the future accesses of the waiting thread.
//!
//! Direction: the tables over-approximate accesses and under-approximate latches and waits.

use fencepost_ir::{Expr, Loc, Op, Pc, Program, Reg, Stmt, Thread, flow};

/// The locations that a block may load and store.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BlockAccesses {
    /// The locations that the block may load.
    pub loads: Vec<Loc>,
    /// The locations that the block may store to.
    pub stores: Vec<Loc>,
}

/// Returns the accesses of the block that begins at each program counter. `None` if no block begins
/// there, or if it allocates or frees records. `footprints` has the locations of each statement.
pub fn block_accesses(thread: &Thread, footprints: &[Vec<Loc>]) -> Vec<Option<BlockAccesses>> {
    let begins = |stmt: &Stmt| matches!(stmt.op, Op::AtomicBegin);
    let block = |(at, stmt): (usize, &Stmt)| {
        begins(stmt).then(|| accesses_from(thread, footprints, Pc::from_index(at))).flatten()
    };
    thread.code.iter().enumerate().map(block).collect()
}

fn accesses_from(thread: &Thread, footprints: &[Vec<Loc>], begin: Pc) -> Option<BlockAccesses> {
    let mut accesses = BlockAccesses::default();
    for pc in block_statements(thread, begin) {
        let op = &thread.stmt(pc).op;
        if matches!(op, Op::New { .. } | Op::Free { .. }) {
            return None;
        }
        if let Some(access) = op.access() {
            let here = &footprints[pc.index()];
            accesses.loads.extend(here.iter().filter(|_| access.loads));
            accesses.stores.extend(here.iter().filter(|_| access.stores));
        }
    }
    for locations in [&mut accesses.loads, &mut accesses.stores] {
        locations.sort_unstable();
        locations.dedup();
    }
    Some(accesses)
}

/// Returns the program counters of the statements of a block, without its begin and its end.
fn block_statements(thread: &Thread, begin: Pc) -> Vec<Pc> {
    let mut seen = vec![false; thread.code.len()];
    let mut open: Vec<Pc> = flow::successors(thread.stmt(begin)).collect();
    let mut found = Vec::new();
    while let Some(pc) = open.pop() {
        let stmt = thread.stmt(pc);
        let is_new = !std::mem::replace(&mut seen[pc.index()], true);
        if is_new && !matches!(stmt.op, Op::AtomicEnd) {
            found.push(pc);
            open.extend(flow::successors(stmt));
        }
    }
    found
}

/// Returns the latches of a program, by location.
pub fn latches(program: &Program, footprints: &[&[Vec<Loc>]]) -> Vec<bool> {
    let mut latches = vec![true; program.locations.len()];
    for (thread, footprints) in program.threads.iter().zip(footprints) {
        let mut in_block = vec![false; thread.code.len()];
        for (at, stmt) in thread.code.iter().enumerate() {
            if matches!(stmt.op, Op::AtomicBegin) {
                let statements = block_statements(thread, Pc::from_index(at));
                statements.iter().for_each(|pc| in_block[pc.index()] = true);
            }
        }
        for (at, stmt) in thread.code.iter().enumerate() {
            if !stmt.op.access().is_some_and(|access| access.loads) {
                continue;
            }
            for loc in &footprints[at] {
                latches[loc.index()] &= in_block[at] && waits_for(program, thread, stmt, *loc);
            }
        }
    }
    latches
}

/// Returns for each program counter the latch that a block beginning there waits for before it does
/// anything else. Only latches that `is_awaited` accepts are returned.
pub fn awaited_latches(
    program: &Program,
    thread: &Thread,
    footprints: &[Vec<Loc>],
    is_awaited: impl Fn(Loc) -> bool,
) -> Vec<Option<Loc>> {
    let awaited = |stmt: &Stmt| {
        if !matches!(stmt.op, Op::AtomicBegin) {
            return None;
        }
        let [loc] = footprints[stmt.next.index()][..] else { return None };
        let waits = waits_for(program, thread, thread.stmt(stmt.next), loc);
        Some(loc).filter(|loc| waits && is_awaited(*loc))
    };
    thread.code.iter().map(awaited).collect()
}

/// Returns for each location whether all stores to it are in atomic blocks.
pub fn stored_in_blocks(program: &Program, footprints: &[&[Vec<Loc>]]) -> Vec<bool> {
    let mut in_blocks = vec![true; program.locations.len()];
    for (thread, footprints) in program.threads.iter().zip(footprints) {
        let atomic = flow::atomic_statements(thread, false);
        for (at, stmt) in thread.code.iter().enumerate() {
            if stmt.op.access().is_some_and(|access| access.stores) && !atomic[at] {
                footprints[at].iter().for_each(|loc| in_blocks[loc.index()] = false);
            }
        }
    }
    in_blocks
}

/// Returns whether a statement loads a location, and the next one waits while the location has its
/// initial value.
fn waits_for(program: &Program, thread: &Thread, stmt: &Stmt, loc: Loc) -> bool {
    let (Op::Load { reg, .. }, Op::Assume(condition)) = (&stmt.op, &thread.stmt(stmt.next).op)
    else {
        return false;
    };
    holds(condition, *reg, program.location(loc).init) == Some(false)
}

/// Returns whether a condition holds with this value of a register. `None` if it depends on other
/// registers.
fn holds(condition: &Expr<Reg>, reg: Reg, value: i64) -> Option<bool> {
    let mut is_only = true;
    condition.for_each_var(&mut |other| is_only &= *other == reg);
    is_only.then(|| condition.eval(&|_| value).ok()).flatten().map(|value| value != 0)
}
