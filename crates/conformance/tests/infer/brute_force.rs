//! Brute force: the cheapest sufficient placements among all subsets of the candidates.

use super::{MAX_CANDIDATES, small_limits};
use crate::common::check;
use fencepost_engines::Verdict;
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::fence_costs::FenceCosts;
use fencepost_infer::set::Set;
use fencepost_ir::{Placement, Problem, WrittenFences, placement};
use fencepost_models::ModelSpec;

/// Returns whether a placement is sufficient, or `None` if the engine is inconclusive.
pub(super) fn is_sufficient(
    problem: &Problem,
    model: &ModelSpec,
    placement: &Placement,
) -> Option<bool> {
    let program = placement::fenced(&problem.program, placement, WrittenFences::Kept);
    let fenced = Problem { program, ..problem.clone() };
    match check(&fenced, model, small_limits()).verdict {
        Verdict::Verified(_) => Some(true),
        Verdict::Violated(_) => Some(false),
        Verdict::Inconclusive(_) => None,
    }
}

/// Returns the cheapest placements by brute force, or `None` if the engine is inconclusive on one.
pub(super) fn cheapest_by_brute_force(
    problem: &Problem,
    model: &ModelSpec,
    candidates: &Candidates,
) -> Option<(u32, Vec<Placement>)> {
    let n = candidates.len();
    let mut best = (u32::MAX, Vec::new());
    for bits in 0..1_usize << n {
        let placement =
            candidates.placement(&Set::of(n, (0..n).filter(|member| bits >> member & 1 == 1)));
        let cost = candidates.cost(&placement);
        if cost > best.0 || !is_sufficient(problem, model, &placement)? {
            continue;
        }
        if cost < best.0 {
            best = (cost, Vec::new());
        }
        best.1.push(placement);
    }
    best.1.sort();
    Some(best)
}

/// Returns candidates that are few enough to try all subsets.
pub(super) fn restricted_candidates(
    problem: &Problem,
    fence_costs: &FenceCosts,
    seed: u64,
) -> Candidates {
    let mut restrictions = Restrictions::default();
    let mut line = seed as u32;
    loop {
        let candidates = Candidates::new(
            std::slice::from_ref(problem),
            fence_costs,
            &restrictions,
            WrittenFences::Kept,
        );
        if candidates.len() <= MAX_CANDIDATES {
            return candidates;
        }
        line += 7;
        let places = &problem.program.places;
        let place = &places[line as usize % places.len()];
        restrictions.forbidden_lines.insert(problem.program.label(place.label).span.line);
        if line > 10_000 {
            return candidates;
        }
    }
}
