//! The order of all events, from the logs of the threads.
//!
//! Source: \[BM08\], section 2: program order and coherence indices determine happens-before. An
//! event comes after the earlier events of its thread. A load with index `c` comes after write `c`
//! and before write `c + 1` to its location. Write `c` comes after write `c - 1`. An order that
//! agrees with all of this exists if and only if the execution was sequentially consistent.

use crate::log::{Action, Event, FenceKind, Kind, Target, ThreadLog};
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write};

/// The reason why the logs have no trace.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// An access read or replaced a value, but the log lacks the write of that value. Its thread has
    /// not ended, or a trace was taken before.
    MissingWrite {
        /// The name of the location.
        address: String,
        /// The place of the access.
        at: String,
    },
    /// No order of the events is sequentially consistent.
    NotSequentiallyConsistent {
        /// The place of an access that has no position in any order.
        at: String,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::MissingWrite { address, at } => write!(
                f,
                "the access at {at} depends on a write to `{address}` that is not in the log; \
                 take the trace once, after all threads have ended"
            ),
            TraceError::NotSequentiallyConsistent { at } => write!(
                f,
                "the recorded execution is not sequentially consistent: the access at {at} has no \
                 position in any order of all accesses"
            ),
        }
    }
}

impl std::error::Error for TraceError {}

/// The progress of the merge at a location.
#[derive(Default)]
struct Progress {
    /// The number of writes in the order so far.
    writes: u32,
    /// By coherence index: the loads that are not in the order yet.
    loads: HashMap<u32, u32>,
}

/// Returns the events with the positions of their logs, in an order that agrees with happens-before.
fn order(logs: &[ThreadLog]) -> Result<Vec<(usize, &Event)>, TraceError> {
    let mut locations: HashMap<u32, Progress> = HashMap::new();
    for event in logs.iter().flat_map(|log| &log.events) {
        if let Action::Access(kind, target) = event.action {
            let progress = locations.entry(target.location).or_default();
            if !writes(kind) {
                *progress.loads.entry(target.index).or_default() += 1;
            }
        }
    }
    let mut rest: Vec<_> = logs.iter().map(|log| log.events.iter().peekable()).collect();
    let mut order = Vec::new();
    loop {
        let before = order.len();
        for (log, events) in rest.iter_mut().enumerate() {
            while let Some(event) = events.next_if(|event| advance(&mut locations, event)) {
                order.push((log, event));
            }
        }
        if order.len() == before {
            break;
        }
    }
    match rest.iter_mut().find_map(|events| events.peek().copied()) {
        None => Ok(order),
        Some(stuck) => Err(error(logs, stuck)),
    }
}

/// Adds an event to the order if it may come next.
fn advance(locations: &mut HashMap<u32, Progress>, event: &Event) -> bool {
    let Action::Access(kind, Target { location, index, .. }) = event.action else { return true };
    let progress = locations.entry(location).or_default();
    if writes(kind) {
        let waiting = progress.loads.get(&progress.writes).is_some_and(|loads| *loads > 0);
        let may_come = index == progress.writes.wrapping_add(1) && !waiting;
        progress.writes += u32::from(may_come);
        may_come
    } else {
        let may_come = index == progress.writes;
        if may_come && let Some(loads) = progress.loads.get_mut(&index) {
            *loads -= 1;
        }
        may_come
    }
}

/// Explains why an event has no position.
fn error(logs: &[ThreadLog], stuck: &Event) -> TraceError {
    let at = stuck.at.to_string();
    // A write that some access depends on, but that no log has.
    let accesses = || {
        let events = logs.iter().flat_map(|log| &log.events);
        events.filter_map(|event| match event.action {
            Action::Access(kind, target) => Some((kind, target, event)),
            Action::Fence(_) => None,
        })
    };
    let logged = accesses().filter(|(kind, ..)| writes(*kind));
    let logged: HashSet<(u32, u32)> =
        logged.map(|(_, target, _)| (target.location, target.index)).collect();
    let missing = accesses().find(|(kind, target, _)| {
        let source = if writes(*kind) { target.index.wrapping_sub(1) } else { target.index };
        source != 0 && !logged.contains(&(target.location, source))
    });
    match missing {
        Some((_, target, event)) => {
            TraceError::MissingWrite { address: target.name.into(), at: event.at.to_string() }
        }
        None => TraceError::NotSequentiallyConsistent { at },
    }
}

fn writes(kind: Kind) -> bool {
    match kind {
        Kind::Store | Kind::Update => true,
        Kind::Load | Kind::Failed => false,
    }
}

/// Returns the trace as text: one JSON object per line.
pub(crate) fn print(logs: &[ThreadLog]) -> Result<String, TraceError> {
    let mut text = String::new();
    let mut names = Names::default();
    for (log, event) in order(logs)? {
        let thread = quoted(&logs[log].name);
        let at = quoted(&format!("{}:{}", event.at.file(), event.at.line()));
        let what = match event.action {
            Action::Access(kind, target) => {
                let op = match kind {
                    Kind::Load => "load",
                    Kind::Store => "store",
                    Kind::Update => "update",
                    Kind::Failed => "failed",
                };
                let (address, index) = (quoted(names.name(target)), target.index);
                format!("\"op\":\"{op}\",\"address\":{address},\"index\":{index}")
            }
            Action::Fence(FenceKind::Full) => "\"op\":\"fence\"".into(),
            Action::Fence(FenceKind::StoreStore) => {
                "\"op\":\"fence\",\"kind\":\"store_store\"".into()
            }
        };
        text.push_str(&format!("{{\"thread\":{thread},{what},\"at\":{at}}}\n"));
    }
    Ok(text)
}

/// A different name for each location.
#[derive(Default)]
struct Names {
    by_location: HashMap<u32, String>,
    /// How many locations have a name.
    counts: HashMap<&'static str, u32>,
}

impl Names {
    fn name(&mut self, target: Target) -> &str {
        self.by_location.entry(target.location).or_insert_with(|| {
            let count = self.counts.entry(target.name).or_default();
            *count += 1;
            match *count {
                1 => target.name.into(),
                number => format!("{}#{number}", target.name),
            }
        })
    }
}

/// Returns a JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control.is_control() => {
                // Writing to a string never fails.
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    #[track_caller]
    fn access(kind: Kind, name: &'static str, location: u32, index: u32) -> Event {
        let target = Target { location, name, index };
        Event { action: Action::Access(kind, target), at: Location::caller() }
    }

    fn log(number: u32, events: &[Event]) -> ThreadLog {
        ThreadLog { number, name: format!("t{number}"), events: events.to_vec() }
    }

    fn ops(logs: &[ThreadLog]) -> Result<Vec<(usize, Action)>, TraceError> {
        Ok(order(logs)?.into_iter().map(|(log, event)| (log, event.action)).collect())
    }

    #[test]
    fn a_load_comes_between_its_write_and_the_next() {
        let writer = [access(Kind::Store, "x", 0, 1), access(Kind::Update, "x", 0, 2)];
        for index in 0..=2 {
            let reader = [access(Kind::Load, "x", 0, index)];
            for logs in [[log(0, &writer), log(1, &reader)], [log(0, &reader), log(1, &writer)]] {
                let merged = ops(&logs).expect("sequentially consistent");
                let at = merged.iter().position(|(_, action)| *action == reader[0].action);
                assert_eq!(at, Some(index as usize));
            }
        }
    }

    #[test]
    fn store_buffering_that_is_not_sequentially_consistent_is_rejected() {
        let one = [access(Kind::Store, "x", 0, 1), access(Kind::Load, "y", 1, 0)];
        let other = |index| [access(Kind::Store, "y", 1, 1), access(Kind::Load, "x", 0, index)];
        assert!(ops(&[log(0, &one), log(1, &other(1))]).is_ok());
        let error = ops(&[log(0, &one), log(1, &other(0))]).expect_err("both loads read 0");
        assert!(matches!(error, TraceError::NotSequentiallyConsistent { .. }), "{error}");
    }

    #[test]
    fn a_missing_write_is_reported() {
        let reader = [access(Kind::Load, "x", 0, 1)];
        let error = ops(&[log(0, &reader)]).expect_err("no thread wrote x");
        assert!(matches!(&error, TraceError::MissingWrite { address, .. } if address == "x"));
        let writer = [access(Kind::Store, "x", 0, 2)];
        assert!(matches!(ops(&[log(0, &writer)]), Err(TraceError::MissingWrite { .. })));
    }

    #[test]
    fn names_are_unique_and_quoted() {
        let events = [access(Kind::Store, "a\"\n", 0, 1), access(Kind::Store, "a\"\n", 1, 1)];
        let text = print(&[log(0, &events)]).expect("sequentially consistent");
        assert!(text.contains(r#""address":"a\"\u000a","index":1"#), "{text}");
        assert!(text.contains(r#""address":"a\"\u000a#2","index":1"#), "{text}");
    }
}
