//! What is asked of a test: `locations [...]`, `filter`, and a condition with its quantifier.
//!
//! Binding, from loose to tight: `\/`, `/\`, `=>`, `~`; so `a /\ b => c` is `a /\ (b => c)`. Written again
//! by [`show`], conditions look as herd writes them.

use fencepost_ir::{Quantifier, Span};

use super::ast::{Constant, Constraint, Prop, Right, Spot};
use super::sections::CONSTRAINT;
use super::tokens::{Tok, Tokens};
use super::wrong::{Errors, Wrong};

/// How deep conditions may nest.
const DEEPEST: u32 = 200;

/// Reads a constraint up to `<<` or the end. Parts that cannot be read are left out.
pub(super) fn read(tokens: &mut Tokens<'_>, errors: &mut Errors) -> Constraint {
    let mut reader = Reader { tokens, errors, lost: false };
    let mut locations = Vec::new();
    let mut filter = None;
    loop {
        if reader.tokens.eat_word("locations") {
            reader.locations(&mut locations);
        } else if reader.tokens.eat_word("filter") {
            filter = Some(reader.disjunction(DEEPEST));
        } else {
            break;
        }
    }
    let first = reader.tokens.peek().span;
    let (quantifier, prop) = reader.quantified();
    let Reader { tokens, errors, lost } = reader;
    let span = first.to(tokens.last());
    tokens.eat(Tok::Semi);
    let ends = matches!(tokens.kind(), Tok::End | Tok::Shl) || tokens.word() == "with";
    // Behind a part that could not be read comes what belongs to it.
    if !ends && !lost {
        errors.push(tokens.unexpected("the end of the condition"));
    }
    Constraint { locations, filter, quantifier, prop, span, lost: lost || !ends }
}

/// Whether the next token begins a constraint, or a part of it.
pub(super) fn begins(tokens: &Tokens<'_>) -> bool {
    match (tokens.kind(), tokens.word()) {
        // `not` is an instruction, too.
        (Tok::Name, "not") | (Tok::Tilde, _) => tokens.word_ahead(1) == "exists",
        (Tok::Name, word) => CONSTRAINT.contains(&word) && tokens.ahead(1) != Tok::Colon,
        _ => false,
    }
}

struct Reader<'t, 's> {
    tokens: &'t mut Tokens<'s>,
    errors: &'t mut Errors,
    /// Whether a part could not be read.
    lost: bool,
}

impl Reader<'_, '_> {
    /// Notes a part that cannot be read, and goes on to the next one.
    fn lose(&mut self, wrong: Wrong) {
        self.errors.push(wrong);
        self.lost = true;
        self.tokens.skip_to((Tok::LParen, Tok::RParen), |tokens| {
            let kind = tokens.kind();
            matches!(kind, Tok::And | Tok::Or | Tok::RParen | Tok::Semi | Tok::Shl)
                || begins(tokens)
        });
    }

    fn quantified(&mut self) -> (Quantifier, Prop) {
        let tokens = &mut *self.tokens;
        let quantifier = match (tokens.kind(), tokens.word()) {
            (Tok::End | Tok::Shl, _) => return (Quantifier::Forall, Prop::And(Vec::new())),
            (Tok::Name, "exists" | "final") => Quantifier::Exists,
            (Tok::Name, "forall") => Quantifier::Forall,
            (Tok::Name, "not") if tokens.word_ahead(1) == "exists" => {
                tokens.take();
                Quantifier::Never
            }
            (Tok::Tilde, _) if tokens.word_ahead(1) == "exists" => {
                tokens.take();
                Quantifier::Never
            }
            (Tok::Name, "observed") => {
                let span = tokens.peek().span;
                let wrong = Wrong::unsupported(span, "`observed` is not supported");
                self.lose(wrong.hint("ask with `exists` or `forall`"));
                return (Quantifier::Exists, Prop::And(Vec::new()));
            }
            (Tok::LParen, _) => return (Quantifier::Exists, self.disjunction(DEEPEST)),
            _ => {
                let wrong = tokens.unexpected("`exists`, `~exists` or `forall`");
                self.lose(wrong);
                return (Quantifier::Exists, Prop::And(Vec::new()));
            }
        };
        self.tokens.take();
        (quantifier, self.disjunction(DEEPEST))
    }

    fn locations(&mut self, locations: &mut Vec<(Spot, Span)>) {
        if let Err(wrong) = self.tokens.expect(Tok::LBracket, "`[` after `locations`") {
            self.errors.push(wrong);
            self.lost = true;
            return self.tokens.skip_to((Tok::LBracket, Tok::RBracket), begins);
        }
        while !self.tokens.eat(Tok::RBracket) {
            if self.tokens.eat(Tok::Semi) {
                continue;
            }
            match location(self.tokens) {
                Ok(found) => locations.push(found),
                Err(wrong) => {
                    self.errors.push(wrong);
                    self.lost = true;
                    self.tokens.skip_to((Tok::LBracket, Tok::RBracket), |tokens| {
                        matches!(tokens.kind(), Tok::Semi | Tok::RBracket) || begins(tokens)
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
                Err(wrong) => self.lose(wrong),
            }
            if !self.tokens.eat(Tok::And) {
                break;
            }
        }
        if all.len() == 1 { all.remove(0) } else { Prop::And(all) }
    }

    fn implication(&mut self, depth: u32) -> Result<Prop, Wrong> {
        let left = self.negation(depth)?;
        if !self.tokens.eat(Tok::Implies) {
            return Ok(left);
        }
        let right = self.implication(self.deeper(depth)?)?;
        Ok(Prop::Implies(Box::new(left), Box::new(right)))
    }

    fn deeper(&self, depth: u32) -> Result<u32, Wrong> {
        let span = self.tokens.peek().span;
        let too_deep = || Wrong::too_large(span, "this condition is nested too deeply");
        depth.checked_sub(1).ok_or_else(too_deep)
    }

    fn negation(&mut self, depth: u32) -> Result<Prop, Wrong> {
        if self.tokens.eat(Tok::Tilde) || self.tokens.eat_word("not") {
            let depth = self.deeper(depth)?;
            return Ok(Prop::Not(Box::new(self.negation(depth)?)));
        }
        if self.tokens.eat_word("true") {
            return Ok(Prop::And(Vec::new()));
        }
        if self.tokens.eat_word("false") {
            return Ok(Prop::Or(Vec::new()));
        }
        if self.tokens.eat(Tok::LParen) {
            let depth = self.deeper(depth)?;
            let inner = self.disjunction(depth);
            self.tokens.expect(Tok::RParen, "`)`")?;
            return Ok(inner);
        }
        equation(self.tokens)
    }
}

/// Reads an item of `locations [...]` up to what ends it.
fn location(tokens: &mut Tokens<'_>) -> Result<(Spot, Span), Wrong> {
    let first = tokens.peek().span;
    let spot = spot(tokens)?;
    let span = first.to(tokens.last());
    // A type may follow: it says how to print the value.
    while tokens.kind() == Tok::Name || tokens.kind() == Tok::Star {
        tokens.take();
    }
    if tokens.kind() != Tok::RBracket {
        tokens.expect(Tok::Semi, "`;` between locations")?;
    }
    Ok((spot, span))
}

fn equation(tokens: &mut Tokens<'_>) -> Result<Prop, Wrong> {
    let first = tokens.peek().span;
    if tokens.kind() == Tok::Name && tokens.ahead(1) == Tok::LParen {
        let word = tokens.word();
        return Err(Wrong::unsupported(first, format!("`{word}(...)` is not supported")));
    }
    let left = spot(tokens)?;
    let negated = match tokens.kind() {
        Tok::Eq | Tok::EqEq => false,
        Tok::NotEq | Tok::LtGt => true,
        _ => return Err(tokens.unexpected("`=`")),
    };
    tokens.take();
    let right = right(tokens)?;
    let equal = Prop::Equal(left, right, first.to(tokens.last()));
    Ok(if negated { Prop::Not(Box::new(equal)) } else { equal })
}

fn right(tokens: &mut Tokens<'_>) -> Result<Right, Wrong> {
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
        || tokens.kind() == Tok::Number && tokens.ahead(1) == Tok::Colon
        || tokens.kind() == Tok::Name && tokens.ahead(1) == Tok::Colon;
    if other { Ok(Right::Spot(spot(tokens)?)) } else { Ok(Right::Constant(constant(tokens)?)) }
}

/// Reads a location or register: `x`, `[x]`, `a[1]`, `0:EAX`, `P0:EAX`.
pub(super) fn spot(tokens: &mut Tokens<'_>) -> Result<Spot, Wrong> {
    if let Some(register) = register(tokens)? {
        return Ok(register);
    }
    let bracket = tokens.eat(Tok::LBracket);
    tokens.eat(Tok::Star);
    let name = tokens.name("a location or a register (`0:EAX`)")?.to_string();
    let mut found = Spot::Global(name.clone());
    if tokens.eat(Tok::LBracket) {
        found = Spot::Element(name, tokens.count("index")?);
        tokens.expect(Tok::RBracket, "`]`")?;
    }
    if bracket {
        tokens.expect(Tok::RBracket, "`]`")?;
    }
    Ok(found)
}

/// Reads a register, if one is next: `0:EAX`, `P0:EAX`, `0:%eax`.
pub(super) fn register(tokens: &mut Tokens<'_>) -> Result<Option<Spot>, Wrong> {
    if tokens.ahead(1) != Tok::Colon {
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
    Ok(Some(Spot::Register(thread, name)))
}

/// Reads a number or the address of a location: `1`, `-1`, `0x10`, `x`, `&x`, `a[1]`.
pub(super) fn constant(tokens: &mut Tokens<'_>) -> Result<Constant, Wrong> {
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

/// What stands around a condition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    And,
    Or,
    Implies,
}

/// A condition as herd writes it; `name` tells how a location or register is called.
pub(super) fn show(prop: &Prop, name: &impl Fn(&Spot) -> String) -> String {
    show_in(prop, Around::Nothing, name)
}

fn show_in(prop: &Prop, around: Around, name: &impl Fn(&Spot) -> String) -> String {
    let join = |all: &[Prop], sign: &str, inside: Around| {
        let parts: Vec<String> = all.iter().map(|p| show_in(p, inside, name)).collect();
        parts.join(sign)
    };
    let (text, paren) = match prop {
        Prop::Equal(spot, right, _) => {
            let right = match right {
                Right::Constant(constant) => show_constant(constant),
                // Without brackets it would be an address.
                Right::Spot(other @ Spot::Element(..)) => format!("[{}]", name(other)),
                Right::Spot(other) => name(other),
                Right::Among(all) => {
                    let all: Vec<String> = all.iter().map(show_constant).collect();
                    format!("{{{}}}", all.join(","))
                }
            };
            (format!("{}={right}", name(spot)), false)
        }
        Prop::Not(inner) => (format!("not ({})", show_in(inner, Around::Nothing, name)), false),
        Prop::And(all) if all.is_empty() => ("true".into(), false),
        Prop::Or(all) if all.is_empty() => ("false".into(), false),
        Prop::And(all) => (join(all, " /\\ ", Around::And), around == Around::Implies),
        Prop::Or(all) => {
            (join(all, " \\/ ", Around::Or), matches!(around, Around::And | Around::Implies))
        }
        Prop::Implies(a, b) => {
            let left = match **a {
                Prop::Implies(..) => format!("({})", show_in(a, Around::Nothing, name)),
                _ => show_in(a, Around::Implies, name),
            };
            let right = show_in(b, Around::Implies, name);
            (format!("{left} => {right}"), matches!(around, Around::And | Around::Or))
        }
    };
    if paren { format!("({text})") } else { text }
}

fn show_constant(constant: &Constant) -> String {
    match constant {
        Constant::Int(value) => value.to_string(),
        Constant::Address(name) => name.clone(),
        Constant::Element(name, at) => format!("{name}[{at}]"),
    }
}
