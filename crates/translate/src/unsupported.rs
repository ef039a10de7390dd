//! Why a program cannot be translated or exported: one variant for each reason, with its sentence.

use fencepost_ir::BinOp;
use std::fmt;

/// Why a program cannot be translated or exported. Displays as a sentence without a full stop.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Unsupported {
    /// Explicit store buffers have no room.
    NoRoom,
    /// Explicit store buffers have more room than this.
    LargeRoom(u32),
    /// Explicit store buffers for a program that frees records.
    BuffersWithFree,
    /// Explicit store buffers would make so many threads and locations.
    LargeBuffers {
        /// How many threads.
        threads: usize,
        /// How many locations.
        locations: usize,
    },
    /// More context switches than this.
    ManySwitches(u32),
    /// The simulation of contexts is for programs with at most so many threads.
    ManyThreads(usize),
    /// The simulation of contexts for a program that frees records.
    ContextsWithFree,
    /// The simulation of contexts would have more locations than this, in words.
    ManyLocations(&'static str),
    /// The property `linearizable`.
    Linearizable,
    /// Sequential C without a bound on context switches.
    SequentialWithoutSwitches,
    /// Sequential C of something that is no simulation of contexts.
    NoContexts,
    /// A property about the results of operations, in a language that compares no orders.
    Operations,
    /// A property about the results of operations, in `.fp`.
    OperationsWithoutClient,
    /// `.fp` has no text for what the program does.
    NoSource,
    /// A result of this operator may need more than 32 bits.
    Overflow(BinOp),
    /// An atomic block of this thread has too many, or too long, paths.
    ManyPaths {
        /// The thread.
        thread: String,
        /// How many paths are allowed.
        paths: usize,
        /// How many statements a path may have.
        length: usize,
    },
    /// An atomic block of this thread never ends.
    EndlessBlock(String),
    /// An atomic block of this thread goes on to different statements.
    SeveralExits(String),
    /// SPIN does not take the initial values of this variable.
    NegativeInitialValue(String),
    /// A choice among more values than this.
    ManyAlternatives(i64),
    /// More processes than SPIN runs.
    ManyProcesses,
    /// A property, or something else of the program as a whole, that a litmus test does not have.
    Litmus(NoLitmus),
    /// A statement that a litmus test does not have.
    LitmusStatement {
        /// Its line in the source, if it has one.
        line: Option<u32>,
        /// Its text.
        text: String,
        /// The reason.
        reason: NoLitmus,
    },
    /// A condition that a litmus test cannot state.
    LitmusCondition {
        /// Its line in the source, if it has one.
        line: Option<u32>,
        /// The reason.
        reason: NoLitmus,
    },
}

/// What a litmus test for x86 does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each variant is its sentence")]
pub enum NoLitmus {
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

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRoom => f.write_str("a store buffer needs room for at least one store"),
            Self::LargeRoom(most) => write!(f, "store buffers are for at most {most} stores"),
            Self::BuffersWithFree => f.write_str(
                "the program frees records, and explicit store buffers do not know yet whether a pending store \
                 is to a record that is gone",
            ),
            Self::LargeBuffers { threads, locations } => write!(
                f,
                "store buffers would make {threads} threads (at most 64) and {locations} locations (fewer than 65,536)"
            ),
            Self::ManySwitches(most) => {
                write!(f, "at most {most} context switches can be simulated")
            }
            Self::ManyThreads(most) => write!(f, "at most {most} threads can be translated"),
            Self::ContextsWithFree => f.write_str(
                "programs that free records cannot be translated: a store that is pending \
                 could reach another record",
            ),
            Self::ManyLocations(most) => write!(
                f,
                "the translation would need more than {most} locations: use smaller arrays, or a smaller bound"
            ),
            Self::Linearizable => f.write_str(
                "`linearizable` depends on when operations begin and end, which no condition on \
                 final states tells; `sequentially_consistent` can be translated",
            ),
            Self::SequentialWithoutSwitches => f.write_str(
                "threads run one after another (c-seq) up to a number of context switches only: \
                 use --model tso or pso with --contexts",
            ),
            Self::NoContexts => {
                f.write_str("only a simulation of contexts runs its threads one after another")
            }
            Self::Operations => f.write_str(
                "the results of operations are compared with all orders of the operations, which no \
                 exported program can do",
            ),
            Self::OperationsWithoutClient => f.write_str(
                "the property about a client's operations has no text without the client",
            ),
            Self::NoSource => f.write_str(
                "the program does what has no text in the language: it jumps out of an atomic block, or uses one \
                 kind of value as another",
            ),
            Self::Overflow(op) => write!(
                f,
                "a result of `{}` may need more than 32 bits: declare ranges",
                op.symbol()
            ),
            Self::ManyPaths { thread, paths, length } => write!(
                f,
                "an atomic block of {thread} has more than {paths} ways to where nothing in it \
                 blocks or chooses any more, or one of more than {length} statements"
            ),
            Self::EndlessBlock(thread) => write!(f, "an atomic block of {thread} never ends"),
            Self::SeveralExits(thread) => write!(
                f,
                "an atomic block of {thread} has ends that go on to different statements"
            ),
            Self::NegativeInitialValue(variable) => write!(
                f,
                "`{variable}` has a list of initial values with a negative one, which SPIN does not take: set them \
                 in an `init` block"
            ),
            Self::ManyAlternatives(most) => {
                write!(f, "a choice among more than {most} values, which would be as many lines")
            }
            Self::ManyProcesses => f.write_str("SPIN runs at most 255 processes"),
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

impl fmt::Display for NoLitmus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Records => "a litmus test has no records: use locations",
            Self::SeveralConditions => {
                "a litmus test has one condition on final states: write one test for each"
            }
            Self::Assertions => "a litmus test has no assertions: use `final forall`",
            Self::Assert => {
                "a litmus test has no `assert`: keep the value in a register and say `final forall`"
            }
            Self::Invariants => "a litmus test has no invariants: use `final forall`",
            Self::CriticalSections => "a litmus test has no critical sections: count who is inside",
            Self::Deadlocks => "a litmus test says nothing about deadlocks",
            Self::Operations => "a litmus test has no operations of a client",
            Self::Branches => {
                "a litmus test is written for straight-line programs only, and this is a \
                 branch: write one test for each way, or unroll the loop"
            }
            Self::Loops => {
                "a litmus test is written for straight-line programs only: this is a loop"
            }
            Self::Block => {
                "only an atomic block that is one access, or that loads a location and \
                 stores to it, is an x86 instruction"
            }
            Self::Drain => {
                "x86 cannot wait for the stores to one location only: `fence` waits for all"
            }
            Self::Choose => "x86 does not choose: write one test for each value",
            Self::Assume => "a litmus test has no `assume`: its threads do not wait",
            Self::OldValueOfBits => {
                "x86 has no such update that tells the old value: ignore it, or load before"
            }
            Self::ComputedAddress => {
                "which location it is, is known only when the program runs; a litmus test is \
                 written for locations with a name"
            }
            Self::Registers => "the thread needs more registers than x86 has",
            Self::InitialState => {
                "the initial state of a litmus test is made of constants: store numbers only"
            }
            Self::Operator(op) => {
                return write!(f, "x86 has no instruction for `{op}` that the test could use");
            }
            Self::ConditionOperator(op) => {
                return write!(
                    f,
                    "a condition of a litmus test has no `{op}`: compare with `==` and `!=`"
                );
            }
            Self::Comparison => {
                "a condition of a litmus test compares locations and registers with \
                 constants, and with each other, only"
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

    fn refused(threads: usize, op: Op) -> Option<Unsupported> {
        let stmt = |op| Stmt { label: Label(0), op, next: Pc(1), critical: false };
        let code = vec![stmt(op), stmt(Op::Halt)];
        let thread = Thread { name: "t".into(), registers: Vec::new(), code };
        let mut problem = Problem::default();
        problem.program.threads = vec![thread; threads];
        contexts(&problem, Model::Tso, Bound::Switches(1)).err()
    }

    #[test]
    fn the_reason_is_the_true_one() {
        assert_eq!(refused(32, Op::Skip), None);
        assert_eq!(refused(34, Op::Skip), Some(Unsupported::ManyThreads(32)));
        let free = Op::Free { pool: PoolId(0), cell: Expr::Const(1) };
        assert_eq!(refused(2, free), Some(Unsupported::ContextsWithFree));
        let text = Unsupported::ManyThreads(32).to_string();
        assert_eq!(text, "at most 32 threads can be translated");
    }
}
