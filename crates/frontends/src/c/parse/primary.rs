//! Primary expressions: names, literals, parentheses, and the built-in functions whose arguments
//! are types.

use fencepost_ir::Span;

use super::{ParseResult, Parser, SyntaxError};
use crate::c::ast::{Designator, Expr, ExprKind};
use crate::c::tokens::{Tok, Token};
use crate::c::{codes, literals};

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> ParseResult<Expr> {
        let token = self.token();
        let start = self.at;
        self.height = 1;
        let kind = match token.kind {
            Tok::Name => {
                if let Some(error) = self.foreign_name() {
                    return Err(error);
                }
                self.advance();
                ExprKind::Name(self.text(token).to_string())
            }
            Tok::Number => {
                self.advance();
                self.number(token)
            }
            Tok::Char => {
                self.advance();
                match literals::character(&self.text(token)) {
                    Ok(value) => integer(value),
                    Err(message) => self.bad_literal(token, message),
                }
            }
            Tok::String => ExprKind::String(self.string_literal()?),
            Tok::Func => {
                self.advance();
                ExprKind::String(self.function.to_string())
            }
            Tok::LParen if self.peek_at(1) == Tok::LBrace => self.statement_expression()?,
            Tok::LParen => {
                self.advance();
                let inner = self.expression()?;
                self.expect(Tok::RParen, "`)`")?;
                let span = token.span.to(self.previous());
                return Ok(Expr { span, ..inner });
            }
            Tok::Generic => self.generic()?,
            Tok::BuiltinOffsetof => self.offset_of()?,
            Tok::BuiltinTypesCompatible => {
                self.advance();
                self.expect(Tok::LParen, "`(`")?;
                let first = Box::new(self.type_name()?);
                self.expect(Tok::Comma, "`,`")?;
                let second = Box::new(self.type_name()?);
                self.expect(Tok::RParen, "`)`")?;
                ExprKind::TypesCompatible(first, second)
            }
            Tok::BuiltinChooseExpr => self.choose()?,
            Tok::BuiltinVaArg => {
                self.advance();
                self.expect(Tok::LParen, "`(`")?;
                self.assignment()?;
                self.expect(Tok::Comma, "`,`")?;
                self.type_name()?;
                self.expect(Tok::RParen, "`)`")?;
                ExprKind::Unsupported("va_arg")
            }
            _ => return Err(self.expected("an expression")),
        };
        let span = token.span.to(self.previous());
        let origin = Some(token.origin).filter(|_| self.at == start + 1);
        Ok(Expr { kind, span, origin })
    }

    fn number(&mut self, token: Token) -> ExprKind {
        match literals::number(&self.text(token)) {
            Ok(literals::Number::Integer(value)) => integer(value),
            Ok(literals::Number::Float) => ExprKind::Float,
            Err(message) => self.bad_literal(token, message),
        }
    }

    /// Reports a malformed literal. It counts as 0.
    fn bad_literal(&mut self, token: Token, message: String) -> ExprKind {
        self.error(codes::BAD_LITERAL, token.span, message)
            .hint("numbers are written as `42`, `0x2a`, `052` or `42ul`, characters as `'a'`");
        ExprKind::Integer { value: 0, bits: 32, signed: true }
    }

    /// Parses adjacent string literals and joins them.
    pub(super) fn string_literal(&mut self) -> ParseResult<String> {
        if self.peek() != Tok::String {
            return Err(self.expected("a string"));
        }
        let mut joined = String::new();
        while self.peek() == Tok::String {
            let token = self.advance();
            match literals::string(&self.text(token)) {
                Ok(text) => joined.push_str(&text),
                Err(message) => {
                    self.bad_literal(token, message);
                }
            }
        }
        Ok(joined)
    }

    /// Parses `({ ... })`.
    fn statement_expression(&mut self) -> ParseResult<ExprKind> {
        self.advance();
        self.scopes.open();
        let outer = std::mem::take(&mut self.tallest);
        let block = self.block()?;
        let height = self.tallest + 1;
        self.tallest = outer;
        self.scopes.close();
        self.set_height(height)?;
        self.expect(Tok::RParen, "`)`")?;
        Ok(ExprKind::StatementExpr(block))
    }

    /// Parses `_Generic(control, type: value, default: value)`.
    fn generic(&mut self) -> ParseResult<ExprKind> {
        self.advance();
        self.expect(Tok::LParen, "`(`")?;
        let control = Box::new(self.assignment()?);
        let mut height = self.height;
        let mut cases = Vec::new();
        while self.eat(Tok::Comma) {
            let ty = if self.eat(Tok::Default) { None } else { Some(self.type_name()?) };
            self.expect(Tok::Colon, "`:`")?;
            cases.push((ty, self.assignment()?));
            height = height.max(self.height);
        }
        self.expect(Tok::RParen, "`)`")?;
        self.set_height(height + 1)?;
        Ok(ExprKind::Generic { control, cases })
    }

    /// Parses `__builtin_offsetof(type, member)`.
    fn offset_of(&mut self) -> ParseResult<ExprKind> {
        self.advance();
        self.expect(Tok::LParen, "`(`")?;
        let ty = Box::new(self.type_name()?);
        self.expect(Tok::Comma, "`,`")?;
        let mut path = vec![Designator::Field(self.name()?)];
        path.extend(self.designator_path()?);
        self.expect(Tok::RParen, "`)`")?;
        Ok(ExprKind::Offsetof { ty, path })
    }

    /// Parses `__builtin_choose_expr(condition, then, otherwise)`.
    fn choose(&mut self) -> ParseResult<ExprKind> {
        self.advance();
        self.expect(Tok::LParen, "`(`")?;
        let mut height = 0;
        let mut arguments = self
            .list_in_parentheses(|parser| {
                let argument = parser.assignment()?;
                height = height.max(parser.height);
                Ok(Box::new(argument))
            })?
            .into_iter();
        self.set_height(height + 1)?;
        match (arguments.next(), arguments.next(), arguments.next(), arguments.next()) {
            (Some(condition), Some(then), Some(otherwise), None) => {
                Ok(ExprKind::ChooseExpr { condition, then, otherwise })
            }
            _ => {
                let span: Span = self.previous();
                self.error(codes::SYNTAX, span, "`__builtin_choose_expr` has three arguments");
                Err(SyntaxError)
            }
        }
    }
}

fn integer(value: literals::Integer) -> ExprKind {
    let literals::Integer { value, bits, signed } = value;
    ExprKind::Integer { value, bits, signed }
}
