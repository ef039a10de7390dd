//! Regular expressions, simplified during construction.
//!
//! The rules preserve the language:
//! - Empty words in sequences and duplicate alternatives are removed. Nested sequences and nested
//!   alternations are flattened.
//! - Common prefixes and suffixes are factored out: `a b | a c` becomes `a (b | c)`.
//! - `ε | p (q p)* q` becomes `(p q)*`, so `ε | a a*` becomes `a*`. `ε | p? q (p q)*` becomes
//!   `q? (p q)*`. Any other `ε | a` becomes `a?`.
//! - Expressions that an adjacent or enclosing star includes are removed: `a* | a a`, `a? a*` and
//!   `(a | a a)*` become `a*`.
//! - `(a? b*)*` becomes `(a | b)*`.
//!
//! This is not a normal form: equal languages may have different expressions.

use crate::Letter;

/// A regular expression. The empty language has no representation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Expression {
    /// The empty word.
    Epsilon,
    Letter(Letter),
    /// At least two factors, none of them the empty word or a sequence.
    Sequence(Vec<Expression>),
    /// At least two alternatives, none of them the empty word, optional or an alternation.
    Alternation(Vec<Expression>),
    /// An expression or the empty word. The inner expression is not nullable.
    Optional(Box<Expression>),
    /// Kleene star. The inner expression is not the empty word, optional or a star.
    Star(Box<Expression>),
}

use Expression::{Alternation, Epsilon, Optional, Sequence, Star};

impl Expression {
    /// Returns the simplified concatenation.
    pub(crate) fn sequence(parts: Vec<Self>) -> Self {
        let mut factors: Vec<Self> = Vec::new();
        for factor in parts.into_iter().flat_map(Self::into_factors) {
            if factors.last().is_some_and(|last| last.absorbs(&factor)) {
                continue;
            }
            while factors.last().is_some_and(|last| factor.absorbs(last)) {
                factors.pop();
            }
            factors.push(factor);
        }
        match factors.len() {
            0 | 1 => factors.pop().unwrap_or(Epsilon),
            _ => Sequence(factors),
        }
    }

    /// Returns the simplified alternation; the empty word if there are no parts.
    pub(crate) fn alternation(parts: Vec<Self>) -> Self {
        let mut empty = false;
        let mut alternatives: Vec<Self> = Vec::new();
        let mut rest = parts;
        rest.reverse();
        while let Some(part) = rest.pop() {
            match part {
                Epsilon => empty = true,
                Optional(inner) => {
                    empty = true;
                    rest.push(*inner);
                }
                Alternation(inner) => rest.extend(inner.into_iter().rev()),
                Self::Letter(_) | Sequence(_) | Star(_) => add_alternative(&mut alternatives, part),
            }
        }
        if empty && !alternatives.iter().any(Self::is_nullable) {
            match alternatives
                .iter()
                .enumerate()
                .find_map(|(at, alternative)| Some((at, alternative.with_empty_word()?)))
            {
                // The new alternative is nullable and may subsume other alternatives.
                Some((at, star)) => {
                    alternatives[at] = star;
                    return Self::alternation(alternatives);
                }
                None if alternatives.is_empty() => return Epsilon,
                None => return Optional(Box::new(raw_alternation(alternatives))),
            }
        }
        raw_alternation(alternatives)
    }

    /// Returns the simplified Kleene star.
    pub(crate) fn star(inner: Self) -> Self {
        match inner {
            Epsilon => Epsilon,
            Star(_) => inner,
            Optional(inner) => Self::star(*inner),
            Self::Letter(_) => Star(Box::new(inner)),
            Sequence(factors) if factors.iter().all(Self::is_nullable) => {
                Self::star(Self::alternation(factors))
            }
            Sequence(_) => Star(Box::new(inner)),
            Alternation(alternatives) => {
                let mut alternatives: Vec<Self> =
                    alternatives.into_iter().map(Self::strip_star).collect();
                let mut at = 0;
                while at < alternatives.len() && alternatives.len() > 1 {
                    let alternative = alternatives.remove(at);
                    if !raw_alternation(alternatives.clone()).star_includes(&alternative) {
                        alternatives.insert(at, alternative);
                        at += 1;
                    }
                }
                match Self::alternation(alternatives) {
                    alternatives @ (Alternation(_) | Self::Letter(_) | Sequence(_)) => {
                        Star(Box::new(alternatives))
                    }
                    other @ (Epsilon | Optional(_) | Star(_)) => Self::star(other),
                }
            }
        }
    }

    /// Removes an outermost star or option. This preserves the language inside an enclosing star.
    fn strip_star(self) -> Self {
        match self {
            Star(inner) | Optional(inner) => *inner,
            Epsilon | Self::Letter(_) | Sequence(_) | Alternation(_) => self,
        }
    }

    fn into_factors(self) -> Vec<Self> {
        match self {
            Epsilon => Vec::new(),
            Sequence(factors) => factors,
            Self::Letter(_) | Alternation(_) | Optional(_) | Star(_) => vec![self],
        }
    }

    fn factors(&self) -> &[Self] {
        match self {
            Epsilon => &[],
            Sequence(factors) => factors,
            Self::Letter(_) | Alternation(_) | Optional(_) | Star(_) => std::slice::from_ref(self),
        }
    }

    /// Returns whether the expression matches the empty word.
    fn is_nullable(&self) -> bool {
        match self {
            Epsilon | Optional(_) | Star(_) => true,
            Self::Letter(_) => false,
            Sequence(factors) => factors.iter().all(Self::is_nullable),
            Alternation(alternatives) => alternatives.iter().any(Self::is_nullable),
        }
    }

    /// Returns whether this is a star that makes an adjacent factor `other` redundant. Incomplete:
    /// may return false where the factor is redundant.
    fn absorbs(&self, other: &Self) -> bool {
        matches!(self, Star(inner) if other.is_nullable() && inner.star_includes(other))
    }

    /// Returns whether the star of this expression includes all words of `other`. Incomplete: may
    /// return false where it does.
    fn star_includes(&self, other: &Self) -> bool {
        let is_alternative =
            matches!(self, Alternation(alternatives) if alternatives.contains(other));
        if self == other || is_alternative {
            return true;
        }
        match other {
            Epsilon => true,
            Self::Letter(_) => false,
            Optional(inner) | Star(inner) => self.star_includes(inner),
            Alternation(alternatives) => {
                alternatives.iter().all(|alternative| self.star_includes(alternative))
            }
            Sequence(factors) => self.star_includes_sequence(factors),
        }
    }

    /// Like [`Self::star_includes`], for a sequence. Splits the sequence greedily into copies of
    /// this expression and factors that its star includes.
    fn star_includes_sequence(&self, mut factors: &[Self]) -> bool {
        let own = self.factors();
        while let Some((first, rest)) = factors.split_first() {
            factors = match factors.strip_prefix(own) {
                Some(rest) if !own.is_empty() => rest,
                Some(_) | None if self.star_includes(first) => rest,
                Some(_) | None => return false,
            };
        }
        true
    }

    /// Returns an expression for the union with the empty word that needs no option around the
    /// whole, if a rule applies: `p (q p)* q` gives `(p q)*`, `(a | p) p*` gives `a? p*`, and `p*
    /// (a | p)` gives `p* a?`.
    fn with_empty_word(&self) -> Option<Self> {
        let factors = self.factors();
        let inside = factors.iter().enumerate().find_map(|(at, factor)| {
            let Star(inner) = factor else { return None };
            let (p, q) = (&factors[..at], &factors[at + 1..]);
            let rest = inner.factors().strip_prefix(q)?;
            (rest == p).then(|| Self::star(Self::sequence([p, q].concat())))
        });
        let optional = |part: Self| Self::alternation(vec![Epsilon, part]);
        inside
            .or_else(|| {
                let (star, before) = factors.split_last()?;
                let Star(inner) = star else { return None };
                let remaining = remove_alternative(before, inner.factors())?;
                Some(Self::sequence(vec![optional(remaining), star.clone()]))
            })
            .or_else(|| {
                let (star, after) = factors.split_first()?;
                let Star(inner) = star else { return None };
                let remaining = remove_alternative(after, inner.factors())?;
                Some(Self::sequence(vec![star.clone(), optional(remaining)]))
            })
    }

    /// Returns the number of letters in the expression.
    pub(crate) fn letter_count(&self) -> usize {
        match self {
            Epsilon => 0,
            Self::Letter(_) => 1,
            Sequence(parts) | Alternation(parts) => parts.iter().map(Self::letter_count).sum(),
            Optional(inner) | Star(inner) => inner.letter_count(),
        }
    }

    /// Returns the expression as text. `name` prints a letter.
    pub(crate) fn render(&self, name: &dyn Fn(Letter) -> String) -> String {
        let unit = |part: &Self| match part {
            Epsilon | Self::Letter(_) => part.render(name),
            Sequence(_) | Alternation(_) | Optional(_) | Star(_) => {
                format!("({})", part.render(name))
            }
        };
        match self {
            Epsilon => "ε".into(),
            Self::Letter(letter) => name(*letter),
            Sequence(factors) => {
                let show = |factor: &Self| match factor {
                    Alternation(_) => unit(factor),
                    Epsilon | Self::Letter(_) | Sequence(_) | Optional(_) | Star(_) => {
                        factor.render(name)
                    }
                };
                factors.iter().map(show).collect()
            }
            Alternation(alternatives) => {
                let alternatives: Vec<String> =
                    alternatives.iter().map(|alternative| alternative.render(name)).collect();
                alternatives.join("|")
            }
            Optional(inner) => unit(inner) + "?",
            Star(inner) => unit(inner) + "*",
        }
    }
}

/// Returns the alternation without simplification.
fn raw_alternation(mut alternatives: Vec<Expression>) -> Expression {
    match alternatives.len() {
        0 | 1 => alternatives.pop().unwrap_or(Epsilon),
        _ => Alternation(alternatives),
    }
}

/// Adds an alternative and simplifies. `part` must not be the empty word, optional or an
/// alternation.
fn add_alternative(alternatives: &mut Vec<Expression>, mut part: Expression) {
    let mut place = alternatives.len();
    loop {
        let subsumes = |a: &Expression, b: &Expression| {
            a == b || matches!(a, Star(inner) if inner.star_includes(b))
        };
        if alternatives.iter().any(|alternative| subsumes(alternative, &part)) {
            return;
        }
        alternatives.retain(|alternative| !subsumes(&part, alternative));
        let factored = alternatives
            .iter()
            .enumerate()
            .find_map(|(at, alternative)| Some((at, factor_out(alternative, &part)?)));
        match factored {
            // The result has fewer letters than the two and may combine with other alternatives.
            Some((at, factored)) => {
                alternatives.remove(at);
                place = at;
                part = factored;
            }
            None => {
                alternatives.insert(place.min(alternatives.len()), part);
                return;
            }
        }
    }
}

/// Combines two alternatives with the same first or last factor into one.
fn factor_out(a: &Expression, b: &Expression) -> Option<Expression> {
    let rest = |factors: &[Expression]| Expression::sequence(factors.to_vec());
    let ((first, after), (other, other_after)) =
        (a.factors().split_first()?, b.factors().split_first()?);
    if first == other {
        let tails = Expression::alternation(vec![rest(after), rest(other_after)]);
        return Some(Expression::sequence(vec![first.clone(), tails]));
    }
    let ((last, before), (other, other_before)) =
        (a.factors().split_last()?, b.factors().split_last()?);
    (last == other).then(|| {
        let heads = Expression::alternation(vec![rest(before), rest(other_before)]);
        Expression::sequence(vec![heads, last.clone()])
    })
}

/// Removes an alternative from a sequence, if the alternative is syntactically present: `a? b c`
/// without `a b c` is `b c`. The union of the result and the alternative is the sequence.
fn remove_alternative(factors: &[Expression], alternative: &[Expression]) -> Option<Expression> {
    let inside = |choice: &Expression, alternative: &[Expression]| match choice {
        Optional(inner) if inner.factors() == alternative => Some(Epsilon),
        Optional(inner) => Some(Expression::alternation(vec![
            Epsilon,
            remove_alternative(inner.factors(), alternative)?,
        ])),
        Alternation(alternatives) => {
            let (at, left) = alternatives.iter().enumerate().find_map(|(at, one)| {
                let same = one.factors() == alternative;
                Some((
                    at,
                    if same { None } else { Some(remove_alternative(one.factors(), alternative)?) },
                ))
            })?;
            Some(Expression::alternation(
                [&alternatives[..at], left.as_slice(), &alternatives[at + 1..]].concat(),
            ))
        }
        Epsilon | Expression::Letter(_) | Sequence(_) | Star(_) => None,
    };
    let sequence = |parts: [&[Expression]; 2]| Expression::sequence(parts.concat());
    let first = || {
        let (first, rest) = factors.split_first()?;
        let left = inside(first, alternative.strip_suffix(rest)?)?;
        Some(sequence([&[left], rest]))
    };
    let last = || {
        let (last, rest) = factors.split_last()?;
        let left = inside(last, alternative.strip_prefix(rest)?)?;
        Some(sequence([rest, &[left]]))
    };
    first().or_else(last)
}
