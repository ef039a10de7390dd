//! The axiomatic judge: computes the outcomes of a litmus test without states and steps.
//!
//! Source: the book's page on semantics (`book/src/semantics.md`), in the style of herd. The judge
//! enumerates *candidates*: a run of each thread, a write for each read (reads-from), and an order
//! of the writes to each location (coherence). A candidate is consistent if two relations are
//! acyclic. The result is the outcomes of the consistent candidates. The engines and the reference
//! interpreter execute programs with buffers and windows. The judge shares only the program
//! representation and the evaluation of expressions with them.
//!
//! Direction: exact for supported programs. Unsupported are loops, records, client operations and
//! `init`. Also unsupported are programs in which a thread could fault if each of its reads could
//! return any value ever written to its location. There are no silent bounds: a program that is too
//! large is refused.
//!
//! Modules:
//! - [`run`]: the runs of one thread, for every value that its reads may return.
//! - [`order`]: preserved program order, from the bypass table and fences.
//! - [`candidate`]: the combination of the runs of all threads, and the axioms.
//! - [`arm`]: the same for the model `arm`, whose axioms are different.
//!
//! ```
//! # use fencepost_conformance::axiomatic::{Unsupported, outcomes};
//! # use fencepost_conformance::reference::Table;
//! # let problem = fencepost_ir::Problem::default();
//! let found = outcomes(&problem, Table::TSO)?;
//! assert_eq!(found.len(), 1, "a program without threads has one outcome");
//! # Ok::<(), Unsupported>(())
//! ```

mod arm;
mod candidate;
mod order;
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use fencepost_ir::{Fault, Loc, Op, Pc, Problem, Program, Thread, Value, flow};

pub use arm::arm_outcomes;

use crate::reference::Table;

/// The reason why a program is not supported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unsupported {
    /// The program has an `init` block.
    Init,
    /// A thread has a loop.
    Loop,
    /// The program has records.
    Records,
    /// An access through a pointer.
    Pointers,
    /// The program has client operations.
    Operations,
    /// The program has a `finally` block.
    LastThread,
    /// The program has read-side sections or grace periods.
    GracePeriods,
    /// The program has a `drain` statement, which the model does not define.
    Drain,
    /// The program has an `atomic` block, which the model does not define.
    Atomic,
    /// The program may fault.
    Fault(Fault),
    /// The program has too many accesses or runs to enumerate them.
    TooLarge,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsupported::Init => f.write_str("an `init` block"),
            Unsupported::Loop => f.write_str("a loop"),
            Unsupported::LastThread => f.write_str("a `finally` block"),
            Unsupported::GracePeriods => f.write_str("read-side sections or grace periods"),
            Unsupported::Records => f.write_str("records"),
            Unsupported::Pointers => f.write_str("pointers"),
            Unsupported::Drain => f.write_str("a `drain` statement"),
            Unsupported::Atomic => f.write_str("an `atomic` block"),
            Unsupported::Operations => f.write_str("client operations"),
            Unsupported::Fault(fault) => write!(f, "a possible fault: {}", fault.describe()),
            Unsupported::TooLarge => f.write_str("too many accesses or runs"),
        }
    }
}

impl From<Fault> for Unsupported {
    fn from(fault: Fault) -> Self {
        Unsupported::Fault(fault)
    }
}

/// By location: every value that the location may ever hold.
type PossibleValues = Vec<BTreeSet<Value>>;

/// The values of the locations that were read or written.
type LocationValues = BTreeMap<Loc, Value>;

/// Returns the outcomes of all final states. Runs in which an `assume` blocks or an `assert` fails
/// have no outcome.
pub fn outcomes(problem: &Problem, table: Table) -> Result<BTreeSet<Vec<Value>>, Unsupported> {
    let program = &problem.program;
    check_supported(program)?;
    if program.uses_pointers() {
        return Err(Unsupported::Pointers);
    }
    let possible_values = possible_values(program, |thread, values| {
        let runs = run::runs(program, thread, values)?;
        let nodes = runs.iter().flat_map(run::Run::nodes);
        Ok(nodes.flat_map(|node| &node.writes).copied().collect())
    })?;
    let mut runs = Vec::new();
    for thread in &program.threads {
        let mut all = run::runs(program, thread, &possible_values)?;
        all.retain(|run| run.halts);
        for run in &mut all {
            run.before = order::preserved_order(run, table);
        }
        runs.push(all);
    }
    candidate::outcomes(problem, &runs)
}

/// Returns an error for programs that neither judge supports.
fn check_supported(program: &Program) -> Result<(), Unsupported> {
    if program.init.is_some() {
        return Err(Unsupported::Init);
    }
    for thread in &program.threads {
        for stmt in &thread.code {
            match &stmt.op {
                Op::New { .. } | Op::Free { .. } => return Err(Unsupported::Records),
                Op::Invoke { .. } | Op::Return { .. } => return Err(Unsupported::Operations),
                Op::Join => return Err(Unsupported::LastThread),
                Op::SectionBegin { .. } | Op::SectionEnd { .. } | Op::GracePeriod { .. } => {
                    return Err(Unsupported::GracePeriods);
                }
                Op::Skip
                | Op::Assign { .. }
                | Op::Choose { .. }
                | Op::Load { .. }
                | Op::Store { .. }
                | Op::Update { .. }
                | Op::Fence(_)
                | Op::Drain(_)
                | Op::Branch { .. }
                | Op::Assume(_)
                | Op::Assert(_)
                | Op::Leave
                | Op::AtomicBegin
                | Op::AtomicEnd
                | Op::Halt => {}
            }
            if stmt.op.address().is_some_and(|address| address.cell.is_some()) {
                return Err(Unsupported::Records);
            }
        }
        if has_loop(thread) {
            return Err(Unsupported::Loop);
        }
    }
    Ok(())
}

/// Returns whether the control-flow graph has a cycle: after repeated removal of statements without
/// remaining predecessors, some statements remain.
fn has_loop(thread: &Thread) -> bool {
    let predecessors = flow::predecessors(thread);
    let mut remaining: BTreeSet<usize> = (0..thread.code.len()).collect();
    loop {
        let has_predecessor = |at: &usize| {
            predecessors[*at].iter().any(|from: &Pc| remaining.contains(&from.index()))
        };
        let next: BTreeSet<usize> =
            remaining.iter().copied().filter(|at| has_predecessor(at)).collect();
        if next.len() == remaining.len() {
            return !remaining.is_empty();
        }
        remaining = next;
    }
}

/// Returns every value that each location may hold. An over-approximation.
///
/// A written value depends on values that were read, and these were written before. There are no
/// out-of-thin-air values, because a write is performed after the reads it depends on. So a chain
/// of dependencies has at most as many elements as there are writes, and that many iterations
/// suffice. Runs that get stuck are included, because they may be stuck only because a value is not
/// found yet. `written` returns what a thread may write if its reads return these values.
fn possible_values(
    program: &Program,
    written: impl Fn(&Thread, &PossibleValues) -> Result<Vec<(Loc, Value)>, Unsupported>,
) -> Result<PossibleValues, Unsupported> {
    let mut possible_values: PossibleValues =
        program.locations.iter().map(|location| BTreeSet::from([location.init])).collect();
    let statements = program.threads.iter().flat_map(|thread| &thread.code);
    let writes = statements.filter(|stmt| stmt.op.access().is_some_and(|a| a.stores)).count();
    for _ in 0..writes {
        let mut found = possible_values.clone();
        for thread in &program.threads {
            for (loc, value) in written(thread, &possible_values)? {
                found[loc.index()].insert(value);
            }
        }
        if found == possible_values {
            break;
        }
        possible_values = found;
    }
    Ok(possible_values)
}
