//! Violations under `arm`: failed assertions, critical sections and faults of random programs.
//!
//! A violation ends a run in the middle, while accesses are pending and locations are held. Whether
//! there is one follows from the outcomes of the program without the property, which the axioms give:
//!
//! - An assertion at the end of a thread about its registers fails if an outcome has other values.
//! - Two threads that enter a critical section at their end, if their registers have certain values,
//!   are in it at the same time if an outcome has these values: a thread may stay in the section.
//! - A load faults if its register, which is set only once, has a smaller range than the value in
//!   some outcome.
//! - A store faults if its location has a smaller range than a value that is written. A further
//!   thread that only loads the location can read every such value.

use super::Outcomes;
use crate::common::{Replay, check, model, report_comparisons, seeds, settings};
use fencepost_conformance::axiomatic;
use fencepost_engines::Verdict;
use fencepost_ir::{
    BinOp, Expr, Loc, Observable, Op, Pc, Problem, Property, Reg, Stmt, ThreadId, Type, UnOp, Value,
};
use fencepost_models::arm::Arm;
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::mutation::Mutated;
use fencepost_models::{Machine, ModelSpec, Reductions};
use fencepost_search::{Cancel, Coverage, Limits, Options, Progress, explore};
use fencepost_testkit::Random;
use fencepost_testkit::programs::{ArmProgram, arm};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// The usual number of random programs.
const PROGRAMS: u64 = 120;

/// The number of values of each kind that are tried for a thread.
const TRIED: usize = 2;

/// Registers of a thread with values.
type Values = Vec<(Reg, Value)>;

/// A property of a program, and whether it is violated.
struct Case {
    problem: Problem,
    is_violated: bool,
    description: String,
}

/// Returns the position in an outcome of an observable.
fn position(problem: &Problem, what: Observable) -> usize {
    let at = problem.observed.iter().position(|other| *other == what);
    at.expect("the observable is observed")
}

/// Returns whether the registers have these values in an outcome.
fn has_values(problem: &Problem, outcome: &[Value], t: ThreadId, values: &Values) -> bool {
    let is = |(reg, value): &(Reg, Value)| {
        outcome[position(problem, Observable::Reg(t, *reg))] == *value
    };
    values.iter().all(is)
}

/// Returns the observed registers of a thread.
fn registers(problem: &Problem, t: ThreadId) -> Vec<Reg> {
    let of_thread = |what: &Observable| match what {
        Observable::Reg(thread, reg) if *thread == t => Some(*reg),
        Observable::Reg(..) | Observable::Loc(_) | Observable::At(..) => None,
    };
    problem.observed.iter().filter_map(of_thread).collect()
}

/// Returns values of all registers of a thread: some that an outcome has, and some that none has,
/// though each of them occurs.
fn tried_values(
    random: &mut Random,
    problem: &Problem,
    outcomes: &Outcomes,
    t: ThreadId,
) -> Vec<Values> {
    let registers = registers(problem, t);
    let at = |reg: &Reg| position(problem, Observable::Reg(t, *reg));
    let of = |outcome: &Vec<Value>| -> Values {
        registers.iter().map(|reg| (*reg, outcome[at(reg)])).collect()
    };
    let occurring: BTreeSet<Values> = outcomes.iter().map(of).collect();
    let occurring: Vec<Values> = occurring.into_iter().collect();
    if occurring.is_empty() || registers.is_empty() {
        return Vec::new();
    }
    let mut tried = BTreeSet::new();
    for _ in 0..TRIED {
        tried.insert(occurring[random.below(occurring.len())].clone());
    }
    for _ in 0..8 * TRIED {
        let any = |at: usize| occurring[random.below(occurring.len())][at];
        let mixed: Values = (0..registers.len()).map(any).collect();
        if !occurring.contains(&mixed) && tried.len() < 2 * TRIED {
            tried.insert(mixed);
        }
    }
    tried.into_iter().collect()
}

/// Returns the condition that registers have these values.
fn condition(values: &Values) -> Expr<Reg> {
    let equals = |(reg, value): &(Reg, Value)| {
        Expr::Binary(BinOp::Eq, Box::new(Expr::Var(*reg)), Box::new(Expr::Const(*value)))
    };
    let and = |a, b| Expr::Binary(BinOp::And, Box::new(a), Box::new(b));
    values.iter().map(equals).reduce(and).expect("a thread with registers")
}

/// Replaces the end of a thread by statements. Their successors are relative to the first one; one
/// more than the last one is the end.
fn append(problem: &mut Problem, t: ThreadId, statements: Vec<(Op, bool)>) {
    let code = &mut problem.program.threads[t.index()].code;
    let halts: Vec<usize> = (0..code.len()).filter(|at| matches!(code[*at].op, Op::Halt)).collect();
    let start = code.len();
    for at in halts {
        code[at].op = Op::Skip;
        code[at].next = Pc::from_index(start);
    }
    let label = code[0].label;
    let mut at = start;
    for (mut op, critical) in statements {
        if let Op::Branch { then, otherwise, .. } = &mut op {
            *then = Pc::from_index(start + then.index());
            *otherwise = Pc::from_index(start + otherwise.index());
        }
        at += 1;
        code.push(Stmt { label, op, next: Pc::from_index(at), critical });
    }
    code.push(Stmt { label, op: Op::Halt, next: Pc::from_index(at), critical: false });
}

/// Returns the assertions about the registers of each thread.
fn assertions(random: &mut Random, problem: &Problem, outcomes: &Outcomes) -> Vec<Case> {
    let mut cases = Vec::new();
    for t in problem.program.thread_ids() {
        for values in tried_values(random, problem, outcomes, t) {
            let cond = Expr::Unary(UnOp::Not, Box::new(condition(&values)));
            let mut asserted = problem.clone();
            append(&mut asserted, t, vec![(Op::Assert(cond), false)]);
            asserted.properties.push(Property::Assertions);
            let mut all = outcomes.iter();
            let is_violated = all.any(|outcome| has_values(problem, outcome, t, &values));
            let description = format!("assertion of thread {} about {values:?}", t.index());
            cases.push(Case { problem: asserted, is_violated, description });
        }
    }
    cases
}

/// Returns pairs of critical sections of the first two threads.
fn critical_sections(random: &mut Random, problem: &Problem, outcomes: &Outcomes) -> Vec<Case> {
    let threads = [ThreadId(0), ThreadId(1)];
    let tried = threads.map(|t| tried_values(random, problem, outcomes, t));
    let mut cases = Vec::new();
    for (first, second) in tried[0].iter().flat_map(|a| tried[1].iter().map(move |b| (a, b))) {
        let mut guarded = problem.clone();
        for (t, values) in threads.into_iter().zip([first, second]) {
            let cond = condition(values);
            let (then, otherwise) = (Pc::from_index(1), Pc::from_index(3));
            let enters = (Op::Branch { cond, then, otherwise }, false);
            append(&mut guarded, t, vec![enters, (Op::Skip, true), (Op::Leave, true)]);
        }
        guarded.properties.push(Property::MutualExclusion);
        let is_violated = outcomes.iter().any(|outcome| {
            has_values(problem, outcome, threads[0], first)
                && has_values(problem, outcome, threads[1], second)
        });
        let description = format!("critical sections if {first:?} and {second:?}");
        cases.push(Case { problem: guarded, is_violated, description });
    }
    cases
}

/// Returns the faults of loads and updates: a register has a smaller range.
fn register_ranges(random: &mut Random, problem: &Problem, outcomes: &Outcomes) -> Vec<Case> {
    let t = ThreadId::from_index(random.below(problem.program.threads.len()));
    let mut cases = Vec::new();
    let code = &problem.program.thread(t).code;
    let is_set_once =
        |reg: &Reg| code.iter().filter(|stmt| stmt.op.target() == Some(*reg)).count() == 1;
    for reg in registers(problem, t).into_iter().filter(is_set_once) {
        let at = position(problem, Observable::Reg(t, reg));
        let largest = random.below(3) as Value;
        let mut restricted = problem.clone();
        let register = &mut restricted.program.threads[t.index()].registers[reg.index()];
        register.ty = Type::Int { range: Some((0, largest)) };
        let is_violated = outcomes.iter().any(|outcome| outcome[at] > largest);
        let description = format!("register {} of thread {} <= {largest}", reg.index(), t.index());
        cases.push(Case { problem: restricted, is_violated, description });
    }
    cases
}

/// Returns the faults of stores and updates: a location has a smaller range.
fn location_ranges(random: &mut Random, program: &ArmProgram) -> Vec<Case> {
    let mut cases = Vec::new();
    for (at, name) in ["x", "y"].into_iter().enumerate() {
        let observed: ArmProgram =
            format!("{program} | ldr r0 {name}").parse().expect("a well-formed program");
        let observed = observed.problem();
        let Ok(outcomes) = axiomatic::arm_outcomes(&observed) else { continue };
        let observer = ThreadId::from_index(observed.program.threads.len() - 1);
        let read =
            position(&observed, Observable::Reg(observer, registers(&observed, observer)[0]));
        let last = position(&observed, Observable::Loc(Loc::from_index(at)));
        let written = outcomes.iter().flat_map(|outcome| [outcome[read], outcome[last]]);
        let written: BTreeSet<Value> = written.collect();
        let largest = random.below(4) as Value;
        let mut problem = program.problem();
        problem.program.locations[at].ty = Type::Int { range: Some((0, largest)) };
        let is_violated = written.iter().any(|value| *value > largest);
        let description = format!("location {name} <= {largest}");
        cases.push(Case { problem, is_violated, description });
    }
    cases
}

/// Returns all cases of a program. `None` if it is too large for the axioms.
fn cases(seed: u64, program: &ArmProgram) -> Option<Vec<Case>> {
    let problem = program.problem();
    let outcomes = axiomatic::arm_outcomes(&problem).ok()?;
    let mut random = Random::new(seed);
    let mut all = assertions(&mut random, &problem, &outcomes);
    all.extend(critical_sections(&mut random, &problem, &outcomes));
    all.extend(register_ranges(&mut random, &problem, &outcomes));
    all.extend(location_ranges(&mut random, program));
    Some(all)
}

/// Compares the verdict of the engine, and replays the trace of a violation.
fn compare(model: &ModelSpec, case: &Case) -> Result<(), String> {
    let answer = check(&case.problem, model, settings(1));
    match answer.verdict {
        Verdict::Violated(violated) => {
            let trace = &violated.evidence().run().expect("a violation has a run").trace;
            let replayed = Replay { problem: &case.problem, trace };
            assert_eq!(model.visit(trace.replay_bound(), replayed), Ok(true));
            if case.is_violated { Ok(()) } else { Err("wrongly violated".into()) }
        }
        Verdict::Verified(_) if case.is_violated => Err("the violation is not found".into()),
        Verdict::Verified(_) => Ok(()),
        Verdict::Inconclusive(_) => Err("no verdict".into()),
    }
}

#[test]
fn violations_of_random_programs_follow_from_their_outcomes() {
    let model = model("arm");
    let mut compared = [0, 0];
    for seed in seeds(PROGRAMS) {
        let program = arm(seed);
        for case in cases(seed, &program).into_iter().flatten() {
            if let Err(difference) = compare(&model, &case) {
                panic!("seed {seed}: {program}: {}: {difference}", case.description);
            }
            compared[usize::from(case.is_violated)] += 1;
        }
    }
    report_comparisons("properties of random programs under arm", compared[0] + compared[1]);
    assert!(compared.iter().all(|count| *count > 0), "{compared:?}");
}

/// A search of the model that forgets must not prove a program that has a violation.
#[test]
fn forgetting_verifies_no_violated_program() {
    let (mut verified, mut refuted) = (0, 0);
    for seed in seeds(PROGRAMS) {
        let program = arm(seed);
        for case in cases(seed, &program).into_iter().flatten() {
            for bound in [1, 2, 3] {
                let is_verified = is_verified_by_forgetting(&case.problem, bound);
                assert!(
                    !(is_verified && case.is_violated),
                    "seed {seed}: {program}: {} with {bound} entries",
                    case.description
                );
                *(if is_verified { &mut verified } else { &mut refuted }) += 1;
            }
        }
    }
    report_comparisons("properties under arm with windows that forget", verified + refuted);
    assert!(verified > 0 && refuted > 0, "{verified} and {refuted}");
}

fn is_verified_by_forgetting(problem: &Problem, bound: u32) -> bool {
    let model = Arm::forgetting(bound, Mutated::NONE);
    let machine = Machine::new(problem, model, Reductions::ALL).without_outcomes();
    let (cancel, progress) = (&Cancel::default(), &Progress::default());
    let (limits, threads) = (Limits::default(), NonZeroUsize::MIN);
    let stop_at = Some(VIOLATION);
    let found = explore(&machine, Options { limits, cancel, progress, threads, stop_at });
    found.coverage == Coverage::Exhaustive && found.target(VIOLATION).is_none()
}

/// Programs whose violations were reported wrongly or not at all.
#[test]
fn a_violation_counts_if_its_pending_accesses_can_be_completed() {
    let arm = model("arm");
    for (source, is_violated) in [
        // The write that fails ends the hold of its location.
        ("shared int(0..=2) x; thread p { n = fetch_sub(x, 1); }", true),
        // The accesses behind a statement that fails need not be completed.
        ("shared int x, y; thread p { a = x; b = 1 / a; r = y.fetch_add(b, relaxed); }", true),
        // Each thread would have to write first.
        (
            "shared int x, y, z;
             thread p {
               x.store(1, relaxed); r = y.fetch_add(1, release); z.store(1 - r, relaxed);
             }
             thread q {
               y.store(1, relaxed); c = z.load(relaxed); r = x.fetch_add(1, release);
               assert(!(c == 1 && r == 0));
             }",
            false,
        ),
    ] {
        let problem = fencepost_testkit::problem(source);
        let case = Case { problem, is_violated, description: String::new() };
        assert_eq!(compare(&arm, &case), Ok(()), "{source}");
    }
}
