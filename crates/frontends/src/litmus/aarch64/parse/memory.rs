//! Parses the instructions that access memory.

use fencepost_ir::{Acquire, BinOp};

use super::super::super::error::LitmusError;
use super::super::super::tokens::Tok;
use super::super::ast::{ExtendedRegister, Memory, Operation, Source, Update, WriteBack};
use super::super::registers::Register;
use super::{Parser, same_width};

/// An instruction that accesses memory.
#[derive(Clone, Copy)]
enum Access {
    Load { acquire: Acquire, exclusive: bool },
    LoadPair,
    Store { release: bool, exclusive: bool },
    StorePair,
    Update { kind: UpdateKind, acquire: bool, release: bool, returns: bool },
}

#[derive(Clone, Copy)]
enum UpdateKind {
    CompareAndSwap,
    Swap,
    Add,
    Bits(BinOp, bool),
}

/// Returns the access of this mnemonic, and the number of bits if the mnemonic says so.
fn access(mnemonic: &str) -> Option<(Access, Option<u8>)> {
    if let Some(found) = access_of_register(mnemonic) {
        return Some((found, None));
    }
    let narrow = |suffix, bits| {
        let found = access_of_register(mnemonic.strip_suffix(suffix)?)?;
        let has_narrow_form = match found {
            Access::Load { .. } | Access::Store { .. } => true,
            Access::LoadPair | Access::StorePair => false,
            Access::Update { kind, .. } => {
                matches!(kind, UpdateKind::CompareAndSwap | UpdateKind::Swap)
            }
        };
        has_narrow_form.then_some((found, Some(bits)))
    };
    narrow('B', 8).or_else(|| narrow('H', 16))
}

/// Returns the access of this mnemonic if the register determines the number of bits.
fn access_of_register(mnemonic: &str) -> Option<Access> {
    let load = |acquire, exclusive| Some(Access::Load { acquire, exclusive });
    let store = |release, exclusive| Some(Access::Store { release, exclusive });
    match mnemonic {
        "LDR" | "LDUR" => load(Acquire::None, false),
        "LDAR" => load(Acquire::Strong, false),
        "LDAPR" => load(Acquire::Weak, false),
        "LDXR" => load(Acquire::None, true),
        "LDAXR" => load(Acquire::Strong, true),
        "STR" | "STUR" => store(false, false),
        "STLR" => store(true, false),
        "STXR" => store(false, true),
        "STLXR" => store(true, true),
        "LDP" | "LDNP" => Some(Access::LoadPair),
        "STP" | "STNP" => Some(Access::StorePair),
        _ => update(mnemonic),
    }
}

/// Returns the read-modify-write of this mnemonic.
fn update(mnemonic: &str) -> Option<Access> {
    let (kind, order, returns) = if let Some(order) = mnemonic.strip_prefix("CAS") {
        (UpdateKind::CompareAndSwap, order, true)
    } else if let Some(order) = mnemonic.strip_prefix("SWP") {
        (UpdateKind::Swap, order, true)
    } else {
        let returns = mnemonic.starts_with("LD");
        let rest = mnemonic.strip_prefix("LD").or_else(|| mnemonic.strip_prefix("ST"))?;
        let (name, order) = rest.split_at_checked(3)?;
        let kind = match name {
            "ADD" => UpdateKind::Add,
            "CLR" => UpdateKind::Bits(BinOp::BitAnd, true),
            "SET" => UpdateKind::Bits(BinOp::BitOr, false),
            "EOR" => UpdateKind::Bits(BinOp::BitXor, false),
            _ => return None,
        };
        (kind, order, returns)
    };
    let (acquire, release) = match order {
        "" => (false, false),
        "L" => (false, true),
        // An instruction that discards the old value has no acquire form.
        "A" if returns => (true, false),
        "AL" if returns => (true, true),
        _ => return None,
    };
    Some(Access::Update { kind, acquire, release, returns })
}

impl Parser<'_, '_> {
    /// Parses the operands of an instruction that accesses memory. Returns `None` if the mnemonic
    /// is no such instruction.
    pub(super) fn access(&mut self, mnemonic: &str) -> Result<Option<Operation>, LitmusError> {
        let Some((access, suffix)) = access(mnemonic) else { return Ok(None) };
        Ok(Some(match access {
            Access::Load { acquire, exclusive } => {
                let to = self.data_register(suffix)?;
                self.comma()?;
                let is_plain = acquire == Acquire::None && !exclusive;
                let at = if is_plain { self.memory()? } else { self.memory_at_base()? };
                let bits = suffix.unwrap_or(to.bits());
                Operation::Load { to: vec![to], at, bits, acquire, exclusive }
            }
            Access::LoadPair => {
                let (to, at) = self.pair()?;
                let (bits, acquire, exclusive) = (to[0].bits(), Acquire::None, false);
                Operation::Load { to, at, bits, acquire, exclusive }
            }
            Access::Store { release, exclusive } => {
                let status = if exclusive { Some(self.status_register()?) } else { None };
                let from = self.data_register(suffix)?;
                self.comma()?;
                let is_plain = !release && !exclusive;
                let at = if is_plain { self.memory()? } else { self.memory_at_base()? };
                let bits = suffix.unwrap_or(from.bits());
                Operation::Store { from: vec![from], at, bits, release, status }
            }
            Access::StorePair => {
                let (from, at) = self.pair()?;
                let (bits, release, status) = (from[0].bits(), false, None);
                Operation::Store { from, at, bits, release, status }
            }
            Access::Update { kind, acquire, release, returns } => {
                let first = self.data_register(suffix)?;
                self.comma()?;
                let second = if returns {
                    let second = self.register_like(first)?;
                    self.comma()?;
                    second
                } else {
                    Register { number: None, ..first }
                };
                let at = self.memory_at_base()?;
                // `CAS` has the register with the old value first, the others last.
                let (update, old) = match kind {
                    UpdateKind::CompareAndSwap => (Update::CompareAndSwap { new: second }, first),
                    UpdateKind::Swap => (Update::Swap { new: first }, second),
                    UpdateKind::Add => (Update::Add { by: first }, second),
                    UpdateKind::Bits(op, inverts) => {
                        (Update::Bits { op, inverts, by: first }, second)
                    }
                };
                let bits = suffix.unwrap_or(first.bits());
                Operation::Update { update, old, at, bits, acquire, release }
            }
        }))
    }

    /// Parses a register that is loaded or stored. An instruction with a suffix for its size has a
    /// register of 32 bits.
    fn data_register(&mut self, suffix: Option<u8>) -> Result<Register, LitmusError> {
        match suffix {
            None => self.register(),
            Some(_) => self.register_like(Register { number: None, is_wide: false }),
        }
    }

    fn status_register(&mut self) -> Result<Register, LitmusError> {
        let status = self.register_like(Register { number: None, is_wide: false })?;
        self.comma()?;
        Ok(status)
    }

    fn pair(&mut self) -> Result<(Vec<Register>, Memory), LitmusError> {
        let first = self.register()?;
        self.comma()?;
        let second = self.register_like(first)?;
        self.comma()?;
        let span = self.tokens.peek().span;
        let at = self.memory()?;
        match at.offset {
            Source::Number(_) => Ok((vec![first, second], at)),
            Source::Register(_) => Err(LitmusError::syntax(
                span,
                "the offset of a pair is a number: add the register before",
            )),
        }
    }

    /// Parses a memory operand without offset.
    fn memory_at_base(&mut self) -> Result<Memory, LitmusError> {
        let span = self.tokens.peek().span;
        let at = self.memory()?;
        if at.offset != Source::Number(0) || at.write_back != WriteBack::Never {
            let message = "the address of this instruction has no offset: write `[Xn]`";
            return Err(LitmusError::syntax(span, message));
        }
        Ok(at)
    }

    /// Parses `[X1]`, `[X1,#4]`, `[X1,X2]`, `[X1,W2,SXTW]`, `[X1,#4]!` or `[X1],#4`.
    fn memory(&mut self) -> Result<Memory, LitmusError> {
        self.tokens.expect(Tok::LBracket, "a memory operand, as in `[X1]`")?;
        let base = self.register_like(Register::ZERO)?;
        let mut offset = Source::Number(0);
        if self.tokens.eat(Tok::Comma) {
            offset = match self.tokens.kind() {
                Tok::Name => Source::Register(self.index()?),
                _ => Source::Number(self.number("an offset or a register")?),
            };
        }
        self.tokens.expect(Tok::RBracket, "`]`")?;
        let mut write_back = WriteBack::Never;
        if matches!(offset, Source::Number(_)) && self.tokens.eat(Tok::Bang) {
            write_back = WriteBack::Before;
        } else if offset == Source::Number(0) && self.tokens.eat(Tok::Comma) {
            offset = Source::Number(self.number("an offset")?);
            write_back = WriteBack::After;
        }
        Ok(Memory { base, offset, write_back })
    }

    fn index(&mut self) -> Result<ExtendedRegister, LitmusError> {
        let span = self.tokens.peek().span;
        let register = self.register()?;
        match self.extension(register, 64)? {
            Some(extended) => Ok(extended),
            None => {
                same_width(register, Register::ZERO, span).map_err(|error| {
                    error.hint("extend the index: write `SXTW` or `UXTW` after it")
                })?;
                Ok(super::plain(register))
            }
        }
    }
}
