//! The value of an expression before it is lowered, if it is a constant.

use fencepost_ir::Expr;

use super::arithmetic::{Val, apply, complement, convert, difference, element, negate};
use super::layout::{POINTER, scalar_type, size_of};
use super::memory::{Memory, function_address};
use super::plan::ObjectId;
use super::thread::{Lowerer, Slot};
use crate::c::typed::{
    Expr as TypedExpr, ExprKind, Place, PlaceKind, Program, TypeKind, VariableId,
};

/// Gives the known values of places and the addresses of objects.
struct Evaluator<'a> {
    program: &'a Program,
    memory: &'a Memory,
    /// The known value of a place.
    read: &'a dyn Fn(&Place) -> Option<i64>,
    /// How many assignments the expression may still have.
    effects: u32,
}

/// Returns the value of a loop condition, if it is a constant here. The condition may have one side
/// effect.
pub(super) fn condition(lowerer: &Lowerer<'_, '_>, expr: &TypedExpr) -> Option<i64> {
    let read = |place: &Place| {
        let PlaceKind::Variable(VariableId::Local(local)) = place.kind else { return None };
        match lowerer.frame().slots.get(local as usize)? {
            Slot::Register(reg, _) => lowerer.register_value(*reg).as_const(),
            Slot::Object(id) => {
                let reg = lowerer.held.get(id)?.first()?;
                lowerer.register_value(*reg).as_const()
            }
            Slot::None => None,
        }
    };
    let (program, memory) = (lowerer.pass.program, &lowerer.pass.memory);
    Evaluator { program, memory, read: &read, effects: 1 }.value(expr)
}

/// Returns the value of the initialiser of a global variable.
pub(super) fn initializer(program: &Program, memory: &Memory, expr: &TypedExpr) -> Option<i64> {
    Evaluator { program, memory, read: &|_| None, effects: 0 }.value(expr)
}

impl Evaluator<'_> {
    fn value(&mut self, expr: &TypedExpr) -> Option<i64> {
        self.eval(expr)?.as_const()
    }

    fn constant(&mut self, expr: &TypedExpr) -> Option<Val> {
        self.value(expr).map(Expr::Const)
    }

    fn eval(&mut self, expr: &TypedExpr) -> Option<Val> {
        let int = scalar_type(&expr.ty).unwrap_or(POINTER);
        let any = |_| (i64::MIN, i64::MAX);
        Some(match &expr.kind {
            ExprKind::Const(value) => Expr::Const(*value),
            ExprKind::Function(id) => Expr::Const(function_address(id.0)),
            ExprKind::Load(place, _) => Expr::Const((self.read)(place)?),
            ExprKind::AddressOf(place) => Expr::Const(self.address(place)?),
            ExprKind::Negate(a) => negate(self.constant(a)?, int),
            ExprKind::Complement(a) => complement(self.constant(a)?, int),
            ExprKind::Binary(op, a, b) => {
                let operands = scalar_type(&a.ty).unwrap_or(POINTER);
                apply(*op, operands, self.constant(a)?, self.constant(b)?)
            }
            ExprKind::PointerAdd { pointer, index, size } => {
                element(self.constant(pointer)?, self.constant(index)?, *size as i64)
            }
            ExprKind::PointerDifference { left, right, size } => {
                difference(self.constant(left)?, self.constant(right)?, *size as i64)
            }
            ExprKind::Convert(inner) => convert(self.constant(inner)?, int, &any),
            ExprKind::And(a, b) => match self.value(a)? {
                0 => Expr::Const(0),
                _ => Expr::Const(i64::from(self.value(b)? != 0)),
            },
            ExprKind::Or(a, b) => match self.value(a)? {
                0 => Expr::Const(i64::from(self.value(b)? != 0)),
                _ => Expr::Const(1),
            },
            ExprKind::Conditional(a, b, c) => match self.value(a)? {
                0 => self.eval(c)?,
                _ => self.eval(b)?,
            },
            ExprKind::Modify { place, op, value, computed, yields_old, .. } => {
                self.effects = self.effects.checked_sub(1)?;
                let old = Expr::Const((self.read)(place)?);
                if *yields_old {
                    return Some(old);
                }
                if matches!(place.ty.kind, TypeKind::Pointer(_)) {
                    return None;
                }
                let wide = scalar_type(computed)?;
                let own = scalar_type(&place.ty)?;
                let operand = convert(old, wide, &any);
                convert(apply(*op, wide, operand, self.constant(value)?), own, &any)
            }
            ExprKind::Comma(..)
            | ExprKind::Assign { .. }
            | ExprKind::Call { .. }
            | ExprKind::Intrinsic(_)
            | ExprKind::Statements(_) => return None,
        })
    }

    /// Returns the address of a place, if it is a constant.
    fn address(&mut self, place: &Place) -> Option<i64> {
        match &place.kind {
            PlaceKind::Variable(VariableId::Global(at))
            | PlaceKind::Compound { variable: VariableId::Global(at), .. } => {
                let object = self.memory.object(ObjectId::Global(*at))?;
                Some(object.address)
            }
            PlaceKind::Variable(VariableId::Local(_)) | PlaceKind::Compound { .. } => None,
            PlaceKind::Deref(pointer) => self.value(pointer),
            PlaceKind::Field(base, field) => {
                let TypeKind::Record(id) = &base.ty.kind else { return None };
                let record = self.program.records.get(id.0 as usize)?;
                let offset = record.fields.get(*field as usize)?.offset as i64;
                self.address(base)?.checked_add(offset)
            }
            PlaceKind::Index(base, index) => {
                let TypeKind::Array(element, _) = &base.ty.kind else { return None };
                let size = size_of(self.program, element) as i64;
                let bytes = self.value(index)?.checked_mul(size)?;
                self.address(base)?.checked_add(bytes)
            }
            PlaceKind::Value(_) => None,
        }
    }
}
