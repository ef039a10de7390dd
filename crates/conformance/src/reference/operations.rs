//! Properties of operations: in every final state, some sequential order of the operations explains
//! the results.
//!
//! Every order is enumerated, with all results that it can return. There is no sharing between
//! orders.

use std::collections::BTreeSet;

use fencepost_ir::{Consistency, Observable, Operation, Operations, Pc, Program, ThreadId, Value};

use super::memory::Memory;
use super::{block, initial_memories};

/// The result of each operation, by thread and operation. `None` for an operation without a result.
type Results = Vec<Vec<Option<Value>>>;

/// One sequential order of a client's operations.
struct Order {
    /// The thread of each operation, as a position among the client's threads.
    sequence: Vec<usize>,
    /// The results that this order can return, each with the results of the operations before the
    /// threads that `init` returned.
    returns: BTreeSet<(Vec<Value>, Results)>,
}

/// Every sequential order of a client's operations.
pub struct Orders(Vec<Order>);

impl Orders {
    /// Enumerates the orders. Each keeps the order of the operations of every thread and starts
    /// from a memory that `init` leaves.
    pub fn all(program: &Program, operations: &Operations) -> Self {
        let memories: Vec<Memory> = initial_memories(program).into_iter().flatten().collect();
        let mut orders = Vec::new();
        enumerate_sequences(operations, &mut Vec::new(), &mut orders);
        let order = |sequence: Vec<usize>| {
            let mut returns = BTreeSet::new();
            for memory in &memories {
                let nothing = vec![Vec::new(); operations.threads.len()];
                let first =
                    operations.first.iter().map(|loc| memory.read(*loc)).collect::<Vec<_>>();
                let mut later = BTreeSet::new();
                run_sequence(program, operations, &sequence, nothing, memory, &mut later);
                returns.extend(later.into_iter().map(|results| (first.clone(), results)));
            }
            Order { sequence, returns }
        };
        Orders(orders.into_iter().map(order).collect())
    }

    /// Returns whether some order explains the final state with these values.
    pub fn can_explain(
        &self,
        operations: &Operations,
        value: &impl Fn(&Observable) -> Value,
    ) -> bool {
        let result = |thread: ThreadId, operation: &Operation| {
            operation.result.map(|(_, kept)| value(&Observable::Reg(thread, kept)))
        };
        let of = |(thread, all): &(ThreadId, Vec<Operation>)| {
            all.iter().map(|operation| result(*thread, operation)).collect()
        };
        let results: Results = operations.threads.iter().map(of).collect();
        let first = operations.first.iter().map(|loc| value(&Observable::Loc(*loc))).collect();
        let results = (first, results);
        self.0.iter().any(|order| {
            let admissible = match operations.consistency {
                Consistency::Sequential => true,
                Consistency::Linearizable => order.respects_real_time(operations, value),
            };
            admissible && order.returns.contains(&results)
        })
    }
}

impl Order {
    /// Returns whether this order respects real time: an operation that returned before another one
    /// was invoked comes before it.
    fn respects_real_time(
        &self,
        operations: &Operations,
        value: &impl Fn(&Observable) -> Value,
    ) -> bool {
        (0..self.sequence.len()).all(|at| {
            let (earlier, thread_position) = (&self.sequence[..at], self.sequence[at]);
            let done = |t: usize| earlier.iter().filter(|other| **other == t).count();
            let (thread, all) = &operations.threads[thread_position];
            all[done(thread_position)].seen.iter().all(|(other, reg)| {
                let other = operations.threads.iter().position(|(thread, _)| thread == other);
                let other = other.expect("an operation only counts returns of client threads");
                let returned = value(&Observable::Reg(*thread, *reg));
                done(other) as Value >= returned
            })
        })
    }
}

/// Appends all complete sequences that start with `sequence` to `orders`.
fn enumerate_sequences(
    operations: &Operations,
    sequence: &mut Vec<usize>,
    orders: &mut Vec<Vec<usize>>,
) {
    let mut complete = true;
    let before_last: usize = (operations.threads.iter().enumerate())
        .filter(|(thread, _)| operations.last != Some(*thread))
        .map(|(_, (_, all))| all.len())
        .sum();
    for (thread, (_, all)) in operations.threads.iter().enumerate() {
        // The operations after the threads come after all others.
        if operations.last == Some(thread) && sequence.len() < before_last {
            continue;
        }
        if sequence.iter().filter(|other| **other == thread).count() < all.len() {
            complete = false;
            sequence.push(thread);
            enumerate_sequences(operations, sequence, orders);
            sequence.pop();
        }
    }
    if complete {
        orders.push(sequence.clone());
    }
}

/// Runs the operations in this sequence and adds the results to `returns`.
fn run_sequence(
    program: &Program,
    operations: &Operations,
    sequence: &[usize],
    results: Results,
    memory: &Memory,
    returns: &mut BTreeSet<Results>,
) {
    let Some((thread, later)) = sequence.split_first() else {
        returns.insert(results);
        return;
    };
    let operation = &operations.threads[*thread].1[results[*thread].len()];
    for (result, after) in effects(program, operation, memory) {
        let mut results = results.clone();
        results[*thread].push(result);
        run_sequence(program, operations, later, results, &after, returns);
    }
}

/// Returns the possible results of an operation that runs alone in one step, with memory after it.
///
/// An operation that blocks, faults or fails an assertion has no result. An operation with `aborts`
/// may instead do nothing and return that value. An operation with `repeats` may instead return its
/// result and leave memory unchanged.
fn effects(
    program: &Program,
    operation: &Operation,
    memory: &Memory,
) -> Vec<(Option<Value>, Memory)> {
    let mut effects = Vec::new();
    let registers = vec![0; operation.body.registers.len()];
    let ends = block::run(program, &operation.body, Pc(0), registers, memory.clone());
    for end in ends.into_iter().flatten() {
        let result = operation.result.map(|(inside, _)| end.registers[inside.index()]);
        effects.push((result, end.memory));
        if operation.repeats {
            effects.push((result, memory.clone()));
        }
    }
    if let Some(value) = operation.aborts {
        effects.push((operation.result.map(|_| value), memory.clone()));
    }
    effects
}
