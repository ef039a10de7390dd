//! Parses tokens into columns.
//!
//! X86 has Intel operand order, destination first, and registers in upper case. X86_64 has AT&T
//! operand order, source first, and `%` before registers. Three X86_64 instructions are exceptions
//! in herd: exchanges accept both orders, `cmpxchg` has the memory operand first, and `cmovc` has
//! the destination register first.

use fencepost_ir::Span;

use super::super::ast::Arch;
use super::super::condition;
use super::super::error::{Errors, LitmusError};
use super::super::tokens::{Tok, Tokens};
use super::ast::{Cell, Column, Instruction, Memory, Mnemonic, Operand};
use super::flags::Condition;
use super::registers::{self, RegisterPart};
use crate::fp::limits;

/// Parses the table up to the start of the constraint. Returns `None` if the row of thread names is
/// invalid.
pub(in super::super) fn parse_columns(
    tokens: &mut Tokens<'_>,
    arch: Arch,
    errors: &mut Errors,
) -> Option<Vec<Column>> {
    while tokens.eat(Tok::Semi) {}
    let found = thread_names(tokens);
    let mut columns = errors.check(found);
    if columns.is_none() {
        tokens.skip_to(NO_BRACKETS, |tokens| ends_cell(tokens) && tokens.kind() != Tok::Bar);
        tokens.eat(Tok::Semi);
    }
    let mut too_wide = false;
    while !at_constraint_or_end(tokens) {
        let mut incomplete = false;
        for at in 0.. {
            let (cell, error) = Parser { tokens, arch }.cell();
            incomplete = error.is_some();
            let column = columns.as_mut().map(|columns| columns.get_mut(at));
            let empty = cell.labels.is_empty() && cell.instruction.is_none() && !incomplete;
            match column {
                Some(Some(column)) => {
                    column.incomplete |= incomplete;
                    column.cells.extend(Some(cell).filter(|_| !empty));
                }
                // Reported once: all such rows probably have the same cause.
                Some(None) if !empty && !too_wide => {
                    let message = "this row has more cells than there are threads: \
                                   add a thread name to the first row or remove the cell";
                    errors.push(LitmusError::syntax(cell.span, message));
                    too_wide = true;
                }
                Some(None) | None => {}
            }
            if let Some(error) = error {
                errors.push(error);
                tokens.skip_to(NO_BRACKETS, ends_cell);
            }
            if !tokens.eat(Tok::Bar) {
                break;
            }
        }
        // After an invalid cell, the semicolon of the row may be missing.
        if !incomplete || tokens.kind() == Tok::Semi {
            tokens.take();
        }
    }
    columns
}

/// No bracket pair: a bar ends a cell even if a bracket is open.
const NO_BRACKETS: (Tok, Tok) = (Tok::End, Tok::End);

/// Returns whether an invalid cell ends before the next token.
fn ends_cell(tokens: &Tokens<'_>) -> bool {
    matches!(tokens.kind(), Tok::Bar | Tok::Semi) || condition::starts_constraint(tokens)
}

/// Parses the row of thread names, `P0 | P1 ;`, into empty columns.
fn thread_names(tokens: &mut Tokens<'_>) -> Result<Vec<Column>, LitmusError> {
    let mut columns = Vec::new();
    loop {
        let token = tokens.peek();
        let name = tokens.name("a thread, as in `P0 | P1 ;`")?;
        let number = name.strip_prefix('P').and_then(|n| n.parse::<u32>().ok());
        let thread = number.ok_or_else(|| {
            LitmusError::syntax(token.span, "invalid thread name: threads are named P0, P1, ...")
        })?;
        if thread as usize != columns.len() {
            let message = format!("expected P{}: threads are numbered in order", columns.len());
            return Err(LitmusError::syntax(token.span, message));
        }
        if columns.len() as u64 >= limits::THREADS {
            return Err(LitmusError::too_large(token.span, "the test has too many threads"));
        }
        // An annotation may follow, as in `P0:I`. It is ignored.
        if tokens.eat(Tok::Colon) {
            tokens.take();
        }
        columns.push(Column { thread, cells: Vec::new(), incomplete: false });
        if !tokens.eat(Tok::Bar) {
            tokens.expect(Tok::Semi, "`|` or `;`")?;
            return Ok(columns);
        }
    }
}

fn at_constraint_or_end(tokens: &Tokens<'_>) -> bool {
    matches!(tokens.kind(), Tok::End | Tok::Shl | Tok::Tilde | Tok::LParen)
        || condition::starts_constraint(tokens)
}

struct Parser<'t, 's> {
    tokens: &'t mut Tokens<'s>,
    arch: Arch,
}

impl Parser<'_, '_> {
    /// Parses a cell. Returns the error of an invalid instruction with the cell, which keeps its labels.
    fn cell(&mut self) -> (Cell, Option<LitmusError>) {
        let first = self.tokens.peek().span;
        let mut labels = Vec::new();
        while self.tokens.kind() == Tok::Name && self.tokens.kind_at(1) == Tok::Colon {
            let token = self.tokens.take();
            labels.push((self.tokens.text(token).to_string(), token.span));
            self.tokens.take();
        }
        let ends = matches!(self.tokens.kind(), Tok::Bar | Tok::Semi | Tok::End);
        let (instruction, error) = match ends {
            true => (None, None),
            false => match self.instruction() {
                Ok(instruction) => (Some(instruction), None),
                Err(error) => (None, Some(error)),
            },
        };
        let empty = labels.is_empty() && instruction.is_none();
        let span = if empty { first } else { first.to(self.tokens.last_span()) };
        (Cell { labels, instruction, span }, error)
    }

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
        let ends = |tokens: &Tokens<'_>| matches!(tokens.kind(), Tok::Bar | Tok::Semi | Tok::End);
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
        (Arch::X86_64 | Arch::C, Some(_)) => error.hint(format!("write the register as `%{name}`")),
        (Arch::X86, None) => error.hint(format!("write a memory operand as `[{name}]`")),
        (Arch::X86_64 | Arch::C, None) => {
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
