//! One program, translated and judged.

use super::explore::{told, under_sc};
use fencepost_conformance::reference::Report;
use fencepost_conformance::reference::contexts::{self as reference, Reached};
use fencepost_ir::validate::validate;
use fencepost_ir::{
    Address, BinOp, Expr, Loc, Location, Observable, Op, Pc, Problem, Stmt, StoreBuffers, Type,
    Value,
};
use fencepost_translate::contexts::{Bound, contexts};
use fencepost_translate::{Translation, Unsupported};
use std::collections::BTreeSet;
use std::fmt;

/// How much to compare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    /// The largest k.
    pub(crate) k: u32,
    /// States of the original, with its contexts counted.
    pub(crate) states: usize,
    /// States of the translation.
    pub(crate) translated: u64,
}

/// How often a comparison was made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Sets compared in full.
    pub(crate) compared: usize,
    /// Of these: those with more than a smaller k has, and those with something that SC does not have.
    pub(crate) grown: usize,
    pub(crate) relaxed: usize,
    /// One side was too large.
    pub(crate) cut: usize,
    /// Not to be translated.
    pub(crate) refused: usize,
    /// States of originals and of translations.
    pub(crate) states: (usize, usize),
}

/// What differs.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    pub(crate) model: StoreBuffers,
    pub(crate) bound: Bound,
    /// In which words.
    text: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}: {}", self.model.name(), self.bound, self.text)
    }
}

/// Compares for both models and both bounds, with k from 0 on until a search is cut short.
pub(crate) fn compare(problem: &Problem, scope: Scope, tally: &mut Tally) -> Vec<Difference> {
    compare_by(contexts, problem, scope, tally)
}

/// The same for any translation.
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
                match judge(translate(problem, model, bound), problem, model, bound, scope) {
                    Judged::Same(reached, states) => {
                        tally.compared += 1;
                        tally.states.0 += reached.report.states;
                        tally.states.1 += states;
                        let now = (reached.memories, reached.report.outcomes);
                        tally.grown += usize::from(before.is_some_and(|before| before != now));
                        let relaxed = !(now.0.is_subset(&sc.memories)
                            && now.1.is_subset(&sc.report.outcomes));
                        tally.relaxed += usize::from(relaxed && sc.report.complete);
                        before = Some(now);
                    }
                    Judged::Cut => {
                        tally.cut += 1;
                        break;
                    }
                    Judged::Refused => tally.refused += 1,
                    Judged::Different(text) => {
                        wrong.push(Difference { model, bound, text });
                        break;
                    }
                }
            }
        }
    }
    wrong
}

enum Judged {
    /// With the states of the translation.
    Same(Reached, usize),
    Cut,
    Refused,
    Different(String),
}

fn judge(
    translation: Result<Translation, Unsupported>,
    problem: &Problem,
    model: StoreBuffers,
    bound: Bound,
    scope: Scope,
) -> Judged {
    let Ok(translation) = translation else { return Judged::Refused };
    if let Err(error) = validate(&translation.problem) {
        return Judged::Different(format!("the translation is not valid: {error:?}"));
    }
    let reading = match model {
        StoreBuffers::Tso => reference::Model::Tso,
        StoreBuffers::Pso => reference::Model::Pso,
    };
    let counted = match bound {
        Bound::Switches(k) => reference::Bound::Switches(k as usize),
        Bound::Ages(k) => reference::Bound::Ages(k as usize),
    };
    let expected = reference::explore(problem, reading, counted, scope.states);
    if !expected.report.complete {
        return Judged::Cut;
    }
    let locations = problem.program.locations.len();
    let found = under_sc(&translation.problem, locations, scope.translated);
    if !found.report.complete {
        return Judged::Cut;
    }
    let states = found.report.states;
    match difference(problem, &expected, found) {
        Some(text) => Judged::Different(text),
        None => Judged::Same(expected, states),
    }
}

/// In which words two sides differ, if they do.
fn difference(problem: &Problem, expected: &Reached, found: Reached) -> Option<String> {
    let names = |memory: &Vec<Value>| {
        let of = |(value, location): (&Value, &Location)| format!("{}={value}", location.name);
        memory.iter().zip(&problem.program.locations).map(of).collect::<Vec<_>>().join(" ")
    };
    let some = |what: &str, values: BTreeSet<&Vec<Value>>| {
        let shown: Vec<String> = values.iter().take(4).map(|memory| names(memory)).collect();
        (!values.is_empty())
            .then(|| format!("{} memories {what}: {}", values.len(), shown.join("; ")))
    };
    let missing = some("missing", expected.memories.difference(&found.memories).collect());
    let extra = some("too many", found.memories.difference(&expected.memories).collect());
    let right = told(problem, &expected.report);
    let told = Report { states: 0, complete: false, ..found.report };
    let other = (right != told).then(|| format!("expected {right:?}\nfound {told:?}"));
    let all: Vec<String> = [missing, extra, other].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

/// The problem with one more store at the end of each thread, to a location of its own, which tells what
/// is in the registers that are observed: shared states show who has read what.
pub(crate) fn telling(problem: &Problem) -> Problem {
    let mut telling = problem.clone();
    let program = &mut telling.program;
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
        let name = format!("told_by_{}", t.index());
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
    validate(&telling).expect("it is still a program");
    telling
}
