//! Runs the monitor on a trace while the trace is read.
//!
//! Memory: the clocks of threads and addresses and the history that later events need, for each
//! model ([`StreamMonitor`]), and the names of threads and addresses. No event of a file is kept
//! (see `source.rs`). The limits are checked every [`INTERVAL`] events, before the memory of the
//! clocks grows, and inside the check of a block with several addresses.

use super::cycle::{CycleSearch, NamedEvent};
use super::source::{Fingerprint, TraceInput, TraceSource};
use super::trace::{Event, TraceError};
use super::{CycleEdge, FirstBorderline, MonitorVerdict, NoCycle, RecordedEvent, Unfinished};
use fencepost_engines::Budget;
use fencepost_monitor::{Action, Borderline, DroppedHistory, Model, StreamMonitor};
use fencepost_search::Stop;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

/// The number of events between two checks of the limits.
const INTERVAL: u64 = 1024;

/// The answers for a trace.
#[derive(Clone, Debug)]
pub struct MonitorAnswer {
    /// The number of events that were checked.
    pub events: u64,
    /// The number of their threads.
    pub threads: usize,
    /// The number of their addresses.
    pub addresses: usize,
    /// A verdict for each model, in the order of the request.
    pub verdicts: Vec<(Model, MonitorVerdict)>,
    /// Why not all events were checked.
    pub unfinished: Option<Unfinished>,
}

/// Runs the monitor for each model on a trace. If the monitors need more than about `bytes` bytes
/// or the budget is cancelled, the rest of the trace is not checked.
///
/// # Errors
/// The trace cannot be read or has an invalid line.
pub fn monitor_trace(
    input: TraceInput<'_>,
    models: &[Model],
    bytes: u64,
    budget: Budget<'_>,
) -> Result<MonitorAnswer, TraceError> {
    let mut pass = Pass {
        source: TraceSource::new(input)?,
        runs: models.iter().map(|model| Run::new(*model)).collect(),
        events: 0,
        bytes,
        budget,
    };
    let stop = match pass.run() {
        // A reader that finds the budget cancelled returns an error.
        Err(TraceError::Source(_)) if budget.cancel.reason().is_some() => budget.cancel.reason(),
        stop => stop?,
    };
    let Pass { mut source, runs, events, .. } = pass;
    let keeps_events = source.keeps_events();
    let unfinished = stop.map(|stop| Unfinished { events, stop, keeps_events });
    // The monitors are no longer needed.
    let found: Vec<_> = runs.into_iter().map(|run| (run.model, run.number, run.first)).collect();
    let mut verdicts = Vec::new();
    for (model, number, first) in found {
        let verdict = match first {
            Some(found) => {
                let first = explain(&mut source, model, &found, budget)?;
                MonitorVerdict::Borderline { number, first, unfinished }
            }
            None => unfinished.map_or(MonitorVerdict::Clean, MonitorVerdict::Inconclusive),
        };
        verdicts.push((model, verdict));
    }
    let (threads, addresses) = (source.threads(), source.addresses());
    Ok(MonitorAnswer { events, threads, addresses, verdicts, unfinished })
}

/// The monitor for one model.
struct Run {
    model: Model,
    monitor: StreamMonitor,
    /// The number of borderline events.
    number: usize,
    first: Option<Found>,
}

/// The first borderline event.
struct Found {
    /// The lines of the event and of the write.
    borderline: Borderline,
    event: NamedEvent,
    /// The number of its addresses.
    addresses: usize,
    /// The fingerprint of the events up to this one.
    fingerprint: Fingerprint,
}

/// Why an event was not added.
enum NotAdded {
    /// The monitor needs all writes with their clocks.
    History,
    Stopped(Stop),
}

impl Run {
    fn new(model: Model) -> Run {
        Run { model, monitor: StreamMonitor::new(model), number: 0, first: None }
    }

    fn with_all_writes(model: Model) -> Run {
        Run { monitor: StreamMonitor::with_all_writes(model), ..Run::new(model) }
    }

    fn add(&mut self, event: Event<'_>, budget: Budget<'_>) -> Result<(), NotAdded> {
        self.monitor.number_next_event(event.line as usize);
        let stop = || budget.cancel.reason().is_some();
        let answer = self.monitor.add_event_until(event.thread as usize, event.action, &stop);
        let answer = answer.map_err(|DroppedHistory| NotAdded::History)?;
        // The check of a block may have been given up.
        if let (Action::Block(_), Some(stop)) = (event.action, budget.cancel.reason()) {
            return Err(NotAdded::Stopped(stop));
        }
        let Some(borderline) = answer else { return Ok(()) };
        self.number += 1;
        self.first.get_or_insert_with(|| Found {
            borderline,
            event: NamedEvent::new(&event),
            addresses: event.accesses().len(),
            fingerprint: Fingerprint::default(),
        });
        Ok(())
    }

    /// Sets the fingerprint of the first borderline event if the event is on this line.
    fn set_fingerprint(&mut self, line: u32, fingerprint: Fingerprint) {
        let first = self.first.as_mut();
        if let Some(first) = first.filter(|first| first.borderline.event == line as usize) {
            first.fingerprint = fingerprint;
        }
    }

    /// Returns the memory of the monitor, and what it needs in addition for an event.
    fn bytes(&self, event: Option<Event<'_>>) -> u64 {
        let grows =
            |event: Event<'_>| self.monitor.bytes_to_grow(event.thread as usize, event.action);
        self.monitor.retained().bytes() + event.map_or(0, grows)
    }

    fn has_space(&self, event: Event<'_>) -> bool {
        self.monitor.bytes_to_grow(event.thread as usize, event.action) == 0
    }
}

/// A pass over a trace.
struct Pass<'a, 'b> {
    source: TraceSource<'a>,
    runs: Vec<Run>,
    /// The number of events that all monitors have checked.
    events: u64,
    /// The limit on memory.
    bytes: u64,
    budget: Budget<'b>,
}

impl Pass<'_, '_> {
    /// Adds all events. Returns why it stopped before the end of the trace.
    fn run(&mut self) -> Result<Option<Stop>, TraceError> {
        loop {
            let source_bytes = self.source.bytes();
            if self.events.is_multiple_of(INTERVAL) {
                self.budget.progress.states.store(self.events, Ordering::Relaxed);
                let used: u64 = self.runs.iter().map(|run| run.bytes(None)).sum();
                if let Some(stop) = self.stop(source_bytes + used) {
                    return Ok(Some(stop));
                }
            }
            let Some(event) = self.source.next()? else { return Ok(None) };
            if !self.runs.iter().all(|run| run.has_space(event)) {
                let used: u64 = self.runs.iter().map(|run| run.bytes(Some(event))).sum();
                if source_bytes + used > self.bytes {
                    return Ok(Some(Stop::Memory));
                }
            }
            let line = event.line;
            let mut behind = Vec::new();
            for (number, run) in self.runs.iter_mut().enumerate() {
                match run.add(event, self.budget) {
                    Ok(()) => {}
                    Err(NotAdded::History) => behind.push(number),
                    Err(NotAdded::Stopped(stop)) => return Ok(Some(stop)),
                }
            }
            let fingerprint = self.source.fingerprint();
            self.runs.iter_mut().for_each(|run| run.set_fingerprint(line, fingerprint));
            for number in behind {
                if let Some(stop) = self.start_again(number, line)? {
                    return Ok(Some(stop));
                }
            }
            self.events += 1;
        }
    }

    /// Returns why the pass must stop, if it uses this much memory.
    fn stop(&self, used: u64) -> Option<Stop> {
        self.budget.cancel.reason().or((used > self.bytes).then_some(Stop::Memory))
    }

    /// Starts a monitor again with all writes and adds the events up to a line. Returns why it
    /// stopped before that line.
    fn start_again(&mut self, number: usize, line: u32) -> Result<Option<Stop>, TraceError> {
        let fingerprint = self.source.fingerprint();
        let new = Run::with_all_writes(self.runs[number].model);
        let Run { number: old_number, first: old_first, .. } =
            std::mem::replace(&mut self.runs[number], new);
        let others = self.runs.iter().map(|run| run.bytes(None)).sum::<u64>();
        let used = self.source.bytes() + others;
        let (limit, budget) = (self.bytes, self.budget);
        let run = &mut self.runs[number];
        let mut stopped = None;
        let mut events = 0u64;
        self.source.read_again(line, fingerprint, |event| {
            events += 1;
            let checks = events.is_multiple_of(INTERVAL) || !run.has_space(event);
            if checks && used + run.bytes(Some(event)) > limit {
                stopped = Some(Stop::Memory);
            } else if checks {
                stopped = budget.cancel.reason();
            }
            if stopped.is_none()
                && let Err(NotAdded::Stopped(stop)) = run.add(event, budget)
            {
                stopped = Some(stop);
            }
            if stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        run.set_fingerprint(line, fingerprint);
        // The same event was found before, with the fingerprint of its line.
        if old_first.is_some() {
            (run.first, run.number) = (old_first, run.number.max(old_number));
        }
        Ok(stopped)
    }
}

/// Reads the trace once more up to the first borderline event, and searches the cycle.
fn explain(
    source: &mut TraceSource<'_>,
    model: Model,
    found: &Found,
    budget: Budget<'_>,
) -> Result<FirstBorderline, TraceError> {
    let Found { borderline, event, addresses, fingerprint } = found;
    let mut search = CycleSearch::new(model, *borderline, *addresses);
    let (mut before, mut stopped, mut events) = (None, false, 0u64);
    let again = source.read_again(event.line, *fingerprint, |event| {
        events += 1;
        if events.is_multiple_of(INTERVAL) && budget.cancel.reason().is_some() {
            stopped = true;
            return ControlFlow::Break(());
        }
        let line = event.line as usize;
        if line == borderline.before {
            before = Some(NamedEvent::new(&event));
        }
        if line >= borderline.before {
            search.add(&event);
        }
        ControlFlow::Continue(())
    });
    again?;
    let names = source.thread_names();
    let name = |event: &NamedEvent| RecordedEvent {
        line: event.line,
        kind: event.word,
        thread: names.get(event.thread as usize).map_or_else(String::new, |name| (*name).into()),
        place: event.place.as_deref().map(String::from),
    };
    // If the trace was not read once more up to the write, only its line is known.
    let unknown = RecordedEvent {
        line: borderline.before as u32,
        kind: "write",
        thread: String::new(),
        place: None,
    };
    let edges = if stopped { Vec::new() } else { search.finish() };
    let edges = edges.iter().map(|edge| CycleEdge {
        from: name(&edge.from),
        to: name(&edge.to),
        reason: edge.kind,
    });
    let cycle: Vec<CycleEdge> = edges.collect();
    let cycle = match cycle.is_empty() {
        false => Ok(cycle),
        true if stopped => Err(NoCycle::Stopped),
        true => Err(NoCycle::TooManyPositions),
    };
    let before = before.as_ref().map_or(unknown, name);
    Ok(FirstBorderline { event: name(event), before, cycle })
}
