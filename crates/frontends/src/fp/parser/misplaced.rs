//! Recovery from errors: items inside blocks, and the rest of statements that were skipped.

use super::{ParseResult, Parser, SyntaxError};
use crate::fp::lexer::{Tok, Token};
use crate::fp::{codes, foreign};

/// Returns whether every brace has its counterpart.
pub(super) fn is_balanced(tokens: &[Token]) -> bool {
    let mut depth = 0usize;
    for token in tokens {
        match token.kind {
            Tok::LBrace => depth += 1,
            Tok::RBrace if depth == 0 => return false,
            Tok::RBrace => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}

impl Parser<'_> {
    /// Reports an item inside a block and parses it as an item of the file, so that its names are
    /// known.
    pub(super) fn misplaced_item(&mut self) {
        let keyword = self.token();
        let message = format!("{} cannot be inside a block", keyword.kind.describe());
        self.error(codes::SYNTAX, keyword.span, message)
            .label("a declaration of the file")
            .hint("move it out of the block, to the top of the file");
        let begin = self.at;
        let item = self.nested(|parser| {
            parser.begin = begin;
            parser.item()
        });
        match item {
            Ok(item) => self.misplaced.push(item),
            Err(SyntaxError) => {
                // The caller reports the end of the file and skips further items itself.
                self.skip_statement(begin).ok();
                self.record_unparsed(begin);
            }
        }
    }

    /// Skips what continues a statement that was skipped: `else`, or a word of another language.
    pub(super) fn skip_continuation(&mut self) -> ParseResult<()> {
        self.eat(Tok::Else);
        while self.peek() == Tok::Name
            && foreign::continues_statement(self.span().text(self.source))
        {
            let begin = self.at;
            self.advance();
            self.skip_statement(begin)?;
        }
        Ok(())
    }
}
