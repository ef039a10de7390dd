//! Translates programs under store-buffer models to programs under SC, and exports programs as text
//! for other tools.
//!
//! The crate has two independent halves. They share only the program representation.
//!
//! - *Translation* maps a program to a program. [`contexts`] simulates TSO and PSO under a bound on
//!   context switches, without buffers \[Zac\]. [`buffers`] makes bounded store buffers explicit.
//!   Every SC run of the result is a run of the original under its model. [`Translation`] records
//!   the correspondence. [`values`] abstracts the values of locations, for any model with loads in
//!   order. [`hide`] leaves out the accesses to some locations, and [`pause`] the steps of some
//!   threads, for every model. [`strengthen`] writes full fences where nobody can observe the
//!   difference.
//! - *Export* maps a program to text. [`export`] writes a program for execution under SC as `.fp`,
//!   as Promela for SPIN, or as C. A straight-line program can also be written as an x86 litmus
//!   test.
//!
//! Both translations build code with [`fencepost_ir::assemble`]. They share `formula`
//! (expressions), `groups` (the locations to which a thread may have pending stores) and
//! `atomic_blocks` (the statements inside atomic blocks).

mod atomic_blocks;
pub mod buffers;
pub mod contexts;
pub mod export;
mod formula;
mod groups;
pub mod hide;
pub mod loop_bounds;
mod narrow;
pub mod pause;
pub mod strengthen;
mod unsupported;
pub mod values;

use fencepost_ir::{Pc, Problem, ThreadId};

pub use narrow::narrowed;
pub use unsupported::{Unsupported, UnsupportedInLitmus};

/// A program whose SC runs are runs of another program under another model.
///
/// The translation extends the original. Its first threads are the original threads, in the same
/// order and with the same first registers. Its first locations and labels are the original ones.
/// Its pools are the original pools.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Translation {
    /// The translated program. Run it under SC.
    pub problem: Problem,
    /// The origin of each statement, by thread and program counter.
    pub origins: Vec<Vec<Origin>>,
    /// By location: the thread whose simulated buffer the location belongs to. `None` for original
    /// locations and for locations that all threads use.
    pub owners: Vec<Option<ThreadId>>,
}

impl Translation {
    /// Returns the translation that leaves the program unchanged.
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

/// What a statement of a translation stands for.
///
/// A step of the translation is a step of the original if it begins at an [`Origin::Statement`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The statement at this program counter, in the same thread of the original.
    Statement(Pc),
    /// This thread of the original begins a new context.
    Context(ThreadId),
    /// This thread of the original commits a pending store.
    Commit(ThreadId),
    /// An auxiliary statement without a counterpart in the original.
    Nothing,
}

/// Returns the number of statements of a program: `init` and all threads.
pub fn statement_count(problem: &Problem) -> usize {
    problem.program.init.iter().chain(&problem.program.threads).map(|t| t.code.len()).sum()
}
