//! All clients of a library up to a bound.
//!
//! A client within [`Bounds`] has
//! - an initial part of at most `init` operations, any letters in any order;
//! - then exactly `threads` threads, each with at least one operation, and at most `operations` in
//!   all of them together.
//!
//! Operations with the attribute `owner` stand in the initial part and in the first thread only. A
//! thread without such operations is a *thief*. Clients that differ only by the order of their thieves
//! are the same client (the arguments 1, 2, 3, ... change places with them, and that is a
//! renaming of values); of these the one is listed whose thieves come by length, then by text. The
//! first thread is a thief, too, if it uses no operation of the owner's.
//!
//! They come by length (the number of letters), then by length of the initial part, then by text.
//! How many there are is computed and not counted, so that a large bound costs nothing but the clients
//! that are asked for.

use fencepost_ir::Diagnostics;

use super::client::START;
use super::names::too_many;
use super::{check, codes, limits, messages, parse_partly};

#[cfg(test)]
mod tests;

/// How large clients may be, and how many of them are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// How many threads each has.
    pub threads: usize,
    /// How many operations run before the threads at most.
    pub init: usize,
    /// How many operations the threads have together at most.
    pub operations: usize,
    /// How many clients are listed at most.
    pub limit: usize,
}

/// The clients within bounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clients {
    /// How many there are; the largest number stands for all beyond it.
    pub total: u128,
    /// The first of them, as a `client` line has them: `pp(t|s)`, or `t|s` without an initial part.
    pub texts: Vec<String>,
}

/// The clients of the library in a source text; `None` exactly when an error was reported.
///
/// ```
/// use fencepost_frontends::fp::generate::{Bounds, clients};
/// let library = "shared int x; operation void put(int v) as p { x = v; }
///     operation int get() as g { r = x; return r; }";
/// let bounds = Bounds { threads: 2, init: 0, operations: 2, limit: 100 };
/// let found = clients(library, &bounds, &mut fencepost_ir::Diagnostics::new()).expect("no errors");
/// assert_eq!((found.total, found.texts), (3, vec!["g|g".into(), "g|p".into(), "p|p".into()]));
/// ```
pub fn clients(source: &str, bounds: &Bounds, diagnostics: &mut Diagnostics) -> Option<Clients> {
    let mut own = Diagnostics::new();
    let letters = letters(source, bounds, &mut own);
    let failed = own.has_errors();
    messages::hand_over(&own, diagnostics);
    let letters = letters.filter(|_| !failed)?;
    let mut walk =
        Walk { letters: &letters, limit: bounds.limit, text: String::new(), found: vec![] };
    for length in 1..=bounds.init + bounds.operations {
        for init in length.saturating_sub(bounds.operations)..=bounds.init.min(length) {
            walk.initial(init, length - init, bounds.threads);
        }
    }
    Some(Clients { total: count(&letters, bounds), texts: walk.found })
}

/// A letter, and whether its operation is the owner's.
type Letter = (char, bool);

/// The letters of a library in alphabetical order.
fn letters(source: &str, bounds: &Bounds, diagnostics: &mut Diagnostics) -> Option<Vec<Letter>> {
    for (what, found, limit) in [
        ("threads", bounds.threads as u64, limits::THREADS),
        ("operations of a client", bounds.init as u64, limits::GENERATED),
        ("operations of a client", bounds.operations as u64, limits::GENERATED),
    ] {
        if found > limit {
            too_many(diagnostics, START, what, found, limit);
        }
    }
    let file = parse_partly(source, diagnostics)?;
    let unit = check::check(&file, source, Some(&[]), diagnostics);
    let operations = unit.procs.iter();
    let mut letters: Vec<Letter> =
        operations.filter_map(|p| Some((p.letter?, p.attributes.owner))).collect();
    letters.sort_unstable();
    if letters.is_empty() && !diagnostics.has_errors() {
        diagnostics
            .error(codes::CLIENT, START, "there are no operations in this file")
            .hint("declare one: `operation int take() as t { ... }`");
    }
    Some(letters)
}

/// How many clients there are. With `s` letters there are `s^l` threads of length `l`, and thieves
/// are chosen as a multiset.
fn count(letters: &[Letter], bounds: &Bounds) -> u128 {
    let power = |base: usize, exponent: usize| {
        (0..exponent).fold(1u128, |product, _| product.saturating_mul(base as u128))
    };
    let all = letters.len();
    let common = letters.iter().filter(|(_, owner)| !owner).count();
    let most = bounds.operations;
    // The number of multisets of so many thieves with so many operations together.
    let mut thieves = vec![vec![0u128; most + 1]; bounds.threads + 1];
    thieves[0][0] = 1;
    for length in 1..=most {
        let texts = power(common, length);
        let before = thieves.clone();
        for (threads, row) in thieves.iter_mut().enumerate() {
            for (operations, total) in row.iter_mut().enumerate() {
                for copies in 1..=threads.min(operations / length) {
                    let rest = before[threads - copies][operations - copies * length];
                    let choices = multisets(texts, copies);
                    *total = total.saturating_add(rest.saturating_mul(choices));
                }
            }
        }
    }
    let mut total = 0u128;
    for operations in 1..=most {
        if bounds.threads == 0 {
            break;
        }
        let mut parts = thieves[bounds.threads][operations];
        for length in 1..=operations {
            // With no owner the difference is 0 even where the powers are beyond counting.
            let owner = if all == common { 0 } else { power(all, length) };
            let owner = if owner == u128::MAX {
                owner
            } else {
                owner.saturating_sub(power(common, length))
            };
            let rest = thieves[bounds.threads - 1][operations - length];
            parts = parts.saturating_add(owner.saturating_mul(rest));
        }
        for init in 0..=bounds.init {
            total = total.saturating_add(parts.saturating_mul(power(all, init)));
        }
    }
    total
}

/// How many multisets of a size have elements out of so many.
fn multisets(elements: u128, size: usize) -> u128 {
    let mut result = 1u128;
    for k in 1..=size as u128 {
        let factor = elements.saturating_add(k - 1);
        match result.checked_mul(factor) {
            Some(product) => result = product / k,
            None => return u128::MAX,
        }
    }
    result
}

/// Writes clients letter by letter. A letter is written only if the client can be completed, so no
/// time is lost on those that cannot.
struct Walk<'a> {
    letters: &'a [Letter],
    limit: usize,
    text: String,
    found: Vec<String>,
}

/// Where a walk is among the threads of a client.
#[derive(Clone, Copy)]
struct Position {
    /// Where the text of the thread at hand begins.
    start: usize,
    /// Where the thief before it begins; none for the first thief.
    before: Option<usize>,
    /// Whether it is the first thread.
    first: bool,
    /// How many threads come after it.
    more: usize,
    /// How many letters are still to be written.
    left: usize,
}

impl Walk<'_> {
    fn is_full(&self) -> bool {
        self.found.len() >= self.limit
    }

    /// All clients with an initial part and threads of these lengths.
    fn initial(&mut self, init: usize, operations: usize, threads: usize) {
        let enough = threads > 0 && operations >= threads;
        let thieves = self.letters.iter().any(|(_, owner)| !owner);
        if enough && (threads == 1 || thieves) {
            self.initial_letters(init, init > 0, operations, threads - 1);
        }
    }

    fn initial_letters(&mut self, init: usize, parens: bool, operations: usize, more: usize) {
        if self.is_full() {
            return;
        }
        if init > 0 {
            for (letter, _) in self.letters {
                self.text.push(*letter);
                self.initial_letters(init - 1, parens, operations, more);
                self.text.pop();
            }
            return;
        }
        if parens {
            self.text.push('(');
        }
        let start = self.text.len();
        self.thread(Position { start, before: None, first: true, more, left: operations }, parens);
        if parens {
            self.text.pop();
        }
    }

    /// Writes the next letter of a thread, or ends it.
    fn thread(&mut self, at: Position, parens: bool) {
        if self.is_full() {
            return;
        }
        if at.left == 0 {
            self.found.push(format!("{}{}", self.text, if parens { ")" } else { "" }));
            return;
        }
        for (letter, owner) in self.letters {
            if *owner && !at.first {
                continue;
            }
            self.text.push(*letter);
            let next = Position { left: at.left - 1, ..at };
            if self.can_be_completed(next) {
                self.thread(next, parens);
            }
            self.text.pop();
        }
        if at.more > 0 && self.may_end(at) {
            let thief = !self.has_owner(at);
            self.text.push('|');
            let before = if thief { Some(at.start) } else { None };
            let (start, more) = (self.text.len(), at.more - 1);
            self.thread(Position { start, before, first: false, more, left: at.left }, parens);
            self.text.pop();
        }
    }

    /// The text of the thread at hand.
    fn own(&self, at: Position) -> &str {
        &self.text[at.start..]
    }

    /// The text of the thief before it.
    fn previous(&self, at: Position) -> &str {
        at.before.map_or("", |before| &self.text[before..at.start - 1])
    }

    fn has_owner(&self, at: Position) -> bool {
        at.first && self.own(at).chars().any(|c| self.letters.contains(&(c, true)))
    }

    /// Whether the thread at hand is complete, and those after it can be, too.
    fn may_end(&self, at: Position) -> bool {
        let (own, previous) = (self.own(at), self.previous(at));
        if self.has_owner(at) {
            return at.left >= at.more;
        }
        !own.is_empty()
            && (own.len(), own) >= (previous.len(), previous)
            && at.left >= at.more * own.len()
    }

    /// Whether letters can follow so that a client comes out.
    fn can_be_completed(&self, at: Position) -> bool {
        if self.has_owner(at) {
            return at.left >= at.more;
        }
        let owners = self.letters.iter().any(|(_, owner)| *owner);
        if at.first && owners && at.left > at.more {
            return true;
        }
        // As a thief: those after it are at least as long.
        let (own, previous) = (self.own(at), self.previous(at));
        let longest = (own.len() + at.left) / (at.more + 1);
        longest >= own.len()
            && (longest > previous.len()
                || longest == previous.len() && *own >= previous[..own.len()])
    }
}
