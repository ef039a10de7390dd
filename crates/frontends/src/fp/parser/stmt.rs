//! Statements.

use fencepost_ir::{BinOp, Span};

use super::{Parsed, Parser};
use crate::fp::ast::{Expr, ExprKind, Name, Stmt, StmtKind};
use crate::fp::lexer::Tok;
use crate::fp::suggest::hint;

/// The words that are statements by themselves.
const WORDS: [&str; 5] = ["break", "continue", "fence", "return", "skip"];

impl Parser<'_> {
    pub(super) fn stmt(&mut self) -> Parsed<Stmt> {
        let start = self.span();
        let (kind, closed) = self.stmt_kind()?;
        let span = start.to(self.previous());
        if !closed {
            self.expect(Tok::Semi)?;
        }
        Ok(Stmt { kind, span, end: self.after_previous() })
    }

    /// A statement, and whether it is complete without a semicolon.
    fn stmt_kind(&mut self) -> Parsed<(StmtKind, bool)> {
        let open = |kind| Ok((kind, false));
        let closed = |kind| Ok((kind, true));
        match self.peek() {
            Tok::LBrace => closed(StmtKind::Block(self.block()?)),
            Tok::If => {
                let (cond, head) = self.head()?;
                let then = self.body()?;
                let otherwise = if self.eat(Tok::Else) { Some(self.body()?) } else { None };
                closed(StmtKind::If { cond, head, then, otherwise })
            }
            Tok::While => {
                let (cond, head) = self.head()?;
                closed(StmtKind::While { cond, head, body: self.body()? })
            }
            Tok::Do => {
                self.advance();
                let body = self.body()?;
                if self.peek() != Tok::While {
                    return Err(self.expected("`while`"));
                }
                let (cond, head) = self.head()?;
                open(StmtKind::DoWhile { body, cond, head })
            }
            Tok::For => self.for_loop().and_then(closed),
            Tok::Loop => {
                self.advance();
                closed(StmtKind::Loop(self.body()?))
            }
            Tok::Critical => {
                self.advance();
                closed(StmtKind::Critical(self.block()?))
            }
            Tok::Atomic => {
                self.advance();
                closed(StmtKind::Atomic(self.block()?))
            }
            Tok::Break => self.word(StmtKind::Break).and_then(open),
            Tok::Continue => self.word(StmtKind::Continue).and_then(open),
            Tok::Skip => self.word(StmtKind::Skip).and_then(open),
            Tok::Semi => self.word(StmtKind::Empty).and_then(closed),
            Tok::Goto => {
                self.advance();
                open(StmtKind::Goto(self.name()?))
            }
            Tok::Return => {
                self.advance();
                let value = if self.peek() == Tok::Semi { None } else { Some(self.expr()?) };
                open(StmtKind::Return(value))
            }
            Tok::Fence => {
                self.advance();
                let mut kinds = Vec::new();
                if self.peek() != Tok::Semi {
                    kinds.push(self.name()?);
                    while self.eat(Tok::Comma) {
                        kinds.push(self.name()?);
                    }
                }
                open(StmtKind::Fence(kinds))
            }
            Tok::Drain => {
                self.advance();
                open(StmtKind::Drain(self.postfix()?))
            }
            Tok::Assume => self.parenthesised().and_then(|e| open(StmtKind::Assume(e))),
            Tok::Assert => self.parenthesised().and_then(|e| open(StmtKind::Assert(e))),
            Tok::Free => self.parenthesised().and_then(|e| open(StmtKind::Free(e))),
            Tok::Bool | Tok::Int => self.declaration().and_then(open),
            Tok::Name if self.peek_second() == Tok::Name => self.declaration().and_then(open),
            Tok::Name if self.peek_second() == Tok::Colon => {
                let label = self.name()?;
                self.advance();
                if self.peek() == Tok::RBrace {
                    let hint = format!("write `{}: skip;` for a label at the end", label.text);
                    return Err(self.expected_hint("a statement", Some(hint)));
                }
                closed(StmtKind::Label(label, self.body()?))
            }
            Tok::Name => self.simple().and_then(open),
            found => {
                self.nameless |= matches!(found, Tok::Assign | Tok::Colon);
                Err(self.expected("a statement"))
            }
        }
    }

    fn word(&mut self, kind: StmtKind) -> Parsed<StmtKind> {
        self.advance();
        Ok(kind)
    }

    /// A statement inside another one.
    fn body(&mut self) -> Parsed<Box<Stmt>> {
        self.nested(Self::stmt).map(Box::new)
    }

    /// `if (c)` or `while (c)`, at its keyword.
    fn head(&mut self) -> Parsed<(Expr, Span)> {
        let start = self.span();
        let cond = self.parenthesised()?;
        Ok((cond, start.to(self.previous())))
    }

    /// A keyword and an expression in parentheses.
    fn parenthesised(&mut self) -> Parsed<Expr> {
        self.advance();
        self.expect(Tok::LParen)?;
        let expr = self.expr()?;
        self.expect(Tok::RParen)?;
        Ok(expr)
    }

    fn declaration(&mut self) -> Parsed<StmtKind> {
        let ty = self.type_name()?;
        let mut vars = Vec::new();
        loop {
            let name: Name = self.name()?;
            let value = if self.eat(Tok::Assign) { Some(self.expr()?) } else { None };
            vars.push((name, value));
            if !self.eat(Tok::Comma) {
                return Ok(StmtKind::Declare(ty, vars));
            }
        }
    }

    fn for_loop(&mut self) -> Parsed<StmtKind> {
        self.advance();
        self.expect(Tok::LParen)?;
        let start = self.span();
        let declares = matches!(self.peek(), Tok::Bool | Tok::Int)
            || (self.peek() == Tok::Name && self.peek_second() == Tok::Name);
        let init = match self.peek() {
            Tok::Semi => None,
            _ if declares => Some(self.declaration()?),
            _ => Some(self.simple()?),
        };
        let init = init.map(|kind| self.part_of_head(kind, start));
        self.expect(Tok::Semi)?;
        let cond = if self.peek() == Tok::Semi { None } else { Some(self.expr()?) };
        self.expect(Tok::Semi)?;
        let start = self.span();
        let step = if self.peek() == Tok::RParen { None } else { Some(self.simple()?) };
        let step = step.map(|kind| self.part_of_head(kind, start));
        self.expect(Tok::RParen)?;
        Ok(StmtKind::For { init, cond, step, body: self.body()? })
    }

    /// A statement in the head of a `for`, just parsed.
    fn part_of_head(&self, kind: StmtKind, start: Span) -> Box<Stmt> {
        Box::new(Stmt { kind, span: start.to(self.previous()), end: self.after_previous() })
    }

    fn simple(&mut self) -> Parsed<StmtKind> {
        let place = self.postfix()?;
        let op = match self.peek() {
            Tok::Assign => None,
            Tok::PlusAssign => Some(BinOp::Add),
            Tok::MinusAssign => Some(BinOp::Sub),
            Tok::StarAssign => Some(BinOp::Mul),
            Tok::SlashAssign => Some(BinOp::Div),
            Tok::PercentAssign => Some(BinOp::Rem),
            Tok::AndAssign => Some(BinOp::BitAnd),
            Tok::OrAssign => Some(BinOp::BitOr),
            Tok::CaretAssign => Some(BinOp::BitXor),
            Tok::PlusPlus | Tok::MinusMinus => {
                let up = self.advance().kind == Tok::PlusPlus;
                return Ok(StmtKind::Step(place, if up { BinOp::Add } else { BinOp::Sub }));
            }
            _ if matches!(place.kind, ExprKind::Call(..)) => return Ok(StmtKind::Eval(place)),
            found => {
                let hint = match found {
                    Tok::EqEq => Some("`=` assigns; `==` compares".to_string()),
                    Tok::Semi => {
                        let near = match &place.kind {
                            ExprKind::Name(name) => hint(name, WORDS, self.diagnostics.len()),
                            _ => None,
                        };
                        let alone = "a value alone does nothing; assign it or remove it";
                        Some(near.unwrap_or(alone.into()))
                    }
                    _ => None,
                };
                return Err(self.expected_hint("`=`", hint));
            }
        };
        self.advance();
        let value = self.expr()?;
        Ok(StmtKind::Assign(place, op, value))
    }
}
