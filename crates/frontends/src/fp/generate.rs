//! Enumerates all clients of a library up to a bound.
//!
//! A client within [`Bounds`] has
//! - an initial part of at most `init` operations, any letters in any order;
//! - exactly `threads` threads, each with at least one operation, and at most `operations`
//!   operations in all threads together.
//!
//! Operations with the attribute `owner` occur only in the initial part and in the first thread. A
//! thread without such operations is a *non-owner thread*; the first thread can be one, too.
//! Clients that differ only in the order of their non-owner threads are equivalent: the arguments
//! 1, 2, 3, ... are permuted, which only renames values. Of equivalent clients, only the one whose
//! non-owner threads are sorted by length, then by text, is listed.
//!
//! The clients are sorted by length (the number of letters), then by length of the initial part,
//! then by text. The total is computed by a formula, not by enumeration, so that only the listed
//! clients take time.

use fencepost_ir::Diagnostics;

use super::client::START;
use super::names::too_many;
use super::{check, codes, limits, messages, parse_partly};
use crate::Request;

#[cfg(test)]
mod tests;

/// The bounds of an enumeration of clients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The exact number of threads of each client.
    pub threads: usize,
    /// The maximal number of operations before the threads.
    pub init: usize,
    /// The maximal number of operations in all threads together.
    pub operations: usize,
    /// The maximal number of listed clients.
    pub limit: usize,
}

/// The clients within the bounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clients {
    /// The number of clients. Saturates at the largest number.
    pub total: u128,
    /// The first clients, in the syntax of `client`: `pp(t|s)`, or `t|s` without an initial part.
    pub texts: Vec<String>,
}

/// Enumerates the clients of the library in a source text. Returns `None` exactly when it reported
/// an error.
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
    messages::append_limited(&own, diagnostics);
    let letters = letters.filter(|_| !failed)?;
    let mut walk = ClientEnumerator {
        letters: &letters,
        limit: bounds.limit,
        text: String::new(),
        found: vec![],
    };
    for length in 1..=bounds.init + bounds.operations {
        for init in length.saturating_sub(bounds.operations)..=bounds.init.min(length) {
            walk.initial(init, length - init, bounds.threads);
        }
    }
    Some(Clients { total: count(&letters, bounds), texts: walk.found })
}

/// A letter, and whether its operation has the attribute `owner`.
type Letter = (char, bool);

/// Returns the letters of a library in alphabetical order.
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
    let unit = check::check(
        &file,
        source,
        &Request { clients: Some(&[]), ..Request::default() },
        diagnostics,
    );
    let operations = unit.procs.iter();
    let mut letters: Vec<Letter> =
        operations.filter_map(|p| Some((p.letter?, p.attributes.owner))).collect();
    letters.sort_unstable();
    if letters.is_empty() && !diagnostics.has_errors() {
        diagnostics
            .error(codes::CLIENT, START, "there are no operations in this file")
            .hint("declare an operation: `operation int take() as t { ... }`");
    }
    Some(letters)
}

/// Counts the clients. With `s` letters there are `s^l` threads of length `l`. The non-owner
/// threads form a multiset.
fn count(letters: &[Letter], bounds: &Bounds) -> u128 {
    let power = |base: usize, exponent: usize| {
        (0..exponent).fold(1u128, |product, _| product.saturating_mul(base as u128))
    };
    let all = letters.len();
    let common = letters.iter().filter(|(_, owner)| !owner).count();
    let most = bounds.operations;
    // non_owners[t][o]: the number of multisets of `t` non-owner threads with `o` operations in
    // all.
    let mut non_owners = vec![vec![0u128; most + 1]; bounds.threads + 1];
    non_owners[0][0] = 1;
    for length in 1..=most {
        let texts = power(common, length);
        let previous = non_owners.clone();
        for (threads, row) in non_owners.iter_mut().enumerate() {
            for (operations, total) in row.iter_mut().enumerate() {
                for copies in 1..=threads.min(operations / length) {
                    let rest = previous[threads - copies][operations - copies * length];
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
        let mut parts = non_owners[bounds.threads][operations];
        for length in 1..=operations {
            // Without `owner` operations the difference is 0, even if the powers saturate.
            let owner = if all == common { 0 } else { power(all, length) };
            let owner = if owner == u128::MAX {
                owner
            } else {
                owner.saturating_sub(power(common, length))
            };
            let rest = non_owners[bounds.threads - 1][operations - length];
            parts = parts.saturating_add(owner.saturating_mul(rest));
        }
        for init in 0..=bounds.init {
            total = total.saturating_add(parts.saturating_mul(power(all, init)));
        }
    }
    total
}

/// Returns the number of multisets of a size over a set of elements. Saturates.
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

/// Builds clients letter by letter. A letter is added only if the client can still be completed, so
/// the search never backtracks without a result.
struct ClientEnumerator<'a> {
    letters: &'a [Letter],
    limit: usize,
    text: String,
    found: Vec<String>,
}

/// The position of the enumeration in the threads of a client.
#[derive(Clone, Copy)]
struct Position {
    /// The offset of the current thread in the text.
    start: usize,
    /// The offset of the previous non-owner thread. `None` for the first one.
    previous_non_owner: Option<usize>,
    /// Whether the current thread is the first thread.
    first: bool,
    /// The number of threads after the current one.
    threads_left: usize,
    /// The number of letters still to add.
    letters_left: usize,
}

impl ClientEnumerator<'_> {
    fn is_full(&self) -> bool {
        self.found.len() >= self.limit
    }

    /// Enumerates all clients with an initial part and threads of these lengths.
    fn initial(&mut self, init: usize, operations: usize, threads: usize) {
        let enough = threads > 0 && operations >= threads;
        let has_non_owners = self.letters.iter().any(|(_, owner)| !owner);
        if enough && (threads == 1 || has_non_owners) {
            self.initial_letters(init, init > 0, operations, threads - 1);
        }
    }

    fn initial_letters(
        &mut self,
        init: usize,
        parens: bool,
        operations: usize,
        threads_left: usize,
    ) {
        if self.is_full() {
            return;
        }
        if init > 0 {
            for (letter, _) in self.letters {
                self.text.push(*letter);
                self.initial_letters(init - 1, parens, operations, threads_left);
                self.text.pop();
            }
            return;
        }
        if parens {
            self.text.push('(');
        }
        let start = self.text.len();
        self.thread(
            Position {
                start,
                previous_non_owner: None,
                first: true,
                threads_left,
                letters_left: operations,
            },
            parens,
        );
        if parens {
            self.text.pop();
        }
    }

    /// Adds the next letter of the current thread, or ends the thread.
    fn thread(&mut self, at: Position, parens: bool) {
        if self.is_full() {
            return;
        }
        if at.letters_left == 0 {
            self.found.push(format!("{}{}", self.text, if parens { ")" } else { "" }));
            return;
        }
        for (letter, owner) in self.letters {
            if *owner && !at.first {
                continue;
            }
            self.text.push(*letter);
            let next = Position { letters_left: at.letters_left - 1, ..at };
            if self.can_be_completed(next) {
                self.thread(next, parens);
            }
            self.text.pop();
        }
        if at.threads_left > 0 && self.may_end(at) {
            let non_owner = !self.has_owner(at);
            self.text.push('|');
            let previous_non_owner = if non_owner { Some(at.start) } else { None };
            let (start, threads_left) = (self.text.len(), at.threads_left - 1);
            self.thread(
                Position {
                    start,
                    previous_non_owner,
                    first: false,
                    threads_left,
                    letters_left: at.letters_left,
                },
                parens,
            );
            self.text.pop();
        }
    }

    /// Returns the text of the current thread.
    fn current_thread(&self, at: Position) -> &str {
        &self.text[at.start..]
    }

    /// Returns the text of the previous non-owner thread.
    fn previous_non_owner(&self, at: Position) -> &str {
        at.previous_non_owner.map_or("", |previous| &self.text[previous..at.start - 1])
    }

    fn has_owner(&self, at: Position) -> bool {
        at.first && self.current_thread(at).chars().any(|c| self.letters.contains(&(c, true)))
    }

    /// Returns whether the current thread can end here, so that the later threads can be completed.
    fn may_end(&self, at: Position) -> bool {
        let (own, previous) = (self.current_thread(at), self.previous_non_owner(at));
        if self.has_owner(at) {
            return at.letters_left >= at.threads_left;
        }
        !own.is_empty()
            && (own.len(), own) >= (previous.len(), previous)
            && at.letters_left >= at.threads_left * own.len()
    }

    /// Returns whether the current text is a prefix of a client.
    fn can_be_completed(&self, at: Position) -> bool {
        if self.has_owner(at) {
            return at.letters_left >= at.threads_left;
        }
        let owners = self.letters.iter().any(|(_, owner)| *owner);
        if at.first && owners && at.letters_left > at.threads_left {
            return true;
        }
        // As a non-owner thread: the later threads are at least as long.
        let (own, previous) = (self.current_thread(at), self.previous_non_owner(at));
        let longest = (own.len() + at.letters_left) / (at.threads_left + 1);
        longest >= own.len()
            && (longest > previous.len()
                || longest == previous.len() && *own >= previous[..own.len()])
    }
}
