//! From text to tokens.
//!
//! Comments are not tokens; they are kept beside them, because the formatter must give every one
//! back. A byte that begins no token is reported and skipped, a whole run of them at once. A word with
//! letters that are not ASCII is reported and kept as a name, so that nothing follows from it. A byte
//! order mark at the start is skipped.

use std::collections::BTreeSet;

use fencepost_ir::{Diagnostics, Span};
use logos::Logos;

use super::{codes, limits};

/// What kind of token it is. Words that matter only in one place (`exists`, `full`, `cas`, ...) are
/// plain names, so that they stay free for registers.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\f]+")]
#[expect(missing_docs, reason = "each is the token its text shows, see `describe`")]
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

/// A token and where it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Tok,
    /// Where it is.
    pub span: Span,
}

/// A source text in tokens.
#[derive(Clone, Debug)]
pub struct Lexed {
    /// All tokens; the last is [`Tok::End`].
    pub tokens: Vec<Token>,
    /// All comments, in order.
    pub comments: Vec<Span>,
    /// Whether text was left out, so that the tokens may not say what was meant.
    pub lossy: bool,
}

/// The mark some editors write at the start of a file.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// Cuts a source text into tokens.
pub fn lex(source: &str, diagnostics: &mut Diagnostics) -> Lexed {
    let mut places = Places { source, line: 1, column: 1, at: 0 };
    let mut lexed = Lexed { tokens: Vec::new(), comments: Vec::new(), lossy: false };
    let mut bad = Bad { source, run: None, names: BTreeSet::new() };
    let mut tokens = Tok::lexer(source);
    if source.starts_with(BYTE_ORDER_MARK) {
        tokens.bump(BYTE_ORDER_MARK.len_utf8());
        places.at = BYTE_ORDER_MARK.len_utf8();
    }
    while let Some(token) = tokens.next() {
        let range = tokens.span();
        if let Some(rest) = bad_word(tokens.slice(), tokens.remainder()) {
            tokens.bump(rest);
            let span = places.span(range.start, range.end + rest);
            bad.name(span, diagnostics);
            lexed.tokens.push(Token { kind: Tok::Name, span });
            continue;
        }
        let span = places.span(range.start, range.end);
        match token {
            Ok(Tok::LineComment | Tok::BlockComment) => lexed.comments.push(span),
            Ok(Tok::OpenComment) => {
                tokens.bump(tokens.remainder().len());
                lexed.lossy = true;
                diagnostics
                    .error(codes::OPEN_COMMENT, span, "this comment does not end")
                    .label("begins here")
                    .hint("add `*/`");
            }
            Ok(kind) => lexed.tokens.push(Token { kind, span }),
            Err(()) => {
                lexed.lossy = true;
                bad.text(span, diagnostics);
            }
        }
    }
    bad.end_run(diagnostics);
    let end = places.span(source.len(), source.len());
    lexed.tokens.push(Token { kind: Tok::End, span: end });
    lexed
}

/// If a word with letters that are not ASCII begins with `text`: how many bytes of `rest` are part of
/// it.
fn bad_word(text: &str, rest: &str) -> Option<usize> {
    let first = text.chars().next().filter(|c| c.is_alphabetic() || *c == '_')?;
    let more = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    (more > 0 || !first.is_ascii()).then_some(more)
}

/// Reports what is no token.
struct Bad<'a> {
    source: &'a str,
    /// Text that means nothing, on one line and with nothing but blanks in between.
    run: Option<Span>,
    /// Names already reported; each is reported once.
    names: BTreeSet<&'a str>,
}

impl Bad<'_> {
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
        let Some(run) = self.run.take().filter(|_| !limits::enough(diagnostics)) else {
            return;
        };
        let text: String = run.text(self.source).chars().take(20).collect();
        let message = format!("`{}` means nothing here", text.escape_debug());
        diagnostics.error(codes::UNKNOWN_CHARACTER, run, message).label("not part of the language");
    }

    fn name(&mut self, span: Span, diagnostics: &mut Diagnostics) {
        let text = span.text(self.source);
        if limits::enough(diagnostics) || !self.names.insert(text) {
            return;
        }
        diagnostics
            .error(codes::UNKNOWN_CHARACTER, span, format!("`{text}` is not a name"))
            .label("has letters that are not ASCII")
            .hint("names are ASCII letters, digits and `_`");
    }
}

/// Turns byte offsets, asked for in rising order, into lines and columns.
struct Places<'a> {
    source: &'a str,
    line: u32,
    column: u32,
    at: usize,
}

impl Places<'_> {
    fn span(&mut self, start: usize, end: usize) -> Span {
        for c in self.source.get(self.at..start).unwrap_or("").chars() {
            if c == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.at = start;
        Span { start: start as u32, end: end as u32, line: self.line, column: self.column }
    }
}

impl Tok {
    /// The token as a message names it.
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

    /// Whether the token begins an item of a file. Used to find the next item after a mistake.
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
                | Tok::Invariant
                | Tok::Observe
        )
    }
}
