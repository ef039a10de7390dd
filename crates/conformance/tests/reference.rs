//! The reference interpreter by itself: litmus tests with known answers, and relations between
//! models.

use std::collections::BTreeSet;

use fencepost_conformance::reference::{Model, Report, Table, explore};
use fencepost_ir::{Fault, Problem, Value};
use fencepost_testkit::programs::{Profile, RandomProgram, program, shrink};
use fencepost_testkit::{is_campaign, lower, problem, report_comparisons, seeds};

const MAX_STATES: usize = 200_000;

/// Builds a program with shared `x`, `y`, `z` and `a[2]`. Each text is the body of a thread `t0`,
/// `t1`, ...
fn litmus(threads: &[&str], observe: &str) -> Problem {
    let mut source = "shared int x, y, z, a[2];\n".to_string();
    for (at, body) in threads.iter().enumerate() {
        source += &format!("thread t{at} {{ {body} }}\n");
    }
    problem(&format!("{source}observe {observe};"))
}

/// Returns the models with their names, weakest last. Names of table-driven models end in `*`.
fn models() -> Vec<(&'static str, Model)> {
    vec![
        ("sc", Model::Sc),
        ("sc*", Model::Table(Table::SC)),
        ("370*", Model::Table(Table::IBM370)),
        ("tso", Model::Tso),
        ("tso*", Model::Table(Table::TSO)),
        ("pso", Model::Pso),
        ("pso*", Model::Table(Table::PSO)),
        ("nospec*", Model::Table(Table::RMO_NOSPEC)),
        ("rmo*", Model::Table(Table::RMO)),
    ]
}

/// Checks that exactly the models named in `allowed` have the outcome.
#[track_caller]
fn check(threads: &[&str], observe: &str, outcome: &[Value], allowed: &str) {
    let problem = litmus(threads, observe);
    let mut found = Vec::new();
    for (name, model) in models() {
        let report = explore(&problem, model, 8, MAX_STATES);
        assert!(report.complete && !report.bound_hit && report.faults.is_empty(), "{name}");
        if report.outcomes.contains(outcome) {
            found.push(name);
        }
    }
    assert_eq!(found.join(" "), allowed, "{observe} = {outcome:?} of {threads:?}");
}

const ALL: &str = "sc sc* 370* tso tso* pso pso* nospec* rmo*";
const NOT_SC: &str = "370* tso tso* pso pso* nospec* rmo*";
const NOT_TSO: &str = "pso pso* nospec* rmo*";
const RMO: &str = "nospec* rmo*";
const SPECULATION: &str = "rmo*";

#[test]
fn store_buffering_is_forbidden_by_store_load_fences() {
    let sb = |fence: &str| [format!("x = 1; {fence} r0 = y;"), format!("y = 1; {fence} r0 = x;")];
    for (fence, allowed) in [
        ("", NOT_SC),
        ("fence;", ""),
        ("fence store_load;", ""),
        ("fence store_load, load_load;", ""),
        ("fence store_store, load_load, load_store;", NOT_SC),
        ("fence store_store; fence load_load;", NOT_SC),
        ("drain z;", NOT_SC),
        // An update is ordered after earlier stores under TSO. Under PSO it is ordered only after
        // earlier stores to its own location.
        ("r1 = swap(z, 1);", NOT_TSO),
    ] {
        let [p, q] = sb(fence);
        check(&[&p, &q], "t0.r0, t1.r0", &[0, 0], allowed);
    }
    check(&["x = 1; drain x; r0 = y;", "y = 1; drain y; r0 = x;"], "t0.r0, t1.r0", &[0, 0], "");
}

#[test]
fn message_passing_needs_order_between_stores_and_between_loads() {
    let observe = "t1.r0, t1.r1";
    check(&["x = 1; y = 1;", "r0 = y; r1 = x;"], observe, &[1, 0], NOT_TSO);
    let writer = "x = 1; fence store_store; y = 1;";
    check(&[writer, "r0 = y; r1 = x;"], observe, &[1, 0], RMO);
    check(&[writer, "r0 = y; fence load_load; r1 = x;"], observe, &[1, 0], "");
    check(&[writer, "r0 = y; fence load_store; r1 = x;"], observe, &[1, 0], RMO);
    // Without speculation, a branch waits for its condition, and the load waits for the branch.
    check(&[writer, "r0 = y; r1 = 5; if (r0 == 1) r1 = x;"], observe, &[1, 0], SPECULATION);
    // An update of y overtakes the store to x only if the model allows W->W.
    check(&["x = 1; r0 = swap(y, 1);", "r0 = y; r1 = x;"], observe, &[1, 0], NOT_TSO);
}

#[test]
fn load_buffering_is_allowed_under_rmo_only() {
    let observe = "t0.r0, t1.r0";
    check(&["r0 = x; y = 1;", "r0 = y; x = 1;"], observe, &[1, 1], RMO);
    check(&["r0 = x; fence load_store; y = 1;", "r0 = y; x = 1;"], observe, &[1, 1], RMO);
    let fenced = ["r0 = x; fence load_store; y = 1;", "r0 = y; fence load_store; x = 1;"];
    check(&fenced, observe, &[1, 1], "");
    // There are no out-of-thin-air values, and false dependencies order accesses.
    check(&["r0 = x; y = r0;", "r0 = y; x = r0;"], observe, &[1, 1], "");
    check(&["r0 = x; y = r0 - r0 + 1;", "r0 = y; x = r0 - r0 + 1;"], observe, &[1, 1], "");
}

#[test]
fn independent_reads_of_independent_writes_are_reordered_under_rmo_only() {
    let observe = "t2.r0, t2.r1, t3.r0, t3.r1";
    let plain = ["x = 1;", "y = 1;", "r0 = x; r1 = y;", "r0 = y; r1 = x;"];
    check(&plain, observe, &[1, 0, 1, 0], RMO);
    let fence = "fence load_load;";
    let left = format!("r0 = x; {fence} r1 = y;");
    let right = format!("r0 = y; {fence} r1 = x;");
    check(&["x = 1;", "y = 1;", &left, &right], observe, &[1, 0, 1, 0], "");
}

#[test]
fn every_model_is_coherent() {
    check(&["x = 1;", "r0 = x; r1 = x;"], "t1.r0, t1.r1", &[1, 0], "");
    check(&["x = 1; x = 2;", "r0 = x; r1 = x;"], "t1.r0, t1.r1", &[2, 1], "");
    check(&["x = 1; x = 2;"], "x", &[1], "");
    check(&["r0 = x; x = 1;"], "t0.r0", &[1], "");
    check(&["x = 1; r0 = x;"], "t0.r0", &[0], "");
    check(&["x = 1; r0 = cas(x, 1, 2);"], "x", &[1], "");
}

#[test]
fn litmus_tests_with_final_memory_have_their_known_answers() {
    // n6: only models with forwarding.
    let n6 = ["x = 1; r0 = x; r1 = y;", "y = 2; x = 2;"];
    check(&n6, "x, t0.r0, t0.r1", &[1, 1, 0], "tso tso* pso pso* nospec* rmo*");
    check(&["x = 1; y = 1;", "y = 2; r0 = x;"], "y, t1.r0", &[2, 0], NOT_SC);
    check(&["x = 2; y = 1;", "r0 = y; x = 1;"], "x, t1.r0", &[2, 1], NOT_TSO);
    check(&["x = 1; y = 2;", "y = 1; x = 2;"], "x, y", &[1, 1], NOT_TSO);
    let fenced = ["x = 1; fence store_store; y = 2;", "y = 1; fence store_store; x = 2;"];
    check(&fenced, "x, y", &[1, 1], "");
}

#[test]
fn dependencies_order_accesses() {
    // Address dependency: the second load waits for the first.
    let writer = "a[1] = 1; fence store_store; y = 1;";
    check(&[writer, "r0 = y; r1 = a[r0];"], "t1.r0, t1.r1", &[1, 0], "");
    check(&[writer, "r0 = y; r1 = a[1];"], "t1.r0, t1.r1", &[1, 0], RMO);
    // An access with an unknown address blocks accesses that may be to the same location ...
    check(&["r0 = y; a[r0] = 1; r1 = a[1];", "y = 1;"], "t0.r0, t0.r1", &[1, 0], "");
    // ... and no others: the load of x need not wait for the load of y.
    let reader = "r0 = y; a[r0] = 1; r1 = x;";
    check(&[reader, "x = 1; fence store_store; y = 1;"], "t0.r0, t0.r1", &[1, 0], RMO);
    // A load reads the youngest store to its location. The values of older stores need not be
    // known.
    let reader = "r0 = y; x = r0; x = 2; r1 = x; z = r1;";
    check(&[reader, "r0 = z; fence; y = r0;"], "t0.r0, t0.r1", &[2, 2], RMO);
    check(&["r0 = y; x = r0; r1 = x; z = r1;", "r0 = z; fence; y = 2;"], "t0.r1", &[0], ALL);
    let reader = "r0 = y; x = r0; r1 = x; z = 1;";
    check(&[reader, "r0 = z; fence; y = r0;"], "t0.r0, t0.r1", &[1, 1], RMO);
    check(&[reader, "r0 = z; fence; y = r0;"], "t0.r0, t0.r1", &[1, 0], "");
    // Re-use of a register does not order accesses.
    let reader = "r0 = y; z = r0; r0 = x;";
    check(&["x = 1; fence store_store; y = 1;", reader], "z, t1.r0", &[1, 0], RMO);
}

#[test]
fn control_dependencies_order_stores_but_not_loads() {
    let writer = "x = 1; fence store_store; y = 1;";
    let observe = "t1.r0, t1.r1";
    check(&[writer, "r0 = y; if (r0 == 1) { r1 = x; }"], observe, &[1, 0], SPECULATION);
    check(&[writer, "r0 = y; assume(r0 == 1); r1 = x;"], observe, &[1, 0], SPECULATION);
    check(&[writer, "r0 = y; fence load_load; if (r0 == 1) { r1 = x; }"], observe, &[1, 0], "");
    check(&[writer, "r0 = y; if (r0 == 1) { fence load_load; r1 = x; }"], observe, &[1, 0], "");
    check(
        &[writer, "r0 = y; if (r0 == 1) { fence load_store; r1 = x; }"],
        observe,
        &[1, 0],
        SPECULATION,
    );
    check(&[writer, "r0 = y; if (r0 == 1) { fence; r1 = x; }"], observe, &[1, 0], "");
    // Data and address dependencies of a speculative load.
    check(
        &[writer, "r0 = y; if (r0 == 1) { r1 = x; r1 = a[r1]; z = r1; }"],
        "t1.r0, t1.r1",
        &[1, 1],
        "",
    );
    // A speculative load may read a speculative store; the store is not visible.
    check(
        &["r0 = y; if (r0 == 1) { z = 1; r1 = z; }", "r0 = z; fence; y = r0;"],
        "t0.r0, t0.r1",
        &[1, 1],
        "",
    );
    let stores = ["r0 = x; if (r0 == 1) { y = 1; }", "r0 = y; if (r0 == 1) { x = 1; }"];
    check(&stores, "t0.r0, t1.r0", &[1, 1], "");
    let updates = ["r0 = x; if (r0 == 1) { r1 = swap(y, 1); }", "r0 = y; fence; x = r0;"];
    check(&updates, "t0.r0, t1.r0", &[1, 1], "");
    // Wrong guesses have no effect.
    check(&["r0 = y; if (r0 == 1) { x = 1; }", "skip;"], "x, t0.r0", &[1, 0], "");
}

fn explore_completely(source: &str, model: Model) -> Report {
    let report = explore(&problem(source), model, 4, MAX_STATES);
    assert!(report.complete);
    report
}

#[test]
fn a_load_after_a_store_load_fence_does_not_wait_for_later_stores() {
    // The load waits for x = 1 only. y = 1 may still be pending.
    let source = "shared int x, y, z;
        thread p { x = 1; fence store_load; y = 1; r0 = z; }
        thread q { z = 1; fence; r0 = y; }
        observe p.r0, q.r0;";
    for (name, model) in models() {
        let weak = explore_completely(source, model).outcomes.contains(&vec![0, 0]);
        assert_eq!(weak, !name.starts_with("sc"), "{name}");
    }
}

#[test]
fn faults_and_failed_assertions_end_a_run() {
    for (name, model) in models() {
        let report =
            explore_completely("shared int x; thread p { r0 = x; assert(r0 == 1); x = 2; }", model);
        assert_eq!(report.assertion_failures.len(), 1, "{name}");
        assert!(report.outcomes.is_empty() && report.faults.is_empty() && !report.deadlock);
        let faults: [(&str, Fault); 7] = [
            ("int r0 = 1 / x;", Fault::DivisionByZero),
            ("a[x + 2] = 1;", Fault::OutOfBounds),
            ("small = x + 3;", Fault::OutOfRange),
            ("n = new Node; n = new Node;", Fault::PoolExhausted),
            ("n = head; n.v = 1;", Fault::NullReference),
            ("n = new Node; free(n); n.v = 1;", Fault::UseAfterFree),
            ("n = new Node; free(n); free(n);", Fault::DoubleFree),
        ];
        for (body, fault) in faults {
            let source = format!(
                "record Node {{ int v; }} pool Node[1]; shared Node head;
                 shared int x, a[2]; shared int(0..=2) small; thread p {{ {body} }}"
            );
            let report = explore_completely(&source, model);
            assert_eq!(report.faults, BTreeSet::from([fault]), "{name}: {body}");
            assert!(report.outcomes.is_empty(), "{name}: {body}");
        }
    }
}

#[test]
fn a_pending_store_to_a_freed_record_faults() {
    let source = "record Node { int v; } pool Node[1]; shared Node head; shared int done;
        init { head = new Node; }
        thread p { n = head; n.v = 1; done = 1; }
        thread q { r0 = done; if (r0 == 1) { n = head; free(n); } }
        observe done;";
    for (name, model) in models() {
        let faults = explore_completely(source, model).faults;
        let weak = NOT_TSO.split(' ').any(|weak| weak == name);
        assert_eq!(faults.contains(&Fault::UseAfterFree), weak, "{name}");
    }
}

#[test]
fn atomic_blocks_run_in_one_step_or_block() {
    for (name, model) in models() {
        let counter =
            "shared int x; thread p(i in 0..2) { atomic { r0 = x; x = r0 + 1; } } observe x;";
        assert_eq!(
            explore_completely(counter, model).outcomes,
            BTreeSet::from([vec![2]]),
            "{name}"
        );

        let blocking = "shared int x; thread p { x = 1; }
            thread q { atomic { r0 = x; assume(r0 == 1); x = 2; } }
            property deadlock_free; observe x;";
        let report = explore_completely(blocking, model);
        assert_eq!(report.outcomes, BTreeSet::from([vec![2]]), "{name}");
        assert!(!report.deadlock, "{name}");

        let stuck = "shared int x; thread q { atomic { r0 = x; assume(r0 == 1); } } observe x;";
        let report = explore_completely(stuck, model);
        assert!(report.deadlock && report.outcomes.is_empty(), "{name}");

        let choice = "shared int x;
            thread q { atomic { r0 = choose(0..=3); assume(r0 != 1); x = r0; } } observe x;";
        let outcomes = explore_completely(choice, model).outcomes;
        assert_eq!(outcomes, BTreeSet::from([vec![0], vec![2], vec![3]]), "{name}");

        let endless = "shared int x; thread q { atomic { while (x == 0) skip; } } observe x;";
        assert_eq!(
            explore_completely(endless, model).faults,
            BTreeSet::from([Fault::BlockTooLong]),
            "{name}"
        );
    }
}

#[test]
fn violations_of_mutual_exclusion_and_invariants_are_found() {
    let dekker = |fence: &str| {
        format!(
            "shared bool want[2];
             thread p(i in 0..2) {{
               want[i] = true; {fence}
               w = want[1 - i];
               if (!w) {{ critical {{ skip; }} }}
             }}
             property mutual_exclusion;
             invariant !want[0] || !want[1];
             observe want[0];"
        )
    };
    for (name, model) in models() {
        let report = explore_completely(&dekker(""), model);
        assert_eq!(report.mutual_exclusion_violated, !name.starts_with("sc"), "{name}");
        assert_eq!(report.invariant_violations.len(), 1, "{name}");
        let report = explore_completely(&dekker("fence store_load;"), model);
        assert!(!report.mutual_exclusion_violated, "{name}");
    }
}

#[test]
fn an_effective_bound_is_reported() {
    let source = "shared int x; thread p { while (choose(0..=1) == 1) { x = 1; } } observe x;";
    for (name, model) in models() {
        let report = explore(&problem(source), model, 3, MAX_STATES);
        assert!(report.complete && !report.deadlock, "{name}");
        assert_eq!(report.bound_hit, name != "sc", "{name}");
        assert_eq!(report.outcomes.len(), 2, "{name}");
    }
    let report = explore(&problem(source), Model::Tso, 3, 4);
    assert!(!report.complete);
    assert_eq!(report.states, 4);
}

/// Returns all behaviours of a report, as one set of texts.
fn behaviours(report: &Report) -> BTreeSet<String> {
    let mut all: BTreeSet<String> = BTreeSet::new();
    all.extend(report.outcomes.iter().map(|outcome| format!("outcome {outcome:?}")));
    all.extend(report.faults.iter().map(|fault| format!("fault {fault:?}")));
    all.extend(report.assertion_failures.iter().map(|label| format!("assertion {label}")));
    all.extend(report.invariant_violations.iter().map(|at| format!("invariant {at}")));
    all.extend(report.operation_violations.iter().map(|at| format!("operations {at}")));
    all.extend(report.mutual_exclusion_violated.then(|| "mutual exclusion".to_string()));
    all.extend(report.deadlock.then(|| "deadlock".to_string()));
    all.extend(report.hang.then(|| "hang".to_string()));
    all
}

/// Panics with the smallest program found for which `wrong` returns an error message.
fn shrink_and_panic(program: &RandomProgram, wrong: impl Fn(&Problem) -> Option<String>) -> ! {
    let what = |source: &str| lower(source).ok().and_then(|problems| wrong(&problems[0]));
    let small = shrink(program, |source| what(source).is_some()).to_string();
    panic!("{}\n{small}", what(&small).expect("the shrunk program fails"));
}

/// The number of programs of each profile.
const PROGRAMS: u64 = 20;

/// Runs a check on random programs. `check` returns an error message, or `None` if the program is
/// too large to decide. At least a third of the programs must be decided.
fn on_random_programs(
    profile: Profile,
    what: &str,
    check: impl Fn(&Problem) -> Result<(), Option<String>>,
) {
    let (mut decided, mut drawn) = (0, 0);
    for seed in seeds(if is_campaign() { 2 * PROGRAMS } else { PROGRAMS }) {
        let program = program(profile, seed);
        drawn += 1;
        match check(&problem(&program.to_string())) {
            Ok(()) => decided += 1,
            Err(None) => {}
            Err(Some(_)) => shrink_and_panic(&program, |problem| check(problem).err().flatten()),
        }
    }
    report_comparisons(&format!("programs of {profile:?}: {what}"), decided);
    assert!(decided * 3 >= drawn, "{profile:?}: only {decided} of {drawn} programs were decided");
}

const RANDOM_STATES: usize = 20_000;
const RANDOM_BOUND: usize = 6;

/// Returns the report, or an error if the search was cut short.
fn complete_report(problem: &Problem, model: Model) -> Result<Report, Option<String>> {
    let report = explore(problem, model, RANDOM_BOUND, RANDOM_STATES);
    if report.complete { Ok(report) } else { Err(None) }
}

#[test]
fn random_programs_keep_the_behaviours_of_stronger_models() {
    let chain = [
        ("sc", Model::Sc),
        ("tso", Model::Tso),
        ("pso", Model::Pso),
        ("rmo-nospec", Model::Table(Table::RMO_NOSPEC)),
        ("rmo", Model::Table(Table::RMO)),
    ];
    for profile in Profile::ALL {
        on_random_programs(profile, "models", |problem| {
            let mut stronger = ("", Report::default());
            for (name, model) in chain {
                let report = complete_report(problem, model)?;
                if report.bound_hit {
                    return Err(None);
                }
                let (before, now) = (behaviours(&stronger.1), behaviours(&report));
                let lost: Vec<&String> = before.difference(&now).collect();
                if !lost.is_empty() {
                    return Err(Some(format!(
                        "allowed under {}, but not under {name}: {lost:?}",
                        stronger.0
                    )));
                }
                stronger = (name, report);
            }
            Ok(())
        });
    }
}

#[test]
fn random_programs_have_the_same_outcomes_under_tables() {
    let pairs = [
        ("sc", Model::Sc, Table::SC),
        ("tso", Model::Tso, Table::TSO),
        ("pso", Model::Pso, Table::PSO),
    ];
    for profile in Profile::ALL {
        for (name, dedicated, table) in pairs {
            on_random_programs(profile, name, |problem| {
                let dedicated = complete_report(problem, dedicated)?;
                let table = complete_report(problem, Model::Table(table))?;
                if dedicated.bound_hit || table.bound_hit {
                    return Err(None);
                }
                if dedicated.outcomes != table.outcomes {
                    return Err(Some(format!(
                        "outcomes differ between {name} and its table: {:?}",
                        dedicated.outcomes.symmetric_difference(&table.outcomes)
                    )));
                }
                Ok(())
            });
        }
    }
}
