//! The status flags that comparisons and arithmetic set and conditional instructions read.
//!
//! The flags are truth values in extra registers: *zero* (ZF), *negative* (SF), *less* (SF and OF
//! differ) and *below* (CF). Only flags that an instruction of the thread reads are computed.
//!
//! DIVERGENCE: after arithmetic of 32 and 64 bits *less* is the same as *negative*, also if the
//! result wraps. *Less* after arithmetic of 8 and 16 bits is not supported.

use fencepost_ir::{BinOp, Expr, Reg, Span, UnOp};

use super::error::LitmusError;
use super::wrap::in_64_bits;

/// A status flag.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Flag {
    /// The result is zero: the operands are equal.
    Zero,
    /// The result is negative.
    Negative,
    /// The first operand is less than the second, as signed numbers.
    Less,
    /// The first operand is less than the second, as unsigned numbers.
    Below,
}

impl Flag {
    /// All flags.
    pub const ALL: [Flag; 4] = [Flag::Zero, Flag::Negative, Flag::Less, Flag::Below];

    /// Returns the name of the register that stores the flag.
    pub fn register(self) -> &'static str {
        match self {
            Flag::Zero => "%zero",
            Flag::Negative => "%negative",
            Flag::Less => "%less",
            Flag::Below => "%below",
        }
    }
}

/// The condition of a conditional jump, set or move: at least one of some flags is set, or none is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The flags that the condition reads.
    pub flags: &'static [Flag],
    /// If true, at least one of the flags must be set. If false, none may be set.
    pub any_set: bool,
}

impl Condition {
    /// Returns the condition of a mnemonic suffix, such as `e` in `je`.
    pub fn by_name(name: &str) -> Option<Condition> {
        use Flag::{Below, Less, Negative, Zero};
        let (flags, any_set): (&'static [Flag], bool) = match name {
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
        Some(Condition { flags, any_set })
    }

    /// Returns the condition as an expression over the registers of the flags.
    pub fn expr(self, mut register: impl FnMut(&str) -> Reg) -> Expr<Reg> {
        let mut flags = self.flags.iter().map(|flag| Expr::Var(register(flag.register())));
        let first = flags.next().expect("every condition reads at least one flag");
        let any = flags.fold(first, |a, b| Expr::Binary(BinOp::Or, Box::new(a), Box::new(b)));
        if self.any_set { any } else { Expr::Unary(UnOp::Not, Box::new(any)) }
    }
}

/// The effect of an instruction on the flags.
#[derive(Clone, Debug)]
pub enum FlagEffect {
    /// All flags result from comparing these two values.
    Compared(Expr<Reg>, Expr<Reg>),
    /// The flags result from this value; *below* is cleared.
    NoCarry(Expr<Reg>),
    /// The flags result from this value; *below* is not modelled.
    UnknownCarry(Expr<Reg>),
    /// The flags result from this value; *below* is unchanged.
    KeepsCarry(Expr<Reg>),
}

impl FlagEffect {
    /// Returns the new value of a flag after an instruction of `width` bits, or `None` if the flag
    /// is unchanged. Fails if the value is not modelled.
    pub fn flag(
        &self,
        flag: Flag,
        width: u8,
        span: Span,
    ) -> Result<Option<Expr<Reg>>, LitmusError> {
        let op = |op, a: &Expr<Reg>, b: &Expr<Reg>| {
            Expr::Binary(op, Box::new(a.clone()), Box::new(b.clone()))
        };
        // Sign-extends the lowest `width` bits. The extension also preserves the unsigned order.
        let cut = |e: &Expr<Reg>| {
            if width >= 32 {
                return e.clone();
            }
            let (bits, sign) = (Expr::Const((1 << width) - 1), Expr::Const(1 << (width - 1)));
            op(BinOp::Sub, &op(BinOp::BitXor, &op(BinOp::BitAnd, e, &bits), &sign), &sign)
        };
        let zero = Expr::Const(0);
        let exact = match self {
            FlagEffect::Compared(a, b) => FlagEffect::Compared(cut(a), cut(b)),
            FlagEffect::NoCarry(r) => FlagEffect::NoCarry(cut(r)),
            FlagEffect::UnknownCarry(r) => FlagEffect::UnknownCarry(cut(r)),
            FlagEffect::KeepsCarry(r) => FlagEffect::KeepsCarry(cut(r)),
        };
        Ok(Some(match (&exact, flag) {
            (FlagEffect::Compared(a, b), Flag::Zero) => op(BinOp::Eq, a, b),
            (FlagEffect::Compared(a, b), Flag::Less) => op(BinOp::Lt, a, b),
            (FlagEffect::Compared(a, b), Flag::Negative) => {
                let sub = if width == 64 { in_64_bits(BinOp::Sub) } else { BinOp::Sub };
                op(BinOp::Lt, &cut(&op(sub, a, b)), &zero)
            }
            (FlagEffect::Compared(a, b), Flag::Below) => {
                // As an unsigned number, a negative number is greater than all others.
                let alike = op(BinOp::Eq, &op(BinOp::Lt, a, &zero), &op(BinOp::Lt, b, &zero));
                let less = Box::new(op(BinOp::Lt, a, b));
                Expr::Select(Box::new(alike), less, Box::new(op(BinOp::Lt, b, &zero)))
            }
            (FlagEffect::KeepsCarry(_), Flag::Below) => return Ok(None),
            (FlagEffect::UnknownCarry(_), Flag::Below) => {
                let message =
                    "a condition on the carry flag after this instruction is not supported";
                return Err(LitmusError::unsupported(span, message));
            }
            (FlagEffect::UnknownCarry(_) | FlagEffect::KeepsCarry(_), Flag::Less) if width < 32 => {
                let message =
                    "a signed condition after 8-bit or 16-bit arithmetic is not supported";
                return Err(LitmusError::unsupported(span, message));
            }
            (FlagEffect::NoCarry(_), Flag::Below) => zero,
            (
                FlagEffect::NoCarry(r) | FlagEffect::UnknownCarry(r) | FlagEffect::KeepsCarry(r),
                Flag::Zero,
            ) => op(BinOp::Eq, r, &zero),
            (
                FlagEffect::NoCarry(r) | FlagEffect::UnknownCarry(r) | FlagEffect::KeepsCarry(r),
                Flag::Negative | Flag::Less,
            ) => op(BinOp::Lt, r, &zero),
        }))
    }
}
