//! The lexer: splits a source text into tokens and comments.
//!
//! Comments are stored in a separate list, because the formatter must print every comment. A run of
//! characters that do not begin a token is reported once and skipped. A word with non-ASCII letters
//! is reported and kept as a name, so that it causes no further errors. A byte order mark at the
//! start is skipped.

use std::collections::BTreeSet;

use fencepost_ir::{Diagnostics, Span};
use logos::Logos;

use super::{codes, foreign, limits};
use crate::lexing::{LineColumns, byte_order_mark_length, report_open_comment};

/// The kind of a token. Words with a meaning in one context only (`exists`, `full`, `cas`, ...) are
/// plain names, so that registers may use these names.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\f]+")]
#[expect(missing_docs, reason = "the `token` attribute shows the text of each token")]
pub enum Tok {
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Name,
    #[regex("[0-9][0-9A-Za-z_]*")]
    Number,
    #[regex(r"//[^\n]*", allow_greedy = true)]
    LineComment,
    #[regex(r"/\*([^*]|\*+[^*/])*\*+/")]
    BlockComment,
    #[token("/*")]
    OpenComment,
    /// After the last token.
    End,

    #[token("as")]
    As,
    #[token("assert")]
    Assert,
    #[token("assume")]
    Assume,
    #[token("atomic")]
    Atomic,
    #[token("await")]
    Await,
    #[token("bool")]
    Bool,
    #[token("break")]
    Break,
    #[token("client")]
    Client,
    #[token("const")]
    Const,
    #[token("continue")]
    Continue,
    #[token("critical")]
    Critical,
    #[token("do")]
    Do,
    #[token("drain")]
    Drain,
    #[token("else")]
    Else,
    #[token("enum")]
    Enum,
    #[token("false")]
    False,
    #[token("fence")]
    Fence,
    #[token("final")]
    Final,
    #[token("finally")]
    Finally,
    #[token("for")]
    For,
    #[token("free")]
    Free,
    #[token("goto")]
    Goto,
    #[token("if")]
    If,
    #[token("in")]
    In,
    #[token("init")]
    Init,
    #[token("int")]
    Int,
    #[token("invariant")]
    Invariant,
    #[token("loop")]
    Loop,
    #[token("new")]
    New,
    #[token("null")]
    Null,
    #[token("observe")]
    Observe,
    #[token("operation")]
    Operation,
    #[token("pool")]
    Pool,
    #[token("proc")]
    Proc,
    #[token("property")]
    Property,
    #[token("record")]
    Record,
    #[token("return")]
    Return,
    #[token("shared")]
    Shared,
    #[token("skip")]
    Skip,
    #[token("thread")]
    Thread,
    #[token("true")]
    True,
    #[token("void")]
    Void,
    #[token("while")]
    While,

    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token(";")]
    Semi,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("?")]
    Question,
    #[token(".")]
    Dot,
    #[token("..")]
    DotDot,
    #[token("..=")]
    DotDotEq,

    #[token("=")]
    Assign,
    #[token("+=")]
    PlusAssign,
    #[token("-=")]
    MinusAssign,
    #[token("*=")]
    StarAssign,
    #[token("/=")]
    SlashAssign,
    #[token("%=")]
    PercentAssign,
    #[token("&=")]
    AndAssign,
    #[token("|=")]
    OrAssign,
    #[token("^=")]
    CaretAssign,
    #[token("++")]
    PlusPlus,
    #[token("--")]
    MinusMinus,

    #[token("||")]
    OrOr,
    #[token("&&")]
    AndAnd,
    #[token("|")]
    Or,
    #[token("^")]
    Caret,
    #[token("&")]
    And,
    #[token("==")]
    EqEq,
    #[token("!=")]
    NotEq,
    #[token("<")]
    Lt,
    #[token("<=")]
    Le,
    #[token(">")]
    Gt,
    #[token(">=")]
    Ge,
    #[token("<<")]
    Shl,
    #[token(">>")]
    Shr,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("!")]
    Not,
    #[token("~")]
    Tilde,
}

/// A token and its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// The kind of the token.
    pub kind: Tok,
    /// The position of the token.
    pub span: Span,
}

/// The tokens and comments of a source text.
#[derive(Clone, Debug)]
pub struct Lexed {
    /// All tokens. The last token is [`Tok::End`].
    pub tokens: Vec<Token>,
    /// All comments, in order.
    pub comments: Vec<Span>,
    /// Whether some text was skipped. Later errors may then be consequences of the skipped text.
    pub lossy: bool,
}

/// Splits a source text into tokens and comments.
pub fn lex(source: &str, diagnostics: &mut Diagnostics) -> Lexed {
    let mut positions = LineColumns::new(source);
    let mut lexed = Lexed { tokens: Vec::new(), comments: Vec::new(), lossy: false };
    let mut invalid = InvalidText { source, run: None, names: BTreeSet::new() };
    let mut tokens = Tok::lexer(source);
    tokens.bump(byte_order_mark_length(source));
    while let Some(token) = tokens.next() {
        let range = tokens.span();
        if let Some(rest) = non_ascii_word_rest(tokens.slice(), tokens.remainder()) {
            tokens.bump(rest);
            let span = positions.span(range.start, range.end + rest);
            invalid.name(span, diagnostics);
            lexed.tokens.push(Token { kind: Tok::Name, span });
            continue;
        }
        let span = positions.span(range.start, range.end);
        match token {
            Ok(Tok::LineComment | Tok::BlockComment) => lexed.comments.push(span),
            Ok(Tok::OpenComment) => {
                tokens.bump(tokens.remainder().len());
                lexed.lossy = true;
                report_open_comment(codes::OPEN_COMMENT, span, diagnostics);
            }
            Ok(kind) => lexed.tokens.push(Token { kind, span }),
            Err(()) => {
                lexed.lossy = true;
                let rest = tokens.remainder();
                let (length, kind) = invalid.extent(span, rest, lexed.tokens.last());
                tokens.bump(length);
                let span = Span { end: span.end + length as u32, ..span };
                invalid.text(span, diagnostics);
                lexed.tokens.extend(kind.map(|kind| Token { kind, span }));
            }
        }
    }
    invalid.end_run(diagnostics);
    let end = positions.span(source.len(), source.len());
    lexed.tokens.push(Token { kind: Tok::End, span: end });
    lexed
}

/// If `text` begins a word with non-ASCII letters, returns the number of bytes of `rest` that
/// belong to the word.
fn non_ascii_word_rest(text: &str, rest: &str) -> Option<usize> {
    let first = text.chars().next().filter(|c| c.is_alphabetic() || *c == '_')?;
    let more = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    (more > 0 || !first.is_ascii()).then_some(more)
}

/// Reports text that is not part of a token.
struct InvalidText<'a> {
    source: &'a str,
    /// The current run of invalid text: on one line, separated by whitespace only.
    run: Option<Span>,
    /// The names that are already reported. Each name is reported once.
    names: BTreeSet<&'a str>,
}

impl InvalidText<'_> {
    /// Returns how many bytes of `rest` belong to the invalid text at `span`, and the token that the
    /// parser gets for it. A string counts as a name, and a line with `#` as a comment, so that they
    /// cause one error.
    fn extent(&self, span: Span, rest: &str, last: Option<&Token>) -> (usize, Option<Tok>) {
        let quote = span.text(self.source);
        if matches!(quote, "\"" | "'") {
            let close = rest.find(['\n', if quote == "'" { '\'' } else { '"' }]);
            let close = close.filter(|at| rest[*at..].starts_with(quote));
            return close.map_or((0, None), |at| (at + 1, Some(Tok::Name)));
        }
        let same_line = last.filter(|token| token.span.line == span.line).map(|t| t.kind);
        let invalid = self.run.is_some_and(|run| run.line == span.line);
        let begins_comment =
            matches!(same_line, None | Some(Tok::Semi | Tok::LBrace | Tok::RBrace));
        let is_comment = quote == "#" && begins_comment && !invalid;
        let length = || rest.find(['\r', '\n']).unwrap_or(rest.len());
        (if is_comment { length() } else { 0 }, None)
    }

    fn text(&mut self, span: Span, diagnostics: &mut Diagnostics) {
        if let Some(run) = self.run
            && run.line == span.line
            && let Some(between) = self.source.get(run.end as usize..span.start as usize)
            && between.chars().all(char::is_whitespace)
        {
            self.run = Some(run.to(span));
            return;
        }
        self.end_run(diagnostics);
        self.run = Some(span);
    }

    fn end_run(&mut self, diagnostics: &mut Diagnostics) {
        let Some(run) = self.run.take().filter(|_| !limits::error_limit_reached(diagnostics))
        else {
            return;
        };
        let hint = foreign::text(run.text(self.source));
        let text: String = run.text(self.source).chars().take(20).collect();
        let message = format!("unexpected text `{}`", text.escape_debug());
        diagnostics
            .error(codes::UNKNOWN_CHARACTER, run, message)
            .label("not part of the language")
            .hint(hint.unwrap_or("remove this text, or put it into a comment: `// ...`"));
    }

    fn name(&mut self, span: Span, diagnostics: &mut Diagnostics) {
        let text = span.text(self.source);
        if limits::error_limit_reached(diagnostics) || !self.names.insert(text) {
            return;
        }
        diagnostics
            .error(codes::UNKNOWN_CHARACTER, span, format!("`{text}` is not a valid name"))
            .label("contains a non-ASCII letter")
            .hint("use only ASCII letters, digits and `_` in names");
    }
}

impl Tok {
    /// Returns the text that messages use for the token.
    pub fn describe(self) -> &'static str {
        match self {
            Tok::Name => "a name",
            Tok::Number => "a number",
            Tok::LineComment | Tok::BlockComment | Tok::OpenComment => "a comment",
            Tok::End => "the end of the file",
            Tok::As => "`as`",
            Tok::Assert => "`assert`",
            Tok::Assume => "`assume`",
            Tok::Atomic => "`atomic`",
            Tok::Await => "`await`",
            Tok::Bool => "`bool`",
            Tok::Break => "`break`",
            Tok::Client => "`client`",
            Tok::Const => "`const`",
            Tok::Continue => "`continue`",
            Tok::Critical => "`critical`",
            Tok::Do => "`do`",
            Tok::Drain => "`drain`",
            Tok::Else => "`else`",
            Tok::Enum => "`enum`",
            Tok::False => "`false`",
            Tok::Fence => "`fence`",
            Tok::Final => "`final`",
            Tok::Finally => "`finally`",
            Tok::For => "`for`",
            Tok::Free => "`free`",
            Tok::Goto => "`goto`",
            Tok::If => "`if`",
            Tok::In => "`in`",
            Tok::Init => "`init`",
            Tok::Int => "`int`",
            Tok::Invariant => "`invariant`",
            Tok::Loop => "`loop`",
            Tok::New => "`new`",
            Tok::Null => "`null`",
            Tok::Observe => "`observe`",
            Tok::Operation => "`operation`",
            Tok::Pool => "`pool`",
            Tok::Proc => "`proc`",
            Tok::Property => "`property`",
            Tok::Record => "`record`",
            Tok::Return => "`return`",
            Tok::Shared => "`shared`",
            Tok::Skip => "`skip`",
            Tok::Thread => "`thread`",
            Tok::True => "`true`",
            Tok::Void => "`void`",
            Tok::While => "`while`",
            Tok::LBrace => "`{`",
            Tok::RBrace => "`}`",
            Tok::LParen => "`(`",
            Tok::RParen => "`)`",
            Tok::LBracket => "`[`",
            Tok::RBracket => "`]`",
            Tok::Semi => "`;`",
            Tok::Comma => "`,`",
            Tok::Colon => "`:`",
            Tok::Question => "`?`",
            Tok::Dot => "`.`",
            Tok::DotDot => "`..`",
            Tok::DotDotEq => "`..=`",
            Tok::Assign => "`=`",
            Tok::PlusAssign => "`+=`",
            Tok::MinusAssign => "`-=`",
            Tok::StarAssign => "`*=`",
            Tok::SlashAssign => "`/=`",
            Tok::PercentAssign => "`%=`",
            Tok::AndAssign => "`&=`",
            Tok::OrAssign => "`|=`",
            Tok::CaretAssign => "`^=`",
            Tok::PlusPlus => "`++`",
            Tok::MinusMinus => "`--`",
            Tok::OrOr => "`||`",
            Tok::AndAnd => "`&&`",
            Tok::Or => "`|`",
            Tok::Caret => "`^`",
            Tok::And => "`&`",
            Tok::EqEq => "`==`",
            Tok::NotEq => "`!=`",
            Tok::Lt => "`<`",
            Tok::Le => "`<=`",
            Tok::Gt => "`>`",
            Tok::Ge => "`>=`",
            Tok::Shl => "`<<`",
            Tok::Shr => "`>>`",
            Tok::Plus => "`+`",
            Tok::Minus => "`-`",
            Tok::Star => "`*`",
            Tok::Slash => "`/`",
            Tok::Percent => "`%`",
            Tok::Not => "`!`",
            Tok::Tilde => "`~`",
        }
    }

    /// Returns whether the token begins a statement with the syntax of a call. Such a keyword may be
    /// meant as a name.
    pub fn begins_call(self) -> bool {
        matches!(self, Tok::Assert | Tok::Assume | Tok::Await | Tok::Free)
    }

    /// Returns whether the token begins an item of a file. The parser uses this to resume after an
    /// error.
    pub fn begins_item(self) -> bool {
        matches!(
            self,
            Tok::Const
                | Tok::Enum
                | Tok::Record
                | Tok::Pool
                | Tok::Shared
                | Tok::Init
                | Tok::Proc
                | Tok::Operation
                | Tok::Client
                | Tok::Thread
                | Tok::Property
                | Tok::Final
                | Tok::Finally
                | Tok::Invariant
                | Tok::Observe
        )
    }
}
