//! The operations of a statement.
//!
//! An operation accesses shared memory at most once, so every shared access is a statement with its
//! own label. Expressions are pure and read only registers.

use std::sync::Arc;

use crate::expr::{Expr, Fault};
use crate::ids::{Domain, Loc, Pc, PoolId, Reg, ThreadId};
use crate::value::Value;

/// The address of an access: `base + (cell - 1) * stride of the pool + index`, or the location that
/// a pointer points to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    /// For a plain location, the location. For an array, its first element. For a field of a
    /// record, the field of the first record of the pool.
    pub base: Loc,
    /// For a field of a record: the pool and the reference. The reference 0 (`null`) and references
    /// to records that are not allocated are faults.
    pub cell: Option<(PoolId, Expr<Reg>)>,
    /// For an array: its length and the index. An index outside `0..length` is a fault.
    pub index: Option<(u32, Expr<Reg>)>,
    /// For an access through a pointer: the pointer. There is no cell and no index then, and the
    /// base has no meaning.
    pub pointer: Option<Pointer>,
}

/// A pointer: a number that stands for a location. The numbers are a matter of the front end, which
/// can compute with them. Number 0 is `null`, see [`Pointer::NULL`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pointer {
    /// The number.
    pub value: Expr<Reg>,
    /// The numbers of the locations that the pointer may point to, in ascending order. Any other
    /// number is a fault.
    pub targets: Arc<[(Value, Loc)]>,
    /// The first and last numbers of the local variables whose lifetime has ended here. They decide
    /// only which fault is reported.
    pub ended: Arc<[(Value, Value)]>,
}

impl Pointer {
    /// The numbers of `null` and of the fields of a record at `null`. No location has such a number.
    pub const NULL: std::ops::Range<Value> = 0..4096;

    /// Returns the location with a number.
    pub fn locate(&self, number: Value) -> Result<Loc, Fault> {
        match self.targets.binary_search_by_key(&number, |(number, _)| *number) {
            Ok(at) => Ok(self.targets[at].1),
            Err(_) if Self::NULL.contains(&number) => Err(Fault::NullReference),
            Err(_) if self.is_ended(number) => Err(Fault::EndedLifetime),
            Err(_) => Err(Fault::InvalidPointer),
        }
    }

    /// Returns whether a number belongs to a local variable whose lifetime has ended.
    pub fn is_ended(&self, number: Value) -> bool {
        self.ended.iter().any(|(first, last)| (*first..=*last).contains(&number))
    }
}

impl Address {
    /// Returns the address of a plain location.
    pub fn fixed(base: Loc) -> Self {
        Address { base, cell: None, index: None, pointer: None }
    }

    /// Returns the address of an element of the array at `base`.
    pub fn element(base: Loc, len: u32, index: Expr<Reg>) -> Self {
        Address { index: Some((len, index)), ..Address::fixed(base) }
    }

    /// Returns the address that a pointer points to.
    pub fn through(pointer: Pointer) -> Self {
        Address { pointer: Some(pointer), ..Address::fixed(Loc(0)) }
    }

    /// Returns the location of an address without expressions.
    pub fn as_fixed(&self) -> Option<Loc> {
        match self {
            Address { base, cell: None, index: None, pointer: None } => Some(*base),
            _ => None,
        }
    }
}

/// An atomic read-modify-write of one location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Update {
    /// Compare and swap: writes `new` if the old value equals `expected`. If not, it only reads.
    Cas {
        /// The value to compare with.
        expected: Expr<Reg>,
        /// The value to write.
        new: Expr<Reg>,
        /// What it yields.
        result: CasResult,
    },
    /// Writes `new`. Yields the old value.
    Swap {
        /// The value to write.
        new: Expr<Reg>,
    },
    /// Adds `by`. Yields the old value. Subtraction adds a negative amount.
    Add {
        /// The summand.
        by: Expr<Reg>,
        /// The smallest and largest value of a location that wraps: the number of this range that
        /// is congruent to the sum is written. `None`: the sum is written, and overflow is a fault.
        wrap: Option<(Value, Value)>,
    },
    /// Combines the location with `by` by a bitwise operator. Yields the old value.
    Bits {
        /// `BitAnd`, `BitOr` or `BitXor`.
        op: crate::expr::BinOp,
        /// The other operand.
        by: Expr<Reg>,
    },
}

impl Update {
    /// Returns a compare-and-swap that yields whether it succeeds.
    pub fn cas(expected: Expr<Reg>, new: Expr<Reg>) -> Update {
        Update::Cas { expected, new, result: CasResult::Success }
    }
}

/// What a compare-and-swap yields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CasResult {
    /// 1 if it succeeds, else 0.
    Success,
    /// The old value. It succeeds if this is the expected value.
    Old,
}

/// The kinds of a fence. Each kind, such as store-load, orders every access of its first sort
/// before the fence with every access of its second sort after the fence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FenceKinds(u8);

impl FenceKinds {
    /// Orders stores before the fence with stores after it.
    pub const STORE_STORE: FenceKinds = FenceKinds(1);
    /// Orders stores before the fence with loads after it.
    pub const STORE_LOAD: FenceKinds = FenceKinds(2);
    /// Orders loads before the fence with loads after it.
    pub const LOAD_LOAD: FenceKinds = FenceKinds(4);
    /// Orders loads before the fence with stores after it.
    pub const LOAD_STORE: FenceKinds = FenceKinds(8);
    /// No kind.
    pub const NONE: FenceKinds = FenceKinds(0);
    /// An instruction barrier: `ISB` of ARM. It orders loads after it with the loads that decide
    /// an earlier branch or an earlier address. Models without such barriers ignore it.
    pub const INSTRUCTION: FenceKinds = FenceKinds(16);
    /// All four kinds that order accesses.
    pub const FULL: FenceKinds = FenceKinds(15);
    /// Orders loads before the fence with all accesses after it.
    pub const ACQUIRE: FenceKinds = FenceKinds(Self::LOAD_LOAD.0 | Self::LOAD_STORE.0);
    /// Orders all accesses before the fence with stores after it.
    pub const RELEASE: FenceKinds = FenceKinds(Self::LOAD_STORE.0 | Self::STORE_STORE.0);

    /// The four single kinds with their names in the `.fp` language.
    pub const SINGLE: [(FenceKinds, &'static str); 4] = [
        (Self::STORE_STORE, "store_store"),
        (Self::STORE_LOAD, "store_load"),
        (Self::LOAD_LOAD, "load_load"),
        (Self::LOAD_STORE, "load_store"),
    ];

    /// Returns the kinds of both sets.
    pub fn union(self, other: FenceKinds) -> FenceKinds {
        FenceKinds(self.0 | other.0)
    }

    /// Returns whether `self` has every kind of `other`.
    pub fn contains(self, other: FenceKinds) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether a fence of these kinds keeps two accesses in order. For an update, which
    /// loads and stores, one ordered pair is sufficient.
    #[inline]
    pub fn orders(self, earlier: Access, later: Access) -> bool {
        (earlier.stores && later.stores && self.contains(Self::STORE_STORE))
            || (earlier.stores && later.loads && self.contains(Self::STORE_LOAD))
            || (earlier.loads && later.loads && self.contains(Self::LOAD_LOAD))
            || (earlier.loads && later.stores && self.contains(Self::LOAD_STORE))
    }

    /// Returns the name in the `.fp` language. Several kinds are joined with ` + `.
    pub fn name(self) -> String {
        if self == Self::FULL {
            return "full".into();
        }
        if self == Self::INSTRUCTION {
            return "instruction".into();
        }
        let names: Vec<&str> =
            Self::SINGLE.iter().filter(|(k, _)| self.contains(*k)).map(|(_, n)| *n).collect();
        names.join(" + ")
    }

    /// Returns the kinds as a `fence` statement of the `.fp` language lists them, joined with `, `.
    pub fn listed(self) -> String {
        self.name().replace(" + ", ", ")
    }

    /// Returns the default cost of a fence, relative to other fences. A store-load fence costs as
    /// much as two fences that only order loads or only order stores. A full fence costs slightly
    /// more than a store-load fence. This is roughly the ratio on SPARC, ARM and x86 processors.
    pub fn default_cost(self) -> u32 {
        match self {
            Self::FULL => 5,
            Self::STORE_LOAD => 4,
            _ => 2,
        }
    }
}

/// Whether an access loads, stores, or does both (an update).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Access {
    /// The access reads.
    pub loads: bool,
    /// The access writes, or may write.
    pub stores: bool,
}

/// The operation of a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// No effect.
    Skip,
    /// `reg = expr`, local. Faults if the value is outside the register's declared range.
    Assign {
        /// The target register.
        reg: Reg,
        /// The value.
        expr: Expr<Reg>,
    },
    /// `reg = choose(lo..=hi)`, local: a nondeterministic value of the range.
    Choose {
        /// The target register.
        reg: Reg,
        /// The smallest value.
        lo: Value,
        /// The largest value, at least `lo`.
        hi: Value,
    },
    /// Reads a location into a register.
    Load {
        /// The target register.
        reg: Reg,
        /// The address.
        from: Address,
    },
    /// Writes a location.
    Store {
        /// The address.
        to: Address,
        /// The value.
        value: Expr<Reg>,
    },
    /// Reads and writes a location in one step.
    Update {
        /// The target register for the yielded value, if any.
        reg: Option<Reg>,
        /// The address.
        at: Address,
        /// The read-modify-write operation.
        update: Update,
    },
    /// A fence: keeps accesses before and after it in order.
    Fence(FenceKinds),
    /// Waits until the thread has no pending store to the location.
    Drain(Address),
    /// Continues at `then` if `cond` is not zero, else at `otherwise`. The statement's `next` is
    /// unused.
    Branch {
        /// The condition.
        cond: Expr<Reg>,
        /// The successor if the condition holds.
        then: Pc,
        /// The successor if the condition does not hold.
        otherwise: Pc,
    },
    /// Blocks if the condition does not hold. The condition reads only registers of the thread, so
    /// outside of `atomic` the thread then blocks forever.
    Assume(Expr<Reg>),
    /// Violates the property `assertions` if the condition does not hold.
    Assert(Expr<Reg>),
    /// Allocates the lowest free cell of the pool, initialises its fields, and yields the
    /// reference. Faults if no cell is free.
    New {
        /// The target register.
        reg: Reg,
        /// The pool.
        pool: PoolId,
    },
    /// Frees a cell of a pool.
    Free {
        /// The pool.
        pool: PoolId,
        /// The reference to the cell.
        cell: Expr<Reg>,
    },
    /// Leaves a critical section. A separate step, so that states inside the section are
    /// observable.
    Leave,
    /// Begins a block that executes in one step. The step waits until the thread has no pending
    /// stores. The statements up to `AtomicEnd` access memory directly. A false `assume` inside
    /// disables the whole step.
    AtomicBegin,
    /// Ends an atomic block.
    AtomicEnd,
    /// The invocation of an operation in a client's thread, a separate step. Records how many
    /// operations of other threads have returned so far.
    Invoke {
        /// The threads whose operations are counted, each with the register for the count.
        seen: Vec<(ThreadId, Reg)>,
    },
    /// The end of an operation in a client's thread, local. The operation has returned when its
    /// result is also known and all earlier operations of the thread have returned.
    Return {
        /// The register of the result, if there is one.
        result: Option<Reg>,
    },
    /// Waits until all other threads have finished: they have halted and have nothing pending. The
    /// first statement of the thread that runs last, see
    /// [`Program::last_thread`](crate::Program::last_thread).
    Join,
    /// Begins a read-side section of a domain. A separate step: before it, a grace period may see
    /// the thread outside of the section. Has no effect on the order of accesses.
    SectionBegin {
        /// The domain.
        domain: Domain,
        /// The register that records the sections, see [`crate::grace_period`].
        held: Reg,
        /// The target register for the index of the section, if the sections of the domain have
        /// indices. The index is the lowest one that is free.
        index: Option<Reg>,
    },
    /// Ends a read-side section of a domain. Faults if the thread is not in it.
    SectionEnd {
        /// The domain.
        domain: Domain,
        /// The register that records the sections.
        held: Reg,
        /// The index of the section, if the sections of the domain have indices.
        index: Option<Expr<Reg>>,
    },
    /// Waits for a grace period: until the thread has nothing pending and then has seen every
    /// [wait](crate::grace_period::waits) of the domain fulfilled, in any order.
    GracePeriod {
        /// The domain.
        domain: Domain,
        /// The register for the waits that were seen, as bits. 0 outside of the statement.
        seen: Reg,
    },
    /// The end of the thread.
    Halt,
}

/// An operation that a memory model executes. [`Op`] documents the variants.
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
    /// Returns whether the operation affects only the thread's registers and program counter.
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
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. }
            | Op::Halt => false,
        }
    }

    /// Returns the operation if a memory model executes it.
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
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. }
            | Op::Halt => None,
        }
    }

    /// Returns whether the operation loads and stores, if it is an access.
    #[inline]
    pub fn access(&self) -> Option<Access> {
        match self.memory()? {
            MemoryOp::Load { .. } => Some(Access { loads: true, stores: false }),
            MemoryOp::Store { .. } => Some(Access { loads: false, stores: true }),
            MemoryOp::Update { .. } => Some(Access { loads: true, stores: true }),
            MemoryOp::Fence(_) | MemoryOp::Drain(_) => None,
        }
    }

    /// Returns the address that the operation accesses or drains, if any.
    pub fn address(&self) -> Option<&Address> {
        match self.memory()? {
            MemoryOp::Load { from: at, .. }
            | MemoryOp::Store { to: at, .. }
            | MemoryOp::Update { at, .. }
            | MemoryOp::Drain(at) => Some(at),
            MemoryOp::Fence(_) => None,
        }
    }

    /// Returns the address that the operation accesses, to change it.
    pub fn address_mut(&mut self) -> Option<&mut Address> {
        match self {
            Op::Load { from: at, .. }
            | Op::Store { to: at, .. }
            | Op::Update { at, .. }
            | Op::Drain(at) => Some(at),
            Op::Skip
            | Op::Assign { .. }
            | Op::Choose { .. }
            | Op::Fence(_)
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
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. }
            | Op::Halt => None,
        }
    }

    /// Returns whether control continues at the statement's `next`.
    pub fn falls_through(&self) -> bool {
        !matches!(self, Op::Branch { .. } | Op::Halt)
    }

    /// Returns the register that the operation sets. Ignores the registers that `Invoke` sets, and
    /// the [registers](crate::grace_period::registers) of sections and grace periods.
    pub fn target(&self) -> Option<Reg> {
        match self {
            Op::Assign { reg, .. }
            | Op::Choose { reg, .. }
            | Op::Load { reg, .. }
            | Op::New { reg, .. } => Some(*reg),
            Op::Update { reg, .. } | Op::SectionBegin { index: reg, .. } => *reg,
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
            | Op::Join
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. }
            | Op::Halt => None,
        }
    }
}
