//! A program under a store-buffer model as a program under SC, and programs as text for other tools.
//!
//! Two independent halves, which meet in the representation of programs:
//!
//! - *Translation*, program to program: [`contexts`] simulates TSO and PSO with a bound on context
//!   switches, without buffers \[Zac\]; [`buffers`] makes bounded store buffers explicit. Sequentially
//!   consistent runs of what comes out are runs of what went in, and [`Translation`] says which.
//! - *Export*, program to text: [`export`] writes any program, meant to run under SC, as `.fp`, as Promela
//!   for SPIN, or as C.
//!
//! Translations build code with [`fencepost_ir::assemble`]. They share `formula` (expressions), `groups` (which
//! locations a thread may have stores pending to) and `blocks` (what is inside atomic blocks).

mod blocks;
pub mod buffers;
pub mod contexts;
pub mod export;
mod formula;
mod groups;
mod unsupported;

use fencepost_ir::{Pc, Problem, ThreadId};

pub use unsupported::{NoLitmus, Unsupported};

/// A program whose sequentially consistent runs are runs of another program under another model.
///
/// Its first threads are those of the original, in the same order and with the same first registers; its
/// first locations are those of the original, and so are its first labels and all its pools.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Translation {
    /// The program, to be run under SC.
    pub problem: Problem,
    /// By thread and program counter: what the statement stands for.
    pub origins: Vec<Vec<Origin>>,
    /// By location: whose simulated buffer it belongs to; none for the original's, and for what all use.
    pub owners: Vec<Option<ThreadId>>,
}

impl Translation {
    /// The program itself, which stands for itself under SC.
    pub fn identity(problem: &Problem) -> Self {
        let program = &problem.program;
        let origins = program.threads.iter().map(|thread| {
            (0..thread.code.len()).map(|at| Origin::Statement(Pc::from_index(at))).collect()
        });
        Translation {
            problem: problem.clone(),
            origins: origins.collect(),
            owners: vec![None; program.locations.len()],
        }
    }
}

/// What a statement of a translation stands for. A step of a translation is one of the original when it
/// begins at an [`Origin::Statement`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// This statement of the same thread of the original.
    Statement(Pc),
    /// The thread (of the original) begins a new context.
    Context(ThreadId),
    /// The thread (of the original) commits a pending store.
    Commit(ThreadId),
    /// Nothing in the original.
    Nothing,
}

/// How many statements a program has: `init` and all threads.
pub fn size(problem: &Problem) -> usize {
    problem.program.init.iter().chain(&problem.program.threads).map(|t| t.code.len()).sum()
}
