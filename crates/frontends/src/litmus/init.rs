//! The initial state: `{ x=0; int y=1; int *p=&x; 0:EAX=x; int a[2]={1,2}; }`.
//!
//! Types are read and mean nothing but that a pointer holds an address: every location is one cell.

use fencepost_ir::Span;

use super::ast::{Constant, Init, Spot};
use super::condition::{constant, register};
use super::tokens::{Tok, Tokens};
use super::wrong::{Errors, Wrong};

/// Reads the items between the braces; none if one of them could not be read.
pub(super) fn read(tokens: &mut Tokens<'_>, errors: &mut Errors) -> Option<Vec<Init>> {
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

fn item(tokens: &mut Tokens<'_>) -> Result<Init, Wrong> {
    let first = tokens.peek().span;
    // `*x=1` says what the location x holds, as `x=1` does.
    tokens.eat(Tok::Star);
    let mut ty = String::new();
    // Words before the last one are the type.
    while tokens.kind() == Tok::Name
        && (tokens.ahead(1) == Tok::Name
            || tokens.ahead(1) == Tok::Star
            || (tokens.ahead(1) == Tok::Number && tokens.ahead(2) == Tok::Colon)
            || (tokens.ahead(1) == Tok::LParen && tokens.word() == "_Atomic"))
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
    let (spot, mut len) = place(tokens)?;
    let values = if tokens.eat(Tok::Eq) { values(tokens, &mut len)? } else { Vec::new() };
    let span = first.to(tokens.last());
    let too_many = len.is_some_and(|len| values.len() > len as usize);
    if too_many || (len.is_none() && values.len() > 1) {
        return Err(Wrong::syntax(span, "there are more values than elements"));
    }
    Ok(Init { spot, ty, pointer, len, values, span })
}

/// What an item is about; the number of elements of an array.
fn place(tokens: &mut Tokens<'_>) -> Result<(Spot, Option<u32>), Wrong> {
    if let Some(register) = register(tokens)? {
        return Ok((register, None));
    }
    if tokens.eat(Tok::LBracket) {
        let name = tokens.name("a location")?.to_string();
        tokens.expect(Tok::RBracket, "`]`")?;
        return Ok((Spot::Global(name), None));
    }
    let name = tokens.name("a location")?.to_string();
    let mut len = None;
    if tokens.eat(Tok::LBracket) {
        // `int a[]={1,2}` has as many elements as values.
        len = Some(if tokens.kind() == Tok::RBracket {
            0
        } else {
            tokens.count("number of elements")?
        });
        tokens.expect(Tok::RBracket, "`]`")?;
    }
    Ok((Spot::Global(name), len))
}

fn values(tokens: &mut Tokens<'_>, len: &mut Option<u32>) -> Result<Vec<Constant>, Wrong> {
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

fn value(tokens: &mut Tokens<'_>) -> Result<Constant, Wrong> {
    if tokens.eat_word("ATOMIC_INIT") {
        tokens.expect(Tok::LParen, "`(`")?;
        let inner = constant(tokens)?;
        tokens.expect(Tok::RParen, "`)`")?;
        return Ok(inner);
    }
    let span: Span = tokens.peek().span;
    let label = tokens.kind() == Tok::Number && tokens.ahead(1) == Tok::Colon
        || tokens.word() == "label" && tokens.ahead(1) == Tok::Colon;
    if label {
        return Err(Wrong::unsupported(span, "addresses of code are not supported"));
    }
    constant(tokens)
}
