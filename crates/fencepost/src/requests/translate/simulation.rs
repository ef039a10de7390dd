//! The kinds of simulation under SC.

use fencepost_ir::spin_loops::spin_assume;
use fencepost_ir::{
    BinOp, Condition, Consistency, Expr, Observable, Operations, Problem, Property, Span,
    StoreBuffers, Value,
};
use fencepost_models::shape::Shape;
use fencepost_models::specification::possible_results;
use fencepost_report::paint::counted;
use fencepost_translate::buffers::buffers;
use fencepost_translate::contexts::{Bound, contexts, sequentialize};
use fencepost_translate::{Translation, Unsupported, narrowed};

/// The largest number of combinations of results that a translation compares with.
const MAX_RESULTS: usize = 100_000;

/// A kind of simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Simulation {
    /// No simulation: the program itself, for SC.
    #[default]
    Plain,
    /// A simulation without buffers, within a bound on contexts or delays.
    Contexts(StoreBuffers, Bound),
    /// A simulation with store buffers of this capacity.
    Buffers(StoreBuffers, u32),
}

impl Simulation {
    /// Returns a sentence for the header of the translation.
    pub fn describe(self) -> String {
        let upper_name = |model: StoreBuffers| model.name().to_uppercase();
        match self {
            Simulation::Plain => "The original program, for SC.".into(),
            Simulation::Contexts(model, Bound::Switches(k)) => format!(
                "{} simulated under SC: at most {} of each thread, that is {}.",
                upper_name(model),
                counted(u64::from(k), "context switch"),
                counted(u64::from(k) + 1, "context"),
            ),
            Simulation::Contexts(model, Bound::Ages(k)) => format!(
                "{} simulated under SC: a store is pending for at most {} of its thread.",
                upper_name(model),
                counted(u64::from(k), "context switch"),
            ),
            Simulation::Buffers(StoreBuffers::Tso, capacity) => format!(
                "TSO simulated under SC: a buffer of {} for each thread.",
                counted(u64::from(capacity), "store"),
            ),
            Simulation::Buffers(StoreBuffers::Pso, capacity) => format!(
                "PSO simulated under SC: a buffer of {} for each thread and location.",
                counted(u64::from(capacity), "store"),
            ),
        }
    }
}

/// Translates a program. With `in_sequence`, the threads of the translation run one after another.
pub(crate) fn simulate(
    problem: &Problem,
    simulation: Simulation,
    in_sequence: bool,
) -> Result<Translation, Unsupported> {
    let problem = &narrowed(&with_results_as_condition(problem)?);
    Ok(match simulation {
        Simulation::Contexts(model, Bound::Switches(k)) if in_sequence => {
            // Spin loops become assumptions, so that they terminate.
            sequentialize(&spin_assume(problem, false).problem, model, k)?
        }
        Simulation::Plain | Simulation::Contexts(..) | Simulation::Buffers(..) if in_sequence => {
            return Err(Unsupported::SequentialWithoutSwitches);
        }
        Simulation::Plain => Translation::identity(problem),
        Simulation::Contexts(model, bound) => contexts(problem, model, bound)?,
        Simulation::Buffers(model, capacity) => buffers(problem, model, capacity)?,
    })
}

/// Replaces the property about the results of operations by a condition on final states.
fn with_results_as_condition(problem: &Problem) -> Result<Problem, Unsupported> {
    let mut changed = problem.clone();
    for property in &mut changed.properties {
        let Property::Operations(operations) = property else { continue };
        if operations.consistency == Consistency::Linearizable {
            return Err(Unsupported::Linearizable);
        }
        let expr = results(problem, operations)?;
        let text = "some order of the operations explains the results".into();
        let condition = Condition { expr, text, span: Span::default() };
        *property = Property::FinalForall(condition);
    }
    Ok(changed)
}

/// Returns the condition that the results of the operations are allowed.
fn results(problem: &Problem, operations: &Operations) -> Result<Expr<Observable>, Unsupported> {
    let possible = possible_results(&Shape::new(problem, false), operations, MAX_RESULTS);
    let possible = possible.ok_or(Unsupported::TooManyResults(MAX_RESULTS))?;
    let registers = (operations.threads.iter()).flat_map(|(t, all)| {
        let registers = all.iter().filter_map(|operation| Some(operation.result?.1));
        registers.map(|reg| Observable::Reg(*t, reg))
    });
    let first = operations.first.iter().map(|loc| Observable::Loc(*loc));
    let results: Vec<Observable> = first.chain(registers).collect();
    let equal = |(result, value): (&Observable, &Value)| {
        let (result, value) = (Expr::Var(*result), Expr::Const(*value));
        Expr::Binary(BinOp::Eq, Box::new(result), Box::new(value))
    };
    let cases = possible
        .iter()
        .map(|case| combine(BinOp::And, results.iter().zip(case).map(equal).collect()));
    Ok(combine(BinOp::Or, cases.collect()))
}

/// Combines conditions to one expression of logarithmic depth.
fn combine(op: BinOp, mut parts: Vec<Expr<Observable>>) -> Expr<Observable> {
    match parts.len() {
        0 => Expr::Const(Value::from(op == BinOp::And)),
        1 => parts.remove(0),
        n => {
            let rest = parts.split_off(n / 2);
            Expr::Binary(op, Box::new(combine(op, parts)), Box::new(combine(op, rest)))
        }
    }
}
