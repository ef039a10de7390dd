//! Regular expressions that are simplified as they are put together.
//!
//! The rules, each of which keeps the language:
//! - empty words in sequences and alternatives that occur twice go; nested ones of a kind become one;
//! - `a b | a c` is `a (b | c)`, and the same at the end;
//! - `ε | p (q p)* q` is `(p q)*`, so that `ε | a a*` is `a*`; `ε | p? q (p q)*` is `q? (p q)*`; else `ε | a`
//!   is `a?`;
//! - what a repetition beside it can do anyway goes: `a* | a a`, `a? a*`, `(a | a a)*`;
//! - `(a? b*)*` is `(a | b)*`.
//!
//! There is no normal form: equal languages may have different expressions.

use crate::Letter;

/// A regular expression. There is none for the language without words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Expression {
    /// The empty word.
    Empty,
    Letter(Letter),
    /// At least two, none of them empty or a sequence.
    Sequence(Vec<Expression>),
    /// At least two, none of them empty, optional or alternatives.
    Either(Vec<Expression>),
    /// Not of something that has the empty word.
    Optional(Box<Expression>),
    /// Not of the empty word, an option or a repetition.
    Star(Box<Expression>),
}

use Expression::{Either, Empty, Optional, Sequence, Star};

impl Expression {
    /// One after another.
    pub(crate) fn sequence(parts: Vec<Self>) -> Self {
        let mut factors: Vec<Self> = Vec::new();
        for factor in parts.into_iter().flat_map(Self::into_factors) {
            if factors.last().is_some_and(|last| last.does_anyway(&factor)) {
                continue;
            }
            while factors.last().is_some_and(|last| factor.does_anyway(last)) {
                factors.pop();
            }
            factors.push(factor);
        }
        match factors.len() {
            0 | 1 => factors.pop().unwrap_or(Empty),
            _ => Sequence(factors),
        }
    }

    /// One of them. Of none, the empty word.
    pub(crate) fn either(parts: Vec<Self>) -> Self {
        let mut empty = false;
        let mut ways: Vec<Self> = Vec::new();
        let mut rest = parts;
        rest.reverse();
        while let Some(part) = rest.pop() {
            match part {
                Empty => empty = true,
                Optional(inner) => {
                    empty = true;
                    rest.push(*inner);
                }
                Either(inner) => rest.extend(inner.into_iter().rev()),
                Self::Letter(_) | Sequence(_) | Star(_) => take_in(&mut ways, part),
            }
        }
        if empty && !ways.iter().any(Self::has_empty) {
            match ways.iter().enumerate().find_map(|(at, way)| Some((at, way.unrolled()?))) {
                // It has the empty word, and may take in others.
                Some((at, star)) => {
                    ways[at] = star;
                    return Self::either(ways);
                }
                None if ways.is_empty() => return Empty,
                None => return Optional(Box::new(alternatives(ways))),
            }
        }
        alternatives(ways)
    }

    /// Any number of times.
    pub(crate) fn star(inner: Self) -> Self {
        match inner {
            Empty => Empty,
            Star(_) => inner,
            Optional(inner) => Self::star(*inner),
            Self::Letter(_) => Star(Box::new(inner)),
            Sequence(factors) if factors.iter().all(Self::has_empty) => {
                Self::star(Self::either(factors))
            }
            Sequence(_) => Star(Box::new(inner)),
            Either(ways) => {
                let mut ways: Vec<Self> = ways.into_iter().map(Self::without_star).collect();
                let mut at = 0;
                while at < ways.len() && ways.len() > 1 {
                    let way = ways.remove(at);
                    if !alternatives(ways.clone()).repeats_to(&way) {
                        ways.insert(at, way);
                        at += 1;
                    }
                }
                match Self::either(ways) {
                    ways @ (Either(_) | Self::Letter(_) | Sequence(_)) => Star(Box::new(ways)),
                    other @ (Empty | Optional(_) | Star(_)) => Self::star(other),
                }
            }
        }
    }

    fn without_star(self) -> Self {
        match self {
            Star(inner) | Optional(inner) => *inner,
            Empty | Self::Letter(_) | Sequence(_) | Either(_) => self,
        }
    }

    fn into_factors(self) -> Vec<Self> {
        match self {
            Empty => Vec::new(),
            Sequence(factors) => factors,
            Self::Letter(_) | Either(_) | Optional(_) | Star(_) => vec![self],
        }
    }

    fn factors(&self) -> &[Self] {
        match self {
            Empty => &[],
            Sequence(factors) => factors,
            Self::Letter(_) | Either(_) | Optional(_) | Star(_) => std::slice::from_ref(self),
        }
    }

    /// Whether it has the empty word.
    fn has_empty(&self) -> bool {
        match self {
            Empty | Optional(_) | Star(_) => true,
            Self::Letter(_) => false,
            Sequence(factors) => factors.iter().all(Self::has_empty),
            Either(ways) => ways.iter().any(Self::has_empty),
        }
    }

    /// Whether another expression beside this repetition adds nothing. It may say no where yes is true.
    fn does_anyway(&self, other: &Self) -> bool {
        matches!(self, Star(inner) if other.has_empty() && inner.repeats_to(other))
    }

    /// Whether repeating this gives all words of another expression. It may say no where yes is true.
    fn repeats_to(&self, other: &Self) -> bool {
        let is_way = matches!(self, Either(ways) if ways.contains(other));
        if self == other || is_way {
            return true;
        }
        match other {
            Empty => true,
            Self::Letter(_) => false,
            Optional(inner) | Star(inner) => self.repeats_to(inner),
            Either(ways) => ways.iter().all(|way| self.repeats_to(way)),
            Sequence(factors) => self.repeats_to_sequence(factors),
        }
    }

    /// The same for a sequence, which is cut into this expression and others that repeating it gives.
    fn repeats_to_sequence(&self, mut factors: &[Self]) -> bool {
        let own = self.factors();
        while let Some((first, rest)) = factors.split_first() {
            factors = match factors.strip_prefix(own) {
                Some(rest) if !own.is_empty() => rest,
                Some(_) | None if self.repeats_to(first) => rest,
                Some(_) | None => return false,
            };
        }
        true
    }

    /// What this and the empty word are together, without an option around all: `(p q)*` of `p (q p)* q`, and
    /// `a? p*` of `(a | p) p*`, and the same the other way round.
    fn unrolled(&self) -> Option<Self> {
        let factors = self.factors();
        let inside = factors.iter().enumerate().find_map(|(at, factor)| {
            let Star(inner) = factor else { return None };
            let (p, q) = (&factors[..at], &factors[at + 1..]);
            let rest = inner.factors().strip_prefix(q)?;
            (rest == p).then(|| Self::star(Self::sequence([p, q].concat())))
        });
        let optional = |part: Self| Self::either(vec![Empty, part]);
        inside
            .or_else(|| {
                let (star, before) = factors.split_last()?;
                let Star(inner) = star else { return None };
                let less = less(before, inner.factors())?;
                Some(Self::sequence(vec![optional(less), star.clone()]))
            })
            .or_else(|| {
                let (star, after) = factors.split_first()?;
                let Star(inner) = star else { return None };
                let less = less(after, inner.factors())?;
                Some(Self::sequence(vec![star.clone(), optional(less)]))
            })
    }

    /// How many letters are written.
    pub(crate) fn letters(&self) -> usize {
        match self {
            Empty => 0,
            Self::Letter(_) => 1,
            Sequence(parts) | Either(parts) => parts.iter().map(Self::letters).sum(),
            Optional(inner) | Star(inner) => inner.letters(),
        }
    }

    /// The text.
    pub(crate) fn show(&self, name: &dyn Fn(Letter) -> String) -> String {
        let unit = |part: &Self| match part {
            Empty | Self::Letter(_) => part.show(name),
            Sequence(_) | Either(_) | Optional(_) | Star(_) => format!("({})", part.show(name)),
        };
        match self {
            Empty => "ε".into(),
            Self::Letter(letter) => name(*letter),
            Sequence(factors) => {
                let show = |factor: &Self| match factor {
                    Either(_) => unit(factor),
                    Empty | Self::Letter(_) | Sequence(_) | Optional(_) | Star(_) => {
                        factor.show(name)
                    }
                };
                factors.iter().map(show).collect()
            }
            Either(ways) => {
                let ways: Vec<String> = ways.iter().map(|way| way.show(name)).collect();
                ways.join("|")
            }
            Optional(inner) => unit(inner) + "?",
            Star(inner) => unit(inner) + "*",
        }
    }
}

/// Alternatives that need no further thought.
fn alternatives(mut ways: Vec<Expression>) -> Expression {
    match ways.len() {
        0 | 1 => ways.pop().unwrap_or(Empty),
        _ => Either(ways),
    }
}

/// One more alternative, neither empty nor optional nor alternatives itself.
fn take_in(ways: &mut Vec<Expression>, mut part: Expression) {
    let mut place = ways.len();
    loop {
        let covers = |a: &Expression, b: &Expression| {
            a == b || matches!(a, Star(inner) if inner.repeats_to(b))
        };
        if ways.iter().any(|way| covers(way, &part)) {
            return;
        }
        ways.retain(|way| !covers(&part, way));
        let joined = ways.iter().enumerate().find_map(|(at, way)| Some((at, join(way, &part)?)));
        match joined {
            // It has fewer letters than the two, and may go together with others.
            Some((at, joined)) => {
                ways.remove(at);
                place = at;
                part = joined;
            }
            None => {
                ways.insert(place.min(ways.len()), part);
                return;
            }
        }
    }
}

/// Two alternatives with the same beginning or the same end as one.
fn join(a: &Expression, b: &Expression) -> Option<Expression> {
    let rest = |factors: &[Expression]| Expression::sequence(factors.to_vec());
    let ((first, after), (other, other_after)) =
        (a.factors().split_first()?, b.factors().split_first()?);
    if first == other {
        let tails = Expression::either(vec![rest(after), rest(other_after)]);
        return Some(Expression::sequence(vec![first.clone(), tails]));
    }
    let ((last, before), (other, other_before)) =
        (a.factors().split_last()?, b.factors().split_last()?);
    (last == other).then(|| {
        let heads = Expression::either(vec![rest(before), rest(other_before)]);
        Expression::sequence(vec![heads, last.clone()])
    })
}

/// A sequence without one of its ways, where that is plainly there: `b c` of `a? b c` without `a b c`. Together they
/// are the sequence.
fn less(factors: &[Expression], way: &[Expression]) -> Option<Expression> {
    let inside = |choice: &Expression, way: &[Expression]| match choice {
        Optional(inner) if inner.factors() == way => Some(Empty),
        Optional(inner) => Some(Expression::either(vec![Empty, less(inner.factors(), way)?])),
        Either(ways) => {
            let (at, left) = ways.iter().enumerate().find_map(|(at, one)| {
                let same = one.factors() == way;
                Some((at, if same { None } else { Some(less(one.factors(), way)?) }))
            })?;
            Some(Expression::either([&ways[..at], left.as_slice(), &ways[at + 1..]].concat()))
        }
        Empty | Expression::Letter(_) | Sequence(_) | Star(_) => None,
    };
    let sequence = |parts: [&[Expression]; 2]| Expression::sequence(parts.concat());
    let first = || {
        let (first, rest) = factors.split_first()?;
        let left = inside(first, way.strip_suffix(rest)?)?;
        Some(sequence([&[left], rest]))
    };
    let last = || {
        let (last, rest) = factors.split_last()?;
        let left = inside(last, way.strip_prefix(rest)?)?;
        Some(sequence([rest, &[left]]))
    };
    first().or_else(last)
}
