//! Stronger memory orders compared with brute force on source texts.
//!
//! Brute force writes each combination of orders and fences as a text, compiles it without places
//! and checks it. It shares neither the candidates nor the clauses of inference, and it has its own
//! table of costs. The property of each program is that its outcomes are SC outcomes.

use super::{as_under_sc, run_query, small_limits};
use crate::common::{check, model, report_comparisons, seeds};
use fencepost_engines::Verdict;
use fencepost_frontends::repair::LoweredSource;
use fencepost_frontends::{Request, by_extension};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::fence_costs::FenceCosts;
use fencepost_infer::lazy::infer;
use fencepost_infer::order_candidates::OrderCosts;
use fencepost_infer::repair::{Inference, Sufficiency};
use fencepost_ir::{Barrier, Problem, WrittenFences};
use fencepost_models::ModelSpec;
use fencepost_testkit::{Random, lower, lower_with_orders};

/// The number of programs.
const PROGRAMS: u64 = 80;

/// The fences that brute force inserts between statements, with their costs.
const FENCES: [(&str, u32); 6] = [
    ("", 0),
    ("fence full; ", 5),
    ("fence store_load; ", 4),
    ("fence store_store; ", 2),
    ("fence load_load; ", 2),
    ("fence load_store; ", 2),
];

/// The orders of an access, with their costs: the text with a hole, and what can be in the hole.
pub(super) struct Access {
    pub(super) text: String,
    pub(super) orders: &'static [(&'static str, u32)],
    /// The index of the order in the original program.
    pub(super) own: usize,
}

/// The fences of `arm`.
const ARM_FENCES: [(&str, u32); 4] = [
    ("", 0),
    ("fence full; ", 5),
    ("fence store_store; ", 2),
    ("fence load_load, load_store; ", 3),
];

/// A plain access has no order that can change.
pub(super) const PLAIN: &[(&str, u32)] = &[("plain", 0)];
pub(super) const LOADS: &[(&str, u32)] = &[("relaxed", 0), ("acquire", 1), ("seq_cst", 1)];
pub(super) const STORES: &[(&str, u32)] = &[("relaxed", 0), ("release", 1), ("seq_cst", 3)];
pub(super) const UPDATES: &[(&str, u32)] =
    &[("relaxed", 0), ("acquire", 1), ("release", 1), ("acq_rel", 2), ("seq_cst", 2)];
/// Success and failure, without a branch on the result.
pub(super) const EXCHANGES: &[(&str, u32)] = &[
    ("relaxed, relaxed", 0),
    ("acquire, acquire", 1),
    ("release, relaxed", 1),
    ("acq_rel, acquire", 2),
];

/// Under `arm`, a seq_cst store is a release store, and a seq_cst load is more than an acquire load.
const ARM_LOADS: &[(&str, u32)] = &[("relaxed", 0), ("acquire", 1), ("seq_cst", 3)];
const ARM_STORES: &[(&str, u32)] = &[("relaxed", 0), ("release", 1), ("seq_cst", 1)];

impl Access {
    fn random(random: &mut Random, register: usize) -> Access {
        let place = if random.below(2) == 0 { "x" } else { "y" };
        let value = 1 + random.below(2);
        let (text, orders) = match random.below(12) {
            0..3 => (format!("{place}.store({value}, @);"), STORES),
            3..6 => (format!("r{register} = {place}.load(@);"), LOADS),
            6..8 => (format!("{place} = {value};"), PLAIN),
            8..10 => (format!("r{register} = {place};"), PLAIN),
            10 => (format!("r{register} = {place}.swap({value}, @);"), UPDATES),
            _ => (format!("r{register} = {place}.compare_exchange(0, {value}, @);"), EXCHANGES),
        };
        let own = if random.below(4) == 0 { random.below(orders.len()) } else { 0 };
        Access { text, orders, own }
    }

    /// Returns the orders that are not weaker than the own one, with the costs of the change.
    fn stronger(&self, model: &str) -> impl Iterator<Item = (&'static str, u32)> {
        let orders = match (self.orders, model) {
            (LOADS, "arm") => ARM_LOADS,
            (STORES, "arm") => ARM_STORES,
            (orders, _) => orders,
        };
        let (own, own_cost) = orders[self.own];
        let includes = move |order: &str| {
            let parts = |name: &str| {
                let first = name.split(',').next().unwrap_or_default().to_string();
                let acquires = ["acquire", "acq_rel", "seq_cst"].contains(&&*first);
                let releases = ["release", "acq_rel", "seq_cst"].contains(&&*first);
                (acquires, releases, first == "seq_cst")
            };
            let (own, other) = (parts(own), parts(order));
            own.0 <= other.0 && own.1 <= other.1 && own.2 <= other.2
        };
        let stronger = orders.iter().filter(move |(order, _)| includes(order));
        stronger.map(move |(order, cost)| (*order, cost - own_cost))
    }
}

/// A program: its locations, and the accesses of each thread.
pub(super) struct Accesses {
    pub(super) shared: &'static str,
    pub(super) threads: Vec<Vec<Access>>,
}

impl Accesses {
    fn random(seed: u64) -> Accesses {
        let mut random = Random::new(seed ^ 0x0bde << 32);
        let thread = |random: &mut Random| {
            let count = 2 + random.below(2);
            (0..count).map(|at| Access::random(random, at)).collect()
        };
        let threads = (0..2).map(|_| thread(&mut random)).collect();
        Accesses { shared: "shared int x, y;", threads }
    }

    /// Returns the text with an order for each access, and a fence before each but the first.
    fn text(
        &self,
        choose: &mut dyn FnMut(&Access, bool) -> (&'static str, &'static str),
    ) -> String {
        let mut text = format!("{}\n", self.shared);
        for (thread, accesses) in self.threads.iter().enumerate() {
            text.push_str(&format!("thread t{thread} {{\n"));
            for (at, access) in accesses.iter().enumerate() {
                let (order, fence) = choose(access, at > 0);
                text.push_str(&format!("  {fence}{}\n", access.text.replace('@', order)));
            }
            text.push_str("}\n");
        }
        text
    }

    fn original(&self) -> String {
        self.text(&mut |access, _| (access.orders[access.own].0, ""))
    }

    /// Returns the texts that cost less than a limit.
    fn cheaper(&self, limit: u32, model: &str) -> Vec<String> {
        let all = if model == "arm" { &ARM_FENCES[..] } else { &FENCES[..] };
        let mut choices: Vec<(Vec<(&str, &str)>, u32)> = vec![(Vec::new(), 0)];
        for (at, access) in self.threads.iter().flat_map(|thread| thread.iter().enumerate()) {
            let fences = if at > 0 { all } else { &all[..1] };
            let mut more = Vec::new();
            for (chosen, cost) in &choices {
                for (order, order_cost) in access.stronger(model) {
                    for (fence, fence_cost) in fences {
                        let cost = cost + order_cost + fence_cost;
                        if cost < limit {
                            let chosen = [&chosen[..], &[(order, *fence)]].concat();
                            more.push((chosen, cost));
                        }
                    }
                }
            }
            choices = more;
        }
        let text = |(chosen, _): (Vec<(&'static str, &'static str)>, u32)| {
            let mut chosen = chosen.into_iter();
            self.text(&mut |_, _| chosen.next().expect("one choice for each access"))
        };
        choices.into_iter().map(text).collect()
    }
}

/// Checks a text for the properties of another program with the same locations and registers.
pub(super) fn is_correct(text: &str, original: &Problem, model: &ModelSpec) -> bool {
    let compiled = lower(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let compiled = compiled.into_iter().next().expect("one problem");
    let problem = Problem { program: compiled.program, ..original.clone() };
    match check(&problem, model, small_limits()).verdict {
        Verdict::Verified(_) => true,
        Verdict::Violated(_) => false,
        Verdict::Inconclusive(why) => panic!("{why:?}\n{text}"),
    }
}

/// What a repair consists of.
pub(super) struct Counts {
    pub(super) orders: usize,
    pub(super) atoms: usize,
}

/// Infers orders and fences for a program with a property, and compares the answer with brute force.
/// Returns `None` if there is no property.
pub(super) fn compare_with_brute_force(
    accesses: &Accesses,
    property: impl FnOnce(Problem) -> Option<Problem>,
    seed: u64,
    models: &[&str],
) -> Option<Vec<Counts>> {
    let source = accesses.original();
    let lowered = lower_with_orders(&source);
    let lowered = lowered.unwrap_or_else(|errors| panic!("{errors}\n{source}"));
    let problem = property(lowered.into_iter().next()?)?;
    let mut counts = Vec::new();
    for name in models {
        let model = model(name);
        let problems = std::slice::from_ref(&problem);
        let (costs, anywhere) = (FenceCosts::for_model(&model), Restrictions::default());
        let fences = Candidates::new(problems, &costs, &anywhere, WrittenFences::Kept);
        let orders = OrderCosts::default();
        let candidates = fences.with_orders(&problem.program, &model, &anywhere, &orders);
        let inference = run_query(&problem, &model, &candidates, None, infer);
        let case = || format!("{name}, seed {seed}\n{source}\n{inference:?}");
        let Inference::Repaired(repair) = &inference else { panic!("{}", case()) };
        assert_eq!(repair.sufficiency, Sufficiency::Verified, "{}", case());
        for need in &repair.needed_for {
            assert!(need.violation.is_some(), "{need:?} {}", case());
        }
        for cheaper in accesses.cheaper(repair.cost, name) {
            assert!(!is_correct(&cheaper, &problem, &model), "{cheaper} {}", case());
        }
        let original = LoweredSource {
            frontend: by_extension("fp").expect("a front end"),
            text: &source,
            request: Request { places: true, orders: true, ..Request::default() },
            problems,
        };
        for placement in &repair.placements {
            let repaired = original.repair(placement, WrittenFences::Kept);
            let repaired = repaired.unwrap_or_else(|why| panic!("{why} {}", case()));
            let text = repaired.changes.main_text(&source);
            assert!(repaired.differing.is_empty(), "{text} {}", case());
            assert!(is_correct(text, &problem, &model), "{text}");
        }
        let is_order = |barrier| matches!(barrier, Barrier::Order(_));
        let atoms = &repair.placements[0].atoms;
        let orders = atoms.iter().filter(|atom| is_order(atom.barrier)).count();
        counts.push(Counts { orders, atoms: atoms.len() });
    }
    Some(counts)
}

#[test]
fn random_stronger_orders_are_the_cheapest_by_brute_force() {
    let (mut compared, mut changed, mut mixed) = (0, 0, 0);
    for seed in seeds(PROGRAMS) {
        let accesses = Accesses::random(seed);
        let models = ["tso", "pso", "rmo", "arm"];
        let counts = compare_with_brute_force(&accesses, as_under_sc, seed, &models);
        for Counts { orders, atoms } in counts.into_iter().flatten() {
            compared += 1;
            changed += usize::from(orders > 0);
            mixed += usize::from(orders > 0 && orders < atoms);
        }
    }
    report_comparisons("stronger orders: brute force", compared);
    assert!(changed > 0, "some programs need stronger orders");
    assert!(mixed > 0, "some programs need both orders and fences");
}
