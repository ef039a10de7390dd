//! A proof written down: the states that a search has left, for the checker in `fencepost-certify`.
//!
//! The checker takes every statement as a step of its own and forgets no register, so the search is made
//! again without reductions. Its members cover the initial states and all their successors, and none is wrong:
//! that is all there is to check.
//!
//! What an exact search has verified with buffers up to a bound is written in the domain `fd` with that many
//! entries in order: its sets stay empty then, and it is the exact model, as long as no thread has passed more
//! than three store-store fences with stores pending before each.

use crate::engine::{Answer, Budget, Decider, Settings, Task};
use crate::path::options;
use crate::verdict::Verdict;
use fencepost_certify::{
    CertState, CertThread, Domain as Written, Element, Entry, Header, Model, NotCovered,
    can_certify,
};
use fencepost_ir::ThreadId;
use fencepost_models::catalog::Kind;
use fencepost_models::coherence::Domain;
use fencepost_models::coherence::buffer::Buffer;
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::state::State;
use fencepost_models::{Machine, MemoryModel, Reductions, Visitor};
use fencepost_search::{Coverage, Stop, explore, explore_ordered};
use std::fmt;
use std::io::{self, Write};

/// Why there is no certificate.
#[derive(Debug)]
pub enum NoCertificate {
    /// Nothing was verified.
    NotVerified,
    /// Certificates are not about the model.
    Model,
    /// Certificates say nothing about a property.
    NotCovered(NotCovered),
    /// The search without reductions was cut short.
    Stopped(Stop),
    /// The abstraction meets a violation that it cannot exclude.
    Spurious,
    /// A store buffer of the abstraction can hold too many values.
    Values,
    /// It cannot be written.
    Unwritable(io::Error),
}

impl fmt::Display for NoCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCertificate::NotVerified => f.write_str("only a verified program has a certificate"),
            NoCertificate::Model => f.write_str("certificates are about SC, TSO and PSO only"),
            NoCertificate::NotCovered(property) => property.fmt(f),
            NoCertificate::Stopped(stop) => {
                let limit = match stop {
                    Stop::States => "the limit on states",
                    Stop::Memory => "the limit on memory",
                    Stop::Time => "the time limit",
                    Stop::Interrupted => "an interruption",
                    Stop::Depth => "the limit on the length of runs",
                };
                write!(f, "the search without reductions that it needs was ended by {limit}")
            }
            NoCertificate::Spurious => f.write_str(
                "the abstraction that it is written in is too coarse for this program; a larger --k may help",
            ),
            NoCertificate::Values => f.write_str("store buffers can hold too many different values"),
            NoCertificate::Unwritable(error) => write!(f, "{error}"),
        }
    }
}

impl From<io::Error> for NoCertificate {
    fn from(error: io::Error) -> Self {
        NoCertificate::Unwritable(error)
    }
}

/// Writes the certificate of a verified program. Returns how many states it has.
pub fn write_certificate(
    task: Task<'_>,
    answer: &Answer,
    settings: Settings,
    budget: Budget<'_>,
    out: &mut dyn Write,
) -> Result<u64, NoCertificate> {
    let Verdict::Verified(_) = answer.verdict else { return Err(NoCertificate::NotVerified) };
    can_certify(task.problem).map_err(NoCertificate::NotCovered)?;
    let model = match task.model.kind {
        Kind::Sc => Model::Sc,
        Kind::Tso => Model::Tso,
        Kind::Pso => Model::Pso,
        Kind::Table(_) => return Err(NoCertificate::Model),
    };
    let (domain, k) = match answer.by {
        Decider::Abstraction(domain, k) => (domain, k),
        Decider::Explicit => (Domain::Full, answer.statistics.bound.unwrap_or(0)),
        // A certificate is written in an abstraction; which one is enough is found by trying.
        Decider::Automata
        | Decider::Stateless
        | Decider::Attack
        | Decider::Translation
        | Decider::Spin => (Domain::Full, 0),
    };
    let header = |k| Header {
        certificate: fencepost_certify::format::VERSION,
        model,
        domain: match domain {
            Domain::Set => Written::Set,
            Domain::Full => Written::Fd,
            Domain::Partial => Written::Pd,
        },
        k,
        client: task.problem.name.clone(),
        states: 0,
    };
    let mut finer = k;
    loop {
        let Some(model) = task.model.abstracted(domain, finer, false) else {
            let header = header(k);
            return task.model.visit(1, Direct { task, settings, budget, header, out });
        };
        let machine = Machine::new(task.problem, model, Reductions::NONE);
        let options = options(settings, budget, settings.limits, Some(VIOLATION));
        let found = explore_ordered(&machine, options);
        match complete(found.coverage) {
            // The reductions have left out what the abstraction is too coarse for.
            Err(NoCertificate::Spurious) if domain != Domain::Set && finer < k + FINER => {
                finer += 1;
            }
            Err(why) => return Err(why),
            Ok(()) => {
                let buffers =
                    |state: &State<Vec<Buffer>>, t: ThreadId| state.pending[t.index()].clone();
                return put(&machine, header(finer), found.states, found.members(), &buffers, out);
            }
        }
    }
}

/// How many more entries in order than the proof had are tried.
const FINER: u32 = 3;

/// A search that met nothing wrong and saw everything, or why there is no certificate.
fn complete(coverage: Coverage) -> Result<(), NoCertificate> {
    match coverage {
        Coverage::Exhaustive => Ok(()),
        Coverage::Found => Err(NoCertificate::Spurious),
        Coverage::Cut(stop) => Err(NoCertificate::Stopped(stop)),
        Coverage::Bounded => Err(NoCertificate::Values),
    }
}

/// The certificate of a model that has nothing pending.
struct Direct<'a> {
    task: Task<'a>,
    settings: Settings,
    budget: Budget<'a>,
    header: Header,
    out: &'a mut dyn Write,
}

impl Visitor for Direct<'_> {
    type Output = Result<u64, NoCertificate>;

    fn visit<M: MemoryModel>(self, model: M) -> Self::Output {
        let machine = Machine::new(self.task.problem, model, Reductions::NONE);
        let limits = self.settings.limits;
        let found = explore(&machine, options(self.settings, self.budget, limits, Some(VIOLATION)));
        complete(found.coverage)?;
        let nothing = |_: &State<M::Pending>, _: ThreadId| Buffer::default();
        put(&machine, self.header, found.states, found.latest(usize::MAX), &nothing, self.out)
    }
}

/// Writes the header and the states. `buffer` gives what a thread has pending.
fn put<'s, M: MemoryModel>(
    machine: &Machine<'_, M>,
    header: Header,
    states: u64,
    members: impl Iterator<Item = &'s [u8]>,
    buffer: &dyn Fn(&State<M::Pending>, ThreadId) -> Buffer,
    out: &mut dyn Write,
) -> Result<u64, NoCertificate> {
    writeln!(out, "{}", Header { states, ..header }.to_line())?;
    let mut state = machine.blank();
    for packed in members {
        machine.unpack(packed, &mut state);
        writeln!(out, "{}", plain(machine, &state, buffer).to_line())?;
    }
    out.flush()?;
    Ok(states)
}

/// A state as plain data.
fn plain<M: MemoryModel>(
    machine: &Machine<'_, M>,
    state: &State<M::Pending>,
    buffer: &dyn Fn(&State<M::Pending>, ThreadId) -> Buffer,
) -> CertState {
    let thread = |t: ThreadId| {
        let shape = machine.shape.thread(t);
        let Buffer { head, set, epoch } = buffer(state, t);
        let loc = |slot: u16| shape.stores[usize::from(slot)];
        let registers = shape.registers..shape.registers + shape.register_fields.len();
        CertThread {
            pc: state.pcs[t.index()],
            registers: state.registers[registers].to_vec(),
            epoch,
            head: (head.iter())
                .map(|e| Entry {
                    loc: loc(e.slot),
                    value: e.value,
                    epoch: e.epoch,
                    before: e.before,
                })
                .collect(),
            set: (set.iter())
                .map(|e| Element {
                    loc: loc(e.slot),
                    value: e.value,
                    epoch: e.epoch,
                    before: e.before,
                    last: e.last,
                })
                .collect(),
        }
    };
    CertState {
        memory: state.memory.values.clone(),
        allocated: state.memory.allocated.clone(),
        threads: machine.shape.program().thread_ids().map(thread).collect(),
    }
}
