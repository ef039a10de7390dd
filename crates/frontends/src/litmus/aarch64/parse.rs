//! Parses instructions. [`table::parse`] parses the table around them.
//!
//! Mnemonics and registers are accepted in upper and lower case. `memory` parses the instructions
//! that access memory, `select` the conditional selections.

mod memory;
mod select;

use fencepost_ir::{BinOp, FenceKinds, Span};

use super::super::error::{Errors, LitmusError};
use super::super::flags::{Condition, Flag};
use super::super::table;
use super::super::tokens::{Tok, Tokens};
use super::ast::{Column, ExtendedRegister, Instruction, JumpCondition, Operation, Source};
use super::registers::Register;

/// Parses the table up to the start of the constraint. Returns `None` if the row of thread names is
/// invalid.
pub(in super::super) fn parse_columns(
    tokens: &mut Tokens<'_>,
    errors: &mut Errors,
) -> Option<Vec<Column>> {
    table::parse::parse_columns(tokens, errors, &|tokens| Parser { tokens }.instruction())
}

struct Parser<'t, 's> {
    tokens: &'t mut Tokens<'s>,
}

/// An operation on registers: the operator, whether it inverts its right operand, and whether it
/// sets the flags.
type Arithmetic = (BinOp, bool, bool);

/// Returns the operation on registers of this mnemonic, with three operands.
fn arithmetic(mnemonic: &str) -> Option<Arithmetic> {
    Some(match mnemonic {
        "ADD" => (BinOp::Add, false, false),
        "ADDS" => (BinOp::Add, false, true),
        "SUB" => (BinOp::Sub, false, false),
        "SUBS" => (BinOp::Sub, false, true),
        "AND" => (BinOp::BitAnd, false, false),
        "ANDS" => (BinOp::BitAnd, false, true),
        "BIC" => (BinOp::BitAnd, true, false),
        "BICS" => (BinOp::BitAnd, true, true),
        "ORR" => (BinOp::BitOr, false, false),
        "ORN" => (BinOp::BitOr, true, false),
        "EOR" => (BinOp::BitXor, false, false),
        "EON" => (BinOp::BitXor, true, false),
        _ => return None,
    })
}

/// Returns the condition on the flags of this name.
fn condition(name: &str) -> Option<Condition> {
    use Flag::{Below, Less, Negative, Zero};
    let (flags, any_set): (&'static [Flag], bool) = match name {
        "EQ" => (&[Zero], true),
        "NE" => (&[Zero], false),
        "LT" => (&[Less], true),
        "GE" => (&[Less], false),
        "LE" => (&[Less, Zero], true),
        "GT" => (&[Less, Zero], false),
        "MI" => (&[Negative], true),
        "PL" => (&[Negative], false),
        "LO" | "CC" => (&[Below], true),
        "HS" | "CS" => (&[Below], false),
        "LS" => (&[Below, Zero], true),
        "HI" => (&[Below, Zero], false),
        _ => return None,
    };
    Some(Condition { flags, any_set })
}

/// Returns the kinds of a `DMB` or `DSB` with this option.
fn barrier(option: &str) -> Option<FenceKinds> {
    Some(match option {
        "SY" | "ISH" | "OSH" => FenceKinds::FULL,
        "LD" | "ISHLD" | "OSHLD" => FenceKinds::ACQUIRE,
        "ST" | "ISHST" | "OSHST" => FenceKinds::STORE_STORE,
        _ => return None,
    })
}

fn unsupported(word: &str, span: Span) -> LitmusError {
    let message = format!("the instruction `{word}` is not supported");
    LitmusError::unsupported(span, message).label("unknown instruction")
}

impl Parser<'_, '_> {
    fn instruction(mut self) -> Result<Instruction, LitmusError> {
        let token = self.tokens.peek();
        let word = self.tokens.name("an instruction")?;
        let mnemonic = word.to_ascii_uppercase();
        let operation = match self.operation(&mnemonic, token.span)? {
            Some(operation) => operation,
            None => return Err(unsupported(word, token.span)),
        };
        if !table::parse::ends_instruction(self.tokens) {
            return Err(self.tokens.unexpected("`|` or `;`"));
        }
        Ok(Instruction { operation, span: token.span.to(self.tokens.last_span()) })
    }

    /// Parses the operands of an instruction. Returns `None` if the mnemonic is not known.
    fn operation(&mut self, mnemonic: &str, span: Span) -> Result<Option<Operation>, LitmusError> {
        if let Some(operation) = self.access(mnemonic)? {
            return Ok(Some(operation));
        }
        if let Some(found) = arithmetic(mnemonic) {
            return self.arithmetic(found).map(Some);
        }
        if let Some(operation) = self.selection(mnemonic)? {
            return Ok(Some(operation));
        }
        let condition_name = mnemonic.strip_prefix("B.").or_else(|| mnemonic.strip_prefix('B'));
        if let Some(condition) = condition_name.and_then(condition) {
            return self.jump(JumpCondition::Flags(condition)).map(Some);
        }
        Ok(Some(match mnemonic {
            "NOP" => Operation::Nop,
            "RET" => Operation::Return,
            "DMB" | "DSB" => Operation::Fence(self.barrier()?),
            "ISB" => {
                self.eat_option("SY");
                Operation::Fence(FenceKinds::INSTRUCTION)
            }
            "MOV" | "MVN" => {
                let to = self.register()?;
                self.comma()?;
                let from = self.source(to)?;
                Operation::Move { to, from, inverts: mnemonic == "MVN" }
            }
            "CMP" => self.compare((BinOp::Sub, false, true))?,
            "CMN" => self.compare((BinOp::Add, false, true))?,
            "TST" => self.compare((BinOp::BitAnd, false, true))?,
            "NEG" => {
                let to = self.register()?;
                self.comma()?;
                let left = Register { number: None, ..to };
                let right = self.source(to)?;
                let (op, inverts, sets_flags) = (BinOp::Sub, false, false);
                Operation::Arithmetic { op, inverts, sets_flags, to, left, right }
            }
            "B" => self.jump(JumpCondition::Always)?,
            "CBZ" | "CBNZ" => {
                let register = self.register()?;
                self.comma()?;
                self.jump(JumpCondition::Zero { register, is_zero: mnemonic == "CBZ" })?
            }
            "TBZ" | "TBNZ" => {
                let register = self.register()?;
                self.comma()?;
                let bit = self.small_number(register.bits(), "the number of a bit")?;
                self.comma()?;
                self.jump(JumpCondition::Bit { register, bit, is_set: mnemonic == "TBNZ" })?
            }
            "LSL" => {
                let to = self.register()?;
                self.comma()?;
                let left = self.register_like(to)?;
                self.comma()?;
                if self.tokens.kind() == Tok::Name {
                    return Err(LitmusError::unsupported(
                        span,
                        "a shift by a register is not supported: shift by a number",
                    ));
                }
                let right = Source::Number(self.small_number(to.bits(), "a shift")?.into());
                let (op, inverts, sets_flags) = (BinOp::Shl, false, false);
                Operation::Arithmetic { op, inverts, sets_flags, to, left, right }
            }
            _ => return Ok(None),
        }))
    }

    fn arithmetic(
        &mut self,
        (op, inverts, sets_flags): Arithmetic,
    ) -> Result<Operation, LitmusError> {
        let to = self.register()?;
        self.comma()?;
        let left = self.register_like(to)?;
        self.comma()?;
        let right = self.source(to)?;
        Ok(Operation::Arithmetic { op, inverts, sets_flags, to, left, right })
    }

    fn compare(&mut self, (op, inverts, sets_flags): Arithmetic) -> Result<Operation, LitmusError> {
        let left = self.register()?;
        self.comma()?;
        let right = self.source(left)?;
        let to = Register { number: None, ..left };
        Ok(Operation::Arithmetic { op, inverts, sets_flags, to, left, right })
    }

    fn jump(&mut self, when: JumpCondition) -> Result<Operation, LitmusError> {
        Ok(Operation::Jump { when, to: self.tokens.name("a label")?.to_string() })
    }

    fn barrier(&mut self) -> Result<FenceKinds, LitmusError> {
        let token = self.tokens.peek();
        let option = self.tokens.name("`SY`, `LD` or `ST`")?;
        barrier(&option.to_ascii_uppercase()).ok_or_else(|| {
            let message = format!("the option `{option}` of a barrier is not supported");
            LitmusError::unsupported(token.span, message).hint("use `SY`, `LD` or `ST`")
        })
    }

    fn comma(&mut self) -> Result<(), LitmusError> {
        self.tokens.expect(Tok::Comma, "`,`").map(|_| ())
    }

    /// Takes the next token if it is this word, in any letter case.
    fn eat_option(&mut self, word: &str) -> bool {
        let found =
            self.tokens.kind() == Tok::Name && self.tokens.word().eq_ignore_ascii_case(word);
        if found {
            self.tokens.take();
        }
        found
    }

    fn register(&mut self) -> Result<Register, LitmusError> {
        let token = self.tokens.peek();
        let name = self.tokens.name("a register")?;
        Register::by_name(name).ok_or_else(|| {
            let message = format!("there is no register `{name}`");
            LitmusError::name(token.span, message).hint("registers are X0 to X30 and W0 to W30")
        })
    }

    /// Parses a register with as many bits as another.
    fn register_like(&mut self, other: Register) -> Result<Register, LitmusError> {
        let span = self.tokens.peek().span;
        let register = self.register()?;
        same_width(register, other, span)?;
        Ok(register)
    }

    /// Parses a number, with or without `#`.
    fn number(&mut self, what: &str) -> Result<i128, LitmusError> {
        self.tokens.eat(Tok::Hash);
        self.tokens.number(what)
    }

    /// Parses a number from 0 to below `limit`.
    fn small_number(&mut self, limit: u8, what: &str) -> Result<u8, LitmusError> {
        let span = self.tokens.peek().span;
        let number = self.number(what)?;
        let small = u8::try_from(number).ok().filter(|number| *number < limit);
        small.ok_or_else(|| {
            let message = format!("{number} is too large: {what} is less than {limit} here");
            LitmusError::syntax(span, message)
        })
    }

    /// Parses the last operand of an operation on registers, which has as many bits as `like`.
    fn source(&mut self, like: Register) -> Result<Source, LitmusError> {
        if self.tokens.kind() == Tok::Hash || self.tokens.is_number() {
            let number = self.number("a number")?;
            let shift = if self.tokens.eat(Tok::Comma) { self.shift(like.bits())? } else { 0 };
            return Ok(Source::Number(number.checked_shl(shift.into()).unwrap_or(number)));
        }
        let span = self.tokens.peek().span;
        let register = self.register()?;
        let extended = self.extension(register, like.bits())?;
        if extended.is_none() {
            same_width(register, like, span)?;
        }
        Ok(Source::Register(extended.unwrap_or(plain(register))))
    }

    /// Parses `, SXTW`, `, UXTW #2` or `, LSL #2` after a register, if there is one.
    fn extension(
        &mut self,
        register: Register,
        bits: u8,
    ) -> Result<Option<ExtendedRegister>, LitmusError> {
        if self.tokens.kind() != Tok::Comma {
            return Ok(None);
        }
        self.comma()?;
        let span = self.tokens.peek().span;
        let is_signed = match &self.tokens.word().to_ascii_uppercase()[..] {
            "SXTW" => true,
            "UXTW" => false,
            "LSL" => {
                same_width(register, Register { number: None, is_wide: bits == 64 }, span)?;
                let shift = self.shift(bits)?;
                return Ok(Some(ExtendedRegister { shift, ..plain(register) }));
            }
            _ => return Err(self.tokens.unexpected("`SXTW`, `UXTW` or `LSL`")),
        };
        self.tokens.take();
        if register.is_wide {
            let message = "SXTW and UXTW extend a register of 32 bits: write W instead of X";
            return Err(LitmusError::syntax(span, message));
        }
        let is_shifted = self.tokens.kind() == Tok::Hash || self.tokens.is_number();
        let shift = if is_shifted { self.small_number(5, "a shift")? } else { 0 };
        Ok(Some(ExtendedRegister { register, is_signed, shift }))
    }

    fn shift(&mut self, bits: u8) -> Result<u8, LitmusError> {
        if !self.eat_option("LSL") {
            return Err(self.tokens.unexpected("`LSL`"));
        }
        self.small_number(bits, "a shift")
    }
}

/// Returns a register without extension and shift.
fn plain(register: Register) -> ExtendedRegister {
    ExtendedRegister { register, is_signed: false, shift: 0 }
}

fn same_width(register: Register, other: Register, span: Span) -> Result<(), LitmusError> {
    if register.is_wide == other.is_wide {
        return Ok(());
    }
    let message = "the operands have different widths: use operands of the same width";
    Err(LitmusError::syntax(span, message))
}
