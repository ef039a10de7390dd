//! `init` and `atomic` blocks: everything inside happens in one step, directly on memory.
//!
//! Inside, statements mean what they mean under SC. All ends are collected level by level: a level
//! is the set of what can be reached after a number of inner statements, so choices that meet again
//! are followed once.

use std::collections::HashSet;

use fencepost_ir::{Fault, Op, Pc, Program, Thread, Value};

use super::in_order::InOrder;
use super::memory::Memory;
use super::sc::Nothing;
use super::{Error, Rules, Table};

/// How many statements a block may run before it counts as endless.
const LIMIT: usize = 100_000;

/// Where a block can end.
pub(super) struct End {
    /// What comes after it.
    pub(super) pc: Pc,
    pub(super) registers: Vec<Value>,
    pub(super) memory: Memory,
}

/// Runs a block from `pc`, its first statement, to its end: a result for each sequence of choices
/// that no false `assume` stops.
pub(super) fn run(
    program: &Program,
    thread: &Thread,
    pc: Pc,
    registers: Vec<Value>,
    memory: Memory,
) -> Vec<Result<End, Error>> {
    let rules = Rules { program, bound: usize::MAX, table: Table::default() };
    let mut ends = Vec::new();
    let first = InOrder { pc, registers, pending: Nothing, ends: Vec::new() };
    let mut level = HashSet::from([(first, memory)]);
    for _ in 0..LIMIT {
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
        ends.push(Err(Error::Fault(Fault::Endless)));
    }
    ends
}
