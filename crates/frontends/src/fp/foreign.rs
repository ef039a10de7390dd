//! Hints for words of other languages: what to write in `.fp` instead.
//!
//! The words are looked up only after an error, so a program may use each of them as a name. A hint
//! fits on one line of a terminal of 80 columns.

/// The words of one meaning, and the hint for them.
type Entry = (&'static [&'static str], &'static str);

const NO_LOCKS: &str = "lock: `atomic { assume(!m); m = true; }`; unlock: `m = false;`";
const FULL_FENCE: &str = "write `fence;` for a full fence";
const NO_OUTPUT: &str = "there is no output; use `observe` and `fencepost outcomes`";
const REGISTER: &str = "registers need no declaration: write `r = x;`, or `int r = x;`";
const SHARED: &str = "write `shared int x;`; accesses to locations are atomic";
const LOAD: &str = "write `r = x;`: each occurrence of a location is one load";
const STORE: &str = "write `x = v;`: each assignment to a location is one store";
const INTEGER: &str = "write `int`, `int(0..4)` for a range, or `u8` to `i64`";
const THREAD: &str = "write `thread p { ... }` for a thread";
const PROCEDURE: &str = "write `proc void f() { ... }` for a procedure";
const CONDITION: &str = "write `final forall COND;`, or `exists` or `never` for `forall`";
const WAIT: &str = "write `await(COND);` to wait until a condition holds";
const CHOOSE: &str = "write `choose(0..4)` for any value of a range";

/// Words in the position of a type.
const TYPES: &[Entry] = &[
    (&["unsigned", "signed", "long", "short", "size_t", "byte", "integer", "Integer"], INTEGER),
    (&["uint", "usize", "isize", "u128", "i128"], INTEGER),
    (&["int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t"], INTEGER),
    (&["uint32_t", "uint64_t", "intptr_t", "uintptr_t", "nat", "char", "Int"], INTEGER),
    (&["float", "double", "f32", "f64", "string", "String", "str"], INTEGER),
    (&["boolean", "Boolean", "_Bool", "Bool"], "write `bool`"),
    (&["_Atomic", "atomic_int", "atomic_bool", "atomic", "Atomic", "AtomicInteger"], SHARED),
    (&["AtomicUsize", "AtomicBool", "AtomicI32", "AtomicU32", "volatile", "std"], SHARED),
    (&["static", "extern", "global", "register", "constexpr"], SHARED),
    (&["let", "var", "auto", "local", "mut"], REGISTER),
    (&["mutex", "Mutex", "pthread_mutex_t", "spinlock_t", "lock_t", "Lock"], NO_LOCKS),
    (&["struct", "class", "typedef"], "write `record N { ... }` and `pool N[4];`"),
];

/// Words at the beginning of a statement.
const STATEMENTS: &[Entry] = &[
    (&["then", "begin"], "write `if (c) s else s`, without `then`"),
    (&["elif", "elseif", "elsif", "elsf"], "write `else if (c) ...`"),
    (&["repeat", "until"], "write `do { ... } while (c);`"),
    (&["forever"], "write `loop { ... }`"),
    (&["delete"], "write `free(n);` to return a record to its pool"),
    (&["pass", "nop", "noop", "Skip"], "write `skip;`"),
    (&["wait", "waitfor"], WAIT),
    (&["synchronized", "lock", "acquire", "unlock", "release"], NO_LOCKS),
    (&["try", "catch", "throw", "raise"], "there are no exceptions; use `if` and `assert`"),
    (&["asm", "__asm__"], "write the statements of `.fp`, for example `fence;`"),
    (&["mfence", "sync", "dmb", "membar", "hwsync"], FULL_FENCE),
    (&["sfence"], "write `fence store_store;`"),
    (&["lfence", "isync"], "write `fence load_load, load_store;`"),
    (&["lwsync"], "write `fence load_load, load_store, store_store;`"),
    (&["print", "printf", "echo", "cout", "std", "println"], NO_OUTPUT),
    (&["import", "using"], "a file includes no other file; remove this line"),
    (&["function", "fn", "def"], "declare procedures outside of threads: `proc void f() { ... }`"),
    (&["match", "case"], "write `if (...) ... else if (...) ...`"),
    (&["nondet", "havoc"], "write `r = choose(0, 1);` for any of the values"),
];

/// Words in the position of a procedure.
const CALLS: &[Entry] = &[
    (&["atomic_store", "atomic_store_explicit", "WRITE_ONCE", "smp_store_release"], STORE),
    (&["store", "write", "ACCESS_ONCE", "rcu_assign_pointer"], STORE),
    (&["atomic_load", "atomic_load_explicit", "READ_ONCE", "smp_load_acquire"], LOAD),
    (&["load", "read", "rcu_dereference", "atomic_read"], LOAD),
    (&["atomic_thread_fence", "smp_mb", "mb", "mfence", "_mm_mfence"], FULL_FENCE),
    (&["__sync_synchronize", "MemoryBarrier", "barrier", "sync", "membar", "dmb"], FULL_FENCE),
    (&["atomic_signal_fence", "thread_fence", "full_fence", "memory_barrier"], FULL_FENCE),
    (&["smp_wmb", "wmb", "sfence", "_mm_sfence"], "write `fence store_store;`"),
    (&["smp_rmb", "rmb", "lfence", "_mm_lfence"], "write `fence load_load;`"),
    (&["atomic_fetch_add", "atomic_fetch_add_explicit", "fetch_and_add"], FETCH_ADD),
    (&["faa", "FAA", "xadd", "atomic_add", "__sync_fetch_and_add"], FETCH_ADD),
    (&["atomic_fetch_sub", "fetch_and_sub"], "write `fetch_sub(x, 1)`"),
    (&["atomic_exchange", "atomic_exchange_explicit", "xchg", "exchange"], SWAP),
    (&["atomic_xchg", "test_and_set", "tas", "TAS", "atomic_flag_test_and_set"], SWAP),
    (&["compare_and_swap", "compare_exchange", "CAS"], CAS),
    (&["atomic_compare_exchange_strong", "atomic_compare_exchange_weak"], CAS),
    (&["atomic_compare_exchange_strong_explicit", "atomic_cmpxchg"], CAS),
    (&["__sync_bool_compare_and_swap", "__sync_val_compare_and_swap"], CAS),
    (&["compare_exchange_strong", "compare_exchange_weak", "compareAndSet"], CAS),
    (&["printf", "print", "println", "puts", "fprintf"], NO_OUTPUT),
    (&["malloc", "calloc", "alloc", "kmalloc"], "write `new N` for a record of type `N`"),
    (&["sizeof"], "there are no sizes; write `new N` for a record of type `N`"),
    (&["kfree", "retire"], "write `free(n);` to return a record to its pool"),
    (&["pthread_mutex_lock", "pthread_mutex_unlock", "mutex_lock"], NO_LOCKS),
    (&["mutex_unlock", "spin_lock", "spin_unlock", "pthread_spin_lock"], NO_LOCKS),
    (&["lock", "unlock", "acquire", "release", "try_lock", "synchronized"], NO_LOCKS),
    (&["pthread_create", "spawn", "fork", "start"], THREAD),
    (&["pthread_join", "join"], "write `finally { ... }` for code that runs after all threads"),
    (&["yield", "sleep", "usleep", "cpu_relax", "sched_yield", "pause"], YIELD),
    (&["sleep_until", "delay", "_mm_pause"], YIELD),
    (&["wait", "wait_until", "waitfor", "until"], WAIT),
    (&["exit", "abort", "halt", "stop"], "write `return;` to end the thread"),
    (&["rand", "random", "nondet", "nondet_int", "havoc"], CHOOSE),
    (&["__VERIFIER_nondet_int", "any"], CHOOSE),
    (&["__VERIFIER_assert", "require", "ensure", "check"], "write `assert(COND);`"),
    (&["__VERIFIER_assume"], "write `assume(COND);`"),
    (&["elif", "elseif", "elsif"], "write `else if (c) ...`"),
    (&["not"], "write `!` for \"not\""),
    (&["main"], THREAD),
];

const FETCH_ADD: &str = "write `fetch_add(x, 1)`: it adds and yields the old value";
const SWAP: &str = "write `swap(x, v)`: it stores `v` and yields the old value";
const CAS: &str = "write `cas(x, old, new)`: it yields `true` if it stored `new`";
const YIELD: &str = "remove this: every order of steps is explored";

/// Words in the position of a value.
const VALUES: &[Entry] = &[
    (&["NULL", "nullptr", "None", "nil", "NIL", "Null", "undefined"], "write `null`"),
    (&["TRUE", "True"], "write `true`"),
    (&["FALSE", "False"], "write `false`"),
    (&["memory_order_seq_cst", "memory_order_relaxed", "seq_cst", "SeqCst"], "remove the order"),
];

/// Words at the beginning of a declaration.
const ITEMS: &[Entry] = &[
    (&["fn", "def", "function", "func", "procedure", "method", "inline"], PROCEDURE),
    (&["process", "proctype", "active", "Thread", "task"], THREAD),
    (&["struct", "class", "typedef", "type"], "write `record N { ... }` and `pool N[4];`"),
    (&["import", "using", "include", "use", "package"], IMPORT),
    (&["forbidden", "exists", "forall", "never", "allowed", "ensures"], CONDITION),
    (&["ensure", "assertion", "check", "require", "filter"], CONDITION),
    (&["always"], "write `invariant COND;` for a condition of every state"),
    (&["static", "volatile", "extern", "global", "var", "let", "unsigned", "signed"], SHARED),
    (&["define"], "write `const N = 3;`"),
];

const IMPORT: &str = "a file includes no other file; remove this line";

/// Words between two operands.
const OPERATORS: &[Entry] = &[
    (&["and", "AND"], "write `&&` for \"and\""),
    (&["or", "OR"], "write `||` for \"or\""),
    (&["is"], "write `==` to compare"),
    (&["mod"], "write `%` for the remainder"),
    (&["then"], "write `if (c) s else s`, without `then`"),
];

fn find(tables: &[&[Entry]], word: &str) -> Option<&'static str> {
    let entries = tables.iter().copied().flatten();
    entries.into_iter().find(|(words, _)| words.contains(&word)).map(|(_, hint)| *hint)
}

/// Returns a hint for a word in the position of a type. `let r` has the syntax of a declaration.
pub(super) fn type_name(word: &str) -> Option<&'static str> {
    find(&[TYPES, STATEMENTS], word)
}

/// Returns a hint for a word at the beginning of a statement.
pub(super) fn statement(word: &str) -> Option<&'static str> {
    find(&[STATEMENTS, TYPES], word)
}

/// Returns a hint for a word in the position of a procedure or of a method.
pub(super) fn procedure(word: &str) -> Option<&'static str> {
    find(&[CALLS], word)
}

/// Returns a hint for a word in the position of a value.
pub(super) fn value(word: &str) -> Option<&'static str> {
    find(&[VALUES], word)
}

/// Returns a hint for a word at the beginning of a declaration.
pub(super) fn item(word: &str) -> Option<&'static str> {
    find(&[ITEMS, TYPES], word)
}

/// Returns a hint for a word between two operands.
pub(super) fn operator(word: &str) -> Option<&'static str> {
    find(&[OPERATORS], word)
}

/// Returns whether a word continues the statement before it. An error in that statement makes an
/// error here useless.
pub(super) fn continues_statement(word: &str) -> bool {
    ["elif", "elseif", "elsif", "until", "catch"].contains(&word)
}

/// Returns a hint for text that is not part of the language, by the text from its first character
/// to the end of the line.
pub(super) fn text(rest: &str) -> Option<&'static str> {
    let directive = rest.strip_prefix('#').map(|r| r.trim_start());
    match (directive, rest.chars().next()) {
        (Some(d), _) if d.starts_with("include") || d.starts_with("pragma") => Some(IMPORT),
        (Some(d), _) if d.starts_with("define") => Some("write `const N = 3;`"),
        (Some(_), _) => Some("write `// ...` for a comment"),
        (None, Some('"')) => Some("there are no strings; remove this text"),
        (None, Some('\'')) => Some("there are no characters; use numbers or an `enum`"),
        (None, Some('\\')) => Some("write `&&` for \"and\", `||` for \"or\""),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests;
