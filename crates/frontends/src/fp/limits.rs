//! Size limits of programs and messages.
//!
//! Engines enumerate states, so no program that can be verified comes close to these limits. The
//! limits turn a typing error such as `shared int a[1000000000];` into a diagnostic instead of
//! memory exhaustion.

use fencepost_ir::Diagnostics;

/// Bytes of source text.
pub const SOURCE: usize = 1 << 20;
/// Client lines of a file.
pub const CLIENTS: usize = 1_000;
/// Locations of a program, including the fields of all records.
pub const LOCATIONS: u64 = 65_535;
/// Threads of a program.
pub const THREADS: u64 = 64;
/// Statements of a thread, after inlining.
pub const STATEMENTS: usize = 65_535;
/// Registers of a thread, including temporaries.
pub const REGISTERS: usize = 1_000;
/// Record types of a file.
pub const RECORDS: usize = 1_000;
/// Constants of an enum.
pub const CONSTANTS: usize = 1_000;
/// Alternatives in the range of a `choose`.
pub const ALTERNATIVES: u32 = 65_536;
/// Elements of a local array.
pub const LOCAL_ARRAY: u64 = 64;
/// Values in the list of a `choose`.
pub const CHOICES: usize = 64;
/// Total nesting depth of statements, expressions and inlined calls during lowering.
pub const LOWERING_DEPTH: u32 = 400;
/// Tree nodes that lowering may visit for one thread.
pub const FUEL: u64 = 2_000_000;
/// Operations of a generated client, separately for the initial part and for all threads together.
pub const GENERATED: u64 = 100;
/// Orders of a client's operations that a property of operations may have to check.
pub const ORDERS: u64 = 1_000_000;
/// Total size of the programs of a file, over all clients, in units of about 100 bytes.
pub const TOTAL: u64 = 2_000_000;

/// Errors of a file. The front end stops after this many errors.
pub const ERRORS: usize = 500;
/// Characters of a name that a message shows.
pub const SHOWN_NAME: usize = 40;

/// Returns whether the front end may stop looking for errors. That needs one more error than is
/// shown, so that the output can say that there are more.
pub fn error_limit_reached(diagnostics: &Diagnostics) -> bool {
    diagnostics.len() > ERRORS
}

/// The hint of diagnostics about size limits.
pub const SIZE_HINT: &str = "make the program smaller: verification explores every reachable state";
