//! The locations of a test, and the encoding of its values.
//!
//! A location is one cell, whatever its type. A number represents itself. An address is a reserved
//! number: [`FIRST_ADDRESS`] plus [`SYMBOL_STRIDE`] for each symbol, plus the element size for each
//! element. Arithmetic on addresses therefore stays within an array or yields an address of no
//! location. Addresses have 32 bits, so that arithmetic of 32 bits does not change them, and tests
//! with addresses can be translated.
//!
//! DIVERGENCE: arithmetic that yields exactly a reserved number is mistaken for the address.
//!
//! X86 registers have 32 bits, so in X86 tests 4294967295 and -1 are the same number. In the other
//! tests, 2^64 - 1 and -1 are the same number.

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
/// The most symbols of which the addresses are distinct from all other values.
const ADDRESSES: Value = 1 << 12;
/// The maximum length of an array.
const MAX_ARRAY_LEN: u32 = 256;

/// Returns whether a number is reserved for addresses.
pub(super) fn is_address(value: Value) -> bool {
    (FIRST_ADDRESS..FIRST_ADDRESS + ADDRESSES * SYMBOL_STRIDE).contains(&value)
}

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
    /// Whether the test uses an address as a value.
    has_addresses: bool,
    /// The span of the first number that is reserved for addresses.
    first_reserved_span: Option<Span>,
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
        self.declare_of_size(name, 4, span)
    }

    /// Adds a location of this name and size in bytes if there is none. Returns whether the location
    /// is new.
    pub fn declare_of_size(
        &mut self,
        name: &str,
        size: Value,
        span: Span,
    ) -> Result<bool, LitmusError> {
        if self.by_name.contains_key(name) {
            return Ok(false);
        }
        self.add(name, None, size, span)?;
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

    /// Returns the value of a number.
    pub fn int(&mut self, value: i128, span: Span) -> Result<Value, LitmusError> {
        let half = i128::from(u32::MAX) / 2;
        let value = if self.is_32_bit && value > half && value <= i128::from(u32::MAX) {
            value - i128::from(u32::MAX) - 1
        } else {
            value
        };
        if value < i128::from(Value::MIN) || value > i128::from(u64::MAX) {
            let message = "this number does not fit in 64 bits";
            return Err(LitmusError::unsupported(span, message).hint("use a smaller number"));
        }
        // A number from 2^63 is its bit pattern.
        let value = value as Value;
        if is_address(value) {
            self.first_reserved_span.get_or_insert(span);
        }
        Ok(value)
    }

    fn address(&mut self, name: &str, element: u32, span: Span) -> Result<Value, LitmusError> {
        let unknown = || LitmusError::name(span, format!("there is no location `{name}`"));
        let at = *self.by_name.get(name).ok_or_else(unknown)?;
        self.has_addresses = true;
        Ok(FIRST_ADDRESS
            + at as Value * SYMBOL_STRIDE
            + element as Value * self.symbols[at].element_size)
    }

    /// Checks that the test does not use both addresses and a number that is reserved for them.
    pub fn check_reserved_numbers(&self) -> Result<(), LitmusError> {
        match self.first_reserved_span.filter(|_| self.has_addresses) {
            Some(span) => {
                let message =
                    "this number is not supported in a test that uses addresses as values";
                Err(LitmusError::unsupported(span, message).hint("use a smaller number"))
            }
            None => Ok(()),
        }
    }

    /// Returns whether a location or the elements of an array have 64 bits.
    pub fn is_64_bit(&self, name: &str) -> bool {
        self.symbol(name).is_some_and(|symbol| symbol.element_size == 8)
    }

    /// Returns whether some location has 64 bits.
    pub fn has_64_bit_location(&self) -> bool {
        self.symbols.iter().any(|symbol| symbol.element_size == 8)
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

    /// Returns the addresses of all cells, in ascending order.
    pub fn cell_addresses(&self) -> Vec<(Value, Loc)> {
        let cells = self.symbols.iter().enumerate().flat_map(|(at, symbol)| {
            let first = FIRST_ADDRESS + at as Value * SYMBOL_STRIDE;
            (0..symbol.cell_count()).map(move |element| {
                let address = first + Value::from(element) * symbol.element_size;
                (address, Loc(symbol.first + element))
            })
        });
        cells.collect()
    }

    /// Returns the text form of the values.
    pub fn value_names(&self) -> ValueNames {
        let symbols = self.symbols.iter();
        let symbols =
            symbols.map(|s| (s.name.clone(), s.len.is_some(), s.cell_count(), s.element_size));
        // Without addresses, no number encodes an address.
        let symbols = if self.has_addresses { symbols.collect() } else { Vec::new() };
        ValueNames { symbols }
    }
}

/// The last words of the names of types with 64 bits.
pub(super) const TYPES_OF_64_BITS: [&str; 12] = [
    "long",
    "int64_t",
    "uint64_t",
    "s64",
    "u64",
    "size_t",
    "intptr_t",
    "uintptr_t",
    "atomic_long",
    "atomic_ulong",
    "atomic_long_t",
    "atomic64_t",
];

/// Returns the size of an element in bytes.
fn element_size_of(item: &Init) -> Value {
    if item.pointer {
        return 8;
    }
    let ty = item.ty.as_deref().unwrap_or("int");
    match ty.split_whitespace().next_back() {
        Some(word) if TYPES_OF_64_BITS.contains(&word) => 8,
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
}

impl ValueNames {
    /// Formats a value as in a printed state.
    pub fn format(&self, value: Value) -> String {
        let number = value.to_string();
        if !is_address(value) {
            return number;
        }
        let offset = value - FIRST_ADDRESS;
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
