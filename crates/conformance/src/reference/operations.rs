//! Properties of operations: "in every final state the results are those of some order in which
//! the operations run one after another".
//!
//! Every order is written down, one by one, with all that it can return. Nothing is merged.

use std::collections::BTreeSet;

use fencepost_ir::{Consistency, Observable, Operation, Operations, Pc, Program, ThreadId, Value};

use super::block;
use super::memory::Memory;

/// By thread and operation: what it returned, if it has a result.
type Results = Vec<Vec<Option<Value>>>;

/// One order of a client's operations.
struct Order {
    /// Whose operation comes next, as positions among the client's threads.
    turns: Vec<usize>,
    /// All that it can return.
    returns: BTreeSet<Results>,
}

/// Every order of a client's operations.
pub(super) struct Orders(Vec<Order>);

impl Orders {
    /// "Each thread's operations in their order, starting from memory as `init` leaves it."
    pub(super) fn all(program: &Program, operations: &Operations, memories: &[Memory]) -> Self {
        let mut orders = Vec::new();
        write_down(operations, &mut Vec::new(), &mut orders);
        let order = |turns: Vec<usize>| {
            let mut returns = BTreeSet::new();
            for memory in memories {
                let nothing = vec![Vec::new(); operations.threads.len()];
                run(program, operations, &turns, nothing, memory, &mut returns);
            }
            Order { turns, returns }
        };
        Orders(orders.into_iter().map(order).collect())
    }

    /// Whether some order explains the final state that has these values.
    pub(super) fn explain(
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
        self.0.iter().any(|order| {
            let in_time = match operations.consistency {
                Consistency::Sequential => true,
                Consistency::Linearizable => order.is_in_time(operations, value),
            };
            in_time && order.returns.contains(&results)
        })
    }
}

impl Order {
    /// "An operation that has returned before another one is invoked comes before it."
    fn is_in_time(&self, operations: &Operations, value: &impl Fn(&Observable) -> Value) -> bool {
        (0..self.turns.len()).all(|at| {
            let (earlier, turn) = (&self.turns[..at], self.turns[at]);
            let done = |t: usize| earlier.iter().filter(|turn| **turn == t).count();
            let (thread, all) = &operations.threads[turn];
            all[done(turn)].seen.iter().all(|(other, reg)| {
                let other = operations.threads.iter().position(|(thread, _)| thread == other);
                let other = other.expect("operations are compared with those of the client");
                let returned = value(&Observable::Reg(*thread, *reg));
                done(other) as Value >= returned
            })
        })
    }
}

/// Lists the sequences of turns that begin with `turns`.
fn write_down(operations: &Operations, turns: &mut Vec<usize>, orders: &mut Vec<Vec<usize>>) {
    let mut complete = true;
    for (thread, (_, all)) in operations.threads.iter().enumerate() {
        if turns.iter().filter(|turn| **turn == thread).count() < all.len() {
            complete = false;
            turns.push(thread);
            write_down(operations, turns, orders);
            turns.pop();
        }
    }
    if complete {
        orders.push(turns.clone());
    }
}

/// Takes the turns and notes what is returned when all are taken.
fn run(
    program: &Program,
    operations: &Operations,
    turns: &[usize],
    results: Results,
    memory: &Memory,
    returns: &mut BTreeSet<Results>,
) {
    let Some((thread, later)) = turns.split_first() else {
        returns.insert(results);
        return;
    };
    let operation = &operations.threads[*thread].1[results[*thread].len()];
    for (result, after) in effects(program, operation, memory) {
        let mut results = results.clone();
        results[*thread].push(result);
        run(program, operations, later, results, &after, returns);
    }
}

/// "Runs alone in one step; one that is blocked, faults or fails an assertion has no effect to go on
/// with. One that `aborts` may instead do nothing and return that value; one that `repeats` may
/// instead return its result and leave memory as it was."
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
