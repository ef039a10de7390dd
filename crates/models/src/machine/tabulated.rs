//! Expansion of states with the [table of steps](super::step_table).
//!
//! A state stays packed. It is unpacked when a step is not in the table, or when a property or a
//! reduction needs all of it.

use super::packed::Segments;
use super::step_table::{Entry, Facts, Part, PartId, PartStep, StepTable, Taken, location_bit};
use super::system::Scratch;
use super::{Machine, StepResult};
use crate::bits::Place;
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

/// The parts of the state that is expanded.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The part of each thread.
    ids: Vec<PartId>,
    stores: LocationSets,
    accesses: LocationSets,
    /// Whether some thread waits for a latch.
    awaits_latch: bool,
    /// The number of threads in critical sections.
    critical: u32,
    /// Whether every thread has halted or may wait forever.
    pub(super) may_be_hang: bool,
    /// Whether every thread has finished.
    pub(super) is_final: bool,
}

impl Parts {
    fn clear(&mut self) {
        self.ids.clear();
        let ids = std::mem::take(&mut self.ids);
        *self = Parts { ids, may_be_hang: true, is_final: true, ..Parts::default() };
    }

    #[inline]
    fn push(&mut self, id: PartId, facts: &Facts) {
        self.ids.push(id);
        self.stores.add(facts.stores);
        self.accesses.add(facts.accesses);
        self.awaits_latch |= facts.awaits_latch;
        self.critical += u32::from(facts.is_critical);
        self.may_be_hang &= facts.may_wait || facts.has_halted;
        self.is_final &= facts.has_halted && facts.has_no_pending;
    }

    /// Returns the part of a thread.
    #[inline]
    pub(super) fn id(&self, t: ThreadId) -> PartId {
        self.ids[t.index()]
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
    /// Returns an empty table, if steps may be tabulated. What a step does besides its
    /// [scope](Scope) depends on other threads only at grace periods.
    pub(super) fn new_table(&self) -> Option<StepTable> {
        let has_tables = self.model.has_tables() && !self.shape.grace_periods.occur;
        has_tables.then(StepTable::default)
    }

    /// Begins the expansion of a packed state: finds its parts in the table, or unpacks it if there is
    /// no table.
    #[inline]
    pub(super) fn open(&self, bytes: &[u8], scratch: &mut Scratch<M::Pending>) {
        let Scratch { base, work, segments, table, parts, is_unpacked, .. } = &mut *scratch;
        let Some(table) = table else {
            self.decode(bytes, base, segments);
            work.clone_from(base);
            return;
        };
        table.limit_size();
        self.split(bytes, segments);
        *is_unpacked = false;
        parts.clear();
        for t in self.shape.program().thread_ids() {
            self.open_part(t, scratch);
        }
    }

    #[inline]
    fn open_part(&self, t: ThreadId, scratch: &mut Scratch<M::Pending>) {
        let Scratch { segments: Segments { bytes, ends }, table: Some(table), parts, .. } =
            &mut *scratch
        else {
            unreachable!("there is a table");
        };
        let (start, end) = (ends[t.index()], ends[t.index() + 1]);
        if let Some(id) = table.find(t, bytes, start, end - start) {
            parts.push(id, &table.part(id).facts);
            return;
        }
        self.unpack_base(scratch);
        let Scratch { base, segments, table: Some(table), parts, internal, .. } = scratch else {
            unreachable!("there is a table");
        };
        let id = self.add_part(base, t, &segments.bytes[start..end], table, internal);
        parts.push(id, &table.part(id).facts);
    }

    /// Unpacks the state that is expanded, unless it is unpacked.
    pub(super) fn unpack_base(&self, scratch: &mut Scratch<M::Pending>) {
        if scratch.table.is_some() && !scratch.is_unpacked {
            scratch.is_unpacked = true;
            self.unpack(&scratch.segments.bytes, &mut scratch.base);
            scratch.work.clone_from(&scratch.base);
        }
    }

    /// Adds the part of a thread in a state to the table.
    fn add_part(
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
        let run = PartStep::new(None, self.run_condition(state, t), location);
        let internal = internal.iter().map(|which| {
            let loc = self.model.step_location(&self.shape, state, t, *which);
            let loc = loc.filter(|loc| self.shape.cell[loc.index()].is_none());
            let condition = if self.mutated.is(Mutation::CommitsCommute) {
                Condition::Always
            } else {
                self.model.internal_condition(&self.shape, state, t, *which)
            };
            PartStep::new(Some(*which), Some(condition), loc.and_then(place))
        });
        let steps = std::iter::once(run).chain(internal);
        table.insert(t, packed, self.part_facts(state, t), steps)
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
            control_point: self.control_point(state, t),
            may_wait: shape.thread(t).may_wait[pc.index()],
            has_halted: self.has_halted(t, pc),
            has_no_pending: self.model.has_no_pending_access(&state.pending, t),
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
    #[inline]
    pub(super) fn look_up(
        &self,
        scratch: &mut Scratch<M::Pending>,
        t: ThreadId,
        step: u32,
    ) -> Option<u32> {
        let table = scratch.table.as_ref()?;
        let part_step = table.step(scratch.parts.id(t), step);
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
        let part = scratch.parts.id(t);
        let table = scratch.table.as_mut()?;
        let part_step = table.step(part, step);
        let place = part_step.location?;
        if table.count_values(part_step) >= MAX_VALUES {
            table.exclude_step(part, step);
            return None;
        }
        let mut entries = std::mem::take(&mut scratch.entries);
        entries.clear();
        let mut attempted = Some(self.attempt(scratch, t, step));
        while let Some(taken) = attempted {
            entries.push(self.entry_of(taken, t, place, old, scratch));
            self.restore(&mut scratch.work, &scratch.base, t);
            attempted = self.attempt_next(scratch, t, step);
        }
        let table = scratch.table.as_mut()?;
        let found = if entries.len() <= MAX_COMBINATIONS {
            Some(table.add_entries(part, step, &entries))
        } else {
            table.exclude_step(part, step);
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
        let Scratch { segments, work, writer, table: Some(table), parts, internal, .. } = scratch
        else {
            unreachable!("there is a table");
        };
        if taken != Taken::Yes {
            return Entry::new(taken, place, (old, old), parts.id(t));
        }
        writer.clear();
        self.encode_memory(&work.memory, writer);
        writer.pad();
        let new = place.read(writer.bytes());
        debug_assert!(
            {
                writer.patch(place, old);
                writer.bytes()[..segments.ends[0]] == segments.bytes[..segments.ends[0]]
            },
            "a step changes only its scope"
        );
        writer.clear();
        self.encode_thread(work, t, writer);
        let len = writer.bytes().len();
        writer.pad();
        let after = match table.find(t, writer.bytes(), 0, len) {
            Some(part) => part,
            None => self.add_part(work, t, &writer.bytes()[..len], table, internal),
        };
        Entry::new(taken, place, (old, new), after)
    }

    /// Attempts a step of a thread on `work`, with the first combination of its choices.
    pub(super) fn attempt(
        &self,
        scratch: &mut Scratch<M::Pending>,
        t: ThreadId,
        step: u32,
    ) -> Taken {
        self.unpack_base(scratch);
        let Scratch { work, choices, table, parts, internal, .. } = scratch;
        let which = match table {
            Some(table) => table.step(parts.id(t), step).internal,
            None => step.checked_sub(1).map(|at| internal[at as usize]),
        };
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
    #[inline]
    pub(super) fn count_steps(&self, scratch: &mut Scratch<M::Pending>, t: ThreadId) -> u32 {
        if let Some(table) = &scratch.table {
            return table.part(scratch.parts.id(t)).steps;
        }
        scratch.internal.clear();
        self.model.internal_steps(&self.shape, &scratch.base, t, &mut scratch.internal);
        1 + scratch.internal.len() as u32
    }

    /// Returns whether a step of a thread commutes with everything that can precede it.
    #[inline]
    pub(super) fn commutes(
        &self,
        scratch: &mut Scratch<M::Pending>,
        t: ThreadId,
        step: u32,
    ) -> bool {
        let Some(table) = &scratch.table else {
            let Some(at) = step.checked_sub(1) else { return self.run_commutes(&scratch.base, t) };
            let which = scratch.internal[at as usize];
            return self.mutated.is(Mutation::CommitsCommute)
                || self.model.internal_commutes(&self.shape, &scratch.base, t, which);
        };
        let id = scratch.parts.id(t);
        let condition = table.step(id, step).commutes;
        let by_parts = condition
            .and_then(|condition| self.holds_by_parts(&scratch.parts, table.part(id), condition));
        by_parts.unwrap_or_else(|| self.commutes_in_base(scratch, t, condition))
    }

    /// Returns whether a condition holds, if the facts about the parts decide it. The answer is that
    /// of [`MemoryModel::holds`].
    #[inline]
    fn holds_by_parts(&self, parts: &Parts, own: &Part, condition: Condition) -> Option<bool> {
        let (loc, others) = match condition {
            Condition::Always => return Some(true),
            Condition::Never => return Some(false),
            Condition::NoFree(loc) => return (!self.shape.is_freeable(loc)).then_some(true),
            Condition::NoStore(loc) => (loc, parts.stores.of_others(own.facts.stores)),
            Condition::NoAccess(loc) if self.shape.in_invariant[loc.index()] => return Some(false),
            Condition::NoAccess(loc) => (loc, parts.accesses.of_others(own.facts.accesses)),
        };
        let may_access = others & location_bit(loc) != 0;
        let is_exact = !parts.awaits_latch && self.shape.location_fields.len() <= 64;
        (!self.shape.is_freeable(loc) && (is_exact || !may_access)).then_some(!may_access)
    }

    #[cold]
    fn commutes_in_base(
        &self,
        scratch: &mut Scratch<M::Pending>,
        t: ThreadId,
        condition: Option<Condition>,
    ) -> bool {
        self.unpack_base(scratch);
        match condition {
            Some(condition) => self.model.holds(&self.shape, &scratch.base, t, condition),
            None => self.run_commutes(&scratch.base, t),
        }
    }

    /// Packs the successor of an entry.
    #[inline]
    pub(super) fn pack_entry(&self, at: u32, t: ThreadId, scratch: &mut Scratch<M::Pending>) {
        let Scratch { segments, writer, table: Some(table), .. } = scratch else {
            unreachable!("there is a table");
        };
        let range = (segments.ends[t.index()], segments.ends[t.index() + 1]);
        table.write_successor(table.entry(at), &segments.bytes, range, writer);
    }

    /// Returns whether an entry leads to a state that violates a property. Its successor is packed.
    #[inline]
    pub(super) fn entry_violates(
        &self,
        before: &Facts,
        after: &Facts,
        t: ThreadId,
        scratch: &mut Scratch<M::Pending>,
    ) -> bool {
        if !self.shape.invariants.is_empty() {
            return self.packed_violates(t, scratch);
        }
        let others = scratch.parts.critical - u32::from(before.is_critical);
        self.shape.checks_mutual_exclusion && after.is_critical && others > 0
    }

    /// Returns whether the packed successor after a step of `t` violates a property.
    fn packed_violates(&self, t: ThreadId, scratch: &mut Scratch<M::Pending>) -> bool {
        self.unpack_base(scratch);
        let Scratch { base, work, writer, .. } = scratch;
        self.unpack(writer.bytes(), work);
        let violates = self.state_violation_after(work, t).is_some();
        self.restore(work, base, t);
        violates
    }
}
