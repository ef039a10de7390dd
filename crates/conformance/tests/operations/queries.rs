//! Queries to the specification of operations: it explains exactly the final states that the
//! enumeration of all orders explains, and it gives no answer beyond its limits.

use super::problem;
use crate::common::{check_with, model, report_comparisons, seeds, settings};
use fencepost_conformance::reference::Orders;
use fencepost_engines::{
    Abstraction, Auto, Automata, Bound, Engine, Explicit, InconclusiveReason, Robust, RobustMethod,
    Settings, Stateless,
};
use fencepost_ir::{
    Consistency, Loc, Observable, Operations, Problem, Property, Reg, ThreadId, Value,
};
use fencepost_models::coherence::Domain;
use fencepost_models::shape::Shape;
use fencepost_models::specification::{Specification, possible_results};
use fencepost_search::{Cancel, Limits, Stop, WorkLimits};
use fencepost_testkit::Random;
use std::collections::{BTreeMap, BTreeSet};

/// The number of final states drawn for each client.
const OBSERVATIONS: usize = 40;

/// Bodies and attributes of operations with results, for the random libraries.
const WITH_RESULT: [(&str, &str); 8] = [
    ("", "r = fetch_add(x, 1); return r;"),
    (", repeats", "r = fetch_add(x, 1); return r;"),
    (", aborts 0", "r = x; x = 1 - r; return r;"),
    (", repeats, aborts 2", "r = x; x = y; y = r; return r;"),
    ("", "r = choose(0..=2); x = r; return r;"),
    (", aborts 1", "r = y; assume(r < 2); y = r + 1; return r;"),
    ("", "r = x; assert(r < 3); return r;"),
    ("", "r = 0; if (x > y) r = 1; return r;"),
];

/// Bodies of operations without a result.
const WITHOUT_RESULT: [&str; 3] = ["x = 1;", "r = x; y = r;", "atomic { x = y; y = 0; }"];

/// Draws a library with three operations, `a`, `b` and `c`.
fn random_library(random: &mut Random) -> String {
    let mut library = String::from("shared int x, y;\n");
    if random.percent(30) {
        library += "init { y = choose(0..=1); }\n";
    }
    for letter in ["a", "b", "c"] {
        library += &if random.percent(70) {
            let (attributes, body) = WITH_RESULT[random.below(WITH_RESULT.len())];
            format!("operation int op_{letter}() as {letter}{attributes} {{ int r; {body} }}\n")
        } else {
            let body = WITHOUT_RESULT[random.below(WITHOUT_RESULT.len())];
            format!("operation void op_{letter}() as {letter} {{ int r; {body} }}\n")
        };
    }
    library
}

/// Draws a client of up to three threads and six operations.
fn random_client(random: &mut Random) -> String {
    let threads = random.within(1, 3);
    let thread = |random: &mut Random| -> String {
        (0..random.within(1, 6 / threads)).map(|_| random.pick(&["a", "b", "c"])).collect()
    };
    let parts = (0..threads).map(|_| thread(random)).collect::<Vec<_>>().join("|");
    if random.percent(30) { format!("{}({parts})", random.pick(&["a", "b"])) } else { parts }
}

fn operations(problem: &Problem) -> &Operations {
    let mut properties = problem.properties.iter();
    let found = properties.find_map(|property| match property {
        Property::Operations(operations) => Some(operations),
        Property::Assertions
        | Property::MutualExclusion
        | Property::Invariant(_)
        | Property::FinalForall(_)
        | Property::FinalNever(_)
        | Property::DeadlockFree
        | Property::Progress => None,
    });
    found.expect("the problem has a property of operations")
}

/// Draws the registers of a final state: small results, and numbers of returned operations.
fn random_registers(
    random: &mut Random,
    operations: &Operations,
) -> BTreeMap<(ThreadId, Reg), Value> {
    let mut registers = BTreeMap::new();
    for (thread, all) in &operations.threads {
        for operation in all {
            if let Some((_, reg)) = operation.result {
                registers.insert((*thread, reg), random.below(3) as Value);
            }
            for (_, reg) in &operation.seen {
                registers.insert((*thread, *reg), random.below(3) as Value / 2);
            }
        }
    }
    registers
}

#[test]
fn random_final_states_are_explained_as_by_the_enumeration_of_all_orders() {
    let mut compared = [0, 0];
    for seed in seeds(120) {
        let random = &mut Random::new(seed);
        let (library, client) = (random_library(random), random_client(random));
        for consistency in [Consistency::Sequential, Consistency::Linearizable] {
            let problem = problem(&library, &client, consistency);
            let operations = operations(&problem);
            let orders = Orders::all(&problem.program, operations);
            let shape = Shape::new(&problem, false);
            let specification = Specification::new(operations);
            for _ in 0..OBSERVATIONS {
                let registers = random_registers(random, operations);
                let first = operations.first.iter().map(|loc| (*loc, random.below(3) as Value));
                let first: BTreeMap<Loc, Value> = first.collect();
                let value = |what| match what {
                    Observable::Reg(thread, reg) => registers[&(thread, reg)],
                    Observable::Loc(loc) => first[&loc],
                    Observable::At(..) => unreachable!("only invariants mention control points"),
                };
                let expected = orders.can_explain(operations, &|what: &Observable| value(*what));
                // The second query gets the stored answer.
                for _ in 0..2 {
                    let limits = WorkLimits::default();
                    let answer = specification.explains(&shape, operations, &limits, &value);
                    let about = || format!("seed {seed}, {client}, {registers:?}\n{library}");
                    assert_eq!(answer, Ok(expected), "{}", about());
                }
                compared[usize::from(expected)] += 1;
            }
        }
    }
    assert!(compared.iter().all(|count| *count > 0), "both answers occur: {compared:?}");
    report_comparisons("queries about operations", compared.iter().sum());
}

#[test]
fn random_clients_return_the_possible_results() {
    for seed in seeds(60) {
        let random = &mut Random::new(seed);
        let (library, client) = (random_library(random), random_client(random));
        let problem = problem(&library, &client, Consistency::Sequential);
        let operations = operations(&problem);
        let shape = Shape::new(&problem, false);
        let possible = possible_results(&shape, operations, usize::MAX).expect("no limit");
        let specification = Specification::new(operations);
        let registers = (operations.threads.iter()).flat_map(|(t, all)| {
            all.iter().filter_map(|op| Some(Observable::Reg(*t, op.result?.1)))
        });
        let first = operations.first.iter().map(|loc| Observable::Loc(*loc));
        let registers: Vec<Observable> = first.chain(registers).collect();
        let is_explained = |results: &[Value]| {
            let value = |what| {
                let at = registers.iter().position(|known| *known == what);
                results[at.expect("only results are read")]
            };
            specification.explains(&shape, operations, &WorkLimits::default(), &value)
        };
        let drawn = (0..OBSERVATIONS)
            .map(|_| registers.iter().map(|_| random.below(3) as Value).collect::<Vec<Value>>());
        let drawn: BTreeSet<Vec<Value>> = drawn.collect();
        for results in drawn.union(&possible) {
            let expected = possible.contains(results);
            let about = || format!("seed {seed}, {client}, {results:?}\n{library}");
            assert_eq!(is_explained(results), Ok(expected), "{}", about());
        }
        assert_eq!(possible_results(&shape, operations, 0), None, "seed {seed}: no room");
    }
}

/// A client whose violation needs many states of the specification. Each `a` may abort, so the
/// orders leave many memories. The results of `n` are wrong in every order.
fn hard_client(consistency: Consistency) -> Problem {
    let library = "shared int x, y;
        operation int grow(int v) as a, aborts 0 { int r = x; x = 3 * r + v; return 0; }
        operation int next() as n { int r = y; y = r + 1; return r; }";
    problem(library, "aaaaaaaaaaaaaan|n", consistency)
}

fn engines() -> Vec<(&'static str, Box<dyn Engine>)> {
    vec![
        ("explicit", Box::new(Explicit)),
        ("abstraction", Box::new(Abstraction { domain: Domain::Full, k: 1 })),
        ("automata", Box::new(Automata::DEFAULT)),
        ("auto", Box::new(Auto)),
        ("stateless", Box::new(Stateless::default())),
        ("preemptions", Box::new(Stateless { preemptions: Some(2) })),
        ("attack", Box::new(Robust::by(RobustMethod::Attack))),
    ]
}

#[test]
fn a_query_beyond_its_memory_makes_the_verdict_inconclusive() {
    let problem = hard_client(Consistency::Sequential);
    let limited =
        Settings { limits: Limits { bytes: 8 << 20, ..Limits::default() }, ..settings(1) };
    for (name, engine) in engines() {
        let verdict = check_with(&*engine, &problem, &model("sc"), settings(1)).verdict;
        assert!(verdict.evidence().is_some(), "{name}: {}", verdict.word());
        let verdict = check_with(&*engine, &problem, &model("sc"), limited).verdict;
        let expected = match name {
            // Without preemptions, every query fits into the memory.
            "preemptions" => {
                InconclusiveReason::Bound { bound: Bound::Preemptions(0), witness_missing: false }
            }
            _ => InconclusiveReason::Limit(Stop::Memory),
        };
        assert_eq!(verdict.inconclusive_reason(), Some(&expected), "{name}: {}", verdict.word());
    }
}

#[test]
fn a_cancelled_query_has_no_answer() {
    for consistency in [Consistency::Sequential, Consistency::Linearizable] {
        let problem = hard_client(consistency);
        let (operations, shape) = (operations(&problem), Shape::new(&problem, false));
        let specification = Specification::new(operations);
        let cancel = Cancel::default();
        let limits = WorkLimits { cancel: cancel.clone(), ..WorkLimits::default() };
        cancel.interrupt();
        let answer = specification.explains(&shape, operations, &limits, &|_| 0);
        assert_eq!(answer, Err(Stop::Interrupted));
        let limits = WorkLimits { bytes: 1 << 10, ..WorkLimits::default() };
        let answer = specification.explains(&shape, operations, &limits, &|_| 0);
        assert_eq!(answer, Err(Stop::Memory));
        let answer = specification.explains(&shape, operations, &WorkLimits::default(), &|_| 0);
        assert_eq!(answer, Ok(false), "an error is not stored as an answer");
    }
}

#[test]
fn a_client_with_many_possible_results_is_checked() {
    // 2^24 combinations of results are possible.
    let library = "shared int x;
        operation int next() as n, repeats { int r = fetch_add(x, 1); return r; }";
    let client = "n".repeat(24);
    let problem = problem(library, &client, Consistency::Sequential);
    let verdict = check_with(&Explicit, &problem, &model("sc"), settings(1)).verdict;
    assert!(verdict.is_verified());
    let shape = Shape::new(&problem, false);
    assert_eq!(possible_results(&shape, operations(&problem), 1_000), None);
}
