//! Repairs under `arm` of programs that read back what a compare-and-swap decides.
//!
//! The result of a compare-and-swap is presumed until its read is performed. The thread stores it,
//! reads it back from its own pending write, and writes another location. If the read that takes the
//! presumed value is an acquire read, this write waits (rule 11 of the page "The ARM model").
//! Otherwise it does not. So the stronger order is a repair, though the read itself is performed
//! early.
//!
//! The property of a program is that its outcomes are SC outcomes, or that one outcome does not
//! occur. The second property needs less: a write must wait, and a read may be early.

use super::orders::{
    Access, Accesses, Counts, EXCHANGES, LOADS, PLAIN, STORES, UPDATES, compare_with_brute_force,
};
use super::{as_under_sc, cheapest_by_brute_force, restricted_candidates, run_query, small_limits};
use crate::common::{model, outcomes, report_comparisons, seeds};
use fencepost_frontends::{Request, by_extension};
use fencepost_infer::fence_costs::{FenceCosts, FenceKind};
use fencepost_infer::lazy::infer;
use fencepost_infer::repair::Inference;
use fencepost_ir::{
    BinOp, Condition, Diagnostics, Expr, FenceKinds, Problem, Property, Span, Value,
};
use fencepost_testkit::Random;

/// The number of programs.
const PROGRAMS: u64 = 150;

const SHARED: &str = "shared int p = 5, y, u, d[2];";

/// An access as written.
fn access(text: &str, orders: &'static [(&'static str, u32)], own: usize) -> Access {
    Access { text: text.into(), orders, own }
}

/// Returns one of these accesses, without an order or relaxed.
fn any(random: &mut Random, all: &[(&str, &'static [(&'static str, u32)])]) -> Access {
    let (text, orders) = all[random.below(all.len())];
    access(text, orders, 0)
}

/// Returns a thread that decides something by a compare-and-swap of `p`, stores it in `y`, reads it
/// back, writes `u` and reads `d`, perhaps at an address that depends on what it has read back.
fn picker(random: &mut Random) -> Vec<Access> {
    let decides = any(
        random,
        &[("r0 = cas(p, 0, 1);", PLAIN), ("r0 = p.compare_exchange(0, 1, @);", EXCHANGES)],
    );
    let stores = any(
        random,
        &[
            ("y.store(r0 ? 1 : 0, @);", STORES),
            ("y = r0 ? 1 : 0;", PLAIN),
            ("r1 = y.swap(r0 ? 1 : 0, @);", UPDATES),
            ("r1 = y.swap(1, @);", UPDATES),
            ("r1 = swap(y, 1);", PLAIN),
            ("r1 = y.compare_exchange(0, r0 ? 1 : 2, @);", EXCHANGES),
        ],
    );
    // Whether it yields the success of a comparison.
    let (reads, is_comparison) = match random.below(8) {
        0..3 => (access("r2 = y.load(@);", LOADS, 0), false),
        3 => (access("r2 = y;", PLAIN, 0), false),
        4 => (access("r2 = y.swap(1, @);", UPDATES, 0), false),
        5 => (access("r2 = y.swap(3, @);", UPDATES, 0), false),
        6 => (access("r2 = y.compare_exchange(5, 6, @);", EXCHANGES, 0), true),
        _ => (access("r2 = y.compare_exchange(1, 6, @);", EXCHANGES, 0), true),
    };
    let writes = any(random, &[("u = 1;", PLAIN), ("u.store(1, @);", STORES)]);
    let ends = match (random.below(4), is_comparison) {
        (0, _) => access("r3 = d[1];", PLAIN, 0),
        (1, _) => access("r3 = d[r0 ? 1 : 0];", PLAIN, 0),
        (_, false) => access("r3 = d[r2 == 1 ? 1 : 0];", PLAIN, 0),
        (_, true) => access("r3 = d[r2 ? 0 : 1];", PLAIN, 0),
    };
    let mut all = vec![decides, stores, reads, writes, ends];
    if random.below(6) == 0 {
        all.swap(3, 4);
    }
    if random.below(6) == 0 {
        all.remove(3);
    }
    all
}

/// Returns a thread that closes a cycle: it answers the write of `u` with a write of `p`, or reads
/// `y` after a write of `d`.
fn other(random: &mut Random) -> Vec<Access> {
    let own = |random: &mut Random| usize::from(random.below(6) > 0);
    match random.below(4) {
        0 => vec![access("d[1] = 9;", PLAIN, 0), access("fence full; r0 = y;", PLAIN, 0)],
        1 => vec![
            access("r0 = u.load(@);", LOADS, own(random)),
            access("p.store(0, @);", STORES, own(random)),
        ],
        _ => vec![
            access("r0 = u.load(@);", LOADS, own(random)),
            access("d[1] = 9;", PLAIN, 0),
            access("p.store(0, @);", STORES, own(random)),
        ],
    }
}

/// Returns the outcomes under `arm` that are not SC outcomes.
fn weak_outcomes(problem: &Problem) -> Vec<Vec<Value>> {
    let [arm, sc] = ["arm", "sc"].map(|name| outcomes(problem, &model(name), small_limits()));
    assert!(arm.outcomes_complete && sc.outcomes_complete, "the program is small");
    arm.outcomes.into_iter().filter(|outcome| !sc.outcomes.contains(outcome)).collect()
}

/// Returns the problem with the property that one of its weak outcomes does not occur. Returns
/// `None` if there is none with this number, modulo the number of outcomes.
fn without_weak_outcome(mut problem: Problem, number: usize) -> Option<Problem> {
    let all = weak_outcomes(&problem);
    let outcome = all.get(number.checked_rem(all.len())?)?;
    let differs = |(what, value): (&_, &_)| {
        let value = Box::new(Expr::Const(*value));
        Expr::Binary(BinOp::Ne, Box::new(Expr::Var(*what)), value)
    };
    let either = |a, b| Expr::Binary(BinOp::Or, Box::new(a), Box::new(b));
    let expr = problem.observed.iter().zip(outcome).map(differs).reduce(either)?;
    let condition = Condition { expr, text: "another outcome".into(), span: Span::default() };
    problem.properties = vec![Property::FinalForall(condition)];
    Some(problem)
}

#[test]
fn random_repairs_of_presumed_values_are_the_cheapest_by_brute_force() {
    let (mut compared, mut changed) = (0, 0);
    for seed in seeds(PROGRAMS) {
        let mut random = Random::new(seed ^ 0x91c4 << 32);
        let threads = vec![picker(&mut random), other(&mut random)];
        let accesses = Accesses { shared: SHARED, threads };
        let number = random.below(1000);
        let property = |problem| match seed % 4 {
            0 => as_under_sc(problem),
            _ => without_weak_outcome(problem, number),
        };
        let counts = compare_with_brute_force(&accesses, property, seed, &["arm"]);
        for Counts { orders, .. } in counts.into_iter().flatten() {
            compared += 1;
            changed += usize::from(orders > 0);
        }
    }
    report_comparisons("presumed values: brute force", compared);
    assert!(changed > 0, "some programs need stronger orders");
}

/// Compares the repair of a program with brute force. Returns the number of changed orders and of
/// all changes.
fn repair(threads: [Vec<Access>; 2]) -> (usize, usize) {
    let accesses = Accesses { shared: SHARED, threads: threads.into() };
    let counts = compare_with_brute_force(&accesses, as_under_sc, 0, &["arm"]);
    let counts = counts.expect("the program has few outcomes");
    (counts[0].orders, counts[0].atoms)
}

#[test]
fn an_acquire_read_of_a_presumed_value_delays_later_writes() {
    // The address of the last read depends on the load. In some outcomes, the load is performed
    // before `u = 1`, and this before the read of `p`. The acquire order of the load is a repair.
    let picker = || {
        vec![
            access("r0 = cas(p, 0, 1);", PLAIN, 0),
            access("y = r0 ? 1 : 0;", PLAIN, 0),
            access("r2 = y.load(@);", LOADS, 0),
            access("u = 1;", PLAIN, 0),
            access("r3 = d[r2];", PLAIN, 0),
        ]
    };
    let other = || {
        vec![
            access("r0 = u.load(@);", LOADS, 1),
            access("d[1] = 9;", PLAIN, 0),
            access("p.store(0, @);", STORES, 1),
        ]
    };
    let accesses = Accesses { shared: SHARED, threads: vec![picker(), other()] };
    let (mut count, mut by_order) = (1, 0);
    for number in 0.. {
        if number == count {
            break;
        }
        let property = |problem: Problem| {
            count = weak_outcomes(&problem).len();
            without_weak_outcome(problem, number)
        };
        let counts = compare_with_brute_force(&accesses, property, number as u64, &["arm"]);
        let counts = counts.expect("there is an outcome");
        by_order += usize::from(counts[0].orders == 1 && counts[0].atoms == 1);
    }
    assert!(by_order > 0, "the order of the load prevents some outcomes");
}

#[test]
fn a_failing_comparison_reads_a_presumed_value_early() {
    // An acquire order of the comparison of `y` alone does not delay the last read.
    let picker = vec![
        access("r0 = cas(p, 0, 1);", PLAIN, 0),
        access("y.store(r0 ? 1 : 0, @);", STORES, 0),
        access("r2 = y.compare_exchange(5, 6, @);", EXCHANGES, 0),
        access("r3 = d[1];", PLAIN, 0),
    ];
    let other = vec![access("d[1] = 9;", PLAIN, 0), access("p.store(0, @);", STORES, 1)];
    assert_eq!(repair([picker, other]), (2, 2));
}

#[test]
fn a_failing_comparison_with_acquire_order_waits_for_a_pending_update() {
    let picker = vec![
        access("r1 = swap(y, 1);", PLAIN, 0),
        access("r2 = y.compare_exchange(5, 6, @);", EXCHANGES, 0),
        access("r3 = d[r2 ? 0 : 1];", PLAIN, 0),
    ];
    let other = vec![access("d[1] = 9;", PLAIN, 0), access("fence full; r0 = y;", PLAIN, 0)];
    assert_eq!(repair([picker, other]), (1, 1));
}

/// A litmus test in which thread 0 reads back what a compare-and-swap writes. `RESULT` is the
/// register of its result.
const READ_BACK: &str = "AArch64 readback
{ p=5; 0:X0=p; 0:X1=y; 0:X2=u; 1:X0=p; 1:X2=u; }
 P0                 | P1           ;
 MOV W3,#1          | LDR W4,[X2]  ;
 CAS RESULT,W3,[X0] | DMB SY       ;
 LDR W5,[X0]        | STR WZR,[X0] ;
 STR W5,[X1]        |              ;
 LDR W6,[X1]        |              ;
 STR W3,[X2]        |              ;
exists (1:X4=1 /\\ 0:X5=1)
";

/// The value of `y` picks the read of the compare-and-swap. Only an acquire read of `y` delays the
/// last write for this reason. `DMB LD` orders the read of the compare-and-swap because it is a read,
/// but not if its value is discarded. Front ends that know discarded values have no order places.
#[test]
fn a_fence_for_loads_does_not_order_what_a_value_picks() {
    let costs = [(FenceKinds::FULL, 5), (FenceKinds::ACQUIRE, 3)];
    let costs = costs.map(|(kinds, cost)| (FenceKind::Fence(kinds), cost));
    let arm = model("arm");
    let costs = FenceCosts::requested(&arm, costs);
    for (result, expected) in [("WZR", 5), ("W7", 3)] {
        let source = READ_BACK.replace("RESULT", result);
        let frontend = by_extension("litmus").expect("a front end");
        let request = Request { places: true, ..Request::default() };
        let mut diagnostics = Diagnostics::new();
        let lowered = frontend.lower_for(&source, &request, &mut diagnostics);
        let lowered = lowered.unwrap_or_else(|| panic!("{diagnostics:?}"));
        let problem = lowered.into_iter().next().and_then(as_under_sc).expect("few outcomes");
        let candidates = restricted_candidates(&problem, &costs, 1);
        let inference = run_query(&problem, &arm, &candidates, None, infer);
        let Inference::Repaired(repair) = &inference else { panic!("{inference:?}") };
        let cheapest = cheapest_by_brute_force(&problem, &arm, &candidates);
        let (cost, placements) = cheapest.expect("the program is small");
        assert_eq!((repair.cost, cost), (expected, expected), "{source}");
        assert_eq!(repair.placements.len(), placements.len(), "{source}");
        assert!(placements.iter().all(|one| repair.placements.contains(one)), "{source}");
    }
}
