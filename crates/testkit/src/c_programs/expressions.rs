//! Random expressions with the range of their values.
//!
//! Expressions have no side effects, so their operands may be evaluated in any order. An operation
//! of a signed type is generated only if its result is in range. Otherwise its operands are
//! reduced. A signed left shift may lose bits: its result is that of GCC.

use super::types::{BOOL, CHAR, INT, IntType, LONG, UNSIGNED, UNSIGNED_LONG};
use crate::Random;

/// An expression. Its text can be an operand of any operator.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) text: String,
    pub(super) ty: IntType,
    pub(super) range: (i128, i128),
}

/// An object that can be read, and perhaps written.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The text. Each `#` is an index below the number in `lens`.
    pub(super) text: String,
    pub(super) lens: Vec<usize>,
    pub(super) ty: IntType,
    /// Places of the same group may be the same object.
    pub(super) group: u32,
    /// The range of values that are known, of an object that statements must not change.
    pub(super) constant: Option<(i128, i128)>,
}

/// A function without side effects.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) result: IntType,
    pub(super) parameters: Vec<IntType>,
    /// The first argument must be from 0 to 3: it bounds the recursion.
    pub(super) is_recursive: bool,
}

/// What expressions can mention.
pub(super) struct Scope {
    pub(super) random: Random,
    pub(super) places: Vec<Place>,
    pub(super) functions: Vec<Function>,
    /// Other expressions, such as `sizeof` and pointer differences, with their group.
    pub(super) others: Vec<(Expr, u32)>,
    /// The group of places that expressions must not mention.
    pub(super) excluded: Option<u32>,
}

fn expr(text: String, ty: IntType, range: (i128, i128)) -> Expr {
    Expr { text, ty, range }
}

impl Scope {
    /// Draws an expression.
    pub(super) fn expr(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf();
        }
        let next = depth - 1;
        match self.random.below(22) {
            0..3 => self.leaf(),
            3..8 => {
                let op = self.random.pick(&["+", "-", "*"]);
                let (a, b) = (self.expr(next), self.expr(next));
                self.arithmetic(op, a, b)
            }
            8 => {
                let op = self.random.pick(&["/", "%"]);
                let (a, b) = (self.expr(next), self.expr(next));
                self.division(op, a, b)
            }
            9 | 10 => {
                let op = self.random.pick(&["<<", ">>"]);
                let (a, b) = (self.expr(next), self.expr(next));
                shift(op, &a, &b)
            }
            11 | 12 => {
                let op = self.random.pick(&["&", "|", "^"]);
                let (a, b) = (self.expr(next), self.expr(next));
                bitwise(op, &a, &b)
            }
            13 | 14 => {
                let ops = ["<", "<=", ">", ">=", "==", "!=", "&&", "||"];
                let (op, a, b) = (self.random.pick(&ops), self.expr(next), self.expr(next));
                expr(format!("({} {op} {})", a.text, b.text), INT, (0, 1))
            }
            15 => {
                let (c, a, b) = (self.expr(next), self.expr(next), self.expr(next));
                let ty = a.ty.common(b.ty);
                let (x, y) = (ty.converted(a.range), ty.converted(b.range));
                let text = format!("({} ? {} : {})", c.text, a.text, b.text);
                expr(text, ty, (x.0.min(y.0), x.1.max(y.1)))
            }
            16 | 17 => {
                let (a, ty) = (self.expr(next), IntType::random(&mut self.random));
                expr(format!("(({}){})", ty.name, a.text), ty, convert(&a, ty))
            }
            18 => {
                let a = self.expr(next);
                self.unary(a)
            }
            19 => {
                let (a, b) = (self.expr(next), self.expr(next));
                expr(format!("({}, {})", a.text, b.text), b.ty, b.range)
            }
            20 => {
                let a = self.expr(next);
                let size = i128::from(a.ty.bits / 8);
                expr(format!("sizeof({})", a.text), UNSIGNED_LONG, (size, size))
            }
            _ => self.call(next),
        }
    }

    fn leaf(&mut self) -> Expr {
        if self.random.percent(25) {
            return self.constant();
        }
        if self.random.percent(12) && !self.others.is_empty() {
            let at = self.random.below(self.others.len());
            let (other, group) = &self.others[at];
            if self.excluded != Some(*group) {
                return other.clone();
            }
        }
        let usable: Vec<usize> = (0..self.places.len())
            .filter(|at| Some(self.places[*at].group) != self.excluded)
            .collect();
        if usable.is_empty() {
            return self.constant();
        }
        let place = self.places[usable[self.random.below(usable.len())]].clone();
        let text = self.place_text(&place);
        expr(text, place.ty, place.constant.unwrap_or(place.ty.limits()))
    }

    /// Returns the text of a place with random indices.
    pub(super) fn place_text(&mut self, place: &Place) -> String {
        let mut parts = place.text.split('#');
        let mut text = parts.next().unwrap_or_default().to_string();
        for (part, len) in parts.zip(&place.lens) {
            text += &self.index(*len);
            text += part;
        }
        text
    }

    /// Draws an index below a length.
    pub(super) fn index(&mut self, len: usize) -> String {
        if self.random.percent(40) {
            return self.random.below(len).to_string();
        }
        // An index must not need an index without end.
        let simple: Vec<String> = self
            .places
            .iter()
            .filter(|place| place.lens.is_empty() && Some(place.group) != self.excluded)
            .map(|place| place.text.clone())
            .collect();
        if simple.is_empty() {
            return self.random.below(len).to_string();
        }
        let name = &simple[self.random.below(simple.len())];
        match len.is_power_of_two() {
            true => format!("{name} & {}", len - 1),
            false => format!("(unsigned){name} % {len}"),
        }
    }

    fn constant(&mut self) -> Expr {
        let small = self.random.below(70) as i128 - 8;
        let (text, ty, value) = match self.random.below(12) {
            0 => ("0xffffffffu".to_string(), UNSIGNED, 0xffff_ffff),
            1 => ("2147483647".into(), INT, i128::from(i32::MAX)),
            2 => ("0x80000000".into(), UNSIGNED, 0x8000_0000),
            3 => ("2147483648".into(), LONG, 0x8000_0000),
            4 => (format!("{}ul", small.abs()), UNSIGNED_LONG, small.abs()),
            5 => ("'a'".into(), INT, 97),
            6 => (format!("((_Bool){})", small.abs() % 2), BOOL, small.abs() % 2),
            7 => ("((char)-3)".into(), CHAR, -3),
            8 => (format!("{}l", small.abs()), LONG, small.abs()),
            _ => (format!("({small})"), INT, small),
        };
        expr(text, ty, (value, value))
    }

    /// Makes the absolute value of an operand small.
    fn reduced(&mut self, a: &Expr) -> Expr {
        let ty = a.ty.promoted();
        if self.random.percent(50) {
            return expr(format!("({} & 255)", a.text), ty, (0, 255));
        }
        let by = [7, 100, 1009, 30000][self.random.below(4)];
        let lo = if a.range.0 < 0 { 1 - by } else { 0 };
        expr(format!("({} % {by})", a.text), ty, (lo, by - 1))
    }

    /// Returns `a op b` for `+`, `-` and `*`.
    pub(super) fn arithmetic(&mut self, op: &str, mut a: Expr, mut b: Expr) -> Expr {
        let ty = a.ty.common(b.ty);
        if ty.signed && !ty.contains(result(op, ty.converted(a.range), ty.converted(b.range))) {
            (a, b) = (self.reduced(&a), self.reduced(&b));
        }
        let range = result(op, ty.converted(a.range), ty.converted(b.range));
        expr(format!("({} {op} {})", a.text, b.text), ty, ty.converted(range))
    }

    fn division(&mut self, op: &str, mut a: Expr, mut b: Expr) -> Expr {
        if b.range.0 <= 0 && b.range.1 >= 0 {
            b = expr(format!("({} | 1)", b.text), b.ty.promoted(), b.ty.promoted().limits());
        }
        let ty = a.ty.common(b.ty);
        if ty.signed && ty.converted(a.range).0 == ty.limits().0 {
            a = self.reduced(&a);
        }
        let (lo, hi) = ty.converted(a.range);
        let largest = lo.abs().max(hi.abs());
        let range = if ty.signed { (-largest, largest) } else { ty.limits() };
        expr(format!("({} {op} {})", a.text, b.text), ty, range)
    }

    fn unary(&mut self, mut a: Expr) -> Expr {
        let ty = a.ty.promoted();
        match self.random.below(4) {
            0 => {
                if ty.signed && a.range.0 == ty.limits().0 {
                    a = self.reduced(&a);
                }
                let range = if ty.signed { (-a.range.1, -a.range.0) } else { ty.limits() };
                expr(format!("(-{})", a.text), ty, range)
            }
            1 => expr(format!("(~{})", a.text), ty, ty.limits()),
            2 => expr(format!("(+{})", a.text), ty, a.range),
            _ => expr(format!("(!{})", a.text), INT, (0, 1)),
        }
    }

    fn call(&mut self, depth: usize) -> Expr {
        if self.functions.is_empty() {
            return self.leaf();
        }
        let function = self.functions[self.random.below(self.functions.len())].clone();
        let mut arguments = Vec::new();
        for at in 0..function.parameters.len() {
            let argument = self.expr(depth.min(1));
            arguments.push(match at == 0 && function.is_recursive {
                true => format!("{} & 3", argument.text),
                false => argument.text,
            });
        }
        let text = format!("{}({})", function.name, arguments.join(", "));
        expr(text, function.result, function.result.limits())
    }
}

/// Returns the range of values after a conversion. A conversion to `_Bool` is a comparison with 0.
fn convert(a: &Expr, ty: IntType) -> (i128, i128) {
    if ty == BOOL { (0, 1) } else { ty.converted(a.range) }
}

/// Returns the range of an exact result.
pub(super) fn result(op: &str, a: (i128, i128), b: (i128, i128)) -> (i128, i128) {
    match op {
        "+" => (a.0 + b.0, a.1 + b.1),
        "-" => (a.0 - b.1, a.1 - b.0),
        _ => {
            // The product of two values of 64 bits can exceed 128 bits with a sign.
            let all = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
            let products = all.map(|(a, b)| a.saturating_mul(b));
            let (lo, hi) = (products.iter().min(), products.iter().max());
            (lo.copied().unwrap_or(0), hi.copied().unwrap_or(0))
        }
    }
}

/// Returns a shift by an amount in range.
pub(super) fn shift(op: &str, a: &Expr, amount: &Expr) -> Expr {
    let ty = a.ty.promoted();
    let range = match op {
        "<<" => ty.limits(),
        _ => (a.range.0.min(0), a.range.1.max(0)),
    };
    expr(format!("({} {op} ({} & {}))", a.text, amount.text, ty.bits - 1), ty, range)
}

fn bitwise(op: &str, a: &Expr, b: &Expr) -> Expr {
    let ty = a.ty.common(b.ty);
    let (x, y) = (ty.converted(a.range), ty.converted(b.range));
    let both = x.0 >= 0 && y.0 >= 0;
    let range = if op == "&" && both { (0, x.1.min(y.1)) } else { ty.limits() };
    expr(format!("({} {op} {})", a.text, b.text), ty, range)
}
