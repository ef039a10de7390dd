//! The candidates: all fences that a placement may have, with their costs.
//!
//! A candidate is a permitted fence kind at a permitted place of the program. The checker uses every
//! place, so it needs no argument about equivalent places. Direction: at least the candidates of
//! every inference with these kinds and restrictions, so the bound holds for it.

use std::collections::BTreeMap;

use fencepost_ir::{Atom, Barrier, PlaceId, Placement, Problem};

use super::format::{OptimalityHeader, PlacedFence, parse_kinds};

/// The candidates, ordered by place.
pub(crate) struct Candidates {
    pub(crate) atoms: Vec<Atom>,
    /// By candidate: its cost.
    pub(crate) costs: Vec<u64>,
    positions: BTreeMap<Atom, usize>,
    /// The number of places that may get a fence.
    pub(crate) places: usize,
}

impl Candidates {
    /// Computes the candidates of a claim. The error is a message.
    pub(crate) fn new(problem: &Problem, header: &OptimalityHeader) -> Result<Self, String> {
        let mut kinds = BTreeMap::new();
        for cost in &header.fences {
            let kind = parse_kinds(&cost.0)
                .ok_or_else(|| format!("{:?} is not the name of a fence kind", cost.0))?;
            if cost.1 == 0 {
                return Err(format!("the fence kind {} has the cost 0", cost.0));
            }
            if kinds.insert(kind, cost.1).is_some() {
                return Err(format!("the fence kind {} has two costs", cost.0));
            }
        }
        let program = &problem.program;
        let is_allowed = |place: &PlaceId| {
            let label = program.place(*place).label;
            let info = program.label(label);
            // The lines are those of the main file.
            let is_included = program.included.contains_key(&label);
            (is_included || !header.forbidden_lines.contains(&info.span.line))
                && (header.only_in.is_empty() || header.only_in.contains(&info.function))
        };
        let places: Vec<PlaceId> =
            (0..program.places.len()).map(PlaceId::from_index).filter(is_allowed).collect();
        let mut candidates = Candidates {
            atoms: Vec::new(),
            costs: Vec::new(),
            positions: BTreeMap::new(),
            places: places.len(),
        };
        for place in places {
            for (kind, cost) in &kinds {
                let atom = Atom { place, barrier: Barrier::Fence(*kind) };
                candidates.positions.insert(atom, candidates.atoms.len());
                candidates.atoms.push(atom);
                candidates.costs.push(u64::from(*cost));
            }
        }
        Ok(candidates)
    }

    /// Returns the positions of fences, sorted. The error is a message: a fence is not a candidate,
    /// or occurs twice.
    pub(crate) fn positions(&self, fences: &[PlacedFence]) -> Result<Vec<usize>, String> {
        let mut found = Vec::new();
        for PlacedFence(place, kind) in fences {
            let atom = parse_kinds(kind)
                .map(|kinds| Atom { place: PlaceId(*place), barrier: Barrier::Fence(kinds) });
            let position = atom.and_then(|atom| self.positions.get(&atom));
            let position = position
                .ok_or_else(|| format!("{kind:?} at place {place} is not a permitted fence"))?;
            found.push(*position);
        }
        found.sort_unstable();
        if found.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("a fence occurs twice".into());
        }
        Ok(found)
    }

    /// Returns the placement of all candidates except those at these sorted positions.
    pub(crate) fn all_except(&self, positions: &[usize]) -> Placement {
        let kept = (0..self.atoms.len()).filter(|at| positions.binary_search(at).is_err());
        kept.map(|at| self.atoms[at]).collect()
    }
}
