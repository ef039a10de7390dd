//! A recorded execution: one JSON object on each line, in the order in which things happened.
//!
//! The lines are described in the chapter "Watching a trace" of the book. Threads and addresses get numbers in
//! the order of their first appearance. An event takes 24 bytes here, a small part of what the monitor keeps for it:
//! so the input is read once, and may be a pipe. We rejected reading a file twice: it may change in between.
//!
//! The first line that means nothing ends the reading, with its place. No bytes make it panic.

use fencepost_monitor::{Access, Action};
use serde::de::{Deserializer, Error, Visitor};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, Read};

/// No line is longer; more of it is not even read.
const LONGEST: usize = 1 << 25;

/// An execution as it was recorded.
pub struct RecordedTrace {
    pub(super) events: Vec<Event>,
    /// How many addresses there are.
    pub(super) addresses: usize,
    /// The names of threads.
    pub(super) threads: Vec<String>,
    /// The texts that say where an event is in its program.
    places: Vec<String>,
    /// The accesses of all blocks.
    accesses: Vec<Access>,
}

/// What one line says.
pub(super) struct Event {
    /// The line, from 1.
    pub(super) line: u32,
    pub(super) thread: u32,
    place: u32,
    what: What,
}

/// The place of an event that does not tell one.
const NOWHERE: u32 = u32::MAX;

/// An [`Action`] whose accesses are elsewhere.
#[derive(Clone, Copy)]
enum What {
    Load(u32),
    Store(u32),
    Update {
        address: u32,
        writes: bool,
    },
    /// From here to there in `accesses`.
    Block(u32, u32),
    Fence {
        store_store: bool,
        store_load: bool,
    },
    Drain(u32),
}

/// Why a trace cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// The input cannot be read.
    Source(io::Error),
    /// A line has no meaning.
    Line {
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
        /// What is wrong with it.
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
    /// Reads to the end of the input.
    pub fn read(input: &mut dyn BufRead) -> Result<RecordedTrace, TraceError> {
        let mut reader = Reader::default();
        let mut bytes = Vec::new();
        for line in 1..=u32::MAX {
            bytes.clear();
            let most = LONGEST as u64 + 1;
            let length = Read::take(&mut *input, most).read_until(b'\n', &mut bytes);
            if length.map_err(TraceError::Source)? == 0 {
                return Ok(reader.finish());
            }
            let wrong = |column: usize, message: String| TraceError::Line {
                line,
                column: u32::try_from(column).unwrap_or(u32::MAX),
                message,
            };
            if bytes.len() > LONGEST {
                return Err(wrong(1, format!("the line is longer than {LONGEST} bytes")));
            }
            let told = bytes.trim_ascii();
            if told.is_empty() || told.starts_with(b"#") {
                continue;
            }
            // Else a list of the values would do for an object, too.
            if !told.starts_with(b"{") {
                let column = bytes.len() - bytes.trim_ascii_start().len() + 1;
                return Err(wrong(column, "expected an object with `thread` and `op`".into()));
            }
            let said = serde_json::from_slice(&bytes).map_err(|error| {
                let message = error.to_string();
                let place = format!(" at line {} column {}", error.line(), error.column());
                wrong(error.column().max(1), message.replace(&place, ""))
            })?;
            reader.take(line, said).map_err(|message| wrong(1, message))?;
        }
        Err(TraceError::Line { line: u32::MAX, column: 1, message: TOO_LONG.into() })
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// What an event does.
    pub(super) fn action(&self, event: usize) -> Action<'_> {
        match self.events[event].what {
            What::Load(address) => Action::Load(address),
            What::Store(address) => Action::Store(address),
            What::Update { address, writes } => Action::Update { address, writes },
            What::Block(from, to) => Action::Block(&self.accesses[from as usize..to as usize]),
            What::Fence { store_store, store_load } => Action::Fence { store_store, store_load },
            What::Drain(address) => Action::Drain(address),
        }
    }

    /// What an event does to memory: one access for each address.
    pub(super) fn accesses(&self, event: usize) -> Cow<'_, [Access]> {
        let one = |access: Access| Cow::Owned(vec![access]);
        match self.events[event].what {
            What::Load(address) => one(Access::read(address)),
            What::Store(address) => one(Access::write(address)),
            What::Update { address, writes } => one(Access { address, reads: true, writes }),
            What::Block(from, to) => Cow::Borrowed(&self.accesses[from as usize..to as usize]),
            What::Fence { .. } | What::Drain(_) => Cow::Borrowed(&[]),
        }
    }

    /// How many accesses write, in all.
    pub(super) fn writes(&self) -> usize {
        let writes = |event: &Event| match event.what {
            What::Store(_) | What::Update { writes: true, .. } => 1,
            What::Block(from, to) => (to - from) as usize,
            What::Load(_) | What::Update { .. } | What::Fence { .. } | What::Drain(_) => 0,
        };
        self.events.iter().map(writes).sum()
    }

    /// The word for an event.
    pub(super) fn word(&self, event: usize) -> &'static str {
        match self.events[event].what {
            What::Load(_) => "load",
            What::Store(_) => "store",
            What::Update { writes: true, .. } => "update",
            What::Update { writes: false, .. } => "failed update",
            What::Block(..) => "block",
            What::Fence { .. } => "fence",
            What::Drain(_) => "drain",
        }
    }

    /// Where an event is in its program, if the line tells.
    pub(super) fn place(&self, event: usize) -> Option<&str> {
        self.places.get(self.events[event].place as usize).map(String::as_str)
    }
}

/// Nobody records so much.
const TOO_LONG: &str = "the trace is too long: more than 4294967294 lines, names or accesses";

#[derive(Default)]
struct Reader {
    events: Vec<Event>,
    accesses: Vec<Access>,
    threads: Names,
    addresses: Names,
    places: Names,
    /// For each address the last block that has it, and where in `accesses`.
    met: Vec<(usize, usize)>,
}

/// Numbers for names, in the order of their first appearance.
#[derive(Default)]
struct Names(HashMap<Box<str>, u32>);

impl Names {
    fn number(&mut self, name: &Name<'_>) -> Result<u32, String> {
        if let Some(&number) = self.0.get(&*name.0) {
            return Ok(number);
        }
        let number = u32::try_from(self.0.len()).ok().filter(|&number| number != NOWHERE);
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
    fn take(&mut self, line: u32, said: Line<'_>) -> Result<(), String> {
        let thread = self.threads.number(&said.thread)?;
        let place = said.at.as_ref().map_or(Ok(NOWHERE), |at| self.places.number(at))?;
        let mut address = || {
            let named = said.address.as_ref();
            let named = named.ok_or_else(|| format!("`{}` has no `address`", said.op.name()))?;
            self.addresses.number(named)
        };
        let what = match said.op {
            Op::Load => What::Load(address()?),
            Op::Store => What::Store(address()?),
            Op::Update => What::Update { address: address()?, writes: true },
            Op::Failed => What::Update { address: address()?, writes: false },
            Op::Drain => What::Drain(address()?),
            Op::Fence => match said.kind.unwrap_or(Kind::Full) {
                // A block without accesses waits for all stores.
                Kind::Full => What::Block(0, 0),
                Kind::StoreStore => What::Fence { store_store: true, store_load: false },
                Kind::StoreLoad => What::Fence { store_store: false, store_load: true },
            },
            Op::Block => self.block(&said.accesses.ok_or("`block` has no `accesses`")?)?,
        };
        self.events.push(Event { line, thread, place, what });
        Ok(())
    }

    /// Several accesses at once: to one address they are one. It reads when the first of them does.
    fn block(&mut self, parts: &[Part<'_>]) -> Result<What, String> {
        let from = self.accesses.len();
        // Numbers from 1, for an address that no block had is marked with 0.
        let block = self.events.len() + 1;
        for part in parts {
            let address = self.addresses.number(&part.address)?;
            let (reads, writes) = match part.op {
                PartOp::Load => (true, false),
                PartOp::Store => (false, true),
                PartOp::Update => (true, true),
            };
            let index = address as usize;
            if self.met.len() <= index {
                self.met.resize(index + 1, (0, 0));
            }
            if self.met[index].0 == block {
                self.accesses[self.met[index].1].writes |= writes;
            } else {
                self.met[index] = (block, self.accesses.len());
                self.accesses.push(Access { address, reads, writes });
            }
        }
        let to = u32::try_from(self.accesses.len()).map_err(|_| TOO_LONG)?;
        Ok(What::Block(from as u32, to))
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

/// One line. Fields that are not here are ignored.
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

/// A name: a string, or a number, which is the same as its digits in a string.
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Naming;
        impl<'de> Visitor<'de> for Naming {
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
        input.deserialize_any(Naming)
    }
}

/// A word of a short list, with a message that shows the list.
macro_rules! words {
    ($(#[$about:meta])* $name:ident, $what:literal: $($word:literal => $variant:ident),+) => {
        $(#[$about])*
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                let word = Name::deserialize(input)?;
                match &*word.0 {
                    $($word => Ok($name::$variant),)+
                    other => Err(D::Error::custom(format!(
                        concat!("there is no ", $what, " `{}`; there are {}"),
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
        let wanted = [
            Action::Store(0),
            Action::Update { address: 0, writes: true },
            Action::Update { address: 1, writes: false },
            Action::Block(&[]),
            Action::Fence { store_store: false, store_load: true },
            Action::Drain(1),
        ];
        assert_eq!(actions, wanted);
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
    fn a_wrong_line_is_told_with_its_place() {
        let load = "{\"thread\":0,\"op\":\"load\",\"address\":0}\n";
        let after = |line: &str| message(&format!("{load}{line}"));
        assert_eq!(after(""), "fine");
        assert_eq!(after("{\"thread\":0,\"op\":\"load\"}"), "2:1: `load` has no `address`");
        assert_eq!(after("{\"thread\":0,\"op\":\"block\"}"), "2:1: `block` has no `accesses`");
        assert_eq!(after("{\"thread\":0}"), "2:12: missing field `op`");
        assert_eq!(after("{\"thread\":0,"), "2:12: EOF while parsing a value");
        assert_eq!(
            after("{\"thread\":0,\"op\":\"read\"}"),
            "2:24: there is no op `read`; there are load, store, interlocked, update, failed, \
             fence, drain, block"
        );
        assert_eq!(
            after("{\"thread\":1.5,\"op\":\"load\"}"),
            "2:13: invalid type: floating point `1.5`, expected a string or a whole number of at \
             most 64 bits"
        );
        assert!(after("{\"thread\":\"\u{1b}\"}").contains("control character"));
        assert_eq!(after(" [0]"), "2:2: expected an object with `thread` and `op`");
        assert!(message(&" ".repeat(LONGEST + 1)).starts_with("1:1: the line is longer"));
    }
}
