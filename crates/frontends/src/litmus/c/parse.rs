//! From tokens to functions: `P0(atomic_int *x, int *y) { ... }`, one after another.
//!
//! Read as C compilers read it, as far as tests need it: declarations, assignments, calls, `if`, `while` and
//! `do`. Beyond herd: `&&`, `||`, `!`, `?:`, `%`, shifts and `do`. Types are read and forgotten, but for a
//! `*`. What nests deeper than [`DEEPEST`] is refused: everything after this walks the tree by recursion.

mod expression;

use fencepost_ir::Span;

use super::super::tokens::{Tok, Tokens};
use super::super::wrong::{Errors, Wrong};
use super::ast::{Block, Declared, Expression, Function, Parameter, Statement, StatementKind};
use crate::fp::limits;

/// How deep statements and expressions may nest.
const DEEPEST: u32 = 200;

/// Statements that we do not read.
const REFUSED: [&str; 9] =
    ["for", "goto", "return", "switch", "case", "break", "continue", "asm", "__asm__"];

/// Reads all functions; none if it is not known which threads there are.
pub(in super::super) fn read(
    tokens: &mut Tokens<'_>,
    errors: &mut Errors,
) -> Option<Vec<Function>> {
    let (mut functions, mut complete) = (Vec::new(), true);
    loop {
        while tokens.eat(Tok::Semi) {}
        if tokens.kind() == Tok::End && !(functions.is_empty() && complete) {
            return complete.then_some(functions);
        }
        let mut reader = Reader { tokens, errors, depth: 0, lost: false, in_order: complete };
        match reader.function(functions.len()) {
            Ok(function) => {
                complete &= reader.in_order;
                functions.push(function);
            }
            Err(wrong) => {
                errors.push(wrong);
                complete = false;
                // On to the end of the function.
                tokens.skip_to(BRACES, |tokens| tokens.kind() == Tok::LBrace);
                tokens.take();
                tokens.skip_to(BRACES, |tokens| tokens.kind() == Tok::RBrace);
                tokens.take();
            }
        }
    }
}

const BRACES: (Tok, Tok) = (Tok::LBrace, Tok::RBrace);

/// Reads one function.
struct Reader<'t, 's> {
    tokens: &'t mut Tokens<'s>,
    errors: &'t mut Errors,
    /// Whether a statement could not be read.
    lost: bool,
    /// Whether threads have come in order so far.
    in_order: bool,
    /// How deep the statement or expression is that is being read.
    depth: u32,
}

impl Reader<'_, '_> {
    fn function(&mut self, number: usize) -> Result<Function, Wrong> {
        while self.tokens.kind() == Tok::Name && self.tokens.ahead(1) == Tok::Name {
            self.tokens.take();
        }
        let span = self.tokens.peek().span;
        let name = self.tokens.name("a function, as in `P0(atomic_int *x) { ... }`")?;
        let thread = name.strip_prefix('P').and_then(|n| n.parse::<u32>().ok());
        if self.in_order && thread != u32::try_from(number).ok() {
            let message = match thread {
                Some(_) => format!("expected P{number}: threads come in order"),
                None => "threads are called P0, P1, ...".into(),
            };
            self.errors.push(Wrong::syntax(span, message));
            self.in_order = false;
        }
        if number as u64 >= limits::THREADS {
            return Err(Wrong::too_large(span, "these are too many threads"));
        }
        self.tokens.expect(Tok::LParen, "`(`")?;
        let mut parameters: Vec<Parameter> = Vec::new();
        if self.tokens.word() == "void" && self.tokens.ahead(1) == Tok::RParen {
            self.tokens.take();
        }
        while self.tokens.kind() != Tok::RParen {
            let parameter = self.parameter()?;
            if parameters.iter().any(|other| other.name == parameter.name) {
                let message = format!("the parameter `{}` is there twice", parameter.name);
                self.errors.push(Wrong::name(parameter.span, message));
            }
            parameters.push(parameter);
            if !self.tokens.eat(Tok::Comma) {
                break;
            }
        }
        self.tokens.expect(Tok::RParen, "`)` after the parameters")?;
        let body = self.block()?;
        Ok(Function { thread: number as u32, parameters, body, lost: self.lost })
    }

    /// `volatile int *x`, `int a[2]`.
    fn parameter(&mut self) -> Result<Parameter, Wrong> {
        if self.tokens.kind() == Tok::Name
            && matches!(self.tokens.ahead(1), Tok::Comma | Tok::RParen)
        {
            let message = format!("the parameter `{}` has no type", self.tokens.word());
            return Err(Wrong::syntax(self.tokens.peek().span, message).hint("as in `int *x`"));
        }
        self.type_words()?;
        let (mut pointer, span, name) = self.declarator()?;
        if self.tokens.eat(Tok::LBracket) {
            if self.tokens.kind() != Tok::RBracket {
                self.tokens.count("number of elements")?;
            }
            self.tokens.expect(Tok::RBracket, "`]`")?;
            pointer = true;
        }
        Ok(Parameter { name, pointer, span })
    }

    /// The words of a type; stars and a name come next.
    fn type_words(&mut self) -> Result<(), Wrong> {
        self.tokens.name("a type")?;
        if self.tokens.eat(Tok::LParen) {
            // `_Atomic(int)`
            self.tokens.name("a type")?;
            self.tokens.expect(Tok::RParen, "`)`")?;
        }
        while self.tokens.kind() == Tok::Name
            && matches!(self.tokens.ahead(1), Tok::Name | Tok::Star)
        {
            self.tokens.take();
        }
        Ok(())
    }

    /// Stars and a name: whether it is a pointer, where the name is, the name.
    fn declarator(&mut self) -> Result<(bool, Span, String), Wrong> {
        let pointer = self.tokens.kind() == Tok::Star;
        while self.tokens.eat(Tok::Star) {}
        // `int *const p`
        while self.tokens.kind() == Tok::Name && self.tokens.ahead(1) == Tok::Name {
            self.tokens.take();
        }
        let span = self.tokens.peek().span;
        Ok((pointer, span, self.tokens.name("a name")?.to_string()))
    }

    fn block(&mut self) -> Result<Block, Wrong> {
        self.tokens.expect(Tok::LBrace, "`{`")?;
        let mut statements = Vec::new();
        let depth = self.depth;
        while self.tokens.kind() != Tok::RBrace {
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(wrong) => {
                    self.errors.push(wrong);
                    (self.lost, self.depth) = (true, depth);
                    self.skip_statement();
                    if self.tokens.kind() == Tok::End {
                        break;
                    }
                }
            }
        }
        Ok(Block { statements, close: self.tokens.take().span })
    }

    /// Takes the rest of a statement that could not be read: up to a semicolon outside of parentheses, a block, or
    /// the end of the block around it.
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
        // The other half of an `if` is a statement to be read.
        self.tokens.eat_word("else");
    }

    fn statement(&mut self) -> Result<Statement, Wrong> {
        let first = self.tokens.peek().span;
        self.deeper(first)?;
        let (kind, head) = self.compound_or_simple()?;
        self.depth -= 1;
        let span = first.to(self.tokens.last());
        let head = head.unwrap_or(span);
        let simple = match kind {
            StatementKind::Declare(_)
            | StatementKind::Assign(..)
            | StatementKind::Evaluate(_)
            | StatementKind::DoWhile(..) => true,
            StatementKind::If(..)
            | StatementKind::While(..)
            | StatementKind::Block(_)
            | StatementKind::Empty => false,
        };
        if simple {
            self.tokens.expect(Tok::Semi, "`;`")?;
        }
        Ok(Statement { kind, span, head, end: self.behind() })
    }

    /// The empty stretch behind what was read last.
    fn behind(&self) -> Span {
        let last = self.tokens.last();
        let column = last.column + (last.end - last.start);
        Span { start: last.end, end: last.end, line: last.line, column }
    }

    /// What a statement does, and what is shown of it if that is not all.
    fn compound_or_simple(&mut self) -> Result<(StatementKind, Option<Span>), Wrong> {
        let token = self.tokens.peek();
        match (token.kind, self.tokens.word()) {
            (Tok::Semi, _) => {
                self.tokens.take();
                Ok((StatementKind::Empty, None))
            }
            (Tok::LBrace, _) => Ok((StatementKind::Block(self.block()?), Some(token.span))),
            (Tok::Name, "if") => {
                let condition = self.condition()?;
                let head = token.span.to(self.tokens.last());
                let then = Box::new(self.statement()?);
                let has_else = self.tokens.eat_word("else");
                let otherwise = if has_else { Some(Box::new(self.statement()?)) } else { None };
                Ok((StatementKind::If(condition, then, otherwise), Some(head)))
            }
            (Tok::Name, "while") => {
                let condition = self.condition()?;
                let head = token.span.to(self.tokens.last());
                Ok((StatementKind::While(condition, Box::new(self.statement()?)), Some(head)))
            }
            (Tok::Name, "do") => {
                self.tokens.take();
                let body = Box::new(self.statement()?);
                if self.tokens.word() != "while" {
                    return Err(self.tokens.unexpected("`while` after the body of `do`"));
                }
                Ok((StatementKind::DoWhile(body, self.condition()?), Some(token.span)))
            }
            (Tok::Name, word) if REFUSED.contains(&word) => {
                Err(Wrong::unsupported(token.span, format!("`{word}` is not supported"))
                    .hint("we read `if`, `while` and `do`"))
            }
            (Tok::Name, word)
                if self.tokens.ahead(1) == Tok::Name
                    || self.tokens.ahead(1) == Tok::Star && expression::is_type(word)
                    || word == "_Atomic" =>
            {
                Ok((StatementKind::Declare(self.declarations()?), None))
            }
            _ => {
                let target = self.expression()?;
                if !self.tokens.eat(Tok::Eq) {
                    return Ok((StatementKind::Evaluate(target), None));
                }
                Ok((StatementKind::Assign(target, self.expression()?), None))
            }
        }
    }

    /// `(condition)` after the word that asks for it.
    fn condition(&mut self) -> Result<Expression, Wrong> {
        self.tokens.take();
        self.tokens.expect(Tok::LParen, "`(`")?;
        let condition = self.expression()?;
        self.tokens.expect(Tok::RParen, "`)`")?;
        Ok(condition)
    }

    fn declarations(&mut self) -> Result<Vec<Declared>, Wrong> {
        self.type_words()?;
        let mut all = Vec::new();
        loop {
            let (pointer, span, name) = self.declarator()?;
            if self.tokens.kind() == Tok::LBracket {
                let message = format!("`{name}` is an array of its thread alone");
                return Err(Wrong::unsupported(span, message));
            }
            let value = if self.tokens.eat(Tok::Eq) { Some(self.expression()?) } else { None };
            all.push(Declared { name, pointer, value, span });
            if !self.tokens.eat(Tok::Comma) {
                return Ok(all);
            }
        }
    }

    /// One level deeper, if that is allowed; the caller comes back up.
    fn deeper(&mut self, span: Span) -> Result<(), Wrong> {
        self.depth += 1;
        if self.depth > DEEPEST { Err(too_deep(span)) } else { Ok(()) }
    }
}

fn too_deep(span: Span) -> Wrong {
    Wrong::too_large(span, format!("this nests deeper than {DEEPEST} levels"))
}
