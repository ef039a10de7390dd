//! Register names. `X1` is a register of 64 bits, `W1` its low half. `XZR` and `WZR` are always 0.

/// A general-purpose register or its low half, or the zero register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Register {
    /// The number, 0 to 30; `None` for the zero register.
    pub number: Option<u8>,
    /// Whether the name denotes all 64 bits.
    pub is_wide: bool,
}

impl Register {
    /// The zero register.
    pub const ZERO: Register = Register { number: None, is_wide: true };

    /// Returns the register of this name, in any letter case.
    pub fn by_name(name: &str) -> Option<Register> {
        let (first, rest) = name.split_at_checked(1)?;
        let is_wide = match first {
            "X" | "x" => true,
            "W" | "w" => false,
            _ => return None,
        };
        if rest.eq_ignore_ascii_case("zr") {
            return Some(Register { number: None, is_wide });
        }
        let has_leading_zero = rest.len() > 1 && rest.starts_with('0');
        let is_number = rest.bytes().all(|byte| byte.is_ascii_digit()) && !has_leading_zero;
        let number = rest.parse().ok().filter(|number| is_number && *number <= 30)?;
        Some(Register { number: Some(number), is_wide })
    }

    /// Returns the number of bits.
    pub fn bits(self) -> u8 {
        if self.is_wide { 64 } else { 32 }
    }
}

/// Returns the name of the register with a number, which printed states show.
pub fn full_name(number: u8) -> String {
    format!("X{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_denote_registers_and_halves() {
        for (name, number, is_wide) in
            [("X0", Some(0), true), ("w30", Some(30), false), ("WZR", None, false)]
        {
            assert_eq!(Register::by_name(name), Some(Register { number, is_wide }), "{name}");
        }
        for name in ["X31", "X", "SP", "EAX", "X01", "X+1", "", "\u{e4}1"] {
            assert_eq!(Register::by_name(name), None, "{name}");
        }
    }
}
