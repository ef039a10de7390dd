//! Certificates: the states of a proof, for the independent checker in `fencepost-certify`.
//!
//! The checker takes every statement as one step and forgets no register. Therefore the search is
//! repeated without reductions. The checker verifies that the members of the certificate cover the
//! initial states and all their successors, and that no member violates a property.
//!
//! If an exact search verified the program with buffers up to a bound, the certificate uses the
//! domain `fd` with that many entries in order. The sets of `fd` then stay empty, so `fd` is the
//! exact model, as long as no thread passes more than three store-store fences with stores pending
//! before each.

use crate::engine::{Answer, Budget, Decider, Settings, Task};
use crate::path::options;
use crate::verdict::Verdict;
use fencepost_certify::{
    CertState, CertThread, Domain as Written, Element, Entry, Header, Model, UncertifiableProperty,
    check_certifiable,
};
use fencepost_ir::ThreadId;
use fencepost_models::catalog::ModelKind;
use fencepost_models::coherence::Domain;
use fencepost_models::coherence::buffer::Buffer;
use fencepost_models::machine::collapsed::Collapsed;
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::state::State;
use fencepost_models::{Machine, MemoryModel, Reductions, Visitor};
use fencepost_search::{Coverage, Stop, WorkLimits, explore, explore_ordered};
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

/// Why there is no certificate.
#[derive(Debug)]
pub enum NoCertificate {
    /// The verdict is not `verified`.
    NotVerified,
    /// Certificates do not support the model.
    Model,
    /// Certificates do not cover a property of the problem.
    UncertifiableProperty(UncertifiableProperty),
    /// The search without reductions was cut short.
    Stopped(Stop),
    /// The abstraction has a violation without reductions.
    Spurious,
    /// A store buffer of the abstraction can hold too many different values.
    Values,
    /// Writing failed.
    Unwritable(io::Error),
}

impl fmt::Display for NoCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCertificate::NotVerified => f.write_str("only a verified program has a certificate"),
            NoCertificate::Model => f.write_str("certificates support SC, TSO and PSO only"),
            NoCertificate::UncertifiableProperty(property) => property.fmt(f),
            NoCertificate::Stopped(stop) => {
                let limit = match stop {
                    Stop::States => "the limit on states",
                    Stop::Memory => "the limit on memory",
                    Stop::Time => "the time limit",
                    Stop::Interrupted => "an interruption",
                    Stop::Depth => "the limit on the length of runs",
                };
                write!(f, "the search without reductions that a certificate needs was ended by {limit}")
            }
            NoCertificate::Spurious => f.write_str(
                "the abstraction of the certificate is too coarse for this program; try a larger --k",
            ),
            NoCertificate::Values => f.write_str("a store buffer can hold too many different values"),
            NoCertificate::Unwritable(error) => write!(f, "{error}"),
        }
    }
}

impl From<io::Error> for NoCertificate {
    fn from(error: io::Error) -> Self {
        NoCertificate::Unwritable(error)
    }
}

/// Writes the certificate of a verified program. Returns the number of states in the certificate.
pub fn write_certificate(
    task: Task<'_>,
    answer: &Answer,
    settings: Settings,
    budget: Budget<'_>,
    out: &mut dyn Write,
) -> Result<u64, NoCertificate> {
    let Verdict::Verified(_) = answer.verdict else { return Err(NoCertificate::NotVerified) };
    check_certifiable(task.problem).map_err(NoCertificate::UncertifiableProperty)?;
    let model = match task.model.kind {
        ModelKind::Sc => Model::Sc,
        ModelKind::Tso => Model::Tso,
        ModelKind::Pso => Model::Pso,
        ModelKind::Table(_) | ModelKind::Arm => return Err(NoCertificate::Model),
    };
    let (domain, k) = match answer.decider {
        // The domain `set` has no head, so its `k` has no effect.
        Decider::Abstraction(Domain::Set, _) => (Domain::Set, 0),
        Decider::Abstraction(domain, k) => (domain, k),
        Decider::Explicit => (Domain::Full, answer.statistics.bound.unwrap_or(0)),
        // A certificate uses an abstraction. The loop below finds one that is fine enough.
        Decider::Forgetting(_)
        | Decider::Hiding(_)
        | Decider::Counters { .. }
        | Decider::Automata
        | Decider::Stateless
        | Decider::Attack
        | Decider::Translation
        | Decider::Spin
        | Decider::Cbmc
        | Decider::GenMc => (Domain::Full, 0),
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
        let cancel = budget.of_search();
        let budget = Budget { cancel: &cancel, ..budget };
        let machine = Machine::new(task.problem, model, Reductions::NONE)
            .within(WorkLimits::of_search(&cancel, settings.limits));
        let options = options(settings, budget, settings.limits, Some(VIOLATION));
        let system = Collapsed::ordered(&machine);
        let found = explore_ordered(&system, options);
        match complete(found.coverage) {
            // Without reductions, the abstraction has violations that the reductions left out.
            Err(NoCertificate::Spurious) if domain != Domain::Set && finer < k + FINER => {
                finer += 1;
            }
            Err(why) => return Err(why),
            Ok(()) => {
                let buffers =
                    |state: &State<Vec<Buffer>>, t: ThreadId| state.pending[t.index()].clone();
                let members = found.members().map(|state| Cow::Owned(system.unfold(state)));
                return put(&machine, header(finer), found.states, members, &buffers, out);
            }
        }
    }
}

/// How many values of k larger than the k of the proof are tried.
const FINER: u32 = 3;

/// Returns whether a search is exhaustive without a violation, or why there is no certificate.
fn complete(coverage: Coverage) -> Result<(), NoCertificate> {
    match coverage {
        Coverage::Exhaustive => Ok(()),
        Coverage::Found => Err(NoCertificate::Spurious),
        Coverage::Cut(stop) => Err(NoCertificate::Stopped(stop)),
        Coverage::Bounded => Err(NoCertificate::Values),
    }
}

/// Writes the certificate of a model without pending accesses.
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
        let limits = self.settings.limits;
        let cancel = self.budget.of_search();
        let budget = Budget { cancel: &cancel, ..self.budget };
        let machine = Machine::new(self.task.problem, model, Reductions::NONE)
            .within(WorkLimits::of_search(&cancel, limits));
        let found = explore(&machine, options(self.settings, budget, limits, Some(VIOLATION)));
        complete(found.coverage)?;
        let nothing = |_: &State<M::Pending>, _: ThreadId| Buffer::default();
        let states = found.latest(usize::MAX).map(Cow::Borrowed);
        put(&machine, self.header, found.states, states, &nothing, self.out)
    }
}

/// Writes the header and the states. `buffer` returns the pending stores of a thread.
fn put<'s, M: MemoryModel>(
    machine: &Machine<'_, M>,
    header: Header,
    states: u64,
    members: impl Iterator<Item = Cow<'s, [u8]>>,
    buffer: &dyn Fn(&State<M::Pending>, ThreadId) -> Buffer,
    out: &mut dyn Write,
) -> Result<u64, NoCertificate> {
    writeln!(out, "{}", Header { states, ..header }.to_line())?;
    let mut state = machine.blank();
    for packed in members {
        if let Some(stop) = machine.work_limits.cancel.reason() {
            return Err(NoCertificate::Stopped(stop));
        }
        machine.unpack(&packed, &mut state);
        writeln!(out, "{}", plain(machine, &state, buffer).to_line())?;
    }
    out.flush()?;
    Ok(states)
}

/// Converts a state into plain data.
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
                    before_barrier: e.before_barrier,
                })
                .collect(),
            set: (set.iter())
                .map(|e| Element {
                    loc: loc(e.slot),
                    value: e.value,
                    epoch: e.epoch,
                    before_barrier: e.before_barrier,
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
