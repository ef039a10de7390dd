//! The machine as a transition system, with partial-order reduction.
//!
//! *Reduction.* When a step of a thread commutes with everything that others, and the memory model on
//! the thread's behalf, can do before it, it is enough to explore it alone: a persistent set. Because
//! properties look at more than final states, the step must also change nothing a property
//! looks at, and its successors must be farther away, so that no step is put off around
//! a whole cycle (see [`Sink::is_farther`]). Typical such steps: a store entering its buffer, a fence that
//! can be passed, a load of a location that no other thread can still write.
//!
//! `Invoke` looks at how far other threads have come, and a step that goes first may make it see more
//! operations that have returned. What it sees decides nothing but which orders of operations explain the
//! results, and the more it sees, the fewer do: no violation is lost.

use super::choice::Choices;
use super::packed::Segments;
use super::{Machine, Taken};
use crate::bits::Writer;
use crate::model::{MemoryModel, Stumble};
use crate::mutation::Mutation;
use crate::state::State;
use fencepost_ir::{Op, ThreadId};
use fencepost_search::{Sink, TransitionSystem};

/// The class of targets that violate a property.
pub const VIOLATION: u32 = 0;
/// The class of the witnesses of the first condition in `sometimes`; the next ones follow.
pub const WITNESS: u32 = 1;

/// Detail of a violation by the state itself, not by a step.
pub const ITSELF: u32 = u32::MAX;
/// Detail of a violation by an initial state or by `init`.
pub const INITIAL: u32 = u32::MAX - 1;

/// Working memory of a search thread.
#[derive(Debug)]
pub struct Scratch<P> {
    base: State<P>,
    /// Where `base` lies in bytes.
    segments: Segments,
    /// The same as `base` between two steps.
    work: State<P>,
    writer: Writer,
    ahead: Vec<Vec<u8>>,
    internal: Vec<u32>,
    choices: Choices,
}

impl<M: MemoryModel> TransitionSystem for Machine<'_, M> {
    type Scratch = Scratch<M::Pending>;

    fn scratch(&self) -> Self::Scratch {
        Scratch {
            base: self.blank(),
            segments: Segments::default(),
            work: self.blank(),
            writer: Writer::default(),
            ahead: Vec::new(),
            internal: Vec::new(),
            choices: Choices::default(),
        }
    }

    fn initial<S: Sink>(&self, scratch: &mut Self::Scratch, sink: &mut S) {
        let Scratch { work, writer, choices, .. } = scratch;
        *choices = Choices::default();
        loop {
            match self.start(work, choices, &mut ()) {
                Ok(true) => {
                    if self.wrong(work).is_some() {
                        sink.target(VIOLATION, INITIAL);
                    }
                    sink.successor(self.encode(work, writer));
                }
                Ok(false) => {}
                Err(_) => sink.target(VIOLATION, INITIAL),
            }
            if !choices.advance() {
                break;
            }
        }
    }

    fn expand<S: Sink>(&self, bytes: &[u8], scratch: &mut Self::Scratch, sink: &mut S) {
        self.decode(bytes, &mut scratch.base, &mut scratch.segments);
        scratch.work.clone_from(&scratch.base);
        if self.reductions.partial_order && self.expand_one(scratch, sink) {
            return;
        }
        let mut number = 0;
        let mut enabled = false;
        for t in self.shape.program().thread_ids() {
            scratch.choices = Choices::default();
            loop {
                scratch.choices.rewind();
                let taken = self.run(&mut scratch.work, t, &mut scratch.choices, &mut ());
                enabled |= self.hand_over(taken, number, t, scratch, sink);
                self.restore(&mut scratch.work, &scratch.base, t);
                number += 1;
                if !scratch.choices.advance() {
                    break;
                }
            }
            scratch.internal.clear();
            self.model.internal(&self.shape, &scratch.base, t, &mut scratch.internal);
            for at in 0..scratch.internal.len() {
                let which = scratch.internal[at];
                let taken = self.perform(&mut scratch.work, t, which, &mut ());
                enabled |= self.hand_over(taken.map(|()| Taken::Yes), number, t, scratch, sink);
                self.restore(&mut scratch.work, &scratch.base, t);
                number += 1;
            }
        }
        if !enabled {
            self.at_rest(&scratch.base, sink);
        }
    }
}

impl<M: MemoryModel> Machine<'_, M> {
    /// Hands a successor to the search. Returns whether the step is enabled at all.
    #[inline]
    fn hand_over<S: Sink>(
        &self,
        taken: Result<Taken, Stumble>,
        number: u32,
        t: ThreadId,
        scratch: &mut Scratch<M::Pending>,
        sink: &mut S,
    ) -> bool {
        match taken {
            Ok(Taken::Blocked) => false,
            Ok(Taken::Bounded) => {
                sink.bounded();
                true
            }
            Ok(Taken::Yes) => {
                if self.wrong_after(&scratch.work, t).is_some() {
                    sink.target(VIOLATION, number);
                }
                sink.successor(self.pack(t, scratch));
                true
            }
            Err(_) => {
                sink.target(VIOLATION, number);
                true
            }
        }
    }

    /// The successor in `work`, which a step of `t` led to.
    #[inline]
    fn pack<'s>(&self, t: ThreadId, scratch: &'s mut Scratch<M::Pending>) -> &'s [u8] {
        let Scratch { base, segments, work, writer, .. } = scratch;
        let same_memory = work.memory == base.memory;
        self.encode_after(work, segments, same_memory, t, writer)
    }

    /// A state without steps: final, or stuck.
    fn at_rest<S: Sink>(&self, state: &State<M::Pending>, sink: &mut S) {
        if self.wrong_at_rest(state).is_some() {
            sink.target(VIOLATION, ITSELF);
        }
        if !self.is_final(state) {
            return;
        }
        let mut outcome = Vec::new();
        for what in &self.shape.problem.observed {
            outcome.extend_from_slice(&self.observe(state, *what).to_le_bytes());
        }
        sink.fact(&outcome);
        for (class, condition) in (WITNESS..).zip(&self.shape.problem.sometimes) {
            if self.holds(state, condition) {
                sink.target(class, ITSELF);
            }
        }
    }

    /// Expands only one thread's step, if there is one for which that is enough.
    fn expand_one<S: Sink>(&self, scratch: &mut Scratch<M::Pending>, sink: &mut S) -> bool {
        for t in self.shape.program().thread_ids() {
            if self.run_commutes(&scratch.base, t) {
                scratch.choices = Choices::default();
                let mut used = 0;
                let mut good = true;
                loop {
                    scratch.choices.rewind();
                    let taken = self.run(&mut scratch.work, t, &mut scratch.choices, &mut ());
                    good &= taken == Ok(Taken::Yes) && self.keep(used, t, scratch, sink);
                    self.restore(&mut scratch.work, &scratch.base, t);
                    used += 1;
                    if !good || !scratch.choices.advance() {
                        break;
                    }
                }
                if good {
                    for successor in &scratch.ahead[..used] {
                        sink.successor(successor);
                    }
                    return true;
                }
            }
            scratch.internal.clear();
            self.model.internal(&self.shape, &scratch.base, t, &mut scratch.internal);
            for at in 0..scratch.internal.len() {
                let which = scratch.internal[at];
                let commutes = self.mutated.is(Mutation::CommitsCommute)
                    || self.model.internal_commutes(&self.shape, &scratch.base, t, which);
                if !commutes {
                    continue;
                }
                let taken = self.perform(&mut scratch.work, t, which, &mut ());
                let good = taken.is_ok() && self.keep(0, t, scratch, sink);
                self.restore(&mut scratch.work, &scratch.base, t);
                if good {
                    sink.successor(&scratch.ahead[0]);
                    return true;
                }
            }
        }
        false
    }

    /// Keeps the successor in `work` aside if the reduction may use it.
    fn keep<S: Sink>(
        &self,
        at: usize,
        t: ThreadId,
        scratch: &mut Scratch<M::Pending>,
        sink: &S,
    ) -> bool {
        let visible = self.shape.watches_critical
            && self.is_critical(&scratch.base, t) != self.is_critical(&scratch.work, t);
        if visible && !self.mutated.is(Mutation::SectionsUnwatched) {
            return false;
        }
        let farther = sink.is_farther(self.pack(t, scratch));
        if !farther && !self.mutated.is(Mutation::PostponedForEver) {
            return false;
        }
        if scratch.ahead.len() <= at {
            scratch.ahead.resize_with(at + 1, Vec::new);
        }
        scratch.ahead[at].clear();
        scratch.ahead[at].extend_from_slice(scratch.writer.bytes());
        true
    }

    fn run_commutes(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        let pc = state.pcs[t.index()];
        let op = &self.shape.stmt(t, pc).op;
        match op {
            Op::Skip | Op::Assign { .. } | Op::Choose { .. } | Op::Branch { .. } => true,
            Op::Assume(_) | Op::Assert(_) => true,
            Op::Leave => {
                !self.shape.watches_critical || self.mutated.is(Mutation::SectionsUnwatched)
            }
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Fence(_)
            | Op::Drain(_) => {
                self.mutated.is(Mutation::AccessesCommute)
                    || self.model.issue_commutes(&self.shape, state, t, pc)
            }
            Op::New { .. }
            | Op::Free { .. }
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Halt => false,
        }
    }
}
