//! `init` and `atomic` blocks: all inner statements run in one step, directly on memory.
//!
//! Inner statements have SC semantics. The final states are collected level by level: a level is
//! the set of states reachable after a number of inner statements. So choices that lead to the same
//! state are followed once.

use std::collections::HashSet;

use fencepost_ir::{Fault, Op, Pc, Program, Thread, Value};

use super::in_order::InOrder;
use super::memory::Memory;
use super::sc::NoPending;
use super::{Rules, StepFailure, Table};

/// The number of statements after which a block is considered endless.
const MAX_STATEMENTS: usize = 100_000;

/// A state at the end of a block.
pub(super) struct End {
    /// The statement after the block.
    pub(super) pc: Pc,
    pub(super) registers: Vec<Value>,
    pub(super) memory: Memory,
}

/// Runs a block from `pc`, its first statement, to its end. Returns all end states and failures.
/// Paths that a false `assume` blocks are dropped.
pub(super) fn run(
    program: &Program,
    thread: &Thread,
    pc: Pc,
    registers: Vec<Value>,
    memory: Memory,
) -> Vec<Result<End, StepFailure>> {
    let rules = Rules { program, bound: usize::MAX, table: Table::default() };
    let mut ends = Vec::new();
    let first = InOrder { pc, registers, pending: NoPending, ends: Vec::new() };
    let mut level = HashSet::from([(first, memory)]);
    for _ in 0..MAX_STATEMENTS {
        if level.is_empty() {
            break;
        }
        let mut after = HashSet::new();
        for (local, memory) in level {
            let stmt = thread.stmt(local.pc);
            if matches!(stmt.op, Op::AtomicEnd | Op::Halt) {
                ends.push(Ok(End { pc: stmt.next, registers: local.registers, memory }));
                continue;
            }
            for step in local.statement(&rules, thread, &memory).next {
                match step {
                    Ok(next) => {
                        after.insert(next);
                    }
                    Err(error) => ends.push(Err(error)),
                }
            }
        }
        level = after;
    }
    if !level.is_empty() {
        ends.push(Err(StepFailure::Fault(Fault::BlockTooLong)));
    }
    ends
}
