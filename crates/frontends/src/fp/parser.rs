//! From tokens to the syntax tree: recursive descent, one function for each rule of the grammar.
//!
//! After a mistake the parser skips to the end of the statement or item and goes on, so that all
//! mistakes are reported. Nesting is limited to [`MAX_NESTING`], because every reader of the tree
//! recurses on it; what is nested too deeply ends the parsing, as does one error too many.
//!
//! Matches on tokens have a `_` arm, unlike elsewhere in the house: any token may come anywhere, and
//! what is not expected is a mistake of the author.

mod expr;
mod item;
mod stmt;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use fencepost_ir::{Diagnostic, Diagnostics, Span};

use super::ast::{Block, Client, Expr, ExprKind, File, Item, Name, Range, TypeKind, TypeName};
use super::lexer::{Lexed, Tok, Token};
use super::{codes, limits};

/// How deep blocks and parentheses may nest.
pub const MAX_NESTING: u32 = 200;

/// How deep the tree of one expression may be; `a + b + c` is a tree of depth 3.
pub const MAX_HEIGHT: u16 = 250;

/// A mistake was reported; whoever can go on after it does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop;

type Parsed<T> = Result<T, Stop>;

/// Whether a comma may stand behind the last part of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trailing {
    Allowed,
    Forbidden,
}

/// Parses a file. The tree leaves out the statements and items that could not be parsed, and keeps
/// the names in them. `None` when that is not enough to tell what is declared: the rest of the file
/// was not looked at, or a name is missing.
pub fn parse(source: &str, lexed: &Lexed, diagnostics: &mut Diagnostics) -> Option<File> {
    let mut parser = Parser::new(source, lexed, diagnostics);
    let items = parser.items();
    (!parser.abandoned && !parser.nameless).then_some(File { items, lost: parser.lost })
}

/// Parses a text that is a client and nothing else: what stands between `client` and `;` in a file.
/// `None` when an error was reported.
pub fn parse_client(text: &str, lexed: &Lexed, diagnostics: &mut Diagnostics) -> Option<Client> {
    let mut parser = Parser::new(text, lexed, diagnostics);
    let client = parser.client().ok()?;
    if parser.peek() != Tok::End {
        parser.expected("`|` or the end of the client");
        return None;
    }
    Some(client)
}

struct Parser<'a> {
    source: &'a str,
    tokens: &'a [Token],
    at: usize,
    nesting: u32,
    diagnostics: &'a mut Diagnostics,
    /// Whether the rest of the file is not looked at.
    abandoned: bool,
    /// What would be said about a file that is abandoned.
    unheard: Diagnostics,
    /// The names in what was left out.
    lost: Option<BTreeSet<String>>,
    /// Whether a name is missing somewhere; it may be one that is used elsewhere.
    nameless: bool,
}

impl<'a> Parser<'a> {
    fn new(source: &'a str, lexed: &'a Lexed, diagnostics: &'a mut Diagnostics) -> Self {
        Parser {
            source,
            tokens: &lexed.tokens,
            at: 0,
            nesting: 0,
            diagnostics,
            abandoned: false,
            unheard: Diagnostics::new(),
            lost: None,
            nameless: false,
        }
    }

    fn token(&self) -> Token {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn peek(&self) -> Tok {
        self.token().kind
    }

    fn peek_second(&self) -> Tok {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// The span of the token just consumed.
    fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// The empty stretch behind the token just consumed. Tokens are on one line.
    fn after_previous(&self) -> Span {
        let token = self.previous();
        let column = token.column + token.text(self.source).chars().count() as u32;
        Span { start: token.end, end: token.end, line: token.line, column }
    }

    fn advance(&mut self) -> Token {
        let token = self.token();
        if token.kind != Tok::End {
            self.at += 1;
        }
        token
    }

    fn eat(&mut self, kind: Tok) -> bool {
        let found = self.peek() == kind;
        if found {
            self.advance();
        }
        found
    }

    /// Reports a mistake.
    fn error(&mut self, code: &'static str, span: Span, message: String) -> &mut Diagnostic {
        if !self.abandoned && limits::enough(self.diagnostics) {
            self.abandon();
        }
        if self.abandoned {
            self.unheard = Diagnostics::new();
            return self.unheard.error(code, span, message);
        }
        self.diagnostics.error(code, span, message)
    }

    /// Goes to the end of the file; nothing is reported from here on.
    fn abandon(&mut self) {
        self.abandoned = true;
        self.at = self.tokens.len() - 1;
    }

    /// Keeps the names since token `begin`, where something began that is left out.
    fn lose(&mut self, begin: usize) {
        let lost = self.lost.get_or_insert_default();
        let tokens = self.tokens[begin..self.at].iter().filter(|t| t.kind == Tok::Name);
        lost.extend(tokens.map(|t| t.span.text(self.source).to_string()));
    }

    fn expect(&mut self, kind: Tok) -> Parsed<Span> {
        if self.peek() == kind {
            return Ok(self.advance().span);
        }
        Err(self.expected(kind.describe()))
    }

    /// Reports that something else should stand here.
    fn expected(&mut self, what: &str) -> Stop {
        self.expected_hint(what, None)
    }

    /// The same, with advice.
    fn expected_hint(&mut self, what: &str, hint: Option<String>) -> Stop {
        let found = self.token();
        let message = format!("expected {what}, found {}", self.describe(found));
        // A forgotten `;` or `)` belongs at the end of what came before.
        let missing = ["`;`", "`)`", "`]`"].contains(&what) && self.at > 0;
        let (span, label) = if missing {
            (self.end_of_previous(), format!("{what} is missing after this"))
        } else {
            (found.span, format!("expected {what}"))
        };
        self.error(codes::SYNTAX, span, message).label(label).hint = hint;
        Stop
    }

    /// The last character of the token just consumed. Tokens are on one line.
    fn end_of_previous(&self) -> Span {
        let token = self.previous();
        let text = token.text(self.source);
        let before = text.char_indices().next_back().map_or("", |(at, _)| &text[..at]);
        let column = token.column + before.chars().count() as u32;
        Span { start: token.start + before.len() as u32, column, ..token }
    }

    fn describe(&self, token: Token) -> String {
        match token.kind {
            Tok::Name | Tok::Number => {
                let text: String = token.span.text(self.source).chars().take(40).collect();
                format!("`{text}`")
            }
            kind => kind.describe().to_string(),
        }
    }

    fn name(&mut self) -> Parsed<Name> {
        if self.peek() == Tok::Name {
            let span = self.advance().span;
            return Ok(Name { text: span.text(self.source).to_string(), span });
        }
        self.nameless = true;
        let word = self.token().kind.describe();
        let hint = word.strip_prefix('`').is_some_and(|w| w.starts_with(char::is_alphabetic));
        let hint = hint.then(|| format!("{word} is a word of the language; choose another name"));
        Err(self.expected_hint("a name", hint))
    }

    /// Runs `parse` one level deeper, unless that is too deep.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= MAX_NESTING {
            let span = self.span();
            self.too_deep(span);
            return Err(Stop);
        }
        self.nesting += 1;
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    fn too_deep(&mut self, span: Span) {
        self.error(codes::TOO_DEEP, span, "nested too deeply".into())
            .label(format!("more than {MAX_NESTING} levels"))
            .hint("split it into procedures or registers");
        self.abandon();
    }

    /// A list up to `close`, which is consumed. A comma may stand behind its last part if that is
    /// `Trailing::Allowed`.
    fn comma_separated<T>(
        &mut self,
        close: Tok,
        trailing: Trailing,
        mut one: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut all = Vec::new();
        if self.eat(close) {
            return Ok(all);
        }
        loop {
            all.push(one(self)?);
            if !self.eat(Tok::Comma) {
                self.expect(close)?;
                return Ok(all);
            }
            if trailing == Trailing::Allowed && self.eat(close) {
                return Ok(all);
            }
        }
    }

    fn range(&mut self) -> Parsed<Range> {
        let lo = Box::new(self.expr()?);
        let inclusive = match self.peek() {
            Tok::DotDot => false,
            Tok::DotDotEq => true,
            _ => {
                let stop = self.expected("`..` or `..=`");
                return Err(stop);
            }
        };
        self.advance();
        let hi = Box::new(self.expr()?);
        Ok(Range { lo, inclusive, hi })
    }

    fn type_name(&mut self) -> Parsed<TypeName> {
        let start = self.span();
        let kind = match self.peek() {
            Tok::Bool => {
                self.advance();
                TypeKind::Bool
            }
            Tok::Int => {
                self.advance();
                if self.eat(Tok::LParen) {
                    let range = self.range()?;
                    self.expect(Tok::RParen)?;
                    TypeKind::Int(Some(range))
                } else {
                    TypeKind::Int(None)
                }
            }
            Tok::Name => TypeKind::Named(self.name()?),
            _ => return Err(self.expected("a type")),
        };
        Ok(TypeName { kind, span: start.to(self.previous()) })
    }

    fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while self.peek() != Tok::End {
            let before = self.at;
            match self.item() {
                Ok(item) => items.push(item),
                Err(Stop) => {
                    if self.at == before && !self.peek().begins_item() {
                        self.advance();
                    }
                    self.skip_to_item(before);
                    self.lose(before);
                }
            }
        }
        items
    }

    /// After a mistake in an item that began at token `begin`: goes to the next item.
    fn skip_to_item(&mut self, begin: usize) {
        if self.at == begin {
            self.advance();
        }
        let mut depth = 0u32;
        for token in &self.tokens[begin..self.at] {
            match token.kind {
                Tok::LBrace => depth += 1,
                Tok::RBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        loop {
            match self.peek() {
                Tok::End => return,
                kind if kind.begins_item() => return,
                Tok::LBrace => depth += 1,
                Tok::RBrace if depth <= 1 => {
                    self.advance();
                    return;
                }
                Tok::RBrace => depth -= 1,
                Tok::Semi if depth == 0 => {
                    self.advance();
                    return;
                }
                _ => {}
            }
            self.advance();
        }
    }

    fn block(&mut self) -> Parsed<Block> {
        let open = self.expect(Tok::LBrace)?;
        self.nested(|p| p.block_rest(open))
    }

    fn block_rest(&mut self, open: Span) -> Parsed<Block> {
        let mut stmts = Vec::new();
        loop {
            match self.peek() {
                Tok::RBrace => {
                    let close = self.advance().span;
                    return Ok(Block { stmts, span: open.to(close), close });
                }
                kind if kind == Tok::End || kind.begins_item() => {
                    let found = self.token();
                    let message = format!("expected `}}`, found {}", self.describe(found));
                    self.error(codes::SYNTAX, found.span, message)
                        .label("the block is still open")
                        .related(open, "opened here");
                    return Err(Stop);
                }
                _ => {}
            }
            let before = self.at;
            match self.nested(Self::stmt) {
                Ok(stmt) => stmts.push(stmt),
                Err(Stop) => {
                    self.skip_statement(before)?;
                    // The rest of an `if` whose first part is left out.
                    self.eat(Tok::Else);
                    self.lose(before);
                }
            }
        }
    }

    /// After a mistake in a statement that began at token `begin`: goes past its `;`, or to the `}`
    /// that closes the block around it.
    fn skip_statement(&mut self, begin: usize) -> Parsed<()> {
        let mut depth = 0u32;
        for token in &self.tokens[begin..self.at] {
            match token.kind {
                Tok::LBrace => depth += 1,
                Tok::RBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        loop {
            match self.peek() {
                kind if kind == Tok::End || kind.begins_item() => return Err(Stop),
                Tok::Semi if depth == 0 => {
                    self.advance();
                    return Ok(());
                }
                Tok::LBrace => depth += 1,
                Tok::RBrace if depth == 0 => return Ok(()),
                Tok::RBrace => {
                    depth -= 1;
                    if depth == 0 {
                        self.advance();
                        return Ok(());
                    }
                }
                _ => {}
            }
            self.advance();
        }
    }

    /// An expression node, unless the tree becomes too deep.
    fn node(&mut self, kind: ExprKind, span: Span) -> Parsed<Expr> {
        let of = |list: &[Expr]| list.iter().map(|e| e.height).max().unwrap_or(0);
        let below = match &kind {
            ExprKind::Number(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Name(_)
            | ExprKind::New(_) => 0,
            ExprKind::Paren(a) | ExprKind::Unary(_, a) | ExprKind::Field(a, _) => a.height,
            ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => a.height.max(b.height),
            ExprKind::Select(c, a, b) => c.height.max(a.height).max(b.height),
            ExprKind::Call(_, list) | ExprKind::ChooseList(list) => of(list),
            ExprKind::ChooseRange(range) => range.lo.height.max(range.hi.height),
        };
        if below >= MAX_HEIGHT {
            self.error(codes::TOO_DEEP, span, "this expression is too deep".into())
                .label(format!("a tree of more than {MAX_HEIGHT} levels"))
                .hint("split it with registers");
            self.abandon();
            return Err(Stop);
        }
        Ok(Expr { kind, span, height: below + 1 })
    }
}
