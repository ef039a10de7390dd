//! Numbers, characters and strings: their values, and their types by C's rules.

/// An integer: the value as a bit pattern, and its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Integer {
    /// The value. A negative value of a small type has the bits of its type only.
    pub value: u64,
    /// The size of the type in bits.
    pub bits: u8,
    /// Whether the type is signed.
    pub signed: bool,
}

/// A number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// An integer.
    Integer(Integer),
    /// A number with a fraction or an exponent.
    Float,
}

/// Reads a number. The error is a message.
pub fn number(text: &str) -> Result<Number, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.get(..2) {
        Some("0x") => (&lower[2..], 16),
        Some("0b") => (&lower[2..], 2),
        _ if lower.starts_with('0') && lower.len() > 1 => (&lower[1..], 8),
        _ => (lower.as_str(), 10),
    };
    let exponent = if radix == 16 { 'p' } else { 'e' };
    if radix != 2 && digits.contains(['.', exponent]) {
        return Ok(Number::Float);
    }
    let is_suffix = |c: char| matches!(c, 'u' | 'l');
    let end = digits.find(is_suffix).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    // `0` and `0u`, after the `0` of an octal number.
    let digits = if radix == 8 && digits.is_empty() { "0" } else { digits };
    let (unsigned, long) = match suffix {
        "" => (false, false),
        "u" => (true, false),
        "l" | "ll" => (false, true),
        "ul" | "ull" | "lu" | "llu" => (true, true),
        _ => return Err(format!("`{text}` has an unknown suffix")),
    };
    if let Some(bad) = digits.chars().find(|c| !c.is_digit(radix)) {
        return Err(match radix {
            8 if bad.is_ascii_digit() => {
                format!("`{text}` begins with 0, so it is octal and cannot contain `{bad}`")
            }
            _ => format!("`{text}` is not a number: it contains `{bad}`"),
        });
    }
    let value = match u64::from_str_radix(digits, radix) {
        Ok(value) => value,
        Err(_) if digits.is_empty() => return Err(format!("`{text}` has no digits")),
        Err(_) => return Err(format!("`{text}` does not fit in 64 bits")),
    };
    // The first type that can hold the value. Only numbers that are not decimal become unsigned.
    let may_be_unsigned = unsigned || radix != 10;
    let candidates = [(32, true), (32, false), (64, true), (64, false)];
    let fits = |&(bits, signed): &(u8, bool)| {
        let limit = u64::MAX >> (64 - bits + u8::from(signed));
        let allowed = if signed { !unsigned } else { may_be_unsigned };
        allowed && value <= limit && (bits == 64 || !long)
    };
    // A decimal number above the range of `long long` is unsigned, as in compilers.
    let (bits, signed) = candidates.into_iter().find(fits).unwrap_or((64, false));
    Ok(Number::Integer(Integer { value, bits, signed }))
}

/// Returns the value of an integer, with its sign.
pub fn sign_extend(integer: Integer) -> i64 {
    let unused = 64 - u32::from(integer.bits.clamp(1, 64));
    let shifted = integer.value << unused;
    if integer.signed { (shifted as i64) >> unused } else { (shifted >> unused) as i64 }
}

/// Reads a character constant, with its quotes and prefix. The error is a message.
pub fn character(text: &str) -> Result<Integer, String> {
    let (prefix, content) = split(text, '\'').ok_or_else(|| format!("`{text}` is not closed"))?;
    let units = units(content)?;
    let (bits, signed) = match prefix {
        "L" => (32, true),
        "u" => (16, false),
        "U" => (32, false),
        _ => (32, true),
    };
    if !prefix.is_empty() {
        let last = units.last().map_or(0, |unit| u64::from(unit.value()));
        let mask = u64::MAX >> (64 - bits);
        return Ok(Integer { value: last & mask, bits, signed });
    }
    let bytes = bytes(&units);
    // A single `char` is sign-extended; several are one number, as in compilers.
    let value = match bytes.as_slice() {
        [byte] => i32::from(*byte as i8),
        bytes => bytes.iter().fold(0_i32, |value, byte| (value << 8) | i32::from(*byte)),
    };
    Ok(Integer { value: u64::from(value as u32), bits, signed })
}

/// Reads a string literal, with its quotes and prefix. Each byte that is written as an escape
/// sequence is a character below 256. The error is a message.
pub fn string(text: &str) -> Result<String, String> {
    let (_, content) = split(text, '"').ok_or_else(|| format!("`{text}` is not closed"))?;
    let units = units(content)?;
    Ok(units.iter().map(|unit| char::from_u32(unit.value()).unwrap_or('\u{fffd}')).collect())
}

/// Splits a literal into its prefix and the text between its quotes.
fn split(text: &str, quote: char) -> Option<(&str, &str)> {
    let (prefix, rest) = text.split_once(quote)?;
    Some((prefix, rest.strip_suffix(quote)?))
}

/// A character of a literal, or a byte that is written as a number.
#[derive(Clone, Copy)]
enum Unit {
    Char(char),
    Number(u32),
}

impl Unit {
    fn value(self) -> u32 {
        match self {
            Unit::Char(c) => c.into(),
            Unit::Number(value) => value,
        }
    }
}

/// Returns the bytes of a `char` constant.
fn bytes(units: &[Unit]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for unit in units {
        match unit {
            Unit::Char(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Unit::Number(value) => bytes.push(*value as u8),
        }
    }
    bytes
}

/// Replaces escape sequences.
fn units(content: &str) -> Result<Vec<Unit>, String> {
    let mut units = Vec::new();
    let mut rest = content.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            units.push(Unit::Char(c));
            continue;
        }
        let Some(escape) = rest.next() else { return Err("`\\` at the end".into()) };
        let simple = match escape {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            'a' => Some('\x07'),
            'b' => Some('\x08'),
            'f' => Some('\x0c'),
            'v' => Some('\x0b'),
            'e' => Some('\x1b'),
            '\\' | '\'' | '"' | '?' => Some(escape),
            _ => None,
        };
        if let Some(c) = simple {
            units.push(Unit::Char(c));
            continue;
        }
        let (radix, most, first) = match escape {
            'x' => (16, usize::MAX, None),
            'u' => (16, 4, None),
            'U' => (16, 8, None),
            '0'..='7' => (8, 2, Some(escape)),
            _ => return Err(format!("there is no escape sequence `\\{escape}`")),
        };
        let text = rest.as_str();
        let length = text.chars().take(most).take_while(|c| c.is_digit(radix)).count();
        let digits: String = first.into_iter().chain(text.chars().take(length)).collect();
        rest = text[length..].chars();
        match u32::from_str_radix(&digits, radix) {
            Ok(value) if matches!(escape, 'u' | 'U') => {
                units.push(Unit::Char(char::from_u32(value).unwrap_or('\u{fffd}')));
            }
            Ok(value) => units.push(Unit::Number(value)),
            Err(_) => return Err(format!("the escape sequence `\\{escape}{digits}` is malformed")),
        }
    }
    Ok(units)
}
