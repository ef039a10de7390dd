//! The events of a trace, and the events before a line once more.
//!
//! A trace is monitored while it is read. Two things need earlier events again: the explanation of
//! the first borderline event, and a block with several addresses under PSO. A file is opened once
//! more for them, so its events are not kept. The events are compared with those of the first
//! reading, because a file may change. Input that can be read only once, such as a pipe, is kept in
//! memory: 24 bytes for each event, and the different source positions. Rejected: a copy of the
//! pipe in a temporary file, because its size has no limit and it remains after a crash. Rejected:
//! keeping only the last events, because the write that an event overtakes may be arbitrarily old.

use super::trace::{Event, Names, StoredAction, TOO_LONG, TraceError, TraceReader};
use fencepost_monitor::{Access, Action};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead};
use std::ops::ControlFlow;

/// The text of a recorded execution.
pub enum TraceInput<'a> {
    /// A file. The function opens it; it may be called several times.
    File(&'a mut dyn FnMut() -> io::Result<Box<dyn BufRead>>),
    /// Input that can be read only once.
    Pipe(Box<dyn BufRead + 'a>),
}

/// The events of a trace.
pub(super) struct TraceSource<'a> {
    reader: TraceReader<'a>,
    again: Again<'a>,
    fingerprint: Fingerprint,
}

/// How the events can be read once more.
enum Again<'a> {
    Open(&'a mut dyn FnMut() -> io::Result<Box<dyn BufRead>>),
    Stored(StoredEvents),
}

/// The events of a pipe.
#[derive(Default)]
struct StoredEvents {
    events: Vec<StoredEvent>,
    accesses: Vec<Access>,
    places: Names,
    /// The different source positions, by number.
    place_texts: Vec<Box<str>>,
}

#[derive(Clone, Copy)]
struct StoredEvent {
    line: u32,
    thread: u32,
    /// The number of the source position, or [`NO_PLACE`].
    place: u32,
    action: StoredAction,
}

/// The place of an event without a source position.
const NO_PLACE: u32 = u32::MAX;

impl<'a> TraceSource<'a> {
    /// Opens a trace.
    pub(super) fn new(input: TraceInput<'a>) -> Result<TraceSource<'a>, TraceError> {
        let (reader, again): (Box<dyn BufRead + 'a>, _) = match input {
            TraceInput::File(open) => (open().map_err(TraceError::Source)?, Again::Open(open)),
            TraceInput::Pipe(input) => (input, Again::Stored(StoredEvents::default())),
        };
        let fingerprint = Fingerprint::default();
        Ok(TraceSource { reader: TraceReader::new(reader), again, fingerprint })
    }

    /// Returns the number of threads so far.
    pub(super) fn threads(&self) -> usize {
        self.reader.threads.len()
    }

    /// Returns the names of the threads so far.
    pub(super) fn thread_names(&self) -> Vec<&str> {
        self.reader.threads.list()
    }

    /// Returns the number of addresses so far.
    pub(super) fn addresses(&self) -> usize {
        self.reader.addresses.len()
    }

    /// Returns the approximate memory in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let kept = match &self.again {
            // The names once more.
            Again::Open(_) => self.reader.bytes(),
            Again::Stored(stored) => stored.bytes(),
        };
        self.reader.bytes() + kept
    }

    /// Returns whether the events are kept in memory.
    pub(super) fn keeps_events(&self) -> bool {
        matches!(self.again, Again::Stored(_))
    }

    /// Reads the next event. Returns `None` at the end of the trace.
    pub(super) fn next(&mut self) -> Result<Option<Event<'_>>, TraceError> {
        let Some(event) = self.reader.next()? else { return Ok(None) };
        match &mut self.again {
            Again::Open(_) => self.fingerprint.add(&event),
            Again::Stored(stored) => stored.push(&event).map_err(|message| TraceError::Line {
                line: event.line,
                column: 1,
                message,
            })?,
        }
        Ok(Some(event))
    }

    /// Returns a fingerprint of the events so far.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Reads the events up to a line once more. `fingerprint` is the fingerprint of these events.
    /// Stops early if `use_event` says so.
    pub(super) fn read_again(
        &mut self,
        last: u32,
        fingerprint: Fingerprint,
        mut use_event: impl FnMut(Event<'_>) -> ControlFlow<()>,
    ) -> Result<(), TraceError> {
        let open = match &mut self.again {
            Again::Open(open) => open,
            Again::Stored(stored) => {
                let events = (0..stored.events.len()).map(|at| stored.event(at));
                let _ = events.take_while(|event| event.line <= last).try_for_each(use_event);
                return Ok(());
            }
        };
        let mut reader = TraceReader::new(open().map_err(TraceError::Source)?);
        let mut seen = Fingerprint::default();
        loop {
            let event = match reader.next() {
                Ok(Some(event)) => event,
                Ok(None) | Err(TraceError::Line { .. }) => return Err(TraceError::Changed),
                Err(error) => return Err(error),
            };
            seen.add(&event);
            let line = event.line;
            if use_event(event).is_break() {
                return Ok(());
            }
            if line >= last {
                let is_same = line == last && seen == fingerprint;
                return if is_same { Ok(()) } else { Err(TraceError::Changed) };
            }
        }
    }
}

impl StoredEvents {
    fn push(&mut self, event: &Event<'_>) -> Result<(), String> {
        let place = event.place.map_or(Ok(NO_PLACE), |place| self.places.number(place))?;
        if place as usize == self.place_texts.len() {
            self.place_texts.extend(event.place.map(Box::from));
        }
        let action = match event.action {
            Action::Load(address) => StoredAction::Load(address),
            Action::Store(address) => StoredAction::Store(address),
            Action::Update { address, writes } => StoredAction::Update { address, writes },
            Action::Direct(address) => StoredAction::Direct(address),
            Action::Block(accesses) => {
                let from = self.accesses.len();
                self.accesses.extend_from_slice(accesses);
                let to = u32::try_from(self.accesses.len()).map_err(|_| TOO_LONG)?;
                StoredAction::Block(from as u32, to)
            }
            Action::Fence { store_store, store_load } => {
                StoredAction::Fence { store_store, store_load }
            }
            Action::Drain(address) => StoredAction::Drain(address),
        };
        self.events.push(StoredEvent { line: event.line, thread: event.thread, place, action });
        Ok(())
    }

    fn event(&self, at: usize) -> Event<'_> {
        let StoredEvent { line, thread, place, action } = self.events[at];
        let place = self.place_texts.get(place as usize).map(|place| &**place);
        Event { line, thread, place, action: action.action(&self.accesses) }
    }

    fn bytes(&self) -> u64 {
        let events = self.events.capacity() * size_of::<StoredEvent>();
        (events + self.accesses.capacity() * size_of::<Access>()) as u64 + 2 * self.places.bytes()
    }
}

/// A hash of the events up to some line.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Fingerprint(u64);

impl Fingerprint {
    fn add(&mut self, event: &Event<'_>) {
        let mut hasher = DefaultHasher::new();
        (self.0, event.line, event.thread).hash(&mut hasher);
        match event.action {
            Action::Load(address) => (0, address).hash(&mut hasher),
            Action::Store(address) => (1, address).hash(&mut hasher),
            Action::Update { address, writes } => (2, address, writes).hash(&mut hasher),
            Action::Direct(address) => (3, address).hash(&mut hasher),
            Action::Block(accesses) => {
                4.hash(&mut hasher);
                for access in accesses {
                    (access.address, access.reads, access.writes).hash(&mut hasher);
                }
            }
            Action::Fence { store_store, store_load } => {
                (5, store_store, store_load).hash(&mut hasher);
            }
            Action::Drain(address) => (6, address).hash(&mut hasher),
        }
        self.0 = hasher.finish();
    }
}
