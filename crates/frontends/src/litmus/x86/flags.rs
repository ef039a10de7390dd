//! What comparisons and arithmetic leave behind for conditional instructions.
//!
//! The flags of hardware, kept as truth values in registers of their own: *zero* (ZF), *negative* (SF), *less*
//! (SF and OF differ) and *below* (CF). Only those that some instruction of the thread looks at are kept.
//! Arithmetic that overflows 32 bits is a fault here, so apart from comparisons *less* is *negative*. On 8 and 16 bits it
//! wraps round, as on hardware; there *less* is refused.

use fencepost_ir::{BinOp, Expr, Reg, Span, UnOp};

use super::super::wrong::Wrong;

/// A flag.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Flag {
    /// The result was zero: the operands were equal.
    Zero,
    /// The result was negative.
    Negative,
    /// The first operand was less than the second.
    Less,
    /// The first operand was less than the second, both without sign.
    Below,
}

impl Flag {
    /// All of them.
    pub const ALL: [Flag; 4] = [Flag::Zero, Flag::Negative, Flag::Less, Flag::Below];

    /// The register that keeps it.
    pub fn register(self) -> &'static str {
        match self {
            Flag::Zero => "%zero",
            Flag::Negative => "%negative",
            Flag::Less => "%less",
            Flag::Below => "%below",
        }
    }
}

/// A condition of a jump, a set or a move: some flag is set; or none is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The flags it looks at.
    pub flags: &'static [Flag],
    /// Whether one of them must be set; else none may be.
    pub set: bool,
}

impl Condition {
    /// The condition of a name, as in `je`: `e`.
    pub fn by_name(name: &str) -> Option<Condition> {
        use Flag::{Below, Less, Negative, Zero};
        let (flags, set): (&'static [Flag], bool) = match name {
            "e" | "z" => (&[Zero], true),
            "ne" | "nz" => (&[Zero], false),
            "l" | "lt" | "nge" => (&[Less], true),
            "ge" | "nl" => (&[Less], false),
            "le" | "ng" => (&[Less, Zero], true),
            "g" | "gt" | "nle" => (&[Less, Zero], false),
            "s" => (&[Negative], true),
            "ns" => (&[Negative], false),
            "b" | "c" | "nae" => (&[Below], true),
            "ae" | "nb" | "nc" => (&[Below], false),
            "be" | "na" => (&[Below, Zero], true),
            "a" | "nbe" => (&[Below, Zero], false),
            _ => return None,
        };
        Some(Condition { flags, set })
    }

    /// As an expression over the registers of flags.
    pub fn expr(self, mut register: impl FnMut(&str) -> Reg) -> Expr<Reg> {
        let mut flags = self.flags.iter().map(|flag| Expr::Var(register(flag.register())));
        let first = flags.next().expect("every condition looks at a flag");
        let any = flags.fold(first, |a, b| Expr::Binary(BinOp::Or, Box::new(a), Box::new(b)));
        if self.set { any } else { Expr::Unary(UnOp::Not, Box::new(any)) }
    }
}

/// What an instruction says about flags.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It compared these two.
    Compared(Expr<Reg>, Expr<Reg>),
    /// Its result is this, and it is known that nothing was carried.
    Result(Expr<Reg>),
    /// Its result is this; whether something was carried is not known.
    Carried(Expr<Reg>),
    /// Its result is this; *below* stays what it was.
    Kept(Expr<Reg>),
}

impl Outcome {
    /// The value of a flag after an instruction on so many bits; none when it stays what it was.
    pub fn flag(&self, flag: Flag, width: u8, span: Span) -> Result<Option<Expr<Reg>>, Wrong> {
        let op = |op, a: &Expr<Reg>, b: &Expr<Reg>| {
            Expr::Binary(op, Box::new(a.clone()), Box::new(b.clone()))
        };
        // The number that the lowest bits are, with a sign. It keeps the order of numbers without sign, too.
        let cut = |e: &Expr<Reg>| {
            if width >= 32 {
                return e.clone();
            }
            let (bits, sign) = (Expr::Const((1 << width) - 1), Expr::Const(1 << (width - 1)));
            op(BinOp::Sub, &op(BinOp::BitXor, &op(BinOp::BitAnd, e, &bits), &sign), &sign)
        };
        let zero = Expr::Const(0);
        let exact = match self {
            Outcome::Compared(a, b) => Outcome::Compared(cut(a), cut(b)),
            Outcome::Result(r) => Outcome::Result(cut(r)),
            Outcome::Carried(r) => Outcome::Carried(cut(r)),
            Outcome::Kept(r) => Outcome::Kept(cut(r)),
        };
        Ok(Some(match (&exact, flag) {
            (Outcome::Compared(a, b), Flag::Zero) => op(BinOp::Eq, a, b),
            (Outcome::Compared(a, b), Flag::Less) => op(BinOp::Lt, a, b),
            (Outcome::Compared(a, b), Flag::Negative) => {
                op(BinOp::Lt, &cut(&op(BinOp::Sub, a, b)), &zero)
            }
            (Outcome::Compared(a, b), Flag::Below) => {
                // A negative number is larger than all others when it has no sign.
                let alike = op(BinOp::Eq, &op(BinOp::Lt, a, &zero), &op(BinOp::Lt, b, &zero));
                let less = Box::new(op(BinOp::Lt, a, b));
                Expr::Select(Box::new(alike), less, Box::new(op(BinOp::Lt, b, &zero)))
            }
            (Outcome::Kept(_), Flag::Below) => return Ok(None),
            (Outcome::Carried(_), Flag::Below) => {
                let message = "a condition on the carry flag after this is not supported";
                return Err(Wrong::unsupported(span, message));
            }
            (Outcome::Carried(_) | Outcome::Kept(_), Flag::Less) if width < 32 => {
                let message =
                    "a condition on signed order after arithmetic on 8 or 16 bits is not supported";
                return Err(Wrong::unsupported(span, message));
            }
            (Outcome::Result(_), Flag::Below) => zero,
            (Outcome::Result(r) | Outcome::Carried(r) | Outcome::Kept(r), Flag::Zero) => {
                op(BinOp::Eq, r, &zero)
            }
            (
                Outcome::Result(r) | Outcome::Carried(r) | Outcome::Kept(r),
                Flag::Negative | Flag::Less,
            ) => op(BinOp::Lt, r, &zero),
        }))
    }
}
