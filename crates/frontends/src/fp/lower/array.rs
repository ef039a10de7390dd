//! Lowers indices: addresses of elements of shared arrays, and elements of local arrays.
//!
//! Several indices become one number. Each index is checked against its own dimension: an index
//! outside of it makes the number negative, which is outside every array.
//!
//! A local array is a list of registers. An access with an index that is not constant first stores
//! the index in a temporary whose range is that of the array, so that an index outside is a fault.
//! It then selects among the registers. All of them depend on the index.

use fencepost_ir::{Address, BinOp, Expr, Op, Reg, Span, Value};

use super::labels::Kind;
use super::thread::Lowerer;
use crate::fp::codes;
use crate::fp::tree::{self, Element, Place, Root, elements};
use crate::fp::types::{LocalId, Outside, Ty, VarTy};

fn binary(op: BinOp, a: Expr<Reg>, b: Value) -> Expr<Reg> {
    Expr::Binary(op, Box::new(a), Box::new(Expr::Const(b)))
}

/// Returns `at * len + index`.
fn append(at: Option<Expr<Reg>>, len: u32, index: Expr<Reg>) -> Expr<Reg> {
    match at {
        None => index,
        Some(at) => Expr::Binary(
            BinOp::Add,
            Box::new(binary(BinOp::Mul, at, len as Value)),
            Box::new(index),
        )
        .fold(),
    }
}

impl<'a> Lowerer<'_, 'a> {
    /// Lowers the address of a place.
    pub(super) fn address(&mut self, place: &'a Place) -> Address {
        let unit = self.context.unit;
        let (base, cell, dims) = match &place.root {
            Root::Shared(id) => {
                (self.context.layout.shared(*id), None, &unit.shared[id.index()].dims)
            }
            Root::Field { pool, field, of } => {
                let reference = self.value(of);
                let record = &unit.records[pool.index()];
                let mut base = self.context.layout.pools[pool.index()].base;
                base.0 += record.offset(*field);
                (base, Some((*pool, reference)), &record.fields[*field].dims)
            }
        };
        let Some(value) = self.shared_index(&place.indices, dims) else {
            return Address { cell, ..Address::fixed(base) };
        };
        let len = elements(dims);
        match value.as_const() {
            Some(at) if (0..Value::from(len)).contains(&at) => {
                let mut base = base;
                base.0 += at as u32;
                Address { cell, ..Address::fixed(base) }
            }
            Some(_) | None => Address { cell, ..Address::element(base, len, value) },
        }
    }

    /// Combines the indices of a shared array. Returns `None` if there is no index.
    fn shared_index(&mut self, indices: &'a [tree::Expr], dims: &[u32]) -> Option<Expr<Reg>> {
        let mut at = None;
        let mut inside: Option<Expr<Reg>> = None;
        for (index, len) in indices.iter().zip(dims) {
            let value = self.value(index);
            match value.as_const() {
                Some(value) if (0..i64::from(*len)).contains(&value) => {}
                Some(value) => {
                    self.warn_out_of_bounds(value, *len, index.span);
                    inside = Some(Expr::Const(0));
                }
                // The machine checks the only index of an array.
                None if dims.len() == 1 => {}
                None => {
                    let low = binary(BinOp::Ge, value.clone(), 0);
                    let high = binary(BinOp::Lt, value.clone(), *len as Value);
                    let check = Expr::Binary(BinOp::And, Box::new(low), Box::new(high));
                    inside = Some(match inside {
                        None => check,
                        Some(all) => Expr::Binary(BinOp::And, Box::new(all), Box::new(check)),
                    });
                }
            }
            at = Some(append(at, *len, value));
        }
        let at = at?;
        Some(match inside {
            Some(_) if dims.len() == 1 => at,
            Some(inside) => {
                Expr::Select(Box::new(inside), Box::new(at), Box::new(Expr::Const(-1))).fold()
            }
            None => at,
        })
    }

    fn warn_out_of_bounds(&mut self, at: Value, len: u32, span: Span) {
        if self.context.reported.insert((codes::OUT_OF_BOUNDS, span)) {
            let thread = match self.param {
                Some(value) => format!(" in `{}({value})`", self.frame.function),
                None => String::new(),
            };
            self.context
                .diagnostics
                .warning(codes::OUT_OF_BOUNDS, span, format!("index {at} is out of bounds"))
                .label(format!("is {at}{thread}; the array has {len} elements"))
                .hint("correct the index or the size of the array; executing this is a fault");
        }
    }

    /// Returns the registers of a local array.
    pub(super) fn element_registers(&self, element: &Element) -> Vec<Reg> {
        let first = element.first.0;
        (first..first + elements(&element.dims)).map(|at| self.slot(LocalId(at))).collect()
    }

    /// Lowers the index of an element of a local array. Emits the checks of its parts.
    fn local_index(&mut self, element: &'a Element, span: Span) -> Expr<Reg> {
        let mut all = None;
        for (at, (index, len)) in element.indices.iter().zip(&element.dims).enumerate() {
            let mut value = self.value(index);
            let last = *len as Value - 1;
            if !value.as_const().is_some_and(|at| (0..=last).contains(&at)) {
                let range = Some((0, last));
                let ty = VarTy { ty: Ty::Int, range, outside: Outside::Fault };
                let reg = self.temporary(ty, span);
                self.emit(Op::Assign { reg, expr: value }, index.span, Kind::Index(at as u32));
                value = Expr::Var(reg);
            }
            all = Some(append(all, *len, value));
        }
        all.unwrap_or(Expr::Const(0))
    }

    /// Lowers the value of an element of a local array.
    pub(super) fn element_value(&mut self, element: &'a Element, span: Span) -> Expr<Reg> {
        let index = self.local_index(element, span);
        let registers = self.element_registers(element);
        match index.as_const() {
            Some(at) => registers.get(at as usize).map_or(Expr::Const(0), |reg| Expr::Var(*reg)),
            None => select(&index, 0, &registers),
        }
    }

    /// Lowers an assignment to an element of a local array.
    pub(super) fn assign_element(
        &mut self,
        element: &'a Element,
        value: &'a tree::Expr,
        span: Span,
    ) {
        let index = self.local_index(element, span);
        let registers = self.element_registers(element);
        if let Some(reg) = index.as_const().and_then(|at| registers.get(at as usize)) {
            self.value_into(value, *reg);
            return;
        }
        let mut value = self.value(value);
        // The value may read the array, which changes register by register.
        if value.as_const().is_none() {
            let reg = self.temporary(element.ty, span);
            self.emit(Op::Assign { reg, expr: value }, span, Kind::Assign);
            value = Expr::Var(reg);
        }
        for (at, reg) in registers.into_iter().enumerate() {
            let here = binary(BinOp::Eq, index.clone(), at as Value);
            let (new, old) = (Box::new(value.clone()), Box::new(Expr::Var(reg)));
            let expr = Expr::Select(Box::new(here), new, old);
            self.emit(Op::Assign { reg, expr }, span, Kind::Element(at as u32));
        }
    }
}

/// Returns the value of `registers[index - first]`, by bisection.
fn select(index: &Expr<Reg>, first: Value, registers: &[Reg]) -> Expr<Reg> {
    if let [reg] = registers {
        return Expr::Var(*reg);
    }
    let (low, high) = registers.split_at(registers.len() / 2);
    let middle = first + low.len() as Value;
    Expr::Select(
        Box::new(binary(BinOp::Lt, index.clone(), middle)),
        Box::new(select(index, first, low)),
        Box::new(select(index, middle, high)),
    )
}
