//! What each function that a C test may call means: plain accesses and fences, as compilers emit them for
//! machines with the four kinds of fences. Only the machine reorders: no compiler optimisation is modelled.
//!
//! *acq* is a fence `load_load + load_store`, *rel* is `load_store + store_store`, *full* is `full`.
//!
//! | what | written | means |
//! |---|---|---|
//! | load | `*x`, `READ_ONCE(*x)`, `atomic_read(x)`, `rcu_dereference(*x)`, relaxed | load |
//! | | acquire, consume, seq_cst; `smp_load_acquire(x)`, `atomic_read_acquire(x)` | load; *acq* |
//! | store | `*x = e`, `WRITE_ONCE(*x, e)`, `atomic_set(x, e)`, `atomic_init(x, e)`, relaxed | store |
//! | | release; `smp_store_release(x, e)`, `rcu_assign_pointer(*x, e)`, `atomic_set_release(x, e)` | *rel*; store |
//! | | seq_cst | *rel*; store; fence `store_load` |
//! | | `smp_store_mb(*x, e)` | store; *full* |
//! | update | relaxed; `atomic_add(e, x)` and others that yield nothing; Linux `_relaxed` | update |
//! | | acquire, consume; Linux `_acquire` | update; *acq* |
//! | | release; Linux `_release` | *rel*; update |
//! | | acq_rel, seq_cst | *rel*; update; *acq* |
//! | | Linux without ending: `xchg`, `cmpxchg`, `atomic_add_return`, ... | *full*; update; *full* |
//! | fence | `atomic_thread_fence`: acquire, consume | *acq* |
//! | | release | *rel* |
//! | | acq_rel | *acq* + *rel* |
//! | | seq_cst; `smp_mb()`, `smp_mb__before_atomic()` and its like | *full* |
//! | | `smp_rmb()` | fence `load_load` |
//! | | `smp_wmb()` | fence `store_store` |
//! | | relaxed; `atomic_signal_fence`, `barrier()`, `cpu_relax()`, `smp_read_barrier_depends()` | nothing |
//! | lock | `lock(l)`, `mtx_lock(l)`, `spin_lock(l)` | in one step: wait until it is 0, make it 1 |
//! | | `spin_trylock(l)` | update that makes it 1 if it is 0; *acq* |
//! | | `unlock(l)`, `mtx_unlock(l)`, `spin_unlock(l)` | *rel*; store of 0 |
//!
//! C11's functions without `_explicit` are seq_cst. A name that C11 and Linux share, `atomic_fetch_add` and its
//! like, is C11's when its first argument is an address, and Linux's when it is the amount.
//!
//! - A dependency orders what depends on it in every model, so consume could be a plain load; it is acquire, as in
//!   all compilers.
//! - A compare-and-exchange has the fences of the stronger of its two orders, whether it succeeds or not. The weak
//!   one never fails without reason. Direction: both leave out behaviours that C11 has.
//! - Taking a lock is an `atomic` block: it waits for all that its thread has pending, so it is a
//!   full fence where C11 asks for *acq* only.
//! - `rcu_read_lock`, `synchronize_rcu`, `srcu_*` have a meaning that no fence has; they are refused.

use fencepost_ir::{BinOp, FenceKinds};

/// What an access or fence is ordered with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Nothing.
    Relaxed,
    /// What comes later; consume, too.
    Acquire,
    /// What came before.
    Release,
    /// Both.
    AcquireRelease,
    /// Both, and all others like it.
    Sequential,
    /// Everything, as Linux has it.
    Full,
}

/// The fences of an access: before it and after it.
pub type Around = (FenceKinds, FenceKinds);

impl Order {
    /// By its name in C11.
    pub fn named(word: &str) -> Option<Order> {
        Some(match word {
            "memory_order_relaxed" => Order::Relaxed,
            "memory_order_acquire" | "memory_order_consume" => Order::Acquire,
            "memory_order_release" => Order::Release,
            "memory_order_acq_rel" => Order::AcquireRelease,
            "memory_order_seq_cst" => Order::Sequential,
            _ => return None,
        })
    }

    /// The fences of a load, if it may have this order.
    pub fn of_load(self) -> Option<Around> {
        let none = FenceKinds::default();
        match self {
            Order::Relaxed => Some((none, none)),
            Order::Acquire | Order::Sequential => Some((none, FenceKinds::ACQUIRE)),
            Order::Release | Order::AcquireRelease | Order::Full => None,
        }
    }

    /// The fences of a store, if it may have this order.
    pub fn of_store(self) -> Option<Around> {
        let none = FenceKinds::default();
        match self {
            Order::Relaxed => Some((none, none)),
            Order::Release => Some((FenceKinds::RELEASE, none)),
            Order::Sequential => Some((FenceKinds::RELEASE, FenceKinds::STORE_LOAD)),
            Order::Full => Some((none, FenceKinds::FULL)),
            Order::Acquire | Order::AcquireRelease => None,
        }
    }

    /// The fences of an update.
    pub fn of_update(self) -> Around {
        let none = FenceKinds::default();
        match self {
            Order::Relaxed => (none, none),
            Order::Acquire => (none, FenceKinds::ACQUIRE),
            Order::Release => (FenceKinds::RELEASE, none),
            Order::AcquireRelease | Order::Sequential => (FenceKinds::RELEASE, FenceKinds::ACQUIRE),
            Order::Full => (FenceKinds::FULL, FenceKinds::FULL),
        }
    }

    /// What a fence alone orders.
    pub fn of_fence(self) -> FenceKinds {
        match self {
            Order::Relaxed => FenceKinds::default(),
            Order::Acquire => FenceKinds::ACQUIRE,
            Order::Release => FenceKinds::RELEASE,
            Order::AcquireRelease => FenceKinds::ACQUIRE.union(FenceKinds::RELEASE),
            Order::Sequential | Order::Full => FenceKinds::FULL,
        }
    }
}

/// How a function is told which location it is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// By its address: `atomic_read(x)`.
    Address,
    /// As itself: `READ_ONCE(*x)`.
    Itself,
}

/// How an update changes a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// To a new value.
    Swap,
    /// To the sum, or the difference.
    Add {
        /// Whether it is the difference.
        negative: bool,
    },
    /// Bit by bit.
    Bits(BinOp),
}

/// The operands of an update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operands {
    /// The address, then the value.
    AddressValue,
    /// The value, then the address.
    ValueAddress,
    /// The address; the value is 1.
    Address,
}

/// What an update yields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Yields {
    /// Nothing.
    Nothing,
    /// The value before.
    Old,
    /// The value after.
    New,
    /// Whether the value after is zero.
    Zero,
    /// Whether the value after is negative.
    Negative,
}

/// What a function does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// A load.
    Load(Told),
    /// A store of the second argument.
    Store(Told),
    /// A store of 0.
    Clear,
    /// An update.
    Update(Change, Operands, Yields),
    /// `f(x, &expected, new)`, which yields whether it succeeds and else puts what it found into `expected`.
    CompareExchange,
    /// `f(x, expected, new)`, which yields what it found.
    CompareSwap,
    /// A fence of the order's kinds.
    Fence,
    /// A fence of these kinds; of none, it is nothing.
    Barrier(FenceKinds),
    /// Takes a lock.
    Lock,
    /// Takes a lock if it is free, and yields whether it was.
    TryLock,
    /// Frees a lock.
    Unlock,
}

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known {
    /// What it does.
    pub meaning: Meaning,
    /// Its order, if no argument tells it.
    pub order: Order,
    /// How many arguments at the end tell orders.
    pub orders: usize,
}

/// The function of this name; `address_first` tells whether its first argument is an address.
pub fn find(name: &str, address_first: bool) -> Option<Known> {
    fixed(name).or_else(|| c11(name, address_first)).or_else(|| linux(name))
}

/// Functions whose name tells all.
fn fixed(name: &str) -> Option<Known> {
    let nothing = FenceKinds::default();
    let (meaning, order) = match name {
        "READ_ONCE" | "rcu_dereference" => (Meaning::Load(Told::Itself), Order::Relaxed),
        "smp_load_acquire" => (Meaning::Load(Told::Address), Order::Acquire),
        "WRITE_ONCE" => (Meaning::Store(Told::Itself), Order::Relaxed),
        "rcu_assign_pointer" => (Meaning::Store(Told::Itself), Order::Release),
        "smp_store_release" => (Meaning::Store(Told::Address), Order::Release),
        "smp_store_mb" => (Meaning::Store(Told::Itself), Order::Full),
        "atomic_init" => (Meaning::Store(Told::Address), Order::Relaxed),
        "smp_mb"
        | "smp_mb__before_atomic"
        | "smp_mb__after_atomic"
        | "smp_mb__before_spinlock"
        | "smp_mb__after_spinlock"
        | "smp_mb__after_unlock_lock" => (Meaning::Barrier(FenceKinds::FULL), Order::Full),
        "smp_rmb" => (Meaning::Barrier(FenceKinds::LOAD_LOAD), Order::Full),
        "smp_wmb" => (Meaning::Barrier(FenceKinds::STORE_STORE), Order::Full),
        "barrier" | "cpu_relax" | "smp_read_barrier_depends" => {
            (Meaning::Barrier(nothing), Order::Relaxed)
        }
        "lock" | "mtx_lock" | "spin_lock" => (Meaning::Lock, Order::Acquire),
        "unlock" | "mtx_unlock" | "spin_unlock" => (Meaning::Unlock, Order::Release),
        "spin_trylock" => (Meaning::TryLock, Order::Acquire),
        "atomic_thread_fence" => {
            return Some(Known { meaning: Meaning::Fence, order: Order::Sequential, orders: 1 });
        }
        "atomic_signal_fence" => {
            let meaning = Meaning::Barrier(nothing);
            return Some(Known { meaning, order: Order::Relaxed, orders: 1 });
        }
        _ => return None,
    };
    Some(Known { meaning, order, orders: 0 })
}

/// The functions of C11.
fn c11(name: &str, address_first: bool) -> Option<Known> {
    let explicit = name.strip_suffix("_explicit");
    let update = |change| Meaning::Update(change, Operands::AddressValue, Yields::Old);
    let mut orders = usize::from(explicit.is_some());
    let meaning = match explicit.unwrap_or(name).strip_prefix("atomic_")? {
        "load" => Meaning::Load(Told::Address),
        "store" => Meaning::Store(Told::Address),
        "exchange" => update(Change::Swap),
        "flag_test_and_set" => Meaning::Update(Change::Swap, Operands::Address, Yields::Old),
        "flag_clear" => Meaning::Clear,
        "compare_exchange_strong" | "compare_exchange_weak" => {
            orders *= 2;
            Meaning::CompareExchange
        }
        rest if address_first || explicit.is_some() => {
            let change = change(rest.strip_prefix("fetch_")?)?;
            update(change)
        }
        _ => return None,
    };
    Some(Known { meaning, order: Order::Sequential, orders })
}

fn change(word: &str) -> Option<Change> {
    Some(match word {
        "add" => Change::Add { negative: false },
        "sub" => Change::Add { negative: true },
        "and" => Change::Bits(BinOp::BitAnd),
        "or" => Change::Bits(BinOp::BitOr),
        "xor" => Change::Bits(BinOp::BitXor),
        _ => return None,
    })
}

/// The updates of Linux, and `atomic_read` and `atomic_set`.
fn linux(name: &str) -> Option<Known> {
    let endings =
        [("_relaxed", Order::Relaxed), ("_acquire", Order::Acquire), ("_release", Order::Release)];
    let ending =
        endings.iter().find_map(|(ending, order)| Some((name.strip_suffix(ending)?, *order)));
    let (base, order) = ending.unwrap_or((name, Order::Full));
    let plain = ending.is_none();
    let known = |meaning, order| Some(Known { meaning, order, orders: 0 });
    let prefix = ["atomic_long_", "atomic64_", "atomic_"];
    let rest = prefix.iter().find_map(|prefix| base.strip_prefix(prefix));
    let word = match (base, rest) {
        ("xchg", _) | (_, Some("xchg")) => {
            return known(
                Meaning::Update(Change::Swap, Operands::AddressValue, Yields::Old),
                order,
            );
        }
        ("cmpxchg", _) | (_, Some("cmpxchg")) => return known(Meaning::CompareSwap, order),
        ("try_cmpxchg", _) | (_, Some("try_cmpxchg")) => {
            return known(Meaning::CompareExchange, order);
        }
        (_, Some(rest)) => rest,
        (_, None) => return None,
    };
    match (word, order) {
        ("read", Order::Full) => return known(Meaning::Load(Told::Address), Order::Relaxed),
        ("read", Order::Acquire) => return known(Meaning::Load(Told::Address), order),
        ("set", Order::Full) => return known(Meaning::Store(Told::Address), Order::Relaxed),
        ("set", Order::Release) => return known(Meaning::Store(Told::Address), order),
        _ => {}
    }
    let (word, yields) = if let Some(word) = word.strip_prefix("fetch_") {
        (word, Yields::Old)
    } else if let Some(word) = word.strip_suffix("_return") {
        (word, Yields::New)
    } else if let Some(word) = word.strip_suffix("_and_test").filter(|_| plain) {
        (word, Yields::Zero)
    } else if let Some(word) = word.strip_suffix("_negative").filter(|_| plain) {
        (word, Yields::Negative)
    } else if plain {
        (word, Yields::Nothing)
    } else {
        return None;
    };
    let (change, operands) = match word {
        "inc" => (Change::Add { negative: false }, Operands::Address),
        "dec" => (Change::Add { negative: true }, Operands::Address),
        _ => (change(word)?, Operands::ValueAddress),
    };
    let order = if yields == Yields::Nothing { Order::Relaxed } else { order };
    known(Meaning::Update(change, operands, yields), order)
}
