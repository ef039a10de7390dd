//! The program representation: locations, threads of labelled statements, properties.
//!
//! Front ends produce a [`Problem`]. Models, engines, inference and reports read it. This crate has
//! no dependencies and contains neither memory models nor search.
//!
//! Modules:
//! - [`ids`]: newtypes for labels, threads, locations, registers, program counters.
//! - [`value`]: values and types.
//! - [`expr`]: pure expressions, their evaluation, and faults.
//! - [`access_order`]: the orders of accesses on machines as ARM.
//! - [`op`]: operations of statements, fence kinds, addresses.
//! - [`program`]: programs and problems (a program with its properties).
//! - [`assemble`]: construction of programs: jumps, fresh registers and locations, labels, places.
//! - [`points_to`]: the locations that pointers may point to.
//! - [`place`], [`placement`]: places for fences, sets of fences, and their insertion.
//! - [`code_equality`]: comparison of the code of two programs.
//! - [`progress`]: the statements that a thread must execute again and again to get on.
//! - [`control_point`]: how invariants depend on control points.
//! - [`property`], [`violation`]: properties and their violations.
//! - [`operations`]: the property that the results of a library's operations are consistent.
//! - [`flow`]: control flow, register uses, liveness.
//! - [`dominators`]: dominators of a control-flow graph.
//! - [`grace_period`]: read-side sections and what a grace period waits for.
//! - [`interval`]: interval arithmetic.
//! - [`range`]: value ranges of registers and locations.
//! - [`rotate_waits`]: a common form of waits.
//! - [`spin_loops`]: detection and cutting of spin loops.
//! - [`validate`]: the rules of a well-formed problem.
//! - [`store_buffers`]: the names of TSO and PSO.
//! - [`pending_stores`]: bounds on pending stores that follow from the control flow.
//! - [`text`]: programs as readable text.
//! - [`span`], [`diagnostic`]: source positions and messages about them.

// No catch-all arms on our own enums: the compiler then lists every place that a new variant
// affects.
#![warn(clippy::wildcard_enum_match_arm)]

pub mod access_order;
pub mod assemble;
pub mod code_equality;
mod constants;
pub mod control_point;
pub mod counters;
pub mod diagnostic;
pub mod dominators;
pub mod expr;
pub mod flow;
pub mod grace_period;
pub mod ids;
pub mod interval;
pub mod op;
pub mod operations;
pub mod pending_stores;
pub mod place;
pub mod placement;
pub mod points_to;
pub mod program;
pub mod progress;
pub mod property;
pub mod range;
pub mod rotate_waits;
pub mod span;
pub mod spin_loops;
pub mod store_buffers;
pub mod text;
pub mod unwind;
pub mod validate;
pub mod value;
pub mod violation;

pub use access_order::{AccessOrder, Acquire};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use expr::{BinOp, Expr, Fault, UnOp, WideOp};
pub use ids::{Domain, Label, Loc, Pc, PlaceId, PoolId, Reg, ThreadId};
pub use op::{Access, Address, CasResult, FenceKinds, MemoryOp, Op, Pointer, Update};
pub use operations::{Consistency, Operation, Operations};
pub use place::{AccessKind, OrderChoice, OrderEffect, OrderSite, Place};
pub use placement::{Atom, Barrier, Placement, WrittenFences};
pub use program::{Bound, LabelInfo, Location, Pool, Problem, Program, Register, Stmt, Thread};
pub use property::{Condition, Observable, Property, Quantifier};
pub use span::Span;
pub use store_buffers::StoreBuffers;
pub use value::{INT_LIMITS, Type, Value, is_int, wrap_into};
pub use violation::{DataRace, RacingAccess, Violation};
