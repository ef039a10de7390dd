//! A recorded execution: one JSON object on each line, in execution order.
//!
//! The book's chapter on `fencepost monitor` describes the format. Threads and addresses are
//! numbered in the order of their first occurrence. An event takes 24 bytes here, which is little
//! compared with the monitor's data for it. Therefore the whole input is kept in memory, read once,
//! and may be a pipe. Rejected: reading a file twice, because the file may change in between.
//!
//! The first invalid line ends the reading with an error that has its position. No input makes the
//! parser panic.

use super::coherence_index::WriteCounts;
use fencepost_monitor::{Access, Action};
use serde::de::{Deserializer, Error, Visitor};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, Read};

/// The maximal length of a line. The rest of a longer line is not read.
const MAX_LINE_BYTES: usize = 1 << 25;

/// A recorded execution.
pub struct RecordedTrace {
    pub(super) events: Vec<Event>,
    /// The number of addresses.
    pub(super) addresses: usize,
    /// The names of the threads.
    pub(super) threads: Vec<String>,
    /// The source positions of events.
    places: Vec<String>,
    /// The accesses of all blocks.
    accesses: Vec<Access>,
}

/// The event of one line.
pub(super) struct Event {
    /// The line, from 1.
    pub(super) line: u32,
    pub(super) thread: u32,
    /// An index into `places`, or [`NO_PLACE`].
    place: u32,
    action: EventAction,
}

/// The place of an event without a source position.
const NO_PLACE: u32 = u32::MAX;

/// An [`Action`] whose accesses are stored in the `accesses` of the trace.
#[derive(Clone, Copy)]
enum EventAction {
    Load(u32),
    Store(u32),
    Update {
        address: u32,
        writes: bool,
    },
    /// The range of the accesses: start and end in `accesses`.
    Block(u32, u32),
    Fence {
        store_store: bool,
        store_load: bool,
    },
    Drain(u32),
}

/// An error in reading a trace.
#[derive(Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// The input cannot be read.
    Source(io::Error),
    /// A line is invalid.
    Line {
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
        /// The error.
        message: String,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Source(error) => error.fmt(f),
            TraceError::Line { line, column, message } => write!(f, "{line}:{column}: {message}"),
        }
    }
}

impl std::error::Error for TraceError {}

impl RecordedTrace {
    /// Reads a trace to the end of the input.
    pub fn read(input: &mut dyn BufRead) -> Result<RecordedTrace, TraceError> {
        let mut reader = Reader::default();
        let mut bytes = Vec::new();
        for line in 1..=u32::MAX {
            bytes.clear();
            let max = MAX_LINE_BYTES as u64 + 1;
            let length = Read::take(&mut *input, max).read_until(b'\n', &mut bytes);
            if length.map_err(TraceError::Source)? == 0 {
                return Ok(reader.finish());
            }
            let line_error = |column: usize, message: String| TraceError::Line {
                line,
                column: u32::try_from(column).unwrap_or(u32::MAX),
                message,
            };
            if bytes.len() > MAX_LINE_BYTES {
                return Err(line_error(
                    1,
                    format!("the line is longer than {MAX_LINE_BYTES} bytes"),
                ));
            }
            let content = bytes.trim_ascii();
            if content.is_empty() || content.starts_with(b"#") {
                continue;
            }
            // Without this check, serde would accept an array of the values in place of an object.
            if !content.starts_with(b"{") {
                let column = bytes.len() - bytes.trim_ascii_start().len() + 1;
                return Err(line_error(column, "expected an object with `thread` and `op`".into()));
            }
            let parsed = serde_json::from_slice(&bytes).map_err(|error| {
                let message = error.to_string();
                let place = format!(" at line {} column {}", error.line(), error.column());
                line_error(error.column().max(1), message.replace(&place, ""))
            })?;
            reader.add(line, parsed).map_err(|message| line_error(1, message))?;
        }
        Err(TraceError::Line { line: u32::MAX, column: 1, message: TOO_LONG.into() })
    }

    /// Whether the trace has no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the action of an event.
    pub(super) fn action(&self, event: usize) -> Action<'_> {
        match self.events[event].action {
            EventAction::Load(address) => Action::Load(address),
            EventAction::Store(address) => Action::Store(address),
            EventAction::Update { address, writes } => Action::Update { address, writes },
            EventAction::Block(from, to) => {
                Action::Block(&self.accesses[from as usize..to as usize])
            }
            EventAction::Fence { store_store, store_load } => {
                Action::Fence { store_store, store_load }
            }
            EventAction::Drain(address) => Action::Drain(address),
        }
    }

    /// Returns the accesses of an event, one for each address.
    pub(super) fn accesses(&self, event: usize) -> Cow<'_, [Access]> {
        let one = |access: Access| Cow::Owned(vec![access]);
        match self.events[event].action {
            EventAction::Load(address) => one(Access::read(address)),
            EventAction::Store(address) => one(Access::write(address)),
            EventAction::Update { address, writes } => one(Access { address, reads: true, writes }),
            EventAction::Block(from, to) => {
                Cow::Borrowed(&self.accesses[from as usize..to as usize])
            }
            EventAction::Fence { .. } | EventAction::Drain(_) => Cow::Borrowed(&[]),
        }
    }

    /// Returns an upper bound on the number of writes: all accesses of a block count as writes.
    pub(super) fn writes(&self) -> usize {
        let writes = |event: &Event| match event.action {
            EventAction::Store(_) | EventAction::Update { writes: true, .. } => 1,
            EventAction::Block(from, to) => (to - from) as usize,
            EventAction::Load(_)
            | EventAction::Update { .. }
            | EventAction::Fence { .. }
            | EventAction::Drain(_) => 0,
        };
        self.events.iter().map(writes).sum()
    }

    /// Returns the name of an event's action.
    pub(super) fn word(&self, event: usize) -> &'static str {
        match self.events[event].action {
            EventAction::Load(_) => "load",
            EventAction::Store(_) => "store",
            EventAction::Update { writes: true, .. } => "update",
            EventAction::Update { writes: false, .. } => "failed update",
            EventAction::Block(..) => "block",
            EventAction::Fence { .. } => "fence",
            EventAction::Drain(_) => "drain",
        }
    }

    /// Returns the source position of an event, if the line has one.
    pub(super) fn place(&self, event: usize) -> Option<&str> {
        self.places.get(self.events[event].place as usize).map(String::as_str)
    }
}

/// The message for a trace whose indices do not fit into 32 bits.
const TOO_LONG: &str = "the trace is too long: more than 4294967294 lines, names or accesses";

#[derive(Default)]
struct Reader {
    events: Vec<Event>,
    accesses: Vec<Access>,
    threads: Names,
    addresses: Names,
    places: Names,
    /// For each address: the last block that contains it, and its index in `accesses`.
    last_block: Vec<(usize, usize)>,
    write_counts: WriteCounts,
}

/// Numbers for names, in the order of their first occurrence.
#[derive(Default)]
struct Names(HashMap<Box<str>, u32>);

impl Names {
    fn number(&mut self, name: &Name<'_>) -> Result<u32, String> {
        if let Some(&number) = self.0.get(&*name.0) {
            return Ok(number);
        }
        let number = u32::try_from(self.0.len()).ok().filter(|&number| number != NO_PLACE);
        let number = number.ok_or(TOO_LONG)?;
        self.0.insert(name.0.as_ref().into(), number);
        Ok(number)
    }

    fn list(self) -> Vec<String> {
        let mut all: Vec<(u32, Box<str>)> = self.0.into_iter().map(|(n, at)| (at, n)).collect();
        all.sort_unstable_by_key(|&(number, _)| number);
        all.into_iter().map(|(_, name)| name.into()).collect()
    }
}

impl Reader {
    fn add(&mut self, line: u32, parsed: Line<'_>) -> Result<(), String> {
        let thread = self.threads.number(&parsed.thread)?;
        let place = parsed.at.as_ref().map_or(Ok(NO_PLACE), |at| self.places.number(at))?;
        let mut address = || {
            let named = parsed.address.as_ref();
            let named = named.ok_or_else(|| format!("`{}` has no `address`", parsed.op.name()))?;
            self.addresses.number(named)
        };
        let action = match parsed.op {
            Op::Load => EventAction::Load(address()?),
            Op::Store => EventAction::Store(address()?),
            Op::Update => EventAction::Update { address: address()?, writes: true },
            Op::Failed => EventAction::Update { address: address()?, writes: false },
            Op::Drain => EventAction::Drain(address()?),
            Op::Fence => match parsed.kind.unwrap_or(Kind::Full) {
                // A block without accesses waits for all pending stores, like a full fence.
                Kind::Full => EventAction::Block(0, 0),
                Kind::StoreStore => EventAction::Fence { store_store: true, store_load: false },
                Kind::StoreLoad => EventAction::Fence { store_store: false, store_load: true },
            },
            Op::Block => self.block(&parsed.accesses.ok_or("`block` has no `accesses`")?)?,
        };
        match action {
            EventAction::Load(address) => self.write_counts.add(address, false, parsed.index)?,
            EventAction::Store(address) => self.write_counts.add(address, true, parsed.index)?,
            EventAction::Update { address, writes } => {
                self.write_counts.add(address, writes, parsed.index)?;
            }
            EventAction::Block(from, to) => {
                for access in &self.accesses[from as usize..to as usize] {
                    self.write_counts.add(access.address, access.writes, None)?;
                }
            }
            EventAction::Fence { .. } | EventAction::Drain(_) => {}
        }
        self.events.push(Event { line, thread, place, action });
        Ok(())
    }

    /// Adds the accesses of a block. Accesses to the same address are merged: the merged access
    /// reads if the first of them reads, and writes if any of them writes.
    fn block(&mut self, parts: &[Part<'_>]) -> Result<EventAction, String> {
        let from = self.accesses.len();
        // Blocks are numbered from 1; 0 marks an address that no block contains.
        let block = self.events.len() + 1;
        for part in parts {
            let address = self.addresses.number(&part.address)?;
            let (reads, writes) = match part.op {
                PartOp::Load => (true, false),
                PartOp::Store => (false, true),
                PartOp::Update => (true, true),
            };
            let index = address as usize;
            if self.last_block.len() <= index {
                self.last_block.resize(index + 1, (0, 0));
            }
            if self.last_block[index].0 == block {
                self.accesses[self.last_block[index].1].writes |= writes;
            } else {
                self.last_block[index] = (block, self.accesses.len());
                self.accesses.push(Access { address, reads, writes });
            }
        }
        let to = u32::try_from(self.accesses.len()).map_err(|_| TOO_LONG)?;
        Ok(EventAction::Block(from as u32, to))
    }

    fn finish(self) -> RecordedTrace {
        RecordedTrace {
            events: self.events,
            addresses: self.addresses.0.len(),
            threads: self.threads.list(),
            places: self.places.list(),
            accesses: self.accesses,
        }
    }
}

/// One line. Unknown fields are ignored.
#[derive(serde::Deserialize)]
#[serde(expecting = "an object with `thread` and `op`")]
struct Line<'a> {
    #[serde(borrow)]
    thread: Name<'a>,
    op: Op,
    #[serde(borrow)]
    address: Option<Name<'a>>,
    #[serde(borrow)]
    at: Option<Name<'a>>,
    kind: Option<Kind>,
    index: Option<u32>,
    #[serde(borrow)]
    accesses: Option<Vec<Part<'a>>>,
}

/// One access of a block.
#[derive(serde::Deserialize)]
#[serde(expecting = "an object with `address` and `op`")]
struct Part<'a> {
    #[serde(borrow)]
    address: Name<'a>,
    op: PartOp,
}

/// A name: a string or an integer. An integer is the same name as the string of its digits.
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a whole number of at most 64 bits")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.into())))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(number.to_string())))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(number.to_string())))
            }
        }
        input.deserialize_any(NameVisitor)
    }
}

/// Implements `Deserialize` for an enum of words. The error message lists the words.
macro_rules! words {
    ($(#[$about:meta])* $name:ident, $what:literal: $($word:literal => $variant:ident),+) => {
        $(#[$about])*
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                let word = Name::deserialize(input)?;
                match &*word.0 {
                    $($word => Ok($name::$variant),)+
                    other => Err(D::Error::custom(format!(
                        concat!("unknown ", $what, " `{}`; expected one of {}"),
                        other,
                        [$($word),+].join(", "),
                    ))),
                }
            }
        }
    };
}

#[derive(Clone, Copy)]
enum Op {
    Load,
    Store,
    Update,
    Failed,
    Fence,
    Drain,
    Block,
}

words!(Op, "op":
    "load" => Load, "store" => Store, "interlocked" => Update, "update" => Update,
    "failed" => Failed, "fence" => Fence, "drain" => Drain, "block" => Block);

impl Op {
    fn name(self) -> &'static str {
        match self {
            Op::Load => "load",
            Op::Store => "store",
            Op::Update => "update",
            Op::Failed => "failed",
            Op::Fence => "fence",
            Op::Drain => "drain",
            Op::Block => "block",
        }
    }
}

#[derive(Clone, Copy)]
enum PartOp {
    Load,
    Store,
    Update,
}

words!(PartOp, "op in a block":
    "load" => Load, "store" => Store, "interlocked" => Update, "update" => Update);

#[derive(Clone, Copy)]
enum Kind {
    Full,
    StoreStore,
    StoreLoad,
}

words!(Kind, "kind":
    "full" => Full, "store_store" => StoreStore, "store_load" => StoreLoad);

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        match RecordedTrace::read(&mut text.as_bytes()) {
            Err(TraceError::Line { line, column, message }) => {
                format!("{line}:{column}: {message}")
            }
            Err(TraceError::Source(error)) => error.to_string(),
            Ok(_) => "fine".into(),
        }
    }

    #[test]
    fn lines_become_events() {
        let text = "# a comment\n\n\
            {\"thread\":\"p\",\"op\":\"store\",\"address\":4096,\"at\":\"a.c:1\",\"value\":[1,{}]}\r\n\
            {\"thread\":1,\"op\":\"interlocked\",\"address\":\"4096\"}\n\
            {\"thread\":\"1\",\"op\":\"failed\",\"address\":\"y\",\"at\":null}\n\
            {\"op\":\"fence\",\"thread\":\"p\"}\n  \n\
            {\"op\":\"fence\",\"thread\":\"p\",\"kind\":\"store_load\"}\n\
            {\"op\":\"drain\",\"thread\":\"p\",\"address\":\"\\u0079\"}";
        let trace = RecordedTrace::read(&mut text.as_bytes()).expect("well-formed");
        let actions: Vec<Action<'_>> = (0..trace.events.len()).map(|e| trace.action(e)).collect();
        let expected = [
            Action::Store(0),
            Action::Update { address: 0, writes: true },
            Action::Update { address: 1, writes: false },
            Action::Block(&[]),
            Action::Fence { store_store: false, store_load: true },
            Action::Drain(1),
        ];
        assert_eq!(actions, expected);
        let lines: Vec<u32> = trace.events.iter().map(|event| event.line).collect();
        assert_eq!(lines, [3, 4, 5, 6, 8, 9]);
        let threads: Vec<u32> = trace.events.iter().map(|event| event.thread).collect();
        assert_eq!(threads, [0, 1, 1, 0, 0, 0]);
        assert_eq!((&trace.threads[..], trace.addresses), (&["p".into(), "1".into()][..], 2));
        assert_eq!((trace.place(0), trace.place(1)), (Some("a.c:1"), None));
    }

    #[test]
    fn a_block_has_one_access_for_each_address() {
        let part =
            |address: &str, op: &str| format!("{{\"address\":\"{address}\",\"op\":\"{op}\"}}");
        let parts = [("x", "load"), ("y", "store"), ("x", "store"), ("y", "load"), ("z", "update")];
        let parts: Vec<String> = parts.iter().map(|(address, op)| part(address, op)).collect();
        let line =
            format!("{{\"thread\":0,\"op\":\"block\",\"accesses\":[{}]}}\n", parts.join(","));
        let trace =
            RecordedTrace::read(&mut format!("{line}{line}").as_bytes()).expect("well-formed");
        let accesses = [Access::update(0), Access::write(1), Access::update(2)];
        assert_eq!(trace.action(0), Action::Block(&accesses));
        assert_eq!(trace.action(1), Action::Block(&accesses));
    }

    #[test]
    fn an_invalid_line_is_reported_with_its_position() {
        let load = "{\"thread\":0,\"op\":\"load\",\"address\":0}\n";
        let after = |line: &str| message(&format!("{load}{line}"));
        assert_eq!(after(""), "fine");
        assert_eq!(after("{\"thread\":0,\"op\":\"load\"}"), "2:1: `load` has no `address`");
        assert_eq!(after("{\"thread\":0,\"op\":\"block\"}"), "2:1: `block` has no `accesses`");
        assert_eq!(after("{\"thread\":0}"), "2:12: missing field `op`");
        assert_eq!(after("{\"thread\":0,"), "2:12: EOF while parsing a value");
        assert_eq!(
            after("{\"thread\":0,\"op\":\"read\"}"),
            "2:24: unknown op `read`; expected one of load, store, interlocked, update, failed, \
             fence, drain, block"
        );
        assert_eq!(
            after("{\"thread\":1.5,\"op\":\"load\"}"),
            "2:13: invalid type: floating point `1.5`, expected a string or a whole number of at \
             most 64 bits"
        );
        assert!(after("{\"thread\":\"\u{1b}\"}").contains("control character"));
        assert_eq!(
            after("{\"thread\":0,\"op\":\"load\",\"address\":0,\"index\":1}"),
            "2:1: `index` 1: the last write to the address before this line is 0; the lines must be \
             in the order of execution"
        );
        assert_eq!(after(" [0]"), "2:2: expected an object with `thread` and `op`");
        assert!(message(&" ".repeat(MAX_LINE_BYTES + 1)).starts_with("1:1: the line is longer"));
    }
}
