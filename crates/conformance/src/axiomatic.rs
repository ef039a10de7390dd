//! The axiomatic judge: which outcomes a litmus test has, without a state and without a step.
//!
//! Source: the book's page "What a program means" (`book/src/semantics.md`), read in the style of herd: guess
//! a *candidate* (which way each thread goes, which write each read reads from, in which order the writes to a location
//! come), keep it if two relations have no cycle, and collect what the kept ones show.
//! Engines and reference interpreter run programs with buffers and windows; this one shares nothing with them but the
//! program representation and the evaluation of expressions.
//!
//! Direction: exact for the programs it takes. It refuses those with loops, records, operations of clients or `init`,
//! and those in which a thread could fault if each of its reads saw any value ever written to its location.
//! Nothing is cut short in silence: too large is a reason to refuse, too.
//!
//! The rooms:
//! - [`run`]: what one thread does, for every value that its reads might get.
//! - [`order`]: which accesses of a run keep their order, by the table and the fences between them.
//! - [`candidate`]: runs of all threads put together, and the axioms.
//!
//! ```
//! # use fencepost_conformance::axiomatic::{Unsupported, outcomes};
//! # use fencepost_conformance::reference::Table;
//! # let problem = fencepost_ir::Problem::default();
//! let found = outcomes(&problem, Table::TSO)?;
//! assert_eq!(found.len(), 1, "no threads, one end");
//! # Ok::<(), Unsupported>(())
//! ```

mod candidate;
mod order;
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use fencepost_ir::{Fault, Loc, Op, Pc, Problem, Program, Thread, Value, flow};

use crate::reference::Table;

/// Why a program is not one to judge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unsupported {
    /// It has an `init` block.
    Init,
    /// A thread may come to a statement twice.
    Loop,
    /// It has records.
    Records,
    /// It is a client of a library's operations.
    Operations,
    /// It may fault.
    Fault(Fault),
    /// There are too many accesses or runs to write them all down.
    TooLarge,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsupported::Init => f.write_str("an `init` block"),
            Unsupported::Loop => f.write_str("a loop"),
            Unsupported::Records => f.write_str("records"),
            Unsupported::Operations => f.write_str("operations of a client"),
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

/// For each location, by its position: every value that may ever be in it.
type Values = Vec<BTreeSet<Value>>;

/// What is in locations: those that were read or written.
type Cells = BTreeMap<Loc, Value>;

/// The outcomes of all final states: runs in which an `assume` blocks or an `assert` fails have none.
pub fn outcomes(problem: &Problem, table: Table) -> Result<BTreeSet<Vec<Value>>, Unsupported> {
    let program = &problem.program;
    check(program)?;
    let values = values(program)?;
    let mut runs = Vec::new();
    for thread in &program.threads {
        let mut all = run::runs(program, thread, &values)?;
        all.retain(|run| run.halts);
        for run in &mut all {
            run.before = order::kept(run, table);
        }
        runs.push(all);
    }
    candidate::outcomes(problem, &runs)
}

/// Refuses what has a meaning that is not in this reading.
fn check(program: &Program) -> Result<(), Unsupported> {
    if program.init.is_some() {
        return Err(Unsupported::Init);
    }
    for thread in &program.threads {
        for stmt in &thread.code {
            match &stmt.op {
                Op::New { .. } | Op::Free { .. } => return Err(Unsupported::Records),
                Op::Invoke { .. } | Op::Return { .. } => return Err(Unsupported::Operations),
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

/// Whether control can come to a statement twice: after taking away, again and again, what has no way in that is
/// left, something is left.
fn has_loop(thread: &Thread) -> bool {
    let ways_in = flow::ways_in(thread);
    let mut left: BTreeSet<usize> = (0..thread.code.len()).collect();
    loop {
        let waits = |at: &usize| ways_in[*at].iter().any(|from: &Pc| left.contains(&from.index()));
        let next: BTreeSet<usize> = left.iter().copied().filter(|at| waits(at)).collect();
        if next.len() == left.len() {
            return !left.is_empty();
        }
        left = next;
    }
}

/// Every value that may be in a location, and perhaps more.
///
/// A value that is written comes from values read, which were written before: nothing is out of thin air, since what a
/// write depends on is always performed first. So there is no longer chain than there are writes, and as many rounds suffice.
/// Runs that get stuck count: perhaps only since a value is not known yet.
fn values(program: &Program) -> Result<Values, Unsupported> {
    let mut values: Values =
        program.locations.iter().map(|location| BTreeSet::from([location.init])).collect();
    let statements = program.threads.iter().flat_map(|thread| &thread.code);
    let writes = statements.filter(|stmt| stmt.op.access().is_some_and(|a| a.stores)).count();
    for _ in 0..writes {
        let mut found = values.clone();
        for thread in &program.threads {
            for run in run::runs(program, thread, &values)? {
                for (loc, value) in run.nodes().flat_map(|node| &node.writes) {
                    found[loc.index()].insert(*value);
                }
            }
        }
        if found == values {
            break;
        }
        values = found;
    }
    Ok(values)
}
