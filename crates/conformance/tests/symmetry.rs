//! Searches that store one state for each order of interchangeable threads give the same verdicts as
//! searches that store all states and as the reference interpreter.
//!
//! - *Verdicts*: the same verdict, shortest traces of the same length, and every trace replays.
//! - *States*: the representatives of all reachable states are exactly the states of the search with
//!   representatives.
//! - *Analysis*: programs that are symmetric, and programs that are almost symmetric.

use crate::common::{Replay, check, corpus, lower, model, report_comparisons, seeds, settings};
use fencepost_conformance::reference::{Model, Report, explore as reference};
use fencepost_engines::{Answer, Settings, Verdict};
use fencepost_ir::symmetry::Symmetry;
use fencepost_ir::{Problem, Property};
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_models::symmetry::Symmetric;
use fencepost_models::{Machine, MemoryModel, Reductions, Visitor};
use fencepost_search::{Cancel, Coverage, Exploration, Limits, Options, Progress, explore};
use fencepost_testkit::programs::interchangeable;
use fencepost_testkit::{catch_panic, problem};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// The bound on pending stores.
const BOUND: u32 = 2;
/// Programs with more states than this are skipped.
const MAX_STATES: u64 = 30_000;
/// The models that support the reduction, and the same models in the reference interpreter.
const MODELS: [(&str, Model); 3] = [("sc", Model::Sc), ("tso", Model::Tso), ("pso", Model::Pso)];

fn search<T: fencepost_search::TransitionSystem>(system: &T) -> Exploration {
    let (cancel, progress) = (&Cancel::default(), &Progress::default());
    let limits = Limits { states: MAX_STATES, ..Limits::default() };
    let threads = NonZeroUsize::MIN;
    explore(system, Options { limits, cancel, progress, threads, stop_at: None })
}

/// Returns the states of a search.
fn states(found: &Exploration) -> BTreeSet<Vec<u8>> {
    (0..found.states as u32).map(|at| found.state(found.node(at)).to_vec()).collect()
}

/// Compares the states of a search of representatives with the representatives of all states.
struct CompareStates<'a> {
    problem: &'a Problem,
    mutated: Mutated,
}

/// The numbers of states with all states and with representatives, if both searches end.
type Sizes = Option<(u64, u64)>;

impl Visitor for CompareStates<'_> {
    type Output = Result<Sizes, String>;

    fn visit<M: MemoryModel>(self, model: M) -> Self::Output {
        let reductions = Reductions { partial_order: false, ..Reductions::ALL };
        let mut machine = Machine::new(self.problem, model, reductions);
        machine.mutated = self.mutated;
        let Some(symmetry) = Symmetry::of(self.problem) else { return Ok(None) };
        let Some(symmetric) = Symmetric::new(&machine, &symmetry) else { return Ok(None) };
        let (all, fewer) = (search(&machine), search(&symmetric));
        let is_complete = |found: &Exploration| {
            matches!(found.coverage, Coverage::Exhaustive | Coverage::Bounded)
        };
        if !is_complete(&all) || !is_complete(&fewer) {
            return Ok(None);
        }
        let all_states = states(&all);
        let expected: BTreeSet<Vec<u8>> =
            all_states.iter().map(|state| symmetric.representative(state)).collect();
        let found = states(&fewer);
        if !found.is_subset(&all_states) {
            return Err("a representative is not reachable".into());
        }
        let show = |state: &Vec<u8>| {
            let mut unpacked = machine.blank();
            machine.unpack(state, &mut unpacked);
            format!("{unpacked:?}")
        };
        if let Some(missing) = expected.difference(&found).next() {
            return Err(format!("the search misses the representative {}", show(missing)));
        }
        if let Some(extra) = found.difference(&expected).next() {
            return Err(format!("the search stores another state: {}", show(extra)));
        }
        if all.target(0).is_some() != fewer.target(0).is_some() {
            return Err("only one search finds a violation".into());
        }
        Ok(Some((all.states, fewer.states)))
    }
}

fn compare_states(problem: &Problem, name: &str, mutated: Mutated) -> Result<Sizes, String> {
    catch_panic(|| model(name).visit(BOUND, CompareStates { problem, mutated }))
}

/// Returns whether the reference interpreter finds a violation of a property other than those of final
/// states, which it does not check.
fn is_wrong(problem: &Problem, report: &Report) -> bool {
    let is_declared = |property| problem.properties.contains(&property);
    !report.faults.is_empty()
        || !report.assertion_failures.is_empty()
        || !report.invariant_violations.is_empty()
        || (is_declared(Property::MutualExclusion) && report.mutual_exclusion_violated)
        || (!problem.may_hang && report.hang)
}

/// Checks a problem with and without the reduction. Returns the difference, if any.
fn difference(problem: &Problem, name: &str, reference_model: Model) -> Option<String> {
    let with = |symmetry| {
        let reductions = Reductions { symmetry, ..Reductions::ALL };
        let limits = Limits { states: MAX_STATES, ..Limits::default() };
        let fixed_buffer = Some(BOUND);
        check(problem, &model(name), Settings { reductions, limits, fixed_buffer, ..settings(1) })
    };
    let (all, fewer) = (with(false), with(true));
    // A search of fewer states reaches a limit later, and partial-order reduction a bound.
    let is_decided = |answer: &Answer| answer.verdict.inconclusive().is_none();
    if !is_decided(&all) || !is_decided(&fewer) {
        return None;
    }
    if all.verdict.word() != fewer.verdict.word() {
        return Some(format!("{} and {}", all.verdict.word(), fewer.verdict.word()));
    }
    let length = |answer: &Answer| Some(answer.verdict.evidence()?.run()?.trace.steps.len());
    if length(&all) != length(&fewer) {
        return Some(format!("runs of {:?} and {:?} steps", length(&all), length(&fewer)));
    }
    if let Some(run) = fewer.verdict.evidence().and_then(|evidence| evidence.run()) {
        let trace = &run.trace;
        if model(name).visit(BOUND, Replay { problem, trace }) != Ok(true) {
            return Some("the trace does not replay to a violation".into());
        }
    }
    let report = reference(problem, reference_model, BOUND as usize, MAX_STATES as usize);
    let is_verified = matches!(fewer.verdict, Verdict::Verified(_));
    if is_verified && is_wrong(problem, &report) {
        return Some(format!("the engine misses a violation: {report:?}"));
    }
    None
}

#[test]
fn random_programs_have_the_same_verdicts_with_representatives() {
    let (mut compared, mut symmetric) = (0, 0);
    for seed in seeds(250) {
        let text = interchangeable(seed);
        let problem = problem(&text);
        symmetric += u64::from(Symmetry::of(&problem).is_some());
        for (name, reference_model) in MODELS {
            if let Some(difference) = difference(&problem, name, reference_model) {
                panic!("{name}: {difference}\n{text}");
            }
            compared += 1;
        }
    }
    assert!(symmetric > 0, "some program has interchangeable threads");
    report_comparisons("programs and models with interchangeable threads", compared);
}

#[test]
fn random_programs_have_the_representatives_of_all_states() {
    let (mut all, mut fewer, mut compared) = (0, 0, 0);
    for seed in seeds(250) {
        let text = interchangeable(seed);
        let problem = problem(&text);
        for (name, _) in MODELS {
            match compare_states(&problem, name, Mutated::NONE) {
                Ok(None) => {}
                Ok(Some(sizes)) => {
                    all += sizes.0;
                    fewer += sizes.1;
                    compared += 1;
                }
                Err(difference) => panic!("{name}: {difference}\n{text}"),
            }
        }
    }
    assert!(compared > 0 && fewer < all, "{fewer} of {all} states");
    report_comparisons("searches with representatives", compared);
}

#[test]
fn mutations_of_the_reduction_are_detected() {
    let mutations = [
        Mutation::SymmetryIgnoresInitialStates,
        Mutation::SymmetryIgnoresPendingStores,
        Mutation::SymmetryIgnoresValues,
    ];
    for mutation in mutations {
        let is_detected = (0..400).any(|seed| {
            let problem = problem(&interchangeable(seed));
            MODELS
                .iter()
                .any(|(name, _)| compare_states(&problem, name, Mutated::with(mutation)).is_err())
        });
        assert!(is_detected, "{mutation:?}");
    }
}

/// Returns the sizes of the groups of the first problem of a text, and whether the initial states
/// permit the reduction.
fn groups(text: &str) -> (Vec<usize>, bool) {
    struct Applies<'a>(&'a Problem, &'a Symmetry);
    impl Visitor for Applies<'_> {
        type Output = bool;

        fn visit<M: MemoryModel>(self, model: M) -> bool {
            let machine = Machine::new(self.0, model, Reductions::ALL);
            Symmetric::new(&machine, self.1).is_some()
        }
    }
    let problem = problem(text);
    match Symmetry::of(&problem) {
        Some(symmetry) => {
            let sizes = symmetry.groups.iter().map(|group| group.threads.len()).collect();
            (sizes, model("tso").visit(BOUND, Applies(&problem, &symmetry)))
        }
        None => (Vec::new(), false),
    }
}

/// A program in which each of three threads stores its number to `owner` and to its own flag.
fn template(first: &str, statement: &str, property: &str) -> String {
    format!(
        "shared int x; shared bool flag[4]; shared int(0..=3) owner = {first};
         thread p(i in 1..4) {{
           int(0..=3) r = 0; bool b = false; int s = 0;
           flag[i] = true; owner = i; r = owner; b = cas(owner, r, 0);
           {statement}
         }}
         {property}"
    )
}

#[test]
fn symmetric_programs_have_groups() {
    let all = (vec![3], true);
    assert_eq!(groups(&template("0", "", "")), all);
    assert_eq!(groups(&template("0", "if (r != 0) b = flag[r];", "")), all);
    assert_eq!(groups(&template("0", "critical { skip; }", "property mutual_exclusion;")), all);
    let never = "final never (p(2).b && p(3).b && p(1).b);";
    assert_eq!(groups(&template("0", "", never)), all);
    assert_eq!(groups(&template("0", "", "final exists (owner == 0);")), all);
}

#[test]
fn almost_symmetric_programs_have_fewer_groups() {
    let none = (vec![], false);
    // The initial value belongs to a thread.
    assert_eq!(groups(&template("2", "", "")), (vec![3], false));
    // The numbers of threads are ordered or computed with.
    assert_eq!(groups(&template("0", "if (r < i) s = 1;", "")), none);
    assert_eq!(groups(&template("0", "s = r + 1;", "")), none);
    assert_eq!(groups(&template("0", "x = i; s = x + 1;", "")), none);
    // The neighbour of a thread.
    assert_eq!(groups(&template("0", "flag[1 + i % 3] = true;", "")), none);
    // Every thread visits all threads in the same order.
    let visits = "for (int j = 1; j < 4; j++) { b = flag[j]; if (b) break; }";
    assert_eq!(groups(&template("0", visits, "")), none);
    // One thread has a role or a property of its own. The others are interchangeable.
    let others = (vec![2], true);
    assert_eq!(groups(&template("0", "if (r == 1) s = 1;", "")), others);
    assert_eq!(groups(&template("0", "", "final never (p(2).b);")), others);
    assert_eq!(groups(&template("0", "", "final forall (owner != 3);")), others);
}

#[test]
fn two_templates_have_two_groups() {
    let text = "shared int x; shared bool flag[3];
                thread p(i in 0..2) { flag[i] = true; x = 1; }
                thread q(i in 0..3) { r = x; x = r == 0 ? 1 : 2; }
                finally { s = x; }";
    assert_eq!(groups(text), (vec![2, 3], true));
    for (name, _) in MODELS {
        let (all, fewer) = sizes(text, name);
        assert!(fewer * 5 < all, "{name}: {fewer} of {all} states");
    }
}

/// A queue lock without its fence is violated under PSO. The run names real threads, and it does not
/// depend on the number of search threads.
#[test]
fn violations_are_shown_as_shortest_runs() {
    let text = bench_program("clh.fp", 3).replace("fence; // repair", "");
    let problem = problem(&text);
    let run = |symmetry, threads| {
        let reductions = Reductions { symmetry, ..Reductions::ALL };
        let answer = check(&problem, &model("pso"), Settings { reductions, ..settings(threads) });
        let evidence = answer.verdict.evidence().expect("a violation");
        let trace = evidence.run().expect("a run").trace.clone();
        assert_eq!(model("pso").visit(8, Replay { problem: &problem, trace: &trace }), Ok(true));
        (answer.statistics.states, trace)
    };
    let (all, fewer) = (run(false, 1), run(true, 1));
    assert!(fewer.0 * 2 < all.0, "{} of {} states", fewer.0, all.0);
    assert_eq!(fewer.1.steps.len(), all.1.steps.len());
    assert_eq!(run(true, 2), fewer);
}

#[test]
fn outcomes_are_complete() {
    let problem = problem(
        "shared int(0..=3) owner;
         thread p(i in 1..4) { owner = i; r = owner; }
         observe owner, p(1).r, p(2).r, p(3).r;",
    );
    let outcomes = |symmetry| {
        let reductions = Reductions { symmetry, ..Reductions::ALL };
        crate::common::outcomes(&problem, &model("tso"), Settings { reductions, ..settings(1) })
    };
    let (all, with) = (outcomes(false), outcomes(true));
    assert!(with.outcomes_complete);
    assert_eq!(all.outcomes, with.outcomes);
    let checked = check(&problem, &model("tso"), settings(1));
    assert!(!checked.outcomes_complete && checked.outcomes.len() < all.outcomes.len());
}

/// Returns the numbers of states of a file of the corpus, with all states and with representatives.
fn sizes(text: &str, name: &str) -> (u64, u64) {
    compare_states(&problem(text), name, Mutated::NONE).expect("no difference").expect("symmetric")
}

#[test]
fn locks_have_fewer_states() {
    let clh = bench_program("clh.fp", 3);
    for name in ["sc", "tso"] {
        let (all, fewer) = sizes(&clh, name);
        assert!(fewer * 5 < all, "{name}: {fewer} of {all} states");
    }
    for file in ["mutex/tas-lock.fp", "mutex/ticket-lock.fp", "mutex/ttas-lock.fp"] {
        let text = std::fs::read_to_string(corpus().join(file)).expect("the file exists");
        let (all, fewer) = sizes(&text, "tso");
        assert!(fewer * 3 < all * 2, "{file}: {fewer} of {all} states");
    }
}

/// Returns a benchmark program for this number of threads.
fn bench_program(file: &str, threads: usize) -> String {
    let path = corpus().join("../bench/programs").join(file);
    let text = std::fs::read_to_string(path).expect("the file exists");
    text.replace("const N = 4;", &format!("const N = {threads};"))
}

#[test]
fn corpus_programs_have_the_representatives_of_all_states() {
    let mut compared = 0;
    for folder in ["mutex", "orders", "regress", "structures", "waiting", "litmus"] {
        for (file, source) in fencepost_testkit::corpus::sources(folder) {
            for problem in &lower(&source).expect("the program compiles") {
                for (name, _) in MODELS {
                    match compare_states(problem, name, Mutated::NONE) {
                        Ok(sizes) => compared += u64::from(sizes.is_some()),
                        Err(difference) => panic!("{file} under {name}: {difference}"),
                    }
                }
            }
        }
    }
    report_comparisons("corpus searches with representatives", compared);
}
