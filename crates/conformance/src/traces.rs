//! Traces, by brute force: is a program robust, by definition?
//!
//! A *trace* is what is left of a run when its timing is forgotten (\[BM08\], section 2): for each thread its
//! events in program order, for each location the order in which writes took effect, and for each
//! read the write that it read. A program is robust when every trace of the weaker model is one of SC, and that
//! is decided here as it is written: both sets are computed and compared.
//!
//! An event is a load, a store, an update (one that fails only reads) or an `atomic` block with all
//! its accesses. Fences, drains and local statements are none; what `choose` yields is noted, because nothing else
//! tells two such runs apart. Only maximal runs count, so nothing is pending at the end. Threads may
//! be blocked for ever then: the trace is *stuck*, otherwise *complete*.
//!
//! *Waits.* A read that leads by branches alone back to itself, as in `while (x == 0) { }`, does not happen: the thread
//! waits until it reads something else. Only then is the set of traces of such a program finite.
//!
//! Source: the book's page "What a program means", read anew; it shares nothing with the engines but the program
//! representation. Direction: exact, for programs without records and client operations whose runs
//! are all finite and free of faults and failed assertions. Of any other, nothing is said.
//!
//! The rooms: [`step`] takes steps of a program under SC, TSO and PSO, [`explore`] takes all of them.
//!
//! ```no_run
//! # let problem = fencepost_ir::Problem::default();
//! use fencepost_conformance::traces::{sc_traces, tso_traces};
//!
//! let robust = sc_traces(&problem) == tso_traces(&problem);
//! ```

pub mod explore;
pub mod step;
use std::collections::BTreeSet;

use fencepost_ir::{Loc, Problem, Value};

use step::Discipline;

/// Programs with more states than this, traces so far included, are not judged.
pub const STATES: usize = 400_000;

/// A run with more events than this has no end, as far as we are concerned.
const LONGEST: usize = 40;

/// A write: which access of which event of which thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Write {
    /// The thread's position.
    pub thread: usize,
    /// The event's position in the thread.
    pub event: usize,
    /// The access's position in an `atomic` block, else 0.
    pub access: usize,
}

/// An access. Where it reads from is `None` for the initial value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Access {
    Load { loc: Loc, from: Option<Write> },
    Store { loc: Loc },
    Update { loc: Loc, from: Option<Write>, writes: bool },
}

/// What a thread does.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Event {
    /// A load, a store or an update.
    Access(Access),
    /// An `atomic` block.
    Atomic(Vec<Access>),
}

/// A trace.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Trace {
    /// Memory before the first step.
    pub initial: Vec<Value>,
    /// By thread: its events in program order.
    pub threads: Vec<Vec<Event>>,
    /// By thread: what `choose` yielded, one after another.
    pub choices: Vec<Vec<Value>>,
    /// By location: the writes in the order in which they took effect.
    pub coherence: Vec<Vec<Write>>,
}

/// The traces of all maximal runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Traces {
    /// Of runs at whose end all threads have halted.
    pub complete: BTreeSet<Trace>,
    /// Of the others: some thread is blocked for ever.
    pub stuck: BTreeSet<Trace>,
}

impl Traces {
    /// Whether it is one of them.
    pub fn contains(&self, trace: &Trace) -> bool {
        self.complete.contains(trace) || self.stuck.contains(trace)
    }
}

/// The traces under SC. `None`: some run faults, fails an assertion or does not end, or the program is too
/// large, or has records or operations.
pub fn sc_traces(problem: &Problem) -> Option<Traces> {
    explore::traces(&problem.program, Discipline::Sc, STATES, true)
}

/// The traces under TSO.
pub fn tso_traces(problem: &Problem) -> Option<Traces> {
    explore::traces(&problem.program, Discipline::Tso, STATES, true)
}

/// The traces under PSO.
pub fn pso_traces(problem: &Problem) -> Option<Traces> {
    explore::traces(&problem.program, Discipline::Pso, STATES, true)
}

/// The traces of all runs under SC, maximal or not.
pub fn sc_prefixes(problem: &Problem) -> Option<BTreeSet<Trace>> {
    explore::prefixes(&problem.program, Discipline::Sc, STATES)
}

/// How many maximal runs there are under SC when only accesses and `atomic` blocks are scheduled: every
/// other statement runs right after the step before it. What is chosen tells runs apart.
pub fn sc_interleavings(problem: &Problem) -> Option<u64> {
    explore::interleavings(&problem.program, STATES)
}

/// Makes the trace of a run while it runs. It decides itself which write each read reads: the thread's
/// own youngest pending store to the location, else the last write that took effect.
///
/// ```
/// use fencepost_conformance::traces::{Access, Event, Recorder, Write};
/// use fencepost_ir::Loc;
///
/// let x = Loc(0);
/// let mut recorder = Recorder::new(vec![0], 2);
/// recorder.store(0, x);
/// recorder.load(1, x);
/// recorder.commit(0, x);
/// recorder.load(1, x);
/// let trace = recorder.trace();
/// let written = Write { thread: 0, event: 0, access: 0 };
/// assert_eq!(trace.threads[1][0], Event::Access(Access::Load { loc: x, from: None }));
/// assert_eq!(trace.threads[1][1], Event::Access(Access::Load { loc: x, from: Some(written) }));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Recorder {
    trace: Trace,
    /// By thread: its stores that have not taken effect, oldest first.
    pending: Vec<Vec<(Loc, Write)>>,
    /// The thread that is in an `atomic` block, whose event is its last.
    inside: Option<usize>,
}

impl Recorder {
    /// Before the first step.
    pub fn new(initial: Vec<Value>, threads: usize) -> Self {
        let coherence = vec![Vec::new(); initial.len()];
        let (events, choices) = (vec![Vec::new(); threads], vec![Vec::new(); threads]);
        Recorder {
            trace: Trace { initial, threads: events, choices, coherence },
            pending: vec![Vec::new(); threads],
            inside: None,
        }
    }

    /// A load gets its value.
    pub fn load(&mut self, thread: usize, loc: Loc) {
        let from = self.source(thread, loc);
        self.access(thread, Access::Load { loc, from });
    }

    /// A store is issued and waits.
    pub fn store(&mut self, thread: usize, loc: Loc) {
        let write = self.access(thread, Access::Store { loc });
        self.pending[thread].push((loc, write));
    }

    /// The thread's oldest pending store to the location takes effect.
    pub fn commit(&mut self, thread: usize, loc: Loc) {
        let at = self.pending[thread].iter().position(|(other, _)| *other == loc);
        let (_, write) = self.pending[thread].remove(at.expect("what takes effect is pending"));
        self.trace.coherence[loc.index()].push(write);
    }

    /// A store takes effect when it is issued.
    pub fn write(&mut self, thread: usize, loc: Loc) {
        let write = self.access(thread, Access::Store { loc });
        self.trace.coherence[loc.index()].push(write);
    }

    /// An update reads, and writes unless it fails.
    pub fn update(&mut self, thread: usize, loc: Loc, writes: bool) {
        let from = self.source(thread, loc);
        let write = self.access(thread, Access::Update { loc, from, writes });
        if writes {
            self.trace.coherence[loc.index()].push(write);
        }
    }

    /// `choose` yields a value.
    pub fn choose(&mut self, thread: usize, value: Value) {
        self.trace.choices[thread].push(value);
    }

    /// An `atomic` block begins.
    pub fn begin(&mut self, thread: usize) {
        debug_assert!(self.pending[thread].is_empty(), "a block waits until nothing is pending");
        self.trace.threads[thread].push(Event::Atomic(Vec::new()));
        self.inside = Some(thread);
    }

    /// It ends.
    pub fn end(&mut self) {
        self.inside = None;
    }

    /// Whether the thread is in an `atomic` block.
    pub fn is_inside(&self, thread: usize) -> bool {
        self.inside == Some(thread)
    }

    /// Lets every pending store take effect, threads in order.
    pub fn settle(&mut self) {
        for thread in 0..self.pending.len() {
            while let Some((loc, _)) = self.pending[thread].first() {
                self.commit(thread, *loc);
            }
        }
    }

    /// The trace of the run so far.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// How many events there are so far.
    fn events(&self) -> usize {
        self.trace.threads.iter().map(Vec::len).sum()
    }

    /// The write that a read of the location reads now.
    fn source(&self, thread: usize, loc: Loc) -> Option<Write> {
        let own = self.pending[thread].iter().rfind(|(other, _)| *other == loc);
        own.map(|(_, write)| *write).or_else(|| self.trace.coherence[loc.index()].last().copied())
    }

    /// Notes an access; it writes under this identity, if it writes.
    fn access(&mut self, thread: usize, access: Access) -> Write {
        let events = &mut self.trace.threads[thread];
        match events.last_mut() {
            Some(Event::Atomic(accesses)) if self.inside == Some(thread) => {
                accesses.push(access);
                let at = accesses.len() - 1;
                Write { thread, event: events.len() - 1, access: at }
            }
            Some(Event::Atomic(_) | Event::Access(_)) | None => {
                events.push(Event::Access(access));
                Write { thread, event: events.len() - 1, access: 0 }
            }
        }
    }
}
