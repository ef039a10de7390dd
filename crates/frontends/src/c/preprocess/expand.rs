//! Macro expansion: the stream of tokens in which macros are replaced.
//!
//! The result of a replacement is read again, with the tokens after it. Each token knows the macros
//! that it comes from ([hide sets](super::hide_sets)), and these macros do not replace it again.

use std::rc::Rc;

use super::macros::{Macro, Origin};
use super::{MAX_MACRO_DEPTH, Preprocessor};
use crate::c::codes;
use crate::c::tokens::{Tok, Token};

/// Where tokens are read from.
#[derive(Debug)]
pub(super) struct Input {
    /// The tokens to read first, in reverse order.
    pending: Vec<Token>,
    /// Whether the open files follow.
    files: bool,
}

impl Input {
    /// Reads the open files.
    pub(super) fn from_files() -> Input {
        Input { pending: Vec::new(), files: true }
    }
}

impl Preprocessor<'_> {
    fn take(&mut self, input: &mut Input) -> Option<Token> {
        if self.abandoned {
            return None;
        }
        match input.pending.pop() {
            Some(token) => Some(token),
            None if input.files => self.next_of_files(),
            None => None,
        }
    }

    /// Replaces the macros in a list of tokens.
    pub(super) fn expand_list(&mut self, mut tokens: Vec<Token>) -> Vec<Token> {
        tokens.reverse();
        let mut input = Input { pending: tokens, files: false };
        let mut expanded = Vec::new();
        while let Some(token) = self.expand_next(&mut input) {
            expanded.push(token);
        }
        expanded
    }

    /// Returns the next token that is not the use of a macro.
    pub(super) fn expand_next(&mut self, input: &mut Input) -> Option<Token> {
        loop {
            let token = self.take(input)?;
            if !token.kind.is_word() || self.hide_sets.contains(token.hide, token.text) {
                return Some(token);
            }
            let Some(used) = self.macros.get(&token.text).map(Rc::clone) else {
                match self.dynamic(token) {
                    Some(value) => return Some(value),
                    None => return Some(token),
                }
            };
            let result = match &used.parameters {
                None => {
                    let hide = self.hide_sets.with(token.hide, token.text);
                    let body = self.substitute(&used, &[], hide, token, token.span);
                    Some(body)
                }
                Some(_) if self.is_own_name(&used, token, input) => None,
                Some(parameters) => self.call(&used, parameters.len(), token, input),
            };
            match result {
                Some(result) => {
                    if !self.spend(result.len() + 1, token.span) {
                        return None;
                    }
                    input.pending.extend(result.into_iter().rev());
                }
                None => return Some(token),
            }
        }
    }

    /// Returns whether the name of a macro of the prelude means something of the user: a member, or
    /// a function that the user declares. The macro then ends, except that of a verifier's function
    /// that the file does not define.
    fn is_own_name(&mut self, used: &Macro, token: Token, input: &Input) -> bool {
        if used.origin != Origin::Prelude || !input.files {
            return false;
        }
        if self.braces > 0 || self.last == Tok::Assign {
            return matches!(self.last, Tok::Dot | Tok::Arrow);
        }
        let rest = self.files.last().and_then(|file| file.tokens.get(file.at.saturating_sub(1)..));
        let rest = rest.unwrap_or_default();
        let named = rest.iter().enumerate().filter(|(_, other)| other.text == token.text);
        // Verifiers define the functions that programs only declare. Other names are the user's.
        let text = self.text(token);
        let of_verifier = text.starts_with("__") || &*text == "reach_error";
        if !of_verifier || named.into_iter().any(|(at, _)| begins_definition(&rest[at + 1..])) {
            self.macros.remove(&token.text);
        }
        true
    }

    /// Reads the arguments of a macro and returns its replacement. Returns `None` if no `(` follows.
    fn call(
        &mut self,
        used: &Macro,
        parameters: usize,
        name: Token,
        input: &mut Input,
    ) -> Option<Vec<Token>> {
        let next = self.take(input)?;
        if next.kind != Tok::LParen {
            input.pending.push(next);
            return None;
        }
        let (mut arguments, mut current, mut nesting) = (Vec::new(), Vec::new(), 0_u32);
        let close = loop {
            let Some(token) = self.take(input) else {
                let message = format!("the arguments of `{}` are not closed", self.text(name));
                self.error(codes::MACRO_ARGUMENTS, name.span, message)
                    .label("this macro has arguments")
                    .hint("add `)`");
                return Some(Vec::new());
            };
            match token.kind {
                Tok::LParen => nesting += 1,
                Tok::RParen if nesting == 0 => break token,
                Tok::RParen => nesting -= 1,
                // The last parameter of a macro with `...` takes all further arguments.
                Tok::Comma
                    if nesting == 0 && !(used.variadic && arguments.len() + 1 == parameters) =>
                {
                    arguments.push(std::mem::take(&mut current));
                    continue;
                }
                _ => {}
            }
            current.push(token);
        };
        if parameters > 0 || !current.is_empty() || !arguments.is_empty() {
            arguments.push(current);
        }
        // No argument for `...`.
        if used.variadic && arguments.len() + 1 == parameters {
            arguments.push(Vec::new());
        }
        let same_file = close.span.start >= name.span.start
            && self.map.file(name.span).map(|file| file.start)
                == self.map.file(close.span).map(|file| file.start);
        let span = if same_file { name.span.to(close.span) } else { name.span };
        if arguments.len() != parameters {
            let message = format!(
                "the macro `{}` has {}, not {}",
                self.text(name),
                count(parameters, "parameter"),
                arguments.len()
            );
            let defined = used.span;
            self.error(codes::MACRO_ARGUMENTS, span, message)
                .label("wrong number of arguments")
                .related(defined, "the macro is defined here");
            arguments.resize(parameters, Vec::new());
        }
        if self.depth >= MAX_MACRO_DEPTH {
            self.error(
                codes::TOO_DEEP,
                span,
                format!("macros are nested more than {MAX_MACRO_DEPTH} levels deep"),
            )
            .hint("use fewer macros inside arguments of macros");
            self.abandon();
            return None;
        }
        self.depth += 1;
        let hide = self.hide_sets.intersection(name.hide, close.hide);
        let hide = self.hide_sets.with(hide, name.text);
        let result = self.substitute(used, &arguments, hide, name, span);
        self.depth -= 1;
        Some(result)
    }

    /// Returns the value of `__LINE__`, `__FILE__` or `__COUNTER__`.
    fn dynamic(&mut self, token: Token) -> Option<Token> {
        let (kind, text) = match &*self.text(token) {
            "__LINE__" => (Tok::Number, token.span.line.to_string()),
            "__FILE__" | "__FILE_NAME__" | "__BASE_FILE__" => {
                let name = self.map.file(token.span).map_or("", |file| file.name.as_str());
                (Tok::String, format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")))
            }
            "__COUNTER__" => {
                self.counter += 1;
                (Tok::Number, (self.counter - 1).to_string())
            }
            _ => return None,
        };
        Some(Token { kind, text: self.spellings.intern(&text), ..token })
    }
}

/// Returns `1 parameter`, `2 parameters`, ...
fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Returns whether the tokens after a name are parameters and the body of a function.
fn begins_definition(rest: &[Token]) -> bool {
    let mut nesting = 0_i32;
    for (at, token) in rest.iter().enumerate() {
        match token.kind {
            Tok::LParen => nesting += 1,
            Tok::RParen => nesting -= 1,
            _ => {}
        }
        if nesting <= 0 {
            return at > 0 && rest.get(at + 1).is_some_and(|next| next.kind == Tok::LBrace);
        }
    }
    false
}
