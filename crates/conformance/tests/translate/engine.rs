//! The engine that searches translations, judged: it finds something wrong exactly where the interpreter
//! does, and what it reports is a run of the original under the model and within the bound.

use crate::common::{check_with, compared, lower, model, seeds, settings};
use fencepost_conformance::reference::contexts::{self as reference, Reached};
use fencepost_engines::verdict::{InconclusiveReason, Unsupported};
use fencepost_engines::{Settings, Translate, Verdict};
use fencepost_ir::Violation;
use fencepost_ir::{BinOp, Condition, Expr, Op, Problem, Property, Span, ThreadId};
use fencepost_models::replay::{Moment, Trace, replay};
use fencepost_models::{Machine, MemoryModel, Reductions, Visitor};
use fencepost_search::Limits;
use fencepost_testkit::corpus;
use fencepost_testkit::is_campaign;
use fencepost_testkit::programs::{Profile, RandomProgram, bounded, program, shrink};
use fencepost_translate::contexts::Bound;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// States of the original, with its contexts counted, and of the translation.
const STATES: usize = 4_000;
const TRANSLATED: u64 = 20_000;

const MODELS: [(&str, reference::Model); 2] =
    [("tso", reference::Model::Tso), ("pso", reference::Model::Pso)];

#[derive(Clone, Debug, Default)]
struct Tally {
    violated: usize,
    fine: usize,
    /// One side was too large, or does not translate.
    cut: usize,
}

/// What is wrong with the engine's answers about a program, for k up to 2.
fn judge(problem: &Problem, tally: &mut Tally) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, reading) in MODELS {
        for k in 0..=2 {
            for bound in [Bound::Switches(k), Bound::Ages(k)] {
                let counted = match bound {
                    Bound::Switches(k) => reference::Bound::Switches(k as usize),
                    Bound::Ages(k) => reference::Bound::Ages(k as usize),
                };
                let expected = reference::explore(problem, reading, counted, STATES);
                if !expected.report.complete {
                    tally.cut += 1;
                    continue;
                }
                let asked = || ask(problem, name, bound, &expected, tally);
                let judged = catch_unwind(AssertUnwindSafe(asked));
                if let Err(text) = judged.unwrap_or_else(|_| Err("it panics".into())) {
                    wrong.push(format!("{name} {bound:?}: {text}"));
                }
            }
        }
    }
    wrong
}

fn ask(
    problem: &Problem,
    name: &str,
    bound: Bound,
    expected: &Reached,
    tally: &mut Tally,
) -> Result<(), String> {
    let limits = Limits { states: TRANSLATED, ..Limits::default() };
    let within = Settings { limits, shortest: false, ..settings(1) };
    let answer = check_with(&Translate { bound }, problem, &model(name), within);
    let report = &expected.report;
    let exclusive = problem.properties.contains(&Property::MutualExclusion);
    let right = report.faults.is_empty()
        && report.assertion_failures.is_empty()
        && !(exclusive && report.mutual_exclusion_violated)
        && report.invariant_violations.is_empty()
        && expected.broken.is_empty();
    match &answer.verdict {
        Verdict::Violated(violated) => {
            tally.violated += 1;
            let evidence = violated.evidence();
            if !is_known(evidence.violation(), expected) {
                return Err(format!("{:?}, which cannot be", evidence.violation()));
            }
            let trace = evidence.trace().ok_or("a violation without a run")?;
            model(name).visit(trace.room(), Replay { problem, trace, bound })
        }
        Verdict::Verified(_) => Err("nothing can be verified within a bound".into()),
        Verdict::Inconclusive(_) if answer.statistics.states >= TRANSLATED => {
            tally.cut += 1;
            Ok(())
        }
        Verdict::Inconclusive(_) if right => {
            tally.fine += 1;
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
            "{:?}, although there is {report:?} {:?}",
            reason.reason(),
            expected.broken
        )),
    }
}

/// Whether the interpreter has found it, too.
fn is_known(violation: Violation, expected: &Reached) -> bool {
    let report = &expected.report;
    match violation {
        Violation::Fault(fault, ..) => report.faults.contains(&fault),
        Violation::Assertion(_, label) => {
            label.is_some_and(|label| report.assertion_failures.contains(&label))
        }
        Violation::MutualExclusion(..) => report.mutual_exclusion_violated,
        Violation::Invariant(at) => report.invariant_violations.contains(&at),
        Violation::Final(at) => expected.broken.contains(&at),
        Violation::Operations(_)
        | Violation::Deadlock
        | Violation::NoWitness(_)
        | Violation::NotRobust => false,
    }
}

/// Replays a run under the model and counts its contexts.
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
            return Err("nothing is wrong at the end of the run".into());
        }
        within(self.problem, &run.moments, self.bound)
    }
}

/// Whether a run keeps to the bound. Steps that are local, and leaving a critical section, are in
/// no context: they could as well come right behind the step of their thread before them.
fn within(problem: &Problem, moments: &[Moment], bound: Bound) -> Result<(), String> {
    let local = |moment: &Moment| {
        let first = moment.events.first().and_then(|told| told.event.pc);
        first.is_some_and(|pc| {
            let op = &problem.program.thread(moment.step.thread).stmt(pc).op;
            op.is_local() || *op == Op::Leave
        })
    };
    let mut last: Option<ThreadId> = None;
    let mut begun: BTreeMap<ThreadId, u32> = BTreeMap::new();
    // By thread and location, oldest first: how many contexts pending stores have seen begin.
    let mut ages: BTreeMap<ThreadId, BTreeMap<_, Vec<u32>>> = BTreeMap::new();
    for moment in moments.iter().filter(|moment| !local(moment)) {
        let t = moment.step.thread;
        let pending = ages.entry(t).or_default();
        if last != Some(t) {
            last = Some(t);
            *begun.entry(t).or_default() += 1;
            pending.values_mut().flatten().for_each(|age| *age += 1);
            let oldest = pending.values().flatten().max().copied().unwrap_or(0);
            match bound {
                Bound::Switches(k) if begun[&t] > k + 1 => {
                    return Err(format!("{t} has {} contexts", begun[&t]));
                }
                Bound::Ages(k) if oldest > k => {
                    return Err(format!("a store of {t} is pending for {oldest} switches"));
                }
                Bound::Switches(_) | Bound::Ages(_) => {}
            }
        }
        let now = &moment.pending[t.index()];
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
fn litmus_campaign() {
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    let every = if is_campaign() { 1 } else { 4 };
    for (at, (file, source)) in corpus::sources("litmus").iter().enumerate().step_by(every) {
        for problem in lower(source).expect("the corpus compiles") {
            let found = judge(&never(problem, at as u64), &mut tally);
            wrong.extend(found.iter().map(|text| format!("{file}: {text}")));
        }
    }
    println!("{tally:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tally.violated > 100 / every && tally.fine > 50 / every, "{tally:?}");
}

/// Judges random programs, each with what is claimed about it.
fn random(
    name: &str,
    programs: u64,
    draw: impl Fn(u64) -> RandomProgram,
    claim: impl Fn(Problem, u64) -> Problem,
) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds(programs) {
        let drawn = draw(seed);
        let mut wrong = |source: &str| match lower(source) {
            Ok(mut problems) => judge(&claim(problems.remove(0), seed), &mut tally),
            Err(_) => Vec::new(),
        };
        if wrong(&drawn.to_string()).is_empty() {
            continue;
        }
        let small = shrink(&drawn, |source| !wrong(source).is_empty()).to_string();
        panic!("{name} seed {seed}:\n{}\n{small}", wrong(&small).join("\n"));
    }
    println!("{name}: {tally:?}");
    compared(
        &format!("answers about {name} programs: translate"),
        (tally.violated + tally.fine) as u64,
    );
    tally
}

/// Claims that one of the outcomes under PSO never happens.
fn never(mut problem: Problem, seed: u64) -> Problem {
    let pso = reference::Model::Pso;
    let outcomes =
        reference::explore(&problem, pso, reference::Bound::None, STATES).report.outcomes;
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
fn random_final_conditions() {
    let tally = random("claiming", 8, bounded, never);
    assert!(tally.violated > 3 && tally.fine > 3, "{tally:?}");
}

#[test]
fn random_assertions_and_faults() {
    let tally =
        random("straight", 12, |seed| program(Profile::Straight, seed), |problem, _| problem);
    assert!(tally.violated > 0 && tally.fine > 3, "{tally:?}");
}

#[test]
fn random_everything() {
    let tally = random("kitchen", 8, |seed| program(Profile::Kitchen, seed), never);
    assert!(tally.violated > 3 && tally.fine > 0, "{tally:?}");
}
