//! The scalars of a type: their offsets, sizes and names.
//!
//! Padding has no scalar. The members of a union share scalars: two members at one offset must have
//! the same size. Other unions are not supported.

use std::collections::BTreeMap;
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
}

/// Why a type has no layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum LayoutError {
    /// A union with overlapping scalars of different sizes; its name.
    Union(String),
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

/// Returns the scalars of a type, by offset.
pub(super) fn scalars(program: &Program, ty: &Type) -> Result<Rc<[Scalar]>, LayoutError> {
    let mut found = BTreeMap::new();
    let mut union = None;
    add(program, ty, 0, String::new(), &mut union, &mut found)?;
    let mut end = 0;
    for scalar in found.values() {
        if scalar.offset < end {
            return Err(LayoutError::Union(union.unwrap_or_else(|| "a union".into())));
        }
        end = scalar.offset + u64::from(scalar.ty.bits / 8);
    }
    Ok(found.into_values().collect())
}

fn add(
    program: &Program,
    ty: &Type,
    offset: u64,
    path: String,
    union: &mut Option<String>,
    found: &mut BTreeMap<u64, Scalar>,
) -> Result<(), LayoutError> {
    if let Some(ty) = scalar_type(ty) {
        let new = Scalar { offset, ty, path };
        let old = found.entry(offset).or_insert(new);
        if old.ty.bits != ty.bits {
            return Err(LayoutError::Union(union.clone().unwrap_or_else(|| "a union".into())));
        }
        // A `_Bool` that shares its location can have any value of the other member.
        old.ty.is_bool &= ty.is_bool;
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
                add(program, element, offset + at * size, path, union, found)?;
            }
        }
        TypeKind::Record(id) => {
            let Some(record) = program.records.get(id.0 as usize) else { return Ok(()) };
            if record.is_union {
                *union = Some(record.name.clone());
            }
            for field in &record.fields {
                let path = match field.name.as_str() {
                    "" => path.clone(),
                    name => format!("{path}.{name}"),
                };
                add(program, &field.ty, offset + field.offset, path, union, found)?;
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
