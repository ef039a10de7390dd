//! From tokens to columns.
//!
//! X86 is written in Intel's order, destination first, with registers in upper case; X86_64 in the order of
//! the AT&T syntax, source first, with `%` before registers. Three instructions of X86_64 have both
//! operands the other way round: exchanges take them in any order, `cmpxchg` the memory first, and `cmovc` the
//! register.

use fencepost_ir::Span;

use super::super::ast::Arch;
use super::super::condition;
use super::super::tokens::{Tok, Tokens};
use super::super::wrong::{Errors, Wrong};
use super::ast::{Cell, Column, Instruction, Memory, Mnemonic, Operand};
use super::flags::Condition;
use super::registers::{self, Part};
use crate::fp::limits;

/// Reads the table up to where the constraint begins; none if it is not known which threads there are.
pub(in super::super) fn read(
    tokens: &mut Tokens<'_>,
    arch: Arch,
    errors: &mut Errors,
) -> Option<Vec<Column>> {
    while tokens.eat(Tok::Semi) {}
    let found = head(tokens);
    let mut columns = errors.check(found);
    if columns.is_none() {
        tokens.skip_to(NO_BRACKETS, |tokens| ends_cell(tokens) && tokens.kind() != Tok::Bar);
        tokens.eat(Tok::Semi);
    }
    let mut too_wide = false;
    while !begins_constraint(tokens) {
        let mut lost = false;
        for at in 0.. {
            let (cell, wrong) = Reader { tokens, arch }.cell();
            lost = wrong.is_some();
            let column = columns.as_mut().map(|columns| columns.get_mut(at));
            let empty = cell.labels.is_empty() && cell.instruction.is_none() && !lost;
            match column {
                Some(Some(column)) => {
                    column.lost |= lost;
                    column.cells.extend(Some(cell).filter(|_| !empty));
                }
                // Said once: all such rows have the same reason.
                Some(None) if !empty && !too_wide => {
                    let message = "this row has more cells than there are threads";
                    errors.push(Wrong::syntax(cell.span, message));
                    too_wide = true;
                }
                Some(None) | None => {}
            }
            if let Some(wrong) = wrong {
                errors.push(wrong);
                tokens.skip_to(NO_BRACKETS, ends_cell);
            }
            if !tokens.eat(Tok::Bar) {
                break;
            }
        }
        // Where a cell could not be read, the row may have no end.
        if !lost || tokens.kind() == Tok::Semi {
            tokens.take();
        }
    }
    columns
}

/// A bar ends a cell, whatever brackets are open.
const NO_BRACKETS: (Tok, Tok) = (Tok::End, Tok::End);

/// Whether a cell that could not be read ends here.
fn ends_cell(tokens: &Tokens<'_>) -> bool {
    matches!(tokens.kind(), Tok::Bar | Tok::Semi) || condition::begins(tokens)
}

/// `P0 | P1 ;`
fn head(tokens: &mut Tokens<'_>) -> Result<Vec<Column>, Wrong> {
    let mut columns = Vec::new();
    loop {
        let token = tokens.peek();
        let name = tokens.name("a thread, as in `P0 | P1 ;`")?;
        let number = name.strip_prefix('P').and_then(|n| n.parse::<u32>().ok());
        let thread =
            number.ok_or_else(|| Wrong::syntax(token.span, "threads are called P0, P1, ..."))?;
        if thread as usize != columns.len() {
            let message = format!("expected P{}: threads come in order", columns.len());
            return Err(Wrong::syntax(token.span, message));
        }
        if columns.len() as u64 >= limits::THREADS {
            return Err(Wrong::too_large(token.span, "these are too many threads"));
        }
        // A note on the thread may follow, as in `P0:I`.
        if tokens.eat(Tok::Colon) {
            tokens.take();
        }
        columns.push(Column { thread, cells: Vec::new(), lost: false });
        if !tokens.eat(Tok::Bar) {
            tokens.expect(Tok::Semi, "`|` or `;`")?;
            return Ok(columns);
        }
    }
}

fn begins_constraint(tokens: &Tokens<'_>) -> bool {
    matches!(tokens.kind(), Tok::End | Tok::Shl | Tok::Tilde | Tok::LParen)
        || condition::begins(tokens)
}

struct Reader<'t, 's> {
    tokens: &'t mut Tokens<'s>,
    arch: Arch,
}

impl Reader<'_, '_> {
    /// The cell, and what is wrong with its instruction; its labels are there all the same.
    fn cell(&mut self) -> (Cell, Option<Wrong>) {
        let first = self.tokens.peek().span;
        let mut labels = Vec::new();
        while self.tokens.kind() == Tok::Name && self.tokens.ahead(1) == Tok::Colon {
            let token = self.tokens.take();
            labels.push((self.tokens.text(token).to_string(), token.span));
            self.tokens.take();
        }
        let ends = matches!(self.tokens.kind(), Tok::Bar | Tok::Semi | Tok::End);
        let (instruction, wrong) = match ends {
            true => (None, None),
            false => match self.instruction() {
                Ok(instruction) => (Some(instruction), None),
                Err(wrong) => (None, Some(wrong)),
            },
        };
        let empty = labels.is_empty() && instruction.is_none();
        let span = if empty { first } else { first.to(self.tokens.last()) };
        (Cell { labels, instruction, span }, wrong)
    }

    fn instruction(&mut self) -> Result<Instruction, Wrong> {
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
        let Some((mnemonic, width)) = mnemonic(word) else {
            let message = format!("the instruction `{word}` is not supported");
            return Err(
                Wrong::unsupported(token.span, message).label("we do not know what it does")
            );
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
        // `cmpxchg ea,reg` names the memory first in herd, and last in assemblers.
        let turned = mnemonic == Mnemonic::Cmpxchg
            && matches!(operands[..], [Operand::Register(_), Operand::Memory(_)]);
        if turned {
            operands.reverse();
        }
        let span = first.to(self.tokens.last());
        Ok(Instruction { lock, mnemonic, width, operands, span })
    }

    fn operand(&mut self, mnemonic: Mnemonic) -> Result<Operand, Wrong> {
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
                // A segment before an address: `%cs:0(...)`. All segments are one here.
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
                            // `x(%rip)` is how assemblers write `(x)`.
                            let base = memory
                                .base
                                .filter(|b| registers::shown(self.arch, b.register) != "rip");
                            Ok(Operand::Memory(Memory { symbol, base, ..memory }))
                        }
                        other => Ok(other),
                    };
                }
                Err(bare(self.arch, name, token.span))
            }
            _ => Err(self.tokens.unexpected("an operand")),
        }
    }

    fn register(&mut self) -> Result<Part, Wrong> {
        self.tokens.expect(Tok::Percent, "a register")?;
        let token = self.tokens.peek();
        let name = self.tokens.name("a register")?;
        registers::by_name(self.arch, name)
            .ok_or_else(|| Wrong::name(token.span, format!("there is no register `%{name}`")))
    }

    /// `[x]`, `[EAX]`, `[x+4]`, `[EAX+4]`
    fn brackets(&mut self) -> Result<Operand, Wrong> {
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

    fn term(&mut self, memory: &mut Memory) -> Result<(), Wrong> {
        let token = self.tokens.peek();
        let part = match token.kind {
            Tok::Percent => Some(self.register()?),
            Tok::Name => {
                let name = self.tokens.name("a location")?;
                let part = registers::by_name(self.arch, name).filter(|_| self.arch == Arch::X86);
                if part.is_none() && name.starts_with('R') && registers::any_case(name).is_some() {
                    let message = format!("`{name}` is a register that X86 tests do not have");
                    return Err(Wrong::name(token.span, message).hint("X86_64 tests have it"));
                }
                if part.is_none() && memory.symbol.replace(name.to_string()).is_some() {
                    return Err(Wrong::unsupported(token.span, "two locations in one address"));
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
                return Err(Wrong::syntax(token.span, "three registers in one address"));
            }
        }
        Ok(())
    }

    /// `(x)`, `(%rax)`, `(%rax,%rbx,4)`, after an offset.
    fn parenthesis(&mut self, offset: i128) -> Result<Operand, Wrong> {
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
                    return Err(Wrong::syntax(token.span, "the scale of an index is 1, 2, 4 or 8"));
                }
            }
            memory.index = Some((part, scale));
        }
        self.tokens.expect(Tok::RParen, "`)`")?;
        Ok(Operand::Memory(memory))
    }
}

/// A name that is no operand.
fn bare(arch: Arch, name: &str, span: Span) -> Wrong {
    let message = format!("`{name}` is neither a register nor an operand in memory");
    let wrong = Wrong::syntax(span, message);
    match (arch, registers::any_case(name)) {
        (Arch::X86, Some(_)) => wrong.hint("registers of X86 tests are written in upper case"),
        (Arch::X86_64 | Arch::C, Some(_)) => wrong.hint(format!("registers are written `%{name}`")),
        (Arch::X86, None) => wrong.hint(format!("memory is written `[{name}]`")),
        (Arch::X86_64 | Arch::C, None) => wrong.hint(format!("memory is written `({name})`")),
    }
}

/// The instruction of a name, and the width that its suffix says.
fn mnemonic(word: &str) -> Option<(Mnemonic, Option<u8>)> {
    let word = word.to_ascii_lowercase();
    if let Some(found) = plain(&word) {
        return Some((found, None));
    }
    let width = match word.chars().last()? {
        'b' => 8,
        'w' => 16,
        'l' => 32,
        'q' => 64,
        _ => return None,
    };
    Some((plain(&word[..word.len() - 1])?, Some(width)))
}

fn plain(word: &str) -> Option<Mnemonic> {
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
