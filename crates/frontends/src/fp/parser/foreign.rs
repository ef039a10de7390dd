//! Hints after syntax errors: recognises notations of other languages around the unexpected token.
//!
//! The hints never change what is accepted. [`crate::fp::foreign`] contains the words.

use super::Parser;
use crate::fp::foreign;
use crate::fp::lexer::Tok;

const THREAD: &str = "write `thread p { ... }` or `thread p(i in 0..2) { ... }`";
const VALUE_STEP: &str = "`x++` is a statement, not a value: write `r = x; x++;`";
const COMPARE: &str = "write `==` to compare; an assignment is not a condition";

impl Parser<'_> {
    /// Returns the kind of a token, by its distance to the current token.
    fn near(&self, distance: isize) -> Tok {
        let at = self.at.checked_add_signed(distance);
        at.and_then(|at| self.tokens.get(at)).map_or(Tok::End, |token| token.kind)
    }

    /// Returns the text of a token, by its distance to the current token.
    fn near_text(&self, distance: isize) -> &str {
        let at = self.at.checked_add_signed(distance);
        at.and_then(|at| self.tokens.get(at)).map_or("", |token| token.span.text(self.source))
    }

    /// Returns a hint for the current token, where `expected` was expected.
    pub(super) fn foreign_hint(&self, expected: &str) -> Option<String> {
        let hint = self.word_hint().or_else(|| self.token_hint(expected));
        hint.or_else(|| self.head_hint(expected)).map(str::to_string)
    }

    /// Returns a hint for a word of another language in the current statement or item: its first
    /// word, the current word, or a procedure before the current token.
    fn word_hint(&self) -> Option<&'static str> {
        let (first, before) = self.tokens.get(self.begin..self.at)?.split_first().unzip();
        let text = |at: usize| self.tokens.get(at).map_or("", |t| t.span.text(self.source));
        let first_kind = first.map_or(self.peek(), |token| token.kind);
        if first_kind == Tok::Shared {
            return before?.iter().find_map(|t| foreign::type_name(t.span.text(self.source)));
        }
        // A word before `=`, `[` or `.` is a name of the program.
        let second = self.tokens.get(self.begin + 1).map_or(Tok::End, |t| t.kind);
        if first_kind == Tok::Name
            && !matches!(second, Tok::Assign | Tok::LBracket | Tok::Dot | Tok::LParen)
            && let Some(hint) = foreign::statement(text(self.begin))
        {
            return Some(hint);
        }
        let calls = (self.begin..self.at).filter(|at| {
            let next = self.tokens.get(at + 1).map(|t| t.kind);
            self.tokens[*at].kind == Tok::Name && next == Some(Tok::LParen)
        });
        let mut called = calls.map(text).filter(|name| !self.is_declared_procedure(name));
        called.find_map(foreign::procedure).or_else(|| foreign::operator(self.near_text(0)))
    }

    /// Returns whether a procedure of the file has this name.
    fn is_declared_procedure(&self, name: &str) -> bool {
        self.tokens.windows(4).any(|window| {
            matches!(window[0].kind, Tok::Proc | Tok::Operation)
                && window[2].kind == Tok::Name
                && window[2].span.text(self.source) == name
        })
    }

    /// Returns a hint for a notation of another language at the current token.
    fn token_hint(&self, expected: &str) -> Option<&'static str> {
        let first = self.tokens.get(self.begin).map(|token| token.kind);
        let (before, found, after) = (self.near(-1), self.near(0), self.near(1));
        Some(match (before, found, after) {
            (Tok::Colon, Tok::Assign, _) => "write `=` to assign",
            (Tok::EqEq, Tok::Assign, _) => "write `==` to compare",
            (_, Tok::Assign, _) if expected == "`)`" => COMPARE,
            (_, Tok::Assign, _) if matches!(first, Some(Tok::Invariant | Tok::Final)) => COMPARE,
            (_, Tok::Assign | Tok::Comma, _) if ["`;`", "`=`"].contains(&expected) => {
                "write one assignment in each statement: `y = 1; x = 1;`"
            }
            (Tok::Minus, Tok::Gt, _) | (_, Tok::Minus, Tok::Gt) => {
                "write `.` to access a field: `n.next`"
            }
            (Tok::Lt, Tok::Gt, _) => "write `!=` for \"not equal\"",
            (_, Tok::Lt, Tok::Minus) if expected == "`=`" => "write `=` to assign",
            (_, Tok::Star, Tok::Semi) => "write `choose(0, 1)` for any of the values",
            (Tok::LParen, Tok::Star, _) | (_, Tok::LParen, Tok::Star)
                if expected == "a declaration" =>
            {
                "write `// ...` for a comment"
            }
            (_, Tok::Star, _) => {
                "there are no pointers: write `x` for `*x`; records have references"
            }
            (_, Tok::And, _) => "there are no pointers: write `x` for `&x`",
            (Tok::Assign, Tok::PlusPlus | Tok::MinusMinus, _) => VALUE_STEP,
            (_, Tok::PlusPlus | Tok::MinusMinus, _) if expected == "`;`" => VALUE_STEP,
            (_, Tok::PlusPlus, _) => "write `x++`, with the operator after the name",
            (_, Tok::MinusMinus, _) => "write `x--`, or `// ...` for a comment",
            (_, Tok::AndAnd | Tok::OrOr, _) if expected == "a statement" => {
                "write one pair of parentheses around the whole condition"
            }
            (_, Tok::Colon, _)
                if matches!(first, Some(Tok::Final | Tok::Observe | Tok::Invariant)) =>
            {
                "write `p.r` for register `r` of thread `p`"
            }
            (Tok::LParen, Tok::Int | Tok::Bool, Tok::RParen) => {
                "there are no casts; remove the type"
            }
            (Tok::Dot, Tok::Number, _) => "numbers are integers",
            (Tok::LBracket, Tok::RBracket, _) => "write the length of the array: `a[2]`",
            (Tok::Name, Tok::LParen | Tok::LBrace, _) if self.near(-2) == Tok::New => {
                "write `n = new N;`, then assign the fields: `n.value = 1;`"
            }
            (_, Tok::Semi, _) if expected == "a declaration" => "remove the `;`",
            _ => return None,
        })
    }

    /// Returns a hint by the first token of the current statement or item.
    fn head_hint(&self, expected: &str) -> Option<&'static str> {
        let first = self.tokens.get(self.begin).map(|token| token.kind)?;
        let tokens = self.tokens.get(self.begin..self.at)?;
        let in_head = tokens.iter().all(|token| token.kind != Tok::LBrace);
        Some(match (first, self.peek()) {
            (Tok::Thread, _) if in_head => THREAD,
            (Tok::Proc | Tok::Operation, Tok::LParen) if expected == "a name" => {
                "write the type of the result: `proc int f()` or `proc void f()`"
            }
            (Tok::Shared, Tok::Semi | Tok::Assign | Tok::Comma) if expected == "a name" => {
                "write the type: `shared int x;` or `shared bool x;`"
            }
            (Tok::Shared, Tok::LBracket) => "write the length after the name: `shared int a[2];`",
            (Tok::Property, _) => "write `invariant COND;` or `final forall COND;` for a condition",
            (Tok::Do, _) if expected == "`while`" => {
                "write `do { ... } while (c);`, or `while (c) { ... }` without `do`"
            }
            (Tok::For, _) if in_head => "write `for (i = 0; i < 2; i++) ...`",
            (Tok::Atomic, _) if expected == "`{`" => "write `atomic { ... }` around the statements",
            (Tok::If | Tok::While, _) if expected == "`(`" => {
                "write the condition in parentheses: `if (x == 1)`, `while (x == 1)`"
            }
            _ => return None,
        })
    }

    /// Returns a hint for text outside of all blocks that begins no declaration.
    pub(super) fn item_hint(&self) -> Option<&'static str> {
        match (self.peek(), self.peek_second()) {
            (Tok::Assert, _) => Some("write `final forall COND;` for a condition of final states"),
            (Tok::Atomic, _) => foreign::item("atomic"),
            (Tok::Int | Tok::Void, Tok::Name) if self.near_text(1) == "main" => {
                Some("a file has no `main`: write `thread p { ... }`, or `init { ... }`")
            }
            (Tok::Name, _) => foreign::item(self.near_text(0)),
            (Tok::LParen, Tok::Star) | (Tok::Semi, _) => self.token_hint("a declaration"),
            _ => None,
        }
    }
}
