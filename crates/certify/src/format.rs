//! The format of a certificate: JSON lines, a header followed by one line for each state.
//!
//! ```text
//! {"certificate":1,"model":"pso","domain":"fd","k":1,"client":"","states":1234}
//! [[memory], [allocated], [[pc, [registers], epoch, [head], [set]], ...]]
//! ```
//!
//! An entry of a head is `[location, value, epoch, before a barrier]`. An element of a set has one
//! more number: whether it is the last value of its location. Booleans are 1 or 0. The book's page
//! "Certificates" has the details.
//!
//! Rejected: a binary format. It would be a third of the size, but not readable.

use fencepost_ir::{Loc, Pc, Value};
use serde::{Deserialize, Serialize};

/// The version of the format.
pub const VERSION: u32 = 1;

/// A memory model that certificates support.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Sequential consistency: no pending stores.
    Sc,
    /// Total store order: one queue for each thread.
    Tso,
    /// Partial store order: one queue for each thread and location.
    Pso,
}

impl Model {
    /// Returns the name used in the format.
    pub fn name(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
        }
    }
}

/// The abstraction of the pending stores behind the head. Has no effect under SC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Domain {
    /// Fully disjunctive: each element is pending at least once.
    Fd,
    /// Partially disjunctive: each class is pending, with no values other than those of its
    /// elements.
    Pd,
    /// Like partially disjunctive, without last values and without a head.
    Set,
}

impl Domain {
    /// Returns the name used in the format.
    pub fn name(self) -> &'static str {
        match self {
            Domain::Fd => "fd",
            Domain::Pd => "pd",
            Domain::Set => "set",
        }
    }
}

/// The header: the first line of a certificate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The format version: [`VERSION`].
    pub certificate: u32,
    /// The memory model.
    pub model: Model,
    /// The abstract domain.
    pub domain: Domain,
    /// The maximum number of entries in the head of a group.
    pub k: u32,
    /// The name of the problem: the text of the client, or empty.
    pub client: String,
    /// The number of states that follow.
    pub states: u64,
}

impl Header {
    /// Returns the line without a newline.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("a header must be serialisable as JSON")
    }

    /// Parses a header line.
    pub(crate) fn parse(line: &[u8]) -> Result<Header, String> {
        serde_json::from_slice(line).map_err(|error| error.to_string())
    }
}

/// An abstract state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CertState {
    /// The values of all locations.
    pub memory: Vec<Value>,
    /// Whether each cell of each pool is allocated, in the order of pools and cells.
    pub allocated: Vec<bool>,
    /// The threads.
    pub threads: Vec<CertThread>,
}

/// The state of one thread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CertThread {
    /// The next statement.
    pub pc: Pc,
    /// The values of all registers, including dead registers.
    pub registers: Vec<Value>,
    /// The current epoch: the epoch of the next store.
    pub epoch: u8,
    /// The oldest pending stores. Under TSO oldest first; under PSO sorted by location, then oldest
    /// first.
    pub head: Vec<Entry>,
    /// The abstraction of the other pending stores, sorted by [`Element::sort_key`].
    pub set: Vec<Element>,
}

/// A pending store of the head.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Entry {
    /// The location of the store.
    pub loc: Loc,
    /// The value of the store.
    pub value: Value,
    /// The epoch of the store.
    pub epoch: u8,
    /// Whether the store is before a barrier.
    pub before_barrier: bool,
}

/// An element of the set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Element {
    /// The location of the store.
    pub loc: Loc,
    /// The value of the store.
    pub value: Value,
    /// The epoch of the store.
    pub epoch: u8,
    /// Whether the store is before a barrier.
    pub before_barrier: bool,
    /// Whether the value is the last value of the location. Always false in the domain `set`.
    pub last: bool,
}

impl Element {
    /// Returns the sort key: location, older classes first, value. It is unique within a set.
    pub fn sort_key(&self) -> (Loc, u8, bool, Value) {
        (self.loc, self.epoch, !self.before_barrier, self.value)
    }
}

/// A state in JSON form. Booleans are 0 or 1.
type RawState = (Vec<Value>, Vec<u8>, Vec<RawThread>);
type RawThread = (u32, Vec<Value>, u8, Vec<RawEntry>, Vec<RawElement>);
type RawEntry = (u32, Value, u8, u8);
type RawElement = (u32, Value, u8, u8, u8);

impl CertState {
    /// Returns the line without a newline.
    pub fn to_line(&self) -> String {
        let allocated = self.allocated.iter().map(|cell| u8::from(*cell)).collect();
        let threads = self.threads.iter().map(CertThread::to_raw).collect();
        let raw: RawState = (self.memory.clone(), allocated, threads);
        serde_json::to_string(&raw).expect("a state must be serialisable as JSON")
    }

    /// Parses a state line.
    pub(crate) fn parse(line: &[u8]) -> Result<CertState, String> {
        let (memory, allocated, threads): RawState =
            serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let allocated = allocated.into_iter().map(parse_bool).collect::<Result<_, _>>()?;
        let threads = threads.into_iter().map(CertThread::from_raw).collect::<Result<_, _>>()?;
        Ok(CertState { memory, allocated, threads })
    }
}

impl CertThread {
    fn to_raw(&self) -> RawThread {
        let entry = |e: &Entry| (e.loc.0, e.value, e.epoch, u8::from(e.before_barrier));
        let element =
            |e: &Element| (e.loc.0, e.value, e.epoch, u8::from(e.before_barrier), u8::from(e.last));
        let head = self.head.iter().map(entry).collect();
        let set = self.set.iter().map(element).collect();
        (self.pc.0, self.registers.clone(), self.epoch, head, set)
    }

    fn from_raw((pc, registers, epoch, head, set): RawThread) -> Result<Self, String> {
        let entry = |(loc, value, epoch, before_barrier): RawEntry| {
            Ok::<_, String>(Entry {
                loc: Loc(loc),
                value,
                epoch,
                before_barrier: parse_bool(before_barrier)?,
            })
        };
        let element = |(loc, value, epoch, before_barrier, last): RawElement| {
            let (before_barrier, last) = (parse_bool(before_barrier)?, parse_bool(last)?);
            Ok::<_, String>(Element { loc: Loc(loc), value, epoch, before_barrier, last })
        };
        let head = head.into_iter().map(entry).collect::<Result<_, _>>()?;
        let set = set.into_iter().map(element).collect::<Result<_, _>>()?;
        Ok(CertThread { pc: Pc(pc), registers, epoch, head, set })
    }
}

fn parse_bool(number: u8) -> Result<bool, String> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(format!("expected 0 or 1, found {other}")),
    }
}
