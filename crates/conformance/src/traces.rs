//! The traces of all runs, by brute force. Decides robustness by its definition.
//!
//! A *trace* abstracts from the timing of a run (\[BM08\], section 2). It consists of the events of
//! each thread in program order, the order in which the writes to each location took effect, and
//! the write that each read read. A program is robust if every trace of the weaker model is an SC
//! trace. The tests compute both sets and compare them.
//!
//! An event is a load, a store, an update (a failed update only reads) or an `atomic` block with
//! all its accesses. Fences, drains and local statements are not events. The results of `choose`
//! are part of the trace, because nothing else distinguishes such runs. Only maximal runs count, so
//! nothing is pending at the end. A trace is *stuck* if some thread is blocked forever, otherwise
//! *complete*.
//!
//! *Spin loops.* A read after which only branches lead back to the same read, as in `while (x == 0)
//! { }`, is not an event: the thread waits until it reads another value. Otherwise the set of
//! traces would be infinite. [`has_non_sc_run`] decides by the strict definition, in which these
//! reads are events. It runs each loop a few times only.
//!
//! Source: the book's page on semantics (`book/src/semantics.md`), implemented independently. Only
//! the program representation is shared with the engines. Direction: exact for programs without
//! records and client operations whose runs are all finite and free of faults and failed
//! assertions. All other programs are rejected (`None`).
//!
//! Modules: [`step`] computes the steps of a program under SC, TSO and PSO. [`explore`] explores
//! all runs. [`cycle`] searches a trace for a cycle of happens-before.
//!
//! ```no_run
//! # let problem = fencepost_ir::Problem::default();
//! use fencepost_conformance::traces::{sc_traces, tso_traces};
//!
//! let robust = sc_traces(&problem) == tso_traces(&problem);
//! ```

pub mod cycle;
pub mod explore;
pub mod step;
use std::collections::BTreeSet;

use fencepost_ir::{Loc, Problem, Value};

use step::BufferModel;

/// The maximum number of states of a supported program. States with different traces count
/// separately.
pub const MAX_STATES: usize = 400_000;

/// The maximum number of events of a run. A longer run counts as infinite.
const MAX_EVENTS: usize = 40;

/// The identity of a write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WriteId {
    /// The index of the thread.
    pub thread: usize,
    /// The index of the event in the thread.
    pub event: usize,
    /// The index of the access in an `atomic` block, else 0.
    pub access: usize,
}

/// An access. `from` is the write it reads, or `None` for the initial value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Access {
    Load { loc: Loc, from: Option<WriteId> },
    Store { loc: Loc },
    Update { loc: Loc, from: Option<WriteId>, writes: bool },
}

/// An event of a thread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Event {
    /// A load, a store or an update.
    Access(Access),
    /// An `atomic` block.
    Atomic(Vec<Access>),
}

/// The trace of a run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Trace {
    /// Memory before the first step.
    pub initial: Vec<Value>,
    /// By thread: the events in program order.
    pub threads: Vec<Vec<Event>>,
    /// By thread: the results of `choose`, in program order.
    pub choices: Vec<Vec<Value>>,
    /// By location: the writes in the order in which they took effect.
    pub coherence: Vec<Vec<WriteId>>,
}

/// The traces of all maximal runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Traces {
    /// The traces of runs in which all threads halt.
    pub complete: BTreeSet<Trace>,
    /// The traces of runs in which some thread is blocked forever.
    pub stuck: BTreeSet<Trace>,
}

impl Traces {
    /// Returns whether the trace is in either set.
    pub fn contains(&self, trace: &Trace) -> bool {
        self.complete.contains(trace) || self.stuck.contains(trace)
    }
}

/// Returns the traces under SC. Returns `None` if some run faults, fails an assertion or is
/// infinite, or if the program is too large or has records or operations.
pub fn sc_traces(problem: &Problem) -> Option<Traces> {
    explore::traces(&problem.program, BufferModel::Sc, MAX_STATES, true)
}

/// Returns the traces under TSO, or `None` as [`sc_traces`] does.
pub fn tso_traces(problem: &Problem) -> Option<Traces> {
    explore::traces(&problem.program, BufferModel::Tso, MAX_STATES, true)
}

/// Returns the traces under PSO, or `None` as [`sc_traces`] does.
pub fn pso_traces(problem: &Problem) -> Option<Traces> {
    explore::traces(&problem.program, BufferModel::Pso, MAX_STATES, true)
}

/// Returns the traces of all prefixes of SC runs.
pub fn sc_prefixes(problem: &Problem) -> Option<BTreeSet<Trace>> {
    explore::prefixes(&problem.program, BufferModel::Sc, MAX_STATES)
}

/// Returns whether some run has a cycle of happens-before, if every read is an event and each thread
/// jumps back at most `max_back_jumps` times. Returns `None` as [`sc_traces`] does.
pub fn has_non_sc_run(
    problem: &Problem,
    model: BufferModel,
    max_back_jumps: usize,
) -> Option<bool> {
    explore::has_non_sc_run(&problem.program, model, MAX_STATES, max_back_jumps)
}

/// Returns the number of maximal SC runs if only accesses, `choose` and `atomic` blocks are
/// scheduled. Every other statement runs directly after the previous step. Different results of
/// `choose` give different runs.
pub fn sc_interleavings(problem: &Problem) -> Option<u64> {
    explore::interleavings(&problem.program, MAX_STATES)
}

/// Records the trace of a run step by step. A read reads the youngest pending store of its own
/// thread to the location, else the last write that took effect.
///
/// ```
/// use fencepost_conformance::traces::{Access, Event, Recorder, WriteId};
/// use fencepost_ir::Loc;
///
/// let x = Loc(0);
/// let mut recorder = Recorder::new(vec![0], 2);
/// recorder.store(0, x);
/// recorder.load(1, x);
/// recorder.commit(0, x);
/// recorder.load(1, x);
/// let trace = recorder.trace();
/// let written = WriteId { thread: 0, event: 0, access: 0 };
/// assert_eq!(trace.threads[1][0], Event::Access(Access::Load { loc: x, from: None }));
/// assert_eq!(trace.threads[1][1], Event::Access(Access::Load { loc: x, from: Some(written) }));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Recorder {
    trace: Trace,
    /// By thread: the pending stores, oldest first.
    pending: Vec<Vec<(Loc, WriteId)>>,
    /// The thread inside an `atomic` block. The block is the last event of this thread.
    atomic_thread: Option<usize>,
}

impl Recorder {
    /// Creates a recorder for a run that starts with this memory.
    pub fn new(initial: Vec<Value>, threads: usize) -> Self {
        let coherence = vec![Vec::new(); initial.len()];
        let (events, choices) = (vec![Vec::new(); threads], vec![Vec::new(); threads]);
        Recorder {
            trace: Trace { initial, threads: events, choices, coherence },
            pending: vec![Vec::new(); threads],
            atomic_thread: None,
        }
    }

    /// Records a load.
    pub fn load(&mut self, thread: usize, loc: Loc) {
        let from = self.source(thread, loc);
        self.access(thread, Access::Load { loc, from });
    }

    /// Records that a store is issued and becomes pending.
    pub fn store(&mut self, thread: usize, loc: Loc) {
        let write = self.access(thread, Access::Store { loc });
        self.pending[thread].push((loc, write));
    }

    /// Records that the thread's oldest pending store to the location commits.
    pub fn commit(&mut self, thread: usize, loc: Loc) {
        let at = self.pending[thread].iter().position(|(other, _)| *other == loc);
        let (_, write) = self.pending[thread].remove(at.expect("a committed store is pending"));
        self.trace.coherence[loc.index()].push(write);
    }

    /// Records a store that takes effect when it is issued.
    pub fn write(&mut self, thread: usize, loc: Loc) {
        let write = self.access(thread, Access::Store { loc });
        self.trace.coherence[loc.index()].push(write);
    }

    /// Records an update. It reads, and writes unless it fails.
    pub fn update(&mut self, thread: usize, loc: Loc, writes: bool) {
        let from = self.source(thread, loc);
        let write = self.access(thread, Access::Update { loc, from, writes });
        if writes {
            self.trace.coherence[loc.index()].push(write);
        }
    }

    /// Records the result of `choose`.
    pub fn choose(&mut self, thread: usize, value: Value) {
        self.trace.choices[thread].push(value);
    }

    /// Records the begin of an `atomic` block.
    pub fn begin_atomic(&mut self, thread: usize) {
        debug_assert!(
            self.pending[thread].is_empty(),
            "an atomic block starts with no pending store"
        );
        self.trace.threads[thread].push(Event::Atomic(Vec::new()));
        self.atomic_thread = Some(thread);
    }

    /// Records the end of an `atomic` block.
    pub fn end_atomic(&mut self) {
        self.atomic_thread = None;
    }

    /// Returns whether the thread is in an `atomic` block.
    pub fn is_in_atomic(&self, thread: usize) -> bool {
        self.atomic_thread == Some(thread)
    }

    /// Commits every pending store, thread by thread.
    pub fn commit_all(&mut self) {
        for thread in 0..self.pending.len() {
            while let Some((loc, _)) = self.pending[thread].first() {
                self.commit(thread, *loc);
            }
        }
    }

    /// Returns the trace of the run so far.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Returns the number of events so far.
    fn events(&self) -> usize {
        self.trace.threads.iter().map(Vec::len).sum()
    }

    /// Returns the write that a read of the location reads now.
    fn source(&self, thread: usize, loc: Loc) -> Option<WriteId> {
        let own = self.pending[thread].iter().rfind(|(other, _)| *other == loc);
        own.map(|(_, write)| *write).or_else(|| self.trace.coherence[loc.index()].last().copied())
    }

    /// Adds an access. Returns the identity of its write, if it writes.
    fn access(&mut self, thread: usize, access: Access) -> WriteId {
        let events = &mut self.trace.threads[thread];
        match events.last_mut() {
            Some(Event::Atomic(accesses)) if self.atomic_thread == Some(thread) => {
                accesses.push(access);
                let at = accesses.len() - 1;
                WriteId { thread, event: events.len() - 1, access: at }
            }
            Some(Event::Atomic(_) | Event::Access(_)) | None => {
                events.push(Event::Access(access));
                WriteId { thread, event: events.len() - 1, access: 0 }
            }
        }
    }
}
