//! Statements and blocks, and how parsing resumes after an error in a statement.

use super::scopes::Meaning;
use super::{ParseResult, Parser, SyntaxError};
use crate::c::ast::{Block, Expr, Stmt, StmtKind};
use crate::c::codes;
use crate::c::tokens::Tok;

impl Parser<'_> {
    /// Parses a block. The caller opens and closes its scope.
    pub(super) fn block(&mut self) -> ParseResult<Block> {
        let open = self.expect(Tok::LBrace, "`{`")?;
        let mut items = Vec::new();
        loop {
            match self.peek() {
                Tok::RBrace => {
                    let close = self.advance().span;
                    return Ok(Block { items, open, close });
                }
                Tok::End => {
                    let span = self.end_of_previous();
                    self.error(codes::SYNTAX, span, "expected `}`, found the end of the file")
                        .label("the file ends after this")
                        .related(open, "this `{` is not closed")
                        .hint("add the missing `}`");
                    // The enclosing blocks are not closed either.
                    self.abandon();
                    return Err(SyntaxError);
                }
                Tok::LocalLabel => {
                    while !matches!(self.peek(), Tok::Semi | Tok::End) {
                        self.advance();
                    }
                    self.eat(Tok::Semi);
                    continue;
                }
                _ => {}
            }
            let (before, scopes) = (self.at, self.scopes.depth());
            match self.statement() {
                Ok(statement) => items.push(statement),
                Err(SyntaxError) => {
                    self.scopes.close_to(scopes);
                    self.skip_statement(before);
                }
            }
        }
    }

    /// Resumes after an error in a statement that began at token `begin`: skips its `;`, or a block
    /// that it contains, but not the `}` of the enclosing block.
    fn skip_statement(&mut self, begin: usize) {
        let mut depth = 0_i32;
        for token in self.tokens.get(begin..self.at).unwrap_or_default() {
            match token.kind {
                Tok::LBrace => depth += 1,
                Tok::RBrace => depth -= 1,
                _ => {}
            }
        }
        if self.at == begin && !matches!(self.peek(), Tok::Semi | Tok::LBrace | Tok::RBrace) {
            self.advance();
        }
        loop {
            match self.peek() {
                Tok::End => return,
                Tok::RBrace if depth <= 0 => return,
                Tok::LBrace => depth += 1,
                Tok::RBrace => {
                    depth -= 1;
                    if depth == 0 && !self.continues_after_brace() {
                        self.advance();
                        return;
                    }
                }
                Tok::Semi if depth <= 0 => {
                    self.advance();
                    return;
                }
                Tok::Unknown if depth <= 0 && self.ends_line() => {
                    self.advance();
                    return;
                }
                _ => {}
            }
            self.advance();
        }
    }

    /// Returns whether a statement with an error continues after the current `}`: the block is part
    /// of an expression, or a `catch` follows.
    fn continues_after_brace(&self) -> bool {
        match self.peek_at(1) {
            Tok::RParen | Tok::RBracket | Tok::Comma | Tok::Semi => true,
            Tok::Name => {
                self.tokens.get(self.at + 1).is_some_and(|token| &*self.text(*token) == "catch")
            }
            _ => false,
        }
    }

    /// Returns whether the current token is the last on its line. A quote that is not closed takes
    /// the `;` with it.
    pub(super) fn ends_line(&self) -> bool {
        self.tokens.get(self.at + 1).is_none_or(|token| token.first)
    }

    /// Parses the `;` of a statement. If it is missing at the end of a line, parsing continues as
    /// if it were there.
    fn semicolon(&mut self) -> ParseResult<()> {
        if self.eat(Tok::Semi) {
            return Ok(());
        }
        let next = self.token();
        let error = self.expected("`;`");
        if next.first || next.kind == Tok::RBrace { Ok(()) } else { Err(error) }
    }

    /// Parses a statement or a declaration.
    pub(super) fn statement(&mut self) -> ParseResult<Stmt> {
        let outer = std::mem::take(&mut self.tallest);
        let start = self.span();
        let kind = self.nested(Self::statement_kind);
        self.tallest = outer.max(self.tallest + 1);
        Ok(Stmt { kind: kind?, span: start.to(self.previous()) })
    }

    fn boxed_statement(&mut self) -> ParseResult<Box<Stmt>> {
        self.statement().map(Box::new)
    }

    fn statement_kind(&mut self) -> ParseResult<StmtKind> {
        match self.peek() {
            Tok::Semi => {
                self.advance();
                Ok(StmtKind::Empty)
            }
            Tok::LBrace => {
                self.scopes.open();
                let block = self.block()?;
                self.scopes.close();
                Ok(StmtKind::Block(block))
            }
            Tok::If => {
                self.advance();
                let condition = self.condition()?;
                let then = self.boxed_statement()?;
                let otherwise =
                    if self.eat(Tok::Else) { Some(self.boxed_statement()?) } else { None };
                Ok(StmtKind::If { condition, then, otherwise })
            }
            Tok::While => {
                self.advance();
                let condition = self.condition()?;
                let body = self.boxed_statement()?;
                Ok(StmtKind::While { condition, body })
            }
            Tok::Do => {
                self.advance();
                let body = self.boxed_statement()?;
                self.expect(Tok::While, "`while`")?;
                let condition = self.condition()?;
                self.semicolon()?;
                Ok(StmtKind::DoWhile { body, condition })
            }
            Tok::For => self.for_statement(),
            Tok::Switch => {
                self.advance();
                let value = self.condition()?;
                let body = self.boxed_statement()?;
                Ok(StmtKind::Switch { value, body })
            }
            Tok::Case => {
                self.advance();
                let value = self.conditional()?;
                let last = if self.eat(Tok::Ellipsis) { Some(self.conditional()?) } else { None };
                self.expect(Tok::Colon, "`:`")?;
                let body = self.labelled()?;
                Ok(StmtKind::Case { value, last, body })
            }
            Tok::Default => {
                self.advance();
                self.expect(Tok::Colon, "`:`")?;
                Ok(StmtKind::Default { body: self.labelled()? })
            }
            Tok::Goto => self.goto(),
            Tok::Break => {
                self.advance();
                self.semicolon()?;
                Ok(StmtKind::Break)
            }
            Tok::Continue => {
                self.advance();
                self.semicolon()?;
                Ok(StmtKind::Continue)
            }
            Tok::Return => {
                self.advance();
                let no_value = matches!(self.peek(), Tok::Semi | Tok::RBrace);
                let value = if no_value { None } else { Some(self.expression()?) };
                self.semicolon()?;
                Ok(StmtKind::Return(value))
            }
            Tok::Asm => self.asm(),
            Tok::StaticAssert => Ok(StmtKind::StaticAssert { condition: self.static_assert()? }),
            Tok::Else => {
                let span = self.span();
                self.error(codes::SYNTAX, span, "`else` without `if`")
                    .label("no `if` ends here")
                    .hint("put the statements after `if (...)` into `{ ... }`");
                Err(SyntaxError)
            }
            // `__attribute__((fallthrough));`
            Tok::Attribute => {
                let before = self.at;
                self.attributes()?;
                if self.eat(Tok::Semi) {
                    return Ok(StmtKind::Empty);
                }
                self.at = before;
                Ok(StmtKind::Declaration(self.declaration()?))
            }
            Tok::Name if self.peek_at(1) == Tok::Colon && self.peek_at(2) != Tok::Colon => {
                let name = self.name()?;
                self.advance();
                self.attributes()?;
                Ok(StmtKind::Label { name, body: self.labelled()? })
            }
            _ if self.begins_declaration() => Ok(StmtKind::Declaration(self.declaration()?)),
            _ => {
                let expr = self.expression()?;
                self.semicolon()?;
                Ok(StmtKind::Expr(expr))
            }
        }
    }

    /// Returns whether a declaration begins here. A name that is not declared, with a name after it,
    /// is taken for an unknown type.
    fn begins_declaration(&self) -> bool {
        if self.peek() == Tok::Extension {
            let next = self.tokens[self.at..].iter().position(|t| t.kind != Tok::Extension);
            return self.is_type_at(next.unwrap_or(0));
        }
        if self.begins_specifier() {
            return true;
        }
        if self.peek() != Tok::Name || self.meaning(self.token()) == Some(Meaning::Value) {
            return false;
        }
        match self.peek_at(1) {
            Tok::Name => !matches!(&*self.text(self.token()), "delete" | "new" | "throw"),
            Tok::Star => {
                self.peek_at(2) == Tok::Name
                    && matches!(self.peek_at(3), Tok::Semi | Tok::Assign | Tok::Comma)
            }
            _ => false,
        }
    }

    /// Parses `(condition)`.
    fn condition(&mut self) -> ParseResult<Expr> {
        self.expect(Tok::LParen, "`(`")?;
        let condition = self.expression()?;
        self.expect(Tok::RParen, "`)`")?;
        Ok(condition)
    }

    /// Parses the statement after a label. There is none before `}`.
    fn labelled(&mut self) -> ParseResult<Box<Stmt>> {
        if self.peek() == Tok::RBrace {
            let span = self.end_of_previous();
            return Ok(Box::new(Stmt { kind: StmtKind::Empty, span }));
        }
        self.boxed_statement()
    }

    fn for_statement(&mut self) -> ParseResult<StmtKind> {
        self.advance();
        self.expect(Tok::LParen, "`(`")?;
        self.scopes.open();
        let start = self.span();
        let first = if self.eat(Tok::Semi) {
            None
        } else if self.begins_declaration() {
            Some(StmtKind::Declaration(self.declaration()?))
        } else {
            let expr = self.expression()?;
            self.expect(Tok::Semi, "`;`")?;
            Some(StmtKind::Expr(expr))
        };
        let span = start.to(self.previous());
        let first = first.map(|kind| Box::new(Stmt { kind, span }));
        let condition = if self.peek() == Tok::Semi { None } else { Some(self.expression()?) };
        self.expect(Tok::Semi, "`;`")?;
        let step = if self.peek() == Tok::RParen { None } else { Some(self.expression()?) };
        self.expect(Tok::RParen, "`)`")?;
        let body = self.boxed_statement()?;
        self.scopes.close();
        Ok(StmtKind::For { first, condition, step, body })
    }

    fn goto(&mut self) -> ParseResult<StmtKind> {
        self.advance();
        if self.peek() == Tok::Star {
            let span = self.span();
            self.error(codes::NOT_SUPPORTED, span, "`goto` to a computed label")
                .hint("use `switch`");
            return Err(SyntaxError);
        }
        let name = self.name()?;
        self.semicolon()?;
        Ok(StmtKind::Goto(name))
    }

    /// Parses `_Static_assert(condition, "message");`.
    pub(super) fn static_assert(&mut self) -> ParseResult<Expr> {
        self.advance();
        self.expect(Tok::LParen, "`(`")?;
        let condition = self.conditional()?;
        if self.eat(Tok::Comma) {
            self.string_literal()?;
        }
        self.expect(Tok::RParen, "`)`")?;
        self.semicolon()?;
        Ok(condition)
    }
}
