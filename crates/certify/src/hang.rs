//! Hangs: states in which every thread that has not halted waits forever.
//!
//! Source: the book's page "Semantics", section "Hangs". Direction: exact. A hang has no pending
//! stores, and an abstract state without pending stores is an exact state.

use std::collections::HashSet;
use std::convert::Infallible;

use fencepost_ir::{Op, Problem, Property, Value};

use crate::format::{CertState, CertThread};
use crate::semantics::Semantics;

/// The maximum number of states of one thread that are examined.
const MAX_THREAD_STATES: usize = 1 << 16;

/// Returns why a state must not be in a certificate: it is a hang, or it is not known whether it
/// is. `None` if it is not a hang, or if the problem allows hangs.
pub(crate) fn violated_hang_freedom(
    problem: &Problem,
    semantics: &Semantics<'_>,
    state: &CertState,
) -> Option<&'static str> {
    match is_forbidden_hang(problem, semantics, state) {
        Some(true) => Some("hang: every thread that has not finished waits forever"),
        Some(false) => None,
        None => Some("a thread has too many states while it waits: hangs are not decided"),
    }
}

/// Returns whether a state is a hang and the problem does not allow hangs. `None` if a thread has
/// too many states to decide this.
pub(crate) fn is_forbidden_hang(
    problem: &Problem,
    semantics: &Semantics<'_>,
    state: &CertState,
) -> Option<bool> {
    let is_pending = |thread: &CertThread| !thread.has_no_pending_store();
    if problem.may_hang || state.threads.iter().any(is_pending) {
        return Some(false);
    }
    let halted = |at: &usize| {
        let pc = state.threads[*at].pc;
        matches!(problem.program.threads[*at].stmt(pc).op, Op::Halt)
    };
    let mut waiting = (0..state.threads.len()).filter(|at| !halted(at)).peekable();
    if waiting.peek().is_none() {
        return Some(false);
    }
    let mut is_decided = true;
    for at in waiting {
        match waits_forever(problem, semantics, state, at) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => is_decided = false,
        }
    }
    is_decided.then_some(true)
}

/// Returns whether a thread that runs alone never changes memory, allocates, frees, stores or
/// halts. `None` if it has too many states.
fn waits_forever(
    problem: &Problem,
    semantics: &Semantics<'_>,
    start: &CertState,
    thread_index: usize,
) -> Option<bool> {
    let code = &problem.program.threads[thread_index];
    let counts_assume = problem.properties.contains(&Property::DeadlockFree);
    let mut seen: HashSet<(u32, Vec<Value>)> = HashSet::new();
    let mut worklist = vec![start.threads[thread_index].clone()];
    while let Some(thread) = worklist.pop() {
        if !seen.insert((thread.pc.0, thread.registers.clone())) {
            continue;
        }
        if seen.len() > MAX_THREAD_STATES {
            return None;
        }
        let op = &code.stmt(thread.pc).op;
        if matches!(op, Op::Store { .. } | Op::New { .. } | Op::Free { .. } | Op::Halt) {
            return Some(false);
        }
        let is_assume = matches!(op, Op::Assume(_));
        let mut state = start.clone();
        state.threads[thread_index] = thread;
        let (mut gets_on, mut is_blocked) = (false, true);
        let Ok(()) = semantics.for_each_statement(&state, thread_index, &mut |_, after| {
            is_blocked = false;
            match after {
                Ok(after) => {
                    gets_on |= after.memory != start.memory || after.allocated != start.allocated;
                    worklist.push(after.threads[thread_index].clone());
                }
                Err(_) => gets_on = true,
            }
            Ok::<(), Infallible>(())
        });
        // A false `assume` outside of `atomic` discards the run.
        if gets_on || is_blocked && is_assume && !counts_assume {
            return Some(false);
        }
    }
    Some(true)
}
