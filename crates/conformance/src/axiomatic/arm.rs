//! The axioms of the model `arm`: computes the outcomes of a small program without states and steps.
//!
//! Source: the axioms of the book's page on the model (`book/src/arm.md`). The judge enumerates
//! candidates as the [judge](super) of the other models does: a run of each thread, reads-from
//! (*rf*) and coherence (*co*). It keeps the candidates that satisfy the axioms *internal*,
//! *external* and *atomic*.
//!
//! Direction: exact for supported programs. Unsupported are the programs that [`super`] does not
//! support, except that pointers are supported; and `drain` and `atomic` blocks, which the model
//! does not define.
//!
//! Decisions that the page leaves open:
//! - An `assume` is a branch. An `assert` orders nothing.
//! - A run in which a thread stores exclusively to another location than its last exclusive load, or
//!   without such a load, has no outcome.
//!
//! Modules:
//! - [`run`]: the runs of one thread, as reads and writes with their dependencies.
//! - [`order`]: the part of ordered-before inside a thread.
//! - [`candidate`]: the combination of the runs of all threads, and the axioms.

mod candidate;
mod order;
mod run;

use std::collections::BTreeSet;

use fencepost_ir::{Op, Problem, Value};

use super::{Unsupported, check_supported, possible_values};

/// Returns the outcomes of all final states under `arm`. Runs in which an `assume` blocks or an
/// `assert` fails have no outcome.
pub fn arm_outcomes(problem: &Problem) -> Result<BTreeSet<Vec<Value>>, Unsupported> {
    let program = &problem.program;
    check_supported(program)?;
    for stmt in program.threads.iter().flat_map(|thread| &thread.code) {
        match &stmt.op {
            Op::Drain(_) => return Err(Unsupported::Drain),
            Op::AtomicBegin | Op::AtomicEnd => return Err(Unsupported::Atomic),
            _ => {}
        }
    }
    let values = possible_values(program, |thread, values| {
        let runs = run::runs(program, thread, values)?;
        Ok(runs.iter().flat_map(|run| run.writes()).collect())
    })?;
    let mut runs = Vec::new();
    for thread in &program.threads {
        let mut all = run::runs(program, thread, &values)?;
        all.retain(|run| run.halts);
        for run in &mut all {
            run.before = order::ordered_before(run);
        }
        runs.push(all);
    }
    candidate::outcomes(problem, &runs)
}
