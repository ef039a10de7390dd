//! Pausing threads: a program in which only some threads take steps.
//!
//! Direction: under-approximation, under every model. A thread that never starts is a thread that the
//! scheduler never chooses. So a run of the result is a run of the exact program, and a state of it is
//! a state of the exact program. It says nothing about final states and hangs, because the paused
//! threads do not finish.

use fencepost_ir::{Expr, Op, Pc, Problem, Property, ThreadId};

/// Returns the problem in which only some threads take steps. Only properties of states and failures
/// remain to check.
pub fn with_running(problem: &Problem, running: &[ThreadId]) -> Problem {
    let mut result = problem.safety();
    result.may_hang = true;
    result.properties.retain(|property| match property {
        Property::Assertions | Property::MutualExclusion | Property::Invariant(_) => true,
        Property::FinalForall(_)
        | Property::FinalNever(_)
        | Property::DeadlockFree
        | Property::Progress
        | Property::Operations(_) => false,
    });
    for (at, thread) in result.program.threads.iter_mut().enumerate() {
        if running.contains(&ThreadId::from_index(at)) {
            continue;
        }
        // The statements keep their positions and labels, so the thread is where it was before its
        // first step.
        for (pc, stmt) in thread.code.iter_mut().enumerate() {
            stmt.op = Op::Assume(Expr::Const(0));
            stmt.next = Pc::from_index(pc);
        }
    }
    result
}
