//! The parser: recursive descent, one function for each rule of the grammar.
//!
//! After a syntax error the parser skips to the end of the statement or item and continues, so that
//! one run reports all errors. Nesting is limited to [`MAX_NESTING`], because all passes over the
//! tree are recursive. Parsing ends if the nesting or the number of errors exceeds its limit.
//!
//! Unlike elsewhere in this project, matches on tokens have a `_` arm: any token can occur
//! anywhere, and an unexpected token is a syntax error.

mod expr;
mod foreign;
mod item;
mod misplaced;
mod order;
mod stmt;
mod switch;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use fencepost_ir::{Diagnostic, Diagnostics, Span};

use super::ast::{
    Block, Client, Expr, ExprKind, File, Item, Name, Range, Stmt, TypeKind, TypeName,
};
use super::lexer::{Lexed, Tok, Token};
use super::{codes, limits};

/// The nesting limit of blocks and parentheses.
pub const MAX_NESTING: u32 = 200;

/// The height limit of the tree of one expression. `a + b + c` is a tree of height 3.
pub const MAX_HEIGHT: u16 = 250;

/// A syntax error that is already reported. Lists of statements and items resume after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SyntaxError;

type ParseResult<T> = Result<T, SyntaxError>;

/// Whether a comma may follow the last element of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TrailingComma {
    Optional,
    Forbidden,
}

/// Parses a file. The tree leaves out statements and items with syntax errors, but keeps their
/// names. Returns `None` if the declared names are unknown: the parser did not read the rest of the
/// file, or a name is missing.
pub fn parse(source: &str, lexed: &Lexed, diagnostics: &mut Diagnostics) -> Option<File> {
    let mut parser = Parser::new(source, lexed, diagnostics);
    let items = parser.items();
    (!parser.abandoned && !parser.missing_name)
        .then_some(File { items, unparsed_names: parser.unparsed_names })
}

/// Parses a text that is a single client: the text between `client` and `;` in a file. Returns
/// `None` if it reported an error.
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
    /// Whether the parser skips the rest of the file.
    abandoned: bool,
    /// Errors after the file was abandoned. They are not reported.
    discarded: Diagnostics,
    /// The names in the parts with syntax errors. `None` if there is no such part.
    unparsed_names: Option<BTreeSet<String>>,
    /// Whether a name is missing somewhere. Other parts of the file may use that name.
    missing_name: bool,
    /// The first token of the current statement or item. For hints.
    begin: usize,
    /// Whether every brace of the file has its counterpart. An item inside a block is then
    /// misplaced; otherwise the block is not closed.
    balanced: bool,
    /// Items that were found inside blocks.
    misplaced: Vec<Item>,
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
            discarded: Diagnostics::new(),
            unparsed_names: None,
            missing_name: false,
            begin: 0,
            balanced: misplaced::is_balanced(&lexed.tokens),
            misplaced: Vec::new(),
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

    /// Returns the span of the last consumed token.
    fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn previous_kind(&self) -> Tok {
        self.tokens[self.at.saturating_sub(1)].kind
    }

    /// Returns the empty span after the last consumed token. A token never spans several lines.
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

    /// Reports an error, unless the error limit is reached.
    fn error(&mut self, code: &'static str, span: Span, message: String) -> &mut Diagnostic {
        if !self.abandoned && limits::error_limit_reached(self.diagnostics) {
            self.abandon();
        }
        if self.abandoned {
            self.discarded = Diagnostics::new();
            return self.discarded.error(code, span, message);
        }
        self.diagnostics.error(code, span, message)
    }

    /// Skips to the end of the file. No more errors are reported.
    fn abandon(&mut self) {
        self.abandoned = true;
        self.at = self.tokens.len() - 1;
    }

    /// Stores the names of a part with syntax errors that began at token `begin`.
    fn record_unparsed(&mut self, begin: usize) {
        let names = self.unparsed_names.get_or_insert_default();
        let tokens = self.tokens[begin..self.at].iter().filter(|t| t.kind == Tok::Name);
        names.extend(tokens.map(|t| t.span.text(self.source).to_string()));
    }

    fn expect(&mut self, kind: Tok) -> ParseResult<Span> {
        if self.peek() == kind {
            return Ok(self.advance().span);
        }
        Err(self.expected(kind.describe()))
    }

    /// Reports that the current token is not the expected one.
    fn expected(&mut self, what: &str) -> SyntaxError {
        self.expected_hint(what, None)
    }

    /// Reports that the current token is not the expected one, with a hint.
    fn expected_hint(&mut self, what: &str, hint: Option<String>) -> SyntaxError {
        let found = self.token();
        let message = format!("expected {what}, found {}", self.describe(found));
        // A missing `;`, `)` or `]` is reported at the end of the previous token.
        let missing = ["`;`", "`)`", "`]`"].contains(&what) && self.at > 0;
        let (span, label) = if missing {
            (self.end_of_previous(), format!("{what} is missing after this"))
        } else {
            (found.span, format!("expected {what}"))
        };
        let hint = hint.or_else(|| self.foreign_hint(what));
        self.error(codes::SYNTAX, span, message).label(label).hint = hint;
        SyntaxError
    }

    /// Returns the span of the last character of the last consumed token. A token never spans
    /// several lines.
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

    fn name(&mut self) -> ParseResult<Name> {
        if self.peek() == Tok::Name {
            let span = self.advance().span;
            return Ok(Name { text: span.text(self.source).to_string(), span });
        }
        self.missing_name = true;
        // A type after `shared unsigned` or `thread p(`.
        let is_type = matches!(self.peek(), Tok::Int | Tok::Bool)
            && matches!(self.previous_kind(), Tok::Name | Tok::LParen);
        let hint = keyword_hint(self.peek()).filter(|_| !is_type);
        Err(self.expected_hint("a name", hint))
    }

    /// Runs `parse` one nesting level deeper. Reports an error at the nesting limit.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        if self.nesting >= MAX_NESTING {
            let span = self.span();
            self.too_deep(span);
            return Err(SyntaxError);
        }
        self.nesting += 1;
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    fn too_deep(&mut self, span: Span) {
        self.error(codes::TOO_DEEP, span, "the code is nested too deeply".into())
            .label(format!("more than {MAX_NESTING} levels"))
            .hint("move inner statements to procedures, or parts of an expression to registers");
        self.abandon();
    }

    /// Parses a list up to and including `close`. With `TrailingComma::Optional`, a comma may
    /// follow the last element.
    fn comma_separated<T>(
        &mut self,
        close: Tok,
        trailing: TrailingComma,
        mut one: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
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
            if trailing == TrailingComma::Optional && self.eat(close) {
                return Ok(all);
            }
        }
    }

    fn range(&mut self) -> ParseResult<Range> {
        let lo = Box::new(self.expr()?);
        let inclusive = match self.peek() {
            Tok::DotDot => false,
            Tok::DotDotEq => true,
            _ => {
                let error = self.expected("`..` or `..=`");
                return Err(error);
            }
        };
        self.advance();
        let hi = Box::new(self.expr()?);
        Ok(Range { lo, inclusive, hi })
    }

    fn type_name(&mut self) -> ParseResult<TypeName> {
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
                    let outside = if self.eat(Tok::Comma) { Some(self.name()?) } else { None };
                    self.expect(Tok::RParen)?;
                    TypeKind::Ranged(range, outside)
                } else {
                    TypeKind::Int
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
            self.begin = before;
            match self.item() {
                Ok(item) => items.push(item),
                Err(SyntaxError) => {
                    if self.at == before && !self.peek().begins_item() {
                        self.advance();
                    }
                    self.skip_to_item(before);
                    self.record_unparsed(before);
                }
            }
            items.append(&mut self.misplaced);
        }
        items
    }

    /// Resumes after an error in an item that began at token `begin`: skips to the next item.
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
                    // `struct S { ... };`
                    self.eat(Tok::Semi);
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

    fn block(&mut self) -> ParseResult<Block> {
        let open = self.expect(Tok::LBrace)?;
        self.nested(|p| p.block_rest(open, Vec::new()))
    }

    /// Parses the rest of a block that begins with these statements.
    fn block_rest(&mut self, open: Span, mut stmts: Vec<Stmt>) -> ParseResult<Block> {
        loop {
            match self.peek() {
                Tok::RBrace => {
                    let close = self.advance().span;
                    return Ok(Block { stmts, span: open.to(close), close });
                }
                kind if self.balanced && kind.begins_item() => {
                    self.misplaced_item();
                    continue;
                }
                kind if kind == Tok::End || kind.begins_item() => {
                    return Err(self.unclosed_block(open));
                }
                _ => {}
            }
            stmts.extend(self.stmt_or_skip()?);
        }
    }

    /// Parses a statement of a block. Skips a statement with a syntax error.
    fn stmt_or_skip(&mut self) -> ParseResult<Option<Stmt>> {
        let before = self.at;
        match self.nested(Self::stmt) {
            Ok(stmt) => Ok(Some(stmt)),
            Err(SyntaxError) => {
                self.skip_statement(before)?;
                self.skip_continuation()?;
                self.record_unparsed(before);
                Ok(None)
            }
        }
    }

    fn unclosed_block(&mut self, open: Span) -> SyntaxError {
        let found = self.token();
        let message = format!("expected `}}`, found {}", self.describe(found));
        self.error(codes::SYNTAX, found.span, message)
            .label("a block is still open here")
            .related(open, "the block begins here")
            .hint("add the missing `}`");
        SyntaxError
    }

    /// Resumes after an error in a statement that began at token `begin`: skips past the `;` of the
    /// statement, or to the `}` of the enclosing block.
    fn skip_statement(&mut self, begin: usize) -> ParseResult<()> {
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
                kind if kind == Tok::End || kind.begins_item() => return Err(SyntaxError),
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

    /// Builds an expression node. Reports an error at the height limit.
    fn node(&mut self, kind: ExprKind, span: Span) -> ParseResult<Expr> {
        let max_height = |list: &[Expr]| list.iter().map(|e| e.height).max().unwrap_or(0);
        let below = match &kind {
            ExprKind::Number(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Name(_)
            | ExprKind::New(_) => 0,
            ExprKind::Paren(a)
            | ExprKind::Unary(_, a)
            | ExprKind::Field(a, _)
            | ExprKind::At(a, _) => a.height,
            ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => a.height.max(b.height),
            ExprKind::Select(c, a, b) => c.height.max(a.height).max(b.height),
            ExprKind::Call(_, list) | ExprKind::ChooseList(list) => max_height(list),
            ExprKind::Method(a, _, list) => a.height.max(max_height(list)),
            ExprKind::ChooseRange(range) => range.lo.height.max(range.hi.height),
        };
        if below >= MAX_HEIGHT {
            self.error(codes::TOO_DEEP, span, "this expression is too complex".into())
                .label(format!("a tree of more than {MAX_HEIGHT} levels"))
                .hint("assign parts of the expression to registers");
            self.abandon();
            return Err(SyntaxError);
        }
        Ok(Expr { kind, span, height: below + 1 })
    }
}

/// Returns a hint if the token is a keyword, which cannot be used as a name.
fn keyword_hint(token: Tok) -> Option<String> {
    let word = token.describe();
    let keyword = word.strip_prefix('`').is_some_and(|w| w.starts_with(char::is_alphabetic));
    keyword.then(|| format!("{word} is a keyword; choose another name"))
}
