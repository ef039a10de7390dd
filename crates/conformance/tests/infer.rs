//! Fence inference against brute force: every subset of the candidates is tried.
//!
//! The programs are random; what they must keep is that their outcomes are those under SC, so that
//! whatever a weaker model adds is a violation that fences can prevent.

use crate::common::{caught, check, compared, model, outcomes, seeds, settings};
use fencepost_engines::{Auto, Budget, Engine, Explicit, Settings, Verdict};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::lazy::{Question, infer};
use fencepost_infer::menu::{Dish, Menu};
use fencepost_infer::papers;
use fencepost_infer::repair::{Inference, Sufficiency, Unrepairable};
use fencepost_infer::set::Set;
use fencepost_ir::{
    BinOp, Condition, Expr, FenceKinds, Placement, Problem, Property, Span, Written, placement,
};
use fencepost_models::ModelSpec;
use fencepost_models::coherence::Domain;
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_search::{Cancel, Limits, Progress};
use fencepost_testkit::lower_with_places;
use fencepost_testkit::programs::{Profile, program};

/// More candidates than this, and some lines are left out.
const CANDIDATES: usize = 9;

/// Programs of each profile.
const PROGRAMS: u64 = 4;

/// What the papers' method is tried under, besides the exact models.
const ABSTRACTIONS: [(Domain, u32); 5] = [
    (Domain::Full, 0),
    (Domain::Full, 1),
    (Domain::Partial, 0),
    (Domain::Partial, 2),
    (Domain::Set, 0),
];

fn small() -> Settings {
    let limits = Limits { states: 20_000, ..Limits::default() };
    Settings { limits, max_buffer: Some(8), ..settings(1) }
}

/// The program with its places, and its SC outcomes as what it must keep.
fn problem(source: &str) -> Option<Problem> {
    let problem = lower_with_places(source).ok()?.pop()?;
    let mut plain = problem.clone();
    plain.properties.clear();
    plain.sometimes.clear();
    let sc = outcomes(&plain, &model("sc"), small());
    if !sc.outcomes_complete || sc.outcomes.is_empty() || sc.outcomes.len() > 40 {
        return None;
    }
    let all = |op, exprs: Vec<Expr<_>>, empty| {
        let both = |a, b| Expr::Binary(op, Box::new(a), Box::new(b));
        exprs.into_iter().reduce(both).unwrap_or(Expr::Const(empty))
    };
    let one = |outcome: &Vec<i32>| {
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
    let right = matches!(check(&problem, &model("sc"), small()).verdict, Verdict::Verified(_));
    right.then_some(problem)
}

fn ask(
    problem: &Problem,
    model: &ModelSpec,
    candidates: &Candidates,
    abstraction: Option<(Domain, u32)>,
    method: fn(Question<'_>, Budget<'_>) -> Inference,
) -> Inference {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let problems = std::slice::from_ref(problem);
    let settings = small();
    let engine: &(dyn Engine + Sync) = if abstraction.is_some() { &Auto } else { &Explicit };
    let all = true;
    let question = Question { problems, model, candidates, engine, settings, all, abstraction };
    method(question, budget)
}

/// Whether a placement is enough; none when that was not decided.
fn is_enough(problem: &Problem, model: &ModelSpec, placement: &Placement) -> Option<bool> {
    let program = placement::fenced(&problem.program, placement, Written::Kept);
    let fenced = Problem { program, ..problem.clone() };
    match check(&fenced, model, small()).verdict {
        Verdict::Verified(_) => Some(true),
        Verdict::Violated(_) => Some(false),
        Verdict::Inconclusive(_) => None,
    }
}

/// The cheapest placements by trying all; none when something was not decided.
fn by_force(
    problem: &Problem,
    model: &ModelSpec,
    candidates: &Candidates,
) -> Option<(u32, Vec<Placement>)> {
    let n = candidates.len();
    let mut best = (u32::MAX, Vec::new());
    for bits in 0..1_usize << n {
        let placement =
            candidates.placement(&Set::of(n, (0..n).filter(|member| bits >> member & 1 == 1)));
        let price = candidates.price(&placement);
        if price > best.0 || !is_enough(problem, model, &placement)? {
            continue;
        }
        if price < best.0 {
            best = (price, Vec::new());
        }
        best.1.push(placement);
    }
    best.1.sort();
    Some(best)
}

/// Candidates, few enough to try all subsets.
fn few(problem: &Problem, menu: &Menu, seed: u64) -> Candidates {
    let mut restrictions = Restrictions::default();
    let mut line = seed as u32;
    loop {
        let candidates =
            Candidates::new(std::slice::from_ref(problem), menu, &restrictions, Written::Kept);
        if candidates.len() <= CANDIDATES {
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

/// What a comparison was about.
#[derive(Default)]
struct Compared {
    /// Fences were needed.
    needed: bool,
    /// So many abstractions found some.
    abstracted: usize,
}

fn compare(source: &str, name: &str, menu: &Menu, seed: u64) -> Option<Compared> {
    compare_with(Mutated::NONE, source, name, menu, seed)
}

fn compare_with(
    mutated: Mutated,
    source: &str,
    name: &str,
    menu: &Menu,
    seed: u64,
) -> Option<Compared> {
    let problem = problem(source)?;
    let model = model(name);
    let mut candidates = few(&problem, menu, seed);
    candidates.mutated = mutated;
    if candidates.len() > CANDIDATES {
        return None;
    }
    let (price, placements) = by_force(&problem, &model, &candidates)?;
    let said = ask(&problem, &model, &candidates, None, infer);
    let about = || format!("{name}, {menu:?}, seed {seed}\n{source}\n{said:?}");
    match &said {
        Inference::Repaired(repair) => {
            assert_eq!(repair.sufficiency, Sufficiency::Verified, "{}", about());
            assert_eq!(repair.price, price, "{}", about());
            let mut all = repair.placements.clone();
            all.sort();
            assert_eq!(all, placements, "{}", about());
            for need in &repair.needed_for {
                assert!(need.violation.is_some(), "{need:?} {}", about());
            }
            // What enforces orderings on all paths is enough, too, and never cheaper.
            let papers = ask(&problem, &model, &candidates, None, papers::infer);
            if let Inference::Repaired(papers) = &papers {
                assert!(papers.price >= price, "{papers:?} {}", about());
            }
            let mut abstracted = 0;
            for abstraction in ABSTRACTIONS.iter().filter(|_| name != "rmo") {
                let papers = ask(&problem, &model, &candidates, Some(*abstraction), papers::infer);
                match &papers {
                    Inference::Repaired(papers) => {
                        let verified = papers.sufficiency == Sufficiency::Verified;
                        assert!(verified && papers.price >= price, "{papers:?} {}", about());
                        abstracted += usize::from(price > 0);
                    }
                    // It asks for what may not be placed; or it is false, but not where a store
                    // that is committed at once is as under SC.
                    Inference::GaveUp(gave_up) => {
                        let why = gave_up.because.as_deref().unwrap_or_default();
                        let is_false = why.starts_with("the formula is false");
                        let known = (is_false && abstraction.1 == 0)
                            || why.starts_with("no fences that may be placed");
                        assert!(known, "{papers:?} {}", about());
                    }
                    Inference::Unrepairable(_) => panic!("{papers:?} {}", about()),
                }
            }
            Some(Compared { needed: price > 0, abstracted })
        }
        Inference::Unrepairable(Unrepairable::OutOfReach { .. }) => {
            assert!(placements.is_empty(), "{placements:?} {}", about());
            Some(Compared { needed: true, abstracted: 0 })
        }
        Inference::Unrepairable(_) | Inference::GaveUp(_) => panic!("{}", about()),
    }
}

fn run(name: &str, menus: &[Menu], first: u64) {
    let (mut total, mut interesting, mut abstracted) = (0, 0, 0);
    for seed in seeds(PROGRAMS) {
        let seed = first + seed;
        for profile in Profile::ALL {
            let source = program(profile, seed).to_string();
            for menu in menus {
                let Some(compared) = compare(&source, name, menu, seed) else { continue };
                total += 1;
                interesting += usize::from(compared.needed);
                abstracted += compared.abstracted;
            }
        }
    }
    compared(&format!("placements under {name}: brute force"), total);
    assert!(interesting > 0, "no program needed fences");
    let some = abstracted > 0 || name == "rmo";
    assert!(some, "none were found under abstractions");
}

fn singles(model: &str) -> Menu {
    let all = Menu::of(&crate::common::model(model)).dishes;
    let single = |d: &Dish| *d != Dish::Fence(FenceKinds::FULL);
    Menu::only(&all.into_iter().map(|(d, _)| d).filter(single).collect::<Vec<_>>())
}

fn menus(model: &str) -> [Menu; 3] {
    let full = Dish::Fence(FenceKinds::FULL);
    [Menu::only(&[full]), singles(model), Menu::only(&[full, Dish::Drain])]
}

/// How many full fences a program of the corpus needs.
fn full_fences(file: &str, name: &str) -> usize {
    let source =
        std::fs::read_to_string(crate::common::corpus().join(file)).expect("a corpus program");
    let problems = lower_with_places(&source).expect("it compiles");
    let menu = Menu::only(&[Dish::Fence(FenceKinds::FULL)]);
    let candidates = Candidates::new(&problems, &menu, &Restrictions::default(), Written::Kept);
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let model = &model(name);
    let (engine, settings) = (&Explicit, Settings { max_buffer: Some(8), ..settings(2) });
    let (problems, candidates, all, abstraction) = (&problems, &candidates, false, None);
    let question = Question { problems, model, candidates, engine, settings, all, abstraction };
    match infer(question, budget) {
        Inference::Repaired(repair) => {
            // Where a thread stores and spins before its fence, explicit search proves nothing.
            let bounded = file.contains("burns") || file.contains("dijkstra");
            assert_eq!(repair.sufficiency != Sufficiency::Verified, bounded, "{file} {name}");
            assert!(repair.needed_for.iter().all(|need| need.violation.is_some()), "{file} {name}");
            repair.placements[0].atoms.len()
        }
        other => panic!("{file} {name}: {other:?}"),
    }
}

#[test]
fn mutual_exclusion_needs_as_many_full_fences_as_is_known() {
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
fn libraries_are_repaired_for_both_properties() {
    // A flag and data: what is put may be taken only when it is there. The put returns before its
    // stores are visible, which only real time notices.
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
    for (property, name, price) in [
        ("sequentially_consistent", "tso", 0),
        ("sequentially_consistent", "pso", 2),
        ("sequentially_consistent", "rmo", 2),
        ("linearizable", "tso", 5),
        ("linearizable", "pso", 7),
    ] {
        let problems = lower_with_places(&library(property)).expect("it compiles");
        let model = model(name);
        let menu = Menu::of(&model);
        let candidates = Candidates::new(&problems, &menu, &Restrictions::default(), Written::Kept);
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let budget = Budget { cancel: &cancel, progress: &progress };
        let question = Question {
            problems: &problems,
            model: &model,
            candidates: &candidates,
            engine: &Explicit,
            settings: settings(1),
            all: false,
            abstraction: None,
        };
        let said = infer(question, budget);
        let Inference::Repaired(repair) = &said else { panic!("{property} {name}: {said:?}") };
        assert_eq!(repair.price, price, "{property} {name}: {:?}", repair.placements);
        assert_eq!(repair.sufficiency, Sufficiency::Verified);
        let mut costs: Vec<u32> = Vec::new();
        let n = candidates.len().min(14);
        for bits in 0..1_usize << n {
            let chosen = Set::of(candidates.len(), (0..n).filter(|m| bits >> m & 1 == 1));
            let placement = candidates.placement(&chosen);
            let price = candidates.price(&placement);
            if price <= repair.price
                && problems.iter().all(|p| is_enough(p, &model, &placement) == Some(true))
            {
                costs.push(price);
            }
        }
        assert!(costs.iter().all(|cost| *cost >= repair.price), "{property} {name}: {costs:?}");
    }
}

#[test]
fn the_papers_method_is_never_cheaper_on_the_corpus() {
    let mut compared = 0;
    for file in [
        "papers/fender-fig2.fp",
        "mutex/peterson0-once.fp",
        "mutex/dekker0-once.fp",
        "mutex/bakery0-once.fp",
        "mutex/szymanski0-once.fp",
        "litmus/IRIW.fp",
        "litmus/W+RWC.fp",
        "structures/treiber.fp",
        "structures/vyset.fp",
        "structures/msn-queue.fp",
    ] {
        let source =
            std::fs::read_to_string(crate::common::corpus().join(file)).expect("of the corpus");
        for name in ["tso", "pso"] {
            let menu = Menu::of(&model(name));
            let price = |method| match answer_by(&source, name, &menu, method).0 {
                Inference::Repaired(repair) => Some(repair.price),
                Inference::Unrepairable(_) | Inference::GaveUp(_) => None,
            };
            if let (Some(lazy), Some(papers)) = (price(infer), price(papers::infer)) {
                assert!(lazy <= papers, "{file} {name}: {lazy} {papers}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 12, "only {compared} programs were repaired both ways");
}

/// Infers fences for a text.
fn answer(source: &str, name: &str, menu: &Menu) -> (Inference, Vec<Problem>, Candidates) {
    answer_by(source, name, menu, infer)
}

/// The same, by some method.
fn answer_by(
    source: &str,
    name: &str,
    menu: &Menu,
    method: fn(Question<'_>, Budget<'_>) -> Inference,
) -> (Inference, Vec<Problem>, Candidates) {
    let problems = lower_with_places(source).expect("it compiles");
    let model = model(name);
    let candidates = Candidates::new(&problems, menu, &Restrictions::default(), Written::Kept);
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let question = Question {
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
    (method(question, budget), problems, candidates)
}

const FREED: &str = "record Node { int v; } pool Node[2]; shared int x; shared Node first;
    init { a = new Node; first = a; }
    thread q { f = first; m = new Node; if (m == f) { r = x; assert(r == 1); } }";

#[test]
fn a_drain_adds_no_fault() {
    // Between the commit that a drain waits for and the drain, the record may be gone.
    let source = "record Node { int v; } pool Node[1]; shared Node first; shared int x;
        init { a = new Node; first = a; }
        thread p { n = first; n.v = 1; r = x; }
        thread q { x = 1; fence; f = first; s = f.v; if (s == 1) { free(f); } }
        final forall !(p.r == 0 && q.s == 0);";
    let full = Dish::Fence(FenceKinds::FULL);
    let (said, ..) = answer(source, "tso", &Menu::only(&[full, Dish::Drain]));
    let Inference::Repaired(repair) = &said else { panic!("{said:?}") };
    assert_eq!((repair.price, repair.sufficiency.clone()), (5, Sufficiency::Verified));
}

#[test]
fn a_drain_stands_where_its_address_has_a_name() {
    let source = "shared int a[2], flag;
        proc void put(int v) { a[v] = 1; }
        thread p { put(1); flag = 1; }
        thread q { f = flag; d = a[1]; assert(f == 0 || d == 1); }";
    let (_, problems, candidates) = answer(source, "pso", &Menu::only(&[Dish::Drain]));
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
fn four_kinds_at_one_place_are_a_full_fence() {
    // Only a full fence makes `free` wait.
    let singles = FenceKinds::SINGLE.map(|(kind, _)| Dish::Fence(kind));
    let source = format!("{FREED} thread p {{ n = first; x = 1; free(n); }}");
    let (said, ..) = answer(&source, "tso", &Menu::only(&singles));
    let Inference::Repaired(repair) = &said else { panic!("{said:?}") };
    assert_eq!((repair.price, repair.sufficiency.clone()), (10, Sufficiency::Verified));
    let some = "fence store_store, load_load, load_store;";
    let source = format!("{FREED} thread p {{ n = first; x = 1; {some} free(n); }}");
    let (said, ..) = answer(&source, "tso", &Menu::of(&model("tso")));
    let Inference::Repaired(repair) = &said else { panic!("{said:?}") };
    assert_eq!((repair.price, repair.sufficiency.clone()), (4, Sufficiency::Verified));
}

#[test]
fn a_run_is_replayed_with_the_room_it_was_found_with() {
    // With more room, a step fetches further and meets another assertion first.
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
    let (said, ..) = answer(&source, "rmo", &Menu::of(&model("rmo")));
    let Inference::Repaired(repair) = &said else { panic!("{said:?}") };
    assert_eq!((repair.price, repair.sufficiency.clone()), (6, Sufficiency::Verified));
}

#[test]
fn fences_may_take_away_what_a_final_exists_asks_for() {
    let source = "shared int x, y;
        thread p { x = 1; r = y; } thread q { y = 1; s = x; }
        final exists p.r == 0 && q.s == 0;
        final forall p.r == 1 || q.s == 1 || x + y == 3;";
    let (said, ..) = answer(source, "tso", &Menu::of(&model("tso")));
    assert!(
        matches!(said, Inference::Unrepairable(Unrepairable::NoWitness { problem: 0 })),
        "{said:?}"
    );
}

#[test]
fn many_equal_choices_are_no_burden() {
    let mut clauses = fencepost_infer::hitting::Clauses::over(80);
    for at in 0..16 {
        clauses.add(Set::of(80, at * 5..at * 5 + 5));
    }
    let costs = vec![1; 80];
    assert_eq!(clauses.cheapest(&costs).map(|set| set.len()), Some(16));
    assert_eq!(clauses.all_cheapest(&costs, 100).len(), 100);
}

#[test]
fn random_programs_get_the_cheapest_fences_under_tso() {
    run("tso", &menus("tso"), 0);
}

#[test]
fn random_programs_get_the_cheapest_fences_under_pso() {
    run("pso", &menus("pso"), 100);
}

#[test]
fn random_programs_get_the_cheapest_fences_under_rmo() {
    run("rmo", &menus("rmo"), 200);
}

/// An error in how clauses are made shows as a price or a placement that is not that of brute force, or as an
/// inference that does not go on.
#[test]
fn every_mutation_of_clauses_is_noticed() {
    let full = Dish::Fence(FenceKinds::FULL);
    for (mutation, menu) in [
        (Mutation::OnlyStoreLoad, Menu::only(&[full])),
        (Mutation::DrainsIgnored, Menu::only(&[full, Dish::Drain])),
        (Mutation::FencesBlockAll, Menu::only(&[full])),
    ] {
        let noticed = (0..40).any(|seed| {
            Profile::ALL.iter().any(|profile| {
                let source = program(*profile, seed).to_string();
                let compare = || compare_with(Mutated::by(mutation), &source, "pso", &menu, seed);
                caught(|| Ok(compare())).is_err()
            })
        });
        assert!(noticed, "{mutation:?} goes unnoticed");
    }
}
