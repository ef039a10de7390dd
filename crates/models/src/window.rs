//! The window of one thread of a model that performs accesses out of order: entries in program
//! order, their captured operands, and for each register the entry that produces it.
//!
//! An unresolved branch is an entry with a guess. A load that failed behind a guess stays in the
//! window until the guess is resolved.
//!
//! This is register renaming. An operand is a value or a reference to the entry that produces it,
//! so a later assignment to the same register has no effect on it. References are positions in the
//! window, so equivalent windows are equal.

pub(crate) mod drain;
pub(crate) mod notes;
pub(crate) mod operands;
pub(crate) mod presumed;
pub(crate) mod retire;

use crate::bits::{Field, Reader, Writer};
use crate::mutation::{Mutated, Mutation};
use crate::shape::Shape;
use fencepost_ir::{Access, Fault, Loc, Op, Pc, Reg, ThreadId, Value};
use operands::location_of;

/// An operand of a statement, captured when the statement was fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operand {
    /// A value.
    Value(Value),
    /// The value that this entry will produce.
    ProducedBy(u16),
}

/// What a window records about an entry besides its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    /// A branch or assumption whose condition is guessed to have this value.
    Guess(bool),
    /// A load that was performed behind a guess and failed.
    Failed(Fault),
}

/// What the model `arm` records about an access or a conditional selection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Note {
    /// The read was performed and had this value. The write that belongs to it is pending, or the
    /// value is [presumed](presumed).
    ReadDone(Value),
    /// The access is performed. Its address is [presumed](presumed).
    Performed,
    /// The read took the value of this earlier entry, which is [presumed](presumed).
    TakenFrom(u16),
    /// A guess: the condition of the selection has this value.
    Selects(bool),
    /// A guess: the access does not write, because its comparison fails.
    WritesNothing,
    /// A guess: the comparison of the access succeeds.
    Succeeds,
    /// A guess: the access, whose address is unknown, is to another location than this one.
    NotAt(Loc),
    /// A guess: the access, whose address is unknown, is to this location.
    At(Loc),
    /// The read was performed behind a guess and failed.
    Failed(Fault),
    /// The write also stands for forgotten earlier writes of this value to its location: the value may
    /// be committed at any time and any number of times before the write is performed.
    Earlier(Value),
}

/// The faults that a load behind a guess can have when it is performed. Their positions are their
/// packed form, plus one. Other faults do not depend on memory: the load waits for the guess.
const LOAD_FAULTS: [Fault; 3] = [Fault::UseAfterFree, Fault::OutOfRange, Fault::EndedLifetime];

/// The window of one thread.
#[derive(PartialEq, Eq, Debug)]
pub struct Window {
    pcs: Vec<Pc>,
    /// The operands of all entries, one entry after another. An entry has one operand for each
    /// register that its statement reads.
    operands: Vec<Operand>,
    /// By register: 0 if its value is known, otherwise the position of the entry that produces it,
    /// plus one.
    producers: Vec<u16>,
    /// The marked entries, oldest first. A failed load is behind a guess, so the first mark is a
    /// guess.
    marks: Vec<(u16, Mark)>,
    /// The notes, in ascending order.
    notes: Vec<(u16, Note)>,
}

impl Clone for Window {
    fn clone(&self) -> Self {
        Window {
            pcs: self.pcs.clone(),
            operands: self.operands.clone(),
            producers: self.producers.clone(),
            marks: self.marks.clone(),
            notes: self.notes.clone(),
        }
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.pcs.clone_from(&other.pcs);
        self.operands.clone_from(&other.operands);
        self.producers.clone_from(&other.producers);
        if !(self.marks.is_empty() && other.marks.is_empty()) {
            self.marks.clone_from(&other.marks);
        }
        if !(self.notes.is_empty() && other.notes.is_empty()) {
            self.notes.clone_from(&other.notes);
        }
    }
}

impl Window {
    pub(crate) fn new(registers: usize) -> Self {
        Window {
            pcs: Vec::new(),
            operands: Vec::new(),
            producers: vec![0; registers],
            marks: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Returns whether there are notes about accesses.
    #[inline]
    pub(crate) fn has_notes(&self) -> bool {
        !self.notes.is_empty()
    }

    /// Returns whether there are notes about what must hold later: guesses, and values and locations
    /// on which the thread relies.
    #[inline]
    pub(crate) fn has_promises(&self) -> bool {
        self.notes.iter().any(|(_, note)| !matches!(note, Note::Earlier(_)))
    }

    /// Returns the notes about an access.
    pub(crate) fn notes(&self, entry: usize) -> impl Iterator<Item = Note> + '_ {
        let of_entry = move |(at, _): &&(u16, Note)| usize::from(*at) == entry;
        self.notes.iter().filter(of_entry).map(|(_, note)| *note)
    }

    /// Adds a note about an access, unless it is there.
    pub(crate) fn add_note(&mut self, entry: usize, note: Note) {
        if let Err(at) = self.notes.binary_search(&(entry as u16, note)) {
            self.notes.insert(at, (entry as u16, note));
        }
    }

    /// Keeps only some of the notes about an access.
    pub(crate) fn retain_notes(&mut self, entry: usize, keeps: impl Fn(Note) -> bool) {
        self.notes.retain(|(at, note)| usize::from(*at) != entry || keeps(*note));
    }

    /// Returns the oldest branch or assumption whose direction is guessed.
    #[inline]
    pub(crate) fn oldest_guess(&self) -> Option<usize> {
        self.marks.first().map(|(entry, _)| usize::from(*entry))
    }

    /// Returns whether an entry is behind a guess.
    #[inline]
    pub(crate) fn is_speculative(&self, entry: usize) -> bool {
        self.oldest_guess().is_some_and(|guess| guess < entry)
    }

    /// Returns the number of guesses before an entry.
    pub(crate) fn guesses_before(&self, entry: usize) -> u32 {
        let is_guess =
            |(at, mark): &&(u16, Mark)| usize::from(*at) < entry && matches!(mark, Mark::Guess(_));
        self.marks.iter().filter(is_guess).count() as u32
    }

    /// Returns the mark of an entry.
    #[inline]
    pub(crate) fn mark(&self, entry: usize) -> Option<Mark> {
        if self.marks.is_empty() {
            return None;
        }
        let marked = self.marks.iter().find(|(at, _)| usize::from(*at) == entry);
        marked.map(|(_, mark)| *mark)
    }

    /// Marks an entry that has no mark.
    pub(crate) fn set_mark(&mut self, entry: usize, mark: Mark) {
        let at = self.marks.partition_point(|(at, _)| usize::from(*at) < entry);
        self.marks.insert(at, (entry as u16, mark));
    }

    /// Returns the entry that produces the value of a register, if the value is unknown.
    pub(crate) fn producer(&self, reg: Reg) -> Option<usize> {
        self.producers[reg.index()].checked_sub(1).map(usize::from)
    }

    pub(crate) fn len(&self) -> usize {
        self.pcs.len()
    }

    pub(crate) fn pc(&self, entry: usize) -> Pc {
        self.pcs[entry]
    }

    pub(crate) fn is_known(&self, reg: Reg) -> bool {
        self.producers[reg.index()] == 0
    }

    /// Records that the value of the register is known.
    pub(crate) fn define(&mut self, reg: Reg) {
        self.producers[reg.index()] = 0;
    }

    /// Returns the access of an entry. `None` for assignments, assertions, fences and branches, and
    /// for loads that failed behind a guess.
    pub(crate) fn access(&self, shape: &Shape<'_>, t: ThreadId, entry: usize) -> Option<Access> {
        let access = shape.stmt(t, self.pc(entry)).op.access()?;
        (!matches!(self.mark(entry), Some(Mark::Failed(_)))).then_some(access)
    }

    /// Returns the location of an access, also if it is [presumed](presumed). `None` if its address
    /// is unknown.
    pub(crate) fn location(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        entry: usize,
    ) -> Option<Result<Loc, Fault>> {
        self.location_with(shape, t, (self.pc(entry), self.operands(shape, t, entry)))
    }

    /// Returns the location of an access with these operands, also if it is [presumed](presumed).
    #[inline]
    pub(crate) fn location_with(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        (pc, operands): (Pc, &[Operand]),
    ) -> Option<Result<Loc, Fault>> {
        let address = shape.stmt(t, pc).op.address().expect("only accesses have a location");
        location_of(shape, t, pc, address, operands)
            .or_else(|| self.presumed_location(shape, t, (pc, operands), address))
    }

    /// Returns the location of the accesses that will produce the unknown registers of the
    /// statement at `pc`, if all of them are to one location.
    pub(crate) fn awaited_location(&self, shape: &Shape<'_>, t: ThreadId, pc: Pc) -> Option<Loc> {
        let uses = &shape.thread(t).uses[pc.index()];
        let mut open: Vec<usize> = uses.iter().filter_map(|reg| self.producer(*reg)).collect();
        let mut found = None;
        while let Some(entry) = open.pop() {
            if self.notes(entry).any(|note| matches!(note, Note::ReadDone(_) | Note::Performed)) {
                return None;
            }
            if self.access(shape, t, entry).is_none() {
                // An assignment waits for its operands.
                let operands = self.operands(shape, t, entry).iter();
                open.extend(operands.filter_map(|operand| match operand {
                    Operand::Value(_) => None,
                    Operand::ProducedBy(earlier) => Some(usize::from(*earlier)),
                }));
                continue;
            }
            let loc = self.location(shape, t, entry)?.ok()?;
            if *found.get_or_insert(loc) != loc {
                return None;
            }
        }
        found
    }

    /// Returns whether an access may be to a record cell.
    pub(crate) fn may_access_cell(&self, shape: &Shape<'_>, t: ThreadId, cell: usize) -> bool {
        let is_in = |loc: &Loc| shape.cell[loc.index()] == Some(cell as u32);
        (0..self.len()).any(|entry| {
            if self.access(shape, t, entry).is_none() {
                return false;
            }
            match self.location(shape, t, entry) {
                Some(Ok(loc)) => is_in(&loc),
                Some(Err(_)) => false,
                None => shape.thread(t).footprints[self.pc(entry).index()].iter().any(is_in),
            }
        })
    }

    /// Returns the number of accesses before an entry.
    pub(crate) fn accesses_before(&self, shape: &Shape<'_>, t: ThreadId, entry: usize) -> u32 {
        (0..entry).filter(|earlier| self.access(shape, t, *earlier).is_some()).count() as u32
    }

    fn width(&self, shape: &Shape<'_>, t: ThreadId, entry: usize) -> usize {
        shape.thread(t).uses[self.pcs[entry].index()].len()
    }

    fn start(&self, shape: &Shape<'_>, t: ThreadId, entry: usize) -> usize {
        (0..entry).map(|earlier| self.width(shape, t, earlier)).sum()
    }

    /// Returns the operands of an entry, in the order of its statement's uses.
    pub(crate) fn operands(&self, shape: &Shape<'_>, t: ThreadId, entry: usize) -> &[Operand] {
        let start = self.start(shape, t, entry);
        &self.operands[start..start + self.width(shape, t, entry)]
    }

    /// Returns the statements with their operands, oldest first.
    pub(crate) fn entries<'a>(
        &'a self,
        shape: &'a Shape<'_>,
        t: ThreadId,
    ) -> impl Iterator<Item = (Pc, &'a [Operand])> {
        let uses = &shape.thread(t).uses;
        let mut start = 0;
        self.pcs.iter().map(move |pc| {
            let from = start;
            start += uses[pc.index()].len();
            (*pc, &self.operands[from..start])
        })
    }

    /// Returns whether all operands of an entry are known.
    pub(crate) fn is_ready(&self, shape: &Shape<'_>, t: ThreadId, entry: usize) -> bool {
        self.operands(shape, t, entry).iter().all(|o| matches!(o, Operand::Value(_)))
    }

    /// Returns whether an operand or a register refers to the value that an entry produces.
    pub(crate) fn is_used(&self, entry: usize) -> bool {
        let entry = entry as u16;
        self.producers.contains(&(entry + 1)) || self.operands.contains(&Operand::ProducedBy(entry))
    }

    /// Returns whether the value of a load of `loc` is not used, and the load does not fault
    /// because of its value.
    pub(crate) fn is_unused_load(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        entry: usize,
        loc: Loc,
        mutated: Mutated,
    ) -> bool {
        if self.is_used(entry) && !mutated.is(Mutation::LoadsUnused) {
            return false;
        }
        let target = shape.stmt(t, self.pc(entry)).op.target();
        let limits = target.and_then(|reg| shape.thread(t).register_limits[reg.index()]);
        let holds_all = match (limits, shape.location_limits[loc.index()]) {
            (None, _) => true,
            (Some((low, high)), Some((least, greatest))) => low <= least && greatest <= high,
            (Some(_), None) => false,
        };
        let may_fault = !holds_all || shape.is_freeable(loc);
        !may_fault || mutated.is(Mutation::UnusedLoadsDoNotFault)
    }

    /// Returns the operand that a statement which is added now captures for a register.
    fn next_operand(&self, reg: Reg, registers: &[Value]) -> Operand {
        match self.producers[reg.index()] {
            0 => Operand::Value(registers[reg.index()]),
            producer => Operand::ProducedBy(producer - 1),
        }
    }

    /// Returns the operands that a statement with these uses captures if it is added now.
    pub(crate) fn next_operands(
        &self,
        uses: &[Reg],
        registers: &[Value],
    ) -> impl Iterator<Item = Operand> {
        uses.iter().map(|reg| self.next_operand(*reg, registers))
    }

    /// Adds a statement: captures its operands and makes it the producer of its target. Returns its
    /// position.
    pub(crate) fn push(
        &mut self,
        shape: &Shape<'_>,
        t: ThreadId,
        pc: Pc,
        registers: &mut [Value],
    ) -> usize {
        for reg in &shape.thread(t).uses[pc.index()] {
            self.operands.push(self.next_operand(*reg, registers));
        }
        let entry = self.pcs.len();
        self.pcs.push(pc);
        if let Some(reg) = shape.stmt(t, pc).op.target() {
            self.producers[reg.index()] = entry as u16 + 1;
            registers[reg.index()] = 0;
        }
        entry
    }

    /// Gives the value of an entry, which stays in the window, to everyone who waits for it.
    pub(crate) fn deliver(&mut self, entry: usize, value: Value, registers: &mut [Value]) {
        let from = entry as u16;
        for operand in &mut self.operands {
            if *operand == Operand::ProducedBy(from) {
                *operand = Operand::Value(value);
            }
        }
        for (reg, producer) in self.producers.iter_mut().enumerate() {
            if *producer == from + 1 {
                *producer = 0;
                registers[reg] = value;
            }
        }
    }

    /// Removes an entry that has produced `value`.
    pub(crate) fn remove(
        &mut self,
        shape: &Shape<'_>,
        t: ThreadId,
        entry: usize,
        value: Value,
        registers: &mut [Value],
    ) {
        let start = self.start(shape, t, entry);
        let width = self.width(shape, t, entry);
        self.operands.drain(start..start + width);
        self.pcs.remove(entry);
        let gone = entry as u16;
        for operand in &mut self.operands {
            if let Operand::ProducedBy(from) = operand {
                if *from == gone {
                    *operand = Operand::Value(value);
                } else if *from > gone {
                    *from -= 1;
                }
            }
        }
        if !self.notes.is_empty() {
            self.notes.retain(|(at, _)| *at != gone);
            for (at, note) in &mut self.notes {
                *at -= u16::from(*at > gone);
                if let Note::TakenFrom(from) = note {
                    *from -= u16::from(*from > gone);
                }
            }
        }
        if !self.marks.is_empty() {
            self.marks.retain(|(at, _)| *at != gone);
            for (at, _) in &mut self.marks {
                *at -= u16::from(*at > gone);
            }
        }
        for (reg, producer) in self.producers.iter_mut().enumerate() {
            if *producer == gone + 1 {
                *producer = 0;
                registers[reg] = value;
            } else if *producer > gone + 1 {
                *producer -= 1;
            }
        }
    }

    /// Packs the window. `guesses` says whether the model guesses the directions of branches.
    pub(crate) fn encode(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        len: Field,
        guesses: bool,
        writer: &mut Writer,
    ) {
        let thread = shape.thread(t);
        writer.put(len, self.pcs.len() as Value);
        if self.pcs.is_empty() {
            return; // the value of every register is known
        }
        let entries = Field::for_count(self.pcs.len() + 1);
        let mut operands = self.operands.iter();
        for pc in &self.pcs {
            writer.put(thread.pc, pc.0 as Value);
            for reg in &thread.uses[pc.index()] {
                match operands.next().expect("an entry has one operand for each use") {
                    Operand::Value(value) => {
                        writer.put(entries, 0);
                        writer.put(thread.register_fields[reg.index()], *value);
                    }
                    Operand::ProducedBy(from) => writer.put(entries, Value::from(*from) + 1),
                }
            }
        }
        for producer in &self.producers {
            writer.put(entries, Value::from(*producer));
        }
        if guesses {
            for (entry, pc) in self.pcs.iter().enumerate() {
                if let Some(field) = mark_field(shape, t, *pc) {
                    writer.put(field, self.mark(entry).map_or(0, pack_mark));
                }
            }
        }
    }

    pub(crate) fn decode(
        &mut self,
        shape: &Shape<'_>,
        t: ThreadId,
        len: Field,
        guesses: bool,
        reader: &mut Reader<'_>,
    ) {
        let thread = shape.thread(t);
        self.pcs.clear();
        self.operands.clear();
        self.producers.fill(0);
        self.marks.clear();
        self.notes.clear();
        let count = reader.get(len) as usize;
        if count == 0 {
            return;
        }
        let entries = Field::for_count(count + 1);
        for _ in 0..count {
            let pc = Pc(reader.get(thread.pc) as u32);
            self.pcs.push(pc);
            for reg in &thread.uses[pc.index()] {
                self.operands.push(match reader.get(entries) {
                    0 => Operand::Value(reader.get(thread.register_fields[reg.index()])),
                    from => Operand::ProducedBy(from as u16 - 1),
                });
            }
        }
        for producer in &mut self.producers {
            *producer = reader.get(entries) as u16;
        }
        if guesses {
            for (entry, pc) in self.pcs.iter().enumerate() {
                if let Some(field) = mark_field(shape, t, *pc)
                    && let Some(mark) = unpack_mark(&shape.stmt(t, *pc).op, reader.get(field))
                {
                    self.marks.push((entry as u16, mark));
                }
            }
        }
    }
}

/// Returns the field of an entry's mark. `None` if the entry never has one.
fn mark_field(shape: &Shape<'_>, t: ThreadId, pc: Pc) -> Option<Field> {
    match shape.stmt(t, pc).op {
        Op::Branch { .. } | Op::Assume(_) => Some(Field::for_count(2)),
        Op::Load { .. } => Some(Field::for_count(1 + LOAD_FAULTS.len())),
        Op::Skip
        | Op::Assign { .. }
        | Op::Choose { .. }
        | Op::Store { .. }
        | Op::Update { .. }
        | Op::Fence(_)
        | Op::Drain(_)
        | Op::Assert(_)
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
        | Op::Halt => None,
    }
}

fn pack_mark(mark: Mark) -> Value {
    match mark {
        Mark::Guess(holds) => Value::from(holds),
        Mark::Failed(fault) => pack_fault(fault) + 1,
    }
}

fn pack_fault(fault: Fault) -> Value {
    let at = LOAD_FAULTS.iter().position(|other| *other == fault);
    at.expect("a load behind a guess has no other fault") as Value
}

fn unpack_mark(op: &Op, packed: Value) -> Option<Mark> {
    if let Op::Load { .. } = op {
        let fault = LOAD_FAULTS.get((packed as usize).checked_sub(1)?)?;
        return Some(Mark::Failed(*fault));
    }
    Some(Mark::Guess(packed != 0))
}
