//! The sequential specification of operations: the results that are possible if the operations run
//! one after another, each in one atomic step.
//!
//! The specification of a library is the library itself, used by one thread at a time \[KVY10\].
//! All orders of a client's operations that respect program order are executed from the memory that
//! `init` leaves, and their results are collected. Orders that reach the same state (the same
//! operations done, the same memory) are merged. So the work grows with the number of states, not
//! with the number of orders.
//!
//! Direction: exact. The book, "Operations", defines the details. An order in which an operation
//! blocks, faults or fails an assertion is ignored; a check of the program under SC finds such
//! operations.

use crate::machine::choice::Choices;
use crate::shape::Shape;
use crate::state::Memory;
use fencepost_ir::{Consistency, Operation, Operations, Reg, ThreadId, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The results that the operations of a client may return.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllowedResults {
    /// All possible combinations of results, by thread and then by operation. Operations without a
    /// result are omitted.
    results: BTreeSet<Vec<Value>>,
    /// The states by the number of operations done. Empty if only the results matter (sequential
    /// consistency).
    levels: Vec<Vec<SpecState>>,
}

/// A state between two operations.
#[derive(Clone, PartialEq, Eq, Debug)]
struct SpecState {
    /// The number of completed operations of each thread.
    done: Vec<usize>,
    memory: Memory,
    /// The possible next operations.
    next: Vec<Transition>,
}

/// A transition: one operation runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Transition {
    /// The index of the thread among the client's threads.
    thread: usize,
    /// The result of the operation: its index among all results, and its value.
    result: Option<(usize, Value)>,
    /// The index of the successor in the next level.
    successor: usize,
}

impl AllowedResults {
    /// Returns all possible combinations of results: a value for each operation with a result, by
    /// thread and then by operation.
    pub fn results(&self) -> &BTreeSet<Vec<Value>> {
        &self.results
    }

    /// Returns whether some order explains a final state. `operations` must be the operations for
    /// which `self` was computed. `value` returns the registers of the client's threads.
    pub fn explains(
        &self,
        operations: &Operations,
        value: &impl Fn(ThreadId, Reg) -> Value,
    ) -> bool {
        let mut results = Vec::new();
        for (thread, all) in &operations.threads {
            let registers = all.iter().filter_map(|operation| Some(operation.result?.1));
            results.extend(registers.map(|reg| value(*thread, reg)));
        }
        if !self.results.contains(&results) {
            return false;
        }
        match operations.consistency {
            Consistency::Sequential => true,
            Consistency::Linearizable => self.explains_in_real_time(operations, &results, value),
        }
    }

    /// Returns whether these results have a linearization: an order in which every operation comes
    /// after all operations that had returned when it was invoked.
    fn explains_in_real_time(
        &self,
        operations: &Operations,
        results: &[Value],
        value: &impl Fn(ThreadId, Reg) -> Value,
    ) -> bool {
        let respects_real_time = |state: &SpecState, thread: usize| {
            let (id, all) = &operations.threads[thread];
            let seen = &all[state.done[thread]].seen;
            seen.iter().all(|(other, reg)| {
                let other = operations.threads.iter().position(|(thread, _)| thread == other);
                let done = other.map_or(0, |other| state.done[other]);
                done as Value >= value(*id, *reg)
            })
        };
        let mut current: BTreeSet<usize> = (0..self.levels[0].len()).collect();
        // The last level has no transitions.
        for level in &self.levels[..self.levels.len() - 1] {
            let mut next = BTreeSet::new();
            for state in current.iter().map(|at| &level[*at]) {
                for Transition { thread, result, successor } in &state.next {
                    let same_result = result.is_none_or(|(slot, value)| results[slot] == value);
                    if same_result && respects_real_time(state, *thread) {
                        next.insert(*successor);
                    }
                }
            }
            current = next;
        }
        !current.is_empty()
    }
}

/// The identity of a state: completed operations, values in memory, allocated cells.
type StateKey = (Vec<usize>, Vec<Value>, Vec<bool>);

/// The states after the same number of operations, without duplicates.
#[derive(Debug, Default)]
struct Level {
    states: Vec<SpecState>,
    indices: BTreeMap<StateKey, usize>,
}

impl Level {
    /// Returns the index of a state; adds the state if it is new.
    fn intern(&mut self, done: Vec<usize>, memory: Memory) -> usize {
        let key = (done.clone(), memory.values.clone(), memory.allocated.clone());
        let at = *self.indices.entry(key).or_insert(self.states.len());
        if at == self.states.len() {
            self.states.push(SpecState { done, memory, next: Vec::new() });
        }
        at
    }
}

/// Runs the operations in every order and collects their results.
pub fn allowed_results(shape: &Shape<'_>, operations: &Operations) -> AllowedResults {
    let slots = slots(operations);
    let mut first = Level::default();
    for memory in initial_memories(shape) {
        first.intern(vec![0; operations.threads.len()], memory);
    }
    let mut levels = vec![first.states];
    for _ in operations.threads.iter().flat_map(|(_, all)| all) {
        let mut next_level = Level::default();
        for state in levels.last_mut().expect("the first level exists") {
            for (thread, (_, all)) in operations.threads.iter().enumerate() {
                let at = state.done[thread];
                let Some(operation) = all.get(at) else { continue };
                let mut done = state.done.clone();
                done[thread] += 1;
                for (result, memory) in effects(shape, operation, &state.memory) {
                    let successor = next_level.intern(done.clone(), memory);
                    let result = slots[thread][at].zip(result);
                    state.next.push(Transition { thread, result, successor });
                }
            }
        }
        levels.push(next_level.states);
    }
    let results = results(&levels, slots.iter().flatten().flatten().count());
    match operations.consistency {
        Consistency::Sequential => AllowedResults { results, levels: Vec::new() },
        Consistency::Linearizable => AllowedResults { results, levels },
    }
}

/// Returns the combinations of results of all paths through the levels.
fn results(levels: &[Vec<SpecState>], slots: usize) -> BTreeSet<Vec<Value>> {
    // By state: the results of all paths to it. Operations that are not done have result 0.
    let mut returned = vec![BTreeSet::from([vec![0; slots]]); levels[0].len()];
    for (level, after) in levels.iter().zip(&levels[1..]) {
        let mut next = vec![BTreeSet::new(); after.len()];
        for (state, returned) in level.iter().zip(&returned) {
            for Transition { result, successor, .. } in &state.next {
                next[*successor].extend(returned.iter().map(|results: &Vec<Value>| {
                    let mut results = results.clone();
                    if let Some((slot, value)) = result {
                        results[*slot] = *value;
                    }
                    results
                }));
            }
        }
        returned = next;
    }
    returned.into_iter().flatten().collect()
}

/// Returns, by thread and operation, the index of its result among all results.
fn slots(operations: &Operations) -> Vec<Vec<Option<usize>>> {
    let mut next = 0;
    let mut slot = |operation: &Operation| {
        operation.result?;
        next += 1;
        Some(next - 1)
    };
    operations.threads.iter().map(|(_, all)| all.iter().map(&mut slot).collect()).collect()
}

/// Returns the possible memories after `init`.
fn initial_memories(shape: &Shape<'_>) -> Vec<Memory> {
    let blank = Memory::initial(shape);
    match &shape.program().init {
        None => vec![blank],
        Some(init) => {
            final_states(shape, init, &blank).into_iter().map(|(_, memory)| memory).collect()
        }
    }
}

/// Returns the possible results of an operation, each with the memory after it.
fn effects(
    shape: &Shape<'_>,
    operation: &Operation,
    before: &Memory,
) -> Vec<(Option<Value>, Memory)> {
    let mut found: Vec<(Option<Value>, Memory)> = Vec::new();
    let mut add = |effect| {
        if !found.contains(&effect) {
            found.push(effect);
        }
    };
    for (registers, after) in final_states(shape, &operation.body, before) {
        let result = operation.result.map(|(inside, _)| registers[inside.index()]);
        if operation.repeats {
            add((result, before.clone()));
        }
        add((result, after));
    }
    if let Some(value) = operation.aborts {
        add((operation.result.map(|_| value), before.clone()));
    }
    found
}

/// Returns the registers and the memory at the end of code that runs alone, for each combination of
/// its choices.
fn final_states(
    shape: &Shape<'_>,
    code: &fencepost_ir::Thread,
    before: &Memory,
) -> Vec<(Vec<Value>, Memory)> {
    let mut final_states = Vec::new();
    let mut choices = Choices::default();
    loop {
        choices.rewind();
        let mut memory = before.clone();
        if let Ok(Some(registers)) = shape.run_alone(code, &mut memory, &mut choices, &mut ()) {
            final_states.push((registers, memory));
        }
        if !choices.advance() {
            return final_states;
        }
    }
}
