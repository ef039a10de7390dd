//! The locations of a test, and the encoding of its values.
//!
//! A location is one cell, whatever its type. Values are 32-bit integers in the program
//! representation. Two kinds of values are not integers or do not fit. They are encoded by reserved
//! numbers close to -2^31:
//!
//! - *Addresses*: [`FIRST_ADDRESS`] plus [`SYMBOL_STRIDE`] for each symbol, plus the element size
//!   for each element. Arithmetic on addresses therefore stays within an array or yields an address
//!   of no location.
//! - *Large constants*: [`FIRST_LARGE`], [`FIRST_LARGE`] + 1, ... A test may only copy them and
//!   compare them for equality.
//!
//! DIVERGENCE: arithmetic that yields exactly a reserved number is mistaken for the value that the
//! number encodes.
//!
//! X86 registers have 32 bits, so in X86 tests 4294967295 and -1 are the same number.

use std::collections::BTreeMap;

use fencepost_ir::{Address, BinOp, Expr, INT_LIMITS, Loc, Location, Reg, Span, Type, Value};

use super::ast::{Arch, Constant, Init, StateVar};
use super::error::{Errors, LitmusError};
use crate::fp::limits;

/// The address of the first symbol. It is close to -2^31 and not a power of two, so that tests do
/// not compute it by accident.
pub const FIRST_ADDRESS: Value = INT_LIMITS.0 + (0xab7 << 12);
/// The distance between the addresses of two consecutive symbols.
pub const SYMBOL_STRIDE: Value = 1 << 12;
/// The code of the first large constant.
pub const FIRST_LARGE: Value = INT_LIMITS.0 + (1 << 28);
/// The least integer that represents itself. Smaller numbers are reserved.
pub(super) const MIN_PLAIN: Value = FIRST_LARGE + (1 << 28);
/// The maximum length of an array.
const MAX_ARRAY_LEN: u32 = 256;

/// A named location or array.
#[derive(Clone, Debug)]
struct Symbol {
    name: String,
    /// The index of its first cell.
    first: u32,
    /// The number of elements of an array; `None` for a scalar.
    len: Option<u32>,
    /// The distance between the addresses of two consecutive elements.
    element_size: Value,
}

impl Symbol {
    fn cell_count(&self) -> u32 {
        self.len.unwrap_or(1)
    }
}

/// The locations of a test and the encoding of its values.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    symbols: Vec<Symbol>,
    by_name: BTreeMap<String, usize>,
    cells: Vec<Location>,
    /// Whether numbers are 32-bit: 4294967295 is -1.
    is_32_bit: bool,
    large_constants: Vec<i128>,
    /// The span of the first large constant.
    first_large_span: Option<Span>,
    /// Whether the test uses an address as a value.
    has_addresses: bool,
    /// The span of the first arithmetic operation on values.
    first_arithmetic_span: Option<Span>,
}

impl Layout {
    /// Creates the locations of the initial state, with their values. Returns `None` if one of the
    /// locations cannot be added.
    pub fn new(arch: Arch, init: &[Init], errors: &mut Errors) -> Option<Self> {
        let mut layout = Layout { is_32_bit: arch == Arch::X86, ..Layout::default() };
        let (mut items, mut complete) = (Vec::new(), true);
        for item in init {
            let StateVar::Global(name) = &item.var else { continue };
            if layout.by_name.contains_key(name) {
                let message = format!("`{name}` is initialised twice: remove one of the items");
                errors.push(LitmusError::name(item.span, message));
                continue;
            }
            items.push((name, item));
            let added = layout.add(name, item.len, element_size_of(item), item.span);
            complete &= errors.check(added).is_some();
        }
        if !complete {
            return None;
        }
        for item in init {
            for value in &item.values {
                errors.check(layout.declare_names_in(value, item.span))?;
            }
        }
        for (name, item) in items {
            let first = layout.symbols[layout.by_name[name]].first as usize;
            for (at, value) in item.values.iter().enumerate() {
                let value = layout.constant(value, item.span);
                layout.cells[first + at].init = errors.check(value).unwrap_or_default();
            }
        }
        Some(layout)
    }

    fn add(
        &mut self,
        name: &str,
        len: Option<u32>,
        element_size: Value,
        span: Span,
    ) -> Result<(), LitmusError> {
        let cells = len.unwrap_or(1);
        if len == Some(0) {
            return Err(LitmusError::syntax(span, "an array must have at least one element"));
        }
        if cells > MAX_ARRAY_LEN
            || self.cells.len() as u64 + u64::from(cells) > limits::LOCATIONS / 16
        {
            let message = "the test has too many locations";
            return Err(LitmusError::too_large(span, message).hint(limits::SIZE_HINT));
        }
        let first = self.cells.len() as u32;
        for at in 0..cells {
            let name = if len.is_some() { format!("{name}[{at}]") } else { name.to_string() };
            self.cells.push(Location { name, ty: Type::INT, init: 0 });
        }
        self.by_name.insert(name.to_string(), self.symbols.len());
        self.symbols.push(Symbol { name: name.to_string(), first, len, element_size });
        Ok(())
    }

    /// Adds a location of this name if there is none. Returns whether the location is new.
    pub fn declare_if_new(&mut self, name: &str, span: Span) -> Result<bool, LitmusError> {
        if self.by_name.contains_key(name) {
            return Ok(false);
        }
        self.add(name, None, 4, span)?;
        Ok(true)
    }

    /// Adds a location for the name in a constant if there is none.
    pub fn declare_names_in(&mut self, constant: &Constant, span: Span) -> Result<(), LitmusError> {
        match constant {
            Constant::Int(_) => Ok(()),
            Constant::Address(name) | Constant::Element(name, _) => {
                self.declare_if_new(name, span)?;
                Ok(())
            }
        }
    }

    /// Returns all cells.
    pub fn locations(&self) -> Vec<Location> {
        self.cells.clone()
    }

    /// Returns whether `name` is an array.
    pub fn is_array(&self, name: &str) -> bool {
        self.symbol(name).is_some_and(|symbol| symbol.len.is_some())
    }

    fn symbol(&self, name: &str) -> Option<&Symbol> {
        Some(&self.symbols[*self.by_name.get(name)?])
    }

    /// Returns the cell of a location or of an array element.
    pub fn cell(&self, name: &str, element: Option<u32>, span: Span) -> Result<Loc, LitmusError> {
        let unknown = || LitmusError::name(span, format!("there is no location `{name}`"));
        let symbol = self.symbol(name).ok_or_else(unknown)?;
        let at = element.unwrap_or(0);
        if at >= symbol.cell_count() || (element.is_some() && symbol.len.is_none()) {
            return Err(LitmusError::name(span, format!("`{name}` has no element {at}")));
        }
        Ok(Loc::from_index((symbol.first + at) as usize))
    }

    /// Returns the element size of all arrays, or of all locations in a test without arrays; `None`
    /// if they differ.
    pub fn element_size(&self) -> Option<Value> {
        let has_arrays = self.symbols.iter().any(|symbol| symbol.len.is_some());
        let relevant = self.symbols.iter().filter(|symbol| !has_arrays || symbol.len.is_some());
        let mut sizes = relevant.map(|symbol| symbol.element_size);
        let first = sizes.next()?;
        sizes.all(|size| size == first).then_some(first)
    }

    /// Returns the cell at an offset in bytes from a symbol.
    pub fn cell_at_offset(&self, name: &str, offset: i128, span: Span) -> Result<Loc, LitmusError> {
        let unknown = || LitmusError::name(span, format!("there is no location `{name}`"));
        let symbol = self.symbol(name).ok_or_else(unknown)?;
        let element_size = i128::from(symbol.element_size);
        let at = offset / element_size;
        if offset % element_size != 0 || at < 0 || at >= i128::from(symbol.cell_count()) {
            let message = format!("there is no location {offset} bytes after `{name}`");
            return Err(LitmusError::unsupported(span, message));
        }
        Ok(Loc::from_index(symbol.first as usize + at as usize))
    }

    /// Returns the encoding of a constant.
    pub fn constant(&mut self, constant: &Constant, span: Span) -> Result<Value, LitmusError> {
        match constant {
            Constant::Int(value) => self.int(*value, span),
            Constant::Address(name) => self.address(name, 0, span),
            Constant::Element(name, at) => {
                self.cell(name, Some(*at), span)?;
                self.address(name, *at, span)
            }
        }
    }

    /// Returns the encoding of a number. A number outside of the range gets a reserved number.
    pub fn int(&mut self, value: i128, span: Span) -> Result<Value, LitmusError> {
        let half = i128::from(u32::MAX) / 2;
        let value = if self.is_32_bit && value > half && value <= i128::from(u32::MAX) {
            value - i128::from(u32::MAX) - 1
        } else {
            value
        };
        if value >= i128::from(MIN_PLAIN) && value <= i128::from(INT_LIMITS.1) {
            return Ok(value as Value);
        }
        self.first_large_span.get_or_insert(span);
        let at =
            self.large_constants.iter().position(|other| *other == value).unwrap_or_else(|| {
                self.large_constants.push(value);
                self.large_constants.len() - 1
            });
        Ok(FIRST_LARGE + at as Value)
    }

    fn address(&mut self, name: &str, element: u32, span: Span) -> Result<Value, LitmusError> {
        let unknown = || LitmusError::name(span, format!("there is no location `{name}`"));
        let at = *self.by_name.get(name).ok_or_else(unknown)?;
        self.has_addresses = true;
        Ok(FIRST_ADDRESS
            + at as Value * SYMBOL_STRIDE
            + element as Value * self.symbols[at].element_size)
    }

    /// Records that the test does arithmetic on values. Large constants do not support arithmetic.
    pub fn note_arithmetic(&mut self, span: Span) {
        self.first_arithmetic_span.get_or_insert(span);
    }

    /// Checks that the test does not combine large constants with arithmetic. Over-approximates:
    /// the arithmetic may be on other values.
    pub fn check_large_constants(&self) -> Result<(), LitmusError> {
        match (self.first_arithmetic_span, self.first_large_span) {
            (Some(_), Some(span)) => {
                let message = "a number this large is not supported in a test with arithmetic";
                Err(LitmusError::unsupported(span, message).hint(
                    "use a smaller number; large numbers can only be copied and compared with `=`",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Returns the location that a computed address refers to.
    pub fn indirect_address(
        &self,
        address: &Expr<Reg>,
        span: Span,
    ) -> Result<Address, LitmusError> {
        if let Some(value) = address.as_const() {
            let cell = self.symbols.iter().enumerate().find_map(|(at, symbol)| {
                let first = FIRST_ADDRESS + at as Value * SYMBOL_STRIDE;
                let offset = value - first;
                let element_size = symbol.element_size;
                let inside = offset >= 0 && offset < i64::from(symbol.cell_count()) * element_size;
                (inside && offset % element_size == 0)
                    .then(|| symbol.first as usize + (offset / element_size) as usize)
            });
            let nowhere = || LitmusError::unsupported(span, "there is no location at this address");
            return Ok(Address::fixed(Loc::from_index(cell.ok_or_else(nowhere)?)));
        }
        let op = |op, a: Expr<Reg>, b: Expr<Reg>| Expr::Binary(op, Box::new(a), Box::new(b));
        // For an address outside of every symbol the index is -1, which faults.
        let mut index = Expr::Const(-1);
        for (at, symbol) in self.symbols.iter().enumerate().rev() {
            let first = FIRST_ADDRESS + at as Value * SYMBOL_STRIDE;
            let offset = || op(BinOp::Sub, address.clone(), Expr::Const(first));
            let (inside, cell) = if symbol.cell_count() == 1 {
                let here = op(BinOp::Eq, address.clone(), Expr::Const(first));
                (here, Expr::Const(symbol.first as Value))
            } else {
                let last = first + (symbol.cell_count() as Value - 1) * symbol.element_size;
                let low = op(BinOp::Ge, address.clone(), Expr::Const(first));
                let high = op(BinOp::Le, address.clone(), Expr::Const(last));
                let element_size = || Expr::Const(symbol.element_size);
                let even = op(BinOp::Eq, op(BinOp::Rem, offset(), element_size()), Expr::Const(0));
                let inside = op(BinOp::And, low, op(BinOp::And, high, even));
                let element = op(BinOp::Div, offset(), element_size());
                (inside, op(BinOp::Add, element, Expr::Const(symbol.first as Value)))
            };
            index = Expr::Select(Box::new(inside), Box::new(cell), Box::new(index));
        }
        let len = self.cells.len() as u32;
        if len == 0 {
            return Err(LitmusError::unsupported(
                span,
                "an access through an address is not supported in a test without locations",
            ));
        }
        Ok(Address::element(Loc(0), len, index))
    }

    /// Returns the text form of the values.
    pub fn value_names(&self) -> ValueNames {
        let symbols = self.symbols.iter();
        let symbols =
            symbols.map(|s| (s.name.clone(), s.len.is_some(), s.cell_count(), s.element_size));
        // Without addresses, no number encodes an address.
        let symbols = if self.has_addresses { symbols.collect() } else { Vec::new() };
        ValueNames { symbols, large_constants: self.large_constants.clone() }
    }
}

/// Returns the size of an element in bytes.
fn element_size_of(item: &Init) -> Value {
    if item.pointer {
        return 8;
    }
    let ty = item.ty.as_deref().unwrap_or("int");
    match ty.split_whitespace().next_back() {
        Some("int64_t" | "uint64_t" | "long" | "atomic_long") => 8,
        Some("int16_t" | "uint16_t" | "short") => 2,
        Some("int8_t" | "uint8_t" | "char" | "bool" | "_Bool") => 1,
        _ => 4,
    }
}

/// The text form of the values of a test.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ValueNames {
    /// For each symbol: name, whether it is an array, number of elements, element size.
    symbols: Vec<(String, bool, u32, Value)>,
    large_constants: Vec<i128>,
}

impl ValueNames {
    /// Formats a value as in a printed state.
    pub fn format(&self, value: Value) -> String {
        let number = value.to_string();
        if value >= MIN_PLAIN {
            return number;
        }
        if value >= FIRST_LARGE {
            return self
                .large_constants
                .get((value - FIRST_LARGE) as usize)
                .map_or(number, i128::to_string);
        }
        let Some(offset) = value.checked_sub(FIRST_ADDRESS).filter(|offset| *offset >= 0) else {
            return number;
        };
        match self.symbols.get((offset / SYMBOL_STRIDE) as usize) {
            Some((name, array, cells, element_size)) => {
                let (element, rest) =
                    (offset % SYMBOL_STRIDE / element_size, offset % SYMBOL_STRIDE % element_size);
                match (rest == 0 && element < *cells as Value, array) {
                    (true, true) => format!("{name}[{element}]"),
                    (true, false) => name.clone(),
                    (false, _) => number,
                }
            }
            None => number,
        }
    }
}
