//! The operations of a statement.
//!
//! Each touches shared memory at most once, so that every shared access is a statement with a label
//! of its own. Expressions are pure and read registers only.

use crate::expr::Expr;
use crate::ids::{Loc, Pc, PoolId, Reg, ThreadId};
use crate::value::Value;

/// Where an access goes: `base + (cell - 1) * stride of the pool + index`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    /// The location when there is neither a cell nor an index; else the first of its array, or the
    /// field of the pool's first record.
    pub base: Loc,
    /// For a record's field: the pool, and the reference (0 faults as null, else checked live).
    pub cell: Option<(PoolId, Expr<Reg>)>,
    /// For an array: its length, and the index (outside 0..length faults).
    pub index: Option<(u32, Expr<Reg>)>,
}

impl Address {
    /// A plain location.
    pub fn fixed(base: Loc) -> Self {
        Address { base, cell: None, index: None }
    }

    /// The location, when no expression is needed to know it.
    pub fn as_fixed(&self) -> Option<Loc> {
        match self {
            Address { base, cell: None, index: None } => Some(*base),
            _ => None,
        }
    }
}

/// How an update changes the location it reads, in one indivisible step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Update {
    /// Compare and swap: writes `new` if the old value equals `expected`. Yields 1 or 0.
    Cas {
        /// The value it must find.
        expected: Expr<Reg>,
        /// The value it writes.
        new: Expr<Reg>,
    },
    /// Writes `new`. Yields the old value.
    Swap {
        /// The value it writes.
        new: Expr<Reg>,
    },
    /// Adds `by`. Yields the old value. Subtraction adds a negative amount.
    Add {
        /// The amount.
        by: Expr<Reg>,
    },
    /// Bitwise and, or, exclusive or with `by`. Yields the old value.
    Bits {
        /// `BitAnd`, `BitOr` or `BitXor`.
        op: crate::expr::BinOp,
        /// The other operand.
        by: Expr<Reg>,
    },
}

/// Which pairs of accesses a fence keeps in order: every access of the first kind before it with
/// every access of the second kind after it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FenceKinds(u8);

impl FenceKinds {
    /// Stores before it with stores after it.
    pub const STORE_STORE: FenceKinds = FenceKinds(1);
    /// Stores before it with loads after it.
    pub const STORE_LOAD: FenceKinds = FenceKinds(2);
    /// Loads before it with loads after it.
    pub const LOAD_LOAD: FenceKinds = FenceKinds(4);
    /// Loads before it with stores after it.
    pub const LOAD_STORE: FenceKinds = FenceKinds(8);
    /// All four.
    pub const FULL: FenceKinds = FenceKinds(15);
    /// Loads before it with everything after it.
    pub const ACQUIRE: FenceKinds = FenceKinds(Self::LOAD_LOAD.0 | Self::LOAD_STORE.0);
    /// Everything before it with stores after it.
    pub const RELEASE: FenceKinds = FenceKinds(Self::LOAD_STORE.0 | Self::STORE_STORE.0);

    /// The four single kinds with their names in the language.
    pub const SINGLE: [(FenceKinds, &'static str); 4] = [
        (Self::STORE_STORE, "store_store"),
        (Self::STORE_LOAD, "store_load"),
        (Self::LOAD_LOAD, "load_load"),
        (Self::LOAD_STORE, "load_store"),
    ];

    /// Both sets of pairs.
    pub fn union(self, other: FenceKinds) -> FenceKinds {
        FenceKinds(self.0 | other.0)
    }

    /// Whether every pair of `other` is in `self`.
    pub fn contains(self, other: FenceKinds) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a fence of these kinds keeps two accesses in order: one pair of what they do is enough.
    #[inline]
    pub fn orders(self, earlier: Access, later: Access) -> bool {
        (earlier.stores && later.stores && self.contains(Self::STORE_STORE))
            || (earlier.stores && later.loads && self.contains(Self::STORE_LOAD))
            || (earlier.loads && later.loads && self.contains(Self::LOAD_LOAD))
            || (earlier.loads && later.stores && self.contains(Self::LOAD_STORE))
    }

    /// The name in the language; several kinds are joined with ` + `.
    pub fn name(self) -> String {
        if self == Self::FULL {
            return "full".into();
        }
        let names: Vec<&str> =
            Self::SINGLE.iter().filter(|(k, _)| self.contains(*k)).map(|(_, n)| *n).collect();
        names.join(" + ")
    }

    /// The names as a statement of our language lists them, joined with `, `.
    pub fn listed(self) -> String {
        self.name().replace(" + ", ", ")
    }

    /// What a fence of these kinds costs unless told otherwise, relative to others. Two fences that only order
    /// loads, or only stores, cost as much as one that makes loads wait for stores, and a full fence costs little
    /// more than that one: about what SPARC, ARM and x86 processors charge.
    pub fn usual_cost(self) -> u32 {
        match self {
            Self::FULL => 5,
            Self::STORE_LOAD => 4,
            _ => 2,
        }
    }
}

/// What an access does to memory; an update does both.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Access {
    /// It reads.
    pub loads: bool,
    /// It writes, or may.
    pub stores: bool,
}

/// What a statement does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// Nothing; a place for the program counter.
    Skip,
    /// `reg = expr`, local. Faults when the value leaves the register's declared range.
    Assign {
        /// Target.
        reg: Reg,
        /// Value.
        expr: Expr<Reg>,
    },
    /// `reg = choose(lo..=hi)`, local, any value of the range.
    Choose {
        /// Target.
        reg: Reg,
        /// Smallest value.
        lo: Value,
        /// Largest value, not below `lo`.
        hi: Value,
    },
    /// Reads a location into a register.
    Load {
        /// Target.
        reg: Reg,
        /// Where from.
        from: Address,
    },
    /// Writes a location.
    Store {
        /// Where to.
        to: Address,
        /// Value.
        value: Expr<Reg>,
    },
    /// Reads and writes a location in one step.
    Update {
        /// Target for what it yields, if wanted.
        reg: Option<Reg>,
        /// Where.
        at: Address,
        /// How.
        update: Update,
    },
    /// Keeps accesses before and after it in order.
    Fence(FenceKinds),
    /// Waits until this thread has no pending store to the location.
    Drain(Address),
    /// Goes to `then` if `cond` is not zero, else to `otherwise`; the statement's `next` is unused.
    Branch {
        /// The condition.
        cond: Expr<Reg>,
        /// Next when it holds.
        then: Pc,
        /// Next when it does not.
        otherwise: Pc,
    },
    /// Waits until the condition holds. Registers do not change by themselves, so outside of
    /// `atomic` it blocks for ever when it does not hold.
    Assume(Expr<Reg>),
    /// The property `assertions` fails when the condition does not hold.
    Assert(Expr<Reg>),
    /// Takes the lowest free cell of the pool, gives its fields their initial values, and yields the
    /// reference. Faults when none is free.
    New {
        /// Target.
        reg: Reg,
        /// Which pool.
        pool: PoolId,
    },
    /// Gives a cell back to its pool.
    Free {
        /// Which pool.
        pool: PoolId,
        /// The reference.
        cell: Expr<Reg>,
    },
    /// Leaves a critical section. A step of its own, so that being inside can be observed.
    Leave,
    /// Begins a block that runs in one step: waits for the thread's pending stores, then everything
    /// up to `AtomicEnd` acts on memory directly. A false `assume` inside disables the whole step.
    AtomicBegin,
    /// Ends it.
    AtomicEnd,
    /// A client's thread is about to begin an operation: notes how many operations other threads have
    /// returned from by now. A step of its own.
    Invoke {
        /// Whose operations are counted, and the register that keeps the number.
        seen: Vec<(ThreadId, Reg)>,
    },
    /// A client's thread has come to the end of an operation, local. The operation has returned when its
    /// result is known, too, and those before it have returned.
    Return {
        /// The register that keeps its result, if it has one.
        result: Option<Reg>,
    },
    /// The thread is done.
    Halt,
}

/// An operation between a thread and memory; see [`Op`] for what each means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the same as in `Op`")]
pub enum MemoryOp<'a> {
    Load { reg: Reg, from: &'a Address },
    Store { to: &'a Address, value: &'a Expr<Reg> },
    Update { reg: Option<Reg>, at: &'a Address, update: &'a Update },
    Fence(FenceKinds),
    Drain(&'a Address),
}

impl Op {
    /// Whether the operation only touches the thread's own registers and program counter.
    pub fn is_local(&self) -> bool {
        match self {
            Op::Skip
            | Op::Assign { .. }
            | Op::Choose { .. }
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Return { .. } => true,
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Halt => false,
        }
    }

    /// The operation, if it is one between a thread and memory: what a memory model decides about.
    #[inline]
    pub fn memory(&self) -> Option<MemoryOp<'_>> {
        match self {
            Op::Load { reg, from } => Some(MemoryOp::Load { reg: *reg, from }),
            Op::Store { to, value } => Some(MemoryOp::Store { to, value }),
            Op::Update { reg, at, update } => Some(MemoryOp::Update { reg: *reg, at, update }),
            Op::Fence(kinds) => Some(MemoryOp::Fence(*kinds)),
            Op::Drain(at) => Some(MemoryOp::Drain(at)),
            Op::Skip
            | Op::Assign { .. }
            | Op::Choose { .. }
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Halt => None,
        }
    }

    /// What the operation does to memory, if it is an access.
    #[inline]
    pub fn access(&self) -> Option<Access> {
        match self.memory()? {
            MemoryOp::Load { .. } => Some(Access { loads: true, stores: false }),
            MemoryOp::Store { .. } => Some(Access { loads: false, stores: true }),
            MemoryOp::Update { .. } => Some(Access { loads: true, stores: true }),
            MemoryOp::Fence(_) | MemoryOp::Drain(_) => None,
        }
    }

    /// The address the operation accesses or waits for, if any.
    pub fn address(&self) -> Option<&Address> {
        match self.memory()? {
            MemoryOp::Load { from: at, .. }
            | MemoryOp::Store { to: at, .. }
            | MemoryOp::Update { at, .. }
            | MemoryOp::Drain(at) => Some(at),
            MemoryOp::Fence(_) => None,
        }
    }

    /// Whether control goes on to the statement's `next` when it is done.
    pub fn goes_on(&self) -> bool {
        !matches!(self, Op::Branch { .. } | Op::Halt)
    }

    /// The register the operation sets; `Invoke` may set several, which are not told here.
    pub fn target(&self) -> Option<Reg> {
        match self {
            Op::Assign { reg, .. }
            | Op::Choose { reg, .. }
            | Op::Load { reg, .. }
            | Op::New { reg, .. } => Some(*reg),
            Op::Update { reg, .. } => *reg,
            Op::Skip
            | Op::Store { .. }
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Halt => None,
        }
    }
}
