//! Parses statements without substatements.
//!
//! `x += e`, `x++` and similar become `x = x + e`. They are statements, not expressions.

use fencepost_ir::{BinOp, Span};

use super::super::super::error::LitmusError;
use super::super::super::tokens::Tok;
use super::super::ast::{Expression, ExpressionKind, Statement, StatementKind};
use super::Parser;
use super::expression::{is_type, new_expression};

impl Parser<'_, '_> {
    /// Parses a declaration, an assignment or an expression, without a semicolon.
    pub(super) fn simple_statement(&mut self) -> Result<StatementKind, LitmusError> {
        let word = self.tokens.word();
        let is_declaration = self.tokens.kind() == Tok::Name
            && (self.tokens.kind_at(1) == Tok::Name
                || self.tokens.kind_at(1) == Tok::Star && is_type(word)
                || word == "_Atomic");
        if is_declaration {
            return Ok(StatementKind::Declare(self.declarations()?));
        }
        let first = self.tokens.peek().span;
        if let Some(op) = self.eat_increment() {
            let target = self.unary()?;
            return step(target, op, first);
        }
        let target = self.unary()?;
        if self.tokens.eat(Tok::Eq) {
            return Ok(StatementKind::Assign(target, self.expression()?));
        }
        if let Some(op) = self.compound_operator() {
            self.tokens.take();
            self.tokens.take();
            let amount = self.expression()?;
            return compound(target, op, amount);
        }
        if let Some(op) = self.eat_increment() {
            let span = target.span.to(self.tokens.last_span());
            return step(target, op, span);
        }
        Ok(StatementKind::Evaluate(self.expression_from(target)?))
    }

    /// Takes `++` or `--`, if it comes next. Returns its operation.
    fn eat_increment(&mut self) -> Option<BinOp> {
        let op = self.increment()?;
        self.tokens.take();
        self.tokens.take();
        Some(op)
    }

    /// Parses statements that are separated by commas, up to the token `end`.
    pub(super) fn statement_list(&mut self, end: Tok) -> Result<Vec<Statement>, LitmusError> {
        let mut all = Vec::new();
        while self.tokens.kind() != end {
            let first = self.tokens.peek().span;
            let kind = self.simple_statement()?;
            let span = first.to(self.tokens.last_span());
            all.push(Statement { kind, span, head: span, end: self.end_of_last_token() });
            if !self.tokens.eat(Tok::Comma) {
                break;
            }
        }
        Ok(all)
    }
}

/// Returns the statement `target = target op 1`.
fn step(target: Expression, op: BinOp, span: Span) -> Result<StatementKind, LitmusError> {
    let one = new_expression(ExpressionKind::Number(1), span)?;
    compound(target, op, one)
}

/// Returns the statement `target = target op amount`.
fn compound(
    target: Expression,
    op: BinOp,
    amount: Expression,
) -> Result<StatementKind, LitmusError> {
    let address = match &target.kind {
        ExpressionKind::Deref(inner) | ExpressionKind::Index(_, inner) => Some(inner),
        _ => None,
    };
    let mut accesses = false;
    address.iter().for_each(|address| {
        address.for_each(&mut |part| {
            accesses |= matches!(
                part.kind,
                ExpressionKind::Deref(_) | ExpressionKind::Index(..) | ExpressionKind::Call(..)
            );
        });
    });
    if accesses {
        let message = "this address accesses memory, which is not supported in such an assignment";
        return Err(LitmusError::unsupported(target.span, message)
            .hint("assign the address to a local first"));
    }
    let span = target.span.to(amount.span);
    let operands = (Box::new(target.clone()), Box::new(amount));
    let value = new_expression(ExpressionKind::Binary(op, operands.0, operands.1), span)?;
    Ok(StatementKind::Assign(target, value))
}
