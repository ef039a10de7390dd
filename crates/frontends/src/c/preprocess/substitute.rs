//! The replacement of one macro: parameters, `#` and `##`.

use fencepost_ir::Span;

use super::Preprocessor;
use super::macros::Macro;
use crate::c::codes;
use crate::c::tokens::{self, Tok, Token};

impl Preprocessor<'_> {
    /// Returns the replacement of a macro. All its tokens have the position `span`. The tokens of
    /// arguments keep their origin.
    pub(super) fn substitute(
        &mut self,
        used: &Macro,
        arguments: &[Vec<Token>],
        hide: super::hide_sets::HideSet,
        name: Token,
        span: Span,
    ) -> Vec<Token> {
        // Each argument is expanded at most once, when a parameter needs it.
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let mut result: Vec<Token> = Vec::new();
        let mut at = 0;
        while at < used.body.len() && !self.abandoned {
            let (mut left, mut next) =
                self.operand(used, arguments, &mut expanded, at, is_paste(used, at + 1), span);
            let mut comma = used.body[at].kind == Tok::Comma;
            while is_paste(used, next) {
                let start = next + 1;
                let is_rest = used.variadic && parameter(used, start) == last_parameter(used);
                if comma && is_rest {
                    // GNU: `, ## __VA_ARGS__` drops the comma if there are no further arguments.
                    let (right, after) =
                        self.operand(used, arguments, &mut expanded, start, false, span);
                    if right.is_empty() {
                        left.clear();
                    }
                    left.extend(right);
                    next = after;
                } else {
                    let (right, after) =
                        self.operand(used, arguments, &mut expanded, start, true, span);
                    self.paste(&mut left, right, span);
                    next = after;
                }
                comma = false;
            }
            if !self.spend(left.len(), span) {
                break;
            }
            result.extend(left);
            at = next;
        }
        for token in &mut result {
            token.hide = self.hide_sets.union(token.hide, hide);
            token.span = span;
            token.first = false;
        }
        if let Some(first) = result.first_mut() {
            first.space = name.space;
        }
        result
    }

    /// Returns the tokens for the token `at` of a macro, and where the next one begins. `raw` means
    /// that an argument is not expanded, because it is an operand of `##`.
    fn operand(
        &mut self,
        used: &Macro,
        arguments: &[Vec<Token>],
        expanded: &mut [Option<Vec<Token>>],
        at: usize,
        raw: bool,
        span: Span,
    ) -> (Vec<Token>, usize) {
        let Some(token) = used.body.get(at) else { return (Vec::new(), at + 1) };
        if token.kind == Tok::Hash && used.parameters.is_some() {
            if let Some(argument) = parameter(used, at + 1).and_then(|p| arguments.get(p)) {
                let text = self.stringify(argument);
                let text = self.spellings.intern(&text);
                let string = Token { kind: Tok::String, text, origin: span, ..*token };
                return (vec![string], at + 2);
            }
            self.error(codes::MACRO_DEFINITION, span, "`#` is not followed by a parameter")
                .related(token.span, "in this macro");
            return (Vec::new(), at + 1);
        }
        let Some(number) = parameter(used, at) else {
            return (vec![Token { origin: span, ..*token }], at + 1);
        };
        let argument = arguments.get(number).map_or(&[][..], Vec::as_slice);
        let mut tokens = if raw {
            argument.to_vec()
        } else {
            let slot = expanded.get(number).and_then(Option::as_ref);
            match slot {
                Some(known) => known.clone(),
                None => {
                    let tokens = self.expand_list(argument.to_vec());
                    if let Some(slot) = expanded.get_mut(number) {
                        *slot = Some(tokens.clone());
                    }
                    tokens
                }
            }
        };
        if let Some(first) = tokens.first_mut() {
            first.space = token.space;
        }
        (tokens, at + 1)
    }

    /// Joins the last token of `left` with the first token of `right`.
    fn paste(&mut self, left: &mut Vec<Token>, right: Vec<Token>, span: Span) {
        let mut right = right.into_iter();
        let Some(second) = right.next() else { return };
        let Some(first) = left.pop() else {
            left.push(second);
            left.extend(right);
            return;
        };
        let text = format!("{}{}", self.text(first), self.text(second));
        match tokens::single(&text) {
            Some(kind) => {
                let hide = self.hide_sets.intersection(first.hide, second.hide);
                let text = self.spellings.intern(&text);
                left.push(Token { kind, text, origin: span, hide, ..first });
            }
            None => {
                let (a, b) = (self.text(first), self.text(second));
                self.error(codes::PASTE, span, format!("`{a}` and `{b}` do not form a token"))
                    .label("a macro joins them with `##`")
                    .hint("remove the `##` from the macro");
                left.extend([first, second]);
            }
        }
        left.extend(right);
    }

    /// Returns the string literal with the text of an argument.
    fn stringify(&self, argument: &[Token]) -> String {
        let mut text = String::from("\"");
        for (at, token) in argument.iter().enumerate() {
            if at > 0 && token.space {
                text.push(' ');
            }
            let spelling = self.text(*token);
            if matches!(token.kind, Tok::String | Tok::Char) {
                for c in spelling.chars() {
                    if matches!(c, '"' | '\\') {
                        text.push('\\');
                    }
                    text.push(c);
                }
            } else {
                text.push_str(&spelling);
            }
        }
        text.push('"');
        text
    }
}

fn is_paste(used: &Macro, at: usize) -> bool {
    used.body.get(at).is_some_and(|token| token.kind == Tok::HashHash)
}

/// Returns the number of the parameter that a token of the body names.
fn parameter(used: &Macro, at: usize) -> Option<usize> {
    let token = used.body.get(at).filter(|token| token.kind.is_word())?;
    used.parameters.as_ref()?.iter().position(|parameter| *parameter == token.text)
}

fn last_parameter(used: &Macro) -> Option<usize> {
    used.parameters.as_ref()?.len().checked_sub(1)
}
