//! The window of one thread: entries in program order, their captured operands, and for each
//! register the entry that produces it.
//!
//! An unresolved branch is an entry with a guess. A load that failed behind a guess stays in the
//! window until the guess is resolved.
//!
//! This is register renaming. An operand is a value or a reference to the entry that produces it,
//! so a later assignment to the same register has no effect on it. References are positions in the
//! window, so equivalent windows are equal.

use crate::bits::{Field, Reader, Writer};
use crate::shape::Shape;
use fencepost_ir::{Fault, Op, Pc, Reg, ThreadId, Value};

/// An operand of a statement, captured when the statement was fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operand {
    /// A value.
    Value(Value),
    /// The value that this entry will produce.
    ProducedBy(u16),
}

/// What a window records about an entry besides its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mark {
    /// A branch or assumption whose condition is guessed to have this value.
    Guess(bool),
    /// A load that was performed behind a guess and failed.
    Failed(Fault),
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
}

impl Clone for Window {
    fn clone(&self) -> Self {
        Window {
            pcs: self.pcs.clone(),
            operands: self.operands.clone(),
            producers: self.producers.clone(),
            marks: self.marks.clone(),
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
    }
}

impl Window {
    pub(super) fn new(registers: usize) -> Self {
        Window {
            pcs: Vec::new(),
            operands: Vec::new(),
            producers: vec![0; registers],
            marks: Vec::new(),
        }
    }

    /// Returns the oldest branch or assumption whose direction is guessed.
    #[inline]
    pub(super) fn oldest_guess(&self) -> Option<usize> {
        self.marks.first().map(|(entry, _)| usize::from(*entry))
    }

    /// Returns whether an entry is behind a guess.
    #[inline]
    pub(super) fn is_speculative(&self, entry: usize) -> bool {
        self.oldest_guess().is_some_and(|guess| guess < entry)
    }

    /// Returns the number of guesses before an entry.
    pub(super) fn guesses_before(&self, entry: usize) -> u32 {
        let is_guess =
            |(at, mark): &&(u16, Mark)| usize::from(*at) < entry && matches!(mark, Mark::Guess(_));
        self.marks.iter().filter(is_guess).count() as u32
    }

    /// Returns the mark of an entry.
    #[inline]
    pub(super) fn mark(&self, entry: usize) -> Option<Mark> {
        if self.marks.is_empty() {
            return None;
        }
        let marked = self.marks.iter().find(|(at, _)| usize::from(*at) == entry);
        marked.map(|(_, mark)| *mark)
    }

    /// Marks an entry that has no mark.
    pub(super) fn set_mark(&mut self, entry: usize, mark: Mark) {
        let at = self.marks.partition_point(|(at, _)| usize::from(*at) < entry);
        self.marks.insert(at, (entry as u16, mark));
    }

    /// Returns the entry that produces the value of a register, if the value is unknown.
    pub(super) fn producer(&self, reg: Reg) -> Option<usize> {
        self.producers[reg.index()].checked_sub(1).map(usize::from)
    }

    pub(super) fn len(&self) -> usize {
        self.pcs.len()
    }

    pub(super) fn pc(&self, entry: usize) -> Pc {
        self.pcs[entry]
    }

    pub(super) fn is_known(&self, reg: Reg) -> bool {
        self.producers[reg.index()] == 0
    }

    /// Records that the value of the register is known.
    pub(super) fn define(&mut self, reg: Reg) {
        self.producers[reg.index()] = 0;
    }

    fn width(&self, shape: &Shape<'_>, t: ThreadId, entry: usize) -> usize {
        shape.thread(t).uses[self.pcs[entry].index()].len()
    }

    fn start(&self, shape: &Shape<'_>, t: ThreadId, entry: usize) -> usize {
        (0..entry).map(|earlier| self.width(shape, t, earlier)).sum()
    }

    /// Returns the operands of an entry, in the order of its statement's uses.
    pub(super) fn operands(&self, shape: &Shape<'_>, t: ThreadId, entry: usize) -> &[Operand] {
        let start = self.start(shape, t, entry);
        &self.operands[start..start + self.width(shape, t, entry)]
    }

    /// Returns the statements with their operands, oldest first.
    pub(super) fn entries<'a>(
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
    pub(super) fn is_ready(&self, shape: &Shape<'_>, t: ThreadId, entry: usize) -> bool {
        self.operands(shape, t, entry).iter().all(|o| matches!(o, Operand::Value(_)))
    }

    /// Returns whether an operand or a register refers to the value that an entry produces.
    pub(super) fn is_used(&self, entry: usize) -> bool {
        let entry = entry as u16;
        self.producers.contains(&(entry + 1)) || self.operands.contains(&Operand::ProducedBy(entry))
    }

    /// Adds a statement: captures its operands and makes it the producer of its target. Returns its
    /// position.
    pub(super) fn push(
        &mut self,
        shape: &Shape<'_>,
        t: ThreadId,
        pc: Pc,
        registers: &mut [Value],
    ) -> usize {
        for reg in &shape.thread(t).uses[pc.index()] {
            self.operands.push(match self.producers[reg.index()] {
                0 => Operand::Value(registers[reg.index()]),
                producer => Operand::ProducedBy(producer - 1),
            });
        }
        let entry = self.pcs.len();
        self.pcs.push(pc);
        if let Some(reg) = shape.stmt(t, pc).op.target() {
            self.producers[reg.index()] = entry as u16 + 1;
            registers[reg.index()] = 0;
        }
        entry
    }

    /// Removes an entry that has produced `value`.
    pub(super) fn remove(
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
    pub(super) fn encode(
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

    pub(super) fn decode(
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
        Mark::Failed(fault) => {
            let at = LOAD_FAULTS.iter().position(|other| *other == fault);
            at.expect("a load behind a guess has no other fault") as Value + 1
        }
    }
}

fn unpack_mark(op: &Op, packed: Value) -> Option<Mark> {
    if let Op::Load { .. } = op {
        let fault = LOAD_FAULTS.get((packed as usize).checked_sub(1)?)?;
        return Some(Mark::Failed(*fault));
    }
    Some(Mark::Guess(packed != 0))
}
