//! Fence costs: the fence kinds that inference may place under a model, and the cost of each.
//!
//! A fence kind is a candidate only if the model relaxes an order that the kind enforces. A full
//! fence replaces every other kind. Costs are relative. The caller lists the fences of the source
//! language: x86 has no instruction that orders only loads with loads.

use fencepost_ir::FenceKinds;
use fencepost_models::{ModelSpec, arm};

/// A fence kind or a drain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FenceKind {
    /// A fence that enforces these orders.
    Fence(FenceKinds),
    /// A drain of the pending stores to one location.
    Drain,
}

impl FenceKind {
    /// The kinds of the `.fp` language, in the order of the book.
    pub const ALL: [FenceKind; 6] = [
        FenceKind::Fence(FenceKinds::FULL),
        FenceKind::Fence(FenceKinds::STORE_STORE),
        FenceKind::Fence(FenceKinds::STORE_LOAD),
        FenceKind::Fence(FenceKinds::LOAD_LOAD),
        FenceKind::Fence(FenceKinds::LOAD_STORE),
        FenceKind::Drain,
    ];

    /// Other accepted names, including the x86 names.
    pub const OTHER_NAMES: [&str; 5] = ["mfence", "sfence", "lfence", "acquire", "release"];

    /// Returns the name for the command line.
    pub fn name(self) -> String {
        match self {
            FenceKind::Fence(kinds) if kinds == FenceKinds::ACQUIRE => "acquire".into(),
            FenceKind::Fence(kinds) if kinds == FenceKinds::RELEASE => "release".into(),
            FenceKind::Fence(kinds) => kinds.name(),
            FenceKind::Drain => "drain".into(),
        }
    }

    /// Returns the kind with a name.
    pub fn by_name(name: &str) -> Option<FenceKind> {
        let own = FenceKind::ALL.into_iter().find(|kind| kind.name() == name);
        let kinds = match name {
            "mfence" => FenceKinds::FULL,
            "sfence" => FenceKinds::STORE_STORE,
            "lfence" | "acquire" => FenceKinds::ACQUIRE,
            "release" => FenceKinds::RELEASE,
            _ => return own,
        };
        Some(FenceKind::Fence(kinds))
    }

    /// Returns the default cost.
    pub fn default_cost(self) -> u32 {
        match self {
            FenceKind::Fence(kinds) => kinds.default_cost(),
            FenceKind::Drain => 3,
        }
    }
}

/// The fence kinds that inference may place, with their costs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FenceCosts {
    /// The kinds and their costs. Each kind occurs once.
    pub entries: Vec<(FenceKind, u32)>,
    /// Whether the model has ordered accesses, so that a fence is the next stronger barrier of the
    /// machine.
    pub has_ordered_accesses: bool,
}

impl FenceCosts {
    /// Returns the single kinds and the full fence, with their default costs. Omits the kinds that
    /// have no effect under the model.
    pub fn for_model(model: &ModelSpec) -> FenceCosts {
        let singles = FenceKinds::SINGLE.map(|(kinds, _)| kinds);
        let all = singles.into_iter().chain([FenceKinds::FULL]);
        FenceCosts::effective(model, all.map(|kinds| (kinds, kinds.default_cost())))
    }

    /// Returns the given fences without those that have no effect under the model.
    pub fn effective(
        model: &ModelSpec,
        fences: impl IntoIterator<Item = (FenceKinds, u32)>,
    ) -> FenceCosts {
        if model.has_ordered_accesses() {
            return FenceCosts::of_machine(fences.into_iter().map(|(kinds, _)| kinds));
        }
        let relaxes = model.relaxes();
        let is_effective = |kinds: FenceKinds| {
            kinds == FenceKinds::FULL
                || kinds.contains(FenceKinds::STORE_STORE) && relaxes.store_store
                || kinds.contains(FenceKinds::STORE_LOAD) && relaxes.store_load
                || kinds.contains(FenceKinds::LOAD_LOAD) && relaxes.load_load
                || kinds.contains(FenceKinds::LOAD_STORE) && relaxes.load_store
        };
        let fences = fences.into_iter().filter(|(kinds, _)| is_effective(*kinds));
        FenceCosts::new(fences.map(|(kinds, cost)| (FenceKind::Fence(kinds), cost)))
    }

    /// Returns the given kinds with the given costs, for a model.
    pub fn requested(
        model: &ModelSpec,
        entries: impl IntoIterator<Item = (FenceKind, u32)>,
    ) -> FenceCosts {
        let has_ordered_accesses = model.has_ordered_accesses();
        let cost = |kind: FenceKind, cost: u32| match kind {
            FenceKind::Fence(kinds) if has_ordered_accesses => arm::fence_cost(kinds),
            FenceKind::Fence(_) | FenceKind::Drain => cost,
        };
        let entries = entries.into_iter().map(|(kind, default)| (kind, cost(kind, default)));
        FenceCosts { has_ordered_accesses, ..FenceCosts::new(entries) }
    }

    /// Returns the given kinds with their default costs.
    pub fn with_default_costs(kinds: &[FenceKind]) -> FenceCosts {
        FenceCosts::new(kinds.iter().map(|kind| (*kind, kind.default_cost())))
    }

    /// Returns the given kinds with the given costs.
    pub fn new(entries: impl IntoIterator<Item = (FenceKind, u32)>) -> FenceCosts {
        let mut entries: Vec<(FenceKind, u32)> = entries.into_iter().collect();
        entries.sort_unstable();
        entries.dedup_by_key(|(kind, _)| *kind);
        FenceCosts { entries, has_ordered_accesses: false }
    }

    /// Returns the given fences for a machine with ordered accesses, with the costs of its barriers.
    /// Of the fences that are the same barrier, returns the first that no other one contains.
    fn of_machine(fences: impl IntoIterator<Item = FenceKinds>) -> FenceCosts {
        let mut chosen: Vec<FenceKinds> = Vec::new();
        for kinds in fences {
            let barrier = arm::fence_kinds(kinds);
            if barrier == FenceKinds::NONE {
                continue;
            }
            let is_same = |other: &FenceKinds| arm::fence_kinds(*other) == barrier;
            match chosen.iter().position(is_same) {
                Some(known) if kinds.contains(chosen[known]) => chosen[known] = kinds,
                Some(_) => {}
                None => chosen.push(kinds),
            }
        }
        let entries = chosen.into_iter().map(|k| (FenceKind::Fence(k), arm::fence_cost(k)));
        FenceCosts { has_ordered_accesses: true, ..FenceCosts::new(entries) }
    }

    /// Changes the cost of a kind, and of all kinds that are the same barrier of the machine. Does not
    /// add a missing kind.
    pub fn set_cost(&mut self, kind: FenceKind, cost: u32) {
        let barrier = |kind: FenceKind| match kind {
            FenceKind::Fence(kinds) if self.has_ordered_accesses => {
                FenceKind::Fence(arm::fence_kinds(kinds))
            }
            FenceKind::Fence(_) | FenceKind::Drain => kind,
        };
        let is_same = |other: FenceKind| barrier(other) == barrier(kind);
        for (_, old) in self.entries.iter_mut().filter(|(other, _)| is_same(*other)) {
            *old = cost;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str) -> ModelSpec {
        ModelSpec::by_name(name).expect("a built-in model")
    }

    fn sorted_names(costs: &FenceCosts) -> Vec<String> {
        let mut names: Vec<String> = costs.entries.iter().map(|(kind, _)| kind.name()).collect();
        names.sort();
        names
    }

    fn names(name: &str) -> Vec<String> {
        sorted_names(&FenceCosts::for_model(&model(name)))
    }

    fn names_in(language: [FenceKinds; 3], name: &str) -> Vec<String> {
        sorted_names(&FenceCosts::effective(
            &model(name),
            language.map(|kinds| (kinds, kinds.default_cost())),
        ))
    }

    #[test]
    fn kinds_without_effect_under_a_model_are_omitted() {
        assert_eq!(names("tso"), ["full", "store_load"]);
        assert_eq!(names("pso"), ["full", "store_load", "store_store"]);
        assert_eq!(names("rmo"), ["full", "load_load", "load_store", "store_load", "store_store"]);
    }

    #[test]
    fn kinds_missing_from_a_language_are_omitted() {
        let x86 = [FenceKinds::FULL, FenceKinds::STORE_STORE, FenceKinds::ACQUIRE];
        let c11 = [FenceKinds::FULL, FenceKinds::RELEASE, FenceKinds::ACQUIRE];
        let linux = [FenceKinds::FULL, FenceKinds::STORE_STORE, FenceKinds::LOAD_LOAD];
        assert_eq!(names_in(x86, "tso"), ["full"]);
        assert_eq!(names_in(x86, "pso"), ["full", "store_store"]);
        assert_eq!(names_in(x86, "rmo"), ["acquire", "full", "store_store"]);
        assert_eq!(names_in(c11, "pso"), ["full", "release"]);
        assert_eq!(names_in(c11, "rmo"), ["acquire", "full", "release"]);
        assert_eq!(names_in(linux, "rmo"), ["full", "load_load", "store_store"]);
    }

    #[test]
    fn every_name_denotes_one_kind() {
        for kind in FenceKind::ALL {
            assert_eq!(FenceKind::by_name(&kind.name()), Some(kind));
        }
        for name in FenceKind::OTHER_NAMES {
            let kind = FenceKind::by_name(name).expect("the name is known");
            assert_eq!(FenceKind::by_name(&kind.name()), Some(kind));
        }
        assert_eq!(FenceKind::by_name("dmb"), None);
    }
}
