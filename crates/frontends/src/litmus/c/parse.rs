//! Parses tokens into functions: `P0(atomic_int *x, int *y) { ... }`.
//!
//! The syntax is a subset of C: declarations, assignments, calls, `if`, `while`, `do`, `for`,
//! `break` and `continue`. Extensions of herd's dialect: `&&`, `||`, `!`, `?:`, `%`, shifts, `do`,
//! `for`, `break`, `continue`, compound assignments, `++` and `--`. Types are dropped, except for
//! `*`. Nesting deeper than [`MAX_DEPTH`] is an error, because later passes are recursive.
//!
//! `break` and `continue` are keywords only as whole statements. herd reads them as names, and
//! tests use them as such.

mod control;
mod expression;
mod simple;

use fencepost_ir::Span;

use super::super::error::{Errors, LitmusError};
use super::super::layout::TYPES_OF_64_BITS;
use super::super::tokens::{Tok, Tokens};
use super::ast::{Block, Declaration, Function, Parameter, Statement, StatementKind};
use crate::fp::limits;

/// The maximum nesting depth of statements and expressions.
const MAX_DEPTH: u32 = 200;

/// Keywords of statements that are not supported.
const UNSUPPORTED_STATEMENTS: [&str; 6] = ["goto", "return", "switch", "case", "asm", "__asm__"];

/// Parses all functions. Returns `None` if the list of threads is not known: a function is invalid
/// or out of order.
pub(in super::super) fn parse_functions(
    tokens: &mut Tokens<'_>,
    errors: &mut Errors,
) -> Option<Vec<Function>> {
    let (mut functions, mut complete) = (Vec::new(), true);
    loop {
        while tokens.eat(Tok::Semi) {}
        if tokens.kind() == Tok::End && !(functions.is_empty() && complete) {
            return complete.then_some(functions);
        }
        let mut parser = Parser { tokens, errors, depth: 0, incomplete: false, in_order: complete };
        match parser.function(functions.len()) {
            Ok(function) => {
                complete &= parser.in_order;
                functions.push(function);
            }
            Err(error) => {
                errors.push(error);
                complete = false;
                // Skip to the end of the function.
                tokens.skip_to(BRACES, |tokens| tokens.kind() == Tok::LBrace);
                tokens.take();
                tokens.skip_to(BRACES, |tokens| tokens.kind() == Tok::RBrace);
                tokens.take();
            }
        }
    }
}

const BRACES: (Tok, Tok) = (Tok::LBrace, Tok::RBrace);

/// The parser of one function.
struct Parser<'t, 's> {
    tokens: &'t mut Tokens<'s>,
    errors: &'t mut Errors,
    /// Whether a statement is invalid and was left out.
    incomplete: bool,
    /// Whether the threads so far are numbered in order.
    in_order: bool,
    /// The nesting depth of the current statement or expression.
    depth: u32,
}

impl Parser<'_, '_> {
    fn function(&mut self, number: usize) -> Result<Function, LitmusError> {
        while self.tokens.kind() == Tok::Name && self.tokens.kind_at(1) == Tok::Name {
            self.tokens.take();
        }
        let span = self.tokens.peek().span;
        let name = self.tokens.name("a function, as in `P0(atomic_int *x) { ... }`")?;
        let thread = name.strip_prefix('P').and_then(|n| n.parse::<u32>().ok());
        if self.in_order && thread != u32::try_from(number).ok() {
            let message = match thread {
                Some(_) => format!("expected P{number}: threads are numbered in order"),
                None => "invalid thread name: threads are named P0, P1, ...".into(),
            };
            self.errors.push(LitmusError::syntax(span, message));
            self.in_order = false;
        }
        if number as u64 >= limits::THREADS {
            return Err(LitmusError::too_large(span, "the test has too many threads"));
        }
        self.tokens.expect(Tok::LParen, "`(`")?;
        let mut parameters: Vec<Parameter> = Vec::new();
        if self.tokens.word() == "void" && self.tokens.kind_at(1) == Tok::RParen {
            self.tokens.take();
        }
        while self.tokens.kind() != Tok::RParen {
            let parameter = self.parameter()?;
            if parameters.iter().any(|other| other.name == parameter.name) {
                let message = format!("the parameter `{}` is declared twice", parameter.name);
                self.errors.push(LitmusError::name(parameter.span, message));
            }
            parameters.push(parameter);
            if !self.tokens.eat(Tok::Comma) {
                break;
            }
        }
        self.tokens.expect(Tok::RParen, "`)` after the parameters")?;
        let body = self.block()?;
        Ok(Function { thread: number as u32, parameters, body, incomplete: self.incomplete })
    }

    /// Parses a parameter: `volatile int *x`, `int a[2]`.
    fn parameter(&mut self) -> Result<Parameter, LitmusError> {
        if self.tokens.kind() == Tok::Name
            && matches!(self.tokens.kind_at(1), Tok::Comma | Tok::RParen)
        {
            let message = format!("the parameter `{}` has no type", self.tokens.word());
            return Err(LitmusError::syntax(self.tokens.peek().span, message)
                .hint("declare its type, as in `int *x`"));
        }
        let is_64_bit = self.type_words()?;
        let (mut pointer, span, name) = self.declarator()?;
        if self.tokens.eat(Tok::LBracket) {
            if self.tokens.kind() != Tok::RBracket {
                self.tokens.count("number of elements")?;
            }
            self.tokens.expect(Tok::RBracket, "`]`")?;
            pointer = true;
        }
        Ok(Parameter { name, pointer, is_64_bit, span })
    }

    /// Skips the words of a type, up to the stars and the name. Returns whether the type has 64 bits.
    fn type_words(&mut self) -> Result<bool, LitmusError> {
        let is_wide = |word: &str| TYPES_OF_64_BITS.contains(&word);
        let mut is_64_bit = is_wide(self.tokens.name("a type")?);
        if self.tokens.eat(Tok::LParen) {
            // `_Atomic(int)`
            is_64_bit |= is_wide(self.tokens.name("a type")?);
            self.tokens.expect(Tok::RParen, "`)`")?;
        }
        while self.tokens.kind() == Tok::Name
            && matches!(self.tokens.kind_at(1), Tok::Name | Tok::Star)
        {
            is_64_bit |= is_wide(self.tokens.word());
            self.tokens.take();
        }
        Ok(is_64_bit)
    }

    /// Parses stars and a name. Returns whether there is a star, the span of the name, and the
    /// name.
    fn declarator(&mut self) -> Result<(bool, Span, String), LitmusError> {
        let pointer = self.tokens.kind() == Tok::Star;
        while self.tokens.eat(Tok::Star) {}
        // `int *const p`
        while self.tokens.kind() == Tok::Name && self.tokens.kind_at(1) == Tok::Name {
            self.tokens.take();
        }
        let span = self.tokens.peek().span;
        Ok((pointer, span, self.tokens.name("a name")?.to_string()))
    }

    fn block(&mut self) -> Result<Block, LitmusError> {
        self.tokens.expect(Tok::LBrace, "`{`")?;
        let mut statements = Vec::new();
        let depth = self.depth;
        while self.tokens.kind() != Tok::RBrace {
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(error) => {
                    self.errors.push(error);
                    (self.incomplete, self.depth) = (true, depth);
                    self.skip_statement();
                    if self.tokens.kind() == Tok::End {
                        break;
                    }
                }
            }
        }
        Ok(Block { statements, close: self.tokens.take().span })
    }

    /// Skips the rest of an invalid statement: past a semicolon outside of parentheses, past a
    /// block, or up to the end of the enclosing block.
    fn skip_statement(&mut self) {
        let mut parentheses = 0u32;
        loop {
            match self.tokens.kind() {
                Tok::End | Tok::RBrace => return,
                Tok::LParen => parentheses += 1,
                Tok::RParen => parentheses = parentheses.saturating_sub(1),
                Tok::Semi if parentheses == 0 => {
                    self.tokens.take();
                    break;
                }
                Tok::LBrace => {
                    self.tokens.take();
                    self.tokens.skip_to(BRACES, |tokens| tokens.kind() == Tok::RBrace);
                    self.tokens.take();
                    break;
                }
                _ => {}
            }
            self.tokens.take();
        }
        // After an invalid `if`, the parser continues with the statement after `else`.
        self.tokens.eat_word("else");
    }

    fn statement(&mut self) -> Result<Statement, LitmusError> {
        let first = self.tokens.peek().span;
        self.enter(first)?;
        let (kind, head) = self.statement_kind()?;
        self.depth -= 1;
        let span = first.to(self.tokens.last_span());
        let head = head.unwrap_or(span);
        let simple = match kind {
            StatementKind::Declare(_)
            | StatementKind::Assign(..)
            | StatementKind::Evaluate(_)
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::DoWhile(..) => true,
            StatementKind::If(..)
            | StatementKind::While(..)
            | StatementKind::For(_)
            | StatementKind::Block(_)
            | StatementKind::Empty => false,
        };
        if simple {
            self.tokens.expect(Tok::Semi, "`;`")?;
        }
        Ok(Statement { kind, span, head, end: self.end_of_last_token() })
    }

    /// Returns the empty span after the token that was taken last.
    fn end_of_last_token(&self) -> Span {
        let last = self.tokens.last_span();
        let column = last.column + (last.end - last.start);
        Span { start: last.end, end: last.end, line: last.line, column }
    }

    /// Parses a statement without its semicolon. Returns its kind, and the span of its head if the
    /// head is not the whole statement.
    fn statement_kind(&mut self) -> Result<(StatementKind, Option<Span>), LitmusError> {
        let token = self.tokens.peek();
        match (token.kind, self.tokens.word()) {
            (Tok::Semi, _) => {
                self.tokens.take();
                Ok((StatementKind::Empty, None))
            }
            (Tok::LBrace, _) => Ok((StatementKind::Block(self.block()?), Some(token.span))),
            (Tok::Name, "if") => self.if_statement(),
            (Tok::Name, "while") => self.while_loop(),
            (Tok::Name, "do") => self.do_while_loop(),
            (Tok::Name, "for") if self.tokens.kind_at(1) == Tok::LParen => self.for_loop(),
            (Tok::Name, "break") if self.tokens.kind_at(1) == Tok::Semi => {
                self.tokens.take();
                Ok((StatementKind::Break, None))
            }
            (Tok::Name, "continue") if self.tokens.kind_at(1) == Tok::Semi => {
                self.tokens.take();
                Ok((StatementKind::Continue, None))
            }
            (Tok::Name, word) if UNSUPPORTED_STATEMENTS.contains(&word) => {
                Err(LitmusError::unsupported(token.span, format!("`{word}` is not supported"))
                    .hint("use `if`, `while`, `do` or `for`"))
            }
            _ => Ok((self.simple_statement()?, None)),
        }
    }

    fn declarations(&mut self) -> Result<Vec<Declaration>, LitmusError> {
        let is_64_bit = self.type_words()?;
        let mut all = Vec::new();
        loop {
            let (pointer, span, name) = self.declarator()?;
            if self.tokens.kind() == Tok::LBracket {
                let message = format!("`{name}` is a local array, which is not supported");
                return Err(LitmusError::unsupported(span, message)
                    .hint("declare the array in the initial state, and pass it as a parameter"));
            }
            let value = if self.tokens.eat(Tok::Eq) { Some(self.expression()?) } else { None };
            all.push(Declaration { name, pointer, is_64_bit, value, span });
            if !self.tokens.eat(Tok::Comma) {
                return Ok(all);
            }
        }
    }

    /// Increments the nesting depth. Fails if it exceeds the maximum. The caller decrements it.
    fn enter(&mut self, span: Span) -> Result<(), LitmusError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(too_deep(span)) } else { Ok(()) }
    }
}

fn too_deep(span: Span) -> LitmusError {
    LitmusError::too_large(span, format!("this code is nested deeper than {MAX_DEPTH} levels"))
}
