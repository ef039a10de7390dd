//! Parses instructions. [`table::parse`] parses the table around them.
//!
//! X86 has Intel operand order, destination first, and registers in upper case. X86_64 has AT&T
//! operand order, source first, and `%` before registers. Three X86_64 instructions are exceptions
//! in herd: exchanges accept both orders, `cmpxchg` has the memory operand first, and `cmovc` has
//! the destination register first.

use fencepost_ir::Span;

use super::super::ast::Arch;
use super::super::error::{Errors, LitmusError};
use super::super::flags::Condition;
use super::super::table;
use super::super::tokens::{Tok, Tokens};
use super::ast::{Column, Instruction, Memory, Mnemonic, Operand};
use super::registers::{self, RegisterPart};

/// Parses the table up to the start of the constraint. Returns `None` if the row of thread names is
/// invalid.
pub(in super::super) fn parse_columns(
    tokens: &mut Tokens<'_>,
    arch: Arch,
    errors: &mut Errors,
) -> Option<Vec<Column>> {
    table::parse::parse_columns(tokens, errors, &|tokens| Parser { tokens, arch }.instruction())
}

struct Parser<'t, 's> {
    tokens: &'t mut Tokens<'s>,
    arch: Arch,
}

impl Parser<'_, '_> {
    fn instruction(&mut self) -> Result<Instruction, LitmusError> {
        let first = self.tokens.peek().span;
        let mut lock = false;
        while self.tokens.word().eq_ignore_ascii_case("lock") {
            self.tokens.take();
            // `LOCK; INC [x]` is one instruction.
            self.tokens.eat(Tok::Semi);
            lock = true;
        }
        let token = self.tokens.peek();
        let word = self.tokens.name("an instruction")?;
        let Some((mnemonic, width)) = parse_mnemonic(word) else {
            let message = format!("the instruction `{word}` is not supported");
            return Err(LitmusError::unsupported(token.span, message).label("unknown instruction"));
        };
        let mut operands = Vec::new();
        let ends = table::parse::ends_instruction;
        while !ends(self.tokens) {
            operands.push(self.operand(mnemonic)?);
            if !self.tokens.eat(Tok::Comma) {
                break;
            }
        }
        if !ends(self.tokens) {
            return Err(self.tokens.unexpected("`,`, `|` or `;`"));
        }
        let destination_last = self.arch == Arch::X86_64
            && !matches!(mnemonic, Mnemonic::Cmpxchg | Mnemonic::Move(_) | Mnemonic::Nop);
        if destination_last {
            operands.reverse();
        }
        // The memory operand of `cmpxchg` comes first in herd and last in assemblers. Both are
        // accepted.
        let reversed = mnemonic == Mnemonic::Cmpxchg
            && matches!(operands[..], [Operand::Register(_), Operand::Memory(_)]);
        if reversed {
            operands.reverse();
        }
        let span = first.to(self.tokens.last_span());
        Ok(Instruction { lock, mnemonic, width, operands, span })
    }

    fn operand(&mut self, mnemonic: Mnemonic) -> Result<Operand, LitmusError> {
        match self.tokens.kind() {
            Tok::Dollar => {
                self.tokens.take();
                if self.tokens.kind() == Tok::Name {
                    return Ok(Operand::Address(self.tokens.name("a location")?.to_string()));
                }
                Ok(Operand::Number(self.tokens.number("a number")?))
            }
            Tok::Number | Tok::Minus => {
                let number = self.tokens.number("a number")?;
                if self.tokens.kind() == Tok::LParen {
                    return self.parenthesis(number);
                }
                Ok(Operand::Number(number))
            }
            Tok::Percent => {
                let register = self.register()?;
                // A segment before an address: `%cs:0(...)`. Segments are ignored.
                if self.tokens.eat(Tok::Colon) {
                    return self.operand(mnemonic);
                }
                Ok(Operand::Register(register))
            }
            Tok::LBracket => self.brackets(),
            Tok::LParen => self.parenthesis(0),
            Tok::Name => {
                let jumps = matches!(mnemonic, Mnemonic::Jmp | Mnemonic::Jump(_));
                let token = self.tokens.peek();
                let name = self.tokens.name("an operand")?;
                if jumps {
                    return Ok(Operand::Label(name.to_string()));
                }
                if let Some(part) =
                    registers::by_name(self.arch, name).filter(|_| self.arch == Arch::X86)
                {
                    return Ok(Operand::Register(part));
                }
                if self.tokens.kind() == Tok::LParen && self.arch == Arch::X86_64 {
                    return match self.parenthesis(0)? {
                        Operand::Memory(memory) => {
                            let symbol = Some(name.to_string());
                            // `x(%rip)` is assembler syntax for `(x)`.
                            let base = memory
                                .base
                                .filter(|b| registers::full_name(self.arch, b.register) != "rip");
                            Ok(Operand::Memory(Memory { symbol, base, ..memory }))
                        }
                        other => Ok(other),
                    };
                }
                Err(invalid_operand(self.arch, name, token.span))
            }
            _ => Err(self.tokens.unexpected("an operand")),
        }
    }

    fn register(&mut self) -> Result<RegisterPart, LitmusError> {
        self.tokens.expect(Tok::Percent, "a register")?;
        let token = self.tokens.peek();
        let name = self.tokens.name("a register")?;
        registers::by_name(self.arch, name)
            .ok_or_else(|| LitmusError::name(token.span, format!("there is no register `%{name}`")))
    }

    /// Parses `[x]`, `[EAX]`, `[x+4]` or `[EAX+4]`.
    fn brackets(&mut self) -> Result<Operand, LitmusError> {
        self.tokens.take();
        let mut memory = Memory::default();
        loop {
            self.term(&mut memory)?;
            match self.tokens.kind() {
                Tok::Plus => {
                    self.tokens.take();
                }
                Tok::Minus => {}
                _ => break,
            }
        }
        self.tokens.expect(Tok::RBracket, "`]`")?;
        Ok(Operand::Memory(memory))
    }

    fn term(&mut self, memory: &mut Memory) -> Result<(), LitmusError> {
        let token = self.tokens.peek();
        let part = match token.kind {
            Tok::Percent => Some(self.register()?),
            Tok::Name => {
                let name = self.tokens.name("a location")?;
                let part = registers::by_name(self.arch, name).filter(|_| self.arch == Arch::X86);
                if part.is_none()
                    && name.starts_with('R')
                    && registers::by_name_any_case(name).is_some()
                {
                    let message = format!("`{name}` is not a register of X86 tests");
                    return Err(LitmusError::name(token.span, message)
                        .hint("use a 32-bit register, or write the test for X86_64"));
                }
                if part.is_none() && memory.symbol.replace(name.to_string()).is_some() {
                    return Err(LitmusError::unsupported(
                        token.span,
                        "two locations in one address are not supported",
                    ));
                }
                part
            }
            _ => {
                memory.offset += self.tokens.number("a location, a register or a number")?;
                None
            }
        };
        match (part, memory.base, memory.index) {
            (None, _, _) => {}
            (Some(part), None, _) => memory.base = Some(part),
            (Some(part), Some(_), None) => memory.index = Some((part, 1)),
            (Some(_), Some(_), Some(_)) => {
                return Err(LitmusError::syntax(
                    token.span,
                    "an address has at most two registers",
                ));
            }
        }
        Ok(())
    }

    /// Parses `(x)`, `(%rax)` or `(%rax,%rbx,4)`, after the offset.
    fn parenthesis(&mut self, offset: i128) -> Result<Operand, LitmusError> {
        self.tokens.take();
        let mut memory = Memory { offset, ..Memory::default() };
        if self.tokens.kind() != Tok::Comma {
            self.term(&mut memory)?;
        }
        if self.tokens.eat(Tok::Comma) {
            let part = self.register()?;
            let mut scale = 1;
            if self.tokens.eat(Tok::Comma) {
                let token = self.tokens.peek();
                scale = self.tokens.number("1, 2, 4 or 8")?;
                if ![0, 1, 2, 4, 8].contains(&scale) {
                    return Err(LitmusError::syntax(
                        token.span,
                        "invalid scale: the scale of an index is 1, 2, 4 or 8",
                    ));
                }
            }
            memory.index = Some((part, scale));
        }
        self.tokens.expect(Tok::RParen, "`)`")?;
        Ok(Operand::Memory(memory))
    }
}

/// Creates the error for a name that is not an operand.
fn invalid_operand(arch: Arch, name: &str, span: Span) -> LitmusError {
    let message = format!("`{name}` is neither a register nor an operand in memory");
    let error = LitmusError::syntax(span, message);
    match (arch, registers::by_name_any_case(name)) {
        (Arch::X86, Some(_)) => error.hint("write registers of X86 tests in upper case"),
        (Arch::X86_64 | Arch::AArch64 | Arch::C, Some(_)) => {
            error.hint(format!("write the register as `%{name}`"))
        }
        (Arch::X86, None) => error.hint(format!("write a memory operand as `[{name}]`")),
        (Arch::X86_64 | Arch::AArch64 | Arch::C, None) => {
            error.hint(format!("write a memory operand as `({name})`"))
        }
    }
}

/// Parses a mnemonic and its width suffix.
fn parse_mnemonic(word: &str) -> Option<(Mnemonic, Option<u8>)> {
    let word = word.to_ascii_lowercase();
    if let Some(found) = unsuffixed_mnemonic(&word) {
        return Some((found, None));
    }
    let width = match word.chars().last()? {
        'b' => 8,
        'w' => 16,
        'l' => 32,
        'q' => 64,
        _ => return None,
    };
    Some((unsuffixed_mnemonic(&word[..word.len() - 1])?, Some(width)))
}

fn unsuffixed_mnemonic(word: &str) -> Option<Mnemonic> {
    Some(match word {
        "mov" => Mnemonic::Mov,
        "movnti" => Mnemonic::Movnti,
        "lea" => Mnemonic::Lea,
        "xchg" => Mnemonic::Xchg,
        "uxch" => Mnemonic::Uxch,
        "cmpxchg" => Mnemonic::Cmpxchg,
        "xadd" => Mnemonic::Xadd,
        "inc" => Mnemonic::Inc,
        "dec" => Mnemonic::Dec,
        "add" => Mnemonic::Add,
        "sub" => Mnemonic::Sub,
        "and" => Mnemonic::And,
        "or" => Mnemonic::Or,
        "xor" => Mnemonic::Xor,
        "not" => Mnemonic::Not,
        "neg" => Mnemonic::Neg,
        "shl" | "sal" => Mnemonic::Shl,
        "cmp" => Mnemonic::Cmp,
        "test" => Mnemonic::Test,
        "jmp" => Mnemonic::Jmp,
        "mfence" => Mnemonic::Mfence,
        "sfence" => Mnemonic::Sfence,
        "lfence" => Mnemonic::Lfence,
        "ret" => Mnemonic::Ret,
        "nop" => Mnemonic::Nop,
        "pause" | "endbr64" => Mnemonic::Hint,
        _ => {
            let after = |prefix| word.strip_prefix(prefix).and_then(Condition::by_name);
            if let Some(condition) = after("j") {
                Mnemonic::Jump(condition)
            } else if let Some(condition) = after("set") {
                Mnemonic::Set(condition)
            } else {
                Mnemonic::Move(after("cmov")?)
            }
        }
    })
}
