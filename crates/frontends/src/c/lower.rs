//! Lowering: translates the typed tree to the program representation.
//!
//! - Every scalar of an object is a location, or a register if only one thread uses it by name
//!   ([`memory`], [`places`]).
//! - Functions are inlined, and constants are propagated ([`calls`], [`state`]).
//! - Every created thread is a thread of the program ([`threads`]).
//! - Memory orders are fences around accesses ([`access`], [`atomics`], [`order_places`]).
//!
//! Lowering runs in passes, because a pass needs facts about the whole program ([`plan`]).
//!
//! Approximations: weak compare-and-exchange never fails spuriously. Bounds (recursion, allocations and
//! threads in loops, values of `nondet`) are statements that verdicts report.

mod access;
mod arithmetic;
mod atomics;
mod aux;
mod blocks;
mod calls;
mod cleanup;
mod constants;
mod control;
mod copies;
mod effects;
mod expressions;
mod fence_places;
mod heap;
mod intrinsics;
mod labels;
mod layout;
mod lifetimes;
mod loops;
mod memory;
mod nondet;
mod order_places;
mod pass;
mod places;
mod plan;
mod pointees;
mod registers;
mod state;
mod switch;
mod thread;
mod threads;
mod uninitialised;
mod walk;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use fencepost_ir::{Diagnostics, Problem, Span};

use crate::Request;
use crate::c::codes;
use crate::c::source_map::SourceMap;
use crate::c::typed::{FunctionId, Program};
use labels::Labels;
use pass::Pass;
use plan::Plan;

/// The largest number of passes.
const MAX_PASSES: usize = 16;

/// Lowers a program. Returns `None` exactly when it reported an error.
pub fn lower(
    program: &Program,
    sources: &SourceMap,
    request: &Request<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Problem> {
    let start = Span { line: 1, column: 1, ..Span::default() };
    let Some(main) = program.main else {
        let code = codes::NO_MAIN;
        diagnostics
            .error(code, start, "there is no function `main`")
            .hint("add `int main() { ... }`, which creates the threads");
        return None;
    };
    let effects = effects::Effects::new(program);
    let mut result = PassResult::CrossesPrefix;
    for no_prefix in [false, true] {
        let plan = Plan { no_prefix, ..Plan::default() };
        result = run_passes(program, sources, request, &effects, main, plan);
        if !matches!(result, PassResult::CrossesPrefix) {
            break;
        }
    }
    match result {
        PassResult::Lowered(problem, found) => {
            diagnostics.append(found);
            Some(*problem)
        }
        PassResult::Errors(found) => {
            diagnostics.append(found);
            None
        }
        PassResult::CrossesPrefix | PassResult::NoFixpoint => {
            diagnostics
                .error(codes::NO_FIXPOINT, start, "the structure of this program is not supported")
                .hint("use fewer jumps and fewer pointers to local variables");
            None
        }
    }
}

/// The result of all passes.
enum PassResult {
    Lowered(Box<Problem>, Diagnostics),
    Errors(Diagnostics),
    /// Jumps cross the boundary of the atomic block at the start of `main`.
    CrossesPrefix,
    NoFixpoint,
}

/// Repeats passes until one learns nothing new.
fn run_passes(
    program: &Program,
    sources: &SourceMap,
    request: &Request<'_>,
    effects: &effects::Effects,
    main: FunctionId,
    plan: Plan,
) -> PassResult {
    let mut labels = Labels::new(sources);
    let mut plan = Rc::new(plan);
    for number in 0..MAX_PASSES {
        let mut pass = Pass::new(program, sources, request, plan.clone(), effects, labels);
        pass.run(main);
        let is_stable = pass.next == *plan;
        if is_stable || pass.stopped || number + 1 == MAX_PASSES {
            if pass.diagnostics.has_errors() {
                return PassResult::Errors(pass.diagnostics);
            }
            if !is_stable {
                return PassResult::NoFixpoint;
            }
            let mut found = Diagnostics::new();
            let problem = pass.problem(&mut found);
            // The front end reports a program that is not valid for another reason.
            if !plan.no_prefix && fencepost_ir::validate::validate(&problem).is_err() {
                return PassResult::CrossesPrefix;
            }
            return PassResult::Lowered(Box::new(problem), found);
        }
        (plan, labels) = (Rc::new(pass.next), pass.labels);
    }
    PassResult::NoFixpoint
}
