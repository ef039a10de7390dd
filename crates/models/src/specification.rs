//! What operations may return: they run one after another, each alone and in one step.
//!
//! The specification of a library is the library itself, used by one thread at a time \[KVY10\]. All
//! orders of a client's operations that respect the order within each thread are run from memory as
//! `init` leaves it, and the results are noted. Where orders meet again (the same operations done, the
//! same memory) they go on as one, so the work grows with the number of such situations and not with
//! the number of orders.
//!
//! Direction: exact. What counts is defined in the book, "Operations". An order in which an operation is
//! blocked, faults or fails an assertion does not count; that operations do so when they run
//! alone is found by checking the program under SC.

use crate::machine::choice::Choices;
use crate::shape::Shape;
use crate::state::Memory;
use fencepost_ir::{Consistency, Operation, Operations, Reg, ThreadId, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What the operations of a client may return.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Allowed {
    /// The values of all results, by thread and then by operation; those that have no result are left out.
    results: BTreeSet<Vec<Value>>,
    /// The situations by the number of operations done, where the orders themselves matter; else none.
    levels: Vec<Vec<Situation>>,
}

/// A situation between two operations.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Situation {
    /// By thread: how many of its operations are done.
    done: Vec<usize>,
    memory: Memory,
    /// What may come next.
    next: Vec<Next>,
}

/// One way to go on: an operation runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Next {
    /// Whose, as a position among the client's threads.
    thread: usize,
    /// What it returns: where that is among all results, and the value.
    result: Option<(usize, Value)>,
    /// Which situation of the next level it leads to.
    to: usize,
}

impl Allowed {
    /// All that some order returns: a value for each operation that has a result, by thread and then by
    /// operation.
    pub fn results(&self) -> &BTreeSet<Vec<Value>> {
        &self.results
    }

    /// Whether an order explains a final state. `operations` are those it was made for, and `value`
    /// tells the registers of the client's threads.
    pub fn explains(
        &self,
        operations: &Operations,
        value: &impl Fn(ThreadId, Reg) -> Value,
    ) -> bool {
        let mut results = Vec::new();
        for (thread, all) in &operations.threads {
            let kept = all.iter().filter_map(|operation| Some(operation.result?.1));
            results.extend(kept.map(|reg| value(*thread, reg)));
        }
        if !self.results.contains(&results) {
            return false;
        }
        match operations.consistency {
            Consistency::Sequential => true,
            Consistency::Linearizable => self.explains_in_time(operations, &results, value),
        }
    }

    /// Whether an order returns this in which every operation comes after those that had returned when it
    /// was invoked.
    fn explains_in_time(
        &self,
        operations: &Operations,
        results: &[Value],
        value: &impl Fn(ThreadId, Reg) -> Value,
    ) -> bool {
        let is_time = |situation: &Situation, thread: usize| {
            let (id, all) = &operations.threads[thread];
            let seen = &all[situation.done[thread]].seen;
            seen.iter().all(|(other, reg)| {
                let other = operations.threads.iter().position(|(thread, _)| thread == other);
                let done = other.map_or(0, |other| situation.done[other]);
                done as Value >= value(*id, *reg)
            })
        };
        let mut here: BTreeSet<usize> = (0..self.levels[0].len()).collect();
        // From the last level nothing leads on.
        for level in &self.levels[..self.levels.len() - 1] {
            let mut after = BTreeSet::new();
            for situation in here.iter().map(|at| &level[*at]) {
                for Next { thread, result, to } in &situation.next {
                    let fits = result.is_none_or(|(slot, value)| results[slot] == value);
                    if fits && is_time(situation, *thread) {
                        after.insert(*to);
                    }
                }
            }
            here = after;
        }
        !here.is_empty()
    }
}

/// What tells situations apart: operations done, values in memory, cells allocated.
type Look = (Vec<usize>, Vec<Value>, Vec<bool>);

/// Situations after the same number of operations; those that look the same are one.
#[derive(Debug, Default)]
struct Level {
    all: Vec<Situation>,
    known: BTreeMap<Look, usize>,
}

impl Level {
    /// The situation that looks like this.
    fn reach(&mut self, done: Vec<usize>, memory: Memory) -> usize {
        let key = (done.clone(), memory.values.clone(), memory.allocated.clone());
        let at = *self.known.entry(key).or_insert(self.all.len());
        if at == self.all.len() {
            self.all.push(Situation { done, memory, next: Vec::new() });
        }
        at
    }
}

/// Runs the operations in every order.
pub fn allowed(shape: &Shape<'_>, operations: &Operations) -> Allowed {
    let slots = slots(operations);
    let mut first = Level::default();
    for memory in beginnings(shape) {
        first.reach(vec![0; operations.threads.len()], memory);
    }
    let mut levels = vec![first.all];
    for _ in operations.threads.iter().flat_map(|(_, all)| all) {
        let mut after = Level::default();
        for situation in levels.last_mut().expect("there is a first level") {
            for (thread, (_, all)) in operations.threads.iter().enumerate() {
                let at = situation.done[thread];
                let Some(operation) = all.get(at) else { continue };
                let mut done = situation.done.clone();
                done[thread] += 1;
                for (result, memory) in effects(shape, operation, &situation.memory) {
                    let to = after.reach(done.clone(), memory);
                    let result = slots[thread][at].zip(result);
                    situation.next.push(Next { thread, result, to });
                }
            }
        }
        levels.push(after.all);
    }
    let results = results(&levels, slots.iter().flatten().flatten().count());
    match operations.consistency {
        Consistency::Sequential => Allowed { results, levels: Vec::new() },
        Consistency::Linearizable => Allowed { results, levels },
    }
}

/// What is returned on all ways through the levels.
fn results(levels: &[Vec<Situation>], slots: usize) -> BTreeSet<Vec<Value>> {
    // By situation: what was returned on the ways to it; 0 for operations that are not done.
    let mut returned = vec![BTreeSet::from([vec![0; slots]]); levels[0].len()];
    for (level, after) in levels.iter().zip(&levels[1..]) {
        let mut next = vec![BTreeSet::new(); after.len()];
        for (situation, returned) in level.iter().zip(&returned) {
            for Next { result, to, .. } in &situation.next {
                next[*to].extend(returned.iter().map(|results: &Vec<Value>| {
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

/// By thread and operation: where its result is among all results.
fn slots(operations: &Operations) -> Vec<Vec<Option<usize>>> {
    let mut next = 0;
    let mut slot = |operation: &Operation| {
        operation.result?;
        next += 1;
        Some(next - 1)
    };
    operations.threads.iter().map(|(_, all)| all.iter().map(&mut slot).collect()).collect()
}

/// Memory as `init` can leave it.
fn beginnings(shape: &Shape<'_>) -> Vec<Memory> {
    let blank = Memory::start(shape);
    match &shape.program().init {
        None => vec![blank],
        Some(init) => ends(shape, init, &blank).into_iter().map(|(_, memory)| memory).collect(),
    }
}

/// What an operation can return, and memory after it.
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
    for (registers, after) in ends(shape, &operation.body, before) {
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

/// Registers and memory at the end of code that runs alone, for each way `choose` can go.
fn ends(
    shape: &Shape<'_>,
    code: &fencepost_ir::Thread,
    before: &Memory,
) -> Vec<(Vec<Value>, Memory)> {
    let mut ends = Vec::new();
    let mut choices = Choices::default();
    loop {
        choices.rewind();
        let mut memory = before.clone();
        if let Ok(Some(registers)) = shape.run_alone(code, &mut memory, &mut choices, &mut ()) {
            ends.push((registers, memory));
        }
        if !choices.advance() {
            return ends;
        }
    }
}
