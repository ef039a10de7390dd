//! The parser of the initial state: `{ x=0; int y=1; int *p=&x; 0:EAX=x; int a[2]={1,2}; }`.
//!
//! Every location is one cell. Apart from herd's hash, a type determines only the element size of
//! an array and whether the variable is a pointer.

use fencepost_ir::Span;

use super::ast::{Constant, Init, StateVar};
use super::condition::{constant, register};
use super::error::{Errors, LitmusError};
use super::tokens::{Tok, Tokens};

/// Parses the items between the braces. Returns `None` if an item is invalid.
pub(super) fn parse(tokens: &mut Tokens<'_>, errors: &mut Errors) -> Option<Vec<Init>> {
    let (mut items, mut complete) = (Vec::new(), true);
    loop {
        while tokens.eat(Tok::Semi) {}
        if tokens.kind() == Tok::End {
            return complete.then_some(items);
        }
        let item = item(tokens).and_then(|item| {
            if tokens.kind() != Tok::End {
                tokens.expect(Tok::Semi, "`;` between the items of the initial state")?;
            }
            Ok(item)
        });
        match errors.check(item) {
            Some(item) => items.push(item),
            None => {
                complete = false;
                tokens.skip_to((Tok::LBrace, Tok::RBrace), |tokens| tokens.kind() == Tok::Semi);
            }
        }
    }
}

fn item(tokens: &mut Tokens<'_>) -> Result<Init, LitmusError> {
    let first = tokens.peek().span;
    // `*x=1` means the same as `x=1`.
    tokens.eat(Tok::Star);
    let mut ty = String::new();
    // All words before the last one belong to the type.
    while tokens.kind() == Tok::Name
        && (tokens.kind_at(1) == Tok::Name
            || tokens.kind_at(1) == Tok::Star
            || (tokens.kind_at(1) == Tok::Number && tokens.kind_at(2) == Tok::Colon)
            || (tokens.kind_at(1) == Tok::LParen && tokens.word() == "_Atomic"))
    {
        if !ty.is_empty() {
            ty.push(' ');
        }
        ty.push_str(tokens.name("a type")?);
        if tokens.eat(Tok::LParen) {
            ty = tokens.name("a type")?.to_string();
            tokens.expect(Tok::RParen, "`)`")?;
        }
    }
    let mut pointer = false;
    while tokens.eat(Tok::Star) {
        pointer = true;
    }
    let ty = Some(ty).filter(|ty| !ty.is_empty());
    let (var, mut len) = initialised_var(tokens)?;
    let values = if tokens.eat(Tok::Eq) { values(tokens, &mut len)? } else { Vec::new() };
    let span = first.to(tokens.last_span());
    let too_many = len.is_some_and(|len| values.len() > len as usize);
    if too_many || (len.is_none() && values.len() > 1) {
        return Err(LitmusError::syntax(
            span,
            "there are more values than elements: remove values or declare a longer array",
        ));
    }
    Ok(Init { var, ty, pointer, len, values, span })
}

/// Parses the variable of an item, and the number of elements of an array.
fn initialised_var(tokens: &mut Tokens<'_>) -> Result<(StateVar, Option<u32>), LitmusError> {
    if let Some(register) = register(tokens)? {
        return Ok((register, None));
    }
    if tokens.eat(Tok::LBracket) {
        let name = tokens.name("a location")?.to_string();
        tokens.expect(Tok::RBracket, "`]`")?;
        return Ok((StateVar::Global(name), None));
    }
    let name = tokens.name("a location")?.to_string();
    let mut len = None;
    if tokens.eat(Tok::LBracket) {
        // `int a[]={1,2}` has as many elements as values. `values` replaces the 0.
        len = Some(if tokens.kind() == Tok::RBracket {
            0
        } else {
            tokens.count("number of elements")?
        });
        tokens.expect(Tok::RBracket, "`]`")?;
    }
    Ok((StateVar::Global(name), len))
}

fn values(tokens: &mut Tokens<'_>, len: &mut Option<u32>) -> Result<Vec<Constant>, LitmusError> {
    let mut values = Vec::new();
    if tokens.eat(Tok::LBrace) {
        while tokens.kind() != Tok::RBrace {
            values.push(value(tokens)?);
            if !tokens.eat(Tok::Comma) {
                break;
            }
        }
        tokens.expect(Tok::RBrace, "`}`")?;
        if *len == Some(0) {
            *len = Some(values.len() as u32);
        }
    } else {
        values.push(value(tokens)?);
    }
    Ok(values)
}

fn value(tokens: &mut Tokens<'_>) -> Result<Constant, LitmusError> {
    if tokens.eat_word("ATOMIC_INIT") {
        tokens.expect(Tok::LParen, "`(`")?;
        let inner = constant(tokens)?;
        tokens.expect(Tok::RParen, "`)`")?;
        return Ok(inner);
    }
    let span: Span = tokens.peek().span;
    let label = tokens.kind() == Tok::Number && tokens.kind_at(1) == Tok::Colon
        || tokens.word() == "label" && tokens.kind_at(1) == Tok::Colon;
    if label {
        let message = "code addresses are not supported as values: write a number or a location";
        return Err(LitmusError::unsupported(span, message));
    }
    constant(tokens)
}
