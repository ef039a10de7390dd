//! The expressions of `#if` and `#elif`: integers of 64 bits, signed or unsigned.

use fencepost_ir::Span;

use super::Preprocessor;
use crate::c::tokens::{Tok, Token};
use crate::c::{codes, literals};

/// How deeply expressions may be nested.
const MAX_DEPTH: u32 = 200;

/// A value: the bits, and whether the type is `uintmax_t`.
#[derive(Clone, Copy, Debug)]
struct Value {
    bits: u64,
    unsigned: bool,
}

impl Value {
    fn signed(value: i64) -> Value {
        Value { bits: value as u64, unsigned: false }
    }

    fn truth(value: bool) -> Value {
        Value::signed(i64::from(value))
    }

    fn is_true(self) -> bool {
        self.bits != 0
    }
}

impl Preprocessor<'_> {
    /// Evaluates the expression of an `#if`. Reports errors; the value is then false.
    pub(super) fn condition(&mut self, line: &[Token], span: Span) -> bool {
        let line = self.replace_defined(line);
        let tokens = self.expand_list(line);
        if self.abandoned {
            return false;
        }
        let mut evaluator = Evaluator { preprocessor: self, tokens: &tokens, at: 0, depth: 0 };
        let result = match evaluator.conditional(true) {
            Ok(_) if evaluator.at < tokens.len() => {
                let text = evaluator.preprocessor.text(tokens[evaluator.at]);
                Err(format!("unexpected `{text}` in the condition"))
            }
            result => result,
        };
        match result {
            Ok(value) => value.is_true(),
            Err(message) => {
                self.error(codes::CONDITION, span, message).hint(
                    "a condition consists of integers, operators, macros and `defined(NAME)`",
                );
                false
            }
        }
    }

    /// Replaces `defined NAME`, `defined(NAME)` and `__has_include(...)` by 0 or 1.
    fn replace_defined(&mut self, line: &[Token]) -> Vec<Token> {
        let mut result = Vec::new();
        let mut at = 0;
        while let Some(token) = line.get(at) {
            let text = self.text(*token);
            let open = line.get(at + 1).is_some_and(|token| token.kind == Tok::LParen);
            let (value, length) = match &*text {
                "defined" => {
                    let name_at = at + 1 + usize::from(open);
                    let name = line.get(name_at).filter(|name| name.kind.is_word());
                    let value = name.map(|name| self.is_defined(*name));
                    (value, if open { 4 } else { 2 })
                }
                "__has_include" if open => {
                    let rest = line.get(at + 2..).unwrap_or_default();
                    let close = rest.iter().position(|token| token.kind == Tok::RParen);
                    let close = close.unwrap_or(rest.len());
                    let name = self.header_name(&rest[..close]);
                    let value = name.map(|(name, angled)| self.has_header(&name, angled));
                    (value, close + 3)
                }
                _ => (None, 1),
            };
            match value {
                Some(value) => {
                    let text = self.spellings.intern(if value { "1" } else { "0" });
                    result.push(Token { kind: Tok::Number, text, ..*token });
                    at += length;
                }
                None => {
                    result.push(*token);
                    at += 1;
                }
            }
        }
        result
    }
}

struct Evaluator<'e, 'p> {
    preprocessor: &'e Preprocessor<'p>,
    tokens: &'e [Token],
    at: usize,
    depth: u32,
}

type Evaluated = Result<Value, String>;

/// Returns the precedence of a binary operator.
fn precedence(kind: Tok) -> Option<u8> {
    Some(match kind {
        Tok::OrOr => 1,
        Tok::AndAnd => 2,
        Tok::Or => 3,
        Tok::Caret => 4,
        Tok::And => 5,
        Tok::EqEq | Tok::NotEq => 6,
        Tok::Lt | Tok::Le | Tok::Gt | Tok::Ge => 7,
        Tok::Shl | Tok::Shr => 8,
        Tok::Plus | Tok::Minus => 9,
        Tok::Star | Tok::Slash | Tok::Percent => 10,
        _ => return None,
    })
}

impl Evaluator<'_, '_> {
    fn peek(&self) -> Option<Tok> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    fn eat(&mut self, kind: Tok) -> bool {
        let found = self.peek() == Some(kind);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, kind: Tok, text: &str) -> Result<(), String> {
        if self.eat(kind) { Ok(()) } else { Err(format!("expected `{text}` in the condition")) }
    }

    /// Evaluates an expression. `live` is false for an operand whose value does not matter: it may
    /// divide by zero.
    fn conditional(&mut self, live: bool) -> Evaluated {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("the condition is nested too deeply".into());
        }
        let condition = self.binary(0, live)?;
        let value = if self.eat(Tok::Question) {
            let then = self.conditional(live && condition.is_true())?;
            self.expect(Tok::Colon, ":")?;
            let otherwise = self.conditional(live && !condition.is_true())?;
            let chosen = if condition.is_true() { then } else { otherwise };
            Value { unsigned: then.unsigned || otherwise.unsigned, ..chosen }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, above: u8, live: bool) -> Evaluated {
        let mut left = self.unary(live)?;
        while let Some(op) = self.peek()
            && let Some(level) = precedence(op)
            && level > above
        {
            self.at += 1;
            let live = live
                && match op {
                    Tok::AndAnd => left.is_true(),
                    Tok::OrOr => !left.is_true(),
                    _ => true,
                };
            let right = self.binary(level, live)?;
            left = apply(op, left, right, live)?;
        }
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Evaluated {
        let Some(token) = self.tokens.get(self.at).copied() else {
            return Err("the condition ends too early".into());
        };
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("the condition is nested too deeply".into());
        }
        let value = match token.kind {
            Tok::Plus => self.unary(live)?,
            Tok::Minus => {
                let value = self.unary(live)?;
                Value { bits: value.bits.wrapping_neg(), ..value }
            }
            Tok::Tilde => {
                let value = self.unary(live)?;
                Value { bits: !value.bits, ..value }
            }
            Tok::Not => Value::truth(!self.unary(live)?.is_true()),
            Tok::LParen => {
                let value = self.conditional(live)?;
                self.expect(Tok::RParen, ")")?;
                value
            }
            Tok::Number => {
                let text = self.preprocessor.text(token);
                match literals::number(&text) {
                    Ok(literals::Number::Integer(value)) => {
                        let unsigned = !value.signed || value.value > i64::MAX as u64;
                        let unsigned = unsigned && (value.bits == 64 || text.contains(['u', 'U']));
                        Value { bits: value.value, unsigned }
                    }
                    Ok(literals::Number::Float) => {
                        return Err(format!("`{text}` is not an integer"));
                    }
                    Err(message) => return Err(message),
                }
            }
            Tok::Char => {
                let value = literals::character(&self.preprocessor.text(token))?;
                Value::signed(literals::sign_extend(value))
            }
            kind if kind.is_word() && &*self.preprocessor.text(token) == "defined" => {
                self.expanded_defined()?
            }
            kind if kind.is_word() => {
                // A function-like macro that is not defined.
                if self.peek() == Some(Tok::LParen) {
                    let text = self.preprocessor.text(token);
                    return Err(format!("there is no macro `{text}`"));
                }
                Value::signed(0)
            }
            _ => {
                let text = self.preprocessor.text(token);
                return Err(format!("unexpected `{text}` in the condition"));
            }
        };
        self.depth -= 1;
        Ok(value)
    }
}

impl Evaluator<'_, '_> {
    /// Evaluates `defined(NAME)` that comes from a macro, after the expansion of `NAME`. C leaves
    /// this open; compilers accept it.
    fn expanded_defined(&mut self) -> Evaluated {
        let open = self.eat(Tok::LParen);
        let rest = self.tokens.get(self.at..).unwrap_or_default();
        let length = if open {
            rest.iter().position(|token| token.kind == Tok::RParen).unwrap_or(rest.len())
        } else {
            rest.len().min(1)
        };
        let undefined = match &rest[..length] {
            [name] => name.kind.is_word() && !self.preprocessor.is_defined(*name),
            _ => false,
        };
        self.at += length;
        if open {
            self.expect(Tok::RParen, ")")?;
        }
        Ok(Value::truth(!undefined))
    }
}

/// Applies a binary operator.
fn apply(op: Tok, left: Value, right: Value, live: bool) -> Evaluated {
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (x, y) = (a as i64, b as i64);
    let number = |bits| Ok(Value { bits, unsigned });
    let compare = |ordering: std::cmp::Ordering, wanted: &[std::cmp::Ordering]| {
        Ok(Value::truth(wanted.contains(&ordering)))
    };
    let ordering = if unsigned { a.cmp(&b) } else { x.cmp(&y) };
    use std::cmp::Ordering::{Equal, Greater, Less};
    match op {
        Tok::OrOr => Ok(Value::truth(left.is_true() || right.is_true())),
        Tok::AndAnd => Ok(Value::truth(left.is_true() && right.is_true())),
        Tok::Or => number(a | b),
        Tok::Caret => number(a ^ b),
        Tok::And => number(a & b),
        Tok::EqEq => compare(ordering, &[Equal]),
        Tok::NotEq => compare(ordering, &[Less, Greater]),
        Tok::Lt => compare(ordering, &[Less]),
        Tok::Le => compare(ordering, &[Less, Equal]),
        Tok::Gt => compare(ordering, &[Greater]),
        Tok::Ge => compare(ordering, &[Greater, Equal]),
        Tok::Shl => Ok(Value { bits: a.wrapping_shl(b as u32), unsigned: left.unsigned }),
        Tok::Shr if left.unsigned => Ok(Value { bits: a.wrapping_shr(b as u32), unsigned: true }),
        Tok::Shr => Ok(Value::signed(x.wrapping_shr(b as u32))),
        Tok::Plus => number(a.wrapping_add(b)),
        Tok::Minus => number(a.wrapping_sub(b)),
        Tok::Star => number(a.wrapping_mul(b)),
        Tok::Slash | Tok::Percent if b == 0 && live => Err("division by zero".into()),
        Tok::Slash | Tok::Percent if b == 0 => number(0),
        Tok::Slash if unsigned => number(a / b),
        Tok::Slash => number(x.wrapping_div(y) as u64),
        Tok::Percent if unsigned => number(a % b),
        Tok::Percent => number(x.wrapping_rem(y) as u64),
        _ => Err("unexpected operator in the condition".into()),
    }
}
