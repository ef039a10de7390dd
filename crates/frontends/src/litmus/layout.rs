//! Where the locations of a test are, and what its values stand for.
//!
//! A location is one cell, whatever its type. Values are 32-bit integers in the program representation; two
//! kinds of values of a test are not, and get numbers of their own, far from all others:
//!
//! - *Addresses*: [`ADDRESS`] plus [`APART`] for each symbol, plus the size of an element for each element. So
//!   arithmetic on addresses stays within an array or leads nowhere.
//! - *Large constants*, which a test may only copy and ask whether they are equal: [`LARGE`], [`LARGE`] + 1, ...
//!
//! Arithmetic that arrives at exactly such a number, close to -2^31, would be taken for what it stands for.
//!
//! X86 has 32-bit registers, so there 4294967295 and -1 are the same number.

use std::collections::BTreeMap;

use fencepost_ir::{Address, BinOp, Expr, Loc, Location, Reg, Span, Type, Value};

use super::ast::{Arch, Constant, Init, Spot};
use super::wrong::{Errors, Wrong};
use crate::fp::limits;

/// The address of the first symbol: among the lowest numbers, and no power of two, so that no test computes it.
pub const ADDRESS: Value = Value::MIN + (0xab7 << 12);
/// How far apart the addresses of two symbols are.
pub const APART: Value = 1 << 12;
/// The number of the first large constant.
pub const LARGE: Value = Value::MIN + (1 << 28);
/// Numbers below this stand for something else.
const LEAST: Value = LARGE + (1 << 28);
/// The most elements an array may have.
const LONGEST: u32 = 256;

/// A name with a place in memory.
#[derive(Clone, Debug)]
struct Symbol {
    name: String,
    /// Its first cell.
    first: u32,
    /// The number of elements, if it is an array.
    len: Option<u32>,
    /// How far apart the addresses of two elements are.
    step: Value,
}

impl Symbol {
    fn cells(&self) -> u32 {
        self.len.unwrap_or(1)
    }
}

/// The locations of a test, and its values.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    symbols: Vec<Symbol>,
    by_name: BTreeMap<String, usize>,
    cells: Vec<Location>,
    /// Whether numbers have 32 bits.
    wraps: bool,
    large: Vec<i128>,
    /// Where a large constant was first met.
    large_at: Option<Span>,
    /// Whether an address is a value.
    has_addresses: bool,
    /// Where values were first computed with.
    computed_at: Option<Span>,
}

impl Layout {
    /// The locations that the initial state names, with their values; none if there is no room for all.
    pub fn new(arch: Arch, init: &[Init], errors: &mut Errors) -> Option<Self> {
        let mut layout = Layout { wraps: arch == Arch::X86, ..Layout::default() };
        let (mut items, mut complete) = (Vec::new(), true);
        for item in init {
            let Spot::Global(name) = &item.spot else { continue };
            if layout.by_name.contains_key(name) {
                let message = format!("`{name}` is given a value twice");
                errors.push(Wrong::name(item.span, message));
                continue;
            }
            items.push((name, item));
            let added = layout.add(name, item.len, step_of(item), item.span);
            complete &= errors.check(added).is_some();
        }
        if !complete {
            return None;
        }
        for item in init {
            for value in &item.values {
                errors.check(layout.note(value, item.span))?;
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

    fn add(&mut self, name: &str, len: Option<u32>, step: Value, span: Span) -> Result<(), Wrong> {
        let cells = len.unwrap_or(1);
        if len == Some(0) {
            return Err(Wrong::syntax(span, "an array has at least one element"));
        }
        if cells > LONGEST || self.cells.len() as u64 + u64::from(cells) > limits::LOCATIONS / 16 {
            let message = "these are too many locations for one test";
            return Err(Wrong::too_large(span, message).hint(limits::ADVICE));
        }
        let first = self.cells.len() as u32;
        for at in 0..cells {
            let name = if len.is_some() { format!("{name}[{at}]") } else { name.to_string() };
            self.cells.push(Location { name, ty: Type::INT, init: 0 });
        }
        self.by_name.insert(name.to_string(), self.symbols.len());
        self.symbols.push(Symbol { name: name.to_string(), first, len, step });
        Ok(())
    }

    /// Makes a name that is used a location, if it is not one yet. Whether it is new.
    pub fn mention(&mut self, name: &str, span: Span) -> Result<bool, Wrong> {
        if self.by_name.contains_key(name) {
            return Ok(false);
        }
        self.add(name, None, 4, span)?;
        Ok(true)
    }

    /// The same for the names in a constant.
    pub fn note(&mut self, constant: &Constant, span: Span) -> Result<(), Wrong> {
        match constant {
            Constant::Int(_) => Ok(()),
            Constant::Address(name) | Constant::Element(name, _) => {
                self.mention(name, span)?;
                Ok(())
            }
        }
    }

    /// All cells.
    pub fn locations(&self) -> Vec<Location> {
        self.cells.clone()
    }

    /// Whether a name is an array.
    pub fn is_array(&self, name: &str) -> bool {
        self.symbol(name).is_some_and(|symbol| symbol.len.is_some())
    }

    fn symbol(&self, name: &str) -> Option<&Symbol> {
        Some(&self.symbols[*self.by_name.get(name)?])
    }

    /// The cell of a location or element.
    pub fn cell(&self, name: &str, element: Option<u32>, span: Span) -> Result<Loc, Wrong> {
        let unknown = || Wrong::name(span, format!("there is no location `{name}`"));
        let symbol = self.symbol(name).ok_or_else(unknown)?;
        let at = element.unwrap_or(0);
        if at >= symbol.cells() || (element.is_some() && symbol.len.is_none()) {
            return Err(Wrong::name(span, format!("`{name}` has no element {at}")));
        }
        Ok(Loc::from_index((symbol.first + at) as usize))
    }

    /// The cell at an offset in bytes from a symbol.
    pub fn cell_at(&self, name: &str, offset: i128, span: Span) -> Result<Loc, Wrong> {
        let unknown = || Wrong::name(span, format!("there is no location `{name}`"));
        let symbol = self.symbol(name).ok_or_else(unknown)?;
        let step = i128::from(symbol.step);
        let at = offset / step;
        if offset % step != 0 || at < 0 || at >= i128::from(symbol.cells()) {
            let message = format!("there is no location {offset} bytes after `{name}`");
            return Err(Wrong::unsupported(span, message));
        }
        Ok(Loc::from_index(symbol.first as usize + at as usize))
    }

    /// The value of a constant.
    pub fn constant(&mut self, constant: &Constant, span: Span) -> Result<Value, Wrong> {
        match constant {
            Constant::Int(value) => self.int(*value, span),
            Constant::Address(name) => self.address(name, 0, span),
            Constant::Element(name, at) => {
                self.cell(name, Some(*at), span)?;
                self.address(name, *at, span)
            }
        }
    }

    /// The value of a number; large ones get a number of their own.
    pub fn int(&mut self, value: i128, span: Span) -> Result<Value, Wrong> {
        let half = i128::from(u32::MAX) / 2;
        let value = if self.wraps && value > half && value <= i128::from(u32::MAX) {
            value - i128::from(u32::MAX) - 1
        } else {
            value
        };
        if value >= i128::from(LEAST) && value <= i128::from(Value::MAX) {
            return Ok(value as Value);
        }
        self.large_at.get_or_insert(span);
        let at = self.large.iter().position(|other| *other == value).unwrap_or_else(|| {
            self.large.push(value);
            self.large.len() - 1
        });
        Ok(LARGE + at as Value)
    }

    fn address(&mut self, name: &str, element: u32, span: Span) -> Result<Value, Wrong> {
        let unknown = || Wrong::name(span, format!("there is no location `{name}`"));
        let at = *self.by_name.get(name).ok_or_else(unknown)?;
        self.has_addresses = true;
        Ok(ADDRESS + at as Value * APART + element as Value * self.symbols[at].step)
    }

    /// Notes that values are computed with. Large constants cannot be.
    pub fn computes(&mut self, span: Span) {
        self.computed_at.get_or_insert(span);
    }

    /// Whether all that the test does with its values can be done.
    pub fn check(&self) -> Result<(), Wrong> {
        match (self.computed_at, self.large_at) {
            (Some(_), Some(span)) => {
                let message = "a number this large, in a test that computes with values";
                Err(Wrong::unsupported(span, message)
                    .hint("such numbers can only be copied, and compared with `=`"))
            }
            _ => Ok(()),
        }
    }

    /// Where an address in a register leads.
    pub fn through(&self, address: &Expr<Reg>, span: Span) -> Result<Address, Wrong> {
        if let Some(value) = address.as_const() {
            let cell = self.symbols.iter().enumerate().find_map(|(at, symbol)| {
                let first = ADDRESS + at as Value * APART;
                let offset = i64::from(value) - i64::from(first);
                let step = i64::from(symbol.step);
                let inside = offset >= 0 && offset < i64::from(symbol.cells()) * step;
                (inside && offset % step == 0)
                    .then(|| symbol.first as usize + (offset / step) as usize)
            });
            let nowhere = || Wrong::unsupported(span, "this address is that of no location");
            return Ok(Address::fixed(Loc::from_index(cell.ok_or_else(nowhere)?)));
        }
        let op = |op, a: Expr<Reg>, b: Expr<Reg>| Expr::Binary(op, Box::new(a), Box::new(b));
        // Outside of every symbol the index is -1, which faults.
        let mut index = Expr::Const(-1);
        for (at, symbol) in self.symbols.iter().enumerate().rev() {
            let first = ADDRESS + at as Value * APART;
            let offset = || op(BinOp::Sub, address.clone(), Expr::Const(first));
            let (inside, cell) = if symbol.cells() == 1 {
                let here = op(BinOp::Eq, address.clone(), Expr::Const(first));
                (here, Expr::Const(symbol.first as Value))
            } else {
                let last = first + (symbol.cells() as Value - 1) * symbol.step;
                let low = op(BinOp::Ge, address.clone(), Expr::Const(first));
                let high = op(BinOp::Le, address.clone(), Expr::Const(last));
                let step = || Expr::Const(symbol.step);
                let even = op(BinOp::Eq, op(BinOp::Rem, offset(), step()), Expr::Const(0));
                let inside = op(BinOp::And, low, op(BinOp::And, high, even));
                let element = op(BinOp::Div, offset(), step());
                (inside, op(BinOp::Add, element, Expr::Const(symbol.first as Value)))
            };
            index = Expr::Select(Box::new(inside), Box::new(cell), Box::new(index));
        }
        let len = self.cells.len() as u32;
        if len == 0 {
            return Err(Wrong::unsupported(span, "an address in a test without locations"));
        }
        Ok(Address { base: Loc(0), cell: None, index: Some((len, index)) })
    }

    /// How values print.
    pub fn values(&self) -> Values {
        let symbols = self.symbols.iter();
        let symbols = symbols.map(|s| (s.name.clone(), s.len.is_some(), s.cells(), s.step));
        // Without addresses and large constants every number is what it is.
        let symbols = if self.has_addresses { symbols.collect() } else { Vec::new() };
        Values { symbols, large: self.large.clone() }
    }
}

/// The size of an element.
fn step_of(item: &Init) -> Value {
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

/// What the values of a test stand for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Values {
    /// Name, whether it is an array, number of elements, size of an element.
    symbols: Vec<(String, bool, u32, Value)>,
    large: Vec<i128>,
}

impl Values {
    /// A value as a state shows it.
    pub fn show(&self, value: Value) -> String {
        let number = value.to_string();
        if value >= LEAST {
            return number;
        }
        if value >= LARGE {
            return self.large.get((value - LARGE) as usize).map_or(number, i128::to_string);
        }
        let Some(offset) = value.checked_sub(ADDRESS).filter(|offset| *offset >= 0) else {
            return number;
        };
        match self.symbols.get((offset / APART) as usize) {
            Some((name, array, cells, step)) => {
                let (element, rest) = (offset % APART / step, offset % APART % step);
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
