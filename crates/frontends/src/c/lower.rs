//! Lowering: translates the typed tree to the program representation.
//!
//! - Every scalar of an object is a location, or a register if only one thread uses it by name
//!   ([`memory`], [`places`]).
//! - Functions are inlined, and constants are propagated ([`calls`], [`state`]).
//! - Every created thread is a thread of the program ([`threads`]).
//! - Memory orders are fences around accesses ([`access`], [`atomics`]).
//!
//! Lowering runs in passes, because a pass needs facts about the whole program ([`plan`]).
//!
//! Approximations: reading memory that was never written is not reported, it has the value 0 or an
//! old value. Weak compare-and-exchange never fails spuriously. Bounds (recursion, allocations and
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
mod loops;
mod memory;
mod nondet;
mod pass;
mod places;
mod plan;
mod registers;
mod state;
mod switch;
mod thread;
mod threads;
mod walk;

use std::rc::Rc;

use fencepost_ir::{Diagnostics, Problem, Span};

use crate::Request;
use crate::c::codes;
use crate::c::source_map::SourceMap;
use crate::c::typed::Program;
use labels::Labels;
use pass::Pass;
use plan::Plan;

/// The largest number of passes.
const MAX_PASSES: usize = 12;

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
    let mut labels = Labels::new(sources);
    let mut plan = Rc::new(Plan::default());
    for number in 0..MAX_PASSES {
        let mut pass = Pass::new(program, sources, request, plan.clone(), &effects, labels);
        pass.run(main);
        let is_stable = pass.next == *plan;
        if is_stable || pass.stopped || number + 1 == MAX_PASSES {
            if pass.diagnostics.has_errors() {
                diagnostics.append(pass.diagnostics);
                return None;
            }
            if !is_stable {
                break;
            }
            return pass.problem(diagnostics);
        }
        (plan, labels) = (Rc::new(pass.next), pass.labels);
    }
    diagnostics
        .error(codes::NO_FIXPOINT, start, "the addresses of this program cannot be determined")
        .hint("use fewer pointers to local variables");
    None
}
