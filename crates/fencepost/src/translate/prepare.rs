//! The translation that the options ask for.

use crate::args::Bounds;
use fencepost_ir::waits::without_waits;
use fencepost_ir::{
    BinOp, Condition, Consistency, Expr, Observable, Operations, Problem, Property, Span,
    StoreBuffers, Value,
};
use fencepost_models::catalog::Kind;
use fencepost_models::specification::allowed;
use fencepost_models::{Machine, MemoryModel, ModelSpec, Reductions, Visitor};
use fencepost_report::paint::counted;
use fencepost_translate::buffers::buffers;
use fencepost_translate::contexts::{Bound, contexts, sequence};
use fencepost_translate::{Translation, Unsupported};

/// What is simulated, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum How {
    /// Nothing: the program as it is, for SC.
    Plain,
    /// The store buffers, without buffers.
    Contexts(StoreBuffers, Bound),
    /// The store buffers, written out.
    Buffers(StoreBuffers, u32),
}

impl How {
    /// What options ask for.
    pub(super) fn new(
        model: &ModelSpec,
        bounds: &Bounds,
        room: Option<u32>,
    ) -> Result<How, String> {
        if model.kind == Kind::Sc {
            let given = bounds.given().or(room.map(|_| "--buffers"));
            return match given {
                None => Ok(How::Plain),
                Some(option) => {
                    Err(format!("{option} is for --model tso and pso; SC has no buffers"))
                }
            };
        }
        let Some(simulated) = model.store_buffers() else {
            let name = &model.name;
            return Err(format!("{name} cannot be simulated under SC; sc, tso and pso can"));
        };
        Ok(match room {
            Some(room) => How::Buffers(simulated, room),
            None => How::Contexts(simulated, bounds.bound()),
        })
    }

    /// A sentence about it.
    pub(super) fn told(self) -> String {
        let named = |model: StoreBuffers| model.name().to_uppercase();
        match self {
            How::Plain => "The program as it is, to run under SC.".into(),
            How::Contexts(model, Bound::Switches(k)) => format!(
                "{} simulated under SC: at most {} of each thread, that is {}.",
                named(model),
                counted(u64::from(k), "context switch"),
                counted(u64::from(k) + 1, "context"),
            ),
            How::Contexts(model, Bound::Ages(k)) => format!(
                "{} simulated under SC: a store is pending for at most {} of its thread.",
                named(model),
                counted(u64::from(k), "context switch"),
            ),
            How::Buffers(StoreBuffers::Tso, room) => format!(
                "TSO under SC: a buffer with room for {} for each thread.",
                counted(u64::from(room), "store"),
            ),
            How::Buffers(StoreBuffers::Pso, room) => format!(
                "PSO under SC: a buffer with room for {} for each thread and location.",
                counted(u64::from(room), "store"),
            ),
        }
    }
}

/// Translates a program. With `sequence`, for threads that run one after another.
pub(super) fn prepare(
    problem: &Problem,
    how: How,
    in_sequence: bool,
) -> Result<Translation, Unsupported> {
    let problem = &explained(problem)?;
    Ok(match how {
        How::Contexts(model, Bound::Switches(k)) if in_sequence => {
            // A thread that waits is left alone where it would look again: loops that only re-read end.
            sequence(&without_waits(problem, false).problem, model, k)?
        }
        How::Plain | How::Contexts(..) | How::Buffers(..) if in_sequence => {
            return Err(Unsupported::SequentialWithoutSwitches);
        }
        How::Plain => Translation::identity(problem),
        How::Contexts(model, bound) => contexts(problem, model, bound)?,
        How::Buffers(model, room) => buffers(problem, model, room)?,
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
        let sc = ModelSpec::SC;
        let expr = sc.visit(1, Results { problem, operations });
        let text = "the results are those of some order of the operations".into();
        let condition = Condition { expr, text, span: Span::default() };
        *property = Property::FinalForall(condition);
    }
    Ok(explained)
}

/// The condition that results are allowed.
struct Results<'a> {
    problem: &'a Problem,
    operations: &'a Operations,
}

impl Visitor for Results<'_> {
    type Output = Expr<Observable>;

    fn visit<M: MemoryModel>(self, model: M) -> Expr<Observable> {
        let machine = Machine::new(self.problem, model, Reductions::ALL);
        let allowed = allowed(&machine, self.operations);
        let kept: Vec<Observable> = (self.operations.threads.iter())
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
