//! The packed form of the notes of a window.
//!
//! Each access and each selection has one bit for "there is a note". The bit is there only if the
//! model uses notes.

use super::{LOAD_FAULTS, Note, Window, pack_fault};
use crate::bits::{Field, Reader, Writer};
use crate::shape::Shape;
use fencepost_ir::{Loc, Pc, ThreadId, Value};

/// The number of kinds of notes.
const KINDS: usize = 11;

impl Window {
    /// Packs the notes. The entries are packed before them.
    pub(crate) fn encode_notes(&self, shape: &Shape<'_>, t: ThreadId, writer: &mut Writer) {
        for entry in 0..self.len() {
            if !may_have_notes(shape, t, self.pc(entry)) {
                continue;
            }
            for note in self.notes(entry) {
                writer.put(Field::for_count(2), 1);
                writer.put(Field::for_count(KINDS), kind(note));
                match note {
                    Note::ReadDone(value) | Note::Earlier(value) => {
                        writer.put(self.value_field(shape, t, entry), value);
                    }
                    Note::WritesNothing | Note::Succeeds | Note::Performed | Note::Selects(_) => {}
                    Note::TakenFrom(from) => {
                        writer.put(Field::for_count(self.len()), from.into());
                    }
                    Note::NotAt(loc) | Note::At(loc) => {
                        writer.put(location_field(shape), loc.0.into());
                    }
                    Note::Failed(fault) => {
                        writer.put(Field::for_count(LOAD_FAULTS.len()), pack_fault(fault));
                    }
                }
            }
            writer.put(Field::for_count(2), 0);
        }
    }

    /// Unpacks the notes: the inverse of [`Window::encode_notes`].
    pub(crate) fn decode_notes(&mut self, shape: &Shape<'_>, t: ThreadId, reader: &mut Reader<'_>) {
        for entry in 0..self.len() {
            if !may_have_notes(shape, t, self.pc(entry)) {
                continue;
            }
            while reader.get(Field::for_count(2)) != 0 {
                let note = match reader.get(Field::for_count(KINDS)) {
                    0 => Note::ReadDone(reader.get(self.value_field(shape, t, entry))),
                    1 => Note::WritesNothing,
                    5 => Note::Succeeds,
                    6 => Note::Performed,
                    7 => Note::TakenFrom(reader.get(Field::for_count(self.len())) as u16),
                    8 => Note::Selects(false),
                    9 => Note::Selects(true),
                    10 => Note::Earlier(reader.get(self.value_field(shape, t, entry))),
                    2 => Note::NotAt(Loc(reader.get(location_field(shape)) as u32)),
                    3 => Note::At(Loc(reader.get(location_field(shape)) as u32)),
                    _ => {
                        let fault = reader.get(Field::for_count(LOAD_FAULTS.len()));
                        Note::Failed(LOAD_FAULTS[fault as usize])
                    }
                };
                self.add_note(entry, note);
            }
        }
    }

    /// Returns the field of the value that a performed read had.
    fn value_field(&self, shape: &Shape<'_>, t: ThreadId, entry: usize) -> Field {
        let loc = self.location(shape, t, entry).and_then(Result::ok);
        shape.location_fields[loc.expect("a performed read has a location").index()]
    }
}

/// Returns whether there may be notes about a statement.
fn may_have_notes(shape: &Shape<'_>, t: ThreadId, pc: Pc) -> bool {
    shape.stmt(t, pc).op.access().is_some() || shape.thread(t).is_selection[pc.index()]
}

fn kind(note: Note) -> Value {
    match note {
        Note::ReadDone(_) => 0,
        Note::WritesNothing => 1,
        Note::Succeeds => 5,
        Note::Performed => 6,
        Note::TakenFrom(_) => 7,
        Note::Selects(false) => 8,
        Note::Selects(true) => 9,
        Note::Earlier(_) => 10,
        Note::NotAt(_) => 2,
        Note::At(_) => 3,
        Note::Failed(_) => 4,
    }
}

fn location_field(shape: &Shape<'_>) -> Field {
    Field::for_count(shape.location_fields.len())
}
