//! The reasons why a program cannot be translated or exported, with their messages.

use fencepost_ir::{BinOp, Problem, Program, grace_period};
use std::fmt;

/// The reason why a program cannot be translated or exported. Displays as a sentence without a full
/// stop.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Unsupported {
    /// The capacity of explicit store buffers is 0.
    ZeroCapacity,
    /// The capacity of explicit store buffers exceeds this limit.
    LargeCapacity(u32),
    /// Explicit store buffers are requested for a program that frees records.
    BuffersWithFree,
    /// Explicit store buffers would need too many threads or locations.
    LargeBuffers {
        /// The number of threads of the translation.
        threads: usize,
        /// The number of locations of the translation.
        locations: usize,
    },
    /// The bound on contexts exceeds this limit.
    LargeBound(u32),
    /// The program has more threads than this limit of the context simulation.
    TooManyThreads(usize),
    /// The context simulation is requested for a program that frees records.
    ContextsWithFree,
    /// The context simulation would have more locations than this limit, in words.
    TooManyLocations(&'static str),
    /// The property `linearizable` cannot be translated.
    Linearizable,
    /// The program has a `finally` block, or operations after the threads.
    LastThread,
    /// An invariant may hold because a thread is at a control point.
    ControlPoints,
    /// The program has a `fetch_add` or `fetch_sub` of a location that wraps.
    WrappingUpdate,
    /// The program has read-side sections or grace periods.
    GracePeriods,
    /// The program computes with 64-bit or unsigned integers.
    WideIntegers,
    /// The program accesses memory through pointers.
    Pointers,
    /// Runs of the program are cut at a bound of the front end.
    Bounds,
    /// Sequential C is requested without a bound on context switches.
    SequentialWithoutSwitches,
    /// Sequential C is requested for a program that is not a context simulation.
    NotAContextSimulation,
    /// The operations of a client may return more than this many combinations of results.
    TooManyResults(usize),
    /// A property about operation results, in a language that cannot compare results with all
    /// orders.
    Operations,
    /// A property about operation results, in `.fp`, which has no syntax for it without the client.
    OperationsWithoutClient,
    /// The program contains a construct that `.fp` has no syntax for.
    NoFpSyntax,
    /// A result of this operator may exceed 32 bits.
    Overflow(BinOp),
    /// An atomic block of a thread has too many paths, or a path that is too long.
    TooManyPaths {
        /// The name of the thread.
        thread: String,
        /// The largest allowed number of paths.
        paths: usize,
        /// The largest allowed number of statements of a path.
        length: usize,
    },
    /// An atomic block of this thread never terminates.
    EndlessBlock(String),
    /// An atomic block of this thread has exits to different statements.
    DifferentExits(String),
    /// SPIN does not accept the initial values of this variable.
    NegativeInitialValue(String),
    /// A `choose` has more values than this limit.
    TooManyAlternatives(i64),
    /// The model has more processes than SPIN supports.
    TooManyProcesses,
    /// The program as a whole, for example a property, cannot be expressed in a litmus test.
    Litmus(UnsupportedInLitmus),
    /// A statement cannot be expressed in a litmus test.
    LitmusStatement {
        /// The line of the statement in the source, if it has one.
        line: Option<u32>,
        /// The text of the statement.
        text: String,
        /// Why the statement cannot be expressed.
        reason: UnsupportedInLitmus,
    },
    /// A condition cannot be expressed in a litmus test.
    LitmusCondition {
        /// The line of the condition in the source, if it has one.
        line: Option<u32>,
        /// Why the condition cannot be expressed.
        reason: UnsupportedInLitmus,
    },
}

/// A reason why a program, statement or condition cannot be expressed in an x86 litmus test.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message describes the variant")]
pub enum UnsupportedInLitmus {
    Records,
    SeveralConditions,
    Assertions,
    Assert,
    Invariants,
    CriticalSections,
    Deadlocks,
    Operations,
    Branches,
    Loops,
    Block,
    Drain,
    Choose,
    Assume,
    OldValueOfBits,
    ComputedAddress,
    Registers,
    InitialState,
    Operator(&'static str),
    ConditionOperator(&'static str),
    Comparison,
}

impl Unsupported {
    /// Checks that a program has none of the statements that no translation and no export supports.
    pub(crate) fn check(program: &Program) -> Result<(), Unsupported> {
        Self::check_constructs(program)?;
        if program.uses_wide_integers() {
            return Err(Unsupported::WideIntegers);
        }
        Ok(())
    }

    /// The same as [`check`](Self::check), but allows integers of 64 bits.
    pub(crate) fn check_constructs(program: &Program) -> Result<(), Unsupported> {
        if program.last_thread().is_some() {
            return Err(Unsupported::LastThread);
        }
        if grace_period::occurs(program) {
            return Err(Unsupported::GracePeriods);
        }
        if program.uses_pointers() {
            return Err(Unsupported::Pointers);
        }
        if !program.bounds.is_empty() || program.pools.iter().any(|pool| pool.yields_null) {
            return Err(Unsupported::Bounds);
        }
        Ok(())
    }

    /// Checks that added statements do not violate an invariant about control points.
    pub(crate) fn check_control_points(problem: &Problem) -> Result<(), Unsupported> {
        if problem.requires_control_points() {
            return Err(Unsupported::ControlPoints);
        }
        Ok(())
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroCapacity => f.write_str("the capacity of a store buffer must be at least 1"),
            Self::LargeCapacity(most) => write!(f, "the capacity of a store buffer must be at most {most}"),
            Self::TooManyResults(most) => write!(
                f,
                "the operations may return more than {most} combinations of results"
            ),
            Self::BuffersWithFree => f.write_str(
                "the program frees records: explicit store buffers do not support pending stores to \
                 freed records",
            ),
            Self::LargeBuffers { threads, locations } => write!(
                f,
                "explicit store buffers need {threads} threads (at most 64) and {locations} locations \
                 (fewer than 65,536): use a smaller capacity"
            ),
            Self::LargeBound(most) => {
                write!(f, "the bound on contexts must be at most {most}")
            }
            Self::TooManyThreads(most) => write!(f, "the translation supports at most {most} threads"),
            Self::ContextsWithFree => f.write_str(
                "programs that free records cannot be translated: a pending store could \
                 reach another record",
            ),
            Self::TooManyLocations(most) => write!(
                f,
                "the translation needs more than {most} locations: use smaller arrays or a smaller bound"
            ),
            Self::Linearizable => f.write_str(
                "`linearizable` depends on when operations begin and end, so no condition on final \
                 states can express it: use `sequentially_consistent`",
            ),
            Self::ControlPoints => f.write_str(
                "an invariant that holds because a thread is at a label cannot be translated: \
                 added statements would be states in which the thread is not there; write every \
                 `at` under a negation, as in `!(p at A && q at B)`, or use `fencepost check`",
            ),
            Self::WrappingUpdate => f.write_str(
                "a `fetch_add` or `fetch_sub` of a location that wraps cannot be translated; \
                 write a loop with `cas`",
            ),
            Self::LastThread => f.write_str(
                "a `finally` block and operations after the threads cannot be translated or exported",
            ),
            Self::GracePeriods => f.write_str("RCU sections and grace periods cannot be translated or exported"),
            Self::WideIntegers => f.write_str(
                "the program computes with numbers that may need more than 32 bits; translations \
                 and exports have only 32 bits: use smaller types and constants, or give a C file \
                 itself to the other tool",
            ),
            Self::Pointers => f.write_str(
                "the program accesses memory through pointers; translations and exports have only \
                 variables, arrays and records: use variables by name, or give a C file itself to \
                 the other tool",
            ),
            Self::Bounds => f.write_str(
                "the program is explored up to a bound (allocated memory, recursion, threads in \
                 loops), and a translation could not report that a run reaches it: use \
                 `fencepost check`, or give a C file itself to the other tool",
            ),
            Self::SequentialWithoutSwitches => f.write_str(
                "sequential C (c-seq) needs a bound on context switches: \
                 use --model tso or pso with --contexts",
            ),
            Self::NotAContextSimulation => {
                f.write_str("sequential C needs a context simulation: use --contexts")
            }
            Self::Operations => f.write_str(
                "a property about operation results must compare all orders of the operations; an \
                 exported program cannot do that",
            ),
            Self::OperationsWithoutClient => f.write_str(
                "a property about operation results has no `.fp` syntax without the client",
            ),
            Self::NoFpSyntax => f.write_str(
                "the program has no `.fp` syntax: it jumps out of an atomic block, or uses a value of \
                 one type as another type",
            ),
            Self::Overflow(op) => write!(
                f,
                "a result of `{}` may exceed 32 bits: declare ranges",
                op.symbol()
            ),
            Self::TooManyPaths { thread, paths, length } => write!(
                f,
                "an atomic block of {thread} has more than {paths} paths through its `assume` and \
                 `choose` statements, or a path of more than {length} statements"
            ),
            Self::EndlessBlock(thread) => write!(f, "an atomic block of {thread} never terminates"),
            Self::DifferentExits(thread) => write!(
                f,
                "an atomic block of {thread} has exits to different statements"
            ),
            Self::NegativeInitialValue(variable) => write!(
                f,
                "`{variable}` has a list of initial values with a negative number, which SPIN does not \
                 accept: set the values in an `init` block"
            ),
            Self::TooManyAlternatives(most) => {
                write!(f, "a `choose` among more than {most} values cannot be exported: use a smaller range")
            }
            Self::TooManyProcesses => f.write_str("SPIN supports at most 255 processes"),
            Self::Litmus(reason) => reason.fmt(f),
            Self::LitmusStatement { line: Some(line), text, reason } => {
                write!(f, "line {line}, `{text}`: {reason}")
            }
            Self::LitmusStatement { line: None, text, reason } => write!(f, "`{text}`: {reason}"),
            Self::LitmusCondition { line: Some(line), reason } => {
                write!(f, "line {line}: {reason}")
            }
            Self::LitmusCondition { line: None, reason } => reason.fmt(f),
        }
    }
}

impl std::error::Error for Unsupported {}

impl fmt::Display for UnsupportedInLitmus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Records => "a litmus test has no records: use locations",
            Self::SeveralConditions => {
                "a litmus test has one condition on final states: write one test per condition"
            }
            Self::Assertions => "a litmus test has no assertions: use `final forall`",
            Self::Assert => {
                "a litmus test has no `assert`: keep the value in a register and use `final forall`"
            }
            Self::Invariants => "a litmus test has no invariants: use `final forall`",
            Self::CriticalSections => {
                "a litmus test has no critical sections: count the threads inside with a location"
            }
            Self::Deadlocks => "a litmus test cannot check for deadlocks",
            Self::Operations => "a litmus test has no client operations",
            Self::Branches => {
                "a litmus test must be a straight-line program, and this is a branch: write one \
                 test per path, or unroll the loop"
            }
            Self::Loops => {
                "a litmus test must be a straight-line program, and this is a loop: unroll it"
            }
            Self::Block => {
                "only an atomic block with one access, or with a load and a store of the same \
                 location, is an x86 instruction"
            }
            Self::Drain => {
                "x86 cannot drain the stores to a single location: use `fence`, which drains all"
            }
            Self::Choose => "x86 has no nondeterministic choice: write one test per value",
            Self::Assume => "a litmus test has no `assume`: its threads do not block",
            Self::OldValueOfBits => {
                "x86 has no bitwise update that returns the old value: ignore the result, or load \
                 the value before"
            }
            Self::ComputedAddress => {
                "the address is computed at run time: a litmus test accesses locations by name"
            }
            Self::Registers => "the thread needs more registers than x86 has: use fewer registers",
            Self::InitialState => {
                "the initial state of a litmus test consists of constants: store only numbers"
            }
            Self::Operator(op) => {
                return write!(f, "x86 litmus tests have no instruction for `{op}`");
            }
            Self::ConditionOperator(op) => {
                return write!(
                    f,
                    "a condition of a litmus test has no `{op}`: compare with `==` and `!=`"
                );
            }
            Self::Comparison => {
                "a condition of a litmus test can only compare a location or register with a \
                 constant, or two locations or registers"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contexts::{Bound, contexts};
    use fencepost_ir::StoreBuffers as Model;
    use fencepost_ir::{Expr, Label, Op, Pc, PoolId, Problem, Stmt, Thread};

    fn rejection(threads: usize, op: Op) -> Option<Unsupported> {
        let stmt = |op| Stmt { label: Label(0), op, next: Pc(1), critical: false };
        let code = vec![stmt(op), stmt(Op::Halt)];
        let thread = Thread { name: "t".into(), registers: Vec::new(), code };
        let mut problem = Problem::default();
        problem.program.threads = vec![thread; threads];
        contexts(&problem, Model::Tso, Bound::Switches(1)).err()
    }

    #[test]
    fn rejection_reports_the_violated_limit() {
        assert_eq!(rejection(32, Op::Skip), None);
        assert_eq!(rejection(34, Op::Skip), Some(Unsupported::TooManyThreads(32)));
        let free = Op::Free { pool: PoolId(0), cell: Expr::Const(1) };
        assert_eq!(rejection(2, free), Some(Unsupported::ContextsWithFree));
        let text = Unsupported::TooManyThreads(32).to_string();
        assert_eq!(text, "the translation supports at most 32 threads");
    }
}
