//! Candidates: the barriers that inference may place, with their costs.
//!
//! Places are equivalent if every thread does nothing observable between them and cannot fail
//! there. Equivalent places give one candidate: the first allowed place. A drain is a candidate
//! directly after a store whose address can be written again at that place.

use crate::fence_costs::{FenceCosts, FenceKind};
use crate::hitting_set::Cost;
use crate::set::Set;
use fencepost_ir::{
    Atom, Barrier, FenceKinds, Label, Op, Pc, PlaceId, Placement, Problem, Program, Thread,
    WrittenFences, flow, placement,
};
use fencepost_models::mutation::Mutated;
use fencepost_models::{ModelSpec, arm};
use std::collections::{BTreeMap, BTreeSet};

/// The weight of one unit of cost. Smaller parts of a weight break ties between placements of equal
/// cost.
pub const WEIGHT_PER_COST: Cost = 1 << 20;

/// Restrictions on the places for fences.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Restrictions {
    /// The lines whose statements must not get a fence before them.
    pub forbidden_lines: BTreeSet<u32>,
    /// The procedures and thread templates that may get fences. Empty: no restriction.
    pub functions: BTreeSet<String>,
}

/// The barriers that inference may place.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// The barriers. Clauses refer to them by position.
    pub atoms: Vec<Atom>,
    /// By candidate: the cost, scaled by [`WEIGHT_PER_COST`], plus tie-breakers. They prefer fewer
    /// statements and statements in fewer loops.
    pub weights: Vec<Cost>,
    /// Whether the program keeps the fences that the user wrote.
    pub written: WrittenFences,
    /// An error in the computation of clauses, for mutation tests.
    pub mutated: Mutated,
    positions: BTreeMap<Atom, usize>,
    costs: Vec<u32>,
}

impl Candidates {
    /// Computes the candidates for problems, which are all of one file.
    pub fn new(
        problems: &[Problem],
        fence_costs: &FenceCosts,
        restrictions: &Restrictions,
        written: WrittenFences,
    ) -> Self {
        let Some(first) = problems.first() else {
            return Self::from_costs(BTreeMap::new(), &Program::default(), written);
        };
        let allowed = |place: &PlaceId| restrictions.allow(&first.program, *place);
        let places = representatives(problems, allowed);
        Self::at_places(problems, &first.program, &places, fence_costs, written)
    }

    /// Computes the candidates at every allowed place, also at equivalent places.
    pub(crate) fn at_every_place(
        problems: &[Problem],
        fence_costs: &FenceCosts,
        restrictions: &Restrictions,
        written: WrittenFences,
    ) -> Self {
        let Some(first) = problems.first() else {
            return Self::from_costs(BTreeMap::new(), &Program::default(), written);
        };
        let places = (0..first.program.places.len()).map(PlaceId::from_index);
        let is_gap = |place: &PlaceId| first.program.place(*place).order.is_none();
        let places: Vec<PlaceId> = places
            .filter(|place| is_gap(place) && restrictions.allow(&first.program, *place))
            .collect();
        Self::at_places(problems, &first.program, &places, fence_costs, written)
    }

    fn at_places(
        problems: &[Problem],
        program: &Program,
        places: &[PlaceId],
        fence_costs: &FenceCosts,
        written: WrittenFences,
    ) -> Self {
        let mut atom_costs: BTreeMap<Atom, u32> = BTreeMap::new();
        for place in places.iter().copied() {
            let label = program.place(place).label;
            let present = program.place(place).written.filter(|_| written == WrittenFences::Kept);
            let present = present.map(|(kinds, _)| kinds).unwrap_or_default();
            if let Some(cost) = full_fence_cost(fence_costs, present) {
                atom_costs.insert(Atom { place, barrier: Barrier::Fence(FenceKinds::FULL) }, cost);
            }
            for (kind, cost) in &fence_costs.entries {
                match kind {
                    FenceKind::Fence(FenceKinds::FULL) => {}
                    FenceKind::Fence(kinds) if present.contains(*kinds) => {}
                    FenceKind::Fence(kinds) => {
                        atom_costs.insert(Atom { place, barrier: Barrier::Fence(*kinds) }, *cost);
                    }
                    FenceKind::Drain => {
                        for store in drainable_stores(problems, label) {
                            atom_costs
                                .insert(Atom { place, barrier: Barrier::Drain(store) }, *cost);
                        }
                    }
                }
            }
        }
        Self::from_costs(atom_costs, program, written)
    }

    fn from_costs(
        atom_costs: BTreeMap<Atom, u32>,
        program: &Program,
        written: WrittenFences,
    ) -> Self {
        // Prefer fewer statements, then fewer enclosing loops, then kinds other than load-load.
        let tie_breaker = |atom: &Atom| {
            let is_load_load = atom.barrier == Barrier::Fence(FenceKinds::LOAD_LOAD);
            let statement = match atom.barrier {
                Barrier::Fence(_) | Barrier::Drain(_) => 1024,
                Barrier::Order(_) => 512,
            };
            statement + 2 * Cost::from(program.place(atom.place).loops) + Cost::from(is_load_load)
        };
        Candidates {
            weights: atom_costs
                .iter()
                .map(|(atom, cost)| Cost::from(*cost) * WEIGHT_PER_COST + tie_breaker(atom))
                .collect(),
            positions: atom_costs.keys().enumerate().map(|(at, atom)| (*atom, at)).collect(),
            costs: atom_costs.values().copied().collect(),
            atoms: atom_costs.into_keys().collect(),
            written,
            mutated: Mutated::NONE,
        }
    }

    /// Returns a list without candidates.
    pub(crate) fn none(program: &Program, written: WrittenFences) -> Candidates {
        Self::from_costs(BTreeMap::new(), program, written)
    }

    /// Returns the candidates and, in addition, other barriers with their costs.
    pub(crate) fn with_atoms(
        self,
        program: &Program,
        more: impl IntoIterator<Item = (Atom, u32)>,
    ) -> Candidates {
        let mutated = self.mutated;
        let own = self.atoms.into_iter().zip(self.costs);
        let candidates = Self::from_costs(own.chain(more).collect(), program, self.written);
        Candidates { mutated, ..candidates }
    }

    /// Returns the candidates that satisfy a predicate.
    pub fn filter(&self, is_kept: impl Fn(&Atom) -> bool) -> Candidates {
        let kept: Vec<usize> = (0..self.len()).filter(|at| is_kept(&self.atoms[*at])).collect();
        let atoms: Vec<Atom> = kept.iter().map(|at| self.atoms[*at]).collect();
        Candidates {
            weights: kept.iter().map(|at| self.weights[*at]).collect(),
            positions: atoms.iter().enumerate().map(|(at, atom)| (*atom, at)).collect(),
            costs: kept.iter().map(|at| self.costs[*at]).collect(),
            atoms,
            written: self.written,
            mutated: self.mutated,
        }
    }

    /// Returns the number of candidates.
    pub fn len(&self) -> usize {
        self.atoms.len()
    }

    /// Returns whether there is no candidate.
    pub fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }

    /// Returns the position of a barrier, if it is a candidate.
    pub fn position(&self, atom: Atom) -> Option<usize> {
        self.positions.get(&atom).copied()
    }

    /// Returns the placement of the candidates at the positions in `set`.
    pub fn placement(&self, set: &Set) -> Placement {
        set.iter().map(|position| self.atoms[position]).collect()
    }

    /// Returns whether fences of a set at one place are together a full fence of a machine with
    /// ordered accesses, and none of them is. The language may write them as separate fences, which
    /// order less. The full fence is a candidate and not more expensive.
    pub(crate) fn forms_full_fence(&self, set: &Set, model: &ModelSpec) -> bool {
        let is_full = |kinds| arm::fence_kinds(kinds) == FenceKinds::FULL;
        let placement = self.placement(set);
        let fences = placement.by_place();
        let is_formed = |(place, (kinds, _)): (&PlaceId, &(FenceKinds, Vec<Label>))| {
            let is_single = |atom: &Atom| match atom.barrier {
                Barrier::Fence(kinds) => atom.place == *place && is_full(kinds),
                Barrier::Drain(_) | Barrier::Order(_) => false,
            };
            is_full(*kinds) && !placement.atoms.iter().any(is_single)
        };
        model.has_ordered_accesses() && fences.iter().any(is_formed)
    }

    /// Returns the cost of each candidate, in units of the fence costs.
    pub fn costs(&self) -> impl Iterator<Item = Cost> + '_ {
        self.costs.iter().map(|cost| Cost::from(*cost))
    }

    /// Returns the cost of a placement, in units of the fence costs.
    pub fn cost(&self, placement: &Placement) -> u32 {
        let cost = |atom: &Atom| self.position(*atom).map_or(0, |position| self.costs[position]);
        placement.atoms.iter().map(cost).sum()
    }
}

/// Returns the cost of a full fence at a place where the user's fence has the kinds `present`. Several
/// kinds in one statement may form a full fence, which may be cheaper.
fn full_fence_cost(fence_costs: &FenceCosts, present: FenceKinds) -> Option<u32> {
    let is_full = |kinds| match fence_costs.has_ordered_accesses {
        true => arm::fence_kinds(kinds) == FenceKinds::FULL,
        false => kinds == FenceKinds::FULL,
    };
    if is_full(present) {
        return None;
    }
    // The cheapest cost of each set of kinds.
    let mut sets: BTreeMap<FenceKinds, u32> = BTreeMap::from([(present, 0)]);
    for (kind, cost) in &fence_costs.entries {
        let FenceKind::Fence(kinds) = kind else { continue };
        for (known, known_cost) in sets.clone() {
            let total = known_cost.saturating_add(*cost);
            let best = sets.entry(known.union(*kinds)).or_insert(total);
            *best = total.min(*best);
        }
    }
    sets.into_iter().filter(|(kinds, _)| is_full(*kinds)).map(|(_, cost)| cost).min()
}

impl Restrictions {
    pub(crate) fn allow(&self, program: &Program, place: PlaceId) -> bool {
        let label = program.place(place).label;
        let info = program.label(label);
        let is_forbidden = self.forbidden_lines.contains(&info.span.line);
        (!is_forbidden || program.included.contains_key(&label))
            && (self.functions.is_empty() || self.functions.contains(&info.function))
    }
}

/// Returns the stores whose location can be drained at a place, in every thread that has the place.
fn drainable_stores(problems: &[Problem], place: Label) -> BTreeSet<Label> {
    let function = |label: Label| &problems[0].program.label(label).function;
    // A drain checks that its record is allocated. In a program that frees records, it adds a
    // fault.
    let code = problems.iter().flat_map(|p| &p.program.threads).flat_map(|t| &t.code);
    let frees = code.into_iter().any(|stmt| matches!(stmt.op, Op::Free { .. }));
    let mut drainable: Option<BTreeSet<Label>> = None;
    for thread in problems.iter().flat_map(|p| &p.program.threads) {
        for (at, stmt) in thread.code.iter().enumerate().filter(|(_, s)| s.label == place) {
            debug_assert!(
                matches!(stmt.op, Op::Skip | Op::Fence(_)),
                "a place is a skip or a fence"
            );
            let stores = thread.code.iter().filter(|s| matches!(s.op, Op::Store { .. }));
            let here: BTreeSet<Label> = stores
                .map(|s| s.label)
                .filter(|store| function(*store) == function(place))
                .filter(|store| {
                    let address = placement::drained_address(thread, Pc::from_index(at), *store);
                    address.is_some_and(|address| {
                        let mut is_writable = address.cell.is_none() || !frees;
                        let exprs = address.cell.iter().map(|(_, e)| e);
                        exprs.chain(address.index.iter().map(|(_, e)| e)).for_each(|e| {
                            e.for_each_var(&mut |reg| {
                                is_writable &= !thread.registers[reg.index()].is_temporary();
                            });
                        });
                        is_writable
                    })
                })
                .collect();
            drainable = Some(match drainable {
                Some(earlier) => earlier.intersection(&here).copied().collect(),
                None => here,
            });
        }
    }
    drainable.unwrap_or_default()
}

/// Returns one allowed place of each group of equivalent places.
fn representatives(problems: &[Problem], allowed: impl Fn(&PlaceId) -> bool) -> Vec<PlaceId> {
    let places = problems.first().map_or(0, |p| p.program.places.len());
    let mut of_label: BTreeMap<Label, usize> = BTreeMap::new();
    let all = problems.iter().flat_map(|p| p.program.places.iter().enumerate());
    for (at, place) in all.filter(|(_, place)| place.order.is_none()) {
        of_label.insert(place.label, at);
    }
    let mut copies = vec![0_u32; places];
    let mut next_by_copy: Vec<Vec<Option<usize>>> = vec![Vec::new(); places];
    for thread in problems.iter().flat_map(|p| &p.program.threads) {
        let predecessors = flow::predecessors(thread);
        for (at, stmt) in thread.code.iter().enumerate() {
            if let Some(place) = of_label.get(&stmt.label) {
                copies[*place] += 1;
                next_by_copy[*place].push(next_equivalent_place(
                    thread,
                    at,
                    &predecessors,
                    &of_label,
                ));
            }
        }
    }
    // By place: the next equivalent place, if every copy has the same one.
    let mut next_place: Vec<Option<usize>> = vec![None; places];
    for (place, after) in next_by_copy.iter().enumerate() {
        if let Some(Some(next)) = after.first()
            && after.iter().all(|other| *other == Some(*next))
            && copies[*next] == copies[place]
        {
            next_place[place] = Some(*next);
        }
    }
    let followers: BTreeSet<usize> = next_place.iter().flatten().copied().collect();
    let heads = (0..places).filter(|p| copies[*p] > 0 && !followers.contains(p));
    heads
        .filter_map(|head| {
            let chain = std::iter::successors(Some(head), |at| next_place[*at]);
            chain.map(PlaceId::from_index).find(|place| allowed(place))
        })
        .collect()
}

/// Returns the next place after the place at `at`, if it is equivalent: control reaches the next
/// place only from `at`, and the statements between them are not observable.
fn next_equivalent_place(
    thread: &Thread,
    at: usize,
    predecessors: &[Vec<Pc>],
    of_label: &BTreeMap<Label, usize>,
) -> Option<usize> {
    let critical = thread.code[at].critical;
    let mut pc = thread.code[at].next;
    for _ in 0..thread.code.len() {
        let stmt = thread.stmt(pc);
        let entries = usize::from(pc == Pc(0)) + predecessors[pc.index()].len();
        if entries != 1 || stmt.critical != critical {
            return None;
        }
        if let Some(place) = of_label.get(&stmt.label) {
            return Some(*place);
        }
        if !matches!(stmt.op, Op::Skip | Op::Assign { .. } | Op::Assume(_)) {
            return None;
        }
        pc = stmt.next;
    }
    None
}
