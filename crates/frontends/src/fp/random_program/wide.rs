//! Statements and expressions with the integers of 32 and 64 bits.
//!
//! Every operator combines operands of one type. A number or an `int` is only a right operand, so
//! that the type of the expression is that of the left one.

use std::fmt::Write;

use super::{Choices, Context, bool, int};

/// The declarations of the shared variables.
pub(super) const SHARED: &str = "shared u32 u = 4294967295 ; shared i32 v = -2147483648 ; \
     shared u64 uu [ 2 ] = { 18446744073709551615 , 3 } ; shared i64 vv = 9223372036854775807 ; ";

/// A type: an expression for a location, and numbers of the type.
struct Wide {
    place: &'static str,
    numbers: [&'static str; 3],
}

const TYPES: [Wide; 4] = [
    Wide { place: "u", numbers: ["7", "4294967295", "2147483648"] },
    Wide { place: "v", numbers: ["-1", "2147483647", "-2147483648"] },
    Wide { place: "uu [ 1 ]", numbers: ["63", "18446744073709551615", "0x8000000000000000"] },
    Wide { place: "vv", numbers: ["-3", "9223372036854775807", "-9223372036854775808"] },
];

impl Wide {
    fn any(choices: &mut Choices<'_>) -> &'static Wide {
        &TYPES[choices.below(TYPES.len())]
    }

    /// Returns an expression of the type.
    fn value(&self, choices: &mut Choices<'_>, context: Context, depth: usize) -> String {
        let inner = depth.saturating_sub(1);
        match choices.below(if depth == 0 { 1 } else { 9 }) {
            0 => self.place.into(),
            1 => format!(
                "{} ( {} )",
                ["-", "~"][choices.below(2)],
                self.value(choices, context, inner)
            ),
            2 => {
                let op = ["<<", ">>"][choices.below(2)];
                let value = self.value(choices, context, inner);
                format!("( {value} {op} {} )", ["r", "1", "31", "63"][choices.below(4)])
            }
            3 => {
                let cond = bool(choices, context, inner);
                let value = self.value(choices, context, inner);
                format!("( {cond} ? {value} : {} )", self.operand(choices, context, inner))
            }
            4 => {
                let op = ["fetch_add", "fetch_sub", "swap", "fetch_xor"][choices.below(4)];
                format!("{op} ( {} , {} )", self.place, self.operand(choices, context, inner))
            }
            _ => {
                let op = ["+", "-", "*", "/", "%", "&", "|", "^"][choices.below(8)];
                let value = self.value(choices, context, inner);
                format!("( {value} {op} {} )", self.operand(choices, context, inner))
            }
        }
    }

    /// Returns a right operand: a number, an `int` or an expression of the type.
    fn operand(&self, choices: &mut Choices<'_>, context: Context, depth: usize) -> String {
        match choices.below(6) {
            0 => "r".into(),
            at @ 1..=3 => self.numbers[at - 1].into(),
            _ => self.value(choices, context, depth),
        }
    }
}

/// Adds an assignment of or to a wide integer.
pub(super) fn assign(
    out: &mut String,
    choices: &mut Choices<'_>,
    context: Context,
) -> std::fmt::Result {
    let wide = Wide::any(choices);
    match choices.below(6) {
        0 => write!(out, "{} = {} ;", wide.place, int(choices, context, 1)),
        1 => {
            let op = ["+=", "-=", "^="][choices.below(3)];
            write!(out, "{} {op} {} ;", wide.place, wide.operand(choices, context, 1))
        }
        2 => write!(out, "r = {} ;", wide.value(choices, context, 2)),
        3 => write!(
            out,
            "{} += {} ;",
            ["r", "x", "w"][choices.below(3)],
            wide.value(choices, context, 1)
        ),
        4 => {
            let from = Wide::any(choices).value(choices, context, 2);
            write!(out, "{} = {from} ;", wide.place)
        }
        _ => write!(out, "{} = {} ;", wide.place, wide.value(choices, context, 2)),
    }
}

/// Returns a comparison of a wide integer.
pub(super) fn comparison(choices: &mut Choices<'_>, context: Context, depth: usize) -> String {
    let wide = Wide::any(choices);
    let op = ["<", "<=", "==", "!=", ">", ">="][choices.below(6)];
    let value = wide.value(choices, context, depth);
    match choices.below(2) {
        0 => format!("( {value} {op} {} )", wide.operand(choices, context, depth)),
        _ => format!("( r {op} {value} )"),
    }
}
