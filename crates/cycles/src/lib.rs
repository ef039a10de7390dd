//! Litmus tests from critical cycles, with the names that the community gives them.
//!
//! A behaviour that is not sequentially consistent has a cycle: accesses in program order and communications between
//! threads that lead back to where they began. Turned round, each cycle makes a test: the smallest program with these
//! accesses, and a condition on final values that holds when the cycle has happened. Whether the condition can hold is
//! then a question about the memory model, and the tests of all short cycles ask about all its corners. This is how
//! diy makes tests; names, layout and the choice of the first thread are those of diy for x86.
//!
//! The rooms:
//! - [`edge`](Edge): the steps of cycles and their names.
//! - [`cycle`](Cycle): which edges make a cycle, and which rotation stands for it.
//! - [`name`](Cycle::name): `SB`, `MP+po+mfence`, `IRIW+mfences`.
//! - [`litmus`](Cycle::test): the test as text; [`x86`]: its instructions.
//! - [`generate`](generate()): all critical cycles up to a length.
//!
//! Direction: nothing is said here about what a model allows.

mod cycle;
mod edge;
mod generate;
mod litmus;
mod name;
pub mod x86;

pub use cycle::{Cycle, Fault};
pub use edge::{Access, Edge, Fence, Place, Reach, UnknownEdge};
pub use generate::{default_edges, generate, is_critical};
