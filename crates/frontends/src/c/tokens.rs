//! The lexer: splits the text of one file into preprocessing tokens.
//!
//! Keywords have their own kinds. The preprocessor treats every word alike ([`Tok::is_word`]).
//! Comments and line continuations disappear here. Positions are those of the original text.

use std::ops::Range;

use fencepost_ir::{Diagnostics, Span};
use logos::Logos;

use super::codes;
use super::preprocess::hide_sets::HideSet;
use super::preprocess::splices::Splices;
use super::spellings::Symbol;
use crate::lexing::{LineColumns, byte_order_mark_length, report_open_comment};

/// The kind of a token. Words come last.
#[derive(Logos, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[logos(skip r"[ \t\r\f\x0b]+")]
#[expect(missing_docs, reason = "the `token` attribute shows the text of each token")]
pub enum Tok {
    /// After the last token.
    End,
    #[token("\n")]
    Newline,
    #[regex(r"//[^\n]*", allow_greedy = true)]
    LineComment,
    #[regex(r"/\*([^*]|\*+[^*/])*\*+/")]
    BlockComment,
    #[token("/*")]
    OpenComment,
    /// A character that is not part of C.
    Unknown,
    #[regex(r"\.?[0-9]([eEpP][+-]|[0-9A-Za-z_.])*")]
    Number,
    #[regex(r"(L|u|U|u8)?'([^'\\\n]|\\[^\n])+'")]
    Char,
    #[regex(r#"(L|u|U|u8)?"([^"\\\n]|\\[^\n])*""#)]
    String,

    #[token("#")]
    #[token("%:")]
    Hash,
    #[token("##")]
    #[token("%:%:")]
    HashHash,
    #[token("{")]
    #[token("<%")]
    LBrace,
    #[token("}")]
    #[token("%>")]
    RBrace,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    #[token("<:")]
    LBracket,
    #[token("]")]
    #[token(":>")]
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
    #[token("...")]
    Ellipsis,
    #[token("->")]
    Arrow,
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
    #[token("<<=")]
    ShlAssign,
    #[token(">>=")]
    ShrAssign,
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

    /// A word that is not a keyword.
    #[regex("[A-Za-z_$][A-Za-z0-9_$]*", priority = 1)]
    Name,

    #[token("_Alignas")]
    Alignas,
    #[token("_Alignof")]
    #[token("__alignof__")]
    #[token("__alignof")]
    Alignof,
    #[token("asm")]
    #[token("__asm__")]
    #[token("__asm")]
    Asm,
    #[token("_Atomic")]
    Atomic,
    #[token("__attribute__")]
    #[token("__attribute")]
    Attribute,
    #[token("auto")]
    Auto,
    #[token("__auto_type")]
    AutoType,
    #[token("_Bool")]
    Bool,
    #[token("break")]
    Break,
    #[token("case")]
    Case,
    #[token("char")]
    Char8,
    #[token("_Complex")]
    #[token("__complex__")]
    Complex,
    #[token("const")]
    #[token("__const")]
    #[token("__const__")]
    Const,
    #[token("continue")]
    Continue,
    #[token("default")]
    Default,
    #[token("do")]
    Do,
    #[token("double")]
    Double,
    #[token("else")]
    Else,
    #[token("enum")]
    Enum,
    #[token("__extension__")]
    Extension,
    #[token("extern")]
    Extern,
    #[token("float")]
    Float,
    /// Floating-point types with a size.
    #[token("_Float16")]
    #[token("_Float32")]
    #[token("_Float64")]
    #[token("_Float128")]
    #[token("__float128")]
    #[token("_Float32x")]
    #[token("_Float64x")]
    FloatN,
    #[token("for")]
    For,
    #[token("_Generic")]
    Generic,
    #[token("goto")]
    Goto,
    #[token("if")]
    If,
    #[token("inline")]
    #[token("__inline")]
    #[token("__inline__")]
    Inline,
    #[token("int")]
    Int,
    #[token("__int128")]
    #[token("__int128_t")]
    Int128,
    #[token("__label__")]
    LocalLabel,
    #[token("long")]
    Long,
    #[token("_Noreturn")]
    Noreturn,
    #[token("register")]
    Register,
    #[token("restrict")]
    #[token("__restrict")]
    #[token("__restrict__")]
    Restrict,
    #[token("return")]
    Return,
    #[token("short")]
    Short,
    #[token("signed")]
    #[token("__signed")]
    #[token("__signed__")]
    Signed,
    #[token("sizeof")]
    Sizeof,
    #[token("static")]
    Static,
    #[token("_Static_assert")]
    StaticAssert,
    #[token("struct")]
    Struct,
    #[token("switch")]
    Switch,
    #[token("_Thread_local")]
    #[token("__thread")]
    ThreadLocal,
    #[token("typedef")]
    Typedef,
    #[token("typeof")]
    #[token("__typeof")]
    #[token("__typeof__")]
    Typeof,
    #[token("union")]
    Union,
    #[token("unsigned")]
    Unsigned,
    #[token("void")]
    Void,
    #[token("volatile")]
    #[token("__volatile")]
    #[token("__volatile__")]
    Volatile,
    #[token("while")]
    While,

    /// The name of the current function.
    #[token("__func__")]
    #[token("__FUNCTION__")]
    #[token("__PRETTY_FUNCTION__")]
    Func,
    #[token("__builtin_offsetof")]
    BuiltinOffsetof,
    #[token("__builtin_types_compatible_p")]
    BuiltinTypesCompatible,
    #[token("__builtin_choose_expr")]
    BuiltinChooseExpr,
    #[token("__builtin_va_arg")]
    BuiltinVaArg,
}

impl Tok {
    /// Returns whether the token is a name or a keyword. For the preprocessor both are identifiers.
    pub fn is_word(self) -> bool {
        self >= Tok::Name
    }
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// The kind.
    pub kind: Tok,
    /// The spelling.
    pub text: Symbol,
    /// The position. A token that comes from a macro has the position of the macro's use.
    pub span: Span,
    /// The position of the token itself, if it is an argument of a macro. Otherwise as `span`.
    pub origin: Span,
    /// The macros that do not replace this token.
    pub hide: HideSet,
    /// Whether the token is the first on its line.
    pub first: bool,
    /// Whether there is space before the token.
    pub space: bool,
}

/// Splits a text into tokens. `start` is the offset of the text in the source map. `intern` returns
/// the number of a spelling.
pub fn lex(
    text: &str,
    start: u32,
    mut intern: impl FnMut(&str) -> Symbol,
    diagnostics: &mut Diagnostics,
) -> Vec<Token> {
    let splices = Splices::new(text);
    let mut positions = LineColumns::new(text);
    let mut span_of = |range: &Range<usize>| {
        let span = positions.span(splices.original(range.start), splices.end(range.end));
        Span { start: start + span.start, end: start + span.end, ..span }
    };
    let mut tokens = Vec::new();
    let mut lexer = Tok::lexer(splices.text());
    lexer.bump(byte_order_mark_length(text));
    let (mut first, mut previous) = (true, lexer.span().end);
    while let Some(kind) = lexer.next() {
        let range = lexer.span();
        let kind = match kind {
            Ok(Tok::Newline) => {
                first = true;
                continue;
            }
            Ok(Tok::LineComment | Tok::BlockComment) => continue,
            Ok(Tok::OpenComment) => {
                let span = span_of(&range);
                report_open_comment(codes::OPEN_COMMENT, span, diagnostics);
                lexer.bump(lexer.remainder().len());
                continue;
            }
            Ok(kind) => kind,
            Err(()) => Tok::Unknown,
        };
        let span = span_of(&range);
        let space = range.start > previous || first;
        let text = intern(lexer.slice());
        tokens.push(Token { kind, text, span, origin: span, hide: HideSet::EMPTY, first, space });
        (first, previous) = (false, range.end);
    }
    tokens
}

/// Returns the kind of a text that is a single token.
pub fn single(text: &str) -> Option<Tok> {
    let mut lexer = Tok::lexer(text);
    let kind = lexer.next()?.ok()?;
    let is_token =
        !matches!(kind, Tok::Newline | Tok::LineComment | Tok::BlockComment | Tok::OpenComment);
    (is_token && lexer.slice() == text).then_some(kind)
}
