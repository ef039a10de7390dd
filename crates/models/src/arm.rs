//! ARMv8-A: other-multi-copy atomic, with loads and stores that have orders.
//!
//! Source: \[ARM\] for the axioms, \[PFDFSS18\] for the idea of the machine. Direction: exact, up to
//! the bound on the window. The page "The ARM model" of the book defines the machine; the reference
//! interpreter and the axiomatic judge are written from it.
//!
//! Memory is one map. Each thread has a [window](crate::window). In contrast to the
//! [table-driven models](crate::table), a read-modify-write is performed in two steps, a read may
//! pass an access with an unknown address, and accesses have orders.
//!
//! DIVERGENCE from \[PFDFSS18\]: nothing is restarted. What their machine finds out later, ours
//! guesses, and a state whose guess is wrong has no successor. While the result of a guess depends
//! on a location, the thread holds the location: no other thread writes it.
//!
//! - `barrier`: which barrier a fence is.
//! - `facts`: what is pending in a window.
//! - `impossible`: guesses that no value can confirm.
//! - `fetch`: which statements a thread may fetch.
//! - `forget`: an over-approximation, if a window is full.
//! - `order`: which reads and writes may be performed.
//! - `guess`: guesses about comparisons and selections.
//! - `perform`: performing reads and writes.
//! - `redundant`: pending writes that have no effect.
//! - `steps`: the internal steps of an entry, and their numbers.
//! - `settle`: what happens as soon as possible, without a step of its own.
//! - `commute`: which of them may be performed at once, without loss of behaviour.

mod barrier;
mod commute;
mod facts;
mod fetch;
mod forget;
mod guess;
mod impossible;
mod order;
mod perform;
mod redundant;
mod settle;
mod steps;

use crate::bits::{Field, Reader, Writer};
use crate::event::{Event, EventKind, EventRecorder};
use crate::model::{Fidelity, IssueResult, MemoryModel, RacingStep, StepFailure};
use crate::mutation::{Mutated, Mutation};
use crate::shape::Shape;
use crate::state::State;
use crate::table::Bypass;
use crate::window::drain::drain;
use crate::window::retire;
use crate::window::{Mark, Note, Operand, Window};
pub use barrier::{fence_cost, fence_kinds};

use barrier::{Barrier, barrier};
use facts::Facts;
use fencepost_ir::{Access, Loc, Op, Pc, Reg, ThreadId};
use guess::Guess;
use steps::{GUESS_FAILURE, GUESSES, KEEP, MAX_BOUND, split};

/// The model of ARMv8-A.
#[derive(Clone, Copy, Debug)]
pub struct Arm {
    /// The maximal number of entries in a window.
    pub bound: u32,
    /// The active mutation.
    pub mutated: Mutated,
    /// What a failure of a statement in a window does.
    failures: Failures,
    /// Whether a thread whose window is full forgets something, so that it can continue. Then the
    /// model is an over-approximation.
    forgets: bool,
}

/// What a failure of a statement in a window does: a fault or a failed assertion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Failures {
    /// The step fails.
    Fail,
    /// The run has failed already, and the step shows whether pending accesses can be completed. A
    /// thread continues behind a failed assertion and ends at a fault.
    Ignored,
}

/// The pairs that may be reordered: all.
pub(crate) const BYPASS: Bypass = Bypass {
    store_load: true,
    store_store: true,
    load_load: true,
    load_store: true,
    read_own_early: true,
    speculation: true,
};

/// The maximal number of reads with unknown addresses in a window. A read that passes them has two
/// steps for each.
const MAX_UNKNOWN_READS: usize = 12;

impl Arm {
    /// Creates the model with a bound on the entries of a window.
    pub fn new(bound: u32, mutated: Mutated) -> Self {
        Arm { bound, mutated, failures: Failures::Fail, forgets: false }
    }

    /// Creates an over-approximation of the model, with windows of at most `bound` entries.
    pub fn forgetting(bound: u32, mutated: Mutated) -> Self {
        Arm { forgets: true, ..Arm::new(bound, mutated) }
    }

    /// Returns the statements in a thread's window, oldest first. The number of an internal step is
    /// the position of the entry, with guesses in the higher bits.
    pub fn window<'a>(
        &self,
        pending: &'a [Window],
        t: ThreadId,
    ) -> impl ExactSizeIterator<Item = Pc> + 'a {
        let window = &pending[t.index()];
        (0..window.len()).map(|entry| window.pc(entry))
    }

    fn bound(&self) -> u32 {
        self.bound.min(MAX_BOUND)
    }

    fn len_field(&self) -> Field {
        Field::for_count(self.bound() as usize + 1)
    }

    /// Returns whether the window is full: it has as many entries as the bound allows, or too many
    /// reads with unknown addresses.
    fn is_full(&self, facts: &[Facts]) -> bool {
        let is_unknown = |fact: &&Facts| fact.reads && fact.location.is_none();
        facts.len() >= self.bound() as usize
            || facts.iter().filter(is_unknown).count() >= MAX_UNKNOWN_READS
    }

    /// Completes an internal step. Returns false if a guess is wrong.
    fn settle_step(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        recorder: &mut dyn EventRecorder,
    ) -> Result<bool, StepFailure> {
        if !self.settle(shape, state, t, recorder)? {
            return Ok(false);
        }
        let (window, memory) = (&state.pending[t.index()], &state.memory.values);
        let facts = facts::facts(shape, t, window);
        Ok(!self.has_impossible_guess(shape, t, window, &facts, None, memory))
    }

    /// Completes a step of a window: does what happens as soon as possible. Returns false if a guess
    /// is wrong.
    fn settle(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        recorder: &mut dyn EventRecorder,
    ) -> Result<bool, StepFailure> {
        let is_consistent = retire::retire_ready_entries(self, shape, state, t, recorder)?
            && !self.has_contradiction(shape, t, &state.pending[t.index()]);
        if is_consistent && !self.forgets {
            self.remove_redundant_writes(shape, state, t, recorder);
        }
        Ok(is_consistent)
    }
}

impl MemoryModel for Arm {
    type Pending = Vec<Window>;

    fn fidelity(&self) -> Fidelity {
        if self.forgets { Fidelity::Over } else { Fidelity::Exact }
    }

    fn bound(&self) -> Option<u32> {
        Some(self.bound)
    }

    fn empty_pending(&self, shape: &Shape<'_>) -> Vec<Window> {
        shape.threads.iter().map(|t| Window::new(t.register_fields.len())).collect()
    }

    #[inline]
    fn are_registers_known(&self, state: &State<Vec<Window>>, t: ThreadId, regs: &[Reg]) -> bool {
        let window = &state.pending[t.index()];
        regs.iter().all(|reg| window.is_known(*reg))
    }

    #[inline]
    fn speculation(&self) -> Option<Bypass> {
        Some(BYPASS)
    }

    fn updates_load_early(&self) -> bool {
        true
    }

    fn has_ordered_accesses(&self) -> bool {
        true
    }

    fn is_speculating(&self, shape: &Shape<'_>, pending: &Vec<Window>, t: ThreadId) -> bool {
        facts::oldest_guess(shape, t, &pending[t.index()]).is_some()
    }

    fn holds_locations(&self, pending: &Vec<Window>, t: ThreadId) -> bool {
        pending[t.index()].has_promises()
    }

    fn control_point(&self, shape: &Shape<'_>, state: &State<Vec<Window>>, t: ThreadId) -> Pc {
        let window = &state.pending[t.index()];
        match facts::oldest_guess(shape, t, window) {
            Some(guess) if !self.mutated.is(Mutation::SpeculativeCriticalSections) => {
                window.pc(guess)
            }
            Some(_) | None => state.pcs[t.index()],
        }
    }

    fn awaited_location(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        pc: Pc,
    ) -> Option<Loc> {
        state.pending[t.index()].awaited_location(shape, t, pc)
    }

    fn has_value(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        reg: Reg,
    ) -> bool {
        let window = &state.pending[t.index()];
        let is_presumed = |entry: usize| window.presumed_result(shape, t, entry).is_some();
        window.producer(reg).is_none_or(is_presumed)
    }

    fn blocks_later_loads(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        loc: Loc,
        acquire: bool,
    ) -> bool {
        self.mutated.is(Mutation::GuessesTooLate)
            || self.blocks_later_reads(shape, &state.pending[t.index()], t, loc, acquire)
    }

    fn alternatives(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        pc: Pc,
    ) -> u32 {
        let is_guessed = matches!(shape.stmt(t, pc).op, Op::Branch { .. })
            && !self.are_registers_known(state, t, &shape.thread(t).uses[pc.index()]);
        if is_guessed { 2 } else { 1 }
    }

    fn clear_register(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        reg: Reg,
    ) {
        state.registers[shape.register(t, reg)] = 0;
        state.pending[t.index()].define(reg);
    }

    fn define_register(
        &self,
        _: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        reg: Reg,
    ) {
        state.pending[t.index()].define(reg);
    }

    fn is_fetched_eagerly(&self, op: &Op) -> bool {
        op.memory().is_some()
    }

    fn becomes_pending(&self, op: &Op) -> bool {
        op.access().is_some()
    }

    fn issue(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        pc: Pc,
        alternative: u32,
        recorder: &mut dyn EventRecorder,
    ) -> Result<IssueResult, StepFailure> {
        let stmt = shape.stmt(t, pc);
        let event = |kind| Event {
            thread: t,
            label: Some(stmt.label),
            pc: Some(pc),
            earlier_pending: None,
            kind,
        };
        if shape.thread(t).is_implied[pc.index()] {
            recorder.record_with(|| event(EventKind::Skip));
            return Ok(IssueResult::Done);
        }
        let window = &mut state.pending[t.index()];
        let facts = facts::facts(shape, t, window);
        if self.must_wait(window, &facts, &stmt.op) || self.is_late(shape, t, window, &facts, pc) {
            return Ok(IssueResult::Blocked);
        }
        if let Op::Drain(address) = &stmt.op {
            let window = &state.pending[t.index()];
            let may_store = |loc| {
                let is_store = |entry: usize| {
                    facts[entry].writes && facts::may_be_at(shape, t, window, &facts, entry, loc)
                };
                (0..facts.len()).any(is_store)
            };
            return drain(self, shape, state, (t, pc), address, may_store, recorder);
        }
        if let Op::Fence(kinds) = stmt.op {
            let orders_stores = barrier(kinds) == Barrier::Stores
                && !self.mutated.is(Mutation::IgnoredFence)
                && facts.iter().any(|fact| fact.writes);
            if !orders_stores {
                recorder.record_with(|| event(EventKind::Fence(kinds)));
                return Ok(IssueResult::Done);
            }
        }
        if let Op::Branch { cond, .. } | Op::Assume(cond) = &stmt.op {
            let registers = &state.registers[shape.thread(t).registers..];
            let presumed = window.presumed_next(shape, t, registers, cond);
            if presumed.is_some_and(|cond| cond.is_ok_and(|cond| (cond != 0) != (alternative == 0)))
            {
                return Ok(IssueResult::Blocked);
            }
        }
        let is_guess = matches!(stmt.op, Op::Branch { .. } | Op::Assume(_));
        let registers = &mut state.registers[shape.thread(t).registers..];
        if is_guess && let Some(earlier) = self.repeated_guess(shape, t, window, pc, registers) {
            if earlier != (alternative == 0) {
                return Ok(IssueResult::Blocked);
            }
            // It is resolved together with the earlier guess.
            recorder.record_with(|| event(EventKind::Test(earlier)));
            return Ok(IssueResult::Done);
        }
        if is_guess {
            let uses = &shape.thread(t).uses[pc.index()];
            let operands: Vec<Operand> = window.next_operands(uses, registers).collect();
            let next = Guess { pc, operands: &operands, direction: alternative == 0 };
            let memory = &state.memory.values;
            if self.contradicts_comparison(shape, t, window, next)
                || self.has_impossible_guess(shape, t, window, &facts, Some(next), memory)
            {
                return Ok(IssueResult::Blocked);
            }
        }
        while self.is_full(&facts::facts(shape, t, &state.pending[t.index()])) {
            if !self.forgets || !self.forget(shape, state, t) {
                return Ok(IssueResult::BoundReached);
            }
        }
        let window = &mut state.pending[t.index()];
        let registers = &mut state.registers[shape.thread(t).registers..];
        let entry = window.push(shape, t, pc, registers);
        if is_guess {
            window.set_mark(entry, Mark::Guess(alternative == 0));
        }
        let window = &state.pending[t.index()];
        recorder.record_with(|| {
            event(match stmt.op.access() {
                Some(access) => {
                    let loc = window.location(shape, t, entry).and_then(Result::ok);
                    let fact = &facts::facts(shape, t, window)[entry];
                    let value = loc
                        .and_then(|loc| facts::written_value(shape, t, window, fact, entry, loc));
                    EventKind::Fetch { stores: access.stores, loc, value }
                }
                None if is_guess => EventKind::Guess(alternative == 0),
                None => EventKind::Defer,
            })
        });
        let is_consistent = self.settle(shape, state, t, recorder)?;
        debug_assert!(is_consistent, "fetching a statement produces no value");
        Ok(IssueResult::Done)
    }

    fn internal_steps(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        out: &mut Vec<u32>,
    ) {
        let facts = facts::facts(shape, t, &state.pending[t.index()]);
        for entry in 0..facts.len() {
            self.steps_of_entry(shape, state, t, &facts, entry, |step| out.push(step));
        }
    }

    fn step_location(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        step: u32,
    ) -> Option<Loc> {
        let window = &state.pending[t.index()];
        let entry = split(step).0;
        let is_access = shape.stmt(t, window.pc(entry)).op.access().is_some();
        is_access.then(|| window.location(shape, t, entry)).flatten().and_then(Result::ok)
    }

    fn perform_internal_step(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        step: u32,
        recorder: &mut dyn EventRecorder,
    ) -> Result<bool, StepFailure> {
        if step & GUESSES != 0 {
            let entry = (step & MAX_BOUND) as usize;
            let fails = step & GUESS_FAILURE != 0;
            let window = &mut state.pending[t.index()];
            let is_selection = shape.thread(t).is_selection[window.pc(entry).index()];
            let note = match (is_selection, fails) {
                (true, _) => Note::Selects(!fails),
                (false, true) => Note::WritesNothing,
                (false, false) => Note::Succeeds,
            };
            window.add_note(entry, note);
            return self.settle_step(shape, state, t, recorder);
        }
        if step & KEEP != 0 {
            let (entry, number) = split(step & !KEEP);
            self.commit_forgotten_write(shape, state, t, (entry, number), recorder);
            return self.settle_step(shape, state, t, recorder);
        }
        let (entry, guesses) = split(step);
        let window = &state.pending[t.index()];
        let facts = facts::facts(shape, t, window);
        let performed = if facts[entry].reads {
            let loc = window.location(shape, t, entry).expect("the address is known");
            loc.and_then(|loc| {
                let read = self.may_read(shape, state, t, &facts, entry, loc);
                let read = read.expect("the read is enabled");
                self.perform_read(shape, state, t, (entry, loc), (&read, guesses), recorder)
            })
        } else {
            self.perform_write(shape, state, t, &facts, entry, recorder)
        };
        if let Err(fault) = performed {
            state.pending[t.index()].add_note(entry, Note::Failed(fault));
        }
        self.settle_step(shape, state, t, recorder)
    }

    fn ignore_failures(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        recorder: &mut dyn EventRecorder,
    ) -> bool {
        let model = Arm { failures: Failures::Ignored, ..*self };
        model.settle(shape, state, t, recorder) == Ok(true)
    }

    fn internal_commutes(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        step: u32,
    ) -> bool {
        let facts = facts::facts(shape, t, &state.pending[t.index()]);
        step & (GUESSES | KEEP) == 0 && self.step_commutes(shape, state, t, &facts, split(step).0)
    }

    fn prompt_step(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
    ) -> Option<u32> {
        self.commuting_entry(shape, state, t).map(|entry| entry as u32)
    }

    fn racing_locations(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        out: &mut Vec<Loc>,
    ) {
        let facts = facts::facts(shape, t, &state.pending[t.index()]);
        let pending = facts.iter().filter(|fact| fact.is_pending());
        out.extend(pending.filter_map(|fact| fact.location?.ok()));
    }

    /// The oldest access to the location blocks all later ones, except reads of its value.
    fn racing_step(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        loc: Loc,
    ) -> Option<RacingStep> {
        let window = &state.pending[t.index()];
        let facts = facts::facts(shape, t, window);
        let is_at = |entry: &usize| {
            (facts[*entry].is_pending() || facts[*entry].holds)
                && facts::may_be_at(shape, t, window, &facts, *entry, loc)
        };
        let oldest = (0..facts.len()).find(is_at)?;
        // A guess, or a hold of another thread, is not only about this location.
        let is_simple = facts[oldest].location == Some(Ok(loc))
            && !facts[oldest].is_update
            && !facts[oldest].order.exclusive
            && !state.pending.iter().any(Window::has_notes);
        if !is_simple {
            return None;
        }
        let mut steps = Vec::new();
        let add = |step| steps.push(step);
        self.steps_of_entry(shape, state, t, &facts, oldest, add);
        let [step] = steps[..] else { return None };
        Some(RacingStep::Internal(step))
    }

    fn pending_accesses_to(
        &self,
        shape: &Shape<'_>,
        pending: &Vec<Window>,
        t: ThreadId,
        loc: Loc,
    ) -> Access {
        let window = &pending[t.index()];
        let facts = facts::facts(shape, t, window);
        let mut found = Access { loads: false, stores: false };
        for (entry, fact) in facts.iter().enumerate() {
            if (fact.is_pending() || fact.holds)
                && facts::may_be_at(shape, t, window, &facts, entry, loc)
            {
                found.loads |= fact.reads || fact.holds;
                found.stores |= fact.writes;
            }
        }
        found
    }

    fn has_no_pending_access(&self, pending: &Vec<Window>, t: ThreadId) -> bool {
        pending[t.index()].len() == 0
    }

    fn has_no_pending_access_to(
        &self,
        shape: &Shape<'_>,
        pending: &mut Vec<Window>,
        t: ThreadId,
        cell: usize,
    ) -> bool {
        !pending[t.index()].may_access_cell(shape, t, cell)
    }

    fn copy_thread(&self, from: &Vec<Window>, to: &mut Vec<Window>, t: ThreadId) {
        to[t.index()].clone_from(&from[t.index()]);
    }

    fn encode(&self, shape: &Shape<'_>, pending: &Vec<Window>, t: ThreadId, writer: &mut Writer) {
        pending[t.index()].encode(shape, t, self.len_field(), true, writer);
        pending[t.index()].encode_notes(shape, t, writer);
    }

    fn decode(
        &self,
        shape: &Shape<'_>,
        reader: &mut Reader<'_>,
        pending: &mut Vec<Window>,
        t: ThreadId,
    ) {
        pending[t.index()].decode(shape, t, self.len_field(), true, reader);
        pending[t.index()].decode_notes(shape, t, reader);
    }
}
