//! An unpacked state.

use crate::shape::Shape;
use fencepost_ir::{Pc, Reg, ThreadId, Value};

/// The memory that all threads share.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Memory {
    /// The value of each location.
    pub values: Vec<Value>,
    /// Whether each record cell is allocated. Cells are numbered over all pools.
    pub allocated: Vec<bool>,
}

/// A state: program counters, registers, memory, and the pending accesses of the memory model.
#[derive(PartialEq, Eq, Debug)]
pub struct State<P> {
    /// The program counter of each thread.
    pub pcs: Vec<Pc>,
    /// The registers of all threads, one thread after another.
    pub registers: Vec<Value>,
    /// The shared memory.
    pub memory: Memory,
    /// The pending accesses of the memory model.
    pub pending: P,
}

impl Memory {
    /// Returns memory before `init` runs.
    pub(crate) fn initial(shape: &Shape<'_>) -> Self {
        Memory {
            values: shape.program().locations.iter().map(|l| l.init).collect(),
            allocated: vec![false; shape.cells],
        }
    }
}

impl<P> State<P> {
    /// Returns the state before `init` runs.
    pub fn initial(shape: &Shape<'_>, pending: P) -> Self {
        let program = shape.program();
        State {
            pcs: vec![Pc(0); program.threads.len()],
            registers: vec![0; shape.registers],
            memory: Memory::initial(shape),
            pending,
        }
    }

    /// Returns the value of a register.
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

    // Reuses the allocations of `self`: this runs for every successor.
    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.pcs.clone_from(&other.pcs);
        self.registers.clone_from(&other.registers);
        self.memory.values.clone_from(&other.memory.values);
        self.memory.allocated.clone_from(&other.memory.allocated);
        self.pending.clone_from(&other.pending);
    }
}
