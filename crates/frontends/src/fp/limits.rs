//! How large a program may be.
//!
//! Every engine enumerates states, and no search gets near these numbers. They are here so that a
//! slip of the keyboard (`shared int a[1000000000];`) is a message and not a full memory.

use fencepost_ir::Diagnostics;

/// Bytes of source text.
pub const SOURCE: usize = 1 << 20;
/// Client lines of a file.
pub const CLIENTS: usize = 1_000;
/// Locations of a program, the fields of all records included.
pub const LOCATIONS: u64 = 65_535;
/// Threads of a program.
pub const THREADS: u64 = 64;
/// Statements of a thread, after inlining.
pub const STATEMENTS: usize = 65_535;
/// Registers of a thread, temporaries included.
pub const REGISTERS: usize = 1_000;
/// Record types of a file.
pub const RECORDS: usize = 1_000;
/// Constants of an enum.
pub const CONSTANTS: usize = 1_000;
/// Alternatives in the range of a `choose`.
pub const ALTERNATIVES: u32 = 65_536;
/// Values in the list of a `choose`.
pub const CHOICES: usize = 64;
/// How deep statements, expressions and inlined calls may nest together while lowering.
pub const LOWERING_DEPTH: u32 = 400;
/// How many nodes of the tree lowering may visit for one thread.
pub const FUEL: u64 = 2_000_000;
/// Operations that a generated client may have, before its threads and in them.
pub const GENERATED: u64 = 100;
/// Orders of a client's operations that a property of operations may have to look at.
pub const ORDERS: u64 = 1_000_000;
/// All that is built for one file, over all its clients, in units of about a hundred bytes.
pub const TOTAL: u64 = 2_000_000;

/// Errors of a file; after that many the front end stops looking for more.
pub const ERRORS: usize = 500;
/// Characters of a name that a message shows.
pub const SHOWN_NAME: usize = 40;

/// Whether so much was reported that nothing more needs to be: one more than is shown, so that it is
/// known that there are more.
pub fn enough(diagnostics: &Diagnostics) -> bool {
    diagnostics.len() > ERRORS
}

/// What to do about it.
pub const ADVICE: &str = "checking explores every reachable state; make the program smaller";
