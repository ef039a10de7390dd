//! What is asked of a test: `locations [...]`, `filter`, and a condition with its quantifier.
//!
//! Binding, from loose to tight: `\/`, `/\`, `=>`, `~`; so `a /\ b => c` is `a /\ (b => c)`. Written again
//! by [`show`], conditions look as herd writes them.

use fencepost_ir::Quantifier;

use super::ast::{Constant, Constraint, Prop, Right, Spot};
use super::tokens::{Tok, Tokens};
use super::wrong::Wrong;

/// How deep conditions may nest.
const DEEPEST: u32 = 200;

/// Reads a constraint up to `<<` or the end.
pub(super) fn read(tokens: &mut Tokens<'_>) -> Result<Constraint, Wrong> {
    let mut locations = Vec::new();
    let mut filter = None;
    loop {
        if tokens.eat_word("locations") {
            read_locations(tokens, &mut locations)?;
        } else if tokens.eat_word("filter") {
            filter = Some(disjunction(tokens, DEEPEST)?);
        } else {
            break;
        }
    }
    let first = tokens.peek().span;
    let (quantifier, prop) = quantified(tokens)?;
    let span = first.to(tokens.last());
    tokens.eat(Tok::Semi);
    let ends = matches!(tokens.kind(), Tok::End | Tok::Shl);
    if !ends && tokens.word() != "with" {
        return Err(tokens.unexpected("the end of the condition"));
    }
    Ok(Constraint { locations, filter, quantifier, prop, span })
}

fn quantified(tokens: &mut Tokens<'_>) -> Result<(Quantifier, Prop), Wrong> {
    let quantifier = match (tokens.kind(), tokens.word()) {
        (Tok::End | Tok::Shl, _) => return Ok((Quantifier::Forall, Prop::And(Vec::new()))),
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
            return Err(Wrong::unsupported(span, "`observed` is not supported")
                .hint("ask with `exists` or `forall`"));
        }
        (Tok::LParen, _) => return Ok((Quantifier::Exists, disjunction(tokens, DEEPEST)?)),
        _ => return Err(tokens.unexpected("`exists`, `~exists` or `forall`")),
    };
    tokens.take();
    Ok((quantifier, disjunction(tokens, DEEPEST)?))
}

fn read_locations(
    tokens: &mut Tokens<'_>,
    locations: &mut Vec<(Spot, fencepost_ir::Span)>,
) -> Result<(), Wrong> {
    tokens.expect(Tok::LBracket, "`[` after `locations`")?;
    while !tokens.eat(Tok::RBracket) {
        if tokens.eat(Tok::Semi) {
            continue;
        }
        let first = tokens.peek().span;
        let spot = spot(tokens)?;
        locations.push((spot, first.to(tokens.last())));
        // A type may follow: it says how to print the value.
        while tokens.kind() == Tok::Name || tokens.kind() == Tok::Star {
            tokens.take();
        }
        if tokens.kind() != Tok::RBracket {
            tokens.expect(Tok::Semi, "`;` between locations")?;
        }
    }
    Ok(())
}

fn disjunction(tokens: &mut Tokens<'_>, depth: u32) -> Result<Prop, Wrong> {
    let mut all = vec![conjunction(tokens, depth)?];
    while tokens.eat(Tok::Or) {
        all.push(conjunction(tokens, depth)?);
    }
    Ok(if all.len() == 1 { all.remove(0) } else { Prop::Or(all) })
}

fn conjunction(tokens: &mut Tokens<'_>, depth: u32) -> Result<Prop, Wrong> {
    let mut all = vec![implication(tokens, depth)?];
    while tokens.eat(Tok::And) {
        all.push(implication(tokens, depth)?);
    }
    Ok(if all.len() == 1 { all.remove(0) } else { Prop::And(all) })
}

fn implication(tokens: &mut Tokens<'_>, depth: u32) -> Result<Prop, Wrong> {
    let left = negation(tokens, depth)?;
    if !tokens.eat(Tok::Implies) {
        return Ok(left);
    }
    let right = implication(tokens, deeper(tokens, depth)?)?;
    Ok(Prop::Implies(Box::new(left), Box::new(right)))
}

fn deeper(tokens: &Tokens<'_>, depth: u32) -> Result<u32, Wrong> {
    depth
        .checked_sub(1)
        .ok_or_else(|| Wrong::too_large(tokens.peek().span, "this condition is nested too deeply"))
}

fn negation(tokens: &mut Tokens<'_>, depth: u32) -> Result<Prop, Wrong> {
    if tokens.eat(Tok::Tilde) || tokens.eat_word("not") {
        let depth = deeper(tokens, depth)?;
        return Ok(Prop::Not(Box::new(negation(tokens, depth)?)));
    }
    if tokens.eat_word("true") {
        return Ok(Prop::And(Vec::new()));
    }
    if tokens.eat_word("false") {
        return Ok(Prop::Or(Vec::new()));
    }
    if tokens.eat(Tok::LParen) {
        let depth = deeper(tokens, depth)?;
        let inner = disjunction(tokens, depth)?;
        tokens.expect(Tok::RParen, "`)`")?;
        return Ok(inner);
    }
    equation(tokens)
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
