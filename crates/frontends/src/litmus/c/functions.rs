//! The semantics of the functions that a C test may call.
//!
//! Each function becomes plain accesses and fences, as compilers emit them for machines with the
//! four kinds of fences. Only the machine reorders accesses: compiler optimisations are not
//! modelled.
//!
//! *acq* is a fence `load_load + load_store`, *rel* is `load_store + store_store`, *full* is
//! `full`.
//!
//! | operation | source | lowered to |
//! |---|---|---|
//! | load | `*x`, `READ_ONCE(*x)`, `atomic_read(x)`, `rcu_dereference(*x)`, relaxed | load |
//! | | acquire, consume, seq_cst; `smp_load_acquire(x)`, `atomic_read_acquire(x)` | load; *acq* |
//! | store | `*x = e`, `WRITE_ONCE(*x, e)`, `atomic_set(x, e)`, `atomic_init(x, e)`, relaxed | store |
//! | | release; `smp_store_release(x, e)`, `rcu_assign_pointer(*x, e)`, `atomic_set_release(x, e)` | *rel*; store |
//! | | seq_cst | *rel*; store; fence `store_load` |
//! | | `smp_store_mb(*x, e)` | store; *full* |
//! | update | relaxed; `atomic_add(e, x)` and others without a result; Linux `_relaxed` | update |
//! | | acquire, consume; Linux `_acquire` | update; *acq* |
//! | | release; Linux `_release` | *rel*; update |
//! | | acq_rel, seq_cst | *rel*; update; *acq* |
//! | | Linux without suffix: `xchg`, `atomic_add_return`, ... | *full*; update; *full* |
//! | | Linux `cmpxchg`, `try_cmpxchg`, `atomic_add_unless` | if it fails: load; else: the update with its fences |
//! | fence | `atomic_thread_fence`: acquire, consume | *acq* |
//! | | release | *rel* |
//! | | acq_rel | *acq* + *rel* |
//! | | seq_cst; `smp_mb()`, `smp_mb__before_atomic()` and similar | *full* |
//! | | `smp_rmb()` | fence `load_load` |
//! | | `smp_wmb()` | fence `store_store` |
//! | | relaxed; `atomic_signal_fence`, `barrier()`, `cpu_relax()`, `smp_read_barrier_depends()` | nothing |
//! | lock | `lock(l)`, `mtx_lock(l)`, `spin_lock(l)` | CAS from 0 to 1 until it succeeds; *acq* |
//! | | `spin_trylock(l)` | CAS from 0 to 1; *acq* |
//! | | `unlock(l)`, `mtx_unlock(l)`, `spin_unlock(l)` | *rel*; store of 0 |
//! | | `spin_is_locked(l)` | load |
//!
//! C11 functions without `_explicit` are seq_cst. C11 and Linux share names such as
//! `atomic_fetch_add`. The function is C11's if its first argument is an address, and Linux's if it
//! is the amount.
//!
//! - Every model respects dependencies, so consume could be a plain load. It is acquire, as in all
//!   compilers.
//! - A compare-and-exchange of C11 has the fences of both of its orders, whether it succeeds or
//!   not. The weak variant never fails spuriously. Direction: both are under-approximations of C11.
//! - RCU and SRCU become sections and grace periods, see the book's page on semantics.

use fencepost_ir::{BinOp, FenceKinds};

use crate::orders::MemoryOrder;

/// How an argument denotes a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LocationArgument {
    /// The argument is the address: `atomic_read(x)`.
    Address,
    /// The argument is an lvalue: `READ_ONCE(*x)`.
    Lvalue,
}

/// The operation of an update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UpdateKind {
    /// Stores a new value.
    Swap,
    /// Adds or subtracts a value.
    Add {
        /// Whether the value is subtracted.
        negative: bool,
    },
    /// Applies a bitwise operator.
    Bits(BinOp),
}

/// The order of the arguments of an update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operands {
    /// The address, then the value.
    AddressValue,
    /// The value, then the address.
    ValueAddress,
    /// Only the address; the value is 1.
    Address,
}

/// The return value of an update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Returns {
    /// No value.
    Nothing,
    /// The old value.
    Old,
    /// The new value.
    New,
    /// Whether the new value is zero.
    Zero,
    /// Whether the new value is negative.
    Negative,
}

/// A function of RCU or SRCU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RcuCall {
    /// Begins a read-side section. With SRCU, returns its index.
    Lock,
    /// Ends a read-side section.
    Unlock,
    /// Waits for a grace period.
    Synchronize,
}

/// The operation of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionKind {
    /// A load.
    Load(LocationArgument),
    /// A store of the second argument.
    Store(LocationArgument),
    /// A store of 0.
    Clear,
    /// An update.
    Update(UpdateKind, Operands, Returns),
    /// `f(x, &expected, new)`: returns whether it succeeds. On failure, stores the value found in
    /// `expected`.
    CompareExchange,
    /// Linux's `f(x, expected, new)`: returns the value found.
    CompareSwap,
    /// Linux's `f(x, &expected, new)`: returns whether it succeeds. On failure, stores the value
    /// found in `expected`.
    TryCompareSwap,
    /// Linux's `f(x, amount, excluded)`: adds the amount unless the value is `excluded`.
    AddUnless(AddUnless),
    /// A fence with the kinds of its memory order.
    Fence,
    /// A fence with these kinds; without kinds, it has no effect.
    Barrier(FenceKinds),
    /// Takes a lock.
    Lock,
    /// Takes a lock if it is free, and returns whether it was free.
    TryLock,
    /// Releases a lock.
    Unlock,
    /// Returns whether a lock is taken.
    IsLocked,
    /// RCU or, with this number of arguments, SRCU.
    Rcu(RcuCall, usize),
}

/// The arguments and the return value of an addition with a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddUnless {
    /// Whether the call has the arguments `amount` and `excluded`. Otherwise they are 1 and 0.
    pub has_amount: bool,
    /// Whether the call returns the old value, and not whether it added the amount.
    pub returns_old: bool,
}

/// A supported function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FunctionInfo {
    /// The operation of the function.
    pub kind: FunctionKind,
    /// The memory order, if no argument specifies one.
    pub order: MemoryOrder,
    /// The number of memory orders at the end of the argument list.
    pub orders: usize,
}

/// Returns the function of this name. `address_first` is whether its first argument is an address.
pub fn find(name: &str, address_first: bool) -> Option<FunctionInfo> {
    without_variants(name).or_else(|| c11(name, address_first)).or_else(|| linux(name))
}

/// Returns a function whose name does not depend on a memory order or an operator.
fn without_variants(name: &str) -> Option<FunctionInfo> {
    let nothing = FenceKinds::default();
    let (kind, order) = match name {
        "READ_ONCE" | "rcu_dereference" => {
            (FunctionKind::Load(LocationArgument::Lvalue), MemoryOrder::Relaxed)
        }
        "smp_load_acquire" => (FunctionKind::Load(LocationArgument::Address), MemoryOrder::Acquire),
        "WRITE_ONCE" => (FunctionKind::Store(LocationArgument::Lvalue), MemoryOrder::Relaxed),
        "rcu_assign_pointer" => {
            (FunctionKind::Store(LocationArgument::Lvalue), MemoryOrder::Release)
        }
        "smp_store_release" => {
            (FunctionKind::Store(LocationArgument::Address), MemoryOrder::Release)
        }
        "smp_store_mb" => (FunctionKind::Store(LocationArgument::Lvalue), MemoryOrder::Full),
        "atomic_init" => (FunctionKind::Store(LocationArgument::Address), MemoryOrder::Relaxed),
        "smp_mb"
        | "smp_mb__before_atomic"
        | "smp_mb__after_atomic"
        | "smp_mb__before_spinlock"
        | "smp_mb__after_spinlock"
        | "smp_mb__after_unlock_lock" => {
            (FunctionKind::Barrier(FenceKinds::FULL), MemoryOrder::Full)
        }
        "smp_rmb" => (FunctionKind::Barrier(FenceKinds::LOAD_LOAD), MemoryOrder::Full),
        "smp_wmb" => (FunctionKind::Barrier(FenceKinds::STORE_STORE), MemoryOrder::Full),
        "barrier" | "cpu_relax" | "smp_read_barrier_depends" => {
            (FunctionKind::Barrier(nothing), MemoryOrder::Relaxed)
        }
        "lock" | "mtx_lock" | "spin_lock" => (FunctionKind::Lock, MemoryOrder::Acquire),
        "unlock" | "mtx_unlock" | "spin_unlock" => (FunctionKind::Unlock, MemoryOrder::Release),
        "rcu_read_lock" => (FunctionKind::Rcu(RcuCall::Lock, 0), MemoryOrder::Relaxed),
        "rcu_read_unlock" => (FunctionKind::Rcu(RcuCall::Unlock, 0), MemoryOrder::Relaxed),
        "synchronize_rcu" | "synchronize_rcu_expedited" => {
            (FunctionKind::Rcu(RcuCall::Synchronize, 0), MemoryOrder::Full)
        }
        "srcu_read_lock" => (FunctionKind::Rcu(RcuCall::Lock, 1), MemoryOrder::Relaxed),
        "srcu_read_unlock" => (FunctionKind::Rcu(RcuCall::Unlock, 2), MemoryOrder::Relaxed),
        "synchronize_srcu" | "synchronize_srcu_expedited" => {
            (FunctionKind::Rcu(RcuCall::Synchronize, 1), MemoryOrder::Full)
        }
        "spin_trylock" => (FunctionKind::TryLock, MemoryOrder::Acquire),
        "spin_is_locked" => (FunctionKind::IsLocked, MemoryOrder::Relaxed),
        "atomic_thread_fence" => {
            return Some(FunctionInfo {
                kind: FunctionKind::Fence,
                order: MemoryOrder::SeqCst,
                orders: 1,
            });
        }
        "atomic_signal_fence" => {
            let kind = FunctionKind::Barrier(nothing);
            return Some(FunctionInfo { kind, order: MemoryOrder::Relaxed, orders: 1 });
        }
        _ => return None,
    };
    Some(FunctionInfo { kind, order, orders: 0 })
}

/// Returns a C11 function.
fn c11(name: &str, address_first: bool) -> Option<FunctionInfo> {
    let explicit = name.strip_suffix("_explicit");
    let update =
        |update_kind| FunctionKind::Update(update_kind, Operands::AddressValue, Returns::Old);
    let mut orders = usize::from(explicit.is_some());
    let kind = match explicit.unwrap_or(name).strip_prefix("atomic_")? {
        "load" => FunctionKind::Load(LocationArgument::Address),
        "store" => FunctionKind::Store(LocationArgument::Address),
        "exchange" => update(UpdateKind::Swap),
        "flag_test_and_set" => {
            FunctionKind::Update(UpdateKind::Swap, Operands::Address, Returns::Old)
        }
        "flag_clear" => FunctionKind::Clear,
        "compare_exchange_strong" | "compare_exchange_weak" => {
            orders *= 2;
            FunctionKind::CompareExchange
        }
        rest if address_first || explicit.is_some() => {
            let update_kind = update_kind(rest.strip_prefix("fetch_")?)?;
            update(update_kind)
        }
        _ => return None,
    };
    Some(FunctionInfo { kind, order: MemoryOrder::SeqCst, orders })
}

fn update_kind(word: &str) -> Option<UpdateKind> {
    Some(match word {
        "add" => UpdateKind::Add { negative: false },
        "sub" => UpdateKind::Add { negative: true },
        "and" => UpdateKind::Bits(BinOp::BitAnd),
        "or" => UpdateKind::Bits(BinOp::BitOr),
        "xor" => UpdateKind::Bits(BinOp::BitXor),
        _ => return None,
    })
}

/// Returns a Linux update, or `atomic_read` or `atomic_set`.
fn linux(name: &str) -> Option<FunctionInfo> {
    let suffixes = [
        ("_relaxed", MemoryOrder::Relaxed),
        ("_acquire", MemoryOrder::Acquire),
        ("_release", MemoryOrder::Release),
    ];
    let suffix =
        suffixes.iter().find_map(|(suffix, order)| Some((name.strip_suffix(suffix)?, *order)));
    let (base, order) = suffix.unwrap_or((name, MemoryOrder::Full));
    let has_no_suffix = suffix.is_none();
    let info = |kind, order| Some(FunctionInfo { kind, order, orders: 0 });
    let prefix = ["atomic_long_", "atomic64_", "atomic_"];
    let rest = prefix.iter().find_map(|prefix| base.strip_prefix(prefix));
    let word = match (base, rest) {
        ("xchg", _) | (_, Some("xchg")) => {
            return info(
                FunctionKind::Update(UpdateKind::Swap, Operands::AddressValue, Returns::Old),
                order,
            );
        }
        ("cmpxchg", _) | (_, Some("cmpxchg")) => return info(FunctionKind::CompareSwap, order),
        ("try_cmpxchg", _) | (_, Some("try_cmpxchg")) => {
            return info(FunctionKind::TryCompareSwap, order);
        }
        (_, Some(rest @ ("add_unless" | "fetch_add_unless" | "inc_not_zero"))) if has_no_suffix => {
            let has_amount = rest != "inc_not_zero";
            let returns_old = rest == "fetch_add_unless";
            return info(FunctionKind::AddUnless(AddUnless { has_amount, returns_old }), order);
        }
        (_, Some(rest)) => rest,
        (_, None) => return None,
    };
    match (word, order) {
        ("read", MemoryOrder::Full) => {
            return info(FunctionKind::Load(LocationArgument::Address), MemoryOrder::Relaxed);
        }
        ("read", MemoryOrder::Acquire) => {
            return info(FunctionKind::Load(LocationArgument::Address), order);
        }
        ("set", MemoryOrder::Full) => {
            return info(FunctionKind::Store(LocationArgument::Address), MemoryOrder::Relaxed);
        }
        ("set", MemoryOrder::Release) => {
            return info(FunctionKind::Store(LocationArgument::Address), order);
        }
        _ => {}
    }
    let (word, returns) = if let Some(word) = word.strip_prefix("fetch_") {
        (word, Returns::Old)
    } else if let Some(word) = word.strip_suffix("_return") {
        (word, Returns::New)
    } else if let Some(word) = word.strip_suffix("_and_test").filter(|_| has_no_suffix) {
        (word, Returns::Zero)
    } else if let Some(word) = word.strip_suffix("_negative").filter(|_| has_no_suffix) {
        (word, Returns::Negative)
    } else if has_no_suffix {
        (word, Returns::Nothing)
    } else {
        return None;
    };
    let (update_kind, operands) = match word {
        "inc" => (UpdateKind::Add { negative: false }, Operands::Address),
        "dec" => (UpdateKind::Add { negative: true }, Operands::Address),
        _ => (update_kind(word)?, Operands::ValueAddress),
    };
    let order = if returns == Returns::Nothing { MemoryOrder::Relaxed } else { order };
    info(FunctionKind::Update(update_kind, operands, returns), order)
}
