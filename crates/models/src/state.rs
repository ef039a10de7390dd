//! A state, unpacked for work.

use crate::shape::Shape;
use fencepost_ir::{Pc, Reg, ThreadId, Value};

/// What the threads share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Memory {
    /// By location.
    pub values: Vec<Value>,
    /// By record cell, counted over all pools: whether it is allocated.
    pub allocated: Vec<bool>,
}

/// A state: memory, registers, program counters, and what the memory model has pending.
#[derive(PartialEq, Eq, Debug)]
pub struct State<P> {
    /// By thread.
    pub pcs: Vec<Pc>,
    /// All threads' registers, one after another.
    pub registers: Vec<Value>,
    /// Memory.
    pub memory: Memory,
    /// The model's own part.
    pub pending: P,
}

impl Memory {
    /// Memory before anything ran.
    pub(crate) fn start(shape: &Shape<'_>) -> Self {
        Memory {
            values: shape.program().locations.iter().map(|l| l.init).collect(),
            allocated: vec![false; shape.cells],
        }
    }
}

impl<P> State<P> {
    /// The state before anything ran.
    pub fn start(shape: &Shape<'_>, pending: P) -> Self {
        let program = shape.program();
        State {
            pcs: vec![Pc(0); program.threads.len()],
            registers: vec![0; shape.registers],
            memory: Memory::start(shape),
            pending,
        }
    }

    /// A register's value.
    #[inline]
    pub fn register(&self, shape: &Shape<'_>, thread: ThreadId, reg: Reg) -> Value {
        self.registers[shape.register(thread, reg)]
    }
}

impl<P: Clone> Clone for State<P> {
    fn clone(&self) -> Self {
        State {
            pcs: self.pcs.clone(),
            registers: self.registers.clone(),
            memory: self.memory.clone(),
            pending: self.pending.clone(),
        }
    }

    // Reuses the memory of `self`: this runs for every successor.
    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.pcs.clone_from(&other.pcs);
        self.registers.clone_from(&other.registers);
        self.memory.values.clone_from(&other.memory.values);
        self.memory.allocated.clone_from(&other.memory.allocated);
        self.pending.clone_from(&other.pending);
    }
}
