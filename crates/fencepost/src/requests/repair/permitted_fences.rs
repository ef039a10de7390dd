//! Which fences a repair may place, what they cost, and where they may be.

use super::{RepairError, RepairOptions};
use fencepost_frontends::FenceSyntax;
use fencepost_infer::candidates::Restrictions;
use fencepost_infer::fence_costs::{FenceCosts, FenceKind};
use fencepost_ir::{FenceKinds, Problem};
use fencepost_models::ModelSpec;
use fencepost_report::paint::printable;
use std::collections::BTreeSet;

/// Returns the fence kinds to choose from, with their costs.
pub(super) fn fence_costs(
    options: &RepairOptions,
    model: &ModelSpec,
    fences: &FenceSyntax,
) -> Result<FenceCosts, RepairError> {
    let cost = |kind: &FenceKind| match kind {
        FenceKind::Fence(kinds) => fences.insertable(*kinds).map(|fence| fence.cost),
        FenceKind::Drain => fences.drain.map(|_| kind.default_cost()),
    };
    let mut requested = Vec::new();
    for kind in &options.fences {
        let Some(cost) = cost(kind) else {
            let known = fences.default_fences().map(|fence| {
                format!("{} ({})", FenceKind::Fence(fence.kinds).name(), fence.without_semicolon())
            });
            let known = known.collect::<Vec<_>>().join(", ");
            let (fence, language) = (kind.name(), fences.language);
            return Err(RepairError::NoSuchFence { fence, language, known });
        };
        requested.push((*kind, cost));
    }
    let mut costs = if requested.is_empty() {
        FenceCosts::effective(model, offered_fences(model, fences))
    } else {
        FenceCosts::requested(model, requested)
    };
    for (kind, cost) in &options.costs {
        let available = costs.entries.iter().any(|(other, _)| other == kind);
        if *kind == FenceKind::Drain && !available {
            return Err(RepairError::UnusedDrainCost);
        }
        costs.set_cost(*kind, *cost);
    }
    Ok(costs)
}

/// Returns the fences that inference may insert under a model unless the user selects others.
pub(super) fn offered_fences<'f>(
    model: &ModelSpec,
    fences: &'f FenceSyntax,
) -> impl Iterator<Item = (FenceKinds, u32)> + 'f {
    // A barrier for loads orders them with all later accesses.
    let acquire = fences.insertable(FenceKinds::ACQUIRE).filter(|_| model.has_ordered_accesses());
    fences.default_fences().chain(acquire).map(|fence| (fence.kinds, fence.cost))
}

/// Returns the places where fences may be put.
pub(super) fn restrictions(
    options: &RepairOptions,
    problems: &[Problem],
) -> Result<Restrictions, RepairError> {
    let program = &problems[0].program;
    let labels = program.places.iter().map(|place| place.label);
    let functions = labels.clone().map(|label| program.label(label).function.as_str());
    let functions: BTreeSet<&str> = functions.collect();
    let in_main_file = labels.filter(|label| !program.included.contains_key(label));
    let lines: BTreeSet<u32> = in_main_file.map(|label| program.label(label).span.line).collect();
    if let Some(line) = options.forbidden_lines.iter().find(|line| !lines.contains(line)) {
        let known = join_first(lines.iter().map(u32::to_string));
        return Err(RepairError::NoPlace { line: *line, known });
    }
    if let Some(name) = options.only_in.iter().find(|name| !functions.contains(name.as_str())) {
        let known = join_first(functions.iter().map(|name| format!("`{name}`")));
        return Err(RepairError::NoSuchFunction { name: printable(name), known });
    }
    Ok(Restrictions {
        forbidden_lines: options.forbidden_lines.iter().copied().collect(),
        functions: options.only_in.iter().cloned().collect(),
    })
}

/// Joins texts with commas, but at most the first 20.
fn join_first(all: impl Iterator<Item = String>) -> String {
    const MAX_SHOWN: usize = 20;
    let all: Vec<String> = all.collect();
    match all.len() {
        0 => "none".into(),
        len if len > MAX_SHOWN => format!("{}, ... ({len} in total)", all[..MAX_SHOWN].join(", ")),
        _ => all.join(", "),
    }
}
