//! The sequential specification of operations: the results that are possible if the operations run
//! one after another, each in one atomic step.
//!
//! The specification of a library is the library itself, used by one thread at a time \[KVY10\].
//! [`Specification::explains`] searches for an order of a client's operations that respects program
//! order and returns the observed results, starting from a memory that `init` leaves with the observed
//! results of the operations before the threads. Operations after the threads come last. A state of
//! this search is the number of completed operations of each thread with the memory. The observed
//! results guide the search, and no state is visited twice. So the work grows with the number of
//! states that agree with one observation, and not with the number of possible results.
//!
//! Queries share the effects of operations on memories, and their answers, up to a fixed amount of
//! memory. The answers do not depend on what is shared.
//!
//! Direction: exact. The book, "Operations", defines the details. An order in which an operation
//! blocks, faults or fails an assertion is ignored; a check of the program under SC finds such
//! operations. A query that exceeds its limits has no answer.

mod effects;
mod possible_results;

pub use possible_results::possible_results;

use crate::shape::Shape;
use crate::state::Memory;
use effects::initial_memories;
use fencepost_ir::{Consistency, Observable, Operation, Operations, Reg, Value};
use fencepost_search::{Stop, WorkLimits};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The number of bytes that queries share. When they use more, they start afresh.
const SHARED_BYTES: usize = 32 << 20;

/// The overhead of an entry of a table, in bytes.
const ENTRY_BYTES: usize = 64;

/// Decides which results the operations of a client may return.
#[derive(Debug)]
pub struct Specification {
    /// By thread and operation: the number of its code. Operations with the same number have the
    /// same effects.
    codes: Vec<Vec<u32>>,
    shared: Mutex<Shared>,
}

/// What queries share.
#[derive(Debug, Default)]
struct Shared {
    memories: Vec<Memory>,
    indices: FxHashMap<Memory, u32>,
    /// The memories after `init`.
    initial: Option<Vec<u32>>,
    /// By code and memory: a range of `effects`.
    known_effects: FxHashMap<(u32, u32), Range<usize>>,
    /// Results with the memory after them.
    effects: Vec<(Option<Value>, u32)>,
    /// The answers to earlier queries.
    answers: FxHashMap<Vec<Value>, bool>,
    /// About how many bytes all of this takes.
    bytes: usize,
}

/// What a final state shows about one operation.
struct Observation {
    result: Option<Value>,
    /// The operation comes after this many operations of these threads, given as positions among
    /// the client's threads.
    after: Vec<(Option<usize>, Value)>,
}

impl Specification {
    /// Creates the specification of a client's operations.
    pub fn new(operations: &Operations) -> Self {
        let mut distinct: Vec<&Operation> = Vec::new();
        let mut code = |operation| {
            let known = distinct.iter().position(|other| have_same_effects(other, operation));
            known.unwrap_or_else(|| {
                distinct.push(operation);
                distinct.len() - 1
            }) as u32
        };
        let codes =
            operations.threads.iter().map(|(_, all)| all.iter().map(&mut code).collect()).collect();
        Specification { codes, shared: Mutex::default() }
    }

    /// Returns whether some order explains a final state. `operations` must be the operations for
    /// which `self` was created. `value` returns the values of the final state. Returns an error if
    /// the limits do not suffice for an answer.
    pub fn explains(
        &self,
        shape: &Shape<'_>,
        operations: &Operations,
        limits: &WorkLimits,
        value: &impl Fn(Observable) -> Value,
    ) -> Result<bool, Stop> {
        let (observed, key) = observe(operations, value);
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = shared.answers.get(&key) {
            return Ok(*answer);
        }
        if shared.bytes > SHARED_BYTES {
            *shared = Shared::default();
        }
        let first = &key[..operations.first.len()];
        let query = Query { shape, operations, codes: &self.codes, first, observed, limits };
        let answer = query.search(&mut shared)?;
        shared.bytes += ENTRY_BYTES + size_of_val(key.as_slice());
        shared.answers.insert(key, answer);
        Ok(answer)
    }
}

/// Returns whether two operations have the same effects on every memory.
fn have_same_effects(one: &Operation, other: &Operation) -> bool {
    let inside = |operation: &Operation| operation.result.map(|(inside, _)| inside);
    one.body == other.body
        && inside(one) == inside(other)
        && one.aborts == other.aborts
        && one.repeats == other.repeats
}

/// Returns what a final state shows about each operation, by thread, and the same as a list of
/// values that identifies the query.
fn observe(
    operations: &Operations,
    value: &impl Fn(Observable) -> Value,
) -> (Vec<Vec<Observation>>, Vec<Value>) {
    let mut key: Vec<Value> =
        operations.first.iter().map(|loc| value(Observable::Loc(*loc))).collect();
    let mut observed = Vec::new();
    for (thread, all) in &operations.threads {
        let mut read = |reg: Reg| {
            let value = value(Observable::Reg(*thread, reg));
            key.push(value);
            value
        };
        let mut of = |operation: &Operation| {
            let result = operation.result.map(|(_, reg)| read(reg));
            let seen = match operations.consistency {
                Consistency::Sequential => [].as_slice(),
                Consistency::Linearizable => operation.seen.as_slice(),
            };
            let position = |thread| operations.threads.iter().position(|(id, _)| *id == thread);
            let after = seen.iter().map(|(other, reg)| (position(*other), read(*reg))).collect();
            Observation { result, after }
        };
        observed.push(all.iter().map(&mut of).collect());
    }
    (observed, key)
}

/// The search for an order that explains one final state.
struct Query<'a> {
    shape: &'a Shape<'a>,
    operations: &'a Operations,
    codes: &'a [Vec<u32>],
    /// The results of the operations before the threads.
    first: &'a [Value],
    /// By thread and operation.
    observed: Vec<Vec<Observation>>,
    limits: &'a WorkLimits,
}

impl Query<'_> {
    /// Visits the states that agree with the observation, depth first.
    fn search(&self, shared: &mut Shared) -> Result<bool, Stop> {
        let threads = self.operations.threads.len();
        // A state: the number of completed operations of each thread, then its memory.
        let mut visited: FxHashSet<Box<[u32]>> = FxHashSet::default();
        let mut pending: Vec<Box<[u32]>> = Vec::new();
        for memory in shared.initial(self.shape, self.limits)? {
            let values = &shared.memories[memory as usize].values;
            let returned = self.operations.first.iter().map(|loc| values[loc.index()]);
            if !returned.eq(self.first.iter().copied()) {
                continue;
            }
            let mut state = vec![0; threads + 1];
            state[threads] = memory;
            pending.push(state.into());
        }
        visited.extend(pending.iter().cloned());
        let bytes_per_state = 2 * (ENTRY_BYTES + 4 * (threads + 1));
        let bytes_per_effect = ENTRY_BYTES + memory_bytes(self.shape);
        let mut bytes = 0;
        while let Some(state) = pending.pop() {
            if let Some(stop) = self.limits.cancel.reason() {
                return Err(stop);
            }
            if self.are_complete(&state, None) {
                return Ok(true);
            }
            for thread in 0..threads {
                let at = state[thread] as usize;
                let Some(observation) = self.observed[thread].get(at) else { continue };
                let joins = self.operations.last == Some(thread);
                if !respects_real_time(observation, &state[..threads])
                    || (joins && !self.are_complete(&state, Some(thread)))
                {
                    continue;
                }
                let operation = &self.operations.threads[thread].1[at];
                let code = self.codes[thread][at];
                let effects =
                    shared.effects(self.shape, (operation, code), state[threads], self.limits)?;
                bytes += effects.len() * bytes_per_effect;
                for (result, memory) in &shared.effects[effects] {
                    if *result != observation.result {
                        continue;
                    }
                    let mut after = state.clone();
                    after[thread] += 1;
                    after[threads] = *memory;
                    if visited.insert(after.clone()) {
                        bytes += bytes_per_state;
                        pending.push(after);
                    }
                }
                if bytes as u64 > self.limits.bytes {
                    return Err(Stop::Memory);
                }
            }
        }
        Ok(false)
    }

    /// Returns whether all operations are completed, except those of one thread.
    fn are_complete(&self, state: &[u32], except: Option<usize>) -> bool {
        let mut threads = self.observed.iter().zip(state).enumerate();
        threads.all(|(t, (all, done))| except == Some(t) || *done as usize == all.len())
    }
}

/// Returns whether an operation may come next: all operations that had returned when it was invoked
/// are completed.
fn respects_real_time(observation: &Observation, done: &[u32]) -> bool {
    observation
        .after
        .iter()
        .all(|(other, returned)| other.map_or(0, |other| done[other]) as Value >= *returned)
}

/// Returns about how many bytes a memory takes.
fn memory_bytes(shape: &Shape<'_>) -> usize {
    shape.program().locations.len() * size_of::<Value>() + shape.cells
}

impl Shared {
    /// Returns the number of a memory; adds the memory if it is new.
    fn intern(&mut self, memory: Memory) -> u32 {
        if let Some(known) = self.indices.get(&memory) {
            return *known;
        }
        let index = self.memories.len() as u32;
        self.bytes += 2 * (ENTRY_BYTES + size_of_val(memory.values.as_slice()));
        self.bytes += 2 * memory.allocated.len();
        self.memories.push(memory.clone());
        self.indices.insert(memory, index);
        index
    }

    /// Returns the possible memories after `init`.
    fn initial(&mut self, shape: &Shape<'_>, limits: &WorkLimits) -> Result<Vec<u32>, Stop> {
        if let Some(known) = &self.initial {
            return Ok(known.clone());
        }
        let memories = initial_memories(shape, limits)?;
        let initial: Vec<u32> = memories.into_iter().map(|memory| self.intern(memory)).collect();
        self.initial = Some(initial.clone());
        Ok(initial)
    }

    /// Returns the effects of an operation with this code on a memory, as a range of
    /// `self.effects`.
    fn effects(
        &mut self,
        shape: &Shape<'_>,
        (operation, code): (&Operation, u32),
        memory: u32,
        limits: &WorkLimits,
    ) -> Result<Range<usize>, Stop> {
        if let Some(known) = self.known_effects.get(&(code, memory)) {
            return Ok(known.clone());
        }
        let effects = effects::effects(shape, operation, &self.memories[memory as usize], limits)?;
        let start = self.effects.len();
        for (result, after) in effects {
            let after = self.intern(after);
            self.effects.push((result, after));
        }
        let range = start..self.effects.len();
        self.bytes += ENTRY_BYTES * (1 + range.len());
        self.known_effects.insert((code, memory), range.clone());
        Ok(range)
    }
}
