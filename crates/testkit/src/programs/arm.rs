//! Small programs for the model `arm`: a text form, its lowering, and random programs.
//!
//! No language of Fencepost's front ends has all orders and dependencies of the model, so these
//! programs have a text form of their own. Threads are separated by `|`, statements by `;`.
//!
//! | statement | meaning |
//! |---|---|
//! | `ldr r0 x`, `ldar`, `ldapr` | a load; with strong or weak acquire |
//! | `str x 1`, `stlr` | a store; with release |
//! | `swp r0 x 1`, `add`, `cas r0 x 1 2` | an update; with the suffixes `a` and `l`: acquire, release; `-` as register: the value is discarded |
//! | `ldxr r0 x`, `ldaxr`, `stxr r1 x 1`, `stlxr` | an exclusive pair; the store yields 0 or 1 |
//! | `dmb`, `dmb.ld`, `dmb.st`, `isb` | a fence |
//! | `csel r2 r0 1 3+r1` | sets `r2` to the first value if `r0` is not 0, otherwise to the second |
//! | `cbz r0 2` | skips two statements if `r0` is 0; `cbz r0 0` is only a dependency |
//!
//! An address is a location `x`, `y` or `z`; `y+r0`, the location `y` with a dependency on `r0`; or
//! `@r0`, the location `x` or `y`, depending on the last bit of `r0`. A value is a number; `1+r0`, a
//! number with a dependency; or a register.
//!
//! All locations and all registers are observed.

mod lowering;
mod random;
mod text;

use fencepost_ir::Acquire;

pub use random::{arm, shrink_arm};

/// A program for the model `arm`. [`Display`](std::fmt::Display) and
/// [`FromStr`](std::str::FromStr) are its text form.
///
/// ```
/// use fencepost_testkit::programs::ArmProgram;
///
/// let source = "str x 1; dmb; str y 1 | ldr r0 y; ldr r1 x+r0";
/// let program: ArmProgram = source.parse()?;
/// assert_eq!(program.to_string(), source);
/// assert_eq!(program.problem().observed.len(), 5);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArmProgram {
    threads: Vec<Vec<Statement>>,
}

/// The number of locations: `x`, `y`, `z`.
const LOCATIONS: usize = 3;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Statement {
    Load { reg: usize, at: Address, acquire: Acquire, exclusive: bool },
    Store { at: Address, value: Operand, release: bool },
    StoreExclusive { status: usize, at: Address, value: Operand, release: bool },
    Update { reg: Option<usize>, at: Address, update: Update, acquire: bool, release: bool },
    Fence(Fence),
    Select { reg: usize, cond: usize, then: Operand, otherwise: Operand },
    BranchIfZero { reg: usize, skipped: usize },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Address {
    Fixed(usize),
    /// The location, with a dependency on the register.
    Dependent(usize, usize),
    /// Location 0 or 1, depending on the register.
    Indexed(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operand {
    Constant(i64),
    /// The number, with a dependency on the register.
    Dependent(i64, usize),
    Register(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Update {
    Swap(Operand),
    Add(Operand),
    Cas(Operand, Operand),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fence {
    Full,
    Load,
    Store,
    Instruction,
}
