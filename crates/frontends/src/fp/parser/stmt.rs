//! Parsing of statements.

use fencepost_ir::{BinOp, Span};

use super::{ParseResult, Parser, keyword_hint};
use crate::fp::ast::{Block, Expr, ExprKind, Stmt, StmtKind};
use crate::fp::foreign;
use crate::fp::lexer::Tok;
use crate::fp::suggest::did_you_mean;

/// The keywords that are complete statements.
const WORDS: [&str; 5] = ["break", "continue", "fence", "return", "skip"];

impl Parser<'_> {
    pub(super) fn stmt(&mut self) -> ParseResult<Stmt> {
        let start = self.span();
        let outer = std::mem::replace(&mut self.begin, self.at);
        let kind = self.stmt_kind()?;
        let span = start.to(self.previous());
        let needs_no_semicolon = matches!(
            kind,
            StmtKind::Block(_)
                | StmtKind::If { .. }
                | StmtKind::While { .. }
                | StmtKind::For { .. }
                | StmtKind::Loop(_)
                | StmtKind::Critical(_)
                | StmtKind::Atomic(_)
                | StmtKind::Either(_)
                | StmtKind::Switch { .. }
                | StmtKind::Empty
                | StmtKind::Label(..)
        );
        if !needs_no_semicolon {
            self.expect(Tok::Semi)?;
        }
        self.begin = outer;
        Ok(Stmt { kind, span, end: self.after_previous() })
    }

    /// Parses a statement without its semicolon.
    fn stmt_kind(&mut self) -> ParseResult<StmtKind> {
        // One call after the match. In unoptimised builds a call in each arm needs large stack
        // frames for nested statements.
        let parse: fn(&mut Self) -> ParseResult<StmtKind> = match self.peek() {
            Tok::LBrace => |parser| Ok(StmtKind::Block(parser.block()?)),
            Tok::If => Self::if_else,
            Tok::While => |parser| {
                let (cond, head) = parser.head()?;
                Ok(StmtKind::While { cond, head, body: parser.body()? })
            },
            Tok::Do => Self::do_while,
            Tok::For => Self::for_loop,
            Tok::Loop => |parser| Ok(StmtKind::Loop(parser.after_keyword(Self::body)?)),
            Tok::Critical => |parser| Ok(StmtKind::Critical(parser.after_keyword(Self::block)?)),
            Tok::Atomic => |parser| Ok(StmtKind::Atomic(parser.after_keyword(Self::block)?)),
            Tok::Break => |parser| parser.after_keyword(|_| Ok(StmtKind::Break)),
            Tok::Continue => |parser| parser.after_keyword(|_| Ok(StmtKind::Continue)),
            Tok::Skip => |parser| parser.after_keyword(|_| Ok(StmtKind::Skip)),
            Tok::Semi => |parser| parser.after_keyword(|_| Ok(StmtKind::Empty)),
            Tok::Goto => |parser| Ok(StmtKind::Goto(parser.after_keyword(Self::name)?)),
            Tok::Return => |parser| {
                parser.advance();
                let value = if parser.peek() == Tok::Semi { None } else { Some(parser.expr()?) };
                Ok(StmtKind::Return(value))
            },
            Tok::Fence => Self::fence,
            Tok::Drain => |parser| Ok(StmtKind::Drain(parser.after_keyword(Self::postfix)?)),
            Tok::Assume => |parser| Ok(StmtKind::Assume(parser.parenthesised()?)),
            Tok::Await => |parser| Ok(StmtKind::Await(parser.parenthesised()?)),
            Tok::Assert => |parser| Ok(StmtKind::Assert(parser.parenthesised()?)),
            Tok::Free => |parser| Ok(StmtKind::Free(parser.parenthesised()?)),
            Tok::Bool | Tok::Int => Self::declaration,
            Tok::Name if self.is_word_before("either", Tok::LBrace) => Self::either,
            Tok::Name if self.is_word_before("switch", Tok::LParen) => Self::switch,
            Tok::Name if self.peek_second() == Tok::Name => Self::declaration,
            Tok::Name if self.peek_second() == Tok::Colon => Self::label,
            Tok::Name => Self::simple,
            found => {
                self.missing_name |= matches!(found, Tok::Assign | Tok::Colon);
                return Err(self.expected("a statement"));
            }
        };
        parse(self)
    }

    fn after_keyword<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<T> {
        self.advance();
        parse(self)
    }

    fn if_else(&mut self) -> ParseResult<StmtKind> {
        let (cond, head) = self.head()?;
        let then = self.body()?;
        let otherwise = if self.eat(Tok::Else) { Some(self.body()?) } else { None };
        Ok(StmtKind::If { cond, head, then, otherwise })
    }

    fn do_while(&mut self) -> ParseResult<StmtKind> {
        self.advance();
        let body = self.body()?;
        if self.peek() != Tok::While {
            return Err(self.expected("`while`"));
        }
        let (cond, head) = self.head()?;
        Ok(StmtKind::DoWhile { body, cond, head })
    }

    fn either(&mut self) -> ParseResult<StmtKind> {
        self.advance();
        let mut branches = vec![self.either_branch()?];
        while self.is_word_before("or", Tok::LBrace) {
            self.advance();
            branches.push(self.either_branch()?);
        }
        Ok(StmtKind::Either(branches))
    }

    /// Parses a block that may begin with `when(c);`.
    fn either_branch(&mut self) -> ParseResult<Block> {
        let open = self.expect(Tok::LBrace)?;
        self.nested(|parser| {
            let mut stmts = Vec::new();
            if parser.is_word_before("when", Tok::LParen) {
                let start = parser.span();
                let kind = StmtKind::When(parser.parenthesised()?);
                let span = start.to(parser.previous());
                parser.expect(Tok::Semi)?;
                stmts.push(Stmt { kind, span, end: parser.after_previous() });
            }
            parser.block_rest(open, stmts)
        })
    }

    /// Returns whether the next token is this name and the token after it is of this kind. The
    /// words of `either` are keywords only where they are expected.
    pub(super) fn is_word_before(&self, word: &str, second: Tok) -> bool {
        self.peek() == Tok::Name
            && self.peek_second() == second
            && self.span().text(self.source) == word
    }

    fn fence(&mut self) -> ParseResult<StmtKind> {
        self.advance();
        let mut kinds = Vec::new();
        if self.peek() != Tok::Semi {
            kinds.push(self.order_name()?);
            while self.eat(Tok::Comma) {
                kinds.push(self.order_name()?);
            }
        }
        Ok(StmtKind::Fence(kinds))
    }

    fn label(&mut self) -> ParseResult<StmtKind> {
        let label = self.name()?;
        self.advance();
        if self.peek() == Tok::RBrace {
            let hint = format!("write `{}: skip;` for a label at the end of a block", label.text);
            return Err(self.expected_hint("a statement", Some(hint)));
        }
        Ok(StmtKind::Label(label, self.body()?))
    }

    /// Parses the body of another statement.
    fn body(&mut self) -> ParseResult<Box<Stmt>> {
        self.nested(Self::stmt).map(Box::new)
    }

    /// Parses `if (c)`, `while (c)` or `switch (e)`, starting at the keyword.
    pub(super) fn head(&mut self) -> ParseResult<(Expr, Span)> {
        let start = self.span();
        let cond = self.parenthesised()?;
        Ok((cond, start.to(self.previous())))
    }

    /// Parses a keyword and an expression in parentheses.
    fn parenthesised(&mut self) -> ParseResult<Expr> {
        let keyword = self.advance().kind;
        if self.peek() != Tok::LParen {
            let hint = if self.peek() == Tok::Assign {
                keyword_hint(keyword)
            } else {
                Some(format!("write `{}(...)`", keyword.describe().trim_matches('`')))
            };
            let hint = hint.filter(|_| keyword.begins_call());
            return Err(self.expected_hint("`(`", hint));
        }
        self.advance();
        let expr = self.expr()?;
        self.expect(Tok::RParen)?;
        Ok(expr)
    }

    fn declaration(&mut self) -> ParseResult<StmtKind> {
        let ty = self.type_name()?;
        let mut vars = Vec::new();
        loop {
            vars.push(self.declarator()?);
            if !self.eat(Tok::Comma) {
                return Ok(StmtKind::Declare(ty, vars));
            }
        }
    }

    fn for_loop(&mut self) -> ParseResult<StmtKind> {
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

    /// Builds the statement in the head of a `for` from its parsed kind.
    fn part_of_head(&self, kind: StmtKind, start: Span) -> Box<Stmt> {
        Box::new(Stmt { kind, span: start.to(self.previous()), end: self.after_previous() })
    }

    fn simple(&mut self) -> ParseResult<StmtKind> {
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
            _ if matches!(place.kind, ExprKind::Call(..) | ExprKind::Method(..)) => {
                return Ok(StmtKind::Eval(place));
            }
            found => {
                let hint = match found {
                    Tok::EqEq => Some("write `=` to assign; `==` compares".to_string()),
                    Tok::Semi => {
                        let near = match &place.kind {
                            ExprKind::Name(name) => foreign::statement(name)
                                .map(str::to_string)
                                .or_else(|| did_you_mean(name, WORDS, self.diagnostics.len())),
                            _ => None,
                        };
                        let useless =
                            "this has no effect; assign the value, or remove the statement";
                        Some(near.unwrap_or(useless.into()))
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
