//! Expressions: from the comma operator down to unary operators and casts.

use super::{MAX_HEIGHT, ParseResult, Parser, SyntaxError};
use crate::c::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::c::codes;
use crate::c::tokens::Tok;

/// A binary operator of the grammar.
#[derive(Clone, Copy)]
enum Operator {
    Binary(BinaryOp),
    And,
    Or,
}

/// Returns a binary operator and its precedence.
fn operator(kind: Tok) -> Option<(Operator, u8)> {
    use BinaryOp::{
        Add, BitAnd, BitOr, BitXor, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Rem, Shl, Shr, Sub,
    };
    let (op, precedence) = match kind {
        Tok::OrOr => return Some((Operator::Or, 1)),
        Tok::AndAnd => return Some((Operator::And, 2)),
        Tok::Or => (BitOr, 3),
        Tok::Caret => (BitXor, 4),
        Tok::And => (BitAnd, 5),
        Tok::EqEq => (Eq, 6),
        Tok::NotEq => (Ne, 6),
        Tok::Lt => (Lt, 7),
        Tok::Le => (Le, 7),
        Tok::Gt => (Gt, 7),
        Tok::Ge => (Ge, 7),
        Tok::Shl => (Shl, 8),
        Tok::Shr => (Shr, 8),
        Tok::Plus => (Add, 9),
        Tok::Minus => (Sub, 9),
        Tok::Star => (Mul, 10),
        Tok::Slash => (Div, 10),
        Tok::Percent => (Rem, 10),
        _ => return None,
    };
    Some((Operator::Binary(op), precedence))
}

/// Returns the operator of an assignment: `None` inside for `=`.
fn assignment_operator(kind: Tok) -> Option<Option<BinaryOp>> {
    Some(match kind {
        Tok::Assign => None,
        Tok::PlusAssign => Some(BinaryOp::Add),
        Tok::MinusAssign => Some(BinaryOp::Sub),
        Tok::StarAssign => Some(BinaryOp::Mul),
        Tok::SlashAssign => Some(BinaryOp::Div),
        Tok::PercentAssign => Some(BinaryOp::Rem),
        Tok::AndAssign => Some(BinaryOp::BitAnd),
        Tok::OrAssign => Some(BinaryOp::BitOr),
        Tok::CaretAssign => Some(BinaryOp::BitXor),
        Tok::ShlAssign => Some(BinaryOp::Shl),
        Tok::ShrAssign => Some(BinaryOp::Shr),
        _ => return None,
    })
}

impl Parser<'_> {
    /// Stores the height of the expression that is being built. Reports an error at the limit.
    pub(super) fn set_height(&mut self, height: u32) -> ParseResult<()> {
        self.height = height;
        self.tallest = self.tallest.max(height);
        if height > MAX_HEIGHT { Err(self.too_deep()) } else { Ok(()) }
    }

    /// Parses an expression, with commas.
    pub(super) fn expression(&mut self) -> ParseResult<Expr> {
        let mut left = self.assignment()?;
        while self.eat(Tok::Comma) {
            let height = self.height;
            let right = self.assignment()?;
            self.set_height(height.max(self.height) + 1)?;
            let span = left.span.to(right.span);
            left =
                Expr { kind: ExprKind::Comma(Box::new(left), Box::new(right)), span, origin: None };
        }
        Ok(left)
    }

    /// Parses an expression without commas.
    pub(super) fn assignment(&mut self) -> ParseResult<Expr> {
        self.nested(|parser| {
            let target = parser.conditional()?;
            let Some(op) = assignment_operator(parser.peek()) else { return Ok(target) };
            parser.advance();
            let height = parser.height;
            let value = parser.assignment()?;
            parser.set_height(height.max(parser.height) + 1)?;
            let span = target.span.to(value.span);
            let (target, value) = (Box::new(target), Box::new(value));
            Ok(Expr { kind: ExprKind::Assign { op, target, value }, span, origin: None })
        })
    }

    /// Parses `a ? b : c` or an expression that binds tighter. Constant expressions begin here.
    pub(super) fn conditional(&mut self) -> ParseResult<Expr> {
        let condition = self.binary(0)?;
        if !self.eat(Tok::Question) {
            return Ok(condition);
        }
        let height = self.height;
        let then =
            if self.peek() == Tok::Colon { None } else { Some(Box::new(self.expression()?)) };
        let height = height.max(self.height);
        self.expect(Tok::Colon, "`:`")?;
        let otherwise = self.nested(Self::conditional)?;
        self.set_height(height.max(self.height) + 1)?;
        let span = condition.span.to(otherwise.span);
        let (condition, otherwise) = (Box::new(condition), Box::new(otherwise));
        Ok(Expr { kind: ExprKind::Conditional { condition, then, otherwise }, span, origin: None })
    }

    /// Parses binary operators with a precedence above `above`.
    fn binary(&mut self, above: u8) -> ParseResult<Expr> {
        let mut left = self.cast()?;
        while let Some((op, precedence)) = operator(self.peek())
            && precedence > above
        {
            self.advance();
            let height = self.height;
            let right = self.binary(precedence)?;
            self.set_height(height.max(self.height) + 1)?;
            let span = left.span.to(right.span);
            let (a, b) = (Box::new(left), Box::new(right));
            let kind = match op {
                Operator::Binary(op) => ExprKind::Binary { op, left: a, right: b },
                Operator::And => ExprKind::LogicalAnd(a, b),
                Operator::Or => ExprKind::LogicalOr(a, b),
            };
            left = Expr { kind, span, origin: None };
        }
        Ok(left)
    }

    /// Parses a cast or an expression that binds tighter.
    fn cast(&mut self) -> ParseResult<Expr> {
        if self.peek() != Tok::LParen || !(self.is_type_at(1) || self.unknown_cast()) {
            return self.unary();
        }
        let start = self.advance().span;
        let ty = Box::new(self.type_name()?);
        self.expect(Tok::RParen, "`)`")?;
        if self.peek() == Tok::LBrace {
            let compound = self.compound(ty, start)?;
            return self.postfix_operators(compound);
        }
        let operand = Box::new(self.nested(Self::cast)?);
        self.set_height(self.height + 1)?;
        let span = start.to(operand.span);
        Ok(Expr { kind: ExprKind::Cast { ty, operand }, span, origin: None })
    }

    /// Returns whether the current `(` begins a cast to a type that is not known: `(name *)`, or
    /// `(name)` before a name or a number.
    fn unknown_cast(&self) -> bool {
        let name = self.tokens.get(self.at + 1).filter(|token| token.kind == Tok::Name);
        if name.is_none_or(|name| self.meaning(*name).is_some()) {
            return false;
        }
        match self.peek_at(2) {
            Tok::Star => matches!(self.peek_at(3), Tok::RParen | Tok::Star),
            Tok::RParen => matches!(self.peek_at(3), Tok::Name | Tok::Number),
            _ => false,
        }
    }

    fn unary(&mut self) -> ParseResult<Expr> {
        let token = self.token();
        let op = match token.kind {
            Tok::And => UnaryOp::Address,
            Tok::Star => UnaryOp::Deref,
            Tok::Plus => UnaryOp::Plus,
            Tok::Minus => UnaryOp::Minus,
            Tok::Tilde => UnaryOp::BitNot,
            Tok::Not => UnaryOp::Not,
            Tok::PlusPlus | Tok::MinusMinus => {
                self.advance();
                let operand = Box::new(self.nested(Self::unary)?);
                self.set_height(self.height + 1)?;
                let span = token.span.to(operand.span);
                let increment = token.kind == Tok::PlusPlus;
                return Ok(Expr {
                    kind: ExprKind::Step { increment, prefix: true, operand },
                    span,
                    origin: None,
                });
            }
            Tok::Sizeof | Tok::Alignof => return self.size_of(),
            Tok::Extension => {
                self.advance();
                return self.nested(Self::cast);
            }
            Tok::AndAnd => {
                self.error(codes::NOT_SUPPORTED, token.span, "the address of a label")
                    .hint("use `switch`");
                return Err(SyntaxError);
            }
            _ => return self.postfix(),
        };
        self.advance();
        let operand = Box::new(self.nested(Self::cast)?);
        self.set_height(self.height + 1)?;
        let span = token.span.to(operand.span);
        Ok(Expr { kind: ExprKind::Unary { op, operand }, span, origin: None })
    }

    /// Parses `sizeof` or `_Alignof`.
    fn size_of(&mut self) -> ParseResult<Expr> {
        let token = self.advance();
        let is_size = token.kind == Tok::Sizeof;
        let kind = if self.peek() == Tok::LParen && self.is_type_at(1) {
            let start = self.advance().span;
            let ty = Box::new(self.type_name()?);
            self.expect(Tok::RParen, "`)`")?;
            if self.peek() == Tok::LBrace && is_size {
                let compound = self.compound(ty, start)?;
                let operand = self.postfix_operators(compound)?;
                ExprKind::SizeofExpr(Box::new(operand))
            } else if is_size {
                ExprKind::SizeofType(ty)
            } else {
                ExprKind::AlignofType(ty)
            }
        } else {
            let operand = Box::new(self.nested(Self::unary)?);
            if is_size { ExprKind::SizeofExpr(operand) } else { alignment_of(operand) }
        };
        self.set_height(self.height + 1)?;
        Ok(Expr { kind, span: token.span.to(self.previous()), origin: None })
    }
}

/// Returns the GNU form `__alignof__ expression` as the alignment of the expression's type.
fn alignment_of(operand: Box<Expr>) -> ExprKind {
    use crate::c::ast::{Declarator, Qualifiers, Specifiers, Storage, TypeName, TypeSpecifier};
    let span = operand.span;
    let specifiers = Specifiers {
        storage: Storage::None,
        thread_local: false,
        ty: TypeSpecifier::TypeofExpr(operand),
        qualifiers: Qualifiers::default(),
        alignment: None,
        span,
    };
    let declarator = Declarator { name: None, derivations: Vec::new(), alignment: None, span };
    ExprKind::AlignofType(Box::new(TypeName { specifiers, declarator, span }))
}
