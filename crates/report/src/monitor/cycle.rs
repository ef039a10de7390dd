//! The cycle behind an answer of the monitor, for the reader.
//!
//! Source: happens-before as in \[BM08\] definition 1. Direction: exact. An event that could have come before a write
//! closes a cycle: from it to the write, and back along happens-before. That way back lies between the two in the
//! trace, so the rest of the trace is left aside.
//!
//! An access to one address is moved alone. Nothing but its thread leads to it then, and the shortest way is found in
//! one pass. A block with several addresses is left to [`Execution`], which tries all places for it; where there are
//! too many of them there is no cycle to show. We rejected [`Execution`] for everything: its cost is the cube of
//! the number of events, and a thread that waits in a loop makes thousands of them. The tests compare the two.

use super::trace::RecordedTrace;
use fencepost_monitor::{Borderline, Execution, Model, Reason, Step};

/// How many events, and how many places of a block among them, are tried.
const EVENTS: usize = 200;
const PLACES: usize = 1000;

/// A shortest cycle that begins with the step from the event to the write; empty if it is not known.
pub(super) fn cycle(trace: &RecordedTrace, model: Model, found: Borderline) -> Vec<Step> {
    if trace.accesses(found.event).len() == 1 {
        return in_one_pass(trace, found);
    }
    let few = found.event - found.before < EVENTS && places(trace, found) <= PLACES;
    if few { by_definition(trace, model, found) } else { Vec::new() }
}

/// How many places a block has among the events since the write.
fn places(trace: &RecordedTrace, found: Borderline) -> usize {
    let writes = |address: u32| {
        let events = found.before..found.event;
        let writes = events.filter(|&event| {
            let accesses = trace.accesses(event);
            accesses.iter().any(|access| access.address == address && access.writes)
        });
        writes.count()
    };
    let accesses = trace.accesses(found.event);
    let mut places = 1usize;
    for access in accesses.iter() {
        places = places.saturating_mul(1 + writes(access.address));
        if places > PLACES {
            break;
        }
    }
    places
}

fn by_definition(trace: &RecordedTrace, model: Model, found: Borderline) -> Vec<Step> {
    let mut execution = Execution::new(model);
    for event in found.before..=found.event {
        execution.push(trace.events[event].thread as usize, trace.action(event));
    }
    let steps = execution.cycle(found.event - found.before, 0).into_iter();
    let moved =
        |step: Step| Step { from: step.from + found.before, to: step.to + found.before, ..step };
    steps.map(moved).collect()
}

/// An event that the write happens before, and by how many steps.
#[derive(Clone, Copy)]
struct Reached {
    event: usize,
    steps: usize,
}

/// What is reached of an address: its last write, and the nearest write and read.
#[derive(Clone, Copy, Default)]
struct Touched {
    last: Option<Reached>,
    write: Option<Reached>,
    read: Option<Reached>,
}

fn in_one_pass(trace: &RecordedTrace, found: Borderline) -> Vec<Step> {
    let Borderline { event: at, before } = found;
    let mut threads: Vec<Option<Reached>> = vec![None; trace.threads.len()];
    let mut addresses = vec![Touched::default(); trace.addresses];
    // How each event since the write was reached.
    let mut came: Vec<Option<Step>> = vec![None; at - before + 1];
    for event in before..=at {
        let thread = trace.events[event].thread as usize;
        let accesses = trace.accesses(event);
        if accesses.is_empty() {
            continue;
        }
        let mut ways = vec![(threads[thread], Reason::ProgramOrder)];
        // Where the event was moved to, its address leads to it no more.
        for access in accesses.iter().filter(|_| event != at) {
            let touched = &addresses[access.address as usize];
            if access.reads {
                ways.push((touched.last, Reason::ReadsFrom));
            }
            if access.writes {
                ways.push((touched.write, Reason::Overwrites));
                ways.push((touched.read, Reason::ReadsBefore));
            }
        }
        let known = ways.into_iter().filter_map(|(from, reason)| Some((from?, reason)));
        let shortest = known.min_by_key(|(from, _)| from.steps);
        let reached = match shortest {
            _ if event == before => Some(Reached { event, steps: 0 }),
            Some((from, reason)) => {
                came[event - before] = Some(Step { from: from.event, to: event, reason });
                Some(Reached { event, steps: from.steps + 1 })
            }
            None => None,
        };
        threads[thread] = nearer(threads[thread], reached);
        for access in accesses.iter() {
            let touched = &mut addresses[access.address as usize];
            if access.reads {
                touched.read = nearer(touched.read, reached);
            }
            if access.writes {
                touched.last = reached;
                touched.write = nearer(touched.write, reached);
            }
        }
    }
    let writes = trace.accesses(at).iter().any(|access| access.writes);
    let reason = if writes { Reason::Overwrites } else { Reason::ReadsBefore };
    let mut way = Vec::new();
    let mut event = at;
    while event != before {
        let Some(step) = came[event - before] else { return Vec::new() };
        way.push(step);
        event = step.from;
    }
    way.push(Step { from: at, to: before, reason });
    way.reverse();
    way
}

/// The one with fewer steps, the earlier one if they have the same.
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

    /// A random trace.
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

    /// The step is one of happens-before in the trace as it was, by the words of [`Reason`].
    fn holds(trace: &RecordedTrace, step: Step) -> bool {
        let touches = |event: usize, wanted: &dyn Fn(bool, bool) -> bool| -> Vec<u32> {
            let accesses = trace.accesses(event);
            let wanted = accesses.iter().filter(|access| wanted(access.reads, access.writes));
            wanted.map(|access| access.address).collect()
        };
        let reads = |event| touches(event, &|reads, _| reads);
        let writes = |event| touches(event, &|_, writes| writes);
        let common = |a: Vec<u32>, b: Vec<u32>| a.into_iter().find(|address| b.contains(address));
        step.from < step.to
            && match step.reason {
                Reason::ProgramOrder => {
                    trace.events[step.from].thread == trace.events[step.to].thread
                }
                Reason::ReadsFrom => {
                    let address = common(writes(step.from), reads(step.to));
                    let between = step.from + 1..step.to;
                    address.is_some_and(|a| between.clone().all(|e| !writes(e).contains(&a)))
                }
                Reason::ReadsBefore => common(reads(step.from), writes(step.to)).is_some(),
                Reason::Overwrites => common(writes(step.from), writes(step.to)).is_some(),
            }
    }

    #[test]
    fn one_pass_finds_what_the_definition_says() {
        let mut compared = 0;
        for number in 0..600 {
            let trace = trace(number, 14);
            for model in [Model::Tso, Model::Pso] {
                let mut monitor = Monitor::new(model, trace.threads.len(), trace.addresses);
                for (number, event) in trace.events.iter().enumerate() {
                    let answer = monitor.event(event.thread as usize, trace.action(number));
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
    fn a_block_with_many_places_is_not_tried() {
        let store = |address: u32| {
            format!("{{\"thread\":1,\"op\":\"store\",\"address\":{address}}}\n").repeat(20)
        };
        let parts: Vec<String> =
            (0..9).map(|a| format!("{{\"address\":{a},\"op\":\"load\"}}")).collect();
        let block = format!("{{\"thread\":0,\"op\":\"block\",\"accesses\":[{}]}}", parts.join(","));
        let text = (0..9).map(store).collect::<String>() + &block;
        let trace = RecordedTrace::read(&mut text.as_bytes()).expect("well-formed");
        let found = Borderline { event: 180, before: 0 };
        assert!(places(&trace, found) > PLACES);
        assert_eq!(cycle(&trace, Model::Pso, found), []);
    }
}
