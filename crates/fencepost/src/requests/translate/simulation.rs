//! What is simulated under SC, and how.

use fencepost_ir::waits::without_waits;
use fencepost_ir::{
    BinOp, Condition, Consistency, Expr, Observable, Operations, Problem, Property, Span,
    StoreBuffers, Value,
};
use fencepost_models::shape::Shape;
use fencepost_models::specification::allowed;
use fencepost_report::paint::counted;
use fencepost_translate::buffers::buffers;
use fencepost_translate::contexts::{Bound, contexts, sequence};
use fencepost_translate::{Translation, Unsupported};

/// What is simulated, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Simulation {
    /// Nothing: the program as it is, for SC.
    #[default]
    Plain,
    /// The store buffers, without buffers.
    Contexts(StoreBuffers, Bound),
    /// The store buffers, written out.
    Buffers(StoreBuffers, u32),
}

impl Simulation {
    /// A sentence about it.
    pub fn describe(self) -> String {
        let named = |model: StoreBuffers| model.name().to_uppercase();
        match self {
            Simulation::Plain => "The program as it is, to run under SC.".into(),
            Simulation::Contexts(model, Bound::Switches(k)) => format!(
                "{} simulated under SC: at most {} of each thread, that is {}.",
                named(model),
                counted(u64::from(k), "context switch"),
                counted(u64::from(k) + 1, "context"),
            ),
            Simulation::Contexts(model, Bound::Ages(k)) => format!(
                "{} simulated under SC: a store is pending for at most {} of its thread.",
                named(model),
                counted(u64::from(k), "context switch"),
            ),
            Simulation::Buffers(StoreBuffers::Tso, room) => format!(
                "TSO under SC: a buffer with room for {} for each thread.",
                counted(u64::from(room), "store"),
            ),
            Simulation::Buffers(StoreBuffers::Pso, room) => format!(
                "PSO under SC: a buffer with room for {} for each thread and location.",
                counted(u64::from(room), "store"),
            ),
        }
    }
}

/// Translates a program. With `sequence`, for threads that run one after another.
pub(crate) fn simulate(
    problem: &Problem,
    simulation: Simulation,
    in_sequence: bool,
) -> Result<Translation, Unsupported> {
    let problem = &explained(problem)?;
    Ok(match simulation {
        Simulation::Contexts(model, Bound::Switches(k)) if in_sequence => {
            // A thread that waits is left alone where it would look again: loops that only re-read end.
            sequence(&without_waits(problem, false).problem, model, k)?
        }
        Simulation::Plain | Simulation::Contexts(..) | Simulation::Buffers(..) if in_sequence => {
            return Err(Unsupported::SequentialWithoutSwitches);
        }
        Simulation::Plain => Translation::identity(problem),
        Simulation::Contexts(model, bound) => contexts(problem, model, bound)?,
        Simulation::Buffers(model, room) => buffers(problem, model, room)?,
    })
}

/// The program with what its operations may return written out as a condition on final states.
fn explained(problem: &Problem) -> Result<Problem, Unsupported> {
    let mut explained = problem.clone();
    for property in &mut explained.properties {
        let Property::Operations(operations) = property else { continue };
        if operations.consistency == Consistency::Linearizable {
            return Err(Unsupported::Linearizable);
        }
        let expr = results(problem, operations);
        let text = "the results are those of some order of the operations".into();
        let condition = Condition { expr, text, span: Span::default() };
        *property = Property::FinalForall(condition);
    }
    Ok(explained)
}

/// The condition that results are allowed.
fn results(problem: &Problem, operations: &Operations) -> Expr<Observable> {
    let allowed = allowed(&Shape::new(problem), operations);
    let kept: Vec<Observable> = (operations.threads.iter())
        .flat_map(|(t, all)| {
            let kept = all.iter().filter_map(|operation| Some(operation.result?.1));
            kept.map(|reg| Observable::Reg(*t, reg))
        })
        .collect();
    let equal = |(what, value): (&Observable, &Value)| {
        let (what, value) = (Expr::Var(*what), Expr::Const(*value));
        Expr::Binary(BinOp::Eq, Box::new(what), Box::new(value))
    };
    let ways = allowed.results().iter();
    let ways = ways.map(|way| joined(BinOp::And, kept.iter().zip(way).map(equal).collect()));
    joined(BinOp::Or, ways.collect())
}

/// Many conditions as one, not deep.
fn joined(op: BinOp, mut parts: Vec<Expr<Observable>>) -> Expr<Observable> {
    match parts.len() {
        0 => Expr::Const(Value::from(op == BinOp::And)),
        1 => parts.remove(0),
        n => {
            let rest = parts.split_off(n / 2);
            Expr::Binary(op, Box::new(joined(op, parts)), Box::new(joined(op, rest)))
        }
    }
}
