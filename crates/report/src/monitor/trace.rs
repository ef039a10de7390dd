//! Reads a recorded execution: one JSON object on each line, in execution order.
//!
//! Threads and addresses are numbered in the order of their first occurrence. The reader keeps
//! their names and one line. The first invalid line ends the reading with an error that has its
//! position. No input makes the parser panic.

use super::coherence_index::WriteCounts;
use super::line::{Kind, Line, Name, Op, Part, PartOp};
use fencepost_monitor::{Access, Action};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, Read};

/// The maximal length of a line. The rest of a longer line is not read.
const MAX_LINE_BYTES: usize = 1 << 25;

/// The event of one line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    /// The line, from 1. It is also the number of the event: other lines have no number.
    pub(super) line: u32,
    pub(super) thread: u32,
    /// The source position, if the line has one.
    pub(super) place: Option<&'a str>,
    pub(super) action: Action<'a>,
}

impl<'a> Event<'a> {
    /// Returns the accesses, one for each address.
    pub(super) fn accesses(&self) -> Cow<'a, [Access]> {
        let one = |access: Access| Cow::Owned(vec![access]);
        match self.action {
            Action::Load(address) => one(Access::read(address)),
            Action::Store(address) => one(Access::write(address)),
            Action::Update { address, writes } => one(Access { address, reads: true, writes }),
            Action::Direct(address) => one(Access::update(address)),
            Action::Block(accesses) => Cow::Borrowed(accesses),
            Action::Fence { .. } | Action::Drain(_) => Cow::Borrowed(&[]),
        }
    }

    /// Returns the name of the action.
    pub(super) fn word(&self) -> &'static str {
        match self.action {
            Action::Load(_) => "load",
            Action::Store(_) => "store",
            Action::Update { writes: true, .. } => "update",
            Action::Update { writes: false, .. } => "failed update",
            Action::Direct(_) => "direct access",
            Action::Block(_) => "block",
            Action::Fence { .. } => "fence",
            Action::Drain(_) => "drain",
        }
    }
}

/// An error in reading a trace.
#[derive(Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// The input cannot be read.
    Source(io::Error),
    /// The input was read a second time and differed.
    Changed,
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
            TraceError::Changed => f.write_str("the file changed while it was read"),
            TraceError::Line { line, column, message } => write!(f, "{line}:{column}: {message}"),
        }
    }
}

impl std::error::Error for TraceError {}

/// The message for a trace whose indices do not fit into 32 bits.
pub(super) const TOO_LONG: &str =
    "the trace is too long: more than 4294967294 lines, names or accesses";

/// Numbers for names, in the order of their first occurrence.
#[derive(Default)]
pub(super) struct Names {
    numbers: HashMap<Box<str>, u32>,
    bytes: usize,
}

impl Names {
    /// Returns the number of a name.
    pub(super) fn number(&mut self, name: &str) -> Result<u32, String> {
        if let Some(&number) = self.numbers.get(name) {
            return Ok(number);
        }
        let number = u32::try_from(self.numbers.len()).ok().filter(|&number| number != u32::MAX);
        let number = number.ok_or(TOO_LONG)?;
        self.numbers.insert(name.into(), number);
        self.bytes += name.len();
        Ok(number)
    }

    /// Returns the number of names.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the approximate memory in bytes.
    pub(super) fn bytes(&self) -> u64 {
        // An entry of the table and of the allocator. The table has free places.
        (self.bytes + self.numbers.len() * 64) as u64
    }

    /// Returns all names, by number.
    pub(super) fn list(&self) -> Vec<&str> {
        let mut all: Vec<(u32, &str)> =
            self.numbers.iter().map(|(name, n)| (*n, &**name)).collect();
        all.sort_unstable_by_key(|&(number, _)| number);
        all.into_iter().map(|(_, name)| name).collect()
    }
}

/// A reader of one trace.
pub(super) struct TraceReader<'a> {
    input: Box<dyn BufRead + 'a>,
    /// The bytes of the current line.
    bytes: Vec<u8>,
    /// The number of the current line.
    line: u32,
    pub(super) threads: Names,
    pub(super) addresses: Names,
    /// The source position and the accesses of the current line.
    place: Option<String>,
    accesses: Vec<Access>,
    /// For each address: the last line with a block that contains it, and its index in `accesses`.
    last_block: Vec<(u32, u32)>,
    write_counts: WriteCounts,
}

impl<'a> TraceReader<'a> {
    pub(super) fn new(input: Box<dyn BufRead + 'a>) -> TraceReader<'a> {
        TraceReader {
            input,
            bytes: Vec::new(),
            line: 0,
            threads: Names::default(),
            addresses: Names::default(),
            place: None,
            accesses: Vec::new(),
            last_block: Vec::new(),
            write_counts: WriteCounts::default(),
        }
    }

    /// Returns the approximate memory in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let lists = self.bytes.capacity() + 12 * self.accesses.capacity();
        self.threads.bytes() + self.addresses.bytes() + (lists + 16 * self.addresses.len()) as u64
    }

    /// Reads up to the next event. Returns `None` at the end of the input.
    pub(super) fn next(&mut self) -> Result<Option<Event<'_>>, TraceError> {
        loop {
            self.bytes.clear();
            let max = MAX_LINE_BYTES as u64 + 1;
            let length = Read::take(&mut self.input, max).read_until(b'\n', &mut self.bytes);
            if length.map_err(TraceError::Source)? == 0 {
                return Ok(None);
            }
            let next = self.line.checked_add(1).ok_or_else(|| self.error(1, TOO_LONG.into()))?;
            self.line = next;
            if self.bytes.len() > MAX_LINE_BYTES {
                let message = format!("the line is longer than {MAX_LINE_BYTES} bytes");
                return Err(self.error(1, message));
            }
            let content = self.bytes.trim_ascii();
            if content.is_empty() || content.starts_with(b"#") {
                continue;
            }
            // Without this check, serde would accept an array of the values in place of an object.
            if !content.starts_with(b"{") {
                let column = self.bytes.len() - self.bytes.trim_ascii_start().len() + 1;
                return Err(self.error(column, "expected an object with `thread` and `op`".into()));
            }
            let bytes = std::mem::take(&mut self.bytes);
            let parsed = self.parse(&bytes);
            self.bytes = bytes;
            let (thread, action) = parsed?;
            let action = action.action(&self.accesses);
            let place = self.place.as_deref();
            return Ok(Some(Event { line: self.line, thread, place, action }));
        }
    }

    fn error(&self, column: usize, message: String) -> TraceError {
        let column = u32::try_from(column).unwrap_or(u32::MAX);
        TraceError::Line { line: self.line, column, message }
    }

    fn parse(&mut self, bytes: &[u8]) -> Result<(u32, StoredAction), TraceError> {
        let line: Line<'_> = serde_json::from_slice(bytes).map_err(|error| {
            let message = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            self.error(error.column().max(1), message.replace(&place, ""))
        })?;
        self.add(line).map_err(|message| self.error(1, message))
    }

    fn add(&mut self, parsed: Line<'_>) -> Result<(u32, StoredAction), String> {
        let thread = self.threads.number(&parsed.thread.0)?;
        self.place = parsed.at.map(|at: Name<'_>| at.0.into_owned());
        self.accesses.clear();
        let mut address = || {
            let named = parsed.address.as_ref();
            let named = named.ok_or_else(|| format!("`{}` has no `address`", parsed.op.name()))?;
            self.addresses.number(&named.0)
        };
        let action = match parsed.op {
            Op::Load => StoredAction::Load(address()?),
            Op::Store => StoredAction::Store(address()?),
            Op::Update => StoredAction::Update { address: address()?, writes: true },
            Op::Failed => StoredAction::Update { address: address()?, writes: false },
            Op::Drain => StoredAction::Drain(address()?),
            Op::Fence => match parsed.kind.unwrap_or(Kind::Full) {
                // A block without accesses waits for all pending stores, like a full fence.
                Kind::Full => StoredAction::Block(0, 0),
                Kind::StoreStore => StoredAction::Fence { store_store: true, store_load: false },
                Kind::StoreLoad => StoredAction::Fence { store_store: false, store_load: true },
            },
            Op::Block => self.block(&parsed.accesses.ok_or("`block` has no `accesses`")?)?,
        };
        match action {
            StoredAction::Load(address) => self.write_counts.add(address, false, parsed.index)?,
            StoredAction::Store(address) | StoredAction::Direct(address) => {
                self.write_counts.add(address, true, parsed.index)?;
            }
            StoredAction::Update { address, writes } => {
                self.write_counts.add(address, writes, parsed.index)?;
            }
            StoredAction::Block(..) => {
                for access in &self.accesses {
                    self.write_counts.add(access.address, access.writes, None)?;
                }
            }
            StoredAction::Fence { .. } | StoredAction::Drain(_) => {}
        }
        Ok((thread, action))
    }

    /// Adds the accesses of a block. Accesses to the same address are merged: the merged access
    /// reads if the first of them reads, and writes if any of them writes.
    fn block(&mut self, parts: &[Part<'_>]) -> Result<StoredAction, String> {
        for part in parts {
            let address = self.addresses.number(&part.address.0)?;
            let (reads, writes) = match part.op {
                PartOp::Load => (true, false),
                PartOp::Store => (false, true),
                PartOp::Update => (true, true),
            };
            let index = address as usize;
            if self.last_block.len() <= index {
                self.last_block.resize(index + 1, (0, 0));
            }
            // Lines are numbered from 1; 0 marks an address that no block contains.
            let (line, access) = self.last_block[index];
            if line == self.line {
                self.accesses[access as usize].writes |= writes;
            } else {
                self.last_block[index] = (self.line, self.accesses.len() as u32);
                self.accesses.push(Access { address, reads, writes });
            }
        }
        Ok(StoredAction::Block(0, self.accesses.len() as u32))
    }
}

/// An [`Action`] whose accesses are stored elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) enum StoredAction {
    Load(u32),
    Store(u32),
    Update {
        address: u32,
        writes: bool,
    },
    Direct(u32),
    /// The range of the accesses: start and end in a list.
    Block(u32, u32),
    Fence {
        store_store: bool,
        store_load: bool,
    },
    Drain(u32),
}

impl StoredAction {
    /// Returns the action with its accesses.
    pub(super) fn action(self, accesses: &[Access]) -> Action<'_> {
        match self {
            StoredAction::Load(address) => Action::Load(address),
            StoredAction::Store(address) => Action::Store(address),
            StoredAction::Update { address, writes } => Action::Update { address, writes },
            StoredAction::Direct(address) => Action::Direct(address),
            StoredAction::Block(from, to) => Action::Block(&accesses[from as usize..to as usize]),
            StoredAction::Fence { store_store, store_load } => {
                Action::Fence { store_store, store_load }
            }
            StoredAction::Drain(address) => Action::Drain(address),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls a function with each event of a trace.
    fn read(text: &str, mut use_event: impl FnMut(Event<'_>)) -> Result<(), TraceError> {
        let mut reader = TraceReader::new(Box::new(text.as_bytes()));
        while let Some(event) = reader.next()? {
            use_event(event);
        }
        Ok(())
    }

    fn message(text: &str) -> String {
        match read(text, |_| {}) {
            Err(TraceError::Line { line, column, message }) => {
                format!("{line}:{column}: {message}")
            }
            Err(error) => error.to_string(),
            Ok(()) => "fine".into(),
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
        let mut events = Vec::new();
        let mut reader = TraceReader::new(Box::new(text.as_bytes()));
        while let Some(Event { line, thread, place, action }) = reader.next().expect("well-formed")
        {
            events.push(format!("{line} {thread} {place:?} {action:?}"));
        }
        let expected = [
            "3 0 Some(\"a.c:1\") Store(0)",
            "4 1 None Update { address: 0, writes: true }",
            "5 1 None Update { address: 1, writes: false }",
            "6 0 None Block([])",
            "8 0 None Fence { store_store: false, store_load: true }",
            "9 0 None Drain(1)",
        ];
        assert_eq!(events, expected);
        assert_eq!((reader.threads.list(), reader.addresses.len()), (vec!["p", "1"], 2));
    }

    #[test]
    fn a_block_has_one_access_for_each_address() {
        let part =
            |address: &str, op: &str| format!("{{\"address\":\"{address}\",\"op\":\"{op}\"}}");
        let parts = [("x", "load"), ("y", "store"), ("x", "store"), ("y", "load"), ("z", "update")];
        let parts: Vec<String> = parts.iter().map(|(address, op)| part(address, op)).collect();
        let line =
            format!("{{\"thread\":0,\"op\":\"block\",\"accesses\":[{}]}}\n", parts.join(","));
        let accesses = [Access::update(0), Access::write(1), Access::update(2)];
        let mut events = 0;
        let checked = read(&format!("{line}{line}"), |event| {
            assert_eq!(event.action, Action::Block(&accesses));
            events += 1;
        });
        assert!(checked.is_ok() && events == 2);
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
