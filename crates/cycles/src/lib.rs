//! Generates litmus tests from critical cycles, with their conventional names.
//!
//! A behaviour that is not sequentially consistent has a cycle of program order and
//! communications between threads. Conversely, each cycle defines a litmus test: the smallest
//! program with these accesses, and a condition on the final values that holds exactly if the
//! cycle occurs. The memory model determines whether the condition can hold. The tests of all
//! short cycles together exercise all relaxations of a model. The tool diy generates tests in
//! this way. Names, layout and the choice of the first thread are those of diy for x86.
//!
//! Modules:
//! - [`edge`](Edge): the edges of cycles and their names.
//! - [`cycle`](Cycle): the rules for cycles, and their canonical rotation.
//! - [`name`](Cycle::name): `SB`, `MP+po+mfence`, `IRIW+mfences`.
//! - [`litmus`](Cycle::litmus_text): the test as text; [`x86`]: its instructions.
//! - [`generate`](generate()): all critical cycles up to a length.
//!
//! Direction: none. This crate does not decide what a memory model allows.

mod cycle;
mod edge;
mod generate;
mod litmus;
mod name;
pub mod x86;

pub use cycle::{Cycle, CycleError};
pub use edge::{Access, Edge, Fence, LocationChange, Reach, UnknownEdge};
pub use generate::{default_edges, generate, generate_while, is_critical};
