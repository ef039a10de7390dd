//! Candidates that change the memory order of an access.
//!
//! An order is a fence before and a fence after its access. So a stronger order is another way to
//! write fences at these two positions, and one change may add fences on both sides. The cheapest
//! hitting set chooses between fences and orders as it chooses between kinds of fences: the answer
//! is exact over all combinations.
//!
//! *Costs.* A change costs the sum of the parts that it adds: the acquire part (the fence after a
//! load or an update), the release part (the fence before a store or an update), and the seq_cst
//! part of a store (the store-load fence after it). By default each part is cheaper than a fence
//! statement that does the same.
//!
//! *Only useful orders.* An order is a candidate only if the model relaxes an order that it adds,
//! and no weaker order has the same effect. An order that is a combination of weaker ones (acq_rel)
//! is no candidate: inference combines its parts.

use crate::candidates::{Candidates, Restrictions};
use fencepost_ir::{Atom, Barrier, FenceKinds, OrderFences, OrderSite, PlaceId, Program};
use fencepost_models::ModelSpec;

/// The costs of the parts of memory orders, in units of the fence costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderCosts {
    /// The acquire part of a load or an update.
    pub acquire: u32,
    /// The release part of a store or an update.
    pub release: u32,
    /// The part of a seq_cst store that a release store does not have.
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

    /// Returns the cost of changing the fences of an access.
    pub fn change(&self, from: OrderFences, to: OrderFences) -> u32 {
        let adds =
            |from: FenceKinds, to: FenceKinds, part| to.contains(part) && !from.contains(part);
        let parts = [
            (adds(from.after, to.after, FenceKinds::ACQUIRE), self.acquire),
            (adds(from.before, to.before, FenceKinds::RELEASE), self.release),
            (adds(from.after, to.after, FenceKinds::STORE_LOAD), self.seq_cst),
        ];
        parts.iter().filter(|(is_added, _)| *is_added).map(|(_, cost)| cost).sum()
    }
}

/// Returns the kinds that have an effect under a model.
pub(crate) fn effective_kinds(model: &ModelSpec, kinds: FenceKinds) -> FenceKinds {
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

fn effective(model: &ModelSpec, fences: OrderFences) -> OrderFences {
    OrderFences {
        before: effective_kinds(model, fences.before),
        after: effective_kinds(model, fences.after),
    }
}

/// Returns the orders of an access that are stronger than `from`, useful under a model, and no
/// combination of others.
pub(crate) fn useful_orders(
    site: &OrderSite,
    from: OrderFences,
    model: &ModelSpec,
) -> Vec<OrderFences> {
    let mut useful: Vec<OrderFences> = Vec::new();
    for choice in &site.choices {
        let fences = choice.fences;
        let effect = |fences: OrderFences| effective(model, from.union(fences));
        let weaker = useful.iter().filter(|other| fences.contains(**other));
        let combined = weaker.fold(from, |all, other| all.union(*other));
        if fences.contains(from) && effect(fences) != effect(combined) {
            useful.push(fences);
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
            let from = site.written_choice().fences;
            for fences in useful_orders(site, from, model) {
                let atom = Atom { place: id, barrier: Barrier::Order(fences) };
                more.push((atom, costs.change(from, fences)));
            }
        }
        self.with_atoms(program, more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::{Label, OrderChoice};

    const NONE: OrderFences = OrderFences { before: FenceKinds::NONE, after: FenceKinds::NONE };
    const ACQUIRE: OrderFences = OrderFences { after: FenceKinds::ACQUIRE, ..NONE };
    const RELEASE: OrderFences = OrderFences { before: FenceKinds::RELEASE, ..NONE };
    const SEQ_CST: OrderFences = OrderFences { after: FenceKinds::STORE_LOAD, ..RELEASE };

    fn useful(choices: &[OrderFences], written: usize, model: &str) -> Vec<OrderFences> {
        let choice = |fences: &OrderFences| OrderChoice {
            name: String::new(),
            fences: *fences,
            edits: Vec::new(),
        };
        let site = OrderSite {
            access: Label(0),
            after: Some(Label(1)),
            what: "store",
            choices: choices.iter().map(choice).collect(),
            written,
        };
        let model = ModelSpec::by_name(model).expect("a built-in model");
        useful_orders(&site, choices[written], &model)
    }

    #[test]
    fn orders_without_effect_under_a_model_are_omitted() {
        let store = [NONE, RELEASE, SEQ_CST];
        assert_eq!(useful(&store, 0, "tso"), [SEQ_CST]);
        assert_eq!(useful(&store, 0, "pso"), [RELEASE, SEQ_CST]);
        assert_eq!(useful(&store, 1, "pso"), [SEQ_CST]);
        assert_eq!(useful(&store, 2, "pso"), []);
        assert_eq!(useful(&[NONE, ACQUIRE], 0, "pso"), []);
        assert_eq!(useful(&[NONE, ACQUIRE], 0, "rmo"), [ACQUIRE]);
        assert_eq!(useful(&store, 0, "sc"), []);
    }

    #[test]
    fn a_combination_of_orders_is_no_candidate() {
        let update = [NONE, ACQUIRE, RELEASE, ACQUIRE.union(RELEASE)];
        assert_eq!(useful(&update, 0, "rmo"), [ACQUIRE, RELEASE]);
        assert_eq!(useful(&update, 0, "pso"), [RELEASE]);
        // From acquire, only acq_rel is stronger.
        assert_eq!(useful(&update, 1, "rmo"), [ACQUIRE.union(RELEASE)]);
    }

    #[test]
    fn a_change_costs_the_parts_that_it_adds() {
        let costs = OrderCosts::default();
        assert_eq!(costs.change(NONE, RELEASE), 1);
        assert_eq!(costs.change(NONE, SEQ_CST), 3);
        assert_eq!(costs.change(RELEASE, SEQ_CST), 2);
        assert_eq!(costs.change(NONE, ACQUIRE.union(RELEASE)), 2);
        assert_eq!(costs.change(SEQ_CST, SEQ_CST), 0);
        // Every part is cheaper than the fence that does the same.
        assert!(costs.release < FenceKinds::STORE_STORE.default_cost());
        assert!(costs.acquire < FenceKinds::ACQUIRE.default_cost());
        let store_load = FenceKinds::STORE_LOAD.default_cost();
        assert!(costs.release + costs.seq_cst < store_load);
    }
}
