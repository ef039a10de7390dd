//! Parses `if` and loops.
//!
//! Statements nest deeply, so each kind has a function of its own: the parser of all statements
//! then needs little of the stack.

use fencepost_ir::Span;

use super::super::super::error::LitmusError;
use super::super::super::tokens::Tok;
use super::super::ast::{Expression, For, Statement, StatementKind};
use super::Parser;

/// The kind of a statement, and the span of its head if the head is not the whole statement.
type Parsed = Result<(StatementKind, Option<Span>), LitmusError>;

/// The first statements, the condition and the steps of `for`.
type ForHead = (Vec<Statement>, Option<Expression>, Vec<Statement>);

impl Parser<'_, '_> {
    /// Parses `if (condition) then else otherwise`.
    pub(super) fn if_statement(&mut self) -> Parsed {
        let start = self.tokens.peek().span;
        let condition = self.condition()?;
        let head = start.to(self.tokens.last_span());
        let then = self.boxed_statement()?;
        let has_else = self.tokens.eat_word("else");
        let otherwise = if has_else { Some(self.boxed_statement()?) } else { None };
        Ok((StatementKind::If(condition, then, otherwise), Some(head)))
    }

    /// Parses `while (condition) body`.
    pub(super) fn while_loop(&mut self) -> Parsed {
        let start = self.tokens.peek().span;
        let condition = self.condition()?;
        let head = start.to(self.tokens.last_span());
        Ok((StatementKind::While(condition, self.boxed_statement()?), Some(head)))
    }

    /// Parses `do body while (condition)`.
    pub(super) fn do_while_loop(&mut self) -> Parsed {
        let start = self.tokens.take().span;
        let body = self.boxed_statement()?;
        if self.tokens.word() != "while" {
            return Err(self.tokens.unexpected("`while` after the body of `do`"));
        }
        Ok((StatementKind::DoWhile(body, self.condition()?), Some(start)))
    }

    fn boxed_statement(&mut self) -> Result<Box<Statement>, LitmusError> {
        self.statement().map(Box::new)
    }

    /// Parses a keyword and the `(condition)` after it.
    fn condition(&mut self) -> Result<Expression, LitmusError> {
        self.tokens.take();
        self.tokens.expect(Tok::LParen, "`(`")?;
        let condition = self.expression()?;
        self.tokens.expect(Tok::RParen, "`)`")?;
        Ok(condition)
    }

    /// Parses `for (first; condition; step) body`. Returns its kind and the span of its head.
    pub(super) fn for_loop(&mut self) -> Parsed {
        let start = self.tokens.take().span;
        self.tokens.expect(Tok::LParen, "`(`")?;
        let parts = self.for_head();
        if parts.is_err() {
            // The semicolons of the head end no statement.
            let parentheses = (Tok::LParen, Tok::RParen);
            self.tokens.skip_to(parentheses, |tokens| tokens.kind() == Tok::RParen);
        }
        let (first, condition, step) = parts?;
        self.tokens.expect(Tok::RParen, "`)`")?;
        let head = start.to(self.tokens.last_span());
        let body = self.statement()?;
        Ok((StatementKind::For(Box::new(For { first, condition, step, body })), Some(head)))
    }

    /// Parses `first; condition; step`.
    fn for_head(&mut self) -> Result<ForHead, LitmusError> {
        let first = self.statement_list(Tok::Semi)?;
        self.tokens.expect(Tok::Semi, "`;` before the condition of `for`")?;
        let has_condition = self.tokens.kind() != Tok::Semi;
        let condition = if has_condition { Some(self.expression()?) } else { None };
        self.tokens.expect(Tok::Semi, "`;` after the condition of `for`")?;
        let step = self.statement_list(Tok::RParen)?;
        Ok((first, condition, step))
    }
}
