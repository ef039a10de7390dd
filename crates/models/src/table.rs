//! Table-driven models: an out-of-order window of accesses that are fetched but not performed.
//!
//! Source: \[KVY10\] section III-C (RLX, an execution buffer and a bypass table). Direction: exact,
//! up to the bound on the window. Registers are renamed, so reuse of a register orders nothing. An
//! access whose address is unknown blocks only accesses that it may alias. TSO and PSO are
//! instances; they must agree with the dedicated models on every outcome.
//!
//! DIVERGENCE: with [`Bypass::speculation`], a thread guesses the direction of a branch whose
//! condition is unknown and continues. There is one step for each direction, and a state whose
//! guess turns out to be wrong has no successor. So nothing is ever undone. Stores, updates,
//! allocations, faults and failed assertions wait until the guesses before them are resolved.
//!
//! - [`crate::window`]: the entries of one thread.
//! - `order`: which entries may be performed before which.
//! - `commute`: which entries may be performed at once, without loss of behaviour.

mod commute;
mod order;

use crate::address::{apply_update, check_allocated, check_limits, locate, without_wrap};
use crate::bits::{Field, Reader, Writer};
use crate::event::{Event, EventKind, EventRecorder, Source};
use crate::model::{Fidelity, IssueResult, MemoryModel, RacingStep, StepFailure};
use crate::mutation::{Mutated, Mutation};
use crate::shape::Shape;
use crate::state::State;
use crate::window::drain::drain;
use crate::window::operands::value_of;
use crate::window::retire::{self, Retired, WindowRules};
use crate::window::{Mark, Window};
use fencepost_ir::{Access, Fault, FenceKinds, Loc, MemoryOp, Op, Pc, Reg, ThreadId};
use order::LoadSource;

/// A bypass table: the pairs of accesses of one thread to different locations that may be
/// reordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bypass {
    /// A load may be performed before an earlier store.
    pub store_load: bool,
    /// A store may be performed before an earlier store.
    pub store_store: bool,
    /// A load may be performed before an earlier load.
    pub load_load: bool,
    /// A store may be performed before an earlier load.
    pub load_store: bool,
    /// A load may read its own thread's pending store before other threads can.
    pub read_own_early: bool,
    /// The directions of branches are guessed, so a load may be performed before an earlier branch
    /// is resolved.
    pub speculation: bool,
}

/// A table-driven model.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The bypass table.
    pub bypass: Bypass,
    /// The maximal number of entries in a window.
    pub bound: u32,
    /// The active mutation.
    pub mutated: Mutated,
}

impl Table {
    /// Returns the statements in a thread's window, oldest first. The number of an internal step is
    /// the position of the entry that it performs.
    pub fn window<'a>(
        &self,
        pending: &'a [Window],
        t: ThreadId,
    ) -> impl ExactSizeIterator<Item = Pc> + 'a {
        let window = &pending[t.index()];
        (0..window.len()).map(|entry| window.pc(entry))
    }

    fn len_field(&self) -> Field {
        Field::for_count(self.bound as usize + 1)
    }

    /// Performs one entry. Its operands are known, and nothing blocks it. If it fails, the window
    /// does not change.
    fn perform_entry(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        entry: usize,
        recorder: &mut dyn EventRecorder,
    ) -> Result<(), Fault> {
        let window = &state.pending[t.index()];
        let pc = window.pc(entry);
        let stmt = shape.stmt(t, pc);
        let uses = &shape.thread(t).uses[pc.index()];
        let operands = window.operands(shape, t, entry);
        let read = |reg: &Reg| value_of(uses, operands, *reg);
        let earlier_pending = Some(window.accesses_before(shape, t, entry));
        let event = |kind| Event {
            thread: t,
            label: Some(stmt.label),
            pc: Some(pc),
            earlier_pending,
            kind,
        };
        let memory = &mut state.memory;
        let yields = match stmt.op.memory() {
            None => unreachable!("only accesses are performed"),
            Some(MemoryOp::Load { from, .. }) => {
                let loc = locate(shape, from, &read)?;
                let allocated = check_allocated(shape, memory, loc);
                if !window.is_speculative(entry) {
                    allocated?;
                }
                let infos = order::entry_infos(shape, t, window);
                let forward = if self.mutated.is(Mutation::NoForwarding) {
                    LoadSource::Memory
                } else {
                    order::forward(shape, t, window, &infos, entry, loc)
                };
                let (value, source) = match forward {
                    LoadSource::Memory => (memory.values[loc.index()], Source::Memory),
                    LoadSource::Value(value) => {
                        (value, Source::Forwarded { by_pair: false, presumed: false })
                    }
                    LoadSource::Wait => unreachable!("a load that must wait is not performed"),
                };
                recorder.record_with(|| event(EventKind::Load { loc, value, source }));
                allocated?;
                Some(value)
            }
            Some(MemoryOp::Store { to, value }) => {
                let loc = locate(shape, to, &read)?;
                check_allocated(shape, memory, loc)?;
                let value = check_limits(shape.location_limits[loc.index()], value.eval(&read)?)?;
                memory.values[loc.index()] = value;
                recorder.record_with(|| event(EventKind::Commit { loc, value }));
                None
            }
            Some(MemoryOp::Update { at, update, .. }) => {
                let loc = locate(shape, at, &read)?;
                check_allocated(shape, memory, loc)?;
                let old = memory.values[loc.index()];
                let wrong = self.mutated.is(Mutation::SumsNotWrapped);
                let wrong = wrong.then(|| without_wrap(update));
                let (new, yields) = apply_update(wrong.as_ref().unwrap_or(update), old, &read)?;
                if let Some(new) = new {
                    memory.values[loc.index()] =
                        check_limits(shape.location_limits[loc.index()], new)?;
                }
                recorder.record_with(|| event(EventKind::Update { loc, old, new }));
                Some(yields)
            }
            Some(MemoryOp::Fence(_) | MemoryOp::Drain(_)) => {
                unreachable!("fences and drains are not performed")
            }
        };
        let value = match (stmt.op.target(), yields) {
            (Some(reg), Some(value)) => {
                check_limits(shape.thread(t).register_limits[reg.index()], value)?
            }
            _ => 0,
        };
        let registers = &mut state.registers[shape.thread(t).registers..];
        state.pending[t.index()].remove(shape, t, entry, value, registers);
        Ok(())
    }
}

impl WindowRules for Table {
    fn mutated(&self) -> Mutated {
        self.mutated
    }

    fn is_speculative(&self, _: &Shape<'_>, _: ThreadId, window: &Window, entry: usize) -> bool {
        window.is_speculative(entry) && !self.mutated.is(Mutation::SpeculativeFailuresCount)
    }

    fn fence_still_orders(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        fence: usize,
        kinds: FenceKinds,
    ) -> bool {
        let any = Access { loads: true, stores: true };
        (0..fence)
            .filter_map(|earlier| window.access(shape, t, earlier))
            .any(|earlier| kinds.orders(earlier, any))
    }

    /// A load that has failed fails when it is not speculative any more.
    fn settle_access(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        entry: usize,
        _: &mut dyn EventRecorder,
    ) -> Result<Retired, StepFailure> {
        let window = &state.pending[t.index()];
        match window.mark(entry) {
            Some(Mark::Failed(fault)) => {
                retire::fail_unless_speculative(self, shape, t, window, entry, Some(fault))
            }
            Some(Mark::Guess(_)) | None => Ok(Retired::Waits),
        }
    }
}

impl MemoryModel for Table {
    type Pending = Vec<Window>;

    fn fidelity(&self) -> Fidelity {
        Fidelity::Exact
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
        self.bypass.speculation.then_some(self.bypass)
    }

    #[inline]
    fn is_speculating(&self, _: &Shape<'_>, pending: &Vec<Window>, t: ThreadId) -> bool {
        pending[t.index()].oldest_guess().is_some()
    }

    #[inline]
    fn control_point(&self, _: &Shape<'_>, state: &State<Vec<Window>>, t: ThreadId) -> Pc {
        let window = &state.pending[t.index()];
        match window.oldest_guess() {
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

    fn alternatives(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        pc: Pc,
    ) -> u32 {
        let is_guessed = self.bypass.speculation
            && matches!(shape.stmt(t, pc).op, Op::Branch { .. })
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
        op.memory().is_some_and(|op| match op {
            MemoryOp::Load { .. } | MemoryOp::Store { .. } | MemoryOp::Update { .. } => true,
            MemoryOp::Fence(kinds) => kinds != FenceKinds::FULL,
            MemoryOp::Drain(_) => false,
        })
    }

    fn becomes_pending(&self, op: &Op) -> bool {
        op.access().is_some()
    }

    fn can_issue_late(&self) -> bool {
        true
    }

    /// New entries are behind the old ones.
    fn steps_of_new_accesses(
        &self,
        shape: &Shape<'_>,
        before: &Vec<Window>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        out: &mut Vec<u32>,
    ) {
        let old = before[t.index()].len() as u32;
        self.internal_steps(shape, state, t, out);
        out.retain(|entry| *entry >= old);
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
        let (label, earlier_pending) = (Some(stmt.label), None);
        let event = |kind| Event { thread: t, label, pc: Some(pc), earlier_pending, kind };
        let window = &mut state.pending[t.index()];
        match stmt.op.memory() {
            Some(MemoryOp::Fence(kinds)) if kinds == FenceKinds::FULL => {
                if window.len() > 0 && !self.mutated.is(Mutation::IgnoredFence) {
                    return Ok(IssueResult::Blocked);
                }
                recorder.record_with(|| event(EventKind::Fence(kinds)));
                return Ok(IssueResult::Done);
            }
            Some(MemoryOp::Drain(address)) => {
                let window = &state.pending[t.index()];
                let may_store = |loc| {
                    (0..window.len()).any(|entry| {
                        window.access(shape, t, entry).is_some_and(|a| a.stores)
                            && self.may_be_at(shape, t, window, entry, loc)
                    })
                };
                return drain(self, shape, state, (t, pc), address, may_store, recorder);
            }
            Some(
                MemoryOp::Load { .. }
                | MemoryOp::Store { .. }
                | MemoryOp::Update { .. }
                | MemoryOp::Fence(_),
            )
            | None => {}
        }
        if window.len() >= self.bound as usize {
            return Ok(IssueResult::BoundReached);
        }
        let registers = &mut state.registers[shape.thread(t).registers..];
        let entry = window.push(shape, t, pc, registers);
        if matches!(stmt.op, Op::Branch { .. } | Op::Assume(_)) {
            window.set_mark(entry, Mark::Guess(alternative == 0));
        }
        let window = &state.pending[t.index()];
        match &stmt.op {
            Op::Load { .. } | Op::Store { .. } | Op::Update { .. } => recorder.record_with(|| {
                let loc = window.location(shape, t, entry).and_then(Result::ok);
                let value = if let Op::Store { value, .. } = &stmt.op
                    && window.is_ready(shape, t, entry)
                {
                    let uses = &shape.thread(t).uses[pc.index()];
                    let operands = window.operands(shape, t, entry);
                    value.eval(&|reg| value_of(uses, operands, *reg)).ok()
                } else {
                    None
                };
                let stores = matches!(stmt.op, Op::Store { .. } | Op::Update { .. });
                event(EventKind::Fetch { stores, loc, value })
            }),
            Op::Assign { .. } | Op::Assert(_) | Op::Fence(_) => {
                recorder.record_with(|| event(EventKind::Defer));
            }
            Op::Branch { .. } | Op::Assume(_) => {
                recorder.record_with(|| event(EventKind::Guess(alternative == 0)));
            }
            Op::Skip
            | Op::Choose { .. }
            | Op::Drain(_)
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. }
            | Op::Halt => {}
        }
        let is_consistent = retire::retire_ready_entries(self, shape, state, t, recorder)?;
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
        let window = &state.pending[t.index()];
        let infos = order::entry_infos(shape, t, window);
        for entry in 0..window.len() {
            if self.may_perform(shape, t, window, &infos, entry) {
                out.push(entry as u32);
            }
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
        window.location(shape, t, step as usize).and_then(Result::ok)
    }

    fn perform_internal_step(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        step: u32,
        recorder: &mut dyn EventRecorder,
    ) -> Result<bool, StepFailure> {
        let entry = step as usize;
        let window = &state.pending[t.index()];
        let label = Some(shape.stmt(t, window.pc(entry)).label);
        let is_speculative = self.is_speculative(shape, t, window, entry);
        match self.perform_entry(shape, state, t, entry, recorder) {
            Ok(()) => retire::retire_ready_entries(self, shape, state, t, recorder),
            // Whether a load fails depends on the time when it is performed, so it does not wait.
            Err(fault) if is_speculative => {
                if !self.mutated.is(Mutation::SpeculativeFaultsForgotten) {
                    state.pending[t.index()].set_mark(entry, Mark::Failed(fault));
                }
                Ok(!self.mutated.is(Mutation::SpeculativeFaultsForgotten))
            }
            Err(fault) => Err(StepFailure { fault: Some(fault), label }),
        }
    }

    fn internal_commutes(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        step: u32,
    ) -> bool {
        self.entry_commutes(shape, state, t, step as usize)
    }

    fn racing_locations(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        out: &mut Vec<Loc>,
    ) {
        self.known_locations(shape, t, &state.pending[t.index()], out);
    }

    /// The oldest entry at the location blocks all later ones, except loads that read its value.
    fn racing_step(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        loc: Loc,
    ) -> Option<RacingStep> {
        let step = self.oldest_access_to(shape, t, &state.pending[t.index()], loc)?;
        let mut steps = Vec::new();
        self.internal_steps(shape, state, t, &mut steps);
        steps.contains(&step).then_some(RacingStep::Internal(step))
    }

    fn pending_accesses_to(
        &self,
        shape: &Shape<'_>,
        pending: &Vec<Window>,
        t: ThreadId,
        loc: Loc,
    ) -> Access {
        let window = &pending[t.index()];
        let mut found = Access { loads: false, stores: false };
        for entry in 0..window.len() {
            if let Some(access) = window.access(shape, t, entry)
                && self.may_be_at(shape, t, window, entry, loc)
            {
                found.loads |= access.loads;
                found.stores |= access.stores;
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

    fn may_allocate(&self, shape: &Shape<'_>, pending: &Vec<Window>, t: ThreadId) -> bool {
        let window = &pending[t.index()];
        !(0..window.len())
            .filter_map(|entry| window.access(shape, t, entry))
            .any(|a| (a.loads && !self.bypass.load_store) || (a.stores && !self.bypass.store_load))
    }

    fn copy_thread(&self, from: &Vec<Window>, to: &mut Vec<Window>, t: ThreadId) {
        to[t.index()].clone_from(&from[t.index()]);
    }

    fn encode(&self, shape: &Shape<'_>, pending: &Vec<Window>, t: ThreadId, writer: &mut Writer) {
        pending[t.index()].encode(shape, t, self.len_field(), self.bypass.speculation, writer);
    }

    fn decode(
        &self,
        shape: &Shape<'_>,
        reader: &mut Reader<'_>,
        pending: &mut Vec<Window>,
        t: ThreadId,
    ) {
        pending[t.index()].decode(shape, t, self.len_field(), self.bypass.speculation, reader);
    }
}
