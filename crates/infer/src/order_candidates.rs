//! Candidates that change the memory order of an access.
//!
//! An order is a fence before and a fence after its access. So a stronger order is another way to
//! write fences at these two positions, and one change may add fences on both sides. On machines with
//! ordered accesses, an order has no fences. The cheapest hitting set chooses between fences and
//! orders as it chooses between kinds of fences: the answer is exact over all combinations.
//!
//! *Costs.* A change costs the sum of the parts that it adds: the acquire part (the fence after a
//! load or an update), the release part (the fence before a store or an update), and the seq_cst
//! part of a store (the store-load fence after it). On machines with ordered accesses, a seq_cst
//! store is a release store, and the seq_cst part of a load is that it follows earlier release
//! stores. By default each part is cheaper than a fence statement that does the same.
//!
//! *Only useful orders.* An order is a candidate only if the model relaxes an order that it adds,
//! and no weaker order has the same effect. An order that is a combination of weaker ones (acq_rel)
//! is no candidate: inference combines its parts.

use crate::candidates::{Candidates, Restrictions};
use fencepost_ir::{
    AccessKind, Acquire, Atom, Barrier, FenceKinds, OrderEffect, OrderSite, PlaceId, Program,
};
use fencepost_models::ModelSpec;

/// The costs of the parts of memory orders, in units of the fence costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderCosts {
    /// The acquire part of a load or an update.
    pub acquire: u32,
    /// The release part of a store or an update.
    pub release: u32,
    /// The part of a seq_cst store that a release store does not have. On machines with ordered
    /// accesses: the part of a seq_cst load that an acquire load does not have.
    pub seq_cst: u32,
}

impl Default for OrderCosts {
    fn default() -> Self {
        OrderCosts { acquire: 1, release: 1, seq_cst: 2 }
    }
}

impl OrderCosts {
    /// The names of the parts, for the command line.
    pub const PARTS: [&'static str; 3] = ["acquire", "release", "seq_cst"];

    /// Changes the cost of the part with a name. Returns false if there is none.
    pub fn set(&mut self, part: &str, cost: u32) -> bool {
        match part {
            "acquire" => self.acquire = cost,
            "release" => self.release = cost,
            "seq_cst" => self.seq_cst = cost,
            _ => return false,
        }
        true
    }

    /// Returns the cost of changing the order of an access under a model.
    pub fn change(
        &self,
        kind: AccessKind,
        from: OrderEffect,
        to: OrderEffect,
        model: &ModelSpec,
    ) -> u32 {
        let adds =
            |from: FenceKinds, to: FenceKinds, part| to.contains(part) && !from.contains(part);
        let (is_acquire, is_seq_cst) = (
            |effect: OrderEffect| effect.access.acquire != Acquire::None,
            |effect: OrderEffect| effect.access.acquire == Acquire::Strong,
        );
        let parts = if model.has_ordered_accesses() {
            [
                (is_acquire(to) && !is_acquire(from), self.acquire),
                (to.access.release && !from.access.release, self.release),
                (kind == AccessKind::Load && is_seq_cst(to) && !is_seq_cst(from), self.seq_cst),
            ]
        } else {
            [
                (adds(from.after, to.after, FenceKinds::ACQUIRE), self.acquire),
                (adds(from.before, to.before, FenceKinds::RELEASE), self.release),
                (adds(from.after, to.after, FenceKinds::STORE_LOAD), self.seq_cst),
            ]
        };
        parts.iter().filter(|(is_added, _)| *is_added).map(|(_, cost)| cost).sum()
    }
}

/// Returns the kinds of the fence that a machine has for these kinds: those with an effect under its
/// model, or those of the next stronger fence.
pub(crate) fn effective_kinds(model: &ModelSpec, kinds: FenceKinds) -> FenceKinds {
    if model.has_ordered_accesses() {
        return fencepost_models::arm::fence_kinds(kinds);
    }
    let relaxes = model.relaxes();
    let relaxed = [
        (FenceKinds::STORE_STORE, relaxes.store_store),
        (FenceKinds::STORE_LOAD, relaxes.store_load),
        (FenceKinds::LOAD_LOAD, relaxes.load_load),
        (FenceKinds::LOAD_STORE, relaxes.load_store),
    ];
    let effective = relaxed.iter().filter(|(kind, relaxed)| *relaxed && kinds.contains(*kind));
    effective.fold(FenceKinds::default(), |all, (kind, _)| all.union(*kind))
}

fn effective(model: &ModelSpec, effect: OrderEffect) -> OrderEffect {
    if model.has_ordered_accesses() {
        return OrderEffect { access: effect.access, ..OrderEffect::default() };
    }
    OrderEffect {
        before: effective_kinds(model, effect.before),
        after: effective_kinds(model, effect.after),
        ..OrderEffect::default()
    }
}

/// Returns the orders of an access that are stronger than `from`, useful under a model, and no
/// combination of others.
pub(crate) fn useful_orders(
    site: &OrderSite,
    from: OrderEffect,
    model: &ModelSpec,
) -> Vec<OrderEffect> {
    let mut useful: Vec<OrderEffect> = Vec::new();
    for choice in &site.choices {
        let own = choice.effect;
        let effect = |order: OrderEffect| effective(model, from.union(order));
        let weaker = useful.iter().filter(|other| own.contains(**other));
        let combined = weaker.fold(from, |all, other| all.union(*other));
        if own.contains(from) && effect(own) != effect(combined) {
            useful.push(own);
        }
    }
    useful
}

impl Candidates {
    /// Returns the candidates and, in addition, the stronger orders of the program's order places.
    pub fn with_orders(
        self,
        program: &Program,
        model: &ModelSpec,
        restrictions: &Restrictions,
        costs: &OrderCosts,
    ) -> Candidates {
        let mut more = Vec::new();
        for (at, place) in program.places.iter().enumerate() {
            let id = PlaceId::from_index(at);
            let Some(site) = &place.order else { continue };
            if !restrictions.allow(program, id) {
                continue;
            }
            let from = site.written_choice().effect;
            for effect in useful_orders(site, from, model) {
                let atom = Atom { place: id, barrier: Barrier::Order(effect) };
                more.push((atom, costs.change(site.kind, from, effect, model)));
            }
        }
        self.with_atoms(program, more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::{AccessOrder, Label, OrderChoice};

    const NONE: OrderEffect = OrderEffect {
        before: FenceKinds::NONE,
        after: FenceKinds::NONE,
        access: AccessOrder::PLAIN,
    };
    const ACQUIRE: OrderEffect = OrderEffect {
        after: FenceKinds::ACQUIRE,
        access: AccessOrder { acquire: Acquire::Weak, ..AccessOrder::PLAIN },
        ..NONE
    };
    /// A load.
    const STRONG: OrderEffect = OrderEffect {
        access: AccessOrder { acquire: Acquire::Strong, ..AccessOrder::PLAIN },
        ..ACQUIRE
    };
    const RELEASE: OrderEffect = OrderEffect {
        before: FenceKinds::RELEASE,
        access: AccessOrder { release: true, ..AccessOrder::PLAIN },
        ..NONE
    };
    /// A store.
    const SEQ_CST: OrderEffect = OrderEffect { after: FenceKinds::STORE_LOAD, ..RELEASE };

    fn model(name: &str) -> ModelSpec {
        ModelSpec::by_name(name).expect("a built-in model")
    }

    fn useful(choices: &[OrderEffect], written: usize, name: &str) -> Vec<OrderEffect> {
        let choice = |effect: &OrderEffect| OrderChoice {
            name: String::new(),
            effect: *effect,
            edits: Vec::new(),
        };
        let site = OrderSite {
            access: Label(0),
            after: Some(Label(1)),
            kind: AccessKind::Store,
            choices: choices.iter().map(choice).collect(),
            written,
        };
        useful_orders(&site, choices[written], &model(name))
    }

    #[test]
    fn orders_without_effect_under_a_model_are_omitted() {
        let (store, load) = ([NONE, RELEASE, SEQ_CST], [NONE, ACQUIRE, STRONG]);
        assert_eq!(useful(&store, 0, "tso"), [SEQ_CST]);
        assert_eq!(useful(&store, 0, "pso"), [RELEASE, SEQ_CST]);
        assert_eq!(useful(&store, 1, "pso"), [SEQ_CST]);
        assert_eq!(useful(&store, 2, "pso"), []);
        assert_eq!(useful(&store, 0, "arm"), [RELEASE]);
        assert_eq!(useful(&load, 0, "pso"), []);
        assert_eq!(useful(&load, 0, "rmo"), [ACQUIRE]);
        assert_eq!(useful(&load, 0, "arm"), [ACQUIRE, STRONG]);
        assert_eq!(useful(&load, 1, "arm"), [STRONG]);
        assert_eq!(useful(&store, 0, "sc"), []);
    }

    #[test]
    fn a_combination_of_orders_is_no_candidate() {
        let update = [NONE, ACQUIRE, RELEASE, ACQUIRE.union(RELEASE)];
        assert_eq!(useful(&update, 0, "rmo"), [ACQUIRE, RELEASE]);
        assert_eq!(useful(&update, 0, "arm"), [ACQUIRE, RELEASE]);
        assert_eq!(useful(&update, 0, "pso"), [RELEASE]);
        // From acquire, only acq_rel is stronger.
        assert_eq!(useful(&update, 1, "rmo"), [ACQUIRE.union(RELEASE)]);
    }

    #[test]
    fn a_change_costs_the_parts_that_it_adds() {
        let costs = OrderCosts::default();
        let change = |from, to| costs.change(AccessKind::Store, from, to, &model("rmo"));
        assert_eq!(change(NONE, RELEASE), 1);
        assert_eq!(change(NONE, SEQ_CST), 3);
        assert_eq!(change(RELEASE, SEQ_CST), 2);
        assert_eq!(change(NONE, ACQUIRE.union(RELEASE)), 2);
        assert_eq!(change(SEQ_CST, SEQ_CST), 0);
        // Every part is cheaper than the fence that does the same.
        assert!(costs.release < FenceKinds::STORE_STORE.default_cost());
        assert!(costs.acquire < FenceKinds::ACQUIRE.default_cost());
        let store_load = FenceKinds::STORE_LOAD.default_cost();
        assert!(costs.release + costs.seq_cst < store_load);
    }

    #[test]
    fn a_machine_with_ordered_accesses_has_other_parts() {
        let costs = OrderCosts::default();
        let change = |kind, from, to| costs.change(kind, from, to, &model("arm"));
        assert_eq!(change(AccessKind::Store, NONE, SEQ_CST), 1);
        assert_eq!(change(AccessKind::Load, NONE, ACQUIRE), 1);
        assert_eq!(change(AccessKind::Load, NONE, STRONG), 3);
        assert_eq!(change(AccessKind::Load, ACQUIRE, STRONG), 2);
        assert_eq!(change(AccessKind::Update, NONE, STRONG), 1);
        assert_eq!(change(AccessKind::Update, NONE, STRONG.union(RELEASE)), 2);
    }
}
