//! Enumeration of all results that the operations of a client may return, for translations that
//! write them down. It takes exponential time, so it has a limit.

use super::effects::{effects, initial_memories};
use crate::shape::Shape;
use crate::state::Memory;
use fencepost_ir::{Operation, Operations, Value};
use fencepost_search::WorkLimits;
use std::collections::{BTreeMap, BTreeSet};

/// Returns all combinations of results that the operations of a client may return, in any order
/// that respects program order, those after the threads last: a value for each location of
/// [`Operations::first`], then a value for each operation with a result, by thread and then by
/// operation. Returns `None` if the enumeration needs more than `max` combinations at once.
pub fn possible_results(
    shape: &Shape<'_>,
    operations: &Operations,
    max: usize,
) -> Option<BTreeSet<Vec<Value>>> {
    let unlimited = WorkLimits::default();
    let slots = slots(operations);
    let count = slots.iter().flatten().flatten().count();
    // By state: the results of all orders that lead to it. Operations that are not done have
    // result 0.
    let mut level: BTreeMap<StateKey, BTreeSet<Vec<Value>>> = BTreeMap::new();
    for memory in initial_memories(shape, &unlimited).unwrap_or_default() {
        let first = operations.first.iter().map(|loc| memory.values[loc.index()]);
        let nothing: Vec<Value> = first.chain(std::iter::repeat_n(0, count)).collect();
        let key = (vec![0; operations.threads.len()], memory.values, memory.allocated);
        level.insert(key, BTreeSet::from([nothing]));
    }
    for _ in operations.threads.iter().flat_map(|(_, all)| all) {
        let mut next: BTreeMap<StateKey, BTreeSet<Vec<Value>>> = BTreeMap::new();
        let mut stored = 0;
        for ((done, values, allocated), returned) in level {
            let before = Memory { values, allocated };
            for (thread, (_, all)) in operations.threads.iter().enumerate() {
                let at = done[thread];
                let Some(operation) = all.get(at) else { continue };
                let is_complete =
                    |(t, all): (usize, &Vec<Operation>)| t == thread || done[t] == all.len();
                let mut others = operations.threads.iter().map(|(_, all)| all).enumerate();
                if operations.last == Some(thread) && !others.all(is_complete) {
                    continue;
                }
                let mut done = done.clone();
                done[thread] += 1;
                let effects = effects(shape, operation, &before, &unlimited).unwrap_or_default();
                for (result, memory) in effects {
                    let after = next.entry((done.clone(), memory.values, memory.allocated));
                    let after = after.or_default();
                    stored -= after.len();
                    after.extend(returned.iter().map(|results| {
                        let mut results = results.clone();
                        if let Some((slot, value)) = slots[thread][at].zip(result) {
                            results[slot] = value;
                        }
                        results
                    }));
                    stored += after.len();
                    if stored > max {
                        return None;
                    }
                }
            }
        }
        level = next;
    }
    Some(level.into_values().flatten().collect())
}

/// The identity of a state: completed operations, values in memory, allocated cells.
type StateKey = (Vec<usize>, Vec<Value>, Vec<bool>);

/// Returns, by thread and operation, the index of its result among all results.
fn slots(operations: &Operations) -> Vec<Vec<Option<usize>>> {
    let mut next = operations.first.len();
    let mut slot = |operation: &Operation| {
        operation.result?;
        next += 1;
        Some(next - 1)
    };
    operations.threads.iter().map(|(_, all)| all.iter().map(&mut slot).collect()).collect()
}
