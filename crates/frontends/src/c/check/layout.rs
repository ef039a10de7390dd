//! Sizes, alignments and offsets, as on a 64-bit machine with the usual conventions (System V).

use fencepost_ir::Span;

use super::{Checker, UNSIZED};
use crate::c::codes;
use crate::c::typed::{RecordId, Type, TypeKind};

/// The largest size of a type in bytes. Engines enumerate states, so no useful program comes close.
pub(super) const LARGEST: u64 = 1 << 28;

/// Computes the offsets of the fields of a record.
#[derive(Debug)]
pub(super) struct Layout {
    is_union: bool,
    packed: bool,
    /// The size so far, in bits.
    bits: u64,
    alignment: u64,
}

impl Layout {
    /// Starts a layout without fields.
    pub(super) fn new(is_union: bool, packed: bool) -> Layout {
        Layout { is_union, packed, bits: 0, alignment: 1 }
    }

    /// Adds a field and returns its offset in bytes. `explicit` is an alignment from an attribute.
    pub(super) fn add(&mut self, size: u64, natural: u64, explicit: Option<u64>) -> u64 {
        let alignment = if self.packed { 1 } else { natural }.max(explicit.unwrap_or(1));
        self.alignment = self.alignment.max(alignment);
        if self.is_union {
            self.bits = self.bits.max(size * 8);
            return 0;
        }
        let offset = self.bits.div_ceil(8).next_multiple_of(alignment);
        self.bits = (offset + size) * 8;
        offset
    }

    /// Adds a bit field. A width of 0 ends the current unit.
    pub(super) fn add_bits(&mut self, size: u64, width: u64, named: bool) {
        let unit = size * 8;
        if named && !self.packed {
            self.alignment = self.alignment.max(size);
        }
        if self.is_union {
            self.bits = self.bits.max(width.next_multiple_of(8));
        } else if width == 0 {
            self.bits = self.bits.next_multiple_of(unit);
        } else {
            let crosses = self.bits / unit != (self.bits + width - 1) / unit;
            if crosses && !self.packed {
                self.bits = self.bits.next_multiple_of(unit);
            }
            self.bits += width;
        }
    }

    /// Returns the size, with padding at the end, and the alignment of the record.
    pub(super) fn finish(self, explicit: Option<u64>) -> (u64, u64) {
        let alignment = self.alignment.max(explicit.unwrap_or(1));
        (self.bits.div_ceil(8).next_multiple_of(alignment), alignment)
    }
}

impl Checker<'_> {
    /// Returns the size of a type in bytes, or `None` for an incomplete type. `void` and functions
    /// have size 1, as in GNU C.
    pub(super) fn size_of(&self, ty: &Type) -> Option<u64> {
        match &ty.kind {
            TypeKind::Void | TypeKind::Function(_) => Some(1),
            TypeKind::Int(int) => Some(u64::from(int.bits) / 8),
            TypeKind::Pointer(_) => Some(8),
            TypeKind::Array(_, UNSIZED) => None,
            TypeKind::Array(element, count) => self.size_of(element)?.checked_mul(*count),
            TypeKind::Record(id) => self.record(*id).layout.map(|(size, _)| size),
            TypeKind::Unsupported { size, .. } => Some(*size),
        }
    }

    /// Returns the alignment of a type in bytes, or `None` for an incomplete type.
    pub(super) fn align_of(&self, ty: &Type) -> Option<u64> {
        match &ty.kind {
            TypeKind::Void | TypeKind::Function(_) => Some(1),
            TypeKind::Int(int) => Some(u64::from(int.bits) / 8),
            TypeKind::Pointer(_) => Some(8),
            TypeKind::Array(element, _) => self.align_of(element),
            TypeKind::Record(id) => self.record(*id).layout.map(|(_, alignment)| alignment),
            TypeKind::Unsupported { size, .. } => Some(*size),
        }
    }

    /// Returns the size of a type, or reports that the type is incomplete.
    pub(super) fn complete_size(&mut self, ty: &Type, span: Span) -> Option<u64> {
        if let Some(size) = self.size_of(ty) {
            return Some(size);
        }
        let name = self.type_text(ty);
        let mut inner = ty;
        while let TypeKind::Array(element, _) = &inner.kind {
            inner = element;
        }
        if let TypeKind::Record(id) = inner.kind
            && self.record(id).open
        {
            let message = format!("`{}` contains itself", self.record(id).name);
            self.error(codes::INCOMPLETE_TYPE, span, message)
                .hint("use a pointer: a record has a finite size");
            return None;
        }
        let (label, related) = match &inner.kind {
            TypeKind::Record(id) if self.record(*id).layout.is_none() => {
                let record = self.record(*id);
                let text = format!("`{}` is declared here, without its fields", record.name);
                ("its fields are not known here", Some((record.span, text)))
            }
            _ => ("its size is not known here", None),
        };
        let message = format!("the type `{name}` is incomplete");
        let found = self.error(codes::INCOMPLETE_TYPE, span, message);
        found.label(label);
        if let Some((span, text)) = related {
            found.related(span, text);
        }
        None
    }

    /// Returns the index in the typed tree of a field, its type and its offset.
    pub(super) fn field_offset(&self, record: RecordId, index: u32) -> Option<(Type, u64)> {
        let fields = &self.record(record).fields;
        let field = fields.iter().find(|field| field.index == Some(index))?;
        Some((field.ty.clone(), field.offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_padded_to_their_alignment() {
        let mut layout = Layout::new(false, false);
        assert_eq!(
            [layout.add(1, 1, None), layout.add(4, 4, None), layout.add(1, 1, None)],
            [0, 4, 8]
        );
        assert_eq!(layout.finish(None), (12, 4));
        let mut layout = Layout::new(false, true);
        assert_eq!(
            [layout.add(1, 1, None), layout.add(4, 4, None), layout.add(1, 1, None)],
            [0, 1, 5]
        );
        assert_eq!(layout.finish(None), (6, 1));
        let mut layout = Layout::new(true, false);
        assert_eq!([layout.add(1, 1, None), layout.add(8, 8, None)], [0, 0]);
        assert_eq!(layout.finish(Some(64)), (64, 64));
    }

    #[test]
    fn bit_fields_share_units() {
        let mut layout = Layout::new(false, false);
        layout.add_bits(4, 20, true);
        layout.add_bits(4, 10, true);
        layout.add_bits(4, 10, true);
        assert_eq!(layout.add(1, 1, None), 6);
        assert_eq!(layout.finish(None), (8, 4));
    }
}
