//! What a program is: locations, threads of labelled statements, properties.
//!
//! This crate depends on nothing. Front ends produce a [`Problem`]; everything below them
//! (models, engines, inference, reports) reads it. It knows neither what a memory model does nor a search.
//!
//! The rooms:
//! - [`ids`]: newtypes for labels, threads, locations, registers, program counters.
//! - [`value`]: values, types and value ranges.
//! - [`expr`]: pure expressions and how they evaluate, faults included.
//! - [`op`]: the operations of a statement; fences; addresses.
//! - [`program`]: the program itself.
//! - [`assemble`]: building programs: code with jumps, fresh registers and locations, labels, places.
//! - [`place`], [`placement`]: where fences may stand, and the program that has them.
//! - [`essence`]: whether two programs have the same code.
//! - [`property`]: what must hold; [`violation`]: what goes wrong; [`operations`]: of the results of a library's operations.
//! - [`flow`]: control flow, register uses, liveness.
//! - [`interval`]: interval arithmetic.
//! - [`range`]: which values a register or a location can hold.
//! - [`waits`]: loops that only re-read.
//! - [`validate`]: what a well-formed program is.
//! - [`store_buffers`]: the names of TSO and PSO.
//! - [`text`]: a program as readable text.
//! - [`span`], [`diagnostic`]: source positions and what a front end says about them.

// A new operation, event or property must be decided on everywhere: no catch-all arms on our own enums.
#![warn(clippy::wildcard_enum_match_arm)]

pub mod assemble;
pub mod diagnostic;
pub mod essence;
pub mod expr;
pub mod flow;
pub mod ids;
pub mod interval;
pub mod op;
pub mod operations;
pub mod place;
pub mod placement;
pub mod program;
pub mod property;
pub mod range;
pub mod span;
pub mod store_buffers;
pub mod text;
pub mod validate;
pub mod value;
pub mod violation;
pub mod waits;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use expr::{BinOp, Expr, Fault, UnOp};
pub use ids::{Label, Loc, Pc, PlaceId, PoolId, Reg, ThreadId};
pub use op::{Access, Address, FenceKinds, MemoryOp, Op, Update};
pub use operations::{Consistency, Operation, Operations};
pub use place::Place;
pub use placement::{Atom, Barrier, Placement, Written};
pub use program::{LabelInfo, Location, Pool, Problem, Program, Register, Stmt, Thread};
pub use property::{Condition, Observable, Property, Quantifier};
pub use span::Span;
pub use store_buffers::StoreBuffers;
pub use value::{Type, Value};
pub use violation::Violation;
