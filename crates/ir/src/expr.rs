//! Pure expressions and faults.
//!
//! Expressions contain no shared accesses. Their leaves have a type `V`: registers of a thread, or
//! observables of a condition. The ordinary arithmetic is that of 32-bit integers and exact: a
//! result outside 32 bits is a [`Fault`]. Wrapping would change the meaning of the program.
//! [`WideOp`] has the operators of 64 bits, exact and wrapping. `&&`, `||` and `?:` use
//! short-circuit evaluation, so `n != 0 && k / n > 1` does not fault.

use crate::value::{Value, is_int};

/// A pure expression over leaves of type `V`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr<V> {
    /// A constant.
    Const(Value),
    /// A leaf.
    Var(V),
    /// A unary operator.
    Unary(UnOp, Box<Expr<V>>),
    /// A binary operator.
    Binary(BinOp, Box<Expr<V>>, Box<Expr<V>>),
    /// `condition ? then : otherwise`.
    Select(Box<Expr<V>>, Box<Expr<V>>, Box<Expr<V>>),
}

/// Unary operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnOp {
    /// Logical negation: 1 for zero, 0 for anything else.
    Not,
    /// Arithmetic negation.
    Neg,
    /// Bitwise complement.
    BitNot,
}

/// Binary operators. Comparisons and logic yield 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each variant is the operator of that name, see `symbol`")]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    /// An operator of 64 bits.
    Wide(WideOp),
}

/// Binary operators of 64 bits. Front ends build the arithmetic of wider and of unsigned types from
/// them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WideOp {
    /// The exact sum.
    Add,
    /// The exact difference.
    Sub,
    /// The exact product.
    Mul,
    /// The exact quotient, rounded towards 0.
    Div,
    /// The remainder of `Div`.
    Rem,
    /// The left operand times a power of two, exact.
    Shl,
    /// The arithmetic shift to the right.
    Shr,
    /// The sum modulo 2^64.
    WrapAdd,
    /// The difference modulo 2^64.
    WrapSub,
    /// The product modulo 2^64.
    WrapMul,
    /// The quotient modulo 2^64, rounded towards 0.
    WrapDiv,
    /// The remainder of `WrapDiv`.
    WrapRem,
    /// The shift to the left modulo 2^64.
    WrapShl,
    /// The shift to the right of an unsigned number.
    UnsignedShr,
    /// The quotient of unsigned numbers.
    UnsignedDiv,
    /// The remainder of unsigned numbers.
    UnsignedRem,
    /// Whether an unsigned number is less than another.
    UnsignedLt,
    /// Whether an unsigned number is at most another.
    UnsignedLe,
}

/// A run-time fault. Faults are always checked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fault {
    /// Division or remainder by zero.
    DivisionByZero,
    /// A result outside 32 bits (64 bits for [`WideOp`]), or a shift by a negative or too large
    /// amount.
    Overflow,
    /// An array index outside its array.
    OutOfBounds,
    /// An access to a field of `null`.
    NullReference,
    /// An access through a pointer that is not the address of a location of the right size.
    InvalidPointer,
    /// An access to a field of a record that is not allocated.
    UseAfterFree,
    /// An access to a local variable whose lifetime has ended.
    EndedLifetime,
    /// A value outside the declared range of the register or location that it is stored to.
    OutOfRange,
    /// A use of a value that was never written.
    Uninitialised,
    /// A `new` on a pool without a free cell.
    PoolExhausted,
    /// A `free` of a record that is not allocated.
    DoubleFree,
    /// A `free` of a pointer that is not the start of allocated memory.
    InvalidFree,
    /// A call through a pointer that is not the address of a function.
    InvalidCall,
    /// The end of a read-side section that the thread is not in.
    NotInSection,
    /// An `atomic` or `init` block that exceeds the limit on executed statements or on combinations
    /// of choices.
    BlockTooLong,
}

impl Fault {
    /// Returns a description for reports.
    pub fn describe(self) -> &'static str {
        match self {
            Fault::DivisionByZero => "division by zero",
            Fault::Overflow => "integer overflow",
            Fault::OutOfBounds => "array index out of bounds",
            Fault::NullReference => "access through a null reference",
            Fault::InvalidPointer => {
                "access through an invalid pointer: outside of every object, misaligned or of another size"
            }
            Fault::UseAfterFree => "use of a record that is not allocated (use after free)",
            Fault::EndedLifetime => "use of a local variable whose lifetime has ended",
            Fault::OutOfRange => "value outside the declared range",
            Fault::Uninitialised => "use of an uninitialised value",
            Fault::PoolExhausted => "no free record left in the pool",
            Fault::DoubleFree => "free of a record that is not allocated (double free)",
            Fault::InvalidFree => {
                "invalid free: the pointer is not the start of memory that was allocated"
            }
            Fault::InvalidCall => "call through a pointer that is not the address of a function",
            Fault::NotInSection => "the end of a read-side section that was not begun",
            Fault::BlockTooLong => {
                "an atomic or init block that runs too long (100,000 statements, or 65,536 combinations of choices)"
            }
        }
    }
}

impl BinOp {
    /// Returns the operator's symbol.
    pub fn symbol(self) -> &'static str {
        match self {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::Div => "/",
            BinOp::Rem => "%",
            BinOp::Eq => "==",
            BinOp::Ne => "!=",
            BinOp::Lt => "<",
            BinOp::Le => "<=",
            BinOp::Gt => ">",
            BinOp::Ge => ">=",
            BinOp::And => "&&",
            BinOp::Or => "||",
            BinOp::BitAnd => "&",
            BinOp::BitOr => "|",
            BinOp::BitXor => "^",
            BinOp::Shl => "<<",
            BinOp::Shr => ">>",
            BinOp::Wide(op) => op.symbol(),
        }
    }

    /// Applies the operator to two values. `And` and `Or` do not short-circuit here.
    #[inline]
    pub fn apply(self, a: Value, b: Value) -> Result<Value, Fault> {
        let shift = || shift_amount(b, 32);
        Ok(match self {
            BinOp::Add => int(a.checked_add(b))?,
            BinOp::Sub => int(a.checked_sub(b))?,
            BinOp::Mul => int(a.checked_mul(b))?,
            BinOp::Div if b == 0 => return Err(Fault::DivisionByZero),
            BinOp::Div => int(a.checked_div(b))?,
            BinOp::Rem if b == 0 => return Err(Fault::DivisionByZero),
            // The quotient of the smallest 32-bit number and -1 has no 32 bits.
            BinOp::Rem if b == -1 => int(a.checked_neg()).map(|_| 0)?,
            BinOp::Rem => int(a.checked_rem(b))?,
            BinOp::Eq => Value::from(a == b),
            BinOp::Ne => Value::from(a != b),
            BinOp::Lt => Value::from(a < b),
            BinOp::Le => Value::from(a <= b),
            BinOp::Gt => Value::from(a > b),
            BinOp::Ge => Value::from(a >= b),
            BinOp::And => Value::from(a != 0 && b != 0),
            BinOp::Or => Value::from(a != 0 || b != 0),
            BinOp::BitAnd => a & b,
            BinOp::BitOr => a | b,
            BinOp::BitXor => a ^ b,
            BinOp::Shl => int(exact_shl(a, shift()?))?,
            BinOp::Shr => a >> shift()?,
            BinOp::Wide(op) => return op.apply(a, b),
        })
    }
}

impl WideOp {
    /// Every operator.
    pub const ALL: [WideOp; 18] = [
        WideOp::Add,
        WideOp::Sub,
        WideOp::Mul,
        WideOp::Div,
        WideOp::Rem,
        WideOp::Shl,
        WideOp::Shr,
        WideOp::WrapAdd,
        WideOp::WrapSub,
        WideOp::WrapMul,
        WideOp::WrapDiv,
        WideOp::WrapRem,
        WideOp::WrapShl,
        WideOp::UnsignedShr,
        WideOp::UnsignedDiv,
        WideOp::UnsignedRem,
        WideOp::UnsignedLt,
        WideOp::UnsignedLe,
    ];

    /// Returns the operator's symbol: the operator of C with the suffix `l` (64 bits), `w`
    /// (wrapping) or `u` (unsigned).
    pub fn symbol(self) -> &'static str {
        match self {
            WideOp::Add => "+l",
            WideOp::Sub => "-l",
            WideOp::Mul => "*l",
            WideOp::Div => "/l",
            WideOp::Rem => "%l",
            WideOp::Shl => "<<l",
            WideOp::Shr => ">>l",
            WideOp::WrapAdd => "+w",
            WideOp::WrapSub => "-w",
            WideOp::WrapMul => "*w",
            WideOp::WrapDiv => "/w",
            WideOp::WrapRem => "%w",
            WideOp::WrapShl => "<<w",
            WideOp::UnsignedShr => ">>u",
            WideOp::UnsignedDiv => "/u",
            WideOp::UnsignedRem => "%u",
            WideOp::UnsignedLt => "<u",
            WideOp::UnsignedLe => "<=u",
        }
    }

    /// Applies the operator to two values.
    pub fn apply(self, a: Value, b: Value) -> Result<Value, Fault> {
        let exact = |result: Option<Value>| result.ok_or(Fault::Overflow);
        let shift = || shift_amount(b, 64);
        let (ua, ub) = (a as u64, b as u64);
        Ok(match self {
            WideOp::Add => exact(a.checked_add(b))?,
            WideOp::Sub => exact(a.checked_sub(b))?,
            WideOp::Mul => exact(a.checked_mul(b))?,
            WideOp::Div
            | WideOp::Rem
            | WideOp::WrapDiv
            | WideOp::WrapRem
            | WideOp::UnsignedDiv
            | WideOp::UnsignedRem
                if b == 0 =>
            {
                return Err(Fault::DivisionByZero);
            }
            WideOp::Div => exact(a.checked_div(b))?,
            WideOp::Rem => exact(a.checked_rem(b))?,
            WideOp::Shl => exact(exact_shl(a, shift()?))?,
            WideOp::Shr => a >> shift()?,
            WideOp::WrapAdd => a.wrapping_add(b),
            WideOp::WrapSub => a.wrapping_sub(b),
            WideOp::WrapMul => a.wrapping_mul(b),
            WideOp::WrapDiv => a.wrapping_div(b),
            WideOp::WrapRem => a.wrapping_rem(b),
            WideOp::WrapShl => a << shift()?,
            WideOp::UnsignedShr => (ua >> shift()?) as Value,
            WideOp::UnsignedDiv => (ua / ub) as Value,
            WideOp::UnsignedRem => (ua % ub) as Value,
            WideOp::UnsignedLt => Value::from(ua < ub),
            WideOp::UnsignedLe => Value::from(ua <= ub),
        })
    }
}

/// Returns a result that has 32 bits.
#[inline]
fn int(result: Option<Value>) -> Result<Value, Fault> {
    result.filter(|value| is_int(*value)).ok_or(Fault::Overflow)
}

/// Returns the amount of a shift in a type with this number of bits.
#[inline]
fn shift_amount(amount: Value, bits: u32) -> Result<u32, Fault> {
    u32::try_from(amount).ok().filter(|amount| *amount < bits).ok_or(Fault::Overflow)
}

/// Returns `a << amount`, if no bit and no sign is lost. The amount is below 64.
fn exact_shl(a: Value, amount: u32) -> Option<Value> {
    Some(a << amount).filter(|shifted| shifted >> amount == a)
}

impl UnOp {
    /// Returns the operator's symbol.
    pub fn symbol(self) -> &'static str {
        match self {
            UnOp::Not => "!",
            UnOp::Neg => "-",
            UnOp::BitNot => "~",
        }
    }

    /// Applies the operator to a value.
    #[inline]
    pub fn apply(self, a: Value) -> Result<Value, Fault> {
        Ok(match self {
            UnOp::Not => Value::from(a == 0),
            UnOp::Neg => int(a.checked_neg())?,
            UnOp::BitNot => !a,
        })
    }
}

impl<V> Expr<V> {
    /// Evaluates the expression. `leaf` gives the value of each leaf.
    #[inline]
    pub fn eval(&self, leaf: &impl Fn(&V) -> Value) -> Result<Value, Fault> {
        match self {
            Expr::Const(value) => Ok(*value),
            Expr::Var(var) => Ok(leaf(var)),
            Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => self.eval_nested(leaf),
        }
    }

    /// Evaluates an expression that is not a leaf. Takes a trait object so that the binary contains
    /// only one copy for all closures.
    fn eval_nested(&self, leaf: &dyn Fn(&V) -> Value) -> Result<Value, Fault> {
        match self {
            Expr::Const(value) => Ok(*value),
            Expr::Var(var) => Ok(leaf(var)),
            Expr::Unary(op, a) => op.apply(a.eval_operand(leaf)?),
            Expr::Binary(BinOp::And, a, b) => {
                Ok(Value::from(a.eval_operand(leaf)? != 0 && b.eval_operand(leaf)? != 0))
            }
            Expr::Binary(BinOp::Or, a, b) => {
                Ok(Value::from(a.eval_operand(leaf)? != 0 || b.eval_operand(leaf)? != 0))
            }
            Expr::Binary(op, a, b) => op.apply(a.eval_operand(leaf)?, b.eval_operand(leaf)?),
            Expr::Select(c, a, b) => {
                if c.eval_operand(leaf)? != 0 {
                    a.eval_operand(leaf)
                } else {
                    b.eval_operand(leaf)
                }
            }
        }
    }

    /// Evaluates an operand. Inlined, so that leaves need no call.
    #[inline]
    fn eval_operand(&self, leaf: &dyn Fn(&V) -> Value) -> Result<Value, Fault> {
        match self {
            Expr::Const(value) => Ok(*value),
            Expr::Var(var) => Ok(leaf(var)),
            Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => self.eval_nested(leaf),
        }
    }

    /// Calls `visit` on every leaf, left to right.
    pub fn for_each_var<'a>(&'a self, visit: &mut impl FnMut(&'a V)) {
        match self {
            Expr::Const(_) => {}
            Expr::Var(var) => visit(var),
            Expr::Unary(_, a) => a.for_each_var(visit),
            Expr::Binary(_, a, b) => {
                a.for_each_var(visit);
                b.for_each_var(visit);
            }
            Expr::Select(c, a, b) => {
                c.for_each_var(visit);
                a.for_each_var(visit);
                b.for_each_var(visit);
            }
        }
    }

    /// Calls `visit` on every leaf, left to right. `visit` may change the leaf.
    pub fn for_each_var_mut(&mut self, visit: &mut impl FnMut(&mut V)) {
        match self {
            Expr::Const(_) => {}
            Expr::Var(var) => visit(var),
            Expr::Unary(_, a) => a.for_each_var_mut(visit),
            Expr::Binary(_, a, b) => {
                a.for_each_var_mut(visit);
                b.for_each_var_mut(visit);
            }
            Expr::Select(c, a, b) => {
                c.for_each_var_mut(visit);
                a.for_each_var_mut(visit);
                b.for_each_var_mut(visit);
            }
        }
    }

    /// Returns the value if the expression is a constant.
    pub fn as_const(&self) -> Option<Value> {
        match self {
            Expr::Const(value) => Some(*value),
            Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => None,
        }
    }

    /// Returns whether the expression has an operator or a constant of more than 32 bits.
    pub fn is_wide(&self) -> bool {
        match self {
            Expr::Const(value) => !is_int(*value),
            Expr::Var(_) => false,
            Expr::Unary(_, a) => a.is_wide(),
            Expr::Binary(BinOp::Wide(_), ..) => true,
            Expr::Binary(_, a, b) => a.is_wide() || b.is_wide(),
            Expr::Select(c, a, b) => c.is_wide() || a.is_wide() || b.is_wide(),
        }
    }

    /// Folds constant subexpressions, except those that fault.
    pub fn fold(self) -> Self {
        let folded = match self {
            Expr::Const(_) | Expr::Var(_) => return self,
            Expr::Unary(op, a) => Expr::Unary(op, Box::new(a.fold())),
            Expr::Binary(op, a, b) => Expr::Binary(op, Box::new(a.fold()), Box::new(b.fold())),
            Expr::Select(c, a, b) => {
                let c = c.fold();
                match c.as_const() {
                    Some(0) => return b.fold(),
                    Some(_) => return a.fold(),
                    None => Expr::Select(Box::new(c), Box::new(a.fold()), Box::new(b.fold())),
                }
            }
        };
        let constant = match &folded {
            Expr::Unary(op, a) => a.as_const().and_then(|a| op.apply(a).ok()),
            Expr::Binary(op, a, b) => match (op, a.as_const(), b.as_const()) {
                (BinOp::And, Some(0), _) => Some(0),
                (BinOp::Or, Some(a), _) if a != 0 => Some(1),
                (_, Some(a), Some(b)) => op.apply(a, b).ok(),
                _ => None,
            },
            Expr::Const(_) | Expr::Var(_) | Expr::Select(..) => None,
        };
        constant.map_or(folded, Expr::Const)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(e: &Expr<usize>) -> Result<Value, Fault> {
        e.eval(&|v| [7, 0, -3][*v])
    }

    fn bin(op: BinOp, a: Expr<usize>, b: Expr<usize>) -> Expr<usize> {
        Expr::Binary(op, Box::new(a), Box::new(b))
    }

    #[test]
    fn logical_operators_short_circuit() {
        let fault = bin(BinOp::Div, Expr::Const(1), Expr::Var(1));
        assert_eq!(eval(&fault), Err(Fault::DivisionByZero));
        assert_eq!(eval(&bin(BinOp::And, Expr::Var(1), fault.clone())), Ok(0));
        assert_eq!(eval(&bin(BinOp::Or, Expr::Var(0), fault.clone())), Ok(1));
        let select =
            Expr::Select(Box::new(Expr::Const(0)), Box::new(fault), Box::new(Expr::Var(2)));
        assert_eq!(eval(&select), Ok(-3));
    }

    #[test]
    fn arithmetic_never_wraps() {
        for (op, a, b) in [
            (BinOp::Add, i32::MAX.into(), 1),
            (BinOp::Sub, i32::MIN.into(), 1),
            (BinOp::Mul, 1 << 20, 1 << 20),
            (BinOp::Div, i32::MIN.into(), -1),
            (BinOp::Rem, i32::MIN.into(), -1),
            (BinOp::Shl, 1, 31),
            (BinOp::Shl, 1, 40),
            (BinOp::Shr, 1, -1),
            (BinOp::Wide(WideOp::Add), Value::MAX, 1),
            (BinOp::Wide(WideOp::Sub), Value::MIN, 1),
            (BinOp::Wide(WideOp::Mul), 1 << 40, 1 << 40),
            (BinOp::Wide(WideOp::Div), Value::MIN, -1),
            (BinOp::Wide(WideOp::Rem), Value::MIN, -1),
            (BinOp::Wide(WideOp::Shl), 1, 63),
            (BinOp::Wide(WideOp::Shl), 1, 64),
            (BinOp::Wide(WideOp::WrapShl), 1, 64),
            (BinOp::Wide(WideOp::UnsignedShr), 1, -1),
        ] {
            assert_eq!(op.apply(a, b), Err(Fault::Overflow), "{a} {} {b}", op.symbol());
        }
    }

    #[test]
    fn wide_operators_have_64_bits() {
        for (op, a, b, result) in [
            (WideOp::Add, i32::MAX.into(), 1, 1 << 31),
            (WideOp::Shl, -1, 63, Value::MIN),
            (WideOp::Shr, -8, 1, -4),
            (WideOp::WrapAdd, Value::MAX, 1, Value::MIN),
            (WideOp::WrapSub, Value::MIN, 1, Value::MAX),
            (WideOp::WrapMul, 1 << 62, 4, 0),
            (WideOp::WrapDiv, Value::MIN, -1, Value::MIN),
            (WideOp::WrapDiv, -7, 2, -3),
            (WideOp::WrapRem, Value::MIN, -1, 0),
            (WideOp::WrapRem, -7, 2, -1),
            (WideOp::WrapShl, 3, 63, Value::MIN),
            (WideOp::UnsignedShr, -1, 63, 1),
            (WideOp::UnsignedDiv, -1, 2, Value::MAX),
            (WideOp::UnsignedRem, -1, 16, 15),
            (WideOp::UnsignedLt, -1, 1, 0),
            (WideOp::UnsignedLe, 1, -1, 1),
        ] {
            assert_eq!(op.apply(a, b), Ok(result), "{a} {} {b}", op.symbol());
        }
    }

    #[test]
    fn folding_keeps_faults() {
        let fault = bin(BinOp::Div, Expr::Const(1), Expr::Const(0));
        assert_eq!(fault.clone().fold(), fault);
        assert_eq!(bin(BinOp::Sub, Expr::Const(1), Expr::Const(0)).fold(), Expr::Const(1));
    }
}
