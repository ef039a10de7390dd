//! The window of one thread: entries in program order, their captured operands, and for each
//! register the entry that produces it.
//!
//! This is register renaming. An operand is a value or a reference to the entry that produces it,
//! so a later assignment to the same register has no effect on it. References are positions in the
//! window, so equivalent windows are equal.

use crate::bits::{Field, Reader, Writer};
use crate::shape::Shape;
use fencepost_ir::{Pc, Reg, ThreadId, Value};

/// An operand of a statement, captured when the statement was fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operand {
    /// A value.
    Value(Value),
    /// The value that this entry will produce.
    ProducedBy(u16),
}

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
}

impl Clone for Window {
    fn clone(&self) -> Self {
        Window {
            pcs: self.pcs.clone(),
            operands: self.operands.clone(),
            producers: self.producers.clone(),
        }
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.pcs.clone_from(&other.pcs);
        self.operands.clone_from(&other.operands);
        self.producers.clone_from(&other.producers);
    }
}

impl Window {
    pub(super) fn new(registers: usize) -> Self {
        Window { pcs: Vec::new(), operands: Vec::new(), producers: vec![0; registers] }
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
        for (reg, producer) in self.producers.iter_mut().enumerate() {
            if *producer == gone + 1 {
                *producer = 0;
                registers[reg] = value;
            } else if *producer > gone + 1 {
                *producer -= 1;
            }
        }
    }

    pub(super) fn encode(&self, shape: &Shape<'_>, t: ThreadId, len: Field, writer: &mut Writer) {
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
    }

    pub(super) fn decode(
        &mut self,
        shape: &Shape<'_>,
        t: ThreadId,
        len: Field,
        reader: &mut Reader<'_>,
    ) {
        let thread = shape.thread(t);
        self.pcs.clear();
        self.operands.clear();
        self.producers.fill(0);
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
    }
}
