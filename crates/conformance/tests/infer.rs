//! Fence inference compared with brute force, which tries every subset of the candidates.
//!
//! The programs are random. The property of each program is that its outcomes are SC outcomes. So
//! every additional outcome of a weaker model is a violation that fences can prevent.

mod brute_force;
mod control_points;
mod optimality;
mod orders;
mod presumed;
mod speculation;
mod weaker;

use crate::common::{catch_panic, check, model, outcomes, report_comparisons, seeds, settings};
use brute_force::{cheapest_by_brute_force, is_sufficient, restricted_candidates};
use fencepost_engines::{Auto, Budget, Engine, Explicit, Settings, Verdict};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::fence_costs::{FenceCosts, FenceKind};
use fencepost_infer::fixpoint_inference;
use fencepost_infer::lazy::{Query, infer};
use fencepost_infer::repair::{Inference, Sufficiency, Unrepairable};
use fencepost_infer::set::Set;
use fencepost_ir::{
    BinOp, Condition, Expr, FenceKinds, Problem, Property, Span, Value, WrittenFences,
};
use fencepost_models::ModelSpec;
use fencepost_models::coherence::Domain;
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_search::{Cancel, Limits, Progress};
use fencepost_testkit::lower_with_places;
use fencepost_testkit::programs::{Profile, program};

/// The maximum number of candidates. If there are more, fences are forbidden in some lines.
const MAX_CANDIDATES: usize = 9;

/// The number of programs of each profile.
const PROGRAMS: u64 = 4;

/// The abstractions for the papers' method. It also runs under the exact models.
const ABSTRACTIONS: [(Domain, u32); 5] = [
    (Domain::Full, 0),
    (Domain::Full, 1),
    (Domain::Partial, 0),
    (Domain::Partial, 2),
    (Domain::Set, 0),
];

fn small_limits() -> Settings {
    let limits = Limits { states: 20_000, ..Limits::default() };
    Settings { limits, max_buffer: Some(8), ..settings(1) }
}

/// Returns the program with places for fences. Its property is that the outcomes are SC outcomes.
fn problem(source: &str) -> Option<Problem> {
    as_under_sc(lower_with_places(source).ok()?.pop()?)
}

/// Returns the problem with the property that its outcomes are SC outcomes.
fn as_under_sc(problem: Problem) -> Option<Problem> {
    let mut plain = problem.clone();
    plain.properties.clear();
    plain.sometimes.clear();
    let sc = outcomes(&plain, &model("sc"), small_limits());
    if !sc.outcomes_complete || sc.outcomes.is_empty() || sc.outcomes.len() > 40 {
        return None;
    }
    let all = |op, exprs: Vec<Expr<_>>, empty| {
        let both = |a, b| Expr::Binary(op, Box::new(a), Box::new(b));
        exprs.into_iter().reduce(both).unwrap_or(Expr::Const(empty))
    };
    let one = |outcome: &Vec<Value>| {
        let is = |(what, value): (&_, &_)| {
            let value = Box::new(Expr::Const(*value));
            Expr::Binary(BinOp::Eq, Box::new(Expr::Var(*what)), value)
        };
        all(BinOp::And, plain.observed.iter().zip(outcome).map(is).collect(), 1)
    };
    let expr = all(BinOp::Or, sc.outcomes.iter().map(one).collect(), 0);
    let condition = Condition { expr, text: "as under SC".into(), span: Span::default() };
    let mut problem = plain;
    let asserts = problem.program.threads.iter().flat_map(|t| &t.code);
    if asserts.into_iter().any(|s| matches!(s.op, fencepost_ir::Op::Assert(_))) {
        problem.properties.push(Property::Assertions);
    }
    problem.properties.push(Property::FinalForall(condition));
    let verdict = check(&problem, &model("sc"), small_limits()).verdict;
    matches!(verdict, Verdict::Verified(_)).then_some(problem)
}

fn run_query(
    problem: &Problem,
    model: &ModelSpec,
    candidates: &Candidates,
    abstraction: Option<(Domain, u32)>,
    method: fn(Query<'_>, Budget<'_>) -> Inference,
) -> Inference {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let problems = std::slice::from_ref(problem);
    let settings = small_limits();
    let engine: &(dyn Engine + Sync) = if abstraction.is_some() { &Auto } else { &Explicit };
    let all = true;
    let query = Query { problems, model, candidates, engine, settings, all, abstraction };
    method(query, budget)
}

/// The result of a comparison.
#[derive(Default)]
struct Compared {
    /// Whether fences are needed.
    needed: bool,
    /// The number of abstractions under which fences were found.
    abstracted: usize,
}

fn compare(source: &str, name: &str, fence_costs: &FenceCosts, seed: u64) -> Option<Compared> {
    compare_with(Mutated::NONE, source, name, fence_costs, seed)
}

fn compare_with(
    mutated: Mutated,
    source: &str,
    name: &str,
    fence_costs: &FenceCosts,
    seed: u64,
) -> Option<Compared> {
    compare_problem(mutated, &problem(source)?, source, name, fence_costs, seed)
}

/// Compares inference for a problem with brute force. `source` is its text.
fn compare_problem(
    mutated: Mutated,
    problem: &Problem,
    source: &str,
    name: &str,
    fence_costs: &FenceCosts,
    seed: u64,
) -> Option<Compared> {
    let model = model(name);
    let mut candidates = restricted_candidates(problem, fence_costs, seed);
    candidates.mutated = mutated;
    if candidates.len() > MAX_CANDIDATES {
        return None;
    }
    let (cost, placements) = cheapest_by_brute_force(problem, &model, &candidates)?;
    let inference = run_query(problem, &model, &candidates, None, infer);
    let case = || format!("{name}, {fence_costs:?}, seed {seed}\n{source}\n{inference:?}");
    match &inference {
        Inference::Repaired(repair) => {
            assert_eq!(repair.sufficiency, Sufficiency::Verified, "{}", case());
            assert_eq!(repair.cost, cost, "{}", case());
            let mut all = repair.placements.clone();
            all.sort();
            assert_eq!(all, placements, "{}", case());
            for need in &repair.needed_for {
                assert!(need.violation.is_some(), "{need:?} {}", case());
            }
            // The papers' method enforces orderings on all paths. That is sufficient, and never
            // cheaper.
            let papers = run_query(problem, &model, &candidates, None, fixpoint_inference::infer);
            if let Inference::Repaired(papers) = &papers {
                assert!(papers.cost >= cost, "{papers:?} {}", case());
            }
            let mut abstracted = 0;
            let has_buffers = model.store_buffers().is_some();
            for abstraction in ABSTRACTIONS.iter().filter(|_| has_buffers) {
                let papers = run_query(
                    problem,
                    &model,
                    &candidates,
                    Some(*abstraction),
                    fixpoint_inference::infer,
                );
                match &papers {
                    Inference::Repaired(papers) => {
                        let verified = papers.sufficiency == Sufficiency::Verified;
                        assert!(verified && papers.cost >= cost, "{papers:?} {}", case());
                        abstracted += usize::from(cost > 0);
                    }
                    // The formula requires fences that may not be placed; or it is false, but only
                    // under abstractions in which a store that commits at once does not behave as
                    // under SC.
                    Inference::GaveUp(gave_up) => {
                        let reason = gave_up.reason.as_deref().unwrap_or_default();
                        let is_false = reason.starts_with("the formula is false");
                        // No ordering of accesses delays the arrival at a control point.
                        let needs_arrivals = problem.relates_control_points_to_memory();
                        let known = (is_false && (abstraction.1 == 0 || needs_arrivals))
                            || reason.starts_with("the allowed fences cannot enforce");
                        assert!(known, "{papers:?} {}", case());
                    }
                    Inference::Unrepairable(_) => panic!("{papers:?} {}", case()),
                }
            }
            Some(Compared { needed: cost > 0, abstracted })
        }
        Inference::Unrepairable(Unrepairable::NotPreventable { .. }) => {
            assert!(placements.is_empty(), "{placements:?} {}", case());
            Some(Compared { needed: true, abstracted: 0 })
        }
        Inference::Unrepairable(_) | Inference::GaveUp(_) => panic!("{}", case()),
    }
}

fn compare_random(name: &str, fence_cost_sets: &[FenceCosts], first: u64) {
    let (mut total, mut needed, mut abstracted) = (0, 0, 0);
    for seed in seeds(PROGRAMS) {
        let seed = first + seed;
        for profile in Profile::ALL {
            let source = program(profile, seed).to_string();
            for fence_costs in fence_cost_sets {
                let Some(compared) = compare(&source, name, fence_costs, seed) else { continue };
                total += 1;
                needed += usize::from(compared.needed);
                abstracted += compared.abstracted;
            }
        }
    }
    report_comparisons(&format!("placements under {name}: brute force"), total);
    assert!(needed > 0, "some programs need fences");
    let has_buffers = model(name).store_buffers().is_some();
    assert!(abstracted > 0 || !has_buffers, "some fences are found under abstractions");
}

fn without_full_fence(model: &str) -> FenceCosts {
    let all = FenceCosts::for_model(&crate::common::model(model)).entries;
    let single = |d: &FenceKind| *d != FenceKind::Fence(FenceKinds::FULL);
    FenceCosts::with_default_costs(
        &all.into_iter().map(|(d, _)| d).filter(single).collect::<Vec<_>>(),
    )
}

fn fence_cost_sets(model: &str) -> [FenceCosts; 3] {
    let full = FenceKind::Fence(FenceKinds::FULL);
    [
        FenceCosts::with_default_costs(&[full]),
        without_full_fence(model),
        FenceCosts::with_default_costs(&[full, FenceKind::Drain]),
    ]
}

/// Returns the number of full fences that a program of the corpus needs.
fn full_fences(file: &str, name: &str) -> usize {
    let source =
        std::fs::read_to_string(crate::common::corpus().join(file)).expect("a corpus program");
    let problems = lower_with_places(&source).expect("the program compiles");
    let fence_costs = FenceCosts::with_default_costs(&[FenceKind::Fence(FenceKinds::FULL)]);
    let candidates =
        Candidates::new(&problems, &fence_costs, &Restrictions::default(), WrittenFences::Kept);
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let model = &model(name);
    let (engine, settings) = (&Explicit, Settings { max_buffer: Some(8), ..settings(2) });
    let (problems, candidates, all, abstraction) = (&problems, &candidates, false, None);
    let query = Query { problems, model, candidates, engine, settings, all, abstraction };
    match infer(query, budget) {
        Inference::Repaired(repair) => {
            // If a thread stores in a spin loop before its fence, explicit search proves nothing.
            let bounded = file.contains("burns") || file.contains("dijkstra");
            assert_eq!(repair.sufficiency != Sufficiency::Verified, bounded, "{file} {name}");
            assert!(repair.needed_for.iter().all(|need| need.violation.is_some()), "{file} {name}");
            repair.placements[0].atoms.len()
        }
        other => panic!("{file} {name}: {other:?}"),
    }
}

#[test]
fn mutual_exclusion_algorithms_need_the_known_numbers_of_full_fences() {
    let known = [
        ("dekker0", 1, 1),
        ("dekker-data0", 1, 2),
        ("peterson0", 1, 2),
        ("bakery0", 2, 2),
        ("fast0", 2, 3),
        ("szymanski0", 2, 2),
        ("burns0", 1, 1),
        ("dijkstra0", 1, 1),
        ("clh0", 0, 1),
        ("sense0", 0, 1),
    ];
    for (stem, tso, pso) in known {
        let file = format!("mutex/{stem}.fp");
        assert_eq!((full_fences(&file, "tso"), full_fences(&file, "pso")), (tso, pso), "{stem}");
    }
}

#[test]
fn libraries_are_repaired_for_sequential_consistency_and_linearizability() {
    // A flag and data. `put` returns before its stores are visible, which violates linearizability
    // only.
    let library = |property: &str| {
        format!(
            "const NONE = -1;
             shared int data;
             shared bool full;
             operation int put(int v) as p {{ data = v; full = true; return v; }}
             operation int take() as t {{
               f = full;
               if (!f) return NONE;
               r = data;
               return r;
             }}
             property {property} operations;
             client p|t;
             client p|tt;"
        )
    };
    for (property, name, cost) in [
        ("sequentially_consistent", "tso", 0),
        ("sequentially_consistent", "pso", 2),
        ("sequentially_consistent", "rmo-nospec", 2),
        ("sequentially_consistent", "rmo", 4),
        ("linearizable", "tso", 5),
        ("linearizable", "pso", 7),
    ] {
        let problems = lower_with_places(&library(property)).expect("the program compiles");
        let model = model(name);
        let fence_costs = FenceCosts::for_model(&model);
        let candidates =
            Candidates::new(&problems, &fence_costs, &Restrictions::default(), WrittenFences::Kept);
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let budget = Budget { cancel: &cancel, progress: &progress };
        let query = Query {
            problems: &problems,
            model: &model,
            candidates: &candidates,
            engine: &Explicit,
            settings: settings(1),
            all: false,
            abstraction: None,
        };
        let inference = infer(query, budget);
        let Inference::Repaired(repair) = &inference else {
            panic!("{property} {name}: {inference:?}")
        };
        assert_eq!(repair.cost, cost, "{property} {name}: {:?}", repair.placements);
        assert_eq!(repair.sufficiency, Sufficiency::Verified);
        let mut costs: Vec<u32> = Vec::new();
        let n = candidates.len().min(14);
        for bits in 0..1_usize << n {
            let chosen = Set::of(candidates.len(), (0..n).filter(|m| bits >> m & 1 == 1));
            let placement = candidates.placement(&chosen);
            let cost = candidates.cost(&placement);
            if cost <= repair.cost
                && problems.iter().all(|p| is_sufficient(p, &model, &placement) == Some(true))
            {
                costs.push(cost);
            }
        }
        assert!(costs.iter().all(|cost| *cost >= repair.cost), "{property} {name}: {costs:?}");
    }
}

#[test]
fn the_papers_method_is_never_cheaper_on_the_corpus() {
    let mut compared = 0;
    for file in [
        "papers/fender-fig2.fp",
        "mutex/peterson0-once.fp",
        "mutex/dekker0-once.fp",
        "mutex/dekker0-labels-once.fp",
        "mutex/bakery0-once.fp",
        "mutex/szymanski0-once.fp",
        "litmus/IRIW.fp",
        "litmus/W+RWC.fp",
        "structures/treiber.fp",
        "structures/vyset.fp",
        "structures/msn-queue.fp",
    ] {
        let source =
            std::fs::read_to_string(crate::common::corpus().join(file)).expect("a corpus program");
        for name in ["tso", "pso"] {
            let fence_costs = FenceCosts::for_model(&model(name));
            let cost = |method| match infer_fences_by(&source, name, &fence_costs, method).0 {
                Inference::Repaired(repair) => Some(repair.cost),
                Inference::Unrepairable(_) | Inference::GaveUp(_) => None,
            };
            if let (Some(lazy), Some(papers)) = (cost(infer), cost(fixpoint_inference::infer)) {
                assert!(lazy <= papers, "{file} {name}: {lazy} {papers}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 12, "only {compared} programs were repaired by both methods");
}

/// Infers fences for a source text with the lazy method.
fn infer_fences(
    source: &str,
    name: &str,
    fence_costs: &FenceCosts,
) -> (Inference, Vec<Problem>, Candidates) {
    infer_fences_by(source, name, fence_costs, infer)
}

/// Infers fences for a source text with this method.
fn infer_fences_by(
    source: &str,
    name: &str,
    fence_costs: &FenceCosts,
    method: fn(Query<'_>, Budget<'_>) -> Inference,
) -> (Inference, Vec<Problem>, Candidates) {
    let problems = lower_with_places(source).expect("the program compiles");
    let model = model(name);
    let candidates =
        Candidates::new(&problems, fence_costs, &Restrictions::default(), WrittenFences::Kept);
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let query = Query {
        problems: &problems,
        model: &model,
        candidates: &candidates,
        engine: &Explicit,
        settings: Settings {
            limits: Limits { states: 200_000, ..Limits::default() },
            ..settings(2)
        },
        all: false,
        abstraction: None,
    };
    (method(query, budget), problems, candidates)
}

const FREED: &str = "record Node { int v; } pool Node[2]; shared int x; shared Node first;
    init { a = new Node; first = a; }
    thread q { f = first; m = new Node; if (m == f) { r = x; assert(r == 1); } }";

#[test]
fn a_drain_that_adds_a_fault_is_not_used() {
    // After the commit and before the drain, another thread may free the record.
    let source = "record Node { int v; } pool Node[1]; shared Node first; shared int x;
        init { a = new Node; first = a; }
        thread p { n = first; n.v = 1; r = x; }
        thread q { x = 1; fence; f = first; s = f.v; if (s == 1) { free(f); } }
        final forall !(p.r == 0 && q.s == 0);";
    let full = FenceKind::Fence(FenceKinds::FULL);
    let (inference, ..) =
        infer_fences(source, "tso", &FenceCosts::with_default_costs(&[full, FenceKind::Drain]));
    let Inference::Repaired(repair) = &inference else { panic!("{inference:?}") };
    assert_eq!((repair.cost, repair.sufficiency.clone()), (5, Sufficiency::Verified));
}

#[test]
fn a_drain_is_placed_in_the_function_of_its_store() {
    let source = "shared int a[2], flag;
        proc void put(int v) { a[v] = 1; }
        thread p { put(1); flag = 1; }
        thread q { f = flag; d = a[1]; assert(f == 0 || d == 1); }";
    let (_, problems, candidates) =
        infer_fences(source, "pso", &FenceCosts::with_default_costs(&[FenceKind::Drain]));
    let program = &problems[0].program;
    let function = |label| program.label(label).function.as_str();
    let places: Vec<&str> =
        candidates.atoms.iter().map(|atom| function(program.place(atom.place).label)).collect();
    assert!(places.contains(&"put") && places.contains(&"p"), "{places:?}");
    for atom in &candidates.atoms {
        let fencepost_ir::Barrier::Drain(store) = atom.barrier else { panic!("{atom:?}") };
        assert_eq!(function(store), function(program.place(atom.place).label));
    }
}

#[test]
fn four_fence_kinds_at_one_place_are_a_full_fence() {
    // Only a full fence delays `free`.
    let singles = FenceKinds::SINGLE.map(|(kind, _)| FenceKind::Fence(kind));
    let source = format!("{FREED} thread p {{ n = first; x = 1; free(n); }}");
    let (inference, ..) = infer_fences(&source, "tso", &FenceCosts::with_default_costs(&singles));
    let Inference::Repaired(repair) = &inference else { panic!("{inference:?}") };
    assert_eq!((repair.cost, repair.sufficiency.clone()), (10, Sufficiency::Verified));
    let three = "fence store_store, load_load, load_store;";
    let source = format!("{FREED} thread p {{ n = first; x = 1; {three} free(n); }}");
    let (inference, ..) = infer_fences(&source, "tso", &FenceCosts::for_model(&model("tso")));
    let Inference::Repaired(repair) = &inference else { panic!("{inference:?}") };
    assert_eq!((repair.cost, repair.sufficiency.clone()), (4, Sufficiency::Verified));
}

#[test]
fn a_trace_is_replayed_with_the_window_bound_of_its_search() {
    // With a larger window, a step fetches more statements and reaches another assertion first.
    let loads: String = (0..12).map(|at| format!("a{at} = z; ")).collect();
    let source = format!(
        "shared int x, y, z;
         thread p {{ x = 1; y = 1; }}
         thread q {{
           s = y; t = x; bad = 0;
           if (s == 1 && t == 0) {{ bad = 1; }}
           {loads} assert(bad == 0);
         }}
         thread w {{ u = y; v = x; if (u == 1 && v == 0) {{ assert(false); }} }}"
    );
    let (inference, ..) = infer_fences(&source, "rmo", &FenceCosts::for_model(&model("rmo")));
    let Inference::Repaired(repair) = &inference else { panic!("{inference:?}") };
    assert_eq!((repair.cost, repair.sufficiency.clone()), (6, Sufficiency::Verified));
}

#[test]
fn fences_that_remove_the_witness_of_a_final_exists_are_no_repair() {
    let source = "shared int x, y;
        thread p { x = 1; r = y; } thread q { y = 1; s = x; }
        final exists p.r == 0 && q.s == 0;
        final forall p.r == 1 || q.s == 1 || x + y == 3;";
    let (inference, ..) = infer_fences(source, "tso", &FenceCosts::for_model(&model("tso")));
    assert!(
        matches!(inference, Inference::Unrepairable(Unrepairable::NoWitness { problem: 0 })),
        "{inference:?}"
    );
}

#[test]
fn hitting_sets_with_many_equal_choices_are_found_fast() {
    let mut clauses = fencepost_infer::hitting_set::Clauses::new(80);
    for at in 0..16 {
        clauses.add(Set::of(80, at * 5..at * 5 + 5));
    }
    let costs = vec![1; 80];
    let cancel = Cancel::default();
    let cheapest = clauses.cheapest(&costs, &cancel).expect("not cancelled");
    assert_eq!(cheapest.map(|set| set.len()), Some(16));
    assert_eq!(clauses.all_cheapest(&costs, 100, &cancel).map(|all| all.len()), Ok(100));
}

#[test]
fn random_programs_get_the_cheapest_fences_under_tso() {
    compare_random("tso", &fence_cost_sets("tso"), 0);
}

#[test]
fn random_programs_get_the_cheapest_fences_under_pso() {
    compare_random("pso", &fence_cost_sets("pso"), 100);
}

#[test]
fn random_programs_get_the_cheapest_fences_under_rmo() {
    compare_random("rmo", &fence_cost_sets("rmo"), 200);
}

#[test]
fn random_programs_get_the_cheapest_fences_under_arm() {
    let (full, drain) = (FenceKind::Fence(FenceKinds::FULL), FenceKind::Drain);
    let [stores, loads] = [FenceKinds::STORE_STORE, FenceKinds::ACQUIRE].map(FenceKind::Fence);
    let of_kinds = |kinds: &[FenceKind]| {
        FenceCosts::requested(&model("arm"), kinds.iter().map(|kind| (*kind, kind.default_cost())))
    };
    // Inference does not list two barriers at a place that are as expensive as a full one.
    let mut barriers = of_kinds(&[full, stores, loads]);
    barriers.set_cost(full, 4);
    compare_random("arm", &[of_kinds(&[full]), barriers, of_kinds(&[full, drain])], 300);
}

#[test]
fn random_programs_get_the_cheapest_fences_under_rmo_without_speculation() {
    compare_random("rmo-nospec", &fence_cost_sets("rmo-nospec"), 200);
}

/// A mutation of the clauses gives a cost or placement that differs from brute force, or an
/// inference that gives up.
#[test]
fn every_mutation_of_clauses_is_detected() {
    let full = FenceKind::Fence(FenceKinds::FULL);
    for (mutation, fence_costs) in [
        (Mutation::FullFenceOnlyStoreLoad, FenceCosts::with_default_costs(&[full])),
        (Mutation::DrainsIgnored, FenceCosts::with_default_costs(&[full, FenceKind::Drain])),
        (Mutation::FullFenceBlocksAll, FenceCosts::with_default_costs(&[full])),
    ] {
        let is_detected = (0..40).any(|seed| {
            Profile::ALL.iter().any(|profile| {
                let source = program(*profile, seed).to_string();
                let compare =
                    || compare_with(Mutated::with(mutation), &source, "pso", &fence_costs, seed);
                catch_panic(|| Ok(compare())).is_err()
            })
        });
        assert!(is_detected, "{mutation:?} is not detected");
    }
}
