//! The happens-before cycle that explains a borderline event.
//!
//! Source: happens-before as in \[BM08\] definition 1. Direction: exact. Moving a borderline event
//! before an earlier write closes a cycle: from the event to the write, and back along
//! happens-before. The path back lies between the two events in the trace, so the rest of the trace
//! is ignored.
//!
//! An event with one address is moved alone. Then only program order leads to the moved event, and
//! one pass over the trace finds a shortest path. For a block with several addresses, [`Execution`]
//! tries all positions of the block; if there are too many, no cycle is shown. Rejected:
//! [`Execution`] for all events. Its cost is cubic in the number of events, and a spin loop
//! produces thousands of events. The tests compare both algorithms.

use super::trace::RecordedTrace;
use fencepost_monitor::{Borderline, Edge, EdgeKind, Execution, Model};

/// The maximal number of events since the write for which [`Execution`] is used.
const MAX_EVENTS: usize = 200;
/// The maximal number of positions of a block for which [`Execution`] is used.
const MAX_POSITIONS: usize = 1000;

/// Returns a shortest cycle that starts with the edge from the event to the write; empty if it is
/// not known.
pub(super) fn cycle(trace: &RecordedTrace, model: Model, found: Borderline) -> Vec<Edge> {
    if trace.accesses(found.event).len() == 1 {
        return in_one_pass(trace, found);
    }
    let is_feasible =
        found.event - found.before < MAX_EVENTS && block_positions(trace, found) <= MAX_POSITIONS;
    if is_feasible { by_definition(trace, model, found) } else { Vec::new() }
}

/// Returns the number of positions of a block among the events since the write. Stops counting
/// above [`MAX_POSITIONS`].
fn block_positions(trace: &RecordedTrace, found: Borderline) -> usize {
    let writes = |address: u32| {
        let events = found.before..found.event;
        let writes = events.filter(|&event| {
            let accesses = trace.accesses(event);
            accesses.iter().any(|access| access.address == address && access.writes)
        });
        writes.count()
    };
    let accesses = trace.accesses(found.event);
    let mut positions = 1usize;
    for access in accesses.iter() {
        positions = positions.saturating_mul(1 + writes(access.address));
        if positions > MAX_POSITIONS {
            break;
        }
    }
    positions
}

fn by_definition(trace: &RecordedTrace, model: Model, found: Borderline) -> Vec<Edge> {
    let mut execution = Execution::new(model);
    for event in found.before..=found.event {
        execution.push(trace.events[event].thread as usize, trace.action(event));
    }
    let steps = execution.cycle(found.event - found.before, 0).into_iter();
    let moved =
        |step: Edge| Edge { from: step.from + found.before, to: step.to + found.before, ..step };
    steps.map(moved).collect()
}

/// An event that the write happens before, and the length of a shortest path to it.
#[derive(Clone, Copy)]
struct Reached {
    event: usize,
    steps: usize,
}

/// The reached accesses of an address: the last write, and the nearest write and read.
#[derive(Clone, Copy, Default)]
struct ReachedAccesses {
    last: Option<Reached>,
    write: Option<Reached>,
    read: Option<Reached>,
}

fn in_one_pass(trace: &RecordedTrace, found: Borderline) -> Vec<Edge> {
    let Borderline { event: at, before } = found;
    let mut threads: Vec<Option<Reached>> = vec![None; trace.threads.len()];
    let mut addresses = vec![ReachedAccesses::default(); trace.addresses];
    // The last edge of a shortest path to each event since the write.
    let mut incoming: Vec<Option<Edge>> = vec![None; at - before + 1];
    for event in before..=at {
        let thread = trace.events[event].thread as usize;
        let accesses = trace.accesses(event);
        if accesses.is_empty() {
            continue;
        }
        let mut edges = vec![(threads[thread], EdgeKind::ProgramOrder)];
        // The moved event precedes the conflicting accesses, so only program order leads to it.
        for access in accesses.iter().filter(|_| event != at) {
            let entry = &addresses[access.address as usize];
            if access.reads {
                edges.push((entry.last, EdgeKind::ReadsFrom));
            }
            if access.writes {
                edges.push((entry.write, EdgeKind::Coherence));
                edges.push((entry.read, EdgeKind::FromRead));
            }
        }
        let known = edges.into_iter().filter_map(|(from, kind)| Some((from?, kind)));
        let shortest = known.min_by_key(|(from, _)| from.steps);
        let reached = match shortest {
            _ if event == before => Some(Reached { event, steps: 0 }),
            Some((from, kind)) => {
                incoming[event - before] = Some(Edge { from: from.event, to: event, kind });
                Some(Reached { event, steps: from.steps + 1 })
            }
            None => None,
        };
        threads[thread] = nearer(threads[thread], reached);
        for access in accesses.iter() {
            let entry = &mut addresses[access.address as usize];
            if access.reads {
                entry.read = nearer(entry.read, reached);
            }
            if access.writes {
                entry.last = reached;
                entry.write = nearer(entry.write, reached);
            }
        }
    }
    let writes = trace.accesses(at).iter().any(|access| access.writes);
    let kind = if writes { EdgeKind::Coherence } else { EdgeKind::FromRead };
    let mut path = Vec::new();
    let mut event = at;
    while event != before {
        let Some(step) = incoming[event - before] else { return Vec::new() };
        path.push(step);
        event = step.from;
    }
    path.push(Edge { from: at, to: before, kind });
    path.reverse();
    path
}

/// Returns the event with the shorter path; the old one if the paths are equally long.
fn nearer(old: Option<Reached>, new: Option<Reached>) -> Option<Reached> {
    match (old, new) {
        (Some(old), Some(new)) if new.steps < old.steps => Some(new),
        (Some(old), _) => Some(old),
        (None, new) => new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_monitor::Monitor;
    use fencepost_testkit::Random;

    /// Returns a random trace.
    fn trace(seed: u64, events: usize) -> RecordedTrace {
        let mut random = Random::new(seed);
        let ops = ["load", "load", "store", "store", "store", "update", "failed", "fence", "drain"];
        let lines = (0..events).map(|_| {
            let (thread, address) = (random.below(3), random.below(3));
            let op = match random.below(12) {
                op @ 0..9 => ops[op],
                _ if random.below(2) == 0 => "load",
                _ => "store",
            };
            let kind = ["full", "store_store", "store_load"][random.below(3)];
            format!(
                "{{\"thread\":{thread},\"op\":\"{op}\",\"address\":{address},\"kind\":\"{kind}\"}}\n"
            )
        });
        RecordedTrace::read(&mut lines.collect::<String>().as_bytes()).expect("well-formed")
    }

    /// Whether the edge is in the happens-before of the original trace, by the definition of
    /// [`EdgeKind`].
    fn holds(trace: &RecordedTrace, step: Edge) -> bool {
        let addresses = |event: usize, selects: &dyn Fn(bool, bool) -> bool| -> Vec<u32> {
            let accesses = trace.accesses(event);
            let selected = accesses.iter().filter(|access| selects(access.reads, access.writes));
            selected.map(|access| access.address).collect()
        };
        let reads = |event| addresses(event, &|reads, _| reads);
        let writes = |event| addresses(event, &|_, writes| writes);
        let common = |a: Vec<u32>, b: Vec<u32>| a.into_iter().find(|address| b.contains(address));
        step.from < step.to
            && match step.kind {
                EdgeKind::ProgramOrder => {
                    trace.events[step.from].thread == trace.events[step.to].thread
                }
                EdgeKind::ReadsFrom => {
                    let address = common(writes(step.from), reads(step.to));
                    let between = step.from + 1..step.to;
                    address.is_some_and(|a| between.clone().all(|e| !writes(e).contains(&a)))
                }
                EdgeKind::FromRead => common(reads(step.from), writes(step.to)).is_some(),
                EdgeKind::Coherence => common(writes(step.from), writes(step.to)).is_some(),
            }
    }

    #[test]
    fn one_pass_agrees_with_the_definition() {
        let mut compared = 0;
        for number in 0..600 {
            let trace = trace(number, 14);
            for model in [Model::Tso, Model::Pso] {
                let mut monitor = Monitor::new(model, trace.threads.len(), trace.addresses);
                for (number, event) in trace.events.iter().enumerate() {
                    let answer = monitor.add_event(event.thread as usize, trace.action(number));
                    let Some(found) = answer else { continue };
                    let fast = in_one_pass(&trace, found);
                    let slow = by_definition(&trace, model, found);
                    assert_eq!(fast.len(), slow.len(), "{number}: {fast:?} {slow:?}");
                    assert_eq!(fast.first(), slow.first());
                    assert_eq!(fast.last().map(|step| step.to), Some(found.event));
                    assert!(fast.windows(2).all(|steps| steps[0].to == steps[1].from), "{fast:?}");
                    assert!(fast[1..].iter().all(|&step| holds(&trace, step)), "{fast:?}");
                    compared += 1;
                }
            }
        }
        assert!(compared > 100, "only {compared} answers were compared");
    }

    #[test]
    fn a_block_with_too_many_positions_has_no_cycle() {
        let store = |address: u32| {
            format!("{{\"thread\":1,\"op\":\"store\",\"address\":{address}}}\n").repeat(20)
        };
        let parts: Vec<String> =
            (0..9).map(|a| format!("{{\"address\":{a},\"op\":\"load\"}}")).collect();
        let block = format!("{{\"thread\":0,\"op\":\"block\",\"accesses\":[{}]}}", parts.join(","));
        let text = (0..9).map(store).collect::<String>() + &block;
        let trace = RecordedTrace::read(&mut text.as_bytes()).expect("well-formed");
        let found = Borderline { event: 180, before: 0 };
        assert!(block_positions(&trace, found) > MAX_POSITIONS);
        assert_eq!(cycle(&trace, Model::Pso, found), []);
    }
}
