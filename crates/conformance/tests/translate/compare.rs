//! Compares the translation of one program with the reference interpreter.

use super::explore::{comparable_report, under_sc};
use fencepost_conformance::reference::Report;
use fencepost_conformance::reference::contexts::{self as reference, ContextReport};
use fencepost_ir::validate::validate;
use fencepost_ir::{
    Address, BinOp, Expr, Loc, Location, Observable, Op, Pc, Problem, Stmt, StoreBuffers, Type,
    Value,
};
use fencepost_translate::contexts::{Bound, contexts};
use fencepost_translate::{Translation, Unsupported};
use std::collections::BTreeSet;
use std::fmt;

/// The scope of a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    /// The largest k.
    pub(crate) k: u32,
    /// The maximum number of states of the original with contexts.
    pub(crate) states: usize,
    /// The maximum number of states of the translation.
    pub(crate) translated: u64,
}

/// The numbers of comparisons.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Comparisons of complete sets.
    pub(crate) compared: usize,
    /// Comparisons with more behaviours than with a smaller k.
    pub(crate) grown: usize,
    /// Comparisons with behaviours that SC does not have.
    pub(crate) relaxed: usize,
    /// Searches that were cut short.
    pub(crate) cut: usize,
    /// Programs that cannot be translated.
    pub(crate) refused: usize,
    /// The total numbers of states of originals and of translations.
    pub(crate) states: (usize, usize),
}

/// A difference between a translation and its original.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    pub(crate) model: StoreBuffers,
    pub(crate) bound: Bound,
    text: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}: {}", self.model.name(), self.bound, self.text)
    }
}

/// Compares a program under both models and both bounds, with k from 0 until a search is cut short.
pub(crate) fn compare(problem: &Problem, scope: Scope, tally: &mut Tally) -> Vec<Difference> {
    compare_by(contexts, problem, scope, tally)
}

/// Compares a program as [`compare`] does, with any translation.
pub(crate) fn compare_by(
    translate: impl Fn(&Problem, StoreBuffers, Bound) -> Result<Translation, Unsupported>,
    problem: &Problem,
    scope: Scope,
    tally: &mut Tally,
) -> Vec<Difference> {
    let mut wrong = Vec::new();
    let sc =
        reference::explore(problem, reference::Model::Sc, reference::Bound::None, scope.states);
    for model in [StoreBuffers::Tso, StoreBuffers::Pso] {
        for bound in [Bound::Switches, Bound::Ages] as [fn(u32) -> Bound; 2] {
            let mut before = None;
            for k in 0..=scope.k {
                let bound = bound(k);
                match compare_translation(
                    translate(problem, model, bound),
                    problem,
                    model,
                    bound,
                    scope,
                ) {
                    ComparisonResult::Same(explored, states) => {
                        tally.compared += 1;
                        tally.states.0 += explored.report.states;
                        tally.states.1 += states;
                        let now = (explored.memories, explored.report.outcomes);
                        tally.grown += usize::from(before.is_some_and(|before| before != now));
                        let relaxed = !(now.0.is_subset(&sc.memories)
                            && now.1.is_subset(&sc.report.outcomes));
                        tally.relaxed += usize::from(relaxed && sc.report.complete);
                        before = Some(now);
                    }
                    ComparisonResult::Cut => {
                        tally.cut += 1;
                        break;
                    }
                    ComparisonResult::Refused => tally.refused += 1,
                    ComparisonResult::Different(text) => {
                        wrong.push(Difference { model, bound, text });
                        break;
                    }
                }
            }
        }
    }
    wrong
}

enum ComparisonResult {
    /// No difference. Holds the report and the number of states of the translation.
    Same(ContextReport, usize),
    Cut,
    Refused,
    Different(String),
}

fn compare_translation(
    translation: Result<Translation, Unsupported>,
    problem: &Problem,
    model: StoreBuffers,
    bound: Bound,
    scope: Scope,
) -> ComparisonResult {
    let Ok(translation) = translation else { return ComparisonResult::Refused };
    if let Err(error) = validate(&translation.problem) {
        return ComparisonResult::Different(format!("the translation is not valid: {error:?}"));
    }
    let reference_model = match model {
        StoreBuffers::Tso => reference::Model::Tso,
        StoreBuffers::Pso => reference::Model::Pso,
    };
    let reference_bound = match bound {
        Bound::Switches(k) => reference::Bound::Switches(k as usize),
        Bound::Ages(k) => reference::Bound::Ages(k as usize),
    };
    let expected = reference::explore(problem, reference_model, reference_bound, scope.states);
    if !expected.report.complete {
        return ComparisonResult::Cut;
    }
    let locations = problem.program.locations.len();
    let found = under_sc(&translation.problem, locations, scope.translated);
    if !found.report.complete {
        return ComparisonResult::Cut;
    }
    let states = found.report.states;
    match difference(problem, &expected, found) {
        Some(text) => ComparisonResult::Different(text),
        None => ComparisonResult::Same(expected, states),
    }
}

/// Describes the differences between two reports, if there are any.
fn difference(problem: &Problem, expected: &ContextReport, found: ContextReport) -> Option<String> {
    let names = |memory: &Vec<Value>| {
        let of = |(value, location): (&Value, &Location)| format!("{}={value}", location.name);
        memory.iter().zip(&problem.program.locations).map(of).collect::<Vec<_>>().join(" ")
    };
    let describe = |what: &str, values: BTreeSet<&Vec<Value>>| {
        let shown: Vec<String> = values.iter().take(4).map(|memory| names(memory)).collect();
        (!values.is_empty())
            .then(|| format!("{} memories {what}: {}", values.len(), shown.join("; ")))
    };
    let missing = describe("missing", expected.memories.difference(&found.memories).collect());
    let extra = describe("added", found.memories.difference(&expected.memories).collect());
    let expected_report = comparable_report(problem, &expected.report);
    let found_report = Report { states: 0, complete: false, ..found.report };
    let other = (expected_report != found_report)
        .then(|| format!("expected {expected_report:?}\nfound {found_report:?}"));
    let all: Vec<String> = [missing, extra, other].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

/// Adds a store at the end of each thread, to a separate location. The value encodes the observed
/// registers, so that shared memory shows the values that each thread has read.
pub(crate) fn with_register_stores(problem: &Problem) -> Problem {
    let mut with_registers = problem.clone();
    let program = &mut with_registers.program;
    for t in problem.program.thread_ids() {
        let mut value = Expr::Const(0);
        for what in &problem.observed {
            if let Observable::Reg(owner, reg) = what
                && *owner == t
            {
                let before = Expr::Binary(BinOp::Mul, Box::new(value), Box::new(Expr::Const(5)));
                value = Expr::Binary(BinOp::Add, Box::new(before), Box::new(Expr::Var(*reg)));
            }
        }
        let name = format!("registers_of_{}", t.index());
        program.locations.push(Location { name, ty: Type::INT, init: 0 });
        let to = Address::fixed(Loc::from_index(program.locations.len() - 1));
        let code = &mut program.threads[t.index()].code;
        let end = Pc::from_index(code.len());
        for stmt in code.iter_mut().filter(|stmt| stmt.op == Op::Halt) {
            stmt.op = Op::Store { to: to.clone(), value: value.clone() };
            stmt.next = end;
        }
        let label = code.last().expect("a thread has statements").label;
        code.push(Stmt { label, op: Op::Halt, next: end, critical: false });
    }
    validate(&with_registers).expect("the program is still valid");
    with_registers
}
