//! What the lines of a certificate say: JSON, a header and then one line for each state.
//!
//! ```text
//! {"certificate":1,"model":"pso","domain":"fd","k":1,"client":"","states":1234}
//! [[memory], [allocated], [[pc, [registers], epoch, [head], [set]], ...]]
//! ```
//!
//! An entry of a head is `[location, value, epoch, before a barrier]`, an element of a set has one number more:
//! whether it is its location's last value. Truth is 1 or 0. The book's page "Certificates" has the details.
//!
//! Rejected alternative: a binary form. It would be a third of the size, but no reader could look into it.

use fencepost_ir::{Loc, Pc, Value};
use serde::{Deserialize, Serialize};

/// The version of the format that is written and read.
pub const VERSION: u32 = 1;

/// A memory model that certificates know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Sequential consistency: nothing is ever pending.
    Sc,
    /// Total store order: one queue for each thread.
    Tso,
    /// Partial store order: one queue for each thread and location.
    Pso,
}

impl Model {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
        }
    }
}

/// What is kept of the pending stores behind the head. Means nothing under SC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Domain {
    /// Fully disjunctive: each element is pending, once or more often.
    Fd,
    /// Partially disjunctive: each class is pending, with no other values than its elements.
    Pd,
    /// As partially disjunctive, without last values and without a head.
    Set,
}

impl Domain {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Domain::Fd => "fd",
            Domain::Pd => "pd",
            Domain::Set => "set",
        }
    }
}

/// The first line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`VERSION`].
    pub certificate: u32,
    /// The memory model.
    pub model: Model,
    /// The abstract domain.
    pub domain: Domain,
    /// How many entries the head of a group holds at most.
    pub k: u32,
    /// The problem's name: the client's text, or empty.
    pub client: String,
    /// How many states follow.
    pub states: u64,
}

impl Header {
    /// The line, without its end.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("a header has nothing that JSON cannot say")
    }

    /// What a line says.
    pub(crate) fn parse(line: &[u8]) -> Result<Header, String> {
        serde_json::from_slice(line).map_err(|error| error.to_string())
    }
}

/// An abstract state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CertState {
    /// The values of all locations.
    pub memory: Vec<Value>,
    /// For each cell of each pool, in order, whether it is allocated.
    pub allocated: Vec<bool>,
    /// The threads.
    pub threads: Vec<CertThread>,
}

/// What a state says of one thread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CertThread {
    /// The statement that comes next.
    pub pc: Pc,
    /// The values of all registers, dead ones too.
    pub registers: Vec<Value>,
    /// The current epoch: that of the next store.
    pub epoch: u8,
    /// The oldest pending stores: oldest first under TSO; under PSO by location, and oldest first for each.
    pub head: Vec<Entry>,
    /// What is known of the others, in the order of [`Element::rank`].
    pub set: Vec<Element>,
}

/// A pending store of the head.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Entry {
    /// Where it goes.
    pub loc: Loc,
    /// What it writes.
    pub value: Value,
    /// Its epoch.
    pub epoch: u8,
    /// Whether it is before a barrier.
    pub before: bool,
}

/// An element of the set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Element {
    /// Where it goes.
    pub loc: Loc,
    /// What it writes.
    pub value: Value,
    /// Its epoch.
    pub epoch: u8,
    /// Whether it is before a barrier.
    pub before: bool,
    /// Whether its value is the last one of its location; never in the domain `set`.
    pub last: bool,
}

impl Element {
    /// By location; older classes first; by value. No two elements of a set have the same rank.
    pub fn rank(&self) -> (Loc, u8, bool, Value) {
        (self.loc, self.epoch, !self.before, self.value)
    }
}

/// A state as JSON has it. Numbers stand for truth values.
type RawState = (Vec<Value>, Vec<u8>, Vec<RawThread>);
type RawThread = (u32, Vec<Value>, u8, Vec<RawEntry>, Vec<RawElement>);
type RawEntry = (u32, Value, u8, u8);
type RawElement = (u32, Value, u8, u8, u8);

impl CertState {
    /// The line, without its end.
    pub fn to_line(&self) -> String {
        let allocated = self.allocated.iter().map(|cell| u8::from(*cell)).collect();
        let threads = self.threads.iter().map(CertThread::to_raw).collect();
        let raw: RawState = (self.memory.clone(), allocated, threads);
        serde_json::to_string(&raw).expect("a state has nothing that JSON cannot say")
    }

    /// What a line says.
    pub(crate) fn parse(line: &[u8]) -> Result<CertState, String> {
        let (memory, allocated, threads): RawState =
            serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let allocated = allocated.into_iter().map(truth).collect::<Result<_, _>>()?;
        let threads = threads.into_iter().map(CertThread::from_raw).collect::<Result<_, _>>()?;
        Ok(CertState { memory, allocated, threads })
    }
}

impl CertThread {
    fn to_raw(&self) -> RawThread {
        let entry = |e: &Entry| (e.loc.0, e.value, e.epoch, u8::from(e.before));
        let element =
            |e: &Element| (e.loc.0, e.value, e.epoch, u8::from(e.before), u8::from(e.last));
        let head = self.head.iter().map(entry).collect();
        let set = self.set.iter().map(element).collect();
        (self.pc.0, self.registers.clone(), self.epoch, head, set)
    }

    fn from_raw((pc, registers, epoch, head, set): RawThread) -> Result<Self, String> {
        let entry = |(loc, value, epoch, before): RawEntry| {
            Ok::<_, String>(Entry { loc: Loc(loc), value, epoch, before: truth(before)? })
        };
        let element = |(loc, value, epoch, before, last): RawElement| {
            let (before, last) = (truth(before)?, truth(last)?);
            Ok::<_, String>(Element { loc: Loc(loc), value, epoch, before, last })
        };
        let head = head.into_iter().map(entry).collect::<Result<_, _>>()?;
        let set = set.into_iter().map(element).collect::<Result<_, _>>()?;
        Ok(CertThread { pc: Pc(pc), registers, epoch, head, set })
    }
}

fn truth(number: u8) -> Result<bool, String> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(format!("{other} where only 0 or 1 can be")),
    }
}
