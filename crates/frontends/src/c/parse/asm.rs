//! Inline assembly: `asm volatile ("template" : outputs : inputs : clobbers);`.

use super::{ParseResult, Parser, SyntaxError};
use crate::c::ast::{Asm, Expr, StmtKind};
use crate::c::codes;
use crate::c::tokens::Tok;

impl Parser<'_> {
    pub(super) fn asm(&mut self) -> ParseResult<StmtKind> {
        self.advance();
        loop {
            match self.peek() {
                Tok::Volatile | Tok::Inline => {
                    self.advance();
                }
                Tok::Goto => {
                    let span = self.span();
                    self.error(codes::NOT_SUPPORTED, span, "`asm goto` is not supported")
                        .hint("write the jump in C");
                    return Err(SyntaxError);
                }
                _ => break,
            }
        }
        self.expect(Tok::LParen, "`(`")?;
        let mut asm = Asm { template: self.string_literal()?, operands: vec![], clobbers: vec![] };
        // Outputs, then inputs.
        for _ in 0..2 {
            if self.eat(Tok::Colon) && self.begins_operand() {
                loop {
                    asm.operands.push(self.asm_operand()?);
                    if !self.eat(Tok::Comma) {
                        break;
                    }
                }
            }
        }
        if self.eat(Tok::Colon) {
            while self.peek() == Tok::String {
                asm.clobbers.push(self.string_literal()?);
                self.eat(Tok::Comma);
            }
        }
        self.expect(Tok::RParen, "`)`")?;
        self.expect(Tok::Semi, "`;`")?;
        Ok(StmtKind::Asm(asm))
    }

    fn begins_operand(&self) -> bool {
        matches!(self.peek(), Tok::String | Tok::LBracket)
    }

    /// Parses `[name] "constraint" (expression)`.
    fn asm_operand(&mut self) -> ParseResult<Expr> {
        if self.eat(Tok::LBracket) {
            self.name()?;
            self.expect(Tok::RBracket, "`]`")?;
        }
        self.string_literal()?;
        self.expect(Tok::LParen, "`(`")?;
        let operand = self.expression()?;
        self.expect(Tok::RParen, "`)`")?;
        Ok(operand)
    }
}
