//! Expansion of states with the [table of steps](super::step_table).
//!
//! A state stays packed. It is unpacked when a step is not in the table, or when a property or a
//! reduction needs all of it.

use super::packed::Segments;
use super::step_table::{Commutes, Entry, Facts, PartId, PartStep, StepTable, Taken, location_bit};
use super::system::Scratch;
use super::{Machine, StepResult};
use crate::bits::{Place, Writer};
use crate::model::{Condition, MemoryModel, Scope, StepFailure};
use crate::mutation::Mutation;
use crate::state::State;
use fencepost_ir::{Access, Loc, Op, ThreadId};

/// The maximal number of combinations of choices of a step that are tabulated.
const MAX_COMBINATIONS: usize = 64;

/// The maximal number of values of a location for which a step is tabulated.
const MAX_VALUES: usize = 64;

/// A set of locations for each of several threads.
#[derive(Clone, Copy, Debug, Default)]
struct LocationSets {
    /// The locations of at least one thread.
    once: u64,
    /// The locations of at least two threads.
    twice: u64,
}

impl LocationSets {
    #[inline]
    fn add(&mut self, own: u64) {
        self.twice |= self.once & own;
        self.once |= own;
    }

    /// Returns the locations of the threads except one, from the locations of this one.
    #[inline]
    fn of_others(self, own: u64) -> u64 {
        self.once & !own | self.twice
    }
}

/// What the parts of a state have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Summary {
    stores: LocationSets,
    accesses: LocationSets,
    /// Whether some thread waits for a latch.
    awaits_latch: bool,
    /// The number of threads in critical sections.
    critical: u32,
    /// Whether some step may commute.
    pub(super) may_commute: bool,
    /// Whether every thread has halted or may wait forever.
    pub(super) may_be_hang: bool,
}

impl Default for Summary {
    fn default() -> Self {
        Summary {
            stores: LocationSets::default(),
            accesses: LocationSets::default(),
            awaits_latch: false,
            critical: 0,
            may_commute: false,
            may_be_hang: true,
        }
    }
}

impl Summary {
    #[inline(always)]
    pub(super) fn add(&mut self, facts: &Facts) {
        self.stores.add(facts.stores);
        self.accesses.add(facts.accesses);
        self.awaits_latch |= facts.awaits_latch;
        self.critical += u32::from(facts.is_critical);
        self.may_commute |= facts.may_commute;
        self.may_be_hang &= facts.may_wait | facts.has_halted;
    }
}

/// The parts of the state that is expanded.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Indexed by thread.
    pub(super) ids: Vec<PartId>,
    /// Indexed by thread: where the part begins and ends in the packed state.
    ranges: Vec<(usize, usize)>,
    pub(super) summary: Summary,
}

impl Parts {
    /// Returns the threads that have not finished and those that wait for all others (bit
    /// `1 << thread`).
    pub(super) fn unfinished_and_at_join(&self, table: &StepTable) -> (u64, u64) {
        let mut sets = (0, 0);
        for (t, id) in self.ids.iter().enumerate() {
            let facts = &table.part(*id).facts;
            sets.0 |= u64::from(!(facts.has_halted && facts.has_no_pending)) << t;
            sets.1 |= u64::from(facts.is_at_join) << t;
        }
        sets
    }

    /// Returns where the part of a thread begins and ends in the packed state.
    pub(super) fn range(&self, t: ThreadId) -> (usize, usize) {
        self.ranges[t.index()]
    }

    #[inline]
    pub(super) fn id(&self, t: ThreadId) -> PartId {
        self.ids[t.index()]
    }

    /// Returns whether a thread other than one with these facts is in a critical section.
    #[inline]
    pub(super) fn is_other_critical(&self, own: &Facts) -> bool {
        self.summary.critical > u32::from(own.is_critical)
    }
}

impl From<Result<StepResult, StepFailure>> for Taken {
    fn from(taken: Result<StepResult, StepFailure>) -> Self {
        match taken {
            Ok(StepResult::Blocked) => Taken::Blocked,
            Ok(StepResult::BoundReached) => Taken::BoundReached,
            Ok(StepResult::Taken) => Taken::Yes,
            Err(_) => Taken::Failed,
        }
    }
}

impl<M: MemoryModel> Machine<'_, M> {
    /// Returns whether steps may be tabulated. What a step does besides its [scope](Scope) depends on
    /// other threads only at grace periods.
    pub(super) fn has_table(&self) -> bool {
        self.tabulates && self.model.has_tables() && !self.shape.grace_periods.occur
    }

    /// Begins the expansion of a state: finds its parts in the table, or unpacks it if there is no
    /// table.
    #[inline]
    pub(super) fn open(&self, bytes: &[u8], scratch: &mut Scratch<M::Pending>) {
        if scratch.form.is_some() {
            return self.open_collapsed(bytes, scratch);
        }
        let Scratch { base, work, segments, table, is_unpacked, .. } = &mut *scratch;
        let Some(table) = table else {
            self.decode(bytes, base, segments);
            work.clone_from(base);
            return;
        };
        table.limit_size(self.max_tabulated_parts);
        segments.set_bytes(bytes);
        *is_unpacked = false;
        while let Some((t, (start, end))) = self.find_parts(scratch) {
            self.unpack_base(scratch);
            let Scratch { base, segments, table: Some(table), internal, .. } = &mut *scratch else {
                return;
            };
            self.add_part(base, t, &segments.bytes[start..end], table, internal);
        }
    }

    /// Finds the parts of the packed state in the table. Returns the first part that is not there.
    #[inline]
    fn find_parts(&self, scratch: &mut Scratch<M::Pending>) -> Option<(ThreadId, (usize, usize))> {
        let Scratch { segments, table: Some(table), parts, .. } = scratch else { return None };
        let Segments { bytes, ends } = segments;
        let bytes = &bytes[..];
        if ends.is_empty() {
            ends.resize(self.shape.threads.len() + 1, 0);
        }
        let mut summary = Summary::default();
        let mut end = (self.shape.memory_bits as usize).div_ceil(8);
        ends[0] = end;
        parts.ids.clear();
        parts.ranges.clear();
        for ((t, thread), thread_end) in self.shape.threads.iter().enumerate().zip(&mut ends[1..]) {
            let (t, start) = (ThreadId::from_index(t), end);
            let bit = 8 * start + thread.control_bits as usize;
            end = (bit + self.model.pending_bits(&self.shape, bytes, bit, t)).div_ceil(8);
            *thread_end = end;
            let Some(id) = table.find(t, bytes, start, end - start) else {
                return Some((t, (start, end)));
            };
            summary.add(&table.part(id).facts);
            parts.ids.push(id);
            parts.ranges.push((start, end));
        }
        parts.summary = summary;
        None
    }

    /// Appends the packed memory and the packed part of a thread of the state that is expanded.
    pub(super) fn append_memory_and_part(
        &self,
        t: ThreadId,
        scratch: &Scratch<M::Pending>,
        out: &mut Vec<u8>,
    ) {
        let Scratch { segments, form, table, parts, .. } = scratch;
        let memory = (self.shape.memory_bits as usize).div_ceil(8);
        out.extend_from_slice(&segments.bytes[..memory]);
        out.extend_from_slice(match (form, table) {
            (Some(_), Some(table)) => table.bytes_of(parts.id(t)),
            (None, _) | (Some(_), None) => segments.thread(t),
        });
    }

    /// Unpacks the state that is expanded, unless it is unpacked.
    pub(super) fn unpack_base(&self, scratch: &mut Scratch<M::Pending>) {
        if scratch.table.is_some() && !scratch.is_unpacked {
            scratch.is_unpacked = true;
            match scratch.form {
                Some(_) => self.unpack_collapsed(scratch),
                None => self.unpack(&scratch.segments.bytes, &mut scratch.base),
            }
            scratch.work.clone_from(&scratch.base);
        }
    }

    /// Adds the part of a thread in a state to the table.
    pub(super) fn add_part(
        &self,
        state: &State<M::Pending>,
        t: ThreadId,
        packed: &[u8],
        table: &mut StepTable,
        internal: &mut Vec<u32>,
    ) -> PartId {
        internal.clear();
        self.model.internal_steps(&self.shape, state, t, internal);
        let place = |loc: Loc| self.shape.location_places[loc.index()];
        let location = match self.run_scope(state, t) {
            Scope::Thread => Some(Place::NOTHING),
            Scope::Location(loc) => place(loc),
            Scope::State => None,
        };
        let commutes = |condition| self.commutes_if(condition);
        let run = self.run_condition(state, t).map_or(Commutes::Ask, commutes);
        let run = PartStep::new(None, run, location);
        let internal = internal.iter().map(|which| {
            let loc = self.model.step_location(&self.shape, state, t, *which);
            let loc = loc.filter(|loc| self.shape.cell[loc.index()].is_none());
            let condition = if self.mutated.is(Mutation::CommitsCommute) {
                Condition::Always
            } else {
                self.model.internal_condition(&self.shape, state, t, *which)
            };
            PartStep::new(Some(*which), commutes(condition), loc.and_then(place))
        });
        let steps: Vec<PartStep> = std::iter::once(run).chain(internal).collect();
        let may_commute = steps.iter().any(|step| step.commutes != Commutes::Never);
        let facts = Facts { may_commute, ..self.part_facts(state, t) };
        table.insert(t, packed, facts, steps)
    }

    fn part_facts(&self, state: &State<M::Pending>, t: ThreadId) -> Facts {
        let (shape, pc) = (&self.shape, state.pcs[t.index()]);
        let future = &shape.thread(t).future_accesses;
        let (mut stores, mut accesses) = (0, 0);
        for loc in (0..shape.program().locations.len()).map(Loc::from_index) {
            let pending = self.model.pending_accesses_to(shape, &state.pending, t, loc);
            let may_store = shape.writers[loc.index()] >> t.index() & 1 != 0
                && (future.stores(pc, loc) || pending.stores);
            let who = shape.writers[loc.index()] | shape.readers[loc.index()];
            let may_access = who >> t.index() & 1 != 0
                && (future.stores(pc, loc)
                    || future.loads(pc, loc)
                    || pending != Access { loads: false, stores: false });
            stores |= if may_store { location_bit(loc) } else { 0 };
            accesses |= if may_access { location_bit(loc) } else { 0 };
        }
        Facts {
            is_critical: self.is_critical(state, t),
            may_commute: true,
            may_wait: shape.thread(t).may_wait[pc.index()],
            has_halted: self.has_halted(t, pc),
            has_no_pending: self.model.has_no_pending_access(&state.pending, t),
            is_at_join: matches!(shape.stmt(t, pc).op, Op::Join),
            awaits_latch: shape.thread(t).awaited[pc.index()].is_some(),
            stores,
            accesses,
        }
    }

    /// Returns the scope of the next statement of a thread with the local statements after it.
    fn run_scope(&self, state: &State<M::Pending>, t: ThreadId) -> Scope {
        let pc = state.pcs[t.index()];
        match &self.shape.stmt(t, pc).op {
            Op::Skip
            | Op::Assign { .. }
            | Op::Choose { .. }
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Return { .. }
            | Op::Leave
            | Op::AtomicEnd
            | Op::Halt => Scope::Thread,
            Op::Load { .. } if self.mutated.is(Mutation::LoadsIgnoreMemory) => Scope::Thread,
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Fence(_)
            | Op::Drain(_) => self.model.issue_scope(&self.shape, state, t, pc),
            Op::New { .. }
            | Op::Free { .. }
            | Op::AtomicBegin
            | Op::Invoke { .. }
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. } => Scope::State,
        }
    }

    /// Returns the number of the first entry for a step. `None` if the step is not tabulated.
    #[inline(always)]
    pub(super) fn look_up(
        &self,
        scratch: &mut Scratch<M::Pending>,
        t: ThreadId,
        step: u32,
    ) -> Option<u32> {
        let table = scratch.table.as_ref()?;
        let step = table.part(scratch.parts.id(t)).first_step + step;
        let part_step = table.step(step);
        let old = part_step.location?.read(&scratch.segments.bytes);
        match table.first_entry(part_step, old) {
            Some(at) => Some(at),
            None => self.tabulate(scratch, t, step, old),
        }
    }

    /// Adds a step to the table, for one value of its location. Returns the number of its first
    /// entry, or `None` if the step has too many results.
    #[cold]
    fn tabulate(
        &self,
        scratch: &mut Scratch<M::Pending>,
        t: ThreadId,
        step: u32,
        old: u64,
    ) -> Option<u32> {
        let table = scratch.table.as_mut()?;
        let place = table.step(step).location?;
        if table.count_values(table.step(step)) >= MAX_VALUES {
            table.exclude_step(step);
            return None;
        }
        let mut entries = std::mem::take(&mut scratch.entries);
        entries.clear();
        let number = step - table.part(scratch.parts.id(t)).first_step;
        let mut attempted = Some(self.attempt(scratch, t, number));
        while let Some(taken) = attempted {
            entries.push(self.entry_of(taken, t, place, old, scratch));
            self.restore(&mut scratch.work, &scratch.base, t);
            attempted = self.attempt_next(scratch, t, number);
        }
        let table = scratch.table.as_mut()?;
        let found = if entries.len() <= MAX_COMBINATIONS {
            Some(table.add_entries(step, &entries))
        } else {
            table.exclude_step(step);
            None
        };
        scratch.entries = entries;
        found
    }

    /// Returns the entry for the step from `base` to `work`.
    fn entry_of(
        &self,
        taken: Taken,
        t: ThreadId,
        place: Place,
        old: u64,
        scratch: &mut Scratch<M::Pending>,
    ) -> Entry {
        let Scratch { base, segments, work, writer, table, internal, form, parts, .. } = scratch;
        let table = table.as_mut().expect("there is a table");
        if taken != Taken::Yes {
            return Entry::without_successor(taken, old);
        }
        writer.clear();
        self.encode_memory(&work.memory, writer);
        writer.pad();
        let new = place.read(writer.bytes());
        debug_assert!(
            {
                writer.patch(place, old);
                let memory = (self.shape.memory_bits as usize).div_ceil(8);
                writer.bytes()[..memory] == segments.bytes[..memory]
            },
            "a step changes only its scope"
        );
        writer.clear();
        self.encode_thread(work, t, writer);
        let mut after = self.find_part(work, t, writer, table, internal);
        if self.merges_quiet_accesses() {
            after = self.settled_part(work, t, after, (table, internal));
        }
        if let Some(form) = form {
            form.number(t, after, table);
        }
        let parts = (table.part(parts.id(t)), table.part(after));
        Entry::new(place, (old, new), parts, after, self.is_visible(base, work, t))
    }

    /// Returns the part of a thread in a state. `writer` has its packed form. Adds it to the table if
    /// necessary.
    pub(super) fn find_part(
        &self,
        state: &State<M::Pending>,
        t: ThreadId,
        writer: &mut Writer,
        table: &mut StepTable,
        internal: &mut Vec<u32>,
    ) -> PartId {
        let len = writer.bytes().len();
        match table.find(t, writer.padded(), 0, len) {
            Some(part) => part,
            None => self.add_part(state, t, writer.bytes(), table, internal),
        }
    }

    /// Attempts a step of a thread on `work`, with the first combination of its choices.
    pub(super) fn attempt(
        &self,
        scratch: &mut Scratch<M::Pending>,
        t: ThreadId,
        step: u32,
    ) -> Taken {
        self.unpack_base(scratch);
        let which = self.internal_step(scratch, t, step);
        let Scratch { work, choices, .. } = scratch;
        choices.reset();
        match which {
            Some(which) => self.perform_internal_step(work, t, which, &mut ()).into(),
            None => self.run(work, t, choices, &mut ()).into(),
        }
    }

    /// Attempts the step with the next combination of its choices, on the restored `work`. `None` if
    /// there is none.
    pub(super) fn attempt_next(
        &self,
        scratch: &mut Scratch<M::Pending>,
        t: ThreadId,
        step: u32,
    ) -> Option<Taken> {
        let Scratch { work, choices, .. } = scratch;
        if step > 0 || !self.next_combination(choices) {
            return None;
        }
        choices.rewind();
        Some(self.run(work, t, choices, &mut ()).into())
    }

    /// Returns the number of steps of a thread: its next statement, then its internal steps.
    #[inline(always)]
    pub(super) fn count_steps(&self, scratch: &mut Scratch<M::Pending>, t: ThreadId) -> u32 {
        if let Some(table) = &scratch.table {
            return table.part(scratch.parts.id(t)).steps;
        }
        scratch.internal.clear();
        self.model.internal_steps(&self.shape, &scratch.base, t, &mut scratch.internal);
        1 + scratch.internal.len() as u32
    }

    /// Returns the condition under which a step commutes in terms of facts about the other threads.
    pub(super) fn commutes_if(&self, condition: Condition) -> Commutes {
        match condition {
            Condition::Always => Commutes::Unless(0, 0),
            Condition::Never => Commutes::Never,
            Condition::NoFree(loc) | Condition::NoStore(loc) | Condition::NoAccess(loc)
                if self.shape.is_freeable(loc) =>
            {
                Commutes::Ask
            }
            Condition::NoFree(_) => Commutes::Unless(0, 0),
            Condition::NoStore(loc) => Commutes::Unless(location_bit(loc), 0),
            Condition::NoAccess(loc) if self.shape.in_invariant[loc.index()] => Commutes::Never,
            Condition::NoAccess(loc) => Commutes::Unless(0, location_bit(loc)),
        }
    }

    /// Returns the first step of a thread from `from` on that commutes with everything that can precede
    /// it. The answer with a table is that of [`MemoryModel::holds`].
    #[inline]
    pub(super) fn next_commuting(
        &self,
        scratch: &mut Scratch<M::Pending>,
        t: ThreadId,
        from: u32,
    ) -> Option<u32> {
        let Scratch { table: Some(table), parts, .. } = scratch else {
            let count = self.count_steps(scratch, t);
            return (from..count).find(|step| self.commutes_in_base(scratch, t, *step));
        };
        let (own, summary) = (table.part(parts.id(t)), &parts.summary);
        if !own.facts.may_commute {
            return None;
        }
        let other_stores = summary.stores.of_others(own.facts.stores);
        let other_accesses = summary.accesses.of_others(own.facts.accesses);
        let asks = summary.awaits_latch || self.shape.location_fields.len() > 64;
        let steps = table.steps_of(own).iter().zip(0..).skip(from as usize);
        let mut steps = steps.filter_map(|(step, number)| match step.commutes {
            Commutes::Never => None,
            Commutes::Unless(stores, accesses) => {
                let is_busy = other_stores & stores | other_accesses & accesses != 0;
                (!is_busy || asks).then_some((number, is_busy))
            }
            Commutes::Ask => Some((number, true)),
        });
        let (number, must_ask) = steps.next()?;
        if must_ask && !self.commutes_in_base(scratch, t, number) {
            return self.next_commuting(scratch, t, number + 1);
        }
        Some(number)
    }

    #[cold]
    fn commutes_in_base(&self, scratch: &mut Scratch<M::Pending>, t: ThreadId, step: u32) -> bool {
        self.unpack_base(scratch);
        match self.internal_step(scratch, t, step) {
            Some(which) => {
                self.mutated.is(Mutation::CommitsCommute)
                    || self.model.internal_commutes(&self.shape, &scratch.base, t, which)
            }
            None => self.run_commutes(&scratch.base, t),
        }
    }

    /// Returns the number of a step among the internal steps. `None` for the next statement.
    fn internal_step(&self, scratch: &Scratch<M::Pending>, t: ThreadId, step: u32) -> Option<u32> {
        match &scratch.table {
            Some(table) => table.step(table.part(scratch.parts.id(t)).first_step + step).internal,
            None => step.checked_sub(1).map(|at| scratch.internal[at as usize]),
        }
    }
}
