//! The scalars of a type: their offsets, sizes and names.
//!
//! Padding has no scalar. The members of a union share scalars: a scalar may contain smaller ones,
//! which are parts of it. Scalars that overlap only partly are not supported.

use std::cmp::Reverse;
use std::rc::Rc;

use fencepost_ir::{Type as IrType, Value};

use crate::c::typed::{IntType, Program, Type, TypeKind};

/// The type that pointers have as numbers.
pub(super) const POINTER: IntType = IntType { bits: 64, signed: false, is_bool: false };
/// `int`.
pub(super) const INT: IntType = IntType { bits: 32, signed: true, is_bool: false };

/// A scalar part of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Scalar {
    /// The offset in bytes.
    pub(super) offset: u64,
    pub(super) ty: IntType,
    /// The name after the name of the object: `.next`, `[1]`.
    pub(super) path: String,
    /// Whether its values are pointers.
    pub(super) is_pointer: bool,
    /// The smaller scalars of a union inside of this one: their offsets and bits.
    pub(super) parts: Vec<(u64, u8)>,
}

impl Scalar {
    /// Returns the offset of the first byte after it.
    pub(super) fn end(&self) -> u64 {
        self.offset + u64::from(self.ty.bits / 8)
    }
}

/// Why a type has no layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum LayoutError {
    /// Scalars of a union that overlap only partly.
    Overlap,
    /// More scalars than a program may have.
    TooLarge,
}

/// The largest number of scalars of one object.
const MAX_SCALARS: u64 = 20_000;

/// Returns the integer type of the values of a scalar type.
pub(super) fn scalar_type(ty: &Type) -> Option<IntType> {
    match &ty.kind {
        TypeKind::Int(int) => Some(*int),
        TypeKind::Pointer(_) | TypeKind::Function(_) => Some(POINTER),
        TypeKind::Void
        | TypeKind::Array(..)
        | TypeKind::Record(_)
        | TypeKind::Unsupported { .. } => None,
    }
}

/// Returns the size of a type in bytes.
pub(super) fn size_of(program: &Program, ty: &Type) -> u64 {
    match &ty.kind {
        TypeKind::Void | TypeKind::Function(_) => 1,
        TypeKind::Int(int) => u64::from(int.bits / 8),
        TypeKind::Pointer(_) => 8,
        TypeKind::Array(element, len) => size_of(program, element).saturating_mul(*len),
        TypeKind::Record(id) => program.records.get(id.0 as usize).map_or(0, |record| record.size),
        TypeKind::Unsupported { size, .. } => *size,
    }
}

/// Returns the smallest and largest value of an integer type.
pub(super) fn limits(ty: IntType) -> (Value, Value) {
    match (ty.bits, ty.signed) {
        _ if ty.is_bool => (0, 1),
        (64, _) => (Value::MIN, Value::MAX),
        (bits, true) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        (bits, false) => (0, (1 << bits) - 1),
    }
}

/// Returns the type of a register or location with values of an integer type.
pub(super) fn ir_type(ty: IntType) -> IrType {
    if ty.is_bool { IrType::Bool } else { IrType::Int { range: Some(limits(ty)) } }
}

/// Returns the scalars of a type, by offset. If its last member is a flexible array, the array has
/// `tail` elements.
pub(super) fn scalars(
    program: &Program,
    ty: &Type,
    tail: u64,
) -> Result<Rc<[Scalar]>, LayoutError> {
    let mut found = Vec::new();
    add(program, ty, 0, String::new(), &mut found)?;
    if let Some((offset, element)) = flexible_member(program, ty) {
        let size = size_of(program, element);
        for at in 0..tail.min(MAX_SCALARS) {
            add(program, element, offset + at * size, format!("[{at}]"), &mut found)?;
        }
    }
    // Wider scalars first: they contain the others.
    found.sort_by_key(|scalar| (scalar.offset, Reverse(scalar.ty.bits)));
    let mut all: Vec<Scalar> = Vec::new();
    for scalar in found {
        match all.last_mut() {
            Some(last) if scalar.offset < last.end() => {
                if scalar.end() > last.end() {
                    return Err(LayoutError::Overlap);
                }
                if scalar.ty.bits == last.ty.bits {
                    // A `_Bool` that shares its location can have any value of the other member.
                    last.ty.is_bool &= scalar.ty.is_bool;
                    last.is_pointer &= scalar.is_pointer;
                } else {
                    last.parts.push((scalar.offset, scalar.ty.bits));
                }
            }
            _ => all.push(scalar),
        }
    }
    Ok(all.into())
}

/// Returns the offset and the element type of a flexible array member.
pub(super) fn flexible_member<'p>(program: &'p Program, ty: &Type) -> Option<(u64, &'p Type)> {
    let TypeKind::Record(id) = &ty.kind else { return None };
    let last = program.records.get(id.0 as usize)?.fields.last()?;
    match &last.ty.kind {
        TypeKind::Array(element, 0) => Some((last.offset, element)),
        _ => None,
    }
}

fn add(
    program: &Program,
    ty: &Type,
    offset: u64,
    path: String,
    found: &mut Vec<Scalar>,
) -> Result<(), LayoutError> {
    if let Some(scalar) = scalar_type(ty) {
        let is_pointer = matches!(ty.kind, TypeKind::Pointer(_));
        found.push(Scalar { offset, ty: scalar, path, is_pointer, parts: Vec::new() });
        return if found.len() as u64 > MAX_SCALARS { Err(LayoutError::TooLarge) } else { Ok(()) };
    }
    match &ty.kind {
        TypeKind::Array(element, len) => {
            let size = size_of(program, element);
            if *len > MAX_SCALARS {
                return Err(LayoutError::TooLarge);
            }
            for at in 0..*len {
                let path = format!("{path}[{at}]");
                add(program, element, offset + at * size, path, found)?;
            }
        }
        TypeKind::Record(id) => {
            let Some(record) = program.records.get(id.0 as usize) else { return Ok(()) };
            for field in &record.fields {
                let path = match field.name.as_str() {
                    "" => path.clone(),
                    name => format!("{path}.{name}"),
                };
                add(program, &field.ty, offset + field.offset, path, found)?;
            }
        }
        TypeKind::Void
        | TypeKind::Int(_)
        | TypeKind::Pointer(_)
        | TypeKind::Function(_)
        | TypeKind::Unsupported { .. } => {}
    }
    Ok(())
}
