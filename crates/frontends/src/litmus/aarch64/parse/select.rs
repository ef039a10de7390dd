//! Parses conditional selections: `CSEL` and its variants.
//!
//! `CSET`, `CINC` and the like are selections with the inverse condition.

use super::super::super::error::LitmusError;
use super::super::super::flags::Condition;
use super::super::ast::{Change, Operation};
use super::super::registers::Register;
use super::{Parser, condition};

/// The operands of a selection beside its destination and its condition.
#[derive(Clone, Copy)]
enum Operands {
    /// Two registers.
    Two,
    /// One register that is both operands. The condition is inverted.
    One,
    /// None: both operands are the zero register. The condition is inverted.
    Zero,
}

/// Returns the selection of this mnemonic.
fn selection(mnemonic: &str) -> Option<(Operands, Change)> {
    Some(match mnemonic {
        "CSEL" => (Operands::Two, Change::Nothing),
        "CSINC" => (Operands::Two, Change::Increment),
        "CSINV" => (Operands::Two, Change::Invert),
        "CSNEG" => (Operands::Two, Change::Negate),
        "CINC" => (Operands::One, Change::Increment),
        "CINV" => (Operands::One, Change::Invert),
        "CNEG" => (Operands::One, Change::Negate),
        "CSET" => (Operands::Zero, Change::Increment),
        "CSETM" => (Operands::Zero, Change::Invert),
        _ => return None,
    })
}

impl Parser<'_, '_> {
    /// Parses the operands of a selection. Returns `None` if the mnemonic is no selection.
    pub(super) fn selection(&mut self, mnemonic: &str) -> Result<Option<Operation>, LitmusError> {
        let Some((operands, change)) = selection(mnemonic) else { return Ok(None) };
        let to = self.register()?;
        self.comma()?;
        let (then, otherwise) = match operands {
            Operands::Two => {
                let then = self.register_like(to)?;
                self.comma()?;
                let otherwise = self.register_like(to)?;
                self.comma()?;
                (then, otherwise)
            }
            Operands::One => {
                let both = self.register_like(to)?;
                self.comma()?;
                (both, both)
            }
            Operands::Zero => {
                let zero = Register { number: None, ..to };
                (zero, zero)
            }
        };
        let when = self.condition()?;
        let when = match operands {
            Operands::Two => when,
            Operands::One | Operands::Zero => Condition { any_set: !when.any_set, ..when },
        };
        Ok(Some(Operation::Select { to, when, then, otherwise, change }))
    }

    fn condition(&mut self) -> Result<Condition, LitmusError> {
        let span = self.tokens.peek().span;
        let name = self.tokens.name("a condition, as in `EQ`")?;
        condition(&name.to_ascii_uppercase()).ok_or_else(|| {
            let message = format!("the condition `{name}` is not supported");
            LitmusError::unsupported(span, message)
        })
    }
}
