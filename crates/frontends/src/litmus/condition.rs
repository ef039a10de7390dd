//! The parser of the constraint: `locations [...]`, `filter`, and a condition with its quantifier.
//!
//! Precedence, from low to high: `\/`, `/\`, `=>`, `~`. So `a /\ b => c` is `a /\ (b => c)`.
//! [`format_prop`] prints conditions in herd's format.

use fencepost_ir::{Quantifier, Span};

use super::ast::{Constant, Constraint, Prop, Right, StateVar};
use super::error::{Errors, LitmusError};
use super::sections::CONSTRAINT_KEYWORDS;
use super::tokens::{Tok, Tokens};

/// The maximum nesting depth of conditions.
const MAX_DEPTH: u32 = 200;

/// Parses a constraint up to `<<` or the end. Reports invalid parts and leaves them out.
pub(super) fn parse(tokens: &mut Tokens<'_>, errors: &mut Errors) -> Constraint {
    let mut parser = Parser { tokens, errors, incomplete: false };
    let mut locations = Vec::new();
    let mut filter = None;
    loop {
        if parser.tokens.eat_word("locations") {
            parser.locations(&mut locations);
        } else if parser.tokens.eat_word("filter") {
            filter = Some(parser.disjunction(MAX_DEPTH));
        } else {
            break;
        }
    }
    let first = parser.tokens.peek().span;
    let (quantifier, prop) = parser.quantified();
    let Parser { tokens, errors, incomplete } = parser;
    let span = first.to(tokens.last_span());
    tokens.eat(Tok::Semi);
    let ends = matches!(tokens.kind(), Tok::End | Tok::Shl) || tokens.word() == "with";
    // After an invalid part, the rest of the text probably belongs to this part.
    if !ends && !incomplete {
        errors.push(tokens.unexpected("the end of the condition"));
    }
    Constraint { locations, filter, quantifier, prop, span, incomplete: incomplete || !ends }
}

/// Returns whether the next token starts a constraint or a part of one.
pub(super) fn starts_constraint(tokens: &Tokens<'_>) -> bool {
    match (tokens.kind(), tokens.word()) {
        // `not` is also an instruction.
        (Tok::Name, "not") | (Tok::Tilde, _) => tokens.word_at(1) == "exists",
        (Tok::Name, word) => CONSTRAINT_KEYWORDS.contains(&word) && tokens.kind_at(1) != Tok::Colon,
        _ => false,
    }
}

struct Parser<'t, 's> {
    tokens: &'t mut Tokens<'s>,
    errors: &'t mut Errors,
    /// Whether a part is invalid and was left out.
    incomplete: bool,
}

impl Parser<'_, '_> {
    /// Reports an invalid part and skips to the next one.
    fn skip_invalid_part(&mut self, error: LitmusError) {
        self.errors.push(error);
        self.incomplete = true;
        self.tokens.skip_to((Tok::LParen, Tok::RParen), |tokens| {
            let kind = tokens.kind();
            matches!(kind, Tok::And | Tok::Or | Tok::RParen | Tok::Semi | Tok::Shl)
                || starts_constraint(tokens)
        });
    }

    fn quantified(&mut self) -> (Quantifier, Prop) {
        let tokens = &mut *self.tokens;
        let quantifier = match (tokens.kind(), tokens.word()) {
            (Tok::End | Tok::Shl, _) => return (Quantifier::Forall, Prop::And(Vec::new())),
            (Tok::Name, "exists" | "final") => Quantifier::Exists,
            (Tok::Name, "forall") => Quantifier::Forall,
            (Tok::Name, "not") if tokens.word_at(1) == "exists" => {
                tokens.take();
                Quantifier::Never
            }
            (Tok::Tilde, _) if tokens.word_at(1) == "exists" => {
                tokens.take();
                Quantifier::Never
            }
            (Tok::Name, "observed") => {
                let span = tokens.peek().span;
                let error = LitmusError::unsupported(span, "`observed` is not supported");
                self.skip_invalid_part(error.hint("write a condition with `exists` or `forall`"));
                return (Quantifier::Exists, Prop::And(Vec::new()));
            }
            (Tok::LParen, _) => return (Quantifier::Exists, self.disjunction(MAX_DEPTH)),
            _ => {
                let error = tokens.unexpected("`exists`, `~exists` or `forall`");
                self.skip_invalid_part(error);
                return (Quantifier::Exists, Prop::And(Vec::new()));
            }
        };
        self.tokens.take();
        (quantifier, self.disjunction(MAX_DEPTH))
    }

    fn locations(&mut self, locations: &mut Vec<(StateVar, Span)>) {
        if let Err(error) = self.tokens.expect(Tok::LBracket, "`[` after `locations`") {
            self.errors.push(error);
            self.incomplete = true;
            return self.tokens.skip_to((Tok::LBracket, Tok::RBracket), starts_constraint);
        }
        while !self.tokens.eat(Tok::RBracket) {
            if self.tokens.eat(Tok::Semi) {
                continue;
            }
            match location(self.tokens) {
                Ok(found) => locations.push(found),
                Err(error) => {
                    self.errors.push(error);
                    self.incomplete = true;
                    self.tokens.skip_to((Tok::LBracket, Tok::RBracket), |tokens| {
                        matches!(tokens.kind(), Tok::Semi | Tok::RBracket)
                            || starts_constraint(tokens)
                    });
                    if !matches!(self.tokens.kind(), Tok::Semi | Tok::RBracket) {
                        return;
                    }
                }
            }
        }
    }

    fn disjunction(&mut self, depth: u32) -> Prop {
        let mut all = vec![self.conjunction(depth)];
        while self.tokens.eat(Tok::Or) {
            all.push(self.conjunction(depth));
        }
        if all.len() == 1 { all.remove(0) } else { Prop::Or(all) }
    }

    fn conjunction(&mut self, depth: u32) -> Prop {
        let mut all = Vec::new();
        loop {
            match self.implication(depth) {
                Ok(part) => all.push(part),
                Err(error) => self.skip_invalid_part(error),
            }
            if !self.tokens.eat(Tok::And) {
                break;
            }
        }
        if all.len() == 1 { all.remove(0) } else { Prop::And(all) }
    }

    fn implication(&mut self, depth: u32) -> Result<Prop, LitmusError> {
        let left = self.negation(depth)?;
        if !self.tokens.eat(Tok::Implies) {
            return Ok(left);
        }
        let right = self.implication(self.enter(depth)?)?;
        Ok(Prop::Implies(Box::new(left), Box::new(right)))
    }

    fn enter(&self, depth: u32) -> Result<u32, LitmusError> {
        let span = self.tokens.peek().span;
        let too_deep = || {
            LitmusError::too_large(
                span,
                "this condition is nested too deeply: write it with fewer levels",
            )
        };
        depth.checked_sub(1).ok_or_else(too_deep)
    }

    fn negation(&mut self, depth: u32) -> Result<Prop, LitmusError> {
        if self.tokens.eat(Tok::Tilde) || self.tokens.eat_word("not") {
            let depth = self.enter(depth)?;
            return Ok(Prop::Not(Box::new(self.negation(depth)?)));
        }
        if self.tokens.eat_word("true") {
            return Ok(Prop::And(Vec::new()));
        }
        if self.tokens.eat_word("false") {
            return Ok(Prop::Or(Vec::new()));
        }
        if self.tokens.eat(Tok::LParen) {
            let depth = self.enter(depth)?;
            let inner = self.disjunction(depth);
            self.tokens.expect(Tok::RParen, "`)`")?;
            return Ok(inner);
        }
        equation(self.tokens)
    }
}

/// Parses an item of `locations [...]`, with the semicolon after it.
fn location(tokens: &mut Tokens<'_>) -> Result<(StateVar, Span), LitmusError> {
    let first = tokens.peek().span;
    let var = state_var(tokens)?;
    let span = first.to(tokens.last_span());
    // A type may follow. herd uses it to print the value; it is ignored here.
    while tokens.kind() == Tok::Name || tokens.kind() == Tok::Star {
        tokens.take();
    }
    if tokens.kind() != Tok::RBracket {
        tokens.expect(Tok::Semi, "`;` between locations")?;
    }
    Ok((var, span))
}

fn equation(tokens: &mut Tokens<'_>) -> Result<Prop, LitmusError> {
    let first = tokens.peek().span;
    if tokens.kind() == Tok::Name && tokens.kind_at(1) == Tok::LParen {
        let word = tokens.word();
        let message = format!("`{word}(...)` is not supported in a condition");
        return Err(LitmusError::unsupported(first, message));
    }
    let left = state_var(tokens)?;
    let negated = match tokens.kind() {
        Tok::Eq | Tok::EqEq => false,
        Tok::NotEq | Tok::LtGt => true,
        _ => return Err(tokens.unexpected("`=`")),
    };
    tokens.take();
    let right = right(tokens)?;
    let equal = Prop::Equal(left, right, first.to(tokens.last_span()));
    Ok(if negated { Prop::Not(Box::new(equal)) } else { equal })
}

fn right(tokens: &mut Tokens<'_>) -> Result<Right, LitmusError> {
    if tokens.eat(Tok::LBrace) {
        let mut all = Vec::new();
        while tokens.kind() != Tok::RBrace {
            all.push(constant(tokens)?);
            if !tokens.eat(Tok::Comma) {
                break;
            }
        }
        tokens.expect(Tok::RBrace, "`}`")?;
        return Ok(Right::Among(all));
    }
    let other = tokens.kind() == Tok::LBracket
        || tokens.kind() == Tok::Number && tokens.kind_at(1) == Tok::Colon
        || tokens.kind() == Tok::Name && tokens.kind_at(1) == Tok::Colon;
    if other {
        Ok(Right::StateVar(state_var(tokens)?))
    } else {
        Ok(Right::Constant(constant(tokens)?))
    }
}

/// Parses a location or register: `x`, `[x]`, `a[1]`, `0:EAX`, `P0:EAX`.
pub(super) fn state_var(tokens: &mut Tokens<'_>) -> Result<StateVar, LitmusError> {
    if let Some(register) = register(tokens)? {
        return Ok(register);
    }
    let bracket = tokens.eat(Tok::LBracket);
    tokens.eat(Tok::Star);
    let name = tokens.name("a location or a register (`0:EAX`)")?.to_string();
    let mut found = StateVar::Global(name.clone());
    if tokens.eat(Tok::LBracket) {
        found = StateVar::Element(name, tokens.count("index")?);
        tokens.expect(Tok::RBracket, "`]`")?;
    }
    if bracket {
        tokens.expect(Tok::RBracket, "`]`")?;
    }
    Ok(found)
}

/// Parses a register if one comes next: `0:EAX`, `P0:EAX`, `0:%eax`.
pub(super) fn register(tokens: &mut Tokens<'_>) -> Result<Option<StateVar>, LitmusError> {
    if tokens.kind_at(1) != Tok::Colon {
        return Ok(None);
    }
    let token = tokens.peek();
    let thread = match token.kind {
        Tok::Number => tokens.count("thread")?,
        Tok::Name => {
            let number = tokens.word().strip_prefix('P').and_then(|n| n.parse().ok());
            let number =
                number.ok_or_else(|| tokens.unexpected("a thread, as in `0:EAX` or `P0:EAX`"))?;
            tokens.take();
            number
        }
        _ => return Ok(None),
    };
    tokens.expect(Tok::Colon, "`:`")?;
    tokens.eat(Tok::Percent);
    let name = tokens.name("a register")?.to_string();
    Ok(Some(StateVar::Register(thread, name)))
}

/// Parses a number or the address of a location: `1`, `-1`, `0x10`, `x`, `&x`, `a[1]`.
pub(super) fn constant(tokens: &mut Tokens<'_>) -> Result<Constant, LitmusError> {
    if tokens.is_number() {
        return Ok(Constant::Int(tokens.number("a value")?));
    }
    tokens.eat(Tok::Amp);
    let name = tokens.name("a value")?.to_string();
    if tokens.eat(Tok::LBracket) {
        let at = tokens.count("index")?;
        tokens.expect(Tok::RBracket, "`]`")?;
        return Ok(Constant::Element(name, at));
    }
    Ok(Constant::Address(name))
}

/// The operator of which a condition is an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Nothing,
    And,
    Or,
    Implies,
}

/// Formats a condition as herd does. `name` formats a location or register.
pub(super) fn format_prop(prop: &Prop, name: &impl Fn(&StateVar) -> String) -> String {
    format_in(prop, Context::Nothing, name)
}

fn format_in(prop: &Prop, context: Context, name: &impl Fn(&StateVar) -> String) -> String {
    let join = |all: &[Prop], sign: &str, inside: Context| {
        let parts: Vec<String> = all.iter().map(|p| format_in(p, inside, name)).collect();
        parts.join(sign)
    };
    let (text, paren) = match prop {
        Prop::Equal(var, right, _) => {
            let right = match right {
                Right::Constant(constant) => format_constant(constant),
                // Without brackets, the element would be parsed as an address.
                Right::StateVar(other @ StateVar::Element(..)) => format!("[{}]", name(other)),
                Right::StateVar(other) => name(other),
                Right::Among(all) => {
                    let all: Vec<String> = all.iter().map(format_constant).collect();
                    format!("{{{}}}", all.join(","))
                }
            };
            (format!("{}={right}", name(var)), false)
        }
        Prop::Not(inner) => (format!("not ({})", format_in(inner, Context::Nothing, name)), false),
        Prop::And(all) if all.is_empty() => ("true".into(), false),
        Prop::Or(all) if all.is_empty() => ("false".into(), false),
        Prop::And(all) => (join(all, " /\\ ", Context::And), context == Context::Implies),
        Prop::Or(all) => {
            (join(all, " \\/ ", Context::Or), matches!(context, Context::And | Context::Implies))
        }
        Prop::Implies(a, b) => {
            let left = match **a {
                Prop::Implies(..) => format!("({})", format_in(a, Context::Nothing, name)),
                _ => format_in(a, Context::Implies, name),
            };
            let right = format_in(b, Context::Implies, name);
            (format!("{left} => {right}"), matches!(context, Context::And | Context::Or))
        }
    };
    if paren { format!("({text})") } else { text }
}

fn format_constant(constant: &Constant) -> String {
    match constant {
        Constant::Int(value) => value.to_string(),
        Constant::Address(name) => name.clone(),
        Constant::Element(name, at) => format!("{name}[{at}]"),
    }
}
