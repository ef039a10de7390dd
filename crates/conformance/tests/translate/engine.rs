//! The engine that searches translations finds a violation if and only if the reference interpreter
//! does. Its evidence is a run of the original under the model and within the bound.

use crate::common::{check_with, lower, model, report_comparisons, seeds, settings};
use fencepost_conformance::reference::contexts::{self as reference, ContextReport};
use fencepost_engines::verdict::{InconclusiveReason, Unsupported};
use fencepost_engines::{Settings, Translate, Verdict};
use fencepost_ir::Violation;
use fencepost_ir::{BinOp, Condition, Expr, Op, Problem, Property, Span, ThreadId};
use fencepost_models::replay::{ReplayedStep, Trace, replay};
use fencepost_models::{Machine, MemoryModel, Reductions, Visitor};
use fencepost_search::Limits;
use fencepost_testkit::corpus;
use fencepost_testkit::is_campaign;
use fencepost_testkit::programs::{Profile, RandomProgram, bounded, program, shrink};
use fencepost_translate::contexts::Bound;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The maximum number of states of the original with contexts.
const MAX_STATES: usize = 4_000;
/// The maximum number of states of the translation.
const MAX_TRANSLATED_STATES: u64 = 20_000;

const MODELS: [(&str, reference::Model); 2] =
    [("tso", reference::Model::Tso), ("pso", reference::Model::Pso)];

#[derive(Clone, Debug, Default)]
struct Tally {
    violated: usize,
    no_violation: usize,
    /// Queries that were too large or not supported by the translation.
    cut: usize,
}

/// Returns the errors in the engine's answers for a program, for k up to 2.
fn check_answers(problem: &Problem, tally: &mut Tally) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, reference_model) in MODELS {
        for k in 0..=2 {
            for bound in [Bound::Switches(k), Bound::Ages(k)] {
                let reference_bound = match bound {
                    Bound::Switches(k) => reference::Bound::Switches(k as usize),
                    Bound::Ages(k) => reference::Bound::Ages(k as usize),
                };
                let expected =
                    reference::explore(problem, reference_model, reference_bound, MAX_STATES);
                if !expected.report.complete {
                    tally.cut += 1;
                    continue;
                }
                let check = || check_answer(problem, name, bound, &expected, tally);
                let checked = catch_unwind(AssertUnwindSafe(check));
                if let Err(text) = checked.unwrap_or_else(|_| Err("the engine panics".into())) {
                    wrong.push(format!("{name} {bound:?}: {text}"));
                }
            }
        }
    }
    wrong
}

fn check_answer(
    problem: &Problem,
    name: &str,
    bound: Bound,
    expected: &ContextReport,
    tally: &mut Tally,
) -> Result<(), String> {
    let limits = Limits { states: MAX_TRANSLATED_STATES, ..Limits::default() };
    let limited = Settings { limits, shortest: false, ..settings(1) };
    let answer = check_with(&Translate { bound }, problem, &model(name), limited);
    let report = &expected.report;
    let is_declared = problem.properties.contains(&Property::MutualExclusion);
    let is_correct = report.faults.is_empty()
        && report.assertion_failures.is_empty()
        && !(is_declared && report.mutual_exclusion_violated)
        && report.invariant_violations.is_empty()
        && expected.final_violations.is_empty();
    match &answer.verdict {
        Verdict::Violated(violated) => {
            tally.violated += 1;
            let evidence = violated.evidence();
            if !is_known(evidence.violation(), expected) {
                return Err(format!(
                    "{:?}, which the reference interpreter does not find",
                    evidence.violation()
                ));
            }
            let trace = evidence.trace().ok_or("the violation has no trace")?;
            model(name).visit(trace.replay_bound(), Replay { problem, trace, bound })
        }
        Verdict::Verified(_) => Err("verified, but a bounded search can verify nothing".into()),
        Verdict::Inconclusive(_) if answer.statistics.states >= MAX_TRANSLATED_STATES => {
            tally.cut += 1;
            Ok(())
        }
        Verdict::Inconclusive(_) if is_correct => {
            tally.no_violation += 1;
            Ok(())
        }
        Verdict::Inconclusive(inconclusive)
            if matches!(
                inconclusive.reason(),
                InconclusiveReason::Unsupported { reason: Unsupported::Translation(_) }
            ) =>
        {
            tally.cut += 1;
            Ok(())
        }
        Verdict::Inconclusive(reason) => Err(format!(
            "{:?}, but the reference interpreter finds {report:?} {:?}",
            reason.reason(),
            expected.final_violations
        )),
    }
}

/// Returns whether the reference interpreter has found the violation too.
fn is_known(violation: Violation, expected: &ContextReport) -> bool {
    let report = &expected.report;
    match violation {
        Violation::Fault(fault, ..) => report.faults.contains(&fault),
        Violation::Assertion(_, label) => {
            label.is_some_and(|label| report.assertion_failures.contains(&label))
        }
        Violation::MutualExclusion(..) => report.mutual_exclusion_violated,
        Violation::Invariant(at) => report.invariant_violations.contains(&at),
        Violation::Final(at) => expected.final_violations.contains(&at),
        Violation::Operations(_)
        | Violation::Hang
        | Violation::Livelock { .. }
        | Violation::NoWitness(_)
        | Violation::NotRobust
        | Violation::DataRace(_) => false,
    }
}

/// Replays a trace under the model and checks its contexts.
struct Replay<'a> {
    problem: &'a Problem,
    trace: &'a Trace,
    bound: Bound,
}

impl Visitor for Replay<'_> {
    type Output = Result<(), String>;

    fn visit<M: MemoryModel>(self, model: M) -> Self::Output {
        let machine = Machine::new(self.problem, model, Reductions::ALL);
        let run = replay(&machine, self.trace).map_err(|divergence| divergence.reason)?;
        if run.violation.is_none() {
            return Err("the trace does not end with a violation".into());
        }
        check_bound(self.problem, &run.steps, self.bound)
    }
}

/// Checks that a run respects the bound. Local steps and leaving a critical section belong to no
/// context: they could run directly after the previous step of their thread.
fn check_bound(problem: &Problem, steps: &[ReplayedStep], bound: Bound) -> Result<(), String> {
    let is_local = |replayed: &ReplayedStep| {
        let first = replayed.events.first().and_then(|annotated| annotated.event.pc);
        first.is_some_and(|pc| {
            let op = &problem.program.thread(replayed.step.thread).stmt(pc).op;
            op.is_local() || *op == Op::Leave
        })
    };
    let mut last: Option<ThreadId> = None;
    let mut contexts_begun: BTreeMap<ThreadId, u32> = BTreeMap::new();
    // By thread and location, oldest store first: the number of contexts begun since the store was
    // issued.
    let mut ages: BTreeMap<ThreadId, BTreeMap<_, Vec<u32>>> = BTreeMap::new();
    for replayed in steps.iter().filter(|replayed| !is_local(replayed)) {
        let t = replayed.step.thread;
        let pending = ages.entry(t).or_default();
        if last != Some(t) {
            last = Some(t);
            *contexts_begun.entry(t).or_default() += 1;
            pending.values_mut().flatten().for_each(|age| *age += 1);
            let oldest = pending.values().flatten().max().copied().unwrap_or(0);
            match bound {
                Bound::Switches(k) if contexts_begun[&t] > k + 1 => {
                    return Err(format!("{t} has {} contexts", contexts_begun[&t]));
                }
                Bound::Ages(k) if oldest > k => {
                    return Err(format!("a store of {t} is pending for {oldest} switches"));
                }
                Bound::Switches(_) | Bound::Ages(_) => {}
            }
        }
        let now = &replayed.pending[t.index()];
        let locations: Vec<_> = now.iter().map(|p| p.loc).chain(pending.keys().copied()).collect();
        for loc in locations {
            let count = now.iter().filter(|p| p.loc == loc).count();
            let of_location = pending.entry(loc).or_default();
            if of_location.len() > count {
                of_location.remove(0);
            }
            of_location.resize(count, 0);
        }
    }
    Ok(())
}

#[test]
fn litmus_programs_get_correct_answers_campaign() {
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    let every = if is_campaign() { 1 } else { 4 };
    for (at, (file, source)) in corpus::sources("litmus").iter().enumerate().step_by(every) {
        for problem in lower(source).expect("the corpus compiles") {
            let found = check_answers(&forbid_one_outcome(problem, at as u64), &mut tally);
            wrong.extend(found.iter().map(|text| format!("{file}: {text}")));
        }
    }
    println!("{tally:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tally.violated > 100 / every && tally.no_violation > 50 / every, "{tally:?}");
}

/// Checks the answers for random programs. `with_property` adds a property to each.
fn check_random(
    name: &str,
    programs: u64,
    draw: impl Fn(u64) -> RandomProgram,
    with_property: impl Fn(Problem, u64) -> Problem,
) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds(programs) {
        let drawn = draw(seed);
        let mut wrong = |source: &str| match lower(source) {
            Ok(mut problems) => check_answers(&with_property(problems.remove(0), seed), &mut tally),
            Err(_) => Vec::new(),
        };
        if wrong(&drawn.to_string()).is_empty() {
            continue;
        }
        let small = shrink(&drawn, |source| !wrong(source).is_empty()).to_string();
        panic!("{name} seed {seed}:\n{}\n{small}", wrong(&small).join("\n"));
    }
    println!("{name}: {tally:?}");
    report_comparisons(
        &format!("answers on {name} programs: translate"),
        (tally.violated + tally.no_violation) as u64,
    );
    tally
}

/// Adds the property that one of the outcomes under PSO never occurs.
fn forbid_one_outcome(mut problem: Problem, seed: u64) -> Problem {
    let pso = reference::Model::Pso;
    let outcomes =
        reference::explore(&problem, pso, reference::Bound::None, MAX_STATES).report.outcomes;
    let Some(outcome) = outcomes.iter().nth(seed as usize % outcomes.len().max(1)) else {
        return problem;
    };
    let binary = |op, a, b| Expr::Binary(op, Box::new(a), Box::new(b));
    let mut expr = Expr::Const(1);
    for (what, value) in problem.observed.iter().zip(outcome) {
        let same = binary(BinOp::Eq, Expr::Var(*what), Expr::Const(*value));
        expr = binary(BinOp::And, expr, same);
    }
    let condition = Condition { expr, text: format!("{outcome:?}"), span: Span::default() };
    problem.properties.push(Property::FinalNever(condition));
    problem
}

#[test]
fn random_final_conditions_get_correct_answers() {
    let tally = check_random("final-condition", 8, bounded, forbid_one_outcome);
    assert!(tally.violated > 3 && tally.no_violation > 3, "{tally:?}");
}

#[test]
fn random_assertions_and_faults_get_correct_answers() {
    let tally =
        check_random("straight", 12, |seed| program(Profile::Straight, seed), |problem, _| problem);
    assert!(tally.violated > 0 && tally.no_violation > 3, "{tally:?}");
}

#[test]
fn random_mixed_programs_get_correct_answers() {
    let tally = check_random("mixed", 8, |seed| program(Profile::Mixed, seed), forbid_one_outcome);
    assert!(tally.violated > 3 && tally.no_violation > 0, "{tally:?}");
}
